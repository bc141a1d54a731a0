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

    PredictedNoise run()
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
        return result(double(values.total()));
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
        m_clipped += clipped ? count : 0;
    }

    PredictedNoise result(double total) const
    {
        PredictedNoise noise;
        double inherited = m_inherited / total; // with what the node itself makes before its quantizer
        const auto part = [&](const Number& made) {
            const double taken = std::clamp(made.value_or(0), 0.0, std::max(0.0, inherited));
            inherited -= taken;
            return taken;
        };
        const Number kernel = m_row.noise.kernel ? Number(part(m_row.noise.kernel)) : Number();
        const double weights = part(m_row.noise.weights);
        noise.split = { m_rounding / total, m_clipping / total, inherited, weights, kernel };
        noise.clippedFraction = m_clipped / total;
        const double all = (m_rounding + m_clipping + m_inherited) / total;
        if (m_row.signalPower && *m_row.signalPower > 0 && all > 0)
            noise.sqnrDb = 10 * std::log10(*m_row.signalPower / all);
        return noise;
    }

    const ActivationRow& m_row;
    double m_step, m_low, m_high;
    double m_rounding = 0, m_clipping = 0, m_inherited = 0, m_clipped = 0;
};

} // namespace

std::optional<PredictedNoise> predictNoise(const ActivationRow& row, const QuantParams& params)
{
    if (row.beforeHistogram.empty() || !params.perTensor() || !(params.scale[0] > 0) || !isInteger(params.dtype))
        return std::nullopt;
    return Predictor(row, params).run();
}

} // namespace qs
