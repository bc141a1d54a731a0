// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/open_dialogs.h"

#include "widgets/models/formatting.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMimeData>
#include <QUrl>

#include <array>
#include <functional>

namespace qs {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("OpenDialogs", text); }

QString startFolder(const Session& session)
{
    const Inputs& inputs = session.snapshot()->inputs;
    const std::string& path = inputs.floatPath.empty() ? inputs.quantPath : inputs.floatPath;
    return path.empty() ? QDir::currentPath() : QFileInfo(toQt(path)).absolutePath();
}

void ask(const Session& session, QWidget* parent, const QString& title, const QString& filter,
    QFileDialog::FileMode mode, std::function<void(const QString&)> chosen)
{
    auto* dialog = new QFileDialog(parent, title, startFolder(session), filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(mode);
    QObject::connect(dialog, &QFileDialog::fileSelected, dialog, std::move(chosen));
    dialog->open();
}

QString modelFilter() { return tr("ONNX models (*.onnx);;All files (*)"); }

} // namespace

void askForFloat(Session& session, QWidget* parent)
{
    ask(session, parent, tr("Open float model"), modelFilter(), QFileDialog::ExistingFile,
        [&session](const QString& path) { session.openFloat(path); });
}

void askForQuantized(Session& session, QWidget* parent)
{
    ask(session, parent, tr("Open quantized model"), modelFilter(), QFileDialog::ExistingFile,
        [&session](const QString& path) { session.openQuantized(path); });
}

void askForData(Session& session, QWidget* parent)
{
    ask(session, parent, tr("Open data"), tr("Arrays (*.npz *.npy);;All files (*)"), QFileDialog::ExistingFile,
        [&session](const QString& path) { session.openData(path); });
}

void askForDataFolder(Session& session, QWidget* parent)
{
    const auto withDescription = [&session, parent](const QString& folder) {
        const QStringList sets = QDir(folder).entryList({ QStringLiteral("test_data_set_*") }, QDir::Dirs);
        if (!sets.isEmpty())
            return session.openData(folder);
        ask(session, parent, Session::tr("How the pictures are prepared"),
            Session::tr("Preprocessing (*.json);;All files (*)"), QFileDialog::ExistingFile,
            [&session, folder](const QString& description) { session.openData(folder, description); });
    };
    ask(session, parent, tr("Open a folder of pictures or test data"), {}, QFileDialog::Directory, withDescription);
}

void askForReport(Session& session, QWidget* parent)
{
    static const std::array<const char*, 3> kSuffixes { "html", "json", "csv" };
    auto* dialog = new QFileDialog(parent, tr("Export report"), startFolder(session));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({ tr("Page to read (*.html)"), tr("All numbers (*.json)"), tr("Table of rows (*.csv)") });
    dialog->setDefaultSuffix(QLatin1String(kSuffixes.front()));
    QObject::connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) {
        for (const char* suffix : kSuffixes) {
            if (filter.contains(QLatin1String(suffix)))
                dialog->setDefaultSuffix(QLatin1String(suffix));
        }
    });
    QObject::connect(dialog, &QFileDialog::fileSelected, &session, &Session::exportReport);
    dialog->open();
}

QStringList droppedFiles(const QMimeData* data)
{
    QStringList files;
    for (const QUrl& url : data->urls()) {
        if (url.isLocalFile())
            files << url.toLocalFile();
    }
    return files;
}

} // namespace qs
