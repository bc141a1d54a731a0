// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/text_ml/pattern.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace qs {

namespace {

using Kind = Pattern::Kind;
using Step = Pattern::Step;
using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

constexpr size_t kMostSteps = 100'000;
constexpr int kDeepest = 200; ///< nested groups
constexpr int64_t kMostRepeats = 1000; ///< as in RE2

/// Code points; bytes that are no UTF-8 stand for themselves.
std::vector<uint32_t> codePoints(const std::string& text)
{
    std::vector<uint32_t> out;
    for (size_t i = 0; i < text.size();) {
        const auto byte = [&](size_t k) { return uint32_t(static_cast<unsigned char>(text[k])); };
        const uint32_t lead = byte(i);
        const size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
        uint32_t point = more == 0 ? lead : lead & (0x3Fu >> more);
        bool whole = i + more < text.size();
        for (size_t k = 1; whole && k <= more; ++k) {
            whole = (byte(i + k) & 0xC0) == 0x80;
            point = point << 6 | (byte(i + k) & 0x3F);
        }
        out.push_back(whole ? point : lead);
        i += whole ? more + 1 : 1;
    }
    return out;
}

const Ranges kWord { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } };
const Ranges kDigit { { '0', '9' } };
const Ranges kSpace { { '\t', '\n' }, { '\f', '\r' }, { ' ', ' ' } };

bool within(const Ranges& ranges, uint32_t c)
{
    return std::ranges::any_of(ranges, [c](const auto& r) { return c >= r.first && c <= r.second; });
}

Ranges complement(Ranges ranges)
{
    std::ranges::sort(ranges);
    Ranges out;
    uint32_t next = 0;
    for (const auto& [low, high] : ranges) {
        if (low > next)
            out.emplace_back(next, low - 1);
        next = std::max(next, high + 1);
    }
    out.emplace_back(next, 0x10FFFF);
    return out;
}

/// Ranges of \d, \w, \s and their opposites.
std::optional<Ranges> classOf(uint32_t letter)
{
    const Ranges* plain = nullptr;
    switch (letter | 0x20) {
    case 'd':
        plain = &kDigit;
        break;
    case 'w':
        plain = &kWord;
        break;
    case 's':
        plain = &kSpace;
        break;
    default:
        return std::nullopt;
    }
    return letter & 0x20 ? *plain : complement(*plain);
}

using Fragment = std::vector<Step>;

