// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/k_quant.h"

#include "core/base/rounding.h"
#include "core/base/work/parallel.h"
#include "core/kernels/statistics/numpy_sums.h"
#include "core/quant/params/scale.h"
#include "core/quant/weight_only/small_rounding.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kScaleTrials = 20;
constexpr double kFirstFactor = -1, kFactorStep = 0.1; ///< added to the number of levels
constexpr size_t kBlocksAtOnce = 256;

/// One block at a time, in memory of its own.
class BlockSearch {
public:
    BlockSearch(const BlockRules& rules, bool inOrder)
        : m_levels(static_cast<float>(rules.levels()))
        , m_size(static_cast<size_t>(rules.blockSize))
        , m_inOrder(inOrder)
        , values(m_size)
        , m_weights(m_size)
        , m_codes(m_size)
        , m_terms(m_size)
    {
    }

    struct Found {
        float scale, lowest;
    };
    Found run()
    {
        const float meanSquare = sum([&](size_t i) { return values[i] * values[i]; }) / static_cast<float>(m_size);
        const float average = std::sqrt(meanSquare);
        for (size_t i = 0; i < m_size; ++i)
            m_weights[i] = average + std::abs(values[i]);
        const float low = *std::ranges::min_element(values), high = *std::ranges::max_element(values);
        const float sumW = sum([&](size_t i) { return m_weights[i]; });
        const float sumX = sum([&](size_t i) { return m_weights[i] * values[i]; });
        Found best { 1 / inverse(m_levels, low, high), low };
        toGrid(m_levels, low, high);
        float bestError = error(best);
        for (int trial = 0; trial < kScaleTrials; ++trial) {
            toGrid(static_cast<float>(kFirstFactor + kFactorStep * trial + double(m_levels)), best.lowest, high);
            const float sumL = sum([&](size_t i) { return m_weights[i] * m_codes[i]; });
            const float sumL2 = sum([&](size_t i) { return m_weights[i] * m_codes[i] * m_codes[i]; });
            const float sumXL = sum([&](size_t i) { return m_weights[i] * m_codes[i] * values[i]; });
            const float d = sumW * sumL2 - sumL * sumL;
            const Found now { (sumW * sumXL - sumX * sumL) / d, (sumL2 * sumX - sumL * sumXL) / d };
            const float nowError = error(now);
            if (nowError < bestError) {
                bestError = nowError;
                best = now;
            }
        }
        return best;
    }

private:
    template <class Get> float sum(const Get& get)
    {
        if (m_inOrder) {
            float total = 0;
            for (size_t i = 0; i < m_size; ++i)
                total += get(i);
            return total;
        }
        for (size_t i = 0; i < m_size; ++i)
            m_terms[i] = get(i);
        return numpySum(std::span<const float>(m_terms));
    }
    static float inverse(float factor, float low, float high) { return low != high ? factor / (high - low) : 1; }
    void toGrid(float factor, float low, float high)
    {
        const float scale = inverse(factor, low, high);
        for (size_t i = 0; i < m_size; ++i)
            m_codes[i] = roundedSmall(std::min(std::max(scale * (values[i] - low), -1.0f), m_levels + 1));
        for (size_t i = 0; i < m_size; ++i)
            m_codes[i] = std::min(std::max(m_codes[i], 0.0f), m_levels);
    }
    float error(const Found& f)
    {
        return sum([&](size_t i) {
            const float difference = f.scale * m_codes[i] + f.lowest - values[i];
            return m_weights[i] * (difference * difference);
        });
    }

    float m_levels;
    size_t m_size;
    bool m_inOrder; ///< NumPy sums a matrix that is stored by columns row after row

public:
    std::vector<float> values;

private:
    std::vector<float> m_weights, m_codes, m_terms;
};

} // namespace

BlockMatrix kQuantBlocks(std::span<const float> values, const Tensor& matrix, const BlockRules& rules)
{
    BlockMatrix out = BlockMatrix::sized(matrix, rules.blockSize);
    const auto rows = static_cast<size_t>(out.rows), columns = static_cast<size_t>(out.columns);
    const auto size = static_cast<size_t>(rules.blockSize), blocks = static_cast<size_t>(out.blocks);
    const bool wholeColumns = blocks == 1 && columns > 1;
    const double levels = rules.levels();
    parallelFor((out.scales.size() + kBlocksAtOnce - 1) / kBlocksAtOnce, rules.threads, [&](size_t part, size_t) {
        BlockSearch search(rules, wholeColumns);
        for (size_t b = part * kBlocksAtOnce; b < std::min((part + 1) * kBlocksAtOnce, out.scales.size()); ++b) {
            const size_t column = b / blocks, from = b % blocks * size, to = std::min(from + size, rows);
            for (size_t i = 0; i < size; ++i)
                search.values[i] = from + i < to ? values[(from + i) * columns + column] : 0.0f;
            const auto found = search.run();
            const double zero = clampOr(double(roundHalfEven(-found.lowest / found.scale)), 0, levels);
            out.zeroPoints[b] = static_cast<uint8_t>(zero);
            out.scales[b] = roundedTo(matrix.dtype(), double(found.scale));
            for (size_t i = 0; from + i < to; ++i)
                out.codes[column * rows + from + i] = static_cast<uint8_t>(
                    clampOr(roundHalfEven(double(search.values[i]) / double(found.scale) + zero), 0, levels));
        }
    });
    return out;
}

} // namespace qs
