// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/analysis/runners.h"

#include <QCoreApplication>

int main(int argc, char** argv)
{
    QCoreApplication app(argc, argv);
    int failures = qs::test::runPairSumsTests(argc, argv);
    failures += qs::test::runNumbersTests(argc, argv);
    failures += qs::test::runFindingsTests(argc, argv);
    failures += qs::test::runIntegerTests(argc, argv);
    failures += qs::test::runNoiseSplitTests(argc, argv);
    failures += qs::test::runPairDetailTests(argc, argv);
    failures += qs::test::runConfirmTests(argc, argv);
    failures += qs::test::runExclusionTests(argc, argv);
    return failures;
}
