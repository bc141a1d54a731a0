// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/ranges/range_files.h"

#include "core/base/files/whole_file.h"
#include "core/quant/ranges/range_formats.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace qs {

namespace {

constexpr std::string_view kBlank = " \t\r\n";

/// A table's number is the reach on both sides of zero.
Status addReach(Ranges& ranges, const std::string& name, double reach, const std::string& path)
{
    if (!std::isfinite(reach))
        return Issue { IssueKind::BadInput, "the calibration table has no finite number for this tensor", path, {},
            name, "calibrate again to write the table anew" };
    TensorRange range;
    range.highest = static_cast<float>(std::fabs(reach));
    range.lowest = -range.highest;
    ranges.tensors.insert_or_assign(name, range);
    return {};
}

std::optional<double> parseDouble(std::string_view text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string_view trimmed(std::string_view text)
{
    const size_t first = text.find_first_not_of(kBlank);
    return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// TensorRT's own table has a first line such as "TRT-8601-EntropyCalibration2" and lines "name: 3c010a14", the bits of
/// a float, the width of one of 127 steps.
std::optional<double> tensorRtReach(std::string_view hex)
{
    uint32_t bits = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
    if (error != std::errc() || end != hex.data() + hex.size() || hex.empty())
        return std::nullopt;
    return std::bit_cast<float>(bits) * 127.0f;
}

Result<Ranges> rangesFromText(std::string_view text, const std::string& path)
{
    Ranges ranges;
    const bool tensorRt = text.starts_with("TRT-");
    size_t number = 0;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (line.empty() || (tensorRt && number == 1))
            continue;
        const size_t cut = line.rfind(tensorRt ? ':' : ' ');
        const std::string_view value = cut == line.npos ? std::string_view() : trimmed(line.substr(cut + 1));
        const auto reach = tensorRt ? tensorRtReach(value) : parseDouble(value);
        if (!reach || cut == 0 || cut == line.npos)
            return badInput("line " + std::to_string(number) + " is not a tensor's name and a number", path,
                "give a calibration cache of ONNX Runtime, a calibration table, or a file of --save-ranges");
        QS_CHECK(addReach(ranges, std::string(line.substr(0, cut)), *reach, path));
    }
    return ranges;
}

Result<Ranges> rangesFromFlatTable(std::string_view bytes, const std::string& path)
{
    Ranges ranges;
    QS_TRY(const TextPairs pairs, readFlatTable(bytes, path));
    for (const auto& [name, text] : pairs) {
        const auto reach = parseDouble(text);
        QS_CHECK(addReach(ranges, name, reach.value_or(std::nan("")), path));
    }
    return ranges;
}

/// What a table holds of each tensor: the larger end, not the larger magnitude.
TextPairs tableOf(const Ranges& ranges)
{
    TextPairs pairs;
    for (const auto& [name, range] : ranges.tensors)
        pairs.emplace_back(name, pythonFloat(std::max(range.highest, range.lowest)));
    return pairs;
}

} // namespace

std::string_view rangeFormatText(RangeFormat format)
{
    switch (format) {
    case RangeFormat::Json:
        return "ONNX Runtime's calibration cache (JSON)";
    case RangeFormat::FlatBuffers:
        return "calibration.flatbuffers, which ONNX Runtime's TensorRT provider reads";
    case RangeFormat::Text:
        return "a calibration table (text, the upper ends alone)";
    }
    return {};
}

RangeFormat rangeFormatOf(std::string_view path)
{
    if (path.ends_with(".flatbuffers"))
        return RangeFormat::FlatBuffers;
    return path.ends_with(".cache") ? RangeFormat::Text : RangeFormat::Json;
}

Result<Ranges> parseRanges(std::string_view bytes, const std::string& path)
{
    const std::string_view text = trimmed(bytes);
    if (text.empty())
        return badInput("is empty", path, "give a calibration cache or a calibration table");
    if (text.front() == '{')
        return rangesFromJson(text, path);
    if (bytes.find('\0') != bytes.npos)
        return rangesFromFlatTable(bytes, path);
    return rangesFromText(text, path);
}

Result<Ranges> readRanges(const std::string& path)
{
    QS_TRY(const std::string bytes, readWholeFile(path, "give a readable file with ranges"));
    return parseRanges(bytes, path);
}

Result<std::string> formatRanges(const Ranges& ranges, RangeFormat format)
{
    if (format == RangeFormat::Json)
        return rangesToJson(ranges);
    const TextPairs pairs = tableOf(ranges);
    if (format == RangeFormat::FlatBuffers)
        return writeFlatTable(pairs);
    std::string text;
    for (const auto& [name, value] : pairs) {
        if (name.find('\n') != name.npos)
            return Issue { IssueKind::BadInput, "a text table cannot hold a name with a line break", {}, {}, name,
                "write a .json file" };
        text += name + ' ' + value + '\n';
    }
    return text;
}

} // namespace qs
