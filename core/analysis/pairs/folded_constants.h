// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"

#include <map>

namespace qs {

/// Weights and biases of the float model as they belong into the quantized file: what scales and shifts channels behind
/// a product (BatchNormalization, Mul, Add ...) is taken in where only the float file still has it, and taken out where
/// only the quantized one has. Products that read one weight have each what is behind it.
class FoldedConstants {
public:
    /// Which factors are taken out where the quantized file stores them as codes.
    enum class Factors {
        Stored, ///< as they are, so that both files compute the same
        Fitted, ///< within half a step of them, as they were when the stored weight was made
    };
    /// As the file has them.
    explicit FoldedConstants(std::shared_ptr<const Plan> floatPlan);
    explicit FoldedConstants(const ComparePair& pair, Factors factors = Factors::Stored);
    FoldedConstants(std::shared_ptr<const Plan> floatPlan, const Plan& quantPlan, const QuantView& view,
        const Alignment& alignment, Factors factors);
    /// The constant that stands for input `slot` of a node; null where it is as in the file, or none.
    const Tensor* at(NodeId floatNode, size_t slot) const;
    /// What a node reads as this constant: the file's own where nothing was folded; null where it is none.
    const Tensor* of(NodeId floatNode, ValueId constant) const;
    /// The same of a pair.
    const Tensor* of(const WeightPair& weight) const { return of(weight.floatNode, weight.floatValue); }
    /// It is as the file has it.
    bool isOwn(const WeightPair& weight) const { return of(weight) == m_plan->constant(weight.floatValue); }
    bool empty() const { return m_changed.empty(); }

private:
    std::shared_ptr<const Plan> m_plan;
    std::map<std::pair<NodeId, size_t>, Tensor> m_changed;
};

} // namespace qs
