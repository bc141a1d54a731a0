// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/other_rows.h"

#include <map>
#include <string>
#include <utility>

namespace qs {

namespace {

const Similarity& comparedAs(const ActivationRow& row) { return row.accumulated; }
template <class Row> const Similarity& comparedAs(const Row& row) { return row.similarity; }

/// A weight may be quantized once for each node that reads it.
std::pair<std::string, std::string> keyOf(const WeightRow& row) { return { row.name, row.node }; }
template <class Row> std::pair<std::string, std::string> keyOf(const Row& row) { return { row.name, {} }; }

template <class Row> void number(std::vector<Row>& rows, const std::vector<Row>& others)
{
    std::map<std::pair<std::string, std::string>, size_t> places;
    for (size_t i = 0; i < others.size(); ++i)
        places.try_emplace(keyOf(others[i]), i);
    for (Row& row : rows) {
        const auto found = places.find(keyOf(row));
        if (found == places.end())
            continue;
        const Similarity& similarity = comparedAs(others[found->second]);
        row.other = OtherNumbers { found->second, similarity.sqnrDb, similarity.exact };
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
