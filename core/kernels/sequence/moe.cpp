// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/sequence/moe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

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

/// By byte of four codes: what their lower and their upper bits choose.
constexpr std::array<std::array<uint8_t, 2>, 256> kBitsOfFour = [] {
    std::array<std::array<uint8_t, 2>, 256> bits {};
    for (size_t byte = 0; byte < 256; ++byte)
        for (size_t i = 0; i < 8; ++i)
            bits[byte][i % 2] |= static_cast<uint8_t>((byte >> i & 1) << (i / 2));
    return bits;
}();

/// What elements of x with one scale become.
struct SignedSums {
    std::vector<std::array<int32_t, 16>> fours; ///< by bits that are set where an element is added, else taken away
    float scale = 0;
    double sum = 0; ///< of the elements
};

SignedSums signedSums(const double* x, size_t count)
{
    SignedSums s;
    s.fours.resize(count / 4);
    float most = 0;
    const auto at = [&](size_t i) { return static_cast<float>(x[i]); };
    for (size_t i = 0; i < count; i += 4)
        most = std::max(most, std::abs(at(i)) + std::abs(at(i + 1)) + std::abs(at(i + 2)) + std::abs(at(i + 3)));
    s.scale = most / 127;
    for (size_t i = 0; i < count; ++i)
        s.sum += double(at(i));
    if (!std::isfinite(s.sum) || !std::isfinite(most)) { // no codes: the sum alone says so
        s.scale = 0;
        s.sum = std::numeric_limits<double>::quiet_NaN();
    }
    for (size_t f = 0; f < s.fours.size() && s.scale > 0; ++f)
        for (size_t bits = 0; bits < 16; ++bits) {
            float sum = 0;
            for (size_t i = 0; i < 4; ++i)
                sum += bits >> i & 1 ? at(4 * f + i) : -at(4 * f + i);
            s.fours[f][bits] = static_cast<int32_t>(std::nearbyint(sum / s.scale));
        }
    return s;
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

void expertTableProduct(const TwoBitWeights& w, const double* bias, const double* x, double* y)
{
    const size_t together = std::min<size_t>(w.block, 64), blocks = w.depth / w.block;
    for (size_t r = 0; r < w.rows; ++r)
        y[r] = bias ? bias[r] : 0;
    for (size_t first = 0; first < w.depth; first += together) {
        const SignedSums s = signedSums(x + first, together);
        for (size_t r = 0; r < w.rows; ++r) {
            const uint8_t* codes = w.codes + (r * w.depth + first) / 4;
            int32_t sum = 0; // in halves
            for (size_t f = 0; f < s.fours.size(); ++f) {
                const auto& bits = kBitsOfFour[codes[f]];
                sum += s.fours[f][bits[0]] + 2 * s.fours[f][bits[1]];
            }
            const size_t at = r * blocks + first / w.block;
            const double zero = w.zeroPoints ? double(w.zeroPoints[at]) : 2;
            y[r] += double(w.scales[at]) * (double(sum) / 2 * double(s.scale) + (1.5 - zero) * s.sum);
        }
    }
}

} // namespace qs
