// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/product/einsum.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Step of every label in a dense tensor with these axes.
std::vector<int64_t> labelSteps(const std::vector<int>& labels, std::span<const int64_t> sizes)
{
    std::vector<int64_t> steps(sizes.size(), 0);
    int64_t step = 1;
    for (size_t d = labels.size(); d-- > 0;) {
        steps[size_t(labels[d])] += step;
        step *= sizes[size_t(labels[d])];
    }
    return steps;
}

} // namespace

template <class T>
void sumOfProducts(std::span<const LabelledOperand<T>> operands, std::span<const int64_t> sizes,
    const std::vector<int>& labels, T* out)
{
    std::vector<std::vector<int64_t>> steps;
    for (const auto& operand : operands)
        steps.push_back(labelSteps(operand.labels, sizes));
    const std::vector<int64_t> outSteps = labelSteps(labels, sizes);
    int64_t outCount = 1, points = 1;
    for (int label : labels)
        outCount *= sizes[size_t(label)];
    for (int64_t size : sizes)
        points *= size;
    std::fill_n(out, outCount, T(0));
    std::vector<int64_t> index(sizes.size(), 0);
    for (int64_t p = 0; p < points; ++p) {
        T value = 1;
        for (size_t k = 0; k < operands.size(); ++k) {
            int64_t at = 0;
            for (size_t label = 0; label < sizes.size(); ++label)
                at += index[label] * steps[k][label];
            value *= operands[k].data[at];
        }
        int64_t to = 0;
        for (size_t label = 0; label < sizes.size(); ++label)
            to += index[label] * outSteps[label];
        out[to] += value;
        for (size_t label = sizes.size(); label-- > 0;) {
            if (++index[label] < sizes[label])
                break;
            index[label] = 0;
        }
    }
}
template void sumOfProducts<double>(
    std::span<const LabelledOperand<double>>, std::span<const int64_t>, const std::vector<int>&, double*);
template void sumOfProducts<uint64_t>(
    std::span<const LabelledOperand<uint64_t>>, std::span<const int64_t>, const std::vector<int>&, uint64_t*);

namespace {

/// The matrix is used up.
double determinant(std::vector<double>& m, int64_t n)
{
    double result = 1;
    const auto row = [&](int64_t r) { return m.begin() + r * n; };
    for (int64_t k = 0; k < n; ++k) {
        int64_t pivot = k;
        for (int64_t r = k + 1; r < n; ++r)
            if (std::abs(row(r)[k]) > std::abs(row(pivot)[k]))
                pivot = r;
        if (row(pivot)[k] == 0)
            return 0;
        if (pivot != k) {
            std::swap_ranges(row(k), row(k) + n, row(pivot));
            result = -result;
        }
        result *= row(k)[k];
        for (int64_t r = k + 1; r < n; ++r) {
            const double factor = row(r)[k] / row(k)[k];
            for (int64_t i = k; i < n; ++i)
                row(r)[i] -= factor * row(k)[i];
        }
    }
    return result;
}

/// Rows of a matrix beside its inverse in the making, n x 2n.
void eliminate(std::vector<double>& rows, size_t n)
{
    const size_t width = 2 * n;
    for (size_t c = 0; c < n; ++c) {
        size_t pivot = c;
        for (size_t r = c + 1; r < n; ++r)
            if (std::abs(rows[r * width + c]) > std::abs(rows[pivot * width + c]))
                pivot = r;
        std::swap_ranges(&rows[c * width], &rows[c * width] + width, &rows[pivot * width]);
        const double divisor = rows[c * width + c];
        for (size_t k = 0; k < width; ++k)
            rows[c * width + k] /= divisor;
        for (size_t r = 0; r < n; ++r) {
            const double factor = rows[r * width + c];
            for (size_t k = 0; r != c && k < width; ++k)
                rows[r * width + k] -= factor * rows[c * width + k];
        }
    }
}

} // namespace

template <class T> void inverses(int64_t count, int64_t n, const T* x, T* y)
{
    const auto size = static_cast<size_t>(n), width = 2 * size;
    std::vector<double> rows(size * width);
    for (int64_t i = 0; i < count && n > 0; ++i, x += n * n, y += n * n) {
        for (size_t r = 0; r < size; ++r)
            for (size_t k = 0; k < size; ++k) {
                rows[r * width + k] = double(x[r * size + k]);
                rows[r * width + size + k] = r == k;
            }
        eliminate(rows, size);
        for (size_t r = 0; r < size; ++r)
            for (size_t k = 0; k < size; ++k)
                y[r * size + k] = T(rows[r * width + size + k]);
    }
}

template void inverses<float>(int64_t, int64_t, const float*, float*);
template void inverses<double>(int64_t, int64_t, const double*, double*);

template <class T> void determinants(int64_t count, int64_t n, const T* x, T* y)
{
    std::vector<double> matrix;
    for (int64_t i = 0; i < count; ++i) {
        matrix.assign(x + i * n * n, x + (i + 1) * n * n);
        y[i] = T(determinant(matrix, n));
    }
}
template void determinants<float>(int64_t, int64_t, const float*, float*);
template void determinants<double>(int64_t, int64_t, const double*, double*);

} // namespace qs
