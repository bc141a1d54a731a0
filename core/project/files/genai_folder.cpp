// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/files/genai_folder.h"

#include "core/base/files/json_text.h"
#include "core/base/files/whole_file.h"

#include <array>
#include <filesystem>

namespace qs {

namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "genai_config.json";

/// What Hugging Face's tokenizers are stored as.
constexpr std::array<const char*, 8> kTokenizer { "tokenizer.json", "tokenizer_config.json", "tokenizer.model",
    "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt", "chat_template.jinja" };

/// Of the model, as the configuration has it; empty where it cannot be told.
std::string configuredName(const fs::path& config)
{
    const auto text = readWholeFile(config.string(), {});
    const auto json = text.ok() ? readJson(*text) : text.issue();
    if (!json.ok() || !json->is_object())
        return {};
    const nlohmann::ordered_json* at = &*json;
    for (const char* key : { "model", "decoder", "filename" }) {
        if (!at->is_object() || !at->contains(key))
            return {};
        at = &at->at(key);
    }
    return at->is_string() ? at->get<std::string>() : std::string();
}

} // namespace

GenaiFolder genaiFolder(const std::string& floatPath, const std::string& outPath)
{
    GenaiFolder folder;
    std::error_code error;
    const fs::path from = fs::absolute(floatPath, error).parent_path(), to = fs::absolute(outPath, error).parent_path();
    if (!fs::is_regular_file(from / kConfig, error))
        return folder;
    const std::string name = configuredName(from / kConfig), out = fs::path(outPath).filename().string();
    if (!name.empty() && name != out)
        folder.warnings.push_back((from / kConfig).string() + " names the model '" + name
            + "', so onnxruntime-genai runs it under that name alone, not as '" + out + "'");
    if (fs::equivalent(from, to, error))
        return folder;
    const auto add = [&](const char* file) {
        if (fs::is_regular_file(from / file, error) && !fs::exists(to / file, error))
            folder.copies.emplace_back((from / file).string(), (to / file).string());
    };
    add(kConfig);
    for (const char* file : kTokenizer)
        add(file);
    return folder;
}

} // namespace qs
