// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCoreApplication>

int runElementwiseOpsTests(int argc, char** argv);
int runMovementOpsTests(int argc, char** argv);
int runProductOpsTests(int argc, char** argv);
int runSequenceOpsTests(int argc, char** argv);
int runStandardOpsTests(int argc, char** argv);

int main(int argc, char** argv)
{
    const QCoreApplication app(argc, argv);
    int failures = 0;
    failures += runElementwiseOpsTests(argc, argv);
    failures += runMovementOpsTests(argc, argv);
    failures += runProductOpsTests(argc, argv);
    failures += runSequenceOpsTests(argc, argv);
    failures += runStandardOpsTests(argc, argv);
    return failures;
}
