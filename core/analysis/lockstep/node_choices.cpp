// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/node_choices.h"

#include "core/analysis/rounding/relative_distance.h"
#include "core/graph/domains.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace qs {

namespace {

constexpr double kSameSetting = 1e-3;
constexpr int64_t kMostHeads = 128;
constexpr float kMostOfFactors = 1e6f; ///< what is larger masks
constexpr std::array<std::string_view, 3> kPartNames { "query", "key", "value" };

/// Numbers of fused nodes that the float model has in constants of its own, or in sizes.
constexpr std::array<std::string_view, 6> kReals { "scale", "alpha", "epsilon", "mask_filter_value", "softcap",
    "beta" };
constexpr std::array<std::string_view, 2> kHeads { "num_heads", "kv_num_heads" };
constexpr std::array<std::string_view, 3> kSwitches { "unidirectional", "is_causal", "do_rotary" };

bool isOneOf(std::string_view name, const auto& names) { return std::ranges::find(names, name) != names.end(); }

std::string attributeText(const AttributeValue& value)
{
    if (const auto* i = std::get_if<int64_t>(&value))
        return std::to_string(*i);
    const auto* f = std::get_if<float>(&value);
    return f ? fmt::format("{:.4g}", *f) : std::string();
}

bool sameSetting(const AttributeValue& a, const AttributeValue& b)
{
    const auto *i = std::get_if<int64_t>(&a), *j = std::get_if<int64_t>(&b);
    const auto *x = std::get_if<float>(&a), *y = std::get_if<float>(&b);
    return (i && j && *i == *j)
        || (x && y && std::fabs(*x - *y) <= kSameSetting * std::max(std::fabs(*x), std::fabs(*y)));
}

/// The constants of one number that these nodes read, and their epsilons.
std::vector<float> numbersOf(const Plan& plan, const std::vector<NodeId>& nodes)
{
    std::vector<float> numbers;
    const Graph& graph = plan.graph();
    for (const NodeId id : nodes) {
        if (const auto* epsilon = graph.node(id).attributes.get<float>("epsilon"))
            numbers.push_back(*epsilon);
        for (const ValueId in : graph.node(id).inputs)
            if (const Tensor* t = in.valid() ? plan.constant(in) : nullptr; t && t->count() == 1 && isFloat(t->dtype()))
                numbers.push_back(toFloats(*t)[0]);
    }
    return numbers;
}

/// Constants of more than one number that these nodes read.
std::vector<ValueId> constantsOf(const Plan& plan, const std::vector<NodeId>& nodes)
{
    std::vector<ValueId> found;
    for (const NodeId id : nodes)
        for (const ValueId in : plan.graph().node(id).inputs)
            if (const Tensor* t = in.valid() ? plan.constant(in) : nullptr;
                t && t->count() > 1 && isFloat(t->dtype()) && std::ranges::find(found, in) == found.end())
                found.push_back(in);
    return found;
}

/// Columns of query, key and value side by side.
std::optional<Tensor> partsExchanged(const Tensor& t, size_t a, size_t b)
{
    const auto width = t.rank() > 0 ? size_t(t.shape().back()) : 0;
    if (width == 0 || width % kPartNames.size() != 0 || !isFloat(t.dtype()))
        return std::nullopt;
    std::vector<float> values = toFloats(t);
    const size_t part = width / kPartNames.size();
    for (size_t row = 0; row < values.size(); row += width)
        std::swap_ranges(values.begin() + ptrdiff_t(row + a * part), values.begin() + ptrdiff_t(row + (a + 1) * part),
            values.begin() + ptrdiff_t(row + b * part));
    return convertedTo(Tensor::of<float>(t.shape(), values), t.dtype());
}

/// What the float model adds to query, key and value, side by side.
struct PackedBias {
    std::vector<float> values;
    std::vector<std::string> names; ///< of its constants
};

/// What is added to a result right behind; null: nothing.
const Tensor* addedTo(const Plan& plan, ValueId value, PackedBias& bias)
{
    for (const Use& use : plan.graph().value(value).uses)
        if (use.node.valid() && plan.graph().node(use.node).is("Add"))
            for (const ValueId in : plan.graph().node(use.node).inputs)
                if (const Tensor* t = in.valid() ? plan.constant(in) : nullptr; t && isFloat(t->dtype())) {
                    bias.names.push_back(plan.graph().value(in).name);
                    return t;
                }
    return nullptr;
}

/// The product of these nodes that has a part of a packed weight, which holds the float model's; invalid: none.
NodeId productOf(const Plan& plan, const std::vector<NodeId>& nodes, const Tensor& packed, size_t part)
{
    const auto width = size_t(packed.shape().back()), columns = width / kPartNames.size();
    const std::vector<float> all = toFloats(packed);
    std::vector<float> wanted;
    for (size_t i = 0; i < all.size(); ++i)
        if (i % width / columns == part)
            wanted.push_back(all[i]);
    for (const NodeId id : nodes) {
        const Node& node = plan.graph().node(id);
        const Tensor* const w = node.is("MatMul") && node.hasInput(1) ? plan.constant(node.inputs[1]) : nullptr;
        if (w && w->rank() == 2 && w->shape()[1] == int64_t(columns) && size_t(w->count()) == wanted.size()
            && node.hasOutput(0) && relativeDistance(toFloats(*w), wanted) <= kSameSetting)
            return id;
    }
    return {};
}

/// Of an Attention with one weight for all three, which is the float model's; nothing where it is not.
std::optional<PackedBias> packedBias(
    const Plan& plan, const Node& node, const Plan& floatPlan, const std::vector<NodeId>& floatNodes)
{
    const Tensor* const w = node.hasInput(1) ? plan.constant(node.inputs[1]) : nullptr;
    if (!w || w->rank() != 2 || !isFloat(w->dtype()) || w->shape()[1] % int64_t(kPartNames.size()) != 0)
        return std::nullopt;
    const auto part = size_t(w->shape()[1]) / kPartNames.size();
    PackedBias bias;
    for (size_t i = 0; i < kPartNames.size(); ++i) {
        const NodeId product = productOf(floatPlan, floatNodes, *w, i);
        if (!product.valid())
            return std::nullopt;
        const Tensor* const added = addedTo(floatPlan, floatPlan.graph().node(product).outputs[0], bias);
        std::vector<float> values = added ? toFloats(*added) : std::vector<float>(part, 0);
        if (values.size() != part)
            return std::nullopt;
        bias.values.insert(bias.values.end(), values.begin(), values.end());
    }
    return bias;
}

/// The float model's bias for an Attention that adds another one.
std::optional<SettingChoice> biasChoice(
    const Plan& plan, NodeId id, const Plan& floatPlan, const std::vector<NodeId>& floatNodes)
{
    constexpr size_t kBias = 2;
    const Node& node = plan.graph().node(id);
    const bool known = node.is("Attention", kMicrosoftDomain) && !node.attributes.has("qkv_hidden_sizes");
    const Tensor* const own = known && node.hasInput(kBias) ? plan.constant(node.inputs[kBias]) : nullptr;
    const auto theirs = own ? packedBias(plan, node, floatPlan, floatNodes) : std::nullopt;
    if (!theirs || theirs->names.empty() || size_t(own->count()) != theirs->values.size())
        return std::nullopt;
    const std::vector<float> values = toFloats(*own);
    const bool zeros = std::ranges::all_of(values, [](float v) { return v == 0; });
    return SettingChoice { id,
        fmt::format("{} '{}' has the bias {}{}, in the float model {}", node.opType, node.name,
            plan.graph().value(node.inputs[kBias]).name, zeros ? ", which holds nothing but zeros" : "",
            fmt::join(theirs->names, ", ")),
        [t = convertedTo(Tensor::of<float>(own->shape(), theirs->values), own->dtype())](
            GraphDraft& draft, size_t at) -> Status {
            std::string& name = draft.nodes[at].inputs[kBias];
            name += "_other";
            draft.setConstant(name, t);
            return {};
        } };
}

class ChoiceFinder {
public:
    ChoiceFinder(const Plan& plan, NodeId id, const Plan& floatPlan, const std::vector<NodeId>& floatNodes)
        : m_plan(plan)
        , m_id(id)
        , m_node(plan.graph().node(id))
        , m_float(floatPlan)
        , m_floatNodes(floatNodes)
        , m_what(fmt::format("{} '{}'", m_node.opType, m_node.name))
    {
        for (size_t n = 0; n < plan.graph().nodes().size(); ++n)
            if (const Node& other = plan.graph().node(NodeId(n));
                NodeId(n) != id && other.opType == m_node.opType && other.domain == m_node.domain)
                m_siblings.push_back(NodeId(n));
    }

