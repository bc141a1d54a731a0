// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/inherited_bins.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kUnits = 1 << 16; ///< of the range; 16 ranges squared, sixteen million times, fit 64 bits
constexpr double kMostUnits = 16 * kUnits;
constexpr double kToWhole = 0x1.8p52; ///< added and taken away, it rounds a small double
constexpr double kFirstOutside = 1.0 / 64; ///< of the range: width of the first bin outside
constexpr double kBinsPerDoubling = 2;

} // namespace

InheritedBins::InheritedBins(double low, double high)
    : m_low(low)
    , m_high(high)
    , m_perRange(1 / (high - low))
{
}

size_t InheritedBins::indexOf(double value) const
{
    const double at = (value - m_low) * m_perRange;
    if (at >= 0 && at < 1)
        return kOutside + std::min(size_t(at * kInside), kInside - 1);
    const double beyond = at < 0 ? -at : at - 1;
    const double doublings = kBinsPerDoubling * std::log2(1 + beyond / kFirstOutside);
    const auto step = size_t(std::min(doublings, double(kOutside - 1)));
    return at < 0 ? kOutside - 1 - step : kOutside + kInside + step;
}

void InheritedBins::add(double value, double error)
{
    if (!std::isfinite(value) || !std::isfinite(error))
        return;
    const double units = std::clamp(error * kUnits * m_perRange, -kMostUnits, kMostUnits);
    const auto rounded = int64_t((units + kToWhole) - kToWhole);
    for (Bin* bin : { &m_bins.edit()[indexOf(value)], &m_all }) {
        ++bin->count;
        bin->sum += rounded;
        bin->square += uint64_t(rounded * rounded);
    }
}

void InheritedBins::merge(const InheritedBins& other)
{
    if (!other.hasRange())
        return;
    if (!hasRange()) {
        *this = other;
        return;
    }
    const auto join = [](Bin& to, const Bin& from) {
        to.count += from.count;
        to.sum += from.sum;
        to.square += from.square;
    };
    Bins& bins = m_bins.edit();
    for (size_t i = 0; i < bins.size(); ++i)
        join(bins[i], (*other.m_bins)[i]);
    join(m_all, other.m_all);
}

void InheritedBins::write(ByteWriter& out) const
{
    out.number<uint8_t>(hasRange());
    if (!hasRange())
        return;
    out.number(m_low);
    out.number(m_high);
    for (size_t i = 0; i <= m_bins->size(); ++i) {
        const Bin& bin = i < m_bins->size() ? (*m_bins)[i] : m_all;
        out.number(bin.count);
        out.number(bin.square);
        out.number(bin.sum);
    }
}

InheritedBins InheritedBins::read(ByteReader& in)
{
    if (in.number<uint8_t>() == 0)
        return {};
    const auto low = in.number<double>(), high = in.number<double>();
    if (!(high > low)) {
        in.fail();
        return {};
    }
    InheritedBins bins(low, high);
    Bins& each = bins.m_bins.edit();
    for (size_t i = 0; i <= each.size(); ++i) {
        Bin& bin = i < each.size() ? each[i] : bins.m_all;
        bin.count = in.number<uint64_t>();
        bin.square = in.number<uint64_t>();
        bin.sum = in.number<int64_t>();
    }
    return bins;
}

InheritedBins::Moments InheritedBins::momentsOf(const Bin& bin) const
{
    const double unit = (m_high - m_low) / kUnits;
    const auto count = double(bin.count);
    return { double(bin.sum) / count * unit, double(bin.square) / count * unit * unit };
}

InheritedBins::Moments InheritedBins::at(double value) const
{
    if (empty())
        return {};
    const Bin& bin = (*m_bins)[indexOf(value)];
    return momentsOf(bin.count > 0 ? bin : m_all);
}

} // namespace qs
