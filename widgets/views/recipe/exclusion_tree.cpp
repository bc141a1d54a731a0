// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/recipe/exclusion_tree.h"

#include "core/base/name_pattern.h"
#include "core/quant/recipe/recipe_edit.h"
#include "widgets/models/base/formatting.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/base/elided_combo.h"
#include "widgets/views/base/elided_label.h"
#include "widgets/views/base/text/elided_button.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/name_delegate.h"

#include <QAction>
#include <QEvent>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

constexpr int kTreeRow = 22; ///< font units
constexpr int kLeastNames = 150; ///< the same: of names with their boxes and what they are indented by
constexpr size_t kMostListed = 20; ///< names in a tool tip
constexpr int kMostExpanded = 60; ///< nodes up to which the whole tree is open at first

std::vector<size_t> sorted(std::vector<size_t> members)
{
    std::ranges::sort(members);
    return members;
}

/// What is left in float is written in the colour of warnings; its text says so, too.
class NodeDelegate : public NameDelegate {
public:
    NodeDelegate(const Session& session, QObject* parent)
        : NameDelegate(parent)
        , m_session(session)
    {
    }
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        return { QStyledItemDelegate::sizeHint(option, index).width(), fontUnits(option.fontMetrics, kTreeRow) };
    }

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        if (index.column() == NodeTreeModel::Name)
            NameDelegate::initStyleOption(option, index);
        else
            QStyledItemDelegate::initStyleOption(option, index);
        const Theme& theme = m_session.theme();
        const bool quantized = index.data(NodeTreeModel::QuantizedRole).toBool();
        const bool number = index.column() == NodeTreeModel::Value;
        const QColor colour = !quantized ? theme.warning : number ? theme.muted : theme.text;
        option->palette.setColor(QPalette::Text, colour);
        option->palette.setColor(QPalette::HighlightedText, colour);
        option->textElideMode = Qt::ElideMiddle;
        option->state &= ~QStyle::State_HasFocus;
    }

private:
    const Session& m_session;
};

} // namespace

ExclusionTree::ExclusionTree(Session& session, RecipeView& recipe, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_recipe(recipe)
    , m_count(new ElidedLabel(Qt::ElideRight, this))
    , m_grouping(new ElidedCombo(this))
    , m_pattern(new QLineEdit(this))
    , m_matches(new ElidedLabel(Qt::ElideRight, this))
    , m_patterns(new QWidget(this))
    , m_tree(new QTreeView(this))
{
    m_pattern->setPlaceholderText(tr("Exclude by pattern: /block1/*, re:^head"));
    m_pattern->setAccessibleName(tr("Exclude nodes by a pattern of their names"));
    m_pattern->setToolTip(
        tr("* and ? stand for any characters; after re: a regular expression. Enter leaves what matches in float."));
    auto* patterns = new QVBoxLayout(m_patterns);
    patterns->setContentsMargins(0, 0, 0, 0);
    patterns->setSpacing(2);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 6, 8, 4);
    column->setSpacing(4);
    column->addWidget(makeTitle());
    column->addWidget(m_pattern);
    column->addWidget(m_matches);
    column->addWidget(m_patterns);
    column->addWidget(m_tree, 1);
    buildTree();
    setTabOrder(m_grouping, m_pattern); // as they stand
    setTabOrder(m_pattern, m_tree);
    m_matches->setObjectName(QStringLiteral("formLabel"));
    m_matches->hide();
    connect(m_pattern, &QLineEdit::textChanged, this, &ExclusionTree::showMatches);
    connect(m_pattern, &QLineEdit::returnPressed, this, &ExclusionTree::excludePattern);
    connect(&m_recipe, &RecipeView::changed, this, &ExclusionTree::refresh);
    connect(&session, &Session::snapshotChanged, this, &ExclusionTree::refresh);
    connect(&session, &Session::themeChanged, m_tree->viewport(), qOverload<>(&QWidget::update));
    connect(&session.selection(), &Selection::changed, this, &ExclusionTree::followSelection);
    refresh();
}

QWidget* ExclusionTree::makeTitle()
{
    auto* title = new QWidget(this);
    auto* row = new QHBoxLayout(title);
    row->setContentsMargins(0, 0, 0, 0);
    auto* label = new QLabel(tr("Quantized"), title);
    label->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Preferred);
    label->setObjectName(QStringLiteral("formSection"));
    m_count->setObjectName(QStringLiteral("formLabel"));
    m_count->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_grouping->addItems({ tr("by scope"), tr("by type") });
    m_grouping->setAccessibleName(tr("Group nodes"));
    connect(m_grouping, &QComboBox::activated, this, [this](int index) {
        m_model.setGrouping(index == 0 ? NodeGrouping::Scope : NodeGrouping::Type);
        if (m_model.nodes().size() <= kMostExpanded)
            m_tree->expandAll();
        followSelection();
    });
    row->addWidget(label);
    row->addWidget(m_count, 1);
    row->addWidget(m_grouping);
    return title;
}

