// SPDX-License-Identifier: GPL-3.0-or-later
int runEvidenceTests(int argc, char** argv);
int runManualLinksTests(int argc, char** argv);
int runMatchTests(int argc, char** argv);
int runStepsTests(int argc, char** argv);
int runUnitsTests(int argc, char** argv);

int main(int argc, char** argv)
{
    return runEvidenceTests(argc, argv) + runManualLinksTests(argc, argv) + runMatchTests(argc, argv)
        + runStepsTests(argc, argv) + runUnitsTests(argc, argv);
}
