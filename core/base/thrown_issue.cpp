// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/thrown_issue.h"

#include <filesystem>
#include <new>
#include <system_error>

namespace qs {

Issue issueOfThrown(const std::exception& thrown)
{
    if (dynamic_cast<const std::bad_alloc*>(&thrown))
        return noMemory("there is not enough memory", {}, "use smaller inputs, fewer samples or fewer threads");
    if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&thrown))
        return badInput("cannot be looked at: " + file->code().message(), file->path1().string(), "check the disk");
    if (const auto* refused = dynamic_cast<const std::system_error*>(&thrown))
        return badInput("the system refused: " + refused->code().message(), {}, "close other programs");
    return internalError(std::string("unexpected: ") + thrown.what());
}

} // namespace qs
