// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/code_difference.h"
#include "core/analysis/rules/findings.h"

#include "core/base/text/grouped_digits.h"
#include "core/graph/domains.h"
#include "core/qdq/qlinear_signature.h"
#include "core/quant/model/opsets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <string_view>

/// What a runtime's arithmetic does to the file, seen only under an integer profile; forms that runtimes do not like.
namespace qs {

namespace {

/// What sums that may saturate end in: codes, or floats where none follow.
class EndsOfSums {
public:
    explicit EndsOfSums(const ComparePair& pair)
        : m_pair(pair)
    {
        if (pair.writtenPlan)
            m_floats = saturatingSums(*pair.quantPlan);
    }

    /// The node whose sums end in the codes of a row's quantizer; invalid when there is none.
    NodeId nodeOf(const ActivationRow& row) const
    {
        const ValueId codes
            = row.implementation && row.quantizer ? m_pair.quantView->quantizers()[*row.quantizer].codes : ValueId();
        const NodeId last = codes.valid() ? m_pair.quantPlan->graph().value(codes).producer : NodeId();
        return last.valid() ? nodeOfSums(*m_pair.quantPlan, last) : NodeId();
    }

    std::optional<size_t> rowOf(const Comparison& c, NodeId node) const
    {
        for (size_t i = 0; i < c.activations.size(); ++i)
            if (node.valid() && nodeOf(c.activations[i]) == node && firstOfQuantizer(c, i))
                return i;
        const auto sums = std::ranges::find_if(
            m_floats, [&](const SaturatingSums& known) { return nodeOfSums(*m_pair.quantPlan, known.last) == node; });
        const auto row = sums == m_floats.end() ? c.activations.end()
                                                : std::ranges::find_if(c.activations, [&](const ActivationRow& a) {
                                                      return a.noise.kernel && sums->endsIn(a.quantValue);
                                                  });
        return row == c.activations.end() ? std::nullopt : std::optional(size_t(row - c.activations.begin()));
    }

private:
    const ComparePair& m_pair;
    std::vector<SaturatingSums> m_floats;
};

/// Of a node's own sums: codes are more than one step off, or floats owe this share of their noise to it.
constexpr double kShareOfNoise = 0.1;

Number noiseOfSums(const ActivationRow& row)
{
    return row.implementation ? row.implementation->noisePower : row.noise.kernel;
}

bool harms(const ActivationRow& row)
{
    if (row.implementation)
        return row.implementation->beyond > 0;
    const double rmse = row.accumulated.rmse.value_or(0);
    return row.noise.kernel.value_or(0) > 0 && *row.noise.kernel >= kShareOfNoise * rmse * rmse;
}

void addDifference(Finding& f, const ActivationRow& row)
{
    f.evidence.push_back(evidence("off_by_one", row.implementation->offByOne));
    f.evidence.push_back(evidence("beyond", row.implementation->beyond));
}

/// Worst is the unit whose own sums lose most, not the one that passes on most of what was lost before it.
void rankBySums(Finding& f, const Number& noise, const Number& signal)
{
    if (!noise || !signal || *signal <= 0)
        return;
    f.rank = *noise / *signal;
    if (f.rank <= 0)
        return;
    const double db = -10 * std::log10(f.rank);
    f.evidence.push_back(evidence("saturation_sqnr_db", db, "dB"));
}

/// In which pairs saturate.
size_t saturatedChannels(const SaturationRow& row)
{
    return size_t(std::ranges::count_if(row.saturated, [](uint64_t count) { return count > 0; }));
}

} // namespace

std::string saturatedPairsText(const SaturationRow& row, std::span<const EvidenceItem> evidence)
{
    const auto worst = std::ranges::max_element(row.saturated);
    std::string text = fmt::format("{} of {} pairs of products do not fit 16 bits, in {} of {} channels; most of them "
                                   "({}) in channel {}.",
        groupedDigits(row.saturatedPairs()), groupedDigits(row.pairs), saturatedChannels(row), row.saturated.size(),
        groupedDigits(*worst), worst - row.saturated.begin());
    const auto left = std::ranges::find(evidence, "saturation_sqnr_db", &EvidenceItem::key);
    return left == evidence.end() || !left->number
        ? text
        : text + fmt::format(" From the same codes that alone leaves {:.1f} dB.", *left->number);
}

void findSaturatingAccumulation(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const EndsOfSums ends(pair);
    for (const SaturationRow& s : c.saturation) {
        const uint64_t pairs = std::accumulate(s.saturated.begin(), s.saturated.end(), uint64_t(0));
        if (pairs == 0)
            continue;
        const auto row = ends.rowOf(c, s.quantNode);
        const bool harmful = row && harms(c.activations[*row]);
        Finding f = row ? activationFinding(c, *row, Rule::SaturatingAccumulation)
                        : makeFinding(Rule::SaturatingAccumulation);
        if (harmful)
            f.severity = Severity::Warning;
        f.node = s.node; // that sums, not the activation that ends its unit
        const auto worst = std::ranges::max_element(s.saturated);
        f.title = ruleTitle(f.rule, f.node);
        f.evidence.push_back(evidence("saturated_pairs", double(pairs)));
        f.evidence.push_back(evidence("pairs", double(s.pairs)));
        f.evidence.push_back(evidence("channels", double(saturatedChannels(s))));
        f.evidence.push_back(evidence("worst_channel", double(worst - s.saturated.begin())));
        f.evidence.push_back(evidence("worst_channel_pairs", double(*worst)));
        if (row && c.activations[*row].implementation)
            addDifference(f, c.activations[*row]);
        if (row)
            rankBySums(f, noiseOfSums(c.activations[*row]), c.activations[*row].signalPower);
        f.summary = saturatedPairsText(s, f.evidence);
        f.change = { RemedyKind::ReduceRange, f.node, {}, 0, 0, 0 };
        found.push_back(std::move(f));
    }
}

void findImplementationDiffers(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const EndsOfSums ends(pair);
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (!row.implementation || row.implementation->beyond <= 0 || !firstOfQuantizer(c, i))
            continue;
        const NodeId sums = ends.nodeOf(row);
        if (sums.valid() && std::ranges::any_of(c.saturation, [&](const SaturationRow& s) {
                return s.quantNode == sums && s.saturatedPairs() > 0;
            }))
            continue;
        Finding f = activationFinding(c, i, Rule::ImplementationDiffers);
        f.summary = fmt::format(
            "From the same codes, {:.2f} % of its codes come out more than one step away, {:.2f} % one step.",
            100 * row.implementation->beyond, 100 * row.implementation->offByOne);
        addDifference(f, row);
        f.change = { RemedyKind::Requantize, row.node, row.name, 0, 0, 0 };
        found.push_back(std::move(f));
    }
}

