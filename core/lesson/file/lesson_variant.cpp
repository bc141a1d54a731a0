// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/file/lesson_variant.h"

#include "core/base/text/one_line.h"
#include "core/lesson/file/lesson_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace qs {

namespace {

using Parameters = std::map<std::string, LessonValue>;

constexpr size_t kMostParameters = 40, kMostValues = 1000;
constexpr double kMostDraws = 1e6, kLargest = 1e9;
constexpr std::array<std::string_view, 32> kLessonWords { "tensor", "weight", "node", "output", "accuracy", "recipe",
    "element", "float_element", "file", "input", "network", "sensitivity", "largest", "smallest", "finding", "findings",
    "sample", "samples", "before", "code", "true", "false", "and", "or", "not", "min", "max", "abs", "round", "floor",
    "sqrt", "log10" };

bool isParameterName(std::string_view name)
{
    return !name.empty() && name.size() <= 40 && !(name.front() >= '0' && name.front() <= '9')
        && std::ranges::all_of(
            name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

/// SplitMix64, by Sebastiano Vigna, in the public domain.
uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/// 1.15, where adding steps gives 1.1500000000000001.
double shortened(double value)
{
    const std::string text = fmt::format("{:.12g}", value);
    double read = value;
    std::from_chars(text.data(), text.data() + text.size(), read);
    return read;
}

double drawnOfRange(LessonFields& in, uint64_t seed, const std::string& name)
{
    const double from = in.number("from", -kLargest, kLargest, NAN), to = in.number("to", -kLargest, kLargest, NAN);
    const double step = in.number("step", 1e-6, kLargest, 1);
    const double count = std::floor((to - from) / step + 1e-9) + 1;
    if (!(count >= 1 && count <= kMostDraws)) {
        in.fail("to", "leaves no value, or more than a million");
        return from;
    }
    return shortened(from + step * double(drawn(seed, name, uint64_t(count))));
}

/// Which entry of a list: the seed's, or that of "at", which parameters with a common "at" share.
size_t drawnIndex(LessonFields& in, uint64_t seed, const std::string& name, const Parameters& before, size_t count)
{
    const auto at = in.expression("at");
    if (!at)
        return size_t(drawn(seed, name, count));
    const auto index = evaluate(*at, ParameterVocabulary(before));
    const double* number = index.ok() ? std::get_if<double>(&*index) : nullptr;
    if (number && *number >= 0 && *number < double(count) && *number == std::floor(*number))
        return size_t(*number);
    in.fail("at", index.ok() ? "is no whole number from 0 to " + std::to_string(count - 1) : index.issue().what);
    return 0;
}

LessonValue drawnOfList(LessonFields& in, uint64_t seed, const std::string& name, const Parameters& before)
{
    const LessonJson* list = in.list("of", kMostValues);
    if (!list || list->empty()) {
        in.fail("of", "is no list of values");
        return 0.0;
    }
    const LessonJson& value = (*list)[drawnIndex(in, seed, name, before, list->size())];
    if (value.is_number())
        return value.get<double>();
    if (!value.is_string() || value.get_ref<const std::string&>().size() > 200)
        in.fail("of", "holds something that is neither a number nor a short text");
    return value.is_string() ? value.get<std::string>() : std::string();
}

LessonValue drawnValue(LessonFields& in, uint64_t seed, const std::string& name, const Parameters& before)
{
    if (in.has("of"))
        return drawnOfList(in, seed, name, before);
    if (!in.has("expression"))
        return drawnOfRange(in, seed, name);
    const auto value = evaluate(in.neededExpression("expression"), ParameterVocabulary(before));
    if (!value.ok() || std::holds_alternative<bool>(*value)) {
        in.fail("expression", value.ok() ? "is a condition" : value.issue().what);
        return 0.0;
    }
    return *value;
}

std::string plainText(const LessonValue& value)
{
    const double* number = std::get_if<double>(&value);
    return number ? fmt::format("{}", *number) : std::get<std::string>(value);
}

LessonJson jsonOf(const LessonValue& value)
{
    const double* number = std::get_if<double>(&value);
    if (!number)
        return std::get<std::string>(value);
    return *number == std::floor(*number) && std::fabs(*number) < 0x1p53 ? LessonJson(int64_t(*number))
                                                                         : LessonJson(*number);
}

/// The parameter that the whole text is; null where it is anything else.
const LessonValue* wholeParameter(const std::string& text, const Parameters& parameters)
{
    if (text.size() < 3 || text.front() != '{' || text.back() != '}')
        return nullptr;
    const auto found = parameters.find(text.substr(1, text.size() - 2));
    return found == parameters.end() ? nullptr : &found->second;
}

} // namespace

uint64_t drawn(uint64_t seed, std::string_view name, uint64_t count)
{
    uint64_t state = mixed(seed);
    for (const char c : name)
        state = mixed(state ^ uint64_t(static_cast<unsigned char>(c)));
    return state % count;
}

bool isLessonWord(std::string_view name) { return std::ranges::find(kLessonWords, name) != kLessonWords.end(); }

Result<LessonValue> ParameterVocabulary::find(const std::vector<NamedPart>& path) const
{
    const auto found = m_parameters.find(path.front().name);
    if (found != m_parameters.end() && path.size() == 1 && !path.front().called)
        return found->second;
    return NoVocabulary::find(path);
}

Result<std::map<std::string, LessonValue>> drawParameters(const LessonJson& variants, uint64_t seed)
{
    Parameters parameters;
    if (variants.size() > kMostParameters)
        return badInput("key 'variants' has more than 40 parameters");
    for (const auto& [name, json] : variants.items()) {
        const std::string place = "variants: '" + oneLine(name, 60) + "'";
        if (!isParameterName(name) || isLessonWord(name))
            return badInput(place + " is no name of a parameter; use small letters, and no word of expressions");
        std::optional<Issue> issue;
        LessonFields in(json, place, issue);
        const LessonValue value = drawnValue(in, seed, name, parameters);
        in.finish();
        if (issue)
            return *issue;
        parameters.emplace(name, value);
    }
    return parameters;
}

Result<std::string> withParameters(const std::string& text, const Parameters& parameters)
{
    std::string filled;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text.compare(i, 2, "\\{") == 0) {
            filled += text.substr(i++, 2); // taken off where the text is shown
            continue;
        }
        const size_t end = text[i] == '{' ? text.find('}', i) : std::string::npos;
        if (text[i] != '{' || text.compare(i, 2, "{=") == 0) {
            filled += text[i];
            continue;
        }
        const std::string name = end == std::string::npos ? text.substr(i + 1, 40) : text.substr(i + 1, end - i - 1);
        const auto found = parameters.find(name);
        if (end == std::string::npos || found == parameters.end())
            return badInput("'{" + oneLine(name, 40) + "}' names no parameter; write '\\{' for a brace");
        filled += plainText(found->second);
        i = end;
    }
    return filled;
}

Result<LessonJson> withParameters(const LessonJson& json, const Parameters& parameters)
{
    if (json.is_string()) {
        const auto& text = json.get_ref<const std::string&>();
        if (const LessonValue* value = wholeParameter(text, parameters))
            return jsonOf(*value);
        QS_TRY(std::string filled, withParameters(text, parameters));
        return LessonJson(std::move(filled));
    }
    LessonJson filled = json;
    if (json.is_array())
        for (LessonJson& entry : filled) {
            QS_TRY(entry, withParameters(entry, parameters));
        }
    if (json.is_object()) {
        filled = LessonJson::object();
        for (const auto& [key, value] : json.items()) {
            QS_TRY(const std::string name, withParameters(key, parameters));
            QS_TRY(LessonJson inner, withParameters(value, parameters));
            filled[name] = std::move(inner);
        }
    }
    return filled;
}

} // namespace qs
