// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/values/values_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/values/value_words.h"
#include "widgets/views/base/elided_combo.h"
#include "widgets/views/base/elided_label.h"
#include "widgets/views/values/slice_field.h"
#include "widgets/views/values/value_delegate.h"
#include "widgets/views/values/value_find_bar.h"

#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

constexpr int kValueRow = 20;
constexpr double kFixedFontShare = 0.94; ///< of the panel's font: fixed pitch looks larger
constexpr int kHeaderRoom = 16; ///< pixels beside the text of a row header

QLabel* mutedLine(QWidget* parent)
{
    auto* label = new ElidedLabel(Qt::ElideRight, parent);
    label->setObjectName(QStringLiteral("tableFooter"));
    label->setContentsMargins(8, 1, 8, 1);
    return label;
}

void showText(QLabel* label, const QString& text)
{
    label->setText(text);
    label->setToolTip(QString(text).replace(QStringLiteral(" · "), QStringLiteral("\n")));
    label->setVisible(!text.isEmpty());
}

} // namespace

ValuesPanel::ValuesPanel(Session& session, QWidget* parent)
    : Panel(QStringLiteral("values"), tr("Values"), parent)
    , m_session(session)
    , m_place(session)
    , m_shown(new ShownValues(session, m_place, this))
    , m_model(new ValueTableModel(this))
    , m_kinds(new ElidedCombo(this))
    , m_field(new SliceField(this))
    , m_menu(new QToolButton(this))
    , m_find(new ValueFindBar(this))
    , m_table(new QTableView(this))
    , m_empty(new QLabel(m_table))
    , m_pages(new QWidget(this))
    , m_pageText(new QLabel(m_pages))
    , m_note(mutedLine(this))
    , m_ofSlice(mutedLine(this))
    , m_ofWhole(mutedLine(this))
{
    auto* content = new QWidget(this);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(8, 2, 8, 4);
    top->setSpacing(6);
    top->addWidget(m_kinds, 2);
    top->addWidget(m_field, 3);
    column->addLayout(top);
    column->addWidget(m_find);
    column->addWidget(m_table, 1);
    setContent(content);
    buildTop();
    buildTable();
    buildFooter();
    setFocusProxy(m_table);
    setShownPlace(&m_place);
    connect(this, &Panel::lookedAtChanged, m_shown, &ShownValues::watch);
    connect(m_shown, &ShownValues::changed, this, &ValuesPanel::refresh);
    connect(m_shown, &ShownValues::statisticsFound, this, &ValuesPanel::showStatistics);
    connect(m_shown, &ShownValues::found, this, &ValuesPanel::goTo);
    connect(m_find, &ValueFindBar::asked, this, &ValuesPanel::search);
    connect(m_find, &ValueFindBar::closed, m_table, [this] { m_table->setFocus(); });
    connect(&session, &Session::themeChanged, m_table->viewport(), qOverload<>(&QWidget::update));
    connect(&m_place, &ShownPlace::changed, this, [this] {
        const auto before = std::exchange(m_channel, m_place.current().channel);
        if (m_channel && m_channel != before)
            showChannel(m_place.current());
        showChosen();
    });
    connect(&session.numbers(), &NumbersAge::changed, this, [this] {
        m_table->viewport()->update();
        showInfo();
    });
    refresh();
}

ValuesPanel::~ValuesPanel() { m_shown->stop(); }

void ValuesPanel::buildTop()
{
    m_menu->setText(QStringLiteral("⋯"));
    m_menu->setAccessibleName(tr("Find, arrange and save values"));
    m_menu->setToolTip(m_menu->accessibleName());
    m_menu->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(m_menu);
    m_menu->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        fillMenu(*menu);
    });
    header()->addEndTool(m_menu);
    m_kinds->setAccessibleName(tr("Which numbers"));
    connect(m_kinds, &QComboBox::activated, this, [this] { setKind(ValueKind(m_kinds->currentData().toInt())); });
    connect(m_field, &SliceField::chosen, this, &ValuesPanel::setSlice);
    connect(m_field, &SliceField::problemChanged, this, &ValuesPanel::showProblem);
}

