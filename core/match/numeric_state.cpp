// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/numeric_state.h"

#include "core/base/files/byte_stream.h"
#include "core/match/value_pairs.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kLinkBytes = 3 * sizeof(uint64_t) + 1;

} // namespace

void sortPairs(const Graph& floatGraph, std::vector<ValuePair>& pairs)
{
    std::ranges::stable_sort(pairs, {}, [&](const ValuePair& pair) { return placeOf(floatGraph, pair); });
}

std::string numericPairsBytes(const Alignment& alignment)
{
    ByteWriter out;
    std::vector<const ValuePair*> pairs;
    for (const ValuePair& p : alignment.values)
        if (p.method == MatchMethod::Numeric)
            pairs.push_back(&p);
    if (pairs.empty() && alignment.links.empty())
        return {};
    out.number<uint64_t>(pairs.size());
    for (const ValuePair* p : pairs) {
        out.number<uint64_t>(p->floatValue.index());
        out.number<uint64_t>(p->quantValue.index());
        out.number<uint64_t>(p->quantizer ? *p->quantizer + 1 : 0);
        out.number(p->confidence);
    }
    out.number<uint64_t>(alignment.links.size());
    for (const NumericLink& l : alignment.links) {
        out.number<uint64_t>(l.floatValue.index());
        out.number<uint64_t>(l.quantValue.index());
        out.number(l.confidence);
        out.number<uint8_t>(l.permuted);
    }
    // Both lists as they are now: what a pair takes from them cannot be told from the pair.
    for (const auto* list : { &alignment.unmatchedFloat, &alignment.unmatchedQuant }) {
        out.number<uint64_t>(list->size());
        for (const ValueId id : *list)
            out.number<uint64_t>(id.index());
    }
    return out.bytes();
}

bool addNumericPairs(std::string_view bytes, const Graph& floatGraph, const Graph& quantGraph, Alignment& alignment)
{
    if (bytes.empty())
        return true;
    ByteReader in(bytes);
    const auto id = [&](const Graph& graph) {
        const auto index = in.number<uint64_t>();
        if (index >= graph.values().size())
            in.fail();
        return ValueId(in.ok() ? size_t(index) : 0);
    };
    for (size_t i = in.count(4 * sizeof(uint64_t)); i > 0 && in.ok(); --i) {
        ValuePair p { id(floatGraph), id(quantGraph), MatchMethod::Numeric, 0, std::nullopt, NodeId() };
        if (const auto quantizer = in.number<uint64_t>())
            p.quantizer = uint32_t(quantizer - 1);
        p.confidence = in.number<double>();
        alignment.values.push_back(p);
    }
    for (size_t i = in.count(kLinkBytes); i > 0 && in.ok(); --i) {
        NumericLink l { id(floatGraph), id(quantGraph), 0, false };
        l.confidence = in.number<double>();
        l.permuted = in.number<uint8_t>() != 0;
        alignment.links.push_back(l);
    }
    for (auto [list, graph] :
        { std::pair(&alignment.unmatchedFloat, &floatGraph), std::pair(&alignment.unmatchedQuant, &quantGraph) }) {
        list->clear();
        for (size_t i = in.count(sizeof(uint64_t)); i > 0 && in.ok(); --i)
            list->push_back(id(*graph));
    }
    sortPairs(floatGraph, alignment.values);
    return in.ok() && in.atEnd();
}

} // namespace qs
