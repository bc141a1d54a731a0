// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson.h"

namespace qs {

/// The first thing of a text, or of all texts of a JSON value, that is looked up by the name that one certain model has
/// for it, as in "tensor('image')"; empty: there is none. Names that are found, as in `tensor(largest(...))`, are for
/// all models.
std::string nameInModel(const std::string& text);
std::string nameInModel(const LessonJson& json);

} // namespace qs
