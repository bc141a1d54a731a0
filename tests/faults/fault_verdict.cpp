// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/faults/fault_verdict.h"

#include <algorithm>
#include <regex>
#include <set>

namespace qs::test {

namespace {

constexpr int kInternal = 5; ///< exit code: a defect of ours

bool sameFile(const Files& a, const Files& b, const std::string& name)
{
    const auto x = a.find(name), y = b.find(name);
    if (x == a.end() || y == b.end())
        return x == a.end() && y == b.end();
    return masked(name, x->second) == masked(name, y->second);
}

std::set<std::string> names(const Files& a, const Files& b)
{
    std::set<std::string> all;
    for (const Files* files : { &a, &b })
        for (const auto& [name, content] : *files)
            all.insert(name);
    return all;
}

std::string printable(std::string text)
{
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < ' ' && c != '\n'; }, '?');
    return text;
}

/// Without drawings: where Graphviz cannot read its own files, graphs are laid out more simply.
std::string withoutDrawings(std::string html)
{
    constexpr std::string_view kEnd = "</svg>";
    for (size_t begin = html.find("<svg"); begin != std::string::npos; begin = html.find("<svg", begin)) {
        const size_t end = html.find(kEnd, begin);
        html.erase(begin, end == std::string::npos ? end : end + kEnd.size() - begin);
    }
    return html;
}

/// Where both begin to differ, for people.
std::string difference(const std::string& name, const std::string& wanted, const std::string& got)
{
    const std::string a = masked(name, wanted), b = masked(name, got);
    const size_t at = size_t(std::ranges::mismatch(a, b).in1 - a.begin());
    const size_t from = at < 30 ? 0 : at - 30;
    const auto part = [from](const std::string& text) { return text.substr(std::min(from, text.size()), 90); };
    return printable(" (…" + part(a) + "… was …" + part(b) + "…)");
}

std::string contentIn(const Files& files, const std::string& name)
{
    const auto it = files.find(name);
    return it == files.end() ? "no file" : it->second;
}

std::string shortened(const std::string& text) { return text.size() > 400 ? text.substr(0, 400) + " …" : text; }

/// "" or what is wrong with what an unsuccessful run says.
std::string faultOfMessage(const Ending& ending, Fault kind)
{
    const std::string& text = ending.messages;
    if (!text.starts_with("error: ") || std::ranges::count(text, '\n') != 1 || text.back() != '\n')
        return "says not one sentence: " + shortened(text);
    if (kind == Fault::Memory && text.find("memory") == std::string::npos)
        return "does not say that memory ran out: " + shortened(text);
    return {};
}

std::string faultOfResults(const Step& step, const Ended& right, const Ended& disturbed, Fault kind)
{
    std::string wrong;
    bool allOld = true, allNew = true;
    for (const std::string& name : names(step.before, right.files)) {
        const bool isOld = sameFile(disturbed.files, step.before, name);
        const bool isNew = sameFile(disturbed.files, right.files, name);
        // A file that nobody needs any more could not be removed.
        const bool stays = kind == Fault::Name && isOld && !right.files.contains(name);
        allOld = allOld && isOld;
        allNew = allNew && (isNew || stays);
        if (!isOld && !isNew)
            wrong += name + " is neither the old one nor the new one"
                + difference(name, contentIn(right.files, name), contentIn(disturbed.files, name)) + "; ";
    }
    if (step.together && !allOld && !allNew)
        wrong += "some results are old, others new; ";
    const int code = disturbed.ending.code;
    if (code == right.ending.code && !allNew)
        wrong += "ended with " + std::to_string(code) + " without the right results; ";
    return wrong;
}

} // namespace

Files filesIn(const std::filesystem::path& folder)
{
    Files files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        files[entry.path().filename().string()] = contentOf(entry.path());
    return files;
}

std::string masked(const std::string& name, const std::string& content)
{
    static const std::regex json(R"re("(time_ms": \{[^}]*\}|peak_memory_bytes": \d+|bytes": (\d+|null)))re"),
        html(R"re([0-9.]+ (ms|s|MB)\b|[ >]+([0-9.]+ kB|-|–)[ <]+| ?data-key="\d+")re"),
        xml(R"re( (time|timestamp)="[^"]+")re");
    const auto ends = [&](const char* suffix) { return name.ends_with(suffix); };
    if (ends(".json"))
        return std::regex_replace(content, json, "");
    if (ends(".html") || ends(".md") || name.empty())
        return std::regex_replace(withoutDrawings(content), html, "");
    return ends(".xml") ? std::regex_replace(content, xml, "") : content;
}

std::string fault(const Step& step, const Ended& right, const Ended& disturbed, Fault kind)
{
    const Ending& ending = disturbed.ending;
    if (ending.hung)
        return "hangs";
    if (ending.signal != 0)
        return "dies of signal " + std::to_string(ending.signal) + ": " + shortened(ending.messages);
    if (ending.code < 0 || ending.code >= kInternal)
        return "ends with " + std::to_string(ending.code) + ": " + shortened(ending.messages);
    const bool told = ending.code == 1 || ending.out.find("\"error\":") != std::string::npos
        || ending.out.find("taken back") != std::string::npos;
    if (step.judges && told)
        return {};
    std::string wrong = faultOfResults(step, right, disturbed, kind);
    if (ending.code != right.ending.code)
        wrong += ending.code < 2 ? "ends with " + std::to_string(ending.code) : faultOfMessage(ending, kind);
    else if (masked({}, ending.out) != masked({}, right.ending.out))
        wrong += "prints something else" + difference({}, right.ending.out, ending.out);
    return wrong;
}

std::vector<std::string> litter(const Step& step, const Ended& right, const Files& files)
{
    std::vector<std::string> others;
    for (const auto& [name, content] : files)
        if (!step.before.contains(name) && !right.files.contains(name))
            others.push_back(name);
    return others;
}

} // namespace qs::test
