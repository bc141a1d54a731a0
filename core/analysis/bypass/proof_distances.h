// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_run.h"
#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/rounding/relative_distance.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

/// How far one value of two files is apart.
namespace qs {

/// Errors of few elements spread wide.
inline constexpr double kMarginOfFew = 2 * kProofMargin;
inline constexpr int64_t kFew = 64;

/// A file with all of its own constants is at least so many times as far off as with the float model's, where these do
/// not make up for one another.
inline constexpr double kAsFar = 0.8;
/// A tenth of what is apart at the output is not the reason for it.
inline constexpr double kLittle = 10;

/// A value that is zero in one file may be so small in the other, by its root mean square.
inline constexpr double kZeroInOne = 1e-6;

inline size_t finiteCount(const std::vector<float>& x)
{
    return size_t(std::ranges::count_if(x, [](float v) { return std::isfinite(v); }));
}

/// One value in both files, of which what counts for nothing is zero in both.
struct RealsOfBoth {
    std::vector<float> x, y;
};

/// Reals of a value in either file on a sample, those that count there. `shown`, of this shape, is the float model's.
inline std::vector<float> countedReals(
    const ProofSample& sample, ValueId shown, const Shape& shape, std::vector<float> all)
{
    const auto runs = sample.counted && shown.valid() ? sample.counted(shown, shape) : std::nullopt;
    return !runs || runs->empty() || runs->back().second > all.size() ? std::move(all) : elementsIn(*runs, all);
}
inline std::vector<float> countedReals(const ProofSample& sample, ValueId shown, const Tensor& t)
{
    return countedReals(sample, shown, t.shape(), toFloats(t));
}

/// Of a value that the quantized file holds in codes of known parameters, these; null where `plan` has reals of this
/// name, or nothing is known.
inline const QuantParams* codesHeld(const ComparePair& pair, const Plan& plan, ValueId id)
{
    const Graph& quantized = pair.quantPlan->graph();
    const ValueId known
        = isInteger(plan.facts().of(id).dtype) ? quantized.findValue(plan.graph().value(id).name) : ValueId();
    const auto index = known.valid() ? pair.quantView->ofQuantized(known) : std::nullopt;
    const Quantizer* q = index ? &pair.quantView->quantizers()[*index] : nullptr;
    return q && !q->dynamic && !q->params.scale.empty() ? &q->params : nullptr;
}

/// The value holds reals, or codes that stand for some.
inline bool holdsReals(const ComparePair& pair, const Plan& plan, ValueId id)
{
    return isFloat(plan.facts().of(id).dtype) || codesHeld(pair, plan, id);
}
inline std::vector<float> realsHeld(const ComparePair& pair, const Plan& plan, ValueId id, const Tensor& t)
{
    const QuantParams* codes = isInteger(t.dtype()) ? codesHeld(pair, plan, id) : nullptr;
    return codes ? dequantized(t, *codes) : toFloats(t);
}

/// 0 for inner values of different sizes: not the same tensor to begin with.
inline double distanceBetween(const RealsOfBoth& both, bool output)
{
    const auto& [x, y] = both;
    if (x.size() != y.size())
        return output ? HUGE_VAL : 0;
    const double distance = relativeDistance(x, y);
    if (std::isfinite(distance))
        return finiteCount(x) > 0 && finiteCount(y) == 0 ? HUGE_VAL : distance;
    double squares = 0;
    for (const float v : y)
        squares += std::isfinite(v) ? double(v) * v : 0;
    return squares <= kZeroInOne * kZeroInOne * double(y.size()) ? 0 : distance;
}

/// Of two NetworkDistances the first tells more than the second. Of two overflows the second stays.
template <class Distance> bool tellsMore(const Distance& a, const Distance& b)
{
    if (a.overflow && b.overflow)
        return false;
    const auto rank = [](const Distance& d) {
        return std::tuple(d.apart() && !d.overflow, d.overflow.has_value(), d.apart(), d.hidden, d.beyond());
    };
    return rank(a) > rank(b);
}

/// A sample on which rounding hides everything tells nothing where another one tells something, unless more is between
/// the files there than rounding is seen to make.
template <class Distance> bool tellsMoreOfSamples(const Distance& a, const Distance& b)
{
    return a.hiddenByRounding() != b.hiddenByRounding() ? b.hiddenByRounding() : tellsMore(a, b);
}

/// Numbers that have none in another tensor.
struct Lost {
    uint64_t elements = 0;
    double largest = 0, smallest = HUGE_VAL; ///< absolute
    /// Some are numbers that every type holds.
    bool ofAnyType() const { return smallest <= kLargestOfFloat16; }

private:
    static constexpr double kLargestOfFloat16 = 65504;
};

/// Numbers of x that are none in y.
inline Lost lostBetween(const std::vector<float>& x, const std::vector<float>& y)
{
    Lost lost;
    for (size_t i = 0; x.size() == y.size() && i < x.size(); ++i)
        if (std::isfinite(x[i]) && !std::isfinite(y[i])) {
            ++lost.elements;
            lost.largest = std::max(lost.largest, std::fabs(double(x[i])));
            lost.smallest = std::min(lost.smallest, std::fabs(double(x[i])));
        }
    return lost;
}

/// How far `y` is from `x`, relatively, and how far it may be: `z` is `y` with its own constants disturbed. At least
/// `least`.
struct OffByRounding {
    double distance = 0, tolerance = 0;
};
inline OffByRounding offByRounding(
    const std::vector<float>& x, const std::vector<float>& y, const std::vector<float>& z, double least)
{
    const double margin = int64_t(x.size()) < kFew ? kMarginOfFew : kProofMargin;
    return { x.size() == y.size() ? relativeDistance(x, y) : HUGE_VAL,
        std::max(least, y.size() == z.size() ? margin * relativeDistance(y, z) : 0) };
}

/// It holds one number everywhere, or none.
inline bool isFlat(const Tensor& t)
{
    if (!t.valid() || t.count() == 0 || dtypeBits(t.dtype()) < 8)
        return true;
    const std::vector<double> values = toDoubles(t);
    return std::ranges::all_of(values, [&](double v) { return v == values[0]; });
}

inline constexpr size_t kNamedWeights = 3;

/// Of stored weights without a partner; no full stop.
inline std::string unpairedText(const std::vector<std::string>& names)
{
    const size_t named = std::min(names.size(), kNamedWeights);
    return fmt::format("{} stored {} no partner in the float model ({}{})", names.size(),
        names.size() == 1 ? "weight has" : "weights have",
        fmt::join(names.begin(), names.begin() + ptrdiff_t(named), ", "),
        names.size() > named ? fmt::format(" and {} more", names.size() - named) : "");
}

} // namespace qs
