// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace qs {

/// What a file may become in memory: so much by itself, and more with its size. Functions that call each other, graphs
/// that are handed to them, and sparse tensors make much of few bytes.
class ReadingBudget {
public:
    ReadingBudget(uint64_t messageBytes, uint64_t fileBytes)
        : m_names(kNames + messageBytes)
        , m_nameBytes(kNameBytes + 32 * messageBytes)
        , m_denseBytes(kDenseBytes + 64 * fileBytes)
    {
    }
    /// Values and nodes, with the bytes of their names. False when it is too much.
    bool takeNames(uint64_t count, uint64_t bytes) { return take(m_names, count) && take(m_nameBytes, bytes); }
    bool takeName(const std::string& name) { return takeNames(1, name.size()); }
    /// Elements of sparse tensors that are made dense.
    bool takeDense(uint64_t bytes) { return take(m_denseBytes, bytes); }

private:
    static constexpr uint64_t kNames = 600'000, kNameBytes = uint64_t(64) << 20, kDenseBytes = uint64_t(256) << 20;
    static bool take(uint64_t& left, uint64_t part)
    {
        if (part > left)
            return false;
        left -= part;
        return true;
    }
    uint64_t m_names, m_nameBytes, m_denseBytes;
};

} // namespace qs
