// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/caches/rotary_source.h"

#include "core/graph/domains.h"

#include <algorithm>

namespace qs {

size_t rankOf(const Plan& plan, ValueId value)
{
    const auto& dims = plan.facts().of(value).dims;
    return dims ? dims->size() : 0;
}

namespace {

/// Keys on their way to the cache, followed against the arrows.
class KeyTrace {
public:
    KeyTrace(const Plan& plan, ValueId value, const CacheLayout& layout)
        : m_plan(plan)
        , m_at { value, layout, {} }
    {
    }

    std::optional<RotarySource> find()
    {
        for (const Node* node = maker(m_at.value); node && node->hasInput(0); node = maker(m_at.value)) {
            if (node->is("RotaryEmbedding") || node->is("RotaryEmbedding", kMicrosoftDomain)) {
                m_at.value = node->inputs[0];
                m_at.pairs = { node->attributes.integer("interleaved", 0) != 0,
                    node->attributes.integer("rotary_embedding_dim", 0) };
                return m_at;
            }
            if (const ValueId turned = turnedBySum(*node); turned.valid()) {
                m_at.value = turned;
                return m_at;
            }
            if (!passes(*node))
                break;
            m_at.value = node->inputs[0];
        }
        return std::nullopt;
    }

private:
    const Node* maker(ValueId value) const
    {
        const NodeId id = value.valid() ? m_plan.graph().value(value).producer : NodeId();
        return id.valid() ? &m_plan.graph().node(id) : nullptr;
    }

    /// Whether the node only moves or casts elements; then the layout is what it was before.
    bool passes(const Node& node)
    {
        if (node.is("Identity") || node.is("Cast"))
            return true;
        if (node.is("Transpose"))
            return transposed(node.attributes.integers("perm"));
        return node.is("Reshape") && reshaped(rankOf(m_plan, node.inputs[0]));
    }

    bool transposed(const std::vector<int64_t>& order)
    {
        CacheLayout& layout = m_at.layout;
        const bool orders = std::ranges::all_of(order, [](int64_t axis) { return axis >= 0 && axis < 4; });
        if (layout.form != CacheLayout::Form::Heads || order.size() != layout.axes.size() || !orders)
            return false;
        for (int& axis : layout.axes)
            axis = int(order[size_t(axis)]);
        return true;
    }

    /// Rows with heads behind each other against an axis of heads.
    bool reshaped(size_t before)
    {
        CacheLayout& layout = m_at.layout;
        constexpr std::array<int, 4> kTokensFirst { 0, 2, 1, 3 };
        if (before == 4 && layout.form == CacheLayout::Form::Rows && layout.rowHeads == layout.heads) {
            layout.form = CacheLayout::Form::Heads;
            layout.axes = kTokensFirst;
            return true;
        }
        return false;
    }

    /// What x * cos + [-x2, x1] * sin turns: x. Invalid where the node is no such sum.
    ValueId turnedBySum(const Node& node) const
    {
        if (!node.is("Add") || node.inputs.size() != 2)
            return {};
        for (const size_t straight : { 0, 1 }) {
            const Node *a = maker(node.inputs[straight]), *b = maker(node.inputs[1 - straight]);
            if (!a || !b || !a->is("Mul") || !b->is("Mul"))
                continue;
            for (const ValueId x : a->inputs)
                if (std::ranges::any_of(b->inputs, [&](ValueId y) { return isTurnedHalf(y, x); }))
                    return x;
        }
        return {};
    }

    /// [-x2, x1] of x = [x1, x2].
    bool isTurnedHalf(ValueId value, ValueId of) const
    {
        const Node* const joined = maker(value);
        if (!joined || !joined->is("Concat") || joined->inputs.size() != 2)
            return false;
        const Node *const negative = maker(joined->inputs[0]), *const first = maker(joined->inputs[1]);
        const Node* const second
            = negative && negative->is("Neg") && negative->hasInput(0) ? maker(negative->inputs[0]) : nullptr;
        const auto isPart = [&](const Node* n) {
            return n && (n->is("Slice") || n->is("Split")) && n->hasInput(0) && n->inputs[0] == of;
        };
        return isPart(second) && isPart(first);
    }

    const Plan& m_plan;
    RotarySource m_at;
};

CacheLayout rowsOf(int64_t heads, int64_t first, int64_t all)
{
    CacheLayout layout;
    layout.form = CacheLayout::Form::Rows;
    layout.heads = heads;
    layout.firstHead = first;
    layout.rowHeads = all;
    return layout;
}

/// GroupQueryAttention and SparseAttention: keys apart, or behind the queries.
std::optional<RotarySource> groupSource(const Plan& plan, const Node& node)
{
    const Attributes& a = node.attributes;
    const int64_t queries = a.integer("num_heads", 1), keys = a.integer("kv_num_heads", 1);
    const bool apart = node.hasInput(1);
    const CacheLayout layout = apart ? rowsOf(keys, 0, keys) : rowsOf(keys, queries, queries + 2 * keys);
    if (!node.hasInput(apart ? 1 : 0))
        return std::nullopt;
    const ValueId value = node.inputs[apart ? 1 : 0];
    if (a.integer("do_rotary", 0) == 0)
        return apart ? KeyTrace(plan, value, layout).find() : std::nullopt;
    RotaryPairs pairs { a.integer("rotary_interleaved", 0) != 0, 0 };
    const size_t cosines = node.opType == "SparseAttention" ? 9 : 7;
    if (node.hasInput(cosines))
        if (const auto& dims = plan.facts().of(node.inputs[cosines]).dims;
            dims && dims->size() == 2 && (*dims)[1].known())
            pairs.rotated = 2 * (*dims)[1].value;
    return RotarySource { value, layout, pairs };
}

} // namespace

std::optional<RotarySource> rotarySource(const Plan& plan, const Node& node, ValueId past, const CacheLayout& layout)
{
    const Attributes& a = node.attributes;
    if (node.is("GroupQueryAttention", kMicrosoftDomain) || node.is("SparseAttention", kMicrosoftDomain))
        return groupSource(plan, node);
    if (node.is("Concat") || node.is("TensorScatter")) {
        if (node.inputs.size() < 2 || (node.is("Concat") && node.inputs.size() != 2))
            return std::nullopt;
        const ValueId fresh = node.inputs[node.inputs[1] == past ? 0 : 1];
        if (rankOf(plan, fresh) != 4)
            return std::nullopt;
        CacheLayout from = layout;
        if (const int64_t axis = layout.tokenAxis.value_or(2) + (layout.tokenAxis.value_or(2) < 0 ? 4 : 0); axis == 1)
            from.axes = { 0, 2, 1, 3 };
        else if (axis == 3)
            from.axes = { 0, 1, 3, 2 };
        else if (axis != 2)
            return std::nullopt;
        from.tokenAxis.reset();
        return KeyTrace(plan, fresh, from).find();
    }
    const bool onnx = node.is("Attention"),
               many = node.domain == kMicrosoftDomain && node.opType.ends_with("MultiHeadAttention");
    if ((!onnx && !many) || !node.hasInput(1) || (many && node.hasInput(node.opType.starts_with("Decoder") ? 10 : 3)))
        return std::nullopt; // a bias is added behind the rotation
    const int64_t heads = onnx ? a.integer("kv_num_heads", 1) : a.integer("num_heads", 1);
    const size_t rank = rankOf(plan, node.inputs[1]);
    if (rank != 3 && rank != 4)
        return std::nullopt;
    return KeyTrace(plan, node.inputs[1], rank == 3 ? rowsOf(heads, 0, heads) : CacheLayout()).find();
}

} // namespace qs