    std::vector<SettingChoice> find()
    {
        if (auto bias = biasChoice(m_plan, m_id, m_float, m_floatNodes))
            m_found.push_back(std::move(*bias));
        fromSiblings();
        inputsOfSiblings();
        embeddings();
        fromFloatNumbers();
        heads();
        parts();
        return std::move(m_found);
    }

private:
    void addAttribute(const std::string& name, const AttributeValue& value)
    {
        const AttributeValue* const own = m_node.attributes.find(name);
        auto& tried = m_tried[name];
        const auto isKnown = [&](const AttributeValue& other) { return sameSetting(other, value); };
        if (tried.size() == kMostTried || (own && isKnown(*own)) || std::ranges::any_of(tried, isKnown))
            return;
        tried.push_back(value);
        m_found.push_back({ m_id,
            own ? fmt::format(
                "{} has {} {}, in the float model {}", m_what, name, attributeText(*own), attributeText(value))
                : fmt::format("{} has no {}, in the float model it is {}", m_what, name, attributeText(value)),
            [name, value](GraphDraft& draft, size_t node) -> Status {
                draft.nodes[node].attributes.set(name, value);
                draft.nodes[node].attributesChanged = true;
                return {};
            } });
    }

    bool isNumber(std::string_view name) const
    {
        return isOneOf(name, kReals) || isOneOf(name, kHeads) || isOneOf(name, kSwitches);
    }

