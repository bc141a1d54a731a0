// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/shown_options.h"

#include "core/graph/domains.h"
#include "core/qdq/name_tails.h"
#include "core/qdq/qlinear_signature.h"
#include "core/quant/params/float8.h"
#include "core/quant/params/weights.h"
#include "core/quant/read_back/implied_range.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

/// The most frequent key; `fallback` where there is none.
template <class T> T most(const std::map<T, size_t>& counts, T fallback)
{
    const auto best
        = std::ranges::max_element(counts, {}, [](const std::pair<const T, size_t>& entry) { return entry.second; });
    return best == counts.end() ? fallback : best->first;
}

/// What nodes make of constants alone, a Constant or a folded part: it is quantized while running, as activations are.
bool isMadeByNodes(const QuantizedFile& file, const std::string& name, const FileTensor& tensor)
{
    const Node* made = tensor.pairs > 0 ? file.producer(name) : nullptr;
    return made && !isQuantizeLinear(*made) && !isDequantizeLinear(*made);
}

bool inTheMiddle(const QuantParams& params)
{
    const int64_t middle = isSigned(params.dtype) ? 0 : (params.codes().high + 1) / 2;
    return std::ranges::all_of(params.zeroPoint, [&](int32_t zero) { return zero == middle; });
}

bool isOperatorOnCodes(const Node& node)
{
    return (node.opType.starts_with("QLinear") || node.opType == "QGemm") && qlinearSignature(node).has_value();
}

bool hasBlocks(const Node& node) { return node.attributes.integer("block_size", 0) > 0; }

void readBlocks(const QuantizedFile& file, Recipe& recipe)
{
    std::map<int64_t, size_t> sizes, bits, levels;
    size_t zeroPoints = 0, matrices = 0;
    for (const Node& node : file.model->graph.nodes()) {
        const bool codesForm = node.is("MatMulNBits", kMicrosoftDomain);
        if (!codesForm && !(isDequantizeLinear(node) && hasBlocks(node)))
            continue;
        ++matrices;
        ++sizes[node.attributes.integer("block_size", 0)];
        ++bits[node.attributes.integer("bits", 4)];
        recipe.weightOnly.dequantizeForm = !codesForm;
        if (codesForm)
            ++levels[node.attributes.integer("accuracy_level", 0)];
        const size_t slot = codesForm ? 3 : 2;
        zeroPoints += node.hasInput(slot);
        // Its own names tell the plain rounding from MLAS' blocks.
        const std::string& codes = node.hasInput(1) ? file.model->graph.value(node.inputs[1]).name : node.name;
        if (codesForm && codes.ends_with("G" + std::to_string(node.attributes.integer("block_size", 0))))
            recipe.weightOnly.algorithm = WeightOnlyAlgorithm::RoundToNearest;
    }
    recipe.weightOnly.blockSize = most(sizes, recipe.weightOnly.blockSize);
    recipe.weightOnly.accuracyLevel = most(levels, recipe.weightOnly.accuracyLevel);
    const bool wide = most<int64_t>(bits, 4) == 8, withZeros = zeroPoints * 2 > matrices;
    recipe.weightType = wide ? (withZeros ? DType::UInt8 : DType::Int8) : withZeros ? DType::UInt4 : DType::Int4;
}

/// Every weight keeps to the narrower range.
bool reducedCodes(const QuantizedFile& file)
{
    size_t seen = 0;
    for (const auto& [name, tensor] : file.tensors) {
        if (!tensor.weight || !tensor.codes.valid() || tensor.params.blockSize > 0 || tensor.codes.count() == 0)
            continue;
        const CodeRange reduced = targetCodes(tensor.params.dtype, false, true);
        for (int64_t code : toInts(tensor.codes))
            if (code < reduced.low || code > reduced.high)
                return false;
        ++seen;
    }
    return seen > 0;
}

