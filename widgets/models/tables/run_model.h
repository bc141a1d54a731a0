// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/files/runs.h"
#include "widgets/models/base/column.h"

#include <QAbstractItemModel>

#include <unordered_map>

namespace qs {

/// The tree of runs with their numbers. Names and notes are edited through signals.
class RunModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum class Key { Sqnr, Accuracy, Agreement, Macs, Size, Note }; ///< of columns; the first has the name
    enum Role { BestRole = OwnRole, CurrentRole, OtherwiseRole }; ///< the last: not comparable with the current one
    explicit RunModel(QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    void setRuns(const RunTree& tree);
    const RunTree& runs() const { return m_tree; }
    RunId idOf(const QModelIndex& index) const; ///< 0: none
    QModelIndex indexOf(RunId id) const;
    int columnOf(Key key) const { return qs::columnOf(m_columns, key); }

signals:
    void renamed(quint32 id, const QString& name);
    void annotated(quint32 id, const QString& note);

private:
    /// Where a run stands: in the list, and among the children of its parent.
    struct Place {
        size_t run;
        int row;
    };
    const std::vector<RunId>& childrenOf(const QModelIndex& index) const;
    const RecipeRun* find(RunId id) const;
    void findPlaces();
    bool isNote(const QModelIndex& index) const;
    QString otherwise(const RecipeRun& run) const;
    QString shownName(const RecipeRun& run) const;
    QString nameTip(const RecipeRun& run, const QString& meaning) const;

    std::vector<Column<RecipeRun>> m_columns;
    RunTree m_tree;
    std::unordered_map<RunId, Place> m_places; ///< views ask for them again and again
    std::unordered_map<RunId, std::vector<RunId>> m_children; ///< 0: the roots
    RunId m_best = 0;
};

/// What one number of two runs became.
struct NumberChange {
    QString title, before, after;
    int better = 0; ///< 1 improved, -1 got worse, 0 neither
    QString note; ///< why no more can be said of it
};
/// Output SQNR, accuracy or agreement, share of int8 MACs, file size: those that one of both has.
std::vector<NumberChange> numberChanges(const RecipeRun& before, const RecipeRun& after);
QString changeText(const NumberChange& change); ///< "0.5 → 27.9 dB"; what it is where it did not change

} // namespace qs
