// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe_json.h"

#include "core/base/files/whole_file.h"
#include "core/base/hash.h"
#include "core/prepare/prepare.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

constexpr DType kCodeTypes[] { DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int4, DType::UInt4,
    DType::Int2, DType::UInt2, DType::Float8E4M3FN };

std::optional<DType> codeType(const std::string& name)
{
    for (DType type : kCodeTypes)
        if (dtypeName(type) == name)
            return type;
    return std::nullopt;
}

// One function a type: how it looks in JSON. `load` returns what is wrong, empty when nothing is.
Json saved(bool v) { return v; }
Json saved(int64_t v) { return v; }
Json saved(int v) { return v; }
Json saved(size_t v) { return v; }
Json saved(double v) { return v; }
Json saved(DType v) { return std::string(dtypeName(v)); }
Json saved(RecipeFormat v) { return std::string(recipeFormatName(v)); }
Json saved(CalibrationMethod v) { return std::string(calibrationMethodName(v)); }
Json saved(WeightOnlyAlgorithm v) { return std::string(weightOnlyAlgorithmName(v)); }
Json saved(const std::vector<std::string>& v) { return v; }
Json saved(const std::map<std::string, int64_t>& v) { return v; }
Json saved(const std::map<std::string, double>& v) { return v; }
template <class T> Json saved(const std::optional<T>& v) { return v ? saved(*v) : Json(); }

std::string load(const Json& j, bool& v)
{
    if (!j.is_boolean())
        return "true or false";
    v = j.get<bool>();
    return {};
}
template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) std::string load(const Json& j, T& v)
{
    if (!j.is_number_integer() || (std::is_unsigned_v<T> && !j.is_number_unsigned()))
        return "a whole number";
    v = j.get<T>();
    return {};
}
std::string load(const Json& j, double& v)
{
    if (!j.is_number())
        return "a number";
    v = j.get<double>();
    return {};
}
std::string load(const Json& j, DType& v)
{
    const auto type = j.is_string() ? codeType(j.get<std::string>()) : std::nullopt;
    v = type.value_or(v);
    return type ? "" : "one of int8, uint8, int16, uint16, int4, uint4, int2, uint2, float8e4m3fn";
}
std::string load(const Json& j, RecipeFormat& v)
{
    const auto format = j.is_string() ? recipeFormatOf(j.get<std::string>()) : std::nullopt;
    v = format.value_or(v);
    return format ? "" : "one of qdq, qoperator, dynamic, weight-only";
}
std::string load(const Json& j, CalibrationMethod& v)
{
    const auto method = j.is_string() ? calibrationMethodOf(j.get<std::string>()) : std::nullopt;
    v = method.value_or(v);
    return method ? "" : "one of minmax, moving-average, percentile, entropy, mse, distribution";
}
std::string load(const Json& j, WeightOnlyAlgorithm& v)
{
    const auto algorithm = j.is_string() ? weightOnlyAlgorithmOf(j.get<std::string>()) : std::nullopt;
    v = algorithm.value_or(v);
    return algorithm ? "" : "one of default, rtn, hqq, gptq, k-quant";
}
std::string load(const Json& j, std::vector<std::string>& v)
{
    if (!j.is_array() || !std::ranges::all_of(j, [](const Json& e) { return e.is_string(); }))
        return "a list of texts";
    v = j.get<std::vector<std::string>>();
    return {};
}
std::string load(const Json& j, std::map<std::string, int64_t>& v)
{
    if (!j.is_object() || !std::ranges::all_of(j, [](const Json& e) { return e.is_number_integer(); }))
        return "whole numbers by name";
    for (const auto& [key, value] : j.items())
        v[key] = value.get<int64_t>();
    return {};
}
std::string load(const Json& j, std::map<std::string, double>& v)
{
    if (!j.is_object() || !std::ranges::all_of(j, [](const Json& e) { return e.is_number(); }))
        return "numbers by name";
    for (const auto& [key, value] : j.items())
        v[key] = value.get<double>();
    return {};
}
template <class T> std::string load(const Json& j, std::optional<T>& v)
{
    if (j.is_null()) {
        v.reset();
        return {};
    }
    T value {};
    std::string wrong = load(j, value);
    if (wrong.empty())
        v = std::move(value);
    return wrong;
}

