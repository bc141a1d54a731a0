// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/folded_graph.h"

#include "core/base/text/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace qs {

namespace {

constexpr size_t kLongestName = 24;

/// Cuts the middle out of long UTF-8 text, at character borders.
std::string elided(std::string_view text)
{
    if (text.size() <= kLongestName)
        return std::string(text);
    size_t head = kLongestName / 2 - 1;
    while (head > 0 && !beginsCharacter(text[head]))
        --head;
    size_t tail = text.size() - kLongestName / 2;
    while (tail < text.size() && !beginsCharacter(text[tail]))
        ++tail;
    return std::string(text.substr(0, head)) + "…" + std::string(text.substr(tail));
}

bool startsWith(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }

/// The operator's type without what marks integer forms: "QLinearConv" names often start with "Conv".
std::string_view plainType(std::string_view type)
{
    if (startsWith(type, "QLinear"))
        type.remove_prefix(7);
    if (type.size() > 7 && type.substr(type.size() - 7) == "Integer")
        type.remove_suffix(7);
    return type;
}

bool equalButCase(std::string_view a, std::string_view b)
{
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

/// "Conv", "conv", "Conv_12", "Conv_12_quant": says nothing beyond the type and a number.
bool repeatsType(std::string_view part, std::string_view type)
{
    if (equalButCase(part, type) || equalButCase(part, plainType(type)))
        return true;
    const std::string_view plain = plainType(type);
    if (!startsWith(part, plain) && !startsWith(part, type))
        return false;
    part.remove_prefix(startsWith(part, type) ? type.size() : plain.size());
    return part.empty() || part.front() == '_';
}

/// What follows the type in such a name: "12".
std::string_view numberAfterType(std::string_view part)
{
    const size_t digit = part.find_first_of("0123456789");
    if (digit == std::string_view::npos || digit == 0 || part[digit - 1] != '_')
        return {};
    part.remove_prefix(digit);
    return part.substr(0, part.find_first_not_of("0123456789"));
}

std::string scaleText(double scale)
{
    if (!(std::abs(scale) > 0) || !std::isfinite(scale))
        return fmt::format("{}", scale);
    if (scale < 0.001 || scale >= 1000)
        return fmt::format("{:.2e}", scale);
    const int decimals = std::max(0, 2 - static_cast<int>(std::floor(std::log10(scale))));
    std::string text = fmt::format("{:.{}f}", scale, decimals);
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.')
            text.pop_back();
    }
    return startsWith(text, "0.") ? text.substr(1) : text;
}

std::string dimText(const Dim& dim)
{
    if (dim.known())
        return std::to_string(dim.value);
    return dim.symbol.empty() ? "?" : elided(dim.symbol);
}

std::optional<Dims> operandDims(const Node& node, size_t slot, const DimsLookup& dims)
{
    return node.hasInput(slot) ? dims(node.inputs[slot]) : std::nullopt;
}

std::string convText(const Node& node, size_t weightSlot, const DimsLookup& dims)
{
    const std::optional<Dims> w = operandDims(node, weightSlot, dims);
    if (!w || w->size() < 3)
        return {};
    const Dims kernel(w->begin() + 2, w->end());
    const bool transposed = node.opType == "ConvTranspose";
    const Dim& first = (*w)[transposed ? 1 : 0];
    const int64_t groups = node.attributes.integer("group", 1);
    const std::string out = transposed && first.known() ? std::to_string(first.value * groups) : dimText(first);
    return (kernel.size() == 1 ? "kernel " : "") + timesText(kernel) + " → " + out; // "5 → 32" would be sizes
}

std::string productText(const Node& node, size_t weightSlot, const DimsLookup& dims)
{
    const std::optional<Dims> w = operandDims(node, weightSlot, dims);
    if (!w || w->size() != 2)
        return {};
    const bool swapped = node.attributes.integer("transB", 0) != 0;
    return dimText((*w)[swapped ? 1 : 0]) + " → " + dimText((*w)[swapped ? 0 : 1]);
}

/// The part of the path with the scope `outer` levels above it: "block3/…/0".
std::string scopedPart(std::string_view path, std::string_view part, size_t outer)
{
    size_t start = static_cast<size_t>(part.data() - path.data());
    std::string_view scope;
    size_t levels = 0;
    for (; levels < outer && start > 1 && path[start - 1] == '/'; ++levels) {
        const size_t slash = path.rfind('/', start - 2);
        const size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
        scope = path.substr(begin, start - 1 - begin);
        start = begin;
    }
    if (scope.empty())
        return elided(part);
    return elided(scope) + (levels > 1 ? "/…/" : "/") + elided(part);
}

} // namespace

