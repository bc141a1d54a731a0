// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/weight_columns.h"

#include "core/base/text/one_line.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::pair<std::string, Json>>;

/// Objects that a row may not have, and their scalar keys.
struct NamedKeys {
    std::string_view name;
    std::vector<std::string_view> keys;
};
const NamedKeys kObjects[] { { "implementation", { "off_by_one", "beyond" } },
    { "laboratory", { "outlier_share", "bulk_range", "equalized.range_ratio" } }, { "equalized", { "range_ratio" } } };

/// The scalar keys of a row; those of nested objects with a dot, lists left out.
void flatten(const Json& from, const std::string& prefix, Row& out)
{
    for (const auto& [key, value] : from.items()) {
        const auto object = std::ranges::find(kObjects, key, &NamedKeys::name);
        if (value.is_object())
            flatten(value, prefix + key + ".", out);
        else if (value.is_null() && object != std::end(kObjects)) // its keys keep their columns
            for (const std::string_view part : object->keys)
                out.emplace_back(prefix + key + "." + std::string(part), nullptr);
        else if (!value.is_array())
            out.emplace_back(prefix + key, value);
    }
}

std::string cell(const Json& value)
{
    if (value.is_null())
        return {};
    if (!value.is_string())
        return value.dump();
    std::string text = visible(value.get<std::string>());
    // A spreadsheet would compute what begins like a formula.
    if (text.find_first_of("=+-@\t") == 0)
        text.insert(0, 1, '\'');
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string csvOf(const Json& document)
{
    std::vector<Row> rows;
    for (const auto& [list, kind] :
        { std::pair { "outputs", "output" }, { "activations", "activation" }, { "weights", "weight" } })
        for (const Json& object : document[list]) {
            Row row { { "kind", kind } };
            flatten(object, "", row);
            rows.push_back(std::move(row));
        }
    std::vector<std::string> columns { "kind" };
    for (const Row& row : rows)
        for (const auto& [key, value] : row)
            if (std::find(columns.begin(), columns.end(), key) == columns.end())
                columns.push_back(key);
    std::string out;
    const auto addLine = [&](const auto& cellOf) {
        for (size_t i = 0; i < columns.size(); ++i)
            out += (i ? "," : "") + cellOf(columns[i]);
        out += "\r\n";
    };
    addLine([](const std::string& column) { return cell(Json(column)); });
    for (const Row& row : rows)
        addLine([&](const std::string& column) {
            const auto it
                = std::find_if(row.begin(), row.end(), [&](const auto& entry) { return entry.first == column; });
            return it == row.end() ? std::string() : cell(it->second);
        });
    return out;
}

} // namespace

std::string compareCsv(const Snapshot& snapshot) { return csvOf(Json::parse(compareJson(snapshot, {}))); }

std::string compareCsv(const Snapshot& snapshot, const WeightLaboratory& laboratory)
{
    ReportInfo info;
    info.laboratory = &laboratory;
    return csvOf(Json::parse(compareJson(snapshot, info)));
}

} // namespace qs
