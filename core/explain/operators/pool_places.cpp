// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/operators/pool_places.h"

#include "core/explain/explanation/explanation.h"
#include "core/explain/operators/product_places.h"
#include "core/graph/domains.h"
#include "core/ops/window.h"

#include <algorithm>
#include <numeric>

namespace qs {

Result<PoolPlaces> windowPlaces(const Node& node, const Shape& x, const Shape& out, int64_t element, bool channelsLast)
{
    if (x.size() < 3 || out.size() != x.size())
        return badInput("these shapes are no pool");
    const size_t first = channelsLast ? 1 : 2, spatial = x.size() - 2;
    QS_TRY(const WindowAttributes attributes, windowAttributes(node));
    if (attributes.kernel.size() != spatial)
        return badInput("the kernel does not fit the input");
    QS_TRY(const auto axes,
        windowAxes(node, attributes, WindowKind::Pool, std::span(x).subspan(first, spatial), attributes.kernel));
    const Shape at = placeOf(out, element);
    const int64_t places = elementCount(attributes.kernel).value_or(INT64_MAX);
    if (places > kMostTerms)
        return badInput("its window has too many places");
    const bool countsPadding = node.attributes.integer("count_include_pad", 0) != 0;
    const bool wholeKernel = node.is("QLinearAveragePool", kMicrosoftDomain); // places behind the padding, too
    PoolPlaces p;
    for (int64_t place = 0; place < places; ++place) {
        const Shape tap = placeOf(attributes.kernel, place);
        Shape from = at;
        bool inside = true, counted = true;
        for (size_t d = 0; d < spatial; ++d) {
            const WindowAxis& axis = axes[d];
            const int64_t i = at[first + d] * axis.stride + tap[d] * axis.dilation - axis.padBegin;
            inside = inside && i >= 0 && i < axis.in;
            counted = counted && (wholeKernel || i < axis.in + axis.padEnd);
            from[first + d] = i;
        }
        p.padded += inside || (countsPadding && counted);
        if (inside)
            p.elements.push_back(elementOf(x, from));
    }
    return p;
}

Result<PoolPlaces> reducedPlaces(
    const Shape& x, const Shape& out, int64_t element, const std::vector<size_t>& axes, bool keeps)
{
    const Shape place = placeOf(out, element);
    Shape at(x.size(), 0), sizes;
    for (size_t d = 0, o = 0; d < x.size(); ++d) {
        const bool reduced = std::ranges::find(axes, d) != axes.end();
        if (!reduced)
            at[d] = place[o];
        o += !reduced || keeps;
    }
    for (const size_t d : axes)
        sizes.push_back(x[d]);
    PoolPlaces p;
    p.padded = elementCount(sizes).value_or(INT64_MAX);
    if (p.padded > kMostTerms)
        return badInput("it looks at too many elements");
    for (int64_t i = 0; i < p.padded; ++i) {
        const Shape inner = placeOf(sizes, i);
        for (size_t k = 0; k < axes.size(); ++k)
            at[axes[k]] = inner[k];
        p.elements.push_back(elementOf(x, at));
    }
    return p;
}

Result<PoolPlaces> globalPlaces(const Shape& x, const Shape& out, int64_t element, bool channelsLast)
{
    std::vector<size_t> axes(x.size() - 2);
    std::iota(axes.begin(), axes.end(), channelsLast ? 1 : 2);
    return reducedPlaces(x, out, element, axes, true);
}

} // namespace qs
