// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/distribution_panel.h"

#include "widgets/plots/histogram_plot.h"
#include "widgets/session/session.h"
#include "widgets/views/distribution_data.h"
#include "widgets/views/plot_theme.h"

#include <QPushButton>

namespace qs {

DistributionPanel::DistributionPanel(Session& session, QWidget* parent)
    : Panel(QStringLiteral("distribution"), tr("Distribution"), parent)
    , m_session(session)
    , m_plot(new HistogramPlot(this))
    , m_logarithmic(new QPushButton(tr("log y"), this))
{
    m_logarithmic->setCheckable(true);
    m_logarithmic->setChecked(true);
    m_logarithmic->setProperty("chip", true);
    m_logarithmic->setToolTip(tr("Logarithmic or linear counts"));
    connect(m_logarithmic, &QPushButton::toggled, this,
        [this](bool on) { m_plot->setScale(on ? AxisScale::Logarithmic : AxisScale::Linear); });
    header()->addEndTool(m_logarithmic);
    setContent(m_plot);
    setFocusProxy(m_plot);
    connect(&m_session, &Session::snapshotChanged, this, &DistributionPanel::refresh);
    connect(&m_session, &Session::themeChanged, this, &DistributionPanel::applyTheme);
    connect(&m_session.selection(), &Selection::changed, this, &DistributionPanel::refresh);
    applyTheme();
}

void DistributionPanel::applyTheme()
{
    m_plot->setStyle(plotStyleOf(m_session.theme()));
    refresh();
}

void DistributionPanel::refresh()
{
    const DistributionView view
        = distributionOf(*m_session.snapshot(), m_session.selection().current(), m_session.theme());
    m_plot->setData(view.data);
    header()->setInfo(view.subtitle);
}

} // namespace qs
