// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/quant/calibrate/calibrate.h"
#include "core/quant/write/quantizer.h"
#endif
#include "core/analysis/bypass/network_proof.h"
#include "core/quant/recipe/recipe_edit.h"
#include "tests/analysis/comparing.h"

#include <random>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kRows = 4, kWidth = 6, kMany = 512;

std::vector<float> values(size_t n, std::mt19937& random)
{
    std::normal_distribution<float> normal;
    std::vector<float> list(n);
    std::ranges::generate(list, [&] { return normal(random); });
    return list;
}

/// Products with activations between them: Relu, Clip from 0 and from below it, a chain, and one whose input another
/// node reads.
Prepared network(int kind, std::mt19937& random)
{
    SmallModel m("f");
    m.input("x", { kRows, kWidth });
    for (const char* w : { "w1", "w2", "w3" })
        m.constant(w, Tensor::of<float>({ kWidth, kWidth }, values(kWidth * kWidth, random)));
    for (const auto& [name, value] : { std::pair("zero", 0.f), std::pair("six", 3.f), std::pair("minus", -1.5f) })
        m.constant(name, Tensor::scalar(value));
    m.node("MatMul", { "x", "w1" }, { "a" });
    m.node(kind == 0 ? "Relu" : "Clip",
        kind == 0 ? SmallModel::Names { "a" } : SmallModel::Names { "a", kind == 1 ? "zero" : "minus", "six" },
        { "b" });
    m.node("MatMul", { "b", "w2" }, { "c" }).node("Relu", { "c" }, { "d" });
    if (kind == 2)
        m.node("Clip", { "d", "minus", "six" }, { "e" });
    else
        m.node("Add", { "d", kind == 1 ? "c" : "d" }, { "e" });
    return m.node("MatMul", { "e", "w3" }, { "y" }).output("y").finish();
}

Ranges rangesBy(const Prepared& f, const FixedData& data)
{
    CalibrationRun run;
    run.plan = f.plan;
    run.tensors = { "x", "a", "b", "c", "d", "e", "y" };
    run.data = std::make_shared<FixedData>(data);
    auto ranges = calibrate(run, {});
    if (!ranges.ok())
        qFatal("%s", issueText(ranges.issue()).c_str());
    return std::move(ranges).value();
}

Prepared quantized(const Prepared& f, const Recipe& recipe, const Ranges& ranges)
{
    auto made = quantizeDraft(GraphDraft(std::make_shared<const Model>(f.plan->model())), recipe, ranges);
    if (!made.ok())
        qFatal("%s", issueText(made.issue()).c_str());
    auto model = made->draft.build();
    if (!model.ok())
        qFatal("%s", issueText(model.issue()).c_str());
    Prepared q;
    q.plan = Plan::make(*model);
    q.view = std::make_shared<const QuantView>(
        QuantView::of(q.graph(), [plan = q.plan](ValueId id) { return plan->constant(id); }));
    return q;
}

/// Anything that a user may say of ranges and types.
void disturb(Recipe& recipe, Ranges& ranges, std::mt19937& random)
{
    const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
    const DType types[] { DType::Int8, DType::UInt8, DType::Int16, DType::UInt16 };
    recipe.format = pick(3) == 0 ? RecipeFormat::QOperator : RecipeFormat::Qdq;
    recipe.activationType = types[recipe.format == RecipeFormat::Qdq ? pick(4) : pick(2)];
    recipe.dedicatedPairs = pick(4) == 0;
    for (const char* name : { "b", "d", "e" }) {
        TensorRange& range = ranges.tensors[name];
        QuantOverride part;
        switch (pick(7)) {
        case 0:
            range.lowest = -range.highest;
            break;
        case 1:
            range.lowest = range.highest = 0;
            break;
        case 2:
            range.highest *= 2;
            break;
        case 3:
            part.symmetric = true;
            break;
        case 4:
            part.lowest = -0.5 * range.highest - 0.1;
            part.highest = range.highest;
            break;
        case 5:
            part.scale = 0.05;
            part.zeroPoint = recipe.activationType == DType::Int8 || recipe.activationType == DType::Int16 ? 0 : 100;
            break;
        default:
            continue;
        }
        if (part != QuantOverride {})
            recipe.tensors[name].parts = { part };
    }
}