void ExclusionTree::buildTree()
{
    m_tree->setModel(&m_model);
    m_tree->setItemDelegate(new NodeDelegate(m_session, m_tree));
    m_tree->setAccessibleName(tr("Quantized nodes"));
    m_tree->setHeaderHidden(true);
    m_tree->setMinimumHeight(fontUnits(fontMetrics(), 30)); // a row and a half, where there is no room for more
    m_tree->setUniformRowHeights(true);
    m_tree->setIndentation(14);
    m_tree->setMinimumHeight(3 * fontUnits(fontMetrics(), kTreeRow));
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(NodeTreeModel::Name, QHeaderView::Stretch);
    m_tree->header()->setSectionResizeMode(NodeTreeModel::Value, QHeaderView::ResizeToContents);
    m_tree->viewport()->installEventFilter(this);
    auto* toggle = new QAction(tr("Quantize or leave in float"), m_tree);
    nameAction(*toggle, QStringLiteral("whatIf.toggle"), tr("What-if"));
    m_tree->addAction(toggle);
    m_tree->setContextMenuPolicy(Qt::ActionsContextMenu);
    connect(toggle, &QAction::triggered, this, &ExclusionTree::toggleCurrent);
    const auto nameToggle = [this, toggle] {
        const auto& members = m_model.membersOf(m_tree->currentIndex());
        toggle->setEnabled(!members.empty());
        toggle->setText(
            members.empty() ? tr("Quantize or leave in float") : withoutMnemonics(m_recipe.toggleText(members)));
    };
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, toggle, nameToggle);
    connect(&m_model, &NodeTreeModel::dataChanged, toggle, nameToggle);
    connect(m_tree, &QTreeView::clicked, this, &ExclusionTree::choose);
    connect(m_tree, &QTreeView::activated, this, &ExclusionTree::choose);
    connect(&m_model, &NodeTreeModel::changeRequested, this,
        [this](const std::vector<size_t>& members, bool quantized, const QString& title) {
            m_recipe.setQuantized(members, quantized, title);
        });
}

/// What is selected stays in sight where there is less room, unless somebody is at work in the tree.
bool ExclusionTree::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize) {
        fitColumns();
        if (!m_tree->hasFocus())
            m_tree->scrollTo(m_tree->currentIndex());
    }
    return QWidget::eventFilter(watched, event);
}

/// Names come before numbers, which other tables have, too.
void ExclusionTree::fitColumns()
{
    const QAbstractItemView* cells = m_tree;
    const int left = m_tree->viewport()->width() - cells->sizeHintForColumn(NodeTreeModel::Value);
    m_tree->setColumnHidden(NodeTreeModel::Value, left < fontUnits(fontMetrics(), kLeastNames));
}

void ExclusionTree::toggleCurrent()
{
    const QModelIndex index = m_tree->currentIndex().siblingAtColumn(NodeTreeModel::Name);
    const bool none = index.data(Qt::CheckStateRole).toInt() == Qt::Unchecked;
    m_model.setData(index, none ? Qt::Checked : Qt::Unchecked, Qt::CheckStateRole);
}

void ExclusionTree::refresh()
{
    const bool others = m_model.nodes() != m_recipe.nodes();
    const auto open = openRows();
    m_model.setNodes(m_recipe.nodes(), m_recipe.units());
    if (!others)
        openAgain(open);
    refreshNumbers();
    if (others && m_model.nodes().size() <= kMostExpanded)
        m_tree->expandAll();
    refreshCount();
    setEnabled(m_session.recipe().editable());
    refreshPatterns();
    if (others)
        followSelection();
}

void ExclusionTree::refreshCount()
{
    const bool toPrepare = !m_session.snapshot()->quantization && m_session.recipe().recipe().preparation.enabled;
    const auto stay = size_t(std::ranges::count_if(m_model.states(), &NodeState::staysFloat));
    m_count->setText((toPrepare ? tr("%1 of %2 in the file") : tr("%1 of %2"))
                         .arg(countText(m_model.quantizedCount()), countText(quint64(m_model.nodes().size()))));
    QStringList tips;
    if (toPrepare)
        tips << tr("Nodes as the file has them: graph preparation may fold some of them into others.");
    if (stay > 0)
        tips << tr("%1 node(s) that the recipe quantizes stay in float: the Inspector and the findings say why.",
            nullptr, int(stay))
                    .arg(countText(stay));
    m_count->setToolTip(tips.join(u'\n'));
}

/// The nodes below each open row.
std::set<std::vector<size_t>> ExclusionTree::openRows() const
{
    std::set<std::vector<size_t>> open;
    const auto walk = [&](const auto& self, const QModelIndex& parent) -> void {
        for (int row = 0; row < m_model.rowCount(parent); ++row)
            if (const QModelIndex index = m_model.index(row, 0, parent); m_tree->isExpanded(index)) {
                open.insert(sorted(m_model.membersOf(index)));
                self(self, index);
            }
    };
    walk(walk, {});
    return open;
}

