// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/statistics/numpy_sums.h"
#include "core/quant/calibrate/calibrators.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace qs {

namespace {

constexpr double kEpsilon = 0.0001;

/// The counts as floats, with a little taken from the others for the zeros; empty when all are zero.
void smooth(std::span<const uint64_t> counts, std::vector<float>& to)
{
    const auto zeros = static_cast<size_t>(std::ranges::count(counts, uint64_t(0)));
    const size_t others = counts.size() - zeros;
    to.clear();
    if (others == 0)
        return;
    const auto given = static_cast<float>(kEpsilon);
    const auto taken = static_cast<float>(-(kEpsilon * static_cast<double>(zeros) / static_cast<double>(others)));
    for (const uint64_t count : counts)
        to.push_back(static_cast<float>(count) + (count == 0 ? given : taken));
}

void normalize(std::vector<float>& x)
{
    const float sum = numpySum<float>(x);
    for (float& v : x)
        v /= sum;
}

class EntropySearch {
public:
    EntropySearch(std::span<const uint64_t> counts, size_t quantizedBins)
        : m_counts(counts)
        , m_quantizedBins(quantizedBins)
        , m_below(counts.size() + 1, 0)
    {
        std::inclusive_scan(counts.begin(), counts.end(), m_below.begin() + 1);
    }
    /// Of the values, cut to the bins begin..end-1, to their quantized form.
    float divergence(size_t begin, size_t end);

private:
    uint64_t sum(size_t begin, size_t end) const { return m_below[end] - m_below[begin]; }
    void quantize(size_t begin, size_t end);
    std::span<const uint64_t> m_counts;
    size_t m_quantizedBins;
    std::vector<uint64_t> m_below; ///< counts in front of each bin
    std::vector<uint64_t> m_cut, m_quantized;
    std::vector<float> m_p, m_q, m_terms;
};

/// Each quantized bin spread evenly, in whole numbers, over its bins: over all of them, though their number is that of
/// the filled ones. Bins past the last whole group stay empty, though their counts are in the last quantized bin.
void EntropySearch::quantize(size_t begin, size_t end)
{
    const size_t merged = (end - begin) / m_quantizedBins;
    m_quantized.assign(end - begin, 0);
    for (size_t group = 0; group < m_quantizedBins; ++group) {
        const size_t first = group * merged, last = first + merged;
        uint64_t content = sum(begin + first, begin + last);
        if (group + 1 == m_quantizedBins)
            content += sum(begin + last, end);
        const auto filled = std::count_if(m_cut.begin() + std::ptrdiff_t(first), m_cut.begin() + std::ptrdiff_t(last),
            [](uint64_t count) { return count != 0; });
        if (filled)
            std::fill(m_quantized.begin() + std::ptrdiff_t(first), m_quantized.begin() + std::ptrdiff_t(last),
                static_cast<uint64_t>(static_cast<double>(content) / static_cast<double>(filled)));
    }
}

float EntropySearch::divergence(size_t begin, size_t end)
{
    m_cut.assign(m_counts.begin() + std::ptrdiff_t(begin), m_counts.begin() + std::ptrdiff_t(end));
    m_cut.front() += sum(0, begin);
    m_cut.back() += sum(end, m_counts.size());
    quantize(begin, end);
    smooth(m_cut, m_p);
    smooth(m_quantized, m_q);
    if (m_p.empty() || m_q.empty())
        return std::numeric_limits<float>::infinity();
    normalize(m_p);
    normalize(m_q);
    m_terms.resize(m_p.size());
    for (size_t i = 0; i < m_p.size(); ++i)
        m_terms[i] = m_p[i] * std::log(m_p[i] / m_q[i]);
    return numpySum<float>(m_terms);
}

} // namespace

Interval entropyCut(std::span<const uint64_t> counts, std::span<const float> edges, size_t quantizedBins, DType type)
{
    EntropySearch search(counts, quantizedBins);
    const size_t zero = counts.size() / 2;
    Interval best { edges.front(), edges.back() };
    float least = std::numeric_limits<float>::infinity();
    for (size_t reach = quantizedBins / 2; reach <= zero; ++reach) {
        const size_t begin = zero - reach, end = std::min(zero + reach + 1, counts.size());
        float divergence = search.divergence(begin, end);
        if (type == DType::Float16)
            divergence = float16ToFloat(floatToFloat16(divergence));
        if (divergence < least || reach == quantizedBins / 2) {
            least = divergence;
            best = { edges[begin], edges[end] };
        }
    }
    return best;
}

} // namespace qs
