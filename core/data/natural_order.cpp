// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/natural_order.h"

#include <algorithm>

namespace qs {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// The digits at the front without leading zeros; they are taken off `text`.
std::string_view takeNumber(std::string_view& text)
{
    const size_t length = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), isDigit) - text.begin());
    std::string_view number = text.substr(0, length);
    text.remove_prefix(length);
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
}

} // namespace

bool naturalLess(std::string_view a, std::string_view b)
{
    const std::string_view wholeA = a;
    const std::string_view wholeB = b;
    while (!a.empty() && !b.empty()) {
        if (isDigit(a[0]) && isDigit(b[0])) {
            const std::string_view x = takeNumber(a);
            const std::string_view y = takeNumber(b);
            if (x.size() != y.size())
                return x.size() < y.size();
            if (x != y)
                return x < y;
            continue;
        }
        if (a[0] != b[0])
            return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    if (a.empty() != b.empty())
        return a.empty();
    return wholeA < wholeB;
}

} // namespace qs
