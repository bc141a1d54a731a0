// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/movement/indexed_copy.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace qs {

namespace {

/// Calls body(offset or -1, output index of the line) for each index of all axes but the last.
template <class Body> void forEachLine(const AxisOffsets& axes, Body body)
{
    const size_t outer = axes.size() - 1;
    for (const auto& a : axes)
        if (a.empty())
            return;
    std::vector<size_t> index(outer, 0);
    for (int64_t line = 0;; ++line) {
        int64_t offset = 0;
        for (size_t d = 0; d < outer && offset >= 0; ++d)
            offset = axes[d][index[d]] < 0 ? -1 : offset + axes[d][index[d]];
        body(offset, line);
        size_t d = outer;
        while (d-- > 0) {
            if (++index[d] < axes[d].size())
                break;
            index[d] = 0;
        }
        if (d == SIZE_MAX)
            return;
    }
}

/// Stretches of the innermost axis: consecutive source elements, or "outside".
struct OffsetRun {
    int64_t from;
    size_t start, length;
};

std::vector<OffsetRun> runsOf(const std::vector<int64_t>& offsets)
{
    std::vector<OffsetRun> runs;
    for (size_t i = 0; i < offsets.size(); ++i) {
        const bool outside = offsets[i] < 0;
        if (!runs.empty()) {
            OffsetRun& r = runs.back();
            const bool follows
                = outside ? r.from < 0 : r.from >= 0 && offsets[i] == r.from + static_cast<int64_t>(r.length);
            if (follows) {
                ++r.length;
                continue;
            }
        }
        runs.push_back({ outside ? -1 : offsets[i], i, 1 });
    }
    return runs;
}

template <class T> void fillElements(std::byte* target, const std::byte* value, size_t n)
{
    T v;
    std::memcpy(&v, value, sizeof(T));
    for (size_t i = 0; i < n; ++i)
        std::memcpy(target + i * sizeof(T), &v, sizeof(T));
}

void fillAny(std::byte* target, const std::byte* value, size_t bytes, size_t n)
{
    switch (bytes) {
    case 1:
        std::memset(target, std::to_integer<int>(*value), n);
        return;
    case 2:
        return fillElements<uint16_t>(target, value, n);
    case 4:
        return fillElements<uint32_t>(target, value, n);
    case 8:
        return fillElements<uint64_t>(target, value, n);
    default:
        for (size_t i = 0; i < n; ++i)
            std::memcpy(target + i * bytes, value, bytes);
    }
}

template <class T>
void pickLine(const std::byte* source, std::byte* target, const std::vector<int64_t>& offsets, T fill)
{
    const T* from = reinterpret_cast<const T*>(source);
    T* to = reinterpret_cast<T*>(target);
    for (size_t i = 0; i < offsets.size(); ++i)
        to[i] = offsets[i] < 0 ? fill : from[offsets[i]];
}

template <class T>
void pickAny(const std::byte* source, std::byte* target, const std::vector<int64_t>& offsets, const std::byte* fill)
{
    T v {};
    if (fill)
        std::memcpy(&v, fill, sizeof(T));
    pickLine<T>(source, target, offsets, v);
}

/// Elements of a size that has a type; pixels have any number of bytes. False: a size without one.
bool pickBySize(const std::byte* source, std::byte* target, size_t bytes, const std::vector<int64_t>& offsets,
    const std::byte* fill)
{
    switch (bytes) {
    case 1:
        pickAny<uint8_t>(source, target, offsets, fill);
        return true;
    case 2:
        pickAny<uint16_t>(source, target, offsets, fill);
        return true;
    case 3: // colours as codes
        pickAny<std::array<std::byte, 3>>(source, target, offsets, fill);
        return true;
    case 4:
        pickAny<uint32_t>(source, target, offsets, fill);
        return true;
    case 8:
        pickAny<uint64_t>(source, target, offsets, fill);
        return true;
    default:
        return false;
    }
}

void copyRuns(
    const std::byte* source, std::byte* target, size_t bytes, const std::vector<OffsetRun>& runs, const std::byte* fill)
{
    for (const OffsetRun& r : runs) {
        std::byte* to = target + r.start * bytes;
        if (r.from < 0)
            fillAny(to, fill, bytes, r.length);
        else
            std::memcpy(to, source + static_cast<size_t>(r.from) * bytes, r.length * bytes);
    }
}

template <class T> T reduced(T a, T b, ScatterReduction reduction)
{
    switch (reduction) {
    case ScatterReduction::Add:
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
        else
            return a + b;
    case ScatterReduction::Mul:
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
        else
            return a * b;
    case ScatterReduction::Min:
        return b < a || b != b ? b : a; // NaN once seen stays
    default:
        return b > a || b != b ? b : a;
    }
}

template <class T, class Load, class Store>
bool reduceBlocks(const std::byte* source, std::byte* target, size_t blockElements, std::span<const int64_t> blocks,
    ScatterReduction reduction, Load load, Store store)
{
    const T* from = reinterpret_cast<const T*>(source);
    T* to = reinterpret_cast<T*>(target);
    for (size_t i = 0; i < blocks.size(); ++i)
        for (size_t k = 0; k < blockElements; ++k) {
            T& cell = to[static_cast<size_t>(blocks[i]) * blockElements + k];
            cell = store(reduced(load(cell), load(from[i * blockElements + k]), reduction));
        }
    return true;
}

} // namespace

