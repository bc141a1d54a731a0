// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/operators/product_places.h"

#include "core/engine/lower/convolution/fast_conv.h"
#include "core/engine/lower/product/stacked_product.h"
#include "core/explain/explanation/explanation.h"
#include "core/ops/window.h"

namespace qs {

namespace {

Issue tooManyTerms() { return badInput("its sum has too many terms"); }

} // namespace

Result<ProductPlaces> convPlaces(const Node& node, const Shape& x, const Shape& w, int64_t element)
{
    QS_TRY(const ConvSizes sizes, convSizes(node, x, w));
    const IntegerConv& c = sizes.conv;
    const int64_t positions = c.outPositions(), position = element % positions;
    const int64_t channel = element / positions % c.outChannels, image = element / positions / c.outChannels;
    const int64_t depth = c.inChannels / c.groups, group = channel / (c.outChannels / c.groups);
    const IntegerConv::Triple at { position / (c.out[1] * c.out[2]), position / c.out[2] % c.out[1],
        position % c.out[2] };
    if (c.taps() < 1 || depth > kMostTerms / c.taps())
        return tooManyTerms();
    ProductPlaces p;
    p.column = channel;
    p.columns = c.outChannels;
    p.ownKernel = c.depthwise();
    for (int64_t tap = 0; tap < c.taps(); ++tap) {
        const int64_t from = c.inputPosition(at, tap);
        for (int64_t k = 0; k < depth; ++k)
            p.pairs.push_back({ from < 0 ? -1 : (image * c.inChannels + group * depth + k) * c.inPositions() + from,
                (channel * depth + k) * c.taps() + tap });
    }
    return p;
}

namespace {

/// Input position, row by row, that a tap of a transposed convolution spreads to an output position; -1: none.
int64_t spreadFrom(const std::vector<WindowAxis>& axes, const Shape& at, const Shape& tap)
{
    int64_t from = 0;
    for (size_t d = 0; d < axes.size(); ++d) {
        const int64_t i = at[d + 2] + axes[d].padBegin - tap[d] * axes[d].dilation;
        if (i < 0 || i % axes[d].stride != 0 || i / axes[d].stride >= axes[d].in)
            return -1;
        from = from * axes[d].in + i / axes[d].stride;
    }
    return from;
}

} // namespace

Result<ProductPlaces> convTransposePlaces(
    const Node& node, const Shape& x, const Shape& w, const Shape& out, int64_t element)
{
    const int64_t groups = node.attributes.integer("group", 1);
    if (x.size() < 3 || w.size() != x.size() || out.size() != x.size() || groups < 1 || x[1] % groups != 0)
        return badInput("these shapes are no transposed convolution");
    QS_TRY(const WindowAttributes attributes, windowAttributes(node));
    const Shape kernel(w.begin() + 2, w.end());
    QS_TRY(const auto axes, windowAxes(node, attributes, WindowKind::ConvTranspose, std::span(x).subspan(2), kernel));
    const Shape at = placeOf(out, element);
    const int64_t taps = *elementCount(kernel), positions = *elementCount(Shape(x.begin() + 2, x.end()));
    const int64_t depth = x[1] / groups, own = w[1], group = at[1] / own;
    if (taps == 0 || depth > kMostTerms / taps)
        return tooManyTerms();
    ProductPlaces p;
    p.column = at[1];
    p.columns = out[1];
    for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t from = spreadFrom(axes, at, placeOf(kernel, tap));
        for (int64_t k = 0; from >= 0 && k < depth; ++k) {
            const int64_t channel = group * depth + k;
            p.pairs.push_back(
                { (at[0] * x[1] + channel) * positions + from, (channel * own + at[1] % own) * taps + tap });
        }
    }
    return p;
}

Result<ProductPlaces> matMulPlaces(const Shape& a, const Shape& b, int64_t element)
{
    QS_TRY(const StackedProduct s, stackedProduct(a, b));
    ProductPlaces p;
    p.rows = s.a.rows;
    p.columns = s.b.columns;
    p.column = element % p.columns;
    p.row = element / p.columns % p.rows;
    const int64_t matrix = element / p.columns / p.rows, depth = s.b.rows;
    if (depth > kMostTerms)
        return tooManyTerms();
    p.aMatrix = batchIndex(s.batch, s.a.batch, matrix);
    p.bMatrix = batchIndex(s.batch, s.b.batch, matrix);
    for (int64_t k = 0; k < depth; ++k)
        p.pairs.push_back({ (p.aMatrix * p.rows + p.row) * depth + k, (p.bMatrix * depth + k) * p.columns + p.column });
    return p;
}

Result<ProductPlaces> gemmPlaces(const Node& node, const Shape& a, const Shape& b, int64_t element)
{
    if (a.size() != 2 || b.size() != 2)
        return badInput("both matrices need rank 2");
    const bool turnA = node.attributes.integer("transA", 0) != 0, turnB = node.attributes.integer("transB", 0) != 0;
    const int64_t depth = a[turnA ? 0 : 1];
    if (depth > kMostTerms)
        return tooManyTerms();
    ProductPlaces p;
    p.rows = a[turnA ? 1 : 0];
    p.columns = b[turnB ? 0 : 1];
    p.column = element % p.columns;
    p.row = element / p.columns;
    for (int64_t k = 0; k < depth; ++k)
        p.pairs.push_back({ turnA ? k * p.rows + p.row : p.row * depth + k,
            turnB ? p.column * depth + k : k * p.columns + p.column });
    return p;
}

} // namespace qs
