// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/byte_mutator.h"

#include <cctype>
#include <iterator>
#include <utility>

namespace qs::test {

namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-'; }

/// Where the value ends that begins here: a text, a bracket with all in it, or a word.
size_t valueEnd(const std::string& text, size_t begin)
{
    const char first = text[begin];
    if (first == '"' || first == '\'') {
        const size_t end = text.find(first, begin + 1);
        return end == std::string::npos ? text.size() : end + 1;
    }
    size_t end = begin;
    if (first == '[' || first == '{') {
        int depth = 0;
        for (; end < text.size(); ++end) {
            depth += text[end] == '[' || text[end] == '{' ? 1 : text[end] == ']' || text[end] == '}' ? -1 : 0;
            if (depth == 0)
                return end + 1;
        }
        return end;
    }
    while (end < text.size() && isWord(text[end]))
        ++end;
    return end;
}

/// Where values begin.
std::vector<size_t> valuesOf(const std::string& text)
{
    std::vector<size_t> found;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool begins = text[i] == '"' || text[i] == '[' || text[i] == '{'
            || (isWord(text[i]) && (i == 0 || !isWord(text[i - 1])));
        if (begins)
            found.push_back(i);
    }
    return found;
}

} // namespace

std::string ByteMutator::anyValue()
{
    static const std::string kValues[] { "0", "-1", "1", "1e9", "1e308", "-1e308", "9223372036854775807",
        "-9223372036854775808", "18446744073709551615", "4611686018427387904", "2147483648", "0.5", "1e-320", "1e999",
        "nan", "inf", "null", "true", "[]", "{}", "\"\"", "\"x\"", "[[]]", "[0]", "{\"x\":1}", "\"\\u0000\"",
        "\"\\ud800\"", "\"../../../../dev/zero\"", "\"/etc/passwd\"", "\"(a*)*b\"", "\"[\"", "\"=1+1\"", "\"\x1b[31m\"",
        "65536", "1000000", "-0", "1.5" };
    if (!m_words.empty() && below(3) == 0)
        return m_words[below(m_words.size())];
    if (below(40) == 0) // deep
        return std::string(20'000, '[');
    if (below(40) == 0) // long
        return '"' + std::string(100'000, 'a') + '"';
    return kValues[below(std::size(kValues))];
}

std::string ByteMutator::rewritten(std::string text)
{
    for (size_t n = 1 + below(3); n > 0; --n) {
        const std::vector<size_t> values = valuesOf(text);
        if (values.empty())
            return text;
        const size_t begin = values[below(values.size())], length = valueEnd(text, begin) - begin;
        const size_t other = values[below(values.size())];
        const std::string taken = text.substr(other, valueEnd(text, other) - other);
        switch (below(6)) {
        case 0:
            text.erase(begin, length);
            break;
        case 1: // twice
            text.insert(begin, text.substr(begin, length) + (below(2) == 0 ? "," : ""));
            break;
        case 2: // one in place of another
            text.replace(begin, length, taken);
            break;
        default:
            text.replace(begin, length, anyValue());
        }
    }
    return text;
}

std::string ByteMutator::damaged(std::string bytes)
{
    for (size_t n = 1 + below(4); n > 0 && !bytes.empty(); --n)
        switch (below(m_words.empty() ? 7 : 8)) {
        case 0:
            bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8));
            break;
        case 1:
            bytes[below(bytes.size())] = static_cast<char>(below(256));
            break;
        case 2:
            bytes.resize(below(bytes.size()) + 1);
            break;
        case 3:
            bytes.insert(below(bytes.size()), below(20) + 1, static_cast<char>(below(256)));
            break;
        case 4:
            bytes.erase(below(bytes.size()), below(20) + 1);
            break;
        case 5: // a number of eight bytes
            for (size_t at = below(bytes.size()), i = 0; i < 8 && at + i < bytes.size(); ++i)
                bytes[at + i] = static_cast<char>(below(2) == 0 ? 0xff : below(3) == 0 ? 0x7f : 0);
            break;
        case 6: // a part repeated elsewhere
            bytes.insert(below(bytes.size()), bytes.substr(below(bytes.size()), below(200)));
            break;
        default:
            bytes.insert(below(bytes.size()), m_words[below(m_words.size())]);
        }
    return bytes;
}

std::vector<std::string> dictionaryWords(const std::string& text)
{
    std::vector<std::string> words;
    std::string word;
    bool inside = false;
    for (size_t i = 0; i < text.size(); ++i) {
        if (!inside && text[i] == '#') { // a comment
            i = text.find('\n', i);
            if (i == std::string::npos)
                break;
        } else if (text[i] == '"') {
            if (inside)
                words.push_back(std::exchange(word, {}));
            inside = !inside;
        } else if (inside && text[i] == '\\' && i + 1 < text.size()) {
            if (text[++i] != 'x')
                word += text[i];
            else {
                word += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
                i += 2;
            }
        } else if (inside)
            word += text[i];
    }
    return words;
}

} // namespace qs::test
