// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/caches/cache_places.h"

#include "core/analysis/caches/rotary_source.h"
#include "core/base/text/name_words.h"
#include "core/graph/domains.h"
#include "core/prepare/readable_caches.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace qs {

std::string_view cacheKindName(CacheKind kind)
{
    switch (kind) {
    case CacheKind::Key:
        return "key";
    case CacheKind::Value:
        return "value";
    case CacheKind::KeyBeforeRotary:
        break;
    }
    return "key_before_rotary";
}

namespace {

/// Without "past_key_values" and "present_key_values", which name the whole list.
std::vector<std::string> cacheWords(const std::string& name)
{
    std::vector<std::string> words = nameWords(name);
    for (size_t i = 0; i + 2 < words.size(); ++i)
        if ((words[i] == "past" || words[i] == "present") && words[i + 1] == "key" && words[i + 2] == "values")
            words.erase(words.begin() + ptrdiff_t(i), words.begin() + ptrdiff_t(i) + 3);
    return words;
}

std::optional<CacheKind> kindByName(const std::vector<std::string>& words)
{
    const auto has = [&](std::initializer_list<std::string_view> any) {
        return std::ranges::any_of(words, [&](const auto& word) { return std::ranges::find(any, word) != any.end(); });
    };
    const bool key = has({ "key", "keys", "k" }), value = has({ "value", "values", "v" });
    return key == value ? std::nullopt : std::optional(key ? CacheKind::Key : CacheKind::Value);
}

std::optional<size_t> firstNumber(const std::vector<std::string>& words)
{
    for (const std::string& word : words) {
        size_t number = 0;
        const char* const end = word.data() + word.size();
        if (const auto [rest, error] = std::from_chars(word.data(), end, number); error == std::errc() && rest == end)
            return number;
    }
    return std::nullopt;
}

class PlaceFinder {
public:
    PlaceFinder(const Plan& plan, CachePlaces& found)
        : m_graph(plan.graph())
        , m_plan(plan)
        , m_found(found)
    {
    }

    void add(ValueId output, size_t past)
    {
        CachePlace place { 0, CacheKind::Key, m_graph.value(output).name, output, past, {}, {} };
        const std::vector<std::string> words = cacheWords(place.name);
        m_number = firstNumber(words);
        const Node* const node = makerOf(output);
        const size_t slot = node ? size_t(std::ranges::find(node->outputs, m_made) - node->outputs.begin()) : 0;
        if (node && remembersJoined(*node) && slot == 1)
            return addJoined(place);
        if (node && remembersApart(*node) && (slot == 1 || slot == 2)) {
            place.kind = slot == 1 ? CacheKind::Key : CacheKind::Value;
            return addApart(place, *node);
        }
        const size_t rank = rankOf(m_plan, output);
        if (rank == 5)
            return addJoined(place);
        const auto kind = kindByName(words);
        if (!kind)
            return leaveOut(place.name, "no attention operator makes it, and its name does not tell keys from values");
        if (rank != 3 && rank != 4)
            return leaveOut(place.name, "it has not 3 or 4 axes");
        place.kind = *kind;
        if (!node)
            return leaveOut(place.name, "it comes straight from an input");
        if (node->is("Concat"))
            place.layout.tokenAxis = node->attributes.integer("axis", 0);
        if (node->is("TensorScatter"))
            place.layout.tokenAxis = node->attributes.integer("axis", -2);
        addApart(place, *node);
    }

    /// Caches without a number in their name are counted by kind.
    size_t layerOf(CacheKind kind)
    {
        size_t& next = m_next[kind == CacheKind::Value ? 1 : 0];
        const size_t layer = m_number.value_or(next);
        next = layer + 1;
        return layer;
    }

private:
    static bool remembersJoined(const Node& node)
    {
        return node.is("Attention", kMicrosoftDomain) || node.is("QAttention", kMicrosoftDomain);
    }
    static bool remembersApart(const Node& node)
    {
        static constexpr std::array<std::string_view, 4> kOperators { "GroupQueryAttention", "SparseAttention",
            "MultiHeadAttention", "DecoderMaskedMultiHeadAttention" };
        return node.is("Attention")
            || (node.domain == kMicrosoftDomain && std::ranges::find(kOperators, node.opType) != kOperators.end());
    }

    /// The node whose output becomes the value, behind what only renames or casts it; null: none.
    const Node* makerOf(ValueId value)
    {
        m_made = value;
        while (m_graph.value(m_made).producer.valid()) {
            const Node& node = m_graph.node(m_graph.value(m_made).producer);
            if ((!node.is("Identity") && !node.is("Cast")) || !node.hasInput(0))
                return &node;
            m_made = node.inputs[0];
        }
        return nullptr;
    }

    void addJoined(CachePlace place)
    {
        place.layer = layerOf(CacheKind::Key);
        place.layout.form = CacheLayout::Form::Joined;
        for (const CacheKind kind : { CacheKind::Key, CacheKind::Value }) {
            place.kind = kind;
            place.layout.part = kind == CacheKind::Value;
            m_found.places.push_back(place);
        }
    }

    void addApart(CachePlace place, const Node& node)
    {
        place.layer = layerOf(place.kind);
        std::optional<RotarySource> source;
        if (place.kind == CacheKind::Key)
            source = rotarySource(m_plan, node, m_graph.inputs()[place.past], place.layout);
        if (source)
            place.rotary = source->pairs;
        m_found.places.push_back(place);
        if (!source)
            return;
        place.kind = CacheKind::KeyBeforeRotary;
        place.value = source->value;
        place.layout = source->layout;
        m_found.places.push_back(place);
    }

    void leaveOut(const std::string& name, const char* reason) { m_found.leftOut.push_back({ name, reason }); }

    const Graph& m_graph;
    const Plan& m_plan;
    CachePlaces& m_found;
    ValueId m_made; ///< what the node found last makes
    std::optional<size_t> m_number; ///< in the name of the cache at hand
    std::array<size_t, 2> m_next { 0, 0 }; ///< keys, values
};

} // namespace

Result<CachePlaces> cachePlaces(const Plan& plan, const std::vector<std::pair<ValueId, size_t>>& caches)
{
    if (hasCodedCaches(plan.graph()))
        return badInput("stores its keys and values as codes, which are rounded already", plan.model().path,
            "give the model whose caches are floats");
    CachePlaces found;
    PlaceFinder finder(plan, found);
    for (const auto& [output, input] : caches)
        finder.add(output, input);
    const auto order = [](const CachePlace& p) {
        constexpr std::array<int, 3> kOrder { 0, 2, 1 };
        return std::tuple(p.layer, kOrder[size_t(p.kind)]);
    };
    std::ranges::stable_sort(found.places, {}, order);
    return found;
}

} // namespace qs
