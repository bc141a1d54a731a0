// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work/cancel_scope.h"

namespace qs {

namespace {

thread_local CancelScope* t_innermost = nullptr;

}

CancelScope::CancelScope(const CancelToken& token)
    : m_token(token)
    , m_outer(t_innermost)
{
    t_innermost = this;
}

CancelScope::~CancelScope() { t_innermost = m_outer; }

bool stopAsked()
{
    if (!t_innermost)
        return false;
    ++t_innermost->m_asked;
    return t_innermost->m_token.cancelled();
}

CancelToken cancelOfScope() { return t_innermost ? t_innermost->m_token : CancelToken(); }

} // namespace qs
