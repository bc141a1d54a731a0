// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <immintrin.h>

/// Functions that need hasDotProducts(). Helpers are always inlined so that nothing compiled for this target can be
/// picked by the linker for other callers.
#define QS_DOTS __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define QS_DOTS_INLINE QS_DOTS __attribute__((always_inline)) inline

/// sum + left x right, as the intrinsic does it: GCC 12 moves sums between registers and memory around that one.
QS_DOTS_INLINE __m512i addDots(__m512i sum, __m512i left, __m512i right)
{
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right));
    return sum;
}
QS_DOTS_INLINE __m256i addDots(__m256i sum, __m256i left, __m256i right)
{
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right));
    return sum;
}

// GCC's own headers define undefined vectors in a way that it warns about.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
