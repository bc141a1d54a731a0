// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "widgets/models/base/place.h"

#include <QObject>
#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace qs {

/// The one selection: every view follows it and sets it, and knows no other view. Keeps a history.
class Selection : public QObject {
    Q_OBJECT
public:
    explicit Selection(QObject* parent = nullptr);

    const Place& current() const { return m_history[m_position]; }
    /// Fills the fields that follow from the given ones (row <-> value <-> producer), drops what does not exist.
    void select(const Place& place);
    void selectActivation(size_t row);
    void selectWeight(size_t row);
    /// A node selects its first output too (the quantized node's partner where there is one).
    void selectNode(Side side, NodeId node);
    void selectValue(Side side, ValueId value);
    void selectInner(Side side, const InnerPlace& inner);
    void selectSample(std::optional<size_t> sample);
    void selectChannel(std::optional<size_t> channel);
    void selectElement(std::optional<ChosenElement> element); ///< of the value that is selected
    void clear();
    /// As select(), in the place of the current entry of the history: a suggestion that was never chosen leaves no
    /// trace.
    void replace(const Place& place);
    /// Node or tensor of that name in the float graph, else in the quantized one; false when there is none.
    bool selectByName(const std::string& name);

    bool canGoBack() const { return m_position > 0; }
    bool canGoForward() const { return m_position + 1 < m_history.size(); }
    void goBack();
    void goForward();

    /// Called by the session before it announces a new snapshot: keeps the places whose names still exist.
    void rebind(const SnapshotPtr& snapshot);
    /// The same in two steps, where others are told something between them: the places are those of the new snapshot,
    /// and what that changed.
    void follow(const SnapshotPtr& snapshot);
    void tell();

signals:
    void changed(const qs::Place& now, const qs::Place& before);
    /// What was selected does not exist in the new snapshot of the same model; nothing is selected any more.
    void vanished(const QString& name);
    void historyChanged();

private:
    Place completed(Place place) const;
    Place completedInner(Place place) const;
    QString nameOf(const Place& place) const;
    void moveTo(size_t position);

    SnapshotPtr m_snapshot = std::make_shared<Snapshot>();
    std::vector<Place> m_history { Place {} };
    size_t m_position = 0;
    struct Followed {
        Place before;
        QString lost; ///< what was selected and is nowhere in the new snapshot of the same model
    };
    std::optional<Followed> m_followed; ///< that nobody was told yet
};

} // namespace qs
