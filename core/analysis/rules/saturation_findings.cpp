// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"

#include "core/engine/fuse/integer_units.h"
#include "core/qdq/qlinear_signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

/// Sums that the CPU at hand may cut off, by the weights alone. What really happens the profile integer-avx2 counts.
namespace qs {

namespace {

/// The largest activation code times two weights of one sign: above this they leave 16 bits (255 · 129 > 32767).
constexpr int kFits = 128;

/// What was not seen to happen has no noise to be ranked by: only among its like.
constexpr double kMayBe = 1e-12;

struct PairRisk {
    size_t pairs = 0, risky = 0;
    void add(int first, int second)
    {
        ++pairs;
        const int above = std::max(first, 0) + std::max(second, 0), below = std::min(first, 0) + std::min(second, 0);
        risky += above > kFits || -below > kFits;
    }
};

/// Neighbours along the depth, as VPMADDUBSW takes them: a convolution's depth runs over positions, at each over
/// channels; depthwise ones have another kernel.
PairRisk riskOfConv(std::span<const int8_t> w, const Shape& shape)
{
    PairRisk risk;
    const auto channels = size_t(shape[1]), size = size_t(shape[0]) > 0 ? w.size() / size_t(shape[0]) : 0;
    const size_t positions = channels > 0 ? size / channels : 0;
    for (size_t m = 0; channels > 1 && m < size_t(shape[0]); ++m) {
        const auto at = [&](size_t k) { return int(w[m * size + k % channels * positions + k / channels]); };
        for (size_t k = 0; k + 1 < size; k += 2)
            risk.add(at(k), at(k + 1));
    }
    return risk;
}

/// `columns` 1 apart, or rows where the matrix is stored the other way round.
PairRisk riskOfMatrix(std::span<const int8_t> w, const Shape& shape, bool transposed)
{
    PairRisk risk;
    const auto rows = size_t(shape[shape.size() - 2]), columns = size_t(shape.back());
    const size_t depth = transposed ? columns : rows, width = transposed ? rows : columns;
    for (size_t c = 0; c < width; ++c)
        for (size_t k = 0; k + 1 < depth; k += 2) {
            const auto at = [&](size_t i) { return int(transposed ? w[c * columns + i] : w[i * columns + c]); };
            risk.add(at(k), at(k + 1));
        }
    return risk;
}

/// Stored codes, perhaps turned before the product.
struct FixedFactor {
    const Tensor* codes = nullptr;
    bool turned = false;
};

PairRisk riskOf(const Node& node, const FixedFactor& weight)
{
    const std::string type = floatOpType(node);
    const Tensor& codes = *weight.codes;
    if (codes.dtype() != DType::Int8 || codes.rank() < 2)
        return {};
    if (type == "Conv" && !weight.turned)
        return riskOfConv(codes.data<int8_t>(), codes.shape());
    const bool matrix = codes.rank() == 2 && (type == "MatMul" || type == "Gemm");
    const bool byRows = (node.attributes.integer("transB", 0) != 0) != weight.turned;
    return matrix ? riskOfMatrix(codes.data<int8_t>(), codes.shape(), byRows) : PairRisk {};
}

/// The matrix that a product reads by way of Transposes.
FixedFactor turnedFactor(const ComparePair& pair, const Node& product)
{
    const Graph& graph = pair.quantPlan->graph();
    FixedFactor factor;
    ValueId value = product.hasInput(1) ? product.inputs[1] : ValueId();
    for (NodeId by; value.valid() && (by = graph.value(value).producer).valid() && graph.node(by).is("Transpose")
         && graph.node(by).hasInput(0) && pair.quantPlan->constant(value)
         && pair.quantPlan->constant(value)->rank() == 2;
         value = graph.node(by).inputs[0]) {
        const auto order = graph.node(by).attributes.integers("perm");
        factor.turned ^= order.empty() || order[0] == 1;
    }
    const auto index = value.valid() ? pair.quantView->ofQuantized(value) : std::nullopt;
    if (index && pair.quantView->quantizers()[*index].codes.valid())
        factor.codes = pair.quantPlan->constant(pair.quantView->quantizers()[*index].codes);
    return factor;
}

/// Activations of 8 bits times weights as int8.
FixedFactor weightOf(const ComparePair& pair, const QuantUnit& unit)
{
    const auto& quantizers = pair.quantView->quantizers();
    FixedFactor weight;
    bool bytes = false;
    for (const uint32_t in : unit.inputs) {
        const Quantizer& q = quantizers[in];
        if (q.role == QuantRole::Weight && q.codes.valid())
            weight.codes = pair.quantPlan->constant(q.codes);
        bytes = bytes || (q.role == QuantRole::Activation && dtypeBits(q.params.dtype) == 8);
    }
    if (bytes && !weight.codes)
        weight = turnedFactor(pair, pair.quantPlan->graph().node(unit.node));
    return bytes ? weight : FixedFactor {};
}

/// Which nodes add products of codes: operators on codes, and of the others those that ONNX Runtime makes such of.
class CodeProducts {
public:
    explicit CodeProducts(const Plan& plan)
        : m_plan(plan)
    {
    }
    bool contains(NodeId id)
    {
        const auto isCodes = [&](ValueId in) {
            return in.valid() && isInteger(m_plan.facts().of(in).dtype) && dtypeBits(m_plan.facts().of(in).dtype) == 8;
        };
        if (std::ranges::any_of(m_plan.graph().node(id).inputs, isCodes))
            return true;
        if (m_joined.empty())
            m_joined = nodesAddingPairs(m_plan);
        return m_joined[id.index()];
    }

private:
    const Plan& m_plan;
    std::vector<bool> m_joined; ///< by node; empty: not asked yet
};

} // namespace

void findSaturationRisk(const ComparePair& pair, const Comparison& c, bool cpuSaturates, std::vector<Finding>& found)
{
    if (!cpuSaturates || c.profile == ArithmeticProfile::IntegerAvx2)
        return;
    const Graph& graph = pair.quantPlan->graph();
    CodeProducts products(*pair.quantPlan);
    for (const QuantUnit& unit : pair.quantView->units()) {
        const FixedFactor weight = weightOf(pair, unit);
        const Node& node = graph.node(unit.node);
        const PairRisk risk = weight.codes ? riskOf(node, weight) : PairRisk {};
        if (risk.risky == 0 || !products.contains(unit.node))
            continue;
        const double share = double(risk.risky) / double(risk.pairs);
        Finding f = makeFinding(Rule::SaturatingAccumulation, node.name);
        f.node = node.name;
        f.cause = "this CPU";
        f.title = fmt::format("Sums of {} can saturate on this CPU, which has no VNNI", node.name);
        f.summary = fmt::format("{} of the neighbouring weights leave 16 bits together with large activations. This "
                                "run computes as the file says; --arithmetic integer-avx2 counts what really "
                                "saturates.",
            percentText(share));
        f.evidence = { evidence("risky_share", share), evidence("pairs", double(risk.pairs)) };
        f.remedy = "Count them (--arithmetic integer-avx2), and where they harm reduce the range of the weights to 7 "
                   "bits.";
        f.confidence = 0.5;
        f.rank = kMayBe * share; // what does make noise comes first
        found.push_back(std::move(f));
    }
}

} // namespace qs
