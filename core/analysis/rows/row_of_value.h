// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/activation_row.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// The first row of each float value.
class RowOfValue {
public:
    explicit RowOfValue(const std::vector<ActivationRow>& rows)
    {
        for (size_t i = rows.size(); i-- > 0;) {
            const size_t value = rows[i].floatValue.valid() ? rows[i].floatValue.index() : 0;
            if (value >= m_rows.size())
                m_rows.resize(value + 1, kNone);
            if (rows[i].floatValue.valid())
                m_rows[value] = static_cast<uint32_t>(i);
        }
    }
    std::optional<size_t> find(ValueId value) const
    {
        const bool known = value.valid() && value.index() < m_rows.size() && m_rows[value.index()] != kNone;
        return known ? std::optional<size_t>(m_rows[value.index()]) : std::nullopt;
    }

private:
    static constexpr uint32_t kNone = UINT32_MAX;
    std::vector<uint32_t> m_rows; ///< by value
};

} // namespace qs
