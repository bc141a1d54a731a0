// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/detail/origin_actions.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/inspector/place_origin.h"
#include "widgets/views/base/open_dialogs.h"

#include <QAction>
#include <QClipboard>
#include <QDesktopServices>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMessageBox>
#include <QProcess>
#include <QPushButton>
#include <QRegularExpression>
#include <QUrl>

namespace qs {

namespace {

/// In an editor: what belongs to the ending may be a program that runs the file.
void openInEditor(const QString& file)
{
#if defined(Q_OS_WIN)
    QProcess::startDetached(QStringLiteral("notepad.exe"), { file });
#elif defined(Q_OS_MACOS)
    QProcess::startDetached(QStringLiteral("open"), { QStringLiteral("-t"), file });
#else
    QDesktopServices::openUrl(QUrl::fromLocalFile(file));
#endif
}

QString lastName(const QString& path) { return path.section(QRegularExpression(QStringLiteral("[/\\\\]")), -1); }

} // namespace

OriginActions::OriginActions(Session& session, QWidget* menu)
    : QObject(menu)
    , m_session(session)
    , m_opener(openInEditor)
{
    auto* line = new QAction(menu);
    line->setSeparator(true);
    menu->addAction(line);
    m_actions.push_back(line);
    add(tr("Copy source line"), &OriginActions::copyLine);
    add(tr("Copy stack trace"), &OriginActions::copyTrace);
    add(tr("Open source"), &OriginActions::open);
    connect(&session, &Session::snapshotChanged, this, &OriginActions::refresh);
    connect(&session.selection(), &Selection::changed, this, &OriginActions::refresh);
    refresh();
}

QAction* OriginActions::add(const QString& text, void (OriginActions::*slot)())
{
    auto* action = new QAction(text, menu());
    menu()->addAction(action);
    connect(action, &QAction::triggered, this, slot);
    m_actions.push_back(action);
    return action;
}

QWidget* OriginActions::menu() const { return static_cast<QWidget*>(parent()); }

void OriginActions::refresh()
{
    m_origin = placeOrigin(*m_session.snapshot(), m_session.selection().current());
    for (QAction* action : m_actions)
        action->setVisible(m_origin.frame.has_value());
}

void OriginActions::copyLine()
{
    if (const SourceFrame* frame = m_origin.shownFrame())
        QGuiApplication::clipboard()->setText(toQt(sourceLine(*frame)));
}

void OriginActions::copyTrace() { QGuiApplication::clipboard()->setText(toQt(traceText(m_origin.frames))); }

void OriginActions::open()
{
    const SourceFrame* frame = m_origin.shownFrame();
    if (!frame)
        return;
    const QString path = toQt(frame->file), here = m_files.find(path);
    if (here.isEmpty() || !SourceFiles::isSource(here))
        sayMissing(path);
    else
        m_opener(here);
}

void OriginActions::sayMissing(const QString& path)
{
    const QString text
        = tr("%1 is not on this machine.\n\nThe model was exported where it is called %2. If you have it in "
             "another folder, say where; other files of the same program are then found, too.")
              .arg(lastName(path), path);
    auto* box = new QMessageBox(QMessageBox::Information, tr("Open source"), text, QMessageBox::Cancel, menu());
    box->setTextFormat(Qt::PlainText); // the path is the model's
    QPushButton* locateButton = box->addButton(tr("Locate…"), QMessageBox::AcceptRole);
    box->setDefaultButton(locateButton);
    box->setAttribute(Qt::WA_DeleteOnClose);
    connect(locateButton, &QPushButton::clicked, this, [this, path] { locate(path); });
    box->open();
}

void OriginActions::locate(const QString& path)
{
    askForSource(menu(), lastName(path), [this, path](const QString& here) {
        if (!SourceFiles::isSource(here))
            return;
        m_files.locate(path, here);
        m_opener(here);
    });
}

} // namespace qs

#include "moc_origin_actions.cpp"