Fragment joined(Fragment a, const Fragment& b)
{
    if (a.size() + b.size() > kMostSteps)
        throw std::runtime_error("is too long");
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
Fragment step(Kind kind, int64_t first = 0, int64_t second = 0) { return { { kind, {}, first, second } }; }
int64_t length(const Fragment& f) { return static_cast<int64_t>(f.size()); }
Fragment either(const Fragment& a, const Fragment& b)
{
    return joined(joined(joined(step(Kind::Split, 1, length(a) + 2), a), step(Kind::Jump, length(b) + 1)), b);
}
Fragment anyNumber(const Fragment& a)
{
    return joined(joined(step(Kind::Split, 1, length(a) + 2), a), step(Kind::Jump, -length(a) - 1));
}
/// most < 0: without end.
Fragment repeated(const Fragment& a, int64_t least, int64_t most)
{
    Fragment rest = most < 0 ? anyNumber(a) : Fragment();
    for (int64_t i = least; i < most; ++i) {
        const Fragment inner = joined(a, rest);
        rest = joined(step(Kind::Split, 1, length(inner) + 1), inner);
    }
    Fragment out;
    for (int64_t i = 0; i < least; ++i)
        out = joined(std::move(out), a);
    return joined(std::move(out), rest);
}
Fragment oneOf(Ranges ranges) { return { { Kind::Set, std::move(ranges), 0, 0 } }; }

/// Recursive descent; throws std::runtime_error for what is no pattern.
class Parser {
public:
    explicit Parser(const std::string& text)
        : m_text(codePoints(text))
    {
    }
    Fragment program()
    {
        const Fragment all = alternatives(0);
        if (more())
            fail("has a ')' too many");
        return joined(all, step(Kind::Match));
    }

private:
    [[noreturn]] static void fail(const std::string& what) { throw std::runtime_error(what); }
    bool more() const { return m_at < m_text.size(); }
    bool take(uint32_t c)
    {
        const bool there = more() && m_text[m_at] == c;
        m_at += there ? 1 : 0;
        return there;
    }
    uint32_t next()
    {
        if (!more())
            fail("ends too early");
        return m_text[m_at++];
    }

    Fragment alternatives(int depth)
    {
        if (depth > kDeepest)
            fail("is nested too deeply");
        Fragment all = sequence(depth);
        while (take('|'))
            all = either(all, sequence(depth));
        return all;
    }
    Fragment sequence(int depth)
    {
        Fragment all;
        while (more() && m_text[m_at] != '|' && m_text[m_at] != ')')
            all = joined(std::move(all), quantified(atom(depth)));
        return all;
    }
    Fragment quantified(Fragment a)
    {
        for (;;) {
            if (take('*'))
                a = repeated(a, 0, -1);
            else if (take('+'))
                a = repeated(a, 1, -1);
            else if (take('?'))
                a = repeated(a, 0, 1);
            else if (const auto n = counts())
                a = repeated(a, n->first, n->second);
            else
                return a;
            take('?'); // a lazy one matches the same whole texts
        }
    }
    /// {n}, {n,} or {n,m}; anything else after a brace is a literal.
    std::optional<std::pair<int64_t, int64_t>> counts()
    {
        const size_t before = m_at;
        const auto number = [&]() -> int64_t {
            int64_t n = -1;
            while (more() && within(kDigit, m_text[m_at]))
                n = std::min<int64_t>(std::max<int64_t>(n, 0) * 10 + next() - '0', kMostRepeats + 1);
            return n;
        };
        const int64_t least = take('{') ? number() : -1;
        const bool open = least >= 0 && take(',');
        const int64_t most = open ? number() : least;
        if (least < 0 || !take('}')) {
            m_at = before;
            return std::nullopt;
        }
        if (least > kMostRepeats || most > kMostRepeats || (most >= 0 && most < least))
            fail("repeats too often");
        return std::pair(least, most);
    }
    Fragment atom(int depth)
    {
        const uint32_t c = next();
        switch (c) {
        case '(':
            return group(depth);
        case '[':
            return oneOf(set());
        case '.':
            return oneOf({ { 0, 9 }, { 11, 0x10FFFF } });
        case '^':
            return step(Kind::Begin);
        case '$':
            return step(Kind::End);
        case '*':
        case '+':
        case '?':
            fail("repeats nothing");
        case '\\':
            break;
        default:
            return oneOf({ { c, c } });
        }
        if (take('b'))
            return step(Kind::WordBorder);
        if (take('B'))
            return step(Kind::NoWordBorder);
        if (take('A'))
            return step(Kind::Begin);
        if (take('z'))
            return step(Kind::End);
        return oneOf(escaped());
    }
    Fragment group(int depth)
    {
        if (take('?') && !take(':')) {
            take('P');
            if (!take('<'))
                fail("has flags, which are not supported");
            while (next() != '>') { }
        }
        const Fragment inner = alternatives(depth + 1);
        if (!take(')'))
            fail("lacks a ')'");
        return inner;
    }
    /// What follows a backslash, as a set.
    Ranges escaped()
    {
        const uint32_t c = next();
        if (const auto ranges = classOf(c))
            return *ranges;
        static const std::string letters = "tnrfva", values = "\t\n\r\f\v\a";
        if (const size_t i = c < 128 ? letters.find(char(c)) : std::string::npos; i != std::string::npos)
            return { { uint32_t(values[i]), uint32_t(values[i]) } };
        if (within(kWord, c))
            fail("has an escape that is not supported");
        return { { c, c } };
    }
    /// After the opening bracket.
    Ranges set()
    {
        const bool inverted = take('^');
        Ranges all;
        for (bool first = true; first || !take(']'); first = false) {
            const uint32_t c = next();
            if (c == '[' && more() && m_text[m_at] == ':')
                fail("has a named class, which is not supported");
            Ranges part = c == '\\' ? escaped() : Ranges { { c, c } };
            const bool single = part.size() == 1 && part[0].first == part[0].second;
            if (single && m_at + 1 < m_text.size() && m_text[m_at] == '-' && m_text[m_at + 1] != ']') {
                ++m_at;
                const uint32_t end = next();
                const Ranges last = end == '\\' ? escaped() : Ranges { { end, end } };
                if (last.size() != 1 || last[0].first < part[0].first)
                    fail("has a range in the wrong order");
                part[0].second = last[0].second;
            }
            all.insert(all.end(), part.begin(), part.end());
        }
        return inverted ? complement(all) : all;
    }

    std::vector<uint32_t> m_text;
    size_t m_at = 0;
};

/// The steps that are alive at one place of the text.
class Threads {
public:
    Threads(const std::vector<Step>& steps, const std::vector<uint32_t>& text)
        : m_steps(steps)
        , m_text(text)
        , m_seen(steps.size(), 0)
    {
    }
    /// Follows everything that takes no code point.
    void add(size_t start, size_t place)
    {
        m_stack.assign(1, start);
        while (!m_stack.empty()) {
            const size_t at = m_stack.back();
            m_stack.pop_back();
            if (m_seen[at] == place + 1)
                continue;
            m_seen[at] = place + 1;
            const Step& s = m_steps[at];
            const auto target = [&](int64_t by) { return static_cast<size_t>(static_cast<int64_t>(at) + by); };
            if (s.kind == Kind::Set || s.kind == Kind::Match)
                alive.push_back(at);
            else if (s.kind == Kind::Jump)
                m_stack.push_back(target(s.first));
            else if (s.kind == Kind::Split)
                m_stack.insert(m_stack.end(), { target(s.second), target(s.first) });
            else if (holds(s.kind, place))
                m_stack.push_back(at + 1);
        }
    }
    std::vector<size_t> alive;

private:
    bool holds(Kind kind, size_t place) const
    {
        if (kind == Kind::Begin || kind == Kind::End)
            return place == (kind == Kind::Begin ? 0 : m_text.size());
        const bool before = place > 0 && within(kWord, m_text[place - 1]);
        const bool after = place < m_text.size() && within(kWord, m_text[place]);
        return (before != after) == (kind == Kind::WordBorder);
    }
    const std::vector<Step>& m_steps;
    const std::vector<uint32_t>& m_text;
    std::vector<size_t> m_seen; ///< place + 1 where a step was last added
    std::vector<size_t> m_stack;
};

} // namespace

Result<Pattern> Pattern::compile(const std::string& text)
{
    try {
        Pattern p;
        p.m_steps = Parser(text).program();
        return p;
    } catch (const std::runtime_error& e) {
        return badInput("the pattern '" + text + "' " + e.what());
    }
}

bool Pattern::matches(const std::string& text) const
{
    const std::vector<uint32_t> points = codePoints(text);
    Threads threads(m_steps, points);
    threads.add(0, 0);
    for (size_t place = 0; place < points.size() && !threads.alive.empty(); ++place) {
        std::vector<size_t> alive;
        alive.swap(threads.alive);
        for (size_t at : alive)
            if (m_steps[at].kind == Kind::Set && within(m_steps[at].ranges, points[place]))
                threads.add(at + 1, place + 1);
    }
    return std::ranges::any_of(threads.alive, [&](size_t at) { return m_steps[at].kind == Kind::Match; });
}

} // namespace qs
