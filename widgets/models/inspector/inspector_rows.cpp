// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantize/quantization.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/formulas.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/base/other_row.h"
#include "widgets/models/base/side_model.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/inspector/inner_rows.h"
#include "widgets/models/inspector/inspector_model.h"
#include "widgets/models/inspector/inspector_row_list.h"
#include "widgets/models/inspector/origin_rows.h"
#include "widgets/models/tables/tensor_model.h"
#include "widgets/models/tables/weight_model.h"
#include "widgets/models/words/attribute_text.h"
#include "widgets/models/words/error_text.h"
#include "widgets/models/words/window_words.h"

#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

QString opset(const Node& node)
{
    const QString domain = node.domain.empty() ? QString() : toQt(node.domain) + u' ';
    return node.opset > 0 ? tr("%1%2, opset %3").arg(domain, toQt(node.opType)).arg(node.opset)
                          : domain + toQt(node.opType);
}

QString valueLabel(const LoadedModel& model, ValueId id)
{
    if (!id.valid())
        return tr("(none)");
    const Value& value = model.graph().value(id);
    const QString dims = value.type.dims ? QStringLiteral("  ") + dimsLabel(value.type.dims)
        : value.initializer              ? QStringLiteral("  ") + shapeLabel(value.initializer->shape())
                                         : QString();
    return toQt(value.name) + dims;
}

void addSampleNumbers(InspectorRowList& rows, const ActivationRow& r, const Snapshot& snapshot, const Place& place)
{
    if (place.sample && *place.sample < r.sampleSqnrDb.size())
        rows.add(tr("this sample"), decibelText(r.sampleSqnrDb[*place.sample]));
    if (r.sampleSqnrDb.size() < 2)
        return;
    Number worst;
    size_t worstSample = 0;
    for (size_t i = 0; i < r.sampleSqnrDb.size(); ++i) {
        if (r.sampleSqnrDb[i] && (!worst || *r.sampleSqnrDb[i] < *worst)) {
            worst = r.sampleSqnrDb[i];
            worstSample = i;
        }
    }
    if (worst)
        rows.add(tr("worst sample"),
            decibelText(worst) + QStringLiteral("  ")
                + (snapshot.data ? toQt(snapshot.data->sampleName(worstSample)) : QString::number(worstSample)));
}

/// What a second quantized model gives here.
void addOther(InspectorRowList& rows, const std::optional<OtherNumbers>& other, const Number& sqnrDb)
{
    if (!other)
        return;
    const Number gain = other->sqnrDb && sqnrDb ? Number(*other->sqnrDb - *sqnrDb) : Number();
    rows.add(tr("B | B − A"),
        decibelText(other->sqnrDb, other->exact) + QStringLiteral(" | ")
            + (gain ? signedDecibelText(*gain) : absentText()),
        metricInfo(Metric::OtherGain).definition);
}

QString readersText(const ActivationRow& row)
{
    QStringList names;
    for (const std::string& name : row.readerNames)
        names << toQt(name);
    return names.join(QStringLiteral(", "));
}

/// The other pairs of quantizers that stand for the tensor, each of which leads to its own numbers.
void addFurtherPairs(InspectorRowList& rows, const Comparison& comparison, size_t index)
{
    const ActivationRow& row = comparison.activations[index];
    if (row.siblings == 0)
        return;
    rows.add(tr("read by"), readersText(row),
        tr("The quantized model has several pairs of quantizers for this tensor. These nodes read the one shown."));
    for (size_t i = 0; i < comparison.activations.size(); ++i) {
        const ActivationRow& other = comparison.activations[i];
        if (i == index || other.siblings == 0 || other.floatValue != row.floatValue)
            continue;
        const QString readers = readersText(other);
        rows.addLinkToTensor(tr("another quantizer"),
            (readers.isEmpty() ? QString() : tr("for %1: ").arg(readers))
                + decibelText(other.accumulated.sqnrDb, other.accumulated.exact) + QStringLiteral(", ")
                + quantizerText(other.params),
            toQt(other.quantizedName) + u'\n' + tr("Enter or a click selects it: its range, its own numbers."), i);
    }
}

