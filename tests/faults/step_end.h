// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/out_of_memory.h"
#include "core/base/issue_text.h"
#include "core/base/result.h"
#include "core/base/thrown_issue.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>

namespace qs::test {

/// Carries out a step; returns the exit code that the program's commands have, after their sentence on stderr.
inline int endOfStep(const std::function<Status()>& step)
{
    constexpr int kBadInput = 3, kInternal = 5;
    std::signal(SIGXFSZ, SIG_IGN);
    endWhereMemoryEnds(kBadInput);
    Status status;
    try {
        status = step();
    } catch (const std::exception& e) {
        status = issueOfThrown(e);
    }
    if (status.ok())
        return 0;
    std::fprintf(stderr, "error: %s\n", issueText(status.issue()).c_str());
    return status.issue().kind == IssueKind::Internal ? kInternal : kBadInput;
}

} // namespace qs::test
