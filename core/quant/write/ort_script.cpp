// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/write/ort_script.h"

#include "core/quant/calibrate/range_files.h"
#include "core/quant/model/float_model.h"
#include "core/quant/params/complete_overrides.h"
#include "core/quant/params/float8.h"

#include <cstdint>
#include <filesystem>
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
    if (isFloat8(type))
        return "QuantType.QFLOAT8E4M3FN";
    const bool isSignedType = isSigned(type);
    return std::string("QuantType.Q") + (isSignedType ? "Int" : "UInt") + std::to_string(dtypeBits(type));
}

std::string numpyType(DType type)
{
    return isFloat8(type) ? "__import__(\"ml_dtypes\").float8_e4m3fn" : "np." + std::string(dtypeName(type));
}

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

constexpr const char* kExternalData = "    use_external_data_format=True,\n";

/// The path as seen from the script's folder; whole where there is no such path.
std::string fromScript(const std::string& path, const std::string& script)
{
    namespace fs = std::filesystem;
    return fs::absolute(path).lexically_proximate(fs::absolute(script).parent_path()).generic_string();
}

std::string staticCall(ScriptWriter& writer, const Recipe& r, const std::string& ranges, bool externalData)
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
    text += externalData ? kExternalData : "";
    return text + "    calibration_cache_path=cache.name,\n)\nos.remove(cache.name)\n";
}

std::string dynamicCall(ScriptWriter& writer, const Recipe& r, bool externalData)
{
    std::string text = "quantize_dynamic(\n    MODEL,\n    OUT,\n";
    text += "    per_channel=" + literal(r.perChannel) + ",\n    reduce_range=" + literal(r.reduceRange) + ",\n";
    text += "    weight_type=" + quantType(r.weightType) + ",\n";
    text += externalData ? kExternalData : "";
    return text + writer.choice() + writer.extraOptions() + ")\n";
}

/// The call of MatMulNBitsQuantizer with its algorithm's options.
class WeightOnlyScript {
public:
    WeightOnlyScript(const FloatModel& model, const Recipe& recipe, std::vector<std::string>& notes)
        : m_model(model)
        , m_recipe(recipe)
        , m_options(recipe.weightOnly)
        , m_notes(notes)
    {
    }

    std::string call(bool externalData)
    {
        addNotes();
        const bool tables = std::ranges::find(m_recipe.opTypes, "Gather") != m_recipe.opTypes.end();
        std::vector<std::string> excluded;
        for (size_t n = 0; n < m_model.chosen.size(); ++n) {
            const DraftNode& node = m_model.draft.nodes[n];
            if (!m_model.chosen[n] && (node.is("MatMul") || (tables && node.is("Gather"))))
                excluded.push_back(node.name);
        }
        excluded.insert(excluded.end(), m_model.leftOut.begin(), m_model.leftOut.end());
        std::string text = gptq() ? kReader : "";
        text += "quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(\n    onnx.load(MODEL),\n";
        text += "    block_size=" + std::to_string(m_options.blockSize) + ",\n";
        text += "    is_symmetric=" + literal(isSigned(m_recipe.weightType)) + ",\n";
        if (m_options.accuracyLevel != 0)
            text += "    accuracy_level=" + std::to_string(m_options.accuracyLevel) + ",\n";
        text += "    nodes_to_exclude=" + list(excluded) + ",\n";
        text += "    algo_config=matmul_nbits_quantizer." + config() + ",\n)\nquantizer.process()\n";
        if (grouped())
            text += "if all(o.domain != \"com.microsoft\" for o in quantizer.model.model.opset_import):\n"
                    "    quantizer.model.model.opset_import.append(onnx.helper.make_opsetid(\"com.microsoft\", 1))\n";
        return text + "quantizer.model.save_model_to_file(OUT" + (externalData ? ", True" : "") + ")\n";
    }

private:
    static constexpr const char* kReader = R"(
class Samples(CalibrationDataReader):
    """The samples of DATA, an .npz with one array an input: complete inputs, or items along the first axis."""

