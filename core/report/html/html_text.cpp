// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/html/html_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace qs::html {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// Bytes of the UTF-8 sequence at the front, 0 when it is malformed or a character that XML forbids.
size_t sequenceLength(std::string_view text)
{
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80)
        return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
    const size_t length = first >= 0xf0 && first < 0xf5 ? 4
        : first >= 0xe0 && first < 0xf0                 ? 3
        : first >= 0xc2 && first < 0xe0                 ? 2
                                                        : 0;
    if (length == 0 || text.size() < length)
        return 0;
    uint32_t point = first & (0x7fu >> length);
    for (size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (byte(i) & 0x3f);
    }
    const uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
    const bool surrogate = point >= 0xd800 && point < 0xe000;
    return point < least || point > 0x10ffff || surrogate || (point & 0xfffe) == 0xfffe ? 0 : length;
}

} // namespace

std::string escaped(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const size_t length = sequenceLength(text);
        if (length == 0)
            out += kReplacement;
        else if (text[0] == '&')
            out += "&amp;";
        else if (text[0] == '<')
            out += "&lt;";
        else if (text[0] == '>')
            out += "&gt;";
        else if (text[0] == '"')
            out += "&quot;";
        else
            out += text.substr(0, length);
        text.remove_prefix(std::max<size_t>(length, 1));
    }
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
