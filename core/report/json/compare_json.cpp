// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/json/compare_json.h"

#include "core/analysis/rows/parameter_difference.h"
#include "core/analysis/rows/range_use.h"
#include "core/base/text/one_line.h"
#include "core/quant/recipe/recipe.h"
#include "core/report/format.h"
#include "core/report/iterations.h"
#include "core/report/json/blame_json.h"
#include "core/report/json/files_json.h"
#include "core/report/json/language_json.h"
#include "core/report/json/matching_json.h"
#include "core/report/json/samples_json.h"
#include "core/report/json/saturation_lab_json.h"
#include "core/report/json/tasks_json.h"
#include "core/report/json/weight_lab_json.h"
#include "core/report/json_number.h"
#include "core/report/remedy_text.h"
#include "core/report/report.h"
#include "core/report/text/saturation.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

Json numbers(const std::vector<float>& values)
{
    Json list = Json::array();
    for (float v : values)
        list.push_back(jsonNumber(double(v)));
    return list;
}

Json numbers(const std::vector<Number>& values)
{
    Json list = Json::array();
    for (const Number& v : values)
        list.push_back(jsonNumber(v));
    return list;
}

Json pair(const std::optional<std::pair<double, double>>& p)
{
    if (!p)
        return Json::array({ nullptr, nullptr });
    return Json::array({ jsonNumber(p->first), jsonNumber(p->second) });
}

void addSimilarity(Json& row, const Similarity& s)
{
    row["rmse"] = jsonNumber(s.rmse);
    row["max_abs_error"] = jsonNumber(s.maxAbsError);
    row["mean_error"] = jsonNumber(s.meanError);
    row["cosine"] = jsonNumber(s.cosine);
}

/// Whole but for those of hqq.
Json zeroPoints(const QuantParams& params)
{
    if (params.scale.empty() || params.zeroRest.empty())
        return params.scale.empty() ? Json::array() : Json(params.zeroPoint);
    Json list = Json::array();
    for (size_t s = 0; s < params.scale.size(); ++s)
        list.push_back(jsonNumber(params.zero(s)));
    return list;
}

void addParams(Json& row, const QuantParams& params)
{
    row["scale"] = numbers(params.scale);
    row["zero_point"] = zeroPoints(params);
    row["axis"] = params.axis ? Json(*params.axis) : Json(nullptr);
}

Json model(const std::optional<LoadedModel>& m)
{
    return { { "path", m->model->path }, { "nodes", m->model->fileNodes } };
}

Json outputs(const Comparison& c)
{
    Json list = Json::array();
    for (const OutputRow& out : c.outputs) {
        Json row = { { "name", out.name }, { "quantized_name", out.quantizedName } };
        row["sqnr_db"] = jsonNumber(out.similarity.sqnrDb);
        row["exact"] = out.similarity.exact;
        addSimilarity(row, out.similarity);
        row["top1_agreement"] = jsonNumber(out.top1Agreement);
        row["top5_agreement"] = jsonNumber(out.top5Agreement);
        row["positions"] = out.positions;
        row["kl_mean"] = jsonNumber(out.klMean);
        row["kl_max"] = jsonNumber(out.klMax);
        row["task"] = taskJson(out.task);
        row["non_finite"] = out.similarity.nonFinite;
        if (out.implementation) { // integer profiles: end to end against the file as written
            Json& difference = row["written_difference"]
                = { { "sqnr_db", jsonNumber(out.implementation->sqnrDb) }, { "exact", out.implementation->exact } };
            addSimilarity(difference, *out.implementation);
        }
        list.push_back(std::move(row));
    }
    return list;
}

