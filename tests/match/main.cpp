// SPDX-License-Identifier: GPL-3.0-or-later
int runManualLinksTests(int argc, char** argv);
int runMatchTests(int argc, char** argv);

int main(int argc, char** argv) { return runManualLinksTests(argc, argv) + runMatchTests(argc, argv); }
