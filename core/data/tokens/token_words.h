// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace qs {

/// How the tokens of a tokenizer.json are written: what each adds to a text, the blank before a word included. One
/// character may be several tokens; then each holds some of its bytes.
class TokenWords {
public:
    /// An Issue names the file and what of it is damaged.
    static Result<TokenWords> read(const std::string& path);
    size_t count() const { return m_words.size(); }
    const std::string& word(int64_t id) const; ///< bytes; empty: there is no such token, or it adds nothing
    /// What the tokens add one after the other; bytes that are no UTF-8 where a character is cut off.
    std::string text(const std::vector<int64_t>& ids) const;

private:
    std::vector<std::string> m_words; ///< by id
};

} // namespace qs
