// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/runs_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/recipe/setting_changes.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_text.h"

#include <QAction>
#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QTreeView>

#include <algorithm>

namespace qs {

namespace {

constexpr int kLeastDifferenceWidth = 220; ///< font units
constexpr int kLeastRunName = 170, kNoteWidth = 140; ///< font units
constexpr int kMostSettings = 12; ///< of a comparison

/// The run that is shown now is written in bold, dimmed what does not compare with it.
class RunDelegate : public QStyledItemDelegate {
public:
    RunDelegate(const Session& session, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_session(session)
    {
    }
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        return { QStyledItemDelegate::sizeHint(option, index).width(), tableRow(option.fontMetrics) };
    }

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        option->font.setBold(index.data(RunModel::CurrentRole).toBool());
        option->state &= ~QStyle::State_HasFocus;
        if (index.data(RunModel::OtherwiseRole).toBool())
            for (const auto role : { QPalette::Text, QPalette::HighlightedText })
                option->palette.setColor(role, m_session.theme().muted);
    }

private:
    const Session& m_session;
};

/// Wrapped, so that a list of names fits the screen.
QString tipText(const QStringList& lines)
{
    QString text;
    for (const QString& line : lines)
        text += QStringLiteral("<p>%1</p>").arg(line.toHtmlEscaped());
    return text;
}

} // namespace

RunsPanel::RunsPanel(Session& session, QWidget* parent)
    : Panel(QStringLiteral("runs"), tr("Runs"), parent)
    , m_session(session)
    , m_tree(new QTreeView(this))
    , m_comparison(new QLabel(this))
    , m_restore(new QAction(tr("Restore"), this))
    , m_sideBySide(new QAction(tr("Show as B"), this))
    , m_remove(new QAction(tr("Remove"), this))
{
    m_comparison->setObjectName(QStringLiteral("findingMuted"));
    m_comparison->setTextFormat(Qt::PlainText);
    wrapText(*m_comparison);
    m_comparison->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_comparison->setContentsMargins(12, 6, 12, 6);
    auto* below = new QScrollArea(this);
    below->setWidget(m_comparison);
    below->setWidgetResizable(true);
    below->setFrameShape(QFrame::NoFrame);
    below->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    below->setMinimumWidth(fontUnits(fontMetrics(), kLeastDifferenceWidth));
    m_tree->setMinimumWidth(fontUnits(fontMetrics(), kLeastDifferenceWidth));
    below->setAccessibleName(tr("Difference of two runs"));
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_tree);
    splitter->addWidget(below);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    setContent(splitter);
    buildTree();
    buildActions();
    connect(&session.runs(), &RunList::changed, this, &RunsPanel::refresh);
    refresh();
}

void RunsPanel::buildTree()
{
    m_tree->setModel(&m_model);
    m_tree->setItemDelegate(new RunDelegate(m_session, m_tree));
    m_tree->setAccessibleName(tr("Runs"));
    m_tree->setUniformRowHeights(true);
    m_tree->setIndentation(16);
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_tree->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_tree->setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::SelectedClicked);
    m_tree->setContextMenuPolicy(Qt::ActionsContextMenu);
    setFocusProxy(m_tree);
    QHeaderView* sections = m_tree->header();
    sections->setStretchLastSection(false);
    sections->setSectionResizeMode(0, QHeaderView::Stretch);
    m_tree->viewport()->installEventFilter(this);
    connect(&m_model, &RunModel::renamed, &m_session.runs(), &RunList::rename);
    connect(&m_model, &RunModel::annotated, &m_session.runs(), &RunList::annotate);
    connect(m_tree->selectionModel(), &QItemSelectionModel::selectionChanged, this, &RunsPanel::refreshComparison);
    connect(&m_model, &QAbstractItemModel::modelReset, m_tree, &QTreeView::expandAll);
    connect(m_tree, &QTreeView::doubleClicked, m_restore, &QAction::trigger);
}

bool RunsPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_tree->viewport() && event->type() == QEvent::Resize)
        fitColumns();
    return Panel::eventFilter(watched, event);
}

/// Shows the columns that have room beside the name, those first that say most; the rest is in the comparison.
void RunsPanel::fitColumns()
{
    const QAbstractItemView* cells = m_tree;
    int room = m_tree->viewport()->width() - fontUnits(fontMetrics(), kLeastRunName);
    using Key = RunModel::Key;
    for (const Key key : { Key::Sqnr, Key::Accuracy, Key::Macs, Key::Size, Key::Agreement, Key::Note }) {
        const int column = m_model.columnOf(key);
        m_tree->setColumnHidden(column, false); // a hidden one has no width to be measured
        const int needed = key == Key::Note
            ? fontUnits(fontMetrics(), kNoteWidth)
            : std::max(m_tree->header()->sectionSizeHint(column), cells->sizeHintForColumn(column));
        if (needed > room) {
            m_tree->setColumnHidden(column, true);
            continue;
        }
        m_tree->setColumnWidth(column, needed);
        room -= needed;
    }
}

