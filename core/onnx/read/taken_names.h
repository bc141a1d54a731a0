// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace qs {

/// Names that are in use.
class TakenNames {
public:
    void insert(std::string name) { m_all.insert(std::move(name)); }
    /// `wanted`, or with the first number behind it that is free; taken from then on. The numbers that were tried
    /// before are not tried again, however often a name is wanted.
    std::string fresh(const std::string& wanted)
    {
        if (m_all.insert(wanted).second)
            return wanted;
        size_t& number = m_numbers.try_emplace(wanted, 2).first->second;
        for (;; ++number)
            if (std::string name = wanted + "_" + std::to_string(number); m_all.insert(name).second)
                return name;
    }

private:
    std::unordered_set<std::string> m_all;
    std::unordered_map<std::string, size_t> m_numbers; ///< next to try
};

} // namespace qs
