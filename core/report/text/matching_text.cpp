// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/text/matching_text.h"

#include "core/report/format.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

constexpr size_t kShownPairs = 5;

size_t shownOf(size_t all, bool verbose) { return verbose ? all : std::min(all, kShownPairs); }

/// "a, b, c ..."
std::string listOf(const std::vector<std::string>& names, bool verbose)
{
    const size_t shown = shownOf(names.size(), verbose);
    std::string line;
    for (size_t i = 0; i < shown; ++i)
        line += (i ? ", " : "") + names[i];
    return line + (shown < names.size() ? " ..." : "");
}

/// `which`: the file with the nodes.
std::string insideText(
    const char* which, const std::vector<InsideValue>& values, const Graph& graph, const Graph& other, bool verbose)
{
    if (values.empty())
        return {};
    std::map<NodeId, std::vector<std::string>> byNode;
    for (const InsideValue& value : values)
        byNode[value.node].push_back(printable(graph.value(value.value).name));
    std::string out = "\ninside one operator of the " + std::string(which)
        + " file: " + text::counted(values.size(), "value") + " in " + text::counted(byNode.size(), "operator") + "\n";
    size_t left = shownOf(byNode.size(), verbose);
    for (const auto& [node, names] : byNode) {
        if (left-- == 0)
            return out + "  ...\n";
        out += "  " + printable(other.node(node).name) + " (" + printable(other.node(node).opType)
            + "): " + listOf(names, verbose) + "\n";
    }
    return out;
}

std::string unmatchedText(const char* which, const std::vector<ValueId>& values, const std::map<ValueId, WhyAlone>& why,
    const Graph& graph, bool verbose)
{
    if (values.empty())
        return {};
    std::vector<std::string> names;
    for (const ValueId id : values) {
        const auto reason = why.find(id);
        names.push_back(printable(graph.value(id).name)
            + (reason == why.end() ? std::string() : " (" + std::string(whyAloneText(reason->second)) + ")"));
    }
    return "\nwithout a partner in the " + std::string(which) + " file: " + text::counted(values.size(), "value") + ": "
        + listOf(names, verbose) + "\n";
}

/// Values that are the same by their numbers beside the pairs.
std::string linksText(const Snapshot& s, bool verbose)
{
    const auto& links = s.alignment->links;
    if (links.empty())
        return {};
    std::string out = "\nalike by their numbers beside the pairs: " + text::counted(links.size(), "value") + "\n";
    for (size_t i = 0; i < shownOf(links.size(), verbose); ++i)
        out += "  " + printable(s.floatModel->graph().value(links[i].floatValue).name) + " = "
            + printable(s.quantModel->graph().value(links[i].quantValue).name)
            + (links[i].permuted ? ", axes exchanged" : "") + " (" + text::number(links[i].confidence, 2) + ")\n";
    return out;
}

} // namespace

std::string matchingText(const Snapshot& s, bool verbose)
{
    const Graph &f = s.floatModel->graph(), &q = s.quantModel->graph();
    const Alignment& a = *s.alignment;
    return insideText("quantized", a.insideFloat, f, q, verbose) + insideText("float", a.insideQuant, q, f, verbose)
        + unmatchedText("quantized", a.unmatchedFloat, a.whyFloat, f, verbose)
        + unmatchedText("float", a.unmatchedQuant, a.whyQuant, q, verbose) + linksText(s, verbose);
}

} // namespace qs
