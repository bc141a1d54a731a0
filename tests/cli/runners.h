// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// One function a test class of this executable.
namespace qs::test {

int runAnyModelTests(int argc, char** argv);
int runArithmeticTests(int argc, char** argv);
int runBadPromptTests(int argc, char** argv);
int runBadUseTests(int argc, char** argv);
int runBenchTests(int argc, char** argv);
int runCachesTests(int argc, char** argv);
int runCalibrationShardsTests(int argc, char** argv);
int runCompletionTests(int argc, char** argv);
int runConformanceTests(int argc, char** argv);
int runCorrectionsTests(int argc, char** argv);
int runExplainTests(int argc, char** argv);
int runFileTests(int argc, char** argv);
int runGateTests(int argc, char** argv);
int runJudgingTests(int argc, char** argv);
int runLadderTests(int argc, char** argv);
int runLanguageExampleTests(int argc, char** argv);
int runLessonTests(int argc, char** argv);
int runMcpTests(int argc, char** argv);
int runOtherCpuTests(int argc, char** argv);
int runQuantizeTests(int argc, char** argv);
int runRemedyTests(int argc, char** argv);
int runResultsTests(int argc, char** argv);
int runSensitivityTests(int argc, char** argv);
int runSequencesTests(int argc, char** argv);
int runShardsTests(int argc, char** argv);
int runWriterTests(int argc, char** argv);

} // namespace qs::test