/// Lists the fields of a recipe and its parts once, for reading and for writing.
template <class Archive> void fields(Archive& a, CalibratorOptions& c)
{
    a.field("method", c.method);
    a.field("symmetric", c.symmetric);
    a.field("percentile", c.percentile);
    a.field("bins", c.bins);
    a.field("quantized_bins", c.quantizedBins);
    a.field("averaging_constant", c.averagingConstant);
    a.field("stride", c.stride);
    a.field("max_intermediate_outputs", c.maxIntermediateOutputs);
    a.field("cube_root", c.cubeRoot);
    a.field("mse_levels", c.mseLevels);
}
template <class Archive> void fields(Archive& a, QuantOverride& o)
{
    a.field("type", o.type);
    a.field("scale", o.scale);
    a.field("zero_point", o.zeroPoint);
    a.field("symmetric", o.symmetric);
    a.field("reduce_range", o.reduceRange);
    a.field("lowest", o.lowest);
    a.field("highest", o.highest);
}
template <class Archive> void fields(Archive& a, QuantConversion& c)
{
    fields(a, c.to);
    a.field("readers", c.readers);
}
template <class Archive> void fields(Archive& a, TensorOverride& o)
{
    if (o.parts.empty())
        o.parts.emplace_back();
    fields(a, o.parts.front());
    a.rest("channels", o.parts); // the other channels' entries, when there is one a channel
    a.field("axis", o.axis);
    a.part("convert", o.convert);
    a.part("calibrator", o.calibrator);
}
template <class Archive> void fields(Archive& a, GptqOptions& g)
{
    a.field("damping", g.damping);
    a.field("reorder", g.reorder);
    a.field("search_scale", g.searchScale);
    a.field("per_channel", g.perChannel);
    a.field("spread_errors", g.spreadErrors);
}
template <class Archive> void fields(Archive& a, WeightOnlyNode& n)
{
    a.field("type", n.type);
    a.field("block_size", n.blockSize);
}
template <class Archive> void fields(Archive& a, WeightOnlyOptions& w)
{
    a.field("block_size", w.blockSize);
    a.field("algorithm", w.algorithm);
    a.field("dequantize_form", w.dequantizeForm);
    a.field("channel_wise", w.channelWise);
    a.field("accuracy_level", w.accuracyLevel);
    a.field("table_axis", w.tableAxis);
    a.field("clip_ratios", w.clipRatios);
    a.part("gptq", w.gptq);
    a.parts("nodes", w.nodes);
}
template <class Archive> void fields(Archive& a, CorrectionOptions& c)
{
    a.field("equalize", c.equalize);
    a.field("equalize_clips", c.equalizeClips);
    a.field("adaround", c.adaround);
    a.field("bias", c.biasCorrection);
}
template <class Archive> void fields(Archive& a, GraphPreparation& p)
{
    a.field("enabled", p.enabled);
    for (const std::string& pass : preparationPasses())
        if (bool* chosen = preparationSwitch(p, pass))
            a.field(pass.c_str(), *chosen);
}
template <class Archive> void fields(Archive& a, Recipe& r)
{
    a.field("format", r.format);
    a.field("activation_type", r.activationType);
    a.field("weight_type", r.weightType);
    a.field("per_channel", r.perChannel);
    a.field("reduce_range", r.reduceRange);
    a.field("op_types", r.opTypes);
    a.field("include", r.include);
    a.field("exclude", r.exclude);
    a.part("calibration", r.calibration);
    a.field("symmetric_activations", r.symmetricActivations);
    a.field("restricted_asymmetric", r.restrictedAsymmetric);
    a.field("symmetric_weights", r.symmetricWeights);
    a.field("minimum_range", r.minimumRange);
    a.field("quantize_unquantized_inputs", r.quantizeUnquantizedInputs);
    a.field("matmul_constant_only", r.matmulConstantOnly);
    a.field("pairs_for_weights", r.pairsForWeights);
    a.field("dedicated_pairs", r.dedicatedPairs);
    a.field("quantize_bias", r.quantizeBias);
    a.field("keep_removable", r.keepRemovable);
    a.field("adjust_weights_for_bias", r.adjustWeightsForBias);
    a.field("contrib_operators", r.contribOperators);
    a.field("subgraphs", r.subgraphs);
    a.field("sigmoid_nnapi", r.sigmoidNnapi);
    a.field("block_size", r.blockSize);
    a.field("no_output_types", r.noOutputTypes);
    a.field("per_channel_axis", r.perChannelAxis);
    a.parts("tensors", r.tensors);
    a.field("complete_overrides", r.completeOverrides);
    a.field("smooth_quant", r.smoothQuant);
    a.field("smooth_quant_alpha", r.smoothQuantAlpha);
    a.field("smooth_quant_folding", r.smoothQuantFolding);
    a.part("corrections", r.corrections);
    a.part("weight_only", r.weightOnly);
    a.part("preparation", r.preparation);
    a.field("keep_extreme_constants", r.keepExtremeConstants);
}

