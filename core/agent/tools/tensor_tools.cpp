// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/tools/answer_parts.h"

#include "core/base/text/nearest_names.h"
#include "core/base/text/one_line.h"
#include "core/project/about/explained_element.h"
#include "core/report/json/explanation_json.h"
#include "core/report/json_number.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kRows = 10, kTerms = 12;
constexpr size_t kScales = 16;

Issue unknownTensor(const Snapshot& snapshot, const std::string& name)
{
    std::vector<std::string> names;
    for (const auto* model : { &snapshot.floatModel, &snapshot.quantModel })
        if (*model)
            for (const Value& value : (*model)->graph().values())
                names.push_back(value.name);
    std::string nearest;
    for (const std::string& near : nearestNames(name, names))
        nearest += (nearest.empty() ? "the nearest names are '" : "', '") + oneLine(near, 120);
    return badInput("there is no tensor '" + oneLine(name, 120) + "'", {},
        nearest.empty() ? "call tensor without a name, which lists them" : nearest + "'");
}

/// Row of the comparison for a name of either file; null where it has none.
const AgentJson* rowOf(const AgentJson& document, const char* kind, const std::string& name)
{
    if (!document.is_object())
        return nullptr;
    for (const char* key : { "name", "quantized_name" })
        for (const AgentJson& row : document.at(kind))
            if (row.at(key) == name)
                return &row;
    return nullptr;
}

/// What tells the other pairs of quantizers of a tensor of the float model apart; a quantized name asks for one.
AgentJson furtherPairs(const AgentJson& document, const AgentJson& shown)
{
    AgentJson pairs = AgentJson::array();
    for (const AgentJson& row : document.at("activations"))
        if (row.at("name") == shown.at("name") && row.at("quantized_name") != shown.at("quantized_name"))
            pairs.push_back(picked(row, { "quantized_name", "readers", "sqnr_db", "exact", "clipped_fraction" }));
    return pairs;
}

AgentJson shortRow(AgentJson row)
{
    for (const char* key : { "scale", "zero_point", "channel_sqnr_db" })
        shorten(row, key, kScales);
    row.erase("laboratory");
    return row;
}

AgentJson rowsOf(const AgentJson& document, const char* kind, const ToolArguments& a)
{
    std::vector<AgentJson> rows;
    for (const AgentJson& row : document.at(kind))
        if (row.at("name").get_ref<const std::string&>().find(a.text("contains")) != std::string::npos)
            rows.push_back(
                picked(row, { "name", "node", "op_type", "readers", "dtype", "sqnr_db", "exact", "clipped_fraction" }));
    if (a.text("order", "worst_first") == "worst_first")
        rows = worstFirst(std::move(rows));
    return windowOf(rows, kind, a, kRows, [](const AgentJson& row, size_t) { return row; });
}

AgentJson numbersOf(const TensorValues& values, const ToolArguments& a)
{
    const auto [first, end] = windowIn(values.count(), a, kRows);
    AgentJson json { { "shape", values.shape }, { "total", values.count() }, { "offset", first } };
    for (const auto& [kind, name] : { std::pair(ValueKind::Float, "float"),
             std::pair(ValueKind::Quantized, "quantized"), std::pair(ValueKind::Codes, "codes") }) {
        if (!hasKind(values, kind))
            continue;
        json[name] = AgentJson::array();
        for (size_t i = first; i < end; ++i)
            json[name].push_back(jsonNumber(valueAt(values, kind, i)));
    }
    if (end < values.count())
        json["next_offset"] = end;
    if (!values.note.empty())
        json["note"] = values.note;
    return json;
}

