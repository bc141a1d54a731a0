// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/flips.h"

#include "core/kernels/product/matmul.h"

#include <cstddef>

namespace qs {

namespace {

constexpr int kMostFlipSweeps = 50;
constexpr double kDamping = 0.01; ///< share of the mean diagonal

void addScaled(std::span<float> to, std::span<const float> from, float factor)
{
    for (size_t i = 0; i < to.size(); ++i)
        to[i] += factor * from[i];
}

/// gram = rows' rows.
void products(std::span<const float> rows, size_t size, std::span<float> gram)
{
    const auto n = static_cast<int64_t>(size);
    const auto count = static_cast<int64_t>(rows.size() / size);
    constexpr size_t kWorthPacking = 32;
    if (size >= kWorthPacking) {
        FloatMatmul matmul(nullptr);
        if (const auto product = matmul.prepare({ n, count, n, true, false })) {
            std::vector<std::byte> scratch(product->scratchBytes() + 64);
            const auto address = reinterpret_cast<uintptr_t>(scratch.data());
            if (product->run(rows.data(), rows.data(), gram.data(), scratch.data() + (64 - address % 64) % 64))
                return;
        }
    }
    for (float& g : gram)
        g = 0;
    for (size_t r = 0; r < rows.size(); r += size)
        for (size_t i = 0; i < size; ++i)
            addScaled(gram.subspan(i * size, size), rows.subspan(r, size), rows[r + i]);
}

} // namespace

std::vector<float> gramMatrix(std::span<const float> rows, size_t size)
{
    std::vector<float> gram(size * size, 0);
    const size_t count = rows.size() / size;
    if (count == 0)
        return gram;
    products(rows, size, gram);
    double diagonal = 0;
    for (float& g : gram)
        g /= static_cast<float>(count);
    for (size_t i = 0; i < size; ++i)
        diagonal += double(gram[i * size + i]) / double(size);
    for (size_t i = 0; i < size; ++i)
        gram[i * size + i] += static_cast<float>(kDamping * diagonal);
    return gram;
}

double outputError(std::span<const float> gram, std::span<const float> error)
{
    double sum = 0;
    for (size_t i = 0; i < error.size(); ++i) {
        double row = 0;
        for (size_t j = 0; j < error.size(); ++j)
            row += double(gram[i * error.size() + j]) * double(error[j]);
        sum += row * double(error[i]);
    }
    return sum;
}

std::vector<bool> chooseFlips(std::span<const float> gram, std::span<const float> error, std::span<const float> steps)
{
    const size_t n = error.size();
    std::vector<bool> flipped(n, false);
    std::vector<float> now(error.begin(), error.end()), slope(n, 0);
    for (size_t i = 0; i < n; ++i)
        if (error[i] != 0)
            addScaled(slope, gram.subspan(i * n, n), error[i]);
    bool changed = false;
    for (int sweep = 0; sweep < kMostFlipSweeps; ++sweep) {
        bool still = true;
        for (size_t i = 0; i < n; ++i) {
            const float step = flipped[i] ? -steps[i] : steps[i];
            const double gain = double(step) * (2 * double(slope[i]) + double(step) * double(gram[i * n + i]));
            if (step == 0 || !(gain < 0))
                continue;
            addScaled(slope, gram.subspan(i * n, n), step);
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
