// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace qs {

/// Where the program was started without standard streams, takes their numbers, so that no file that is opened later
/// gets one, and with it what is printed. What is written to them fails as before.
void keepStandardStreams();

} // namespace qs