void addActivation(InspectorRowList& rows, const Snapshot& snapshot, const Place& place)
{
    const Comparison& comparison = *snapshot.comparison;
    const ActivationRow& r = comparison.activations[*place.activation];
    rows.section(tr("Tensor"));
    rows.add(tr("value"), toQt(r.name) + QStringLiteral("  ") + shapeLabel(r.shape));
    rows.add(tr("quantized name"), toQt(r.quantizedName));
    rows.add(tr("match"), matchLabel(r.method, r.confidence));
    rows.add(tr("quantizer"),
        r.dynamic         ? tr("%1, computed from each run's data").arg(toQt(dtypeName(r.params.dtype)))
            : r.quantizer ? quantizerText(r.params)
                          : tr("none of its own"),
        tr("real = scale * (q − zero_point)"));
    addFurtherPairs(rows, comparison, *place.activation);
    rows.add(tr("replaced activation"), toQt(r.foldedActivation));
    rows.add(tr("range / observed"),
        r.range ? rangeText(r.range) + QStringLiteral(" / ") + rangeText(r.observedRange)
                : QStringLiteral("– / ") + rangeText(r.observedRange),
        tr("What the codes can express, and what occurred before quantization."));
    rows.add(tr("float range"), rangeText(r.floatRange));
    rows.section(tr("Error"));
    if (r.equalized)
        rows.addSentence(tr("equalized"),
            tr("Its channels have factors that the next layers take away again; the float values are taken times "
               "these."),
            tr("Cross-layer equalization. The numbers in Values are as they are."));
    rows.add(tr("accumulated"),
        decibelText(r.accumulated.sqnrDb, r.accumulated.exact)
            + (r.idealSqnrDb ? tr(", ideal %1").arg(decibelText(r.idealSqnrDb)) : QString()),
        accumulatedFormula(r, comparison) + QStringLiteral("\n\n") + idealFormula(r));
    addOther(rows, r.other, r.accumulated.sqnrDb);
    if (const ActivationRow* other = otherRow(snapshot, r, &Comparison::activations))
        rows.add(tr("B: quantizer"), other->quantizer ? quantizerText(other->params) : tr("none of its own"));
    rows.add(tr("added: Q | node"),
        decibelText(r.localSqnrDb, r.localExact) + QStringLiteral(" | ")
            + (snapshot.inputs.nodeAlone ? decibelText(r.nodeSqnrDb, r.nodeExact) : tr("not measured")),
        addedFormula(r, comparison) + QStringLiteral("\n\n") + metricInfo(Metric::NodeAlone).definition
            + (snapshot.inputs.nodeAlone ? QString()
                                         : QStringLiteral("\n\n") + tr("Recipe ▸ Measure each node alone finds it.")));
    rows.add(tr("increase"), decibelText(r.increaseDb), metricInfo(Metric::Increase).definition);
    rows.add(tr("before | after Q/DQ"), decibelText(r.qdqSqnrDb, r.qdqExact),
        tr("The quantized model's own value before its quantizer against the value after (ONNX Runtime's qdq_err)."));
    rows.add(tr("noise"), noiseText(noiseShares(r)), noiseFormula(r));
    rows.add(tr("clipped"), percentText(r.clippedFraction), clippedFormula(r));
    rows.add(tr("used range | codes"), percentText(usedRangeOf(r)) + QStringLiteral(" | ") + percentText(r.usedCodes));
    const Similarity& s = r.accumulated;
    rows.add(tr("RMSE | max error"), numberText(s.rmse) + QStringLiteral(" | ") + numberText(s.maxAbsError),
        tr("In Values, Find ▸ largest difference goes to where it is."));
    if (s.rmse && r.params.perTensor() && r.quantizer)
        rows.add(tr("RMSE / scale"), numberText(*s.rmse / double(r.params.scale.front())),
            tr("0.289 = 1/√12 is what ideal rounding gives."));
    rows.add(tr("mean error"), numberText(s.meanError), definitionText(definition::kMeanError));
    rows.add(tr("cosine"), numberText(s.cosine, 6));
    addSampleNumbers(rows, r, snapshot, place);
    rows.add(tr("over"), tr("%1 elements, %2").arg(countText(s.elements), provenanceText(comparison)));
}

