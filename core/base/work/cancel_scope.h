// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"

#include <cstddef>

namespace qs {

/// While it lives, steps on this thread that cannot fail or lie too deep to be handed a token (making a plan, packing
/// and hashing constants, reading a file) ask this one. What such a step returns after it was cancelled is incomplete,
/// so whoever opens a scope asks the token before the result is used. Scopes nest; the innermost counts.
class CancelScope {
public:
    explicit CancelScope(const CancelToken& token);
    ~CancelScope();
    CancelScope(const CancelScope&) = delete;
    CancelScope& operator=(const CancelScope&) = delete;
    /// How often this thread has asked so far.
    size_t asked() const { return m_asked; }

private:
    friend bool stopAsked();
    friend CancelToken cancelOfScope();
    const CancelToken m_token;
    CancelScope* const m_outer;
    size_t m_asked = 0;
};

/// Whether work on this thread should stop; never without a scope.
bool stopAsked();
/// The token of the innermost scope, for the threads that a step starts; without a scope one that nobody cancels.
CancelToken cancelOfScope();

} // namespace qs
