// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/quant/params/float8.h"
#include "core/quant/params/scale.h"
#include "core/quant/write/quantizer.h"
#endif
#include "core/tensor/convert.h"
#include "tests/quant/runners.h"
#include "tests/support/small_model.h"

#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace qs;
using qs::test::SmallModel;

namespace {

/// Numbers that a line of NumPy makes, too: (((i * 2654435761 + 12345) % 2^32) >> 8) / 2^24 * 4 - 1.5, in that type.
std::vector<float> numbers(size_t count, DType type)
{
    std::vector<float> all;
    for (uint64_t i = 0; i < count; ++i) {
        const auto bits = static_cast<uint32_t>(i * 2654435761u + 12345u);
        const float value = static_cast<float>(bits >> 8) / 16777216.0f * 4.0f - 1.5f;
        all.push_back(type == DType::Float16 ? float16ToFloat(floatToFloat16(value)) : value);
    }
    return all;
}

Tensor tensorOf(const Shape& shape)
{
    size_t count = 1;
    for (int64_t d : shape)
        count *= static_cast<size_t>(d);
    return Tensor::of<float>(shape, numbers(count, DType::Float32));
}

/// Conv with a bias, Relu, MaxPool, Add.
SmallModel net()
{
    SmallModel m("net.onnx");
    m.input("x", { 1, 2, 4, 4 })
        .constant("w", tensorOf({ 3, 2, 1, 1 }))
        .constant("b", tensorOf({ 3 }))
        .constant("c", tensorOf({ 3, 1, 1 }))
        .node("Conv", { "x", "w", "b" }, { "conv" })
        .node("Relu", { "conv" }, { "relu" })
        .node("MaxPool", { "relu" }, { "pool" }, { { "kernel_shape", std::vector<int64_t> { 2, 2 } } })
        .node("Add", { "pool", "c" }, { "y" })
        .output("y");
    return m;
}

Ranges ranges()
{
    Ranges all;
    float deviation = 1;
    for (const char* name : { "x", "conv", "relu", "pool", "y" }) {
        TensorRange range;
        range.lowest = -2;
        range.highest = 2;
        range.average = 0.0f;
        range.deviation = deviation;
        deviation *= 0.5f;
        all.tensors[name] = range;
    }
    return all;
}

Recipe recipe()
{
    Recipe r;
    r.activationType = r.weightType = DType::Float8E4M3FN;
    return r;
}

Result<QuantizedDraft> quantize(const Recipe& recipe, const Ranges& given)
{
    const auto prepared = net().finish();
    return quantizeDraft(GraphDraft(std::make_shared<Model>(prepared.plan->model())), recipe, given);
}

const DraftNode* find(const GraphDraft& draft, const std::string& name)
{
    const auto it = std::ranges::find(draft.nodes, name, &DraftNode::name);
    return it == draft.nodes.end() ? nullptr : &*it;
}

} // namespace

