// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/implied_inputs.h"

#include "core/base/text/lower_case.h"

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <map>
#include <string>
#include <unordered_map>

namespace qs {

namespace {

bool hasAny(const std::string& name, std::initializer_list<std::string_view> parts)
{
    return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

bool integersByPosition(const InputSpec& input)
{
    return input.dims && input.dims->size() == 2 && (input.dtype == DType::Int64 || input.dtype == DType::Int32);
}

/// Places by time, height and width, each [batch, positions]: of texts the same.
bool placesOfPictures(const InputSpec& input)
{
    return input.dims && input.dims->size() == 3 && (*input.dims)[0].known()
        && (input.dtype == DType::Int64 || input.dtype == DType::Int32);
}

template <class T> Tensor filled(const Shape& shape, Implied implied)
{
    Tensor tensor = Tensor::allocate(dtypeOf<T>(), shape);
    auto values = tensor.fill<T>();
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = implied == Implied::Positions ? T(int64_t(i) % shape.back()) : T(implied == Implied::Mask);
    return tensor;
}

/// The batch of the tokens, no positions, and whatever else is fixed: nothing is held, so no other size matters.
Shape emptyCache(const Dims& dims, int64_t batch)
{
    Shape shape;
    bool emptied = false;
    for (size_t i = 0; i < dims.size(); ++i) {
        const bool positions = i > 0 && !dims[i].known() && !emptied;
        shape.push_back(dims[i].known() ? dims[i].value : i == 0 ? batch : positions ? 0 : 1);
        emptied |= positions;
    }
    return shape;
}

} // namespace

bool holdsTokens(const InputSpec& input)
{
    return integersByPosition(input)
        && !hasAny(lowerCase(input.name),
            { "mask", "position", "type", "segment", "length", "past", "cache", "seqlens", "labels" });
}

std::optional<Implied> impliedBy(const InputSpec& input)
{
    const std::string name = lowerCase(input.name);
    if (integersByPosition(input)) {
        if (hasAny(name, { "mask" }))
            return Implied::Mask;
        if (hasAny(name, { "position" }))
            return Implied::Positions;
        const bool segments = hasAny(name, { "token_type", "type_ids", "segment_id" }) || name == "segments";
        return segments ? std::optional(Implied::Segments) : std::nullopt;
    }
    if (placesOfPictures(input) && hasAny(name, { "position" }))
        return Implied::Positions;
    // What a convolution or a linear attention remembers, of which there is always as much.
    const bool stays = input.dims && input.dims->size() >= 3 && isFloat(input.dtype)
        && std::all_of(input.dims->begin() + 1, input.dims->end(), [](const Dim& d) { return d.known(); })
        && hasAny(name, { "past" }) && hasAny(name, { "conv", "recurrent" });
    const bool grows = input.dims && input.dims->size() >= 3
        && std::any_of(input.dims->begin() + 1, input.dims->end(), [](const Dim& d) { return !d.known(); });
    return stays || (grows && hasAny(name, { "past", "cache" })) ? std::optional(Implied::EmptyCache) : std::nullopt;
}

std::string_view impliedText(Implied implied)
{
    switch (implied) {
    case Implied::Mask:
        return "ones";
    case Implied::Positions:
        return "counting from 0";
    case Implied::Segments:
        return "zeros";
    case Implied::EmptyCache:
        break;
    }
    return "an empty past";
}

Tensor impliedTensor(const InputSpec& input, Implied implied, const Shape& tokens)
{
    if (implied == Implied::EmptyCache) {
        Tensor cache = Tensor::allocate(input.dtype, emptyCache(*input.dims, tokens[0]));
        std::ranges::fill(std::span(cache.fill<uint8_t>().data(), cache.byteCount()), uint8_t(0));
        return cache;
    }
    Shape shape = tokens;
    if (implied == Implied::Positions && placesOfPictures(input))
        shape.insert(shape.begin(), (*input.dims)[0].value);
    return input.dtype == DType::Int32 ? filled<int32_t>(shape, implied) : filled<int64_t>(shape, implied);
}

std::vector<size_t> placesOf(const std::vector<InputSpec>& taken, const std::vector<InputSpec>& given)
{
    using Kind = std::optional<Implied>;
    std::vector<size_t> places(taken.size(), given.size());
    std::unordered_map<std::string_view, size_t> named;
    for (size_t j = 0; j < given.size(); ++j)
        named.emplace(given[j].name, j);
    std::vector<bool> used(given.size(), false);
    for (size_t i = 0; i < taken.size(); ++i)
        if (const auto it = named.find(taken[i].name); it != named.end() && !used[it->second]) {
            places[i] = it->second;
            used[it->second] = true;
        }
    std::map<Kind, std::deque<size_t>> left; // in order
    for (size_t j = 0; j < given.size(); ++j)
        if (!used[j])
            left[impliedBy(given[j])].push_back(j);
    const auto fill = [&](size_t i, Kind kind) {
        if (auto& list = left[kind]; places[i] == given.size() && !list.empty()) {
            places[i] = list.front();
            list.pop_front();
        }
    };
    for (size_t i = 0; i < taken.size(); ++i)
        fill(i, impliedBy(taken[i]));
    if (taken.size() != given.size())
        return places;
    for (size_t i = 0; i < taken.size(); ++i)
        if (impliedBy(taken[i]))
            fill(i, std::nullopt);
        else
            for (const Kind kind : kAllImplied)
                fill(i, kind);
    return places;
}

} // namespace qs
