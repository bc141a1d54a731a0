// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/advisor_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/plots/point_chart.h"
#include "widgets/views/base/elided_combo.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/name_delegate.h"
#include "widgets/views/theme/focus_ring.h"
#include "widgets/views/theme/plot_theme.h"

#include <QEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QSpinBox>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

namespace {

constexpr int kAdvicePadding = 14;
constexpr int kDefaultSeconds = 20;
constexpr int kLeastCurve = 150, kLeastUnit = 120, kOpWidth = 124; ///< font units

QString exclusionText(const Exclusion& exclusion)
{
    if (exclusion.excluded.empty())
        return AdvisorPanel::tr("nothing left in float");
    QStringList names;
    for (const std::string& name : exclusion.excluded)
        names << toQt(name);
    if (names.size() > 6)
        return names.mid(0, 6).join(u'\n') + u'\n' + AdvisorPanel::tr("and %1 more in float").arg(names.size() - 6);
    return AdvisorPanel::tr("in float:") + u'\n' + names.join(u'\n');
}

} // namespace

AdvisorPanel::AdvisorPanel(Session& session, Advisor& advisor, QWidget* parent)
    : Panel(QStringLiteral("advisor"), tr("Advisor"), parent)
    , m_session(session)
    , m_advisor(advisor)
    , m_curve(new PointChart(this))
    , m_ranking(makeTable(m_sensitivity, tr("What leaving a node in float buys")))
    , m_found(makeTable(m_foundModel, tr("Recipes that were found")))
    , m_hint(new QLabel(this))
    , m_by(new ElidedCombo(this))
    , m_seconds(new Ringed<QSpinBox>(this))
    , m_measure(new QPushButton(tr("Measure"), this))
    , m_search(new QPushButton(tr("Search"), this))
    , m_splitter(new QSplitter(Qt::Horizontal, this))
{
    m_hint->setObjectName(QStringLiteral("emptyHint"));
    m_hint->setWordWrap(true);
    m_hint->setAlignment(Qt::AlignCenter);
    m_hint->setMargin(12);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(m_ranking);
    m_splitter->addWidget(m_curve);
    m_splitter->addWidget(m_found);
    m_curve->setMinimumWidth(fontUnits(fontMetrics(), kLeastCurve));
    for (QTableView* table : { m_ranking, m_found })
        table->setMinimumWidth(fontUnits(fontMetrics(), kLeastUnit)); // what they wish for leaves no room for numbers
    m_splitter->installEventFilter(this);
    connect(m_splitter, &QSplitter::splitterMoved, this, [this] { m_sharedByHand = true; });
    auto* content = new QWidget(this);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_hint, 1);
    column->addWidget(m_splitter, 1);
    setContent(content);
    buildHeader();
    buildTables();
    connect(m_curve, &PointChart::itemChosen, this, &AdvisorPanel::applyPoint);
    connect(&advisor, &Advisor::changed, this, &AdvisorPanel::refresh);
    const auto useTheme = [this] {
        m_curve->setStyle(plotStyleOf(m_session.theme()));
        refresh();
    };
    connect(&session, &Session::themeChanged, this, useTheme);
    connect(&session, &Session::snapshotChanged, this, &AdvisorPanel::refresh);
    useTheme();
}

void AdvisorPanel::buildHeader()
{
    m_by->addItem(tr("by node"), int(UnitKind::Node));
    m_by->addItem(tr("by type"), int(UnitKind::Type));
    m_by->setAccessibleName(tr("What is left in float"));
    m_measure->setToolTip(
        tr("Quantizes each unit alone and leaves each out, then leaves out more and more of those that buy most"));
    m_seconds->setRange(1, 3600);
    m_seconds->setValue(kDefaultSeconds);
    m_seconds->setSuffix(tr(" s"));
    m_seconds->setAccessibleName(tr("Seconds to search"));
    m_search->setToolTip(tr("Tries calibrators, granularities and ranges of weights until the time is up"));
    header()->addEndTool(m_by);
    header()->addEndTool(m_measure);
    header()->addEndTool(m_seconds);
    header()->addEndTool(m_search);
    setTabOrder(m_by, m_measure); // as they stand
    setTabOrder(m_measure, m_seconds);
    setTabOrder(m_seconds, m_search);
    connect(m_measure, &QPushButton::clicked, this, [this] {
        keepFocus(*m_measure, *m_ranking);
        m_advisor.measure(static_cast<UnitKind>(m_by->currentData().toInt()));
    });
    connect(m_search, &QPushButton::clicked, this, [this] {
        keepFocus(*m_search, *m_found);
        m_advisor.search(m_seconds->value());
    });
}

