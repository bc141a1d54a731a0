// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/write/builder_options.h"

#include "core/quant/weight_only/block_rules.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;
using NodeNames = std::set<std::string>;

constexpr const char* kLastProduct = "/lm_head/MatMul"; ///< what the builder calls the last one

/// What the builder stores weights with that are to have so many bits: it knows 4 and 8.
int builderBits(int bits) { return bits == 8 ? 8 : 4; }

std::string layerName(size_t layer) { return "/model/layers." + std::to_string(layer) + "/"; }

/// The builder's group "mixed_layers", as far as the model has its nodes: of some layers (the first and last eighth,
/// and each third one between) what makes values and what leads out of the layer.
NodeNames mixedLayers(const NodeNames& products)
{
    size_t layers = 0;
    const auto hasLayer = [&](size_t layer) {
        return std::ranges::any_of(
            products, [name = layerName(layer)](const std::string& product) { return product.starts_with(name); });
    };
    while (hasLayer(layers))
        ++layers;
    NodeNames names;
    const double eighth = double(layers) / 8;
    for (size_t i = 0; i < layers; ++i) {
        const int64_t behind = int64_t(i) - int64_t(std::nearbyint(eighth));
        if (!(double(i) < eighth || double(i) >= 7 * eighth || ((behind % 3) + 3) % 3 == 2))
            continue;
        for (const char* part : { "attn/qkv_proj", "attn/v_proj", "mlp/down_proj" })
            if (const std::string name = layerName(i) + part + "/MatMul"; products.contains(name))
                names.insert(name);
    }
    return names;
}

class OptionsForBuilder {
public:
    OptionsForBuilder(const FloatModel& model, const Recipe& recipe, const std::vector<BlockProduct>& products)
        : m_recipe(recipe)
        , m_options(recipe.weightOnly)
        , m_bits(builderBits(int(dtypeBits(recipe.weightType))))
    {
        const std::string genai = "onnxruntime-genai";
        if (!model.draft.producer.starts_with(genai))
            m_unsaid.push_back("the model was not written by its builder, which may call nodes otherwise");
        for (const BlockProduct& product : products) {
            const std::string& name = model.draft.nodes[product.node].name;
            m_real = product.matrix.dtype();
            m_products.insert(name);
            if (builderBits(product.rules.bits) != m_bits)
                m_others.insert(name);
            m_twoBits = m_twoBits || product.rules.bits == 2;
            m_ownSizes += product.rules.blockSize != m_options.blockSize;
        }
        for (const DraftNode& node : model.draft.nodes)
            if (node.is("MatMul") && node.hasInput(1) && model.constant(node.inputs[1])
                && !m_products.contains(node.name))
                m_floats.push_back(node.name);
    }

    BuilderOptions written()
    {
        noteUnsaid();
        Json json = { { "precision", m_bits == 8 ? "int8" : "int4" }, { "extra_options", extraOptions() },
            { "target_options", targetOptions() } };
        BuilderOptions out;
        for (const std::string& clause : m_unsaid)
            out.unsaid += (out.unsaid.empty() ? "" : "; ") + clause;
        json["not_said"] = out.unsaid;
        out.text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
        return out;
    }

private:
    bool symmetric() const { return isSigned(m_recipe.weightType); }
    bool tables() const { return std::ranges::find(m_recipe.opTypes, "Gather") != m_recipe.opTypes.end(); }
    std::string otherType() const { return m_bits == 8 ? "int4" : "int8"; } ///< signed as the others, whatever it says

    std::string method() const
    {
        switch (m_options.algorithm) {
        case WeightOnlyAlgorithm::RoundToNearest:
            return "rtn";
        case WeightOnlyAlgorithm::KQuant:
            return "k_quant";
        default:
            return "default";
        }
    }

    void noteUnsaid()
    {
        if (m_options.algorithm == WeightOnlyAlgorithm::Hqq || m_options.algorithm == WeightOnlyAlgorithm::Gptq)
            m_unsaid.push_back("the builder has no " + std::string(nameIn(kWeightOnlyAlgorithms, m_options.algorithm))
                + " and rounds to nearest");
        if (m_twoBits)
            m_unsaid.push_back("the builder has no 2 bits, so what is left at them gets 4");
        if (m_ownSizes > 0)
            m_unsaid.push_back(
                "all weights get one block size, though " + std::to_string(m_ownSizes) + " have one of their own");
        if (!m_options.clipRatios.empty())
            m_unsaid.push_back("the builder has no clip ratios");
    }

