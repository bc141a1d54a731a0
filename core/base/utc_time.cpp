// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/utc_time.h"

#include <ctime>

namespace qs {

std::string utcTime()
{
    const std::time_t seconds = std::time(nullptr);
    std::tm parts {};
    gmtime_r(&seconds, &parts);
    char text[32];
    return { text, std::strftime(text, sizeof text, "%FT%T", &parts) };
}

} // namespace qs
