// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/expression/evaluate.h"
#include "core/lesson/file/lesson.h"

namespace qs {

/// The same number in 0 … count - 1 for a seed and a name on every machine. `count` is at least 1.
uint64_t drawn(uint64_t seed, std::string_view name, uint64_t count);

/// What a seed makes of "variants": each parameter a range {"from","to","step"}, a list {"of"} or {"expression"} of
/// those before it. Issues name the parameter.
Result<std::map<std::string, LessonValue>> drawParameters(const LessonJson& variants, uint64_t seed);

/// The parameters alone, for expressions that nothing live is needed for.
class ParameterVocabulary : public NoVocabulary {
public:
    explicit ParameterVocabulary(const std::map<std::string, LessonValue>& parameters)
        : m_parameters(parameters)
    {
    }
    Result<LessonValue> find(const std::vector<NamedPart>& path) const override;

private:
    const std::map<std::string, LessonValue>& m_parameters;
};

/// Words that no parameter may be called, since expressions have another meaning for them.
bool isLessonWord(std::string_view name);

/// "{name}" becomes the parameter; "{= ...}" stays, with what it names filled in when it is computed. Issues: a name in
/// braces that is no parameter. "\{" is a brace.
Result<std::string> withParameters(const std::string& text, const std::map<std::string, LessonValue>& parameters);
/// In all texts and keys; a text that is one "{name}" alone becomes the value itself.
Result<LessonJson> withParameters(const LessonJson& json, const std::map<std::string, LessonValue>& parameters);

} // namespace qs
