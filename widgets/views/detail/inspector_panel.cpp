// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/detail/inspector_panel.h"

#include "widgets/views/actions/named_action.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/detail/origin_actions.h"
#include "widgets/views/recipe/override_editor.h"

#include <QAction>
#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QTextLayout>
#include <QTimer>

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

constexpr int kMaxKeyWidth = 135; ///< font units
constexpr int kTextMargin = 4, kKeyIndent = 8;
constexpr int kRowGap = 1; ///< above and below a line
constexpr int kSectionGap = 4; ///< above a section

int inspectorRow(const QFontMetrics& font) { return font.height() + 2 * kRowGap; }

/// What does not fit into a line: of a name both ends matter, of anything else the beginning.
QString oneLine(const QString& value, const QFontMetrics& font, int width)
{
    const qsizetype end = value.indexOf(QStringLiteral("  ")); // a shape follows the name
    const QString name = value.left(end < 0 ? value.size() : end), rest = value.mid(name.size());
    const int room = width - font.horizontalAdvance(rest);
    if (name.contains(u' ') || room < width / 3)
        return font.elidedText(value, Qt::ElideRight, width);
    return font.elidedText(name, Qt::ElideMiddle, room) + rest;
}

/// Muted keys, fixed-pitch values, bold sections. A value is one line; a sentence, and what the current row says, has
/// all lines it needs.
class InspectorDelegate : public QStyledItemDelegate {
public:
    InspectorDelegate(const Session& session, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_session(session)
    {
    }

    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        option->textElideMode = Qt::ElideMiddle;
        option->state &= ~QStyle::State_HasFocus;
        if (index.data(InspectorModel::SectionRole).toBool()) {
            option->font.setBold(true);
            option->displayAlignment = Qt::AlignLeft | Qt::AlignBottom;
        } else if (index.column() == 0) {
            option->palette.setColor(QPalette::Text, m_session.theme().muted);
        } else {
            const double size = option->font.pointSizeF();
            option->font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
            option->font.setPointSizeF(size * 0.94);
            if (index.data(InspectorModel::WeightRole).isValid()
                || index.data(InspectorModel::ActivationRole).isValid())
                option->palette.setColor(QPalette::Text, m_session.theme().accent);
            if (m_session.numbers().stale())
                for (const auto role : { QPalette::Text, QPalette::HighlightedText })
                    option->palette.setColor(role, m_session.theme().muted);
        }
        option->fontMetrics = QFontMetrics(option->font);
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem cell = option;
        initStyleOption(&cell, index);
        if (index.data(InspectorModel::SectionRole).toBool())
            return { option.rect.width(), inspectorRow(QFontMetrics(option.font)) + kSectionGap };
        const int row = inspectorRow(QFontMetrics(option.font));
        if (index.column() == 0 || !opened(cell, index))
            return { option.rect.width(), row };
        QTextLayout text(breakable(cell.text), cell.font);
        return { option.rect.width(), std::max(row, arrange(text, cell.rect.width()) + 2 * kRowGap) };
    }

    /// Keys stand beside the first line of their value.
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem cell = option;
        if (index.column() == 0) {
            initStyleOption(&cell, index);
            option.widget->style()->drawPrimitive(QStyle::PE_PanelItemViewItem, &cell, painter, option.widget);
            cell = option;
            cell.rect.setLeft(cell.rect.left() + kKeyIndent);
        }
        if (index.data(InspectorModel::SectionRole).toBool())
            return QStyledItemDelegate::paint(painter, cell, index);
        initStyleOption(&cell, index);
        const QString words = std::exchange(cell.text, QString());
        option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &cell, painter, option.widget);
        painter->setPen(cell.palette.color(QPalette::Text));
        const int room = cell.rect.width() - (index.column() == 0 ? kTextMargin : 2 * kTextMargin);
        const bool whole = index.column() != 0 && opened(cell, index);
        QTextLayout text(index.column() == 0 ? cell.fontMetrics.elidedText(words, Qt::ElideRight, room)
                : whole                      ? breakable(words)
                                             : oneLine(words, cell.fontMetrics, room),
            cell.font);
        const int spare = whole ? 0 : kTextMargin; // what is one line is not broken
        const int height = arrange(text, cell.rect.width() + spare), row = inspectorRow(QFontMetrics(option.font));
        const int top = height + 2 * kRowGap <= row ? (row - height) / 2 : kRowGap;
        text.draw(painter, cell.rect.topLeft() + QPoint(kTextMargin, top));
    }

private:
    static bool opened(const QStyleOptionViewItem& cell, const QModelIndex& index)
    {
        const auto* view = qobject_cast<const QAbstractItemView*>(cell.widget);
        return view && (view->currentIndex().row() == index.row() || index.data(InspectorModel::SentenceRole).toBool());
    }

    /// The text with a space without a width after each part of a path, where a line may end.
    static QString breakable(QString words) { return words.replace(QLatin1Char('/'), QStringLiteral("/\u200b")); }

    /// Breaks the text into lines for a cell of that width; returns their height.
    static int arrange(QTextLayout& text, int width)
    {
        QTextOption wrap;
        wrap.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
        text.setTextOption(wrap);
        text.beginLayout();
        double height = 0;
        for (QTextLine line = text.createLine(); line.isValid(); line = text.createLine()) {
            line.setLineWidth(std::max(1, width - 2 * kTextMargin));
            line.setPosition({ 0, height });
            height += line.height();
        }
        text.endLayout();
        return int(std::ceil(height));
    }

    const Session& m_session;
};

} // namespace