    /// The groups that extra_options knows; what is in none of them stays as the others.
    std::string groups()
    {
        NodeNames rest = m_others;
        const bool last = rest.erase(kLastProduct) > 0;
        const bool mixed = !rest.empty() && rest == mixedLayers(m_products);
        if (mixed)
            rest.clear();
        if (!rest.empty())
            m_unsaid.push_back("extra_options knows " + otherType() + " for groups of nodes alone, so "
                + std::to_string(rest.size()) + " of " + std::to_string(m_others.size())
                + " such weights keep the other type there, while target_options names each");
        std::string text = last ? "last_matmul:" + otherType() : "";
        if (mixed)
            text += (last ? "," : "") + std::string("mixed_layers:") + otherType();
        return text;
    }

    Json extraOptions()
    {
        std::string excluded;
        for (const std::string& name : m_floats)
            excluded += (excluded.empty() ? "" : ",") + name;
        Json json = { { "int4_block_size", std::to_string(m_options.blockSize) },
            { "int4_is_symmetric", symmetric() ? "true" : "false" },
            { "int4_accuracy_level", std::to_string(m_options.accuracyLevel) },
            { "int4_op_types_to_quantize", tables() ? "MatMul/Gather" : "MatMul" }, { "int4_algo_config", method() } };
        if (!excluded.empty())
            json["int4_nodes_to_exclude"] = excluded;
        if (m_options.dequantizeForm)
            json["use_qdq"] = "true";
        const std::string mixed = groups();
        if (mixed == "last_matmul:int8" && method() != "default")
            json["int4_algo_config"] = method() + "_last";
        else if (mixed == "last_matmul:int8,mixed_layers:int8" && method() == "k_quant")
            json["int4_algo_config"] = "k_quant_mixed";
        else if (!mixed.empty())
            json["matmul_mixed_precision"] = mixed;
        return json;
    }

    Json targetOptions() const
    {
        Json overrides = Json::array();
        for (const std::string& name : m_others)
            overrides.push_back({ { "match", { { "name", name } } }, { "type", otherType() } });
        for (const std::string& name : m_floats)
            overrides.push_back({ { "match", { { "name", name } } }, { "exclude", true } });
        const std::string bits = m_bits == 8 ? "8" : "4";
        Json types = Json::array({ "MatMul" });
        if (tables())
            types.push_back("Gather");
        Json weights = { { "type", (symmetric() ? "int" : "uint") + bits }, { "block_size", m_options.blockSize },
            { "symmetric", symmetric() }, { "method", method() }, { "accuracy_level", m_options.accuracyLevel },
            { "op_types", std::move(types) }, { "overrides", std::move(overrides) } };
        const char* real = m_real == DType::Float16 ? "fp16" : m_real == DType::BFloat16 ? "bf16" : "fp32";
        Json config = { { "io_dtype", real }, { "weights", std::move(weights) } };
        if (m_options.dequantizeForm)
            config["format"] = { { "use_qdq", true } };
        return { { "quant_config", std::move(config) } };
    }

    const Recipe& m_recipe;
    const WeightOnlyOptions& m_options;
    int m_bits; ///< of the builder: 4 or 8
    DType m_real = DType::Float32;
    NodeNames m_products; ///< in codes
    NodeNames m_others; ///< of these: of other bits, as the builder knows them
    std::vector<std::string> m_floats; ///< with a constant weight that stays float
    size_t m_ownSizes = 0; ///< with a block size of their own
    bool m_twoBits = false; ///< some have 2
    std::vector<std::string> m_unsaid;
};

} // namespace

Result<BuilderOptions> builderOptions(const GraphDraft& prepared, const Recipe& recipe)
{
    if (recipe.format != RecipeFormat::WeightOnly)
        return badUse("onnxruntime-genai's builder stores weights in blocks, and the recipe's format is "
                + std::string(nameIn(kRecipeFormats, recipe.format)),
            "use the weight-only format");
    QS_TRY(const FloatModel model, FloatModel::make(prepared, recipe, {}));
    QS_TRY(const auto products, blockProducts(model, recipe, 1));
    return OptionsForBuilder(model, recipe, products).written();
}

} // namespace qs
