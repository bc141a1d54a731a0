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

/// Columns begin … end of [rows, columns].
Tensor columns(const Tensor& t, int64_t begin, int64_t end)
{
    const std::vector<int64_t> all = toInts(t);
    std::vector<int64_t> part;
    for (int64_t row = 0; row < t.dim(0); ++row)
        part.insert(part.end(), all.begin() + row * t.dim(1) + begin, all.begin() + row * t.dim(1) + end);
    return integers(t.dtype(), { t.dim(0), end - begin }, part);
}

/// With one more column.
Tensor joined(const Tensor& t, const std::vector<int64_t>& column)
{
    const std::vector<int64_t> all = toInts(t);
    std::vector<int64_t> values;
    for (int64_t row = 0; row < t.dim(0); ++row) {
        values.insert(values.end(), all.begin() + row * t.dim(1), all.begin() + (row + 1) * t.dim(1));
        values.push_back(column[size_t(row)]);
    }
    return integers(t.dtype(), { t.dim(0), t.dim(1) + 1 }, values);
}

/// The input, where it is a table of at least so many columns.
Tensor* tableOf(std::optional<size_t> at, std::vector<Tensor>& inputs, int64_t columns)
{
    Tensor* const t = at ? &inputs[*at] : nullptr;
    return t && t->valid() && t->rank() == 2 && t->dim(1) >= columns ? t : nullptr;
}

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
    if (Tensor* places = tableOf(at.places, inputs, given))
        *places = columns(*places, 0, tokens);
    return inputs;
}

void addTokens(const PromptInputs& at, std::vector<Tensor>& inputs, const std::vector<int64_t>& tokens, bool again)
{
    Tensor& ids = inputs[at.ids];
    ids = again ? joined(ids, tokens) : integers(ids.dtype(), { ids.dim(0), 1 }, tokens);
    if (Tensor* mask = tableOf(at.mask, inputs, 0))
        *mask = joined(*mask, std::vector<int64_t>(size_t(mask->dim(0)), 1));
    Tensor* const places = tableOf(at.places, inputs, 1);
    if (!places)
        return;
    std::vector<int64_t> next = toInts(columns(*places, places->dim(1) - 1, places->dim(1)));
    for (int64_t& place : next)
        ++place;
    *places = again ? joined(*places, next) : integers(places->dtype(), { places->dim(0), 1 }, next);
}

} // namespace qs
