// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// One `##` section of lesson.md.
struct LessonSection {
    std::string title;
    std::string anchor; ///< the title as a step's id: "What is a scale?" is "what-is-a-scale"
    std::string text; ///< CommonMark, without the heading
    size_t line = 1; ///< of the heading
};

struct LessonMarkdown {
    std::string introduction; ///< between the title and the first section
    std::vector<LessonSection> sections;
    std::vector<std::string> files; ///< that pictures and links name, without what follows '#'
};

/// Cuts lesson.md into its sections. Issues (without file) name the line: raw HTML, a picture that lies elsewhere, a
/// link with a scheme that is none of the web.
Result<LessonMarkdown> readMarkdown(std::string_view text);

/// What has no place in a text of lesson.json or lesson.md: raw HTML, pictures and links as above. `line` counts from
/// `first`. Names of local files are added to `files`.
Status checkMarkup(std::string_view text, size_t first, std::vector<std::string>& files);

std::string anchorOf(std::string_view title);

} // namespace qs
