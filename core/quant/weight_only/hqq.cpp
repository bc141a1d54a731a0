// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/hqq.h"

#include "core/base/rounding.h"
#include "core/base/work/parallel.h"
#include "core/quant/params/scale.h"
#include "core/quant/weight_only/small_rounding.h"
#include "core/quant/weight_only/torch_sums.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kHqqSteps = 20;
constexpr double kNorm = 0.7, kFirstBeta = 10, kBetaGrowth = 1.01;
constexpr float kLargestInverse = 2e4f;
constexpr size_t kSolverRows = 256;

/// The weight as PyTorch holds it: one row a block, or, where a block is a whole column, the matrix as it was.
class Hqq {
public:
    Hqq(std::span<const float> values, const Tensor& matrix, const BlockRules& rules)
        : m_rules(rules)
        , m_out(BlockMatrix::sized(matrix, rules.blockSize))
        , m_real(matrix.dtype())
        , m_size(static_cast<size_t>(rules.blockSize))
        , m_count(m_out.scales.size())
        , m_turned(m_out.rows == rules.blockSize && m_out.columns > 1)
        , m_weight(m_count * m_size)
        , m_inverse(m_count)
        , m_zero(m_count)
    {
        const auto rows = static_cast<size_t>(m_out.rows), columns = static_cast<size_t>(m_out.columns);
        const auto blocks = static_cast<size_t>(m_out.blocks);
        eachBlock([&](size_t b) {
            const size_t column = b / blocks, from = b % blocks * m_size;
            for (size_t i = 0; i < m_size; ++i)
                m_weight[place(b, i)] = from + i < rows ? values[(from + i) * columns + column] : 0.0f;
        });
    }

    BlockMatrix run()
    {
        const auto levels = static_cast<float>(m_rules.levels());
        eachBlock([&](size_t b) {
            float low = m_weight[place(b, 0)], high = low;
            for (size_t i = 1; i < m_size; ++i) {
                low = std::min(low, m_weight[place(b, i)]);
                high = std::max(high, m_weight[place(b, i)]);
            }
            const float width = high - low;
            m_inverse[b] = std::min(1.0f / (width == 0 ? levels : width) * levels, kLargestInverse);
            m_zero[b] = roundHalfEven(-low * m_inverse[b]);
        });
        optimize();
        finish();
        return std::move(m_out);
    }

private:
    size_t place(size_t block, size_t i) const { return m_turned ? i * m_count + block : block * m_size + i; }
    template <class Work> void eachBlock(const Work& work)
    {
        parallelFor((m_count + kSolverRows - 1) / kSolverRows, m_rules.threads, [&](size_t part, size_t) {
            for (size_t b = part * kSolverRows; b < std::min((part + 1) * kSolverRows, m_count); ++b)
                work(b);
        });
    }
    float code(size_t block, float weight) const
    {
        return roundedWithin(weight * m_inverse[block] + m_zero[block], static_cast<float>(m_rules.levels()));
    }

    /// What is left of an error after the proximal step of the norm.
    static float shrunk(float error, float inverseBeta, float untouched)
    {
        const float size = std::abs(error);
        if (size < untouched)
            return 0;
        const auto power = static_cast<float>(std::pow(double(size + 1e-8f), double(static_cast<float>(kNorm - 1))));
        const float left = size - inverseBeta * power;
        return left > 0 ? std::copysign(left, error) : 0;
    }

    void optimize()
    {
        std::vector<float> errors(m_weight.size()), shares(m_weight.size());
        double best = 1e4, beta = kFirstBeta;
        for (int step = 0; step < kHqqSteps; ++step, beta *= kBetaGrowth) {
            const auto inverseBeta = static_cast<float>(1.0 / beta);
            const auto untouched = static_cast<float>(0.99 * std::pow(1 / beta, 1 / (2 - kNorm)));
            eachBlock([&](size_t b) {
                const float inverse = m_inverse[b], zero = m_zero[b], levels = static_cast<float>(m_rules.levels());
                const size_t stride = m_turned ? m_count : 1, end = m_size * stride;
                const float* weight = m_weight.data() + place(b, 0);
                float *error = errors.data() + place(b, 0), *share = shares.data() + place(b, 0);
                float largest = 0;
                for (size_t i = 0; i < end; i += stride) {
                    const float w = weight[i], q = roundedWithin(w * inverse + zero, levels);
                    error[i] = std::abs(w - (q - zero) / inverse);
                    share[i] = q - w * inverse;
                    largest = std::max(largest, error[i]);
                }
                for (size_t i = 0; largest >= untouched && i < end; i += stride) {
                    const float w = weight[i], q = roundedWithin(w * inverse + zero, levels);
                    share[i] = q - (w - shrunk(w - (q - zero) / inverse, inverseBeta, untouched)) * inverse;
                }
            });
            eachBlock([&](size_t b) {
                const float sum = m_turned ? torchColumnSum(shares.data(), m_size, m_count, b)
                                           : torchSum(shares.data() + b * m_size, m_size);
                m_zero[b] = sum / static_cast<float>(m_size);
            });
            const double error = torchSum(errors.data(), errors.size()) / static_cast<float>(errors.size());
            if (!(error < best))
                return;
            best = error;
        }
    }

    void finish()
    {
        const auto rows = static_cast<size_t>(m_out.rows), blocks = static_cast<size_t>(m_out.blocks);
        m_out.realZeros.resize(m_count);
        eachBlock([&](size_t b) {
            const size_t column = b / blocks, from = b % blocks * m_size;
            for (size_t i = 0; i < m_size && from + i < rows; ++i)
                m_out.codes[column * rows + from + i] = static_cast<uint8_t>(code(b, m_weight[place(b, i)]));
            m_out.zeroPoints[b] = static_cast<uint8_t>(code(b, 0));
            m_out.scales[b] = roundedTo(m_real, double(1.0f / m_inverse[b]));
            m_out.realZeros[b] = roundedTo(m_real, double(m_zero[b]));
        });
    }

    const BlockRules& m_rules;
    BlockMatrix m_out;
    DType m_real;
    size_t m_size, m_count; ///< elements of a block, blocks
    bool m_turned;
    std::vector<float> m_weight, m_inverse, m_zero; ///< inverse scales
};

} // namespace

BlockMatrix hqqBlocks(std::span<const float> values, const Tensor& matrix, const BlockRules& rules)
{
    return Hqq(values, matrix, rules).run();
}

} // namespace qs
