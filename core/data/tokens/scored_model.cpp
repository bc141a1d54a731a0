// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/json_text.h"
#include "core/base/text/utf8.h"
#include "core/data/tokens/token_model.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

constexpr double kUnknownPenalty = 10; ///< below the lowest score

/// The best way to a place in a piece.
struct Way {
    double score = 0;
    size_t from = SIZE_MAX; ///< where its last token begins; SIZE_MAX: there is no way yet
    std::optional<int32_t> id; ///< of that token; nothing: it is unknown
};

class ScoredModel final : public TokenModel {
public:
    Status read(const nlohmann::ordered_json& json)
    {
        double lowest = std::numeric_limits<double>::infinity();
        for (const auto& entry : json.at("vocab")) {
            const std::string word = entry.at(0).get<std::string>();
            m_words.emplace(word, int32_t(m_scores.size())); // of equal ones the first
            m_scores.push_back(entry.at(1).get<double>());
            m_longest = std::max(m_longest, word.size());
            lowest = std::min(lowest, m_scores.back());
        }
        m_unknownScore = lowest - kUnknownPenalty;
        if (const auto unknown = json.find("unk_id"); unknown != json.end() && !unknown->is_null())
            m_unknown = int32_t(std::min<uint64_t>(naturalOf(*unknown), INT32_MAX));
        if (json.value("byte_fallback", false))
            m_bytes = byteTokens(m_words);
        return {};
    }

    void encode(std::string_view piece, std::vector<int32_t>& ids) const override
    {
        const std::vector<Way> ways = waysThrough(piece);
        std::vector<std::pair<size_t, size_t>> parts; // from, to; backwards
        for (size_t to = piece.size(); to > 0; to = ways[to].from)
            parts.emplace_back(ways[to].from, to);
        std::ranges::reverse(parts);
        for (size_t i = 0; i < parts.size(); ++i) {
            if (const auto id = ways[parts[i].second].id) {
                ids.push_back(*id);
                continue;
            }
            size_t last = i; // unknown ones that stand together are one
            while (last + 1 < parts.size() && !ways[parts[last + 1].second].id)
                ++last;
            addUnknown(piece.substr(parts[i].first, parts[last].second - parts[i].first), ids);
            i = last;
        }
    }

private:
    std::vector<Way> waysThrough(std::string_view piece) const
    {
        std::vector<Way> ways(piece.size() + 1);
        const auto offer = [&](size_t from, size_t to, double score, std::optional<int32_t> id) {
            if (ways[to].from == SIZE_MAX || ways[from].score + score > ways[to].score)
                ways[to] = { ways[from].score + score, from, id };
        };
        for (size_t at = 0; at < piece.size();) {
            const size_t character = firstCharacter(piece.substr(at)).bytes.size();
            bool single = false;
            for (size_t length = 1; length <= std::min(m_longest, piece.size() - at); ++length) {
                const auto id = findToken(m_words, std::string(piece.substr(at, length)));
                if (!id)
                    continue;
                offer(at, at + length, m_scores[size_t(*id)], id);
                single |= length == character;
            }
            if (!single)
                offer(at, at + character, m_unknownScore, std::nullopt);
            at += character;
        }
        return ways;
    }

    void addUnknown(std::string_view text, std::vector<int32_t>& ids) const
    {
        if (canSpell(m_bytes, text))
            for (const char b : text)
                ids.push_back(*m_bytes[static_cast<unsigned char>(b)]);
        else if (m_unknown)
            ids.push_back(*m_unknown);
    }

    TokenIds m_words;
    std::vector<double> m_scores; ///< by id
    ByteTokens m_bytes;
    std::optional<int32_t> m_unknown;
    double m_unknownScore = 0;
    size_t m_longest = 0; ///< bytes
};

} // namespace

Result<std::unique_ptr<const TokenModel>> readScoredModel(const nlohmann::ordered_json& json)
{
    auto model = std::make_unique<ScoredModel>();
    QS_CHECK(model->read(json));
    return std::unique_ptr<const TokenModel>(std::move(model));
}

} // namespace qs
