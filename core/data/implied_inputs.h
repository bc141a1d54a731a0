// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace qs {

/// Integers [batch, positions] that are tokens, by type and name: no masks, places or segments.
bool holdsTokens(const InputSpec& input);

/// An input of a language model that its tokens imply.
enum class Implied : uint8_t {
    Mask, ///< ones [batch, positions]
    Positions, ///< 0, 1, 2 ... [batch, positions], or [3, batch, positions] where pictures have places, too
    Segments, ///< zeros [batch, positions]: there is one text, and all of it is the first
    EmptyCache, ///< a past without positions, in the model's own type and width; zeros where it always has some
};
std::optional<Implied> impliedBy(const InputSpec& input);
/// All of them, in the order in which they are told of.
inline constexpr std::array kAllImplied { Implied::Mask, Implied::Positions, Implied::Segments, Implied::EmptyCache };
/// "ones", "counting from 0", "zeros", "an empty past".
std::string_view impliedText(Implied implied);
/// What it holds beside tokens of shape [batch, positions].
Tensor impliedTensor(const InputSpec& input, Implied implied, const Shape& tokens);

/// Which of the inputs that are given each of `taken` takes, as its place: the one of its name, else the next that is
/// left and that tokens imply as they do this one, else, of files with equally many inputs, the next that is left
/// unless tokens imply both.
/// `given.size()` where there is none.
std::vector<size_t> placesOf(const std::vector<InputSpec>& taken, const std::vector<InputSpec>& given);

} // namespace qs
