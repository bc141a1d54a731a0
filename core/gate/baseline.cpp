// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gate/baseline.h"

#include "core/base/files/json_text.h"
#include "core/base/files/regular_file.h"

#include <cmath>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRemedy = "make it with `compare FLOAT QUANTIZED --data D --json FILE`";

/// Nothing where the document is not as `compare --json` writes it.
std::optional<std::vector<BaselineRow>> rowsOf(const Json& document, const char* key)
{
    const auto list = document.find(key);
    if (list == document.end() || !list->is_array())
        return std::nullopt;
    std::vector<BaselineRow> rows;
    for (const Json& item : *list) {
        if (!item.is_object() || !item.contains("name") || !item["name"].is_string() || !item.contains("sqnr_db"))
            return std::nullopt;
        const Json& sqnr = item["sqnr_db"];
        const bool exact = item.contains("exact") && item["exact"].is_boolean() && item["exact"].get<bool>();
        if (!sqnr.is_number() && !sqnr.is_null())
            return std::nullopt;
        rows.push_back(
            { item["name"].get<std::string>(), sqnr.is_null() ? Number() : Number(sqnr.get<double>()), exact });
    }
    return rows;
}

std::optional<Baseline> baselineOf(const Json& document)
{
    if (!document.is_object() || document.value("schema_version", Json()) != 1)
        return std::nullopt;
    auto outputs = rowsOf(document, "outputs"), activations = rowsOf(document, "activations"),
         weights = rowsOf(document, "weights");
    const Json arithmetic = document.value("arithmetic", Json()), samples = document.value("samples", Json());
    if (!outputs || outputs->empty() || !activations || !weights || !arithmetic.is_string()
        || !samples.is_number_unsigned())
        return std::nullopt;
    return Baseline { arithmetic.get<std::string>(), naturalOf(samples), std::move(*outputs), std::move(*activations),
        std::move(*weights) };
}

} // namespace

Result<std::string> readBounded(const std::string& path, uint64_t most)
{
    QS_TRY(const RegularFile file, RegularFile::open(path));
    if (file.size() > most)
        return badInput("is longer than " + std::to_string(most) + " bytes", path, "give another file");
    std::string bytes(static_cast<size_t>(file.size()), '\0');
    if (!file.read(0, std::as_writable_bytes(std::span(bytes))))
        return badInput("cannot be read to its end", path, "look at the disk");
    return bytes;
}

Result<Baseline> readBaseline(const std::string& path)
{
    const auto text = readBounded(path, JsonLimits().bytes);
    if (!text)
        return badInput("the baseline " + text.issue().what, path, kRemedy);
    const auto document = readJson(*text);
    if (!document)
        return badInput("the baseline " + document.issue().what, path, kRemedy);
    if (auto baseline = baselineOf(*document))
        return std::move(*baseline);
    return badInput("the baseline is no result of `compare --json`", path, kRemedy);
}

} // namespace qs
