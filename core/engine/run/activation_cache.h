// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/hash.h"
#include "core/tensor/buffer_pool.h"

#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>

namespace qs {

/// Values of past runs by (content key, sample), within a budget of bytes. What the current pass has used or made
/// stays; of the rest, the longest unused goes first. So a pass over more samples than fit keeps those that fit instead
/// of none. Losing a value costs time only. Thread-safe.
class ActivationCache {
public:
    explicit ActivationCache(uint64_t budgetBytes)
        : m_budget(budgetBytes)
    {
    }
    /// A new pass over samples begins: what older ones left may go.
    void beginPass();
    /// An invalid tensor when it is not there.
    Tensor find(Hash128 value, Hash128 sample);
    /// Keeps a copy if there is room.
    void keep(Hash128 value, Hash128 sample, const Tensor& tensor);
    uint64_t budgetBytes() const { return m_budget; }
    uint64_t usedBytes() const;

private:
    using Key = std::pair<Hash128, Hash128>;
    struct Entry {
        Key key;
        Tensor tensor;
        uint64_t pass = 0;
    };
    struct KeyHash { ///< the keys are hashes themselves
        size_t operator()(const Key& key) const { return key.first.low ^ (key.second.low * 0x9E3779B97F4A7C15u); }
    };
    using Entries = std::list<Entry>; ///< longest unused first
    bool makeRoom(uint64_t bytes);
    Tensor ownCopy(const Tensor& tensor);

    mutable std::mutex m_mutex;
    const uint64_t m_budget;
    BufferPool m_pool { UINT64_MAX, BufferPool::Pages::Large }; ///< its own, since a block keeps its pool's whole chunk
    uint64_t m_used = 0;
    uint64_t m_pass = 0;
    Entries m_entries;
    std::unordered_map<Key, Entries::iterator, KeyHash> m_index;
};

} // namespace qs
