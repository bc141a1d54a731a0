// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/compare.h"

#include <map>
#include <optional>

namespace qs {

/// Weights and biases of the float model as a quantizer finds them: where only the float file still has the
/// BatchNormalization behind a Conv, they have taken it in.
class FoldedConstants {
public:
    explicit FoldedConstants(const ComparePair& pair);
    /// The constant that stands for input `slot` of a node; null where it is as in the file, or none.
    const Tensor* at(NodeId floatNode, size_t slot) const;
    /// The same for a paired constant: the file's own where nothing was folded.
    const Tensor* of(const WeightPair& weight) const;
    bool empty() const { return m_changed.empty(); }

private:
    const Plan& m_plan;
    std::map<std::pair<NodeId, size_t>, Tensor> m_changed;
};

} // namespace qs
