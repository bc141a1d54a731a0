// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/moe.h"
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/microsoft/parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"
#include "core/kernels/blocks/block_codes.h"

#include <array>
#include <limits>
#include <map>

/// MoE and QMoE: each token goes to a few of many small networks. In double, but for what ONNX Runtime rounds to eight
/// bits.
namespace qs {

namespace {

/// Where a node has what belongs to one of its products; 0: nowhere.
struct ExpertSlots {
    size_t weights, bias, scales = 0, zeroPoints = 0;
};

/// Weights of 2 bits that are multiplied by tables; invalid codes: there are none.
struct ExpertTables {
    Tensor codes;
    std::vector<float> scales, zeroPoints; ///< by expert, row and block; no zero points: 2

    TwoBitWeights expert(size_t number, int64_t block) const
    {
        const auto rows = static_cast<size_t>(codes.dim(1)), bytes = static_cast<size_t>(codes.dim(2));
        const size_t at = number * rows * (4 * bytes / size_t(block));
        return { codes.data<uint8_t>().data() + number * rows * bytes, scales.data() + at,
            zeroPoints.empty() ? nullptr : zeroPoints.data() + at, rows, 4 * bytes, size_t(block) };
    }
};

struct ExpertStep {
    size_t k = 1;
    bool normalize = false;
    ExpertFunction function;
    int64_t fusion = 0; ///< of Swiglu: 1 gate and linear part alternate, 2 one after the other
    bool quantized = false;
    std::array<int64_t, 3> bits {};
    int64_t block = 0; ///< 0: a row has one scale
    int64_t accuracyLevel = 0;
    std::array<Tensor, 3> ready; ///< weights that were constant, as floats
    std::array<ExpertTables, 3> tables; ///< of those that are multiplied by tables
    std::array<ExpertSlots, 3> slots;
};

int64_t codeAt(const uint8_t* bytes, int64_t i, int64_t bits)
{
    const int64_t per = 8 / bits;
    return (bytes[i / per] >> (i % per * bits)) & ((1 << bits) - 1);
}

/// Codes experts x rows x packed bytes as floats experts x rows x depth.
Result<Tensor> dequantizedExperts(
    const Tensor& codes, const Tensor& scales, const Tensor* zeroPoints, int64_t bits, int64_t block)
{
    if (codes.rank() != 3 || codes.dtype() != DType::UInt8)
        return badInput("its weights must be bytes of experts x rows x depth, not " + shapeText(codes.shape()));
    const int64_t experts = codes.dim(0), rows = codes.dim(1), depth = codes.dim(2) * 8 / bits;
    const int64_t each = block > 0 ? block : std::max<int64_t>(depth, 1), blocks = depth / each + (depth % each != 0);
    const int64_t zeroRow = block > 0 ? (blocks * bits + 7) / 8 : 0, zeroExpert = (rows * bits + 7) / 8;
    if (scales.count() != experts * rows * blocks || !isComputedFloat(scales.dtype()))
        return badInput("its scales " + shapeText(scales.shape()) + " do not fit weights " + shapeText(codes.shape()));
    if (zeroPoints
        && (zeroPoints->dtype() != DType::UInt8
            || zeroPoints->count() != experts * (block > 0 ? rows * zeroRow : zeroExpert)))
        return badInput("its zero points " + shapeText(zeroPoints->shape()) + " do not fit");
    const std::vector<float> scale = toFloats(scales);
    Tensor out = Tensor::allocate(DType::Float32, { experts, rows, depth });
    float* to = out.fill<float>().data();
    for (int64_t row = 0; row < experts * rows; ++row)
        for (int64_t i = 0; i < depth; ++i) {
            const int64_t b = i / each;
            int64_t zero = int64_t(1) << (bits - 1);
            if (zeroPoints && block > 0)
                zero = codeAt(zeroPoints->data<uint8_t>().data() + row * zeroRow, b, bits);
            else if (zeroPoints)
                zero = codeAt(zeroPoints->data<uint8_t>().data() + row / rows * zeroExpert, row % rows, bits);
            const int64_t code = codeAt(codes.data<uint8_t>().data() + row * codes.dim(2), i, bits);
            *to++ = float(code - zero) * scale[static_cast<size_t>(row * blocks + b)];
        }
    return out;
}

Result<Tensor> expertWeights(
    const ExpertStep& step, size_t part, const Tensor* weights, const Tensor* scales, const Tensor* zeroPoints)
{
    if (step.quantized && !scales)
        return badInput("its weights have no scales");
    if (step.quantized)
        return dequantizedExperts(*weights, *scales, zeroPoints, step.bits[part], step.block);
    if (weights->rank() != 3 || !isComputedFloat(weights->dtype()))
        return badInput("its weights must be experts x rows x depth, not " + shapeText(weights->shape()));
    return constantFloats(*weights);
}

/// Elements of a row that share a scale where what is multiplied is rounded to eight bits, as by MatMulNBits of
/// accuracy level 4; 0: it stays as it is. Source: ONNX Runtime's operator documentation, measured on 1.32.
int64_t roundedBlock(const ExpertStep& step, size_t part)
{
    constexpr int64_t kLargest = 256;
    const bool rounds = step.bits[part] == 8 || (step.bits[part] == 4 && step.accuracyLevel == 4);
    return step.quantized && rounds && step.block <= kLargest ? step.block : 0;
}

/// Tables for constant weights of 2 bits where ONNX Runtime multiplies by them: in blocks of 32 and more, with rows in
/// multiples of 128 (measured on 1.32, x86).
ExpertTables expertTables(
    const ExpertStep& step, size_t part, const Tensor& codes, const Tensor& scales, const Tensor* zeroPoints)
{
    constexpr int64_t kLeastBlock = 32, kRowsTogether = 128;
    const int64_t rows = codes.dim(1), depth = codes.dim(2) * 4;
    ExpertTables t;
    if (step.bits[part] != 2 || step.block < kLeastBlock || (step.block & (step.block - 1)) != 0
        || depth % step.block != 0 || rows % kRowsTogether != 0)
        return t;
    t.codes = codes;
    t.scales = toFloats(scales);
    const int64_t blocks = depth / step.block, zeroRow = (blocks * 2 + 7) / 8;
    for (int64_t row = 0; zeroPoints && row < codes.dim(0) * rows; ++row)
        for (int64_t b = 0; b < blocks; ++b)
            t.zeroPoints.push_back(float(codeAt(zeroPoints->data<uint8_t>().data() + row * zeroRow, b, 2)));
    return t;
}

/// One product of all experts.
struct ExpertLayer {
    Tensor weights; ///< invalid: there is none
    const ExpertTables* tables = nullptr; ///< in place of them
    std::vector<double> bias; ///< empty or experts x rows
    int64_t block = 0; ///< of the tables; else above 0: what is multiplied is rounded to eight bits in such blocks
    size_t rows() const { return static_cast<size_t>(weights.dim(1)); }
    size_t depth() const { return static_cast<size_t>(weights.dim(2)); }
    void run(size_t expert, const double* x, double* y) const
    {
        const double* own = bias.empty() ? nullptr : bias.data() + expert * rows();
        if (tables)
            return expertTableProduct(tables->expert(expert, block), own, x, y);
        std::vector<double> rounded;
        if (block > 0) {
            rounded = roundedInBlocks(x);
            x = rounded.data();
        }
        expertProduct(weights.data<float>().data() + expert * rows() * depth(), own, x, rows(), depth(), y);
    }

private:
    std::vector<double> roundedInBlocks(const double* x) const
    {
        const std::vector<float> from(x, x + depth());
        const size_t blocks = (depth() + size_t(block) - 1) / size_t(block);
        std::vector<int8_t> codes(blocks * size_t(block));
        std::vector<float> scale(blocks);
        quantizeBlocks(from.data(), int64_t(depth()), block, codes.data(), scale.data());
        std::vector<double> to(depth());
        for (size_t i = 0; i < to.size(); ++i)
            to[i] = double(codes[i]) * double(scale[i / size_t(block)]);
        return to;
    }
};

Result<ExpertLayer> expertLayer(const ExpertStep& step, const StepContext& c, size_t part)
{
    const ExpertSlots& s = step.slots[part];
    const auto input = [&](size_t slot) { return slot ? c.input(slot) : nullptr; };
    ExpertLayer layer;
    if (!c.input(s.weights))
        return layer;
    layer.weights = step.ready[part];
    if (!layer.weights.valid()) {
        QS_TRY(layer.weights, expertWeights(step, part, c.input(s.weights), input(s.scales), input(s.zeroPoints)));
    }
    layer.block = roundedBlock(step, part);
    if (step.tables[part].codes.valid()) {
        layer.tables = &step.tables[part];
        layer.block = step.block;
    }
    if (const Tensor* bias = c.input(s.bias))
        layer.bias = toDoubles(*bias);
    if (!layer.bias.empty() && layer.bias.size() != static_cast<size_t>(layer.weights.dim(0)) * layer.rows())
        return badInput("a bias does not fit weights of shape " + shapeText(layer.weights.shape()));
    return layer;
}

/// The three layers of every expert: in, out, and beside the first the linear part where it has weights of its own.
struct ExpertLayers {
    ExpertLayer in, out, linear;
};

Status checkExperts(const ExpertStep& step, const ExpertLayers& l, const Tensor& x, const Tensor& logits)
{
    if (!l.in.weights.valid() || !l.out.weights.valid())
        return badInput("weights of its experts are missing");
    const size_t experts = static_cast<size_t>(l.in.weights.dim(0)), hidden = l.in.depth();
    const size_t width = step.fusion ? 2 * l.out.depth() : l.out.depth();
    const bool fits = x.rank() >= 2 && static_cast<size_t>(x.shape().back()) == hidden && l.in.rows() == width
        && l.out.rows() == hidden && static_cast<size_t>(l.out.weights.dim(0)) == experts
        && (!l.linear.weights.valid() || (!step.fusion && l.linear.weights.shape() == l.in.weights.shape()));
    if (!fits)
        return badInput("inputs " + shapeText(x.shape()) + " and weights " + shapeText(l.in.weights.shape()) + ", "
            + shapeText(l.out.weights.shape()) + " do not fit");
    const bool routed = logits.rank() == 2 && static_cast<size_t>(logits.dim(1)) == experts
        && static_cast<size_t>(logits.dim(0)) * hidden == static_cast<size_t>(x.count());
    if (!routed || step.k < 1 || step.k > experts)
        return badInput("router_probs " + shapeText(logits.shape()) + " do not fit " + std::to_string(experts)
            + " experts, of which each token takes " + std::to_string(step.k));
    return {};
}

/// y += share * expert(x).
void addExpert(const ExpertStep& step, const ExpertLayers& l, size_t expert, double share, const double* x, double* y)
{
    const size_t inter = l.out.depth(), hidden = l.in.depth();
    std::vector<double> gate(l.in.rows()), linear(l.linear.weights.valid() ? inter : 0), inner(inter), out(hidden);
    l.in.run(expert, x, gate.data());
    if (!linear.empty())
        l.linear.run(expert, x, linear.data());
    const double* beside = step.fusion == 1 ? gate.data() + 1
        : step.fusion == 2                  ? gate.data() + inter
        : linear.empty()                    ? nullptr
                                            : linear.data();
    activateExpert(step.function, gate.data(), beside, step.fusion == 1 ? 2 : 1, inter, inner.data());
    l.out.run(expert, inner.data(), out.data());
    for (size_t i = 0; i < hidden; ++i)
        y[i] += share * out[i];
}

Status runExperts(const ExpertStep& step, StepContext& c)
{
    ExpertLayers layers;
    QS_TRY(layers.in, expertLayer(step, c, 0));
    QS_TRY(layers.out, expertLayer(step, c, 1));
    QS_TRY(layers.linear, expertLayer(step, c, 2));
    const Tensor &x = c.in(0), &logits = c.in(1);
    const Tensor* weights = step.quantized ? c.input(14) : nullptr;
    if (!isComputedFloat(x.dtype()))
        return unsupportedType(x.dtype());
    QS_CHECK(checkExperts(step, layers, x, logits));
    if (weights && weights->shape() != logits.shape())
        return badInput("router_weights must have the shape of router_probs");
    const Tensor in = asWork<double>(c, x), router = asWork<double>(c, logits);
    const Tensor mix = weights ? asWork<double>(c, *weights) : Tensor();
    // ONNX Runtime's QMoE takes the softmax over the chosen experts alone.
    const bool normalize = step.normalize || (step.quantized && !weights);
    Tensor y = c.allocate(DType::Float64, x.shape());
    const size_t experts = static_cast<size_t>(logits.dim(1)), hidden = layers.in.depth();
    double* out = y.fill<double>().data();
    std::fill_n(out, y.count(), 0.0);
    c.parallel(static_cast<size_t>(logits.dim(0)), [&](size_t token, size_t) {
        std::vector<size_t> chosen(step.k);
        std::vector<double> share(step.k);
        chooseExperts(router.data<double>().data() + token * experts,
            weights ? mix.data<double>().data() + token * experts : nullptr, experts, step.k, normalize, chosen.data(),
            share.data());
        for (size_t n = 0; n < step.k; ++n)
            addExpert(
                step, layers, chosen[n], share[n], in.data<double>().data() + token * hidden, out + token * hidden);
    });
    c.setOutput(0, fromWork<double>(c, std::move(y), x.dtype()));
    return {};
}

Result<ExpertFunction> expertFunction(const Attributes& a)
{
    static const std::map<std::string, ExpertActivation> kinds { { "relu", ExpertActivation::Relu },
        { "gelu", ExpertActivation::Gelu }, { "silu", ExpertActivation::Silu }, { "swiglu", ExpertActivation::Swiglu },
        { "identity", ExpertActivation::Identity } };
    const std::string name = a.text("activation_type", "relu");
    const auto kind = kinds.find(name);
    if (kind == kinds.end())
        return badInput("the activation " + name + " does not exist");
    return ExpertFunction { kind->second, a.real("activation_alpha", 1), a.real("activation_beta", 0),
        a.real("swiglu_limit", std::numeric_limits<float>::infinity()) };
}

Result<LoweredNode> lowerExperts(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    ExpertStep step;
    step.quantized = context.node.opType == "QMoE";
    step.k = static_cast<size_t>(std::max<int64_t>(a.integer("k", 1), 0));
    step.normalize = a.integer("normalize_routing_weights", 0) != 0;
    QS_TRY(step.function, expertFunction(a));
    step.fusion = step.function.kind == ExpertActivation::Swiglu ? a.integer("swiglu_fusion", 0) : 0;
    if (step.fusion < 0 || step.fusion > 2 || a.integer("use_sparse_mixer", 0) != 0)
        return badInput("use_sparse_mixer, or a swiglu_fusion other than 0, 1 and 2, is not supported");
    if (a.integer("swiglu_limit_after_activation", 0) != 0)
        return badInput("swiglu_limit_after_activation is not supported, nor by ONNX Runtime on a CPU");
    if (a.text("quant_type", "int") != "int" || a.integer("weights_prepacked", -1) == 1)
        return badInput(
            "weights of quant_type " + a.text("quant_type", "int") + ", or laid out for one device, are not supported");
    step.slots = step.quantized ? std::array<ExpertSlots, 3> { { { 2, 4, 3, 11 }, { 5, 7, 6, 12 }, { 8, 10, 9, 13 } } }
                                : std::array<ExpertSlots, 3> { { { 2, 3 }, { 4, 5 }, { 6, 7 } } };
    step.block = std::max<int64_t>(a.integer("block_size", 0), 0);
    step.accuracyLevel = a.integer("accuracy_level", 0);
    for (size_t part = 0; part < 3; ++part) {
        step.bits[part]
            = a.integer("fc" + std::to_string(part + 1) + "_expert_weight_bits", a.integer("expert_weight_bits", 4));
        if (step.bits[part] != 2 && step.bits[part] != 4 && step.bits[part] != 8)
            return badInput("weights of " + std::to_string(step.bits[part]) + " bits are not supported");
        const ExpertSlots& s = step.slots[part];
        const Tensor* zero = s.zeroPoints ? context.constant(s.zeroPoints) : nullptr;
        const bool known = context.constant(s.weights) && (!s.scales || context.constant(s.scales))
            && (!s.zeroPoints || zero || !context.node.hasInput(s.zeroPoints));
        if (known) {
            QS_TRY(step.ready[part],
                expertWeights(
                    step, part, context.constant(s.weights), s.scales ? context.constant(s.scales) : nullptr, zero));
            if (step.quantized)
                step.tables[part]
                    = expertTables(step, part, *context.constant(s.weights), *context.constant(s.scales), zero);
        }
    }
    return LoweredNode { [step](StepContext& c) { return runExperts(step, c); }, "reference" };
}

} // namespace

void lowerMoe(LoweringRegistry& r)
{
    r.add(kMicrosoftDomain, "MoE", lowerExperts);
    r.add(kMicrosoftDomain, "QMoE", lowerExperts);
}

} // namespace qs