class Loader {
public:
    Loader(const Json& json, std::string path, std::optional<Issue>& issue)
        : m_json(json)
        , m_path(std::move(path))
        , m_issue(issue)
    {
        if (!json.is_object())
            fail("", "an object");
    }
    template <class T> void field(const char* key, T& value)
    {
        if (const Json* j = take(key))
            if (const std::string wrong = load(*j, value); !wrong.empty())
                fail(key, wrong);
    }
    template <class T> void part(const char* key, T& value)
    {
        if (const Json* j = take(key))
            nested(key, *j, value);
    }
    template <class T> void part(const char* key, std::optional<T>& value)
    {
        if (const Json* j = take(key))
            nested(key, *j, value.emplace());
    }
    template <class T> void parts(const char* key, std::map<std::string, T>& values)
    {
        const Json* j = take(key);
        if (!j)
            return;
        if (!j->is_object())
            return fail(key, "an object by name");
        for (const auto& [name, entry] : j->items())
            nested(std::string(key) + "." + name, entry, values[name]);
    }
    void rest(const char* key, std::vector<QuantOverride>& values)
    {
        const Json* j = take(key);
        if (!j)
            return;
        if (!j->is_array() || j->empty())
            return fail(key, "a list of objects");
        values.assign(j->size(), {});
        for (size_t i = 0; i < j->size(); ++i)
            nested(std::string(key) + "." + std::to_string(i), (*j)[i], values[i]);
    }
    /// Keys that nobody asked for are mistakes.
    void finish()
    {
        if (m_json.is_object())
            for (const auto& [key, value] : m_json.items())
                if (!m_taken.contains(key) && !m_issue)
                    m_issue = badInput("has the unknown key '" + m_path + key + "'", {}, "remove or correct it");
    }
    void allow(const char* key) { m_taken.insert(key); }

private:
    const Json* take(const char* key)
    {
        m_taken.insert(key);
        const auto it = m_json.is_object() ? m_json.find(key) : m_json.end();
        return m_json.is_object() && it != m_json.end() ? &*it : nullptr;
    }
    template <class T> void nested(const std::string& key, const Json& json, T& value)
    {
        Loader inner(json, m_path + key + ".", m_issue);
        fields(inner, value);
        inner.finish();
    }
    void fail(const std::string& key, const std::string& wanted)
    {
        const std::string path = m_path + key;
        if (!m_issue)
            m_issue = badInput(
                path.empty() ? "is no recipe" : "has a '" + path + "' of the wrong kind", {}, "it must be " + wanted);
    }
    const Json& m_json;
    std::string m_path;
    std::optional<Issue>& m_issue;
    std::set<std::string> m_taken;
};

