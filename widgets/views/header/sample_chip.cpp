// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/header/sample_chip.h"

#include "widgets/models/base/formatting.h"
#include "widgets/session/session.h"
#include "widgets/views/base/text/font_units.h"

namespace qs {

namespace {

constexpr int kChipWidth = 120, kLeastChip = 40; ///< font units of a sample's name, and of all

} // namespace

QString chosenSample(Session& session)
{
    const SnapshotPtr snapshot = session.snapshot();
    const auto sample = session.selection().current().sample;
    const bool known = sample && snapshot->comparison && snapshot->data && *sample < snapshot->data->samples();
    return known ? toQt(snapshot->data->sampleName(*sample)) : QString();
}

SampleChip::SampleChip(Session& session, Shows shows, QWidget* parent)
    : QPushButton(parent)
    , m_session(session)
    , m_shows(shows)
{
    setObjectName(QStringLiteral("sampleChip"));
    setProperty("chip", true);
    connect(this, &QPushButton::clicked, this, [this] { m_session.selection().selectSample(std::nullopt); });
    connect(&session, &Session::snapshotChanged, this, &SampleChip::refresh);
    connect(&session.selection(), &Selection::changed, this, &SampleChip::refresh);
    refresh();
}

QSize SampleChip::minimumSizeHint() const
{
    return { fontUnits(fontMetrics(), kLeastChip), QPushButton::minimumSizeHint().height() };
}

void SampleChip::refresh()
{
    const QString sample = chosenSample(m_session);
    setVisible(!sample.isEmpty());
    if (sample.isEmpty())
        return;
    const QString name = fontMetrics().elidedText(sample, Qt::ElideMiddle, fontUnits(fontMetrics(), kChipWidth));
    setText(m_shows == Shows::OneSample ? tr("of %1  ✕").arg(name) : tr("all samples; graph: %1  ✕").arg(name));
    const QString meaning = m_shows == Shows::OneSample
        ? tr("These numbers are of %1 alone. Click to see those of all samples again.").arg(sample)
        : tr("These numbers are of all samples; the graph is coloured for %1 alone. Click to colour it for all.")
              .arg(sample);
    setToolTip(meaning);
    setAccessibleName(meaning);
}

} // namespace qs

#include "moc_sample_chip.cpp"