void RunsPanel::buildActions()
{
    m_restore->setToolTip(
        tr("Go on from this run: its recipe becomes the current one, as one step that can be undone"));
    const QString scope = header()->title();
    nameAction(*m_restore, QStringLiteral("runs.restore"), scope);
    nameAction(*m_remove, QStringLiteral("runs.remove"), scope);
    nameAction(*m_sideBySide, QStringLiteral("runs.sideBySide"), scope);
    m_restore->setShortcut(QKeySequence(Qt::Key_Return));
    m_restore->setShortcutContext(Qt::WidgetShortcut);
    m_remove->setToolTip(tr("Forget this run; the runs made from it stay"));
    m_remove->setShortcut(QKeySequence::Delete);
    m_remove->setShortcutContext(Qt::WidgetShortcut);
    auto* rename = new QAction(tr("Rename"), this);
    nameAction(*rename, QStringLiteral("runs.rename"), scope);
    rename->setShortcut(QKeySequence(Qt::Key_F2));
    rename->setShortcutContext(Qt::WidgetShortcut);
    m_sideBySide->setToolTip(
        tr("Every view shows this run (B) beside the current one (A); of two chosen runs the older "
           "becomes A"));
    connect(m_sideBySide, &QAction::triggered, this, &RunsPanel::showSideBySide);
    m_tree->addActions({ m_restore, m_sideBySide, rename, m_remove });
    connect(m_restore, &QAction::triggered, this, [this] {
        if (const auto runs = chosen(); runs.size() == 1)
            m_session.restoreRun(runs[0]);
    });
    connect(m_remove, &QAction::triggered, this, [this] {
        for (const RunId id : chosen())
            m_session.runs().remove(id);
    });
    connect(rename, &QAction::triggered, this, [this] {
        if (const QModelIndex index = m_tree->currentIndex(); index.isValid())
            m_tree->edit(index.siblingAtColumn(0));
    });
    for (QAction* action : { m_restore, m_sideBySide, rename, m_remove }) {
        auto* button = new QToolButton(this);
        button->setDefaultAction(action);
        header()->addEndTool(button);
    }
}

/// The older of two becomes the current run, which is A.
void RunsPanel::showSideBySide()
{
    const std::vector<RunId> ids = chosen();
    const RecipeRun* other = ids.empty() ? nullptr : m_session.runs().tree().find(ids.back());
    if (!other || ids.size() > 2)
        return;
    const OtherQuantized second = quantizedOf(m_session, *other);
    if (ids.size() == 2)
        m_session.restoreRun(ids.front());
    openOther(m_session, second);
}

std::vector<RunId> RunsPanel::chosen() const
{
    std::vector<RunId> ids;
    for (const QModelIndex& index : m_tree->selectionModel()->selectedRows())
        ids.push_back(m_model.idOf(index));
    std::ranges::sort(ids); // older first
    return ids;
}

void RunsPanel::refresh()
{
    const RunTree& tree = m_session.runs().tree();
    m_model.setRuns(tree);
    m_tree->expandAll();
    fitColumns();
    const auto count = tree.runs().size();
    header()->setInfo(count == 0 ? QString() : tr("%1 run(s)", nullptr, int(count)).arg(countText(count)));
    refreshComparison();
}

/// Two chosen runs, else one against the run it was made from.
void RunsPanel::refreshComparison()
{
    const RunTree& tree = m_session.runs().tree();
    const std::vector<RunId> ids = chosen();
    const RecipeRun* after = tree.find(ids.empty() ? tree.current() : ids.back());
    const RecipeRun* before = !after ? nullptr : tree.find(ids.size() == 2 ? ids[0] : after->parent);
    m_restore->setEnabled(ids.size() == 1 && m_session.recipe().editable());
    m_remove->setEnabled(!ids.empty());
    m_comparison->setToolTip({});
    const bool two = ids.size() == 2 && m_session.recipe().editable();
    m_sideBySide->setText(two ? tr("Show as A and B") : tr("Show as B"));
    m_sideBySide->setEnabled(m_session.comparison() && (two || (ids.size() == 1 && ids[0] != tree.current())));
    if (!after || ids.size() > 2) {
        m_comparison->setText(after ? tr("Choose two runs to compare them.") : tr("Nothing was run yet."));
        return;
    }
    if (!before) {
        m_comparison->setText(
            breakable(tr("%1 is where this work began. Choose two runs to compare them.").arg(toQt(after->name))));
        return;
    }
    QStringList lines { toQt(before->name) + QStringLiteral(" → ") + toQt(after->name) };
    QStringList whole;
    for (const NumberChange& change : numberChanges(*before, *after)) {
        lines << QStringLiteral("%1: %2").arg(change.title, changeText(change));
        if (!change.note.isEmpty())
            whole << change.title + QStringLiteral(": ") + change.note;
    }
    const std::vector<SettingChange> settings = settingChanges(before->recipe, after->recipe);
    lines << QString() << (settings.empty() ? tr("The same settings.") : tr("Settings:"));
    for (size_t i = 0; i < settings.size(); ++i) {
        whole << settings[i].whole;
        if (i < kMostSettings)
            lines << settings[i].text;
    }
    if (settings.size() > kMostSettings)
        lines << tr("and %1 more").arg(settings.size() - kMostSettings);
    m_comparison->setText(breakable(lines.join(u'\n')));
    m_comparison->setToolTip(tipText(whole));
}

QString RunsPanel::comparison() const { return m_comparison->text().remove(QChar(0x200b)); }

} // namespace qs

#include "moc_runs_panel.cpp"
