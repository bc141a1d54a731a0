// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/microsoft/attention.h"

#include "core/engine/lower/common/movement.h"
#include "core/graph/domains.h"

/// GatedRMSNorm and LinearAttentionGate, what stands around linear attention, and GatedAdd of shared experts, by ONNX's
/// operators: all of it in float32, whatever the type. Source: ONNX Runtime's operator documentation.
namespace qs {

namespace {

/// One of ONNX's operators on tensors of the type of computing.
Result<Tensor> apply(const StepContext& s, KernelMode mode, Node node, const std::vector<const Tensor*>& in)
{
    std::vector<InnerOp::Input> inputs;
    for (const Tensor* t : in)
        inputs.push_back({ t->dtype(), {}, true });
    QS_TRY(const InnerOp op, InnerOp::make(std::move(node), std::move(inputs), mode));
    return op.run(s, in);
}

Result<Tensor> apply(const StepContext& s, KernelMode mode, const char* type, const std::vector<const Tensor*>& in)
{
    return apply(s, mode, innerNode(type), in);
}

/// x / rms(x) * scale * f(gate), over groups of as many elements as the scale has.
Status runGatedNorm(const Node& node, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 3));
    const Tensor &x = s.in(0), &scale = s.in(1), &gate = s.in(2);
    QS_CHECK(needFloat(x.dtype()));
    const int64_t group = scale.count();
    if (x.rank() < 1 || scale.rank() != 1 || group < 1 || x.shape().back() % group || gate.shape() != x.shape())
        return badInput("X " + shapeText(x.shape()) + ", scale " + shapeText(scale.shape()) + " and gate "
            + shapeText(gate.shape()) + " do not fit");
    const DType work = attentionWork(x.dtype(), mode);
    const Tensor rows = asWorkType(s, x, work).reshaped({ x.count() / group, group });
    const Tensor factors = asWorkType(s, scale, work), gates = asWorkType(s, gate, work);
    Node norm = innerNode("RMSNormalization", {}, 23);
    norm.attributes.set("axis", int64_t(-1));
    norm.attributes.set("epsilon", node.attributes.real("epsilon", 1e-5f));
    QS_TRY(Tensor y, apply(s, mode, std::move(norm), { &rows, &factors }));
    QS_TRY(Tensor open, apply(s, mode, "Sigmoid", { &gates }));
    if (node.attributes.text("activation", "silu") != "sigmoid") {
        QS_TRY(open, apply(s, mode, "Mul", { &open, &gates }));
    }
    y = y.reshaped(x.shape());
    QS_TRY(y, apply(s, mode, "Mul", { &y, &open }));
    s.setOutput(0, asStored(s, std::move(y), x.dtype()));
    return {};
}

Result<LoweredNode> lowerGatedNorm(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    const std::string name = c.node.attributes.text("activation", "silu");
    if (name != "silu" && name != "swish" && name != "sigmoid")
        return badInput("the activation " + name + " does not exist");
    return copying<runGatedNorm>(c);
}

/// decay_scale * softplus(a + dt_bias), and sigmoid(b).
Status runGate(const Node&, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 3));
    const Tensor &a = s.in(0), &bias = s.in(1), &scale = s.in(2);
    const Tensor* b = s.input(3);
    QS_CHECK(needFloat(a.dtype()));
    const int64_t heads = a.rank() == 3 ? a.dim(2) : -1;
    if (bias.count() != heads || scale.count() != heads || (b && b->shape() != a.shape())
        || (!b && s.outputCount() > 1))
        return badInput("a " + shapeText(a.shape()) + ", dt_bias " + shapeText(bias.shape()) + ", decay_scale "
            + shapeText(scale.shape()) + " and b do not fit");
    const DType work = attentionWork(a.dtype(), mode);
    const Tensor wide = asWorkType(s, a, work), shift = asWorkType(s, bias, work), factor = asWorkType(s, scale, work);
    QS_TRY(Tensor y, apply(s, mode, "Add", { &wide, &shift }));
    QS_TRY(y, apply(s, mode, "Softplus", { &y }));
    QS_TRY(y, apply(s, mode, "Mul", { &y, &factor }));
    s.setOutput(0, asStored(s, std::move(y), a.dtype()));
    if (b && s.outputCount() > 1) {
        const Tensor rate = asWorkType(s, *b, work);
        QS_TRY(Tensor beta, apply(s, mode, "Sigmoid", { &rate }));
        s.setOutput(1, asStored(s, std::move(beta), a.dtype()));
    }
    return {};
}

Result<LoweredNode> lowerGate(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    return copying<runGate>(c);
}

/// X + Y * gate with one gate a row; the product is rounded to the type.
Status runGatedAdd(const Node&, KernelMode mode, StepContext& s)
{
    QS_CHECK(needInputs(s, 3));
    const Tensor &x = s.in(0), &y = s.in(1), &gate = s.in(2);
    QS_CHECK(needFloat(x.dtype()));
    Shape rows = x.shape();
    if (!rows.empty())
        rows.back() = 1;
    if (rows.empty() || y.shape() != x.shape() || gate.shape() != rows)
        return badInput("X " + shapeText(x.shape()) + ", Y " + shapeText(y.shape()) + " and gate "
            + shapeText(gate.shape()) + " do not fit");
    const DType work = attentionWork(x.dtype(), mode);
    const Tensor added = asWorkType(s, y, work), share = asWorkType(s, gate, work), to = asWorkType(s, x, work);
    QS_TRY(Tensor part, apply(s, mode, "Mul", { &added, &share }));
    part = asWorkType(s, asStored(s, std::move(part), x.dtype()), work);
    QS_TRY(Tensor sum, apply(s, mode, "Add", { &to, &part }));
    s.setOutput(0, asStored(s, std::move(sum), x.dtype()));
    return {};
}

Result<LoweredNode> lowerGatedAdd(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    if (c.node.hasInput(3))
        return badInput("gate_weight is not supported, nor by ONNX Runtime on a CPU");
    return copying<runGatedAdd>(c);
}

} // namespace

void lowerGates(LoweringRegistry& r)
{
    r.add(kMicrosoftDomain, "GatedRMSNorm", lowerGatedNorm);
    r.add(kMicrosoftDomain, "LinearAttentionGate", lowerGate);
    r.add(kMicrosoftDomain, "GatedAdd", lowerGatedAdd);
}

} // namespace qs
