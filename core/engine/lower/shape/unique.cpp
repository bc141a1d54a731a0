// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/shape/parts.h"
#include "core/engine/registry/registry.h"

#include "core/kernels/movement/indexed_copy.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <numeric>

namespace qs {

namespace {

/// -1, 0 or 1; NaN equals NaN and comes last.
template <class T> int order(const T& a, const T& b)
{
    if (a != a || b != b)
        return int(a != a) - int(b != b);
    return a < b ? -1 : b < a ? 1 : 0;
}

/// Slices of `length` elements each, in order.
template <class T> struct Slices {
    std::span<const T> values;
    size_t length;

    int compare(int64_t a, int64_t b) const
    {
        for (size_t i = 0; i < length; ++i)
            if (const int o = order(values[size_t(a) * length + i], values[size_t(b) * length + i]); o != 0)
                return o;
        return 0;
    }
};

struct UniqueSlices {
    std::vector<int64_t> first, count; ///< one a different slice: where it occurs first, how often
    std::vector<int64_t> inverse; ///< one a slice: which of the different ones it is
};

template <class T> UniqueSlices findUnique(const Slices<T>& slices, int64_t count, bool sorted)
{
    std::vector<int64_t> byValue(static_cast<size_t>(count));
    std::iota(byValue.begin(), byValue.end(), 0);
    std::ranges::stable_sort(byValue, [&](int64_t a, int64_t b) { return slices.compare(a, b) < 0; });
    UniqueSlices u;
    u.inverse.resize(byValue.size());
    for (size_t i = 0; i < byValue.size(); ++i) {
        if (i == 0 || slices.compare(byValue[i - 1], byValue[i]) != 0) {
            u.first.push_back(byValue[i]);
            u.count.push_back(0);
        }
        ++u.count.back();
        u.inverse[size_t(byValue[i])] = static_cast<int64_t>(u.first.size()) - 1;
    }
    if (sorted)
        return u;
    std::vector<int64_t> byPlace(u.first.size()), rank(u.first.size());
    std::iota(byPlace.begin(), byPlace.end(), 0);
    std::ranges::sort(byPlace, [&](int64_t a, int64_t b) { return u.first[size_t(a)] < u.first[size_t(b)]; });
    UniqueSlices out { {}, {}, std::move(u.inverse) };
    for (size_t i = 0; i < byPlace.size(); ++i) {
        rank[size_t(byPlace[i])] = static_cast<int64_t>(i);
        out.first.push_back(u.first[size_t(byPlace[i])]);
        out.count.push_back(u.count[size_t(byPlace[i])]);
    }
    for (int64_t& i : out.inverse)
        i = rank[size_t(i)];
    return out;
}

/// The tensor with `axis` in front.
Tensor axisFirst(const StepContext& s, const Tensor& x, size_t axis)
{
    StridedCopy copy { x.shape(), rowMajorStrides(x.shape()), {} };
    std::rotate(
        copy.shape.begin(), copy.shape.begin() + std::ptrdiff_t(axis), copy.shape.begin() + std::ptrdiff_t(axis) + 1);
    std::rotate(
        copy.from.begin(), copy.from.begin() + std::ptrdiff_t(axis), copy.from.begin() + std::ptrdiff_t(axis) + 1);
    copy.to = rowMajorStrides(copy.shape);
    Tensor out = s.allocate(x.dtype(), copy.shape);
    copyStrided(KernelMode::Fast, x, 0, out, 0, copy);
    return out;
}

UniqueSlices uniqueOf(const StepContext& s, const Tensor& x, std::optional<size_t> axis, bool sorted)
{
    const int64_t count = axis ? x.dim(*axis) : x.count();
    const size_t length = count > 0 ? static_cast<size_t>(x.count() / count) : 0;
    if (x.dtype() == DType::String) {
        // Words as ranks among themselves.
        std::vector<std::string> words = x.stringData();
        std::ranges::sort(words);
        Tensor ranks = s.allocate(DType::Int64, x.shape());
        for (size_t i = 0; i < x.stringData().size(); ++i)
            ranks.fill<int64_t>()[i] = std::ranges::lower_bound(words, x.stringData()[i]) - words.begin();
        return uniqueOf(s, ranks, axis, sorted);
    }
    const Tensor plain = unpacked(axis && *axis > 0 ? axisFirst(s, unpacked(x), *axis) : x);
    if (isFloat(x.dtype())) {
        const auto values = toDoubles(plain);
        return findUnique<double>({ values, length }, count, sorted);
    }
    if (x.dtype() == DType::UInt64)
        return findUnique<uint64_t>({ plain.data<uint64_t>(), length }, count, sorted);
    const auto values = toInts(plain);
    return findUnique<int64_t>({ values, length }, count, sorted);
}

Status runUnique(const Node& node, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 1));
    const Tensor& x = s.in(0);
    std::optional<size_t> axis;
    if (node.attributes.has("axis")) {
        QS_TRY(axis, axisOf(node.attributes.integer("axis", 0), x.rank()));
    }
    if (!isNumeric(x.dtype()) && x.dtype() != DType::String)
        return unsupportedType(x.dtype());
    const UniqueSlices u = uniqueOf(s, x, axis, node.attributes.integer("sorted", 1) != 0);
    const auto n = static_cast<int64_t>(u.first.size());
    Shape shape { n };
    const int64_t outer = axis ? product(x.shape(), 0, *axis) : 1;
    if (axis) {
        shape = x.shape();
        shape[*axis] = n;
    }
    const Movable movable({ &x });
    Tensor y = s.allocate(movable.dtype(), shape);
    const size_t block = (axis ? size_t(product(x.shape(), *axis + 1, x.rank())) : 1) * movable.elementBytes();
    const size_t slab = axis ? size_t(x.dim(*axis)) * block : 0;
    for (int64_t o = 0; o < outer; ++o)
        gatherBlocks(movable[0].bytes().data() + size_t(o) * slab, writable(y) + size_t(o * n) * block, block, u.first);
    s.setOutput(0, movable.back(y));
    const std::vector<int64_t>* const lists[] = { &u.first, &u.inverse, &u.count };
    for (size_t i = 1; i < std::min<size_t>(s.outputCount(), 4); ++i)
        s.setOutput(i, Tensor::of<int64_t>({ static_cast<int64_t>(lists[i - 1]->size()) }, *lists[i - 1]));
    return {};
}

} // namespace

void lowerUnique(LoweringRegistry& r) { r.add("", "Unique", copying<runUnique>); }

} // namespace qs