/// What was inherited by its definition, (y - x)·(a(p) - x): what the node's weights and its kernel made with what came
/// in with the inputs. Where it is not told how much of it these are, what rounding and clipping leave.
Number inheritedWhole(const ActivationRow& a)
{
    const NoiseSplit& noise = a.noise;
    if (noise.inherited)
        return *noise.inherited + noise.weights.value_or(0) + noise.kernel.value_or(0);
    if (!noise.rounding || !noise.clipping || !a.accumulated.rmse)
        return {};
    return *a.accumulated.rmse * *a.accumulated.rmse - *noise.rounding - *noise.clipping;
}

Json noiseJson(const ActivationRow& a)
{
    return { { "rounding", jsonNumber(a.noise.rounding) }, { "clipping", jsonNumber(a.noise.clipping) },
        { "inherited", jsonNumber(inheritedWhole(a)) }, { "weights", jsonNumber(a.noise.weights) },
        { "kernel", jsonNumber(a.noise.kernel) }, { "inputs", jsonNumber(a.noise.inherited) } };
}

Json activation(const ActivationRow& a, DType floatType)
{
    Json row
        = { { "name", a.name }, { "quantized_name", a.quantizedName }, { "node", a.node }, { "op_type", a.opType } };
    if (a.siblings > 0)
        row["readers"] = a.readerNames;
    if (a.equalized)
        row["equalized"] = true;
    row["match"] = { { "method", std::string(matchMethodName(a.method)) }, { "confidence", a.confidence } };
    const bool quantized = !a.params.scale.empty() || a.dynamic;
    const DType wholeType = isInteger(floatType) || floatType == DType::Bool ? floatType : DType::Float32;
    row["dtype"] = std::string(dtypeName(quantized ? a.params.dtype : wholeType));
    addParams(row, a.params);
    row["dynamic"] = a.dynamic;
    row["sqnr_db"] = jsonNumber(a.accumulated.sqnrDb);
    row["exact"] = a.accumulated.exact;
    row["local_sqnr_db"] = jsonNumber(a.localSqnrDb);
    row["qdq_sqnr_db"] = jsonNumber(a.qdqSqnrDb);
    row["node_sqnr_db"] = jsonNumber(a.nodeSqnrDb);
    row["increase_db"] = jsonNumber(a.increaseDb);
    row["growth_db"] = jsonNumber(growthDb(a));
    row["ideal_sqnr_db"] = jsonNumber(a.idealSqnrDb);
    addSimilarity(row, a.accumulated);
    row["noise"] = noiseJson(a);
    row["clipped_fraction"] = jsonNumber(a.clippedFraction);
    row["float_clipped_fraction"] = jsonNumber(a.floatClippedFraction);
    row["range"] = quantized ? pair(a.range) : Json::array();
    row["observed_range"] = pair(a.observedRange);
    row["implementation"] = nullptr;
    if (a.implementation)
        row["implementation"]
            = { { "off_by_one", a.implementation->offByOne }, { "beyond", a.implementation->beyond } };
    row["float_range"] = pair(a.floatRange);
    row["used_codes"] = jsonNumber(a.usedCodes);
    row["folded_activation"] = a.foldedActivation.empty() ? Json(nullptr) : Json(a.foldedActivation);
    row["non_finite"] = a.accumulated.nonFinite;
    return row;
}

Json weight(const WeightRow& w)
{
    Json row = { { "name", w.name }, { "quantized_name", w.quantizedName }, { "node", w.node }, { "op_type", w.opType },
        { "dtype", std::string(dtypeName(w.params.dtype)) } };
    if (!w.untaken.empty())
        row["untaken"] = w.untaken;
    addParams(row, w.params);
    row["match"] = { { "method", std::string(matchMethodName(w.method)) }, { "confidence", w.confidence } };
    row["sqnr_db"] = jsonNumber(w.similarity.sqnrDb);
    row["exact"] = w.similarity.exact;
    row["ideal_sqnr_db"] = jsonNumber(w.idealSqnrDb);
    addSimilarity(row, w.similarity);
    row["channel_sqnr_db"] = numbers(w.channelSqnrDb);
    row["clipped_fraction"] = jsonNumber(w.clippedFraction);
    row["range_ratio"] = jsonNumber(w.rangeRatio);
    row["per_tensor_sqnr_db"] = jsonNumber(w.perTensorSqnrDb);
    row["per_channel_sqnr_db"] = jsonNumber(w.perChannelSqnrDb);
    row["used_codes"] = jsonNumber(w.usedCodes);
    return row;
}

