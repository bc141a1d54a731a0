// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/attribute_differences.h"

#include "core/analysis/rounding/convolution_pads.h"
#include "core/analysis/rounding/turned_axes.h"
#include "core/graph/domains.h"
#include "core/match/graph/channel_steps.h"
#include "core/qdq/block_weights.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace qs {

namespace {

/// Epsilons that differ by less are the same number, written in another type; and other numbers.
constexpr double kSameEpsilon = 0.01, kSameNumber = 1e-3;

enum class Missing {
    Unknown, ///< what a node without it has depends on its operator or its sizes
    Zero,
    One,
    MinusOne,
};

struct Looked {
    std::string_view name;
    AttributeKind kind;
    Missing missing = Missing::Unknown;
};

constexpr auto kNumbers = AttributeKind::Numbers, kShapes = AttributeKind::Shapes;
constexpr std::array kLooked {
    Looked { "epsilon", kNumbers },
    Looked { "scale", kNumbers },
    Looked { "softcap", kNumbers, Missing::Zero },
    Looked { "alpha", kNumbers },
    Looked { "beta", kNumbers },
    Looked { "gamma", kNumbers },
    Looked { "lambd", kNumbers },
    Looked { "bias", kNumbers },
    Looked { "mask_filter_value", kNumbers },
    Looked { "local_window_size", kNumbers, Missing::MinusOne },
    Looked { "do_rotary", kNumbers, Missing::Zero },
    Looked { "rotary_interleaved", kNumbers, Missing::Zero },
    Looked { "interleaved", kNumbers, Missing::Zero },
    Looked { "rotary_embedding_dim", kNumbers, Missing::Zero },
    Looked { "smooth_softmax", kNumbers, Missing::Zero },
    Looked { "unidirectional", kNumbers, Missing::Zero },
    Looked { "is_causal", kNumbers, Missing::Zero },
    Looked { "center_point_box", kNumbers, Missing::Zero },
    Looked { "num_heads", kNumbers },
    Looked { "kv_num_heads", kNumbers },
    Looked { "linear_before_reset", kNumbers, Missing::Zero },
    Looked { "direction", kNumbers },
    Looked { "k", kNumbers, Missing::One },
    Looked { "activation_type", kNumbers },
    Looked { "activation_alpha", kNumbers, Missing::One },
    Looked { "activation_beta", kNumbers, Missing::Zero },
    Looked { "normalize_routing_weights", kNumbers, Missing::Zero },
    Looked { "swiglu_fusion", kNumbers, Missing::Zero },
    Looked { "swiglu_limit", kNumbers },
    Looked { "use_sparse_mixer", kNumbers, Missing::Zero },
    Looked { "mode", kShapes },
    Looked { "coordinate_transformation_mode", kShapes },
    Looked { "nearest_mode", kShapes },
    Looked { "axis", kShapes },
    Looked { "group", kShapes, Missing::One },
    Looked { "kernel_shape", kShapes },
    Looked { "strides", kShapes, Missing::One },
    Looked { "dilations", kShapes, Missing::One },
    Looked { "pads", kShapes, Missing::Zero },
    Looked { "ceil_mode", kShapes, Missing::Zero },
    Looked { "count_include_pad", kShapes, Missing::Zero },
    Looked { "keepdims", kShapes, Missing::One },
    Looked { "blocksize", kShapes },
};

/// Numbers, or a word.
struct Setting {
    std::vector<double> numbers;
    std::string word;
    bool list = false;
    std::string_view why = {}; ///< where it is not what the node says
};

double numberOf(Missing missing) { return missing == Missing::One ? 1 : missing == Missing::MinusOne ? -1 : 0; }

/// What normalizations have where they do not say it.
std::optional<Setting> epsilonWithout(const std::string& type)
{
    static const std::map<std::string_view, double> defaults { { "BatchNormalization", 1e-5 },
        { "LayerNormalization", 1e-5 }, { "InstanceNormalization", 1e-5 }, { "GroupNormalization", 1e-5 },
        { "RMSNormalization", 1e-5 }, { "SimplifiedLayerNormalization", 1e-5 }, { "SkipLayerNormalization", 1e-12 },
        { "SkipSimplifiedLayerNormalization", 1e-12 }, { "EmbedLayerNormalization", 1e-12 } };
    const auto it = defaults.find(type);
    return it == defaults.end() ? std::nullopt : std::optional(Setting { { it->second }, {}, false });
}

/// Where attention does not say its mask's value.
std::optional<Setting> maskValueWithout(const std::string& type)
{
    constexpr std::array<std::string_view, 3> kMasking { "Attention", "MultiHeadAttention",
        "DecoderMaskedSelfAttention" };
    constexpr double kMasked = -10000;
    return std::ranges::find(kMasking, type) == kMasking.end() ? std::nullopt
                                                               : std::optional(Setting { { kMasked }, {}, false });
}

/// Scores are divided by the root of the size of a head where nothing else is said.
std::optional<Setting> scaleWithout(const Plan& plan, NodeId id)
{
    const Node& node = plan.graph().node(id);
    const std::string type = floatOpType(node);
    const bool separate = type == "MultiHeadAttention"; // its query has the sizes, else the result
    const bool known = separate || type == "GroupQueryAttention" || (type == "Attention" && !node.domain.empty());
    const bool has = separate ? node.hasInput(0) && node.hasInput(1) : node.hasOutput(0);
    const auto heads = double(node.attributes.integer("num_heads", 0));
    if (!known || !has || heads <= 0 || node.attributes.has("qkv_hidden_sizes"))
        return std::nullopt;
    const auto& dims = plan.facts().of(separate ? node.inputs[0] : node.outputs[0]).dims;
    constexpr size_t kAxes = 3; // batch, positions, heads x size
    if (!dims || dims->size() != kAxes || !dims->back().known() || dims->back().value <= 0)
        return std::nullopt;
    return Setting { { 1 / std::sqrt(double(dims->back().value) / heads) }, {}, false };
}

/// ONNX Runtime's QMoE takes the Softmax over the chosen experts alone, as normalizing does.
bool normalizesAlways(const Node& node) { return node.is("QMoE", kMicrosoftDomain) && !node.hasInput(kRouterWeights); }

std::optional<Setting> settingOf(const Plan& plan, NodeId id, const Looked& looked)
{
    const Node& node = plan.graph().node(id);
    const std::string name(looked.name);
    if (looked.name == "beta" && node.is("Gemm") && !ownBias(plan, id).valid())
        return std::nullopt; // of what it does not add
    if (looked.name == "normalize_routing_weights" && normalizesAlways(node))
        return Setting { { 1 }, {}, false, " (a QMoE without router_weights always has)" };
    if (const auto* i = node.attributes.get<int64_t>(name))
        return Setting { { double(*i) }, {}, false };
    if (const auto* f = node.attributes.get<float>(name))
        return Setting { { double(*f) }, {}, false };
    if (const auto* text = node.attributes.get<std::string>(name))
        return Setting { {}, *text, false };
    if (const auto* list = node.attributes.get<std::vector<int64_t>>(name))
        return Setting { { list->begin(), list->end() }, {}, true };
    if (looked.name == "epsilon")
        return epsilonWithout(floatOpType(node));
    if (looked.name == "mask_filter_value")
        return maskValueWithout(floatOpType(node));
    if (looked.name == "scale")
        return scaleWithout(plan, id);
    if (looked.name == "direction" && (node.is("GRU") || node.is("LSTM") || node.is("RNN")))
        return Setting { {}, "forward", false };
    if (looked.name == "activation_type" && floatOpType(node) == "MoE")
        return Setting { {}, "relu", false };
    return std::nullopt;
}

std::string textOf(const Setting& setting)
{
    if (!setting.word.empty())
        return setting.word;
    std::vector<std::string> numbers;
    for (const double v : setting.numbers)
        numbers.push_back(fmt::format("{:.4g}", v));
    return setting.list ? fmt::format("[{}]", fmt::join(numbers, ", "))
                        : fmt::format("{}{}", fmt::join(numbers, ""), setting.why);
}

class AttributeComparer {
public:
    explicit AttributeComparer(const ComparePair& pair)
        : m_pair(pair)
        , m_partners(pair)
    {
    }

