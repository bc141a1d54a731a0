// SPDX-License-Identifier: GPL-3.0-or-later
int runOperatorFormsTests(int argc, char** argv);
int runQuantViewTests(int argc, char** argv);

int main(int argc, char** argv) { return runOperatorFormsTests(argc, argv) + runQuantViewTests(argc, argv); }