    def __init__(self):
        model = onnx.load(MODEL, load_external_data=False)
        ranks = {i.name: len(i.type.tensor_type.shape.dim) for i in model.graph.input}
        sizes = {i.name: i.type.tensor_type.shape.dim[0].dim_value or 1 for i in model.graph.input if ranks[i.name]}
        self.feeds = []
        with np.load(sys.argv[3]) as arrays:
            for name in arrays.files:
                if name not in ranks:
                    continue
                a = arrays[name]
                step = 1 if a.ndim > ranks[name] else sizes[name]
                for i in range(0, len(a), step):
                    if i // step == len(self.feeds):
                        self.feeds.append({})
                    self.feeds[i // step][name] = a[i] if a.ndim > ranks[name] else a[i : i + step]
        self.at = 0

    def get_next(self):
        self.at += 1
        return self.feeds[self.at - 1] if self.at <= len(self.feeds) else None


)";

    bool gptq() const { return m_options.algorithm == WeightOnlyAlgorithm::Gptq; }
    bool grouped() const
    {
        return gptq() || m_options.algorithm == WeightOnlyAlgorithm::RoundToNearest
            || m_options.algorithm == WeightOnlyAlgorithm::KQuant;
    }
    size_t bits() const { return dtypeBits(m_recipe.weightType); }

    std::string config() const
    {
        const std::string bitsText = std::to_string(bits()), block = std::to_string(m_options.blockSize);
        switch (m_options.algorithm) {
        case WeightOnlyAlgorithm::RoundToNearest: {
            std::string ratios = "{";
            for (const auto& [name, ratio] : m_options.clipRatios)
                ratios += literal(name) + ": " + literal(ratio) + ", ";
            return "RTNWeightOnlyQuantConfig(ratios=" + ratios + "}, customized_weight_config=" + nodes() + ")";
        }
        case WeightOnlyAlgorithm::KQuant:
            return "KQuantWeightOnlyQuantConfig(customized_weight_config=" + nodes() + ")";
        case WeightOnlyAlgorithm::Hqq:
            return "HQQWeightOnlyQuantConfig(block_size=" + block + ", bits=" + bitsText + ")";
        case WeightOnlyAlgorithm::Gptq:
            return "GPTQWeightOnlyQuantConfig(Samples(), percdamp=" + literal(m_options.gptq.damping)
                + ", actorder=" + literal(m_options.gptq.reorder) + ", mse=" + literal(m_options.gptq.searchScale)
                + ", perchannel=" + literal(m_options.gptq.perChannel) + ")";
        case WeightOnlyAlgorithm::Default:
            break;
        }
        std::string text = "DefaultWeightOnlyQuantConfig(\n        block_size=" + block + ",\n        is_symmetric="
            + literal(isSigned(m_recipe.weightType)) + ",\n        bits=" + bitsText + ",\n";
        text += std::string("        quant_format=QuantFormat.") + (m_options.dequantizeForm ? "QDQ" : "QOperator")
            + ",\n";
        if (m_options.accuracyLevel != 0)
            text += "        accuracy_level=" + std::to_string(m_options.accuracyLevel) + ",\n";
        if (!m_recipe.opTypes.empty())
            text += "        op_types_to_quantize=tuple(" + list(m_recipe.opTypes) + "),\n";
        if (m_options.tableAxis != 1)
            text
                += "        quant_axes=((\"MatMul\", 0), (\"Gather\", " + std::to_string(m_options.tableAxis) + ")),\n";
        if (m_options.channelWise)
            text += "        channel_wised_quantize=True,\n";
        return text + "    )";
    }

    /// customized_weight_config: where the type has 8 bits, each node's.
    std::string nodes() const
    {
        std::string text = "{";
        for (size_t n = 0; n < m_model.chosen.size(); ++n) {
            const DraftNode& node = m_model.draft.nodes[n];
            const auto own = m_options.nodes.find(node.name);
            const bool differs = own != m_options.nodes.end();
            if (!m_model.chosen[n] || !node.is("MatMul") || (!differs && bits() == 4))
                continue;
            const DType type = differs ? own->second.type.value_or(m_recipe.weightType) : m_recipe.weightType;
            const int64_t block = differs ? own->second.blockSize.value_or(m_options.blockSize) : m_options.blockSize;
            text += literal(node.name) + ": {\"bits\": " + std::to_string(dtypeBits(type)) + ", \"group_size\": "
                + std::to_string(block) + ", \"scheme\": " + (isSigned(type) ? "\"sym\"" : "\"asym\"") + "}, ";
        }
        return text + "}";
    }

