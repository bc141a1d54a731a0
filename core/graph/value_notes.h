// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/node_origin.h"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace qs {

/// Where a tensor lies that is stored beside the model file; a length of 0: the file says none.
struct ExternalPlace {
    std::string file; ///< as the model names it, in its own folder
    uint64_t offset = 0, length = 0; ///< bytes
};

/// What a file says of the values of its main graph beside what they are, by their names.
struct ValueNotes {
    std::unordered_map<std::string, ExternalPlace> external;
    std::unordered_map<std::string, std::shared_ptr<const Metadata>> metadata;
};

} // namespace qs
