// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/graph/added_products.h"

#include "core/tensor/convert.h"

#include <cmath>
#include <utility>

namespace qs {

namespace {

constexpr int kBranchSteps = 8; ///< behind a product, and back in a branch

bool keepsElements(const Node& node)
{
    return node.is("QuantizeLinear") || node.is("DequantizeLinear") || node.is("DynamicQuantizeLinear")
        || node.is("Identity") || node.is("Cast") || node.is("Dropout");
}

class BranchFinder {
public:
    explicit BranchFinder(const Plan& plan)
        : m_plan(plan)
        , m_graph(plan.graph())
    {
    }

    std::optional<AddedMatrix> find(NodeId product) const
    {
        const Node& node = m_graph.node(product);
        if (!node.hasInput(0) || !node.hasOutput(0))
            return std::nullopt;
        const ValueId input = origin(node.inputs[0]);
        std::optional<AddedMatrix> sum;
        ValueId value = node.outputs[0];
        for (int step = 0; step < kBranchSteps; ++step) {
            const auto& uses = m_graph.value(value).uses;
            if (uses.size() != 1 || !uses[0].node.valid() || m_graph.isOutput(value))
                break;
            const Node& reader = m_graph.node(uses[0].node);
            if (!reader.hasOutput(0) || (!reader.is("Add") && !keepsElements(reader)))
                break;
            if (reader.is("Add")) {
                if (reader.inputs.size() != 2 || !reader.hasInput(0) || !reader.hasInput(1))
                    break;
                const ValueId other = reader.inputs[reader.inputs[0] == value ? 1 : 0];
                const auto branch = m_plan.constant(other) ? std::nullopt : branchOf(other, input);
                if (!branch && !m_plan.constant(other))
                    break;
                if (branch && !add(*branch, sum))
                    break;
            }
            value = reader.outputs[0];
        }
        return sum;
    }

private:
    ValueId origin(ValueId value) const
    {
        for (int step = 0; step < kBranchSteps && value.valid(); ++step) {
            const NodeId maker = m_graph.value(value).producer;
            if (!maker.valid() || !keepsElements(m_graph.node(maker)) || !m_graph.node(maker).hasInput(0))
                break;
            value = m_graph.node(maker).inputs[0];
        }
        return value;
    }

    /// What makes a value, past what keeps its elements and single factors, which are taken into `factor`.
    const Node* makerOf(ValueId value, double& factor) const
    {
        for (int step = 0; step < kBranchSteps; ++step) {
            value = origin(value);
            const NodeId maker = value.valid() ? m_graph.value(value).producer : NodeId();
            if (!maker.valid())
                return nullptr;
            const Node& node = m_graph.node(maker);
            if ((!node.is("Mul") && !node.is("Div")) || node.inputs.size() != 2 || !node.hasInput(0)
                || !node.hasInput(1))
                return &node;
            const size_t slot = node.is("Mul") && m_plan.constant(node.inputs[0]) ? 0 : 1;
            const Tensor* const c = m_plan.constant(node.inputs[slot]);
            if (!c || c->count() != 1 || !isFloat(c->dtype()))
                return nullptr;
            factor *= node.is("Mul") ? toDoubles(*c)[0] : 1 / toDoubles(*c)[0];
            value = node.inputs[1 - slot];
        }
        return nullptr;
    }

    /// The constant matrix of a product that adds nothing, [inputs, columns].
    std::optional<AddedMatrix> matrixOf(const Node& node, double& factor) const
    {
        const bool gemm = node.is("Gemm");
        if ((!gemm && !node.is("MatMul")) || node.inputs.size() < 2 || node.hasInput(2))
            return std::nullopt;
        const Tensor* const t = m_plan.constant(node.inputs[1]);
        if (!t || t->rank() != 2 || !isFloat(t->dtype()) || node.attributes.integer("transA", 0) != 0)
            return std::nullopt;
        if (gemm)
            factor *= double(node.attributes.real("alpha", 1));
        const std::vector<double> values = toDoubles(*t);
        if (!gemm || node.attributes.integer("transB", 0) == 0)
            return AddedMatrix { t->dim(0), t->dim(1), values };
        AddedMatrix turned { t->dim(1), t->dim(0), std::vector<double>(values.size()) };
        for (int64_t r = 0; r < t->dim(0); ++r)
            for (int64_t c = 0; c < t->dim(1); ++c)
                turned.values[size_t(c * t->dim(0) + r)] = values[size_t(r * t->dim(1) + c)];
        return turned;
    }

    std::optional<AddedMatrix> branchOf(ValueId value, ValueId input) const
    {
        double factor = 1;
        const Node* const second = makerOf(value, factor);
        const auto b = second ? matrixOf(*second, factor) : std::nullopt;
        const Node* const first = b ? makerOf(second->inputs[0], factor) : nullptr;
        const auto a = first ? matrixOf(*first, factor) : std::nullopt;
        if (!a || a->columns != b->inputs || origin(first->inputs[0]) != input || !std::isfinite(factor))
            return std::nullopt;
        AddedMatrix made { a->inputs, b->columns, std::vector<double>(size_t(a->inputs * b->columns), 0) };
        for (int64_t i = 0; i < a->inputs; ++i)
            for (int64_t k = 0; k < a->columns; ++k) {
                const double x = factor * a->values[size_t(i * a->columns + k)];
                for (int64_t c = 0; c < b->columns; ++c)
                    made.values[size_t(i * b->columns + c)] += x * b->values[size_t(k * b->columns + c)];
            }
        return made;
    }

    static bool add(const AddedMatrix& branch, std::optional<AddedMatrix>& sum)
    {
        if (!sum) {
            sum = branch;
            return true;
        }
        if (sum->inputs != branch.inputs || sum->columns != branch.columns)
            return false;
        for (size_t i = 0; i < branch.values.size(); ++i)
            sum->values[i] += branch.values[i];
        return true;
    }

    const Plan& m_plan;
    const Graph& m_graph;
};

} // namespace

std::optional<AddedMatrix> addedMatrix(const Plan& plan, NodeId product)
{
    return product.valid() ? BranchFinder(plan).find(product) : std::nullopt;
}

} // namespace qs
