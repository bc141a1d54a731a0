// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/one_line.h"
#include "core/lesson/expression/expression.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace qs {

namespace {

using Kind = Expression::Kind;

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool beginsName(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Recursive descent. The first fault is kept; what is read after it counts for nothing.
class ExpressionParser {
public:
    explicit ExpressionParser(std::string_view text)
        : m_text(text)
    {
    }

    Result<Expression> whole()
    {
        Expression all = either();
        skipSpace();
        if (!m_fault && m_at < m_text.size())
            fail("'" + oneLine(m_text.substr(m_at, 1)) + "' is not expected");
        if (m_fault)
            return *m_fault;
        return all;
    }

private:
    void fail(const std::string& what)
    {
        if (!m_fault)
            m_fault = badInput(what + " at character " + std::to_string(m_at + 1));
    }
    void skipSpace()
    {
        while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\n' || m_text[m_at] == '\t'))
            ++m_at;
    }
    /// The name at this place; empty where none begins.
    std::string_view nameHere()
    {
        skipSpace();
        size_t end = m_at;
        if (end < m_text.size() && beginsName(m_text[end]))
            while (end < m_text.size() && (beginsName(m_text[end]) || isDigit(m_text[end])))
                ++end;
        return m_text.substr(m_at, end - m_at);
    }
    bool takeWord(std::string_view word)
    {
        if (nameHere() != word)
            return false;
        m_at += word.size();
        return true;
    }
    bool take(std::string_view sign)
    {
        skipSpace();
        if (!m_text.substr(m_at).starts_with(sign))
            return false;
        m_at += sign.size();
        return true;
    }
    /// The first of these signs that stands here; empty where none does.
    template <size_t N> std::string_view takeOne(const std::array<std::string_view, N>& signs)
    {
        for (const std::string_view sign : signs)
            if (take(sign))
                return sign;
        return {};
    }

    /// One operand, or several with what `next` finds between them.
    template <class Operand, class Next> Expression chain(Kind kind, Operand operand, Next next)
    {
        Expression first = operand();
        Expression all;
        for (std::string_view sign = next(); !sign.empty() && !m_fault; sign = next()) {
            if (all.operands.empty()) {
                all.kind = kind;
                all.position = first.position;
                all.operands.push_back(std::move(first));
            }
            all.operators.emplace_back(sign);
            all.operands.push_back(operand());
        }
        return all.operands.empty() ? first : all;
    }
    std::string_view word(std::string_view name) { return takeWord(name) ? name : std::string_view(); }

    Expression either()
    {
        return chain(
            Kind::Or, [this] { return both(); }, [this] { return word("or"); });
    }
    Expression both()
    {
        return chain(
            Kind::And, [this] { return negated(); }, [this] { return word("and"); });
    }
    Expression negated()
    {
        skipSpace();
        const size_t at = m_at;
        return takeWord("not") ? prefixed(Kind::Not, at, [this] { return negated(); }) : comparison();
    }
    Expression comparison()
    {
        static constexpr std::array<std::string_view, 6> signs { "==", "!=", "<=", ">=", "<", ">" };
        Expression left = sum();
        const std::string_view sign = takeOne(signs);
        if (sign.empty()) {
            if (take("="))
                fail("'=' is no comparison, '==' is,");
            return left;
        }
        Expression all;
        all.kind = Kind::Compare;
        all.position = left.position;
        all.operands.push_back(std::move(left));
        all.operands.push_back(sum());
        all.operators = { std::string(sign) };
        if (!takeOne(signs).empty())
            fail("two comparisons in a row");
        return all;
    }
    Expression sum()
    {
        static constexpr std::array<std::string_view, 2> signs { "+", "-" };
        return chain(
            Kind::Sum, [this] { return product(); }, [this] { return takeOne(signs); });
    }
    Expression product()
    {
        static constexpr std::array<std::string_view, 2> signs { "*", "/" };
        return chain(
            Kind::Product, [this] { return factor(); }, [this] { return takeOne(signs); });
    }
    Expression factor()
    {
        skipSpace();
        const size_t at = m_at;
        return take("-") ? prefixed(Kind::Negative, at, [this] { return factor(); }) : primary();
    }
    template <class Operand> Expression prefixed(Kind kind, size_t at, Operand operand)
    {
        Expression all;
        all.kind = kind;
        all.position = at + 1;
        deeper([&] { all.operands.push_back(operand()); });
        return all;
    }
    template <class Inside> void deeper(Inside inside)
    {
        if (m_depth == kDeepestExpression)
            fail("more than " + std::to_string(kDeepestExpression) + " levels");
        if (m_fault)
            return;
        ++m_depth;
        inside();
        --m_depth;
    }

    Expression primary()
    {
        skipSpace();
        Expression value;
        value.position = m_at + 1;
        const char next = m_at < m_text.size() ? m_text[m_at] : '\0';
        if (m_fault)
            return value;
        if (isDigit(next) || next == '.')
            value.constant = number();
        else if (next == '"' || next == '\'')
            value.constant = quoted(next);
        else if (beginsName(next))
            return named(std::move(value));
        else if (take("(")) {
            deeper([&] { value = either(); });
            if (!take(")"))
                fail("a ')' is missing");
        } else {
            fail(m_at < m_text.size() ? "'" + oneLine(m_text.substr(m_at, 1)) + "' is not expected"
                                      : std::string("the expression ends too early"));
        }
        return value;
    }
    double number()
    {
        double value = 0;
        const auto [end, error] = std::from_chars(m_text.data() + m_at, m_text.data() + m_text.size(), value);
        if (error != std::errc() || !std::isfinite(value))
            fail("no number that can be");
        m_at = size_t(end - m_text.data());
        if (m_at < m_text.size() && (beginsName(m_text[m_at]) || m_text[m_at] == '.'))
            fail("a number goes on as a name");
        return value;
    }
    std::string quoted(char quote)
    {
        std::string value;
        const size_t start = m_at++;
        while (m_at < m_text.size() && m_text[m_at] != quote) {
            if (m_text[m_at] == '\\' && m_at + 1 < m_text.size())
                ++m_at;
            value += m_text[m_at++];
        }
        if (m_at == m_text.size()) {
            m_at = start;
            fail("a text without its end");
        }
        ++m_at;
        return value;
    }
    Expression named(Expression value)
    {
        for (const bool truth : { true, false })
            if (takeWord(truth ? "true" : "false")) {
                value.constant = truth;
                return value;
            }
        value.kind = Kind::Path;
        do {
            const std::string_view name = nameHere();
            if (name.empty())
                fail("a name is missing");
            PathPart part { std::string(name), m_at + 1, false, {} };
            m_at += name.size();
            if ((part.called = take("(")))
                arguments(part);
            value.path.push_back(std::move(part));
        } while (!m_fault && take("."));
        return value;
    }
    void arguments(PathPart& part)
    {
        if (take(")"))
            return;
        do {
            deeper([&] { part.arguments.push_back(either()); });
        } while (!m_fault && take(","));
        if (!take(")"))
            fail("a ')' is missing");
    }

    std::string_view m_text;
    size_t m_at = 0, m_depth = 0;
    std::optional<Issue> m_fault;
};

} // namespace

Result<Expression> parseExpression(std::string_view text)
{
    if (text.size() > kLongestExpression)
        return badInput("an expression of " + std::to_string(text.size()) + " bytes, more than "
            + std::to_string(kLongestExpression));
    return ExpressionParser(text).whole();
}

} // namespace qs
