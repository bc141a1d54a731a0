// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/table_panel.h"

#include "widgets/session/recipe/recipe_view.h"
#include "widgets/views/base/cell_delegates.h"
#include "widgets/views/base/elided_label.h"
#include "widgets/views/base/table_columns.h"
#include "widgets/views/base/table_header.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/menu_width.h"
#include "widgets/views/base/unit_actions.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSplitter>
#include <QTableView>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

constexpr int kFilterWidth = 130, kLeastFilter = 60; ///< font units

/// The base class makes the first row current when the focus comes; here only the user chooses.
class Table : public QTableView {
public:
    using QTableView::QTableView;
    std::function<void()> copy; ///< the base class knows only of one cell

protected:
    void keyPressEvent(QKeyEvent* event) override
    {
        if (!event->matches(QKeySequence::Copy))
            return QTableView::keyPressEvent(event);
        copy();
        event->accept();
    }

    void focusInEvent(QFocusEvent* event) override
    {
        const QModelIndex before = currentIndex();
        const QSignalBlocker quiet(selectionModel());
        QTableView::focusInEvent(event);
        if (!before.isValid())
            selectionModel()->clearCurrentIndex();
    }
};

} // namespace

TablePanel::TablePanel(Session& session, Setup setup, QWidget* parent)
    : Panel(setup.name, setup.title, parent)
    , m_session(session)
    , m_setup(std::move(setup))
    , m_proxy(new WorstFirstProxy(this))
    , m_table(new Table(this))
    , m_sections(new TableHeader(m_table))
    , m_filter(new QLineEdit(this))
    , m_columns(new QToolButton(this))
    , m_emptyArea(new QWidget(m_table))
    , m_empty(new QLabel(m_emptyArea))
    , m_rest(new QSpacerItem(0, 0, QSizePolicy::Minimum, QSizePolicy::Fixed))
    , m_splitter(new QSplitter(Qt::Horizontal, this))
    , m_reveal(new QTimer(this))
{
    m_setup.model->setParent(this);
    m_proxy->setColumns(m_setup.model);
    buildTable();
    if (m_setup.recipe)
        showRecipe();
    buildHeader();
    auto* content = new QWidget(this);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_table, 1);
    column->addItem(m_rest);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(content);
    connect(m_splitter, &QSplitter::splitterMoved, this, [this] { m_sharedByHand = true; });
    setContent(m_splitter);
    if (m_setup.footer)
        addFooter(makeFooter());
    if (m_setup.worstColumn >= 0)
        sortWorstFirst(m_setup.worstColumn);
    connect(&session, &Session::snapshotChanged, this, [this](const SnapshotPtr& now) {
        m_following = true;
        m_setup.model->setSnapshot(now);
        m_following = false;
        showMeaningful();
        showInfo();
        follow(m_session.selection().current());
    });
    connect(&session, &Session::themeChanged, m_table->viewport(), qOverload<>(&QWidget::update));
    connect(&session.numbers(), &NumbersAge::changed, this, [this] {
        m_table->viewport()->update();
        showInfo();
    });
    connect(&session.selection(), &Selection::changed, this, [this](const Place& now) { follow(now); });
    m_setup.model->setSnapshot(session.snapshot());
    showMeaningful();
    showInfo();
}

