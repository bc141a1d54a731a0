// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/evidence/sketch_groups.h"

#include "core/base/hash.h"

#include <algorithm>
#include <map>
#include <span>

namespace qs {

namespace {

Hash128 contentOf(const ValueSketch& sketch)
{
    return combine(
        hashBytes(std::as_bytes(std::span(sketch.counts()))), hashBytes(std::as_bytes(std::span(sketch.elements()))));
}

} // namespace

SketchGroups::SketchGroups(const Sketches& sketches)
    : m_first(sketches.idEnd())
    , m_places(sketches.idEnd(), 0)
{
    std::vector<ValueId> ids;
    for (const auto& [id, sketch] : sketches)
        if (sketch.tells())
            ids.push_back(id);
    std::ranges::sort(ids);
    std::map<Hash128, ValueId> known;
    for (const ValueId id : ids) {
        const ValueId first = known.try_emplace(contentOf(*sketches.find(id)), id).first->second;
        m_first[id.index()] = first;
        if (first == id) {
            m_places[id.index()] = uint32_t(m_equals.size());
            m_firsts.push_back(id);
            m_equals.emplace_back();
        }
        m_equals[m_places[first.index()]].push_back(id);
    }
}

} // namespace qs
