// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/data_source.h"

#include "core/data/forms.h"

#include <filesystem>

namespace qs {

Result<std::shared_ptr<const DataSource>> openData(const DataRequest& request, const std::vector<InputSpec>& inputs)
{
    if (request.spec.empty())
        return badUse("there are no data", "give --data with a .npz or .npy file, a folder, or random:N");
    if (request.spec.starts_with("random:"))
        return openRandomData(request, inputs);
    std::error_code error;
    const auto kind = std::filesystem::status(request.spec, error).type();
    if (kind == std::filesystem::file_type::not_found)
        return badInput("does not exist", request.spec, "give a .npz or .npy file, a folder, or random:N");
    if (kind != std::filesystem::file_type::directory)
        return openArrayData(request, inputs);
    return isTestDataFolder(request.spec) ? openTestData(request, inputs) : openImageData(request, inputs);
}

} // namespace qs
