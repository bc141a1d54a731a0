// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// Included before <hwy/highway.h> by every file of ours that uses foreach_target: SSE4 and AVX2 beside the baseline.
/// AVX-512 gains nothing for memory-bound loops and would double the time to compile.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3 | HWY_AVX3_DL)
