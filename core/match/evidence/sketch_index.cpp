// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/evidence/sketch_index.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kScalesApart = 2; ///< powers of two between sketches that are not far from each other
constexpr double kSlack = 1e-5; ///< what rounding to float may take from a distance
constexpr size_t kLeaf = 8;

/// Between -1 and 1. |squashed(a) - squashed(b)| is at most 2 |a - b| / (max(|a|, |b|) + size), for any a and b.
double squashed(double x, double size)
{
    if (std::isnan(x))
        return 0;
    return std::isinf(x) ? std::copysign(1.0, x) : x / (std::fabs(x) + size);
}

/// Signs without a pattern: sums with them are small only where all that is added is.
double signOf(size_t i)
{
    auto x = uint64_t(i + 1) * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 29;
    return (x * 0xbf58476d1ce4e5b9ULL) >> 63 ? 1 : -1;
}

/// Axes added. Floats are exact enough: kSlack.
template <size_t Axes> double apart(const std::array<float, Axes>& a, const std::array<float, Axes>& b)
{
    float sum = 0;
    for (size_t axis = 0; axis < Axes; ++axis)
        sum += std::fabs(a[axis] - b[axis]);
    return double(sum);
}

} // namespace

// The elements of a sketch are squashed to the scale of its tree, dealt to a few axes and added there with signs, over
// their number: to many for the fine point, which few sketches share that are not near. By the bound above and the
// triangle inequality, two points are then at most as far apart, axes added, as the sketches, times what their sizes
// exceed the scale.
struct SketchIndex::Search {
    const FinePoint& fine;
    const Point at;
    double factor; ///< of distances between points to those between sketches
    double& limit;
    const std::function<double(ValueId)>& take;
    Point away {}; ///< by axis: to the part of the tree that is looked at
    double allAway = 0;
    bool within(double distance) const { return distance <= limit * factor + kSlack; }
};

int SketchIndex::scaleOf(const ValueSketch& sketch) { return std::ilogb(sketch.usual()) + 1; }

SketchIndex::FinePoint SketchIndex::finePointOf(const ValueSketch& sketch, int scale)
{
    const double size = std::scalbn(1.0, scale);
    std::array<double, kFineAxes> sums {};
    const auto& elements = sketch.elements();
    for (size_t i = 0; i < elements.size(); ++i)
        sums[i % kFineAxes] += signOf(i) * squashed(sketch.isMasked(i) ? -HUGE_VAL : double(elements[i]), size);
    FinePoint point;
    for (size_t axis = 0; axis < kFineAxes; ++axis)
        point[axis] = float(sums[axis] / double(elements.size()));
    return point;
}

SketchIndex::Point SketchIndex::pointOf(const FinePoint& fine)
{
    Point point {};
    for (size_t axis = 0; axis < kFineAxes; ++axis)
        point[axis % kAxes] += fine[axis];
    return point;
}

void SketchIndex::add(ValueId id, const ValueSketch& sketch)
{
    const int scale = scaleOf(sketch);
    Tree& tree = m_trees[scale];
    tree.fine.push_back(finePointOf(sketch, scale));
    tree.entries.push_back({ pointOf(tree.fine.back()), id, tree.entries.size() });
}

void SketchIndex::build()
{
    for (auto& [scale, tree] : m_trees) {
        tree.axes.assign(tree.entries.size(), 0);
        split(tree, 0, tree.entries.size());
        std::vector<FinePoint> inOrder;
        inOrder.reserve(tree.fine.size());
        for (const Entry& entry : tree.entries)
            inOrder.push_back(tree.fine[entry.added]);
        tree.fine = std::move(inOrder);
    }
}

void SketchIndex::split(Tree& tree, size_t begin, size_t end)
{
    if (end - begin <= kLeaf)
        return;
    Point low = tree.entries[begin].at, high = low;
    for (size_t i = begin; i < end; ++i)
        for (size_t axis = 0; axis < kAxes; ++axis) {
            low[axis] = std::min(low[axis], tree.entries[i].at[axis]);
            high[axis] = std::max(high[axis], tree.entries[i].at[axis]);
        }
    size_t widest = 0;
    for (size_t axis = 1; axis < kAxes; ++axis)
        if (high[axis] - low[axis] > high[widest] - low[widest])
            widest = axis;
    const size_t middle = begin + (end - begin) / 2;
    const auto at = [&](size_t i) { return tree.entries.begin() + ptrdiff_t(i); };
    std::nth_element(
        at(begin), at(middle), at(end), [&](const Entry& a, const Entry& b) { return a.at[widest] < b.at[widest]; });
    tree.axes[middle] = uint8_t(widest);
    split(tree, begin, middle);
    split(tree, middle + 1, end);
}

void SketchIndex::search(const Tree& tree, size_t begin, size_t end, Search& state)
{
    const auto look = [&](size_t i) {
        const Entry& entry = tree.entries[i];
        if (state.within(apart(entry.at, state.at)) && state.within(apart(tree.fine[i], state.fine)))
            state.limit = state.take(entry.id);
    };
    if (end - begin <= kLeaf) {
        for (size_t i = begin; i < end; ++i)
            look(i);
        return;
    }
    const size_t middle = begin + (end - begin) / 2, axis = tree.axes[middle];
    const double beyond = double(state.at[axis]) - double(tree.entries[middle].at[axis]);
    look(middle);
    const auto lower = [&] { search(tree, begin, middle, state); };
    const auto upper = [&] { search(tree, middle + 1, end, state); };
    beyond < 0 ? lower() : upper();
    // The other part lies as far away as before, but by this axis.
    const float before = state.away[axis];
    const double allBefore = state.allAway;
    state.away[axis] = float(std::fabs(beyond));
    state.allAway += double(state.away[axis]) - double(before);
    if (state.within(state.allAway))
        beyond < 0 ? upper() : lower();
    state.away[axis] = before;
    state.allAway = allBefore;
}

void SketchIndex::visit(const ValueSketch& sketch, double limit, const std::function<double(ValueId)>& take) const
{
    const int own = scaleOf(sketch);
    for (int step = 0; step <= 2 * kScalesApart; ++step) { // what is nearest has its own size, most often
        const int scale = step % 2 ? own - (step + 1) / 2 : own + step / 2;
        const auto tree = m_trees.find(scale);
        if (tree == m_trees.end())
            continue;
        const double size = std::scalbn(1.0, scale); // above all in the tree
        const FinePoint fine = finePointOf(sketch, scale);
        Search state { fine, pointOf(fine), std::max(1.0, (sketch.usual() + size) / (2 * size)), limit, take };
        search(tree->second, 0, tree->second.entries.size(), state);
    }
}

} // namespace qs
