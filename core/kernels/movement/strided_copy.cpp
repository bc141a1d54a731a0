// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/movement/strided_copy.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace qs {

namespace {

constexpr int64_t kTransposeTile = 32;

struct TwoWords {
    uint64_t words[2];
};

/// Whether withElement() has a type of this size.
bool hasElement(size_t bytes) { return std::has_single_bit(bytes) && bytes <= sizeof(TwoWords); }

/// Without axes of size 1, and with neighbouring axes merged where both sides walk them as one.
StridedCopy simplified(const StridedCopy& c)
{
    StridedCopy out;
    for (size_t i = 0; i < c.shape.size(); ++i) {
        if (c.shape[i] == 1)
            continue;
        if (!out.shape.empty() && out.from.back() == c.from[i] * c.shape[i] && out.to.back() == c.to[i] * c.shape[i]) {
            out.shape.back() *= c.shape[i];
            out.from.back() = c.from[i];
            out.to.back() = c.to[i];
            continue;
        }
        out.shape.push_back(c.shape[i]);
        out.from.push_back(c.from[i]);
        out.to.push_back(c.to[i]);
    }
    return out;
}

/// Calls body(source offset, target offset) for every index of the first `axes` axes.
template <class Body> void walk(const StridedCopy& c, size_t axes, Body body)
{
    std::vector<int64_t> index(axes, 0);
    int64_t from = 0, to = 0;
    while (true) {
        body(from, to);
        size_t d = axes;
        while (d-- > 0) {
            from += c.from[d];
            to += c.to[d];
            if (++index[d] < c.shape[d])
                break;
            from -= c.from[d] * c.shape[d];
            to -= c.to[d] * c.shape[d];
            index[d] = 0;
        }
        if (d == SIZE_MAX)
            return;
    }
}

template <class T> void copyLine(const T* source, T* target, int64_t n, int64_t from, int64_t to)
{
    if (from == 1 && to == 1)
        std::memcpy(target, source, static_cast<size_t>(n) * sizeof(T));
    else if (from == 0 && to == 1)
        std::fill(target, target + n, *source);
    else if (to == 1)
        for (int64_t i = 0; i < n; ++i)
            target[i] = source[i * from];
    else
        for (int64_t i = 0; i < n; ++i)
            target[i * to] = source[i * from];
}

/// Two axes of which one side walks the first contiguously, the other side the second.
template <class T>
void copyTiles(const T* source, T* target, const int64_t (&n)[2], const int64_t (&from)[2], const int64_t (&to)[2])
{
    for (int64_t i0 = 0; i0 < n[0]; i0 += kTransposeTile)
        for (int64_t j0 = 0; j0 < n[1]; j0 += kTransposeTile) {
            const int64_t i1 = std::min(n[0], i0 + kTransposeTile), j1 = std::min(n[1], j0 + kTransposeTile);
            for (int64_t i = i0; i < i1; ++i)
                for (int64_t j = j0; j < j1; ++j)
                    target[i * to[0] + j * to[1]] = source[i * from[0] + j * from[1]];
        }
}

template <class T> void copyTyped(const T* source, T* target, StridedCopy c)
{
    if (c.shape.empty()) {
        *target = *source;
        return;
    }
    const size_t last = c.shape.size() - 1;
    const auto contiguous = static_cast<size_t>(std::find(c.from.begin(), c.from.end(), 1) - c.from.begin());
    if (c.to[last] == 1 && c.from[last] != 1 && contiguous < last && c.shape[last] >= 4 && c.shape[contiguous] >= 4) {
        const int64_t n[2] = { c.shape[contiguous], c.shape[last] };
        const int64_t from[2] = { 1, c.from[last] }, to[2] = { c.to[contiguous], 1 };
        for (auto* list : { &c.shape, &c.from, &c.to }) {
            list->pop_back();
            list->erase(list->begin() + static_cast<std::ptrdiff_t>(contiguous));
        }
        walk(c, c.shape.size(), [&](int64_t a, int64_t b) { copyTiles(source + a, target + b, n, from, to); });
        return;
    }
    walk(c, last,
        [&](int64_t a, int64_t b) { copyLine(source + a, target + b, c.shape[last], c.from[last], c.to[last]); });
}

template <class Fn> void withElement(size_t bytes, Fn fn)
{
    switch (bytes) {
    case 1:
        return fn(uint8_t {});
    case 2:
        return fn(uint16_t {});
    case 4:
        return fn(uint32_t {});
    case 8:
        return fn(uint64_t {});
    default:
        return fn(TwoWords {});
    }
}

bool isEmpty(const StridedCopy& c) { return std::find(c.shape.begin(), c.shape.end(), 0) != c.shape.end(); }

} // namespace

void stridedCopyReference(const std::byte* source, std::byte* target, size_t elementBytes, const StridedCopy& copy)
{
    if (isEmpty(copy))
        return;
    const auto bytes = static_cast<int64_t>(elementBytes);
    walk(copy, copy.shape.size(),
        [&](int64_t from, int64_t to) { std::memcpy(target + to * bytes, source + from * bytes, elementBytes); });
}

void stridedCopy(const std::byte* source, std::byte* target, size_t elementBytes, const StridedCopy& copy)
{
    if (isEmpty(copy))
        return;
    if (!hasElement(elementBytes))
        return stridedCopyReference(source, target, elementBytes, copy);
    withElement(elementBytes, [&](auto element) {
        using T = decltype(element);
        copyTyped(reinterpret_cast<const T*>(source), reinterpret_cast<T*>(target), simplified(copy));
    });
}

} // namespace qs
