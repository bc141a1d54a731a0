// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/onnx/write/export.h"
#include "core/project/search/sensitivity.h"
#include "core/project/snapshot/build_snapshot.h"
#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

std::string example(const char* name) { return std::string(QS_SOURCE_DIR "/resources/examples/") + name; }

Inputs recipeInputs()
{
    Inputs inputs;
    inputs.floatPath = example("digits_float.onnx");
    inputs.data.spec = example("digits_samples.npz");
    inputs.data.limit = 6;
    inputs.recipe = quantscopeRecipe();
    inputs.threads = 1;
    return inputs;
}

SnapshotPtr opened(Inputs inputs)
{
    inputs.compare = false;
    auto snapshot = buildSnapshot(inputs, nullptr, {}, {});
    if (!snapshot.ok())
        qFatal("%s", issueText(snapshot.issue()).c_str());
    return *snapshot;
}

Sensitivity measured(const SnapshotPtr& snapshot, UnitKind by, const std::vector<std::string>& only = {})
{
    auto result = sensitivityOf(*snapshot, by, only, {}, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return *std::move(result);
}

bool same(const OutputScore& a, const OutputScore& b)
{
    return a.signal == b.signal && a.noise == b.noise && a.labels == b.labels && a.right == b.right;
}

bool same(const Sensitivity& a, const Sensitivity& b)
{
    if (a.units.size() != b.units.size() || a.pareto.size() != b.pareto.size() || !same(a.quantized, b.quantized))
        return false;
    for (size_t i = 0; i < a.units.size(); ++i)
        if (a.units[i].name != b.units[i].name || !same(a.units[i].alone, b.units[i].alone)
            || !same(a.units[i].without, b.units[i].without))
            return false;
    for (size_t i = 0; i < a.pareto.size(); ++i)
        if (a.pareto[i].excluded != b.pareto[i].excluded || !same(a.pareto[i].score, b.pareto[i].score))
            return false;
    return true;
}

/// Null when exact.
Number comparedDb(const Inputs& inputs)
{
    auto snapshot = buildSnapshot(inputs, nullptr, {}, {});
    if (!snapshot.ok())
        qFatal("%s", issueText(snapshot.issue()).c_str());
    return (*snapshot)->comparison->outputs.at(0).similarity.sqnrDb;
}

bool near(const Number& a, const Number& b)
{
    return a.has_value() == b.has_value() && (!a || std::abs(*a - *b) < 1e-6);
}

} // namespace

class SensitivityTests : public QObject {
    Q_OBJECT
private slots:
    void equalsTheRecipe_data();
    void equalsTheRecipe();
    void anyThreadsAndBudget_data();
    void anyThreadsAndBudget();
    void exclusions_data();
    void exclusions();
    void leftAsTheyAre_data();
    void leftAsTheyAre();
    void unitsOnly();
    void onlySome();
    void tellsWhatItHasSoFar();
    void cancels();
};

void SensitivityTests::equalsTheRecipe_data()
{
    QTest::addColumn<int>("format");
    QTest::newRow("qdq") << int(RecipeFormat::Qdq);
    QTest::newRow("qoperator") << int(RecipeFormat::QOperator);
    QTest::newRow("dynamic") << int(RecipeFormat::Dynamic);
}

/// As when the recipe with that include or exclude is compared.
void SensitivityTests::equalsTheRecipe()
{
    QFETCH(int, format);
    Inputs inputs = recipeInputs();
    inputs.recipe->format = RecipeFormat(format);
    if (RecipeFormat(format) == RecipeFormat::QOperator)
        inputs.recipe->activationType = DType::UInt8;
    const Sensitivity s = measured(opened(inputs), UnitKind::Node);
    QVERIFY(s.units.size() > 3);
    const auto isUnit = [&](const char* name) {
        return std::ranges::any_of(s.units, [&](const UnitSensitivity& unit) { return unit.name == name; });
    };
    QVERIFY(isUnit("/classifier/Gemm")); // also of the dynamic form, which takes it apart
    QVERIFY(near(s.quantized.sqnrDb(), comparedDb(inputs)));
    double shares = 0;
    for (const UnitSensitivity& unit : s.units) {
        Inputs alone = inputs, without = inputs;
        alone.recipe->include = { unit.name };
        without.recipe->exclude = { unit.name };
        QVERIFY2(near(unit.alone.sqnrDb(), comparedDb(alone)), unit.name.c_str());
        QVERIFY2(near(unit.without.sqnrDb(), comparedDb(without)), unit.name.c_str());
        shares += unit.macShare.value_or(0);
    }
    QVERIFY(std::abs(shares - 1) < 1e-9);
}

