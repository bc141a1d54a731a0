// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// Each runs one test class and returns the number of failures.
int runFormatting(int argc, char** argv);
int runInspector(int argc, char** argv);
int runModels(int argc, char** argv);
int runRecipeModels(int argc, char** argv);
int runTables(int argc, char** argv);
int runValues(int argc, char** argv);
int runWindowWords(int argc, char** argv);
