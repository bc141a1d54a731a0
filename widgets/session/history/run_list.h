// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/files/runs.h"

#include <QObject>
#include <QString>

namespace qs {

/// The tree of runs of one window. What was shown with complete numbers is a run of it.
class RunList : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    const RunTree& tree() const { return m_tree; }
    void rename(RunId id, const QString& name);
    void annotate(RunId id, const QString& note);
    void remove(RunId id);

    /// Says what is shown now: one of the known runs, the current one where the same step of undo made both, else a new
    /// one after the current. Without numbers it keeps those it has.
    RunId show(const Recipe& recipe, bool imported, quint64 step, const QString& name,
        const std::optional<RunNumbers>& numbers);
    /// Whether the next new run has nothing before it: it is not what the current one became. Showing a run ends it.
    void startApart(bool apart) { m_apart = apart; }
    void setFileBytes(RunId id, uint64_t bytes);
    /// The imported file's recipe became known only after it was shown.
    void setRecipe(RunId id, const Recipe& recipe, const QString& note);
    void restore(RunTree tree); ///< of a project file
    void nameData(const std::string& measuredOn); ///< of that project, where it is known now
    void forgetNumbers(bool importedOnly); ///< RunTree::forgetNumbers
    void clear() { restore({}); }

signals:
    void changed();

private:
    RunTree m_tree;
    quint64 m_step = 0; ///< that made the current run
    bool m_apart = false;
};

} // namespace qs
