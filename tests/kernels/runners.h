// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// One function a test class of this executable, sorted.
int runBinsTests(int argc, char** argv);
int runBlockCodesTests(int argc, char** argv);
int runCodeConvTests(int argc, char** argv);
int runConvTests(int argc, char** argv);
int runEdgeBinsTests(int argc, char** argv);
int runElementwiseTests(int argc, char** argv);
int runIntegerProductTests(int argc, char** argv);
int runLanguageTests(int argc, char** argv);
int runMatmulTests(int argc, char** argv);
int runMovementTests(int argc, char** argv);
int runNormTests(int argc, char** argv);
int runPairSaturationTests(int argc, char** argv);
int runPoolTests(int argc, char** argv);
int runQLinearTests(int argc, char** argv);
int runQuantizeTests(int argc, char** argv);
int runRecurrentTests(int argc, char** argv);
int runReduceTests(int argc, char** argv);
int runRowConvTests(int argc, char** argv);
int runSignalTests(int argc, char** argv);
int runVisionTests(int argc, char** argv);
