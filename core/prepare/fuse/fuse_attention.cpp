// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/ops/infer.h"
#include "core/prepare/fuse/pattern_graph.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Queries, keys or values: [batch, positions, heads · size] before they are split into heads.
struct Projection {
    std::string value;
    // Where it is value = from · weight + bias, of constants:
    std::string from, weight, bias;
    std::set<size_t> nodes; ///< that make `value` of `from`
};

/// Finds what exporters make of softmax(Q·Kᵀ·scale + mask)·V over heads, from its Softmax on.
class AttentionFinder {
    using Sizes = std::vector<int64_t>;

public:
    AttentionFinder(const PatternGraph& graph, const Model& model)
        : m_graph(graph)
        , m_model(model)
        , m_facts(inferFacts(model.graph))
    {
    }

    std::optional<FoundPattern> at(size_t softmax);

private:
    /// [batch, positions, heads, size] -> [batch, heads, positions, size], or the two last exchanged; what is split.
    std::optional<std::string> heads(const std::string& name, std::vector<int64_t> order);
    std::optional<std::string> keys(const std::string& name);
    /// The value that a scaling by a scalar scales; the factor goes into m_scale.
    std::string unscaled(const std::string& name);
    /// The product behind scaling and an added mask.
    const DraftNode* scores(const std::string& name);
    /// Behind a guard of rows that are masked as a whole, where there is one: 0 for what is no number.
    std::string guarded(const std::string& weights);
    Projection projection(const std::string& value) const;
    /// Of what a Reshape makes, -1 = not known: by its result, else by what its shape is put together from.
    Sizes shapeOf(const DraftNode& reshape) const;
    bool finish(FoundPattern& found);
    std::optional<Dims> dims(const std::string& name) const
    {
        const ValueId id = m_model.graph.findValue(name);
        return id.valid() ? m_facts.of(id).dims : std::nullopt;
    }
    DType dtype(const std::string& name) const
    {
        const ValueId id = m_model.graph.findValue(name);
        return id.valid() ? m_facts.of(id).dtype : DType::Undefined;
    }

    const PatternGraph& m_graph;
    const Model& m_model;
    const InferredFacts m_facts;
    // Of the attention that is looked at:
    std::set<size_t> m_used;
    int64_t m_heads = 0, m_size = 0;
    double m_scale = 1;
    std::string m_mask;
};

bool permutes(const DraftNode* node, const std::vector<int64_t>& order)
{
    return node && node->attributes.integers("perm") == order;
}

std::optional<std::string> AttentionFinder::heads(const std::string& name, std::vector<int64_t> order)
{
    const DraftNode* transpose = m_graph.made(name, "Transpose", m_used);
    const DraftNode* split
        = permutes(transpose, order) ? m_graph.made(transpose->inputs[0], "Reshape", m_used) : nullptr;
    if (!split)
        return std::nullopt;
    const auto wide = shapeOf(*split);
    const auto whole = dims(split->inputs[0]);
    const bool split4 = wide.size() == 4 && wide[2] > 0 && wide[3] > 0;
    if (!split4 || (whole && whole->size() != 3) || (m_heads != 0 && (m_heads != wide[2] || m_size != wide[3])))
        return std::nullopt;
    m_heads = wide[2];
    m_size = wide[3];
    return split->inputs[0];
}

AttentionFinder::Sizes AttentionFinder::shapeOf(const DraftNode& reshape) const
{
    Sizes sizes;
    if (const auto known = dims(reshape.outputs[0]))
        for (const Dim& d : *known)
            sizes.push_back(d.known() ? d.value : -1);
    std::set<size_t> made;
    const DraftNode* list = reshape.hasInput(1) ? m_graph.made(reshape.inputs[1], "Concat", made) : nullptr;
    if (!list || (!sizes.empty() && sizes.size() != list->inputs.size()))
        return sizes;
    sizes.resize(list->inputs.size(), -1);
    for (size_t i = 0; i < sizes.size(); ++i) {
        const Tensor* part = m_graph.draft().constant(list->inputs[i]); // what is computed for an axis is one number
        if (part && part->count() != 1)
            return {};
        if (part && sizes[i] < 0)
            sizes[i] = toInts(*part)[0];
    }
    return sizes;
}

std::optional<std::string> AttentionFinder::keys(const std::string& name)
{
    const std::set<size_t> before = m_used;
    if (auto at = heads(name, { 0, 2, 3, 1 }))
        return at;
    m_used = before;
    const DraftNode* turned = m_graph.made(name, "Transpose", m_used);
    if (permutes(turned, { 0, 1, 3, 2 }))
        return heads(turned->inputs[0], { 0, 2, 1, 3 });
    // Batch and heads taken together, the last two exchanged, and taken apart again.
    m_used = before;
    const DraftNode* apart = m_graph.made(name, "Reshape", m_used);
    const DraftNode* exchanged = apart ? m_graph.made(apart->inputs[0], "Transpose", m_used) : nullptr;
    const DraftNode* together
        = permutes(exchanged, { 0, 2, 1 }) ? m_graph.made(exchanged->inputs[0], "Reshape", m_used) : nullptr;
    const auto at = together ? heads(together->inputs[0], { 0, 2, 1, 3 }) : std::nullopt;
    const auto flat = together ? shapeOf(*together) : Sizes();
    const auto wide = at ? shapeOf(*apart) : Sizes();
    const bool same = wide.size() == 4 && flat.size() == 3 && wide[1] == m_heads && wide[2] == m_size;
    return same && flat[2] == m_size ? at : std::nullopt;
}

