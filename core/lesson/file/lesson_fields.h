// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson.h"

#include <set>

namespace qs {

/// Reads the members of one object of lesson.json. The first fault is kept in `issue`, with its place; after it, values
/// are empty.
class LessonFields {
public:
    /// `place`: "step 'a': ask", empty for the whole file.
    LessonFields(const LessonJson& json, std::string place, std::optional<Issue>& issue);

    bool has(const char* key) const;
    bool isList(const char* key) const;
    std::string text(const char* key); ///< must be there
    std::string textOr(const char* key, const std::string& absent = {});
    double number(const char* key, double least, double most, double absent); ///< NaN as `absent`: must be there
    size_t whole(const char* key, size_t most, size_t absent);
    bool truth(const char* key); ///< absent: false
    std::vector<std::string> texts(const char* key, size_t most); ///< absent: empty
    /// A text, a number or a truth value as an expression; nothing where the key is absent.
    std::optional<Expression> expression(const char* key);
    Expression neededExpression(const char* key);
    /// The member itself; null where it is absent or of another kind.
    const LessonJson* object(const char* key);
    const LessonJson* list(const char* key, size_t most);
    void needed(const char* key); ///< a fault where it is absent
    void fail(const char* key, const std::string& what);
    /// Keys that nobody asked for are mistakes.
    void finish();

    const std::string& place() const { return m_place; }
    std::optional<Issue>& issue() { return m_issue; }
    std::string inner(const std::string& name) const { return m_place.empty() ? name : m_place + ": " + name; }

private:
    const LessonJson* take(const char* key);

    const LessonJson& m_json;
    std::string m_place;
    std::optional<Issue>& m_issue;
    std::set<std::string, std::less<>> m_taken;
};

} // namespace qs
