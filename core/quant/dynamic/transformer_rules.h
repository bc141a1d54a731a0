// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/qoperator/builder.h"

namespace qs {

/// Attention becomes QAttention, but where its heads have sizes of their own.
Status quantizeAttention(QOperatorBuilder& builder, const DraftNode& node);

} // namespace qs
