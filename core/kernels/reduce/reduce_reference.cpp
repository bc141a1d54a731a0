// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/reduce/reduce.h"

#include <cmath>
#include <limits>

namespace qs {

namespace {

double startOf(ReduceKind kind)
{
    switch (kind) {
    case ReduceKind::Max:
        return -std::numeric_limits<double>::infinity();
    case ReduceKind::Min:
        return std::numeric_limits<double>::infinity();
    case ReduceKind::Prod:
        return 1;
    default:
        return 0;
    }
}

double added(ReduceKind kind, double a, double v, double top)
{
    switch (kind) {
    case ReduceKind::Max:
        return v > a || std::isnan(v) ? v : a;
    case ReduceKind::Min:
        return v < a || std::isnan(v) ? v : a;
    case ReduceKind::Prod:
        return a * v;
    case ReduceKind::L1:
        return a + std::abs(v);
    case ReduceKind::L2:
    case ReduceKind::SumSquare:
        return a + v * v;
    case ReduceKind::LogSumExp:
        return a + std::exp(v - top);
    default:
        return a + v;
    }
}

double finished(ReduceKind kind, double a, double count, double top)
{
    switch (kind) {
    case ReduceKind::Mean:
        return a / count;
    case ReduceKind::L2:
        return std::sqrt(a);
    case ReduceKind::LogSum:
        return std::log(a);
    case ReduceKind::LogSumExp:
        return std::isfinite(top) ? top + std::log(a) : top;
    default:
        return a;
    }
}

} // namespace

void reduceReference(ReduceKind kind, const Shape& shape, const std::vector<bool>& reduced, std::span<const double> x,
    std::span<double> y)
{
    const auto outputOf = [&](size_t element) {
        size_t out = 0, stride = 1;
        for (size_t d = shape.size(); d-- > 0;) {
            const size_t index = element % size_t(shape[d]);
            element /= size_t(shape[d]);
            if (reduced[d])
                continue;
            out += index * stride;
            stride *= size_t(shape[d]);
        }
        return out;
    };
    std::vector<double> tops(y.size(), startOf(ReduceKind::Max)), counts(y.size());
    for (double& v : y)
        v = startOf(kind);
    for (size_t e = 0; e < x.size(); ++e) {
        double& top = tops[outputOf(e)];
        top = added(ReduceKind::Max, top, x[e], 0);
    }
    for (size_t e = 0; e < x.size(); ++e) {
        const size_t o = outputOf(e);
        y[o] = added(kind, y[o], x[e], tops[o]);
        ++counts[o];
    }
    for (size_t o = 0; o < y.size(); ++o)
        y[o] = finished(kind, y[o], counts[o], tops[o]);
}

} // namespace qs