void SensitivityTests::anyThreadsAndBudget_data()
{
    QTest::addColumn<int>("kind");
    for (const UnitKind kind : { UnitKind::Node, UnitKind::Tensor, UnitKind::Type })
        QTest::newRow(unitKindName(kind).data()) << int(kind);
}

void SensitivityTests::anyThreadsAndBudget()
{
    QFETCH(int, kind);
    const SnapshotPtr snapshot = opened(recipeInputs());
    SensitivityInputs inputs;
    inputs.model = snapshot->floatModel->model;
    inputs.prepared = &snapshot->quantization->prepared;
    inputs.recipe = *snapshot->inputs.recipe;
    inputs.ranges = snapshot->quantization->ranges;
    inputs.data = snapshot->data;
    inputs.by = UnitKind(kind);
    std::optional<Sensitivity> first;
    for (const size_t threads : { 1, 2, 5 })
        for (const uint64_t budget : { uint64_t(0), uint64_t(100'000), uint64_t(1) << 30 }) {
            inputs.runs.cacheBytes = budget;
            WorkContext work;
            work.threads = threads;
            auto result = measureSensitivity(inputs, work);
            QVERIFY2(result.ok(), result.ok() ? "" : issueText(result.issue()).c_str());
            if (!first)
                first = *result;
            QVERIFY(same(*first, *result));
        }
}

void SensitivityTests::exclusions_data() { anyThreadsAndBudget_data(); }

void SensitivityTests::exclusions()
{
    QFETCH(int, kind);
    const Sensitivity s = measured(opened(recipeInputs()), UnitKind(kind));
    QVERIFY(s.pareto.size() > 1);
    QVERIFY(s.pareto.front().excluded.empty());
    QVERIFY(same(s.pareto.front().score, s.quantized));
    for (size_t i = 1; i < s.pareto.size(); ++i) {
        QVERIFY(s.pareto[i].quantizedMacShare <= s.pareto[i - 1].quantizedMacShare);
        QVERIFY(s.pareto[i].score.noise < s.pareto[i - 1].score.noise);
    }
    QVERIFY(s.pareto.back().score.noise < 1e-6 * s.pareto.back().score.signal);
    for (size_t i = 1; i < s.units.size(); ++i)
        QVERIFY(s.units[i - 1].without.noise <= s.units[i].without.noise);
    // One quantizer alone makes less noise than all of them, or the model is not sane.
    for (const UnitSensitivity& unit : s.units)
        QVERIFY2(unit.alone.noise < 2 * s.quantized.noise, unit.name.c_str());
}

void SensitivityTests::leftAsTheyAre_data()
{
    QTest::addColumn<int>("format");
    QTest::newRow("weight-only") << int(RecipeFormat::WeightOnly);
    QTest::newRow("dynamic") << int(RecipeFormat::Dynamic);
}

/// A product of two activations beside one with a weight: such formats do not touch it.
void SensitivityTests::leftAsTheyAre()
{
    QFETCH(int, format);
    constexpr int64_t kRows = 4, kWidth = 32;
    std::mt19937 random(5);
    SmallModel m({});
    m.input("x", { kRows, kWidth }).constant("w", normalFloats(random, { kWidth, kWidth }, 1));
    m.node("MatMul", { "x", "w" }, { "h" }).node("Transpose", { "x" }, { "xt" });
    m.node("MatMul", { "h", "xt" }, { "y" });
    const Prepared made = m.output("y").finish();
    QTemporaryDir folder;
    Inputs inputs = recipeInputs();
    inputs.floatPath = folder.filePath("float.onnx").toStdString();
    QVERIFY(
        exportModel(GraphDraft(std::shared_ptr<const Model>(made.plan, &made.plan->model())), inputs.floatPath).ok());
    inputs.data.spec = "random:8:1";
    inputs.data.limit = 8;
    inputs.recipe->format = RecipeFormat(format);
    const SnapshotPtr snapshot = opened(inputs);
    const double share = double(kWidth) / (kWidth + kRows); // of all multiplications: those with the weight
    for (const UnitKind by : { UnitKind::Node, UnitKind::Type }) {
        const Sensitivity s = measured(snapshot, by);
        for (const UnitSensitivity& unit : s.units) {
            const bool product = unit.name == (by == UnitKind::Node ? "n_h" : "MatMul");
            QVERIFY2(product || unit.name.find("Transpose") == 0 || unit.name == "n_xt", unit.name.c_str());
            QCOMPARE(unit.macShare, Number(product ? 1 : 0));
        }
        QCOMPARE(s.pareto.front().quantizedMacShare, Number(share));
        QCOMPARE(s.pareto.back().quantizedMacShare, Number(0));
    }
}

void SensitivityTests::unitsOnly()
{
    const SnapshotPtr snapshot = opened(recipeInputs());
    const Sensitivity all = measured(snapshot, UnitKind::Node);
    const auto few = sensitivityOf(*snapshot, UnitKind::Node, {}, {}, {}, false);
    QVERIFY(few.ok());
    QCOMPARE(few->units.size(), all.units.size());
    for (size_t i = 0; i < all.units.size(); ++i) {
        QCOMPARE(few->units[i].name, all.units[i].name);
        QVERIFY(same(few->units[i].alone, all.units[i].alone) && same(few->units[i].without, all.units[i].without));
    }
    QVERIFY(few->pareto.size() > 1 && few->pareto.front().excluded.empty());
    for (size_t i = 1; i < few->pareto.size(); ++i) {
        QCOMPARE(few->pareto[i].excluded.size(), size_t(1));
        QVERIFY(few->pareto[i].score.noise < few->pareto[i - 1].score.noise);
    }
}

void SensitivityTests::onlySome()
{
    const SnapshotPtr snapshot = opened(recipeInputs());
    const Sensitivity all = measured(snapshot, UnitKind::Node);
    const std::string name = all.units.front().name;
    const Sensitivity one = measured(snapshot, UnitKind::Node, { name });
    QCOMPARE(one.units.size(), size_t(1));
    QVERIFY(same(one.units.front().without, all.units.front().without));
    const auto none = sensitivityOf(*snapshot, UnitKind::Node, { "there is no such node" }, {}, {});
    QVERIFY(!none.ok() && none.issue().kind == IssueKind::BadInput);
}

void SensitivityTests::tellsWhatItHasSoFar()
{
    const SnapshotPtr snapshot = opened(recipeInputs());
    const Sensitivity whole = measured(snapshot, UnitKind::Node);
    std::vector<Sensitivity> parts;
    const auto keep = [&parts](const Sensitivity& part) { parts.push_back(part); };
    const auto again = sensitivityOf(*snapshot, UnitKind::Node, {}, {}, {}, true, keep);
    QVERIFY(again.ok() && same(*again, whole)); // being watched changes nothing
    QVERIFY(parts.size() > 1);
    size_t before = 0;
    for (const Sensitivity& part : parts) {
        QCOMPARE(part.asked, whole.units.size());
        QVERIFY(part.units.size() > before && part.pareto.empty());
        before = part.units.size();
        for (size_t i = 1; i < part.units.size(); ++i)
            QVERIFY(part.units[i - 1].without.noise <= part.units[i].without.noise);
    }
    QCOMPARE(before, whole.units.size());
}

void SensitivityTests::cancels()
{
    const SnapshotPtr snapshot = opened(recipeInputs());
    CancelToken cancel;
    cancel.cancel();
    const auto result = sensitivityOf(*snapshot, UnitKind::Node, {}, {}, cancel);
    QVERIFY(!result.ok() && result.issue().kind == IssueKind::Cancelled);
}

QTEST_APPLESS_MAIN(SensitivityTests)
#include "sensitivity_test.moc"
