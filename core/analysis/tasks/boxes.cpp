// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/boxes.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr size_t kMostBoxes = 300;

double areaOf(const Box& b) { return (double(b.right) - double(b.left)) * (double(b.bottom) - double(b.top)); }

struct Candidate {
    double overlap;
    size_t x, y;
};

std::vector<Candidate> candidatesOf(std::span<const Box> x, std::span<const Box> y, double least)
{
    std::vector<Candidate> list;
    for (size_t i = 0; i < x.size(); ++i)
        for (size_t j = 0; j < y.size(); ++j)
            if (const double overlap = overlapOf(x[i], y[j]); overlap > 0 && overlap >= least)
                list.push_back({ overlap, i, j });
    std::ranges::stable_sort(list, [](const Candidate& a, const Candidate& b) { return a.overlap > b.overlap; });
    return list;
}

} // namespace

double overlapOf(const Box& a, const Box& b)
{
    const double width = double(std::min(a.right, b.right)) - double(std::max(a.left, b.left));
    const double height = double(std::min(a.bottom, b.bottom)) - double(std::max(a.top, b.top));
    const double first = areaOf(a), second = areaOf(b);
    const bool real = std::isfinite(first) && std::isfinite(second) && first > 0 && second > 0;
    if (!real || !(width > 0) || !(height > 0))
        return 0;
    const double common = width * height;
    return common / (first + second - common);
}

std::vector<Box> suppressed(std::vector<Box> boxes, double overlap)
{
    std::ranges::stable_sort(boxes, [](const Box& a, const Box& b) { return a.score > b.score; });
    std::vector<Box> kept;
    for (const Box& box : boxes) {
        const bool covered = std::ranges::any_of(
            kept, [&](const Box& better) { return better.label == box.label && overlapOf(better, box) > overlap; });
        if (!covered)
            kept.push_back(box);
        if (kept.size() == kMostBoxes)
            break;
    }
    return kept;
}

BoxMatches matchedBoxes(std::span<const Box> x, std::span<const Box> y, double least)
{
    BoxMatches matches;
    std::vector<bool> usedX(x.size()), usedY(y.size());
    const auto candidates = candidatesOf(x, y, least);
    const auto take = [&](bool sameClass, auto& list) {
        for (const Candidate& c : candidates) {
            if (usedX[c.x] || usedY[c.y] || (x[c.x].label == y[c.y].label) != sameClass)
                continue;
            usedX[c.x] = usedY[c.y] = true;
            list.emplace_back(c.x, c.y);
        }
    };
    take(true, matches.same);
    take(false, matches.reclassed);
    return matches;
}

void BoxSums::merge(const BoxSums& other)
{
    samples += other.samples;
    floatBoxes += other.floatBoxes;
    quantBoxes += other.quantBoxes;
    matched += other.matched;
    reclassed += other.reclassed;
    overlap += other.overlap;
    confidence += other.confidence;
}

BoxSums boxSums(std::span<const Box> x, std::span<const Box> y, double least)
{
    const BoxMatches matches = matchedBoxes(x, y, least);
    BoxSums sums { 1, double(x.size()), double(y.size()), double(matches.same.size()),
        double(matches.reclassed.size()) };
    for (const auto& [i, j] : matches.same) {
        sums.overlap += overlapOf(x[i], y[j]);
        sums.confidence += std::fabs(double(x[i].score) - double(y[j].score));
    }
    return sums;
}

} // namespace qs
