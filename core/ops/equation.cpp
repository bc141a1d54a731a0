// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/equation.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace qs {

namespace {

/// One term: letters, with at most one ellipsis as '.'.
Result<std::string> readTerm(const std::string& text)
{
    std::string term;
    for (size_t i = 0; i < text.size(); ++i) {
        if (std::isalpha(static_cast<unsigned char>(text[i]))) {
            term += text[i];
        } else if (text.compare(i, 3, "...") == 0 && term.find('.') == std::string::npos) {
            term += '.';
            i += 2;
        } else {
            return badInput("its equation has '" + text.substr(i) + "', which is no label");
        }
    }
    return term;
}

std::vector<std::string> split(const std::string& text)
{
    std::vector<std::string> parts { "" };
    for (char c : text) {
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

/// Labels as numbers: first the axes of ellipses, then the letters in the order of the alphabet.
class Labels {
public:
    Labels(const std::vector<std::string>& terms, size_t ellipsisAxes)
        : m_ellipsisAxes(ellipsisAxes)
    {
        for (const std::string& term : terms)
            for (char c : term)
                if (c != '.')
                    ++m_counts[c];
        for (const auto& [letter, count] : m_counts)
            m_numbers[letter] = static_cast<int>(m_ellipsisAxes + m_numbers.size());
    }
    size_t count() const { return m_ellipsisAxes + m_numbers.size(); }
    bool knows(char letter) const { return m_numbers.count(letter) != 0; }
    std::vector<int> of(const std::string& term, size_t ellipsisAxes) const
    {
        std::vector<int> out;
        for (char c : term) {
            if (c != '.')
                out.push_back(m_numbers.at(c));
            else
                for (size_t i = m_ellipsisAxes - ellipsisAxes; i < m_ellipsisAxes; ++i)
                    out.push_back(static_cast<int>(i));
        }
        return out;
    }
    /// What an equation without an arrow means: the ellipsis, then what occurs once.
    std::string implicitOutput() const
    {
        std::string out = ".";
        for (const auto& [letter, count] : m_counts)
            if (count == 1)
                out += letter;
        return out;
    }

private:
    size_t m_ellipsisAxes;
    std::map<char, int> m_counts, m_numbers;
};

} // namespace

Result<Equation> parseEquation(const std::string& text, std::span<const size_t> ranks)
{
    std::string compact;
    std::ranges::copy_if(text, std::back_inserter(compact), [](unsigned char c) { return !std::isspace(c); });
    const size_t arrow = compact.find("->");
    std::vector<std::string> terms;
    for (const std::string& part : split(compact.substr(0, arrow))) {
        QS_TRY(std::string term, readTerm(part));
        terms.push_back(std::move(term));
    }
    if (terms.size() != ranks.size())
        return badInput("its equation '" + text + "' has " + std::to_string(terms.size()) + " terms for "
            + std::to_string(ranks.size()) + " inputs");
    std::vector<size_t> ellipses;
    for (size_t k = 0; k < terms.size(); ++k) {
        const bool open = terms[k].find('.') != std::string::npos;
        const size_t letters = terms[k].size() - (open ? 1 : 0);
        if (open ? ranks[k] < letters : ranks[k] != letters)
            return badInput("its equation '" + text + "' does not fit input " + std::to_string(k) + " of rank "
                + std::to_string(ranks[k]));
        ellipses.push_back(ranks[k] - letters);
    }
    const size_t widest = ellipses.empty() ? 0 : *std::ranges::max_element(ellipses);
    const Labels labels(terms, widest);
    Equation e;
    for (size_t k = 0; k < terms.size(); ++k)
        e.operands.push_back(labels.of(terms[k], ellipses[k]));
    e.labels = labels.count();
    std::string output = labels.implicitOutput();
    if (arrow != std::string::npos) {
        QS_TRY(output, readTerm(compact.substr(arrow + 2)));
    }
    for (size_t i = 0; i < output.size(); ++i)
        if (output[i] != '.' && (!labels.knows(output[i]) || output.find(output[i], i + 1) != std::string::npos))
            return badInput("its equation '" + text + "' has an output label that is unknown or repeated");
    e.output = labels.of(output, widest);
    return e;
}

} // namespace qs