/// A button that cannot be pressed loses the focus, to whatever is next in the window: the answer shall have it
/// instead.
void AdvisorPanel::keepFocus(QWidget& button, QWidget& answer)
{
    m_awaited = button.hasFocus() ? &answer : nullptr;
    if (m_awaited)
        m_by->setFocus(); // as long as it is not there
}

QTableView* AdvisorPanel::makeTable(QAbstractItemModel& model, const QString& name)
{
    auto* table = new QTableView(this);
    table->setModel(&model);
    table->setAccessibleName(name);
    table->setToolTip(tr("Double click or Enter applies a row"));
    table->setObjectName(QStringLiteral("plainTable"));
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->setTabKeyNavigation(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(tableRow(fontMetrics()));
    table->horizontalHeader()->setHighlightSections(false);
    const int number = fontMetrics().horizontalAdvance(QStringLiteral("+88.8 dB"));
    for (int column = 0; column < model.columnCount(); ++column) {
        const QString title = model.headerData(column, Qt::Horizontal).toString();
        table->setColumnWidth(column, std::max(number, fontMetrics().horizontalAdvance(title)) + kAdvicePadding);
    }
    table->horizontalHeader()->setMinimumSectionSize(fontUnits(fontMetrics(), 50));
    table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    table->viewport()->installEventFilter(this);
    return table;
}

void AdvisorPanel::buildTables()
{
    m_ranking->setColumnWidth(m_sensitivity.columnOf(SensitivityModel::Key::Op), fontUnits(fontMetrics(), kOpWidth));
    m_ranking->setItemDelegateForColumn(0, new NameDelegate(m_ranking));
    const auto applyUnit = [this](const QModelIndex& index) {
        const QString name = index.siblingAtColumn(0).data().toString();
        m_advisor.exclude({ name.toStdString() }, tr("Exclude %1").arg(name));
    };
    connect(m_ranking, &QTableView::activated, this, applyUnit);
    connect(m_ranking->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
        [this](const QModelIndex& now, const QModelIndex& before) {
            // The first row becomes the current one when the table gets the focus; nobody chose it.
            const bool chosen = before.isValid() || QGuiApplication::mouseButtons() != Qt::NoButton;
            if (now.isValid() && chosen)
                m_session.selection().selectByName(m_sensitivity.at(now.row()).unit.name);
        });
    connect(m_found, &QTableView::activated, this,
        [this](const QModelIndex& index) { m_advisor.apply(FoundRecipe(m_foundModel.at(index.row()))); });
}

void AdvisorPanel::refresh()
{
    const bool possible = m_advisor.possible(), running = m_advisor.running();
    m_measure->setEnabled(possible && !running);
    m_search->setEnabled(possible && !running);
    if (m_advisor.sensitivity() != m_shown) {
        m_shown = m_advisor.sensitivity();
        m_sensitivity.setSensitivity(m_shown);
        refreshCurve();
    }
    if (m_foundModel.rowCount() != int(m_advisor.found().size()) || !running)
        setFound();
    dim(*m_ranking, m_shown && !m_advisor.measuredThis());
    dim(*m_found, !m_advisor.found().empty() && !m_advisor.foundForThis());
    const bool any = m_shown || !m_advisor.found().empty();
    m_ranking->setVisible(m_shown);
    m_curve->setVisible(m_shown);
    m_found->setVisible(!m_advisor.found().empty());
    m_splitter->setVisible(any);
    shareRoom();
    m_hint->setVisible(!any);
    m_hint->setText(running ? tr("Measuring; the jobs panel says how far it is.")
            : possible      ? tr("Measure says what leaving each node in float would buy. Search tries calibrators and "
                                      "granularities for as long as you say.")
                            : tr("Open a float model and data to look for better recipes."));
    header()->setInfo(rankingInfo());
    if (!running && m_awaited && m_by->hasFocus())
        m_awaited->setFocus();
    if (!running)
        m_awaited = nullptr;
}

/// Numbers of another recipe than the one at hand are no advice on it.
void AdvisorPanel::dim(QTableView& table, bool old)
{
    QPalette colours; // of the theme
    if (old)
        for (const auto role : { QPalette::Text, QPalette::HighlightedText })
            colours.setColor(role, m_session.theme().muted);
    table.setPalette(colours);
}

/// How far the ranking is, and of how many samples.
QString AdvisorPanel::rankingInfo() const
{
    if (!m_shown)
        return {};
    const QString samples = samplesText(m_shown->samples);
    if (!m_advisor.measuredThis())
        return tr("of another recipe: measure again · %1").arg(samples);
    if (m_shown->units.size() < m_shown->asked)
        return (m_advisor.running() ? tr("%1 of %2 so far · %3") : tr("stopped at %1 of %2 · %3"))
            .arg(countText(m_shown->units.size()), countText(m_shown->asked), samples);
    if (m_shown->pareto.empty())
        return m_advisor.running() ? tr("trying several at once · %1").arg(samples)
                                   : tr("stopped before several were tried at once · %1").arg(samples);
    return samples;
}

bool AdvisorPanel::eventFilter(QObject* watched, QEvent* event)
{
    using Unit = SensitivityModel::Key;
    if (event->type() == QEvent::Resize && watched == m_ranking->viewport())
        fitColumns(*m_ranking, m_sensitivity, { Unit::Gain, Unit::Macs, Unit::Without, Unit::Alone, Unit::Op });
    else if (event->type() == QEvent::Resize && watched == m_found->viewport())
        fitFound();
    else if (event->type() == QEvent::Resize && watched == m_splitter)
        shareRoom();
    return Panel::eventFilter(watched, event);
}

void AdvisorPanel::setFound()
{
    m_foundModel.setFound(m_advisor.found());
    fitFound();
}

/// What tells the recipes apart first is seen first: they are sorted by accuracy, and by the output where that is
/// equal.
void AdvisorPanel::fitFound()
{
    using Found = FoundRecipeModel::Key;
    const auto& found = m_advisor.found();
    const bool judged = std::ranges::any_of(
        found, [&](const FoundRecipe& row) { return row.numbers.accuracy != found.front().numbers.accuracy; });
    if (judged)
        fitColumns(*m_found, m_foundModel, { Found::Accuracy, Found::Sqnr });
    else
        fitColumns(*m_found, m_foundModel, { Found::Sqnr, Found::Accuracy });
}

/// The recipes that were found get room for both their numbers, the curve no more than what the ranking leaves of it.
void AdvisorPanel::shareRoom()
{
    if (m_sharedByHand)
        return;
    const auto needs = [](const QTableView& table, int columns) {
        const int number = table.fontMetrics().horizontalAdvance(QStringLiteral("+88.8 dB")) + kAdvicePadding;
        return fontUnits(table.fontMetrics(), kLeastUnit) + columns * number
            + table.verticalScrollBar()->sizeHint().width() + 2 * table.frameWidth();
    };
    const int all = m_splitter->width();
    const int found = std::max(needs(*m_found, 2), all * 32 / 100);
    const int rest = m_found->isHidden() ? all : all - found;
    const int curve = std::max(m_curve->minimumWidth(), std::min(rest * 41 / 100, rest - needs(*m_ranking, 4)));
    m_splitter->setSizes({ rest - curve, curve, found });
}

/// Shows the columns that have room beside the name, those first that say most.
void AdvisorPanel::fitColumns(QTableView& table, const ColumnModel& model, std::initializer_list<ColumnKey> keys)
{
    int room = table.viewport()->width() - fontUnits(table.fontMetrics(), kLeastUnit);
    for (const ColumnKey key : keys) {
        const int column = model.columnOf(key);
        table.setColumnHidden(column, false); // a hidden one has no width
        const int needed = table.columnWidth(column);
        table.setColumnHidden(column, needed > room);
        room -= needed <= room ? needed : 0;
    }
}

void AdvisorPanel::refreshCurve()
{
    PointData points;
    points.emptyText = m_shown && m_shown->pareto.empty() ? tr("The curve comes when all were measured.")
                                                          : tr("Nothing is worth leaving in float.");
    points.xLabel = tr("int8 MACs, %");
    points.yLabel = tr("output SQNR, dB");
    points.xReversed = true; // excluding more goes to the right
    m_points.clear();
    for (size_t i = 0; m_shown && i < m_shown->pareto.size(); ++i) {
        const Exclusion& exclusion = m_shown->pareto[i];
        const Number sqnr = exclusion.score.sqnrDb(), macs = exclusion.quantizedMacShare;
        if (!sqnr || !macs)
            continue;
        QString text = decibelText(sqnr) + QStringLiteral(" · ") + tr("%1 int8 MACs").arg(percentText(macs));
        if (const Number accuracy = exclusion.score.accuracy())
            text += QStringLiteral(" · ") + tr("accuracy %1").arg(percentText(accuracy));
        points.points.push_back({ *macs * 100, *sqnr, text + u'\n' + exclusionText(exclusion) });
        m_points.push_back(i);
    }
    m_curve->setData(points);
}

void AdvisorPanel::applyPoint(size_t point)
{
    const Exclusion& exclusion = m_shown->pareto[m_points[point]];
    if (exclusion.excluded.empty())
        return;
    m_advisor.exclude(exclusion.excluded,
        exclusion.excluded.size() == 1 ? tr("Exclude %1").arg(toQt(exclusion.excluded[0]))
                                       : tr("Exclude %1 nodes").arg(countText(exclusion.excluded.size())));
}

} // namespace qs

#include "moc_advisor_panel.cpp"
