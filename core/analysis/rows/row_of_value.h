// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/activation_row.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// The first row of each float value, and those of its further pairs of quantizers.
class RowOfValue {
public:
    explicit RowOfValue(const std::vector<ActivationRow>& rows)
        : m_all(rows)
    {
        for (size_t i = rows.size(); i-- > 0;) {
            const size_t value = rows[i].floatValue.valid() ? rows[i].floatValue.index() : 0;
            if (value >= m_rows.size())
                m_rows.resize(value + 1, kNone);
            if (rows[i].floatValue.valid())
                m_rows[value] = static_cast<uint32_t>(i);
            if (rows[i].siblings > 0)
                m_several.push_back(i);
        }
    }
    std::optional<size_t> find(ValueId value) const
    {
        const bool known = value.valid() && value.index() < m_rows.size() && m_rows[value.index()] != kNone;
        return known ? std::optional<size_t>(m_rows[value.index()]) : std::nullopt;
    }
    /// What a node of the float model reads of the value: the first row where nothing else is known.
    std::optional<size_t> find(ValueId value, NodeId reader) const
    {
        for (const size_t row : m_several)
            if (m_all[row].floatValue == value
                && std::ranges::find(m_all[row].readers, reader) != m_all[row].readers.end())
                return row;
        return find(value);
    }
    /// Rows of the value's pairs beside the first one.
    std::vector<size_t> further(ValueId value) const
    {
        std::vector<size_t> rows;
        for (const size_t row : m_several)
            if (m_all[row].floatValue == value && find(value) != row)
                rows.push_back(row);
        return rows;
    }

private:
    static constexpr uint32_t kNone = UINT32_MAX;
    const std::vector<ActivationRow>& m_all;
    std::vector<uint32_t> m_rows; ///< by value
    std::vector<size_t> m_several; ///< rows of values with several
};

} // namespace qs
