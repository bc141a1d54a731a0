// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <sys/types.h>

namespace qs {

/// A file with a name of its own beside those that are to be written. It is locked for as long as it is open, so that
/// what dead processes left can be told from what is still being written.
struct Neighbour {
    int fd = -1; ///< -1: it could not be made, see errno
    std::string path;
};

/// Its name begins with a dot and does not grow with any other name. What dead processes left in the folder goes first.
Neighbour makeNeighbour(const std::string& folder, mode_t mode);

/// The same without a name: gone with the process. -1: see errno.
int makeUnnamedFile(const std::string& folder);

} // namespace qs
