// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/regex.h"

#include <re2/re2.h>

namespace qs {

namespace {

constexpr int64_t kMostBytes = int64_t(8) << 20; ///< of one compiled pattern and what matching keeps

RE2::Options options(Regex::Text text)
{
    RE2::Options o;
    o.set_encoding(text == Regex::Text::Utf8 ? RE2::Options::EncodingUTF8 : RE2::Options::EncodingLatin1);
    o.set_log_errors(false);
    o.set_max_mem(kMostBytes);
    return o;
}

} // namespace

Regex::Regex(const std::string& pattern, Text text)
    : m_regex(std::make_shared<const RE2>(pattern, options(text)))
{
}

const std::string& Regex::fault() const { return m_regex->error(); }

bool Regex::matchesAll(std::string_view text) const { return RE2::FullMatch(text, *m_regex); }

bool Regex::matchesPart(std::string_view text) const { return RE2::PartialMatch(text, *m_regex); }

std::optional<size_t> Regex::lengthAt(std::string_view text, size_t at) const
{
    re2::StringPiece found;
    if (!m_regex->ok() || !m_regex->Match(text, at, text.size(), RE2::ANCHOR_START, &found, 1))
        return std::nullopt;
    return found.size();
}

std::string Regex::quoted(std::string_view text) { return RE2::QuoteMeta(text); }

} // namespace qs
