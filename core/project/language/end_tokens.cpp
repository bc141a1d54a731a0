// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/language/end_tokens.h"

#include "core/base/files/json_text.h"
#include "core/base/files/whole_file.h"

#include <filesystem>

namespace qs {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Null where there is none.
Json jsonIn(const fs::path& file)
{
    std::error_code error;
    if (!fs::is_regular_file(file, error))
        return nullptr;
    const auto text = readWholeFile(file.string(), {});
    const auto json = text.ok() ? readJson(*text) : text.issue();
    return json.ok() ? *json : Json(nullptr);
}

/// Null where there is no such member.
Json at(const Json& json, const char* key)
{
    return json.is_object() && json.contains(key) ? json.at(key) : Json(nullptr);
}

/// One id, or a list of them.
std::vector<int64_t> ids(const Json& json)
{
    std::vector<int64_t> list;
    for (const Json& id : json.is_array() ? json : Json::array({ json }))
        if (id.is_number_unsigned())
            list.push_back(id.get<int64_t>());
    return list;
}

std::vector<int64_t> configured(const std::string& model)
{
    return ids(at(at(jsonIn(fs::path(model).parent_path() / "genai_config.json"), "model"), "eos_token_id"));
}

/// Ids that tokenizer.json gives to the token that tokenizer_config.json names.
std::vector<int64_t> named(const fs::path& tokenizer)
{
    const Json word = at(jsonIn(tokenizer.parent_path() / "tokenizer_config.json"), "eos_token");
    const Json text = word.is_object() ? at(word, "content") : word;
    std::vector<int64_t> list;
    if (!text.is_string())
        return list;
    const Json added = at(jsonIn(tokenizer), "added_tokens");
    for (const Json& token : added.is_array() ? added : Json::array())
        if (at(token, "content") == text)
            for (const int64_t id : ids(at(token, "id")))
                list.push_back(id);
    return list;
}

} // namespace

std::vector<int64_t> endTokens(const Snapshot& snapshot, const std::string& tokenizer)
{
    for (const std::string& model : { snapshot.inputs.floatPath, snapshot.inputs.quantPath })
        if (!model.empty())
            if (auto found = configured(model); !found.empty())
                return found;
    return named(!tokenizer.empty() ? fs::path(tokenizer)
                                    : fs::path(snapshot.inputs.floatPath).parent_path() / "tokenizer.json");
}

} // namespace qs
