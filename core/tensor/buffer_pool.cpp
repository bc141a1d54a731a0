// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/buffer_pool.h"

#include "core/tensor/convert.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

namespace qs {

/// Free blocks by capacity. Blocks come back from whichever thread drops the last tensor, hence the lock.
struct BufferPool::State {
    std::mutex mutex;
    std::multimap<size_t, void*> free;
    uint64_t limit = UINT64_MAX; ///< for inUse
    size_t inUse = 0;
    size_t peak = 0;

    ~State()
    {
        for (auto& [size, block] : free)
            std::free(block);
    }
    std::pair<void*, size_t> take(size_t bytes)
    {
        std::lock_guard lock(mutex);
        if (bytes > limit || inUse > limit - bytes)
            throw std::bad_alloc();
        const auto it = free.lower_bound(bytes);
        std::pair<void*, size_t> block { nullptr, bytes };
        if (it != free.end() && it->first <= bytes * 2 + 4096) {
            block = { it->second, it->first };
            free.erase(it);
        }
        inUse += block.second;
        peak = std::max(peak, inUse);
        return block;
    }
    void drop(size_t bytes)
    {
        std::lock_guard lock(mutex);
        inUse -= bytes;
    }
    void giveBack(void* block, size_t bytes)
    {
        std::lock_guard lock(mutex);
        inUse -= bytes;
        free.emplace(bytes, block);
    }
};

BufferPool::BufferPool(uint64_t limitBytes)
    : m_state(std::make_shared<State>())
{
    m_state->limit = limitBytes;
}

Tensor BufferPool::allocate(DType type, Shape shape, Layout layout)
{
    if (type == DType::String)
        return Tensor::allocate(type, std::move(shape), layout);
    const auto count = elementCount(shape);
    if (!count)
        throw std::bad_alloc(); // more elements than can be counted
    const size_t wanted = std::max<size_t>((storageBytes(type, static_cast<size_t>(*count)) + 63) / 64 * 64, 64);
    auto [block, bytes] = m_state->take(wanted);
    if (!block && !(block = std::aligned_alloc(64, bytes))) {
        m_state->drop(bytes);
        throw std::bad_alloc();
    }
    const size_t capacity = bytes;
    std::shared_ptr<const void> owner(block, [state = m_state, capacity](void* p) { state->giveBack(p, capacity); });
    return Tensor::wrap(type, std::move(shape), static_cast<const std::byte*>(block), std::move(owner), layout);
}

Tensor BufferPool::toLayout(const Tensor& t, Layout layout)
{
    if (t.layout() == layout || t.rank() < 3 || dtypeBits(t.dtype()) < 8 || dtypeBits(t.dtype()) > 64)
        return t;
    Tensor out = allocate(t.dtype(), t.shape(), layout);
    copyToLayout(t, out);
    return out;
}

size_t BufferPool::peakBytes() const
{
    std::lock_guard lock(m_state->mutex);
    return m_state->peak;
}

} // namespace qs
