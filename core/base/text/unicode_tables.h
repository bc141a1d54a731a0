// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

/// Properties of characters: the Unicode Character Database 14.0 (UnicodeData.txt, CompositionExclusions.txt).
namespace qs {

/// The canonical decomposition of a character into one or two.
struct Decomposition {
    char32_t point, first, second; ///< second is 0 where there is one
    bool composes = false; ///< the two become the character again
};
std::span<const Decomposition> decompositions(); ///< by character, without Hangul syllables

/// In which order marks behind a letter stand; characters without one have 0.
struct CombiningClass {
    char32_t first, last;
    uint8_t order;
};
std::span<const CombiningClass> combiningClasses(); ///< by character

/// Every `step`th character from `first` to `last` is a capital, whose small letter stands `distance` behind it.
struct LowerCase {
    char32_t first, last;
    uint8_t step;
    int32_t distance;
};
std::span<const LowerCase> lowerCases(); ///< by character

} // namespace qs
