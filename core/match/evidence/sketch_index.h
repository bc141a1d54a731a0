// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"
#include "core/match/evidence/value_sketch.h"

#include <array>
#include <functional>
#include <map>
#include <vector>

namespace qs {

/// Sketches of one size, found by nearness: who asks what is near looks at a few of them, not at all. Nothing within
/// the distance that is asked for is left out.
class SketchIndex {
public:
    /// Distances above this are not told apart by it.
    static constexpr double kFarthest = 0.05;

    void add(ValueId id, const ValueSketch& sketch);
    /// After the last one was added.
    void build();
    /// Calls `take` for all that may be within `limit` of the sketch, in no order; it returns the limit from there on.
    void visit(const ValueSketch& sketch, double limit, const std::function<double(ValueId)>& take) const;

private:
    static constexpr size_t kAxes = 8, kFineAxes = 32;
    using Point = std::array<float, kAxes>;
    using FinePoint = std::array<float, kFineAxes>; ///< axes i, i + kAxes and so on make axis i of the point
    struct Entry {
        Point at;
        ValueId id;
        size_t added; ///< how many before it
    };
    /// Sketches of about one size of elements: a tree whose middle entries split their part of the list by an axis.
    struct Tree {
        std::vector<Entry> entries;
        std::vector<FinePoint> fine; ///< by entry: asked of what the point does not tell apart
        std::vector<uint8_t> axes; ///< by entry: what it splits by
    };
    struct Search;

    static int scaleOf(const ValueSketch& sketch);
    static FinePoint finePointOf(const ValueSketch& sketch, int scale);
    static Point pointOf(const FinePoint& fine);
    static void split(Tree& tree, size_t begin, size_t end);
    static void search(const Tree& tree, size_t begin, size_t end, Search& state);

    std::map<int, Tree> m_trees; ///< by scaleOf()
};

} // namespace qs
