// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/write/weight_only_script.h"

#include "core/quant/write/python_text.h"

#include <algorithm>

namespace qs {

namespace {

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
        text += "    nodes_to_exclude=" + literal(excluded) + ",\n";
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
        case WeightOnlyAlgorithm::RoundToNearest:
            return "RTNWeightOnlyQuantConfig(ratios=" + literal(m_options.clipRatios)
                + ", customized_weight_config=" + nodes() + ")";
        case WeightOnlyAlgorithm::KQuant:
            return "KQuantWeightOnlyQuantConfig(customized_weight_config=" + nodes() + ")";
        case WeightOnlyAlgorithm::Hqq:
            return "HQQWeightOnlyQuantConfig(block_size=" + block + ", bits=" + bitsText + ")";
        case WeightOnlyAlgorithm::Gptq:
            return "GPTQWeightOnlyQuantConfig(Samples()" + gptqArguments() + ")";
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
            text += "        op_types_to_quantize=tuple(" + literal(m_recipe.opTypes) + "),\n";
        if (m_options.tableAxis != 1)
            text
                += "        quant_axes=((\"MatMul\", 0), (\"Gather\", " + std::to_string(m_options.tableAxis) + ")),\n";
        if (m_options.channelWise)
            text += "        channel_wised_quantize=True,\n";
        return text + "    )";
    }

    std::string gptqArguments() const
    {
        std::string text;
        for (const RecipeOption& option : recipeOptions("weight_only.gptq."))
            if (!option.ort.key.empty())
                text += ", " + std::string(option.ort.key) + "=" + ortLiteral(option, m_recipe);
        return text;
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

std::string weightOnlyCall(
    const FloatModel& model, const Recipe& recipe, bool externalData, std::vector<std::string>& notes)
{
    return WeightOnlyScript(model, recipe, notes).call(externalData);
}

} // namespace qs
