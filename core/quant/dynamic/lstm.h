// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/qoperator/builder.h"

namespace qs {

/// DynamicQuantizeLSTM: both weights int8, one scale a direction or (per channel) one a gate's row, stored transposed.
Status quantizeLstm(QOperatorBuilder& builder, const DraftNode& node);

} // namespace qs
