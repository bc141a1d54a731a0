// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The normalizer `Precompiled` of a tokenizer.json: SentencePiece's map of characters to texts, found by a double
/// array (the layout of Darts-clone, as SentencePiece's normalizer.cc and Hugging Face's spm_precompiled read it).
class CharacterMap {
public:
    /// `base64` is `precompiled_charsmap`. An Issue, without file, where it is none.
    static Result<CharacterMap> decoded(std::string_view base64);
    /// Maps each grapheme of less than six bytes that is known, else each of its characters.
    std::string mapped(std::string_view text) const;

private:
    /// What stands for a text that begins with a known one; null data: none is known.
    std::string_view found(std::string_view text) const;

    std::vector<uint32_t> m_units; ///< of the double array
    std::string m_texts; ///< each ends with a 0
};

} // namespace qs
