// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/html/html_cells.h"

#include "core/report/format.h"
#include "core/report/html/html_parts.h"

#include <fmt/format.h>

#include <cmath>

namespace qs::html {

std::string openTable(const char* id, const std::vector<Head>& heads)
{
    std::string out = "<div class=\"scroll\"><table id=\"" + std::string(id) + "\"><thead><tr>";
    for (const Head& h : heads)
        out += std::string("<th scope=\"col\"") + (h.numeric ? " class=\"n\"" : "") + " title=\"" + escaped(h.tip)
            + "\"><button type=\"button\">" + escaped(h.title) + "</button></th>";
    return out + "</tr></thead><tbody>\n";
}

std::string closeTable() { return "</tbody></table></div>\n"; }

std::string textCell(const std::string& text, const char* cssClass)
{
    return "<td class=\"" + std::string(cssClass) + "\">" + escaped(text) + "</td>";
}

std::string numberCell(const std::string& text, const Number& key, const std::string& inner)
{
    const bool sortable = key && std::isfinite(*key);
    return "<td class=\"n\"" + (sortable ? fmt::format(" data-key=\"{}\"", *key) : "") + ">" + inner + shown(text)
        + "</td>";
}

std::string plain(const Number& v) { return numberCell(text::number(v), v); }
std::string share(const Number& v) { return numberCell(text::percent(v), v); }

std::string decibels(const Number& v, bool exact)
{
    return numberCell(text::decibel(v, exact), exact ? Number(1e6) : v);
}

std::string coloured(const Similarity& s)
{
    const std::string swatch = "<i class=\"swatch " + colourClass(s) + "\"></i>";
    return numberCell(text::decibel(s.sqnrDb, s.exact), s.exact ? Number(1e6) : s.sqnrDb, swatch);
}

} // namespace qs::html