    /// What a normalization adds before has a partner of its own: the one that is meant makes the first result.
    NodeId partnerOf(NodeId quantNode) const
    {
        const Graph &f = m_pair.floatPlan->graph(), &q = m_pair.quantPlan->graph();
        const Node& node = q.node(quantNode);
        if (node.opType.starts_with("Skip") && node.opType.ends_with("Normalization") && node.hasOutput(0)) {
            const auto& values = m_pair.alignment->values;
            const auto pair = std::ranges::find(values, node.outputs[0], &ValuePair::quantValue);
            const ValueId made = pair != values.end() ? pair->floatValue : f.findValue(q.value(node.outputs[0]).name);
            if (made.valid() && f.value(made).producer.valid())
                return f.value(made).producer;
        }
        return m_partners.of(quantNode);
    }

    void compare(NodeId floatNode, NodeId quantNode, AttributeKind kind, std::vector<FunctionDifference>& found) const
    {
        const Node &f = m_pair.floatPlan->graph().node(floatNode), &q = m_pair.quantPlan->graph().node(quantNode);
        const bool alike = floatOpType(q) == floatOpType(f);
        if (alike && kind == AttributeKind::Numbers)
            compareConstants(floatNode, quantNode, found);
        if ((f.attributes.empty() && q.attributes.empty()) || (!alike && !normalizeAlike(f, q)))
            return;
        for (const Looked& looked : kLooked) {
            if (!alike && looked.name != "epsilon")
                continue;
            if (looked.kind != kind || (looked.name == "pads" && (padsItself(f) || padsItself(q))))
                continue;
            if (looked.name == "pads" && comparePads(floatNode, quantNode, found))
                continue;
            auto own = settingOf(*m_pair.quantPlan, quantNode, looked),
                 theirs = settingOf(*m_pair.floatPlan, floatNode, looked);
            if (!own && !theirs)
                continue;
            if ((!own || !theirs) && looked.missing == Missing::Unknown)
                continue;
            const Setting given = own ? *own : *theirs;
            const Setting other = own && theirs ? *theirs : withoutIt(given, looked.missing);
            if (own && theirs && looked.name == "axis" && !placesAxes(floatNode, quantNode, given, other))
                continue;
            if (isSame(looked, given, other))
                continue;
            found.push_back({ fmt::format("{} '{}' has {} {}, in the float model {}", q.opType, q.name, looked.name,
                                  textOf(own ? given : other), textOf(own ? other : given)),
                floatNode, quantNode, std::string(looked.name) });
        }
    }

private:
    /// Of convolutions, where a Pad stands before one of them: both together are what counts. False: there is none.
    bool comparePads(NodeId floatNode, NodeId quantNode, std::vector<FunctionDifference>& found) const
    {
        const Node& q = m_pair.quantPlan->graph().node(quantNode);
        const auto own = convolutionPads(*m_pair.quantPlan, quantNode),
                   theirs = convolutionPads(*m_pair.floatPlan, floatNode);
        if (!own || !theirs || own->own.size() != theirs->own.size() || (own->pad.empty() && theirs->pad.empty()))
            return false;
        if (own->all() == theirs->all())
            return true;
        FunctionDifference other { fmt::format("{} '{}' has pads {}, in the float model {}", q.opType, q.name,
                                       own->text(), theirs->text()),
            floatNode, quantNode, "pads" };
        other.integers = own->all();
        for (size_t i = 0; i < other.integers.size(); ++i)
            other.integers[i] -= theirs->before[i];
        if (std::ranges::any_of(other.integers, [](int64_t pad) { return pad < 0; }))
            other.floatNode = {}; // the float model's Pad alone is more: it cannot be put there
        found.push_back(std::move(other));
        return true;
    }

