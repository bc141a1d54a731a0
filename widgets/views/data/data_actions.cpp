// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/data/data_actions.h"

#include "widgets/models/base/translated.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/data/fixed_inputs_dialog.h"
#include "widgets/views/data/prepare_dialog.h"
#include "widgets/views/data/preprocess_dialog.h"
#include "widgets/views/data/random_dialog.h"

#include <QFileInfo>
#include <QMenu>

namespace qs {

namespace {

bool hasFloatModel(const Snapshot& snapshot) { return snapshot.floatModel && snapshot.floatModel->isFloat(); }

template <class Function> QAction* add(QMenu* menu, const QString& text, QWidget* window, Function function)
{
    QAction* action = menu->addAction(text);
    QObject::connect(action, &QAction::triggered, window, std::move(function));
    return action;
}

/// Again for what is open.
void changePreparation(Session& session, QWidget* window, bool calibration)
{
    const Inputs& open = session.wantedFiles();
    askForPreprocess(session, { calibration ? open.calibration : open.data, calibration }, window);
}

} // namespace

void askForUndescribed(Session& session, QWidget* window)
{
    QObject::connect(&session, &Session::picturesUndescribed, window,
        [&session, window](const UndescribedPictures& pictures) { askForPreprocess(session, pictures, window); });
}

bool askForUse(Session& session, QWidget* window, const QStringList& files, const QPoint& at)
{
    const Snapshot& now = *session.snapshot();
    const QFileInfo file(files.value(0));
    const QString suffix = file.suffix().toLower();
    const bool data = file.isDir() || suffix == QLatin1String("npz") || suffix == QLatin1String("npy");
    if (files.size() != 1 || !data || !now.data || !hasFloatModel(now))
        return false;
    auto* menu = new QMenu(window);
    menu->setObjectName(QStringLiteral("dataUse"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const QString path = file.filePath();
    add(menu, tr("&Judge by %1").arg(file.fileName()), window, [&session, path] { openData(session, path); });
    add(menu, tr("Find &ranges with %1 (calibration)").arg(file.fileName()), window,
        [&session, path] { openCalibration(session, path); });
    menu->addSeparator();
    add(menu, tr("&Cancel"), window, [] {});
    menu->popup(window->mapToGlobal(at));
    return true;
}

void addDataActions(QMenu* menu, Session& session, QWidget* window)
{
    QAction* random = add(menu, tr("Ra&ndom data…"), window, [&session, window] { askForRandom(session, window); });
    QAction* pictures = add(menu, tr("Prepare pictures (&judging)…"), window,
        [&session, window] { changePreparation(session, window, false); });
    QAction* calibration = add(menu, tr("Prepare pictures (cal&ibration)…"), window,
        [&session, window] { changePreparation(session, window, true); });
    const auto enable = [=](const SnapshotPtr& now) {
        random->setEnabled(now->floatModel.has_value());
        pictures->setVisible(!now->inputs.data.preprocess.empty());
        calibration->setVisible(!now->inputs.calibration.preprocess.empty());
    };
    enable(session.snapshot());
    QObject::connect(&session, &Session::snapshotChanged, menu, enable);
}

void addModelActions(QMenu* menu, Session& session, QWidget* window)
{
    QAction* inputs = add(
        menu, tr("&Fix inputs…"), window, [&session, window] { (new FixedInputsDialog(session, window))->open(); });
    QAction* prepare = add(menu, tr("&Prepare float model…"), window,
        [&session, window] { (new PrepareDialog(session, window))->open(); });
    const auto enable = [=, &session] {
        inputs->setEnabled(session.recipe().editable());
        prepare->setEnabled(hasFloatModel(*session.snapshot()));
    };
    enable();
    QObject::connect(&session, &Session::snapshotChanged, menu, enable);
    QObject::connect(&session.recipe(), &RecipeEdits::recipeChanged, menu, enable);
}

} // namespace qs
