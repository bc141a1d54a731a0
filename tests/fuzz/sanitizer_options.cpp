// SPDX-License-Identifier: GPL-3.0-or-later
// AddressSanitizer keeps 256 MB of what was given back: less of it, so that what a run takes can be measured.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=16"; }
