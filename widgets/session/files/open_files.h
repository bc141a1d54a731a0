// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/files/recent_files.h"
#include "widgets/session/session.h"

#include <QStringList>

namespace qs {

/// Each puts one thing in its place beside what is open, or is being opened.
void openFloat(Session& session, const QString& path); ///< replaces everything when a float model was open
void openQuantized(Session& session, const QString& path);
void openData(Session& session, const QString& spec, const QString& preprocess = {});
void openDataRequest(Session& session, const DataRequest& request);
void openCalibrationRequest(Session& session, const DataRequest& request);
/// Samples that ranges are found with; the data judge alone then. Empty: the data serve both.
void openCalibration(Session& session, const QString& spec, const QString& preprocess = {});
void openClassNames(Session& session, const QString& path);
/// A second quantized model to compare the first with; none: takes it away.
void openOther(Session& session, const OtherQuantized& other);
/// What is compared with the float model now (A), and what a run stands for, as something to compare with (B).
OtherQuantized quantizedNow(const Session& session);
OtherQuantized quantizedOf(const Session& session, const RecipeRun& run);
/// B becomes A and A becomes B. Recipes change places as one step of undo; another file opens like any other.
void swapWithOther(Session& session);
/// What the user says of outputs; measures them again.
void setTasks(Session& session, const TaskChoices& tasks);
/// Runs each node by itself on the float model's inputs, too: the "node alone" number of every tensor.
void setNodeAlone(Session& session, bool on);
void setArithmetic(Session& session, ArithmeticProfile profile); ///< of the quantized model; runs it again
/// Files of any role, projects too (dropped, or named at the start): the roles are found out by a job, then they are
/// opened beside what is open or being opened, or beside these. failed() tells of those that cannot be opened.
void openFiles(Session& session, const QStringList& paths);
void openFiles(Session& session, const QStringList& paths, const Inputs& beside);
/// As they are in their files, also where these models are open and their recipe was edited.
void openAnew(Session& session, const Inputs& inputs);
void openRecent(Session& session, const RecentEntry& entry);

} // namespace qs
