// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Activations that use one half of their codes all over the file, as PyTorch's quantizers with reduce_range leave
/// them: quint8 from 0 to 127 (torch.ao.quantization, the default of get_default_qconfig("x86") and "fbgemm").
namespace qs {

namespace {

constexpr size_t kFewest = 3; ///< tensors that tell
constexpr double kMostReduced = 0.9; ///< of them stay within the half
constexpr double kFilled = 0.7; ///< of the half that the median tensor uses: else its range is too wide anyway

/// The lowest and highest code that the float model's values get.
struct CodesUsed {
    double low, high;
};

CodesUsed codesUsed(const ActivationRow& row)
{
    const double scale = double(row.params.scale.front());
    const double zero = row.params.zeroPoint.empty() ? 0 : double(row.params.zeroPoint.front());
    return { zero + std::min(row.floatRange->first, 0.0) / scale,
        zero + std::max(row.floatRange->second, 0.0) / scale };
}

bool tells(const Comparison& c, size_t i)
{
    const ActivationRow& row = c.activations[i];
    return firstOfQuantizer(c, i) && hasOwnRange(row) && row.params.scale.size() == 1 && row.params.scale.front() > 0
        && isInteger(row.params.dtype) && dtypeBits(row.params.dtype) == 8;
}

/// The half that a quantizer with a reduced range makes codes of.
CodesUsed reducedHalf(DType type) { return isSigned(type) ? CodesUsed { -64, 63 } : CodesUsed { 0, 127 }; }

} // namespace

void findReducedRanges(const Comparison& c, std::vector<Finding>& found)
{
    std::vector<size_t> within;
    std::vector<double> filled;
    size_t telling = 0;
    for (size_t i = 0; i < c.activations.size(); ++i) {
        if (!tells(c, i))
            continue;
        ++telling;
        const ActivationRow& row = c.activations[i];
        const CodesUsed used = codesUsed(row), half = reducedHalf(row.params.dtype);
        const double slack
            = (half.high - half.low) / 4; // histogram calibrators cut rare values, whose codes lie beyond
        const double zero = row.params.zeroPoint.empty() ? 0 : double(row.params.zeroPoint.front());
        if (zero < half.low || zero > half.high || used.low < half.low - slack || used.high > half.high + slack)
            continue;
        within.push_back(i);
        filled.push_back((used.high - used.low) / (half.high - half.low));
    }
    if (within.size() < kFewest || double(within.size()) < kMostReduced * double(telling))
        return;
    const auto middle = filled.begin() + std::ptrdiff_t(filled.size() / 2);
    std::ranges::nth_element(filled, middle);
    if (*middle < kFilled)
        return;
    const auto ownNoise = [&](size_t i) { return ownNoiseShare(c.activations[i]); };
    const size_t worst = *std::ranges::max_element(within, {}, ownNoise);
    Finding f = activationFinding(c, worst, Rule::RangeTooLarge);
    f.severity = Severity::Note;
    f.cause = "reduced";
    f.title = "Activations use 7 of their 8 bits";
    f.summary
        = fmt::format("{} of {} activations stay within one half of their codes, as quantizers with a reduced range "
                      "(reduce_range) leave them. With all codes each would make 6 dB less noise of rounding.",
            within.size(), telling);
    f.evidence = { evidence("tensors", double(within.size())), evidence("quantizers", double(telling)) };
    f.remedy
        = "Quantize with the whole range, unless the file is for CPUs whose sums saturate in 16 bits (AVX2 without "
          "VNNI).";
    f.change = { RemedyKind::Recalibrate, {}, f.tensor, 0, 0, 0 };
    f.expectedGainDb = gainAtTensor(c.activations[worst], 20 * std::log10(2.0));
    found.push_back(std::move(f));
}

} // namespace qs
