// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/quantize/proved_preparation.h"
#include "widgets/session/session.h"

namespace qs {

/// What preparing gave; kept until it is saved.
using PreparedModel = std::shared_ptr<const ProvedPreparation>;

inline const QString kPrepareTag = QStringLiteral("prepare");

/// Runs the passes of these names on the float model that is open, in a job, and proves them on the data that are open,
/// else on random ones. `done` and `failed` run on the GUI thread; neither after a cancel.
void prepareModel(Session& session, const std::vector<std::string>& passes, std::function<void(PreparedModel)> done,
    std::function<void(const Issue&)> failed);

/// Writes it in a job and opens it in the place of the float model, with the data and the quantized file that are open.
void saveAndOpen(Session& session, const PreparedModel& prepared, const QString& path);

} // namespace qs
