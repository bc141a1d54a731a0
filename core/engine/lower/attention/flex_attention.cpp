// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/attention/parts.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/inner_op.h"
#include "core/engine/registry/registry.h"
#include "core/engine/run/subgraph.h"
#include "core/graph/domains.h"
#include "core/tensor/convert.h"

#include <cmath>

/// Attention whose scores and probabilities go through graphs of the node. Source: the function body of FlexAttention-1
/// in ONNX; a key's head that several query heads share is read where it lies instead of being repeated.
namespace qs {

namespace {

struct FlexAttentionStep {
    InnerOp scale, transpose, scores, toPrecision, softmax, valuesToPrecision, weigh, back;
    std::shared_ptr<const Subgraph> scoreMod, probMod; ///< null: none
    std::optional<float> factor;
    DType type = DType::Undefined;

    Status run(StepContext& s) const;
};

/// What the graph makes of the tensor, which must keep type and shape; the tensor itself without one.
Result<Tensor> modified(const StepContext& s, const Subgraph* graph, const Tensor& t, const char* name)
{
    if (!graph)
        return t;
    QS_TRY(const std::vector<Tensor> made, graph->run(s, std::span(&t, 1)));
    if (made[0].dtype() == t.dtype() && made[0].shape() == t.shape())
        return s.toLayout(made[0], Layout::Plain);
    return badInput("its " + std::string(name) + " makes " + std::string(dtypeName(made[0].dtype())) + " "
        + shapeText(made[0].shape()) + " of " + std::string(dtypeName(t.dtype())) + " " + shapeText(t.shape()));
}

Status checkShapes(const Tensor& q, const Tensor& k, const Tensor& v)
{
    const bool ranks = q.rank() == 4 && k.rank() == 4 && v.rank() == 4;
    if (!ranks || k.dim(0) != q.dim(0) || v.dim(0) != q.dim(0) || k.dim(3) != q.dim(3) || v.dim(1) != k.dim(1)
        || v.dim(2) != k.dim(2) || k.dim(1) == 0 || q.dim(1) % k.dim(1) != 0)
        return badInput("queries " + shapeText(q.shape()) + ", keys " + shapeText(k.shape()) + " and values "
            + shapeText(v.shape()) + " do not fit");
    return {};
}

Status FlexAttentionStep::run(StepContext& s) const
{
    const Tensor &q = s.in(0), &k = s.in(1), &v = s.in(2);
    QS_CHECK(checkShapes(q, k, v));
    const int64_t batch = q.dim(0), heads = q.dim(1), queries = q.dim(2), keyHeads = k.dim(1), keys = k.dim(2);
    const int64_t sharedRows = heads / keyHeads * queries; // of all query heads that share a key head
    const float whole = factor ? *factor : 1 / std::sqrt(static_cast<float>(q.dim(3)));
    const Tensor root = fromWork<float>(s, Tensor::scalar<float>(std::sqrt(whole)), type);
    QS_TRY(const Tensor scaledQ, scale.run(s, { &q, &root }));
    QS_TRY(const Tensor scaledK, scale.run(s, { &k, &root }));
    QS_TRY(const Tensor turnedK, transpose.run(s, { &scaledK }));
    const Tensor rows = scaledQ.reshaped({ batch, keyHeads, sharedRows, q.dim(3) });
    QS_TRY(const Tensor products, scores.run(s, { &rows, &turnedK }));
    QS_TRY(Tensor t, toPrecision.run(s, { &products }));
    QS_TRY(t, modified(s, scoreMod.get(), t.reshaped({ batch, heads, queries, keys }), "score_mod"));
    QS_TRY(t, softmax.run(s, { &t }));
    QS_TRY(t, modified(s, probMod.get(), t, "prob_mod"));
    t = t.reshaped({ batch, keyHeads, sharedRows, keys });
    QS_TRY(const Tensor values, valuesToPrecision.run(s, { &v }));
    QS_TRY(t, weigh.run(s, { &t, &values }));
    QS_TRY(t, back.run(s, { &t }));
    s.setOutput(0, t.reshaped({ batch, heads, queries, v.dim(3) }));
    return {};
}

Result<std::shared_ptr<const Subgraph>> modifier(
    const LowerContext& c, const std::string& name, DType precision, std::vector<bool>& reads)
{
    if (!c.node.attributes.has(name))
        return std::shared_ptr<const Subgraph>();
    const std::vector<Fact> inputs { { precision, {}, {} } };
    QS_TRY(Subgraph made, Subgraph::make(c, name, inputs, reads));
    if (made.inputCount() != 1 || made.outputCount() != 1)
        return badInput("its " + name + " must have one input and one output", {}, "export the model again");
    return std::make_shared<const Subgraph>(std::move(made));
}

Result<LoweredNode> lowerFlex(const LowerContext& c)
{
    FlexAttentionStep step;
    step.type = c.inputType(0);
    const DType usual = step.type == DType::Float64 ? DType::Float64 : DType::Float32;
    const auto precision = static_cast<DType>(c.node.attributes.integer("softmax_precision", int64_t(usual)));
    if (!isComputedFloat(step.type) || !isComputedFloat(precision))
        return badInput("it is not possible with inputs of type " + std::string(dtypeName(step.type))
            + " and a softmax of type " + std::string(dtypeName(precision)));
    if (const auto* given = c.node.attributes.get<float>("scale"))
        step.factor = *given;
    const auto make = [&](InnerOp& op, Node node, std::initializer_list<DType> types) -> Status {
        std::vector<InnerOp::Input> inputs;
        for (const DType type : types)
            inputs.push_back({ type, {}, true });
        QS_TRY(op, InnerOp::make(std::move(node), std::move(inputs), c.mode));
        return {};
    };
    Node transpose = innerNode("Transpose"), softmax = innerNode("Softmax"), cast = innerNode("Cast"),
         back = innerNode("Cast");
    transpose.attributes.set("perm", std::vector<int64_t> { 0, 1, 3, 2 });
    softmax.attributes.set("axis", int64_t(-1));
    cast.attributes.set("to", int64_t(precision));
    back.attributes.set("to", int64_t(step.type));
    QS_CHECK(make(step.scale, innerNode("Mul"), { step.type, step.type }));
    QS_CHECK(make(step.transpose, std::move(transpose), { step.type }));
    QS_CHECK(make(step.scores, innerNode("MatMul"), { step.type, step.type }));
    QS_CHECK(make(step.toPrecision, cast, { step.type }));
    QS_CHECK(make(step.softmax, std::move(softmax), { precision }));
    QS_CHECK(make(step.valuesToPrecision, cast, { step.type }));
    QS_CHECK(make(step.weigh, innerNode("MatMul"), { precision, precision }));
    QS_CHECK(make(step.back, std::move(back), { precision }));
    LoweredNode lowered;
    QS_TRY(step.scoreMod, modifier(c, "score_mod", precision, lowered.captures));
    QS_TRY(step.probMod, modifier(c, "prob_mod", precision, lowered.captures));
    lowered.kernel = step.scores.kernel();
    lowered.foldable = !step.scoreMod && !step.probMod;
    lowered.run
        = [step = std::make_shared<const FlexAttentionStep>(std::move(step))](StepContext& s) { return step->run(s); };
    return lowered;
}

} // namespace

void lowerFlexAttention(LoweringRegistry& r) { r.add(kPreviewDomain, "FlexAttention", lowerFlex); }

} // namespace qs
