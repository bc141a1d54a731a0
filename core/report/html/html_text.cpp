// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/html/html_parts.h"

#include "core/base/text/one_line.h"
#include "core/base/text/utf8.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace qs::html {

namespace {

/// XML has no other control characters, and no character that ends in FFFE or FFFF. What turns the direction of
/// writing would turn that of the page.
bool allowedInXml(char32_t point)
{
    const bool blank = point == '\t' || point == '\n' || point == '\r';
    return (blank || isShown(point)) && (point & 0xFFFE) != 0xFFFE;
}

} // namespace

std::string escaped(std::string_view text)
{
    std::string out;
    forEachCharacter(text, [&](const Utf8Character& c) {
        if (!c.valid || !allowedInXml(c.point))
            out += "\uFFFD";
        else if (c.point == '&')
            out += "&amp;";
        else if (c.point == '<')
            out += "&lt;";
        else if (c.point == '>')
            out += "&gt;";
        else if (c.point == '"')
            out += "&quot;";
        else
            out += c.bytes;
    });
    return out;
}

std::string shown(std::string text)
{
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool beforeDigit = i + 1 < text.size() && (std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0);
        out += text[i] == '-' && (beforeDigit || text.compare(i, 4, "-inf") == 0) ? "\xe2\x88\x92"
            : text == "-"                                                         ? "\xe2\x80\x93"
                                                                                  : text.substr(i, 1);
    }
    return escaped(out);
}

std::string coordinate(double v)
{
    std::string text = fmt::format("{:.2f}", std::isfinite(v) ? v : 0.0);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.'))
        text.pop_back();
    return text == "-0" ? "0" : text;
}

int colourStep(double db)
{
    constexpr double kBest = 40;
    return std::clamp(static_cast<int>(std::floor((kBest - std::clamp(db, 0.0, kBest)) / kBest * 9)), 0, 8);
}

std::string colourClass(const Similarity& s)
{
    if (s.exact)
        return "c0";
    return s.sqnrDb && !std::isnan(*s.sqnrDb) ? "c" + std::to_string(colourStep(*s.sqnrDb)) : "none";
}

} // namespace qs::html
