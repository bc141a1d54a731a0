// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/decode/prompt_inputs.h"

#include "core/analysis/tasks/token_inputs.h"
#include "core/data/implied_inputs.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

Tensor integers(DType type, const Shape& shape, const std::vector<int64_t>& values)
{
    if (type == DType::Int64)
        return Tensor::of<int64_t>(shape, values);
    return Tensor::of<int32_t>(shape, { values.begin(), values.end() });
}

/// Of a table, or of several in one tensor.
struct Rows {
    explicit Rows(const Tensor& t)
        : all(toInts(t))
        , width(t.shape().back())
        , shape(t.shape())
    {
    }
    int64_t count() const { return static_cast<int64_t>(all.size()) / std::max<int64_t>(width, 1); }
    Shape withColumns(int64_t columns) const
    {
        Shape s = shape;
        s.back() = columns;
        return s;
    }
    std::vector<int64_t> all;
    int64_t width;
    Shape shape;
};

/// Columns begin … end of [rows, columns].
Tensor columns(const Tensor& t, int64_t begin, int64_t end)
{
    const Rows rows(t);
    std::vector<int64_t> part;
    for (int64_t row = 0; row < rows.count(); ++row)
        part.insert(part.end(), rows.all.begin() + row * rows.width + begin, rows.all.begin() + row * rows.width + end);
    return integers(t.dtype(), rows.withColumns(end - begin), part);
}

/// With one more column.
Tensor joined(const Tensor& t, const std::vector<int64_t>& column)
{
    const Rows rows(t);
    std::vector<int64_t> values;
    for (int64_t row = 0; row < rows.count(); ++row) {
        const auto begin = rows.all.begin() + row * rows.width;
        values.insert(values.end(), begin, begin + rows.width);
        values.push_back(column[size_t(row)]);
    }
    return integers(t.dtype(), rows.withColumns(rows.width + 1), values);
}

/// The input, where it is a table of at least so many columns; places may be several tables.
Tensor* tableOf(std::optional<size_t> at, std::vector<Tensor>& inputs, int64_t columns, size_t mostRank = 2)
{
    Tensor* const t = at ? &inputs[*at] : nullptr;
    const bool table = t && t->valid() && t->rank() >= 2 && t->rank() <= mostRank;
    return table && t->shape().back() >= columns ? t : nullptr;
}

constexpr size_t kPlacesRank = 3;

} // namespace

std::optional<PromptInputs> promptInputs(const Plan& plan, ValueId scores)
{
    const auto tokens = tokenInputs(plan, scores);
    if (!tokens)
        return std::nullopt;
    PromptInputs found { tokens->ids, tokens->mask, {} };
    const Graph& graph = plan.graph();
    for (size_t i = 0; i < graph.inputs().size() && !found.places; ++i) {
        const Value& input = graph.value(graph.inputs()[i]);
        if (i != found.ids && i != found.mask
            && impliedBy({ input.name, input.type.dtype, input.type.dims }) == Implied::Positions)
            found.places = i;
    }
    return found;
}

std::vector<int64_t> promptLengths(const PromptInputs& at, const std::vector<Tensor>& inputs)
{
    const Tensor& ids = inputs[at.ids];
    std::vector<int64_t> found(size_t(ids.dim(0)), ids.dim(1));
    const Tensor mask = at.mask ? inputs[*at.mask] : Tensor();
    if (!mask.valid() || mask.rank() != 2 || mask.dim(0) != ids.dim(0) || mask.dim(1) < ids.dim(1))
        return found;
    const std::vector<int64_t> all = toInts(mask);
    for (int64_t row = 0; row < ids.dim(0); ++row) {
        const auto end = all.begin() + (row + 1) * mask.dim(1), begin = end - ids.dim(1);
        found[size_t(row)] = std::find(begin, end, 0) - begin;
    }
    return found;
}

std::vector<Tensor> firstTokens(const PromptInputs& at, std::vector<Tensor> inputs, int64_t tokens)
{
    const int64_t given = inputs[at.ids].dim(1);
    inputs[at.ids] = columns(inputs[at.ids], 0, tokens);
    if (Tensor* mask = tableOf(at.mask, inputs, given))
        *mask = columns(*mask, 0, mask->dim(1) - given + tokens);
    if (Tensor* places = tableOf(at.places, inputs, given, kPlacesRank))
        *places = columns(*places, 0, tokens);
    return inputs;
}

std::vector<Tensor> lastTokens(const PromptInputs& at, std::vector<Tensor> inputs, int64_t behind)
{
    const int64_t given = inputs[at.ids].dim(1);
    inputs[at.ids] = columns(inputs[at.ids], behind, given);
    if (Tensor* places = tableOf(at.places, inputs, given, kPlacesRank))
        *places = columns(*places, behind, given);
    return inputs;
}

std::vector<Tensor> tokensBetween(const PromptInputs& at, std::vector<Tensor> inputs, int64_t begin, int64_t end)
{
    const int64_t given = inputs[at.ids].dim(1);
    inputs[at.ids] = columns(inputs[at.ids], begin, end);
    if (Tensor* mask = tableOf(at.mask, inputs, given); mask && mask->dim(1) == given)
        *mask = columns(*mask, begin, end);
    if (Tensor* places = tableOf(at.places, inputs, given, kPlacesRank))
        *places = columns(*places, begin, end);
    return inputs;
}

void addTokens(const PromptInputs& at, std::vector<Tensor>& inputs, const std::vector<int64_t>& tokens, bool again)
{
    Tensor& ids = inputs[at.ids];
    ids = again ? joined(ids, tokens) : integers(ids.dtype(), { ids.dim(0), 1 }, tokens);
    if (Tensor* mask = tableOf(at.mask, inputs, 0))
        *mask = joined(*mask, std::vector<int64_t>(size_t(mask->dim(0)), 1));
    Tensor* const places = tableOf(at.places, inputs, 1, kPlacesRank);
    if (!places)
        return;
    const int64_t width = places->shape().back();
    const Tensor last = columns(*places, width - 1, width);
    std::vector<int64_t> next = toInts(last);
    for (int64_t& place : next)
        ++place;
    *places = again ? joined(*places, next) : integers(places->dtype(), last.shape(), next);
}

} // namespace qs
