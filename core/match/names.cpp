// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/names.h"

namespace qs {

std::vector<std::string> quantizedNames(const std::string& floatName)
{
    std::vector<std::string> names;
    for (const char* suffix : { "_QuantizeLinear_Input", "_QuantizeLinear_Output", "_DequantizeLinear_Output",
             "_quantized", "_QuantizeLinear_Output_1", "_DequantizeLinear_Output_1", "quantized" })
        names.push_back(floatName + suffix);
    return names;
}

} // namespace qs
