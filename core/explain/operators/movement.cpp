// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/inner_op.h"
#include "core/engine/step/step_context.h"
#include "core/explain/operators/moved_from.h"
#include "core/graph/domains.h"
#include "core/tensor/buffer_pool.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

/// Operators that move elements, and com.microsoft's that do so with codes: QLinearConcat, QLinearWhere.
namespace qs {

namespace {

constexpr std::array<std::string_view, 28> kMovements { "Compress", "Concat", "Crop", "DepthToSpace", "Dropout",
    "DynamicSlice", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Pad", "Reshape",
    "ReverseSequence", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Trilu", "Unsqueeze",
    "ScatterElements", "ScatterND", "CenterCropPad", "MaxUnpool", "Resize" };

/// Elements whose places are followed; more would take more memory than the answer is worth.
constexpr int64_t kMostPlaces = int64_t(1) << 26;

/// Inputs whose elements are moved; the others say how.
std::vector<size_t> movedSlots(const Operation& op)
{
    const std::string& type = op.node->opType;
    if (type == "Concat") {
        std::vector<size_t> all(op.inputs.size());
        std::iota(all.begin(), all.end(), 0);
        return all;
    }
    if (type == "ScatterElements" || type == "ScatterND")
        return { 0, 2 };
    return { 0 };
}

/// A tensor of that shape that holds where its elements stand, counted on from `first`.
Tensor placesFrom(const Shape& shape, int64_t first)
{
    Tensor places = Tensor::allocate(DType::Int64, shape);
    std::iota(places.fill<int64_t>().begin(), places.fill<int64_t>().end(), first);
    return places;
}

/// The operator's output for other inputs.
std::optional<Tensor> outputFor(const Operation& op, const std::vector<Tensor>& inputs)
{
    Node node = *op.node;
    const size_t outputs = node.outputs.size();
    node.inputs.clear();
    node.outputs.clear();
    std::vector<InnerOp::Input> known;
    std::vector<const Tensor*> given;
    const auto moved = movedSlots(op);
    for (size_t i = 0; i < inputs.size(); ++i) {
        const bool isMoved = std::ranges::find(moved, i) != moved.end();
        const bool present = inputs[i].valid();
        known.push_back({ present ? inputs[i].dtype() : DType::Undefined, isMoved ? Tensor() : inputs[i], present });
        given.push_back(present ? &inputs[i] : nullptr);
    }
    auto inner = InnerOp::make(std::move(node), std::move(known), KernelMode::Fast, std::max<size_t>(outputs, 1));
    if (!inner.ok())
        return std::nullopt;
    BufferPool pool;
    std::vector<Tensor> none;
    const StepContext step(given, none, pool);
    auto made = inner->runAll(step, given);
    if (!made.ok() || op.outputIndex >= made->size() || !(*made)[op.outputIndex].valid())
        return std::nullopt;
    return toPlain((*made)[op.outputIndex]);
}

/// Rows of a table, which may be large: without its places.
std::optional<MovedFrom> gatheredFrom(const Operation& op, int64_t element)
{
    const Shape &table = op.inputs[0].shape(), &indices = op.inputs[1].shape();
    const auto axis = normalizedAxis(op.node->attributes.integer("axis", 0), table.size());
    const Shape at = placeOf(op.output.shape(), element);
    if (!axis || at.size() + 1 != table.size() + indices.size())
        return std::nullopt;
    const auto first = at.begin() + std::ptrdiff_t(*axis), last = first + std::ptrdiff_t(indices.size());
    int64_t index = elementAsInt(op.inputs[1], elementOf(indices, Shape(first, last)));
    index += index < 0 ? table[*axis] : 0;
    Shape from(at.begin(), first);
    from.push_back(index);
    from.insert(from.end(), last, at.end());
    return MovedFrom { 0, elementOf(table, from) };
}

/// Codes move to another grid on the way.
void moveCode(const Operation& op, int64_t element, size_t slot, int64_t from, CodeGrid out, ElementExplanation& e)
{
    const CodeGrid in = gridOf(op, slot + 1, slot + 2);
    ElementTerm term;
    term.a = codeAt(op, slot, from, in);
    const auto real = static_cast<float>(term.a.real);
    const int64_t code = *term.a.code;
    e.terms.push_back(std::move(term));
    e.kind = ElementExplanation::Kind::Integer;
    e.relation = Relation::Quantize;
    int64_t made = code;
    if (in.scale == out.scale && in.zeroPoint == out.zeroPoint) {
        e.steps.push_back({ "the same code, since both grids are equal", double(code) });
    } else {
        e.steps.push_back({ "divided by output scale", double(real / out.scale) });
        made = roundToCode(e, real / out.scale, op.output.dtype(), out, false);
    }
    e.confirmed = made == elementAsInt(op.output, element);
    setCode(e, elementAsInt(op.output, element), out);
}

bool explainConcatOfCodes(const Operation& op, int64_t element, ElementExplanation& e)
{
    const Shape at = placeOf(op.output.shape(), element);
    const auto axis = normalizedAxis(op.node->attributes.integer("axis", 0), at.size());
    if (!axis)
        return false;
    int64_t first = 0;
    for (size_t slot = 2; slot < op.inputs.size() && op.in(slot); slot += 3) {
        const Shape& part = op.inputs[slot].shape();
        if (at[*axis] < first + part[*axis]) {
            Shape from = at;
            from[*axis] -= first;
            moveCode(op, element, slot, elementOf(part, from), gridOf(op, 0, 1), e);
            return true;
        }
        first += part[*axis];
    }
    return false;
}

bool explainWhereOfCodes(const Operation& op, int64_t element, ElementExplanation& e)
{
    if (!op.in(0) || !op.in(1) || !op.in(4))
        return false;
    const Shape& shape = op.output.shape();
    const bool first = elementAsInt(op.inputs[0], broadcastElement(shape, element, op.inputs[0].shape())) != 0;
    const size_t slot = first ? 1 : 4;
    e.steps.push_back({ "condition", first ? 1.0 : 0.0 });
    moveCode(op, element, slot, broadcastElement(shape, element, op.inputs[slot].shape()), gridOf(op, 7, 8), e);
    return true;
}

} // namespace

bool isMovement(const Node& node)
{
    if (!node.domain.empty() || std::ranges::find(kMovements, node.opType) == kMovements.end())
        return false;
    const std::string reduction = node.attributes.text("reduction", "none");
    return reduction == "none" && (node.opType != "Resize" || node.attributes.text("mode", "nearest") == "nearest");
}

std::optional<MovedPlaces> MovedPlaces::of(const Operation& op)
{
    MovedPlaces found;
    std::vector<Tensor> inputs = op.inputs;
    int64_t next = 1; // 0 is what padding gives
    for (const size_t slot : movedSlots(op)) {
        if (!op.in(slot))
            continue;
        if (inputs[slot].count() > kMostPlaces - next)
            return std::nullopt;
        found.m_firsts.emplace_back(slot, next);
        inputs[slot] = placesFrom(inputs[slot].shape(), next);
        next += inputs[slot].count();
    }
    if (op.node->opType == "Pad" && inputs.size() > 2)
        inputs[2] = Tensor(); // another number than 0 would look like a place
    const auto places = outputFor(op, inputs);
    if (!places || places->count() != op.output.count())
        return std::nullopt;
    found.m_places = *places;
    return found;
}

std::optional<MovedFrom> MovedPlaces::from(int64_t element) const
{
    const int64_t place = elementAsInt(m_places, element);
    for (size_t i = m_firsts.size(); place > 0 && i-- > 0;)
        if (place >= m_firsts[i].second)
            return MovedFrom { m_firsts[i].first, place - m_firsts[i].second };
    return std::nullopt;
}

bool explainMovement(const Operation& op, int64_t element, ElementExplanation& e)
{
    if (op.node->is("QLinearConcat", kMicrosoftDomain))
        return explainConcatOfCodes(op, element, e);
    if (op.node->is("QLinearWhere", kMicrosoftDomain))
        return explainWhereOfCodes(op, element, e);
    if (!isMovement(*op.node) || !op.in(0) || (op.node->opType == "Dropout" && op.outputIndex > 0))
        return false;
    e.relation = Relation::Copy;
    e.kind = isFloat(op.output.dtype()) ? ElementExplanation::Kind::Float : ElementExplanation::Kind::Other;
    const bool gathers = op.node->opType == "Gather" && op.in(1);
    const auto places = gathers ? std::nullopt : MovedPlaces::of(op);
    const auto from = gathers ? gatheredFrom(op, element) : places ? places->from(element) : std::nullopt;
    if (!from) {
        e.relation = Relation::None;
        e.note = "this element comes from no input: it is padding, or the operator's places could not be followed";
        return true;
    }
    ElementTerm term;
    if (dtypeBits(op.inputs[from->slot].dtype()) > 0)
        term.a = operandAt(op, from->slot, from->element);
    e.confirmed = term.a.real == elementAsDouble(op.output, element) || std::isnan(term.a.real);
    e.terms.push_back(std::move(term));
    return true;
}

} // namespace qs