InspectorPanel::InspectorPanel(Session& session, RecipeView& recipe, QWidget* parent)
    : Panel(QStringLiteral("inspector"), tr("Inspector"), parent)
    , m_session(session)
    , m_place(session)
    , m_table(new QTableView(this))
    , m_overrides(new OverrideEditor(session, recipe, m_place, this))
    , m_fit(new QTimer(this))
{
    m_table->setModel(&m_model);
    m_table->setAccessibleName(tr("Inspector"));
    m_table->setItemDelegate(new InspectorDelegate(session, m_table));
    m_table->setShowGrid(false);
    m_table->setWordWrap(true);
    m_table->setTabKeyNavigation(false);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->horizontalHeader()->hide();
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setMinimumSectionSize(inspectorRow(fontMetrics()));
    m_table->verticalHeader()->setDefaultSectionSize(inspectorRow(fontMetrics()));
    m_table->setMinimumHeight(2 * inspectorRow(fontMetrics()));
    setContent(m_table);
    setShownPlace(&m_place);
    addFooter(m_overrides);

    auto* copy = new QAction(tr("Copy value"), m_table);
    nameAction(*copy, QStringLiteral("inspector.copy"), header()->title());
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetShortcut);
    m_table->addAction(copy);
    m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
    connect(copy, &QAction::triggered, this, [this] {
        const int row = m_table->currentIndex().row();
        if (row >= 0)
            QGuiApplication::clipboard()->setText(m_model.rows()[size_t(row)].value);
    });
    new OriginActions(session, m_table);
    const auto follow = [this](const QModelIndex& index) {
        if (const QVariant weight = index.data(InspectorModel::WeightRole); weight.isValid())
            m_session.selection().selectWeight(size_t(weight.toULongLong()));
        else if (const QVariant row = index.data(InspectorModel::ActivationRole); row.isValid())
            m_session.selection().selectActivation(size_t(row.toULongLong()));
    };
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    connect(m_table, &QTableView::clicked, this, follow);
    connect(m_table, &QTableView::activated, this, follow); // Enter
    connect(&session, &Session::snapshotChanged, this, &InspectorPanel::refresh);
    connect(&session, &Session::themeChanged, m_table->viewport(), qOverload<>(&QWidget::update));
    connect(&session.numbers(), &NumbersAge::changed, m_table->viewport(), qOverload<>(&QWidget::update));
    connect(&m_place, &ShownPlace::changed, this, &InspectorPanel::refresh);
    connect(&m_model, &QAbstractItemModel::modelReset, this, &InspectorPanel::shapeRows);
    connect(&m_model, &QAbstractItemModel::dataChanged, this, &InspectorPanel::fitRows);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &InspectorPanel::fitRows);
    m_fit->setSingleShot(true);
    m_fit->setInterval(0);
    connect(m_fit, &QTimer::timeout, this, &InspectorPanel::fitRows);
    connect(m_table->horizontalHeader(), &QHeaderView::sectionResized, this, [this](int section) {
        if (section == 1)
            m_fit->start(); // heights set while the sections are being laid out would be lost
    });
    refresh();
}

void InspectorPanel::showEvent(QShowEvent* event)
{
    Panel::showEvent(event);
    m_table->setMinimumWidth(m_overrides->minimumSizeHint().width()); // with the fields hidden, too
}

void InspectorPanel::refresh()
{
    const Snapshot& snapshot = *m_session.snapshot();
    const Place& place = m_place.current();
    m_model.setRows(inspectorRows(snapshot, place));
    const QString title = inspectorTitle(snapshot, place);
    header()->setInfo(title.isEmpty() && snapshot.floatModel ? tr("opened files") : title);
}

void InspectorPanel::shapeRows()
{
    const QFontMetrics metrics(font());
    int keys = 0;
    m_table->clearSpans();
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const InspectorRow& line = m_model.rows()[size_t(row)];
        if (line.section)
            m_table->setSpan(row, 0, 1, 2);
        else
            keys = std::max(keys, metrics.horizontalAdvance(line.key));
    }
    m_table->setColumnWidth(0, std::min(keys + 2 * kTextMargin, fontUnits(metrics, kMaxKeyWidth)) + kKeyIndent);
    fitRows();
    m_table->scrollToTop();
}

void InspectorPanel::fitRows()
{
    const QAbstractItemView* view = m_table; // resizeRowsToContents() would ask the hidden header, too
    for (int row = 0; row < m_model.rowCount(); ++row)
        m_table->setRowHeight(row, view->sizeHintForRow(row));
}

} // namespace qs

#include "moc_inspector_panel.cpp"
