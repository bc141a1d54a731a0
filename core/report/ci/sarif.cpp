// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"
#include "core/base/text/one_line.h"
#include "core/base/version.h"
#include "core/report/ci/ci_reports.h"
#include "core/report/ci/ci_text.h"

#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostOfName = 1000; ///< characters

/// In messages brackets would be links and braces arguments.
std::string plainMessage(const std::string& text)
{
    std::string made;
    for (const char c : oneLine(text)) {
        if (c == '[' || c == ']' || c == '\\')
            made += '\\';
        if (c == '{' || c == '}')
            made += c;
        made += c;
    }
    return made;
}

Json message(const std::string& text) { return { { "text", plainMessage(text) } }; }

std::string_view levelOf(Severity severity) { return severityName(severity); } // SARIF has the same words

Json ruleJson(std::string_view id, const std::string& title, std::string_view explanation, std::string_view level)
{
    return { { "id", std::string(id) }, { "shortDescription", message(title) },
        { "fullDescription", message(std::string(explanation)) },
        { "defaultConfiguration", { { "level", std::string(level) } } } };
}

/// Findings' rules in the order of their table, then those of gates.
Json rules()
{
    Json list = Json::array();
    for (const RuleInfo& rule : ruleTable()) {
        const std::string title = ruleTitle(rule.rule, "a place");
        list.push_back(
            ruleJson(rule.id, title.empty() ? std::string(rule.id) : title, rule.explanation, levelOf(rule.severity)));
    }
    for (const GateRuleInfo& rule : gateRuleTable())
        list.push_back(ruleJson(rule.id, std::string(rule.title), rule.explanation, "error"));
    return list;
}

Json logicalLocation(const std::string& name, const char* kind)
{
    const std::string shown = oneLine(name, kMostOfName);
    return { { "name", shown }, { "fullyQualifiedName", shown }, { "kind", kind } };
}

/// In the model file. It has no lines, but who shows results beside files asks for one.
Json location(const std::string& uri, const std::string& node, const std::string& tensor)
{
    Json place = { { "physicalLocation",
        { { "artifactLocation", { { "uri", uri } } }, { "region", { { "startLine", 1 } } } } } };
    if (!node.empty())
        place["logicalLocations"].push_back(logicalLocation(node, "node"));
    if (!tensor.empty())
        place["logicalLocations"].push_back(logicalLocation(tensor, "tensor"));
    return place;
}

Json result(std::string_view rule, size_t ruleIndex, std::string_view level, const std::string& text, Json place,
    const std::string& key)
{
    return { { "ruleId", std::string(rule) }, { "ruleIndex", ruleIndex }, { "level", std::string(level) },
        { "message", message(text) }, { "locations", Json::array({ std::move(place) }) },
        { "partialFingerprints", { { "quantscope/v1", hashText(key).hex() } } } };
}

Json findingResult(const Finding& f, const std::optional<Accuracy>& accuracy, const std::string& uri)
{
    const std::string key = std::string(ruleId(f.rule)) + '\n' + f.node + '\n' + f.tensor;
    return result(ruleId(f.rule), static_cast<size_t>(f.rule), levelOf(f.severity), ci::findingText(f, accuracy),
        location(uri, f.node, f.tensor), key);
}

Json missedResult(const GateCheck& check, const std::string& uri)
{
    const GateRuleInfo& rule = gateRuleInfo(check.rule);
    return result(rule.id, ruleTable().size() + static_cast<size_t>(check.rule), "error", check.sentence,
        location(uri, {}, check.place), std::string(rule.id) + '\n' + check.place);
}

Json results(const Snapshot& s, const Judgement& judgement)
{
    const std::string uri = ci::relativeUri(ci::modelPath(s));
    Json list = Json::array();
    for (const Finding& f : s.comparison->findings)
        list.push_back(findingResult(f, s.comparison->accuracy, uri));
    for (const GateCheck& check : judgement.checks) {
        if (judgement.asked && check.finding && check.verdict == GateVerdict::NotJudged)
            list[*check.finding]["suppressions"].push_back(
                { { "kind", "external" }, { "justification", "ignored by the gate file" } });
        if (check.finding && check.verdict == GateVerdict::Missed)
            list[*check.finding]["properties"]["gate"] = "missed";
        else if (check.verdict == GateVerdict::Missed)
            list.push_back(missedResult(check, uri));
    }
    return list;
}

} // namespace

std::string compareSarif(const Snapshot& s, const Judgement& judgement)
{
    const Json driver = { { "name", "Quantscope" }, { "version", kVersion }, { "rules", rules() } };
    const Json run = { { "tool", { { "driver", driver } } }, { "columnKind", "unicodeCodePoints" },
        { "results", results(s, judgement) }, { "properties", { { "compared", oneLine(ci::comparedText(s)) } } } };
    const Json log = { { "$schema", "https://json.schemastore.org/sarif-2.1.0.json" }, { "version", "2.1.0" },
        { "runs", Json::array({ run }) } };
    return visible(log.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

} // namespace qs
