// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/jobs_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/words/error_text.h"
#include "widgets/models/words/window_words.h"
#include "widgets/views/base/text/font_units.h"

#include <QHeaderView>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QTime>

namespace qs {

namespace {

constexpr int kLogLines = 2000;
constexpr int kLeastPart = 44; ///< font units of the height of jobs and log
constexpr int kWordWidth = 90, kJobNumberWidth = 84; ///< font units of a column

} // namespace

JobsPanel::JobsPanel(Session& session, QWidget* parent)
    : Panel(QStringLiteral("jobs"), tr("Jobs"), parent)
    , m_session(session)
    , m_table(new QTableView(this))
    , m_log(new QPlainTextEdit(this))
{
    m_table->setModel(&session.jobs().model());
    m_table->setAccessibleName(tr("Jobs"));
    m_table->setObjectName(QStringLiteral("plainTable"));
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(tableRow(fontMetrics()));
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    const JobModel& model = session.jobs().model();
    for (int column = 1; column < model.columnCount(); ++column)
        m_table->setColumnWidth(
            column, fontUnits(fontMetrics(), isWritten(model.column(column).kind) ? kWordWidth : kJobNumberWidth));
    m_log->setReadOnly(true);
    m_log->setMaximumBlockCount(kLogLines);
    m_log->setAccessibleName(tr("Log"));
    m_log->setPlaceholderText(tr("Log: nothing to report"));
    for (QWidget* part : std::initializer_list<QWidget*> { m_table, m_log })
        part->setMinimumHeight(fontUnits(fontMetrics(), kLeastPart));
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->addWidget(m_table);
    splitter->addWidget(m_log);
    splitter->setStretchFactor(0, 2);
    splitter->setStretchFactor(1, 1);
    setContent(splitter);

    auto* stop = new QPushButton(tr("Cancel"), this);
    stop->setAccessibleName(tr("Cancel the selected job"));
    stop->setToolTip(tr("Cancels the selected job, or all running ones"));
    stop->setEnabled(!session.jobs().idle());
    header()->addEndTool(stop);
    connect(stop, &QPushButton::clicked, this, [this] {
        const QModelIndex index = m_table->currentIndex();
        if (index.isValid())
            m_session.jobs().cancel(m_session.jobs().model().at(index.row()).id);
        else
            m_session.jobs().cancelAll();
    });
    connect(&session.jobs(), &JobList::idleChanged, this, [this, stop](bool idle) {
        stop->setEnabled(!idle);
        refreshInfo();
    });
    const auto logIssue = [this](const QString& line, const Issue& issue) {
        log(line.arg(issueHeadline(issue)));
        if (!issue.remedy.empty())
            log(QStringLiteral("    ") + issueRemedy(issue));
    };
    connect(&session, &Session::failed, this, [logIssue](const Issue& issue) { logIssue(tr("Error: %1"), issue); });
    connect(&session, &Session::told, this, [logIssue](const Issue& issue) { logIssue(tr("Warning: %1"), issue); });
    connect(&session, &Session::snapshotChanged, this, [this](const SnapshotPtr& now) { logSnapshot(*now); });
    logSnapshot(*session.snapshot());
}

void JobsPanel::log(const QString& line)
{
    m_log->appendPlainText(QTime::currentTime().toString(QStringLiteral("HH:mm:ss  ")) + line);
}

void JobsPanel::logSnapshot(const Snapshot& now)
{
    if (now.warnings != m_logged) {
        for (const std::string& warning : now.warnings)
            log(tr("Warning: %1").arg(inWindowWords(toQt(warning))));
        m_logged = now.warnings;
    }
    if (now.comparison && !now.comparison->partial)
        log(tr("Compared %1: load %2, match %3, run %4.")
                .arg(samplesText(now.comparison->samples), durationText(now.timing.loadMs),
                    durationText(now.timing.matchMs), durationText(now.timing.runMs)));
}

void JobsPanel::refreshInfo()
{
    int running = 0;
    for (const JobRow& row : m_session.jobs().model().rows())
        running += row.state == JobState::Running;
    header()->setInfo(running > 0 ? tr("%1 running").arg(running) : QString());
}

} // namespace qs

#include "moc_jobs_panel.cpp"
