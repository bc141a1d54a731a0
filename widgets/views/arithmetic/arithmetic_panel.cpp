// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/arithmetic/arithmetic_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/views/arithmetic/arithmetic_delegate.h"
#include "widgets/views/base/elided_label.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_text.h"
#include "widgets/views/values/slice_field.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <tuple>

namespace qs {

namespace {

constexpr int kLeastContent = 100; ///< font units: tools, two lines of heading, a row
constexpr int kRow = 20; ///< font units
constexpr int kTermPadding = 16; ///< pixels beside a text
constexpr int kMostMeasured = 200; ///< rows by which columns are made as wide as they need be
constexpr int kBarColumn = 92; ///< font units, at least: a bar has to be told from another

QToolButton* stepButton(Qt::ArrowType arrow, const QString& text, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setArrowType(arrow);
    button->setToolTip(text);
    button->setAccessibleName(text);
    button->setAutoRepeat(true);
    return button;
}

} // namespace

ArithmeticPanel::ArithmeticPanel(Session& session, QWidget* parent)
    : Panel(QStringLiteral("arithmetic"), tr("Arithmetic"), parent)
    , m_session(session)
    , m_place(session)
    , m_shown(new ShownElement(session, m_place, this))
    , m_terms(new TermModel(this))
    , m_sorted(new QSortFilterProxyModel(this))
    , m_steps(new ElementStepsModel(this))
    , m_stepper(new ElementStepper(this))
    , m_chips(new QButtonGroup(this))
    , m_field(new SliceField(this))
    , m_largest(new QPushButton(tr("Largest error"), this))
    , m_back(stepButton(Qt::LeftArrow, tr("One step back"), this))
    , m_forward(stepButton(Qt::RightArrow, tr("One step on: term by term, then what is done with their sum"), this))
    , m_play(new QPushButton(tr("Play"), this))
    , m_headline(new QLabel(this))
    , m_sum(new QLabel(this))
    , m_note(new ElidedLabel(Qt::ElideRight, this))
    , m_empty(new QLabel(this))
    , m_splitter(new QSplitter(Qt::Horizontal, this))
{
    setShownPlace(&m_place);
    buildChips();
    buildTables();
    buildTop();
    setFocusProxy(m_termTable);
    connect(this, &Panel::lookedAtChanged, m_shown, &ShownElement::watch);
    connect(m_shown, &ShownElement::changed, this, &ArithmeticPanel::refresh);
    connect(m_stepper, &ElementStepper::changed, this, &ArithmeticPanel::showSteps);
    const auto repaint = [this] {
        m_termTable->viewport()->update();
        m_stepTable->viewport()->update();
    };
    connect(&session, &Session::themeChanged, this, repaint);
    connect(&session.numbers(), &NumbersAge::changed, this, [this, repaint] {
        repaint();
        m_headline->setEnabled(!m_session.numbers().stale());
    });
    refresh();
}

ArithmeticPanel::~ArithmeticPanel() { m_shown->stop(); }

void ArithmeticPanel::buildChips()
{
    using Model = ShownElement::Model;
    const std::tuple<Model, QString, QString> names[] {
        { Model::Quantized, tr("Quantized"), tr("How the quantized model makes the number") },
        { Model::Float, tr("Float"), tr("How the float model makes it") },
        { Model::Other, tr("B"), tr("How the second quantized model makes it") },
    };
    for (const auto& [model, name, tip] : names) {
        auto* chip = new QPushButton(name, this);
        chip->setCheckable(true);
        chip->setProperty("chip", true);
        chip->setToolTip(tip);
        m_chips->addButton(chip, int(model));
        header()->addTool(chip);
    }
    connect(m_chips, &QButtonGroup::idClicked, this, [this](int id) { m_shown->setModel(Model(id)); });
}

void ArithmeticPanel::buildTop()
{
    m_field->setAccessibleName(tr("Index of the number"));
    m_field->setHint(tr("Index of the number: one for each axis, from 0; negative ones count from the end"));
    m_largest->setToolTip(tr("The number of this tensor that is furthest from the float one, over the shown samples"));
    m_play->setToolTip(tr("Goes through the terms and the steps by itself"));
    wrapText(*m_headline);
    m_headline->setTextFormat(Qt::RichText);
    m_headline->setMargin(4);
    m_headline->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_headline->setAccessibleName(tr("The number"));
    m_note->setObjectName(QStringLiteral("tableFooter"));
    m_note->setContentsMargins(8, 1, 8, 1);
    auto* tools = new QHBoxLayout;
    tools->setContentsMargins(8, 2, 8, 0);
    tools->setSpacing(6);
    tools->addWidget(m_field, 1);
    for (QWidget* tool : { static_cast<QWidget*>(m_largest), static_cast<QWidget*>(m_back),
             static_cast<QWidget*>(m_forward), static_cast<QWidget*>(m_play) })
        tools->addWidget(tool);
    tools->addWidget(m_sum, 1);
    auto* content = new QWidget(this);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(tools);
    column->addWidget(m_headline);
    column->addWidget(m_splitter, 1);
    column->addWidget(m_empty, 1);
    content->setMinimumHeight(fontUnits(fontMetrics(), kLeastContent)); // a longer heading asks for no more
    setContent(content);
    addFooter(m_note);
    connect(m_largest, &QPushButton::clicked, this, &ArithmeticPanel::showLargestError);
    connect(m_back, &QToolButton::clicked, m_stepper, &ElementStepper::back);
    connect(m_forward, &QToolButton::clicked, m_stepper, &ElementStepper::forward);
    connect(m_play, &QPushButton::clicked, this, [this] { m_stepper->play(!m_stepper->playing()); });
    connect(m_field, &SliceField::problemChanged, this, [this] {
        showTables();
        showNotes();
    });
    connect(m_field, &SliceField::chosen, this, [this](const TensorSlice& slice) {
        if (!slice.ranges().empty() || m_shape.empty())
            return; // more indices are to come
        const auto element = int64_t(SliceGrid::inOrder(slice, m_shape).at(0));
        m_place.selection().selectElement(ChosenElement { m_sample, element });
    });
}

void ArithmeticPanel::buildTables()
{
    m_sorted->setSourceModel(m_terms);
    m_sorted->setSortRole(TermModel::SortRole);
    m_termTable = makeTable(*m_sorted, tr("Terms"));
    m_termTable->setSortingEnabled(true);
    m_termTable->horizontalHeader()->setSortIndicatorClearable(true);
    m_termTable->sortByColumn(-1, Qt::AscendingOrder);
    m_termTable->horizontalHeader()->setSectionsMovable(false);
    m_termTable->setItemDelegate(new ArithmeticDelegate(
        m_session, { TermModel::ShareRole, -1, TermModel::SaturatesRole },
        [this](const QModelIndex& index) { return aheadOf(m_sorted->mapToSource(index).row()); }, m_termTable));
    m_termTable->installEventFilter(this);
    connect(m_termTable, &QTableView::activated, this, &ArithmeticPanel::followRow);
    m_termTable->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_termTable, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        auto* menu = new QMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        const QModelIndex index = m_termTable->indexAt(at);
        fillMenu(*menu, index.isValid() ? m_sorted->mapToSource(index).row() : -1);
        menu->popup(m_termTable->viewport()->mapToGlobal(at));
    });
    m_stepTable = makeTable(*m_steps, tr("Steps"));
    m_stepTable->horizontalHeader()->hide();
    m_stepTable->setItemDelegate(new ArithmeticDelegate(
        m_session, { ElementStepsModel::ShareRole, ElementStepsModel::HeadingRole, -1 },
        [this](const QModelIndex& index) {
            return aheadOf(m_stepper->terms() + index.data(ElementStepsModel::StepRole).toInt());
        },
        m_stepTable));
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(m_termTable);
    m_splitter->addWidget(m_stepTable);
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
    m_splitter->setSizes({ 600, 400 });
    m_empty->setObjectName(QStringLiteral("emptyHint"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setMargin(12);
}

QTableView* ArithmeticPanel::makeTable(QAbstractItemModel& model, const QString& name)
{
    auto* table = new QTableView(this);
    table->setModel(&model);
    table->setAccessibleName(name);
    table->setObjectName(QStringLiteral("plainTable"));
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->setTabKeyNavigation(false);
    table->setFrameShape(QFrame::NoFrame);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setVerticalScrollMode(QAbstractItemView::ScrollPerItem);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(fontUnits(fontMetrics(), kRow));
    table->verticalHeader()->setMinimumSectionSize(fontUnits(fontMetrics(), kRow));
    table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table->horizontalHeader()->setHighlightSections(false);
    table->setMinimumHeight(fontUnits(fontMetrics(), kRow));
    return table;
}

void ArithmeticPanel::refresh()
{
    const auto& found = m_shown->found();
    const ExplanationPtr explanation = found ? found->explanation : nullptr;
    m_terms->show(explanation ? pathOf(explanation).front() : nullptr);
    m_stepTable->clearSpans();
    m_steps->show(explanation);
    showTables();
    m_largest->setEnabled(explanation != nullptr);
    m_field->setEnabled(!m_shown->name().isEmpty()); // it may be that somebody types
    refreshChips();
    if (found) {
        m_shape = found->shape;
        m_sample = found->element.sample;
        m_headline->setText(headlineHtml(*explanation));
        m_headline->setToolTip(toQt(explanation->tensor) + u'\n' + toQt(explanation->node));
        TensorSlice here = TensorSlice::whole(found->shape);
        const auto indices = indicesOf(size_t(found->element.index), found->shape);
        for (size_t axis = 0; axis < indices.size(); ++axis)
            here.axes[axis] = { indices[axis], 1, 1, true };
        m_field->show(here, found->shape);
        header()->setInfo(m_shown->name(), m_shown->sampleText());
    } else {
        header()->setInfo(m_shown->name());
    }
    showNotes();
    fitColumns();
    m_stepper->setLength(m_terms->rowCount(), m_steps->steps());
}

void ArithmeticPanel::refreshChips()
{
    m_chips->button(int(ShownElement::Model::Quantized))
        ->setText(m_shown->has(ShownElement::Model::Other) ? tr("A") : tr("Quantized"));
    for (QAbstractButton* chip : m_chips->buttons()) {
        const auto model = ShownElement::Model(m_chips->id(chip));
        chip->setVisible(m_shown->has(model));
        chip->setChecked(m_shown->model() == model);
    }
}

QString ArithmeticPanel::notes() const
{
    const auto& found = m_shown->found();
    if (!found || m_field->wrong())
        return {};
    QStringList notes;
    for (const ExplanationPtr& e : pathOf(found->explanation)) {
        if (!e->note.empty() && !notes.contains(toQt(e->note)))
            notes << toQt(e->note);
        if (e->pairs)
            notes << tr("%1 of %2 sums of two products in 16 bits saturate")
                         .arg(countText(e->saturated.size()), countText(*e->pairs));
    }
    const auto& difference = found->explanation->difference;
    if (difference && !difference->reservation.empty())
        notes << toQt(difference->reservation);
    return notes.join(QStringLiteral(" · "));
}

/// An index that cannot be read has no terms: those of what was half typed would be taken for its.
void ArithmeticPanel::showTables()
{
    const auto& found = m_shown->found();
    const bool shown = found && found->explanation && !m_field->wrong();
    m_splitter->setVisible(shown);
    m_headline->setVisible(shown);
    m_empty->setVisible(!shown);
    m_empty->setText(shown ? QString() : m_field->wrong() ? m_field->problem() : m_shown->hint());
}

void ArithmeticPanel::showNotes()
{
    m_note->setText(notes());
    m_note->setVisible(!m_note->text().isEmpty());
}

/// As wide as what stands in them; of many rows the first and the last are looked at.
void ArithmeticPanel::fitColumns()
{
    const QFontMetrics metrics = m_termTable->fontMetrics();
    const int rows = m_terms->rowCount();
    for (int column = 0; column < TermModel::ColumnCount; ++column) {
        m_termTable->setColumnHidden(column, !m_terms->used(column));
        if (!m_terms->used(column))
            continue;
        int width = metrics.horizontalAdvance(m_terms->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString())
            + kTermPadding;
        for (int i = 0; i < std::min(rows, kMostMeasured); ++i) {
            const int row = i % 2 ? rows - 1 - i / 2 : i / 2;
            width = std::max(width, metrics.horizontalAdvance(m_terms->index(row, column).data().toString()));
        }
        if (rows > 0 && m_terms->index(0, column).data(TermModel::ShareRole).isValid())
            width = std::max(width, fontUnits(metrics, kBarColumn));
        m_termTable->setColumnWidth(column, width + kTermPadding);
    }
    int value = fontUnits(metrics, kBarColumn);
    for (int row = 0; row < m_steps->rowCount(); ++row) {
        const QModelIndex cell = m_steps->index(row, ElementStepsModel::Value);
        if (cell.data(ElementStepsModel::HeadingRole).toBool())
            m_stepTable->setSpan(row, 0, 1, ElementStepsModel::ColumnCount);
        else
            value = std::max(value, metrics.horizontalAdvance(cell.data().toString()) + kTermPadding);
    }
    m_stepTable->setColumnWidth(ElementStepsModel::Value, value);
    m_stepTable->horizontalHeader()->setSectionResizeMode(ElementStepsModel::Name, QHeaderView::Stretch);
}

bool ArithmeticPanel::aheadOf(int position) const { return m_stepper->stepping() && position > m_stepper->position(); }

void ArithmeticPanel::showSteps()
{
    const int length = m_stepper->length(), at = m_stepper->position();
    m_back->setEnabled(length > 0 && (!m_stepper->stepping() || at >= 0));
    m_forward->setEnabled(length > 0 && (!m_stepper->stepping() || at + 1 < length));
    m_play->setEnabled(length > 0);
    m_play->setText(m_stepper->playing() ? tr("Pause") : tr("Play"));
    m_termTable->viewport()->update();
    m_stepTable->viewport()->update();
    if (!m_stepper->stepping() || at < 0) {
        m_sum->setText(m_stepper->stepping() ? tr("before the first term") : QString());
        m_termTable->clearSelection();
        m_stepTable->clearSelection();
        return;
    }
    if (m_stepper->isTerm(at)) {
        const QModelIndex row = m_sorted->mapFromSource(m_terms->index(at, 0));
        m_termTable->selectRow(row.row());
        m_termTable->scrollTo(row);
        m_stepTable->clearSelection();
        m_sum->setText(
            tr("term %1 of %2  %3")
                .arg(countText(quint64(at) + 1), countText(quint64(m_stepper->terms())), m_terms->sumText(at)));
        return;
    }
    const int row = m_steps->rowOfStep(at - m_stepper->terms());
    m_termTable->clearSelection();
    m_stepTable->selectRow(row);
    m_stepTable->scrollTo(m_steps->index(row, 0));
    m_sum->setText(m_steps->index(row, ElementStepsModel::Name).data().toString());
}

QString ArithmeticPanel::headline() const { return m_headline->text(); }

QString ArithmeticPanel::note() const { return m_field->wrong() ? m_empty->text() : m_note->text(); }

void ArithmeticPanel::resizeEvent(QResizeEvent* event)
{
    Panel::resizeEvent(event);
    m_splitter->setOrientation(width() < 2 * height() ? Qt::Vertical : Qt::Horizontal);
}

} // namespace qs

#include "moc_arithmetic_panel.cpp"