void tableCopyReference(
    const std::byte* source, std::byte* target, size_t elementBytes, const AxisOffsets& axes, const std::byte* fill)
{
    if (axes.empty()) {
        std::memcpy(target, source, elementBytes);
        return;
    }
    const size_t width = axes.back().size();
    forEachLine(axes, [&](int64_t offset, int64_t line) {
        for (size_t i = 0; i < width; ++i) {
            const int64_t inner = axes.back()[i];
            const bool outside = offset < 0 || inner < 0;
            std::memcpy(target + (static_cast<size_t>(line) * width + i) * elementBytes,
                outside ? fill : source + static_cast<size_t>(offset + inner) * elementBytes, elementBytes);
        }
    });
}

void tableCopy(
    const std::byte* source, std::byte* target, size_t elementBytes, const AxisOffsets& axes, const std::byte* fill)
{
    if (axes.empty())
        return tableCopyReference(source, target, elementBytes, axes, fill);
    const std::vector<int64_t>& inner = axes.back();
    const std::vector<OffsetRun> runs = runsOf(inner);
    const bool inRuns = runs.size() * 4 <= inner.size();
    forEachLine(axes, [&](int64_t offset, int64_t line) {
        std::byte* out = target + static_cast<size_t>(line) * inner.size() * elementBytes;
        if (offset < 0)
            return fillAny(out, fill, elementBytes, inner.size());
        const std::byte* in = source + static_cast<size_t>(offset) * elementBytes;
        if (inRuns || !pickBySize(in, out, elementBytes, inner, fill))
            copyRuns(in, out, elementBytes, runs, fill);
    });
}

void gatherBlocks(const std::byte* source, std::byte* target, size_t blockBytes, std::span<const int64_t> blocks)
{
    const auto copyEach = [&](auto element) {
        using T = decltype(element);
        const T* from = reinterpret_cast<const T*>(source);
        T* to = reinterpret_cast<T*>(target);
        for (size_t i = 0; i < blocks.size(); ++i)
            to[i] = from[blocks[i]];
    };
    switch (blockBytes) {
    case 1:
        return copyEach(uint8_t {});
    case 2:
        return copyEach(uint16_t {});
    case 4:
        return copyEach(uint32_t {});
    case 8:
        return copyEach(uint64_t {});
    default:
        for (size_t i = 0; i < blocks.size(); ++i)
            std::memcpy(target + i * blockBytes, source + static_cast<size_t>(blocks[i]) * blockBytes, blockBytes);
    }
}

void scatterBlocks(const std::byte* source, std::byte* target, size_t blockBytes, std::span<const int64_t> blocks)
{
    for (size_t i = 0; i < blocks.size(); ++i)
        std::memcpy(target + static_cast<size_t>(blocks[i]) * blockBytes, source + i * blockBytes, blockBytes);
}

bool scatterReduce(DType type, const std::byte* source, std::byte* target, size_t blockElements,
    std::span<const int64_t> blocks, ScatterReduction reduction)
{
    const auto run = [&](auto element) {
        using T = decltype(element);
        const auto same = [](T v) { return v; };
        return reduceBlocks<T>(source, target, blockElements, blocks, reduction, same, same);
    };
    switch (type) {
    case DType::Float32:
        return run(float {});
    case DType::Float64:
        return run(double {});
    case DType::Bool:
    case DType::UInt8:
        return run(uint8_t {});
    case DType::Int8:
        return run(int8_t {});
    case DType::UInt16:
        return run(uint16_t {});
    case DType::Int16:
        return run(int16_t {});
    case DType::UInt32:
        return run(uint32_t {});
    case DType::Int32:
        return run(int32_t {});
    case DType::UInt64:
        return run(uint64_t {});
    case DType::Int64:
        return run(int64_t {});
    case DType::Float16:
        return reduceBlocks<uint16_t>(source, target, blockElements, blocks, reduction, float16ToFloat, floatToFloat16);
    case DType::BFloat16:
        return reduceBlocks<uint16_t>(
            source, target, blockElements, blocks, reduction, bfloat16ToFloat, floatToBFloat16);
    default:
        return false;
    }
}

} // namespace qs
