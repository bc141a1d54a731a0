// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/ort_script.h"

#include "core/quant/float_model.h"
#include "core/quant/range_files.h"

#include <nlohmann/json.hpp>

namespace qs {

namespace {

std::string literal(const std::string& text) { return nlohmann::json(text).dump(); } // JSON texts are Python's, too
std::string literal(bool v) { return v ? "True" : "False"; }
std::string literal(double v) { return nlohmann::json(v).dump(); }

std::string list(const std::vector<std::string>& names)
{
    std::string text = "[";
    for (const std::string& name : names)
        text += (text.size() > 1 ? ", " : "") + literal(name);
    return text + "]";
}

std::string quantType(DType type)
{
    const bool isSignedType = isSigned(type);
    return std::string("QuantType.Q") + (isSignedType ? "Int" : "UInt") + std::to_string(dtypeBits(type));
}

std::string numpyType(DType type) { return "np." + std::string(dtypeName(type)); }

class ScriptWriter {
public:
    ScriptWriter(const FloatModel& model, const Recipe& recipe)
        : m_model(model)
        , m_recipe(recipe)
    {
    }

    std::string choice()
    {
        std::vector<std::string> included, excluded;
        const auto& types = m_recipe.opTypes.empty() ? defaultOpTypes(m_recipe.format) : m_recipe.opTypes;
        for (size_t n = 0; n < m_model.chosen.size(); ++n) {
            const DraftNode& node = m_model.draft.nodes[n];
            if (m_model.chosen[n])
                included.push_back(node.name);
            else if (std::ranges::find(types, node.opType) != types.end())
                excluded.push_back(node.name);
        }
        std::string text;
        if (!m_recipe.opTypes.empty())
            text += "    op_types_to_quantize=" + list(m_recipe.opTypes) + ",\n";
        if (!m_recipe.include.empty())
            text += "    nodes_to_quantize=" + list(included) + ",\n";
        else if (!excluded.empty())
            text += "    nodes_to_exclude=" + list(excluded) + ",\n";
        return text;
    }

    std::string extraOptions()
    {
        const Recipe& r = m_recipe;
        const Recipe defaults;
        std::string text;
        const auto add = [&](const char* key, const std::string& value) {
            text += std::string("        \"") + key + "\": " + value + ",\n";
        };
        const auto flag = [&](const char* key, bool value, bool fallback) {
            if (value != fallback)
                add(key, literal(value));
        };
        flag("ActivationSymmetric", r.symmetricActivations, false);
        flag("ActivationRestrictedAsymmetric", r.restrictedAsymmetric, false);
        if (r.symmetricWeights)
            add("WeightSymmetric", literal(*r.symmetricWeights));
        if (r.minimumRange)
            add("MinimumRealRange", literal(*r.minimumRange));
        flag("ForceQuantizeNoInputCheck", r.quantizeUnquantizedInputs, false);
        if (r.matmulConstantOnly)
            add("MatMulConstBOnly", literal(*r.matmulConstantOnly));
        flag("AddQDQPairToWeight", r.pairsForWeights, false);
        flag("DedicatedQDQPair", r.dedicatedPairs, false);
        flag("QuantizeBias", r.quantizeBias, true);
        flag("QDQKeepRemovableActivations", r.keepRemovable, false);
        flag("QDQDisableWeightAdjustForInt32Bias", !r.adjustWeightsForBias, false);
        flag("UseQDQContribOps", r.contribOperators, false);
        flag("EnableSubgraph", r.subgraphs, false);
        flag("extra.Sigmoid.nnapi", r.sigmoidNnapi, false);
        if (r.blockSize > 0)
            add("BlockSize", std::to_string(r.blockSize));
        if (!r.noOutputTypes.empty())
            add("OpTypesToExcludeOutputQuantization", list(r.noOutputTypes));
        if (!r.perChannelAxis.empty()) {
            std::string axes = "{";
            for (const auto& [type, axis] : r.perChannelAxis)
                axes += literal(type) + ": " + std::to_string(axis) + ", ";
            add("QDQOpTypePerChannelSupportToAxis", axes + "}");
        }
        if (!r.tensors.empty())
            add("TensorQuantOverrides", overrides());
        return text.empty() ? "" : "    extra_options={\n" + text + "    },\n";
    }

private:
    std::string part(const QuantOverride& o, DType fallback, const std::string& real)
    {
        std::string text;
        const auto add = [&](const char* key, const std::string& value) {
            text += std::string("\"") + key + "\": " + value + ", ";
        };
        if (o.type)
            add("quant_type", quantType(*o.type));
        if (o.scale && o.zeroPoint) {
            add("scale", "np.array(" + literal(*o.scale) + ", " + real + ")");
            add("zero_point",
                "np.array(" + std::to_string(*o.zeroPoint) + ", " + numpyType(o.type.value_or(fallback)) + ")");
        }
        if (o.symmetric)
            add("symmetric", literal(*o.symmetric));
        if (o.reduceRange)
            add("reduce_range", literal(*o.reduceRange));
        if (o.lowest)
            add("rmin", real + "(" + literal(*o.lowest) + ")");
        if (o.highest)
            add("rmax", real + "(" + literal(*o.highest) + ")");
        return text;
    }

