// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/text_table.h"

#include "core/base/text/distinct_names.h"
#include "core/base/text/one_line.h"
#include "core/base/text/text_columns.h"
#include "core/base/text/utf8.h"

#include <algorithm>
#include <sstream>

namespace qs {

namespace {

std::string padded(const std::string& text, size_t width, TextTable::Align align)
{
    const std::string fill(width - std::min(width, columnCount(text)), ' ');
    return align == TextTable::Align::Left ? text + fill : fill + text;
}

} // namespace

std::string printable(std::string_view text)
{
    std::string shown;
    forEachCharacter(text, [&](const Utf8Character& c) {
        if (c.valid && isShown(c.point))
            shown += c.bytes;
        else
            shown += c.valid ? "?" : "\uFFFD";
    });
    return shown;
}

std::string wrapped(const std::string& text, size_t width, const std::string& indent)
{
    std::istringstream words(text);
    std::string out, line, word;
    while (words >> word) {
        if (!line.empty() && columnCount(line) + 1 + columnCount(word) > width) {
            out += indent + line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return line.empty() ? out : out + indent + line + "\n";
}

TextTable::TextTable(std::vector<Column> columns)
    : m_columns(std::move(columns))
{
}

void TextTable::add(std::vector<std::string> cells)
{
    cells.resize(m_columns.size());
    for (std::string& cell : cells)
        cell = printable(cell);
    m_rows.push_back(std::move(cells));
}

/// Long cells are cut so that those of a column that differ still do.
std::vector<std::vector<std::string>> TextTable::fitted() const
{
    std::vector<std::vector<std::string>> rows = m_rows;
    for (size_t i = 0; i < m_columns.size(); ++i) {
        if (m_columns[i].widest == 0)
            continue;
        std::vector<std::string> cells;
        for (const auto& row : m_rows)
            cells.push_back(row[i]);
        cells = distinctNames(cells, m_columns[i].widest);
        for (size_t r = 0; r < rows.size(); ++r)
            rows[r][i] = std::move(cells[r]);
    }
    return rows;
}

std::string TextTable::text(const std::string& indent) const
{
    const std::vector<std::vector<std::string>> rows = fitted();
    std::vector<size_t> widths;
    for (size_t i = 0; i < m_columns.size(); ++i) {
        widths.push_back(columnCount(m_columns[i].title));
        for (const auto& row : rows)
            widths[i] = std::max(widths[i], columnCount(row[i]));
    }
    std::string out;
    const auto line = [&](const auto& cell) {
        std::string text = indent;
        for (size_t i = 0; i < m_columns.size(); ++i)
            text += (i ? "  " : "") + padded(cell(i), widths[i], m_columns[i].align);
        out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    };
    line([&](size_t i) { return m_columns[i].title; });
    for (const auto& row : rows)
        line([&](size_t i) { return row[i]; });
    return out;
}

} // namespace qs
