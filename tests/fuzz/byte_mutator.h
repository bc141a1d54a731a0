// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <random>
#include <string>
#include <vector>

namespace qs::test {

/// Damages bytes the way disks, networks and attackers do.
class ByteMutator {
public:
    /// `words`: what means something in the format, which is put in at times.
    explicit ByteMutator(uint64_t seed, std::vector<std::string> words = {})
        : m_random(seed)
        , m_words(std::move(words))
    {
    }
    std::string damaged(std::string bytes);
    /// The same of a text with values: numbers, texts, lists and objects are exchanged for others, doubled, left out.
    std::string rewritten(std::string text);
    size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(m_random); }

private:
    std::string anyValue();
    std::mt19937_64 m_random;
    std::vector<std::string> m_words;
};

/// The words of a dictionary in libFuzzer's form.
std::vector<std::string> dictionaryWords(const std::string& text);

} // namespace qs::test
