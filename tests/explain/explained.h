// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/explain/explain_element.h"

#include <map>
#include <random>
#include <string>
#include <vector>

/// Elements explained, and held against what the engine computes.
namespace qs::test {

/// One feed as a data source; a batch may hold several samples.
class OneFeed : public DataSource {
public:
    explicit OneFeed(std::vector<Tensor> inputs, size_t samples = 1);
    Result<Feed> feed(size_t index) const override;

private:
    std::vector<Tensor> m_inputs;
};

/// A model, run on one feed.
class ExplainedRun {
public:
    ExplainedRun(std::shared_ptr<const Plan> plan, ArithmeticProfile profile, std::vector<Tensor> feed);
    /// All values that there are and that have elements, constants included.
    std::vector<ValueId> values() const;
    const Tensor& of(ValueId id) const { return m_values.at(id); }
    Result<ElementExplanation> explain(ValueId value, int64_t element, const ComparePair* pair = nullptr) const;
    /// What is wrong with the explanation of an element; empty: nothing.
    std::string complaint(ValueId value, int64_t element) const;
    /// Of some elements of each value, drawn from `random`.
    std::string complaints(std::mt19937& random, int each) const;
    /// How many pairs the engine says that saturated, by the node that makes the outputs.
    const std::map<NodeId, PairCounts>& pairCounts() const { return m_counts; }

private:
    std::string operandComplaint(const Operand& operand, const ElementExplanation& e) const;
    std::shared_ptr<const Plan> m_plan;
    std::shared_ptr<const QuantView> m_view;
    ArithmeticProfile m_profile;
    SampleRuns m_runs;
    std::map<ValueId, Tensor> m_values;
    std::map<NodeId, PairCounts> m_counts;
};

} // namespace qs::test
