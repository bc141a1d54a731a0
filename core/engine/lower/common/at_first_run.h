// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace qs {

/// What a step makes of its constants when it runs for the first time, once for all workers: plans that are only looked
/// at pack no weights. Copies share it.
template <class T> class AtFirstRun {
public:
    AtFirstRun() = default; ///< nothing is to be made
    explicit AtFirstRun(std::function<T()> make)
        : m_state(std::make_shared<State>(std::move(make)))
    {
    }
    explicit operator bool() const { return m_state != nullptr; }
    /// Waits where another worker makes it.
    const T& operator*() const
    {
        std::call_once(m_state->once, [this] {
            m_state->made = m_state->make();
            m_state->make = nullptr;
        });
        return *m_state->made;
    }
    const T* operator->() const { return &**this; }

private:
    struct State {
        explicit State(std::function<T()> fn)
            : make(std::move(fn))
        {
        }
        std::once_flag once;
        std::function<T()> make;
        std::optional<T> made;
    };
    std::shared_ptr<State> m_state;
};

} // namespace qs
