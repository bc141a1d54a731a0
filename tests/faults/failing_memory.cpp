// SPDX-License-Identifier: GPL-3.0-or-later
// operator new in all its forms; malloc and its kin, for callers who look after what they get. What is given is the C
// library's, so that free() may take it wherever it comes from.
#include "tests/faults/fault_point.h"

#include <cerrno>
#include <cstdlib>
#include <new>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

using qs::test::Fault;

void* taken(size_t bytes) noexcept
{
    return qs::test::failsNow(Fault::Memory) ? nullptr : __libc_malloc(bytes ? bytes : 1);
}

void* taken(size_t bytes, std::align_val_t alignment) noexcept
{
    return qs::test::failsNow(Fault::Memory) ? nullptr : __libc_memalign(size_t(alignment), bytes ? bytes : 1);
}

void* orThrow(void* memory)
{
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

bool failsFor(const void* caller) { return qs::test::mindsMemory(caller) && qs::test::failsNow(Fault::Memory); }

} // namespace

void* operator new(size_t bytes) { return orThrow(taken(bytes)); }
void* operator new[](size_t bytes) { return orThrow(taken(bytes)); }
void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept { return taken(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t& /*tag*/) noexcept { return taken(bytes); }
void* operator new(size_t bytes, std::align_val_t a) { return orThrow(taken(bytes, a)); }
void* operator new[](size_t bytes, std::align_val_t a) { return orThrow(taken(bytes, a)); }
void* operator new(size_t bytes, std::align_val_t a, const std::nothrow_t& /*tag*/) noexcept { return taken(bytes, a); }
void* operator new[](size_t bytes, std::align_val_t a, const std::nothrow_t& /*tag*/) noexcept
{
    return taken(bytes, a);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*a*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t /*a*/) noexcept { std::free(memory); }
void operator delete(void* memory, size_t /*bytes*/, std::align_val_t /*a*/) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t /*bytes*/, std::align_val_t /*a*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*a*/, const std::nothrow_t& /*tag*/) noexcept
{
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t /*a*/, const std::nothrow_t& /*tag*/) noexcept
{
    std::free(memory);
}

extern "C" {

void* malloc(size_t bytes) noexcept { return failsFor(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes); }

void* calloc(size_t count, size_t bytes) noexcept
{
    return failsFor(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, bytes);
}

void* realloc(void* memory, size_t bytes) noexcept
{
    return failsFor(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept
{
    return failsFor(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}

int posix_memalign(void** memory, size_t alignment, size_t bytes) noexcept
{
    if (failsFor(__builtin_return_address(0)))
        return ENOMEM;
    *memory = __libc_memalign(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}
}
