// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Aligned columns for a terminal.
class TextTable {
public:
    enum class Align { Left, Right };
    struct Column {
        std::string title;
        Align align = Align::Right;
        size_t widest = 0; ///< longer texts lose a part that does not tell them apart; 0 = no limit
    };
    explicit TextTable(std::vector<Column> columns);
    void add(std::vector<std::string> cells);
    std::string text(const std::string& indent) const;

private:
    std::vector<std::vector<std::string>> fitted() const;

    std::vector<Column> m_columns;
    std::vector<std::vector<std::string>> m_rows;
};

/// Control characters become '?', so that a name cannot steer the terminal.
std::string printable(std::string_view text);
/// The text in lines of at most `width` columns, each after `indent`.
std::string wrapped(const std::string& text, size_t width, const std::string& indent);

} // namespace qs