Json floatNode(const FloatNodeRow& row)
{
    return { { "node", row.node }, { "op_type", row.opType },
        { "cause", std::string(nameIn(kFloatCauses, row.reason.cause)) }, { "reason", row.reason.text },
        { "mac_share", jsonNumber(row.macShare) } };
}

/// What to change about a recipe; null where no recipe helps. `measured`: options that do more were not.
Json change(const Remedy& r, bool measured)
{
    if (r.kind == RemedyKind::None)
        return nullptr;
    Json json = { { "kind", std::string(remedyKindName(r.kind)) }, { "node", r.node }, { "tensor", r.tensor } };
    if (r.kind == RemedyKind::SetRange || (r.kind == RemedyKind::ExcludeNode && r.low < r.high))
        json["range"] = { jsonNumber(r.low), jsonNumber(r.high) };
    if (r.kind == RemedyKind::PerChannel || r.kind == RemedyKind::EightBitWeight)
        json["axis"] = r.axis;
    if (r.kind == RemedyKind::Calibrate)
        json["calibrator"] = std::string(nameIn(kCalibrators, r.calibrator));
    if (r.kind == RemedyKind::ActivationType)
        json["type"] = std::string(nameIn(kCodeTypes, r.type));
    const std::span one(&r, 1);
    json["options"] = measured && optionsDoMore(one) ? std::string() : remedyOptions(one);
    return json;
}

Json evidenceJson(const std::vector<EvidenceItem>& items)
{
    Json json = Json::object();
    for (const EvidenceItem& e : items)
        json[e.key] = e.text.empty() ? jsonNumber(e.number) : Json(e.text);
    return json;
}

Json finding(const Snapshot& s, const Finding& f)
{
    Json places = Json::array();
    for (const FindingPlace& p : placesOf(f))
        places.push_back({ { "node", p.node }, { "tensor", p.tensor }, { "evidence", evidenceJson(p.evidence) },
            { "change", change(p.change, f.measuredGainDb.has_value()) },
            { "expected_gain_db", jsonNumber(p.expectedGainDb) } });
    Json together = Json::array();
    for (const Remedy& r : f.together)
        together.push_back(change(r, f.measuredGainDb.has_value()));
    return { { "rule", std::string(ruleId(f.rule)) }, { "severity", std::string(severityName(f.severity)) },
        { "node", f.node }, { "tensor", f.tensor }, { "title", f.title }, { "summary", f.summary },
        { "evidence", evidenceJson(f.evidence) }, { "remedy", f.remedy },
        { "change", change(f.change, f.measuredGainDb.has_value()) }, { "together_with", together },
        { "command", text::remedyCommandLine(s, f) }, { "expected_gain_db", jsonNumber(f.expectedGainDb) },
        { "measured_gain_db", jsonNumber(f.measuredGainDb) },
        { "measured_accuracy_gain", jsonNumber(f.measuredAccuracyGain) },
        { "measured_top1_gain", jsonNumber(f.measuredTop1Gain) },
        { "measured_agreement_gain", jsonNumber(f.measuredAgreementGain) }, { "confidence", f.confidence },
        { "places", places } };
}

/// Constants that are no codes and have other values in the quantized file.
Json roundingsJson(const PrecisionStep& step)
{
    Json list = Json::array();
    for (const WeightRounding& r : step.roundings)
        list.push_back({ { "name", r.name }, { "quantized_name", r.quantizedName }, { "node", r.node },
            { "precision", r.precision ? Json(std::string(precisionName(*r.precision))) : Json(nullptr) },
            { "distance", jsonNumber(r.distance) } });
    return list;
}

