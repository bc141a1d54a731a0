// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/text_ml/class_scores.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

void softmaxScores(double* scores, size_t count, bool leaveZeros)
{
    const double most = *std::max_element(scores, scores + count);
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
        const bool zero = leaveZeros && std::abs(scores[i]) <= 1e-7;
        scores[i] = zero ? scores[i] * std::exp(-most) : std::exp(scores[i] - most);
        sum += zero ? 0 : scores[i];
    }
    for (size_t i = 0; i < count && sum != 0; ++i)
        scores[i] /= sum;
}

double inverseErf(double x)
{
    constexpr double a = 0.147, pi = 3.14159;
    const double logarithm = std::log((1 - x) * (1 + x));
    const double v = 2 / (pi * a) + 0.5 * logarithm;
    return std::copysign(std::sqrt(std::sqrt(v * v - logarithm / a) - v), x);
}

} // namespace

double logistic(double x) noexcept
{
    const double v = 1 / (1 + std::exp(-std::abs(x)));
    return x < 0 ? 1 - v : v;
}

void transformScores(ScoreTransform transform, double* scores, size_t count) noexcept
{
    if (count == 0 || transform == ScoreTransform::None)
        return;
    if (transform == ScoreTransform::Softmax || transform == ScoreTransform::SoftmaxZero)
        return softmaxScores(scores, count, transform == ScoreTransform::SoftmaxZero);
    for (size_t i = 0; i < count; ++i)
        scores[i] = transform == ScoreTransform::Logistic ? logistic(scores[i])
                                                          : std::sqrt(2.0) * inverseErf(2 * scores[i] - 1);
}

double kernelProduct(const VectorKernelParameters& k, const double* a, const double* b, size_t size) noexcept
{
    double sum = 0;
    for (size_t i = 0; i < size; ++i)
        sum += k.kind == VectorKernel::Gaussian ? (a[i] - b[i]) * (a[i] - b[i]) : a[i] * b[i];
    switch (k.kind) {
    case VectorKernel::Linear:
        return sum;
    case VectorKernel::Polynomial:
        return std::pow(k.gamma * sum + k.offset, k.degree);
    case VectorKernel::Gaussian:
        return std::exp(-k.gamma * sum);
    case VectorKernel::Sigmoid:
        return std::tanh(k.gamma * sum + k.offset);
    }
    return sum;
}

void coupleProbabilities(const double* pairs, size_t classes, double* work, double* out) noexcept
{
    double* const q = work;
    double* const products = work + classes * classes;
    for (size_t t = 0; t < classes; ++t) {
        out[t] = 1.0 / double(classes);
        q[t * classes + t] = 0;
        for (size_t j = 0; j < classes; ++j)
            if (j != t) {
                q[t * classes + t] += pairs[j * classes + t] * pairs[j * classes + t];
                q[t * classes + j] = -pairs[j * classes + t] * pairs[t * classes + j];
            }
    }
    const double enough = 0.005 / double(classes);
    for (size_t round = 0; round < std::max<size_t>(100, classes); ++round) {
        double whole = 0;
        for (size_t t = 0; t < classes; ++t) {
            products[t] = 0;
            for (size_t j = 0; j < classes; ++j)
                products[t] += q[t * classes + j] * out[j];
            whole += out[t] * products[t];
        }
        double worst = 0;
        for (size_t t = 0; t < classes; ++t)
            worst = std::max(worst, std::abs(products[t] - whole));
        if (worst < enough)
            return;
        for (size_t t = 0; t < classes; ++t) {
            const double step = (whole - products[t]) / q[t * classes + t];
            out[t] += step;
            whole = (whole + step * (step * q[t * classes + t] + 2 * products[t])) / (1 + step) / (1 + step);
            for (size_t j = 0; j < classes; ++j) {
                products[j] = (products[j] + step * q[t * classes + j]) / (1 + step);
                out[j] /= 1 + step;
            }
        }
    }
}

} // namespace qs
