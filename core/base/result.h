// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/issue.h"

#include <optional>
#include <utility>
#include <variant>

namespace qs {

/// A value or the Issue that prevented it. Functions that can fail on input return it; our own errors are asserts.
template <class T> class [[nodiscard]] Result {
public:
    Result(T value)
        : m_state(std::in_place_index<0>, std::move(value))
    {
    }
    Result(Issue issue)
        : m_state(std::in_place_index<1>, std::move(issue))
    {
    }

    bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }
    const T& value() const& { return std::get<0>(m_state); }
    T& value() & { return std::get<0>(m_state); }
    T&& value() && { return std::get<0>(std::move(m_state)); }
    const T& operator*() const { return value(); }
    T& operator*() { return value(); }
    const T* operator->() const { return &value(); }
    T* operator->() { return &value(); }
    const Issue& issue() const& { return std::get<1>(m_state); }
    Issue&& issue() && { return std::get<1>(std::move(m_state)); }

private:
    std::variant<T, Issue> m_state;
};

/// Success or an Issue.
template <> class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Issue issue)
        : m_issue(std::move(issue))
    {
    }
    bool ok() const { return !m_issue; }
    explicit operator bool() const { return ok(); }
    const Issue& issue() const& { return *m_issue; }
    Issue&& issue() && { return std::move(*m_issue); }

private:
    std::optional<Issue> m_issue;
};

using Status = Result<void>;

} // namespace qs

#define QS_CONCAT_(a, b) a##b
#define QS_CONCAT(a, b) QS_CONCAT_(a, b)
/// QS_TRY(auto x, mayFail()): declares x, or returns the issue.
#define QS_TRY(declaration, expression)                                                                                \
    auto QS_CONCAT(qsTry, __LINE__) = (expression);                                                                    \
    if (!QS_CONCAT(qsTry, __LINE__).ok())                                                                              \
        return std::move(QS_CONCAT(qsTry, __LINE__)).issue();                                                          \
    declaration = std::move(QS_CONCAT(qsTry, __LINE__)).value()
/// QS_CHECK(mayFail()): returns the issue if there is one.
#define QS_CHECK(expression)                                                                                           \
    do {                                                                                                               \
        if (auto qsStatus = (expression); !qsStatus.ok())                                                              \
            return std::move(qsStatus).issue();                                                                        \
    } while (false)
