// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/moe.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace qs {

namespace {

double activated(const ExpertFunction& f, double x)
{
    switch (f.kind) {
    case ExpertActivation::Relu:
        return std::max(x, 0.0);
    case ExpertActivation::Gelu:
        return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case ExpertActivation::Silu:
        return x / (1 + std::exp(-x));
    case ExpertActivation::Swiglu: {
        const double g = std::min(x, f.limit);
        return g / (1 + std::exp(-f.alpha * g));
    }
    case ExpertActivation::Identity:
        break;
    }
    return x;
}

} // namespace

void activateExpert(
    const ExpertFunction& f, const double* gate, const double* linear, size_t step, size_t count, double* out) noexcept
{
    const bool swiglu = f.kind == ExpertActivation::Swiglu;
    for (size_t i = 0; i < count; ++i) {
        const double l = !linear ? 1
            : swiglu             ? std::clamp(linear[i * step], -f.limit, f.limit) + f.beta
                                 : linear[i * step];
        out[i] = activated(f, gate[i * step]) * l;
    }
}

void chooseExperts(const double* logits, const double* weights, size_t experts, size_t k, bool normalize,
    size_t* chosen, double* share) noexcept
{
    double all = 0, sum = 0;
    const double most = *std::max_element(logits, logits + experts);
    for (size_t i = 0; i < experts; ++i)
        all += std::exp(logits[i] - most);
    for (size_t n = 0; n < k; ++n) {
        size_t best = experts;
        for (size_t i = 0; i < experts; ++i)
            if (std::find(chosen, chosen + n, i) == chosen + n && (best == experts || logits[i] > logits[best]))
                best = i;
        chosen[n] = best;
        share[n] = weights ? weights[best] : std::exp(logits[best] - most) / all;
        sum += share[n];
    }
    for (size_t n = 0; n < k && normalize && sum != 0; ++n)
        share[n] /= sum;
}

void expertProduct(const float* w, const double* bias, const double* x, size_t rows, size_t depth, double* y) noexcept
{
    for (size_t r = 0; r < rows; ++r, w += depth) {
        double sum = bias ? bias[r] : 0;
        for (size_t i = 0; i < depth; ++i)
            sum += double(w[i]) * x[i];
        y[r] = sum;
    }
}

} // namespace qs
