// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/conformance/known_failures.h"

#include <fstream>

namespace qs {

std::map<std::string, std::string> knownFailures()
{
    std::ifstream file(QS_SOURCE_DIR "/tests/conformance/known.txt");
    std::map<std::string, std::string> reasons;
    for (std::string line; std::getline(file, line);) {
        const size_t space = line.find(' ');
        if (!line.empty() && line[0] != '#')
            reasons[line.substr(0, space)] = space == std::string::npos ? "" : line.substr(space + 1);
    }
    return reasons;
}

} // namespace qs