std::vector<Tensor> samples(size_t n, std::mt19937& random)
{
    std::vector<Tensor> list;
    for (size_t i = 0; i < n; ++i)
        list.push_back(Tensor::of<float>({ kRows, kWidth }, values(kRows * kWidth, random)));
    return list;
}

double distanceOf(const Prepared& f, const Prepared& q, const Tensor& sample)
{
    const auto proof = proveNetwork(pairOf(f, q), { sample });
    if (!proof.withFloatWeights)
        qFatal("no proof");
    return proof.withFloatWeights->worstOutput.distance;
}

/// x -> Neg -> Relu -> r -> Neg -> y; a quantizer whose codes begin one step below zero stands for the Relu.
Prepared oneStepBelow(bool codes)
{
    constexpr float kScale = 6.f / 255;
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kMany });
    if (!codes)
        m.node("Neg", { "x" }, { "n" }).node("Relu", { "n" }, { "r" });
    else
        m.node("Neg", { "x" }, { "r" }).qdq<uint8_t>("r", "r_dq", kScale, 1);
    return m.node("Neg", { codes ? "r_dq" : "r" }, { "y" }).output("y").finish();
}

/// x -> Neg -> Clip to 3 -> r -> Neg -> y; the quantized file has no Clip, and codes up to 6.
Prepared withoutClip(bool codes)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kMany });
    if (!codes)
        m.constant("low", Tensor::scalar(-3.f)).constant("high", Tensor::scalar(3.f));
    m.node("Neg", { "x" }, { codes ? "r" : "n" });
    if (codes)
        m.qdq<int8_t>("r", "r_dq", 6.f / 127, 0);
    else
        m.node("Clip", { "n", "low", "high" }, { "r" });
    return m.node("Neg", { codes ? "r_dq" : "r" }, { "y" }).output("y").finish();
}

/// Of values up to 1, but up to 5 in those that `reach`.
FixedData reaching(size_t samples, const std::vector<size_t>& reach)
{
    std::vector<Tensor> list;
    for (size_t s = 0; s < samples; ++s) {
        const float largest = std::ranges::find(reach, s) == reach.end() ? 1 : 5;
        std::vector<float> x(kMany);
        for (size_t i = 0; i < x.size(); ++i)
            x[i] = largest * (2 * float(i) / float(kMany - 1) - 1);
        list.push_back(Tensor::of<float>({ kMany }, x));
    }
    return FixedData(std::move(list));
}

/// x -> MatMul -> Relu -> r, which two products read; in the quantized file `skips`: one of them before the quantizer.
Prepared readTwice(bool codes, bool skips)
{
    std::mt19937 random(3);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    const std::string made = codes ? "r" : "a", read = codes ? "r_dq" : "r";
    for (const std::string w : { "u", "v", "w" }) {
        const std::vector<float> own = values(kWidth * kWidth, random);
        constexpr float kScale = 4.f / 127;
        if (codes)
            m.weight(w, { kWidth, kWidth }, symmetricCodes(own, { kScale }), { kScale });
        else
            m.constant(w, Tensor::of<float>({ kWidth, kWidth }, own));
    }
    m.node("MatMul", { "x", "u" }, { made });
    if (codes)
        m.qdq<uint8_t>("r", "r_dq", 10.f / 255, 0);
    else
        m.node("Relu", { "a" }, { "r" });
    m.node("MatMul", { read, "v" }, { "b" }).node("MatMul", { skips ? "r" : read, "w" }, { "c" });
    return m.node("Add", { "b", "c" }, { "y" }).output("y").finish();
}

} // namespace
Q_DECLARE_METATYPE(std::vector<size_t>)

class LostActivationTests : public QObject {
    Q_OBJECT
private slots:
    /// Whatever ranges, overrides and types: exact activations make the float model's network.
    void exactIsTheSameNetwork()
    {
        int others = 0;
        for (unsigned seed = 1; seed <= 90; ++seed) {
            std::mt19937 random(seed);
            const Prepared f = network(int(seed % 3), random);
            const FixedData data(samples(3, random));
            Ranges ranges = rangesBy(f, data);
            Recipe recipe;
            disturb(recipe, ranges, random);
            const Tensor sample = Tensor::of<float>({ kRows, kWidth }, values(kRows * kWidth, random));
            recipe.exactActivations = true;
            const double exact = distanceOf(f, quantized(f, recipe, ranges), sample);
            QVERIFY2(exact <= kSameNetwork, qPrintable(QString("seed %1: %2").arg(seed).arg(exact)));
            recipe.exactActivations = false;
            others += distanceOf(f, quantized(f, recipe, ranges), sample) > kSameNetwork;
        }
        QVERIFY2(others > 20, qPrintable(QString::number(others))); // as ONNX Runtime's tools remove them
    }

