// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/lesson/live/snapshot_facts.h"

#include "core/base/text/nearest_names.h"
#include "core/base/text/one_line.h"
#include "core/lesson/live/json_path.h"
#include "core/project/about/explained_element.h"
#include "core/project/about/file_facts.h"
#include "core/project/quantize/quantization.h"
#include "core/project/search/sensitivity.h"
#include "core/quant/recipe/recipe_fields.h"
#include "core/quant/recipe/recipe_state.h"
#include "core/report/json/compare_json.h"
#include "core/report/json/explanation_json.h"
#include "core/report/json/files_json.h"
#include "core/report/json_number.h"

#include <algorithm>
#include <charconv>

namespace qs {

namespace {

using Path = std::vector<NamedPart>;

Issue unknown(const std::string& what, const std::string& name, const std::vector<std::string>& names, size_t position)
{
    std::string nearest;
    for (const std::string& near : nearestNames(name, names, 1))
        nearest = "; the nearest one is '" + oneLine(near, 120) + "'";
    return badInput("there is no " + what + " '" + oneLine(name, 120) + "'" + nearest + ", " + placeText(position));
}

/// "0,3,1,2"; nothing where it is no place.
std::optional<Shape> placeIn(const std::string& text)
{
    Shape at;
    const char* const end = text.data() + text.size();
    for (const char* from = text.data(); from != end;) {
        int64_t index = 0;
        const auto [next, error] = std::from_chars(from, end, index);
        if (error != std::errc() || index < 0 || (next != end && (*next != ',' || next + 1 == end)) || at.size() > 16)
            return std::nullopt;
        at.push_back(index);
        from = next == end ? end : next + 1;
    }
    return at;
}

bool isExcluded(const NodeState& state)
{
    return !state.quantized && (state.origin == ValueOrigin::ByPattern || state.origin == ValueOrigin::Override);
}

std::vector<RecipeNode> nodesOf(const Snapshot& s)
{
    if (s.quantization)
        return recipeNodes(s.quantization->prepared);
    return s.floatModel->draft ? recipeNodes(*s.floatModel->draft) : std::vector<RecipeNode>();
}

size_t excludedCount(const Snapshot& s)
{
    const auto nodes = nodesOf(s);
    return size_t(std::ranges::count_if(nodeStates(*s.inputs.recipe, {}, nodes), isExcluded));
}

/// Key of the list of rows of a kind, and of a row's name; empty for what is no kind.
std::pair<const char*, const char*> listOf(const std::string& kind)
{
    return kind == "tensor" ? std::pair("activations", "name")
        : kind == "weight"  ? std::pair("weights", "name")
        : kind == "node"    ? std::pair("saturation", "node")
        : kind == "sample"  ? std::pair("sample_details", "sample")
        : kind == "input"   ? std::pair("inputs", "name")
                            : std::pair("", "");
}

/// The row whose member `key` is that name; null where there is none.
const LessonJson* rowWith(const LessonJson& list, const char* key, const std::string& name)
{
    const auto found = std::ranges::find_if(list, [&](const LessonJson& row) {
        const auto member = row.find(key);
        return member != row.end() && member->is_string() && member->get_ref<const std::string&>() == name;
    });
    return found == list.end() ? nullptr : &*found;
}

/// By the name of the float file first: the quantized one may give it to another value.
const LessonJson* rowNamed(const LessonJson& list, const std::string& name)
{
    const LessonJson* row = rowWith(list, "name", name);
    return row ? row : rowWith(list, "quantized_name", name);
}

} // namespace

SnapshotFacts::SnapshotFacts(SnapshotPtr snapshot, size_t sample, std::map<std::string, LessonValue> parameters,
    WorkContext work, const SnapshotFacts* before, std::shared_ptr<LessonJson> measured)
    : m_snapshot(std::move(snapshot))
    , m_sample(sample)
    , m_parameters(std::move(parameters))
    , m_work(std::move(work))
    , m_before(before)
    , m_document(std::make_unique<LessonJson>(compareDocument(*m_snapshot)))
    , m_recipe(m_snapshot->inputs.recipe ? std::make_unique<LessonJson>(fullJson(*m_snapshot->inputs.recipe)) : nullptr)
    , m_sensitivities(measured ? std::move(measured) : std::make_shared<LessonJson>())
{
    if (m_recipe)
        (*m_recipe)["excluded_nodes"] = excludedCount(*m_snapshot);
}

SnapshotFacts::~SnapshotFacts() = default;

bool SnapshotFacts::knows(const std::string& name) const
{
    const auto has = [&](const std::optional<LoadedModel>& model) {
        return model && std::ranges::any_of(model->graph().nodes(), [&](const Node& n) { return n.name == name; });
    };
    return tensorNamed(*m_snapshot, name, false) || tensorNamed(*m_snapshot, name, true)
        || rowNamed((*m_document)["weights"], name) || has(m_snapshot->floatModel) || has(m_snapshot->quantModel);
}

namespace {

/// The node whose result an activation bounds that is left to a quantizer: the quantized model has no node for it, so
/// its box is that of the first. Else the node itself.
NodeId boundedNode(const Graph& floats, const Graph& quantized, NodeId id)
{
    while (id.valid()) {
        const Node& node = floats.node(id);
        if ((!node.is("Relu") && !node.is("Clip")) || !node.hasInput(0) || quantized.findNode(node.name).valid())
            break;
        const Value& before = floats.value(node.inputs[0]);
        if (!before.producer.valid() || before.uses.size() != 1)
            break;
        id = before.producer;
    }
    return id;
}

} // namespace

bool SnapshotFacts::sameThing(const std::string& what, const std::string& a, const std::string& b) const
{
    if (a == b)
        return true;
    if (what == "node" && m_snapshot->floatModel && m_snapshot->quantModel) {
        const Graph &floats = m_snapshot->floatModel->graph(), &quantized = m_snapshot->quantModel->graph();
        const auto boxOf
            = [&](const std::string& name) { return boundedNode(floats, quantized, floats.findNode(name)); };
        return boxOf(a).valid() && boxOf(a) == boxOf(b);
    }
    if (what != "tensor" && what != "weight")
        return false;
    const LessonJson& list = (*m_document)[listOf(what).first];
    const auto rowOf = [&](const std::string& name) {
        const LessonJson* row = rowNamed(list, name);
        return row ? row : rowWith(list, "node", name);
    };
    return rowOf(a) && rowOf(a) == rowOf(b);
}

Result<LessonValue> SnapshotFacts::find(const Path& path) const
{
    const NamedPart& head = path.front();
    if (const auto parameter = m_parameters.find(head.name); parameter != m_parameters.end()) {
        if (path.size() == 1 && !head.called)
            return parameter->second;
        return badInput("the parameter '" + head.name + "' is a single value, " + placeText(head.position));
    }
    if (head.called && (head.name == "tensor" || head.name == "weight" || head.name == "input"))
        return rowValue(listOf(head.name).first, path);
    if (head.called && head.name == "node")
        return nodeValue(path);
    if (head.name == "recipe" && !head.called)
        return recipeValue(path);
    if (head.called && (head.name == "element" || head.name == "float_element"))
        return elementValue(path);
    if (head.called && head.name == "file")
        return fileValue(path);
    if (head.called && head.name == "sensitivity")
        return sensitivityValue(path);
    if (head.called && (head.name == "largest" || head.name == "smallest") && path.size() == 1)
        return extremeName(head);
    return memberValue(path);
}

Result<LessonValue> SnapshotFacts::rowValue(const char* list, const Path& path) const
{
    QS_TRY(const std::string name, textOf(path.front()));
    if (const LessonJson* row = rowNamed((*m_document)[list], name))
        return valueAt(*row, std::span(path).subspan(1));
    std::vector<std::string> names;
    for (const LessonJson& row : (*m_document)[list])
        names.push_back(row["name"].get<std::string>());
    return unknown(path.front().name, name, names, path.front().position);
}

Result<LessonValue> SnapshotFacts::nodeValue(const Path& path) const
{
    QS_TRY(const std::string name, textOf(path.front()));
    LessonJson row = LessonJson::object();
    std::vector<std::string> names;
    const auto nodes = nodesOf(*m_snapshot);
    const auto states
        = m_snapshot->inputs.recipe ? nodeStates(*m_snapshot->inputs.recipe, {}, nodes) : std::vector<NodeState>();
    for (size_t i = 0; i < nodes.size(); ++i) {
        names.push_back(nodes[i].name);
        if (nodes[i].name != name)
            continue;
        row["op_type"] = nodes[i].opType;
        if (i < states.size())
            row["excluded"] = isExcluded(states[i]);
    }
    for (const LessonJson& r : m_document->value("saturation", LessonJson::array()))
        if (r["node"] == name) {
            row["saturated_share"] = r["pairs"] == 0 ? 0 : r["saturated"].get<double>() / r["pairs"].get<double>();
            row.update(r);
        }
    if (row.empty())
        return unknown("node", name, names, path.front().position);
    return valueAt(row, std::span(path).subspan(1));
}

Result<LessonValue> SnapshotFacts::recipeValue(const Path& path) const
{
    if (!m_recipe)
        return badInput("there is no recipe: the quantized model is a file, " + placeText(path.front().position));
    return valueAt(*m_recipe, std::span(path).subspan(1));
}

Result<LessonValue> SnapshotFacts::elementValue(const Path& path) const
{
    const NamedPart& head = path.front();
    const auto* tensor = head.arguments.size() == 2 ? std::get_if<std::string>(&head.arguments[0]) : nullptr;
    const auto* place = head.arguments.size() == 2 ? std::get_if<std::string>(&head.arguments[1]) : nullptr;
    const auto at = place ? placeIn(*place) : std::nullopt;
    if (!tensor || !at)
        return badInput(
            head.name + "() takes a tensor and a place, as in (\"scores\", \"0,3\"), " + placeText(head.position));
    const bool quantized = head.name == "element";
    const std::string key = head.name + '\n' + *tensor + '\n' + *place;
    auto known = m_elements.find(key);
    if (known == m_elements.end()) {
        const auto value = tensorNamed(*m_snapshot, *tensor, quantized);
        if (!value)
            return unknown("tensor", *tensor, {}, head.position);
        const auto found = explainElement(*m_snapshot, { *value, *at, m_sample, false }, m_work);
        if (!found.ok())
            return badInput(found.issue().what + ", " + placeText(head.position));
        known = m_elements.emplace(key, explanationJson(*found)).first;
    }
    return valueAt(known->second, std::span(path).subspan(1));
}

/// file("quantized").bytes
Result<LessonValue> SnapshotFacts::fileValue(const Path& path) const
{
    QS_TRY(const std::string role, textOf(path.front()));
    const Snapshot* const snapshot = m_snapshot.get();
    const LessonJson files = filesJson(fileFacts({ &snapshot, 1 }));
    if (const LessonJson* row = rowWith(files, "role", role))
        return valueAt(*row, std::span(path).subspan(1));
    return unknown("file", role, { "float", "quantized" }, path.front().position);
}

Result<const LessonJson*> SnapshotFacts::sensitivities(size_t position) const
{
    LessonJson& rows = *m_sensitivities;
    if (rows.is_null()) {
        const auto found = sensitivityOf(*m_snapshot, UnitKind::Node, {}, {}, m_work.cancel, false);
        if (!found.ok())
            return badInput(found.issue().what + ", " + placeText(position));
        rows = LessonJson::array();
        for (const UnitSensitivity& unit : found->units)
            rows.push_back(
                { { "name", unit.name }, { "op_type", unit.opType }, { "alone_db", jsonNumber(unit.alone.sqnrDb()) },
                    { "without_db", jsonNumber(unit.without.sqnrDb()) }, { "mac_share", jsonNumber(unit.macShare) } });
    }
    return &rows;
}

/// sensitivity("/a/Conv").without_db
Result<LessonValue> SnapshotFacts::sensitivityValue(const Path& path) const
{
    QS_TRY(const std::string name, textOf(path.front()));
    QS_TRY(const LessonJson* rows, sensitivities(path.front().position));
    if (const LessonJson* row = rowWith(*rows, "name", name))
        return valueAt(*row, std::span(path).subspan(1));
    std::vector<std::string> names;
    for (const LessonJson& row : *rows)
        names.push_back(row["name"].get<std::string>());
    return unknown("quantized node", name, names, path.front().position);
}

/// Rows, the key of their names, and the way to their number.
struct SnapshotFacts::Ranked {
    std::string kind, key;
    const LessonJson* rows = nullptr;
    const char* nameKey = "";
    Path path;

