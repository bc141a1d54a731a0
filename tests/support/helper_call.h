// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTest>

/// Calls a test's helper that verifies something itself, and returns when it failed: QVERIFY and its kin leave only the
/// function they stand in.
#define QS_HELPER(...)                                                                                                 \
    do {                                                                                                               \
        __VA_ARGS__;                                                                                                   \
        if (QTest::currentTestFailed())                                                                                \
            return;                                                                                                    \
    } while (false)