    void isNamed_data()
    {
        QTest::addColumn<bool>("onCodes");
        QTest::newRow("pairs") << false;
        QTest::newRow("operators on codes") << true;
    }
    void isNamed()
    {
        QFETCH(bool, onCodes);
        std::mt19937 random(5);
        const Prepared f = network(0, random);
        const FixedData data(samples(8, random));
        Ranges ranges = rangesBy(f, data);
        const Ranges healthy = ranges;
        for (const char* name : { "b", "d" })
            ranges.tensors[name].lowest = -ranges.tensors[name].highest;
        Recipe recipe;
        recipe.format = onCodes ? RecipeFormat::QOperator : RecipeFormat::Qdq;
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(f, quantized(f, recipe, ranges), data, options);
        QVERIFY2(!c.findings.empty() && c.findings.front().rule == Rule::ActivationLost, qPrintable(rulesOf(c)));
        const Finding& lost = c.findings.front();
        QCOMPARE(lost.places.size(), size_t(2));
        QCOMPARE(lost.places.front().tensor == "b" || lost.places.front().tensor == "d", true);
        QVERIFY(c.restored && c.restored->lostDb() > 10);
        QVERIFY2(!findingOf(c, Rule::ModelsDiffer) && c.network && !c.network->same(), qPrintable(rulesOf(c)));
        QCOMPARE(lost.severity, Severity::Error);
        QVERIFY(lost.summary.find("With them both files compute the same without quantizers.") != std::string::npos);
        // What passes came in before the quantizer.
        const ActivationRow& row = rowOf(c, "b");
        QVERIFY(row.foldedActivation.empty() && *row.noise.inherited > 10 * *row.noise.rounding);
        // The remedy gives the healthy file's network back.
        GraphDraft draft(std::make_shared<const Model>(f.plan->model()));
        const Recipe mended = withRemedies(recipe, changesOf(lost), draft);
        QVERIFY(mended.exactActivations);
        const Comparison after = compared(f, quantized(f, mended, ranges), data, options);
        QVERIFY(!findingOf(after, Rule::ActivationLost) && after.network && after.network->same());
        const Comparison before = compared(f, quantized(f, {}, healthy), data, options);
        QVERIFY(!findingOf(before, Rule::ActivationLost));
    }

    /// What passes is less than a step, and nothing is gained by cutting it off.
    void moveNothing()
    {
        std::vector<float> x(kMany);
        for (size_t i = 0; i < x.size(); ++i)
            x[i] = 0.02f - 6.02f * float(i) / float(x.size());
        const FixedData data({ Tensor::of<float>({ kMany }, x) });
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(oneStepBelow(false), oneStepBelow(true), data, options);
        const Finding* lost = findingOf(c, Rule::ActivationLost);
        QVERIFY2(lost && lost->severity == Severity::Note, qPrintable(rulesOf(c)));
        QVERIFY2(
            lost->summary.find("The zero point is 1, the Relu wants 0.") != std::string::npos, lost->summary.c_str());
        QVERIFY2(!findingOf(c, Rule::ModelsDiffer) && c.network && c.network->same(), qPrintable(rulesOf(c)));
        QVERIFY(c.network->restoredActivations); // which the verdict says
    }

