// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/evidence/value_sketch.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int64_t kElements = 192; ///< of one sample
constexpr size_t kFirstLook = 32; ///< elements after which far values are given up
constexpr double kFar = 0.5;
/// Of scores that a mask takes out: -10000, the lowest number of half floats or of floats, with a score or without.
/// Which of them a file takes says nothing, and they would hide the scores that count, which are no larger than this.
constexpr float kMasked = -5e3f;
constexpr double kLargestScore = 100;
/// The least that float16 can tell from zero: what is smaller, as most of a sharp Softmax, is zero in one file alone,
/// and says nothing of what is usual.
constexpr float kLeastOfHalf = 0x1p-24f;

/// Places without a period, which a stride would have in common with the tensor's axes.
int64_t placeOf(int64_t i, int64_t count)
{
    if (count <= kElements)
        return i;
    auto x = uint64_t(i + 1) * 0x9e3779b97f4a7c15ULL; // splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return int64_t((x ^ (x >> 31)) % uint64_t(count));
}

} // namespace

bool ValueSketch::add(const Tensor& value)
{
    if (!value.valid() || value.dtype() == DType::String)
        return false;
    m_integer = qs::isInteger(value.dtype());
    const Tensor plain = toPlain(value);
    m_counts.push_back(plain.count());
    for (int64_t i = 0; i < std::min(plain.count(), kElements); ++i)
        m_elements.push_back(float(elementAsDouble(plain, placeOf(i, plain.count()))));
    summarize();
    return true;
}

void ValueSketch::append(const ValueSketch& more)
{
    m_elements.insert(m_elements.end(), more.m_elements.begin(), more.m_elements.end());
    m_counts.insert(m_counts.end(), more.m_counts.begin(), more.m_counts.end());
    summarize();
}

void ValueSketch::scale(double factor, double zero)
{
    for (float& v : m_elements)
        v = float((v - zero) * factor);
    m_integer = false;
    summarize();
}

namespace {

/// Of those that float16 has, if any are; 0 where there are none.
double median(std::vector<float> sizes)
{
    const auto isTiny = [](float size) { return size < kLeastOfHalf; };
    if (!std::ranges::all_of(sizes, isTiny))
        std::erase_if(sizes, isTiny);
    if (sizes.empty())
        return 0;
    std::ranges::nth_element(sizes, sizes.begin() + ptrdiff_t(sizes.size() / 2));
    return sizes[sizes.size() / 2];
}

} // namespace

void ValueSketch::summarize()
{
    std::vector<float> sizes, scores;
    bool anyMasked = false, anyOther = false;
    for (const float v : m_elements) {
        const bool masked = v <= kMasked;
        (masked ? anyMasked : anyOther) = true;
        if (v == 0 || !std::isfinite(v))
            continue;
        sizes.push_back(std::fabs(v));
        if (!masked)
            scores.push_back(std::fabs(v));
    }
    const double ofScores = median(std::move(scores));
    m_masks = anyMasked && anyOther && ofScores <= kLargestScore;
    m_usual = !m_masks ? median(std::move(sizes)) : ofScores > 0 ? ofScores : -double(kMasked); // or a mask alone
    m_tells = m_usual > 0 && std::ranges::any_of(m_elements, [&](float v) { return v != m_elements[0]; });
}

bool ValueSketch::isMasked(size_t i) const { return m_masks && m_elements[i] <= kMasked; }

double ValueSketch::distance(const ValueSketch& other, double limit) const
{
    if (m_counts != other.m_counts)
        return HUGE_VAL;
    const double usual = (m_usual + other.m_usual) / 2;
    double sum = 0; // the mean is at least this by the number of all elements
    size_t looked = 0;
    for (size_t i = 0; i < m_elements.size(); ++i) {
        const double a = m_elements[i], b = other.m_elements[i];
        if ((a == 0 && b == 0) || (std::isnan(a) && std::isnan(b)) || (isMasked(i) && other.isMasked(i)))
            continue;
        ++looked;
        if (a != b) {
            const double d = 2 * std::fabs(a - b) / (std::max(std::fabs(a), std::fabs(b)) + usual);
            sum += std::isfinite(d) ? d : 2;
            if (sum > limit * double(m_elements.size()))
                return 2;
        }
        if (looked == kFirstLook && sum > std::max(kFar, 2 * limit) * double(kFirstLook))
            return 2;
    }
    return looked > 0 ? sum / double(looked) : 0;
}

} // namespace qs
