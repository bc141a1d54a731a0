// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/json_text.h"
#include "core/quant/ranges/range_formats.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using json = nlohmann::ordered_json;

/// Python writes NaN, Infinity and -Infinity, which JSON does not know: they become strings.
std::string withoutPythonNumbers(std::string_view text)
{
    std::string result;
    bool inString = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inString && c == '\\' && i + 1 < text.size()) {
            result += c;
            result += text[++i];
            continue;
        }
        if (c == '"')
            inString = !inString;
        bool replaced = false;
        for (const std::string_view word : { "NaN", "-Infinity", "Infinity" })
            if (!inString && !replaced && text.substr(i).starts_with(word)) {
                result += '"' + std::string(word) + '"';
                i += word.size() - 1;
                replaced = true;
            }
        if (!replaced)
            result += c;
    }
    return result;
}

std::optional<double> numberOf(const json& value)
{
    if (value.is_number())
        return value.get<double>();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (value == "Infinity")
        return infinity;
    if (value == "-Infinity")
        return -infinity;
    if (value == "NaN")
        return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
}

/// One number of a TensorData: plain, or a NumPy array of one element.
struct Scalar {
    double value = 0;
    DType dtype = DType::Float32;
    Shape shape;
};

std::optional<Scalar> scalarOf(const json& value)
{
    Scalar scalar;
    const json* data = &value;
    if (value.is_object()) {
        if (!value.contains("data") || !value.contains("dtype"))
            return std::nullopt;
        data = &value["data"];
        if (value["dtype"] == "float16")
            scalar.dtype = DType::Float16;
        else if (value["dtype"] != "float32")
            return std::nullopt;
    }
    for (; data->is_array(); data = &data->front()) {
        if (data->size() != 1)
            return std::nullopt;
        scalar.shape.push_back(1);
    }
    const auto number = numberOf(*data);
    if (!number)
        return std::nullopt;
    scalar.value = *number;
    return scalar;
}

Result<TensorRange> tensorRange(const std::string& name, const json& entry, const std::string& path)
{
    auto wrong = [&](const std::string& what) {
        return Issue { IssueKind::BadInput, what, path, {}, name, "calibrate again to write the file anew" };
    };
    auto number = [&](const char* key) { return entry.contains(key) ? scalarOf(entry[key]) : std::nullopt; };
    if (!entry.is_object())
        return wrong("the calibration cache has no range for this tensor");
    const auto lowest = number("lowest"), highest = number("highest");
    if (!lowest || !highest)
        return wrong("the calibration cache has no numbers 'lowest' and 'highest' of one float each for this tensor");
    // The extremes of a tensor that has no elements (an absent roi of Resize) are those of nothing.
    const bool empty
        = std::isinf(lowest->value) && lowest->value > 0 && std::isinf(highest->value) && highest->value < 0;
    if (empty)
        return TensorRange { lowest->dtype, 0, 0, lowest->shape, {}, {} };
    if (std::isnan(lowest->value) || std::isnan(highest->value) || lowest->value > highest->value)
        return wrong("the calibration cache has the impossible range " + pythonFloat(lowest->value) + " to "
            + pythonFloat(highest->value));
    TensorRange range;
    range.dtype = lowest->dtype;
    range.shape = lowest->shape;
    range.lowest = static_cast<float>(lowest->value);
    range.highest = static_cast<float>(highest->value);
    if (const auto average = number("avg"))
        range.average = static_cast<float>(average->value);
    if (const auto deviation = number("std"))
        range.deviation = static_cast<float>(deviation->value);
    return range;
}

std::optional<Calibrator> methodOf(const json& value)
{
    const std::string text = value.is_object() && value.contains("value") && value["value"].is_string()
        ? value["value"].get<std::string>()
        : std::string();
    const std::string name = text.substr(text.rfind('.') + 1);
    if (name == "MinMax")
        return Calibrator::MinMax;
    if (name == "Entropy")
        return Calibrator::Entropy;
    if (name == "Percentile")
        return Calibrator::Percentile;
    return name == "Distribution" ? std::optional(Calibrator::Distribution) : std::nullopt;
}

/// ONNX Runtime knows four; ranges of the others are ranges all the same.
const char* pythonMethod(Calibrator calibrator)
{
    switch (calibrator) {
    case Calibrator::Percentile:
        return "Percentile";
    case Calibrator::Entropy:
        return "Entropy";
    case Calibrator::Distribution:
        return "Distribution";
    default:
        return "MinMax";
    }
}

std::string arrayText(float value, const TensorRange& range)
{
    std::string number = pythonFloat(value);
    for (size_t i = 0; i < range.shape.size(); ++i)
        number = "[" + number + "]";
    return R"({"data": )" + number + R"(, "dtype": ")" + std::string(dtypeName(range.dtype))
        + R"(", "CLS": "numpy.array"})";
}

std::string quoted(const std::string& text) { return json(text).dump(-1, ' ', true, json::error_handler_t::replace); }

} // namespace

std::string pythonFloat(double value)
{
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value < 0 ? "-Infinity" : "Infinity";
    const double magnitude = std::fabs(value);
    const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
    std::array<char, 64> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
        plain ? std::chars_format::fixed : std::chars_format::scientific);
    std::string result(text.data(), end.ptr);
    if (plain && result.find('.') == std::string::npos)
        result += ".0";
    return result;
}

Result<Ranges> rangesFromJson(std::string_view text, const std::string& path)
{
    const char* remedy = "give a file that ONNX Runtime's calibration_cache_path or --save-ranges wrote";
    const auto read = readJson(withoutPythonNumbers(text));
    if (!read)
        return badInput("is no calibration cache: it " + read.issue().what, path, remedy);
    const json& document = *read;
    if (!document.is_object() || !document.contains("data") || !document["data"].is_object())
        return badInput("is no calibration cache: it has no object 'data'", path, remedy);
    Ranges ranges;
    const auto calibrator
        = document.contains("calibration_method") ? methodOf(document["calibration_method"]) : std::nullopt;
    if (!calibrator)
        return badInput("is a calibration cache without a known calibration method", path, remedy);
    ranges.calibrator = *calibrator;
    ranges.smoothQuant = document.contains("smooth_quant") && document["smooth_quant"] == true;
    for (const auto& [name, entry] : document["data"].items()) {
        QS_TRY(TensorRange range, tensorRange(name, entry, path));
        ranges.tensors.emplace(name, std::move(range));
    }
    return ranges;
}

std::string rangesToJson(const Ranges& ranges)
{
    std::string text = R"({"CLS": "TensorsData", "data": {)";
    const char* separator = "";
    for (const auto& [name, range] : ranges.tensors) {
        text += separator + quoted(name) + ": {";
        if (range.average && range.deviation)
            text += R"("avg": )" + arrayText(*range.average, range) + R"(, "std": )"
                + arrayText(*range.deviation, range) + ", ";
        text += R"("lowest": )" + arrayText(range.lowest, range) + R"(, "highest": )" + arrayText(range.highest, range)
            + R"(, "CLS": "TensorData"})";
        separator = ", ";
    }
    text += R"(}, "calibration_method": {"CLS": "CalibrationMethod", "value": "CalibrationMethod.)";
    text += pythonMethod(ranges.calibrator);
    text += R"("}, "smooth_quant": )";
    return text + (ranges.smoothQuant ? "true}" : "false}");
}

} // namespace qs
