// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"

#include "core/engine/fuse/integer_units.h"
#include "core/qdq/qlinear_signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

/// Sums that the CPU at hand may cut off, by the weights alone. What really happens the profile integer-avx2 counts.
namespace qs {

namespace {

/// The largest activation code times two weights of one sign: above this they leave 16 bits (255 · 129 > 32767).
constexpr int kFits = 128;

/// What was not seen to happen has no noise to be ranked by: only among its like.
constexpr double kMayBe = 1e-12;
constexpr double kByWeights = 1e-6; ///< what the weights alone tell, where activations tell nothing

/// Neighbouring weights of a product, as VPMADDUBSW takes them.
struct PairRisk {
    size_t pairs = 0, risky = 0;
    std::vector<std::vector<int>> sums; ///< by output channel: of two of one sign that leave 16 bits
    void begin() { sums.emplace_back(); }
    void add(int first, int second)
    {
        ++pairs;
        const int above = std::max(first, 0) + std::max(second, 0), below = std::min(first, 0) + std::min(second, 0);
        if (above <= kFits && -below <= kFits)
            return;
        ++risky;
        sums.back().push_back(above > kFits ? above : below);
    }
};

/// Every output channel has one input channel of its own: ONNX Runtime has another kernel for these, which does not
/// saturate. One channel that several outputs read is none.
bool isDepthwise(const Node& conv, const Shape& weight)
{
    return weight[1] == 1 && weight[0] == conv.attributes.integer("group", 1);
}

/// Neighbours along the depth: it runs over positions, at each over the channels of a group.
PairRisk riskOfConv(std::span<const int8_t> w, const Shape& shape)
{
    PairRisk risk;
    const auto channels = size_t(shape[1]), size = size_t(shape[0]) > 0 ? w.size() / size_t(shape[0]) : 0;
    const size_t positions = channels > 0 ? size / channels : 0;
    for (size_t m = 0; channels > 0 && m < size_t(shape[0]); ++m) {
        risk.begin();
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
    for (size_t c = 0; c < width; ++c) {
        risk.begin();
        for (size_t k = 0; k + 1 < depth; k += 2) {
            const auto at = [&](size_t i) { return int(transposed ? w[c * columns + i] : w[i * columns + c]); };
            risk.add(at(k), at(k + 1));
        }
    }
    return risk;
}

/// Stored codes, perhaps turned before the product.
struct FixedFactor {
    const Tensor* codes = nullptr;
    const QuantParams* params = nullptr;
    bool turned = false;
};

PairRisk riskOf(const Node& node, const FixedFactor& weight)
{
    const std::string type = floatOpType(node);
    const Tensor& codes = *weight.codes;
    if (codes.dtype() != DType::Int8 || codes.rank() < 2)
        return {};
    if (type == "Conv" && !weight.turned)
        return isDepthwise(node, codes.shape()) ? PairRisk {} : riskOfConv(codes.data<int8_t>(), codes.shape());
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
    if (index && pair.quantView->quantizers()[*index].codes.valid()) {
        factor.codes = pair.quantPlan->constant(pair.quantView->quantizers()[*index].codes);
        factor.params = &pair.quantView->quantizers()[*index].params;
    }
    return factor;
}

/// What a unit multiplies with its weight; SIZE_MAX: no activation of 8 bits.
size_t leftFactorOf(const ComparePair& pair, const QuantUnit& unit)
{
    const auto& quantizers = pair.quantView->quantizers();
    for (const uint32_t in : unit.inputs)
        if (quantizers[in].role == QuantRole::Activation && dtypeBits(quantizers[in].params.dtype) == 8)
            return in;
    return SIZE_MAX;
}

/// Activations of 8 bits times weights as int8.
FixedFactor weightOf(const ComparePair& pair, const QuantUnit& unit)
{
    const auto& quantizers = pair.quantView->quantizers();
    FixedFactor weight;
    if (leftFactorOf(pair, unit) == SIZE_MAX)
        return weight;
    for (const uint32_t in : unit.inputs) {
        const Quantizer& q = quantizers[in];
        if (q.role == QuantRole::Weight && q.codes.valid()) {
            weight.codes = pair.quantPlan->constant(q.codes);
            weight.params = &q.params;
        }
    }
    return weight.codes ? weight : turnedFactor(pair, pair.quantPlan->graph().node(unit.node));
}

const ActivationRow* quantizedRow(const Comparison& c, size_t quantizer)
{
    const auto row = std::ranges::find_if(
        c.activations, [&](const ActivationRow& r) { return r.quantizer && *r.quantizer == quantizer; });
    return row == c.activations.end() ? nullptr : &*row;
}

/// What a unit ends in.
const ActivationRow* endOfUnit(const Comparison& c, const QuantUnit& unit)
{
    for (const uint32_t out : unit.outputs)
        if (const ActivationRow* row = quantizedRow(c, out))
            return row;
    const auto row = std::ranges::find(c.activations, unit.node, &ActivationRow::quantNode);
    return row == c.activations.end() ? nullptr : &*row;
}

constexpr size_t kQuantiles = 32;

/// Codes as the instruction takes them (0..255), equally many of each, as they would be if |x| followed a power of a
/// uniform number up to each end of its range that gives the mean square: large ones are rare where that is small.
std::vector<double> typicalCodes(const ActivationRow& row)
{
    const auto [low, high] = *row.floatRange;
    const double up = std::max(high, 0.0), down = std::max(-low, 0.0);
    const double half = up > 0 && down > 0 ? 0.5 : 1, ends = half * (up * up + down * down);
    const double power = std::max((ends / *row.signalPower - 1) / 2, 0.0);
    const double shift = isSigned(row.params.dtype) ? 128 : 0;
    std::vector<double> codes;
    for (const double end : { up, -down })
        for (size_t i = 0; end != 0 && i < kQuantiles; ++i) {
            const double x = end * std::pow((double(i) + 0.5) / kQuantiles, power);
            codes.push_back(std::clamp(x / row.params.scale[0] + row.params.zero(0) + shift, 0.0, 255.0));
        }
    return codes;
}

/// What pairs lose on average, by what both weights weigh together, if both activations are the same: they are
/// neighbours.
class MeanLoss {
public:
    explicit MeanLoss(const std::vector<double>& codes)
    {
        for (size_t weight = 0; weight < m_lost.size(); ++weight) {
            for (const double code : codes)
                m_lost[weight] += std::max(code * double(weight) - 32767, 0.0);
            m_lost[weight] /= double(codes.size());
        }
    }
    /// Mean square of what an output channel's sums lose.
    double power(const std::vector<int>& sums) const
    {
        double mean = 0, squares = 0;
        for (const int sum : sums) {
            const double lost = m_lost[size_t(std::abs(sum))];
            mean += sum > 0 ? lost : -lost;
            squares += lost * lost;
        }
        return mean * mean + squares;
    }

private:
    std::array<double, 257> m_lost {};
};

/// Noise of saturation over the signal behind the sums, by what activations are like, for the order among what may
/// saturate; nothing where that is not known.
Number noiseExpected(const ComparePair& pair, const Comparison& c, const QuantUnit& unit, const FixedFactor& weight,
    const PairRisk& risk)
{
    const ActivationRow *left = quantizedRow(c, leftFactorOf(pair, unit)), *end = endOfUnit(c, unit);
    const bool known = left && end && left->floatRange && left->signalPower.value_or(0) > 0
        && end->signalPower.value_or(0) > 0 && left->params.perTensor() && weight.params
        && !weight.params->scale.empty() && !risk.sums.empty();
    if (!known)
        return {};
    const MeanLoss loss(typicalCodes(*left));
    double noise = 0;
    for (size_t m = 0; m < risk.sums.size(); ++m) {
        const auto& scales = weight.params->scale;
        const double scale = double(left->params.scale[0]) * scales[scales.size() == risk.sums.size() ? m : 0];
        noise += scale * scale * loss.power(risk.sums[m]);
    }
    return noise / double(risk.sums.size()) / *end->signalPower;
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

/// SQNR of an output that the sums of this CPU take from it is worth a warning.
constexpr double kHarmfulDb = 1;
constexpr double kNothingDb = 0.1;

std::string dbOrNoError(double db) { return std::isfinite(db) ? fmt::format("{:.1f} dB", db) : "no error"; }

/// What the sums of this CPU do to the outputs, where it was measured on a few samples.
void tellCost(const ComparePair& pair, const CpuSums& sums, Finding& f)
{
    const std::string samples
        = sums.samples == 1 ? "one sample" : fmt::format("{} samples, among them the worst,", sums.samples);
    if (sums.lossDb() < kNothingDb) {
        f.summary += fmt::format(" On {} the outputs lose less than {} dB by that.", samples, kNothingDb);
        f.remedy = "Nothing has to be done where all data are like these samples; others may lose more: --arithmetic "
                   "integer-avx2 measures all of them.";
        return;
    }
    f.summary += fmt::format(" On {} it leaves {} at output '{}', exact sums {}.", samples, dbOrNoError(sums.cutDb),
        pair.floatPlan->graph().value(sums.floatValue).name, dbOrNoError(sums.exactDb));
    f.evidence.push_back(evidence("cut_sums_sqnr_db", sums.cutDb, "dB"));
    f.evidence.push_back(evidence("exact_sums_sqnr_db", sums.exactDb, "dB"));
    if (sums.lossDb() < kHarmfulDb)
        return;
    f.severity = Severity::Warning;
    f.rank += std::pow(10, -sums.cutDb / 10);
    f.confidence = 1;
    f.remedy = "Reduce the range of the weights to 7 bits (--reduce-range), or store them as uint8; --arithmetic "
               "integer-avx2 --try-remedies 3 measures what that gains.";
}

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
        f.cause = kOfThisCpu;
        f.title = fmt::format("Sums of {} can saturate on this CPU, which has no VNNI", node.name);
        f.summary = fmt::format("{} of the neighbouring weights leave 16 bits together with large activations. This "
                                "run computes as the file says; --arithmetic integer-avx2 counts what really "
                                "saturates.",
            percentText(share));
        f.evidence = { evidence("risky_share", share), evidence("pairs", double(risk.pairs)) };
        f.remedy = "Count them (--arithmetic integer-avx2), and where they harm reduce the range of the weights to 7 "
                   "bits.";
        f.confidence = 0.5;
        const double noise = noiseExpected(pair, c, unit, weight, risk).value_or(0);
        f.rank = kMayBe * (noise / (1 + noise) + kByWeights * share); // what does make noise comes first
        if (c.network && c.network->cpuSums)
            tellCost(pair, *c.network->cpuSums, f);
        found.push_back(std::move(f));
    }
}

} // namespace qs
