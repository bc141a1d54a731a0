// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/runners.h"

#include <QCoreApplication>

#include <initializer_list>

int main(int argc, char** argv)
{
    const QCoreApplication app(argc, argv);
    int failures = 0;
    for (const auto run : {
             runBinsTests,
             runCodeConvTests,
             runConvTests,
             runElementwiseTests,
             runIntegerProductTests,
             runMatmulTests,
             runMovementTests,
             runNormTests,
             runPoolTests,
             runQLinearTests,
             runQuantizeTests,
             runReduceTests,
         })
        failures += run(argc, argv);
    return failures ? 1 : 0;
}
