// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/view/metric_choice.h"

#include "widgets/views/base/elided_combo.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPushButton>

#include <algorithm>

namespace qs {

namespace {

constexpr std::array kOffered { Metric::Accumulated, Metric::Added, Metric::Increase, Metric::NodeAlone,
    Metric::OtherGain };
constexpr int kChipGap = 6;

} // namespace

MetricChoice::MetricChoice(QWidget* parent)
    : QWidget(parent)
    , m_chips(new QButtonGroup(this))
    , m_list(new ElidedCombo(this))
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(kChipGap);
    m_chips->setExclusive(true);
    qsizetype longest = 0;
    for (const Metric metric : kOffered) {
        const MetricInfo info = metricInfo(metric);
        auto* chip = new QPushButton(info.title, this);
        chip->setCheckable(true);
        chip->setProperty("chip", true);
        chip->setToolTip(info.definition);
        m_chips->addButton(chip, static_cast<int>(metric));
        row->addWidget(chip);
        longest = std::max(longest, info.title.size());
    }
    m_list->setMinimumContentsLength(int(longest));
    m_list->setAccessibleName(tr("Number that colours the graph"));
    row->addWidget(m_list);
    connect(m_chips, &QButtonGroup::idClicked, this, [this](int id) { emit chosen(static_cast<Metric>(id)); });
    connect(m_list, &QComboBox::activated, this,
        [this] { emit chosen(static_cast<Metric>(m_list->currentData().toInt())); });
    refresh();
}

void MetricChoice::offer(const std::vector<Metric>& available, Metric chosen)
{
    m_available.clear();
    m_list->clear();
    for (const Metric metric : kOffered) {
        if (std::ranges::find(available, metric) == available.end())
            continue;
        const MetricInfo info = metricInfo(metric);
        m_available.push_back(metric);
        m_list->addItem(info.title, static_cast<int>(metric));
        m_list->setItemData(m_list->count() - 1, info.definition, Qt::ToolTipRole);
    }
    m_list->setCurrentIndex(m_list->findData(static_cast<int>(chosen)));
    m_list->setToolTip(metricInfo(chosen).definition);
    for (QAbstractButton* chip : m_chips->buttons())
        chip->setChecked(m_chips->id(chip) == static_cast<int>(chosen));
    refresh();
}

void MetricChoice::setBrief(bool brief)
{
    if (brief == m_brief)
        return;
    m_brief = brief;
    refresh();
}

void MetricChoice::refresh()
{
    for (QAbstractButton* chip : m_chips->buttons())
        chip->setVisible(
            !m_brief && std::ranges::find(m_available, static_cast<Metric>(m_chips->id(chip))) != m_available.end());
    m_list->setVisible(m_brief && !m_available.empty());
}

int MetricChoice::widthFor(bool brief) const
{
    if (m_available.empty())
        return 0;
    if (brief)
        return m_list->sizeHint().width();
    int width = -kChipGap;
    for (const Metric metric : m_available)
        width += m_chips->button(static_cast<int>(metric))->sizeHint().width() + kChipGap;
    return width;
}

} // namespace qs

#include "moc_metric_choice.cpp"
