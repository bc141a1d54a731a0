// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/expression/vocabulary.h"

namespace qs {

std::string placeText(size_t position) { return "at character " + std::to_string(position); }

Result<LessonValue> NoVocabulary::find(const std::vector<NamedPart>& path) const
{
    return badInput("'" + path.front().name + "' is not known here, " + placeText(path.front().position));
}

} // namespace qs
