// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace qs {

/// Cuts what is read into lines, each of at most 1 MiB. Of one that is longer nothing is kept but that it was there.
class LineCutter {
public:
    static constexpr size_t kLongest = size_t(1) << 20;
    struct Told {
        std::function<void(std::string_view line)> line;
        std::function<void()> tooLong;
    };
    explicit LineCutter(Told told, size_t longest = kLongest);
    void add(std::string_view bytes);
    void finish(); ///< what has come ends a line

private:
    void keep(std::string_view part);
    Told m_told;
    size_t m_longest;
    std::string m_line;
    bool m_tooLong = false;
};

} // namespace qs
