// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/detail/channels_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/other_row.h"
#include "widgets/plots/channel_chart.h"
#include "widgets/views/detail/channel_data.h"
#include "widgets/views/theme/plot_theme.h"

#include <QButtonGroup>
#include <QLabel>
#include <QPushButton>

#include <algorithm>

namespace qs {

ChannelsPanel::ChannelsPanel(Session& session, PairDetails& details, QWidget* parent)
    : Panel(QStringLiteral("channels"), tr("Channels"), parent)
    , m_session(session)
    , m_place(session)
    , m_details(session, details, m_place)
    , m_chart(new ChannelChart(this))
    , m_summary(new QLabel(this))
    , m_chips(new QButtonGroup(this))
    , m_showOther(new QPushButton(tr("B"), this))
{
    m_summary->setObjectName(QStringLiteral("tableFooter"));
    m_summary->setContentsMargins(8, 2, 8, 3);
    m_summary->setWordWrap(true);
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    setShownPlace(&m_place);
    setContent(m_chart);
    addFooter(m_summary);
    setFocusProxy(m_chart);
    buildChips();
    connect(m_chart, &ChannelChart::itemChosen, this, [this](size_t channel) {
        if (m_place.current().channel != channel)
            m_place.selection().selectChannel(channel);
    });
    connect(this, &Panel::lookedAtChanged, this, [this](bool now) { m_details.watch(now); });
    connect(&m_details, &PlaceDetails::changed, this, &ChannelsPanel::refresh);
    connect(&m_session, &Session::snapshotChanged, this, &ChannelsPanel::followSelection);
    connect(&m_place, &ShownPlace::changed, this, &ChannelsPanel::followSelection);
    connect(&m_session, &Session::themeChanged, this, [this] {
        m_chart->setStyle(plotStyleOf(m_session.theme()));
        refresh();
    });
    m_chart->setStyle(plotStyleOf(m_session.theme()));
    followSelection();
}

void ChannelsPanel::buildChips()
{
    const std::pair<Of, QString> names[] { { Of::Tensor, tr("Tensor") }, { Of::Weight, tr("Weight") } };
    for (const auto& [of, name] : names) {
        auto* chip = new QPushButton(name, this);
        chip->setCheckable(true);
        chip->setProperty("chip", true);
        chip->setToolTip(of == Of::Tensor ? tr("Channels of the selected tensor")
                                          : tr("Output channels of the weight that the selected node uses"));
        m_chips->addButton(chip, int(of));
        header()->addTool(chip);
    }
    m_showOther->setCheckable(true);
    m_showOther->setChecked(true);
    m_showOther->setProperty("chip", true);
    m_showOther->setToolTip(tr("The second quantized model below the first"));
    m_showOther->hide();
    header()->addEndTool(m_showOther);
    connect(m_showOther, &QPushButton::toggled, this, &ChannelsPanel::refresh);
    connect(m_chips, &QButtonGroup::idClicked, this, [this](int id) {
        m_of = Of(id);
        refresh();
    });
}

void ChannelsPanel::followSelection()
{
    if (m_place.current().weight)
        m_of = Of::Weight;
    else if (!m_place.weight())
        m_of = Of::Tensor;
    refresh();
}

void ChannelsPanel::refresh()
{
    const WeightRow* of = m_place.weight();
    const ActivationRow* tensor = m_place.activation();
    m_chips->button(int(Of::Tensor))->setEnabled(tensor);
    m_chips->button(int(Of::Weight))->setEnabled(of);
    m_chips->button(int(m_of))->setChecked(true);
    ChannelView view;
    if (m_of == Of::Weight && of) {
        const WeightRow* other = otherRow(*m_session.snapshot(), *of, &Comparison::weights);
        m_showOther->setVisible(other);
        view = channelsOfWeight(*of, m_showOther->isChecked() ? other : nullptr, m_session.theme());
        header()->setInfo(toQt(of->name));
        view.data.emptyText = tr("This weight has no channels.");
    } else if (const auto detail = m_details.now().detail(); detail && tensor) {
        const auto other = m_details.now().otherDetail();
        m_showOther->setVisible(other != nullptr);
        view = channelsOfTensor(*tensor, *detail, m_showOther->isChecked() ? other.get() : nullptr, m_session.theme());
        header()->setInfo(toQt(tensor->name), m_details.now().samplesText());
    } else {
        m_showOther->hide();
        view.data.emptyText = m_details.now().hint();
        header()->setInfo({});
    }
    m_summary->setText(view.summary);
    m_summary->setVisible(!view.summary.isEmpty());
    m_chart->setData(view.data);
    m_chart->setChosen(m_place.current().channel);
}

QString ChannelsPanel::summary() const { return m_summary->text(); }

} // namespace qs

#include "moc_channels_panel.cpp"
