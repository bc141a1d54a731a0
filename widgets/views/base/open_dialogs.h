// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/export/hand_over.h"

#include <functional>
#include <map>

class QMimeData;
class QWidget;

/// Ways to name files: dialogs that do not block, and drops.
namespace qs {

void askForFloat(Session& session, QWidget* parent);
void askForQuantized(Session& session, QWidget* parent);
void askForData(Session& session, QWidget* parent);
/// Samples to find ranges with, other than those that judge: arrays, or a folder.
void askForCalibration(Session& session, QWidget* parent);
void askForCalibrationFolder(Session& session, QWidget* parent);
/// Pictures or ONNX test data; how pictures are prepared the session asks for next (picturesUndescribed).
void askForDataFolder(Session& session, QWidget* parent);
/// A file that says what the classes are called.
void askForClassNames(Session& session, QWidget* parent);
/// Where to write the report of what is compared, and as what.
void askForReport(Session& session, QWidget* parent);
/// Where to write what is handed over.
void askForHandOver(Session& session, const RecipeView& recipe, HandOver what, QWidget* parent);
/// A recipe to go on with.
void askForRecipe(Session& session, QWidget* parent);
/// A second quantized file, to compare with the first.
void askForOther(Session& session, QWidget* parent);
/// Where to write the pairs made by hand.
void askForLinksFile(Session& session, QWidget* parent);
/// What others computed for the samples: an npz file, or a folder of ONNX test data.
void askForSavedValues(QWidget* parent, std::function<void(const QString& path)> chosen);
void askForSavedFolder(QWidget* parent, std::function<void(const QString& path)> chosen);
/// Where a file of the program that made a model lies here.
void askForSource(QWidget* parent, const QString& name, std::function<void(const QString& path)> chosen);
/// A tokenizer.json that says how tokens are written.
void askForTokenizer(Session& session, QWidget* parent, std::function<void(const QString& path)> chosen);
void askForProject(Session& session, QWidget* parent);
/// Where a model of the project is now; then the project is opened with it.
void askForMovedModel(Session& session, QWidget* parent, const QString& project, const QString& model,
    const std::map<QString, QString>& located);
/// Where to save the project.
void askWhereToSave(Session& session, QWidget* parent, std::function<void(const QString& path)> chosen,
    std::function<void()> cancelled);
/// The folder that a dialog to write a file begins with: the wished one where it takes files, else one of the user's.
QString folderToWriteTo(const QString& wished);
/// Local files of a drop, empty when there are none.
QStringList droppedFiles(const QMimeData* data);

} // namespace qs
