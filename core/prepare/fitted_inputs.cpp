// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/fitted_inputs.h"

#include "core/graph/domains.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace qs {

namespace {

constexpr size_t kFewestAxes = 3, kMostAxes = 5; ///< samples, channels, and one to three axes of places
constexpr const char* kGivenScale = "_given_scale"; ///< what its name ends with
constexpr int64_t kFirstQuantize = 10; ///< opset
/// What moves elements, be they codes or reals.
constexpr std::array kMoves { "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity" };

bool fits(const Dims& given, const Dims& taken, const std::vector<int64_t>& order)
{
    for (size_t i = 0; i < order.size(); ++i) {
        const Dim& from = given[size_t(order[i])];
        if (from.known() && taken[i].known() && from.value != taken[i].value)
            return false;
    }
    return true;
}

/// Some axis that the order moves has a size that is known and equal: open sizes alone do not tell an order.
bool tells(const Dims& given, const Dims& taken, const std::vector<int64_t>& order)
{
    for (size_t i = 0; i < order.size(); ++i)
        if (const Dim& from = given[size_t(order[i])];
            order[i] != int64_t(i) && from.known() && from.value == taken[i].value)
            return true;
    return false;
}

std::string freeName(const GraphDraft& draft, std::string name)
{
    const auto used
        = [&](const DraftNode& node) { return std::ranges::find(node.outputs, name) != node.outputs.end(); };
    while (draft.constant(name) || draft.isInput(name) || std::ranges::any_of(draft.nodes, used))
        name += '_';
    return name;
}

void rename(GraphDraft& draft, const std::string& from, const std::string& to)
{
    for (DraftNode& node : draft.nodes)
        std::ranges::replace(node.inputs, from, to);
}

/// The values in which an input's elements reach those who read them as codes.
class ReadCodes {
public:
    ReadCodes(const GraphDraft& draft, const QuantView& view)
        : m_draft(draft)
        , m_view(view)
    {
    }
    /// False where somebody reads them for what is not known.
    bool follow(const std::string& name)
    {
        if (m_draft.isCaptured(name) || m_draft.isOutput(name))
            return false;
        bool read = false;
        for (const DraftNode& node : m_draft.nodes) {
            const auto at = std::ranges::find(node.inputs, name);
            if (at == node.inputs.end())
                continue;
            const bool moves = node.domain.empty() && std::ranges::find(kMoves, node.opType) != kMoves.end();
            if (moves && at == node.inputs.begin()) {
                moved.push_back(node.outputs[0]);
                if (!follow(node.outputs[0]))
                    return false;
            } else {
                read = true;
            }
        }
        return !read || note(name);
    }
    std::vector<std::string> moved, values;
    std::optional<QuantParams> params;

private:
    bool note(const std::string& name)
    {
        const auto index = m_view.ofQuantized(m_draft.source().graph.findValue(name));
        if (!index)
            return false;
        const Quantizer& q = m_view.quantizers()[*index];
        const bool whole = isInteger(q.params.dtype) && q.params.zeroRest.empty();
        if (q.dynamic || !q.params.perTensor() || !whole)
            return false;
        if (params && (params->scale != q.params.scale || params->zeroPoint != q.params.zeroPoint))
            return false;
        params = q.params;
        values.push_back(name);
        return true;
    }
    const GraphDraft& m_draft;
    const QuantView& m_view;
};

/// One code, of a type that inputs of whole networks have.
std::optional<Tensor> codeOf(DType type, int32_t value)
{
    switch (type) {
    case DType::Int8:
        return Tensor::scalar(int8_t(value));
    case DType::UInt8:
        return Tensor::scalar(uint8_t(value));
    case DType::Int16:
        return Tensor::scalar(int16_t(value));
    case DType::UInt16:
        return Tensor::scalar(uint16_t(value));
    default:
        return std::nullopt;
    }
}

void makeCodes(GraphDraft& draft, const ReadCodes& read, const Tensor& zero, FittedInput& fitted)
{
    const std::string scale = freeName(draft, fitted.name + kGivenScale);
    const std::string zeroPoint = freeName(draft, fitted.name + "_given_zero_point");
    draft.setConstant(scale, Tensor::scalar(read.params->scale[0]));
    draft.setConstant(zeroPoint, zero);
    const bool wide = zero.dtype() == DType::Int16 || zero.dtype() == DType::UInt16;
    for (const std::string& value : read.values) {
        const std::string codes = freeName(draft, value + "_codes");
        rename(draft, value, codes);
        DraftNode node { {}, codes, "QuantizeLinear", wide ? kMicrosoftDomain : "", { value, scale, zeroPoint },
            { codes }, {} };
        draft.nodes.push_back(std::move(node));
        fitted.added.emplace_back(value, codes);
    }
    if (wide)
        draft.opsets.try_emplace(kMicrosoftDomain, 1);
    for (const std::string& moved : read.moved)
        draft.types[moved] = ValueType { DType::Float32, std::nullopt, {} };
    fitted.moved = read.moved;
    fitted.codes = read.params;
}

void turnAxes(GraphDraft& draft, FittedInput& fitted)
{
    const std::string turned = freeName(draft, fitted.name + "_turned");
    rename(draft, fitted.name, turned);
    DraftNode node { {}, turned, "Transpose", "", { fitted.name }, { turned }, {} };
    node.attributes.set("perm", fitted.order);
    draft.nodes.push_back(std::move(node));
    fitted.added.emplace_back(fitted.name, turned);
}

} // namespace

