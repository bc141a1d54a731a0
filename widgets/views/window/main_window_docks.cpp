// SPDX-License-Identifier: GPL-3.0-or-later
// The panels of the window.
#include "widgets/session/details/pair_details.h"
#include "widgets/views/arithmetic/arithmetic_panel.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/detail/channels_panel.h"
#include "widgets/views/detail/distribution_panel.h"
#include "widgets/views/detail/error_map_panel.h"
#include "widgets/views/detail/inspector_panel.h"
#include "widgets/views/detail/layer_chart_panel.h"
#include "widgets/views/detail/weight_lab_panel.h"
#include "widgets/views/findings/findings_panel.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/graph/outline/outline_panel.h"
#include "widgets/views/language/caches_panel.h"
#include "widgets/views/language/tokens_panel.h"
#include "widgets/views/recipe/what_if_panel.h"
#include "widgets/views/tables/advisor_panel.h"
#include "widgets/views/tables/difference_panel.h"
#include "widgets/views/tables/jobs_panel.h"
#include "widgets/views/tables/judging_panels.h"
#include "widgets/views/tables/ladder_panel.h"
#include "widgets/views/tables/matching_panel.h"
#include "widgets/views/tables/runs_panel.h"
#include "widgets/views/tables/samples_panel.h"
#include "widgets/views/tables/saturation_panel.h"
#include "widgets/views/values/values_panel.h"
#include "widgets/views/window/dock_layout.h"
#include "widgets/views/window/main_window.h"
#include "widgets/views/window/offered_panels.h"

namespace qs {

void MainWindow::buildDocks()
{
    m_tensors = makeTensorsPanel(m_session, *m_recipe, this);
    m_matching = new MatchingPanel(m_session, this);
    auto* details = new PairDetails(m_session, *new ShownPlace(m_session, this), this);
    auto* second = new GraphPanel(m_session, *m_recipe, GraphPanel::Pane::Second, this);
    connect(m_graph, &GraphPanel::sideChanged, second,
        [second](Side side) { second->setSide(side == Side::Float ? Side::Quantized : Side::Float); });
    m_layout->add(makeLessonPanel(), Qt::LeftDockWidgetArea);
    m_layout->add(second, Qt::LeftDockWidgetArea);
    m_layout->add(new FindingsPanel(m_session, this), Qt::LeftDockWidgetArea);
    m_layout->add(new WhatIfPanel(m_session, *m_recipe, this), Qt::LeftDockWidgetArea);
    m_layout->add(new OutlinePanel(m_session, *m_recipe, *m_graph, this), Qt::LeftDockWidgetArea);
    m_layout->add([this] { return new InspectorPanel(m_session, *m_recipe, this); }, Qt::RightDockWidgetArea);
    m_layout->add(
        [this] { return new DistributionPanel(m_session, m_session.recipe(), this); }, Qt::RightDockWidgetArea);
    const auto showArithmetic = [this] { m_layout->raise(QStringLiteral("arithmetic")); };
    const auto makeValues = [this, showArithmetic] {
        auto* values = new ValuesPanel(m_session, this);
        connect(values, &ValuesPanel::arithmeticAsked, this, showArithmetic);
        return values;
    };
    m_layout->add(makeValues, Qt::RightDockWidgetArea);
    m_layout->add([this, details] { return new ChannelsPanel(m_session, *details, this); }, Qt::RightDockWidgetArea);
    m_layout->add([this, details] { return new ErrorMapPanel(m_session, *details, this); }, Qt::RightDockWidgetArea);
    m_layout->add(new LayerChartPanel(m_session, this), Qt::BottomDockWidgetArea);
    m_layout->add(m_tensors, Qt::BottomDockWidgetArea);
    m_layout->add(makeWeightsPanel(m_session, *m_recipe, this), Qt::BottomDockWidgetArea);
    m_layout->add(makeOutputsPanel(m_session, this), Qt::BottomDockWidgetArea);
    m_layout->add([this] { return new WeightLabPanel(m_session, this); }, Qt::BottomDockWidgetArea);
    m_layout->add([this] { return new ArithmeticPanel(m_session, this); }, Qt::BottomDockWidgetArea);
    m_layout->add(new SamplesPanel(m_session, this), Qt::BottomDockWidgetArea);
    m_layout->add(new TokensPanel(m_session, this), Qt::BottomDockWidgetArea);
    m_layout->add(new CachesPanel(m_session, this), Qt::BottomDockWidgetArea);
    m_layout->add(m_matching, Qt::BottomDockWidgetArea);
    m_layout->add(new DifferencePanel(m_session, this), Qt::BottomDockWidgetArea);
    m_layout->add(new ElementsPanel(m_session, *m_elements, this), Qt::BottomDockWidgetArea);
    auto* files = new ShownFiles(m_session, this);
    m_layout->add(new FilesPanel(m_session, *files, this), Qt::BottomDockWidgetArea);
    m_layout->add(new LadderPanel(m_session, *m_ladder, this), Qt::BottomDockWidgetArea);
    m_layout->add(new SaturationPanel(m_session, this), Qt::BottomDockWidgetArea);
    m_layout->add(new RunsPanel(m_session, this), Qt::BottomDockWidgetArea);
    m_layout->add(new AdvisorPanel(m_session, *m_advisor, this), Qt::BottomDockWidgetArea);
    m_layout->add(new JobsPanel(m_session, this), Qt::BottomDockWidgetArea);
    offerPanel(tr("Show values"), QStringLiteral("values"));
    offerPanel(tr("Show arithmetic"), QStringLiteral("arithmetic"));
}

void MainWindow::offerPanel(const QString& text, const QString& name)
{
    offerInMenus(*this, text, [this, name] {
        findChild<Panel*>(name)->shownPlace()->setPinned(false); // what is asked for now
        m_layout->raise(name);
    });
}

} // namespace qs