/// After the rows were made anew because of other units.
void ExclusionTree::openAgain(const std::set<std::vector<size_t>>& open)
{
    const auto walk = [&](const auto& self, const QModelIndex& parent) -> void {
        for (int row = 0; row < m_model.rowCount(parent); ++row) {
            const QModelIndex index = m_model.index(row, 0, parent);
            if (m_model.rowCount(index) == 0 || !open.contains(sorted(m_model.membersOf(index))))
                continue;
            if (!m_tree->isExpanded(index))
                m_tree->expand(index);
            self(self, index);
        }
    };
    walk(walk, {});
}

/// What each node's output is worth now.
void ExclusionTree::refreshNumbers()
{
    std::vector<std::optional<double>> numbers(m_recipe.nodes().size());
    if (const Comparison* comparison = m_session.comparison())
        for (const ActivationRow& row : comparison->activations)
            if (const auto node = row.node.empty() ? std::nullopt : m_recipe.find(row.node))
                numbers[*node] = row.accumulated.sqnrDb;
    m_model.setStates(m_recipe.states(), std::move(numbers));
    fitColumns();
}

void ExclusionTree::refreshPatterns()
{
    for (QPushButton* button : m_patterns->findChildren<QPushButton*>(QString(), Qt::FindDirectChildrenOnly)) {
        m_patterns->layout()->removeWidget(button);
        button->hide();
        button->deleteLater(); // it may be the one that was clicked
    }
    QWidget* before = m_pattern;
    for (const std::string& pattern : m_session.recipe().recipe().exclude) {
        if (m_recipe.find(pattern))
            continue; // the name of a node
        auto* button = new ElidedButton(Qt::ElideMiddle, m_patterns);
        button->setText(QStringLiteral("✕ ") + toQt(pattern));
        button->setProperty("chip", true);
        button->setToolTip(tr("Quantize what %1 matches again").arg(toQt(pattern)));
        connect(button, &QPushButton::clicked, this, [this, pattern] {
            RecipeEdits& edits = m_session.recipe();
            edits.apply(
                tr("Take back the pattern %1").arg(toQt(pattern)), withExclusion(edits.recipe(), pattern, false));
        });
        m_patterns->layout()->addWidget(button);
        setTabOrder(std::exchange(before, button), button);
    }
}

/// The nodes that a pattern names.
std::vector<size_t> ExclusionTree::matches(const std::string& pattern) const
{
    std::vector<std::string> names;
    for (const RecipeNode& node : m_recipe.nodes())
        names.push_back(node.name);
    const auto found = matchNames(pattern, names);
    return found.ok() ? std::vector<size_t>(found->begin(), found->end()) : std::vector<size_t>();
}

/// What Enter would do with the pattern as it is typed so far.
void ExclusionTree::showMatches()
{
    const std::string pattern = m_pattern->text().trimmed().toStdString();
    m_matches->setVisible(!pattern.empty());
    if (pattern.empty())
        return;
    const std::vector<size_t> found = matches(pattern);
    const auto quantized
        = std::ranges::count_if(found, [this](size_t node) { return m_recipe.states()[node].quantized; });
    m_matches->setText(found.empty() ? tr("no node matches")
            : found.size() == 1
            ? tr("matches %1").arg(m_recipe.title(found))
            : tr("matches %1 nodes, %2 of them quantized").arg(countText(found.size()), countText(quint64(quantized))));
    QStringList names;
    for (size_t i = 0; i < std::min(found.size(), kMostListed); ++i)
        names << m_recipe.title({ &found[i], 1 });
    m_matches->setToolTip(names.join(u'\n') + (found.size() > kMostListed ? QStringLiteral("\n…") : QString()));
}

void ExclusionTree::excludePattern()
{
    const std::string pattern = m_pattern->text().trimmed().toStdString();
    if (pattern.empty())
        return;
    if (matches(pattern).empty())
        return showMatches();
    RecipeEdits& edits = m_session.recipe();
    edits.apply(tr("Exclude %1").arg(toQt(pattern)), withExclusion(edits.recipe(), pattern, true));
    m_pattern->clear();
}

void ExclusionTree::choose(const QModelIndex& index)
{
    if (const auto node = m_model.nodeOf(index))
        m_session.selection().selectByName(m_model.nodes()[*node].name);
}

void ExclusionTree::followSelection()
{
    const auto node = m_recipe.nodeOf(m_session.selection().current());
    if (!node) {
        if (!m_tree->hasFocus()) // a row that stays marked would be taken for a choice
            m_tree->setCurrentIndex({});
        return;
    }
    const QModelIndex index = m_model.unitIndexOf(m_recipe.nodes()[*node].name);
    const QModelIndex now = m_tree->currentIndex().siblingAtColumn(0);
    const bool there = index == now || (index.isValid() && index == now.parent() && m_model.nodeOf(index));
    if (index.isValid() && !there) {
        m_tree->setCurrentIndex(index);
        m_tree->scrollTo(index);
    }
}

} // namespace qs

#include "moc_exclusion_tree.cpp"
