// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/explain/operators/operation.h"
#include "core/explain/run/sample_values.h"
#include "core/qdq/quant_view.h"

namespace qs {

/// One node of a plan's graph with the values of a run.
Operation operationOf(const Plan& plan, NodeId id, size_t outputIndex, const SampleValues& values);

/// The codes behind the floats that an operator reads, and the scales of codes that it reads without them.
class OperandCodes {
public:
    /// `view` may be null.
    OperandCodes(const Plan& plan, const QuantView* view)
        : m_plan(plan)
        , m_view(view)
    {
    }
    /// Values that have to be read for an operand.
    void collect(ValueId value, std::vector<ValueId>& needed) const;
    /// Adds what is known to all operands of a source; a zero point that the operator has of its own stays.
    void add(size_t source, const SampleValues& values, ElementExplanation& e) const;
    /// The grid of a value that holds codes; nothing where it is not known.
    std::optional<CodeGrid> gridOf(ValueId codes, int64_t element, const SampleValues& values) const;

private:
    void addBehindFloats(size_t source, const SampleValues& values, ElementExplanation& e) const;
    const Plan& m_plan;
    const QuantView* m_view;
};

/// Every operand of an explanation.
template <class Fn> void forEachOperand(ElementExplanation& e, Fn fn)
{
    for (ElementTerm& term : e.terms) {
        fn(term.a);
        if (term.b)
            fn(*term.b);
    }
    if (e.bias)
        fn(*e.bias);
}

} // namespace qs
