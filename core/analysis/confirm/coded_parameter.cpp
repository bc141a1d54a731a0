// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/coded_parameter.h"

#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace qs {

namespace {

constexpr auto kMovingParameters = std::to_array<MovingParameter>({
    { "Resize", 1, "roi" },
    { "Resize", 2, "scales" },
    { "Resize", 3, "sizes" },
    { "Upsample", 1, "scales" },
    { "Slice", 1, "starts" },
    { "Slice", 2, "ends" },
    { "Slice", 3, "axes" },
    { "Slice", 4, "steps" },
    { "Pad", 1, "pads" },
    { "Pad", 3, "axes" },
    { "Reshape", 1, "shape" },
    { "Expand", 1, "shape" },
    { "Tile", 1, "repeats" },
    { "Split", 1, "split" },
    { "Squeeze", 1, "axes" },
    { "Unsqueeze", 1, "axes" },
    { "Gather", 1, "indices" },
    { "GatherElements", 1, "indices" },
    { "GatherND", 1, "indices" },
});

} // namespace

std::span<const MovingParameter> movingParameters() { return kMovingParameters; }

std::optional<CodedParameter> codedParameter(
    const ComparePair& pair, const NodePartners& partners, NodeId id, const MovingParameter& parameter)
{
    const Plan& plan = *pair.quantPlan;
    const Graph& graph = plan.graph();
    const Node& node = graph.node(id);
    if (!node.hasInput(parameter.slot))
        return std::nullopt;
    ValueId from = node.inputs[parameter.slot];
    while (graph.value(from).producer.valid()) { // a Cast to whole numbers, say
        const Node& maker = graph.node(graph.value(from).producer);
        if (!maker.hasInput(0) || (maker.opType != "Cast" && !movesElements(maker)))
            break;
        from = maker.inputs[0];
    }
    const auto quantizer = pair.quantView->ofQuantized(from);
    const Tensor* stored = plan.constant(node.inputs[parameter.slot]);
    const Tensor* meant = partners.constant(id, parameter.slot);
    if (!quantizer || !stored || !meant || stored->count() != meant->count())
        return std::nullopt;
    const std::vector<double> is = toDoubles(*stored), was = toDoubles(*meant);
    CodedParameter found { &parameter, *quantizer, 0, is.size(), 0, 0, was, is };
    for (size_t i = 0; i < is.size(); ++i)
        if (std::fabs(is[i] - was[i]) > std::fabs(found.stored - found.meant)) {
            found.element = i;
            found.meant = was[i];
            found.stored = is[i];
        }
    return found.stored != found.meant ? std::optional(std::move(found)) : std::nullopt;
}

namespace {

/// What ONNX Runtime runs: other scales than 1 along two axes that lie together, of all that may be resized so.
bool runsScales(std::string_view mode, std::span<const double> s)
{
    const size_t rank = s.size();
    const bool outer = rank == 4 && s[0] == 1 && (s[1] == 1 || s[3] == 1);
    if (mode == "linear")
        return rank <= 3 || outer || (rank == 5 && s[0] == 1 && s[1] == 1);
    return mode != "cubic" || rank == 2 || outer;
}

struct OtherSize {
    size_t axis;
    double meant, is;
};

/// The first axis along which another number of elements comes out; what is open in `input` counts as one.
std::optional<OtherSize> otherSize(const Node& node, const std::optional<Dims>& input, const CodedParameter& coded)
{
    const bool sizes = coded.parameter->name == "sizes";
    if (node.attributes.has("axes") || (!sizes && (coded.parameter->name != "scales" || !input)))
        return std::nullopt;
    if (!sizes && input->size() != coded.elements)
        return std::nullopt;
    for (size_t i = 0; i < coded.elements; ++i) {
        const double in = sizes ? 1 : (*input)[i].known() ? double((*input)[i].value) : 1;
        const double meant = std::floor(in * coded.allMeant[i]), is = std::floor(in * coded.allStored[i]);
        if (meant != is)
            return OtherSize { i, meant, is };
    }
    return std::nullopt;
}

} // namespace

std::string resizedText(const ComparePair& pair, NodeId floatNode, const CodedParameter& coded)
{
    const Node& node = pair.floatPlan->graph().node(floatNode);
    std::string text;
    if (!node.hasInput(0))
        return text;
    if (const auto other = otherSize(node, pair.floatPlan->facts().of(node.inputs[0]).dims, coded))
        text = fmt::format(" Along axis {} the output has {:.0f} element{} with it, in the float model {:.0f}.",
            other->axis, other->is, other->is == 1 ? "" : "s", other->meant);
    const std::string mode = node.attributes.text("mode", "nearest");
    if (coded.parameter->name == "scales" && !node.attributes.has("axes") && runsScales(mode, coded.allMeant)
        && !runsScales(mode, coded.allStored))
        text += " ONNX Runtime does not run mode " + mode
            + " with such scales: the outermost ones have to be exactly 1.";
    return text;
}

std::string otherSizesText(const ComparePair& pair)
{
    const NodePartners partners(pair);
    const auto& nodes = pair.quantPlan->graph().nodes();
    for (size_t n = 0; n < nodes.size(); ++n)
        for (const MovingParameter& parameter : movingParameters()) {
            const NodeId partner = nodes[n].opType == parameter.type ? partners.of(NodeId(n)) : NodeId();
            const auto coded = partner.valid() ? codedParameter(pair, partners, NodeId(n), parameter) : std::nullopt;
            if (coded && !resizedText(pair, partner, *coded).empty())
                return fmt::format("the {} of '{}' are stored as codes, by which element {} is {:.9g}, in the float "
                                   "model {:.9g}",
                    parameter.name, nodes[n].name, coded->element, coded->stored, coded->meant);
        }
    return {};
}

} // namespace qs