class Saver {
public:
    Json json = Json::object();
    template <class T> void field(const char* key, T& value) { json[key] = saved(value); }
    template <class T> void part(const char* key, T& value)
    {
        Saver inner;
        fields(inner, value);
        json[key] = std::move(inner.json);
    }
    template <class T> void part(const char* key, std::optional<T>& value)
    {
        if (value)
            part(key, *value);
        else
            json[key] = nullptr;
    }
    template <class T> void parts(const char* key, std::map<std::string, T>& values)
    {
        Json all = Json::object();
        for (auto& [name, value] : values) {
            Saver inner;
            fields(inner, value);
            all[name] = withoutNulls(inner.json);
        }
        json[key] = std::move(all);
    }
    void rest(const char* key, std::vector<QuantOverride>& values)
    {
        if (values.size() < 2)
            return;
        Json list = Json::array();
        for (QuantOverride& value : values) {
            Saver inner;
            fields(inner, value);
            list.push_back(withoutNulls(inner.json));
        }
        for (const auto& [name, value] : list.front().items())
            json.erase(name);
        json[key] = std::move(list);
    }

private:
    static Json withoutNulls(const Json& from)
    {
        Json kept = Json::object();
        for (const auto& [key, value] : from.items())
            if (!value.is_null() && !(key == "readers" && value.empty()))
                kept[key] = value.is_object() ? withoutNulls(value) : value;
        return kept;
    }
};

Json fullJson(Recipe recipe)
{
    Saver saver;
    fields(saver, recipe);
    return std::move(saver.json);
}

void collectChanges(const std::string& path, const Json& before, const Json& after, std::vector<RecipeChange>& changes)
{
    if (before == after)
        return;
    if (!before.is_object() || !after.is_object()) {
        changes.push_back({ path, before.dump(), after.dump() });
        return;
    }
    std::set<std::string> keys;
    for (const auto* side : { &before, &after })
        for (const auto& [key, value] : side->items())
            keys.insert(key);
    for (const std::string& key : keys)
        collectChanges(
            path.empty() ? key : path + "." + key, before.value(key, Json()), after.value(key, Json()), changes);
}

Json without(const Json& from, const Json& defaults)
{
    Json kept = Json::object();
    for (const auto& [key, value] : from.items()) {
        const auto same = defaults.find(key);
        if (same != defaults.end() && *same == value)
            continue;
        kept[key] = value.is_object() && same != defaults.end() && same->is_object() ? without(value, *same) : value;
    }
    return kept;
}

std::string wrongNumbers(const CalibratorOptions& c, const std::string& path)
{
    if (!(c.percentile >= 0 && c.percentile <= 100))
        return path + ".percentile must lie between 0 and 100";
    if (!(c.averagingConstant >= 0 && c.averagingConstant <= 1))
        return path + ".averaging_constant must lie between 0 and 1";
    if (c.bins && *c.bins < 1)
        return path + ".bins must be at least 1";
    return {};
}

