// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/file/lesson_markdown.h"

#include "core/base/text/one_line.h"

#include <algorithm>
#include <optional>

namespace qs {

namespace {

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text)
{
    const size_t from = text.find_first_not_of(" \t\r");
    return from == std::string_view::npos ? std::string_view()
                                          : text.substr(from, text.find_last_not_of(" \t\r") + 1 - from);
}

/// Calls each(line, number, code) for each line; `code`: it belongs to a fenced block.
template <class Each> void forEachLine(std::string_view text, size_t first, Each each)
{
    std::string_view fence;
    for (size_t number = first; !text.empty(); ++number) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::string_view bare = trimmed(line);
        // Only at the left edge, where no list or quotation can end the block early: what else looks like one is text.
        const bool border = line.starts_with("```") || line.starts_with("~~~");
        const std::string_view mark
            = border ? bare.substr(0, std::min(bare.find_first_not_of(bare.front()), bare.size())) : std::string_view();
        const bool opens = border && (bare.front() == '~' || bare.find('`', mark.size()) == std::string_view::npos);
        const bool inside = !fence.empty();
        if (inside && border && mark.starts_with(fence) && mark.size() == bare.size())
            fence = {};
        else if (!inside && opens)
            fence = mark;
        each(line, number, inside || opens);
    }
}

/// "https", in lower case; empty where the target has no scheme.
std::string schemeOf(std::string_view target)
{
    const size_t colon = target.find(':');
    if (colon == std::string_view::npos || target.substr(0, colon).find_first_of("/?#") != std::string_view::npos)
        return {};
    std::string scheme(target.substr(0, colon));
    std::ranges::transform(scheme, scheme.begin(), lower);
    return scheme;
}

class MarkupCheck {
public:
    explicit MarkupCheck(std::vector<std::string>& files)
        : m_files(files)
    {
    }
    std::optional<Issue> fault;

    void line(std::string_view text, size_t number)
    {
        m_number = number;
        bool picture = false; // between "![" and its "]"
        for (size_t i = 0; i < text.size() && !fault; ++i) {
            const std::string_view rest = text.substr(i);
            if (text[i] == '\\')
                ++i;
            else if (text[i] == '`')
                i = codeEnd(text, i);
            else if (text[i] == '<' && i + 1 < text.size())
                angle(rest.substr(1));
            else if (rest.starts_with("!["))
                picture = true;
            else if (text[i] == ']') {
                if (rest.starts_with("](") || rest.starts_with("]:")) // the second defines what references lead to
                    target(trimmed(rest.substr(2)), picture);
                if (picture && !rest.starts_with("]("))
                    fail("has a picture that is not written as ![text](file)");
                picture = false;
            }
        }
        if (picture)
            fail("has a picture that is not written as ![text](file)");
    }

private:
    void fail(const std::string& what)
    {
        if (!fault)
            fault = badInput("line " + std::to_string(m_number) + " " + what);
    }
    /// Last byte of the code span that begins here; the run of backquotes itself where it has no end.
    static size_t codeEnd(std::string_view text, size_t start)
    {
        const size_t after = std::min(text.find_first_not_of('`', start), text.size());
        const std::string_view run = text.substr(start, after - start);
        for (size_t end = text.find(run, after); end != std::string_view::npos; end = text.find(run, end)) {
            const size_t next = std::min(text.find_first_not_of('`', end), text.size());
            if (next - end == run.size())
                return next - 1;
            end = next;
        }
        return after - 1;
    }
    void angle(std::string_view behind)
    {
        const std::string_view address = behind.substr(0, std::min(behind.find('>'), behind.size()));
        if (const std::string scheme = schemeOf(address); scheme == "https" || scheme == "http")
            return; // a link that is its own text
        if (isLetter(behind.front()) || behind.front() == '/' || behind.front() == '!' || behind.front() == '?')
            fail("holds raw HTML: '<" + oneLine(behind, 20) + "'");
    }
    void target(std::string_view text, bool picture)
    {
        if (text.empty())
            fail("has a link that goes on in the next line");
        const bool pointed = text.starts_with('<');
        const std::string_view name = pointed ? text.substr(1, std::min(text.find('>'), text.size()) - 1)
                                              : text.substr(0, std::min(text.find_first_of(" )\t"), text.size()));
        const std::string scheme = schemeOf(name);
        const std::string shown = "'" + oneLine(name, 80) + "'";
        if ((picture && !scheme.empty()) || name.starts_with("//"))
            fail("has the picture or link " + shown + ", which lies outside of the lesson's folder");
        else if (!scheme.empty() && scheme != "https" && scheme != "http")
            fail("has a link to " + shown + "; links lead to files of the lesson, or to http and https");
        else if (const auto file = name.substr(0, name.find('#')); scheme.empty() && !file.empty())
            m_files.emplace_back(file);
    }

    std::vector<std::string>& m_files;
    size_t m_number = 0;
};

} // namespace

std::string anchorOf(std::string_view title)
{
    std::string anchor;
    for (const char c : title) {
        const char small = lower(c);
        if (isLetter(small) || (small >= '0' && small <= '9'))
            anchor += small;
        else if ((c == ' ' || c == '-') && !anchor.empty() && anchor.back() != '-')
            anchor += '-';
    }
    while (anchor.ends_with('-'))
        anchor.pop_back();
    return anchor;
}

Status checkMarkup(std::string_view text, size_t first, std::vector<std::string>& files)
{
    MarkupCheck check(files);
    forEachLine(text, first, [&](std::string_view line, size_t number, bool code) {
        if (!code)
            check.line(line, number);
    });
    if (check.fault)
        return *check.fault;
    return {};
}

Result<LessonMarkdown> readMarkdown(std::string_view text)
{
    LessonMarkdown found;
    QS_CHECK(checkMarkup(text, 1, found.files));
    forEachLine(text, 1, [&](std::string_view line, size_t number, bool code) {
        if (!code && line.starts_with("## ")) {
            const std::string title(trimmed(line.substr(3)));
            found.sections.push_back({ title, anchorOf(title), {}, number });
            return;
        }
        if (!code && number == 1 && line.starts_with("# "))
            return; // lesson.json has the title
        std::string& into = found.sections.empty() ? found.introduction : found.sections.back().text;
        into += std::string(line) + "\n";
    });
    return found;
}

} // namespace qs
