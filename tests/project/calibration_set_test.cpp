// SPDX-License-Identifier: GPL-3.0-or-later
// What a comparison is told of the samples that its ranges come from, and of the nodes that the quantizer left alone.
#include "core/base/issue_text.h"
#include "core/project/about/file_facts.h"
#include "core/project/quantize/provenance.h"
#include "core/project/search/tried_remedies.h"
#include "core/project/snapshot/build_snapshot.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <functional>

using namespace qs;

namespace {

std::string example(const char* name) { return std::string(QS_SOURCE_DIR "/resources/examples/") + name; }

Inputs byRecipe()
{
    Inputs inputs;
    inputs.floatPath = example("digits_float.onnx");
    inputs.recipe = quantscopeRecipe();
    inputs.data.spec = example("digits_samples.npz");
    inputs.histograms = false;
    inputs.threads = 1;
    return inputs;
}

SnapshotPtr build(const Inputs& inputs, const SnapshotPtr& previous = nullptr)
{
    auto result = buildSnapshot(inputs, previous, {}, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return *result;
}

const Finding* findingOf(const Snapshot& s, Rule rule)
{
    const auto& all = s.comparison->findings;
    const auto it = std::ranges::find(all, rule, &Finding::rule);
    return it == all.end() ? nullptr : &*it;
}

} // namespace

class CalibrationSetTest : public QObject {
    Q_OBJECT
private slots:
    void sameSamplesJudge();
    void overlapIsFound();
    void quantizersReasons();
    void filesKnowNothing();
    void givenRangesKnowNoSamples();
    void formsWithoutRangesKnowNoSamples();
    void costIsMeasured();
    void changesAskedFor();
};

void CalibrationSetTest::sameSamplesJudge()
{
    const SnapshotPtr s = build(byRecipe());
    const auto& summary = s->comparison->calibration;
    QVERIFY(summary);
    QCOMPARE(summary->samples, s->data->samples());
    QCOMPARE(summary->judged, s->data->samples());
    QVERIFY(summary->settledAfter > 0 && summary->settledAfter <= summary->samples);
    QVERIFY(summary->halfShare > 0.5 && summary->halfShare <= 1);
    const Finding* f = findingOf(*s, Rule::CalibrationSet);
    QVERIFY(f);
    QVERIFY2(f->title.find("judged by itself") != std::string::npos, f->title.c_str());
}

void CalibrationSetTest::overlapIsFound()
{
    Inputs inputs = byRecipe();
    inputs.calibration = inputs.data;
    inputs.calibration.limit = 5; // other sources, the same samples
    const SnapshotPtr s = build(inputs);
    QCOMPARE(s->comparison->calibration->samples, size_t(5));
    QCOMPARE(s->comparison->calibration->judged, size_t(5));
    // With calibration data of their own the samples that judge are not among them.
    inputs.calibration = {};
    inputs.calibration.spec = "random:5";
    inputs.calibration.shapes["image"] = { 1, 1, 8, 8 };
    const SnapshotPtr apart = build(inputs, s);
    QCOMPARE(apart->comparison->calibration->judged, size_t(0));
    const Finding* f = findingOf(*apart, Rule::CalibrationSet);
    QVERIFY(!f || f->title.find("itself") == std::string::npos);
}

void CalibrationSetTest::quantizersReasons()
{
    Inputs inputs = byRecipe();
    const SnapshotPtr all = build(inputs);
    // The quantizer left nothing; what ONNX Runtime makes no operator on codes of is another matter.
    QVERIFY(std::ranges::all_of(
        all->comparison->floatNodes, [](const FloatNodeRow& row) { return row.reason.cause == FloatCause::Unfused; }));
    std::string conv;
    for (const Node& node : all->floatModel->graph().nodes())
        if (node.opType == "Conv" && conv.empty())
            conv = node.name;
    inputs.recipe->exclude = { conv };
    const SnapshotPtr without = build(inputs, all);
    const FloatNodeRow* row = whyFloat(*without->comparison, conv);
    QVERIFY(row);
    QCOMPARE(row->reason.cause, FloatCause::Excluded);
    QVERIFY(row->macShare && *row->macShare > 0 && *row->macShare < 1);
    const Finding* f = findingOf(*without, Rule::LeftInFloat);
    QVERIFY(f);
    QVERIFY(std::ranges::count(f->places, conv, &FindingPlace::node) == 1);
    QCOMPARE(f->severity, Severity::Note);
}

void CalibrationSetTest::filesKnowNothing()
{
    Inputs inputs = byRecipe();
    inputs.recipe.reset();
    inputs.quantPath = example("digits_qdq.onnx");
    const SnapshotPtr s = build(inputs);
    QVERIFY(!s->comparison->calibration);
    QVERIFY(!findingOf(*s, Rule::CalibrationSet));
    QVERIFY(!findingOf(*s, Rule::LeftInFloat));
}

/// A recipe that was read from a file has that file's ranges until one of them is to be found again.
void CalibrationSetTest::givenRangesKnowNoSamples()
{
    Inputs inputs = byRecipe();
    const SnapshotPtr calibrated = build(inputs);
    QVERIFY(calibratedHere(*calibrated));
    const std::vector<std::string> found = rangesFromSamples(*calibrated->quantization);
    QVERIFY(!found.empty());
    for (const std::string& name : found) {
        const TensorRange& range = *calibrated->quantization->ranges.find(name);
        inputs.recipe->tensors[name].parts = { { .lowest = range.lowest, .highest = range.highest } };
    }
    const SnapshotPtr given = build(inputs, calibrated);
    const std::vector<std::string> left = rangesFromSamples(*given->quantization);
    QVERIFY2(left.empty(), left.empty() ? "" : left.front().c_str());
    QVERIFY(!calibratedHere(*given));
    QVERIFY(!given->comparison->calibration);
    QVERIFY(!findingOf(*given, Rule::CalibrationSet));
    inputs.recipe->tensors.erase(found.front());
    const SnapshotPtr one = build(inputs, given);
    QCOMPARE(rangesFromSamples(*one->quantization), std::vector { found.front() });
    QVERIFY(calibratedHere(*one));
    QVERIFY(one->comparison->calibration);
}

void CalibrationSetTest::formsWithoutRangesKnowNoSamples()
{
    Inputs inputs = byRecipe();
    inputs.recipe = Recipe();
    inputs.recipe->format = RecipeFormat::Dynamic;
    const SnapshotPtr s = build(inputs);
    QVERIFY(!calibratedHere(*s));
    QVERIFY(!s->comparison->calibration);
}

/// It is a note until the loss is measured, and a warning with its number from 3 dB on.
void CalibrationSetTest::costIsMeasured()
{
    Inputs inputs = byRecipe();
    inputs.calibration.spec = "random:2";
    inputs.calibration.shapes["image"] = { 1, 1, 8, 8 };
    const SnapshotPtr s = build(inputs);
    const Finding* before = findingOf(*s, Rule::CalibrationSet);
    QVERIFY(before);
    QCOMPARE(before->severity, Severity::Note);
    QVERIFY2(before->summary.find("1,024") != std::string::npos, before->summary.c_str());
    const auto tried = withTriedRemedies(s, 4, {}, {});
    QVERIFY2(tried.ok(), tried.ok() ? "" : issueText(tried.issue()).c_str());
    const Finding* f = findingOf(**tried, Rule::CalibrationSet);
    QVERIFY(f && f->measuredGainDb);
    inputs.calibration = {};
    const SnapshotPtr judged = build(inputs);
    const double cost
        = *judged->comparison->outputs.front().similarity.sqnrDb - *s->comparison->outputs.front().similarity.sqnrDb;
    QVERIFY2(std::abs(*f->measuredGainDb - cost) < 1e-6, qPrintable(QString::number(cost)));
    QVERIFY2(cost > 3, qPrintable(QString::number(cost)));
    QCOMPARE(f->severity, Severity::Warning);
    QVERIFY2(f->summary.find("in place of") != std::string::npos, f->summary.c_str());
    QCOMPARE(f->change.kind, RemedyKind::None); // other data are no edit of the recipe
    // Judged by the samples that chose the ranges nothing can be measured.
    const auto same = withTriedRemedies(judged, 4, {}, {});
    QVERIFY(same.ok());
    const Finding* note = findingOf(**same, Rule::CalibrationSet);
    QVERIFY(note && note->severity == Severity::Note && !note->measuredGainDb);
}

/// Weights and biases that the recipe itself changes are no fault of the file.
void CalibrationSetTest::changesAskedFor()
{
    const auto smooth = [](Recipe& r) { r.smoothQuant = true; };
    const auto equalize = [](Recipe& r) { r.corrections.equalize = true; };
    const auto round = [](Recipe& r) { r.corrections.adaround = true; };
    const auto correct = [](Recipe& r) { r.corrections.biasCorrection = true; };
    size_t told = 0;
    for (const auto& change : std::vector<std::function<void(Recipe&)>> { smooth, equalize, round, correct }) {
        Inputs inputs = byRecipe();
        change(*inputs.recipe);
        const SnapshotPtr s = build(inputs);
        QVERIFY(!findingOf(*s, Rule::WrongBiasScale));
        const Finding* f = findingOf(*s, Rule::WeightsDiffer);
        QVERIFY2(!f || f->severity == Severity::Note, f ? f->summary.c_str() : "");
        told += f ? 1 : 0;
    }
    QVERIFY(told > 0);
    QVERIFY(!findingOf(*build(byRecipe()), Rule::WeightsDiffer));
}

QTEST_APPLESS_MAIN(CalibrationSetTest)
#include "calibration_set_test.moc"
