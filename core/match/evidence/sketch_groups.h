// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/evidence/sketches.h"

#include <cstdint>
#include <vector>

namespace qs {

/// Values of one graph whose sketches tell something, by what they are: networks repeat themselves (Identity, a Relu
/// behind a Relu), and what holds of one of equal values holds of all.
class SketchGroups {
public:
    SketchGroups() = default;
    explicit SketchGroups(const Sketches& sketches);

    /// The first value that is equal to this one, which may be itself. Invalid for what has no sketch that tells.
    ValueId first(ValueId id) const { return id.index() < m_first.size() ? m_first[id.index()] : ValueId(); }
    /// All first values, in the order of their ids.
    const std::vector<ValueId>& firsts() const { return m_firsts; }
    /// All that are equal to a first value, that one included, in the order of their ids.
    const std::vector<ValueId>& equals(ValueId first) const { return m_equals[m_places[first.index()]]; }

private:
    std::vector<ValueId> m_first; ///< by value
    std::vector<ValueId> m_firsts;
    std::vector<uint32_t> m_places; ///< by first value: in m_equals
    std::vector<std::vector<ValueId>> m_equals;
};

} // namespace qs
