// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

#include <map>
#include <set>
#include <vector>

class QTableView;

namespace qs {

class ColumnModel;
class TableHeader;

/// Shares the width of a table among its columns: what is in them decides, and the first takes what is left. Where
/// there is not enough, bars and strips give way, then names as long as they tell rows apart, then other texts down to
/// a word. Where titles over numbers would be cut then, the last columns are left out, texts first; what the user asked
/// for, drew or sorts by stays, and where that is still too much, titles give way and it is scrolled.
class TableColumns : public QObject {
    Q_OBJECT
public:
    TableColumns(QTableView& table, TableHeader& sections, const ColumnModel& model);
    void fit();
    void choose(int column, bool shown); ///< by default, or for what the data mean
    void ask(int column, bool shown); ///< the user did: it is never left out
    bool chosen(int column) const { return m_chosen[size_t(column)]; } ///< shown, if there is room
    void forgetWishes(); ///< widths that the user drew, columns asked for
    int wantedWidth() const; ///< of all that are chosen, with a usual first one

signals:
    void fitted();

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
    std::vector<int> dispensable() const; ///< what may be left out, the first one first
    int readable(const Room& room) const; ///< its least width with a whole title, or a readable name
    Rooms fitting() const;
    static int take(Rooms& rooms, int over, Yield kind);
    void give(const Rooms& rooms);

    QTableView& m_table;
    TableHeader& m_sections;
    const ColumnModel& m_model;
    std::map<int, int> m_drawn; ///< width by column
    std::vector<bool> m_chosen; ///< by column
    std::set<int> m_asked;
    bool m_giving = false;
    QTimer m_later; ///< after texts changed
};

} // namespace qs
