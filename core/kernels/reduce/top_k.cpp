// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/reduce/top_k.h"

#include "core/kernels/movement/element_io.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace qs {

namespace {

template <class W> bool less(W a, W b)
{
    if constexpr (std::is_floating_point_v<W>)
        if (std::isnan(a) || std::isnan(b))
            return !std::isnan(a) && std::isnan(b);
    return a < b;
}

template <class W> void sortLines(DType type, const std::byte* data, const TopK& top, int64_t* indices)
{
    const auto size = static_cast<size_t>(top.size), inner = static_cast<size_t>(top.inner);
    std::vector<W> slab(size * inner);
    std::vector<int64_t> order(size);
    for (int64_t o = 0; o < top.outer; ++o) {
        loadElements(type, data, static_cast<size_t>(o) * slab.size(), slab.data(), slab.size());
        for (size_t i = 0; i < inner; ++i) {
            std::iota(order.begin(), order.end(), int64_t(0));
            std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
                const W va = slab[static_cast<size_t>(a) * inner + i], vb = slab[static_cast<size_t>(b) * inner + i];
                return top.largest ? less(vb, va) : less(va, vb);
            });
            for (int64_t k = 0; k < top.k; ++k)
                indices[(o * top.k + k) * top.inner + static_cast<int64_t>(i)] = order[static_cast<size_t>(k)];
        }
    }
}

/// Integers in the order of the numbers.
int32_t orderKey(float v)
{
    if (std::isnan(v))
        return std::numeric_limits<int32_t>::max();
    const auto bits = std::bit_cast<int32_t>(v + 0.0f); // one zero
    return bits ^ (bits >> 31 & std::numeric_limits<int32_t>::max());
}
int64_t orderKey(double v)
{
    if (std::isnan(v))
        return std::numeric_limits<int64_t>::max();
    const auto bits = std::bit_cast<int64_t>(v + 0.0);
    return bits ^ (bits >> 63 & std::numeric_limits<int64_t>::max());
}
int64_t orderKey(int64_t v) { return v; }
int64_t orderKey(uint64_t v) { return static_cast<int64_t>(v ^ (uint64_t(1) << 63)); }

/// The best elements seen so far, in a heap with the worst of them on top.
template <class Key> class BestKeys {
public:
    explicit BestKeys(size_t k)
        : m_most(k)
    {
        m_heap.reserve(k);
    }
    /// Keys of ascending places: of equal ones the first stays.
    void add(const Key* keys, size_t count, int64_t firstPlace)
    {
        constexpr size_t kBlock = 32;
        for (size_t i = 0; i < count; i += kBlock) {
            const size_t n = std::min(kBlock, count - i);
            Key best = keys[i];
            for (size_t j = 1; j < n; ++j)
                best = std::max(best, keys[i + j]);
            if (m_heap.size() == m_most && best <= m_heap.front().key)
                continue;
            for (size_t j = 0; j < n; ++j)
                addOne({ keys[i + j], firstPlace + static_cast<int64_t>(i + j) });
        }
    }
    template <class Fn> void take(Fn fn)
    {
        std::sort_heap(m_heap.begin(), m_heap.end(), better);
        for (size_t i = 0; i < m_heap.size(); ++i)
            fn(i, m_heap[i].place);
        m_heap.clear();
    }

private:
    struct Entry {
        Key key;
        int64_t place;
    };
    static bool better(const Entry& a, const Entry& b) { return a.key != b.key ? a.key > b.key : a.place < b.place; }
    void addOne(const Entry& e)
    {
        if (m_heap.size() < m_most) {
            m_heap.push_back(e);
            std::push_heap(m_heap.begin(), m_heap.end(), better);
        } else if (e.key > m_heap.front().key) {
            std::pop_heap(m_heap.begin(), m_heap.end(), better);
            m_heap.back() = e;
            std::push_heap(m_heap.begin(), m_heap.end(), better);
        }
    }
    size_t m_most;
    std::vector<Entry> m_heap;
};

template <class W> void selectLines(DType type, const std::byte* data, const TopK& top, int64_t* indices)
{
    using Key = decltype(orderKey(W {}));
    constexpr size_t kChunk = 1024;
    const auto size = static_cast<size_t>(top.size), inner = static_cast<size_t>(top.inner);
    const Key flip = top.largest ? Key(0) : Key(-1);
    std::vector<W> chunk(std::min(size, kChunk) * inner);
    std::vector<Key> keys(std::min(size, kChunk));
    std::vector<BestKeys<Key>> lines(inner, BestKeys<Key>(static_cast<size_t>(top.k)));
    for (int64_t o = 0; o < top.outer; ++o) {
        for (size_t p = 0; p < size; p += kChunk) {
            const size_t n = std::min(kChunk, size - p);
            loadElements(type, data, (static_cast<size_t>(o) * size + p) * inner, chunk.data(), n * inner);
            for (size_t i = 0; i < inner; ++i) {
                for (size_t j = 0; j < n; ++j)
                    keys[j] = orderKey(chunk[j * inner + i]) ^ flip;
                lines[i].add(keys.data(), n, static_cast<int64_t>(p));
            }
        }
        for (size_t i = 0; i < inner; ++i)
            lines[i].take(
                [&](size_t k, int64_t place) { indices[(static_cast<size_t>(o * top.k) + k) * inner + i] = place; });
    }
}

} // namespace

bool topKIndices(DType type, const std::byte* data, const TopK& top, int64_t* indices)
{
    if (top.k == 0)
        return isFloat(type) || isInteger(type) || type == DType::Bool;
    if (type == DType::Float64)
        selectLines<double>(type, data, top, indices);
    else if (isFloat(type))
        selectLines<float>(type, data, top, indices);
    else if (type == DType::UInt64)
        selectLines<uint64_t>(type, data, top, indices);
    else if (isInteger(type) || type == DType::Bool)
        selectLines<int64_t>(type, data, top, indices);
    else
        return false;
    return true;
}

bool topKIndicesReference(DType type, const std::byte* data, const TopK& top, int64_t* indices)
{
    if (isFloat(type))
        sortLines<double>(type, data, top, indices);
    else if (type == DType::UInt64)
        sortLines<uint64_t>(type, data, top, indices);
    else if (isInteger(type) || type == DType::Bool)
        sortLines<int64_t>(type, data, top, indices);
    else
        return false;
    return true;
}

} // namespace qs
