// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/unsaved_question.h"

#include "widgets/session/session.h"
#include "widgets/views/header/header_strip.h"

#include <QEventLoop>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>

#include <utility>

namespace qs {

UnsavedQuestion::UnsavedQuestion(Session& session, QWidget& window, Save save)
    : QObject(&window)
    , m_session(session)
    , m_window(window)
    , m_save(std::move(save))
{
}

QMessageBox* UnsavedQuestion::makeBox() const
{
    const QString& project = m_session.project();
    const QString name = project.isEmpty() ? projectName(m_session.files()) : QFileInfo(project).completeBaseName();
    auto* box = new QMessageBox(QMessageBox::Warning, tr("Quantscope"), tr("Save the work on “%1”?").arg(name),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, &m_window);
    box->setObjectName(QStringLiteral("unsavedQuestion"));
    box->setTextFormat(Qt::PlainText);
    box->setInformativeText(project.isEmpty()
            ? tr("Edits of the recipe, links and runs are in no project yet and are lost otherwise.")
            : tr("What has changed since the project was saved is lost otherwise."));
    for (const auto& [button, text] : { std::pair(QMessageBox::Save, tr("&Save")),
             { QMessageBox::Discard, tr("&Discard") }, { QMessageBox::Cancel, tr("&Cancel") } })
        box->button(button)->setText(text);
    box->setDefaultButton(QMessageBox::Save);
    box->setEscapeButton(QMessageBox::Cancel);
    box->setAttribute(Qt::WA_DeleteOnClose);
    return box;
}

void UnsavedQuestion::ask(std::function<void()> proceed)
{
    if (m_box) {
        m_box->disconnect(this);
        m_box->close();
    }
    if (!m_session.unsaved())
        return proceed();
    m_box = makeBox();
    connect(m_box, &QMessageBox::finished, this, [this, proceed = std::move(proceed)](int answer) {
        m_box.clear(); // it is on its way out
        if (answer == QMessageBox::Discard)
            proceed();
        else if (answer == QMessageBox::Save)
            m_save([this, proceed](bool saved) {
                if (saved)
                    ask(proceed); // there may be newer edits
                else
                    emit stayed();
            });
        else
            emit stayed();
    });
    m_box->open();
}

bool UnsavedQuestion::askAtOnce()
{
    emit askingAtOnce();
    if (!m_session.unsaved())
        return true;
    QMessageBox* box = makeBox();
    const int answer = box->exec();
    if (answer == QMessageBox::Discard)
        m_session.forgetUnsaved();
    if (answer != QMessageBox::Save)
        return answer == QMessageBox::Discard;
    QEventLoop saving;
    m_save([&saving](bool) { saving.quit(); });
    saving.exec();
    return !m_session.unsaved();
}

} // namespace qs

#include "moc_unsaved_question.cpp"
