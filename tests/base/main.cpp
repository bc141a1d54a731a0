// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/base/runners.h"

int main(int argc, char** argv)
{
    return runBaseTests(argc, argv) + runFileTests(argc, argv) + runTextTests(argc, argv) ? 1 : 0;
}
