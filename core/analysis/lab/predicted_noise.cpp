// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/predicted_noise.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Mean and mean square of y - v over values v that are evenly spread between two ends.
struct OwnError {
    double mean = 0, square = 0;
};

/// Rounding to multiples of `step`: the distance to the next multiple is a saw tooth, whose integrals are known.
OwnError roundingError(double from, double to, double step)
{
    const auto integrals = [step](double v) {
        const double multiple = std::round(v / step);
        const double beside = v - multiple * step;
        return OwnError { -beside * beside / 2, multiple * step * step * step / 12 + beside * beside * beside / 3 };
    };
    const OwnError a = integrals(from), b = integrals(to);
    return { (b.mean - a.mean) / (to - from), (b.square - a.square) / (to - from) };
}

OwnError clippingError(double from, double to, double bound)
{
    const double mean = bound - (from + to) / 2;
    return { mean, mean * mean + (to - from) * (to - from) / 12 };
}

class Predictor {
public:
    Predictor(const ActivationRow& row, const QuantParams& params)
        : m_row(row)
        , m_step(params.scale[0])
        , m_low(params.low())
        , m_high(params.high())
    {
    }

    struct Powers {
        double rounding = 0, clipping = 0, inherited = 0; ///< the last with what the node itself makes
        double cameIn = 0; ///< of `inherited`, without what goes together with the quantizer's own error
        double clipped = 0; ///< share
    };

    Powers run()
    {
        const Histogram& values = m_row.beforeHistogram;
        for (size_t i = 0; i < values.counts().size(); ++i) {
            if (values.counts()[i] == 0)
                continue;
            const double from = values.low() + double(i) * values.binWidth();
            // the outermost bins are known to reach no further than the extremes
            const double low = std::max(from, values.smallest());
            const double high = std::min(from + values.binWidth(), values.largest());
            addBin(low, std::max(high, std::nextafter(low, INFINITY)), double(values.counts()[i]));
        }
        const auto total = double(values.total());
        return { m_rounding / total, m_clipping / total, m_inherited / total, m_cameIn / total, m_clipped / total };
    }

private:
    void addBin(double low, double high, double count)
    {
        const double firstClip = m_low - m_step / 2, lastClip = m_high + m_step / 2;
        const double inside = std::clamp(low, firstClip, lastClip), insideEnd = std::clamp(high, firstClip, lastClip);
        const double density = count / (high - low);
        if (low < firstClip)
            addPart(low, std::min(high, firstClip), density, true, m_low);
        if (insideEnd > inside)
            addPart(inside, insideEnd, density, false, 0);
        if (high > lastClip)
            addPart(std::max(low, lastClip), high, density, true, m_high);
    }

    void addPart(double low, double high, double density, bool clipped, double bound)
    {
        const double count = density * (high - low);
        const OwnError own = clipped ? clippingError(low, high, bound) : roundingError(low, high, m_step);
        const InheritedBins::Moments in = m_row.inherited.at((low + high) / 2);
        (clipped ? m_clipping : m_rounding) += count * (own.square + own.mean * in.mean);
        m_inherited += count * (in.square + own.mean * in.mean);
        m_cameIn += count * in.square;
        m_clipped += clipped ? count : 0;
    }

    const ActivationRow& m_row;
    double m_step, m_low, m_high;
    double m_rounding = 0, m_clipping = 0, m_inherited = 0, m_cameIn = 0, m_clipped = 0;
};

bool isPredictable(const QuantParams& params)
{
    return params.perTensor() && params.scale[0] > 0 && isInteger(params.dtype);
}

/// What the node's weights make of all that a quantizer does not. What the kernel makes is the difference of two values
/// that the quantizer rounds and clips alike: with another one it is another, and stays with what came in.
NoiseSplit splitOf(const ActivationRow& row, const Predictor::Powers& powers)
{
    const double weights = std::clamp(row.noise.weights.value_or(0), 0.0, std::max(0.0, powers.inherited));
    return { powers.rounding, powers.clipping, powers.inherited - weights, weights, {} };
}

/// By how much more came in than the elements tell of which it is known: measured less predicted, with the quantizer
/// that the row was measured with, and of that the share of what is the same with any other.
double missedBy(const ActivationRow& row)
{
    const NoiseSplit& measured = row.noise;
    if (!measured.inherited || !isPredictable(row.params))
        return 0;
    const Predictor::Powers powers = Predictor(row, row.params).run();
    const double together = std::fabs(powers.inherited - powers.cameIn);
    const double share = powers.cameIn > 0 ? powers.cameIn / (powers.cameIn + together) : 0;
    return share
        * (*measured.inherited + measured.weights.value_or(0) + measured.kernel.value_or(0) - powers.inherited);
}

} // namespace

std::optional<PredictedNoise> predictNoise(const ActivationRow& row, const QuantParams& params)
{
    if (row.beforeHistogram.empty() || !isPredictable(params))
        return std::nullopt;
    Predictor::Powers powers = Predictor(row, params).run();
    const double missed = missedBy(row), known = powers.rounding + powers.clipping + powers.inherited;
    const double all = known + missed > 0 ? known + missed : known;
    powers.inherited += all - known;
    PredictedNoise noise { splitOf(row, powers), row.noise.kernel.has_value(), powers.clipped, {} };
    if (row.signalPower && *row.signalPower > 0 && all > 0)
        noise.sqnrDb = 10 * std::log10(*row.signalPower / all);
    return noise;
}

} // namespace qs
