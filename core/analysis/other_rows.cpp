// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/other_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace qs {

namespace {

const Similarity& comparedAs(const ActivationRow& row) { return row.accumulated; }
template <class Row> const Similarity& comparedAs(const Row& row) { return row.similarity; }

/// A weight may be quantized once for each node that reads it.
std::pair<std::string, std::string> keyOf(const WeightRow& row) { return { row.name, row.node }; }
template <class Row> std::pair<std::string, std::string> keyOf(const Row& row) { return { row.name, {} }; }

/// Of several rows of one float value that which the same node reads.
std::optional<size_t> readAlike(const std::vector<ActivationRow>& others, const ActivationRow& row)
{
    for (size_t i = 0; i < others.size() && !row.readers.empty(); ++i)
        if (others[i].name == row.name
            && std::ranges::find(others[i].readers, row.readers.front()) != others[i].readers.end())
            return i;
    return std::nullopt;
}
template <class Row> std::optional<size_t> readAlike(const std::vector<Row>&, const Row&) { return std::nullopt; }

template <class Row> void number(std::vector<Row>& rows, const std::vector<Row>& others)
{
    std::map<std::pair<std::string, std::string>, size_t> places;
    for (size_t i = 0; i < others.size(); ++i)
        places.try_emplace(keyOf(others[i]), i);
    for (Row& row : rows) {
        const auto found = places.find(keyOf(row));
        if (found == places.end())
            continue;
        const size_t place = readAlike(others, row).value_or(found->second);
        const Similarity& similarity = comparedAs(others[place]);
        row.other = OtherNumbers { place, similarity.sqnrDb, similarity.exact };
    }
}

template <class Row> void forget(std::vector<Row>& rows)
{
    for (Row& row : rows)
        row.other.reset();
}

} // namespace

void numberOthers(Comparison& a, const Comparison& b)
{
    number(a.activations, b.activations);
    number(a.weights, b.weights);
    number(a.outputs, b.outputs);
}

void forgetOthers(Comparison& a)
{
    forget(a.activations);
    forget(a.weights);
    forget(a.outputs);
}

} // namespace qs
