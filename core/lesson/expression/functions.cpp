// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/expression/functions.h"

#include "core/base/rounding.h"
#include "core/quant/recipe/recipe.h"
#include "core/tensor/dtype.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace qs {

namespace {

using Numbers = std::span<const double>;

struct Function {
    std::string_view name;
    size_t least, most; ///< arguments
    double (*compute)(Numbers);
};

constexpr size_t kMany = 20;

const Function kFunctions[] {
    { "min", 1, kMany, [](Numbers x) { return *std::ranges::min_element(x); } },
    { "max", 1, kMany, [](Numbers x) { return *std::ranges::max_element(x); } },
    { "abs", 1, 1, [](Numbers x) { return std::fabs(x[0]); } },
    { "round", 1, 1, [](Numbers x) { return roundHalfEven(x[0]); } },
    { "floor", 1, 1, [](Numbers x) { return std::floor(x[0]); } },
    { "sqrt", 1, 1, [](Numbers x) { return std::sqrt(x[0]); } },
    { "log10", 1, 1, [](Numbers x) { return std::log10(x[0]); } },
};

Issue wrongArguments(const NamedPart& call, const std::string& wanted)
{
    return badInput(call.name + "() takes " + wanted + ", " + placeText(call.position));
}

Result<LessonValue> codeOf(const NamedPart& call)
{
    const auto* type = call.arguments.size() == 4 ? std::get_if<std::string>(&call.arguments[3]) : nullptr;
    const auto dtype = type ? valueIn(kCodeTypes, *type) : std::nullopt;
    const auto range = dtype ? codeRange(*dtype) : std::nullopt;
    if (!range || !std::all_of(call.arguments.begin(), call.arguments.end() - 1, [](const LessonValue& v) {
            return std::holds_alternative<double>(v);
        }))
        return wrongArguments(call, "a value, a scale, a zero point and an integer type such as \"uint8\"");
    const double scale = std::get<double>(call.arguments[1]), zero = std::get<double>(call.arguments[2]);
    if (!(scale > 0) || zero != std::floor(zero) || std::fabs(zero) > 65535)
        return wrongArguments(call, "a scale above 0 and a whole zero point");
    return LessonValue(double(quantizeOne(float(std::get<double>(call.arguments[0])), float(scale), int32_t(zero),
        int32_t(range->low), int32_t(range->high))));
}

} // namespace

std::optional<Result<LessonValue>> callFunction(const NamedPart& call)
{
    if (call.name == "code")
        return codeOf(call);
    const auto* const function = std::ranges::find(kFunctions, call.name, &Function::name);
    if (function == std::end(kFunctions))
        return std::nullopt;
    std::vector<double> numbers;
    for (const LessonValue& argument : call.arguments)
        if (const double* number = std::get_if<double>(&argument))
            numbers.push_back(*number);
    if (numbers.size() != call.arguments.size() || numbers.size() < function->least || numbers.size() > function->most)
        return wrongArguments(call, function->most == 1 ? "one number" : "1 to 20 numbers");
    const double value = function->compute(numbers);
    if (!std::isfinite(value))
        return badInput(call.name + "() gives no number " + placeText(call.position));
    return LessonValue(value);
}

} // namespace qs
