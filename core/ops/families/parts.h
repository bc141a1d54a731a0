// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/ops/op.h"

namespace qs {

// Parts of the family, called by registerMicrosoftOps().
void registerBlockQuantizedOps(OpRegistry&); ///< MatMulNBits, MatMulBnb4, GatherBlockQuantized
void registerMicrosoftAttentionOps(OpRegistry&); ///< embeddings, attentions, RotaryEmbedding

// Called by registerElementwiseOps().
void registerExperimentalOps(OpRegistry&); ///< Affine, Crop, ImageScaler ... of opsets up to 9

} // namespace qs
