// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/row_of_value.h"
#include "core/analysis/rules/findings.h"
#include "core/graph/draft.h"
#include "core/prepare/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>

/// MatMul and the Add of its bias, each with a quantizer behind it.
namespace qs {

namespace {

/// At the sum: below this the quantizer between them costs a pass over the data and no quality worth a word.
constexpr double kSplitWorthDb = 1;

/// The Add that alone reads the product and adds a constant to each column; invalid where there is none.
NodeId biasAdd(const Plan& plan, ValueId product)
{
    const Graph& graph = plan.graph();
    const auto& uses = graph.value(product).uses;
    if (uses.size() != 1 || graph.isOutput(product) || !graph.node(uses[0].node).is("Add"))
        return {};
    const Node& add = graph.node(uses[0].node);
    const Tensor* bias = plan.constant(add.inputs[1 - uses[0].slot]);
    const bool row = bias && bias->count() > 1 && bias->rank() > 0 && bias->count() == bias->dim(bias->rank() - 1);
    return row ? uses[0].node : NodeId();
}

/// What the sum would gain without the noise of the quantizer before it; the addition passes it on as it is.
Number gainAtSum(const ActivationRow& product, const ActivationRow& sum)
{
    const double made = product.noise.rounding.value_or(0) + product.noise.clipping.value_or(0);
    const double all = sum.accumulated.rmse.value_or(0) * sum.accumulated.rmse.value_or(0);
    return made > 0 && all > made ? Number(10 * std::log10(all / (all - made))) : Number();
}

} // namespace

void findSplitProducts(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Graph& graph = pair.floatPlan->graph();
    const RowOfValue rowOf(c.activations);
    std::optional<std::set<std::string>> fused;
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (row.opType != "MatMul" || row.params.scale.empty() || row.dynamic || !row.noise.rounding)
            continue;
        const Node& product = graph.node(row.floatNode);
        const NodeId add = biasAdd(*pair.floatPlan, row.floatValue);
        if (!add.valid() || !product.hasInput(1) || !pair.floatPlan->constant(product.inputs[1]))
            continue;
        const auto sumRow = rowOf.find(graph.node(add).outputs[0]);
        const ActivationRow* sum = sumRow ? &c.activations[*sumRow] : nullptr;
        if (!sum || sum->params.scale.empty() || sum->quantizer == row.quantizer)
            continue;
        const Number gain = gainAtSum(row, *sum);
        if (!gain || *gain < kSplitWorthDb)
            continue;
        if (!fused)
            fused = productsOfGemm(GraphDraft(std::make_shared<Model>(pair.floatPlan->model())));
        if (!fused->contains(row.name))
            continue;
        Finding f = activationFinding(c, i, Rule::SplitProduct);
        f.summary = fmt::format("The quantizer between it and {} makes noise that the sum, at {:.1f} dB, would be "
                                "{:.1f} dB better without, by what was measured of both.",
            graph.node(add).name, sum->accumulated.sqnrDb.value_or(0), *gain);
        f.evidence = { evidence("gain_db", *gain, "dB"), { "sum", std::nullopt, sum->name, {} },
            evidence("sqnr_db", sum->accumulated.sqnrDb.value_or(0), "dB") };
        if (row.localSqnrDb)
            f.evidence.push_back(evidence("local_sqnr_db", *row.localSqnrDb, "dB"));
        f.change = { RemedyKind::FuseGemm, row.node, row.name, 0, 0, 0 };
        f.confidence = 0.9;
        found.push_back(std::move(f));
    }
}

} // namespace qs
