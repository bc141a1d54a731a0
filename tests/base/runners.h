// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// One function a test class of this executable, sorted.
int runBaseTests(int argc, char** argv);
int runFileTests(int argc, char** argv);
int runTextTests(int argc, char** argv);
