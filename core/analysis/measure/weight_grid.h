// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/alignment.h"
#include "core/tensor/channel_major.h"
#include "core/tensor/quant_params.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace qs {

/// Which scale each element of a weight has, in the plain order of the row that is made of it.
class WeightGrid {
public:
    /// Of a tensor as it is stored: per tensor, per channel or in blocks.
    WeightGrid(const Shape& shape, const QuantParams& params);
    /// Of stored codes of shape `codes`, as their pair turns them round to a row of that shape.
    WeightGrid(const Shape& codes, const QuantParams& params, const WeightPair& pair, const Shape& row);

    /// Calls run(index of the scale, begin, n) for stretches of elements that share one, in order.
    void eachRun(size_t size, auto run) const
    {
        if (m_scaleOf.empty()) {
            m_channels.eachRun(size, run);
            return;
        }
        for (size_t i = 0; i < size;) {
            size_t end = i + 1;
            while (end < size && m_scaleOf[end] == m_scaleOf[i])
                ++end;
            run(size_t(m_scaleOf[i]), i, end - i);
            i = end;
        }
    }
    /// The scales as parameters of a row of this shape: along the axis that they follow there. As stored where they
    /// follow none.
    QuantParams paramsFor(const Shape& row, const QuantParams& stored) const;

private:
    Channels m_channels;
    std::vector<uint32_t> m_scaleOf; ///< by element, where runs of channels do not tell it
};

/// What an element is rounded to: a code's value for integers, the nearest value of small floats.
double nearestOnGrid(const QuantParams& params, size_t scale, double x);
/// Ends of the range of a scale, half a step beyond the outermost codes of integers; `balanced`: without the lowest
/// one.
struct GridEnds {
    double low, high;
};
GridEnds gridEnds(const QuantParams& params, size_t scale, bool balanced = false);
/// How far the grid's values are apart around a stored one: the scale of integers, of small floats the wider gap beside
/// it. Rounding moves by half of that.
double stepAround(const QuantParams& params, double scale, double stored);
inline constexpr double kHalfStepAndRoom = 0.55; ///< of steps; what explains a weight is estimated
/// Whether y is not x, rounded to a grid of this step and cut at these ends.
inline bool isElsewhere(double x, double y, double step, const GridEnds& ends, double room)
{
    const double there = std::clamp(x, ends.low, ends.high);
    return !(std::fabs(y - there) <= kHalfStepAndRoom * step + room * (std::fabs(x) + std::fabs(y)));
}
/// Scales of zero that stand for elements which are more than what the finest other scale rounds to zero.
std::vector<bool> lostScales(std::span<const float> x, const QuantParams& params, const WeightGrid& grid);
/// Symmetric codes of a signed type none of which is the lowest: it was left out, as -128 of -128 ... 127 often is.
bool leavesLowestOut(std::span<const float> y, const QuantParams& params, const WeightGrid& grid);

/// Numbers of x against the grid that its codes y stand on.
struct GridNumbers {
    double idealNoise = 0; ///< sum over all elements: step squared over 12; of small floats by rounding x
    size_t outside = 0; ///< beyond the range, with a code at that end
    size_t off = 0; ///< none of these, and further from x than rounding goes
    double mostStepsOff = 0; ///< of these; 0 for small floats
};
/// Relative errors that x and y may have beside that of the codes: of the type that all of x, or all scales, are of,
/// where that is float16 or bfloat16. The codes may have been made of weights that were not rounded to it, or the other
/// way about. Else that of float32.
double roomOfTypes(std::span<const float> x, const QuantParams& params);
/// `room`: see roomOfTypes().
GridNumbers againstGrid(std::span<const float> x, std::span<const float> y, const QuantParams& params,
    const WeightGrid& grid, double room = 0);

} // namespace qs