/// Whether both files compute the same without quantizers.
Json networkJson(const NetworkVerdict& v, const Graph& graph)
{
    Json rounded = Json::array();
    if (v.step.weights)
        rounded.push_back("weights");
    if (v.step.values)
        rounded.push_back("values");
    Json json = { { "verdict",
                      !v.known()     ? "unknown"
                          : v.same() ? "same"
                                     : "different" },
        { "same", v.known() ? Json(v.same()) : Json(nullptr) },
        { "reason", v.known() ? Json(nullptr) : Json(v.reason) },
        { "precision", std::string(precisionName(v.step.precision)) }, { "rounded", rounded },
        { "weights_rounding", roundingsJson(v.step) }, { "other_functions", v.otherFunctions } };
    if (!v.known())
        return json;
    const auto& apart = v.distance.firstApart;
    json["weights"] = v.rearranged ? "own" : v.storedWeights ? "stored" : "float";
    json["other_constants"] = v.otherConstants ? jsonNumber(*v.otherConstants) : Json(nullptr);
    json["restored_activations"] = v.restoredActivations;
    json["rounded_constants"] = v.roundedConstants ? jsonNumber(*v.roundedConstants) : Json(nullptr);
    json["output"] = graph.value(v.distance.worstOutput.floatValue).name;
    json["output_distance"] = jsonNumber(v.distance.worstOutput.distance);
    json["explained"] = v.distance.explained ? jsonNumber(*v.distance.explained) : Json(nullptr);
    json["tolerance"] = jsonNumber(v.distance.tolerance);
    json["past"] = v.past == PastProof::Same ? Json("same")
        : v.past == PastProof::Apart         ? Json("different")
        : v.past == PastProof::Untested      ? Json("untested")
                                             : Json(nullptr);
    json["silent_samples"] = v.distance.silent;
    json["padding"] = v.padding ? Json { { "positions", v.padding->positions }, { "left", v.padding->left },
        { "mask", v.padding->mask }, { "in_float", v.padding->inFloat } }
                                : Json(nullptr);
    json["unreached"] = v.unreached;
    json["first_apart"] = apart ? Json(graph.value(apart->floatValue).name) : Json(nullptr);
    return json;
}

/// One number an output.
std::vector<Number> samplesOf(const Comparison& c, size_t sample)
{
    std::vector<Number> list;
    for (const OutputRow& out : c.outputs)
        list.push_back(out.sampleSqnrDb[sample]);
    return list;
}

Json classNumber(int64_t number) { return number < 0 ? Json() : Json(number); }

/// What became of each sample at the outputs.
Json sampleDetails(const Comparison& c, const ClassNames& names)
{
    Json list = Json::array();
    for (size_t s = 0; !c.outputs.empty() && s < c.outputs.front().sampleSqnrDb.size(); ++s) {
        Json row = { { "sample", c.firstSample + s } };
        row["output_sqnr_db"] = numbers(samplesOf(c, s));
        for (const OutputRow& out : c.outputs)
            row["tasks"].push_back(taskSampleJson(out.task, s));
        if (s < c.floatClass.size()) {
            row["float_class"] = classNumber(c.floatClass[s]);
            row["quantized_class"] = classNumber(c.quantClass[s]);
            if (!names.empty()) {
                row["float_class_name"] = className(names, c.floatClass[s]);
                row["quantized_class_name"] = className(names, c.quantClass[s]);
            }
            row["float_margin"] = jsonNumber(c.floatMargin[s]);
            row["quantized_margin"] = jsonNumber(c.quantMargin[s]);
        }
        list.push_back(std::move(row));
    }
    return list;
}

Json names(const std::vector<ValueId>& values, const Graph& graph)
{
    Json list = Json::array();
    for (ValueId v : values)
        list.push_back(graph.value(v).name);
    return list;
}

