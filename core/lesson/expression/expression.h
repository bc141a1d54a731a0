// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace qs {

/// What an expression of a lesson gives: a finite number, yes or no, or a name.
using LessonValue = std::variant<double, bool, std::string>;

struct Expression;

/// One name of a path such as `tensor("a").scale`.
struct PathPart {
    std::string name;
    size_t position = 0; ///< in the text, counted from 1
    bool called = false; ///< parentheses follow it
    std::vector<Expression> arguments;
};

/// An expression as a tree. Its depth is bounded, whatever the text was.
struct Expression {
    enum class Kind {
        Constant,
        Path, ///< `path`
        Not,
        Negative,
        And, ///< two or more operands; so are the following ones
        Or,
        Sum, ///< an operand behind '-' counts negative
        Product, ///< an operand behind '/' divides
        Compare, ///< two operands
    };
    Kind kind = Kind::Constant;
    size_t position = 1; ///< in the text, counted from 1
    LessonValue constant = 0.0;
    std::vector<PathPart> path;
    std::vector<Expression> operands;
    std::vector<std::string> operators; ///< the one in front of each operand but the first: "+", "/", "<="
};

/// How long and how deep an expression may be.
inline constexpr size_t kLongestExpression = 4000; ///< bytes
inline constexpr size_t kDeepestExpression = 40; ///< parentheses, calls, signs within each other

/// Numbers, texts in single or double quotes, true, false, paths; + - * /, == != < <= > >=, and, or, not. Issues
/// (without file and remedy) say what is wrong and at which character.
Result<Expression> parseExpression(std::string_view text);

} // namespace qs
