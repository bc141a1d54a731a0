// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/json_text.h"
#include "core/base/text/utf8.h"
#include "core/data/tokens/token_model.h"

#include <nlohmann/json.hpp>

namespace qs {

namespace {

class WordModel final : public TokenModel {
public:
    Status read(const nlohmann::ordered_json& json)
    {
        QS_TRY(m_words, readTokenIds(json.at("vocab")));
        m_unknown = findToken(m_words, json.value("unk_token", std::string("[UNK]")));
        m_prefix = json.value("continuing_subword_prefix", std::string("##"));
        m_most = size_t(naturalAt(json, "max_input_chars_per_word", 100));
        return {};
    }

    void encode(std::string_view piece, std::vector<int32_t>& ids) const override
    {
        const size_t before = ids.size();
        bool known = characterCount(piece) <= m_most;
        for (size_t at = 0; known && at < piece.size();) {
            size_t length = piece.size() - at;
            std::optional<int32_t> id;
            while (length > 0
                && !(id = findToken(m_words, (at > 0 ? m_prefix : "") + std::string(piece.substr(at, length)))))
                do
                    --length;
                while (length > 0 && !beginsCharacter(piece[at + length]));
            known = id.has_value();
            if (known)
                ids.push_back(*id);
            at += length;
        }
        if (known)
            return;
        ids.resize(before);
        if (m_unknown)
            ids.push_back(*m_unknown);
    }

private:
    TokenIds m_words;
    std::optional<int32_t> m_unknown;
    std::string m_prefix;
    size_t m_most = 0; ///< characters of a piece that is looked at
};

} // namespace

Result<std::unique_ptr<const TokenModel>> readWordModel(const nlohmann::ordered_json& json)
{
    auto model = std::make_unique<WordModel>();
    QS_CHECK(model->read(json));
    return std::unique_ptr<const TokenModel>(std::move(model));
}

} // namespace qs