    /// Where a Relu lets nothing pass the output is zero, and no error is relative to it.
    void deadOutput()
    {
        const auto model = [](bool codes) {
            SmallModel m(codes ? "q" : "f");
            m.input("x", { kMany }).constant("minus", Tensor::scalar(-100.f));
            m.constant("factor", Tensor::scalar(2.f));
            m.node("Add", { "x", "minus" }, { codes ? "r" : "a" });
            if (codes)
                m.qdq<uint8_t>("r", "r_dq", 0.5f, 255);
            else
                m.node("Relu", { "a" }, { "r" });
            return m.node("Mul", { codes ? "r_dq" : "r", "factor" }, { "y" }).output("y").finish();
        };
        CompareOptions options;
        options.prove = true;
        std::mt19937 random(3);
        const FixedData data({ Tensor::of<float>({ kMany }, values(kMany, random)) });
        const Comparison c = compared(model(false), model(true), data, options);
        const Finding* lost = findingOf(c, Rule::ActivationLost);
        QVERIFY2(lost && lost->severity == Severity::Error, qPrintable(rulesOf(c)));
        QVERIFY2(lost->summary.find("it is zero, too, with every lost activation put back") != std::string::npos,
            lost->summary.c_str());
        for (const Finding& f : c.findings)
            QVERIFY2(f.summary.find("180") == std::string::npos && f.summary.find("inf") == std::string::npos
                    && f.summary.find("another shape") == std::string::npos,
                f.summary.c_str());
        QVERIFY2(!findingOf(c, Rule::ModelsDiffer), qPrintable(rulesOf(c)));
    }

    void isJudgedByAllSamples_data()
    {
        QTest::addColumn<size_t>("samples");
        QTest::addColumn<std::vector<size_t>>("reach");
        QTest::addColumn<QString>("says");
        QTest::newRow("on the first") << size_t(4) << std::vector<size_t> { 0 } << " The output has";
        QTest::newRow("on another") << size_t(4) << std::vector<size_t> { 2 } << " The output has";
        QTest::newRow("on two of eight") << size_t(8) << std::vector<size_t> { 4, 7 } << " The output has";
        QTest::newRow("on one of many") << size_t(50) << std::vector<size_t> { 49 }
                                        << " On the 32 samples of the largest error the output has";
    }
    void isJudgedByAllSamples()
    {
        QFETCH(size_t, samples);
        QFETCH(std::vector<size_t>, reach);
        QFETCH(QString, says);
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(withoutClip(false), withoutClip(true), reaching(samples, reach), options);
        const Finding* lost = findingOf(c, Rule::ActivationLost);
        QVERIFY2(lost && lost->severity != Severity::Note, qPrintable(rulesOf(c)));
        QVERIFY(c.network && !c.network->same() && c.restored && c.restored->lostDb() > 5);
        QVERIFY2(lost->summary.find(says.toStdString()) != std::string::npos, lost->summary.c_str());
        if (samples <= 8)
            QVERIFY(std::fabs(c.restored->asIsDb - *c.outputs[0].similarity.sqnrDb) < 1e-3);
    }

    void isSkipped_data()
    {
        QTest::addColumn<bool>("skips");
        QTest::newRow("a reader skips it") << true;
        QTest::newRow("healthy") << false;
    }
    void isSkipped()
    {
        QFETCH(bool, skips);
        std::mt19937 random(7);
        const FixedData data(samples(4, random));
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(readTwice(false, false), readTwice(true, skips), data, options);
        const Finding* lost = findingOf(c, Rule::ActivationLost);
        QVERIFY2((lost != nullptr) == skips, qPrintable(rulesOf(c)));
        QCOMPARE(c.network->same(), !skips);
        if (!skips)
            return;
        QCOMPARE(lost->cause, std::string("skipped"));
        QCOMPARE(lost->severity, Severity::Error);
        QCOMPARE(lost->node, std::string("n_c"));
        QCOMPARE(lost->tensor, std::string("c"));
        QVERIFY2(lost->summary.find("n_c reads the value before") != std::string::npos, lost->summary.c_str());
        const Finding* other = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2(
            other && other->summary.find("n_c skips the activation n_r") != std::string::npos, qPrintable(rulesOf(c)));
    }

    /// A range before a Relu that has its node may cut what the Relu cuts.
    void keptNodesAreHealthy()
    {
        std::mt19937 random(9);
        const Prepared f = network(0, random);
        const FixedData data(samples(8, random));
        Recipe recipe;
        recipe.keepRemovable = true;
        CompareOptions options;
        options.prove = true;
        const Comparison c = compared(f, quantized(f, recipe, rangesBy(f, data)), data, options);
        QVERIFY2(std::ranges::all_of(c.findings, [](const Finding& one) { return one.severity == Severity::Note; }),
            qPrintable(rulesOf(c)));
        QVERIFY(c.network && c.network->same());
    }
};

QTEST_GUILESS_MAIN(LostActivationTests)
#include "lost_activation_test.moc"
