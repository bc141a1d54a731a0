// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gate/gate_file.h"

#include "core/base/name_pattern.h"
#include "core/base/text/nearest_names.h"

// Its parser recurses into values and its tables into dotted keys: see kMostDots.
#define TOML_EXCEPTIONS 0
#define TOML_MAX_NESTED_VALUES 16
// What it asserts of a text does not hold for every one ("[[[a]]]"); it finds the fault itself right behind.
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/impl/preprocessor.h>
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expression) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qs {

namespace {

constexpr uint64_t kMostBytes = 1 << 20;
/// In one line. Each dot between keys is a table in a table, and no key goes over a line's end.
constexpr std::ptrdiff_t kMostDots = 64;

/// One table of the file: its values, asked for by key.
class Section {
public:
    Section(const std::string& file, std::string name, const toml::table& table)
        : m_file(file)
        , m_name(std::move(name))
        , m_table(table)
    {
    }
    int line() const { return static_cast<int>(m_table.source().begin.line); }
    bool has(std::string_view key) const { return m_table.contains(key); }

    /// An issue of a place in this file.
    Issue fault(int line, const std::string& what, std::string remedy) const
    {
        return badInput(fmt::format("line {}: {}", line, what), m_file, std::move(remedy));
    }
    Status onlyKeys(const std::vector<std::string>& known) const
    {
        for (const auto& [key, value] : m_table) {
            const std::string name(key.str());
            if (std::ranges::find(known, name) != known.end())
                continue;
            return fault(static_cast<int>(key.source().begin.line), fmt::format("{} has no key '{}'", m_name, name),
                fmt::format("its keys are '{}'", fmt::join(known, "', '")));
        }
        return {};
    }
    /// Of a key that is there.
    Result<double> number(GateRule rule) const
    {
        const std::string key(gateRuleInfo(rule).key);
        const toml::node& node = *m_table.get(key);
        const bool given = node.is_integer() || node.is_floating_point();
        const double value = given ? *node.value<double>() : 0;
        if (const auto wanted = given ? faultOf(rule, value) : "a number")
            return fault(
                lineOf(node), fmt::format("{} of {} is not {}", key, m_name, *wanted), "give one, without quotes");
        return value;
    }
    Result<std::string> text(const std::string& key) const
    {
        const toml::node& node = *m_table.get(key);
        const std::string value = node.is_string() ? *node.value<std::string>() : std::string();
        if (value.empty() || value.find('\0') != std::string::npos)
            return fault(lineOf(node), fmt::format("{} of {} is not a text with something in it", key, m_name),
                "give one, in quotes");
        return value;
    }
    Status needs(const std::string& key) const
    {
        if (has(key))
            return {};
        return fault(line(), fmt::format("{} has no {}, so nothing would be checked", m_name, key),
            "give it, or take the part out");
    }
    const toml::table& table() const { return m_table; }
    static int lineOf(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

private:
    const std::string& m_file;
    std::string m_name;
    const toml::table& m_table;
};

std::string fileNameOf(const std::string& path) { return std::filesystem::path(path).filename().string(); }

Status readOutputs(const Section& section, Gates& gates)
{
    QS_CHECK(section.onlyKeys({ "min_sqnr_db", "max_accuracy_drop", "min_top1" }));
    for (const GateRule rule : { GateRule::OutputSqnr, GateRule::AccuracyDrop, GateRule::Top1 }) {
        const std::string key(gateRuleInfo(rule).key);
        if (!section.has(key))
            continue;
        QS_TRY(const double value, section.number(rule));
        gates.outputs.push_back({ rule, value, key + " in " + fileNameOf(gates.path) });
    }
    if (gates.outputs.empty())
        return section.fault(section.line(), "[outputs] is empty, so nothing would be checked",
            "give min_sqnr_db, max_accuracy_drop or min_top1");
    return {};
}

Status readTensor(const Section& section, Gates& gates)
{
    QS_CHECK(section.onlyKeys({ "name", "min_sqnr_db" }));
    QS_CHECK(section.needs("name"));
    QS_CHECK(section.needs("min_sqnr_db"));
    QS_TRY(const std::string pattern, section.text("name"));
    QS_TRY(const double limit, section.number(GateRule::TensorSqnr));
    if (auto tried = matchNames(pattern, {}); tried.issue().kind == IssueKind::BadUse) { // no regular expression
        Issue issue = tried.issue();
        issue.kind = IssueKind::BadInput; // of a file, not of an option
        issue.file = gates.path;
        issue.what = fmt::format("line {}: {}", section.line(), issue.what);
        return issue;
    }
    gates.tensors.push_back({ pattern, limit, section.line() });
    return {};
}

Status readFindings(const Section& section, Gates& gates)
{
    QS_CHECK(section.onlyKeys({ "fail_on", "ignore" }));
    QS_CHECK(section.needs("fail_on"));
    QS_TRY(const std::string severity, section.text("fail_on"));
    if (severity != "error" && severity != "warning")
        return section.fault(Section::lineOf(*section.table().get("fail_on")),
            "fail_on of [findings] is neither \"error\" nor \"warning\"", "write one of them");
    gates.findings = FindingLimit { severity == "error" ? Severity::Error : Severity::Warning, {} };
    const toml::node* const ignored = section.table().get("ignore");
    if (!ignored)
        return {};
    if (!ignored->is_array())
        return section.fault(Section::lineOf(*ignored), "ignore of [findings] is not a list of rules",
            "write rules in quotes, as [\"range_too_large\"]");
    std::vector<std::string> ids;
    for (const RuleInfo& rule : ruleTable())
        ids.emplace_back(rule.id);
    for (const toml::node& item : *ignored->as_array()) {
        if (!item.is_string())
            return section.fault(Section::lineOf(item), "ignore of [findings] holds what is no text",
                "write rules in quotes, as [\"range_too_large\"]");
        const std::string id = *item.value<std::string>();
        const auto known = std::ranges::find(ids, id);
        if (known == ids.end()) {
            const auto near = nearestNames(id, ids, 1);
            return section.fault(Section::lineOf(item), "ignore of [findings] names '" + id + "', which is no rule",
                near.empty() ? "docs/metrics.md lists the rules" : "did you mean '" + near.front() + "'?");
        }
        gates.findings->ignored.push_back(ruleTable()[size_t(known - ids.begin())].rule);
    }
    return {};
}

Status readBaselinePart(const Section& section, Gates& gates)
{
    QS_CHECK(section.onlyKeys({ "file", "max_loss_db" }));
    QS_CHECK(section.needs("file"));
    QS_CHECK(section.needs("max_loss_db"));
    QS_TRY(const std::string file, section.text("file"));
    QS_TRY(const double limit, section.number(GateRule::Loss));
    const std::string path = (std::filesystem::path(gates.path).parent_path() / file).string();
    QS_TRY(Baseline before, readBaseline(path));
    gates.baseline = BaselineLimit { path, limit, std::move(before) };
    return {};
}

Status readTensors(const Section& root, const toml::node& list, Gates& gates)
{
    const toml::array* const array = list.as_array();
    if (!array || array->empty() || !array->is_homogeneous(toml::node_type::table))
        return root.fault(Section::lineOf(list), "tensors is not a list of tables with something in it",
            "write [[tensors]] before each name");
    for (const toml::node& item : *array)
        QS_CHECK(readTensor({ gates.path, "[[tensors]]", *item.as_table() }, gates));
    return {};
}

Status readParts(const toml::table& table, Gates& gates)
{
    const Section root(gates.path, "the gate file", table);
    QS_CHECK(root.onlyKeys({ "outputs", "tensors", "findings", "baseline" }));
    if (const toml::node* const tensors = table.get("tensors"))
        QS_CHECK(readTensors(root, *tensors, gates));
    using Read = Status (*)(const Section&, Gates&);
    constexpr std::pair<const char*, Read> kParts[] { { "outputs", readOutputs }, { "findings", readFindings },
        { "baseline", readBaselinePart } };
    for (const auto& [key, read] : kParts) {
        const toml::node* const part = table.get(key);
        if (part && !part->is_table())
            return root.fault(
                Section::lineOf(*part), fmt::format("{} is not a table", key), fmt::format("write [{}]", key));
        if (part)
            QS_CHECK(read({ gates.path, fmt::format("[{}]", key), *part->as_table() }, gates));
    }
    return {};
}

/// The line that would make tables within tables deeper than the stack may be; 0: none.
int overlongKey(std::string_view text)
{
    int line = 1;
    for (size_t begin = 0; begin < text.size(); ++line) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        if (std::ranges::count(text.substr(begin, end - begin), '.') > kMostDots)
            return line;
        begin = end + 1;
    }
    return 0;
}

} // namespace

Result<Gates> readGateFile(const std::string& path)
{
    auto text = readBounded(path, kMostBytes);
    if (!text) {
        Issue issue = std::move(text).issue();
        issue.remedy = "give a gate file with --gate; docs/ci.md shows one";
        return issue;
    }
    if (const int line = overlongKey(*text))
        return badInput(
            fmt::format("line {}: has more than {} dots", line, kMostDots), path, "write it on several lines");
    const toml::parse_result parsed = toml::parse(std::string_view(*text));
    if (!parsed)
        return badInput(
            fmt::format("line {}: is no TOML: {}", parsed.error().source().begin.line, parsed.error().description()),
            path, "mend it; docs/ci.md shows a gate file");
    Gates gates;
    gates.path = path;
    QS_CHECK(readParts(parsed.table(), gates));
    if (!gates.any())
        return badInput("the gate file asks for nothing, so nothing would be checked", path,
            "give it [outputs], [[tensors]], [findings] or [baseline]");
    return gates;
}

} // namespace qs
