// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/fuzz/cost_watch.h"

#include <QString>
#include <QtGlobal>

/// What long series of random trials share.
namespace qs::test {

/// A number of the environment.
inline unsigned setting(const char* name, unsigned fallback)
{
    bool ok = false;
    const unsigned value = qEnvironmentVariable(name).toUInt(&ok);
    return ok ? value : fallback;
}

/// Qt ends functions of tests after five minutes, and asks debuggers what they were doing.
inline const bool kUnhurried
    = qputenv("QTEST_FUNCTION_TIMEOUT", "2000000000") && qputenv("QTEST_DISABLE_STACK_DUMP", "1");

} // namespace qs::test
