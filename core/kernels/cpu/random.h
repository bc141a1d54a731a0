// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace qs {

/// Random numbers by their index, so that they depend on neither threads nor order. Source: Steele et al., Fast
/// Splittable Pseudorandom Number Generators (SplitMix64).
class RandomNumbers {
public:
    explicit RandomNumbers(uint64_t seed)
        : m_seed(seed)
    {
    }
    /// Evenly in [0, 1).
    double uniform(uint64_t index) const { return static_cast<double>(bits(index) >> 11) * 0x1p-53; }
    /// Mean 0, deviation 1. Source: Box and Muller, A Note on the Generation of Random Normal Deviates.
    double normal(uint64_t index) const
    {
        const double radius = std::sqrt(-2 * std::log(1 - uniform(2 * index)));
        return radius * std::cos(2 * std::numbers::pi * uniform(2 * index + 1));
    }

private:
    uint64_t bits(uint64_t index) const
    {
        uint64_t z = m_seed + (index + 1) * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    uint64_t m_seed;
};

} // namespace qs