std::string wrongNumbers(const Recipe& r)
{
    if (std::string wrong = wrongNumbers(r.calibration, "calibration"); !wrong.empty())
        return wrong;
    for (const auto& [name, override] : r.tensors)
        if (override.calibrator)
            if (std::string wrong = wrongNumbers(*override.calibrator, "tensors." + name + ".calibrator");
                !wrong.empty())
                return wrong;
    if (!(r.smoothQuantAlpha >= 0 && r.smoothQuantAlpha <= 1))
        return "smooth_quant_alpha must lie between 0 and 1";
    if (r.blockSize < 0)
        return "block_size must not be negative";
    const WeightOnlyOptions& w = r.weightOnly;
    if (w.blockSize < 1 || (!w.dequantizeForm && (w.blockSize < 16 || (w.blockSize & (w.blockSize - 1)) != 0)))
        return "weight_only.block_size must be a power of two from 16 on";
    if (w.accuracyLevel < 0 || w.accuracyLevel > 4)
        return "weight_only.accuracy_level must lie between 0 and 4";
    if (!(w.gptq.damping >= 0 && std::isfinite(w.gptq.damping)))
        return "weight_only.gptq.damping must not be negative";
    for (const auto& [name, ratio] : w.clipRatios)
        if (!(ratio > 0 && ratio <= 1))
            return "weight_only.clip_ratios." + name + " must lie between 0 and 1";
    if (r.minimumRange && !(*r.minimumRange >= 0 && std::isfinite(*r.minimumRange)))
        return "minimum_range must not be negative";
    return {};
}

} // namespace

Result<Recipe> recipeFromJson(const std::string& text)
{
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object())
        return badInput("is no recipe", {}, "give a JSON object; {} is ONNX Runtime's defaults");
    if (json.contains("schema_version") && json["schema_version"] != kRecipeVersion)
        return badInput("has schema_version " + json["schema_version"].dump() + ", which this version cannot read", {},
            "use a newer version of this program");
    Recipe recipe;
    if (json.contains("preset")) {
        if (json["preset"] == "quantscope")
            recipe = quantscopeRecipe();
        else if (json["preset"] != "onnxruntime")
            return badInput("names the unknown preset " + json["preset"].dump(), {}, "use quantscope or onnxruntime");
    }
    std::optional<Issue> issue;
    Loader loader(json, "", issue);
    loader.allow("schema_version");
    loader.allow("preset");
    fields(loader, recipe);
    loader.finish();
    if (!json.contains("weight_type") && recipe.format == RecipeFormat::WeightOnly)
        recipe.weightType = DType::UInt4;
    if (issue)
        return *issue;
    if (const std::string wrong = wrongNumbers(recipe); !wrong.empty())
        return badInput("is no possible recipe: " + wrong, {}, "correct it");
    return recipe;
}

Result<Recipe> readRecipe(const std::string& path)
{
    QS_TRY(const std::string text, readWholeFile(path, "give the path of a recipe"));
    auto recipe = recipeFromJson(text);
    if (recipe)
        return recipe;
    Issue issue = std::move(recipe).issue();
    issue.file = path;
    return issue;
}

std::string recipeToJson(const Recipe& recipe)
{
    Json json = Json::object();
    json["schema_version"] = kRecipeVersion;
    const Json changed = without(fullJson(recipe), fullJson({}));
    for (const auto& [key, value] : changed.items())
        json[key] = value;
    return json.dump(1) + "\n";
}

std::vector<RecipeChange> recipeDiff(const Recipe& before, const Recipe& after)
{
    std::vector<RecipeChange> changes;
    collectChanges("", fullJson(before), fullJson(after), changes);
    return changes;
}

RecipeKeys recipeKeys(const Recipe& recipe)
{
    Json json = fullJson(recipe);
    const auto key = [](const Json& part) { return hashText(part.dump()).hex(); };
    // Both static forms look at the same tensors.
    const bool isStatic = recipe.format == RecipeFormat::Qdq || recipe.format == RecipeFormat::QOperator;
    const Json observed { isStatic ? Json("static") : json["format"], json["op_types"], json["preparation"],
        json["smooth_quant"], json["smooth_quant_alpha"], json["smooth_quant_folding"],
        json["corrections"]["equalize"] };
    RecipeKeys keys { key(observed), key(Json { observed, json["calibration"], json["keep_extreme_constants"] }), {} };
    json.erase("calibration");
    keys.graph = key(json);
    return keys;
}

} // namespace qs
