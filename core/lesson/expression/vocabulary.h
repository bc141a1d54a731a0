// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/expression/expression.h"

namespace qs {

/// A name of a path whose arguments are known.
struct NamedPart {
    std::string name;
    size_t position = 0;
    bool called = false;
    std::vector<LessonValue> arguments;
};

/// What names stand for. Whatever is not in it does not exist.
class Vocabulary {
public:
    virtual ~Vocabulary() = default;
    /// `path` has at least one part. A value that does not exist, or is no number, is an issue.
    virtual Result<LessonValue> find(const std::vector<NamedPart>& path) const = 0;
    /// What `before(...)` is computed with; null: there is no before.
    virtual const Vocabulary* before() const { return nullptr; }
};

/// Parameters and functions alone: nothing is live.
class NoVocabulary : public Vocabulary {
public:
    Result<LessonValue> find(const std::vector<NamedPart>& path) const override;
};

/// "at character 7"
std::string placeText(size_t position);

} // namespace qs
