// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/model/load_warnings.h"

#include "core/graph/domains.h"
#include "core/quant/model/opsets.h"
#include "core/quant/params/float8.h"

#include <algorithm>
#include <array>
#include <set>

namespace qs {

namespace {

bool isPair(const DraftNode& node) { return node.is("QuantizeLinear") || node.is("DequantizeLinear"); }

bool readsHalves(const GraphDraft& draft, const DraftNode& node)
{
    return std::ranges::any_of(node.inputs, [&](const std::string& name) {
        const Tensor* constant = draft.constant(name);
        return constant && constant->dtype() == DType::Float16;
    });
}

/// A product of codes whose weight is no matrix and has a scale for each channel.
bool hasChannelsBeyondMatrix(const GraphDraft& draft, const DraftNode& node)
{
    struct Slots {
        const char* type;
        size_t weight, zeroPoint;
    };
    static constexpr std::array<Slots, 2> kProducts { { { "MatMulInteger", 1, 3 }, { "QLinearMatMul", 3, 5 } } };
    const auto slots = std::ranges::find(kProducts, node.opType, &Slots::type);
    if (slots == kProducts.end() || !node.hasInput(slots->zeroPoint))
        return false;
    const Tensor* weight = draft.constant(node.inputs[slots->weight]);
    const Tensor* zeroPoint = draft.constant(node.inputs[slots->zeroPoint]);
    return weight && zeroPoint && weight->rank() > 2 && zeroPoint->rank() == 1 && zeroPoint->count() > 1;
}

/// Of hqq; kernels have them with fewer bits alone.
bool hasRealZerosOfEightBits(const GraphDraft& draft, const DraftNode& node)
{
    constexpr size_t kZeros = 3;
    if (!node.is("MatMulNBits", kMicrosoftDomain) || node.attributes.integer("bits", 4) != 8 || !node.hasInput(kZeros))
        return false;
    const Tensor* zeros = draft.constant(node.inputs[kZeros]);
    return zeros && isFloat(zeros->dtype());
}

/// ONNX Runtime 1.31 runs these between float8 codes at every optimization level; of all others that it was tried with
/// it makes operators on codes above the basic level, which its CPU provider does not have for float8.
constexpr std::array<std::string_view, 7> kFloat8AtEveryLevel { "QuantizeLinear", "DequantizeLinear", "Relu", "Split",
    "ReduceMean", "LayerNormalization", "InstanceNormalization" };

/// The first node that is refused above basic optimizations; null = none.
const DraftNode* refusedFloat8(const GraphDraft& draft)
{
    std::set<std::string> reals; // of float8 codes
    for (const DraftNode& node : draft.nodes) {
        if (!node.is("DequantizeLinear") || node.inputs.size() < 3 || node.outputs.empty())
            continue;
        if (const Tensor* zero = draft.constant(node.inputs[2]); zero && isFloat8(zero->dtype()))
            reals.insert(node.outputs[0]);
    }
    const auto refused = [&](const DraftNode& node) {
        return std::ranges::find(kFloat8AtEveryLevel, node.opType) == kFloat8AtEveryLevel.end()
            && std::ranges::any_of(node.inputs, [&](const std::string& name) { return reals.contains(name); });
    };
    const auto node = reals.empty() ? draft.nodes.end() : std::ranges::find_if(draft.nodes, refused);
    return node == draft.nodes.end() ? nullptr : &*node;
}

} // namespace

std::vector<std::string> loadWarnings(const GraphDraft& quantized)
{
    std::vector<std::string> warnings;
    const int64_t opset = opsetOf(quantized);
    const auto first = [&](auto&& refused, const std::string& why) {
        const auto node = std::ranges::find_if(quantized.nodes, refused);
        if (node != quantized.nodes.end())
            warnings.push_back("ONNX Runtime will not load this file: '" + node->name + "' " + why);
    };
    const std::string raise = ", which needs opset ",
                      now = ", and the model has opset " + std::to_string(opset)
        + "; export the float model with a newer opset, or start from the recipe quantscope, which raises it";
    if (opset < kOpsetOfAxes)
        first([](const DraftNode& node) { return isPair(node) && node.attributes.has("axis"); },
            "has a scale for each channel" + raise + std::to_string(kOpsetOfAxes) + now);
    if (opset < kOpsetOfHalfScales)
        first([&](const DraftNode& node) { return isPair(node) && readsHalves(quantized, node); },
            "has a float16 scale" + raise + std::to_string(kOpsetOfHalfScales) + now);
    first([&](const DraftNode& node) { return node.opType.starts_with("QLinear") && readsHalves(quantized, node); },
        "has a float16 scale, which operators on codes do not take; use the qdq format");
    first([&](const DraftNode& node) { return hasRealZerosOfEightBits(quantized, node); },
        "has real zero points with 8 bits, which its CPU kernels take with fewer bits alone; another algorithm than "
        "hqq has 8 bits");
    for (const DraftNode& node : quantized.nodes)
        if (hasChannelsBeyondMatrix(quantized, node)) {
            warnings.push_back("ONNX Runtime will not run this file: '" + node.name
                + "' has a scale for each channel of a weight with more than two axes, which products of codes do not "
                  "take; quantize it per tensor, or use the qdq format");
            break;
        }
    if (const DraftNode* node = refusedFloat8(quantized))
        warnings.push_back("ONNX Runtime refuses float8 codes around '" + node->name + "' (" + node->opType
            + ") at its default optimization level; open the file with graph_optimization_level = ORT_ENABLE_BASIC");
    return warnings;
}

std::vector<std::string> loadWarnings(const std::shared_ptr<const Model>& file)
{
    std::vector<std::string> warnings = loadWarnings(GraphDraft(file));
    for (std::string& warning : warnings)
        warning.insert(0, file->path + ": ");
    return warnings;
}

Issue withLoadWarning(Issue issue, const std::shared_ptr<const Model>& file)
{
    if (issue.kind != IssueKind::BadInput || !issue.remedy.empty() || issue.node.empty() || issue.file != file->path)
        return issue;
    if (const auto warnings = loadWarnings(GraphDraft(file)); !warnings.empty())
        issue.remedy = warnings.front();
    return issue;
}

} // namespace qs