std::string AttentionFinder::unscaled(const std::string& name)
{
    const size_t index = m_graph.links().producer(name);
    if (index == SIZE_MAX)
        return name;
    const DraftNode& node = m_graph.draft().nodes[index];
    if (node.inputs.size() != 2 || (!node.is("Mul") && !node.is("Div")))
        return name;
    const size_t at = m_graph.scalar(node.inputs[1]) ? 1 : 0;
    const auto factor = m_graph.scalar(node.inputs[at]);
    if (!factor || *factor == 0 || (node.is("Div") && at == 0))
        return name;
    m_used.insert(index);
    m_scale *= node.is("Div") ? 1 / *factor : *factor;
    return node.inputs[1 - at];
}

const DraftNode* AttentionFinder::scores(const std::string& name)
{
    std::string value = name;
    const std::set<size_t> before = m_used;
    if (const DraftNode* add = m_graph.made(value, "Add", m_used); add && add->inputs.size() == 2) {
        // The side that products make is the scores.
        for (const size_t side : { 0, 1 }) {
            const std::set<size_t> here = m_used;
            const double scale = m_scale;
            const DraftNode* product = m_graph.made(unscaled(add->inputs[side]), "MatMul", m_used);
            if (product) {
                m_mask = add->inputs[1 - side];
                return product;
            }
            m_used = here;
            m_scale = scale;
        }
        return nullptr;
    }
    m_used = before;
    return m_graph.made(unscaled(value), "MatMul", m_used);
}

std::string AttentionFinder::guarded(const std::string& weights)
{
    for (const size_t reader : m_graph.links().readers(weights)) {
        const DraftNode& node = m_graph.draft().nodes[reader];
        std::set<size_t> tested { reader };
        if (!node.is("Where") || node.inputs.size() != 3 || node.inputs[2] != weights
            || m_graph.scalar(node.inputs[1]) != 0.0)
            continue;
        const DraftNode* test = m_graph.made(node.inputs[0], "IsNaN", tested);
        if (!test || test->inputs[0] != weights)
            continue;
        m_used.merge(tested);
        return node.outputs[0];
    }
    return weights;
}

Projection AttentionFinder::projection(const std::string& value) const
{
    Projection p { value, {}, {}, {}, {} };
    const GraphDraft& draft = m_graph.draft();
    std::set<size_t> nodes;
    const DraftNode* add = m_graph.made(value, "Add", nodes);
    if (!add || add->inputs.size() != 2)
        return p;
    const size_t at = draft.constant(add->inputs[0]) ? 0 : 1;
    const DraftNode* product = m_graph.made(add->inputs[1 - at], "MatMul", nodes);
    const Tensor* bias = draft.constant(add->inputs[at]);
    const Tensor* weight = product ? draft.constant(product->inputs[1]) : nullptr;
    if (!bias || !weight || weight->rank() != 2 || bias->rank() != 1 || weight->dtype() != DType::Float32
        || bias->dtype() != DType::Float32 || weight->shape()[1] != bias->shape()[0])
        return p;
    p.from = product->inputs[0];
    p.weight = product->inputs[1];
    p.bias = add->inputs[at];
    p.nodes = std::move(nodes);
    return p;
}

std::optional<FoundPattern> AttentionFinder::at(size_t softmaxAt)
{
    m_used = { softmaxAt };
    m_heads = m_size = 0;
    m_scale = 1;
    m_mask.clear();
    const DraftNode& softmax = m_graph.draft().nodes[softmaxAt];
    const int64_t axis = softmax.attributes.integer("axis", -1);
    if (axis != -1 && axis != 3)
        return std::nullopt;
    FoundPattern found;
    const DraftNode* product = scores(softmax.inputs[0]);
    const std::string weights = guarded(softmax.outputs[0]);
    const DraftNode* weighed = product ? m_graph.onlyReader(weights, "MatMul", m_used) : nullptr;
    if (!weighed || weighed->inputs[0] != weights)
        return std::nullopt;
    const DraftNode* back = m_graph.onlyReader(weighed->outputs[0], "Transpose", m_used);
    const DraftNode* joined
        = permutes(back, { 0, 2, 1, 3 }) ? m_graph.onlyReader(back->outputs[0], "Reshape", m_used) : nullptr;
    const auto whole = joined ? shapeOf(*joined) : Sizes();
    if (whole.size() != 3 || dtype(softmax.outputs[0]) != DType::Float32)
        return std::nullopt;
    const auto q = heads(unscaled(product->inputs[0]), { 0, 2, 1, 3 });
    const auto k = q ? keys(unscaled(product->inputs[1])) : std::nullopt;
    const auto v = k ? heads(weighed->inputs[1], { 0, 2, 1, 3 }) : std::nullopt;
    if (!v || whole[2] != m_heads * m_size)
        return std::nullopt;
    found.last = m_graph.links().producer(joined->outputs[0]);
    found.nodes = m_used;
    found.node = { NodeId(), "", "MultiHeadAttention", kMicrosoftDomain, { *q, *k, *v }, {}, {} };
    return finish(found) ? std::optional(std::move(found)) : std::nullopt;
}

