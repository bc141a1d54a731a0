// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantize/fixed_inputs.h"

#include "core/prepare/expand_bodies.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <charconv>

namespace qs {

namespace {

constexpr int64_t kMostElements = 16; ///< of an input whose value is looked at

std::optional<std::pair<std::string, std::string>> halves(const std::string& text)
{
    const size_t sign = text.rfind('=');
    if (sign == std::string::npos || sign == 0 || sign + 1 == text.size())
        return std::nullopt;
    return std::pair(text.substr(0, sign), text.substr(sign + 1));
}

template <class T> std::optional<T> number(std::string_view text)
{
    T value {};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

template <class T> Tensor filled(DType type, const Shape& shape, T value)
{
    Tensor t = Tensor::allocate(type, shape);
    std::ranges::fill(t.fill<T>(), value);
    return t;
}

std::optional<Tensor> tensorOf(DType type, const Shape& shape, const std::string& text)
{
    if (type == DType::Bool) {
        if (text != "true" && text != "false" && text != "1" && text != "0")
            return std::nullopt;
        return filled<uint8_t>(type, shape, text == "true" || text == "1");
    }
    if (type == DType::Int64)
        if (const auto value = number<int64_t>(text))
            return filled(type, shape, *value);
    if (type == DType::Int32)
        if (const auto value = number<int32_t>(text))
            return filled(type, shape, *value);
    if (type == DType::Float32)
        if (const auto value = number<float>(text))
            return filled(type, shape, *value);
    return std::nullopt;
}

const ValueType* inputType(const Graph& graph, const std::string& name)
{
    const ValueId id = graph.findValue(name);
    return id.valid() && graph.isInput(id) ? &graph.value(id).type : nullptr;
}

Status addValue(const std::string& text, const Graph& graph, KnownInputs& known)
{
    const auto pair = halves(text);
    if (!pair)
        return badUse("--fix-input '" + text + "' is not NAME=VALUE", "write a name and a number, true or false");
    const ValueType* type = inputType(graph, pair->first);
    if (!type)
        return badInput(
            "--fix-input names '" + pair->first + "', which is no input of the model", {}, "name one of its inputs");
    Shape shape;
    for (const Dim& dim : type->dims.value_or(Dims {}))
        shape.push_back(dim.known() ? dim.value : 1);
    const auto value = tensorOf(type->dtype, shape, pair->second);
    if (!value)
        return badInput(
            "--fix-input '" + text + "' does not fit the input, which is " + std::string(dtypeName(type->dtype)), {},
            "inputs of type bool, int32, int64 and float32 can be fixed to one number");
    known.values.insert_or_assign(pair->first, *value);
    return {};
}

Status addShape(const std::string& text, KnownInputs& known)
{
    const auto pair = halves(text);
    Shape shape;
    bool good = pair.has_value();
    for (size_t begin = 0; good && begin <= pair->second.size();) {
        const size_t end = std::min(pair->second.find('x', begin), pair->second.size());
        const auto size = number<int64_t>(std::string_view(pair->second).substr(begin, end - begin));
        good = size && *size >= 0;
        shape.push_back(size.value_or(0));
        begin = end + 1;
    }
    if (!good)
        return badUse("--fix-shape '" + text + "' is not NAME=2x3x4", "write sizes with x between them");
    known.shapes.insert_or_assign(pair->first, shape);
    return {};
}

bool isSmallWhole(const Tensor& t)
{
    return (t.dtype() == DType::Bool || t.dtype() == DType::Int32 || t.dtype() == DType::Int64)
        && t.count() <= kMostElements;
}

/// Of one input over all samples; empty where they differ.
struct Common {
    std::optional<Tensor> value;
    std::optional<Shape> shape;
    bool first = true;

    void add(const Tensor& t)
    {
        if (std::exchange(first, false)) {
            shape = t.shape();
            value = isSmallWhole(t) ? std::optional(toPlain(t)) : std::nullopt;
            return;
        }
        if (shape && *shape != t.shape())
            shape.reset();
        if (value && (value->shape() != t.shape() || toInts(*value) != toInts(t)))
            value.reset();
    }
};

Result<std::vector<Common>> commonOf(const DataSource& data)
{
    std::vector<Common> all;
    for (size_t f = 0; f < data.feeds(); ++f) {
        QS_TRY(const Feed feed, data.feed(f));
        all.resize(std::max(all.size(), feed.inputs.size()));
        for (size_t i = 0; i < feed.inputs.size(); ++i)
            if (feed.inputs[i].valid())
                all[i].add(feed.inputs[i]);
    }
    return all;
}

/// What holds nothing fits caches of any width: an empty past comes for the float and the quantized model alike.
Shape fittedEmpty(Shape shape, const std::optional<Dims>& dims)
{
    if (std::ranges::find(shape, 0) != shape.end() && dims && dims->size() == shape.size())
        for (size_t i = 0; i < shape.size(); ++i)
            if (shape[i] != 0 && (*dims)[i].known())
                shape[i] = (*dims)[i].value;
    return shape;
}

std::vector<std::string> fedInputs(const Graph& graph, const CarryNames& carry)
{
    std::vector<std::string> names;
    for (ValueId id : graph.inputs())
        if (!isCarried(carry, graph.value(id).name))
            names.push_back(graph.value(id).name);
    return names;
}

bool multiplies(const Graph& body)
{
    return std::ranges::any_of(body.nodes(), [](const Node& node) {
        const bool product = node.is("MatMul") || node.is("Gemm") || node.is("Conv") || node.is("LSTM");
        return product || std::ranges::any_of(subgraphs(node.attributes), [](const auto& b) { return multiplies(*b); });
    });
}

/// On loops whose bodies have something to quantize.
void addLoopHints(const GraphDraft& prepared, std::vector<std::string>& hints)
{
    for (const DraftNode& node : prepared.nodes)
        if ((node.is("Loop") || node.is("Scan"))
            && std::ranges::any_of(subgraphs(node.attributes), [](const auto& b) { return multiplies(*b); }))
            hints.push_back("what is in the body of '" + node.name + "' (" + node.opType
                + ") stays float; --format dynamic --enable-subgraph quantizes its products");
}

std::string sizesText(const Shape& shape)
{
    std::string text;
    for (int64_t size : shape)
        text += (text.empty() ? "" : "x") + std::to_string(size);
    return text;
}

} // namespace

Result<KnownInputs> fixedInputs(const GraphPreparation& preparation, const Graph& graph)
{
    KnownInputs known;
    if (!preparation.enabled && !(preparation.fixedInputs.empty() && preparation.fixedShapes.empty()))
        return badUse("inputs are fixed while the graph is prepared, which the recipe leaves out",
            "leave --fix-input and --fix-shape out, or give --preprocess-graph");
    for (const std::string& text : preparation.fixedInputs)
        QS_CHECK(addValue(text, graph, known));
    for (const std::string& text : preparation.fixedShapes)
        QS_CHECK(addShape(text, known));
    return known;
}

Result<KnownInputs> commonInputs(
    const DataSource& data, const Graph& dataGraph, const Graph& graph, const CarryNames& carry)
{
    QS_TRY(const std::vector<Common> all, commonOf(data));
    const auto given = fedInputs(dataGraph, carry), wanted = fedInputs(graph, carry);
    KnownInputs known;
    for (size_t i = 0; i < wanted.size(); ++i) {
        const auto named = std::ranges::find(given, wanted[i]);
        const size_t place = named == given.end() ? i : static_cast<size_t>(named - given.begin());
        if (place >= all.size() || all[place].first)
            continue;
        const ValueType& type = *inputType(graph, wanted[i]);
        if (all[place].value && type.dtype == all[place].value->dtype())
            known.values.emplace(wanted[i], *all[place].value);
        else if (all[place].shape)
            known.shapes.emplace(wanted[i], fittedEmpty(*all[place].shape, type.dims));
    }
    for (ValueId id : graph.inputs())
        if (const Value& input = graph.value(id); isCarried(carry, input.name) && input.type.dims) {
            Shape& shape = known.shapes[input.name];
            for (const Dim& dim : *input.type.dims)
                shape.push_back(dim.known() ? dim.value : 1);
        }
    return known;
}

std::string fixingOptions(const KnownInputs& known, const InputsBehind& only)
{
    std::string text;
    const auto add = [&](const std::string& option) { text += (text.empty() ? "" : " ") + option; };
    const auto shape = [&](const std::string& name) {
        if (const auto sizes = known.shapes.find(name); sizes != known.shapes.end() && !sizes->second.empty())
            add("--fix-shape " + name + "=" + sizesText(sizes->second));
    };
    for (const std::string& name : only.values) {
        const auto value = known.values.find(name);
        if (value != known.values.end() && value->second.count() > 0)
            add("--fix-input " + name + "=" + std::to_string(elementAsInt(value->second, 0)));
        else
            shape(name);
    }
    for (const std::string& name : only.shapes)
        if (!only.values.contains(name))
            shape(name);
    return text;
}

Result<std::vector<std::string>> branchHints(
    const GraphDraft& prepared, const DataSource* data, const Graph& dataGraph, const CarryNames& carry)
{
    std::vector<std::string> hints;
    addLoopHints(prepared, hints);
    if (std::ranges::none_of(prepared.nodes, [](const DraftNode& node) { return node.is("If"); }))
        return hints;
    KnownInputs known;
    if (data) {
        QS_TRY(const auto model, prepared.build());
        QS_TRY(known, commonInputs(*data, dataGraph, model->graph, carry));
    }
    GraphDraft trial = prepared;
    QS_TRY(const Expansion made, expandBodies(trial, known));
    const std::string options = made.branches > 0 ? fixingOptions(known, made.behind) : "";
    if (!options.empty())
        hints.push_back("what is in the branches of "
            + (made.branches == 1 ? std::string("an If") : std::to_string(made.branches) + " If")
            + " stays float, though in all samples the same branch is taken; " + options
            + " puts its nodes in the place of the If, so that they can be quantized (the file then computes as with "
              "these inputs, whatever it is given)");
    for (const KeptBody& kept : made.kept)
        hints.push_back("what is in the branches of '" + kept.node + "' stays float: " + kept.reason
            + (data ? ""
                    : "; where that is the same for all data, --fix-input NAME=VALUE and --fix-shape NAME=2x3x4 "
                      "fold it"));
    return hints;
}

} // namespace qs
