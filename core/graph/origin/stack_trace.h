// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// A place in the program that built the model. Texts are bounded and can be shown.
struct SourceFrame {
    std::string file;
    int64_t line = 0; ///< from 1
    std::string function; ///< "forward"; "" where it is not known
    std::string code; ///< the line itself, without the spaces around it; "" where it is not known
    bool operator==(const SourceFrame&) const = default;
};

/// The calls of a trace, outermost first. Understood are Python's own form, of which exporters keep pieces
/// ("  File "model.py", line 42, in forward" with the code in the next line), and that of TorchScript
/// ("model.py(42): forward", innermost first). What is neither is passed over; a text without a frame has none.
std::vector<SourceFrame> stackFrames(std::string_view trace);

/// The frame that a reader looks for: the innermost one that is neither PyTorch's own code, nor Python's library, nor
/// made while running. The innermost of all where there is no such one; nothing of an empty trace. libraryFiles: names
/// of files that are PyTorch's where a trace tells no folders.
std::optional<size_t> userFrame(const std::vector<SourceFrame>& frames, std::span<const std::string> libraryFiles = {});

} // namespace qs