void TablePanel::buildTable()
{
    static_cast<Table*>(m_table)->copy = [this] { copyChosen(); };
    m_table->setModel(m_proxy);
    m_table->setAccessibleName(header()->title());
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerItem); // the first row is always whole
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    m_table->setTabKeyNavigation(false);
    m_table->setCornerButtonEnabled(false);
    m_table->setSortingEnabled(false); // sections are clicked: worst first, then reversed
    m_table->setHorizontalHeader(m_sections);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(tableRow(fontMetrics()));
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    for (int column = 0; column < m_setup.model->columnCount(); ++column) {
        m_table->setItemDelegateForColumn(
            column, new CellDelegate(m_session, m_setup.model->column(column).kind, m_table));
    }
    m_widths = new TableColumns(*m_table, *m_sections, *m_setup.model);
    for (int column = 0; column < m_setup.model->columnCount(); ++column)
        m_widths->choose(column, shownByDefault(column));
    m_table->viewport()->installEventFilter(this);
    connect(m_sections, &QHeaderView::sectionClicked, this, &TablePanel::sortBy);
    connect(m_sections, &QWidget::customContextMenuRequested, this,
        [this](const QPoint& at) { showColumnMenu(m_sections->mapToGlobal(at)); });
    m_empty->setObjectName(QStringLiteral("emptyHint"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    auto* over = new QVBoxLayout(m_emptyArea);
    over->setContentsMargins(over->contentsMargins().left(), 0, over->contentsMargins().right(), 0);
    over->addStretch(1);
    over->addWidget(m_empty);
    over->addStretch(1);
    m_reveal->setSingleShot(true);
    m_reveal->setInterval(0);
    connect(m_reveal, &QTimer::timeout, this, &TablePanel::reveal);
    connect(m_table, &QWidget::customContextMenuRequested, this,
        [this](const QPoint& at) { showRowMenu(m_table->viewport()->mapToGlobal(at)); });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
        if (now.isValid() && m_setup.select && !m_following)
            m_setup.select(m_session.selection(), m_proxy->mapToSource(now).row());
    });
}

void TablePanel::showRecipe()
{
    auto* delegate = static_cast<CellDelegate*>(m_table->itemDelegateForColumn(0));
    delegate->showRecipe(*m_setup.recipe,
        [this](const QModelIndex& index) { return m_setup.nodeOf(m_proxy->mapToSource(index).row()); });
    connect(m_setup.recipe, &RecipeView::changed, m_table->viewport(), qOverload<>(&QWidget::update));
}

std::vector<size_t> TablePanel::chosenNodes() const
{
    if (!m_setup.recipe)
        return {};
    std::vector<size_t> members;
    for (const int row : chosenRows())
        if (const auto node = m_setup.nodeOf(row))
            members.push_back(*node);
    return m_setup.recipe->units().whole(members);
}

bool TablePanel::toggleNodes()
{
    const std::vector<size_t> members = chosenNodes();
    if (m_setup.recipe)
        m_setup.recipe->toggleNodes(members);
    return !members.empty();
}

std::vector<int> TablePanel::chosenRows() const
{
    std::vector<int> rows;
    for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
        rows.push_back(m_proxy->mapToSource(index).row());
    return rows;
}

void TablePanel::addBeside(QWidget* widget, int percent)
{
    m_splitter->addWidget(widget);
    m_splitter->setStretchFactor(0, 100 - percent);
    m_splitter->setStretchFactor(m_splitter->count() - 1, percent);
}

void TablePanel::buildHeader()
{
    m_filter->setPlaceholderText(tr("Filter"));
    m_filter->setAccessibleName(tr("Filter %1").arg(header()->title()));
    m_filter->setToolTip(tr("Words that must all occur in the names, operator, type or match"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setMaximumWidth(fontUnits(fontMetrics(), kFilterWidth));
    m_filter->setMinimumWidth(fontUnits(fontMetrics(), kLeastFilter));
    m_filter->installEventFilter(this);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& words) {
        m_following = true; // rows that go would move the current one, which nobody asked for
        m_proxy->setFilterWords(words);
        m_following = false;
        showInfo();
        follow(m_session.selection().current());
    });
    m_columns->setText(tr("Columns"));
    m_columns->setAccessibleName(tr("Choose columns"));
    connect(m_columns, &QToolButton::clicked, this,
        [this] { showColumnMenu(m_columns->mapToGlobal(QPoint(0, m_columns->height()))); });
    connect(m_widths, &TableColumns::fitted, this, &TablePanel::showLeftOut);
    showLeftOut();
    header()->addEndTool(m_filter);
    header()->addEndTool(m_columns);
}

QWidget* TablePanel::makeFooter()
{
    auto* footer = new ElidedLabel(Qt::ElideRight, this);
    footer->setObjectName(QStringLiteral("tableFooter"));
    footer->setContentsMargins(8, 2, 8, 3);
    m_fillFooter = [this, footer] {
        footer->setText(m_setup.footer(m_session.theme()));
        footer->setToolTip(footer->text());
    };
    connect(&m_session, &Session::themeChanged, footer, m_fillFooter);
    connect(&m_session, &Session::snapshotChanged, footer, m_fillFooter);
    m_fillFooter();
    return footer;
}

