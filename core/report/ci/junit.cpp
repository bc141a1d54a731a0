// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text/one_line.h"
#include "core/report/ci/ci_reports.h"
#include "core/report/ci/ci_text.h"
#include "core/report/html/html_parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace qs {

namespace {

/// Text in an attribute or an element.
std::string xml(std::string_view text) { return html::escaped(oneLine(text)); }

/// Of the shape that both JUnit's Ant schema and Jenkins' accept.
std::string testCase(const GateCheck& check, const Comparison& c)
{
    const GateRuleInfo& rule = gateRuleInfo(check.rule);
    std::string name(rule.key);
    if (check.finding)
        name = ruleId(c.findings[*check.finding].rule);
    if (!check.place.empty())
        name += ": " + check.place;
    std::string element = fmt::format(
        "    <testcase classname=\"quantscope.{}\" name=\"{}\" time=\"0\"", nameIn(kGateSuites, rule.suite), xml(name));
    const std::string message = xml(check.sentence);
    const std::string more = check.finding ? xml(ci::findingText(c.findings[*check.finding], c.accuracy)) : message;
    if (check.verdict == GateVerdict::Passed)
        return element + "/>\n";
    if (check.verdict == GateVerdict::NotJudged)
        return element + fmt::format(">\n      <skipped message=\"{}\">{}</skipped>\n    </testcase>\n", message, more);
    return element
        + fmt::format(
            ">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n", rule.id, message, more);
}

std::string properties(const Snapshot& s, const Judgement& judgement)
{
    const std::pair<const char*, std::string> all[] { { "float", s.floatModel->model->path },
        { "quantized", s.quantModel->model->path }, { "data", s.inputs.data.spec },
        { "arithmetic", std::string(profileName(s.comparison->profile)) },
        { "samples", std::to_string(s.comparison->samples) }, { "gate", judgement.gateFile } };
    std::string made = "    <properties>\n";
    for (const auto& [name, value] : all)
        made += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml(value));
    return made + "    </properties>\n";
}

} // namespace

std::string compareJunit(const Snapshot& s, const Judgement& judgement, const std::string& timestamp)
{
    std::string made = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
    int id = 0;
    for (const auto& [suite, suiteName] : kGateSuites) {
        std::string cases;
        size_t tests = 0, failures = 0, skipped = 0;
        for (const GateCheck& check : judgement.checks) {
            if (gateRuleInfo(check.rule).suite != suite)
                continue;
            ++tests;
            failures += size_t(check.verdict == GateVerdict::Missed);
            skipped += size_t(check.verdict == GateVerdict::NotJudged);
            cases += testCase(check, *s.comparison);
        }
        if (tests == 0)
            continue;
        made
            += fmt::format("  <testsuite name=\"{0}\" package=\"quantscope\" id=\"{1}\" tests=\"{2}\" failures=\"{3}\" "
                           "errors=\"0\" skipped=\"{4}\" time=\"0\" timestamp=\"{5}\" hostname=\"localhost\">\n",
                suiteName, id++, tests, failures, skipped, timestamp);
        made += properties(s, judgement) + cases + "    <system-out/>\n    <system-err/>\n  </testsuite>\n";
    }
    return made + "</testsuites>\n";
}

} // namespace qs
