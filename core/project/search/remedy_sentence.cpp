// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/search/remedy_sentence.h"

#include "core/quant/recipe/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace qs {

namespace {

using Changes = std::vector<Remedy>;

/// "a, b" of those of one kind.
std::string placesOf(const Changes& changes)
{
    std::string list;
    for (const Remedy& r : changes) {
        const bool ofNode = r.kind == RemedyKind::ExcludeNode || r.tensor.empty();
        list += (list.empty() ? "" : ", ") + (ofNode ? r.node : r.tensor);
    }
    return list;
}

/// Of changes of one kind.
std::string phraseOf(const Changes& changes)
{
    const Remedy& first = changes.front();
    const auto all = [&](const Remedy& r) { return r.ofAllWeights(); };
    const std::string places = std::ranges::any_of(changes, all) ? "all weights" : placesOf(changes);
    switch (first.kind) {
    case RemedyKind::None:
        break;
    case RemedyKind::Requantize:
        return places.empty() ? "quantize the float model anew" : "quantize " + places + " anew";
    case RemedyKind::Recalibrate:
        return "recalibrate all activations with the present data";
    case RemedyKind::SetRange:
        return "set the ranges of " + places;
    case RemedyKind::PerChannel:
        return "quantize " + places + " per channel";
    case RemedyKind::ReduceRange:
        return "give weights one bit less";
    case RemedyKind::ExcludeNode:
    case RemedyKind::KeepExtremeConstants:
        return "leave " + places + " in float";
    case RemedyKind::UnsignedActivations:
        return "quantize activations to uint8";
    case RemedyKind::KeepActivations:
        return "keep Relu and Clip before " + places;
    case RemedyKind::AsymmetricActivations:
        return "quantize activations asymmetrically"
            + (places.empty() ? std::string() : ", with ranges of their data for " + places);
    case RemedyKind::DynamicFormat:
        return "use the dynamic format";
    case RemedyKind::StaticFormat:
        return "use a static format";
    case RemedyKind::EightBitWeight:
        return "quantize " + places + (first.ofAllWeights() && first.type == DType::UInt8 ? " to uint8" : " to 8 bits");
    case RemedyKind::Equalize:
        return "equalize the ranges of weights across layers before quantizing";
    case RemedyKind::FuseGemm:
        return "fuse the products " + places + " and their sums into Gemm before quantizing";
    case RemedyKind::Calibrate:
        return fmt::format(
            "find the ranges of all activations by the calibrator {}", nameIn(kCalibrators, first.calibrator));
    case RemedyKind::ActivationType:
        return fmt::format("give all activations the type {}", nameIn(kCodeTypes, first.type));
    case RemedyKind::SmoothQuant:
        return "move the large channels of activations into the weights that read them (SmoothQuant)";
    case RemedyKind::StoreConstant:
        return "store the float model's values of " + places;
    case RemedyKind::OpenClip:
        return fmt::format("open the Clip on the codes of {} to {:.0f} … {:.0f}", places, first.low, first.high);
    }
    return {};
}

/// By kind, in the order of the first of each.
std::vector<Changes> byKind(const Changes& changes)
{
    std::vector<Changes> kinds;
    for (const Remedy& r : changes) {
        const auto known = std::ranges::find_if(kinds, [&](const Changes& c) { return c.front().kind == r.kind; });
        if (known == kinds.end())
            kinds.push_back({ r });
        else
            known->push_back(r);
    }
    return kinds;
}

} // namespace

std::string remedyPhrase(const Changes& changes)
{
    std::string list;
    for (const Changes& kind : byKind(changes))
        list += (list.empty() ? "" : "; ") + phraseOf(kind);
    return list;
}

std::string remedySentence(const Changes& changes, bool hidden)
{
    std::string phrase = remedyPhrase(changes) + ".";
    const RemedyKind kind = changes.front().kind;
    if (byKind(changes).size() > 1)
        return fmt::format("Make {} changes together{}: {}", changes.size(),
            hidden ? "; each alone gains less, since the other causes hide it" : "", phrase);
    phrase[0] = char(std::toupper(static_cast<unsigned char>(phrase[0])));
    if (kind == RemedyKind::SetRange && changes.size() > 1 && hidden)
        phrase += " Each alone gains less, since the others hide it.";
    if (kind == RemedyKind::ActivationType)
        phrase += " 8 bits are too coarse here, by any ranges that were tried. It costs time.";
    return phrase;
}

} // namespace qs
