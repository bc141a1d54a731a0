// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/evidence/value_evidence.h"
#include "core/match/graph/canonical.h"

namespace qs {

/// Both graphs of an alignment.
struct GraphPair {
    CanonicalGraph f, q; ///< float and quantized
    const QuantView& view; ///< of the quantized one
    const ValueEvidence* evidence = nullptr; ///< what both compute; null: not run

    /// What numbers say of a float value and a root of the quantized graph: of the value before its quantizer and of
    /// what is shown.
    Verdict verdict(ValueId floatValue, ValueId quantRoot) const;
    /// Both are made by one operator, perhaps with an activation behind, and are different by numbers that a fault may
    /// have made: no other value of the other file is the one that it should be.
    bool mayBeFault(ValueId floatValue, ValueId quantRoot) const;
    /// Made by operators that are one to pairing, or two forms of a normalization.
    bool madeByOneOperator(ValueId floatValue, ValueId quantRoot) const;
    /// An activation whose input is made as the root is, which has a quantizer: its range may stand for it.
    bool isBoundedThere(ValueId floatValue, ValueId quantRoot) const;
    /// The quantizer of a root is where the file had this activation of the float model: it reads the same value, which
    /// is why both go by one root. Whether its range does what the activation did is another question.
    bool replaces(ValueId quantRoot, ValueId floatInput, NodeId activation) const;
    /// Nothing that its quantizer says is below zero.
    bool cutsBelowZero(ValueId quantRoot) const;
    /// Root of what a product of the quantized graph makes, or of what steps behind it make of that where the float
    /// file has them in the product: normalizations that are folded there, its bias.
    ValueId whole(NodeId floatProduct, NodeId quantProduct) const;
    /// Roots of the quantized graph that are the same as a float value, in the order of their ids.
    std::vector<ValueId> equalRoots(ValueId floatValue) const;
    /// Float activations that are the same as a root.
    std::vector<ValueId> equalFloats(ValueId quantRoot) const;
};

} // namespace qs