namespace {

/// Places of one kind, told of once.
struct FormNotes {
    std::vector<std::string> nodes;
    void add(const Node& node) { nodes.push_back(node.name.empty() ? "a " + node.opType : node.name); }
    /// `summary`: {} = the number of places.
    std::optional<Finding> finding(Rule rule, std::string_view summary, RemedyKind change) const
    {
        if (nodes.empty())
            return std::nullopt;
        Finding f = makeFinding(rule);
        f.node = nodes.front();
        f.summary = fmt::format(fmt::runtime(summary), nodes.size());
        f.evidence.push_back(evidence("nodes", double(nodes.size())));
        f.change.kind = change;
        return f;
    }
};

/// What a chain of casts begins with.
ValueId beforeCasts(const Graph& graph, ValueId value)
{
    while (graph.value(value).producer.valid()) {
        const Node& node = graph.node(graph.value(value).producer);
        if (node.opType != "Cast" || !node.hasInput(0))
            break;
        value = node.inputs[0];
    }
    return value;
}

/// A Clip or Cast between codes. Casts that lead back to the type that was there are none: ONNX Runtime removes them
/// (its CastElimination and CastChainElimination) before it looks for units.
bool isIntegerCopy(const Plan& plan, const Node& node)
{
    if ((node.opType != "Cast" && node.opType != "Clip") || !node.hasInput(0) || !node.hasOutput(0))
        return false;
    const DType type = plan.facts().of(node.outputs[0]).dtype;
    if (!isInteger(type) || dtypeBits(type) != 8)
        return false;
    return node.opType == "Clip" || plan.facts().of(beforeCasts(plan.graph(), node.inputs[0])).dtype != type;
}

/// What stands between the codes of pairs, and what may be done about it.
struct CodeCopies {
    FormNotes all;
    bool casts = false, clips = false;
    bool narrow = false; ///< some Clip leaves fewer codes than the type has

