// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/pairs/node_partners.h"
#include "core/analysis/pairs/pair_plan.h"
#include "core/explain/run/sample_values.h"

namespace qs {

/// The float network's tensor that stands for one of the quantized model.
struct FloatTwin {
    ValueId value; ///< of the float model
    std::string name;
    std::optional<Elements> constant; ///< where it follows from the file; values by `places` of it
    std::vector<int64_t> places; ///< by element of the quantized side; empty: the same
    PairActivation bounds; ///< an activation that the quantized side has taken in
    /// Of that element of the quantized side; `values` holds what depends on data. Nothing: the sizes differ.
    std::optional<double> at(int64_t element, size_t elements, const SampleValues& values) const;
};

class FloatTwins {
public:
    explicit FloatTwins(const ComparePair& pair);
    /// Of a value that `node` reads as operand (see OperandSource); an invalid node: of the value by itself.
    std::optional<FloatTwin> of(ValueId value, NodeId node, size_t operand) const;

private:
    std::optional<FloatTwin> activation(ValueId value) const;
    std::optional<FloatTwin> weight(ValueId value) const;
    std::optional<FloatTwin> partnerInput(NodeId node, size_t operand) const;
    const ComparePair& m_pair;
    std::vector<PairPlan> m_plans;
    FoldedConstants m_folded;
    NodePartners m_partners;
};

} // namespace qs
