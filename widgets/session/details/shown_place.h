// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/about/read_values.h"
#include "widgets/session/session.h"

#include <QObject>

#include <memory>
#include <optional>
#include <vector>

namespace qs {

/// What a view is about: the session's selection, or, while it is pinned, what was selected then, in every later
/// snapshot that still has it. It is of the session's snapshot at any time; make it before the view connects to the
/// session, so that its own changes are told first.
class ShownPlace : public QObject {
    Q_OBJECT
public:
    explicit ShownPlace(Session& session, QObject* parent = nullptr);

    const Place& current() const { return m_own ? m_own->current() : m_session.selection().current(); }
    /// Of the view alone while it is pinned, else the session's.
    Selection& selection() { return m_own ? *m_own : m_session.selection(); }
    const ActivationRow* activation() const { return m_session.activationAt(current()); }
    const WeightRow* weight() const { return m_session.weightAt(current()); }
    QString name() const; ///< of the tensor, else of the node; empty where nothing is selected

    bool pinned() const { return m_own != nullptr; }
    /// Nothing is pinned where nothing is selected.
    void setPinned(bool pinned);
    void pinTo(const Place& place);

signals:
    void changed(); ///< another place
    void pinnedChanged(bool pinned);

private:
    void takeSnapshot();

    Session& m_session;
    std::unique_ptr<Selection> m_own; ///< while it is pinned
};

/// The tensor or weight that is selected; nothing where there is none with numbers of its own.
std::optional<TensorPlace> tensorAt(const Session& session, const Place& place);
/// Numbers that depend on data wait for data, and while a comparison runs, which has the processors.
bool waitsForRun(const Session& session, const TensorPlace& place);
inline constexpr size_t kMostShownSamples = 16;
/// The samples that views take together: the selected one, else the first ones.
std::vector<size_t> shownSamples(const Session& session, const Place& place);

} // namespace qs
