// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/runners.h"

#include <QCoreApplication>

#include <cstring>
#include <initializer_list>

/// `test_kernels integer ...`: only what gives equal bits on every CPU, for emulated ones.
int main(int argc, char** argv)
{
    const QCoreApplication app(argc, argv);
    int failures = 0;
    if (argc > 1 && std::strcmp(argv[1], "integer") == 0) {
        argv[1] = argv[0];
        for (const auto run :
            { runBlockCodesTests, runCodeConvTests, runIntegerProductTests, runPairSaturationTests, runQLinearTests })
            failures += run(argc - 1, argv + 1);
        return failures ? 1 : 0;
    }
    for (const auto run : {
             runBinsTests,
             runBlockCodesTests,
             runCodeConvTests,
             runConvTests,
             runEdgeBinsTests,
             runElementwiseTests,
             runIntegerProductTests,
             runLanguageTests,
             runMatmulTests,
             runMovementTests,
             runNormTests,
             runPairSaturationTests,
             runPoolTests,
             runQLinearTests,
             runQuantizeTests,
             runRecurrentTests,
             runReduceTests,
             runRowConvTests,
             runSignalTests,
             runVisionTests,
         })
        failures += run(argc, argv);
    return failures ? 1 : 0;
}
