// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe_fields.h"

namespace qs {

namespace {

using Json = RecipeJson;
using Options = std::span<const RecipeOption>;
using Chosen = bool (*)(const RecipeOption&);

/// Member of a part that tensors or nodes have by their names.
template <class Owner> struct Field {
    const char* key;
    Setting<Owner> value;
};
constexpr Field<QuantOverride> kOverrideFields[] { { "type", setting<&QuantOverride::type>() },
    { "scale", setting<&QuantOverride::scale>() }, { "zero_point", setting<&QuantOverride::zeroPoint>() },
    { "symmetric", setting<&QuantOverride::symmetric>() }, { "reduce_range", setting<&QuantOverride::reduceRange>() },
    { "lowest", setting<&QuantOverride::lowest>() }, { "highest", setting<&QuantOverride::highest>() } };
constexpr Field<WeightOnlyNode> kNodeFields[] { { "type", setting<&WeightOnlyNode::type>() },
    { "block_size", setting<&WeightOnlyNode::blockSize>() } };
constexpr Field<FileConstant> kFileFields[] { { "value", setting<&FileConstant::value>() },
    { "key", setting<&FileConstant::key>() } };
constexpr std::string_view kCalibration = "calibration.";

/// Options with a prefix of their paths in common: calls `leaf(option, key)` for those whose key follows it,
/// `section(key, options, prefix)` for those that share one more.
template <class Leaf, class Section> void eachKey(Options options, size_t prefix, Leaf leaf, Section section)
{
    while (!options.empty()) {
        const std::string_view path = options.front().path;
        const size_t dot = path.find('.', prefix);
        size_t count = 1;
        if (dot == std::string_view::npos) {
            leaf(options.front(), std::string(path.substr(prefix)));
        } else {
            while (count < options.size() && options[count].path.starts_with(path.substr(0, dot + 1)))
                ++count;
            section(std::string(path.substr(prefix, dot - prefix)), options.first(count), dot + 1);
        }
        options = options.subspan(count);
    }
}

template <class Owner, size_t N> void readAll(JsonObject& in, const Field<Owner> (&fields)[N], Owner& owner)
{
    for (const Field<Owner>& field : fields)
        in.read(field.key, field.value, owner);
}

void readOverride(JsonObject& in, QuantOverride& part) { readAll(in, kOverrideFields, part); }
void readNode(JsonObject& in, WeightOnlyNode& node) { readAll(in, kNodeFields, node); }
void readFileConstant(JsonObject& in, FileConstant& constant) { readAll(in, kFileFields, constant); }
void readTensor(JsonObject& in, TensorOverride& tensor);

void readOptions(JsonObject& in, Options options, size_t prefix, Recipe& recipe)
{
    eachKey(
        options, prefix,
        [&](const RecipeOption& option, const std::string& key) {
            if (option.value.set)
                in.read(key, option.value, recipe);
            else if (key == "tensors")
                in.readByName(key, recipe.tensors, readTensor);
            else if (key == "constants")
                in.readByName(key, recipe.codes.constants, readFileConstant);
            else
                in.readByName(key, recipe.weightOnly.nodes, readNode);
        },
        [&](const std::string& key, Options section, size_t length) {
            in.readObject(key, [&](JsonObject& inner) { readOptions(inner, section, length, recipe); });
        });
}

void readTensor(JsonObject& in, TensorOverride& tensor)
{
    readOverride(in, tensor.parts.front());
    in.readList("channels", tensor.parts, readOverride);
    in.read("axis", setting<&TensorOverride::axis>(), tensor);
    in.readObject("convert", [&](JsonObject& inner) {
        QuantConversion& convert = tensor.convert.emplace();
        readOverride(inner, convert.to);
        inner.read("readers", setting<&QuantConversion::readers>(), convert);
    });
    in.readObject("calibrator", [&](JsonObject& inner) {
        Recipe alone;
        readOptions(inner, recipeOptions(kCalibration), kCalibration.size(), alone);
        tensor.calibrator = alone.calibration;
    });
}

Json withoutNulls(const Json& from)
{
    Json kept = Json::object();
    for (const auto& [key, value] : from.items())
        if (!value.is_null())
            kept[key] = value;
    return kept;
}

template <class Owner, size_t N> Json saidFields(const Field<Owner> (&fields)[N], const Owner& owner)
{
    Json json = Json::object();
    for (const Field<Owner>& field : fields)
        json[field.key] = toJson(field.value.get(owner));
    return withoutNulls(json);
}

Json overrideJson(const QuantOverride& part) { return saidFields(kOverrideFields, part); }
Json nodeJson(const WeightOnlyNode& node) { return saidFields(kNodeFields, node); }
Json fileConstantJson(const FileConstant& constant) { return saidFields(kFileFields, constant); }
Json tensorJson(const TensorOverride& tensor);

template <class T> Json byName(const std::map<std::string, T>& values, Json (*json)(const T&))
{
    Json all = Json::object();
    for (const auto& [name, value] : values)
        all[name] = json(value);
    return all;
}

Json optionsJson(Options options, size_t prefix, const Recipe& recipe, Chosen chosen)
{
    Json json = Json::object();
    eachKey(
        options, prefix,
        [&](const RecipeOption& option, const std::string& key) {
            if (!chosen(option))
                return;
            json[key] = option.value.get ? toJson(option.value.get(recipe))
                : key == "tensors"       ? byName(recipe.tensors, tensorJson)
                : key == "constants"     ? byName(recipe.codes.constants, fileConstantJson)
                                         : byName(recipe.weightOnly.nodes, nodeJson);
        },
        [&](const std::string& key, Options section, size_t length) {
            json[key] = optionsJson(section, length, recipe, chosen);
        });
    return json;
}

Json tensorJson(const TensorOverride& tensor)
{
    Json json = Json::object();
    if (tensor.parts.size() == 1)
        json = overrideJson(tensor.parts.front());
    for (size_t i = 0; tensor.parts.size() > 1 && i < tensor.parts.size(); ++i)
        json["channels"].push_back(overrideJson(tensor.parts[i]));
    if (tensor.axis)
        json["axis"] = *tensor.axis;
    if (tensor.convert) {
        json["convert"] = overrideJson(tensor.convert->to);
        if (!tensor.convert->readers.empty())
            json["convert"]["readers"] = tensor.convert->readers;
    }
    if (tensor.calibrator) {
        Recipe alone;
        alone.calibration = *tensor.calibrator;
        json["calibrator"]
            = withoutNulls(optionsJson(recipeOptions(kCalibration), kCalibration.size(), alone, anyOption));
    }
    return json;
}

} // namespace

void readFields(JsonObject& in, Recipe& recipe) { readOptions(in, recipeOptions(), 0, recipe); }

bool anyOption(const RecipeOption&) { return true; }

Json fullJson(const Recipe& recipe, bool (*chosen)(const RecipeOption&))
{
    return optionsJson(recipeOptions(), 0, recipe, chosen);
}

} // namespace qs
