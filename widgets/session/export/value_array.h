// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/values/tensor_values.h"
#include "widgets/session/session.h"

#include <memory>

namespace qs {

/// Type of an array with these numbers: that of the codes, of the reals where numpy has it, else float32; of
/// differences float64.
DType savedType(const TensorValues& values, ValueKind kind);

/// Writes a slice of a tensor's numbers as a .npy array, in a job: Session::written() or Session::failed().
void saveValues(Session& session, const std::shared_ptr<const TensorValues>& values, ValueKind kind,
    const TensorSlice& slice, const QString& path);

} // namespace qs