    void add(const ComparePair& pair, const Node& node)
    {
        all.add(node);
        casts = casts || node.is("Cast");
        clips = clips || node.is("Clip");
        const auto q = pair.quantView->ofQuantized(node.outputs[0]);
        narrow = narrow || (node.is("Clip") && q && pair.quantView->quantizers()[*q].params.kept);
    }

    std::optional<Finding> finding() const
    {
        auto f = all.finding(Rule::RuntimeRejects,
            "{} Cast or Clip nodes stand on 8-bit codes: each is a pass over the data, and runtimes that look for "
            "QuantizeLinear right before its DequantizeLinear join nothing there.",
            RemedyKind::Requantize);
        if (!f)
            return f;
        f->severity = Severity::Note;
        f->title = fmt::format("{} stand between quantizing and dequantizing",
            casts && clips ? "Casts and Clips"
                : casts    ? "Casts"
                           : "Clips");
        f->remedy = "Remove them: codes are of that type already, or clip before quantizing.";
        if (narrow) // without it there are more codes
            f->remedy
                = "Keep a Clip that leaves fewer codes where so few bits are meant; else give the quantizer a scale "
                  "whose own range ends there, and take it out.";
        return f;
    }
};

/// Scales or zero points of shape [1] where ONNX Runtime's inference of types wants scalars; other operators on codes
/// take both.
bool hasListedScale(const Plan& plan, const Node& node)
{
    const auto signature = qlinearSignature(node);
    if (!signature
        || (node.opType != "QLinearAdd" && node.opType != "QLinearMul" && node.opType != "QLinearAveragePool"))
        return false;
    const auto listed = [&](const CodeOperand& operand) {
        return std::ranges::any_of(std::array { operand.scale, operand.zeroPoint }, [&](int slot) {
            const Tensor* t
                = slot >= 0 && node.hasInput(size_t(slot)) ? plan.constant(node.inputs[size_t(slot)]) : nullptr;
            return t && t->rank() == 1 && t->count() == 1;
        });
    };
    return std::ranges::any_of(signature->inputs, listed) || listed(signature->output);
}

bool readsHalves(const Plan& plan, const Node& node)
{
    return std::ranges::any_of(node.inputs, [&](ValueId in) {
        const Tensor* t = in.valid() ? plan.constant(in) : nullptr;
        return t && t->dtype() == DType::Float16;
    });
}

/// Of hqq; kernels have them with fewer bits alone.
bool hasRealZerosOfEightBits(const Plan& plan, const Node& node)
{
    constexpr size_t kZeros = 3;
    return node.is("MatMulNBits", kMicrosoftDomain) && node.attributes.integer("bits", 4) == 8 && node.hasInput(kZeros)
        && isFloat(plan.facts().of(node.inputs[kZeros]).dtype);
}

constexpr int64_t kOpsetOfOtherScales = 23; ///< from which a scale need not have the type of what it quantizes

bool hasScaleOfOtherType(const Plan& plan, const Node& node)
{
    if (!isQuantizeLinear(node) || !node.hasInput(0) || !node.hasInput(1))
        return false;
    const DType values = plan.facts().of(node.inputs[0]).dtype, scale = plan.facts().of(node.inputs[1]).dtype;
    return isFloat(values) && isFloat(scale) && values != scale;
}

bool isPairBefore(const Node& node, int64_t opset)
{
    return (isQuantizeLinear(node) || isDequantizeLinear(node)) && node.domain.empty() && node.opset > 0
        && node.opset < opset;
}

/// Forms with which ONNX Runtime does not load a file (the same as loadWarnings() tells of).
class RefusedForms {
public:
    void add(const Plan& plan, const Node& node)
    {
        if (isPairBefore(node, kOpsetOfAxes) && node.attributes.has("axis"))
            m_axes.add(node);
        if (isPairBefore(node, kOpsetOfHalfScales) && readsHalves(plan, node))
            m_halves.add(node);
        else if (isPairBefore(node, kOpsetOfOtherScales) && hasScaleOfOtherType(plan, node))
            m_types.add(node);
        if (node.opType.starts_with("QLinear") && readsHalves(plan, node))
            m_codes.add(node);
        if (hasRealZerosOfEightBits(plan, node))
            m_zeros.add(node);
        m_opset = node.domain.empty() && node.opset > 0 ? node.opset : m_opset;
    }

