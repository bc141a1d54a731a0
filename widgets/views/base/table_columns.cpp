// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/table_columns.h"

#include "widgets/models/base/column_model.h"
#include "widgets/views/base/table_header.h"
#include "widgets/views/base/text/font_units.h"

#include <QScopedValueRollback>
#include <QScrollBar>
#include <QTableView>

#include <algorithm>

namespace qs {

namespace {

constexpr int kMeasuredRows = 200; ///< texts of the first rows stand for all
constexpr int kRare = 20; ///< one text in so many may be wider than its column
constexpr int kFirstLeast = 110, kFirstUsual = 150; ///< font units
constexpr int kFirstCheck = 28; ///< the box of the recipe, or a picture, before the name
constexpr int kCellPadding = 15, kNarrowPadding = 12;
constexpr int kWidestText = 26; ///< letters: a longer text may end with an ellipsis

} // namespace

TableColumns::TableColumns(QTableView& table, TableHeader& sections, const ColumnModel& model)
    : QObject(&table)
    , m_table(table)
    , m_sections(sections)
    , m_model(model)
{
    connect(&sections, &QHeaderView::sectionResized, this, [this](int column, int before, int now) {
        if (!m_giving && before > 0 && now > 0) // else it was hidden or shown
            m_drawn[column] = now;
    });
    connect(&model, &QAbstractItemModel::modelReset, this, &TableColumns::fit);
    connect(&model, &QAbstractItemModel::rowsInserted, this, &TableColumns::fit);
    m_later.setSingleShot(true);
    m_later.setInterval(0);
    connect(&m_later, &QTimer::timeout, this, &TableColumns::fit);
    connect(&model, &QAbstractItemModel::dataChanged, &m_later, qOverload<>(&QTimer::start));
}

int TableColumns::usualText(int column) const
{
    const QFontMetrics metrics(m_table.font());
    const int rows = std::min(m_model.rowCount(), kMeasuredRows);
    if (rows == 0)
        return metrics.horizontalAdvance(m_model.column(column).typical);
    std::map<QString, int> known;
    std::vector<int> widths;
    for (int row = 0; row < rows; ++row) {
        const auto [text, isNew] = known.try_emplace(m_model.index(row, column).data().toString());
        if (isNew)
            text->second = metrics.horizontalAdvance(text->first);
        widths.push_back(text->second);
    }
    const auto usual = widths.end() - 1 - rows / kRare;
    std::nth_element(widths.begin(), usual, widths.end());
    return column == 0 ? *usual + fontUnits(metrics, kFirstCheck)
                       : std::min(*usual, metrics.averageCharWidth() * kWidestText);
}

int TableColumns::units(int wanted) const { return fontUnits(m_table.fontMetrics(), wanted); }

TableColumns::Room TableColumns::roomOf(int column) const
{
    if (const auto drawn = m_drawn.find(column); drawn != m_drawn.end())
        return { column, drawn->second, drawn->second, Yield::Last };
    const ColumnSpec& spec = m_model.column(column);
    const bool text = isWritten(spec.kind);
    const bool drawn = !text && spec.kind != ColumnKind::Value; // a bar may be as short as its title
    const int indent = text ? kTextIndent : 0;
    const int title = m_sections.titleWidth(spec.title) + indent;
    const int content = text ? usualText(column) : QFontMetrics(m_table.font()).horizontalAdvance(spec.typical);
    const int wanted = std::max(content + kCellPadding + indent, title);
    if (column == 0) {
        const int least = units(kFirstLeast);
        return { column, std::max(wanted, least), least, Yield::Second };
    }
    return { column, wanted, text || drawn ? title : std::max(content + kNarrowPadding, title),
        drawn ? Yield::First : Yield::Last };
}

TableColumns::Rooms TableColumns::rooms() const
{
    Rooms shown;
    for (int column = 0; column < m_model.columnCount(); ++column)
        if (!m_table.isColumnHidden(column))
            shown.push_back(roomOf(column));
    return shown;
}

/// Takes pixels from columns of one kind; returns how many are still too many.
int TableColumns::take(Rooms& rooms, int over, Yield kind)
{
    const auto spareOf = [kind](const Room& room) { return room.yields == kind ? room.wanted - room.least : 0; };
    int spare = 0;
    for (const Room& room : rooms)
        spare += spareOf(room);
    const int wanted = std::min(over, spare);
    int left = wanted;
    for (Room& room : rooms) {
        const int less = spare > 0 ? std::min(left, (wanted * spareOf(room) + spare - 1) / spare) : 0;
        room.wanted -= less;
        left -= less;
    }
    return over - wanted;
}

void TableColumns::fit()
{
    Rooms shown = rooms();
    int over = -m_table.viewport()->width(), spare = 0;
    for (const Room& room : shown) {
        over += room.wanted;
        spare += room.wanted - room.least;
    }
    if (over > spare) { // it has to be scrolled anyway
        shown[0].wanted = std::clamp(shown[0].wanted, shown[0].least, std::max(shown[0].least, units(kFirstUsual)));
    } else if (over > 0) { // names stay readable while other texts can end with an ellipsis
        const bool named = shown[0].yields == Yield::Second;
        const int least = shown[0].least;
        if (named)
            shown[0].least = std::max(least, std::min(shown[0].wanted, units(kFirstUsual)));
        for (const Yield kind : { Yield::First, Yield::Second, Yield::Last })
            over = take(shown, over, kind);
        shown[0].least = least;
        take(shown, over, Yield::Second);
    } else if (!m_drawn.count(0)) {
        shown[0].wanted -= over;
    }
    give(shown);
}

void TableColumns::give(const Rooms& rooms)
{
    const QScopedValueRollback giving(m_giving, true);
    for (const Room& room : rooms)
        m_table.setColumnWidth(room.column, room.wanted);
}

void TableColumns::forgetWidths() { m_drawn.clear(); }

int TableColumns::wantedWidth() const
{
    int width = m_table.verticalScrollBar()->sizeHint().width() + 2;
    for (const Room& room : rooms())
        width += room.column == 0 && !m_drawn.count(0) ? units(kFirstUsual) : room.wanted;
    return width;
}

} // namespace qs
