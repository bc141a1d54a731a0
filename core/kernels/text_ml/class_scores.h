// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

/// What becomes of the scores of classes, and support vectors.
namespace qs {

enum class ScoreTransform : uint8_t { None, Softmax, Logistic, SoftmaxZero, Probit };

double logistic(double x) noexcept;
/// All scores of one row, in place. SoftmaxZero leaves zeros (1e-7 and less) out of the sum. Probit: of the normal
/// distribution, by Winitzki's approximation of the inverse error function, as ONNX Runtime takes it.
void transformScores(ScoreTransform transform, double* scores, size_t count) noexcept;

enum class VectorKernel : uint8_t { Linear, Polynomial, Gaussian, Sigmoid };
struct VectorKernelParameters {
    VectorKernel kind = VectorKernel::Linear;
    double gamma = 0, offset = 0, degree = 0;
};
double kernelProduct(const VectorKernelParameters& k, const double* a, const double* b, size_t size) noexcept;

/// Probabilities of `classes` classes from those of each pair, `pairs` (classes x classes): row i, column j holds how
/// likely i is among i and j. `work` holds classes x (classes + 1) numbers. Source: Wu, Lin and Weng, "Probability
/// estimates for multi-class classification by pairwise coupling" (2004), second method.
void coupleProbabilities(const double* pairs, size_t classes, double* work, double* out) noexcept;

} // namespace qs
