// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/buffer_pool.h"

#include "core/tensor/convert.h"
#include "core/tensor/empty_shape.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace qs {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kChunkBytes = 0; ///< every block is an allocation of its own, so that its ends are guarded
#else
constexpr size_t kChunkBytes = size_t(32) << 20;
#endif
constexpr size_t kAlignment = 64;
constexpr size_t kLargePage = size_t(2) << 20;

/// Chunks of pools that have gone, for the next ones: pages that were written before cost no fault, and one run after
/// an edit makes and drops its pools within a fraction of a second.
class SpareChunks {
public:
    std::byte* take()
    {
        const std::lock_guard lock(m_mutex);
        if (m_count == 0)
            return nullptr;
        return m_chunks[--m_count];
    }
    void give(std::byte* chunk)
    {
        {
            const std::lock_guard lock(m_mutex);
            if (m_count < m_chunks.size()) {
                m_chunks[m_count++] = chunk;
                return;
            }
        }
        std::free(chunk);
    }

private:
    std::mutex m_mutex;
    std::array<std::byte*, 4> m_chunks {};
    size_t m_count = 0;
};

/// Never destroyed: tensors of static storage may go after it.
SpareChunks& spareChunks()
{
    static auto* const spare = new SpareChunks;
    return *spare;
}

/// Gives the lowest free place in a few large chunks: what is used again and again stays small and in the caches.
class Arena {
public:
    explicit Arena(BufferPool::Pages pages)
        : m_pages(pages)
    {
    }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena()
    {
        for (const auto& [begin, bytes] : m_chunks) {
            if (bytes == kChunkBytes && m_pages == BufferPool::Pages::Usual)
                spareChunks().give(begin);
            else
                std::free(begin);
        }
    }
    /// Null when the system has no more memory.
    std::byte* take(size_t bytes)
    {
        for (auto it = m_free.begin(); it != m_free.end(); ++it)
            if (it->second >= bytes)
                return carve(it, bytes);
        const size_t size = std::max(bytes, kChunkBytes);
        makeSpare();
        const auto known = m_chunks.emplace(nullptr, size).first; // so that what is taken cannot get lost
        auto* chunk = allocateChunk(size);
        if (!chunk) {
            m_chunks.erase(known);
            return nullptr;
        }
        auto entry = m_chunks.extract(known);
        entry.key() = chunk;
        m_chunks.insert(std::move(entry));
        return carve(insert(chunk, size), bytes);
    }
    /// Takes no memory, so that it cannot fail.
    void giveBack(std::byte* block, size_t bytes)
    {
        auto it = insert(block, bytes);
        const auto next = std::next(it);
        // Neighbours in memory may belong to different chunks.
        if (next != m_free.end() && it->first + it->second == next->first && !m_chunks.contains(next->first)) {
            it->second += next->second;
            m_spare.push_back(m_free.extract(next));
        }
        if (it == m_free.begin() || m_chunks.contains(it->first))
            return;
        const auto before = std::prev(it);
        if (before->first + before->second == it->first) {
            before->second += it->second;
            m_spare.push_back(m_free.extract(it));
        }
    }

private:
    using FreeList = std::map<std::byte*, size_t>;

    std::byte* allocateChunk(size_t bytes) const
    {
        if (bytes == kChunkBytes && m_pages == BufferPool::Pages::Usual)
            if (std::byte* const spare = spareChunks().take())
                return spare;
        const bool large = m_pages == BufferPool::Pages::Large && bytes >= kLargePage;
        const size_t alignment = large ? kLargePage : kAlignment;
        auto* chunk
            = static_cast<std::byte*>(std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
#ifdef __linux__
        if (chunk && large)
            madvise(chunk, bytes, MADV_HUGEPAGE); // a wish: without it, it is slower
#endif
        return chunk;
    }

    std::byte* carve(FreeList::iterator place, size_t bytes)
    {
        std::byte* const block = place->first;
        const size_t left = place->second - bytes;
        if (left > 0)
            makeSpare();
        m_spare.push_back(m_free.extract(place));
        if (left > 0)
            insert(block + bytes, left);
        return block;
    }

    /// An entry for the block that is taken, when it comes back. There is room for all that there are: each is here or
    /// in m_free.
    void makeSpare()
    {
        if (const size_t all = m_spare.size() + m_free.size() + 1; m_spare.capacity() < all)
            m_spare.reserve(2 * all);
        FreeList one;
        m_spare.push_back(one.extract(one.emplace(nullptr, 0).first));
    }

    FreeList::iterator insert(std::byte* begin, size_t bytes)
    {
        FreeList::node_type entry = std::move(m_spare.back());
        m_spare.pop_back();
        entry.key() = begin;
        entry.mapped() = bytes;
        return m_free.insert(std::move(entry)).position;
    }

    const BufferPool::Pages m_pages;
    FreeList m_free; ///< by address, never two that touch within a chunk
    std::vector<FreeList::node_type> m_spare; ///< at least one for each block that is out
    std::map<std::byte*, size_t> m_chunks;
};

} // namespace

/// Blocks come back from whichever thread drops the last tensor, hence the lock.
struct BufferPool::State {
    explicit State(Pages pages)
        : arena(pages)
    {
    }
    std::mutex mutex;
    Arena arena;
    uint64_t limit = UINT64_MAX; ///< for inUse
    size_t inUse = 0;
    size_t peak = 0;

    std::byte* take(size_t bytes)
    {
        const std::lock_guard lock(mutex);
        if (bytes > limit || inUse > limit - bytes)
            throw TensorTooLarge();
        std::byte* block = arena.take(bytes);
        if (!block)
            throw TensorTooLarge();
        inUse += bytes;
        peak = std::max(peak, inUse);
        return block;
    }
    void giveBack(std::byte* block, size_t bytes)
    {
        const std::lock_guard lock(mutex);
        inUse -= bytes;
        arena.giveBack(block, bytes);
    }
};

BufferPool::BufferPool(uint64_t limitBytes, Pages pages)
    : m_state(std::make_shared<State>(pages))
{
    m_state->limit = limitBytes;
}

Tensor BufferPool::allocate(DType type, Shape shape, Layout layout)
{
    if (type == DType::String || isContainer(type))
        return Tensor::allocate(type, std::move(shape), layout);
    const auto count = elementCount(shape);
    if (!count || (*count == 0 && isEndlessNothing(shape, kLongestNothing)))
        throw TensorTooLarge(); // more elements than can be counted
    const size_t bytes = std::max(
        (storageBytes(type, static_cast<size_t>(*count)) + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
    std::byte* const block = m_state->take(bytes);
    std::shared_ptr<const void> owner(
        block, [state = m_state, bytes](void* p) { state->giveBack(static_cast<std::byte*>(p), bytes); });
    return Tensor::adopt(type, std::move(shape), block, std::move(owner), layout);
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
