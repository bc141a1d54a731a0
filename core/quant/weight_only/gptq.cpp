// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/gptq.h"

#include "core/base/rounding.h"
#include "core/base/work/parallel.h"
#include "core/kernels/statistics/numpy_sums.h"
#include "core/quant/params/scale.h"
#include "core/quant/weight_only/block_codes.h"
#include "core/quant/weight_only/hessian.h"
#include "core/tensor/convert.h"
#include "core/tensor/eigen_map.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qs {

namespace {

constexpr size_t kGptqTile = 64;
constexpr int kGrid = 100, kTrials = 80; ///< of searchScale: shrunk by up to 0.8
constexpr double kErrorNorm = 2.4;

struct Grid {
    double scale = 1, zero = 0;
};

class Gptq {
public:
    Gptq(const Tensor& matrix, const InputProducts& inputs, const BlockRules& rules, const GptqOptions& options)
        : m_matrix(matrix)
        , m_rules(rules)
        , m_options(options)
        , m_real(matrix.dtype())
        , m_rows(static_cast<size_t>(matrix.dim(0)))
        , m_columns(static_cast<size_t>(matrix.dim(1)))
        , m_group(static_cast<size_t>(rules.blockSize))
        , m_order(m_rows)
        , m_weight(matrixMap(toFloats(matrix).data(), matrix.dim(0), matrix.dim(1)))
    {
        std::iota(m_order.begin(), m_order.end(), size_t(0));
        std::vector<double> diagonal = inputs.diagonal;
        for (size_t r = 0; r < m_rows; ++r)
            if (diagonal[r] == 0) { // never active, so it contributes nothing
                diagonal[r] = 1;
                m_weight.row(r).setZero();
            }
        if (options.reorder)
            std::ranges::stable_sort(m_order, [&](size_t a, size_t b) { return diagonal[a] > diagonal[b]; });
    }

    /// As ONNX Runtime: each group's values on the grid of that group, and round to nearest of what they became.
    BlockMatrix withoutSpreading()
    {
        m_weight = m_weight(m_order, Eigen::all).eval();
        const auto grids = allGrids();
        std::vector<float> rounded(m_rows * m_columns);
        eachTile([&](size_t first, size_t width) {
            for (size_t i = 0; i < m_rows; ++i)
                for (size_t c = first; c < first + width; ++c)
                    rounded[m_order[i] * m_columns + c]
                        = roundedTo(m_real, onGrid(double(m_weight(i, c)), grids[i / m_group][c]).value);
        });
        return nearestBlocks(rounded, m_matrix, m_rules);
    }

    /// `root`: see inverseRoot(); of the rows in order().
    BlockMatrix withSpreading(const std::vector<double>& root)
    {
        BlockMatrix out = BlockMatrix::sized(m_matrix, m_rules.blockSize);
        const size_t groups = static_cast<size_t>(out.blocks);
        const auto factors = matrixMap(root.data(), m_rows, m_rows);
        // Groups are those of the file, so out of order their grids are fixed before anything moves.
        const bool fixed = m_options.reorder || !m_options.perChannel;
        auto grids = fixed ? allGrids() : std::vector(groups, std::vector<Grid>(m_columns));
        m_weight = m_weight(m_order, Eigen::all).eval();
        eachTile([&](size_t first, size_t width) {
            RowVector<float> error(width);
            for (size_t i = 0; i < m_rows; ++i) {
                const size_t row = m_order[i], g = row / m_group;
                if (!fixed && row % m_group == 0)
                    gridsOf(row, std::span(grids[g]).subspan(first, width), first);
                for (size_t c = 0; c < width; ++c) {
                    const double w = double(m_weight(i, first + c));
                    const Rounded r = onGrid(w, grids[g][first + c]);
                    out.codes[(first + c) * m_rows + row] = r.code;
                    error[c] = static_cast<float>((w - r.value) / factors(i, i));
                }
                const size_t later = m_rows - i - 1;
                m_weight.block(i + 1, first, later, width).noalias()
                    -= factors.row(i).tail(later).transpose().cast<float>() * error;
            }
            for (size_t g = 0; g < groups; ++g)
                for (size_t c = 0; c < width; ++c) {
                    out.scales[out.at(first + c, g)] = static_cast<float>(grids[g][first + c].scale);
                    out.zeroPoints[out.at(first + c, g)] = static_cast<uint8_t>(grids[g][first + c].zero);
                }
        });
        return out;
    }

    const std::vector<size_t>& order() const { return m_order; }

private:
    struct Rounded {
        uint8_t code;
        double value;
    };
    double levels() const { return m_rules.levels(); }
    Rounded onGrid(double w, const Grid& g) const
    {
        const double code = clampOr(roundHalfEven(w / g.scale) + g.zero, 0, levels());
        return { static_cast<uint8_t>(code), g.scale * (code - g.zero) };
    }
    template <class Work> void eachTile(const Work& work) const
    {
        parallelFor((m_columns + kGptqTile - 1) / kGptqTile, m_rules.threads,
            [&](size_t tile, size_t) { work(tile * kGptqTile, std::min(kGptqTile, m_columns - tile * kGptqTile)); });
    }

