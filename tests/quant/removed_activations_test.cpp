// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/quant/write/ort_script.h"
#include "core/quant/write/quantizer.h"
#endif
#include "tests/quant/runners.h"
#include "tests/support/small_model.h"

#include <QtTest>

#include <algorithm>
#include <functional>

using namespace qs;
using qs::test::SmallModel;

namespace {

struct Case {
    const char* name;
    std::function<void(Recipe&)> recipe;
    std::function<void(Ranges&)> ranges;
    bool stays; ///< the Relu
    bool cutClip = true; ///< the Clip goes
};

QuantOverride& overrideOf(Recipe& recipe, const char* tensor) { return recipe.tensors[tensor].parts.front(); }

const std::vector<Case>& cases()
{
    using R = Recipe;
    const auto same = [](Ranges&) {};
    static const std::vector<Case> all {
        { "calibrated", [](R&) {}, same, false },
        { "uint8", [](R& r) { r.activationType = DType::UInt8; }, same, false },
        { "int16", [](R& r) { r.activationType = DType::Int16; }, same, false },
        { "QOperator", [](R& r) { r.format = RecipeFormat::QOperator; }, same, false },
        // Of a table the range is clamped.
        { "table below zero", [](R&) {}, [](Ranges& r) { r.tensors["relu"].lowest = -3; }, false },
        { "QOperator, table below zero", [](R& r) { r.format = RecipeFormat::QOperator; },
            [](Ranges& r) { r.tensors["relu"].lowest = -3; }, false },
        { "table beyond the Clip", [](R&) {}, [](Ranges& r) { r.tensors["clip"].highest = 9; }, false },
        // What a recipe says of the tensor is done.
        { "symmetric", [](R& r) { overrideOf(r, "relu").symmetric = true; }, same, true },
        { "dragged below zero", [](R& r) { overrideOf(r, "relu").lowest = -1; }, same, true },
        { "scale and zero point",
            [](R& r) {
                overrideOf(r, "relu").scale = 0.25;
                overrideOf(r, "relu").zeroPoint = -100;
            },
            same, true },
        { "int16 symmetric",
            [](R& r) {
                overrideOf(r, "relu").type = DType::Int16;
                overrideOf(r, "relu").symmetric = true;
            },
            same, true },
        { "zero everywhere, int8", [](R&) {}, [](Ranges& r) { r.tensors["relu"].highest = 0; }, true },
        { "zero everywhere, uint8", [](R& r) { r.activationType = DType::UInt8; },
            [](Ranges& r) { r.tensors["relu"].highest = 0; }, false },
        { "dragged beyond the Clip", [](R& r) { overrideOf(r, "clip").highest = 9; }, same, false, false },
        { "output left in float", [](R& r) { r.noOutputTypes = { "Relu" }; }, same, true },
    };
    return all;
}

/// Conv -> Relu -> Conv -> Clip(-1, 2)
SmallModel net()
{
    const std::vector<float> w { 0.5f, -0.25f, 1, -0.75f };
    SmallModel m("net.onnx");
    m.input("x", { 1, 2, 4, 4 }).constant("w", Tensor::of<float>({ 2, 2, 1, 1 }, w));
    m.constant("low", Tensor::scalar(-1.f)).constant("high", Tensor::scalar(2.f));
    m.node("Conv", { "x", "w" }, { "conv" }).node("Relu", { "conv" }, { "relu" });
    m.node("Conv", { "relu", "w" }, { "second" }).node("Clip", { "second", "low", "high" }, { "clip" });
    return m.node("Conv", { "clip", "w" }, { "y" }).output("y");
}

Ranges rangesOfNet()
{
    Ranges ranges;
    const auto add = [&](const char* name, float low, float high) {
        ranges.tensors[name].lowest = low;
        ranges.tensors[name].highest = high;
    };
    add("x", -1, 1);
    add("conv", -2, 2.5f);
    add("relu", 0, 2.5f);
    add("second", -3, 4);
    add("clip", -1, 2);
    add("y", -3, 3);
    return ranges;
}

GraphDraft draftOf(SmallModel model)
{
    return GraphDraft(std::make_shared<Model>(std::move(model).finish().plan->model()));
}

bool has(const GraphDraft& draft, const std::string& type)
{
    return std::ranges::find(draft.nodes, type, &DraftNode::opType) != draft.nodes.end();
}

} // namespace

class RemovedActivationsTest : public QObject {
    Q_OBJECT

private slots:
    void onlyWhereTheRangeCuts_data()
    {
        QTest::addColumn<size_t>("number");
        for (size_t i = 0; i < cases().size(); ++i)
            QTest::newRow(cases()[i].name) << i;
    }
    void onlyWhereTheRangeCuts()
    {
        QFETCH(size_t, number);
        const Case& c = cases()[number];
        for (const bool exact : { true, false }) {
            Recipe recipe;
            recipe.exactActivations = exact;
            c.recipe(recipe);
            Ranges ranges = rangesOfNet();
            c.ranges(ranges);
            const auto made = quantizeDraft(draftOf(net()), recipe, ranges);
            QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
            QVERIFY(made->draft.build().ok());
            QCOMPARE(has(made->draft, "Relu"), exact && c.stays);
            QCOMPARE(has(made->draft, "Clip"), exact && !c.cutClip);
            if (exact)
                QVERIFY(made->warnings.empty());
            const auto script = ortScript(draftOf(net()), recipe, ranges, { "s.py", "a.onnx", "b.onnx" });
            QVERIFY(script.ok());
            QCOMPARE(script->notes.size(), size_t(exact) * (size_t(c.stays) + size_t(!c.cutClip)));
            for (const std::string& note : script->notes) // in its first lines
                QVERIFY(script->text.find("# Not the same: " + note) < script->text.find("import "));
        }
    }

