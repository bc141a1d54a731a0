// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/tokens/token_words.h"

#include "core/base/files/json_text.h"
#include "core/base/text/utf8.h"
#include "core/data/tokens/text_steps.h"
#include "core/data/tokens/tokenizer_file.h"

#include <charconv>
#include <functional>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;
using Spelling = std::function<std::string(const std::string& token)>;

constexpr uint64_t kMostTokens = 1 << 22;

/// A step of this type is the part, or among its own parts.
bool holds(const Json& part, const std::string& type)
{
    if (!part.is_object())
        return false;
    if (part.value("type", std::string()) == type)
        return true;
    for (const char* parts : { "decoders", "pretokenizers" })
        if (const auto list = part.find(parts); list != part.end() && list->is_array())
            for (const Json& one : *list)
                if (holds(one, type))
                    return true;
    return false;
}

std::string replacedAll(std::string text, std::string_view what, std::string_view with)
{
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    return text;
}

/// Of tokens that are written with a visible character for each byte.
std::string bytesOf(const std::string& token)
{
    static const std::unordered_map<std::string, char> kBytes = [] {
        std::unordered_map<std::string, char> bytes;
        for (int byte = 0; byte < 256; ++byte)
            bytes.emplace(visibleBytes(std::string(1, char(byte))), char(byte));
        return bytes;
    }();
    std::string text;
    forEachCharacter(token, [&](const Utf8Character& c) {
        const auto byte = kBytes.find(std::string(c.bytes));
        text += byte == kBytes.end() ? std::string(c.bytes) : std::string(1, byte->second);
    });
    return text;
}

/// "<0x0A>" is a byte, "▁" the blank before a word.
std::string plainWord(const std::string& token)
{
    if (token.size() == 6 && token.starts_with("<0x") && token.back() == '>') {
        unsigned value = 0;
        const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
        if (error == std::errc() && end == token.data() + 5)
            return std::string(1, char(value));
    }
    return replacedAll(token, "\u2581", " ");
}

Spelling spellingOf(const Json& json)
{
    const Json decoder = json.value("decoder", Json()), cut = json.value("pre_tokenizer", Json());
    if (holds(decoder, "ByteLevel") || holds(cut, "ByteLevel"))
        return bytesOf;
    const Json& model = json.at("model");
    if (model.value("type", std::string()) != "WordPiece")
        return plainWord;
    return [prefix = model.value("continuing_subword_prefix", std::string("##"))](const std::string& token) {
        return token.starts_with(prefix) ? token.substr(prefix.size()) : " " + token;
    };
}

std::vector<std::string> wordsOf(const Json& json)
{
    std::vector<std::string> words;
    const auto put = [&](uint64_t id, std::string word) {
        if (id >= kMostTokens)
            return;
        words.resize(std::max<size_t>(words.size(), id + 1));
        words[id] = std::move(word);
    };
    const Spelling spelling = spellingOf(json);
    const Json& vocabulary = json.at("model").at("vocab");
    if (vocabulary.is_array()) // of scores: [word, score]
        for (uint64_t id = 0; id < vocabulary.size(); ++id)
            put(id, spelling(vocabulary[id].at(0).get<std::string>()));
    else
        for (const auto& [token, id] : vocabulary.items())
            put(naturalOf(id), spelling(token));
    for (const Json& token : json.value("added_tokens", Json::array()))
        put(naturalOf(token.at("id")), token.at("content").get<std::string>());
    return words;
}

} // namespace

Result<TokenWords> TokenWords::read(const std::string& path)
{
    TokenWords words;
    QS_CHECK(readTokenizerFile(path, [&](const Json& json) -> Status {
        words.m_words = wordsOf(json);
        return {};
    }));
    return words;
}

const std::string& TokenWords::word(int64_t id) const
{
    static const std::string kNone;
    return id >= 0 && size_t(id) < m_words.size() ? m_words[size_t(id)] : kNone;
}

std::string TokenWords::text(const std::vector<int64_t>& ids) const
{
    std::string all;
    for (const int64_t id : ids)
        all += word(id);
    return all;
}

} // namespace qs
