// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/data/data_actions.h"

#include "widgets/models/base/translated.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/data/fixed_inputs_dialog.h"
#include "widgets/views/data/prepare_dialog.h"
#include "widgets/views/data/preprocess_dialog.h"
#include "widgets/views/data/random_dialog.h"

#include <QFileInfo>
#include <QMenu>

namespace qs {

namespace {

bool hasFloatModel(const Snapshot& snapshot) { return snapshot.floatModel && snapshot.floatModel->isFloat(); }

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
    const QString name = withoutMnemonics(file.fileName());
    menu->addAction(tr("&Judge by %1").arg(name), window, [&session, path] { openData(session, path); });
    menu->addAction(tr("Find &ranges with %1 (calibration)").arg(name), window,
        [&session, path] { openCalibration(session, path); });
    menu->addSeparator();
    menu->addAction(tr("&Cancel"));
    menu->popup(window->mapToGlobal(at));
    return true;
}

void addDataActions(QMenu* menu, Session& session, QWidget* window)
{
    QAction* random = addEntry(menu, QStringLiteral("file.random"), tr("Ra&ndom data…"), {}, window,
        [&session, window] { askForRandom(session, window); });
    QAction* pictures = addEntry(menu, QStringLiteral("file.preparePictures"), tr("Prepare pictures (&judging)…"), {},
        window, [&session, window] { changePreparation(session, window, false); });
    QAction* calibration
        = addEntry(menu, QStringLiteral("file.prepareCalibration"), tr("Prepare pictures (cal&ibration)…"), {}, window,
            [&session, window] { changePreparation(session, window, true); });
    const auto refresh = [=](const SnapshotPtr& now) {
        enable(*random, now->floatModel.has_value(), tr("Open a float model first"));
        pictures->setVisible(!now->inputs.data.preprocess.empty());
        calibration->setVisible(!now->inputs.calibration.preprocess.empty());
    };
    refresh(session.snapshot());
    QObject::connect(&session, &Session::snapshotChanged, menu, refresh);
}

void addModelActions(QMenu* menu, Session& session, QWidget* window)
{
    QAction* inputs = addEntry(menu, QStringLiteral("recipe.fixInputs"), tr("&Fix inputs…"), {}, window,
        [&session, window] { (new FixedInputsDialog(session, window))->open(); });
    QAction* prepare = addEntry(menu, QStringLiteral("recipe.prepare"), tr("&Prepare float model…"), {}, window,
        [&session, window] { (new PrepareDialog(session, window))->open(); });
    const auto refresh = [=, &session] {
        enable(*inputs, session.recipe().editable(), tr("There is no recipe: open a float model first"));
        enable(*prepare, hasFloatModel(*session.snapshot()), tr("Open a float model first"));
    };
    refresh();
    QObject::connect(&session, &Session::snapshotChanged, menu, refresh);
    QObject::connect(&session.recipe(), &RecipeEdits::recipeChanged, menu, refresh);
}

} // namespace qs
