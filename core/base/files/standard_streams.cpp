// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace qs {

void keepStandardStreams()
{
    for (const int stream : { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO })
        if (fcntl(stream, F_GETFD) < 0) // the lowest number that is free is given, so it is this one
            [[maybe_unused]]
            const int taken = open("/dev/null", O_RDONLY);
}

} // namespace qs
