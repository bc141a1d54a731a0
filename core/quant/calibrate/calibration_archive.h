// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/byte_stream.h"
#include "core/quant/calibrate/calibration_data.h"

namespace qs {

/// How statistics lie in files. Equal data give equal bytes.
void writeCalibrationData(ByteWriter& out, const CalibrationData& data);
/// What that wrote. The reader fails where there is less than it says; whether lengths and bins fit each other is still
/// to be looked at.
CalibrationData readCalibrationData(ByteReader& in);

} // namespace qs
