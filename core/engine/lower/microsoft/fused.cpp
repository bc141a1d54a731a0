// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/element_types.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/microsoft/parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"

#include "core/kernels/product/matmul.h"

#include <algorithm>
#include <numeric>

/// Operators that stand for a short chain of others: each runs that chain. Source: ONNX Runtime's operator
/// documentation (ContribOperators.md).
namespace qs {

namespace {

/// Operators in a row; each takes the result of the one before it and, where it has one, an operand of its own.
struct OperatorChain {
    struct Link {
        InnerOp op;
        std::vector<size_t> slots; ///< inputs of the node that it reads after the running result
    };
    std::vector<Link> links;

    Result<Tensor> run(const StepContext& s, Tensor value) const
    {
        for (const Link& link : links) {
            std::vector<const Tensor*> inputs { &value };
            for (size_t slot : link.slots)
                inputs.push_back(s.input(slot));
            QS_TRY(Tensor next, link.op.run(s, inputs));
            value = std::move(next);
        }
        return value;
    }
};

/// The activation that FusedConv and FusedGemm end with.
Result<InnerOp> activation(const std::string& name, std::vector<float> params, DType type, KernelMode mode)
{
    static const std::map<std::string_view, std::vector<const char*>> known { { "Relu", {} }, { "Sigmoid", {} },
        { "Tanh", {} }, { "LeakyRelu", { "alpha" } }, { "HardSigmoid", { "alpha", "beta" } },
        { "Clip", { "min", "max" } }, { "Elu", { "alpha" } }, { "Selu", { "alpha", "gamma" } }, { "Softplus", {} },
        { "Softsign", {} }, { "ThresholdedRelu", { "alpha" } }, { "HardSwish", {} }, { "Gelu", {} },
        { "Celu", { "alpha" } }, { "Swish", { "alpha" } } };
    const auto it = known.find(name);
    if (it == known.end())
        return badInput("the activation " + name + " is not supported");
    Node node = innerNode(name, {}, name == "Clip" ? 6 : 21);
    for (size_t i = 0; i < std::min(params.size(), it->second.size()); ++i)
        node.attributes.set(it->second[i], params[i]);
    return InnerOp::make(std::move(node), { { type, {}, true } }, mode);
}

/// The first inputs of the node, as many as the plain operator takes.
Result<InnerOp> plainOp(const LowerContext& c, Node node, size_t inputs)
{
    std::vector<InnerOp::Input> known;
    for (size_t i = 0; i < std::min(inputs, c.node.inputs.size()); ++i)
        known.push_back(InnerOp::of(c, i));
    node.attributes = c.node.attributes;
    return InnerOp::make(std::move(node), std::move(known), c.mode, 1, c.saturation);
}

/// Tensors whose file shape is N, spatial..., C seen as N, C, spatial... and back: the same bytes.
Tensor channelsSecond(const StepContext& s, const Tensor& t)
{
    Tensor plain = s.toLayout(t, Layout::Plain);
    Shape shape = plain.shape();
    std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
    const auto owner = std::make_shared<const Tensor>(plain);
    return Tensor::wrap(plain.dtype(), std::move(shape), owner->bytes().data(), owner, Layout::ChannelsLast);
}

Tensor channelsBehind(const StepContext& s, const Tensor& t)
{
    const Tensor last = s.toLayout(t, Layout::ChannelsLast);
    Shape shape = last.shape();
    std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
    const auto owner = std::make_shared<const Tensor>(last);
    return Tensor::wrap(last.dtype(), std::move(shape), owner->bytes().data(), owner, Layout::Plain);
}

/// A plain operator over images whose channels may come last, then an addend of the same shape, then an activation.
struct ImageStep {
    InnerOp op;
    size_t inputs;
    bool channelsLast;
    std::optional<InnerOp> add;
    OperatorChain end;
};

Status runImage(const ImageStep& step, StepContext& s)
{
    if (!s.input(0) || (step.channelsLast && s.in(0).rank() < 3))
        return badInput("the input is missing or has no spatial axis");
    std::vector<const Tensor*> inputs;
    for (size_t i = 0; i < std::min(step.inputs, s.inputCount()); ++i)
        inputs.push_back(s.input(i));
    Tensor x;
    if (step.channelsLast) {
        x = channelsSecond(s, s.in(0));
        inputs[0] = &x;
    }
    Tensor unrounded;
    QS_TRY(std::vector<Tensor> made, step.op.runAll(s, inputs, s.wantsUnrounded() ? &unrounded : nullptr));
    Tensor y = step.channelsLast ? channelsBehind(s, made[0]) : std::move(made[0]);
    if (unrounded.valid())
        s.setUnrounded(step.channelsLast ? channelsBehind(s, unrounded) : std::move(unrounded));
    if (step.add && s.input(3)) {
        if (s.in(3).shape() != y.shape())
            return badInput(
                "the sum's shape " + shapeText(s.in(3).shape()) + " is not the output's " + shapeText(y.shape()));
        QS_TRY(y, step.add->run(s, { &y, &s.in(3) }));
    }
    QS_TRY(y, step.end.run(s, std::move(y)));
    s.setOutput(0, std::move(y));
    return {};
}

Result<LoweredNode> imageNode(ImageStep step)
{
    const std::string kernel = step.op.kernel();
    const bool ends = step.add || !step.end.links.empty();
    const auto shared = std::make_shared<const ImageStep>(std::move(step));
    LoweredNode lowered { [shared](StepContext& s) { return runImage(*shared, s); }, kernel, LayoutRule::Any };
    lowered.offersUnrounded = shared->op.lowered().offersUnrounded && !ends;
    lowered.countsPairs = shared->op.lowered().countsPairs;
    return lowered;
}

Result<LoweredNode> lowerFusedConv(const LowerContext& c)
{
    QS_TRY(InnerOp conv, plainOp(c, innerNode("Conv"), 3));
    ImageStep step { std::move(conv), 3, false, {}, {} };
    const DType type = c.inputType(0);
    if (c.node.hasInput(3)) {
        QS_TRY(step.add, InnerOp::make(innerNode("Add"), { { type, {}, true }, { type, {}, true } }, c.mode));
    }
    if (const std::string name = c.node.attributes.text("activation", ""); !name.empty()) {
        QS_TRY(InnerOp op, activation(name, c.node.attributes.reals("activation_params"), type, c.mode));
        step.end.links.push_back({ std::move(op), {} });
    }
    return imageNode(std::move(step));
}

Result<LoweredNode> lowerNhwcMaxPool(const LowerContext& c)
{
    QS_TRY(InnerOp pool, plainOp(c, innerNode("MaxPool"), 1));
    return imageNode({ std::move(pool), 1, true, {}, {} });
}

/// com.microsoft's own QLinearConv is ONNX's with the attribute channels_last.
Result<LoweredNode> lowerQLinearConv(const LowerContext& c)
{
    QS_TRY(InnerOp conv, plainOp(c, innerNode("QLinearConv"), 9));
    return imageNode({ std::move(conv), 9, c.node.attributes.integer("channels_last", 0) != 0, {}, {} });
}

Result<LoweredNode> chainNode(InnerOp first, size_t inputs, OperatorChain chain)
{
    struct Step {
        InnerOp first;
        size_t inputs;
        OperatorChain chain;
    };
    const std::string kernel = first.kernel();
    const auto step = std::make_shared<const Step>(Step { std::move(first), inputs, std::move(chain) });
    return LoweredNode { [step](StepContext& s) -> Status {
                            std::vector<const Tensor*> given;
                            for (size_t i = 0; i < std::min(step->inputs, s.inputCount()); ++i)
                                given.push_back(s.input(i));
                            QS_TRY(Tensor y, step->first.run(s, given));
                            QS_TRY(y, step->chain.run(s, std::move(y)));
                            s.setOutput(0, std::move(y));
                            return {};
                        },
        kernel };
}

Result<LoweredNode> lowerFusedGemm(const LowerContext& c)
{
    const Attributes& a = c.node.attributes;
    QS_TRY(InnerOp gemm, plainOp(c, innerNode("Gemm"), 3));
    OperatorChain chain;
    if (const std::string name = a.text("activation", ""); !name.empty()) {
        std::vector<float> params;
        for (const char* key : { "activation_alpha", name == "Selu" ? "activation_gamma" : "activation_beta" }) {
            if (!a.has(key))
                break;
            params.push_back(a.real(key, 0));
        }
        if (name == "LeakyRelu" && params.empty())
            params.push_back(a.real("leaky_relu_alpha", 0.01f));
        QS_TRY(InnerOp op, activation(name, std::move(params), c.inputType(0), c.mode));
        chain.links.push_back({ std::move(op), {} });
    }
    return chainNode(std::move(gemm), 3, std::move(chain));
}

/// How FusedMatMul sees an operand: the first axis before the last one, then the last two swapped.
struct OperandView {
    bool batch = false, swap = false;

