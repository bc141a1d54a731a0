// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/quant/qlinear_parts.h"
#include "core/graph/domains.h"

#include "core/engine/lower/common/broadcast_operands.h"
#include "core/engine/registry/registry.h"
#include "core/ops/window.h"

#include <algorithm>

namespace qs {

namespace {

/// Input and output of a pool in memory order; `channels_last` makes the file's own shape N, spatial..., C.
struct Images {
    Shape shape; ///< of the input, logical
    bool channelsLast = false; ///< in memory
    bool logicalLast = false; ///< in the logical shape
    size_t channelAxis() const { return logicalLast ? shape.size() - 1 : 1; }
    size_t firstSpatial() const { return logicalLast ? 1 : 2; }
    size_t spatialRank() const { return shape.size() - 2; }
    std::span<const int64_t> spatial() const { return std::span(shape).subspan(firstSpatial(), spatialRank()); }
    size_t batch() const { return static_cast<size_t>(shape[0]); }
    size_t channels() const { return static_cast<size_t>(shape[channelAxis()]); }
    Shape pooled(std::span<const int64_t> sizes) const
    {
        Shape out = shape;
        std::copy(sizes.begin(), sizes.end(), out.begin() + static_cast<std::ptrdiff_t>(firstSpatial()));
        return out;
    }
};

Result<Images> images(const Tensor& x, bool logicalLast)
{
    if (x.rank() < 3 || x.rank() > 5)
        return badInput("pooling needs rank 3 to 5, not shape " + shapeText(x.shape()));
    return Images { x.shape(), logicalLast || x.layout() == Layout::ChannelsLast, logicalLast };
}

Result<PoolShape> poolShape(const Node& node, const WindowAttributes& attributes, const Images& image)
{
    if (attributes.kernel.size() != image.spatialRank())
        return badInput("kernel_shape has " + std::to_string(attributes.kernel.size()) + " sizes, the input has "
            + std::to_string(image.spatialRank()) + " spatial axes");
    QS_TRY(const auto axes, windowAxes(node, attributes, WindowKind::Pool, image.spatial(), attributes.kernel));
    PoolShape p;
    for (size_t i = 0; i < axes.size(); ++i) {
        const WindowAxis& a = axes[i];
        if (a.dilation != 1)
            return badInput("dilations are not supported here");
        p.axes[3 - axes.size() + i] = { a.in, a.out, a.kernel, a.stride, a.padBegin };
    }
    p.outer = image.batch() * (image.channelsLast ? 1 : image.channels());
    p.lanes = image.channelsLast ? image.channels() : 1;
    p.countPadding = node.attributes.integer("count_include_pad", 0) != 0;
    return p;
}

Result<LoweredNode> lowerAveragePool(const LowerContext& c)
{
    QS_TRY(const WindowAttributes attributes, windowAttributes(c.node));
    const bool logicalLast = c.node.attributes.integer("channels_last", 0) != 0;
    const auto node = std::make_shared<const Node>(c.node);
    return qlinearNode(
        [=](StepContext& s) -> Status {
            QS_CHECK(checkCodes(s, 0));
            QS_TRY(const Grid in, readGrid(s, 1, 2));
            QS_TRY(const Grid out, readGrid(s, 3, 4));
            const Tensor x = logicalLast ? inLayout(s, s.in(0), Layout::Plain) : s.in(0);
            QS_TRY(const Images image, images(x, logicalLast));
            QS_TRY(const PoolShape p, poolShape(*node, attributes, image));
            Shape sizes;
            for (size_t i = 3 - image.spatialRank(); i < 3; ++i)
                sizes.push_back(p.axes[i].out);
            Tensor y = s.allocate(x.dtype(), image.pooled(sizes), x.layout());
            UnroundedOutput real(s, y);
            QS_CHECK(withCodeType(s, 0, [&](auto code) -> Status {
                using T = decltype(code);
                qlinearAveragePool(p, in, out, x.data<T>().data(), y.fill<T>().data(), real.data());
                return {};
            }));
            real.hand(s);
            s.setOutput(0, std::move(y));
            return {};
        },
        c);
}

Result<LoweredNode> lowerGlobalAveragePool(const LowerContext& c)
{
    const bool logicalLast = c.node.attributes.integer("channels_last", 0) != 0;
    return qlinearNode(
        [logicalLast](StepContext& s) -> Status {
            QS_CHECK(checkCodes(s, 0));
            QS_TRY(const Grid in, readGrid(s, 1, 2));
            QS_TRY(const Grid out, readGrid(s, 3, 4));
            const Tensor x = logicalLast ? inLayout(s, s.in(0), Layout::Plain) : s.in(0);
            QS_TRY(const Images image, images(x, logicalLast));
            size_t size = 1;
            for (int64_t d : image.spatial())
                size *= static_cast<size_t>(d);
            Tensor y = s.allocate(x.dtype(), image.pooled(Shape(image.spatialRank(), 1)), x.layout());
            UnroundedOutput real(s, y);
            const size_t outer = image.batch() * (image.channelsLast ? 1 : image.channels());
            const size_t lanes = image.channelsLast ? image.channels() : 1;
            QS_CHECK(withCodeType(s, 0, [&](auto code) -> Status {
                using T = decltype(code);
                qlinearGlobalAveragePool(
                    outer, size, lanes, in, out, x.data<T>().data(), y.fill<T>().data(), real.data());
                return {};
            }));
            real.hand(s);
            s.setOutput(0, std::move(y));
            return {};
        },
        c);
}

struct SoftmaxRows {
    size_t outer = 1, length = 1, inner = 1; ///< inner = how far the codes of a row are apart
};

template <class T>
void softmaxRows(const StepContext& s, const SoftmaxTable& table, Grid out, const Tensor& x, Tensor& y, float* real,
    const SoftmaxRows& rows)
{
    const size_t outer = rows.outer, length = rows.length, inner = rows.inner;
    if (length == 0)
        return;
    const T* const codes = x.data<T>().data();
    T* const results = y.fill<T>().data();
    if (inner == 1) {
        const size_t piece = std::max<size_t>(16384 / length, 1) * 8; // rows
        s.parallel((outer + piece - 1) / piece, [&](size_t i, size_t) {
            const size_t first = i * piece, at = first * length;
            qlinearSoftmaxRows(table, out, codes + at, results + at, real ? real + at : nullptr,
                std::min(piece, outer - first), length);
        });
        return;
    }
    for (size_t r = 0; r < outer * inner; ++r) {
        const size_t at = r / inner * length * inner + r % inner;
        qlinearSoftmaxRow(table, out, codes + at, results + at, real ? real + at : nullptr, length, inner);
    }
}

Result<LoweredNode> lowerSoftmax(const LowerContext& c)
{
    const bool flattens = c.node.attributes.integer("opset", 13) < 13;
    const int64_t axisAttribute = c.node.attributes.integer("axis", flattens ? 1 : -1);
    return qlinearNode(
        [=](StepContext& s) -> Status {
            QS_CHECK(checkCodes(s, 0));
            QS_TRY(const Grid in, readGrid(s, 1, 2));
            QS_TRY(const Grid out, readGrid(s, 3, 4));
            const Tensor x = inLayout(s, s.in(0), Layout::Plain);
            const auto axis = normalizedAxis(axisAttribute, x.rank());
            if (!axis)
                return badInput("axis " + std::to_string(axisAttribute) + " does not fit " + shapeText(x.shape()));
            size_t outer = 1, length = 1, inner = 1;
            for (size_t i = 0; i < x.rank(); ++i)
                (i < *axis ? outer : i == *axis || flattens ? length : inner) *= static_cast<size_t>(x.dim(i));
            Tensor y = s.allocate(x.dtype(), x.shape());
            UnroundedOutput real(s, y);
            const SoftmaxTable table = makeSoftmaxTable(in.scale, std::max<size_t>(length, 1));
            QS_CHECK(withCodeType(s, 0, [&](auto code) -> Status {
                softmaxRows<decltype(code)>(s, table, out, x, y, real.data(), { outer, length, inner });
                return {};
            }));
            real.hand(s);
            s.setOutput(0, std::move(y));
            return {};
        },
        c);
}

} // namespace

void lowerQLinearReductions(LoweringRegistry& r)
{
    r.add(kMicrosoftDomain, "QLinearAveragePool", lowerAveragePool);
    r.add(kMicrosoftDomain, "QLinearGlobalAveragePool", lowerGlobalAveragePool);
    r.add(kMicrosoftDomain, "QLinearSoftmax", lowerSoftmax);
}

} // namespace qs
