// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/save_dialog.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>

namespace qs {

WriteGuard::WriteGuard(QWidget* of, Refusal refusal, Written written)
    : QObject(of)
    , m_refusal(std::move(refusal))
    , m_written(std::move(written))
{
}

std::vector<const WriteGuard*> WriteGuard::around(const QWidget* widget)
{
    std::vector<const WriteGuard*> guards;
    for (; widget; widget = widget->parentWidget())
        for (const QObject* child : widget->children())
            if (const auto* guard = dynamic_cast<const WriteGuard*>(child))
                guards.push_back(guard);
    return guards;
}

QString WriteGuard::refusal(const QWidget* widget, const QString& path)
{
    for (const WriteGuard* guard : around(widget))
        if (const QString text = guard->m_refusal(path); !text.isEmpty())
            return text;
    return {};
}

void WriteGuard::tell(const QWidget* widget, const QString& path)
{
    for (const WriteGuard* guard : around(widget))
        if (guard->m_written)
            guard->m_written(path);
}

QFileDialog* askWhereToWrite(QWidget* parent, const QString& title, const QString& proposed, const QString& filter,
    const QString& suffix, std::function<void(const QString& path)> chosen)
{
    auto* dialog = new QFileDialog(parent, title, proposed, filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(suffix);
    QObject::connect(dialog, &QFileDialog::fileSelected, dialog, std::move(chosen));
    dialog->open();
    return dialog;
}

void saveAs(
    QWidget* parent, const QString& title, const QString& suffix, std::function<bool(const QString& path)> write)
{
    const auto save = [parent, suffix, write = std::move(write)](QString path) {
        if (QFileInfo(path).suffix().compare(suffix, Qt::CaseInsensitive) != 0)
            path += QLatin1Char('.') + suffix;
        const QString refusal = WriteGuard::refusal(parent, path);
        if (refusal.isEmpty() && write(path))
            return WriteGuard::tell(parent, path);
        const QString text
            = refusal.isEmpty() ? QFileDialog::tr("%1 cannot be written; choose another folder.").arg(path) : refusal;
        auto* box = new QMessageBox(QMessageBox::Warning, QFileDialog::tr("Save"), text, QMessageBox::Ok, parent);
        box->setAttribute(Qt::WA_DeleteOnClose);
        box->open();
    };
    askWhereToWrite(parent, title, {}, QStringLiteral("%1 (*.%2)").arg(suffix.toUpper(), suffix), suffix, save);
}

} // namespace qs
