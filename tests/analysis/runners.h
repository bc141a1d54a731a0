// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// One function a test class of this executable.
namespace qs::test {

int runPairSumsTests(int argc, char** argv);
int runNumbersTests(int argc, char** argv);
int runFindingsTests(int argc, char** argv);
int runIntegerTests(int argc, char** argv);
int runNoiseSplitTests(int argc, char** argv);
int runPairDetailTests(int argc, char** argv);
int runConfirmTests(int argc, char** argv);
int runExclusionTests(int argc, char** argv);

} // namespace qs::test