void readConstants(const QuantizedFile& file, Recipe& recipe)
{
    std::map<DType, size_t> types;
    std::map<bool, size_t> perChannel, middle;
    bool paired = false, madeWeights = false, storedWeights = false;
    for (const auto& [name, tensor] : file.tensors) {
        const bool made = isMadeByNodes(file, name, tensor);
        paired |= tensor.constant && tensor.pairs > 0 && !made;
        (made ? madeWeights : storedWeights) |= tensor.weight;
        if (!tensor.weight)
            continue;
        ++types[tensor.params.dtype];
        ++perChannel[tensor.params.axis.has_value() && tensor.params.blockSize == 0];
        ++middle[inTheMiddle(tensor.params)];
        if (tensor.params.blockSize > 0)
            recipe.blockSize = tensor.params.blockSize;
    }
    recipe.pairsForWeights = paired || (madeWeights && !storedWeights);
    recipe.weightType = most(types, recipe.weightType);
    recipe.perChannel = most(perChannel, false);
    const bool allMiddle = middle.contains(true) && !middle.contains(false);
    if (isSigned(recipe.weightType) && middle.contains(false))
        recipe.symmetricWeights = false;
    else if (!isSigned(recipe.weightType) && !isFloat8(recipe.weightType) && allMiddle)
        recipe.symmetricWeights = true;
    recipe.reduceRange = reducedCodes(file);
}

void readActivations(const QuantizedFile& file, Recipe& recipe)
{
    std::map<DType, size_t> types;
    size_t asymmetric = 0, all = 0;
    for (const auto& [name, tensor] : file.tensors) {
        if (tensor.role != QuantRole::Activation || tensor.constant || tensor.params.scale.empty())
            continue;
        ++types[tensor.params.dtype];
        ++all;
        asymmetric += !inTheMiddle(tensor.params);
        recipe.dedicatedPairs = recipe.dedicatedPairs || tensor.pairs > 1;
    }
    recipe.activationType = most(types, recipe.activationType);
    // Float8 has no zero point that could show it.
    recipe.symmetricActivations = all > 0 && asymmetric == 0 && !isFloat8(recipe.activationType);
}

void readPairs(const QuantizedFile& file, Recipe& recipe)
{
    const Graph& graph = file.model->graph;
    bool floatBias = false, codedBias = false, clips = false;
    for (const Node& node : graph.nodes()) {
        if (isQuantizeLinear(node))
            recipe.contribOperators = recipe.contribOperators || node.domain == kMicrosoftDomain;
        const bool product = node.opType == "Conv" || node.opType == "Gemm" || node.opType == "ConvTranspose";
        if (product && node.hasInput(2) && node.hasInput(1)) {
            const auto made = [&](size_t i) {
                const NodeId by = graph.value(node.inputs[i]).producer;
                return by.valid() && isDequantizeLinear(graph.node(by));
            };
            if (made(1))
                (made(2) ? codedBias : floatBias) = true;
        }
        if ((node.opType == "Relu" || node.opType == "Clip") && node.hasInput(0)) {
            const NodeId by = graph.value(node.inputs[0]).producer;
            clips = clips || (by.valid() && isDequantizeLinear(graph.node(by)));
        }
    }
    recipe.quantizeBias = codedBias || !floatBias;
    recipe.keepRemovable = clips && !recipe.symmetricActivations;
    // Older opsets have these types only there.
    const bool newType = [&] {
        const auto beyond = [](DType type) { return dtypeBits(type) != 8; };
        return beyond(recipe.activationType) || beyond(recipe.weightType);
    }();
    recipe.contribOperators = recipe.contribOperators && !newType;
}

/// No recipe has these as its own types; tensors may.
void avoidRefusedTypes(Recipe& recipe)
{
    if (recipe.activationType != DType::Int8 || recipe.weightType != DType::UInt8)
        return;
    recipe.weightType = DType::Int8;
    recipe.symmetricWeights.reset();
}

} // namespace

