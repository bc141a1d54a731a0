// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <immintrin.h>

/// Functions that need hasDotProducts(). Helpers are always inlined so that nothing compiled for this target can be
/// picked by the linker for other callers.
#define QS_DOTS __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define QS_DOTS_INLINE QS_DOTS __attribute__((always_inline)) inline

// GCC's own headers define undefined vectors in a way that it warns about.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
