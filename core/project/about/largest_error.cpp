// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/largest_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qs {

namespace {

TensorSlice sliceOf(const Shape& shape, const std::vector<AxisPart>& parts)
{
    TensorSlice slice = TensorSlice::whole(shape);
    for (const AxisPart& part : parts) {
        const int64_t axis = part.axis < 0 ? int64_t(shape.size()) + part.axis : part.axis;
        if (axis < 0 || axis >= int64_t(shape.size()))
            continue;
        AxisSlice& cut = slice.axes[size_t(axis)];
        const int64_t end = std::min(part.first + part.count, shape[size_t(axis)]);
        cut.first = std::clamp<int64_t>(part.first, 0, shape[size_t(axis)]);
        cut.count = std::max<int64_t>(end - cut.first, 0);
    }
    return slice;
}

struct Furthest {
    double distance = -1;
    size_t element = 0;
};

double distanceAt(const TensorValues& values, size_t element)
{
    const ValueKind kind = hasKind(values, ValueKind::Difference) ? ValueKind::Difference
        : hasKind(values, ValueKind::Float)                       ? ValueKind::Float
                                                                  : ValueKind::Quantized;
    const double distance = std::abs(valueAt(values, kind, element));
    return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

bool isWithin(const TensorValues& values, const std::optional<std::pair<double, double>>& range, size_t element)
{
    if (!range || !values.reference)
        return true;
    const double value = values.reference->real(element);
    return value >= range->first && value < range->second;
}

Furthest furthestIn(const TensorValues& values, const ErrorSearch& search, const CancelToken& cancel)
{
    Furthest found;
    const SliceGrid grid = SliceGrid::inOrder(sliceOf(values.shape, search.parts), values.shape);
    grid.eachRow([&](size_t first, int64_t step, size_t count) {
        for (size_t i = 0; i < count; ++i) {
            const size_t element = first + size_t(int64_t(i) * step);
            if (!isWithin(values, search.within, element))
                continue;
            const double distance = distanceAt(values, element);
            if (distance > found.distance)
                found = { distance, element };
        }
        return !cancel.cancelled();
    });
    return found;
}

} // namespace

Result<std::optional<ErrorFound>> largestError(
    const Snapshot& snapshot, const ErrorSearch& search, const WorkContext& work)
{
    std::optional<ErrorFound> result;
    double furthest = -1;
    for (const size_t sample : search.samples) {
        QS_TRY(const TensorValues values, readValues(snapshot, search.place, sample, work));
        const Furthest here = furthestIn(values, search, work.cancel);
        if (work.cancel.cancelled())
            return cancelled();
        if (here.distance <= furthest)
            continue;
        furthest = here.distance;
        result = ErrorFound { sample, here.element, values.shape };
    }
    return result;
}

} // namespace qs