/// Of a constant that a quantized file has codes of (Recipe::codes); "" where there are none.
QString codesText(const Snapshot& snapshot, const std::string& name)
{
    const Quantization* made = snapshot.quantization.get();
    if (!made || !(made->codes.kept.contains(name) || made->codes.anew.contains(name)))
        return {};
    return made->codes.kept.contains(name) ? tr("from the file") : tr("computed anew");
}

void addWeight(InspectorRowList& rows, const Snapshot& snapshot, const Place& place)
{
    const Comparison& comparison = *snapshot.comparison;
    const WeightRow& r = comparison.weights[*place.weight];
    rows.section(r.bias ? tr("Bias") : tr("Weight"));
    rows.add(tr("name"), toQt(r.name) + QStringLiteral("  ") + shapeLabel(r.shape));
    rows.add(tr("quantized name"), toQt(r.quantizedName));
    rows.add(tr("match"), matchLabel(r.method, r.confidence));
    rows.add(tr("quantizer"), quantizerText(r.params), tr("real = scale * (q − zero_point)"));
    rows.add(tr("scale"), extentText(r.params.scale));
    rows.add(tr("zero point"), zeroPointText(r.params));
    if (const QString codes = codesText(snapshot, r.name); !codes.isEmpty())
        rows.add(tr("codes"), codes,
            tr("The recipe was read from a file. Its codes hold while the float values, scale and zero point are those "
               "they were read with; else they are rounded from the float values."));
    rows.section(tr("Error"));
    rows.add(tr("SQNR"),
        decibelText(r.similarity.sqnrDb, r.similarity.exact)
            + (r.idealSqnrDb ? tr(", ideal %1").arg(decibelText(r.idealSqnrDb)) : QString()),
        sqnrFormula(r.similarity, comparison));
    addOther(rows, r.other, r.similarity.sqnrDb);
    if (const WeightRow* other = otherRow(snapshot, r, &Comparison::weights))
        rows.add(tr("B: quantizer"), quantizerText(other->params));
    rows.add(tr("worst channel"), worstChannelText(r));
    if (place.channel && *place.channel < r.channelSqnrDb.size())
        rows.add(tr("channel %1").arg(*place.channel), decibelText(r.channelSqnrDb[*place.channel]));
    rows.add(tr("per tensor | channel"),
        decibelText(r.perTensorSqnrDb) + QStringLiteral(" | ") + decibelText(r.perChannelSqnrDb),
        tr("What one scale would give, and a scale a channel, in the type of the weight."));
    rows.add(tr("range ratio"), numberText(r.rangeRatio), definitionText(definition::kRangeRatio));
    rows.add(tr("clipped"), percentText(r.clippedFraction));
    rows.add(tr("used codes"), percentText(r.usedCodes));
    rows.add(tr("off by > ½ step"), percentText(r.offByMoreThanHalfStep),
        tr("Share of unclipped elements that rounding alone cannot explain: other weights than the float file's."));
    rows.add(tr("RMSE | max error"),
        numberText(r.similarity.rmse) + QStringLiteral(" | ") + numberText(r.similarity.maxAbsError));
}

/// Weights and biases of the node, each of which leads to its own numbers, and to its override.
void addWeightsOf(InspectorRowList& rows, const Snapshot& snapshot, const Place& place)
{
    const bool isFloat = place.side == Side::Float;
    const auto& weights = snapshot.comparison->weights;
    InspectorRowList found;
    for (size_t i = 0; i < weights.size(); ++i) {
        const WeightRow& r = weights[i];
        if (place.node.valid() && (isFloat ? r.floatNode : r.quantNode) == place.node && !place.inner.valid())
            found.addLink(r.bias ? tr("bias") : tr("weight"),
                granularityText(r.params) + QStringLiteral(", ") + decibelText(r.similarity.sqnrDb, r.similarity.exact),
                toQt(r.name) + u'\n' + tr("Enter or a click selects it: its numbers, its own type and scales."), i);
    }
    rows.addSection(tr("Weights"), std::move(found));
}

