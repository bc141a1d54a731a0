// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/recovery_bar.h"

#include "core/project/files/project_file.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/files/autosave.h"
#include "widgets/session/files/projects.h"
#include "widgets/session/session.h"
#include "widgets/views/base/text/wrapped_text.h"
#include "widgets/views/header/header_strip.h"

#include <QDateTime>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>

namespace qs {

namespace {

QString workName(const Project& project)
{
    const std::string file = project.recovery ? project.recovery->project : std::string();
    return file.empty() ? projectName(project.inputs) : QFileInfo(toQt(file)).completeBaseName();
}

} // namespace

RecoveryBar::RecoveryBar(Session& session, QWidget* parent)
    : QFrame(parent)
    , m_session(session)
    , m_headline(new QLabel(this))
    , m_details(new QLabel(this))
{
    setObjectName(QStringLiteral("recoveryBar"));
    setAccessibleName(tr("Recovery"));
    m_headline->setObjectName(QStringLiteral("recoveryHeadline"));
    m_headline->setText(tr("Quantscope ended unexpectedly."));
    for (QLabel* label : { m_headline, m_details }) {
        label->setTextFormat(Qt::PlainText);
        wrapText(*label);
    }
    auto* texts = new QVBoxLayout;
    texts->setSpacing(2);
    texts->addWidget(m_headline);
    texts->addWidget(m_details);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 6, 8, 6);
    row->addLayout(texts, 1);
    const auto addButton = [&](const QString& text, const QString& name, auto&& action) {
        auto* button = new QPushButton(text, this);
        button->setAccessibleName(name);
        button->setAutoDefault(true); // Return presses it, too
        connect(button, &QPushButton::clicked, this, action);
        row->addWidget(button);
        return button;
    };
    addButton(tr("Restore"), tr("Restore the work"), &RecoveryBar::restore);
    addButton(tr("Discard"), tr("Discard the work"), &RecoveryBar::discard);
    addButton(tr("Later"), tr("Ask again the next time"), &QWidget::hide)->setProperty("link", true);
    // From now on the work is this session's to keep.
    connect(&session, &Session::recovered, this, [this](const QString& path) { m_paths.removeOne(path); });
    hide();
}

void RecoveryBar::offer(const QStringList& paths)
{
    m_paths = paths;
    showFirst();
}

void RecoveryBar::showFirst()
{
    setVisible(!m_paths.isEmpty());
    if (m_paths.isEmpty())
        return;
    const QString time = QLocale().toString(QFileInfo(m_paths.front()).lastModified(), QLocale::ShortFormat);
    const auto project = readProject(m_paths.front().toStdString()); // one that cannot be read says so when restored
    const QString work
        = project.ok() ? tr("The work on %1 of %2").arg(workName(*project), time) : tr("The work of %1").arg(time);
    m_details->setText(m_paths.size() == 1
            ? tr("%1 was kept.").arg(work)
            : tr("%1 was kept; so was older work: %2.").arg(work, countText(quint64(m_paths.size() - 1))));
    setAccessibleDescription(m_headline->text() + u' ' + m_details->text());
}

/// When that fails, the session says so, and the file stays.
void RecoveryBar::restore()
{
    hide();
    emit restoring();
    recoverProject(m_session, m_paths.front());
}

void RecoveryBar::discard()
{
    Autosave::discard(m_paths.takeFirst());
    showFirst();
}

} // namespace qs

#include "moc_recovery_bar.cpp"
