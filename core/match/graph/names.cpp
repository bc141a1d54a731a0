// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/graph/names.h"

#include "core/qdq/name_tails.h"

#include <string_view>

namespace qs {

std::vector<std::string> quantizedNames(const std::string& floatName)
{
    std::vector<std::string> names;
    for (const char* suffix : { tails::kQuantizeInput, tails::kQuantizeOutput, tails::kDequantizeOutput, tails::kCodes,
             "_QuantizeLinear_Output_1", "_DequantizeLinear_Output_1", "quantized" })
        names.push_back(floatName + suffix);
    return names;
}

std::vector<std::string> convertedNames(const std::string& floatName)
{
    constexpr std::string_view kFirstOutput = ":0";
    if (!floatName.ends_with(kFirstOutput))
        return {};
    const std::string tensor = floatName.substr(0, floatName.size() - kFirstOutput.size());
    return { tensor + "_prequant", tensor, tensor + "_dequant" };
}

} // namespace qs
