// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/quantizer_index.h"

namespace qs {

void QuantizerIndex::add(Quantizer q)
{
    const auto index = static_cast<uint32_t>(m_all.size());
    if (q.real.valid())
        m_byReal.try_emplace(q.real, index);
    if (q.codes.valid())
        m_byValue.try_emplace(q.codes, index);
    if (q.dequantized.valid())
        m_byValue.try_emplace(q.dequantized, index);
    m_all.push_back(std::move(q));
}

std::optional<uint32_t> QuantizerIndex::ofQuantized(ValueId id) const
{
    const auto it = m_byValue.find(id);
    return it == m_byValue.end() ? std::nullopt : std::optional(it->second);
}

std::optional<uint32_t> QuantizerIndex::ofValue(ValueId id) const
{
    if (const auto q = ofQuantized(id))
        return q;
    const auto it = m_byReal.find(id);
    return it == m_byReal.end() ? std::nullopt : std::optional(it->second);
}

} // namespace qs
