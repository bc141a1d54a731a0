// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/values/row_of_value.h"

#include "core/qdq/same_params.h"

#include <algorithm>

namespace qs {

namespace {

std::optional<size_t> firstRow(const Comparison& comparison, Side side, ValueId value)
{
    const auto& rows = comparison.activations;
    const auto found
        = std::ranges::find(rows, value, side == Side::Float ? &ActivationRow::floatValue : &ActivationRow::quantValue);
    return found == rows.end() ? std::nullopt : std::optional(size_t(found - rows.begin()));
}

/// The row of a pair that quantizes the same value in the same way.
std::optional<size_t> rowOfEqualPair(const Snapshot& snapshot, ValueId value)
{
    const auto& model = snapshot.quantModel;
    const auto own = model && model->quant ? model->quant->ofValue(value) : std::nullopt;
    if (!own)
        return std::nullopt;
    const auto& all = model->quant->quantizers();
    const auto& rows = snapshot.comparison->activations;
    const auto found = std::ranges::find_if(rows, [&](const ActivationRow& row) {
        return row.quantizer && *row.quantizer < all.size() && all[*row.quantizer].real.valid()
            && all[*row.quantizer].real == all[*own].real && sameParams(all[*row.quantizer].params, all[*own].params);
    });
    return found == rows.end() ? std::nullopt : std::optional(size_t(found - rows.begin()));
}

} // namespace

size_t worseOfPairs(const Comparison& comparison, size_t first, size_t second, Metric metric)
{
    const ActivationRow &a = comparison.activations[first], &b = comparison.activations[second];
    const bool pairs = a.siblings > 0 && b.siblings > 0 && a.floatValue == b.floatValue;
    return pairs && worstFirstKey(metric, b) < worstFirstKey(metric, a) ? second : first;
}

std::optional<size_t> rowOfValue(const Snapshot& snapshot, Side side, ValueId value, Metric metric)
{
    if (!snapshot.comparison || !value.valid())
        return std::nullopt;
    auto row = firstRow(*snapshot.comparison, side, value);
    if (side == Side::Quantized)
        return row ? row : rowOfEqualPair(snapshot, value);
    for (size_t i = row.value_or(0); row && i < snapshot.comparison->activations.size(); ++i)
        row = worseOfPairs(*snapshot.comparison, *row, i, metric);
    return row;
}

std::optional<size_t> rowOfRead(const Snapshot& snapshot, ValueId value, const std::vector<NodeId>& readers)
{
    if (!snapshot.comparison || !value.valid())
        return std::nullopt;
    const auto& rows = snapshot.comparison->activations;
    const auto found = std::ranges::find_if(rows, [&](const ActivationRow& row) {
        return row.floatValue == value && std::ranges::find_first_of(row.readers, readers) != row.readers.end();
    });
    return found == rows.end() ? rowOfValue(snapshot, Side::Float, value) : std::optional(size_t(found - rows.begin()));
}

} // namespace qs
