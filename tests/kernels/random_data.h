// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

/// Seeded data and comparisons for kernel tests. A failure names the seed.
namespace qs::test {

class RandomData {
public:
    explicit RandomData(uint32_t seed)
        : m_engine(seed)
    {
    }
    int64_t integer(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(m_engine); }
    template <class T = float> std::vector<T> floats(int64_t n)
    {
        std::normal_distribution<double> distribution;
        std::vector<T> out(static_cast<size_t>(n));
        for (T& v : out)
            v = static_cast<T>(distribution(m_engine));
        return out;
    }
    template <class T> std::vector<T> integers(int64_t n, int64_t low, int64_t high)
    {
        std::vector<T> out(static_cast<size_t>(n));
        for (T& v : out)
            v = static_cast<T>(integer(low, high));
        return out;
    }

private:
    std::mt19937 m_engine;
};

template <class T> std::vector<double> widened(const std::vector<T>& v) { return { v.begin(), v.end() }; }

/// Empty when each element is within `tolerance` times the largest magnitude; otherwise what differs most.
template <class T> std::string difference(std::span<const T> actual, std::span<const double> expected, double tolerance)
{
    if (actual.size() != expected.size())
        return "sizes differ";
    double largest = 0;
    for (double v : expected)
        largest = std::isfinite(v) ? std::max(largest, std::abs(v)) : largest;
    for (size_t i = 0; i < actual.size(); ++i) {
        const double a = double(actual[i]), e = expected[i];
        if (a == e || (std::isnan(a) && std::isnan(e)))
            continue;
        if (!(std::abs(a - e) <= tolerance * largest))
            return "element " + std::to_string(i) + " is " + std::to_string(a) + ", not " + std::to_string(e);
    }
    return {};
}

/// 64-byte aligned scratch memory.
inline std::unique_ptr<std::byte, decltype(&std::free)> scratchMemory(size_t bytes)
{
    return { static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64)), &std::free };
}

} // namespace qs::test