    /// Thresholds that are inputs.
    void compareConstants(NodeId floatNode, NodeId quantNode, std::vector<FunctionDifference>& found) const
    {
        constexpr std::array<std::string_view, 3> kThresholds { "max_output_boxes_per_class", "iou_threshold",
            "score_threshold" };
        constexpr size_t kFirstSlot = 2;
        const Node &f = m_pair.floatPlan->graph().node(floatNode), &q = m_pair.quantPlan->graph().node(quantNode);
        for (size_t i = 0; f.opType == "NonMaxSuppression" && i < kThresholds.size(); ++i) {
            const size_t slot = kFirstSlot + i;
            const Tensor* theirs = f.hasInput(slot) ? m_pair.floatPlan->constant(f.inputs[slot]) : nullptr;
            const Tensor* own = q.hasInput(slot) ? m_pair.quantPlan->constant(q.inputs[slot]) : nullptr;
            if (!theirs || !own || theirs->count() != 1 || own->count() != 1)
                continue;
            const double x = toDoubles(*theirs)[0], y = toDoubles(*own)[0];
            if (std::fabs(x - y) > kSameNumber * std::max(std::fabs(x), std::fabs(y)))
                found.push_back({ fmt::format("{} '{}' has {} {:.4g}, in the float model {:.4g}", q.opType, q.name,
                                      kThresholds[i], y, x),
                    floatNode, quantNode, {} });
        }
    }