    std::vector<int64_t> permutation(size_t rank) const
    {
        std::vector<int64_t> perm(rank);
        std::iota(perm.begin(), perm.end(), 0);
        if (batch && rank > 2)
            std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
        if (swap && rank > 1)
            std::swap(perm[rank - 1], perm[rank - 2]);
        return perm;
    }
    bool changes() const { return batch || swap; }
};

Result<Tensor> transposed(const StepContext& s, const Tensor& t, const OperandView& view, KernelMode mode)
{
    if (!view.changes() || t.rank() < 2)
        return t;
    Node node = innerNode("Transpose");
    node.attributes.set("perm", view.permutation(t.rank()));
    QS_TRY(const InnerOp op, InnerOp::make(std::move(node), { { t.dtype(), {}, true } }, mode));
    return op.run(s, { &t });
}

struct FusedProduct {
    InnerOp product;
    OperandView a, b;
    Tensor constantB; ///< as the product takes it; invalid when it is computed
    float alpha;
    KernelMode mode;
};

/// t * alpha in the type of t.
Tensor scaled(const StepContext& s, Tensor t, float alpha, KernelMode mode)
{
    if (alpha == 1.0f)
        return t;
    return withFloatWork(t.dtype(), mode, [&](auto w) {
        using W = decltype(w);
        const Tensor in = asWork<W>(s, t);
        Tensor y = s.allocate(dtypeOf<W>(), t.shape());
        std::ranges::transform(in.data<W>(), y.fill<W>().begin(), [&](W v) { return v * W(alpha); });
        return fromWork<W>(s, std::move(y), t.dtype());
    });
}

Status runFusedMatMul(const FusedProduct& step, StepContext& s)
{
    if (!s.input(0) || !s.input(1))
        return badInput("an operand is missing");
    QS_TRY(const Tensor a, transposed(s, s.in(0), step.a, step.mode));
    Tensor b = step.constantB;
    if (!b.valid()) {
        QS_TRY(b, transposed(s, s.in(1), step.b, step.mode));
    }
    QS_TRY(Tensor y, step.product.run(s, { &a, &b }));
    s.setOutput(0, scaled(s, std::move(y), step.alpha, step.mode));
    return {};
}

Result<LoweredNode> lowerFusedMatMul(const LowerContext& c)
{
    const Attributes& a = c.node.attributes;
    const OperandView left { a.integer("transBatchA", 0) != 0, a.integer("transA", 0) != 0 };
    const OperandView right { a.integer("transBatchB", 0) != 0, a.integer("transB", 0) != 0 };
    QS_CHECK(needFloat(c.inputType(0)));
    InnerOp::Input b = InnerOp::of(c, 1);
    if (b.constant.valid() && right.changes()) {
        BufferPool pool;
        StepContext none({}, {}, pool);
        QS_TRY(b.constant, transposed(none, b.constant, right, c.mode));
    }
    const Tensor constantB = b.constant;
    QS_TRY(InnerOp product, InnerOp::make(innerNode("MatMul"), { { c.inputType(0), {}, true }, b }, c.mode));
    const std::string kernel = product.kernel();
    const auto step = std::make_shared<const FusedProduct>(
        FusedProduct { std::move(product), left, right, constantB, a.real("alpha", 1), c.mode });
    return LoweredNode { [step](StepContext& s) { return runFusedMatMul(*step, s); }, kernel };
}

/// Gelu of the input plus a bias of the last axis, where there is one.
Result<LoweredNode> lowerBiasedGelu(const LowerContext& c, bool tanh)
{
    QS_CHECK(needFloat(c.inputType(0)));
    Node gelu = innerNode("Gelu");
    gelu.attributes.set("approximate", std::string(tanh ? "tanh" : "none"));
    QS_TRY(InnerOp function, InnerOp::make(std::move(gelu), { { c.inputType(0), {}, true } }, c.mode));
    if (!c.node.hasInput(1))
        return chainNode(std::move(function), 1, {});
    QS_TRY(InnerOp add, InnerOp::make(innerNode("Add"), { InnerOp::of(c, 0), InnerOp::of(c, 1) }, c.mode));
    OperatorChain chain;
    chain.links.push_back({ std::move(function), {} });
    return chainNode(std::move(add), 2, std::move(chain));
}

} // namespace

void lowerMicrosoftFused(LoweringRegistry& r)
{
    r.add(kMicrosoftDomain, "FusedConv", lowerFusedConv);
    r.add(kMicrosoftDomain, "NhwcMaxPool", lowerNhwcMaxPool);
    r.add(kMicrosoftDomain, "QLinearConv", lowerQLinearConv);
    r.add(kMicrosoftDomain, "FusedGemm", lowerFusedGemm);
    r.add(kMicrosoftDomain, "FusedMatMul", lowerFusedMatMul);
    r.add(kMicrosoftDomain, "TransposeMatMul", lowerFusedMatMul);
    r.add(kMicrosoftDomain, "BiasGelu", [](const LowerContext& c) { return lowerBiasedGelu(c, false); });
    r.add(kMicrosoftDomain, "FastGelu", [](const LowerContext& c) { return lowerBiasedGelu(c, true); });
}

void lowerMicrosoft(LoweringRegistry& r)
{
    lowerMicrosoftFused(r);
    lowerMicrosoftEmbedding(r);
    lowerBlockProducts(r);
    lowerGatherQuantized(r);
    lowerMicrosoftAttention(r);
    lowerMoe(r);
    lowerNchwc(r);
}

} // namespace qs