std::vector<int64_t> channelOrder(const Dims& given, const Dims& taken)
{
    const size_t rank = given.size();
    std::vector<int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    if (rank != taken.size() || rank < kFewestAxes || rank > kMostAxes || fits(given, taken, order))
        return {};
    std::vector<int64_t> last = order, first = order;
    std::rotate(last.begin() + 1, last.begin() + 2, last.end());
    std::rotate(first.begin() + 1, first.end() - 1, first.end());
    const bool toLast = fits(given, taken, last) && tells(given, taken, last),
               toFirst = fits(given, taken, first) && tells(given, taken, first);
    if (toLast == toFirst && last != first)
        return {};
    return toLast ? last : toFirst ? first : std::vector<int64_t>();
}

std::optional<FittedInput> fitInput(
    GraphDraft& draft, const QuantView& view, const std::string& input, const ValueType& given)
{
    const Graph& graph = draft.source().graph;
    const ValueType& declared = graph.value(graph.findValue(input)).type;
    FittedInput fitted { input, {}, std::nullopt, declared, {}, {} };
    if (draft.isCaptured(input) || draft.isOutput(input))
        return std::nullopt;
    if (given.dims && declared.dims)
        fitted.order = channelOrder(*given.dims, *declared.dims);
    ValueType type = declared;
    if (isFloat(given.dtype) && isInteger(declared.dtype) && draft.opsets[""] >= kFirstQuantize) {
        ReadCodes read(draft, view);
        const bool known = read.follow(input) && read.params && read.params->dtype == declared.dtype;
        const auto zero = known ? codeOf(declared.dtype, int32_t(read.params->zero(0))) : std::nullopt;
        if (zero) {
            makeCodes(draft, read, *zero, fitted);
            type.dtype = DType::Float32;
        }
    }
    if (!fitted.order.empty()) {
        turnAxes(draft, fitted);
        for (size_t i = 0; i < fitted.order.size(); ++i)
            (*type.dims)[size_t(fitted.order[i])] = (*declared.dims)[i];
    }
    if (fitted.added.empty())
        return std::nullopt;
    draft.types[input] = std::move(type);
    return fitted;
}

ValueId codesTaken(const Graph& graph, ValueId input)
{
    const std::string scale = graph.value(input).name + kGivenScale;
    for (const Use& use : graph.value(input).uses)
        if (use.node.valid())
            if (const Node& node = graph.node(use.node); node.opType == "QuantizeLinear" && use.slot == 0
                && node.hasInput(1) && graph.value(node.inputs[1]).name.starts_with(scale))
                return node.outputs[0];
    return input;
}