    std::optional<double> numberOf(const LessonJson& row) const
    {
        const auto found = valueAt(row, path);
        const double* value = found.ok() ? std::get_if<double>(&*found) : nullptr;
        return value ? std::optional(*value) : std::nullopt;
    }
    /// Null where no row has that number.
    const LessonJson* extreme(bool largest) const
    {
        const LessonJson* best = nullptr;
        double held = 0;
        for (const LessonJson& row : *rows)
            if (const auto value = numberOf(row); value && (!best || (largest ? *value > held : *value < held))) {
                best = &row;
                held = *value;
            }
        return best;
    }
};

Result<SnapshotFacts::Ranked> SnapshotFacts::ranked(const NamedPart& call) const
{
    Ranked made;
    const auto* kind = call.arguments.size() == 2 ? std::get_if<std::string>(&call.arguments[0]) : nullptr;
    const auto* key = call.arguments.size() == 2 ? std::get_if<std::string>(&call.arguments[1]) : nullptr;
    const bool measured = kind && *kind == "sensitivity";
    const auto [list, nameKey] = measured ? std::pair("", "name") : kind ? listOf(*kind) : std::pair("", "");
    if (!key || !*nameKey)
        return badInput(call.name
            + "() takes \"tensor\", \"weight\", \"node\", \"sample\", \"input\" or \"sensitivity\", and a key in "
              "quotes, "
            + placeText(call.position));
    static const LessonJson none = LessonJson::array();
    made.kind = *kind;
    made.key = *key;
    made.nameKey = nameKey;
    made.rows = &none;
    if (measured) {
        QS_TRY(made.rows, sensitivities(call.position));
    } else if (m_document->contains(list)) {
        made.rows = &(*m_document)[list];
    }
    NamedPart member { {}, call.position, false, {} };
    for (size_t from = 0; from <= key->size();) { // "noise.clipping"
        const size_t dot = std::min(key->find('.', from), key->size());
        member.name = key->substr(from, dot - from);
        made.path.push_back(member);
        from = dot + 1;
    }
    return made;
}

/// largest("tensor", "clipped_fraction"): the name of the row with the largest number of that key.
Result<LessonValue> SnapshotFacts::extremeName(const NamedPart& call) const
{
    QS_TRY(const Ranked all, ranked(call));
    const LessonJson* const best = all.extreme(call.name == "largest");
    if (!best)
        return badInput(
            "no " + all.kind + " has the number '" + oneLine(all.key, 60) + "', " + placeText(call.position));
    const LessonJson& name = (*best)[all.nameKey];
    return name.is_string() ? LessonValue(name.get<std::string>()) : LessonValue(name.get<double>());
}

bool SnapshotFacts::equallyExtreme(const Expression& chosen, const std::string& name) const
{
    if (chosen.kind != Expression::Kind::Path || chosen.path.size() != 1)
        return false;
    const PathPart& head = chosen.path.front();
    if (!head.called || (head.name != "largest" && head.name != "smallest"))
        return false;
    NamedPart call { head.name, head.position, true, {} };
    for (const Expression& argument : head.arguments) {
        auto value = evaluate(argument, *this);
        if (!value.ok())
            return false;
        call.arguments.push_back(std::move(value).value());
    }
    const auto all = ranked(call);
    const LessonJson* const best = all.ok() ? all->extreme(head.name == "largest") : nullptr;
    if (!best)
        return false;
    const LessonJson* row = rowWith(*all->rows, all->nameKey, name);
    for (const char* key : { "quantized_name", "node" })
        row = row ? row : rowWith(*all->rows, key, name);
    return row && all->numberOf(*row) == all->numberOf(*best);
}

Result<LessonValue> SnapshotFacts::memberValue(const Path& path) const
{
    const NamedPart& head = path.front();
    const auto rest = std::span(path).subspan(1);
    const LessonJson& all = *m_document;
    if (head.name == "output" && !head.called)
        return valueAt(all["outputs"].at(0), rest);
    if (head.name == "output")
        return rowValue("outputs", path);
    if (head.name == "accuracy" && !head.called) {
        if (all["accuracy"].is_null())
            return badInput("there is no accuracy: the data have no labels, " + placeText(head.position));
        return valueAt(all["accuracy"], rest);
    }
    if (head.name == "samples" && !head.called && rest.empty())
        return LessonValue(all["samples"].get<double>());
    if ((head.name == "findings" || head.name == "network") && !head.called)
        return valueAt(all[head.name], rest);
    if (head.name == "sample" || head.name == "finding") {
        const LessonJson& list = all[head.name == "sample" ? "sample_details" : "findings"];
        QS_TRY(const size_t index, indexOf(head, list.size()));
        return valueAt(list[index], rest);
    }
    std::vector<std::string> words { "tensor", "weight", "node", "output", "accuracy", "recipe", "element",
        "float_element", "largest", "smallest", "samples", "sample", "finding", "findings", "file", "input", "network",
        "sensitivity" };
    for (const auto& [name, value] : m_parameters)
        words.push_back(name);
    return unknown("word", head.name, words, head.position);
}

} // namespace qs
