// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/outline/outline_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/name_delegate.h"
#include "widgets/views/graph/box_nodes.h"
#include "widgets/views/graph/graph_panel.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QScopedValueRollback>
#include <QTreeView>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

constexpr int kNameWidth = 150, kDigitsWidth = 80, kKindWidth = 84, kStateWidth = 96; ///< font units, at least
constexpr int kLeastOutlineName = 60; ///< font units, where there is no more room

} // namespace

/// Typing finds a part of a name anywhere in the graph, in closed branches as well.
class OutlineTree : public QTreeView {
public:
    explicit OutlineTree(QWidget* parent)
        : QTreeView(parent)
    {
        connect(header(), &QHeaderView::sectionResized, this, [this](int column) {
            m_drawn = m_drawn || (!m_sharing && (column == OutlineModel::Name || column == OutlineModel::Number));
        });
        connect(this, &QTreeView::expanded, this, [this] { share(); });
    }

    /// Numbers are never cut, for the rest of one reads as another one; names are, and the other columns are scrolled.
    void share()
    {
        if (m_drawn)
            return;
        const QScopedValueRollback sharing(m_sharing, true);
        const int room = viewport()->width(), content = sizeHintForColumn(OutlineModel::Number);
        const int least = fontUnits(fontMetrics(), kLeastOutlineName), usual = fontUnits(fontMetrics(), kNameWidth);
        const int titled = std::max({ fontUnits(fontMetrics(), kDigitsWidth), content,
            header()->sectionSizeHint(OutlineModel::Number) }); // its title yields before names do
        const int number = std::clamp(room - usual, std::max(content, header()->minimumSectionSize()), titled);
        setColumnWidth(OutlineModel::Number, number);
        setColumnWidth(OutlineModel::Name, std::clamp(room - number, least, usual));
    }

    void keyboardSearch(const QString& typed) override
    {
        const bool goesOn = m_typed.isValid() && m_typed.elapsed() < QApplication::keyboardInputInterval();
        m_typed.start();
        m_text = goesOn ? m_text + typed : typed;
        const auto* outline = static_cast<const OutlineModel*>(model());
        const QModelIndex found = outline->find(m_text, currentIndex(), goesOn);
        if (found.isValid())
            setCurrentIndex(found); // opens what it lies in
    }

protected:
    void resizeEvent(QResizeEvent* event) override
    {
        QTreeView::resizeEvent(event);
        share();
    }

private:
    QElapsedTimer m_typed;
    QString m_text;
    bool m_sharing = false, m_drawn = false; ///< by the user
};

OutlinePanel::OutlinePanel(Session& session, RecipeView& recipe, GraphPanel& graph, QWidget* parent)
    : Panel(QStringLiteral("outline"), tr("Outline"), parent)
    , m_session(session)
    , m_recipe(recipe)
    , m_graph(graph)
    , m_tree(new OutlineTree(this))
{
    buildTree();
    setContent(m_tree);
    setFocusProxy(m_tree);
    connect(m_tree, &QTreeView::clicked, this, &OutlinePanel::choose);
    connect(m_tree, &QTreeView::activated, this, &OutlinePanel::choose);
    connect(&m_graph, &GraphPanel::refreshed, this, &OutlinePanel::refresh);
    connect(&m_graph, &GraphPanel::selectionShown, this, [this] {
        if (lookedAt())
            followSelection();
    });
    connect(this, &Panel::lookedAtChanged, this, &OutlinePanel::refresh);
}

QTreeView* OutlinePanel::tree() const { return m_tree; }

void OutlinePanel::buildTree()
{
    m_tree->setModel(&m_model);
    m_tree->setAccessibleName(tr("Outline of the graph"));
    m_tree->setUniformRowHeights(true);
    m_tree->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_tree->setTextElideMode(Qt::ElideMiddle);
    m_tree->setItemDelegateForColumn(OutlineModel::Name, new NameDelegate(m_tree));
    m_tree->setExpandsOnDoubleClick(true);
    m_tree->header()->setStretchLastSection(true);
    const auto widen = [&](int column, int width) {
        m_tree->header()->resizeSection(
            column, std::max(fontUnits(fontMetrics(), width), m_tree->header()->sectionSizeHint(column)));
    };
    widen(OutlineModel::Kind, kKindWidth);
    widen(OutlineModel::State, kStateWidth);
}

OutlineModel::Numbers OutlinePanel::numbers() const
{
    OutlineModel::Numbers numbers { m_graph.contentNumbers(), m_graph.metricShown(), {} };
    if (m_graph.showsOther())
        return numbers;
    const SnapshotPtr snapshot = m_session.snapshot();
    const auto nodes = std::make_shared<const BoxNodes>(m_recipe, *snapshot, m_graph.side());
    numbers.stateOf = [this, snapshot, nodes](uint32_t box) {
        const bool ofNow = snapshot == m_session.snapshot(); // while another graph is laid out, it is of the last one
        return ofNow ? boxNote(m_recipe, nodes->of(m_model.content()->whole, { box })) : QString();
    };
    return numbers;
}

void OutlinePanel::refresh()
{
    if (!lookedAt() || !m_graph.upToDate())
        return; // it will say when it is
    const auto content = m_graph.content();
    if (content.get() != m_model.content())
        m_followed.reset();
    m_model.setContent(content, content ? numbers() : OutlineModel::Numbers {});
    m_tree->share();
    header()->setInfo(content ? countText(content->whole.boxes.size()) : QString());
    followSelection();
}

void OutlinePanel::followSelection()
{
    const auto box = m_graph.selectedInContent();
    if (box == m_followed)
        return;
    m_followed = box;
    if (box)
        m_tree->setCurrentIndex(m_model.indexOf(*box));
    else
        m_tree->clearSelection();
}

void OutlinePanel::choose(const QModelIndex& index)
{
    const QVariant box = index.siblingAtColumn(OutlineModel::Name).data(OutlineModel::BoxRole);
    if (!box.isValid())
        return; // a group opens and closes
    m_followed = box.toUInt();
    m_graph.chooseBoxOfContent(*m_followed);
}

} // namespace qs

#include "moc_outline_panel.cpp"
