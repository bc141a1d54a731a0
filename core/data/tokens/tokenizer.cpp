// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/tokens/tokenizer.h"

#include "core/base/files/json_text.h"
#include "core/data/tokens/tokenizer_file.h"

#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

int32_t tokenId(const Json& id) { return int32_t(std::min<uint64_t>(naturalOf(id), INT32_MAX)); }

/// What a post-processor puts around a single text.
TokensAround tokensAround(const Json& json)
{
    TokensAround ids;
    if (json.is_null())
        return ids;
    const std::string type = json.at("type").get<std::string>();
    if (type == "Sequence") {
        for (const Json& part : json.at("processors")) {
            const TokensAround more = tokensAround(part);
            ids.before.insert(ids.before.begin(), more.before.begin(), more.before.end());
            ids.after.insert(ids.after.end(), more.after.begin(), more.after.end());
        }
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
        ids = { { tokenId(json.at("cls").at(1)) }, { tokenId(json.at("sep").at(1)) } };
    } else if (type == "TemplateProcessing") {
        std::vector<int32_t>* side = &ids.before;
        for (const Json& part : json.at("single")) {
            const auto special = part.find("SpecialToken");
            if (special == part.end()) { // the text itself
                side = &ids.after;
                continue;
            }
            for (const Json& id : json.at("special_tokens").at(special->at("id").get<std::string>()).at("ids"))
                side->push_back(tokenId(id));
        }
    }
    return ids;
}

/// What the steps, each of which gives one piece, make of a text.
std::string changedText(const std::vector<TextStep>& steps, std::string_view text, bool first)
{
    std::string changed;
    runSteps(steps, { text, first }, [&](const TextPiece& piece) { changed += piece.text; });
    return changed;
}

} // namespace

Status Tokenizer::take(const Json& json)
{
    QS_TRY(m_normalize, readNormalizer(json.value("normalizer", Json())));
    QS_TRY(m_cut, readPreTokenizer(json.value("pre_tokenizer", Json())));
    const Json added = json.value("added_tokens", Json::array());
    const auto normalized = [&](const std::string& text) { return changedText(m_normalize, text, true); };
    m_raw = AddedTokens::read(added, false, normalized);
    m_normalized = AddedTokens::read(added, true, normalized);
    m_around = tokensAround(json.value("post_processor", Json()));
    QS_TRY(m_model, readTokenModel(json.at("model")));
    return {};
}

Result<Tokenizer> Tokenizer::read(const std::string& path)
{
    Tokenizer tokenizer;
    QS_CHECK(readTokenizerFile(path, [&](const Json& json) { return tokenizer.take(json); }));
    return tokenizer;
}

std::vector<int32_t> Tokenizer::encode(std::string_view text) const
{
    std::vector<int32_t> ids;
    const auto ofModel = [&](const TextPiece& piece) { m_model->encode(piece.text, ids); };
    m_raw.forEachPart(text, [&](std::string_view part, std::optional<int32_t> token) {
        if (token)
            return ids.push_back(*token);
        const bool first = part.data() == text.data();
        const std::string changed = changedText(m_normalize, part, first);
        m_normalized.forEachPart(changed, [&](std::string_view inner, std::optional<int32_t> id) {
            if (id)
                return ids.push_back(*id);
            runSteps(m_cut, { inner, first && inner.data() == changed.data() }, ofModel);
        });
    });
    return ids;
}

} // namespace qs
