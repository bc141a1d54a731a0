// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/tensor.h"

#include <vector>

namespace qs {

/// A few elements of a tensor in place of all of it: enough to tell whether two values are the same. Values with
/// equally many elements are looked at in the same places of their row-major order, so a reshape changes nothing.
class ValueSketch {
public:
    /// Adds what the value is in one more sample. False for what is no tensor of numbers.
    bool add(const Tensor& value);
    /// Adds further samples of the same value.
    void append(const ValueSketch& more);
    /// Elements that are codes become (code - zero) * scale.
    void scale(double factor, double zero);
    /// Numbers that count, none that measure: codes no longer do once they are scaled.
    bool isInteger() const { return m_integer; }
    size_t size() const { return m_elements.size(); }
    /// Elements of the value, in each sample.
    const std::vector<int64_t>& counts() const { return m_counts; }
    /// Those that are looked at, of all samples.
    const std::vector<float>& elements() const { return m_elements; }
    /// Median size of the elements that are neither zero, in float16 either, nor masked scores.
    double usual() const { return m_usual; }
    /// A score that a mask takes out, or such an element of the mask.
    bool isMasked(size_t i) const;
    /// It has several elements and is not the same number everywhere.
    bool tells() const { return m_tells; }
    /// Their sizes are so unlike that they are far apart, whatever the elements are.
    bool isFarFrom(const ValueSketch& other) const
    {
        constexpr double kMost = 4;
        return m_usual > kMost * other.m_usual || other.m_usual > kMost * m_usual;
    }
    /// Mean distance of the elements, each relative to its size or to what is usual in the value: 0 for equal values,
    /// about e for a relative error of e, about 1 for values that have nothing in common, 2 at most. Elements that are
    /// zero in both, or scores that both mask, are passed over, so masks and many zeros (Relu) hide nothing. Stops
    /// where it is sure to be above `limit`, and returns something above it. Infinite for values of other sizes.
    double distance(const ValueSketch& other, double limit = 2) const;

private:
    void summarize();

    std::vector<float> m_elements;
    std::vector<int64_t> m_counts;
    double m_usual = 0;
    bool m_tells = false;
    bool m_integer = false;
    bool m_masks = false; ///< scores, some of which a mask has taken out, or the mask
};

} // namespace qs