    /// One adds before it normalizes, too.
    static bool normalizeAlike(const Node& f, const Node& q)
    {
        const auto kindOf = [](const Node& node) {
            const std::string type = floatOpType(node);
            const bool mean = type == "LayerNormalization" || type == "SkipLayerNormalization";
            const bool square = type == "SimplifiedLayerNormalization" || type == "SkipSimplifiedLayerNormalization"
                || type == "RMSNormalization";
            return mean ? 1 : square ? 2 : 0;
        };
        return kindOf(f) != 0 && kindOf(f) == kindOf(q);
    }

    static bool padsItself(const Node& node)
    {
        return node.attributes.text("auto_pad", "NOTSET") != "NOTSET" || node.attributes.has("output_shape");
    }

    static Setting withoutIt(const Setting& given, Missing missing)
    {
        return { std::vector<double>(given.numbers.size(), numberOf(missing)), {}, given.list };
    }

    /// Counted from the end or not; no telling where the values have other axes, as behind other Transposes.
    bool placesAxes(NodeId floatNode, NodeId quantNode, const Setting& a, const Setting& b) const
    {
        const auto dims = [](const Plan& plan, NodeId id) {
            const Node& node = plan.graph().node(id);
            return node.hasOutput(0) ? plan.facts().of(node.outputs[0]).dims : std::nullopt;
        };
        const auto x = dims(*m_pair.floatPlan, floatNode), y = dims(*m_pair.quantPlan, quantNode);
        if (!x || !y || x->size() != y->size() || a.numbers.empty() || b.numbers.empty())
            return false;
        for (size_t i = 0; i < x->size(); ++i)
            if ((*x)[i].known() && (*y)[i].known() && (*x)[i].value != (*y)[i].value)
                return false;
        const auto axes = axesBefore(m_pair, floatNode, quantNode, int64_t(b.numbers[0]), int64_t(a.numbers[0]));
        return axes && axes->ofFloat != axes->ofQuant;
    }

    static bool isSame(const Looked& looked, const Setting& a, const Setting& b)
    {
        if (a.word != b.word)
            return false;
        const double most = looked.name == "epsilon" ? kSameEpsilon : kSameNumber;
        if (a.numbers.size() != b.numbers.size())
            return false;
        // Either leaves nothing of what is masked.
        constexpr double kMasksAll = -1000;
        if (looked.name == "mask_filter_value" && !a.numbers.empty()
            && std::max(a.numbers[0], b.numbers[0]) <= kMasksAll)
            return true;
        // Attention takes the scale that its sizes make where it has none, or 0.
        if (looked.name == "scale"
            && (a.numbers == std::vector<double> { 0 } || b.numbers == std::vector<double> { 0 }))
            return true;
        for (size_t i = 0; i < a.numbers.size(); ++i)
            if (std::fabs(a.numbers[i] - b.numbers[i])
                > most * std::max(std::fabs(a.numbers[i]), std::fabs(b.numbers[i])))
                return false;
        return true;
    }

