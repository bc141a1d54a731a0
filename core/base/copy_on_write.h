// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace qs {

/// A value whose copies share one place until one of them is changed. Each copy may be used, changed and dropped on a
/// thread of its own, as if it were a plain value.
template <class T> class CopyOnWrite {
public:
    CopyOnWrite() = default;
    explicit CopyOnWrite(T value)
        : m_block(new Block { std::move(value) })
    {
    }
    CopyOnWrite(const CopyOnWrite& other)
        : m_block(other.m_block)
    {
        if (m_block)
            m_block->owners.fetch_add(1, std::memory_order_relaxed);
    }
    CopyOnWrite(CopyOnWrite&& other) noexcept
        : m_block(std::exchange(other.m_block, nullptr))
    {
    }
    CopyOnWrite& operator=(CopyOnWrite other) noexcept
    {
        std::swap(m_block, other.m_block);
        return *this;
    }
    ~CopyOnWrite()
    {
        if (m_block && m_block->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete m_block;
    }

    const T& operator*() const { return m_block ? m_block->value : nothing(); }
    const T* operator->() const { return &**this; }
    /// The value, no longer shared with any copy.
    T& edit()
    {
        if (!m_block)
            m_block = new Block {};
        else if (m_block->owners.load(std::memory_order_acquire) != 1)
            *this = CopyOnWrite(m_block->value);
        return m_block->value;
    }
    bool sharesWith(const CopyOnWrite& other) const { return m_block == other.m_block; }
    bool operator==(const CopyOnWrite& other) const { return sharesWith(other) || **this == *other; }

private:
    struct Block {
        T value {};
        std::atomic<size_t> owners { 1 };
    };
    static const T& nothing()
    {
        static const T value {};
        return value;
    }
    Block* m_block = nullptr; ///< null: a value nobody changed yet
};

} // namespace qs
