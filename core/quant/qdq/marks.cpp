// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/qdq/marks.h"

#include "core/quant/model/removed_activations.h"
#include "core/quant/model/tensor_params.h"
#include "core/quant/params/float8.h"

#include <algorithm>

namespace qs {

bool QdqMarks::quantizable(const std::string& name)
{
    if (name.empty() || model.unstated.contains(name))
        return false;
    if (model.realType(name) != DType::Undefined && model.keptExtreme(name)) {
        if (m_warned.insert(name).second)
            model.warnings.push_back(
                "'" + name + "' stays float: it holds values so large that no scale serves the others, too");
        return false;
    }
    if (model.types.contains(name))
        return model.realType(name) != DType::Undefined;
    if (m_warned.insert(name).second)
        model.warnings.push_back("the type of '" + name + "' is not known, so it is not quantized");
    return false;
}

void QdqMarks::add(const std::string& name, QdqMark mark, bool overwrite)
{
    if (leftByFile(name))
        return;
    if (!quantizable(name)) {
        if (!name.empty())
            m_refused.try_emplace(name, model.whyNoCodes(name));
        return;
    }
    mark.real = model.realType(name);
    const auto [it, fresh] = m_marks.try_emplace(name, mark);
    if (fresh)
        m_order.push_back(name);
    else if (overwrite)
        it->second = mark;
}

void QdqMarks::activation(const std::string& name) { add(name, {}, false); }

void QdqMarks::activations(const std::vector<std::string>& names)
{
    for (const std::string& name : names)
        activation(name);
}

void QdqMarks::weight(const std::string& name, const DraftNode& reader, int64_t defaultAxis)
{
    QdqMark mark;
    mark.kind = QdqMark::Kind::Weight;
    if (isConstant(name))
        mark.axis = channelAxis(name, reader, defaultAxis);
    add(name, mark, mark.axis.has_value());
}

void QdqMarks::share(const std::string& name, const std::string& provider, const DraftNode& node)
{
    QdqMark mark;
    mark.provider = provider;
    mark.sharingNode = node.name;
    add(name, mark, true);
}

std::optional<int64_t> QdqMarks::channelAxis(const std::string& name, const DraftNode& reader, int64_t defaultAxis)
{
    int64_t axis = defaultAxis;
    const auto override = recipe.tensors.find(name);
    if (override != recipe.tensors.end()) {
        if (!override->second.axis)
            return std::nullopt;
        axis = *override->second.axis;
    } else if (!recipe.perChannel) {
        return std::nullopt;
    } else if (const auto asked = recipe.perChannelAxis.find(reader.opType); asked != recipe.perChannelAxis.end()) {
        // Conv, ConvTranspose and Gemm know theirs.
        const bool fixed = reader.is("Conv") || reader.is("ConvTranspose") || reader.is("Gemm");
        axis = fixed ? axis : asked->second;
    }
    const auto rank = static_cast<int64_t>(model.draft.constant(name)->rank());
    const int64_t positive = axis < 0 ? axis + rank : axis;
    if (positive >= 0 && positive < rank)
        return positive;
    model.warnings.push_back("'" + name + "' has no axis " + std::to_string(axis) + ", so it is quantized per tensor");
    return std::nullopt;
}

void QdqMarks::bias(size_t node, size_t slot, const std::string& weightName, float beta)
{
    DraftNode& reader = model.draft.nodes[node];
    std::string name = reader.inputs[slot];
    if (!isConstant(name) || model.realType(name) == DType::Undefined || leftByFile(name))
        return;
    if (recipe.tensors.contains(name)) { // asked for as a tensor like others
        weight(name, reader, 0);
        return;
    }
    if (m_isBias.contains(name)) {
        // Another node has other scales, so it needs a copy; its name continues the numbers at the ends of names.
        const std::string stem = name;
        int64_t next = 0;
        for (const std::string& other : model.draft.constants()) {
            const std::string_view tail = std::string_view(other).substr(std::min(stem.size(), other.size()));
            if (!other.starts_with(stem) || tail.empty() || tail.find_first_not_of("0123456789") != tail.npos
                || tail.size() > 9)
                continue;
            next = std::max<int64_t>(next, std::stoll(std::string(tail)) + 1);
        }
        name = stem + std::to_string(next);
        model.draft.setConstant(name, *model.draft.constant(stem));
        model.types.emplace(name, model.types.at(stem));
        reader.inputs[slot] = name;
    }
    m_isBias.insert(name);
    m_biases.push_back({ name, reader.inputs[0], weightName, reader.name, beta });
}

void QdqMarks::leaveBehindFloat(size_t node, const std::string& name)
{
    const auto refused = m_refused.find(name);
    leave(node,
        refused != m_refused.end() ? refused->second
                                   : FloatReason { FloatCause::Rule,
                                       "its input '" + name + "' has no codes, and ONNX Runtime's tools quantize "
                                           + model.draft.nodes[node].opType + " only behind codes" });
}

void QdqMarks::noteRefused(size_t node)
{
    const DraftNode& n = model.draft.nodes[node];
    const FloatReason *real = nullptr, *other = nullptr;
    bool any = false;
    for (const auto* names : { &n.inputs, &n.outputs })
        for (const std::string& name : *names) {
            any = any || marked(name);
            const auto refused = m_refused.find(name);
            if (refused == m_refused.end())
                continue;
            const bool isReal = model.realType(name) != DType::Undefined || model.unstated.contains(name);
            (isReal ? real : other) = &refused->second;
        }
    if (real)
        leave(node, *real);
    else if (other && !any) // integers beside floats are no reason
        leave(node, *other);
}

bool QdqMarks::skipsOutputs(const DraftNode& node) const
{
    return std::ranges::find(recipe.noOutputTypes, node.opType) != recipe.noOutputTypes.end();
}

bool QdqMarks::quantizedForAll(const std::string& name)
{
    if (!quantizable(name) || model.draft.isCaptured(name))
        return false;
    if (!recipe.dedicatedPairs)
        return true;
    // With a pair for each reader, what is not chosen reads the value before them.
    const auto& readers = model.readersOf(name);
    return readers.size() < 2 || (!model.draft.isOutput(name) && std::ranges::all_of(readers, [&](size_t reader) {
        return model.chosen[reader];
    }));
}

bool QdqMarks::cutByRange(const DraftNode& clip)
{
    const std::string& after = clip.outputs.front();
    const auto bounds = cutBounds(model, clip);
    const auto override = recipe.tensors.find(after);
    const bool given = override != recipe.tensors.end() && !override->second.parts.empty();
    const auto params
        = activationParams(model, recipe, after, given ? override->second.parts.front() : QuantOverride {});
    CutBounds owed = bounds.value_or(CutBounds {});
    if (const auto before = m_owed.find(clip.inputs.front()); before != m_owed.end())
        owed = { std::max(owed.low, before->second.low), std::min(owed.high, before->second.high) };
    m_owed[after] = owed;
    const bool cut = bounds && params && owed.low <= owed.high && rangeCuts(*params, owed);
    const bool everywhere = !skipsOutputs(clip) && quantizedForAll(after);
    if (!recipe.exactActivations && (!cut || !everywhere) && params)
        noteLost(model, clip, owed, everywhere ? *params : QuantParams {});
    return cut && everywhere;
}

bool QdqMarks::absorbs(size_t node)
{
    const DraftNode& clip = model.draft.nodes[node];
    const std::string before = clip.inputs.front(), after = clip.outputs.front();
    GraphDraft& draft = model.draft;
    const auto converted = [&](const std::string& name) {
        const auto it = recipe.tensors.find(name);
        return it != recipe.tensors.end() && it->second.convert;
    };
    if (recipe.symmetricActivations || recipe.keepRemovable || !model.ranges.find(after) || converted(before)
        || converted(after) || model.readersOf(before).size() != 1 || draft.isInput(before) || draft.isOutput(before)
        || draft.isCaptured(before) || !model.producers.contains(before))
        return false;
    const bool exact = cutByRange(clip);
    if (!exact && recipe.exactActivations) {
        model.keptActivations.push_back(clip.name);
        m_owed.erase(after); // the node itself does it
        return false;
    }
    if (isFloat8(recipe.activationType))
        model.warnings.push_back("'" + clip.name
            + "' is left out as ONNX Runtime's tools do it, but float8 codes hold what it cuts: results will differ; "
              "keep_removable in the recipe keeps it");
    const size_t producer = model.producers.at(before);
    for (std::string& out : draft.nodes[producer].outputs)
        if (out == before)
            out = after;
    model.producers.erase(before);
    model.producers[after] = producer;
    if (m_marks.erase(before) != 0)
        std::erase(m_order, before);
    m_removed.insert(node);
    return true;
}

void QdqMarks::markPlaced(size_t n, void (*rule)(QdqMarks& marks, size_t node))
{
    m_byFile = true;
    if (rule) {
        rule(*this, n);
    } else {
        const DraftNode node = model.draft.nodes[n];
        const bool clip = node.is("Relu") || node.is("Clip");
        const bool absorbed = clip && !leftByFile(node.outputs[0]) && leftByFile(node.inputs[0]) && absorbs(n);
        if (!absorbed)
            activations(node.inputs);
        activations(node.outputs);
    }
    m_byFile = false;
}

QdqMarks markTensors(FloatModel& model, const Recipe& recipe)
{
    static const auto rules = [] {
        auto all = productRules();
        all.merge(movementRules());
        all.merge(normRules());
        all.merge(clipRules());
        return all;
    }();
    static const auto weighted = [] { // operators with weights and biases
        auto all = productRules();
        all.merge(normRules());
        return all;
    }();
    QdqMarks marks(model, recipe);
    for (size_t n = 0; n < model.chosen.size(); ++n) {
        if (!model.chosen[n])
            continue;
        const DraftNode& node = model.draft.nodes[n];
        const auto rule = rules.find(node.opType);
        if (marks.placed(node)) {
            const auto known = weighted.find(node.opType);
            marks.markPlaced(n, known == weighted.end() ? nullptr : known->second);
        } else if (rule != rules.end()) {
            rule->second(marks, n);
        } else {
            marks.activations(node.inputs);
            if (!marks.skipsOutputs(node))
                marks.activations(node.outputs);
        }
        marks.noteRefused(n);
    }
    return marks;
}

} // namespace qs
