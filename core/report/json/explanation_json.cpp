// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/json/explanation_json.h"

#include "core/base/named_values.h"
#include "core/report/json_number.h"

#include <cmath>

namespace qs {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr NamedValues<Relation, 10> kRelations { { { Relation::Products, "products" }, { Relation::Sum, "sum" },
    { Relation::Mean, "mean" }, { Relation::Largest, "largest" }, { Relation::Copy, "copy" },
    { Relation::Clamp, "clamp" }, { Relation::Quantize, "quantize" }, { Relation::Dequantize, "dequantize" },
    { Relation::Function, "function" }, { Relation::None, "none" } } };

constexpr NamedValues<ElementExplanation::Kind, 5> kKinds { { { ElementExplanation::Kind::Float, "float" },
    { ElementExplanation::Kind::Integer, "integer" }, { ElementExplanation::Kind::Quantize, "quantize" },
    { ElementExplanation::Kind::Dequantize, "dequantize" }, { ElementExplanation::Kind::Other, "other" } } };

template <class T> OrderedJson orNull(const std::optional<T>& value)
{
    return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson textOrNull(const std::string& text) { return text.empty() ? OrderedJson(nullptr) : OrderedJson(text); }

/// The number as it stands in the tensor.
OrderedJson storedNumber(const ElementExplanation& e)
{
    if (e.whole)
        return e.dtype == DType::UInt64 ? OrderedJson(uint64_t(*e.whole)) : OrderedJson(*e.whole);
    return isInteger(e.dtype) ? OrderedJson(int64_t(e.stored)) : jsonNumber(e.stored);
}

void addOperand(const std::string& prefix, const Operand* operand, const ElementExplanation& e, OrderedJson& json)
{
    const OperandSource* source = operand ? &e.sources[operand->source] : nullptr;
    json[prefix + "_name"] = source ? textOrNull(source->name) : OrderedJson(nullptr);
    json[prefix + "_at"] = source ? OrderedJson(placeOf(source->shape, operand->element)) : OrderedJson(nullptr);
    json[prefix] = operand ? jsonNumber(operand->real) : OrderedJson(nullptr);
    const bool coded = operand && operand->code;
    json[prefix + "_code"] = coded ? OrderedJson(*operand->code) : OrderedJson(nullptr);
    json[prefix + "_zero_point"] = coded ? OrderedJson(operand->zeroPoint) : OrderedJson(nullptr);
    json[prefix + "_scale"] = coded ? jsonNumber(operand->scale) : OrderedJson(nullptr);
    json[prefix + "_float"] = operand ? jsonNumber(operand->twin) : OrderedJson(nullptr);
}

OrderedJson termJson(const ElementTerm& term, const ElementExplanation& e)
{
    OrderedJson json;
    addOperand("a", &term.a, e, json);
    addOperand("b", term.b ? &*term.b : nullptr, e, json);
    if (e.relation == Relation::Sum)
        json["sign"] = term.sign;
    if (e.relation == Relation::Largest)
        json["chosen"] = term.chosen;
    json["product"] = orNull(term.product);
    json["sum"] = orNull(term.sum);
    json["saturated_pair"] = term.pair ? OrderedJson(*term.pair) : OrderedJson(nullptr);
    if (term.fromA)
        json["difference"] = { { "a", jsonNumber(term.fromA) }, { "b", jsonNumber(term.fromB) } };
    return json;
}

OrderedJson pairsJson(const ElementExplanation& e)
{
    OrderedJson list = OrderedJson::array();
    for (const SaturatedTerms& pair : e.saturated)
        list.push_back({ { "terms", { orNull(pair.terms[0]), orNull(pair.terms[1]) } },
            { "activation_codes", { pair.codes.a0, pair.codes.a1 } },
            { "weight_codes", { pair.codes.w0, pair.codes.w1 } }, { "sum", pair.codes.sum() },
            { "kept", pair.codes.kept() } });
    return list;
}

void addDifference(const ElementDifference& d, OrderedJson& json)
{
    json["difference"] = { { "total", jsonNumber(d.total) }, { "input", jsonNumber(d.input) },
        { "weight", jsonNumber(d.weight) }, { "bias", jsonNumber(d.bias) },
        { "rounding", jsonNumber(d.rounding + d.summation) }, { "clipping", jsonNumber(d.clipping + d.saturation) } };
    json["difference_detail"] = { { "float_tensor", textOrNull(d.floatTensor) }, { "float", jsonNumber(d.reference) },
        { "rounding_to_codes", jsonNumber(d.rounding) }, { "summation", jsonNumber(d.summation) },
        { "clipping_to_codes", jsonNumber(d.clipping) }, { "saturation", jsonNumber(d.saturation) },
        { "reservation", textOrNull(d.reservation) } };
}

void addMaker(const ElementExplanation& e, OrderedJson& json)
{
    json["node"] = e.node;
    json["op_type"] = e.opType;
    json["kind"] = explanationKindName(e.kind);
    json["relation"] = std::string(nameIn(kRelations, e.relation));
    json["unit"] = nullptr;
    if (!e.unitNodes.empty())
        json["unit"] = { { "operator", textOrNull(e.unitOperator) }, { "nodes", e.unitNodes } };
}

OrderedJson elementJson(const ElementExplanation& e)
{
    OrderedJson json { { "tensor", e.tensor }, { "at", e.at }, { "shape", e.shape },
        { "dtype", std::string(dtypeName(e.dtype)) }, { "arithmetic", std::string(profileName(e.profile)) } };
    addMaker(e, json);
    json["value"] = storedNumber(e);
    json["real"] = jsonNumber(e.real);
    json["code"] = orNull(e.code);
    json["scale"] = jsonNumber(e.scale);
    json["zero_point"] = orNull(e.zeroPoint);
    json["clipped"] = e.clipped;
    json["terms"] = OrderedJson::array();
    for (const ElementTerm& term : e.terms)
        json["terms"].push_back(termJson(term, e));
    addOperand("bias", e.bias ? &*e.bias : nullptr, e, json);
    json["bias"] = e.bias ? jsonNumber(e.bias->real * e.biasFactor) : OrderedJson(0);
    json["factor"] = e.factor;
    json["bias_factor"] = e.biasFactor;
    json["divisor"] = e.divisor;
    json["accumulator"] = orNull(e.accumulator);
    json["multiplier"] = jsonNumber(e.multiplier);
    json["before_rounding"] = jsonNumber(e.beforeRounding);
    json["pairs"] = orNull(e.pairs);
    json["saturated_pairs"] = e.pairs ? OrderedJson(e.saturated.size()) : OrderedJson(nullptr);
    json["saturated"] = pairsJson(e);
    json["steps"] = OrderedJson::array();
    for (const ExplanationStep& step : e.steps)
        json["steps"].push_back({ { "name", step.name }, { "value", jsonNumber(step.value) } });
    json["confirmed"] = orNull(e.confirmed);
    json["note"] = textOrNull(e.note);
    if (e.relation == Relation::None) {
        json["inputs"] = OrderedJson::array();
        for (const OperandSource& source : e.sources)
            json["inputs"].push_back({ { "name", source.name }, { "shape", source.shape } });
    }
    if (e.difference)
        addDifference(*e.difference, json);
    json["behind"] = e.behind ? elementJson(*e.behind) : OrderedJson(nullptr);
    return json;
}

} // namespace

std::string explanationKindName(ElementExplanation::Kind kind) { return std::string(nameIn(kKinds, kind)); }

OrderedJson explanationJson(const ElementExplanation& e)
{
    OrderedJson json { { "schema_version", 1 } };
    json.update(elementJson(e));
    return json;
}

} // namespace qs