    void tell(std::vector<Finding>& found) const
    {
        const std::string raise = "Export the float model with a newer opset, or quantize it with the recipe "
                                  "quantscope, which raises it.";
        tell(m_halves, "ONNX Runtime does not load this file: float16 scales",
            needed("a float16 scale", kOpsetOfHalfScales), raise, found);
        tell(m_axes, "ONNX Runtime does not load this file: scales along an axis",
            needed("a scale for each channel", kOpsetOfAxes), raise, found);
        tell(m_types, "ONNX Runtime does not load this file: scales of another type",
            fmt::format("{{}} quantizers have a scale of another type than the values that they quantize, which needs "
                        "opset {}; the model has opset {}.",
                kOpsetOfOtherScales, m_opset),
            "Store these scales in the type of the values.", found);
        tell(m_codes, "ONNX Runtime does not load this file: float16 scales",
            "{} operators on codes have float16 scales, which they do not take.", "Use the Q/DQ form.", found);
        tell(m_zeros, "ONNX Runtime does not load this file: real zero points of 8 bits",
            "{} products in blocks of 8 bits have floating-point zero points, as hqq makes them; on a CPU ONNX Runtime "
            "takes these with fewer bits alone.",
            "Quantize these weights by another algorithm than hqq.", found);
    }

private:
    std::string needed(const char* what, int64_t opset) const
    {
        return fmt::format("{{}} quantizers or dequantizers have {}, which needs opset {}; the model has opset {}.",
            what, opset, m_opset);
    }
    static void tell(const FormNotes& notes, const char* title, const std::string& summary, const std::string& remedy,
        std::vector<Finding>& found)
    {
        auto f = notes.finding(Rule::RuntimeRejects, summary, RemedyKind::None);
        if (!f)
            return;
        f->title = title;
        f->remedy = remedy;
        found.push_back(std::move(*f));
    }

    FormNotes m_axes, m_halves, m_types, m_codes, m_zeros;
    int64_t m_opset = 0;
};

bool hasSignedCodes(const ComparePair& pair, const Node& node)
{
    if (node.opType.rfind("QLinearConv", 0) != 0 && node.opType != "QLinearMatMul")
        return false;
    const auto q = node.inputs.empty() ? std::nullopt : pair.quantView->ofQuantized(node.inputs[0]);
    return q && pair.quantView->quantizers()[*q].params.dtype == DType::Int8;
}

/// Dequantized only to be quantized again.
bool isPingPong(const Graph& graph, const Node& node)
{
    if (!isDequantizeLinear(node) || !node.hasOutput(0))
        return false;
    const auto& uses = graph.value(node.outputs[0]).uses;
    return !uses.empty() && !graph.isOutput(node.outputs[0])
        && std::ranges::all_of(uses, [&](const auto& use) { return isQuantizeLinear(graph.node(use.node)); });
}

} // namespace

void findForms(const ComparePair& pair, std::vector<Finding>& found)
{
    const Plan& plan = *pair.quantPlan;
    FormNotes lists, codes, pingPong;
    CodeCopies copies;
    RefusedForms refused;
    for (const Node& node : plan.graph().nodes()) {
        refused.add(plan, node);
        const bool folded = node.hasOutput(0) && plan.constant(node.outputs[0]);
        if (folded)
            continue;
        if (isIntegerCopy(plan, node))
            copies.add(pair, node);
        if (hasListedScale(plan, node))
            lists.add(node);
        if (hasSignedCodes(pair, node))
            codes.add(node);
        if (isPingPong(plan.graph(), node))
            pingPong.add(node);
    }
    refused.tell(found);
    auto listed = lists.finding(Rule::RuntimeRejects,
        "{} operators (QLinearAdd, QLinearMul or QLinearAveragePool) have scales or zero points of shape [1]; ONNX "
        "Runtime does not load them, it wants scalars.",
        RemedyKind::Requantize);
    auto copied = copies.finding();
    auto slow = codes.finding(Rule::SlowForm,
        "{} operators read int8 activations; ONNX Runtime runs them slower than float on x86.",
        RemedyKind::UnsignedActivations);
    auto again = pingPong.finding(Rule::RequantizationPingPong,
        "{} dequantized values are read by quantizers alone: cost and noise without a use.", RemedyKind::Requantize);
    for (auto* finding : { &listed, &copied, &slow, &again })
        if (*finding)
            found.push_back(std::move(**finding));
}

} // namespace qs
