// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/header/state_notes.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/formulas.h"
#include "widgets/plots/plot_widget.h"
#include "widgets/session/files/file_roles.h"
#include "widgets/session/session.h"
#include "widgets/views/base/panel.h"
#include "widgets/views/header/sample_chip.h"
#include "widgets/views/tables/advisor_panel.h"

#include <QLabel>

namespace qs {

namespace {

constexpr double kNothingRan = 0.05; ///< milliseconds: all numbers were there already

void nameTheSample(Session& session, Panel& panel)
{
    static const QStringList kOfOne { QStringLiteral("layer-chart"), QStringLiteral("channels"),
        QStringLiteral("error-map"), QStringLiteral("values") };
    static const QStringList kOfAll { QStringLiteral("tensors"), QStringLiteral("outputs"),
        QStringLiteral("distribution"), QStringLiteral("inspector") };
    if (kOfOne.contains(panel.objectName()))
        panel.header()->addTool(new SampleChip(session, SampleChip::Shows::OneSample, panel.header()));
    else if (kOfAll.contains(panel.objectName()))
        panel.header()->addTool(new SampleChip(session, SampleChip::Shows::AllSamples, panel.header()));
}

} // namespace

QString statusText(const Session& session)
{
    const Snapshot& snapshot = *session.snapshot();
    if (snapshot.comparison) {
        const QString text = provenanceText(*snapshot.comparison);
        return snapshot.comparison->partial || snapshot.timing.runMs < kNothingRan
            ? QLabel::tr("Compared: %1").arg(text)
            : QLabel::tr("Compared in %1: %2").arg(durationText(snapshot.timing.runMs), text);
    }
    if (session.work() == Session::Work::Opening)
        return snapshot.floatModel || snapshot.quantModel ? QLabel::tr("The models are read; their numbers follow.")
                                                          : QLabel::tr("Reading the files…");
    if (quantizedAlone(snapshot))
        return QLabel::tr("Open the float model next: this one is quantized already.");
    if (snapshot.floatModel && !snapshot.quantModel)
        return QLabel::tr("Open the quantized model next.");
    if (snapshot.quantModel && !snapshot.floatModel)
        return QLabel::tr("Open the float model next.");
    if (snapshot.floatModel && !snapshot.data)
        return QLabel::tr("Open data to compare the models.");
    return {};
}

QString cancelledText(const Session& session)
{
    const auto& comparison = session.snapshot()->comparison;
    const bool earlier = comparison && !comparison->partial;
    return (earlier ? QLabel::tr("Cancelled. Still shown from before: %1") : QLabel::tr("Cancelled. %1"))
        .arg(statusText(session));
}

void addStateNotes(QWidget& window, Session& session, QLabel& status)
{
    const auto dim = [&session, &status, plots = window.findChildren<PlotWidget*>()] {
        const bool stale = session.numbers().stale();
        status.setEnabled(!stale);
        for (PlotWidget* plot : plots)
            if (!qobject_cast<AdvisorPanel*>(plot->parentWidget())) // measures on its own
                plot->setDimmed(stale);
    };
    QObject::connect(&session.numbers(), &NumbersAge::changed, &window, dim);
    dim();
    QObject::connect(&session.jobs(), &JobList::idleChanged, &status, [&session, &status] {
        if (!session.snapshot()->comparison) // what is to be opened next, or that it was
            status.setText(statusText(session));
    });
    for (Panel* panel : window.findChildren<Panel*>())
        nameTheSample(session, *panel);
    QObject::connect(
        &session.selection(), &Selection::vanished, &status,
        [&status](const QString& name) {
            status.setText(QLabel::tr("%1 does not exist any more; nothing is selected.").arg(name));
        },
        Qt::QueuedConnection); // after what the new snapshot makes the line say
}

} // namespace qs
