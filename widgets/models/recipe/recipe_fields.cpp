// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/recipe/recipe_fields.h"

#include "widgets/models/base/formatting.h"

#include <QCoreApplication>

#include <utility>

namespace qs {

namespace {

QString fieldText(const char* text) { return QCoreApplication::translate("RecipeFields", text); }

/// The part after a colon belongs to the line above it.
QString shortLabel(const QString& title)
{
    const qsizetype colon = title.indexOf(u':');
    return colon < 0 ? title : QStringLiteral("   ") + title.mid(colon + 1).trimmed();
}

bool always(const Recipe&) { return true; }
bool calibrated(const Recipe& r) { return r.format == RecipeFormat::Qdq || r.format == RecipeFormat::QOperator; }
bool weightOnly(const Recipe& r) { return r.format == RecipeFormat::WeightOnly; }
bool notWeightOnly(const Recipe& r) { return !weightOnly(r); }
bool withMethod(const Recipe& r, CalibrationMethod method) { return calibrated(r) && r.calibration.method == method; }

/// A choice among values of one member, which `at` finds in a recipe.
template <class Value, class At>
RecipeField choice(const char* path, const QString& label, const QString& toolTip, At at,
    const std::vector<std::pair<QString, Value>>& values, std::function<bool(const Recipe&)> applies = always)
{
    RecipeField field;
    field.path = path;
    field.title = label;
    field.label = shortLabel(label);
    field.toolTip = toolTip;
    field.applies = std::move(applies);
    for (const auto& [text, value] : values)
        field.choices.push_back({ text, [at, v = value](Recipe& r) { at(r) = v; } });
    field.get = [at, values](const Recipe& r) {
        for (size_t i = 0; i < values.size(); ++i)
            if (at(r) == values[i].second)
                return double(i);
        return -1.0;
    };
    field.copy = [at](Recipe& to, const Recipe& from) { at(to) = at(from); };
    return field;
}

template <class At>
RecipeField flag(const char* path, const QString& label, const QString& toolTip, At at,
    std::function<bool(const Recipe&)> applies = always)
{
    return choice<bool>(
        path, label, toolTip, at, { { fieldText("off"), false }, { fieldText("on"), true } }, std::move(applies));
}

template <class At>
RecipeField number(const char* path, const QString& label, const QString& toolTip, At at, double least, double most,
    int decimals, std::function<bool(const Recipe&)> applies)
{
    RecipeField field;
    field.path = path;
    field.title = label;
    field.label = shortLabel(label);
    field.toolTip = toolTip;
    field.least = least;
    field.most = most;
    field.decimals = decimals;
    field.applies = std::move(applies);
    field.get = [at](const Recipe& r) { return double(at(r)); };
    field.setNumber = [at](Recipe& r, double value) {
        auto& member = at(r);
        member = static_cast<std::remove_reference_t<decltype(member)>>(value);
    };
    field.copy = [at](Recipe& to, const Recipe& from) { at(to) = at(from); };
    return field;
}

RecipeField section(const QString& title, std::function<bool(const Recipe&)> applies = always)
{
    RecipeField field;
    field.label = title;
    field.section = true;
    field.applies = std::move(applies);
    return field;
}

#define QS_FIELD(member)                                                                                               \
    [](auto& r) -> auto& { return r.member; }

void addCalibration(std::vector<RecipeField>& fields)
{
    using Method = CalibrationMethod;
    fields.push_back(choice<Method>("calibration.method", fieldText("Calibrator"),
        fieldText("How ranges of activations are chosen from what they were seen to hold"),
        QS_FIELD(calibration.method),
        { { fieldText("min-max"), Method::MinMax }, { fieldText("moving average"), Method::MovingAverage },
            { fieldText("percentile"), Method::Percentile }, { fieldText("entropy"), Method::Entropy },
            { fieldText("MSE"), Method::Mse }, { fieldText("distribution (float8)"), Method::Distribution } },
        calibrated));
    fields.push_back(number("calibration.percentile", fieldText("Calibrator: percentile, %"),
        fieldText("Share of the values that the range holds"), QS_FIELD(calibration.percentile), 50, 100, 4,
        [](const Recipe& r) { return withMethod(r, Method::Percentile); }));
    fields.push_back(number("calibration.averaging_constant", fieldText("Calibrator: averaging"),
        fieldText("Weight of the newest chunk in the moving average"), QS_FIELD(calibration.averagingConstant), 0, 1, 3,
        [](const Recipe& r) { return withMethod(r, Method::MovingAverage); }));
    fields.push_back(number("calibration.quantized_bins", fieldText("Calibrator: quantized bins"),
        fieldText("Steps that the entropy search quantizes its histogram to"), QS_FIELD(calibration.quantizedBins), 2,
        2048, 0, [](const Recipe& r) { return withMethod(r, Method::Entropy); }));
    using Symmetric = std::optional<bool>;
    fields.push_back(choice<Symmetric>("calibration.symmetric", fieldText("Calibrator: symmetric"),
        fieldText("The calibrator makes ranges symmetric around zero; default: percentile alone does"),
        QS_FIELD(calibration.symmetric),
        { { fieldText("default"), std::nullopt }, { fieldText("off"), false }, { fieldText("on"), true } },
        [](const Recipe& r) {
            return calibrated(r) && r.calibration.method != Method::Entropy
                && r.calibration.method != Method::Distribution;
        }));
}

void addTypes(std::vector<RecipeField>& fields)
{
    fields.push_back(choice<DType>("activation_type", fieldText("Activations"),
        fieldText("Type of the codes of activations"), QS_FIELD(activationType),
        { { QStringLiteral("int8"), DType::Int8 }, { QStringLiteral("uint8"), DType::UInt8 },
            { QStringLiteral("int16"), DType::Int16 }, { QStringLiteral("uint16"), DType::UInt16 },
            { QStringLiteral("float8e4m3fn"), DType::Float8E4M3FN } },
        calibrated));
    fields.push_back(flag("symmetric_activations", fieldText("Activations: symmetric"),
        fieldText("Zero points of activations stand in the middle of the codes"), QS_FIELD(symmetricActivations),
        calibrated));
    fields.push_back(choice<DType>("weight_type", fieldText("Weights"), fieldText("Type of the codes of weights"),
        QS_FIELD(weightType),
        { { QStringLiteral("int8"), DType::Int8 }, { QStringLiteral("uint8"), DType::UInt8 },
            { QStringLiteral("int4"), DType::Int4 }, { QStringLiteral("uint4"), DType::UInt4 },
            { QStringLiteral("int16"), DType::Int16 }, { QStringLiteral("float8e4m3fn"), DType::Float8E4M3FN } }));
    using Symmetric = std::optional<bool>;
    fields.push_back(choice<Symmetric>("symmetric_weights", fieldText("Weights: symmetric"),
        fieldText("Default: signed types are"), QS_FIELD(symmetricWeights),
        { { fieldText("default"), std::nullopt }, { fieldText("off"), false }, { fieldText("on"), true } },
        notWeightOnly));
    fields.push_back(choice<bool>("per_channel", fieldText("Weights: granularity"),
        fieldText("One scale for a whole weight, or one for each output channel"), QS_FIELD(perChannel),
        { { fieldText("per tensor"), false }, { fieldText("per channel"), true } }, notWeightOnly));
    fields.push_back(flag("reduce_range", fieldText("Weights: reduce range"),
        fieldText("Weights take 7 bits, so that pairs of products fit 16 bits on CPUs without VNNI"),
        QS_FIELD(reduceRange), notWeightOnly));
}

void addBlocks(std::vector<RecipeField>& fields)
{
    using Algorithm = WeightOnlyAlgorithm;
    fields.push_back(choice<Algorithm>("weight_only.algorithm", fieldText("Algorithm"),
        fieldText("How the codes of a block are found"), QS_FIELD(weightOnly.algorithm),
        { { fieldText("default"), Algorithm::Default }, { fieldText("round to nearest"), Algorithm::RoundToNearest },
            { QStringLiteral("HQQ"), Algorithm::Hqq }, { QStringLiteral("GPTQ"), Algorithm::Gptq },
            { QStringLiteral("k-quant"), Algorithm::KQuant } },
        weightOnly));
    fields.push_back(choice<int64_t>("weight_only.block_size", fieldText("Block size"),
        fieldText("Elements that share a scale"), QS_FIELD(weightOnly.blockSize),
        { { QStringLiteral("16"), 16 }, { QStringLiteral("32"), 32 }, { QStringLiteral("64"), 64 },
            { QStringLiteral("128"), 128 }, { QStringLiteral("256"), 256 } },
        weightOnly));
}

void addCorrections(std::vector<RecipeField>& fields)
{
    fields.push_back(section(fieldText("Before and after"), notWeightOnly));
    fields.push_back(flag("preparation", fieldText("Prepare the graph"),
        fieldText("Constants and BatchNormalization are folded before anything is quantized"),
        QS_FIELD(preparation.enabled)));
    fields.push_back(flag("keep_extreme_constants", fieldText("Extremes float"),
        fieldText("Constants beyond any useful scale (−3.4e38 in attention masks) are not quantized"),
        QS_FIELD(keepExtremeConstants), notWeightOnly));
    fields.push_back(flag("smooth_quant", fieldText("SmoothQuant"),
        fieldText("Moves scale from activations to weights, per channel"), QS_FIELD(smoothQuant), calibrated));
    fields.push_back(number("smooth_quant_alpha", fieldText("SmoothQuant: alpha"),
        fieldText("How much of it is moved: 0 nothing, 1 all"), QS_FIELD(smoothQuantAlpha), 0, 1, 2,
        [](const Recipe& r) { return calibrated(r) && r.smoothQuant; }));
    fields.push_back(flag("corrections.equalize", fieldText("Equalize layers"),
        fieldText("Evens out the ranges of channels between neighbouring layers"), QS_FIELD(corrections.equalize),
        calibrated));
    fields.push_back(flag("corrections.equalize_clips", fieldText("Equalize: Clip as Relu"),
        fieldText("A Clip from 0 on (Relu6) between two layers becomes a Relu, so that they can be equalized"),
        QS_FIELD(corrections.equalizeClips), [](const Recipe& r) { return calibrated(r) && r.corrections.equalize; }));
    fields.push_back(flag("corrections.adaround", fieldText("Round by outputs"),
        fieldText("Weights are rounded up or down by what it does to the outputs of their layer"),
        QS_FIELD(corrections.adaround), calibrated));
    fields.push_back(flag("corrections.bias", fieldText("Correct biases"),
        fieldText("Takes the mean error that quantization makes out of the biases"),
        QS_FIELD(corrections.biasCorrection), calibrated));
}

std::vector<RecipeField> makeFields()
{
    std::vector<RecipeField> fields;
    using Format = RecipeFormat;
    fields.push_back(choice<Format>("format", fieldText("Format"),
        fieldText("Q/DQ pairs around float operators, operators on codes, dynamic ranges, or weights alone in blocks"),
        QS_FIELD(format),
        { { fieldText("Q/DQ"), Format::Qdq }, { fieldText("QOperator"), Format::QOperator },
            { fieldText("dynamic"), Format::Dynamic }, { fieldText("weights only"), Format::WeightOnly } }));
    addCalibration(fields);
    addTypes(fields);
    addBlocks(fields);
    addCorrections(fields);
    return fields;
}

#undef QS_FIELD

} // namespace

const std::vector<RecipeField>& recipeFields()
{
    static const std::vector<RecipeField> kFields = makeFields();
    return kFields;
}

QString recipeFieldText(const RecipeField& field, const Recipe& recipe)
{
    const double value = field.get(recipe);
    if (field.choices.empty())
        return QString::number(value, 'g', 8);
    return value < 0 ? QCoreApplication::translate("RecipeFields", "other") : field.choices[size_t(value)].text;
}

} // namespace qs
