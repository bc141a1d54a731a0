// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace qs {

/// Memory that starts on a cache line.
template <class T> struct LineAllocator {
    using value_type = T;
    LineAllocator() = default;
    template <class U> LineAllocator(const LineAllocator<U>&) { }
    T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64))); }
    void deallocate(T* p, size_t) { ::operator delete(p, std::align_val_t(64)); }
    friend bool operator==(LineAllocator, LineAllocator) { return true; }
};
template <class T> using LineVector = std::vector<T, LineAllocator<T>>;

} // namespace qs
