// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <span>

namespace qs {

struct GuardedPages;

/// Mapped pages that may be read even when the file behind them is cut short or its disk goes away: what cannot be read
/// reads as zeros from then on, and `lost` says so. Without this the process would end with SIGBUS.
class PageGuard {
public:
    /// `begin`: of a mapping. It and `lost` outlive the guard.
    PageGuard(std::byte* begin, size_t bytes, std::atomic<bool>& lost);
    ~PageGuard();
    PageGuard(const PageGuard&) = delete;
    PageGuard& operator=(const PageGuard&) = delete;

private:
    GuardedPages* m_pages;
};

/// Whoever has read `bytes` does not need them soon: pages that lie wholly inside them leave the process's memory and
/// are read again from the file by the next one who looks. Nothing happens to bytes outside guarded mappings.
void letPagesGo(std::span<const std::byte> bytes);
/// They lie in a guarded mapping.
bool isMapped(std::span<const std::byte> bytes);

} // namespace qs
