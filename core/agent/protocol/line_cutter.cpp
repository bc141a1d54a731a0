// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/protocol/line_cutter.h"

#include <utility>

namespace qs {

LineCutter::LineCutter(Told told, size_t longest)
    : m_told(std::move(told))
    , m_longest(longest)
{
}

void LineCutter::add(std::string_view bytes)
{
    while (!bytes.empty()) {
        const size_t end = bytes.find('\n');
        keep(bytes.substr(0, end));
        if (end == std::string_view::npos)
            return;
        finish();
        bytes.remove_prefix(end + 1);
    }
}

void LineCutter::finish()
{
    if (m_tooLong)
        m_told.tooLong();
    else
        m_told.line(m_line);
    m_line.clear();
    m_tooLong = false;
}

void LineCutter::keep(std::string_view part)
{
    m_tooLong = m_tooLong || m_line.size() + part.size() > m_longest;
    if (m_tooLong)
        m_line.clear();
    else
        m_line += part;
}

} // namespace qs
