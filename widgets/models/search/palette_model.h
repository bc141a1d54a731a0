// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/search/fuzzy_match.h"

#include <QAbstractListModel>
#include <QHash>
#include <QTimer>

#include <functional>
#include <memory>
#include <vector>

namespace qs {

enum class PaletteKind { Action, Panel, Recent, Setting, Finding, Node, Tensor, Sample };
/// "action", "node" ...
QString paletteKindText(PaletteKind kind);

/// Something that can be done or gone to.
struct PaletteEntry {
    FuzzyName name;
    QString note; ///< beside the name: menus, type of the operator, value of the setting
    QString keys; ///< of an action
    QString whyNot; ///< why it cannot be chosen now; empty: it can
    QString id; ///< by which it is remembered; empty: by its name
};

/// Entries of one kind. `choose` gets the number of one.
struct PaletteGroup {
    PaletteKind kind = PaletteKind::Action;
    std::vector<PaletteEntry> entries;
    std::function<void(size_t entry)> choose;
};
using PaletteGroupPtr = std::shared_ptr<const PaletteGroup>;

/// What matches of many entries, best first, at most kShown. They are searched in steps of some milliseconds, so that
/// typing is never held up; rows show what was found so far. A query may begin with the sign of a kind: > @ # = ! %.
class PaletteModel : public QAbstractListModel {
    Q_OBJECT
public:
    static constexpr size_t kShown = 200;
    enum Role { NoteRole = Qt::UserRole, KeysRole, KindRole, WhyNotRole, PlacesRole, IdRole };

    explicit PaletteModel(QObject* parent = nullptr);
    /// Without a query they come in this order, those that were used last before the others.
    void setGroups(std::vector<PaletteGroupPtr> groups);
    void setUsed(const QStringList& ids); ///< newest first
    void setQuery(const QString& typed);

    bool searching() const { return m_timer.isActive(); }
    size_t matches() const { return m_found.size(); } ///< so far, shown or not
    bool choose(const QModelIndex& index) const; ///< false: it cannot be chosen now

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

signals:
    void searched(); ///< through all of them

private:
    struct Found {
        int score = 0;
        uint32_t group = 0, entry = 0;
    };
    void restart(bool narrower);
    void step();
    void look(uint32_t group, uint32_t entry);
    void show();
    bool better(const Found& a, const Found& b) const;
    const PaletteEntry& entryOf(const Found& found) const { return m_groups[found.group]->entries[found.entry]; }
    static const QString& idOf(const PaletteEntry& entry) { return entry.id.isEmpty() ? entry.name.text : entry.id; }

    std::vector<PaletteGroupPtr> m_groups;
    QHash<QString, int> m_used; ///< ids, with how many are newer
    QString m_typed;
    FuzzyQuery m_query;
    std::vector<PaletteKind> m_kinds; ///< that are asked for; empty: all
    std::vector<Found> m_found; ///< unordered
    std::vector<Found> m_before; ///< all that a narrower query has to look at, where it is narrower
    bool m_narrowed = false;
    uint32_t m_group = 0, m_entry = 0; ///< where the search goes on; of m_before the entry alone
    std::vector<Found> m_rows;
    QTimer m_timer;
};

} // namespace qs