bool TablePanel::eventFilter(QObject* watched, QEvent* event)
{
    // Else Escape, in a window that uses it, would cancel what runs.
    const bool key = event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress;
    if (watched == m_filter && key && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape
        && !m_filter->text().isEmpty()) {
        event->accept();
        if (event->type() == QEvent::KeyPress)
            m_filter->clear();
        return true;
    }
    if (watched == m_table->viewport() && (event->type() == QEvent::Resize || event->type() == QEvent::Show)) {
        m_widths->fit();
        keepRowsWhole();
        m_emptyArea->setGeometry(m_table->viewport()->geometry());
        fitEmpty();
        m_reveal->start(); // the scroll bars know the new size only after this event
    }
    return Panel::eventFilter(watched, event);
}

void TablePanel::shareWidth(const std::vector<int>& beside)
{
    if (m_sharedByHand)
        return;
    QList<int> sizes { std::min(m_widths->wantedWidth(), m_splitter->width()) };
    for (const int percent : beside)
        sizes << (m_splitter->width() - sizes[0]) * percent / 100;
    m_splitter->setSizes(sizes);
}

void TablePanel::addToEmpty(QWidget* widget)
{
    auto* over = static_cast<QVBoxLayout*>(m_emptyArea->layout());
    over->insertWidget(over->count() - 1, widget, 0, Qt::AlignHCenter);
}

/// What stands below the text keeps its height; of the text there are as many whole lines as there is room for.
void TablePanel::fitEmpty()
{
    const QLayout* over = m_emptyArea->layout();
    int room = m_emptyArea->height();
    for (int i = 0; i < over->count(); ++i)
        if (const QWidget* widget = over->itemAt(i)->widget(); widget && widget != m_empty && !widget->isHidden())
            room -= widget->sizeHint().height() + over->spacing();
    const int line = m_empty->fontMetrics().lineSpacing();
    const QMargins margins = over->contentsMargins();
    const bool whole = m_empty->heightForWidth(m_emptyArea->width() - margins.left() - margins.right()) <= room;
    m_empty->setMaximumHeight(whole ? QWIDGETSIZE_MAX : std::max(1, room / line) * line);
    m_empty->setAlignment(whole ? Qt::AlignCenter : Qt::AlignHCenter | Qt::AlignTop);
    m_empty->setToolTip(whole ? QString() : m_empty->text());
    m_empty->setVisible(whole || room >= line);
}

void TablePanel::sortWorstFirst(int column)
{
    m_proxy->sortWorstFirst(column);
    m_sections->setSortIndicator(column, m_proxy->sortOrder());
    m_table->scrollToTop();
    showInfo();
}

/// Worst first, or the other way round where they are in the order of that column.
void TablePanel::sortBy(int column)
{
    if (m_proxy->sortColumn() != column)
        return sortWorstFirst(column);
    const auto order = m_proxy->sortOrder() == Qt::AscendingOrder ? Qt::DescendingOrder : Qt::AscendingOrder;
    m_proxy->sort(column, order);
    m_sections->setSortIndicator(column, order);
    showInfo();
}

/// Columns to sort by, for those who have no mouse.
void TablePanel::addSorting(QMenu& menu)
{
    QMenu* sorting = menu.addMenu(tr("Sort by"));
    auto* one = new QActionGroup(sorting);
    for (int column = 0; column < m_setup.model->columnCount(); ++column) {
        if (m_table->isColumnHidden(column))
            continue;
        QAction* action = sorting->addAction(m_setup.model->column(column).title);
        action->setCheckable(true);
        action->setChecked(m_proxy->sortColumn() == column);
        one->addAction(action);
        connect(action, &QAction::triggered, this, [this, column] { sortBy(column); });
    }
    keepNarrow(*sorting);
}

/// What the order of the rows is, where the panel says so.
QString TablePanel::orderText() const
{
    const int column = m_proxy->sortColumn();
    if (!m_setup.tellsOrder || column < 0)
        return {};
    const ColumnSpec& spec = m_setup.model->column(column);
    const bool worstFirst = !isWritten(spec.kind) && m_proxy->sortOrder() == spec.worst;
    return worstFirst ? tr(" · worst first") : tr(" · by %1").arg(spec.title);
}

