// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/utf8.h"
#include "core/data/tokens/token_model.h"

#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kNone = SIZE_MAX;

/// A part of a piece, in a list that merging makes shorter.
struct Symbol {
    int32_t id;
    size_t previous, next; ///< kNone: there is none
    bool alive = true;
};

struct Merge {
    uint32_t rank; ///< the lowest is done first
    int32_t id; ///< what the pair becomes
};

/// A pair that can be merged where it still stands there.
struct Candidate {
    Merge merge;
    size_t at;
    bool operator<(const Candidate& other) const // for a queue whose largest comes first
    {
        return merge.rank != other.merge.rank ? merge.rank > other.merge.rank : at > other.at;
    }
};

uint64_t pairKey(int32_t left, int32_t right) { return uint64_t(uint32_t(left)) << 32 | uint32_t(right); }

class PairModel final : public TokenModel {
public:
    Status read(const Json& json)
    {
        QS_TRY(m_words, readTokenIds(json.at("vocab")));
        m_prefix = textOf(json, "continuing_subword_prefix");
        m_suffix = textOf(json, "end_of_word_suffix");
        m_fuseUnknown = json.value("fuse_unk", false);
        m_ignoreMerges = json.value("ignore_merges", false);
        if (const std::string unknown = textOf(json, "unk_token"); !unknown.empty())
            m_unknown = find(unknown);
        if (json.value("byte_fallback", false))
            m_bytes = byteTokens(m_words);
        return readMerges(json.at("merges"));
    }

    void encode(std::string_view piece, std::vector<int32_t>& ids) const override
    {
        if (m_ignoreMerges)
            if (const auto whole = find(std::string(piece))) {
                ids.push_back(*whole);
                return;
            }
        std::vector<Symbol> symbols = symbolsOf(piece);
        merge(symbols);
        for (const Symbol& symbol : symbols)
            if (symbol.alive)
                ids.push_back(symbol.id);
    }

private:
    static std::string textOf(const Json& json, const char* key)
    {
        const auto it = json.find(key);
        return it == json.end() || it->is_null() ? std::string() : it->get<std::string>();
    }

    std::optional<int32_t> find(const std::string& word) const { return findToken(m_words, word); }

    /// Two words each: a list of them, or a text with a space between.
    Status readMerges(const Json& merges)
    {
        for (const Json& merge : merges) {
            std::string left, right;
            if (merge.is_array()) {
                left = merge.at(0).get<std::string>();
                right = merge.at(1).get<std::string>();
            } else {
                const auto text = merge.get<std::string>();
                const size_t space = text.find(' ');
                left = text.substr(0, space);
                right = space == std::string::npos ? std::string() : text.substr(space + 1);
            }
            const std::string tail = right.starts_with(m_prefix) ? right.substr(m_prefix.size()) : right;
            const auto a = find(left), b = find(right), both = find(left + tail);
            if (!a || !b || !both)
                return badInput("merges '" + left + "' and '" + right + "', which its vocabulary does not have", {},
                    "use an undamaged file");
            m_merges[pairKey(*a, *b)] = { m_ranks++, *both };
        }
        return {};
    }

    std::vector<Symbol> symbolsOf(std::string_view piece) const
    {
        std::vector<Symbol> symbols;
        bool unknown = false; // the last one is
        const auto add = [&](int32_t id) { symbols.push_back({ id, kNone, kNone }); };
        for (size_t at = 0; at < piece.size();) {
            const std::string_view character = firstCharacter(piece.substr(at)).bytes;
            std::string word = (at > 0 ? m_prefix : std::string()) + std::string(character);
            at += character.size();
            if (at == piece.size())
                word += m_suffix;
            if (const auto id = find(word)) {
                add(*id);
                unknown = false;
            } else if (canSpell(m_bytes, word)) {
                for (const char b : word)
                    add(*m_bytes[static_cast<unsigned char>(b)]);
                unknown = false;
            } else if (m_unknown) {
                if (!unknown || !m_fuseUnknown)
                    add(*m_unknown);
                unknown = true;
            }
        }
        for (size_t i = 0; i < symbols.size(); ++i) {
            symbols[i].previous = i > 0 ? i - 1 : kNone;
            symbols[i].next = i + 1 < symbols.size() ? i + 1 : kNone;
        }
        return symbols;
    }

    const Merge* mergeOf(const std::vector<Symbol>& symbols, size_t left) const
    {
        if (left == kNone || symbols[left].next == kNone)
            return nullptr;
        const auto it = m_merges.find(pairKey(symbols[left].id, symbols[symbols[left].next].id));
        return it == m_merges.end() ? nullptr : &it->second;
    }

    void merge(std::vector<Symbol>& symbols) const
    {
        std::priority_queue<Candidate> queue;
        const auto offer = [&](size_t left) {
            if (const Merge* merge = mergeOf(symbols, left))
                queue.push({ *merge, left });
        };
        for (size_t i = 0; i < symbols.size(); ++i)
            offer(i);
        while (!queue.empty()) {
            const Candidate best = queue.top();
            queue.pop();
            Symbol& left = symbols[best.at];
            const Merge* const now = left.alive ? mergeOf(symbols, best.at) : nullptr;
            if (!now || now->id != best.merge.id)
                continue;
            Symbol& right = symbols[left.next];
            right.alive = false;
            left.id = now->id;
            left.next = right.next;
            if (left.next != kNone)
                symbols[left.next].previous = best.at;
            offer(left.previous);
            offer(best.at);
        }
    }

    TokenIds m_words;
    std::unordered_map<uint64_t, Merge> m_merges;
    ByteTokens m_bytes;
    std::optional<int32_t> m_unknown;
    std::string m_prefix, m_suffix;
    bool m_fuseUnknown = false, m_ignoreMerges = false;
    uint32_t m_ranks = 0;
};

} // namespace

Result<std::unique_ptr<const TokenModel>> readPairModel(const Json& json)
{
    auto model = std::make_unique<PairModel>();
    QS_CHECK(model->read(json));
    return std::unique_ptr<const TokenModel>(std::move(model));
}

} // namespace qs
