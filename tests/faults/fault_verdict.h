// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/faults/disturbed_run.h"
#include "tests/faults/scripted_session.h"

namespace qs::test {

/// A run, and what is in its folder afterwards.
struct Ended {
    Ending ending;
    Files files;
};

/// Of a folder without folders.
Files filesIn(const std::filesystem::path& folder);
/// Without what tells the time and the memory that it took, and what files take, which may be unknown.
std::string masked(const std::string& name, const std::string& content);

/// What is wrong with a disturbed run beside the undisturbed one; "" when it gave the right result, or one sentence and
/// no half results.
std::string fault(const Step& step, const Ended& right, const Ended& disturbed, Fault kind);
/// Names of files that are neither old nor new.
std::vector<std::string> litter(const Step& step, const Ended& right, const Files& files);

} // namespace qs::test