void ValuesPanel::buildTable()
{
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setPointSizeF(this->font().pointSizeF() * kFixedFontShare);
    m_table->setFont(font);
    m_table->setModel(m_model);
    m_table->setItemDelegate(new ValueDelegate(m_session, m_table));
    m_table->setAccessibleName(tr("Values"));
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->setCornerButtonEnabled(false);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerItem);
    for (QHeaderView* sections : { m_table->horizontalHeader(), m_table->verticalHeader() }) {
        sections->setSectionResizeMode(QHeaderView::Fixed);
        sections->setHighlightSections(false);
        sections->setMinimumSectionSize(kValueRow);
    }
    m_table->verticalHeader()->setDefaultSectionSize(kValueRow);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_table, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        auto* menu = new QMenu(this); // a panel that was opened beside the first may go while it is open
        menu->setAttribute(Qt::WA_DeleteOnClose);
        fillMenu(*menu);
        menu->popup(m_table->viewport()->mapToGlobal(at));
    });
    connect(m_table, &QTableView::activated, this, &ValuesPanel::askForArithmetic);
    m_empty->setObjectName(QStringLiteral("emptyHint"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setMargin(12);
    m_empty->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_table->installEventFilter(this);
}

void ValuesPanel::buildFooter()
{
    m_note->hide();
    auto* row = new QHBoxLayout(m_pages);
    row->setContentsMargins(8, 1, 8, 1);
    row->addWidget(m_pageText, 1);
    const std::pair<int, QString> steps[] { { -1, tr("Previous page") }, { 1, tr("Next page") } };
    for (const auto& [step, text] : steps) {
        auto* button = new QToolButton(m_pages);
        button->setArrowType(step < 0 ? Qt::UpArrow : Qt::DownArrow);
        button->setToolTip(text);
        button->setAccessibleName(text);
        connect(button, &QToolButton::clicked, this, [this, step = step] { turnPage(step); });
        row->addWidget(button);
    }
    m_pages->hide();
    for (QWidget* line :
        { m_pages, static_cast<QWidget*>(m_note), static_cast<QWidget*>(m_ofSlice), static_cast<QWidget*>(m_ofWhole) })
        addFooter(line);
}

void ValuesPanel::refresh()
{
    const auto& values = m_shown->values();
    if (values && (values->shape != m_shape || m_view.slice.axes.size() != m_shape.size())) {
        m_shape = values->shape;
        m_view.slice = firstSlice(m_shape);
        const auto ranges = m_view.slice.ranges();
        m_view.across = ranges.size() < 2 ? std::nullopt : std::optional(ranges.back());
    }
    for (QWidget* tool :
        { static_cast<QWidget*>(m_kinds), static_cast<QWidget*>(m_field), static_cast<QWidget*>(m_menu) })
        tool->setEnabled(values != nullptr);
    showText(m_note, values ? toQt(values->note) : QString());
    fillKinds();
    showView();
    showChosen();
}

void ValuesPanel::fillKinds()
{
    m_kinds->clear();
    const auto& values = m_shown->values();
    if (!values)
        return;
    for (int k = 0; k < kValueKinds; ++k)
        if (hasKind(*values, ValueKind(k)))
            m_kinds->addItem(kindTitle(ValueKind(k), values->other.has_value()), k);
    m_kinds->setCurrentIndex(m_kinds->findData(int(kindNow())));
}

/// The wanted kind, or what comes nearest.
ValueKind ValuesPanel::kindNow() const
{
    for (const ValueKind kind : { m_view.kind, ValueKind::Quantized, ValueKind::Float })
        if (m_shown->values() && hasKind(*m_shown->values(), kind))
            return kind;
    return ValueKind::Float;
}

void ValuesPanel::showView()
{
    ValueView view = m_view;
    view.values = m_shown->values();
    view.kind = kindNow();
    m_model->show(view);
    fitColumns();
    showPages();
    showInfo();
    for (QLabel* line : { m_ofSlice, m_ofWhole }) { // their room stays: the table must not jump
        line->clear();
        line->setToolTip({});
    }
    m_ofSlice->setVisible(view.values != nullptr);
    m_ofWhole->setVisible(view.values && m_model->grid().count() != view.values->count());
    m_empty->setVisible(!view.values || m_model->rowCount() == 0);
    m_empty->setText(!view.values ? m_shown->hint() : tr("This slice has no elements."));
    if (!view.values)
        return;
    m_field->show(view.slice, view.values->shape);
    m_shown->summarize(view.kind, m_model->grid());
}

void ValuesPanel::fitColumns()
{
    if (!m_shown->values())
        return;
    const QFontMetrics metrics(m_table->font());
    const int cell
        = metrics.horizontalAdvance(m_model->widestCell()) + 2 * ValueDelegate::kStrip + ValueDelegate::kMargin;
    const QString last = m_model->headerData(m_model->columnCount() - 1, Qt::Horizontal, Qt::DisplayRole).toString();
    m_table->horizontalHeader()->setDefaultSectionSize(
        std::max(cell, m_table->horizontalHeader()->fontMetrics().horizontalAdvance(last) + kHeaderRoom));
    m_table->verticalHeader()->setFixedWidth(
        m_table->verticalHeader()->fontMetrics().horizontalAdvance(m_model->widestRow()) + kHeaderRoom);
    m_table->horizontalHeader()->setVisible(m_view.across.has_value());
}

/// A slice that cannot be read has no table: that of what was half typed would be taken for it.
void ValuesPanel::showProblem()
{
    showInfo();
    if (!m_field->wrong() || !m_shown->values())
        return;
    m_model->show({});
    showPages();
    for (QLabel* line : { m_note, m_ofSlice, m_ofWhole })
        showText(line, {});
    m_empty->setText(m_field->problem());
    m_empty->show();
}

void ValuesPanel::showInfo()
{
    const auto& values = m_shown->values();
    if (!values)
        return header()->setInfo(m_shown->name());
    QString rest = shapeLabel(values->shape);
    if (const QString sample = m_shown->sampleText(); !sample.isEmpty())
        rest += QStringLiteral(" · ") + sample;
    if (m_session.numbers().stale())
        rest += tr(" · before the changes");
    header()->setInfo(toQt(values->name), rest);
    if (!m_field->wrong())
        say({});
}

void ValuesPanel::say(const QString& text)
{
    const auto& values = m_shown->values();
    showText(m_note, !text.isEmpty() ? text : values ? toQt(values->note) : QString());
}

void ValuesPanel::setKind(ValueKind kind)
{
    m_view.kind = kind;
    m_kinds->setCurrentIndex(m_kinds->findData(int(kindNow())));
    showView();
}

void ValuesPanel::setSlice(const TensorSlice& slice)
{
    const auto ranges = slice.ranges();
    const bool keeps = m_view.across && std::ranges::count(ranges, *m_view.across) > 0;
    if (ranges.size() < 2)
        m_view.across.reset();
    else if (!keeps)
        m_view.across = ranges.back();
    m_view.slice = slice;
    showView();
}

QString ValuesPanel::statistics() const { return m_ofSlice->text(); }

QString ValuesPanel::wholeStatistics() const { return m_ofWhole->text(); }

QString ValuesPanel::note() const { return m_field->wrong() ? m_empty->text() : m_note->text(); }

void ValuesPanel::showStatistics(const ShownValues::Statistics& found)
{
    if (!found.slice || !found.whole || m_field->wrong())
        return;
    m_model->setLargest(found.slice->finite > 0 ? std::optional(found.slice->largest) : std::nullopt);
    const bool all = found.slice->count == found.whole->count;
    const QString whole = statisticsText(*found.whole, m_view.digits);
    showText(m_ofSlice, all ? whole : tr("Slice: %1").arg(statisticsText(*found.slice, m_view.digits)));
    showText(m_ofWhole, all ? QString() : tr("All: %1").arg(whole));
}

} // namespace qs

#include "moc_values_panel.cpp"
