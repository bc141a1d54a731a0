// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/open_dialogs.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/plots/save_dialog.h"
#include "widgets/session/export/exports.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/files/projects.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMimeData>
#include <QStandardPaths>
#include <QUrl>

#include <array>
#include <functional>
#include <map>

namespace qs {

namespace {

QString openPath(const Session& session)
{
    const Inputs& inputs = session.snapshot()->inputs;
    return toQt(inputs.floatPath.empty() ? inputs.quantPath : inputs.floatPath);
}

QString startFolder(const Session& session)
{
    const QString path = openPath(session);
    return path.isEmpty() ? QDir::currentPath() : QFileInfo(path).absolutePath();
}

void ask(const QString& folder, QWidget* parent, const QString& title, const QString& filter,
    QFileDialog::FileMode mode, std::function<void(const QString&)> chosen)
{
    auto* dialog = new QFileDialog(parent, title, folder, filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(mode);
    QObject::connect(dialog, &QFileDialog::fileSelected, dialog, std::move(chosen));
    dialog->open();
}

void ask(const Session& session, QWidget* parent, const QString& title, const QString& filter,
    QFileDialog::FileMode mode, std::function<void(const QString&)> chosen)
{
    ask(startFolder(session), parent, title, filter, mode, std::move(chosen));
}

/// A kind of file that is written.
struct WrittenKind {
    QString title, filter, suffix;
    QString tail; ///< of its name, behind that of what is open
};

/// Proposes a name.
QFileDialog* askToWrite(
    const Session& session, QWidget* parent, const WrittenKind& kind, std::function<void(const QString&)> chosen)
{
    const QString open = openPath(session);
    const QString name
        = open.isEmpty() ? QString() : QFileInfo(open).completeBaseName() + kind.tail + QLatin1Char('.') + kind.suffix;
    const QString proposed = QDir(folderToWriteTo(startFolder(session))).filePath(name);
    return askWhereToWrite(parent, kind.title, proposed, kind.filter, kind.suffix, std::move(chosen));
}

QString modelFilter() { return tr("ONNX models (*.onnx);;All files (*)"); }

QString arrayFilter() { return tr("Arrays (*.npz *.npy);;All files (*)"); }

} // namespace

QString folderToWriteTo(const QString& wished)
{
    if (QFileInfo(wished).isWritable())
        return wished;
    const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    return QFileInfo(documents).isWritable() ? documents : QDir::homePath();
}

void askForFloat(Session& session, QWidget* parent)
{
    ask(session, parent, tr("Open float model"), modelFilter(), QFileDialog::ExistingFile,
        [&session](const QString& path) { openFloat(session, path); });
}

void askForQuantized(Session& session, QWidget* parent)
{
    ask(session, parent, tr("Open quantized model"), modelFilter(), QFileDialog::ExistingFile,
        [&session](const QString& path) { openQuantized(session, path); });
}

void askForOther(Session& session, QWidget* parent)
{
    ask(session, parent, tr("Open the second quantized model"), modelFilter(), QFileDialog::ExistingFile,
        [&session](const QString& path) {
            openOther(session, { path.toStdString(), std::nullopt });
        });
}

void askForData(Session& session, QWidget* parent)
{
    ask(session, parent, tr("Open data"), arrayFilter(), QFileDialog::ExistingFile,
        [&session](const QString& path) { openData(session, path); });
}

void askForCalibration(Session& session, QWidget* parent)
{
    ask(session, parent, tr("Open samples to find ranges with"), arrayFilter(), QFileDialog::ExistingFile,
        [&session](const QString& path) { openCalibration(session, path); });
}

void askForDataFolder(Session& session, QWidget* parent)
{
    ask(session, parent, tr("Open a folder of pictures or test data"), {}, QFileDialog::Directory,
        [&session](const QString& folder) { openData(session, folder); });
}

void askForCalibrationFolder(Session& session, QWidget* parent)
{
    ask(session, parent, tr("Open a folder of pictures or test data to find ranges with"), {}, QFileDialog::Directory,
        [&session](const QString& folder) { openCalibration(session, folder); });
}

void askForClassNames(Session& session, QWidget* parent)
{
    ask(session, parent, tr("What the classes are called"),
        tr("Names, one a line, or JSON (*.txt *.json *.names);;All files (*)"), QFileDialog::ExistingFile,
        [&session](const QString& path) { openClassNames(session, path); });
}

void askForTokenizer(Session& session, QWidget* parent, std::function<void(const QString& path)> chosen)
{
    ask(session, parent, tr("How tokens are written"), tr("Tokenizers (*.json);;All files (*)"),
        QFileDialog::ExistingFile, std::move(chosen));
}

void askForReport(Session& session, QWidget* parent)
{
    static const std::array<const char*, 3> kSuffixes { "html", "json", "csv" };
    const QStringList filters { tr("Page to read (*.html)"), tr("All numbers (*.json)"), tr("Table of rows (*.csv)") };
    QFileDialog* dialog = askToWrite(session, parent,
        { tr("Export report"), filters.join(QStringLiteral(";;")), QLatin1String(kSuffixes.front()),
            QStringLiteral("_report") },
        [&session](const QString& path) { exportReport(session, path); });
    QObject::connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) {
        for (const char* suffix : kSuffixes) {
            if (filter.contains(QLatin1String(suffix)))
                dialog->setDefaultSuffix(QLatin1String(suffix));
        }
    });
}