Result<AgentJson> tensor(AgentDesk& desk, const ToolArguments& a, const WorkContext& work)
{
    QS_TRY(AgentSession* const session, desk.session(a.text("session"), work));
    const std::string name = a.text("name");
    AgentJson json = headerOf(desk, *session);
    if (name.empty()) {
        QS_TRY(const SnapshotPtr compared, session->compared(work));
        json.update(
            rowsOf(session->document(), a.text("kind", "activations") == "weights" ? "weights" : "activations", a));
        return json;
    }
    QS_TRY(const SnapshotPtr snapshot, session->ready(work));
    auto place = tensorNamed(*snapshot, name, false);
    if (!place)
        place = tensorNamed(*snapshot, name, true);
    if (!place)
        return unknownTensor(*snapshot, name);
    for (const char* kind : { "activations", "weights" }) {
        const AgentJson* const row = session->upToDate() ? rowOf(session->document(), kind, name) : nullptr;
        json[kind == std::string("weights") ? "weight" : "activation"] = row ? shortRow(*row) : AgentJson(nullptr);
    }
    if (const AgentJson& shown = json["activation"]; shown.is_object() && shown.contains("readers")) {
        json["further_pairs"] = furtherPairs(session->document(), shown);
        shorten(json, "further_pairs", size_t(kRows));
    }
    if (a.whole("limit", kRows) > 0) {
        const size_t sample = size_t(a.whole("sample", 0));
        QS_TRY(const TensorValues values, readValues(*snapshot, *place, sample, work));
        json["sample"] = values.sample ? AgentJson(sample) : AgentJson(nullptr);
        json["values"] = numbersOf(values, a);
    }
    return json;
}

/// Terms are many: a part of them, also of what stands behind.
void shortenTerms(AgentJson& element, const ToolArguments& a)
{
    const AgentJson terms = element.at("terms");
    AgentJson part = windowOf(terms, "terms", a, kTerms, [](const AgentJson& term, size_t) { return term; });
    element["terms"] = part["terms"];
    element["terms_total"] = part["total"];
    if (part.contains("next_offset"))
        element["next_offset"] = part["next_offset"];
    for (const char* key : { "saturated", "inputs" })
        shorten(element, key, size_t(kTerms));
    if (element["unit"].is_object())
        shorten(element["unit"], "nodes", kScales);
    if (element["behind"].is_object())
        shortenTerms(element["behind"], a);
}

Result<AgentJson> explain(AgentDesk& desk, const ToolArguments& a, const WorkContext& work)
{
    QS_TRY(AgentSession* const session, desk.session(a.text("session"), work));
    QS_TRY(const SnapshotPtr snapshot, a.text("model") == "float" ? session->models() : session->ready(work));
    const bool quantized = snapshot->quantModel.has_value() && a.text("model") != "float";
    const auto place = tensorNamed(*snapshot, a.text("tensor"), quantized);
    if (!place)
        return unknownTensor(*snapshot, a.text("tensor"));
    const size_t sample = size_t(a.whole("sample", 0));
    QS_TRY(const ElementExplanation found, explainElement(*snapshot, { *place, a.wholes("at"), sample, false }, work));
    AgentJson json = headerOf(desk, *session);
    json["sample"] = sample;
    json.update(explanationJson(found));
    shortenTerms(json, a);
    return json;
}

} // namespace

std::vector<AgentTool> tensorTools()
{
    using enum ArgumentKind;
    const ToolArgument sample { .name = "sample", .kind = Whole, .help = "which sample, from 0", .otherwise = 0 };
    AgentTool one { .name = "tensor",
        .title = "Look at one tensor",
        .help
        = "With a name: what the comparison measured of this tensor, and its numbers in both models for one sample, "
          "element by element. Without: the list of all that were compared, which compares first.",
        .call = tensor };
    one.arguments = { sessionArgument(), { .name = "name", .help = "name of the tensor in either file" }, sample,
        { .name = "kind", .help = "of the list (default activations)", .words = { "activations", "weights" } },
        { .name = "contains", .help = "of the list: only names with this in them" },
        { .name = "order", .help = "of the list (default worst_first)", .words = { "worst_first", "file" } },
        limitArgument(kRows, "so many elements, or rows of the list"), offsetArgument() };
    AgentTool where { .name = "explain",
        .title = "Where one number comes from",
        .help
        = "Takes one element of a tensor apart: every term, every rounding, and the difference to the float model "
          "by operand.",
        .call = explain };
    where.arguments = { sessionArgument(),
        { .name = "tensor",
            .help = "name of the tensor in the quantized model; difference_detail.float_tensor of the answer is what "
                    "it is compared with, which may have another name",
            .required = true },
        { .name = "at", .kind = Wholes, .help = "an index for each axis, the batch included", .required = true },
        sample, { .name = "model", .help = "whose tensor (default quantized)", .words = { "quantized", "float" } },
        limitArgument(kTerms, "so many terms"), offsetArgument() };
    return { one, where };
}

} // namespace qs
