// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/onnx/runners.h"

int main(int argc, char** argv)
{
    return runTensorTest(argc, argv) | runExternalDataTest(argc, argv) | runGraphTest(argc, argv)
        | runFunctionTest(argc, argv) | runBadFileTest(argc, argv) | runWireScannerTest(argc, argv)
        | runExportTest(argc, argv) | runNotesTest(argc, argv);
}
