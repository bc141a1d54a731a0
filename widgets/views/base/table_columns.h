// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

#include <map>
#include <vector>

class QTableView;

namespace qs {

class ColumnModel;
class TableHeader;

/// Shares the width of a table among its columns: what is in them decides, and the first takes what is left. Where
/// there is not enough, bars and strips give way, then names as long as they tell rows apart, then other texts down to
/// a word, then titles over numbers. Where that is not enough either, it is scrolled. A width that the user drew
/// stays.
class TableColumns : public QObject {
    Q_OBJECT
public:
    TableColumns(QTableView& table, TableHeader& sections, const ColumnModel& model);
    void fit();
    void forgetWidths(); ///< those that the user drew
    int wantedWidth() const; ///< of all that are shown, with a usual first one

private:
    enum class Yield { Bar, Name, Text, Title, Never };
    struct Room {
        int column, wanted, least;
        Yield yields;
    };
    using Rooms = std::vector<Room>;
    Room roomOf(int column) const;
    int units(int wanted) const; ///< pixels
    std::vector<int> textWidths(int column, bool firstWords) const; ///< of the first rows; none without rows
    int usualText(int column) const;
    int firstWord(int column) const; ///< of texts, that are cut behind it
    Rooms rooms() const; ///< of the columns that are shown
    static int take(Rooms& rooms, int over, Yield kind);
    void give(const Rooms& rooms);

    QTableView& m_table;
    TableHeader& m_sections;
    const ColumnModel& m_model;
    std::map<int, int> m_drawn; ///< width by column
    bool m_giving = false;
    QTimer m_later; ///< after texts changed
};

} // namespace qs
