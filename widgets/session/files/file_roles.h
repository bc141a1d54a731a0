// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"
#include "core/project/snapshot/snapshot.h"

#include <QStringList>

namespace qs {

enum class FileRole { Float, Quantized, Data, Preprocess };

/// Arrays and folders are data, .json describes preprocessing, models are quantized when they hold quantization
/// operators. Reads the file: call it on a worker thread.
Result<FileRole> fileRole(const QString& path);

/// The only open model stands in the float model's place although it is quantized.
bool quantizedAlone(const Snapshot& snapshot);

/// The inputs with these files put in their places. A new float model replaces everything that was open and is not
/// given too, except a quantized model that was opened alone: it belongs to it. Call it on a worker thread.
Result<Inputs> withFiles(const Inputs& current, const QStringList& paths, const CancelToken& cancel);

} // namespace qs
