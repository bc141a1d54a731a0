// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/search/change_kinds.h"

#include <algorithm>
#include <array>

namespace qs {

bool ofActivationsAlone(const std::vector<Remedy>& changes)
{
    constexpr std::array kKinds { RemedyKind::Recalibrate, RemedyKind::SetRange, RemedyKind::Calibrate,
        RemedyKind::UnsignedActivations, RemedyKind::AsymmetricActivations, RemedyKind::KeepActivations,
        RemedyKind::ActivationType, RemedyKind::DynamicFormat, RemedyKind::StaticFormat };
    return std::ranges::all_of(
        changes, [&](const Remedy& r) { return std::ranges::find(kKinds, r.kind) != kKinds.end(); });
}

bool ofWeightsAlone(const std::vector<Remedy>& changes)
{
    constexpr std::array kKinds { RemedyKind::PerChannel, RemedyKind::EightBitWeight, RemedyKind::ReduceRange };
    return std::ranges::all_of(
        changes, [&](const Remedy& r) { return std::ranges::find(kKinds, r.kind) != kKinds.end(); });
}

bool recalibratesToo(const std::vector<Remedy>& changes)
{
    return std::ranges::any_of(
        changes, [](const Remedy& r) { return r.kind == RemedyKind::Equalize || r.kind == RemedyKind::SmoothQuant; });
}

bool ofAllRanges(const std::vector<Remedy>& changes)
{
    return changes.size() == 1
        && (changes[0].kind == RemedyKind::Recalibrate || changes[0].kind == RemedyKind::Calibrate);
}

bool leavesOneNode(const std::vector<Remedy>& changes)
{
    return changes.size() == 1 && changes.front().kind == RemedyKind::ExcludeNode;
}

} // namespace qs