void TablePanel::follow(const Place& place)
{
    const auto row = m_setup.rowOf ? m_setup.rowOf(place) : std::nullopt;
    QItemSelectionModel* selection = m_table->selectionModel();
    if (!row || *row >= size_t(m_setup.model->rowCount())) {
        if (std::exchange(m_chosenHidden, false))
            showInfo();
        return selection->clear();
    }
    const QModelIndex index = m_proxy->mapFromSource(m_setup.model->index(int(*row), 0));
    if (m_chosenHidden != !index.isValid()) {
        m_chosenHidden = !index.isValid();
        showInfo();
    }
    if (!index.isValid())
        return selection->clear();
    if (selection->currentIndex().row() != index.row() || !selection->isRowSelected(index.row())) {
        m_following = true;
        m_table->setAutoScroll(false); // reveal() decides
        selection->setCurrentIndex(index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        m_table->setAutoScroll(true);
        m_following = false;
    }
    m_reveal->start();
}

/// What is left below the last whole row stays empty, so that no row is cut at the end of the list either.
void TablePanel::keepRowsWhole()
{
    const int before = m_rest->sizeHint().height();
    const int room = m_table->viewport()->height() + before;
    const int row = m_table->verticalHeader()->defaultSectionSize();
    const int rest = room < row ? 0 : room % row;
    if (rest == before)
        return;
    m_rest->changeSize(0, rest, QSizePolicy::Minimum, QSizePolicy::Fixed);
    m_table->parentWidget()->layout()->invalidate();
}

/// Brings the chosen row into sight when it is not wholly there. What nobody chose leaves the list at its worst rows.
void TablePanel::reveal()
{
    if (m_session.placeSuggested())
        return;
    const QModelIndex index = m_table->currentIndex().siblingAtColumn(0);
    if (!index.isValid())
        return;
    const QRect row = m_table->visualRect(index);
    const QRect room = m_table->viewport()->rect();
    if (row.top() < room.top() || row.bottom() > room.bottom())
        m_table->scrollTo(index, QAbstractItemView::PositionAtCenter);
}

void TablePanel::walk(int step)
{
    const int rows = m_proxy->rowCount();
    if (rows == 0)
        return;
    const QModelIndex current = m_table->currentIndex();
    const int row = current.isValid() ? std::clamp(current.row() + step, 0, rows - 1) : 0;
    m_table->setCurrentIndex(m_proxy->index(row, 0));
}

std::vector<int> TablePanel::chosenInOrder() const
{
    std::vector<int> rows;
    for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
        rows.push_back(index.row());
    std::sort(rows.begin(), rows.end());
    return rows;
}

void TablePanel::copyRows(TableFormat format) const
{
    std::vector<int> rows = chosenInOrder();
    if (rows.size() <= 1) {
        rows.clear();
        for (int row = 0; row < m_proxy->rowCount(); ++row)
            rows.push_back(row);
    }
    copy(rows, format);
}

void TablePanel::copyChosen() const
{
    if (const std::vector<int> rows = chosenInOrder(); !rows.empty())
        copy(rows, TableFormat::Tsv);
}

void TablePanel::copy(const std::vector<int>& rows, TableFormat format) const
{
    std::vector<int> columns;
    const QHeaderView* sections = m_table->horizontalHeader();
    for (int visual = 0; visual < sections->count(); ++visual) {
        const int column = sections->logicalIndex(visual);
        if (m_widths->chosen(column))
            columns.push_back(column);
    }
    QApplication::clipboard()->setText(tableText(*m_proxy, rows, columns, format));
}

TablePanel* TablePanel::inFocus()
{
    QWidget* at = QApplication::focusWidget();
    while (at && !qobject_cast<TablePanel*>(at))
        at = at->parentWidget();
    return qobject_cast<TablePanel*>(at);
}

void TablePanel::focusFilter()
{
    m_filter->setFocus();
    m_filter->selectAll();
}

void TablePanel::showInfo()
{
    const Snapshot& snapshot = *m_session.snapshot();
    QString text = m_setup.info ? m_setup.info(snapshot) : QString();
    if (!text.isEmpty())
        text += orderText();
    if (m_proxy->hiddenRows() > 0)
        text += (m_chosenHidden ? tr(" · %1 hidden by the filter, also the selected one")
                                : tr(" · %1 hidden by the filter"))
                    .arg(m_proxy->hiddenRows());
    if (m_session.numbers().stale() && m_proxy->rowCount() > 0)
        text += text.isEmpty() ? tr("before the changes") : tr(" · before the changes");
    const QString names = m_setup.names ? m_setup.names(snapshot) : QString();
    header()->setInfo(names.isEmpty() ? text : names, names.isEmpty() ? QString() : text);
    const bool empty = m_proxy->rowCount() == 0;
    m_emptyArea->setVisible(empty);
    if (empty && m_proxy->hiddenRows() > 0)
        m_empty->setText(tr("No row has all these words. Clear the filter to see all."));
    else if (empty && m_setup.emptyText)
        m_empty->setText(m_setup.emptyText(snapshot));
    fitEmpty();
}

void TablePanel::refreshTexts()
{
    showInfo();
    if (m_fillFooter)
        m_fillFooter();
}

bool TablePanel::hasMeaning(int column) const
{
    const ColumnSpec& spec = m_setup.model->column(column);
    const Snapshot& snapshot = *m_session.snapshot();
    return (!spec.ofOther || snapshot.inputs.other.given())
        && (!spec.when || !snapshot.comparison || spec.when(*snapshot.comparison));
}

bool TablePanel::shownByDefault(int column) const { return m_setup.model->column(column).shown && hasMeaning(column); }

/// Columns of a second quantized model come and go with it, those of a task with its outputs.
void TablePanel::showMeaningful()
{
    const int columns = m_setup.model->columnCount();
    m_meaningful.resize(size_t(columns), true);
    bool changed = false;
    for (int column = 0; column < columns; ++column) {
        const bool meaningful = hasMeaning(column);
        if (meaningful == m_meaningful[size_t(column)])
            continue;
        m_meaningful[size_t(column)] = meaningful;
        m_widths->choose(column, shownByDefault(column));
        changed = true;
    }
    if (changed)
        m_widths->fit();
}

/// Columns without room are told of where they can be had.
void TablePanel::showLeftOut()
{
    QStringList titles;
    for (int column = 0; column < m_setup.model->columnCount(); ++column)
        if (m_widths->chosen(column) && m_table->isColumnHidden(column))
            titles << m_setup.model->column(column).title;
    m_columns->setText(titles.isEmpty() ? tr("Columns") : tr("Columns +%1").arg(titles.size()));
    m_columns->setToolTip(titles.isEmpty() ? tr("Which columns are shown")
                                           : tr("No room for: %1. Choose one to have it in sight, or widen the panel.")
                                                 .arg(titles.join(QStringLiteral(", "))));
}

void TablePanel::showColumnMenu(const QPoint& position)
{
    QMenu menu(this);
    for (int column = 0; column < m_setup.model->columnCount(); ++column) {
        QAction* action = menu.addAction(m_setup.model->column(column).title);
        action->setCheckable(true);
        action->setChecked(m_widths->chosen(column) && !m_table->isColumnHidden(column));
        action->setEnabled(column > 0);
        action->setVisible(hasMeaning(column));
        connect(action, &QAction::toggled, this, [this, column](bool shown) {
            m_widths->ask(column, shown);
            m_widths->fit();
        });
    }
    menu.addSeparator();
    connect(menu.addAction(tr("Default columns")), &QAction::triggered, this, [this] {
        for (int column = 0; column < m_setup.model->columnCount(); ++column)
            m_widths->choose(column, shownByDefault(column));
        m_widths->forgetWishes();
        m_widths->fit();
    });
    keepNarrow(menu);
    menu.exec(position);
}

void TablePanel::showRowMenu(const QPoint& position)
{
    QMenu menu(this);
    if (m_setup.recipe)
        addUnitActions(menu, *m_setup.recipe, chosenNodes());
    if (!actions().isEmpty()) {
        menu.addActions(actions());
        menu.addSeparator();
    }
    addSorting(menu);
    connect(menu.addAction(tr("Copy as TSV")), &QAction::triggered, this, [this] { copyRows(TableFormat::Tsv); });
    connect(
        menu.addAction(tr("Copy as Markdown")), &QAction::triggered, this, [this] { copyRows(TableFormat::Markdown); });
    keepNarrow(menu);
    menu.exec(position);
}

} // namespace qs

#include "moc_table_panel.cpp"