    void fromSiblings()
    {
        for (const NodeId sibling : m_siblings)
            for (const auto& [name, value] : m_plan.graph().node(sibling).attributes.all())
                if (isNumber(name))
                    addAttribute(name, value);
        for (const std::string_view name : kSwitches)
            if (const auto* on = m_node.attributes.get<int64_t>(std::string(name)))
                addAttribute(std::string(name), int64_t(*on == 0));
        if (m_node.attributes.has("mask_filter_value"))
            addAttribute("mask_filter_value", -10000.0F); // where none is given
    }

    void fromFloatNumbers()
    {
        for (const std::string_view key : kReals) {
            const std::string name(key);
            const bool scales = name == "scale" && isOneOf(m_node.opType, kAttention);
            if (!m_node.attributes.has(name) && !scales)
                continue;
            for (const float v : numbersOf(m_float, m_floatNodes)) {
                if (v == 0 || !(std::fabs(v) < kMostOfFactors) || (name == "mask_filter_value") != (v < 0))
                    continue;
                addAttribute(name, v);
                if (name == "scale" || name == "alpha") {
                    addAttribute(name, 1 / v);
                    addAttribute(name, v * v); // half of it at the query, half at the key
                }
            }
            if (name == "alpha")
                addAttribute(name, 1.0F);
        }
    }

    /// Every number of heads that divides the values.
    void heads()
    {
        const auto* own = m_node.attributes.get<int64_t>("num_heads");
        if (!own || !m_node.hasOutput(0))
            return;
        const auto& dims = m_plan.facts().of(m_node.outputs[0]).dims;
        const int64_t size = dims && !dims->empty() && dims->back().known() ? dims->back().value : 0;
        for (int64_t n = 1; n <= std::min(size, kMostHeads); ++n)
            if (size % n == 0)
                addAttribute("num_heads", n);
    }

    /// Query, key and value.
    void parts()
    {
        for (size_t a = 0; a < kPartNames.size(); ++a)
            for (size_t b = a + 1; b < kPartNames.size(); ++b) {
                if (m_node.is("Attention", kMicrosoftDomain) && !m_node.attributes.has("qkv_hidden_sizes")) {
                    addExchange(a, b, { 1, 2 }, "weights and biases");
                    addExchange(a, b, { 1 }, "weights");
                    addExchange(a, b, { 2 }, "biases");
                } else if (m_node.is("MultiHeadAttention", kMicrosoftDomain) && m_node.hasInput(a)
                    && m_node.hasInput(b)) {
                    m_found.push_back({ m_id,
                        fmt::format("{} reads {} and {} in each other's place", m_what, kPartNames[a], kPartNames[b]),
                        [a, b](GraphDraft& draft, size_t node) -> Status {
                            std::swap(draft.nodes[node].inputs[a], draft.nodes[node].inputs[b]);
                            return {};
                        } });
                }
            }
    }

    void addExchange(size_t a, size_t b, const std::vector<size_t>& slots, std::string_view of)
    {
        for (const size_t slot : slots)
            if (!m_node.hasInput(slot) || !m_plan.constant(m_node.inputs[slot]))
                return;
        m_found.push_back({ m_id,
            fmt::format("{} has the {} of {} and {} in each other's place", m_what, of, kPartNames[a], kPartNames[b]),
            [a, b, slots](GraphDraft& draft, size_t node) -> Status {
                for (const size_t slot : slots) {
                    std::string& name = draft.nodes[node].inputs[slot];
                    const Tensor* old = draft.constant(name);
                    auto other = old ? partsExchanged(*old, a, b) : std::nullopt;
                    if (!other)
                        return badInput("it has no three parts");
                    name += "_exchanged";
                    draft.setConstant(name, std::move(*other));
                }
                return {};
            } });
    }

