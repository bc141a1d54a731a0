// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/search/fuzzy_match.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr int kLetter = 16, kSameCase = 1, kInARow = 10;
constexpr int kAtStart = 12, kAtWord = 8, kAtCapital = 7;
constexpr int kFirstLetter = 2; ///< times what its place is worth
constexpr int kGap = -3, kLongerGap = -1;
constexpr int kWholeName = 40;
constexpr int kScale = 1024; ///< scores are above lengths
constexpr int kNever = -(1 << 20);
constexpr qsizetype kMostLetters = 512, kMostTyped = 48; ///< of a name that are looked at, and of a word

uint64_t letterBit(QChar c)
{
    const ushort code = c.unicode();
    if (code >= 'a' && code <= 'z')
        return uint64_t(1) << (code - 'a');
    if (code >= '0' && code <= '9')
        return uint64_t(1) << (26 + code - '0');
    return uint64_t(1) << (36 + code % 28);
}

uint64_t lettersOf(const QString& folded)
{
    uint64_t letters = 0;
    for (const QChar c : folded)
        letters |= letterBit(c);
    return letters;
}

/// QString::toLower() may change how many letters there are.
QString inLowerCase(const QString& text)
{
    QString folded = text;
    for (QChar& c : folded) {
        const ushort code = c.unicode();
        c = code < 128 ? (code >= 'A' && code <= 'Z' ? QChar(ushort(code + 32)) : c) : c.toLower();
    }
    return folded;
}

bool isWordLetter(QChar c)
{
    const ushort code = c.unicode();
    return code < 128 ? (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z')
                      : c.isLetterOrNumber();
}

/// What it is worth that a match lies there.
int worthOf(const QString& text, qsizetype at)
{
    if (at == 0)
        return kAtStart;
    const QChar before = text[at - 1], here = text[at];
    if (!isWordLetter(here))
        return 0;
    if (!isWordLetter(before))
        return kAtWord;
    const bool digitBegins = here.isDigit() && !before.isDigit();
    return (here.isUpper() && !before.isUpper()) || digitBegins ? kAtCapital : 0;
}

bool occursInOrder(QStringView letters, QStringView text)
{
    qsizetype next = 0;
    for (qsizetype i = 0; i < text.size() && next < letters.size(); ++i)
        if (text[i] == letters[next])
            ++next;
    return next == letters.size();
}

struct Placed {
    int score = kNever;
    qsizetype last = -1; ///< place of the last letter
};

/// The best way to place a word in a name. `from`, where it is wanted: for each letter of the word and place in the
/// name where the letter before lies, rows of the name's length.
Placed place(const QString& word, const QString& folded, const FuzzyName& name, std::vector<qsizetype>* from)
{
    const QString& text = name.inLowerCase();
    const qsizetype width = std::min(text.size(), kMostLetters), height = std::min(folded.size(), kMostTyped);
    std::array<int, kMostLetters> before {}, here {}; // scores with the letter at each place
    if (from)
        from->assign(size_t(width * height), -1);
    for (qsizetype w = 0; w < height; ++w) {
        int gap = kNever; // the best with the letter before, and a gap behind it
        qsizetype gapFrom = -1;
        for (qsizetype n = 0; n < width; ++n) {
            if (w > 0 && n >= 2) {
                gap += kLongerGap;
                if (before[size_t(n - 2)] + kGap > gap) {
                    gap = before[size_t(n - 2)] + kGap;
                    gapFrom = n - 2;
                }
            }
            here[size_t(n)] = kNever;
            if (text[n] != folded[w])
                continue;
            const int worth = worthOf(name.text, n), own = kLetter + (name.text[n] == word[w] ? kSameCase : 0);
            const int inARow = w > 0 && n > 0 ? before[size_t(n - 1)] + std::max(kInARow, worth) : kNever;
            const int best = w == 0 ? kFirstLetter * worth : std::max(inARow, gap + worth);
            if (best <= kNever / 2)
                continue;
            here[size_t(n)] = best + own;
            if (from && w > 0)
                (*from)[size_t(w * width + n)] = inARow >= gap + worth ? n - 1 : gapFrom;
        }
        std::swap(before, here);
    }
    Placed best;
    for (qsizetype n = 0; n < width; ++n)
        if (before[size_t(n)] > std::max(best.score, kNever / 2))
            best = { before[size_t(n)], n };
    return best;
}

} // namespace

FuzzyQuery::FuzzyQuery(const QString& typed)
    : m_words(typed.simplified().split(u' ', Qt::SkipEmptyParts))
{
    for (const QString& word : m_words) {
        m_folded << inLowerCase(word);
        m_letters |= lettersOf(m_folded.back());
    }
}

bool FuzzyQuery::narrows(const FuzzyQuery& other) const
{
    if (m_folded.size() < other.m_folded.size())
        return false;
    for (qsizetype i = 0; i < other.m_folded.size(); ++i)
        if (!m_folded[i].startsWith(other.m_folded[i]))
            return false;
    return true;
}

FuzzyName::FuzzyName(const QString& name)
    : text(name)
    , folded(qs::inLowerCase(name))
    , letters(lettersOf(folded))
{
    if (folded == text)
        folded.clear();
}

std::optional<int> fuzzyScore(const FuzzyQuery& query, const FuzzyName& name)
{
    if ((query.letters() & ~name.letters) != 0)
        return std::nullopt;
    const QString& text = name.inLowerCase();
    int score = 0;
    for (qsizetype i = 0; i < query.words().size(); ++i) {
        if (!occursInOrder(query.folded()[i], text))
            return std::nullopt;
        const int placed = place(query.words()[i], query.folded()[i], name, nullptr).score;
        if (placed == kNever)
            return std::nullopt;
        score += placed + (text == query.folded()[i] ? kWholeName : 0);
    }
    return score * kScale - int(std::min<qsizetype>(text.size(), kScale - 1));
}

std::vector<qsizetype> fuzzyPlaces(const FuzzyQuery& query, const FuzzyName& name)
{
    std::vector<qsizetype> places, from;
    const qsizetype width = std::min(name.text.size(), kMostLetters);
    for (qsizetype i = 0; i < query.words().size(); ++i) {
        qsizetype at = place(query.words()[i], query.folded()[i], name, &from).last;
        if (at < 0)
            return {};
        for (qsizetype w = std::min(query.folded()[i].size(), kMostTyped) - 1; w >= 0; --w) {
            places.push_back(at);
            at = from[size_t(w * width + at)];
        }
    }
    std::ranges::sort(places);
    places.erase(std::ranges::unique(places).begin(), places.end());
    return places;
}

} // namespace qs
