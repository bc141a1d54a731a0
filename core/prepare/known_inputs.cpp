// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/known_inputs.h"

#include "core/graph/draft_links.h"
#include "core/prepare/body_copy.h"

#include <algorithm>

namespace qs {

namespace {

Issue inputIssue(const GraphDraft& draft, const std::string& name, std::string what, std::string remedy)
{
    return { IssueKind::BadInput, std::move(what), draft.source().path, {}, name, std::move(remedy) };
}

Result<ValueType> inputType(const GraphDraft& draft, const std::string& name)
{
    const ValueId id = draft.source().graph.findValue(name);
    if (draft.isInput(name) && id.valid())
        return draft.source().graph.value(id).type;
    std::string all;
    for (const std::string& input : draft.inputs())
        all += (all.empty() ? "" : ", ") + input;
    return inputIssue(draft, name, "is to be fixed, but is no input of the model", "name one of its inputs: " + all);
}

/// Goes back from a value; `shapesOnly` behind a Shape or Size.
class Behind {
public:
    explicit Behind(const GraphDraft& draft)
        : m_draft(draft)
        , m_links(draft)
    {
    }
    void visit(const std::string& value, bool shapesOnly)
    {
        if (value.empty() || !m_seen.emplace(value, shapesOnly).second)
            return;
        if (m_draft.isInput(value))
            (shapesOnly ? found.shapes : found.values).insert(value);
        const size_t index = m_links.producer(value);
        if (index == SIZE_MAX)
            return;
        const DraftNode& node = m_draft.nodes[index];
        const bool measures = node.is("Shape") || node.is("Size");
        for (const std::string& in : node.inputs)
            visit(in, shapesOnly || measures);
        for (const std::string& in : m_draft.captures(node))
            visit(in, shapesOnly || measures);
    }
    InputsBehind found;

private:
    const GraphDraft& m_draft;
    DraftLinks m_links;
    std::set<std::pair<std::string, bool>> m_seen;
};

} // namespace

Result<GraphDraft> withKnownInputs(GraphDraft draft, const KnownInputs& known)
{
    for (const auto& [name, value] : known.values) {
        QS_TRY(const ValueType type, inputType(draft, name));
        if (type.dtype != DType::Undefined && type.dtype != value.dtype())
            return inputIssue(draft, name,
                "is " + std::string(dtypeName(type.dtype)) + ", but is to be fixed to a value of type "
                    + std::string(dtypeName(value.dtype())),
                "give a value of its type");
        draft.setConstant(name, value);
    }
    for (const auto& [name, shape] : known.shapes) {
        QS_TRY(ValueType type, inputType(draft, name));
        const auto differs = [](const Dim& dim, int64_t size) { return dim.known() && dim.value != size; };
        bool fits = !type.dims || type.dims->size() == shape.size();
        for (size_t i = 0; fits && type.dims && i < shape.size(); ++i)
            fits = !differs((*type.dims)[i], shape[i]);
        if (!fits)
            return inputIssue(draft, name,
                "has shape " + dimsText(*type.dims) + ", but is to be fixed to " + shapeText(shape),
                "give sizes that fit it");
        type.dims = toDims(shape);
        draft.types[name] = std::move(type);
    }
    return draft;
}

Status fixInputs(GraphDraft& draft, const KnownInputs& known)
{
    if (known.values.empty() && known.shapes.empty())
        return {};
    QS_TRY(const GraphDraft checked, withKnownInputs(draft, known));
    draft.types = checked.types;
    FreeNames free(draft);
    NewNames names;
    for (const auto& [name, value] : known.values) {
        names[name] = free.value(name + "_fixed");
        draft.setConstant(names[name], value);
    }
    for (DraftNode& node : draft.nodes) {
        for (std::string& in : node.inputs)
            in = newName(names, in);
        QS_CHECK(replaceSubgraphs(
            node, [&](const std::shared_ptr<const Graph>& body) { return withOuterRenamed(body, names); }));
    }
    draft.noteCaptures();
    return {};
}

InputsBehind inputsBehind(const GraphDraft& draft, const std::string& value, bool sizeAlone)
{
    Behind behind(draft);
    behind.visit(value, sizeAlone);
    return std::move(behind.found);
}

} // namespace qs