/// Attributes, mask, and the projections where one product can make all three.
bool AttentionFinder::finish(FoundPattern& found)
{
    const auto mask = m_mask.empty() ? std::nullopt : dims(m_mask);
    if (!m_mask.empty() && (!mask || mask->size() != 4)) // [batch or 1, heads or 1, positions, all positions]
        return false;
    auto& inputs = found.node.inputs;
    const Projection q = projection(inputs[0]), k = projection(inputs[1]), v = projection(inputs[2]);
    if (!q.from.empty() && q.from == k.from && q.from == v.from) {
        found.node.opType = "Attention";
        inputs = { q.from, q.weight, k.weight, v.weight, q.bias, k.bias, v.bias }; // packed when it is known to be used
        for (const Projection* p : { &q, &k, &v })
            found.nodes.insert(p->nodes.begin(), p->nodes.end());
    }
    found.node.attributes.set("num_heads", m_heads);
    constexpr double kSame = 1e-6;
    if (std::abs(m_scale * std::sqrt(double(m_size)) - 1) > kSame)
        found.node.attributes.set("scale", static_cast<float>(m_scale));
    if (!m_mask.empty()) { // attention_bias is input 5 of either
        if (found.node.opType == "MultiHeadAttention")
            inputs.resize(5);
        inputs.push_back(m_mask);
    }
    return true;
}

/// Matrices side by side, or vectors one behind the other.
Tensor sideBySide(const std::vector<const Tensor*>& parts)
{
    const bool matrices = parts[0]->rank() == 2;
    const int64_t rows = matrices ? parts[0]->shape()[0] : 1;
    std::vector<std::vector<float>> values;
    int64_t columns = 0;
    for (const Tensor* part : parts) {
        values.push_back(toFloats(*part));
        columns += part->shape().back();
    }
    std::vector<float> all;
    all.reserve(size_t(rows * columns));
    for (int64_t r = 0; r < rows; ++r)
        for (size_t i = 0; i < parts.size(); ++i) {
            const auto width = parts[i]->shape().back();
            all.insert(all.end(), values[i].begin() + r * width, values[i].begin() + (r + 1) * width);
        }
    return Tensor::of<float>(matrices ? Shape { rows, columns } : Shape { columns }, all);
}

/// Attention reads one weight and one bias of queries, keys and values.
void packProjections(GraphDraft& draft, DraftNode& node)
{
    const auto pack = [&](size_t first, const std::string& name) {
        std::vector<const Tensor*> parts;
        for (size_t i = first; i < first + 3; ++i)
            parts.push_back(draft.constant(node.inputs[i]));
        draft.setConstant(name, sideBySide(parts));
        return name;
    };
    const std::string weight = pack(1, node.outputs[0] + "_qkv_weight"), bias = pack(4, node.outputs[0] + "_qkv_bias");
    std::vector<std::string> inputs { node.inputs[0], weight, bias };
    if (node.inputs.size() > 7) {
        inputs.resize(5);
        inputs.push_back(node.inputs[7]);
    }
    node.inputs = std::move(inputs);
}

} // namespace

Result<PassReport> fuseAttention(GraphDraft& draft)
{
    PassReport report { "fuse_attention", 0, {} };
    QS_TRY(const auto model, draft.build());
    std::vector<FoundPattern> found;
    {
        const PatternGraph graph(draft);
        AttentionFinder finder(graph, *model);
        for (size_t n = 0; n < draft.nodes.size(); ++n)
            if (draft.nodes[n].is("Softmax"))
                if (auto pattern = finder.at(n))
                    found.push_back(std::move(*pattern));
    }
    applyPatterns(draft, std::move(found), true, report);
    if (report.changes == 0)
        return report;
    for (DraftNode& node : draft.nodes)
        if (node.is("Attention", kMicrosoftDomain) && node.inputs.size() >= 7 && !node.origin.valid())
            packProjections(draft, node);
    draft.opsets.try_emplace(kMicrosoftDomain, 1);
    QS_CHECK(removeUnused(draft)); // sizes that the reshapes were given
    return report;
}

} // namespace qs
