// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/findings/finding.h"
#include "core/project/snapshot/snapshot.h"

#include <optional>
#include <string>
#include <string_view>

/// Pieces that the reports for continuous integration share.
namespace qs::ci {

/// "float.onnx against quant.onnx (qdq), 200 samples, simulated".
std::string comparedText(const Snapshot& snapshot);
/// Title, summary and remedy of a finding with its options and gain, one line.
std::string findingText(const Finding& finding, const std::optional<Accuracy>& accuracy);
/// The file that findings are about: the quantized one, or the float one where that was made by a recipe.
const std::string& modelPath(const Snapshot& snapshot);
/// A path as a URI relative to the working folder.
std::string relativeUri(const std::string& path);

/// Text as it may stand in Markdown, a table's cell included, but not at the beginning of a line: nothing in it is
/// markup, a link, a mention.
std::string markdown(std::string_view text);
/// The same in the type of code.
std::string markdownCode(std::string_view text);

} // namespace qs::ci
