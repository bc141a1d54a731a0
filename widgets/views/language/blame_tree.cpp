// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/language/blame_tree.h"

#include "widgets/models/base/formatting.h"

#include <QHeaderView>

#include <map>

namespace qs {

namespace {

enum Column { Part, Forward, Backward };

/// Sorted by what they moved, not by their texts.
class BlameItem : public QTreeWidgetItem {
public:
    explicit BlameItem(const BlamedUnit& unit)
        : m_moved(unit.moved())
    {
        const bool within = !unit.parent.empty() && unit.unit.starts_with(unit.parent + '/');
        setText(Part, toQt(within ? unit.unit.substr(unit.parent.size() + 1) : unit.unit));
        setToolTip(Part, toQt(unit.unit));
        setText(Forward, numberText(unit.forward));
        setText(Backward, numberText(unit.backward));
        if (unit.alone && unit.restored)
            for (const int column : { Forward, Backward })
                setToolTip(column,
                    BlameTree::tr("alone in the float model %1; undone if it alone were float %2")
                        .arg(numberText(unit.alone), numberText(unit.restored)));
        for (const int column : { Forward, Backward })
            setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        const bool inside = unit.kind == BlameKind::WeightBlock || unit.kind == BlameKind::Cache;
        setData(Part, Qt::UserRole, unit.kind == BlameKind::Layer ? QString() : toQt(inside ? unit.parent : unit.unit));
    }
    bool operator<(const QTreeWidgetItem& other) const override
    {
        return m_moved < static_cast<const BlameItem&>(other).m_moved;
    }

private:
    double m_moved;
};

} // namespace

BlameTree::BlameTree(Session& session, QWidget* parent)
    : QTreeWidget(parent)
    , m_session(session)
{
    setAccessibleName(tr("Parts that moved the guess"));
    setHeaderLabels({ tr("part"), tr("forward"), tr("backward") });
    headerItem()->setToolTip(Part,
        tr("Scope of names; a node of the float model with those before it that have no value which both models know; "
           "some rows of its weight; what it remembers as codes"));
    headerItem()->setToolTip(Forward,
        tr("By how much it moves score(float's token) − score(quantized's token) when it is "
           "quantized, with all before it quantized and all behind it float. Below 0: "
           "towards the quantized model's token."));
    headerItem()->setToolTip(Backward,
        tr("The same with all before it float and all behind it quantized. Either column sums to the whole."));
    headerItem()->setTextAlignment(Forward, Qt::AlignRight);
    headerItem()->setTextAlignment(Backward, Qt::AlignRight);
    header()->setStretchLastSection(false);
    header()->setSectionResizeMode(Part, QHeaderView::Stretch);
    header()->setSectionResizeMode(Forward, QHeaderView::ResizeToContents);
    header()->setSectionResizeMode(Backward, QHeaderView::ResizeToContents);
    setUniformRowHeights(true);
    setTextElideMode(Qt::ElideMiddle);
    setTabKeyNavigation(false);
    connect(this, &QTreeWidget::currentItemChanged, this, [this](const QTreeWidgetItem* item) {
        if (const QString node = item ? item->data(Part, Qt::UserRole).toString() : QString(); !node.isEmpty())
            m_session.selection().selectByName(node.toStdString());
    });
}

void BlameTree::setBlame(const std::shared_ptr<const TokenBlame>& blame)
{
    if (blame == m_blame)
        return;
    m_blame = blame;
    clear();
    if (!blame)
        return;
    std::map<std::string, QTreeWidgetItem*> items; // by name: those that have parts stand before these
    for (const BlamedUnit& unit : blame->units) {
        auto* item = new BlameItem(unit);
        if (const auto parent = items.find(unit.parent); !unit.parent.empty() && parent != items.end())
            parent->second->addChild(item);
        else
            addTopLevelItem(item);
        items[unit.unit] = item;
    }
    sortItems(Part, Qt::DescendingOrder);
    if (topLevelItemCount() > 0)
        topLevelItem(0)->setExpanded(true);
}

} // namespace qs

#include "moc_blame_tree.cpp"