    void addInput(size_t slot, const std::string& name, const std::optional<Tensor>& constant, const std::string& as)
    {
        m_found.push_back({ m_id, fmt::format("{} does not read {}, as {} does", m_what, name, as),
            [slot, name, constant](GraphDraft& draft, size_t node) -> Status {
                auto& inputs = draft.nodes[node].inputs;
                inputs.resize(std::max(inputs.size(), slot + 1));
                inputs[slot] = constant ? name + "_read" : name;
                if (constant)
                    draft.setConstant(inputs[slot], *constant);
                return {};
            } });
    }

    void inputsOfSiblings()
    {
        for (const NodeId id : m_siblings) {
            const Node& sibling = m_plan.graph().node(id);
            for (size_t slot = 0; slot < sibling.inputs.size(); ++slot) {
                if (m_node.hasInput(slot) || !sibling.hasInput(slot))
                    continue;
                const Tensor* const constant = m_plan.constant(sibling.inputs[slot]);
                if (!constant)
                    addInput(slot, m_plan.graph().value(sibling.inputs[slot]).name, std::nullopt,
                        fmt::format("'{}'", sibling.name));
                else
                    for (const ValueId theirs : constantsOf(m_float, m_floatNodes))
                        if (const Tensor& t = *m_float.constant(theirs); t.shape() == constant->shape())
                            addInput(slot, m_float.graph().value(theirs).name, convertedTo(t, constant->dtype()),
                                "the float model");
            }
            if (m_found.size() > kMostOfInputs)
                return; // one of many alike tells as much as all
        }
    }

    /// EmbedLayerNormalization without its segments: a table of the float model, and the input that chooses of it.
    void embeddings()
    {
        constexpr size_t kWords = 2, kIds = 1, kTable = 4;
        if (!m_node.is("EmbedLayerNormalization", kMicrosoftDomain) || m_node.hasInput(kTable)
            || !m_node.hasInput(kWords))
            return;
        const Tensor* const words = m_plan.constant(m_node.inputs[kWords]);
        const Graph& graph = m_float.graph();
        for (const NodeId id : m_floatNodes) {
            const Node& gather = graph.node(id);
            const Tensor* const table
                = gather.is("Gather") && gather.hasInput(0) ? m_float.constant(gather.inputs[0]) : nullptr;
            const std::string ids = table && gather.hasInput(1) ? graph.value(gather.inputs[1]).name : std::string();
            if (!words || !table || table->rank() != 2 || table->shape()[1] != words->shape().back() || !isInput(ids))
                continue;
            const std::string name = graph.value(gather.inputs[0]).name;
            m_found.push_back(
                { m_id, fmt::format("{} does not read {} and {}, as the float model does", m_what, ids, name),
                    [ids, name, t = convertedTo(*table, words->dtype())](GraphDraft& draft, size_t node) -> Status {
                        DraftNode cast;
                        cast.name = ids + "_cast_read";
                        cast.opType = "Cast";
                        cast.inputs = { ids };
                        cast.outputs = { ids + "_int32_read" };
                        cast.attributes.set("to", int64_t(DType::Int32));
                        auto& inputs = draft.nodes[node].inputs;
                        inputs.resize(std::max(inputs.size(), kTable + 1));
                        inputs[kIds] = cast.outputs[0];
                        inputs[kTable] = name + "_read";
                        draft.setConstant(inputs[kTable], t);
                        draft.nodes.push_back(std::move(cast));
                        return {};
                    } });
        }
    }

    bool isInput(const std::string& name) const
    {
        const ValueId id = m_plan.graph().findValue(name);
        const auto& inputs = m_plan.graph().inputs();
        return id.valid() && std::ranges::find(inputs, id) != inputs.end();
    }

    static constexpr std::array<std::string_view, 3> kAttention { "Attention", "MultiHeadAttention",
        "GroupQueryAttention" };
    static constexpr size_t kMostOfInputs = 64, kMostTried = 64; ///< values of one attribute
    const Plan& m_plan;
    const NodeId m_id;
    const Node& m_node;
    const Plan& m_float;
    const std::vector<NodeId>& m_floatNodes;
    const std::string m_what;
    std::vector<NodeId> m_siblings; ///< of the same operator
    std::map<std::string, std::vector<AttributeValue>> m_tried;
    std::vector<SettingChoice> m_found;
};

} // namespace

std::vector<SettingChoice> nodeChoices(
    const Plan& plan, NodeId node, const Plan& floatPlan, const std::vector<NodeId>& floatNodes)
{
    return ChoiceFinder(plan, node, floatPlan, floatNodes).find();
}

} // namespace qs
