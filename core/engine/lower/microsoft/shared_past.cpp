// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/microsoft/shared_past.h"

#include "core/engine/lower/common/movement.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/tensor/convert.h"

namespace qs {

namespace {

/// Of a buffer's tokens first .. first + count - 1 in sample and head `row`, as a place in memory.
int64_t placeOf(const Tensor& buffer, int64_t row, int64_t first)
{
    return (row * buffer.dim(2) + first) * buffer.dim(3);
}

/// `count` tokens of all samples and heads.
void copyTokens(const Tensor& from, int64_t firstFrom, Tensor& to, int64_t firstTo, int64_t count)
{
    const Shape shape { from.dim(0) * from.dim(1), count, from.dim(3) };
    const auto strides = [](const Tensor& t) { return std::vector<int64_t> { t.dim(2) * t.dim(3), t.dim(3), 1 }; };
    copyStrided(KernelMode::Fast, from, placeOf(from, 0, firstFrom), to, placeOf(to, 0, firstTo),
        { shape, strides(from), strides(to) });
}

} // namespace

Result<SharedPast> sharedPast(const StepContext& s, int64_t tokens)
{
    SharedPast past { 0, &s.in(6), &s.in(7), s.input(9) };
    const Tensor& length = s.in(8);
    if (!isInteger(length.dtype()) || length.count() != 1)
        return badInput("past_sequence_length must be one integer");
    past.known = elementAsInt(length, 0);
    const Tensor &k = *past.keys, &v = *past.values;
    if (k.rank() != 4 || v.rank() != 4 || k.dim(2) != v.dim(2) || past.known < 0 || tokens > k.dim(2)
        || past.known > k.dim(2) - tokens)
        return badInput("a past of shape " + shapeText(k.shape()) + " has no room for " + std::to_string(tokens)
            + " tokens behind " + std::to_string(past.known));
    return past;
}

Result<Tensor> knownTokens(const StepContext& s, const SharedPast& past, const Tensor& buffer, bool throughBeams)
{
    Tensor y = s.allocate(buffer.dtype(), { buffer.dim(0), buffer.dim(1), past.known, buffer.dim(3) });
    copyTokens(buffer, 0, y, 0, past.known);
    if (!throughBeams || !past.beams || past.beams->rank() != 3 || past.beams->dim(1) < 2)
        return y;
    const Tensor& beams = *past.beams;
    if (!isInteger(beams.dtype()) || beams.dim(0) * beams.dim(1) != buffer.dim(0) || beams.dim(2) < past.known)
        return badInput("a cache_indirection of shape " + shapeText(beams.shape()) + " does not fit a past of shape "
            + shapeText(buffer.shape()));
    const int64_t heads = buffer.dim(1), width = beams.dim(1);
    for (int64_t sample = 0; sample < buffer.dim(0); ++sample)
        for (int64_t token = 0; token < past.known; ++token) {
            const int64_t beam = elementAsInt(beams, sample * beams.dim(2) + token);
            if (beam < 0 || beam >= width)
                return badInput(
                    "cache_indirection names beam " + std::to_string(beam) + " of " + std::to_string(width));
            const int64_t from = sample / width * width + beam;
            for (int64_t h = 0; h < heads; ++h)
                copyStrided(KernelMode::Fast, buffer, placeOf(buffer, from * heads + h, token), y,
                    placeOf(y, sample * heads + h, token), { { buffer.dim(3) }, { 1 }, { 1 } });
        }
    return y;
}

Tensor filledBuffer(const StepContext& s, const SharedPast& past, const Tensor& buffer, const Tensor& fresh)
{
    Tensor y = s.allocate(buffer.dtype(), buffer.shape());
    copyTokens(buffer, 0, y, 0, buffer.dim(2));
    copyTokens(fresh, 0, y, past.known, fresh.dim(2));
    return y;
}

} // namespace qs