    const ComparePair& m_pair;
    const FunctionPartners m_partners;
};

} // namespace

namespace {

/// The value that a quantizer is given, its codes, and what becomes of them.
std::vector<ValueId> formsOf(const Quantizer& quantizer, const Graph& graph)
{
    std::vector<ValueId> forms { quantizer.real, quantizer.codes, quantizer.dequantized };
    for (const NodeId id : quantizer.dequantize)
        forms.push_back(graph.node(id).outputs[0]);
    return forms;
}

} // namespace

void FunctionPartners::addReaders(const std::vector<Use>& floatUses, const std::vector<ValueId>& quantValues)
{
    const Graph &f = m_pair.floatPlan->graph(), &q = m_pair.quantPlan->graph();
    std::map<std::string, std::vector<NodeId>> theirs, own;
    const auto add = [](std::map<std::string, std::vector<NodeId>>& byType, const Graph& graph, const Use& use) {
        auto& nodes = byType[floatOpType(graph.node(use.node))];
        if (std::ranges::find(nodes, use.node) == nodes.end())
            nodes.push_back(use.node);
    };
    for (const Use& use : floatUses)
        if (use.node.valid())
            add(theirs, f, use);
    std::set<ValueId> seen;
    for (const ValueId value : quantValues)
        if (value.valid() && seen.insert(value).second)
            for (const Use& use : q.value(value).uses)
                if (use.node.valid() && !m_pair.quantView->isPlumbing(use.node))
                    add(own, q, use);
    for (const auto& [type, nodes] : own)
        if (const auto it = theirs.find(type); it != theirs.end() && nodes.size() == 1 && it->second.size() == 1)
            m_readers.try_emplace(nodes[0], it->second[0]);
}

FunctionPartners::FunctionPartners(const ComparePair& pair)
    : m_pair(pair)
    , m_partners(pair)
{
    const Graph &f = pair.floatPlan->graph(), &q = pair.quantPlan->graph();
    const auto& quantizers = pair.quantView->quantizers();
    for (const ValuePair& value : pair.alignment->values) {
        std::vector<ValueId> same { value.quantValue };
        if (value.quantizer && *value.quantizer < quantizers.size())
            same = formsOf(quantizers[*value.quantizer], q);
        for (const ValueId made : same)
            if (made.valid() && q.value(made).producer.valid() && f.value(value.floatValue).producer.valid()
                && !pair.quantView->isPlumbing(q.value(made).producer))
                m_any.try_emplace(q.value(made).producer, f.value(value.floatValue).producer);
        addReaders(f.value(value.floatValue).uses, same);
    }
}

NodeId FunctionPartners::of(NodeId quantNode) const
{
    const NodeId known = m_partners.of(quantNode);
    const auto it = m_readers.find(quantNode);
    return known.valid() || it == m_readers.end() ? known : it->second;
}

NodeId FunctionPartners::ofAny(NodeId quantNode) const
{
    const auto it = m_any.find(quantNode);
    return it == m_any.end() ? of(quantNode) : it->second;
}

std::vector<std::string> settingsAt(const ComparePair& pair, NodeId floatNode)
{
    std::vector<std::string> found;
    for (const AttributeKind kind : { AttributeKind::Numbers, AttributeKind::Shapes })
        if (floatNode.valid())
            for (FunctionDifference& other : attributeDifferences(pair, kind, floatNode))
                found.push_back(std::move(other.text));
    return found;
}

std::vector<FunctionDifference> attributeDifferences(const ComparePair& pair, AttributeKind kind, NodeId floatNode)
{
    std::vector<FunctionDifference> found;
    const AttributeComparer comparer(pair);
    for (size_t n = 0; n < pair.quantPlan->graph().nodes().size(); ++n)
        if (const NodeId partner = comparer.partnerOf(NodeId(n));
            partner.valid() && (!floatNode.valid() || partner == floatNode))
            comparer.compare(partner, NodeId(n), kind, found);
    return found;
}

} // namespace qs