template <class Rows, class Make> Json rows(const Rows& list, Make make)
{
    Json out = Json::array();
    for (const auto& row : list)
        out.push_back(make(row));
    return out;
}

Json parameters(const std::optional<TensorParameters>& p)
{
    if (!p)
        return nullptr;
    Json row = { { "quantized_name", p->quantizedName }, { "dtype", std::string(dtypeName(p->params.dtype)) } };
    addParams(row, p->params);
    row["dynamic"] = p->dynamic;
    row["sqnr_db"] = jsonNumber(p->sqnrDb);
    row["local_sqnr_db"] = jsonNumber(p->localSqnrDb);
    return row;
}

Json difference(const ParameterDifference& d)
{
    return { { "name", d.name }, { "kind", std::string(parameterKindName(d.kind)) }, { "node", d.node },
        { "op_type", d.opType }, { "a", parameters(d.a) }, { "b", parameters(d.b) }, { "same", d.same },
        { "scale_ratio", jsonNumber(d.scaleRatio) }, { "consequence_db", jsonNumber(std::fabs(d.gainDb)) },
        { "gain_db", jsonNumber(d.gainDb) } };
}

Json ladderJson(const Ladder& ladder)
{
    Json list = Json::array();
    for (const LadderRow& r : ladder.rows) {
        Json row = { { "step", std::string(ladderStepName(r.step)) }, { "name", r.name }, { "agrees", r.agrees },
            { "rule", r.rule }, { "sqnr_db", jsonNumber(r.similarity.sqnrDb) }, { "exact", r.similarity.exact } };
        addSimilarity(row, r.similarity);
        row["relative_error"] = jsonNumber(r.relative);
        row["beyond_step"] = jsonNumber(r.beyondStep);
        row["top1_agreement"] = jsonNumber(r.top1Agreement);
        row["accuracy_before"] = jsonNumber(r.accuracyBefore);
        row["accuracy_after"] = jsonNumber(r.accuracyAfter);
        list.push_back(std::move(row));
    }
    Json json = { { "rows", std::move(list) }, { "ends_at", nullptr }, { "unknown", ladder.unknown } };
    if (ladder.firstApart)
        json["ends_at"] = { { "step", std::string(ladderStepName(ladder.rows[*ladder.firstApart].step)) },
            { "name", ladder.rows[*ladder.firstApart].name } };
    return json;
}

Json iteration(const IterationRow& r)
{
    Json steps = Json::array();
    for (size_t i = 0; i < r.byIteration.size(); ++i)
        steps.push_back(
            { { "name", r.names[i] }, { "sqnr_db", jsonNumber(r.byIteration[i]) }, { "exact", bool(r.exact[i]) } });
    return { { "loop", r.loop }, { "op_type", r.opType }, { "inner_name", r.inner },
        { "sqnr_db", jsonNumber(r.sqnrDb) }, { "change_db", jsonNumber(r.changeDb) }, { "steps", std::move(steps) } };
}