void askForLinksFile(Session& session, QWidget* parent)
{
    askToWrite(session, parent,
        { tr("Export links"), tr("Map of pairs (*.json)"), QStringLiteral("json"), QStringLiteral("_links") },
        [&session](const QString& path) { exportLinks(session, path); });
}

void askForHandOver(Session& session, const RecipeView& recipe, HandOver what, QWidget* parent)
{
    const Recipe& asked = session.recipe().recipe();
    const std::map<HandOver, WrittenKind> kinds {
        { HandOver::Model,
            { tr("Export ONNX in the recipe's format"), modelFilter(), QStringLiteral("onnx"),
                QLatin1Char('_') + toQt(nameIn(kRecipeFormats, asked.format)).replace(u'-', u'_') } },
        { HandOver::Qdq,
            { tr("Export ONNX with Q/DQ pairs"), modelFilter(), QStringLiteral("onnx"), QStringLiteral("_qdq") } },
        { HandOver::QOperator,
            { tr("Export ONNX with operators on codes"), modelFilter(), QStringLiteral("onnx"),
                QStringLiteral("_qoperator") } },
        { HandOver::Script,
            { tr("Save ONNX Runtime script"), tr("Python (*.py)"), QStringLiteral("py"),
                QStringLiteral("_quantize") } },
        { HandOver::ExcludeList,
            { tr("Save nodes_to_exclude"), tr("Text (*.txt)"), QStringLiteral("txt"),
                QStringLiteral("_nodes_to_exclude") } },
        { HandOver::RecipeJson,
            { tr("Save recipe"), tr("Recipe (*.json)"), QStringLiteral("json"), QStringLiteral("_recipe") } },
    };
    WrittenKind kind = kinds.at(what);
    if (isAnotherModel(what, asked))
        kind.title += tr(" (another model than the recipe's)");
    askToWrite(session, parent, kind,
        [&session, &recipe, what](const QString& path) { handOver(session, recipe, what, path); });
}

void askForRecipe(Session& session, QWidget* parent)
{
    ask(session, parent, tr("Open recipe"), tr("Recipe (*.json);;All files (*)"), QFileDialog::ExistingFile,
        [&session](const QString& path) { readRecipeInto(session, path); });
}

void askForSavedValues(QWidget* parent, std::function<void(const QString& path)> chosen)
{
    ask(QDir::currentPath(), parent, tr("Values that others computed"), tr("Arrays (*.npz);;All files (*)"),
        QFileDialog::ExistingFile, std::move(chosen));
}

void askForSavedFolder(QWidget* parent, std::function<void(const QString& path)> chosen)
{
    ask(QDir::currentPath(), parent, tr("ONNX test data with outputs"), {}, QFileDialog::Directory, std::move(chosen));
}

void askForSource(QWidget* parent, const QString& name, std::function<void(const QString& path)> chosen)
{
    ask(QDir::currentPath(), parent, tr("Where is %1?").arg(name),
        tr("Source files (*.py *.pyi *.pyx *.ipynb *.txt *.c *.cc *.cpp *.cu *.h *.hpp)"), QFileDialog::ExistingFile,
        std::move(chosen));
}

void askForProject(Session& session, QWidget* parent)
{
    ask(session, parent, tr("Open project"), tr("Projects (*.qscope);;All files (*)"), QFileDialog::ExistingFile,
        [&session](const QString& path) { openProject(session, path); });
}

void askForMovedModel(Session& session, QWidget* parent, const QString& project, const QString& model,
    const std::map<QString, QString>& located)
{
    ask(QFileInfo(project).absolutePath(), parent, tr("Where is %1?").arg(fileName(model.toStdString())), modelFilter(),
        QFileDialog::ExistingFile, [&session, project, model, located](const QString& path) {
            std::map<QString, QString> all = located;
            all[model] = path;
            openProject(session, project, {}, all);
        });
}

void askWhereToSave(
    Session& session, QWidget* parent, std::function<void(const QString& path)> chosen, std::function<void()> cancelled)
{
    QFileDialog* dialog = askToWrite(session, parent,
        { tr("Save project"), tr("Projects (*.qscope)"), QStringLiteral("qscope"), {} }, std::move(chosen));
    QObject::connect(dialog, &QFileDialog::rejected, dialog, std::move(cancelled));
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
