// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"
#include "core/match/evidence/sketch_groups.h"
#include "core/match/evidence/sketch_index.h"
#include "core/match/evidence/sketches.h"

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace qs {

/// What numbers say of a pair of values.
enum class Verdict {
    Unknown, ///< nothing: not run, constant, or far from everything in the other file
    Same,
    Different, ///< one of them is the same as another value of the other file, or has no counterpart there
};

/// What lies between equal values of two networks.
struct Closeness {
    double nearest; ///< distance up to which values may be the same at all
    double same; ///< times the distance of what is nearest: the same, too
    double different; ///< and from here on not
    bool everywhere; ///< what has a counterpart at all is as near as this
    bool bothWays; ///< noise is so small that what is nearest to a float value counts, too: else each rounding on the
                   ///< way adds to it, and an earlier equal value is nearer
    double back = nearest; ///< distance from which both files compute the same again behind a unit of other steps; a
                           ///< fault dies down behind its place, but not as far
};

/// What both networks compute on the same samples.
class ValueEvidence {
public:
    /// `floats`: by value of the float graph; `quants`: by value of the quantized graph, see beforeBounds().
    ValueEvidence(const Graph& floatGraph, Sketches floats, Sketches quants, const Closeness& closeness);

    /// Stands for what an operator on codes computes before the activation that its range stands for.
    static ValueId beforeBounds(const Graph& quantGraph, ValueId codes)
    {
        return ValueId(quantGraph.values().size() + codes.index());
    }
    /// The value itself.
    static ValueId withoutBounds(const Graph& quantGraph, ValueId id)
    {
        const size_t count = quantGraph.values().size();
        return id.index() < count ? id : ValueId(id.index() - count);
    }

    Verdict verdict(ValueId f, ValueId q) const;
    /// The outputs of the two files are not the same: what the verdict calls different may be a fault's doing.
    void outputsPart() { m_outputsPart = true; }
    /// Where outputs part: they are different, but neither has a counterpart, so that no other value is the right one.
    bool mayBeFault(ValueId f, ValueId q) const;
    /// As near as what both files compute again behind a unit of other steps, or nothing is known of one of them.
    bool mayBeOne(ValueId f, ValueId q) const;
    /// Values of the other file that are the same, in the order of their ids; one list for all that are equal.
    const std::vector<ValueId>& equalsOfFloat(ValueId f) const;
    const std::vector<ValueId>& equalsOfQuant(ValueId q) const;
    /// Share of the quantized file's values that are the same as some float value.
    double agreement() const;
    const Closeness& closeness() const { return m_closeness; }
    bool tellsOfFloat(ValueId f) const { return find(m_floats, f) != nullptr; }
    bool tellsOfQuant(ValueId q) const { return find(m_quants, q) != nullptr; }

private:
    /// Values of one size, each as the first of those that are equal to it.
    struct SameSize {
        std::vector<ValueId> values; ///< in the order of their ids
        SketchIndex index; ///< of them, where they are many; else empty
        bool isIndexed = false;
    };
    using BySize = std::map<std::vector<int64_t>, SameSize>; ///< by the counts of their elements

    static const ValueSketch* find(const Sketches& sketches, ValueId id);
    static BySize bySize(const Sketches& sketches, const SketchGroups& groups, double farthest);
    /// Values of one of the two files, and what finds them.
    struct Others {
        const Sketches& sketches;
        const SketchGroups& groups;
        const BySize& sizes;
    };
    /// Those of the other file that are the same as `sketch`, by `isSame`, which says so of none farther than
    /// `farthest`.
    static std::vector<ValueId> equals(
        const ValueSketch& sketch, double farthest, const Others& others, const std::function<bool(ValueId)>& isSame);
    /// Distance beyond which nothing is the same as a value whose nearest one is at `nearest`.
    double farthestSame(double nearest) const;
    /// Distance of a first value to what is nearest in the other file; made when first asked for.
    static double nearest(
        const Sketches& own, ValueId first, const Others& others, std::vector<double>& known, double limit);
    double farthest() const; ///< distance from which on nothing else matters
    /// Float values without an equal one behind which there are equal ones again: inside what one of the files fused.
    void findInside(const Graph& floatGraph);
    /// Float values that follow from sizes alone are whole numbers that nothing rounds: others are not they.
    void findSizes(const Graph& floatGraph);
    bool isOtherSize(ValueId f, ValueId q) const;
    double nearestOfFloat(ValueId f) const;
    double nearestOfQuant(ValueId q) const;
    double nearestOfEither(ValueId f, ValueId q) const;

    Sketches m_floats, m_quants;
    SketchGroups m_floatGroups, m_quantGroups;
    BySize m_floatSizes, m_quantSizes;
    Closeness m_closeness;
    bool m_outputsPart = false;
    std::unordered_set<ValueId> m_inside, m_sizes; ///< float values
    // By the first float and quantized value of those that are equal to one another.
    mutable std::vector<double> m_toFloat, m_toQuant; ///< negative: not yet known
    mutable std::unordered_map<ValueId, std::vector<ValueId>> m_ofFloat, m_ofQuant; ///< equal values of the other file
};

} // namespace qs
