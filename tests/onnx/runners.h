// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// One function a test class of this executable.
int runTensorTest(int argc, char** argv);
int runExternalDataTest(int argc, char** argv);
int runGraphTest(int argc, char** argv);
int runFunctionTest(int argc, char** argv);
int runBadFileTest(int argc, char** argv);
int runWireScannerTest(int argc, char** argv);
int runExportTest(int argc, char** argv);
int runNotesTest(int argc, char** argv);