class Float8Test : public QObject {
    Q_OBJECT

private slots:
    void deviationIsNumPys_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("count");
        QTest::addColumn<double>("expected"); // numpy.std
        const auto rows = [](DType type, std::initializer_list<std::pair<int, double>> list) {
            for (const auto& [count, expected] : list)
                QTest::addRow("%s %d", std::string(dtypeName(type)).c_str(), count) << int(type) << count << expected;
        };
        rows(DType::Float32,
            { { 2, 0x1.3c6ef2p+0 }, { 7, 0x1.33bf48p+0 }, { 8, 0x1.21d412p+0 }, { 9, 0x1.424fbcp+0 },
                { 127, 0x1.294936p+0 }, { 128, 0x1.281f6ep+0 }, { 129, 0x1.2902e4p+0 }, { 1000, 0x1.27a23p+0 },
                { 5003, 0x1.279b54p+0 } });
        rows(DType::Float16,
            { { 2, 0x1.3c8p+0 }, { 7, 0x1.33cp+0 }, { 8, 0x1.22p+0 }, { 9, 0x1.424p+0 }, { 127, 0x1.294p+0 },
                { 128, 0x1.28p+0 }, { 129, 0x1.29p+0 }, { 1000, 0x1.27cp+0 }, { 5003, 0x1.27cp+0 } });
    }
    void deviationIsNumPys()
    {
        QFETCH(int, type);
        QFETCH(int, count);
        QFETCH(double, expected);
        const auto real = static_cast<DType>(type);
        QCOMPARE(double(deviationOf(numbers(size_t(count), real), real)), expected);
    }

    void scalesHaveTheSpreadOfTheCodes()
    {
        QCOMPARE(*float8Scale(1.0f, DType::Float32), 0x1.477dbp-7f);
        QCOMPARE(*float8Scale(0.3f, DType::Float32), 0x1.88fd3ap-9f);
        QVERIFY(!float8Scale(0, DType::Float32).ok());
        std::vector<uint8_t> codes(5);
        float8Codes(std::vector<float> { 0, 1, -1.0625f, 1000, -1000 }, 1, DType::Float32, codes.data());
        QVERIFY(codes == (std::vector<uint8_t> { 0, 0x38, 0xb8, 0x7e, 0xfe })); // ties to even, then saturated
    }

    void deviationsAreFoundAgain()
    {
        for (DType real : { DType::Float32, DType::Float16 })
            for (float deviation = 0.02f; deviation < 900; deviation *= 1.0371f) {
                const float scale = *float8Scale(roundedTo(real, deviation), real);
                const auto found = impliedDeviation(scale, real);
                QVERIFY2(found && *float8Scale(*found, real) == scale, qPrintable(QString::number(deviation)));
            }
    }

    void pairs()
    {
        const auto made = quantize(recipe(), ranges());
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        const GraphDraft& draft = made->draft;
        QCOMPARE(draft.opsets.at(""), int64_t(19));
        QCOMPARE(draft.constant("w_quantized")->dtype(), DType::Float8E4M3FN);
        QCOMPARE(draft.constant("x_zero_point")->dtype(), DType::Float8E4M3FN);
        QCOMPARE(toFloats(*draft.constant("x_scale")).front(), 0x1.477dbp-7f);
        QVERIFY(find(draft, "relu_QuantizeLinear") && !find(draft, "n_relu")); // the Relu is left out, with a warning
        QVERIFY(std::ranges::any_of(
            made->warnings, [](const std::string& w) { return w.find("n_relu") != std::string::npos; }));
        QVERIFY(find(draft, "pool_QuantizeLinear")->inputs[1] == "pool_scale"); // MaxPool has no float8
        const DraftNode* bias = find(draft, "b_DequantizeLinear");
        QCOMPARE(bias->opType, std::string("Cast"));
        QCOMPARE(bias->inputs, std::vector<std::string> { "b_quantized" });
        QCOMPARE(draft.constant("b_quantized")->dtype(), DType::Float32);
        QVERIFY(!draft.constant("b_quantized_scale"));
        QVERIFY(draft.build().ok());
    }

    void perChannel()
    {
        Recipe r = recipe();
        r.perChannel = true;
        const auto made = quantize(r, ranges());
        QVERIFY(made.ok());
        const std::vector<float> w = numbers(6, DType::Float32), scales = toFloats(*made->draft.constant("w_scale"));
        const auto codes = made->draft.constant("w_quantized")->data<uint8_t>();
        QCOMPARE(scales.size(), size_t(3));
        for (size_t i = 0; i < w.size(); ++i) {
            const float back = smallFloatToFloat(DType::Float8E4M3FN, codes[i]) * scales[i / 2];
            QVERIFY(std::abs(back - w[i]) <= std::abs(w[i]) / 16 + scales[i / 2] * 0.002f);
        }
    }

    void refuses_data()
    {
        QTest::addColumn<int>("what");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("no deviation") << 0 << "no calibrated deviation";
        QTest::newRow("values that do not differ") << 1 << "do not differ";
        QTest::newRow("other weights") << 2 << "cannot be combined";
        QTest::newRow("operators on codes") << 3 << "no runtime";
        QTest::newRow("blocks") << 4 << "blocks";
        QTest::newRow("reduced") << 5 << "no reduced range";
    }
    void refuses()
    {
        QFETCH(int, what);
        QFETCH(QString, sentence);
        Recipe r = recipe();
        Ranges given = ranges();
        if (what == 0)
            given.tensors["x"].deviation.reset();
        else if (what == 1)
            given.tensors["y"].deviation = 0.0f;
        else if (what == 2)
            r.weightType = DType::Int8;
        else if (what == 3)
            r.format = RecipeFormat::QOperator;
        else if (what == 4)
            r.blockSize = 16;
        else
            r.reduceRange = true;
        const auto made = quantize(r, given);
        QVERIFY(!made.ok());
        QVERIFY2(made.issue().what.find(sentence.toStdString()) != std::string::npos, made.issue().what.c_str());
    }
};

int runFloat8Tests(int argc, char** argv)
{
    Float8Test test;
    return QTest::qExec(&test, argc, argv);
}
#include "float8_test.moc"
