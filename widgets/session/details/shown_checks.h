// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/about/climbed_ladder.h"
#include "core/project/about/element_check.h"
#include "core/project/about/file_facts.h"
#include "widgets/session/session.h"

#include <QObject>

#include <functional>
#include <optional>

namespace qs {

/// Something that is worked out of the shown comparison, by a job of its own while somebody looks at it. What was found
/// is forgotten with the comparison that it is of.
class ShownCheck : public QObject {
    Q_OBJECT
public:
    ShownCheck(Session& session, QString tag, QObject* parent);
    /// Whether a view of it can be seen: nothing is worked out for nobody.
    void watch(bool looks);
    bool running() const;
    QString problem() const { return m_problem; } ///< of the last try; empty: none

signals:
    void changed();

protected:
    /// Works it out of a snapshot, on a worker thread; what it returns takes the result, on the GUI thread.
    using Work = std::function<Result<std::function<void()>>(const SnapshotPtr& snapshot, const JobContext& job)>;
    virtual QString title() const = 0; ///< of the job
    virtual bool wanted(const Snapshot& snapshot) const = 0; ///< besides a finished comparison
    virtual Work work() = 0;
    virtual void forget() = 0; ///< what was found
    void ask(); ///< what is wanted has changed
    void drop(); ///< forgets it, and what is being worked out
    Session& session() const { return m_session; }

private:
    void refresh();

    Session& m_session;
    QString m_tag, m_problem;
    SnapshotPtr m_of; ///< what was found is of this one
    SnapshotPtr m_done; ///< the same, once it was worked out or is being
    bool m_watched = false;
};

/// From a framework's values to a device's.
class ShownLadder : public ShownCheck {
    Q_OBJECT
public:
    explicit ShownLadder(Session& session, QObject* parent = nullptr);
    const SavedFiles& files() const { return m_files; }
    void setFiles(const SavedFiles& files);
    const Ladder* ladder() const { return m_ladder ? &*m_ladder : nullptr; }

protected:
    QString title() const override { return tr("Climb the ladder"); }
    bool wanted(const Snapshot& snapshot) const override;
    Work work() override;
    void forget() override { m_ladder.reset(); }

private:
    SavedFiles m_files;
    std::optional<Ladder> m_ladder;
};

/// A against B where there are two quantized models, else the float model against the quantized one.
class ShownElements : public ShownCheck {
    Q_OBJECT
public:
    explicit ShownElements(Session& session, QObject* parent = nullptr);
    /// Nothing is compared before it is given.
    const std::optional<ElementTolerance>& tolerance() const { return m_tolerance; }
    void setTolerance(const ElementTolerance& tolerance);
    const ElementDifferences* found() const { return m_found ? &*m_found : nullptr; }

protected:
    QString title() const override { return tr("Compare elements"); }
    bool wanted(const Snapshot& snapshot) const override { return m_tolerance && snapshot.inputs.carry.empty(); }
    Work work() override;
    void forget() override { m_found.reset(); }

private:
    std::optional<ElementTolerance> m_tolerance;
    std::optional<ElementDifferences> m_found;
};

/// The models side by side; their times where somebody asked for them.
class ShownFiles : public ShownCheck {
    Q_OBJECT
public:
    explicit ShownFiles(Session& session, QObject* parent = nullptr);
    void measureTime(); ///< of what is shown
    const std::vector<FileFacts>& files() const { return m_found; }

protected:
    QString title() const override { return m_timed ? tr("Measure time") : tr("Look at the sizes of the models"); }
    bool wanted(const Snapshot&) const override { return true; }
    Work work() override;
    void forget() override;

private:
    bool m_timed = false;
    std::vector<FileFacts> m_found;
};

} // namespace qs
