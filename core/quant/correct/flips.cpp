// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/flips.h"

#include "core/kernels/product/matmul.h"
#include "core/tensor/eigen_map.h"

namespace qs {

namespace {

constexpr int kMostFlipSweeps = 50;
constexpr double kDamping = 0.01; ///< share of the mean diagonal
constexpr size_t kWorthPacking = 32; ///< values of a row from which the fast product pays

} // namespace

std::vector<float> gramMatrix(std::span<const float> rows, size_t size)
{
    std::vector<float> gram(size * size, 0);
    const size_t count = rows.size() / size;
    if (count == 0)
        return gram;
    auto sums = matrixMap(gram.data(), size, size);
    if (size >= kWorthPacking) {
        const auto n = static_cast<int64_t>(size);
        FloatMatmul(nullptr).multiply(
            { n, static_cast<int64_t>(count), n, true, false }, rows.data(), rows.data(), gram.data());
    } else {
        const auto all = matrixMap(rows.data(), count, size);
        for (size_t r = 0; r < count; ++r)
            sums.noalias() += all.row(r).transpose() * all.row(r);
    }
    sums /= static_cast<float>(count);
    double diagonal = 0;
    for (const float g : sums.diagonal())
        diagonal += double(g) / double(size);
    sums.diagonal().array() += static_cast<float>(kDamping * diagonal);
    return gram;
}

double outputError(std::span<const float> gram, std::span<const float> error)
{
    const RowVector<double> e = rowMap(error).cast<double>();
    return matrixMap(gram.data(), e.size(), e.size()).cast<double>().lazyProduct(e.transpose()).dot(e.transpose());
}

std::vector<bool> chooseFlips(std::span<const float> gram, std::span<const float> error, std::span<const float> steps)
{
    const size_t n = error.size();
    std::vector<bool> flipped(n, false);
    std::vector<float> now(error.begin(), error.end());
    const auto products = matrixMap(gram.data(), n, n);
    RowVector<float> slope = RowVector<float>::Zero(n);
    for (size_t i = 0; i < n; ++i)
        if (error[i] != 0)
            slope += error[i] * products.row(i);
    bool changed = false;
    for (int sweep = 0; sweep < kMostFlipSweeps; ++sweep) {
        bool still = true;
        for (size_t i = 0; i < n; ++i) {
            const float step = flipped[i] ? -steps[i] : steps[i];
            const double gain = double(step) * (2 * double(slope[i]) + double(step) * double(products(i, i)));
            if (step == 0 || !(gain < 0))
                continue;
            slope += step * products.row(i);
            now[i] += step;
            flipped[i] = !flipped[i];
            still = false;
            changed = true;
        }
        if (still)
            break;
    }
    // The slopes carry rounding errors, so the sum is the judge.
    if (changed && !(outputError(gram, now) <= outputError(gram, error)))
        flipped.assign(n, false);
    return flipped;
}

} // namespace qs