    /// What a script does not name may need packages that are not there.
    void importsWhatIsUsed_data()
    {
        QTest::addColumn<int>("format");
        QTest::addColumn<QStringList>("imported");
        QTest::newRow("static") << int(RecipeFormat::Qdq)
                                << QStringList { "json", "tempfile", "CalibrationMethod", "QuantFormat", "QuantType",
                                       "quantize_static" };
        QTest::newRow("dynamic") << int(RecipeFormat::Dynamic) << QStringList { "QuantType", "quantize_dynamic" };
        QTest::newRow("weights alone") << int(RecipeFormat::WeightOnly)
                                       << QStringList { "onnx", "QuantFormat", "matmul_nbits_quantizer" };
    }
    void importsWhatIsUsed()
    {
        QFETCH(const int, format);
        QFETCH(QStringList, imported);
        Recipe recipe;
        recipe.format = RecipeFormat(format);
        const auto script = ortScript(draftOf(net()), recipe, rangesOfNet(), { "s.py", "a", "b" });
        QVERIFY2(script.ok(), script.ok() ? "" : script.issue().what.c_str());
        const QString text = QString::fromStdString(script->text);
        imported << "os"
                 << "sys";
        for (const char* name : { "json", "os", "sys", "tempfile", "onnx" })
            QCOMPARE(text.contains(QStringLiteral("\nimport %1\n").arg(name)), imported.contains(name));
        for (const char* name : { "CalibrationDataReader", "CalibrationMethod", "QuantFormat", "QuantType",
                 "matmul_nbits_quantizer", "quantize_dynamic", "quantize_static" })
            QCOMPARE(text.contains(QStringLiteral("\n    %1,\n").arg(name)), imported.contains(name));
    }

    void whatPassesIsTold()
    {
        Ranges ranges = rangesOfNet();
        ranges.tensors["relu"].lowest = -1.5f;
        const auto made = quantizeDraft(draftOf(net()), {}, ranges);
        QVERIFY(made.ok());
        QCOMPARE(made->warnings.size(), size_t(1));
        const std::string& text = made->warnings.front();
        QVERIFY2(text.find("'n_relu' lets -1.51 to 2.49 pass") != text.npos, text.c_str());
        QVERIFY(text.find("--exact-activations") != text.npos);
    }

    void clampingMakesFinerSteps()
    {
        Recipe recipe;
        recipe.exactActivations = true;
        Ranges ranges = rangesOfNet();
        const auto plain = quantizeDraft(draftOf(net()), recipe, ranges);
        ranges.tensors["relu"].lowest = -2.5f;
        ranges.tensors["clip"].lowest = -5;
        const auto clamped = quantizeDraft(draftOf(net()), recipe, ranges);
        QVERIFY(plain.ok() && clamped.ok());
        for (const char* name : { "relu_scale", "clip_scale", "relu_zero_point", "clip_zero_point" }) {
            const Tensor &a = *plain->draft.constant(name), &b = *clamped->draft.constant(name);
            QVERIFY(std::ranges::equal(a.bytes(), b.bytes()));
        }
    }

    void chainsAndOtherReaders()
    {
        Recipe recipe;
        recipe.exactActivations = true;
        // The quantizer behind two of them has to do what both do.
        SmallModel chain("net.onnx");
        chain.input("x", { 2, 2 }).constant("w", Tensor::of<float>({ 2, 2 }, { 1, -1, 0.5f, -0.5f }));
        chain.constant("low", Tensor::scalar(-1.f)).constant("high", Tensor::scalar(1.f));
        chain.node("MatMul", { "x", "w" }, { "a" }).node("Relu", { "a" }, { "b" });
        chain.node("Clip", { "b", "low", "high" }, { "c" }).node("MatMul", { "c", "w" }, { "y" }).output("y");
        Ranges ranges;
        for (const char* name : { "x", "a", "b", "c", "y" })
            ranges.tensors[name].highest = 1;
        ranges.tensors["x"].lowest = ranges.tensors["a"].lowest = -1;
        const auto both = quantizeDraft(draftOf(chain), recipe, ranges);
        QVERIFY(both.ok() && !has(both->draft, "Relu") && !has(both->draft, "Clip"));
        recipe.tensors["c"].parts.front().lowest = -1;
        const auto one = quantizeDraft(draftOf(chain), recipe, ranges);
        QVERIFY(one.ok() && !has(one->draft, "Relu") && has(one->draft, "Clip"));

        // In operators on codes a value that others read, too, keeps its range.
        SmallModel shared("net.onnx");
        shared.input("x", { 2, 2 }).constant("w", Tensor::of<float>({ 2, 2 }, { 1, -1, 0.5f, -0.5f }));
        shared.node("MatMul", { "x", "w" }, { "a" }).node("Relu", { "a" }, { "b" });
        shared.node("Add", { "a", "b" }, { "y" }).output("y");
        recipe = {};
        recipe.format = RecipeFormat::QOperator;
        ranges.tensors["a"].lowest = -1;
        for (const bool exact : { true, false }) {
            recipe.exactActivations = exact;
            const auto made = quantizeDraft(draftOf(shared), recipe, ranges);
            QVERIFY(made.ok());
            QCOMPARE(has(made->draft, "Relu"), exact);
            QCOMPARE(made->warnings.empty(), exact);
        }
    }
};

int runRemovedActivationsTests(int argc, char** argv)
{
    RemovedActivationsTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "removed_activations_test.moc"
