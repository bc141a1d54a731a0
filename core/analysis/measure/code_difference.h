// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/execution.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace qs {

/// Codes of one tensor that two arithmetics make of the same codes before it.
struct CodeDifference {
    uint64_t count = 0, offByOne = 0, beyond = 0;
    uint64_t squares = 0; ///< sum of the squared differences
};
/// The tensors may lie in different layouts.
CodeDifference differenceOf(const Tensor& a, const Tensor& b);

/// A sum of numbers of which none is negative, the same in any order of adding.
class OrderedSum {
public:
    void add(double value);
    void add(const OrderedSum& more);
    /// 2^(exponent) times this much.
    void add(int32_t exponent, uint64_t times) { m_parts[exponent] += times; }
    double total() const;
    const std::map<int32_t, uint64_t>& parts() const { return m_parts; }

private:
    std::map<int32_t, uint64_t> m_parts;
};

/// Floats or sums that two arithmetics make of the same codes before them.
struct SumDifference {
    OrderedSum squares; ///< of the differences
    OrderedSum signal; ///< squares of what exact sums give
    uint64_t count = 0;
    void add(const Tensor& exact, const Tensor& made);
    void add(const SumDifference& more);
};

/// A node whose sums may saturate and end in no codes: what it makes, the same behind a Cast and the multiplication by
/// its scales, and that with a constant bias (invalid: there is none).
struct SaturatingSums {
    NodeId last; ///< of its unit
    ValueId made, scaled, biased;
    bool endsIn(ValueId value) const { return value.valid() && (value == made || value == scaled || value == biased); }
};
std::vector<SaturatingSums> saturatingSums(const Plan& integer);

/// The node that makes the sums of a unit, by its last node; of no unit, that node.
NodeId nodeOfSums(const Plan& integer, NodeId last);

/// What an integer profile makes of a file besides what it computes: which codes differ from the file as written, and
/// which sums saturated. Integers and ordered sums, so the order of samples does not matter.
struct ImplementationSums {
    std::mutex mutex;
    std::map<ValueId, CodeDifference> codes;
    std::map<ValueId, SumDifference> sums; ///< by SaturatingSums::scaled
    std::map<NodeId, PairCounts> pairs;
};

/// Adds the counts of one execution to others of the same plan.
void addPairCounts(std::map<NodeId, PairCounts>& total, const std::map<NodeId, PairCounts>& counts);

} // namespace qs