/// "Why is this float?" of a node of either model; null where it is quantized, or nothing was compared yet.
const FloatNodeRow* floatNodeAt(const Snapshot& snapshot, const LoadedModel& model, const Place& place)
{
    if (!snapshot.comparison)
        return nullptr;
    const auto& all = snapshot.comparison->floatNodes;
    if (place.side == Side::Float)
        return whyFloat(*snapshot.comparison, model.graph().node(place.node).name);
    const auto found = std::ranges::find(all, place.node, &FloatNodeRow::quantNode);
    return found == all.end() ? nullptr : &*found;
}

void addWhyFloat(InspectorRowList& rows, const FloatNodeRow& row)
{
    const QString share = row.macShare && *row.macShare > 0
        ? tr(" (%1 of the multiplications)").arg(percentText(row.macShare))
        : QString();
    rows.section(tr("In float"));
    rows.addSentence(tr("why is this float?"), toQt(row.reason.text) + share,
        tr("Why the quantized model computes this node in float: as the quantizer decided it, or as the file shows "
           "it."));
}

void addNode(InspectorRowList& rows, const LoadedModel& model, NodeId id)
{
    const Node& node = model.graph().node(id);
    rows.section(tr("Node"));
    rows.add(tr("name"), toQt(node.name));
    rows.add(tr("operator"), opset(node));
    if (const auto& blocked = model.plan->step(id).blocked)
        rows.add(tr("cannot run"), issueHeadline(*blocked) + u' ' + issueRemedy(*blocked));
    for (const auto& [name, value] : node.attributes.all())
        rows.add(toQt(name), attributeText(value), tr("Attribute"));
    for (size_t i = 0; i < node.inputs.size(); ++i)
        rows.add(tr("input %1").arg(i), valueLabel(model, node.inputs[i]));
    for (size_t i = 0; i < node.outputs.size(); ++i)
        rows.add(tr("output %1").arg(i), valueLabel(model, node.outputs[i]));
}

/// "" for a value that is inside no node of the other file.
QString insideText(const Snapshot& snapshot, const Place& place)
{
    const bool isFloat = place.side == Side::Float;
    const LoadedModel* other = modelOf(snapshot, isFloat ? Side::Quantized : Side::Float);
    if (!other || !snapshot.alignment)
        return {};
    const NodeId around
        = nodeAround(isFloat ? snapshot.alignment->insideFloat : snapshot.alignment->insideQuant, place.value);
    return around.valid() ? tr("inside %1 (%2) of the other file")
                                .arg(toQt(other->graph().node(around).name), toQt(other->graph().node(around).opType))
                          : QString();
}

void addLonelyValue(InspectorRowList& rows, const Snapshot& snapshot, const LoadedModel& model, const Place& place)
{
    const Value& value = model.graph().value(place.value);
    rows.section(tr("Tensor"));
    rows.add(tr("value"), valueLabel(model, place.value));
    const Tensor* constant = value.initializer ? &*value.initializer : model.plan->constant(place.value);
    const DType type = constant ? constant->dtype() : value.type.dtype;
    if (type != DType::Undefined)
        rows.add(tr("type"), toQt(dtypeName(type)));
    if (constant)
        rows.add(tr("kind"), tr("constant"));
    else if (const QString inside = insideText(snapshot, place); !inside.isEmpty())
        rows.add(tr("match"), inside);
    else if (snapshot.comparison)
        rows.add(tr("match"), tr("no partner in the other file, so there are no numbers"));
    if (const Issue* blocked = model.plan->blocked(place.value))
        rows.add(tr("cannot run"), issueHeadline(*blocked) + u' ' + issueRemedy(*blocked));
    if (const auto index = model.quant ? model.quant->ofValue(place.value) : std::nullopt)
        rows.add(tr("quantizer"), quantizerText(model.quant->quantizers()[*index].params));
}

