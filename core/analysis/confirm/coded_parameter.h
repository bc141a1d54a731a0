// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/node_partners.h"

#include <optional>
#include <span>
#include <string_view>

namespace qs {

/// Of an operator that moves elements, an input that says how: it is exact, or other elements come out.
struct MovingParameter {
    std::string_view type;
    size_t slot;
    std::string_view name;
};
std::span<const MovingParameter> movingParameters();

/// A parameter that codes stand for, where it is another number by that.
struct CodedParameter {
    const MovingParameter* parameter;
    uint32_t quantizer;
    size_t element, elements; ///< the one furthest away
    double meant, stored;
};
std::optional<CodedParameter> codedParameter(
    const ComparePair& pair, const NodePartners& partners, NodeId quantNode, const MovingParameter& parameter);

} // namespace qs