namespace {

constexpr size_t kAxesOfScores = 3; ///< samples, positions, vocabulary
constexpr int64_t kSliceByInputs = 10; ///< opset

/// Scores of a vocabulary that was padded: so many columns are the other file's; 0: it is none.
int64_t columnsOfBoth(const Dims& own, const Dims& wanted)
{
    if (own.size() != kAxesOfScores || wanted.size() != own.size())
        return 0;
    for (size_t i = 0; i + 1 < own.size(); ++i)
        if (own[i].known() && wanted[i].known() && own[i].value != wanted[i].value)
            return 0;
    const Dim &more = own.back(), &fewer = wanted.back();
    return more.known() && fewer.known() && more.value > fewer.value ? fewer.value : 0;
}

DraftNode turnBack(const FittedInput& fitted, const std::string& before)
{
    DraftNode node { {}, fitted.name, "Transpose", "", { before }, { fitted.name }, {} };
    node.attributes.set("perm", fitted.order);
    return node;
}

DraftNode firstColumns(GraphDraft& draft, const FittedInput& fitted, const std::string& before, int64_t columns)
{
    std::vector<std::string> inputs { before };
    for (const auto& [tail, number] :
        { std::pair("_from", int64_t(0)), std::pair("_to", columns), std::pair("_axis", int64_t(kAxesOfScores) - 1) }) {
        inputs.push_back(freeName(draft, fitted.name + tail));
        draft.setConstant(inputs.back(), Tensor::of<int64_t>({ 1 }, { number }));
    }
    return { {}, fitted.name, "Slice", "", inputs, { fitted.name }, {} };
}

} // namespace

std::optional<FittedInput> fitOutput(GraphDraft& draft, const std::string& output, const Dims& own, const Dims& wanted)
{
    const Graph& graph = draft.source().graph;
    FittedInput fitted { output, channelOrder(own, wanted), std::nullopt, {}, {}, {}, true };
    const auto opset = draft.opsets.find("");
    const bool slices = opset != draft.opsets.end() && opset->second >= kSliceByInputs;
    const int64_t columns = fitted.order.empty() && slices ? columnsOfBoth(own, wanted) : 0;
    if ((fitted.order.empty() && columns == 0) || draft.isCaptured(output) || draft.isInput(output)
        || draft.constant(output))
        return std::nullopt;
    fitted.declared = graph.value(graph.findValue(output)).type;
    fitted.declared.dims = own;
    const std::string before = freeName(draft, output + (columns > 0 ? "_padded" : "_turned"));
    rename(draft, output, before);
    for (DraftNode& node : draft.nodes)
        std::ranges::replace(node.outputs, output, before);
    draft.types[before] = fitted.declared;
    draft.types[output] = ValueType { fitted.declared.dtype, std::nullopt, {} };
    draft.nodes.push_back(columns > 0 ? firstColumns(draft, fitted, before, columns) : turnBack(fitted, before));
    fitted.added.emplace_back(output, before);
    return fitted;
}

void restore(GraphDraft& draft, const FittedInput& fitted)
{
    for (auto it = fitted.added.rbegin(); it != fitted.added.rend(); ++it) {
        const auto& [named, now] = *it;
        const std::string& made = fitted.isOutput ? named : now;
        std::erase_if(draft.nodes, [&](const DraftNode& node) { return node.hasOutput(0) && node.outputs[0] == made; });
        rename(draft, now, named);
        for (DraftNode& node : draft.nodes)
            std::ranges::replace(node.outputs, now, named);
    }
    draft.types[fitted.name] = fitted.declared;
    for (const std::string& moved : fitted.moved)
        draft.types[moved] = ValueType { fitted.declared.dtype, std::nullopt, {} };
    draft.dropUnusedConstants();
}

} // namespace qs
