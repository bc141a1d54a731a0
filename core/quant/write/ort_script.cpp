// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/write/ort_script.h"

#include "core/quant/model/complete_overrides.h"
#include "core/quant/model/removed_activations.h"
#include "core/quant/params/float8.h"
#include "core/quant/qdq/marks.h"
#include "core/quant/qoperator/builder.h"
#include "core/quant/ranges/range_files.h"
#include "core/quant/recipe/op_types.h"
#include "core/quant/write/python_text.h"
#include "core/quant/write/weight_only_script.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>

namespace qs {

namespace {

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
        const auto& types = opTypesOf(m_recipe);
        for (size_t n = 0; n < m_model.chosen.size(); ++n) {
            const DraftNode& node = m_model.draft.nodes[n];
            // ONNX Runtime takes every Gemm apart before it looks at names.
            const bool apart = m_recipe.format == RecipeFormat::Dynamic && isProductAndSum(node);
            const std::string name = apart ? productName(node.name) : node.name;
            if (m_model.chosen[n])
                included.push_back(name);
            else if (std::ranges::find(types, chosenType(node, m_recipe.format)) != types.end())
                excluded.push_back(name);
        }
        std::string text;
        if (!m_recipe.opTypes.empty())
            text += "    op_types_to_quantize=" + literal(m_recipe.opTypes) + ",\n";
        if (!m_recipe.include.empty())
            text += "    nodes_to_quantize=" + literal(included) + ",\n";
        else if (!excluded.empty())
            text += "    nodes_to_exclude=" + literal(excluded) + ",\n";
        return text;
    }

    std::string extraOptions()
    {
        const Recipe defaults;
        std::string text;
        for (const RecipeOption& option : recipeOptions()) {
            if (option.ort.key.empty() || option.path.starts_with("weight_only."))
                continue;
            std::string value;
            if (!option.value.get)
                value = m_recipe.tensors.empty() ? "" : overrides();
            else if (option.value.get(m_recipe) != option.value.get(defaults))
                value = ortLiteral(option, m_recipe);
            if (!value.empty())
                text += "        \"" + std::string(option.ort.key) + "\": " + value + ",\n";
        }
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
                        text += "\"recv_nodes\": set(" + literal(tensor.convert->readers) + "), ";
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

/// What a script names, and no more: matmul_nbits_quantizer needs packages that the other tools do not.
std::string importsOf(const std::string& script)
{
    const auto used = [&](std::string_view name) { return script.find(name) != std::string::npos; };
    std::string text;
    for (const char* module : { "json", "os", "sys", "tempfile" })
        if (used(std::string(module) + "."))
            text += std::string("import ") + module + "\n";
    text += "\n";
    if (used("np."))
        text += "import numpy as np\n";
    if (used("onnx."))
        text += "import onnx\n";
    text += "from onnxruntime.quantization import (\n";
    for (const char* name : { "CalibrationDataReader", "CalibrationMethod", "QuantFormat", "QuantType",
             "matmul_nbits_quantizer", "quantize_dynamic", "quantize_static" })
        if (used(name))
            text += std::string("    ") + name + ",\n";
    return text + ")\n\n";
}

/// ONNX Runtime's tools keep every Relu and Clip, or none.
Status noteKept(const FloatModel& model, const Recipe& recipe, std::vector<std::string>& notes)
{
    if (!recipe.exactActivations)
        return {};
    FloatModel tried = model;
    editRangesFor(tried, recipe);
    if (recipe.format == RecipeFormat::QOperator)
        QS_CHECK(quantizeQOperator(tried, recipe));
    else
        markTensors(tried, recipe);
    for (const std::string& node : tried.keptActivations)
        notes.push_back("'" + node + "' stays here, since no range does its work; ONNX Runtime's tools leave it out");
    return {};
}

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
    script.text = "# Makes the quantized model with onnxruntime.quantization "
        + std::string(nameIn(kOrtVersions, recipe.ortVersion))
        + ". Other versions scale float16 otherwise.\n"
          "# Usage: python THIS_FILE [FLOAT.onnx [OUT.onnx [DATA.npz]]]\n";
    const auto place = [&](const std::string& path) {
        return "os.path.join(HERE, " + literal(fromScript(path, files.script)) + ")";
    };
    std::string text = "HERE = os.path.dirname(os.path.abspath(__file__))\n";
    text += "MODEL = sys.argv[1] if len(sys.argv) > 1 else " + place(files.model) + "\n";
    text += "OUT = sys.argv[2] if len(sys.argv) > 2 else " + place(files.out) + "\n";
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
        QS_CHECK(noteKept(model, recipe, script.notes));
        if (recipe.format == RecipeFormat::Qdq && !recipe.placement.nodes.empty())
            script.notes.push_back("quantizers stand where a file has them (placement in the recipe); ONNX Runtime's "
                                   "rules put them elsewhere");
        if (!recipe.codes.constants.empty())
            script.notes.push_back("the codes of " + std::to_string(recipe.codes.constants.size())
                + " constants are a file's (codes in the recipe); ONNX Runtime rounds them from the float model");
        FloatModel clamped = model;
        if (recipe.exactActivations)
            clampToActivations(clamped);
        QS_TRY(const std::string values, formatRanges(clamped.ranges, RangeFormat::Json));
        text += staticCall(writer, recipe, values, files.externalData);
        break;
    }
    case RecipeFormat::Dynamic:
        text += dynamicCall(writer, recipe, files.externalData);
        break;
    case RecipeFormat::WeightOnly:
        text += weightOnlyCall(model, recipe, files.externalData, script.notes);
        break;
    }
    for (const std::string& note : script.notes) // before all else: who runs it sees them
        script.text += "# Not the same: " + note + ".\n";
    script.text += importsOf(text) + text;
    return script;
}

} // namespace qs
