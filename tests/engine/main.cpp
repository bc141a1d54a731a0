// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCoreApplication>

int runCachesTests(int argc, char** argv);
int runCarryTests(int argc, char** argv);
int runControlTests(int argc, char** argv);
int runElementChainsTests(int argc, char** argv);
int runExecutionTests(int argc, char** argv);
int runIntegerUnitsTests(int argc, char** argv);
int runLowerElementwiseTests(int argc, char** argv);
int runLowerLanguageTests(int argc, char** argv);
int runLowerMlTests(int argc, char** argv);
int runLowerMovementTests(int argc, char** argv);
int runLowerRecurrentTests(int argc, char** argv);
int runLowerStandardTests(int argc, char** argv);
int runMemoryTests(int argc, char** argv);
int runNchwcTests(int argc, char** argv);
int runPairSaturationTests(int argc, char** argv);
int runRowPartsTests(int argc, char** argv);
int runSampleLoopTests(int argc, char** argv);
int runSequenceTests(int argc, char** argv);

int main(int argc, char** argv)
{
    const QCoreApplication app(argc, argv);
    int failures = 0;
    failures += runCachesTests(argc, argv);
    failures += runCarryTests(argc, argv);
    failures += runControlTests(argc, argv);
    failures += runElementChainsTests(argc, argv);
    failures += runExecutionTests(argc, argv);
    failures += runIntegerUnitsTests(argc, argv);
    failures += runLowerElementwiseTests(argc, argv);
    failures += runLowerLanguageTests(argc, argv);
    failures += runLowerMlTests(argc, argv);
    failures += runLowerMovementTests(argc, argv);
    failures += runLowerRecurrentTests(argc, argv);
    failures += runLowerStandardTests(argc, argv);
    failures += runMemoryTests(argc, argv);
    failures += runNchwcTests(argc, argv);
    failures += runPairSaturationTests(argc, argv);
    failures += runRowPartsTests(argc, argv);
    failures += runSampleLoopTests(argc, argv);
    failures += runSequenceTests(argc, argv);
    return failures;
}
