// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace qs {

/// Bins between rising edges: [e0, e1), [e1, e2) ... the last one closed. What lies outside is not counted. Edges
/// need not be even: a linear guess of the bin is trusted only where it is provably right.
class EdgeBins {
public:
    /// At least two edges, finite and never falling, which must outlive this; bins between equal edges stay empty.
    /// `magnitudes`: |x| is counted.
    EdgeBins(std::span<const float> edges, bool magnitudes);
    size_t bins() const { return m_edges.size() - 1; }
    /// counts[i] += values in bin i. `scratch` is kept between calls to save allocations.
    void count(std::span<const float> x, std::span<uint64_t> counts, std::vector<uint32_t>& scratch) const;
    void countReference(std::span<const float> x, std::span<uint64_t> counts) const;
    /// Bin of a value (of a magnitude, where these are counted); bins() for outside.
    size_t binOf(float value) const;

    /// A linear guess: (value - low) * inverse lies in a bin's interior by more than `slack` only when it is the bin.
    struct Guess {
        float low;
        float inverse;
        float slack;
        float first, last; ///< edges
        float most; ///< highest bin, as a float
        bool magnitudes;
    };

private:
    size_t near(float value, size_t guess) const;
    std::span<const float> m_edges;
    Guess m_guess {};
    bool m_guessed = false; ///< the edges are even enough
    size_t m_zeroBin = 0;
    bool m_magnitudes = false;
};

} // namespace qs