    void addNotes()
    {
        const auto& o = m_options;
        if (!o.nodes.empty() && (!grouped() || gptq()))
            m_notes.push_back("ONNX Runtime has no options of single nodes for this algorithm");
        if (gptq() && o.gptq.spreadErrors)
            m_notes.push_back("GPTQ spreads the errors of rounding here, which ONNX Runtime's code does not do");
        if (gptq() && bits() == 8)
            m_notes.push_back("ONNX Runtime's GPTQ stores 8-bit weights as rounded floats");
        if (gptq() && (!m_recipe.exclude.empty() || !m_recipe.include.empty()))
            m_notes.push_back("ONNX Runtime's GPTQ quantizes excluded nodes, too");
        const bool zeros = !isSigned(m_recipe.weightType) && bits() == 4;
        for (size_t n = 0; grouped() && zeros && n < m_model.chosen.size(); ++n) {
            const DraftNode& node = m_model.draft.nodes[n];
            const Tensor* w = m_model.chosen[n] && node.is("MatMul") && node.hasInput(1)
                ? m_model.draft.constant(node.inputs[1])
                : nullptr;
            if (w && w->rank() == 2 && (w->dim(0) + o.blockSize - 1) / o.blockSize % 2 == 1 && w->dim(1) > 1) {
                m_notes.push_back("ONNX Runtime fails at '" + node.name
                    + "': it packs zero points of an even number of blocks only (use a signed type, or another size)");
                return;
            }
        }
    }

    const FloatModel& m_model;
    const Recipe& m_recipe;
    const WeightOnlyOptions& m_options;
    std::vector<std::string>& m_notes;
};

} // namespace

bool needsExternalData(const GraphDraft& quantized)
{
    constexpr uint64_t kRoomForNodes = uint64_t(1) << 26;
    uint64_t bytes = kRoomForNodes;
    for (const std::string& name : quantized.constants())
        bytes += quantized.constant(name)->byteCount();
    return bytes > uint64_t(INT32_MAX);
}

Result<OrtScript> ortScript(
    const GraphDraft& prepared, const Recipe& given, const Ranges& ranges, const OrtScriptFiles& files)
{
    QS_TRY(const FloatModel model, FloatModel::make(prepared, given, ranges));
    QS_TRY(const Recipe recipe, withCompleteOverrides(model, given));
    OrtScript script;
    script.text
        = "# Makes the quantized model with onnxruntime.quantization 1.31. Later versions scale float16 otherwise.\n"
          "# Usage: python THIS_FILE [FLOAT.onnx [OUT.onnx [DATA.npz]]]\n"
          "import json\nimport os\nimport sys\nimport tempfile\n\nimport numpy as np\nimport onnx\n"
          "from onnxruntime.quantization import (\n    CalibrationDataReader,\n    CalibrationMethod,\n    "
          "QuantFormat,\n    QuantType,\n"
          "    matmul_nbits_quantizer,\n    quantize_dynamic,\n    quantize_static,\n)\n\n";
    const auto place = [&](const std::string& path) {
        return "os.path.join(HERE, " + literal(fromScript(path, files.script)) + ")";
    };
    script.text += "HERE = os.path.dirname(os.path.abspath(__file__))\n";
    script.text += "MODEL = sys.argv[1] if len(sys.argv) > 1 else " + place(files.model) + "\n";
    script.text += "OUT = sys.argv[2] if len(sys.argv) > 2 else " + place(files.out) + "\n";
    for (const auto& [name, range] : model.ranges.tensors)
        if (model.keptExtreme(name) && model.types.contains(name))
            script.notes.push_back("'" + name + "' stays float here, which ONNX Runtime has no option for");
    ScriptWriter writer(model, recipe);
    switch (recipe.format) {
    case RecipeFormat::Qdq:
    case RecipeFormat::QOperator: {
        if (isFloat8(recipe.activationType))
            for (size_t n = 0; n < model.chosen.size(); ++n)
                if (model.chosen[n] && model.draft.nodes[n].is("Softmax"))
                    script.notes.push_back("ONNX Runtime fails at '" + model.draft.nodes[n].name
                        + "': it forgets the deviation that float8 needs (exclude the node)");
        QS_TRY(const std::string text, formatRanges(ranges, RangeFormat::Json));
        script.text += staticCall(writer, recipe, text, files.externalData);
        break;
    }
    case RecipeFormat::Dynamic:
        script.text += dynamicCall(writer, recipe, files.externalData);
        break;
    case RecipeFormat::WeightOnly:
        script.text += WeightOnlyScript(model, recipe, script.notes).call(files.externalData);
        break;
    }
    for (const std::string& note : script.notes)
        script.text += "# Not the same: " + note + ".\n";
    return script;
}

} // namespace qs