RecipeFormat shownFormat(const QuantizedFile& file)
{
    bool pairs = false, codes = false, dynamic = false, blocks = false, moved = false;
    for (const Node& node : file.model->graph.nodes()) {
        pairs = pairs || isQuantizeLinear(node);
        // Codes that were gathered from a table.
        moved = moved || (isDequantizeLinear(node) && file.model->graph.value(node.inputs[0]).producer.valid());
        codes = codes || isOperatorOnCodes(node);
        dynamic = dynamic || node.opType == "DynamicQuantizeLinear" || node.opType == "MatMulInteger"
            || node.opType == "ConvInteger" || node.opType == "DynamicQuantizeLSTM" || node.opType == "QAttention"
            || node.opType == "DynamicQuantizeMatMul" || node.opType == "MatMulIntegerToFloat";
        blocks = blocks || node.opType == "MatMulNBits" || (isDequantizeLinear(node) && hasBlocks(node));
    }
    if (dynamic || (moved && !pairs && !codes && !blocks))
        return RecipeFormat::Dynamic;
    if (codes)
        return RecipeFormat::QOperator;
    return blocks && !pairs ? RecipeFormat::WeightOnly : RecipeFormat::Qdq;
}

Recipe shownOptions(const QuantizedFile& file)
{
    Recipe recipe;
    recipe.format = shownFormat(file);
    if (recipe.format == RecipeFormat::WeightOnly) {
        readBlocks(file, recipe);
        return recipe;
    }
    readConstants(file, recipe);
    if (recipe.format == RecipeFormat::Dynamic)
        return recipe;
    readActivations(file, recipe);
    avoidRefusedTypes(recipe);
    if (recipe.format == RecipeFormat::Qdq)
        readPairs(file, recipe);
    else
        recipe.pairsForWeights = recipe.dedicatedPairs = false;
    return recipe;
}

TensorOverride exactOverride(const QuantParams& params)
{
    TensorOverride override;
    override.axis = params.axis;
    override.parts.clear();
    for (size_t c = 0; c < params.scale.size(); ++c) {
        QuantOverride part;
        part.type = params.dtype;
        part.scale = params.scale[c];
        part.zeroPoint = params.zeroPoint.empty() ? 0 : params.zeroPoint[c];
        override.parts.push_back(part);
    }
    return override;
}

Ranges shownRanges(const QuantizedFile& file, Recipe& recipe, const GraphDraft* floatModel)
{
    Ranges ranges;
    if (isFloat8(recipe.activationType))
        ranges.calibrator = recipe.calibration.kind = Calibrator::Distribution;
    for (const auto& [name, tensor] : file.tensors) {
        // A file with names of its own may store equal scales once; whose they are does not show then.
        const bool shared = !tensor.provider.empty() && tensor.scaleName == tensor.provider + tails::kScale
            && recipe.placement.nodes.empty(); // where each has its own
        const bool computed = floatModel ? !floatModel->constant(name) : isMadeByNodes(file, name, tensor);
        const bool made = tensor.constant ? computed : tensor.role == QuantRole::Activation;
        const bool own = made && !shared && !tensor.scaleName.empty() && tensor.params.scale.size() == 1;
        if (!own)
            continue;
        ScaleRules rules;
        rules.real = tensor.real;
        rules.symmetric = recipe.symmetricActivations;
        rules.subnormalHalves = recipe.ortVersion != OrtVersion::V1_31;
        const auto rulesOf = [&](const QuantParams& params) {
            ScaleRules typed = rules;
            typed.type = params.dtype;
            return typed;
        };
        const ScaleZero wanted { tensor.params.scale.front(), tensor.params.zeroPoint.front() };
        auto range = impliedRange(wanted, rulesOf(tensor.params));
        if (!range)
            recipe.tensors[name] = exactOverride(tensor.params);
        else if (tensor.params.dtype != recipe.activationType || tensor.converted)
            recipe.tensors[name].parts.front().type = tensor.params.dtype;
        if (!range) { // the form asks whether there is one
            range.emplace();
            range->dtype = tensor.real;
            range->lowest = roundedTo(tensor.real, tensor.params.low());
            range->highest = roundedTo(tensor.real, tensor.params.high());
        }
        if (tensor.converted) {
            QuantConversion& convert = recipe.tensors[name].convert.emplace();
            convert.readers = tensor.convertedReaders;
            const ScaleZero second { tensor.converted->scale.front(), tensor.converted->zeroPoint.front() };
            if (scaleAndZeroPoint(range->lowest, range->highest, rulesOf(*tensor.converted)) == second)
                convert.to.type = tensor.converted->dtype;
            else
                convert.to = exactOverride(*tensor.converted).parts.front();
        }
        ranges.tensors[name] = *range;
    }
    return ranges;
}

} // namespace qs