    /// By group of rows as they lie now, and column.
    std::vector<std::vector<Grid>> allGrids() const
    {
        std::vector<std::vector<Grid>> grids((m_rows + m_group - 1) / m_group, std::vector<Grid>(m_columns));
        parallelFor(grids.size(), m_rules.threads, [&](size_t g, size_t) { gridsOf(g * m_group, grids[g], 0); });
        return grids;
    }

    /// Grids of the group that begins with row `from`, for the columns from `first` on.
    void gridsOf(size_t from, std::span<Grid> grids, size_t first) const
    {
        const auto group = m_weight.block(from, first, std::min(m_group, m_rows - from), grids.size());
        if (!m_options.perChannel) {
            const RowMatrix<double> values = group.cast<double>();
            std::ranges::fill(grids, gridOf({ values.data(), size_t(values.size()) }));
            return;
        }
        for (size_t c = 0; c < grids.size(); ++c) {
            const Eigen::VectorXd values = group.col(c).cast<double>();
            grids[c] = gridOf({ values.data(), size_t(values.size()) });
        }
    }

    Grid gridOf(std::span<const double> values) const
    {
        const auto [least, most] = std::ranges::minmax_element(values);
        double low = std::min(*least, 0.0), high = std::max(*most, 0.0);
        if (m_rules.symmetric) {
            high = std::max(std::abs(low), high);
            low = low < 0 ? -high : low;
        }
        if (low == 0 && high == 0) {
            low = -1;
            high = 1;
        }
        const auto made = [&](double a, double b) {
            Grid g { (b - a) / levels(), 0 };
            if (m_options.spreadErrors) // what is stored
                g.scale = double(std::max(roundedTo(m_real, g.scale), static_cast<float>(smallestNormal(m_real))));
            g.zero = m_rules.symmetric ? (levels() + 1) / 2 : roundHalfEven(-a / g.scale);
            if (m_options.spreadErrors)
                g.zero = std::clamp(g.zero, 0.0, levels());
            return g;
        };
        Grid best = made(low, high);
        if (!m_options.searchScale)
            return best;
        double smallest = INFINITY;
        std::vector<double> errors(values.size());
        for (int i = 0; i < kTrials; ++i) {
            const double p = 1 - double(i) / kGrid;
            const Grid g = made(p * low, p * high);
            for (size_t k = 0; k < values.size(); ++k) {
                const Rounded r = onGrid(values[k], g);
                // ONNX Runtime's code compares the codes themselves with the values.
                const double got = m_options.spreadErrors ? r.value : double(r.code);
                errors[k] = std::pow(std::abs(got - values[k]), kErrorNorm);
            }
            const double error = m_options.perChannel ? std::accumulate(errors.begin(), errors.end(), 0.0)
                                                      : numpySum(std::span<const double>(errors));
            if (error < smallest) {
                smallest = error;
                best = g;
            }
        }
        return best;
    }

    const Tensor& m_matrix;
    const BlockRules& m_rules;
    const GptqOptions& m_options;
    DType m_real;
    size_t m_rows, m_columns, m_group;
    std::vector<size_t> m_order; ///< rows as they are worked through
    RowMatrix<float> m_weight;
};

} // namespace

Result<BlockMatrix> gptqBlocks(
    const Tensor& matrix, const InputProducts& inputs, const BlockRules& rules, const GptqOptions& options)
{
    const std::vector<float> values = toFloats(matrix);
    if (std::ranges::any_of(values, [](float v) { return !std::isfinite(v); }))
        return badInput(
            "holds NaN or infinity, which no scale can represent", {}, "repair the model, or exclude its node");
    Gptq gptq(matrix, inputs, rules, options);
    if (!options.spreadErrors)
        return gptq.withoutSpreading();
    const size_t n = inputs.size;
    const double mean = std::accumulate(inputs.diagonal.begin(), inputs.diagonal.end(), 0.0) / static_cast<double>(n);
    std::vector<double> h(n * n);
    const auto& order = gptq.order();
    auto hessian = matrixMap(h.data(), n, n);
    hessian = matrixMap(inputs.full.data(), n, n)(order, order);
    for (size_t i = 0; i < n; ++i)
        if (inputs.diagonal[order[i]] == 0)
            hessian(i, i) = 1;
    hessian.diagonal().array() += options.damping * mean;
    if (!inverseRoot(h, n, rules.threads))
        return badInput("has inputs whose products give no positive matrix", {},
            "raise weight_only.gptq.damping in the recipe, or give more samples");
    return gptq.withSpreading(h);
}

} // namespace qs
