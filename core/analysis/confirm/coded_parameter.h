// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/node_partners.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
    std::vector<double> allMeant, allStored;
};
std::optional<CodedParameter> codedParameter(
    const ComparePair& pair, const NodePartners& partners, NodeId quantNode, const MovingParameter& parameter);

/// What comes of scales or sizes of a Resize or Upsample that codes have changed, as sentences: outputs of other sizes,
/// a runtime that refuses them. "": neither.
std::string resizedText(const ComparePair& pair, NodeId floatNode, const CodedParameter& coded);
/// Of the first such node whose output has other sizes: the node and the number, as the end of a sentence. "": none.
std::string otherSizesText(const ComparePair& pair);

} // namespace qs