    std::string overrides()
    {
        std::string text = "{\n";
        for (const auto& [name, tensor] : m_recipe.tensors) {
            const bool constant = m_model.draft.constant(name) != nullptr;
            const DType fallback = constant ? m_recipe.weightType : m_recipe.activationType;
            const std::string real = m_model.realType(name) == DType::Float16 ? "np.float16" : "np.float32";
            text += "            " + literal(name) + ": [";
            for (size_t i = 0; i < tensor.parts.size(); ++i) {
                text += (i ? ", {" : "{") + part(tensor.parts[i], fallback, real);
                if (i == 0 && tensor.axis)
                    text += "\"axis\": " + std::to_string(*tensor.axis) + ", ";
                if (i == 0 && tensor.convert) {
                    text += "\"convert\": {" + part(tensor.convert->to, fallback, real);
                    if (!tensor.convert->readers.empty())
                        text += "\"recv_nodes\": set(" + list(tensor.convert->readers) + "), ";
                    text += "}, ";
                }
                text += "}";
            }
            text += "],\n";
        }
        return text + "        }";
    }

    const FloatModel& m_model;
    const Recipe& m_recipe;
};

std::string staticCall(ScriptWriter& writer, const Recipe& r, const std::string& ranges)
{
    std::string text = "RANGES = json.loads(" + literal(ranges) + ")\n\n";
    text += "# The ranges go in as a calibration cache, so no data are needed.\n"
            "with tempfile.NamedTemporaryFile(\"w\", suffix=\".json\", delete=False) as cache:\n"
            "    json.dump(RANGES, cache)\n"
            "quantize_static(\n"
            "    MODEL,\n"
            "    OUT,\n"
            "    None,\n";
    text
        += std::string("    quant_format=QuantFormat.") + (r.format == RecipeFormat::Qdq ? "QDQ" : "QOperator") + ",\n";
    text += "    per_channel=" + literal(r.perChannel) + ",\n    reduce_range=" + literal(r.reduceRange) + ",\n";
    text += "    activation_type=" + quantType(r.activationType) + ",\n    weight_type=" + quantType(r.weightType)
        + ",\n";
    text += writer.choice();
    text += "    calibrate_method=CalibrationMethod[RANGES[\"calibration_method\"][\"value\"].split(\".\")[-1]],\n";
    text += writer.extraOptions();
    return text + "    calibration_cache_path=cache.name,\n)\nos.remove(cache.name)\n";
}

std::string dynamicCall(ScriptWriter& writer, const Recipe& r)
{
    std::string text = "quantize_dynamic(\n    MODEL,\n    OUT,\n";
    text += "    per_channel=" + literal(r.perChannel) + ",\n    reduce_range=" + literal(r.reduceRange) + ",\n";
    text += "    weight_type=" + quantType(r.weightType) + ",\n";
    return text + writer.choice() + writer.extraOptions() + ")\n";
}

std::string weightOnlyCall(const FloatModel& model, const Recipe& r)
{
    std::vector<std::string> excluded;
    for (size_t n = 0; n < model.chosen.size(); ++n)
        if (!model.chosen[n] && model.draft.nodes[n].is("MatMul"))
            excluded.push_back(model.draft.nodes[n].name);
    std::string text = "quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(\n    onnx.load(MODEL),\n";
    text += "    bits=" + std::to_string(dtypeBits(r.weightType)) + ",\n";
    text += "    block_size=" + std::to_string(r.weightOnly.blockSize) + ",\n";
    text += "    is_symmetric=" + literal(isSigned(r.weightType)) + ",\n";
    text += "    nodes_to_exclude=" + list(excluded) + ",\n";
    text += std::string("    quant_format=QuantFormat.") + (r.weightOnly.dequantizeForm ? "QDQ" : "QOperator") + ",\n";
    if (r.weightOnly.algorithm == WeightOnlyAlgorithm::RoundToNearest)
        text += "    algo_config=matmul_nbits_quantizer.RTNWeightOnlyQuantConfig(),\n";
    return text + ")\nquantizer.process()\nquantizer.model.save_model_to_file(OUT)\n";
}

} // namespace

Result<OrtScript> ortScript(const GraphDraft& prepared, const Recipe& recipe, const Ranges& ranges,
    const std::string& modelPath, const std::string& outPath)
{
    QS_TRY(const FloatModel model, FloatModel::make(prepared, recipe, ranges));
    OrtScript script;
    script.text = "# Makes the quantized model with onnxruntime.quantization (1.31 or later).\n"
                  "# Usage: python THIS_FILE [FLOAT.onnx [OUT.onnx]]\n"
                  "import json\nimport os\nimport sys\nimport tempfile\n\nimport numpy as np\nimport onnx\n"
                  "from onnxruntime.quantization import (\n    CalibrationMethod,\n    QuantFormat,\n    QuantType,\n"
                  "    matmul_nbits_quantizer,\n    quantize_dynamic,\n    quantize_static,\n)\n\n";
    script.text += "MODEL = sys.argv[1] if len(sys.argv) > 1 else " + literal(modelPath) + "\n";
    script.text += "OUT = sys.argv[2] if len(sys.argv) > 2 else " + literal(outPath) + "\n";
    for (const auto& [name, range] : model.ranges.tensors)
        if (model.keptExtreme(name) && model.types.contains(name))
            script.notes.push_back("'" + name + "' stays float here, which ONNX Runtime has no option for");
    ScriptWriter writer(model, recipe);
    switch (recipe.format) {
    case RecipeFormat::Qdq:
    case RecipeFormat::QOperator: {
        QS_TRY(const std::string text, formatRanges(ranges, RangeFormat::Json));
        script.text += staticCall(writer, recipe, text);
        break;
    }
    case RecipeFormat::Dynamic:
        script.text += dynamicCall(writer, recipe);
        break;
    case RecipeFormat::WeightOnly:
        script.text += weightOnlyCall(model, recipe);
        break;
    }
    for (const std::string& note : script.notes)
        script.text += "# Not the same: " + note + ".\n";
    return script;
}

} // namespace qs
