// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/mapped_pages.h"

#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace qs {

/// One mapping as the signal handler finds it. Entries are used again and never freed, so that it may walk the list at
/// any time.
struct GuardedPages {
    std::atomic<uintptr_t> begin = 0, end = 0; ///< end 0: free
    std::atomic<std::atomic<bool>*> lost = nullptr;
    GuardedPages* next = nullptr; ///< never changes once it is in the list
};

namespace {

std::atomic<GuardedPages*> g_guarded = nullptr;
std::mutex g_guardedMutex; ///< for who changes the list
struct sigaction g_beforeGuard; ///< what SIGBUS did
uintptr_t g_pageBytes = 4096;

/// Puts zeros in the place of the page and of all that follow it in the mapping, which begins to read again.
void onBusError(int number, siginfo_t* info, void* context)
{
    const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
    for (const GuardedPages* pages = g_guarded.load(); pages; pages = pages->next) {
        const uintptr_t end = pages->end;
        if (at < pages->begin || at >= end)
            continue;
        *pages->lost.load() = true;
        const uintptr_t page = at / g_pageBytes * g_pageBytes;
        void* const zeros = mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        if (zeros != MAP_FAILED)
            return;
        break;
    }
    if (g_beforeGuard.sa_flags & SA_SIGINFO)
        return g_beforeGuard.sa_sigaction(number, info, context);
    sigaction(SIGBUS, &g_beforeGuard, nullptr); // and again, as without us
}

void catchBusErrors()
{
    static const bool once = [] {
        g_pageBytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        struct sigaction action { };
        action.sa_sigaction = onBusError;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        return sigaction(SIGBUS, &action, &g_beforeGuard) == 0;
    }();
    static_cast<void>(once);
}

GuardedPages* freeEntry()
{
    for (GuardedPages* pages = g_guarded.load(); pages; pages = pages->next)
        if (pages->end == 0)
            return pages;
    auto* fresh = new GuardedPages;
    fresh->next = g_guarded.load();
    g_guarded = fresh;
    return fresh;
}

} // namespace

PageGuard::PageGuard(std::byte* begin, size_t bytes, std::atomic<bool>& lost)
{
    catchBusErrors();
    const std::lock_guard lock(g_guardedMutex);
    m_pages = freeEntry();
    m_pages->lost = &lost;
    m_pages->begin = reinterpret_cast<uintptr_t>(begin);
    m_pages->end = (reinterpret_cast<uintptr_t>(begin) + bytes + g_pageBytes - 1) / g_pageBytes * g_pageBytes;
}

PageGuard::~PageGuard()
{
    const std::lock_guard lock(g_guardedMutex);
    m_pages->end = 0;
}

namespace {

/// The mapping that holds all of them, which the caller keeps in place by the mutex; null: none.
const GuardedPages* mappingOf(std::span<const std::byte> bytes)
{
    const auto begin = reinterpret_cast<uintptr_t>(bytes.data()), end = begin + bytes.size();
    for (const GuardedPages* pages = g_guarded.load(); pages; pages = pages->next)
        if (begin >= pages->begin && end <= pages->end)
            return pages;
    return nullptr;
}

} // namespace

bool isMapped(std::span<const std::byte> bytes)
{
    const std::lock_guard lock(g_guardedMutex);
    return mappingOf(bytes) != nullptr;
}

void letPagesGo(std::span<const std::byte> bytes)
{
    const auto begin = reinterpret_cast<uintptr_t>(bytes.data()), end = begin + bytes.size();
    const std::lock_guard lock(g_guardedMutex);
    if (!mappingOf(bytes))
        return;
    const uintptr_t first = (begin + g_pageBytes - 1) / g_pageBytes * g_pageBytes;
    const uintptr_t last = end / g_pageBytes * g_pageBytes;
    if (first < last) // never written: what goes is a view of the file, or of the zeros in its place
        madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

} // namespace qs
