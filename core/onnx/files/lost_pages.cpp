// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/files/lost_pages.h"

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

} // namespace qs