void addFile(InspectorRowList& rows, const QString& title, const LoadedModel& model)
{
    const Model& file = *model.model;
    rows.section(title);
    rows.add(tr("file"), fileName(file.path), toQt(file.path));
    rows.add(tr("made by"), toQt(file.producer));
    QStringList imports;
    for (const auto& [domain, version] : file.opsetImports)
        imports << (domain.empty() ? QStringLiteral("ai.onnx") : toQt(domain)) + u' ' + QString::number(version);
    rows.add(tr("opsets"), imports.join(QStringLiteral(", ")));
    rows.add(tr("nodes"), countText(file.fileNodes));
    rows.add(tr("quantization"), toQt(quantFormName(model.quant ? model.quant->form() : QuantForm::Float)));
    for (const ValueId id : model.graph().inputs())
        rows.add(tr("input"), valueLabel(model, id));
    for (const ValueId id : model.graph().outputs())
        rows.add(tr("output"), valueLabel(model, id));
    for (const auto& [id, issue] : model.plan->unsupported())
        rows.add(tr("cannot run"), issueHeadline(issue));
    for (const std::string& warning : file.warnings)
        rows.add(tr("warning"), inWindowWords(toQt(warning)));
}

} // namespace

std::vector<InspectorRow> inspectorRows(const Snapshot& snapshot, const Place& place)
{
    InspectorRowList rows;
    const LoadedModel* model = modelOf(snapshot, place.side);
    if (place.empty() || !model) {
        if (const auto& first = snapshot.floatModel) {
            const bool quantized = first->quant && !first->isFloat();
            addFile(rows, quantized ? tr("First model") : tr("Float model"), *first);
        }
        if (snapshot.quantModel)
            addFile(rows, tr("Quantized model"), *snapshot.quantModel);
        return std::move(rows).take();
    }
    if (place.inner.valid()) {
        addInnerNode(rows, *model, place.inner);
        for (const size_t weight : innerWeights(snapshot, *model, place)) {
            Place of = place;
            of.weight = weight;
            addWeight(rows, snapshot, of);
        }
        addOrigin(rows, snapshot, place);
        return std::move(rows).take();
    }
    if (place.node.valid())
        if (const FloatNodeRow* row = floatNodeAt(snapshot, *model, place))
            addWhyFloat(rows, *row);
    if (place.weight && snapshot.comparison)
        addWeight(rows, snapshot, place);
    else if (place.activation && snapshot.comparison)
        addActivation(rows, snapshot, place);
    else if (place.value.valid())
        addLonelyValue(rows, snapshot, *model, place);
    if (place.node.valid() && snapshot.comparison && !place.weight)
        addWeightsOf(rows, snapshot, place);
    if (place.node.valid())
        addNode(rows, *model, place.node);
    addOrigin(rows, snapshot, place);
    return std::move(rows).take();
}

QString inspectorTitle(const Snapshot& snapshot, const Place& place)
{
    const LoadedModel* model = modelOf(snapshot, place.side);
    if (!model || place.empty())
        return {};
    if (place.inner.valid())
        return toQt(innerName(model->graph(), place.inner));
    if (place.weight && snapshot.comparison) {
        const WeightRow& row = snapshot.comparison->weights[*place.weight];
        return toQt(row.name) + (row.bias ? tr(" · bias") : tr(" · weight"));
    }
    const QString node = place.node.valid() ? toQt(model->graph().node(place.node).name) : QString();
    if (!place.value.valid())
        return node;
    if (node.isEmpty())
        return toQt(model->graph().value(place.value).name)
            + (model->graph().isInput(place.value) ? tr(" · input") : QString());
    return node + tr(" · output");
}

} // namespace qs
