// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

int runCalibrateTests(int argc, char** argv);
int runCalibrationPartsTests(int argc, char** argv);
int runCalibratorsTests(int argc, char** argv);
int runCompleteOverridesTests(int argc, char** argv);
int runCorrectTests(int argc, char** argv);
int runFloat8Tests(int argc, char** argv);
int runLeftInFloatTests(int argc, char** argv);
int runLostScalesTests(int argc, char** argv);
int runOtherwiseMadeTests(int argc, char** argv);
int runPercentileTailsTests(int argc, char** argv);
int runPlacementTests(int argc, char** argv);
int runQuantizerTests(int argc, char** argv);
int runRangeFilesTests(int argc, char** argv);
int runReadBackTests(int argc, char** argv);
int runRecipeTests(int argc, char** argv);
int runRemovedActivationsTests(int argc, char** argv);
int runScaleTests(int argc, char** argv);
int runSplitGemmsTests(int argc, char** argv);
int runWeightOnlyTests(int argc, char** argv);
