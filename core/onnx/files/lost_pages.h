// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstddef>

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

} // namespace qs
