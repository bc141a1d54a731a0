// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/quant/params/weights.h"
#include "core/quant/write/quantizer.h"
#endif
#include "tests/quant/runners.h"
#include "tests/support/small_model.h"

#include <QtTest>

using namespace qs;
using qs::test::SmallModel;

namespace {

Tensor matrix(DType type, float largest, bool smallChannel)
{
    std::vector<float> values(16);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = largest * (static_cast<float>(i % 5) - 2) / 2 * (smallChannel && i % 4 == 0 ? 1e-4f : 1.0f);
    return realTensor(type, { 4, 4 }, values);
}

Ranges rangesOf(DType type, float largest)
{
    Ranges ranges;
    for (const char* name : { "x", "y" }) {
        TensorRange& range = ranges.tensors[name];
        range.dtype = type;
        range.lowest = -largest;
        range.highest = largest;
    }
    return ranges;
}

} // namespace

/// Float16 scales that ONNX Runtime's tools give up: what is written in their place is warned of.
class LostScalesTest : public QObject {
    Q_OBJECT

private slots:
    void warns_data()
    {
        QTest::addColumn<DType>("real");
        QTest::addColumn<DType>("codes"); ///< of activations
        QTest::addColumn<DType>("weightCodes");
        QTest::addColumn<float>("activations"); ///< largest magnitude
        QTest::addColumn<float>("weight");
        QTest::addColumn<bool>("newest");
        QTest::addColumn<QString>("warning");
        const auto row = [](const char* name, DType real, DType codes, DType weightCodes, float a, float w, bool newest,
                             const char* warning) {
            QTest::newRow(name) << real << codes << weightCodes << a << w << newest << QString(warning);
        };
        constexpr DType half = DType::Float16, u16 = DType::UInt16, i16 = DType::Int16, i8 = DType::Int8;
        row("16 bits by 1.31", half, u16, i8, 1, 1, false, "'x' and 1 other tensor have scale 1");
        row("16 bits by 1.32", half, u16, i8, 1, 1, true, "");
        row("16 bits, weights too", half, i16, i16, 1, 1, false, "'x' and 2 other tensors have scale 1");
        row("the weight alone", half, i16, i16, 100, 1, false, "'w' has scale 1");
        row("too small for 1.32 as well", half, u16, i8, 5e-4f, 1, true, "ONNX Runtime 1.32 writes in float16; use 8");
        row("wide enough", half, u16, i8, 100, 1, false, "");
        row("really 1", half, i8, i8, 127.5f, 1, false, "");
        row("8 bits", half, i8, i8, 1, 1, false, "");
        row("zero everywhere", half, u16, i8, 0, 1, false, "");
        row("float32", DType::Float32, u16, i8, 1, 1, false, "");
    }

    void warns()
    {
        QFETCH(DType, real);
        QFETCH(DType, codes);
        QFETCH(DType, weightCodes);
        QFETCH(float, activations);
        QFETCH(float, weight);
        QFETCH(bool, newest);
        QFETCH(QString, warning);
        for (const bool perChannel : { false, true }) {
            SmallModel m("net.onnx");
            m.opset(21).input("x", { 1, 4 }, real).constant("w", matrix(real, weight, perChannel));
            m.node("MatMul", { "x", "w" }, { "y" }).output("y");
            Recipe recipe;
            recipe.activationType = codes;
            recipe.weightType = weightCodes;
            recipe.perChannel = perChannel;
            recipe.ortVersion = newest ? OrtVersion::V1_32 : OrtVersion::V1_31;
            const auto prepared = std::move(m).finish();
            const auto made = quantizeDraft(
                GraphDraft(std::make_shared<Model>(prepared.plan->model())), recipe, rangesOf(real, activations));
            QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
            QString all;
            for (const std::string& text : made->warnings)
                if (text.find("scale 1") != std::string::npos)
                    all += QString::fromStdString(text);
            QVERIFY2(warning.isEmpty() ? all.isEmpty() : all.contains(warning), qPrintable(all));
        }
    }

    void presetFollowsTheNewest() { QCOMPARE(quantscopeRecipe().ortVersion, kOrtVersions.back().first); }
};

int runLostScalesTests(int argc, char** argv)
{
    LostScalesTest test;
    return QTest::qExec(&test, argc, argv);
}
#include "lost_scales_test.moc"