Json document(const Snapshot& s, const ReportInfo& info)
{
    const Comparison& c = *s.comparison;
    Json json = { { "schema_version", 1 }, { "float", model(s.floatModel) }, { "quantized", model(s.quantModel) } };
    json["quantized"]["form"] = std::string(quantFormName(s.quantModel->quant->form()));
    if (const auto fitted = text::fittedInputs(*s.quantModel); !fitted.empty())
        json["quantized"]["fitted_inputs"] = fitted;
    json["samples"] = c.samples;
    json["calibration"] = calibrationJson(s);
    json["arithmetic"] = std::string(profileName(c.profile));
    json["outputs"] = outputs(c);
    if (c.profile == ArithmeticProfile::IntegerAvx2)
        json["saturation"] = saturationJson(c.saturation);
    json["language"] = languageJson(c.outputs, info.words);
    json["accuracy"] = nullptr;
    if (c.accuracy)
        json["accuracy"] = { { "labels", c.accuracy->labels }, { "float", c.accuracy->floatAccuracy },
            { "quantized", c.accuracy->quantizedAccuracy }, { "flipped", c.flipped } };
    json["network"] = c.network ? networkJson(*c.network, s.floatModel->graph()) : Json(nullptr);
    json["sample_details"] = sampleDetails(c, *s.classNames);
    addSamplesJson(c, json);
    json["activations"] = rows(c.activations, [&](const ActivationRow& a) {
        const bool known = a.floatValue.valid();
        return activation(a, known ? s.floatModel->plan->facts().of(a.floatValue).dtype : DType::Undefined);
    });
    if (s.floatModel->bodies && !s.floatModel->bodies->values.empty())
        json["iterations"] = rows(iterationRows(s), iteration);
    json["weights"] = rows(c.weights, weight);
    if (const WeightLaboratory* const laboratory = info.laboratory) {
        for (size_t i = 0; i < laboratory->weights.size(); ++i)
            json["weights"][i]["laboratory"] = weightLabJson(laboratory->weights[i]);
        json["equalization"] = equalizationJson(*laboratory);
    }
    json["unmatched"] = { { "float", names(s.alignment->unmatchedFloat, s.floatModel->graph()) },
        { "quantized", names(s.alignment->unmatchedQuant, s.quantModel->graph()) } };
    json["unmatched_why"] = unmatchedWhyJson(s);
    json["inside"] = insideJson(s);
    json["numeric_links"] = Json::array();
    for (const NumericLink& l : s.alignment->links)
        json["numeric_links"].push_back({ { "float", s.floatModel->graph().value(l.floatValue).name },
            { "quantized", s.quantModel->graph().value(l.quantValue).name }, { "confidence", l.confidence },
            { "permuted", l.permuted } });
    json["float_nodes"] = rows(c.floatNodes, floatNode);
    json["findings"] = rows(c.findings, [&](const Finding& f) { return finding(s, f); });
    json["remedy_trials"]
        = c.trials ? Json { { "tried", c.trials->tried }, { "in_file", c.trials->inFile } } : Json(nullptr);
    json["time_ms"] = { { "load", s.timing.loadMs }, { "match", s.timing.matchMs }, { "run", s.timing.runMs },
        { "report", s.timing.reportMs } };
    json["peak_memory_bytes"] = info.peakMemoryBytes;
    return json;
}

constexpr size_t kFilesOfTwo = 3; ///< float, A, B

/// As the document of one of two comparisons has them.
std::vector<FileFacts> filesOfOne(const std::vector<FileFacts>& all, size_t quantized)
{
    std::vector<FileFacts> files { all[0], all[quantized] };
    files[1].role = "quantized";
    return files;
}

} // namespace

Json compareDocument(const Snapshot& snapshot) { return document(snapshot, {}); }

std::string compareJson(const Snapshot& s, const ReportInfo& info)
{
    Json json = document(s, info);
    if (info.ladder)
        json["ladder"] = ladderJson(*info.ladder);
    if (info.files && info.files->size() != kFilesOfTwo)
        json["files"] = filesJson(*info.files);
    if (info.saturationLab)
        json["saturation_lab"] = saturationLabJson(*info.saturationLab);
    if (info.blame)
        addBlameJson(*info.blame, info.words, json);
    if (info.elements)
        json["elements"] = elementsJson(*info.elements);
    if (info.other) {
        ReportInfo first = info;
        first.laboratory = info.otherLaboratory;
        json["a"] = document(*info.other, first);
        if (info.files && info.files->size() == kFilesOfTwo) {
            json["models"] = filesJson(*info.files);
            json["files"] = filesJson(filesOfOne(*info.files, 2));
            json["a"]["files"] = filesJson(filesOfOne(*info.files, 1));
        }
        json["parameters"] = rows(parameterDifferences(*info.other->comparison, *s.comparison), difference);
    }
    return visible(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

} // namespace qs
