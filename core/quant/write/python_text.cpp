// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/write/python_text.h"

#include "core/quant/params/float8.h"

#include <nlohmann/json.hpp>

namespace qs {

std::string literal(const RecipeValue& value)
{
    return std::visit(
        []<class T>(const T& v) -> std::string {
            if constexpr (std::is_same_v<T, std::monostate>) {
                return "None";
            } else if constexpr (std::is_same_v<T, bool>) {
                return v ? "True" : "False";
            } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
                std::string text = "[";
                for (const std::string& one : v)
                    text += (text.size() > 1 ? ", " : "") + literal(one);
                return text + "]";
            } else if constexpr (requires { typename T::mapped_type; }) {
                std::string text = "{";
                for (const auto& [name, one] : v)
                    text += literal(name) + ": " + literal(one) + ", ";
                return text + "}";
            } else {
                return nlohmann::json(v).dump(); // texts and numbers of JSON are Python's, too
            }
        },
        value);
}

std::string quantType(DType type)
{
    if (isFloat8(type))
        return "QuantType.QFLOAT8E4M3FN";
    return std::string("QuantType.Q") + (isSigned(type) ? "Int" : "UInt") + std::to_string(dtypeBits(type));
}

std::string numpyType(DType type)
{
    return isFloat8(type) ? "__import__(\"ml_dtypes\").float8_e4m3fn" : "np." + std::string(dtypeName(type));
}

std::string ortLiteral(const RecipeOption& option, const Recipe& recipe)
{
    RecipeValue value = option.value.get(recipe);
    if (option.ort.inverted)
        value = !std::get<bool>(value);
    return literal(value);
}

} // namespace qs
