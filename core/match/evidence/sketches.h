// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"
#include "core/match/evidence/value_sketch.h"

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace qs {

/// Sketches by value of a graph. Networks of many nodes are looked up in millions of times: what is asked for lies in
/// one piece.
class Sketches {
public:
    using Entry = std::pair<ValueId, ValueSketch>;

    Sketches() = default;
    Sketches(std::initializer_list<Entry> entries)
    {
        for (const auto& [id, sketch] : entries)
            emplace(id, sketch);
    }

    /// Null where there is none.
    const ValueSketch* find(ValueId id) const
    {
        const size_t i = id.index() < m_slots.size() ? m_slots[id.index()] : 0;
        return i > 0 ? &m_entries[i - 1].second : nullptr;
    }
    /// An empty one where there was none.
    ValueSketch& operator[](ValueId id)
    {
        if (id.index() >= m_slots.size())
            m_slots.resize(id.index() + 1, 0);
        uint32_t& slot = m_slots[id.index()];
        if (slot == 0) {
            m_entries.emplace_back(id, ValueSketch());
            slot = uint32_t(m_entries.size());
        }
        return m_entries[slot - 1].second;
    }
    /// Nothing happens where there is one.
    void emplace(ValueId id, const ValueSketch& sketch)
    {
        if (!find(id))
            (*this)[id] = sketch;
    }
    size_t idEnd() const { return m_slots.size(); } ///< above the index of every id
    auto begin() { return m_entries.begin(); }
    auto end() { return m_entries.end(); }
    auto begin() const { return m_entries.begin(); }
    auto end() const { return m_entries.end(); }

private:
    std::vector<uint32_t> m_slots; ///< by value: 1 + the place of its entry; 0: none
    std::vector<Entry> m_entries;
};

} // namespace qs
