// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/activation_cache.h"

#include <cstring>
#include <new>

namespace qs {

Tensor ActivationCache::ownCopy(const Tensor& tensor)
{
    Tensor copy = m_pool.allocate(tensor.dtype(), tensor.shape(), tensor.layout());
    if (tensor.byteCount() > 0)
        std::memcpy(copy.fill<std::byte>().data(), tensor.bytes().data(), tensor.byteCount());
    return copy;
}

void ActivationCache::beginPass()
{
    const std::lock_guard lock(m_mutex);
    ++m_pass;
}

Tensor ActivationCache::find(Hash128 value, Hash128 sample)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_index.find({ value, sample });
    if (it == m_index.end())
        return {};
    it->second->pass = m_pass;
    m_entries.splice(m_entries.end(), m_entries, it->second);
    return it->second->tensor;
}

/// Called with the lock held.
bool ActivationCache::makeRoom(uint64_t bytes)
{
    while (m_used + bytes > m_budget) {
        if (m_entries.empty() || m_entries.front().pass == m_pass)
            return false;
        m_used -= m_entries.front().tensor.byteCount();
        m_index.erase(m_entries.front().key);
        m_entries.pop_front();
    }
    return true;
}

void ActivationCache::keep(Hash128 value, Hash128 sample, const Tensor& tensor)
{
    const uint64_t bytes = tensor.byteCount();
    if (tensor.dtype() == DType::String || isContainer(tensor.dtype()) || bytes > m_budget)
        return;
    const Key key { value, sample };
    {
        const std::lock_guard lock(m_mutex);
        if (m_index.contains(key) || !makeRoom(bytes))
            return;
        m_used += bytes; // taken before the copy is made, so that others do not take it
    }
    Tensor copy;
    try {
        copy = ownCopy(tensor);
    } catch (const std::bad_alloc&) {
        copy = {};
    }
    const std::lock_guard lock(m_mutex);
    if (!copy.valid() || m_index.contains(key)) {
        m_used -= bytes;
        return;
    }
    m_index[key] = m_entries.insert(m_entries.end(), { key, std::move(copy), m_pass });
}

uint64_t ActivationCache::usedBytes() const
{
    const std::lock_guard lock(m_mutex);
    return m_used;
}

} // namespace qs
