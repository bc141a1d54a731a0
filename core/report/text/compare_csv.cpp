// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/report.h"

#include "core/base/text/one_line.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::pair<std::string, Json>>;

/// The scalar keys of a row; those of nested objects with a dot, lists left out.
void flatten(const Json& object, const std::string& prefix, Row& out)
{
    for (const auto& [key, value] : object.items()) {
        if (value.is_object())
            flatten(value, prefix + key + ".", out);
        else if (value.is_null() && key == "implementation") // its keys keep their columns
            for (const char* part : { "off_by_one", "beyond" })
                out.emplace_back(prefix + key + "." + part, nullptr);
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

} // namespace

std::string compareCsv(const Snapshot& snapshot)
{
    const Json document = Json::parse(compareJson(snapshot, {}));
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

} // namespace qs
