// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// What is looked for: words that must all occur, each with its letters in this order, whatever their case.
class FuzzyQuery {
public:
    FuzzyQuery() = default;
    explicit FuzzyQuery(const QString& typed);
    bool empty() const { return m_words.isEmpty(); }
    const QStringList& words() const { return m_words; }
    const QStringList& folded() const { return m_folded; } ///< in lower case, one a word
    uint64_t letters() const { return m_letters; }
    /// Nothing matches this that did not match the other.
    bool narrows(const FuzzyQuery& other) const;

private:
    QStringList m_words, m_folded;
    uint64_t m_letters = 0;
};

/// A name that is searched again and again.
struct FuzzyName {
    QString text;
    QString folded; ///< in lower case; empty: the text is
    uint64_t letters = 0; ///< a bit for each that occurs

    FuzzyName() = default;
    explicit FuzzyName(const QString& name);
    const QString& inLowerCase() const { return folded.isEmpty() ? text : folded; }
};

/// How well a name matches, the more the better; nothing where it does not. Letters in a row, at the start of the name
/// or of a word of it (behind a separator, or a capital behind a small letter) and of the case that was typed count
/// more, gaps less, as in fzf (github.com/junegunn/fzf, algo.go, a Smith-Waterman alignment); of equal matches the
/// shorter name is the better one. Time is the product of the lengths.
std::optional<int> fuzzyScore(const FuzzyQuery& query, const FuzzyName& name);

/// Places in the name of the letters that make its score, ascending; empty where it does not match.
std::vector<qsizetype> fuzzyPlaces(const FuzzyQuery& query, const FuzzyName& name);

} // namespace qs