std::string shortDType(DType type)
{
    switch (type) {
    case DType::Float32:
        return "f32";
    case DType::Float16:
        return "f16";
    case DType::Float64:
        return "f64";
    case DType::BFloat16:
        return "bf16";
    case DType::Bool:
        return "bool";
    default:
        break;
    }
    const std::string_view name = dtypeName(type);
    if (startsWith(name, "uint"))
        return "u" + std::string(name.substr(4));
    if (startsWith(name, "int"))
        return "s" + std::string(name.substr(3));
    if (startsWith(name, "float"))
        return "f" + std::string(name.substr(5));
    return std::string(name);
}

std::string badgeText(const QuantParams& params, bool dynamic)
{
    const std::string type = shortDType(params.dtype);
    if (dynamic || params.scale.empty())
        return type + " dynamic";
    if (!params.perTensor())
        return params.axis ? fmt::format("{} axis {}", type, *params.axis)
                           : fmt::format("{} ×{}", type, params.scale.size());
    std::string text = type + " " + scaleText(params.scale[0]);
    if (!params.zeroPoint.empty() && params.zeroPoint[0] != 0)
        text += fmt::format(" z{}{}", params.zeroPoint[0] < 0 ? "−" : "", std::abs(params.zeroPoint[0]));
    return text;
}

std::string boxTitle(const Node& node, size_t outer)
{
    // exporters join names of fused nodes by ';' and end paths with the operator:
    // "model/conv2d/Relu;model/conv2d/BiasAdd"
    const std::string_view path = std::string_view(node.name).substr(0, node.name.find(';'));
    const std::string_view last = path.substr(path.rfind('/') + 1);
    const auto titled = [&](std::string_view part) { return node.opType + " " + scopedPart(path, part, outer); };
    for (std::string_view rest = path; !rest.empty();) {
        const size_t slash = rest.rfind('/');
        const std::string_view part = rest.substr(slash + 1);
        const bool operation = rest.size() == path.size() && slash != std::string_view::npos && slash > 0
            && !part.empty() && std::isupper(static_cast<unsigned char>(part.front()));
        if (!part.empty() && !operation && !repeatsType(part, node.opType))
            return titled(part);
        rest = slash == std::string_view::npos ? std::string_view() : rest.substr(0, slash);
    }
    if (const std::string_view number = numberAfterType(last); !number.empty())
        return titled(number);
    return last.empty() || repeatsType(last, node.opType) ? node.opType : titled(last);
}

std::string timesText(const std::optional<Dims>& dims)
{
    if (!dims)
        return {};
    if (dims->empty())
        return "scalar";
    std::string text;
    for (const Dim& dim : *dims)
        text += (text.empty() ? "" : "×") + dimText(dim);
    return text;
}

std::string differingTitle(const Node& node, size_t head, size_t tail)
{
    constexpr std::string_view separators = "/._-";
    const std::string_view name = node.name;
    const size_t before = head == 0 ? std::string_view::npos : name.find_last_of(separators, head - 1);
    const size_t first = before == std::string_view::npos ? 0 : before + 1;
    const size_t end = std::min(name.size(), name.find_first_of(separators, std::max(first, name.size() - tail)));
    return node.opType + " " + (first > 0 ? "…" : "") + elided(name.substr(first, end - first))
        + (end < name.size() ? "…" : "");
}

std::string boxSubtitle(const Node& node, const DimsLookup& dims)
{
    const std::string& type = node.opType;
    std::string text;
    if (type == "Conv" || type == "ConvTranspose" || type == "ConvInteger")
        text = convText(node, 1, dims);
    else if (type == "QLinearConv")
        text = convText(node, 3, dims);
    else if (type == "Gemm" || type == "MatMul" || type == "MatMulInteger")
        text = productText(node, 1, dims);
    else if (type == "QGemm" || type == "QLinearMatMul")
        text = productText(node, 3, dims);
    else if (const auto kernel = node.attributes.integers("kernel_shape"); !kernel.empty())
        text = timesText(toDims(kernel));
    if (text.empty() && node.hasOutput(0))
        text = timesText(dims(node.outputs[0]));
    return text;
}

} // namespace qs
