// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/recipe/node_blocks.h"

#include "core/quant/recipe/recipe_edit.h"
#include "widgets/models/base/formatting.h"
#include "widgets/views/base/elided_combo.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr std::array kBlockTypes { DType::Int2, DType::UInt2, DType::Int4, DType::UInt4, DType::Int8, DType::UInt8 };
constexpr std::array<int64_t, 6> kBlockSizes { 16, 32, 64, 128, 256, -1 };

QComboBox* addTo(QHBoxLayout& row, const QString& name, QWidget* parent)
{
    auto* label = new QLabel(name, parent);
    label->setObjectName(QStringLiteral("formLabel"));
    auto* combo = new ElidedCombo(parent);
    combo->setAccessibleName(name);
    combo->addItem(NodeBlocks::tr("as all"));
    row.addWidget(label);
    row.addWidget(combo, 1);
    return combo;
}

/// Of a list whose first entry is "as all".
template <class Values, class Value> int indexIn(const Values& values, const std::optional<Value>& value)
{
    const auto at = value ? std::ranges::find(values, *value) : values.end();
    return at == values.end() ? 0 : int(at - values.begin()) + 1;
}

} // namespace

NodeBlocks::NodeBlocks(Session& session, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(6);
    m_type = addTo(*row, tr("weight type"), this);
    m_size = addTo(*row, tr("block size"), this);
    for (const DType type : kBlockTypes)
        m_type->addItem(toQt(dtypeName(type)));
    for (const int64_t size : kBlockSizes)
        m_size->addItem(size < 0 ? tr("whole column") : QString::number(size));
    for (QComboBox* combo : { m_type, m_size })
        connect(combo, &QComboBox::activated, this, &NodeBlocks::apply);
}

void NodeBlocks::show(const std::string& node)
{
    const Recipe& recipe = m_session.recipe().recipe();
    m_node = recipe.format == RecipeFormat::WeightOnly ? node : std::string();
    setVisible(!m_node.empty());
    const auto said = recipe.weightOnly.nodes.find(m_node);
    const WeightOnlyNode own = said == recipe.weightOnly.nodes.end() ? WeightOnlyNode {} : said->second;
    m_type->setCurrentIndex(indexIn(kBlockTypes, own.type));
    m_size->setCurrentIndex(indexIn(kBlockSizes, own.blockSize));
}

void NodeBlocks::apply()
{
    WeightOnlyNode own;
    if (m_type->currentIndex() > 0)
        own.type = kBlockTypes[size_t(m_type->currentIndex()) - 1];
    if (m_size->currentIndex() > 0)
        own.blockSize = kBlockSizes[size_t(m_size->currentIndex()) - 1];
    const QString said = own == WeightOnlyNode {}
        ? tr("as all")
        : QStringLiteral("%1, %2").arg(m_type->currentText(), m_size->currentText());
    RecipeEdits& edits = m_session.recipe();
    edits.apply(tr("Blocks of %1: %2").arg(toQt(m_node), said), withBlocks(edits.recipe(), m_node, own));
}

} // namespace qs

#include "moc_node_blocks.cpp"
