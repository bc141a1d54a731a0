// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"
#include "core/project/snapshot/snapshot.h"

#include <QStringList>

#include <vector>

namespace qs {

enum class FileRole { Float, Quantized, Data, Preprocess, Project };

/// Arrays and folders are data, .json describes preprocessing, .qscope is a project, models are quantized when they
/// hold quantization operators. Reads the file: call it on a worker thread.
Result<FileRole> fileRole(const QString& path);

/// The only open model stands in the float model's place although it is quantized.
bool quantizedAlone(const Snapshot& snapshot);

/// Files of any role, put in their places.
struct PlacedFiles {
    Inputs inputs;
    QString project; ///< a project is among them, which names its files itself; empty: none
    std::vector<Issue> refused; ///< what could not be read, or has no place beside the others
};

/// The inputs with these files put in their places. A new float model replaces everything that was open and is not
/// given too, except a quantized model that was opened alone: it belongs to it. Of several quantized models the second
/// is compared with the first. An Issue where not one of them can be opened. Call it on a worker thread.
Result<PlacedFiles> withFiles(const Inputs& current, const QStringList& paths, const CancelToken& cancel);

} // namespace qs
