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
constexpr int kLongestWord = 8; ///< letters
constexpr int kFirstCheck = 28; ///< the box of the recipe, or a picture, before the name
constexpr int kCellPadding = 15, kNarrowPadding = 12;
constexpr size_t kFewest = 4; ///< columns that stay in any case
constexpr int kWidestText = 26; ///< letters: a longer text may end with an ellipsis

} // namespace

TableColumns::TableColumns(QTableView& table, TableHeader& sections, const ColumnModel& model)
    : QObject(&table)
    , m_table(table)
    , m_sections(sections)
    , m_model(model)
    , m_chosen(size_t(model.columnCount()), true)
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

std::vector<int> TableColumns::textWidths(int column, bool firstWords) const
{
    const QFontMetrics metrics(m_table.font());
    std::map<QString, int> known;
    std::vector<int> widths;
    for (int row = 0; row < std::min(m_model.rowCount(), kMeasuredRows); ++row) {
        const QString whole = m_model.index(row, column).data().toString();
        const QString shown = firstWords ? whole.section(u' ', 0, 0) : whole;
        const auto [text, isNew] = known.try_emplace(shown);
        if (isNew)
            text->second = metrics.horizontalAdvance(shown != whole ? shown + u'…' : shown);
        widths.push_back(text->second);
    }
    return widths;
}

int TableColumns::usualText(int column) const
{
    const QFontMetrics metrics(m_table.font());
    std::vector<int> widths = textWidths(column, false);
    if (widths.empty())
        return metrics.horizontalAdvance(m_model.column(column).typical);
    const auto usual = widths.end() - 1 - ptrdiff_t(widths.size()) / kRare;
    std::nth_element(widths.begin(), usual, widths.end());
    return column == 0 ? *usual + fontUnits(metrics, kFirstCheck)
                       : std::min(*usual, metrics.averageCharWidth() * kWidestText);
}

int TableColumns::firstWord(int column) const
{
    const std::vector<int> widths = textWidths(column, true);
    const int most = QFontMetrics(m_table.font()).averageCharWidth() * kLongestWord;
    return widths.empty() ? 0 : std::min(std::ranges::max(widths), most);
}

int TableColumns::units(int wanted) const { return fontUnits(m_table.fontMetrics(), wanted); }

TableColumns::Room TableColumns::roomOf(int column) const
{
    if (const auto drawn = m_drawn.find(column); drawn != m_drawn.end())
        return { column, drawn->second, drawn->second, Yield::Never };
    const ColumnSpec& spec = m_model.column(column);
    const bool text = isWritten(spec.kind), number = spec.kind == ColumnKind::Value;
    const int indent = text ? kTextIndent : 0;
    const int title = m_sections.titleWidth(spec.title) + indent;
    const int content = text ? usualText(column) : QFontMetrics(m_table.font()).horizontalAdvance(spec.typical);
    const int wanted = std::max(content + kCellPadding + indent, title);
    if (column == 0) {
        const int least = units(kFirstLeast);
        return { column, std::max(wanted, least), least, Yield::Name };
    }
    if (text)
        return { column, wanted, std::min(wanted, std::max(firstWord(column) + kCellPadding + indent, title)),
            Yield::Text };
    if (number)
        return { column, wanted, std::min(wanted, usualText(column) + kNarrowPadding), Yield::Title };
    return { column, wanted, title, Yield::Bar }; // a bar may be as short as its title
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

void TableColumns::choose(int column, bool shown) { m_chosen[size_t(column)] = shown; }

void TableColumns::ask(int column, bool shown)
{
    choose(column, shown);
    if (shown)
        m_asked.insert(column);
    else
        m_asked.erase(column);
}

/// Texts from the last one on, then all others; at the end what came with a second model, and what it stands beside.
std::vector<int> TableColumns::dispensable() const
{
    std::vector<int> columns;
    for (int column = m_model.columnCount() - 1; column > 0; --column)
        if (chosen(column) && !m_asked.count(column) && !m_drawn.count(column)
            && column != m_sections.sortIndicatorSection())
            columns.push_back(column);
    std::ranges::stable_sort(columns, {}, [this](int column) {
        const ColumnSpec& spec = m_model.column(column);
        return std::pair(spec.ofOther || spec.stays, spec.kind != ColumnKind::Text);
    });
    return columns;
}

int TableColumns::readable(const Room& room) const
{
    if (room.yields == Yield::Name)
        return std::max(room.least, std::min(room.wanted, units(kFirstUsual + kFirstCheck)));
    return room.yields == Yield::Title ? room.wanted : room.least;
}

/// Of the chosen columns those for which there is room.
TableColumns::Rooms TableColumns::fitting() const
{
    Rooms rooms;
    int width = 0;
    for (int column = 0; column < m_model.columnCount(); ++column)
        if (chosen(column)) {
            rooms.push_back(roomOf(column));
            width += readable(rooms.back());
        }
    for (const int column : dispensable()) {
        const bool fits = width <= m_table.viewport()->width() || !m_table.isVisible(); // its width is none yet
        if (rooms.size() <= kFewest || fits)
            break;
        const auto room = std::ranges::find(rooms, column, &Room::column);
        width -= readable(*room);
        rooms.erase(room);
    }
    return rooms;
}

void TableColumns::fit()
{
    Rooms shown = fitting();
    Room& first = shown[0];
    const bool named = first.yields == Yield::Name;
    const int least = first.least;
    if (named) // names stay readable while other texts can end with an ellipsis
        first.least = readable(first);
    int over = -m_table.viewport()->width(), spare = 0;
    for (const Room& room : shown) {
        over += room.wanted;
        spare += room.wanted - room.least;
    }
    if (over > spare + first.least - least) { // it has to be scrolled anyway: titles stay whole
        for (Room& room : shown)
            room.wanted = room.yields == Yield::Title ? room.wanted : room.least;
    } else if (over > 0) {
        for (const Yield kind : { Yield::Bar, Yield::Name, Yield::Text, Yield::Title })
            over = take(shown, over, kind);
        first.least = least;
        take(shown, over, Yield::Name);
    } else if (named) {
        first.wanted -= over;
    }
    give(shown);
    emit fitted();
}

void TableColumns::give(const Rooms& rooms)
{
    const QScopedValueRollback giving(m_giving, true);
    std::vector<bool> shown(m_chosen.size());
    for (const Room& room : rooms)
        shown[size_t(room.column)] = true;
    for (size_t column = 0; column < shown.size(); ++column)
        if (m_table.isColumnHidden(int(column)) == shown[column])
            m_table.setColumnHidden(int(column), !shown[column]);
    for (const Room& room : rooms)
        m_table.setColumnWidth(room.column, room.wanted);
}

void TableColumns::forgetWishes()
{
    m_drawn.clear();
    m_asked.clear();
}

int TableColumns::wantedWidth() const
{
    int width = m_table.verticalScrollBar()->sizeHint().width() + 2;
    for (int column = 0; column < m_model.columnCount(); ++column)
        if (chosen(column))
            width += column == 0 && !m_drawn.count(0) ? units(kFirstUsual) : roomOf(column).wanted;
    return width;
}

} // namespace qs

#include "moc_table_columns.cpp"
