// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/quant/runners.h"

#include <QCoreApplication>

int main(int argc, char** argv)
{
    const QCoreApplication app(argc, argv);
    int failures = 0;
    for (const auto run : {
             runCalibrateTests,
             runCalibrationPartsTests,
             runCalibratorsTests,
             runCompleteOverridesTests,
             runCorrectTests,
             runFloat8Tests,
             runLeftInFloatTests,
             runLostScalesTests,
             runOtherwiseMadeTests,
             runPercentileTailsTests,
             runPlacementTests,
             runQuantizerTests,
             runRangeFilesTests,
             runReadBackTests,
             runRecipeTests,
             runRemovedActivationsTests,
             runScaleTests,
             runSplitGemmsTests,
             runWeightOnlyTests,
         })
        failures += run(argc, argv);
    return failures ? 1 : 0;
}
