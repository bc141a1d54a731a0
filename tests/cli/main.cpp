// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/runners.h"

#include <QCoreApplication>

int main(int argc, char** argv)
{
    QCoreApplication app(argc, argv);
    int failures = qs::test::runAnyModelTests(argc, argv);
    failures += qs::test::runArithmeticTests(argc, argv);
    failures += qs::test::runBadPromptTests(argc, argv);
    failures += qs::test::runBadUseTests(argc, argv);
    failures += qs::test::runBenchTests(argc, argv);
    failures += qs::test::runCachesTests(argc, argv);
    failures += qs::test::runCalibrationShardsTests(argc, argv);
    failures += qs::test::runCompletionTests(argc, argv);
    failures += qs::test::runConformanceTests(argc, argv);
    failures += qs::test::runCorrectionsTests(argc, argv);
    failures += qs::test::runExplainTests(argc, argv);
    failures += qs::test::runFileTests(argc, argv);
    failures += qs::test::runGateTests(argc, argv);
    failures += qs::test::runJudgingTests(argc, argv);
    failures += qs::test::runLadderTests(argc, argv);
    failures += qs::test::runLanguageExampleTests(argc, argv);
    failures += qs::test::runLessonTests(argc, argv);
    failures += qs::test::runMcpTests(argc, argv);
    failures += qs::test::runOtherCpuTests(argc, argv);
    failures += qs::test::runQuantizeTests(argc, argv);
    failures += qs::test::runRemedyTests(argc, argv);
    failures += qs::test::runResultsTests(argc, argv);
    failures += qs::test::runSensitivityTests(argc, argv);
    failures += qs::test::runSequencesTests(argc, argv);
    failures += qs::test::runShardsTests(argc, argv);
    failures += qs::test::runWriterTests(argc, argv);
    return failures;
}
