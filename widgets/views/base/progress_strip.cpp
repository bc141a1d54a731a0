// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/progress_strip.h"

#include "widgets/models/base/formatting.h"
#include "widgets/views/base/text/font_units.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

namespace qs {

namespace {

constexpr int kSteps = 1000;
constexpr int kBarWidth = 160; ///< font units

} // namespace

ProgressStrip::ProgressStrip(Session& session, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_text(new QLabel(this))
    , m_bar(new QProgressBar(this))
    , m_cancel(new QPushButton(tr("Cancel"), this))
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 4, 0);
    row->addWidget(m_text);
    row->addWidget(m_bar);
    row->addWidget(m_cancel);
    m_bar->setTextVisible(false);
    m_bar->setFixedWidth(fontUnits(fontMetrics(), kBarWidth));
    m_bar->setAccessibleName(tr("Progress"));
    m_cancel->setProperty("link", true);
    m_cancel->setAccessibleName(tr("Cancel the running job"));
    hide();
    JobList& jobs = session.jobs();
    connect(m_cancel, &QPushButton::clicked, this, [this] { m_session.jobs().cancel(m_job); });
    connect(&jobs, &JobList::started, this, &ProgressStrip::showJob);
    connect(&jobs, &JobList::progressed, this, &ProgressStrip::showJob);
    connect(&jobs, &JobList::idleChanged, this, [this](bool idle) {
        if (idle)
            hide();
    });
    connect(&jobs, &JobList::finished, this, [this](quint64 id) { m_job = m_job == id ? 0 : m_job; });
}

void ProgressStrip::showJob(quint64 id)
{
    const JobRow* row = m_session.jobs().model().find(id);
    const JobRow* shown = m_session.jobs().model().find(m_job);
    const bool other = shown && shown->state == JobState::Running && m_job > id;
    if (!row || row->state != JobState::Running || other)
        return;
    m_job = id;
    QString text = row->title;
    if (!row->phase.isEmpty())
        text += QStringLiteral(" · ") + row->phase;
    if (row->total > 0)
        text += tr(" %1 of %2").arg(countText(row->done), countText(row->total));
    m_text->setText(text);
    m_bar->setRange(0, row->total > 0 ? kSteps : 0);
    if (row->total > 0)
        m_bar->setValue(int(double(kSteps) * double(row->done) / double(row->total)));
    show();
}

} // namespace qs

#include "moc_progress_strip.cpp"
