// SPDX-License-Identifier: GPL-3.0-or-later
// The raw numbers of a tensor are those that the comparison measures.
#include "core/base/issue_text.h"
#include "core/project/about/read_values.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/tensor/convert.h"
#include "tests/support/small_model.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

const std::string kExamples = QS_SOURCE_DIR "/resources/examples/";

/// `quantized`: a file, or the format of a recipe.
Inputs example(const char* quantized, ArithmeticProfile profile = ArithmeticProfile::Simulated)
{
    Inputs inputs;
    inputs.floatPath = kExamples + "digits_float.onnx";
    if (const auto format = quantized ? valueIn(kRecipeFormats, quantized) : std::nullopt) {
        inputs.recipe.emplace();
        inputs.recipe->format = *format;
    } else if (quantized) {
        inputs.quantPath = kExamples + quantized;
    }
    inputs.data.spec = kExamples + "digits_samples.npz";
    inputs.data.limit = 3;
    inputs.profile = profile;
    return inputs;
}

SnapshotPtr built(const Inputs& inputs)
{
    auto snapshot = buildSnapshot(inputs, nullptr, {}, {});
    if (!snapshot)
        qFatal("%s", issueText(snapshot.issue()).c_str());
    return std::move(snapshot).value();
}

ValueStatistics statistics(const TensorValues& values, ValueKind kind)
{
    return *statisticsOf(values, kind, SliceGrid::inOrder(TensorSlice::whole(values.shape), values.shape));
}

bool near(const Number& a, const Number& b)
{
    return a.has_value() == b.has_value() && (!a || std::fabs(*a - *b) < 1e-6);
}

/// Codes, scale and zero point give the real numbers that the model has.
bool codesFit(const Elements& q)
{
    for (size_t i = 0; q.hasCodes() && i < q.count(); ++i) {
        const size_t s = q.scaleIndex(i);
        const double zero = s < q.params().zeroPoint.size() ? q.params().zeroPoint[s] : 0;
        if (std::fabs(q.real(i) - double(q.params().scale[s]) * (double(q.code(i)) - zero))
            > 1e-6 * std::fabs(q.real(i)))
            return false;
    }
    return true;
}

} // namespace

class ReadValuesTest : public QObject {
    Q_OBJECT
private slots:
    void activationsAreThoseThatAreMeasured_data()
    {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<int>("profile");
        for (const char* file : { "digits_qdq.onnx", "digits_qdq_narrow.onnx", "qdq", "qoperator", "dynamic" }) {
            QTest::addRow("%s, simulated", file) << QByteArray(file) << int(ArithmeticProfile::Simulated);
            QTest::addRow("%s, integer", file) << QByteArray(file) << int(ArithmeticProfile::Integer);
        }
    }

    void activationsAreThoseThatAreMeasured()
    {
        QFETCH(QByteArray, file);
        QFETCH(int, profile);
        const SnapshotPtr s = built(example(file.constData(), ArithmeticProfile(profile)));
        size_t withCodes = 0;
        for (const ActivationRow& row : s->comparison->activations)
            for (const size_t sample : { size_t(0), size_t(2) }) {
                const auto values = readValues(*s, { false, row.floatValue, {} }, sample, {});
                QVERIFY2(values.ok(), values.ok() ? "" : issueText(values.issue()).c_str());
                QCOMPARE(values->name, row.name);
                QVERIFY(values->shape == row.shape);
                QCOMPARE(values->sample, std::optional(sample));
                QVERIFY2(near(statistics(*values, ValueKind::Difference).sqnrDb, row.sampleSqnrDb[sample]),
                    row.name.c_str());
                QVERIFY2(codesFit(*values->quantized), row.name.c_str());
                withCodes += values->quantized->hasCodes();
            }
        QVERIFY(withCodes > 4);
    }

    void weightsAreThoseThatAreMeasured_data()
    {
        QTest::addColumn<QByteArray>("file");
        for (const char* file : { "digits_qdq.onnx", "qdq", "qoperator", "dynamic" })
            QTest::newRow(file) << QByteArray(file);
    }

    void weightsAreThoseThatAreMeasured()
    {
        QFETCH(QByteArray, file);
        const SnapshotPtr s = built(example(file.constData()));
        QVERIFY(!s->comparison->weights.empty());
        for (size_t w = 0; w < s->comparison->weights.size(); ++w) {
            const WeightRow& row = s->comparison->weights[w];
            const TensorPlace place { false, row.floatValue, w };
            QVERIFY(isConstant(*s, place));
            const auto values = readValues(*s, place, 0, {});
            QVERIFY(values.ok());
            QVERIFY(!values->sample);
            QVERIFY(values->shape == row.shape);
            QVERIFY2(near(statistics(*values, ValueKind::Difference).sqnrDb, row.similarity.sqnrDb), row.name.c_str());
            QVERIFY(codesFit(*values->quantized));
            const auto byValue = readValues(*s, { false, row.floatValue, {} }, 0, {});
            QVERIFY(byValue.ok() && byValue->quantized);
            const auto byCodes
                = readValues(*s, { true, s->quantModel->quant->quantizers()[row.quantizer].shown(), {} }, 0, {});
            QVERIFY(byCodes.ok() && byCodes->reference && byCodes->name == row.name);
        }
    }

    /// Codes in blocks lie columns first, and are shown as the float weight lies.
    void packedWeightsAreUnpacked()
    {
        constexpr size_t kDepth = 32, kColumns = 2, kBlock = 16;
        Tensor w = Tensor::allocate(DType::Float32, { int64_t(kDepth), int64_t(kColumns) });
        const std::vector<float> scales { 0.5f, 0.25f, 1, 2 };
        std::vector<uint8_t> packed(kDepth * kColumns / 2);
        for (size_t i = 0; i < kDepth * kColumns; ++i) {
            const size_t k = i / kColumns, n = i % kColumns, at = n * kDepth + k, code = (i * 5 + n) % 16;
            packed[at / 2] |= static_cast<uint8_t>(code << (at % 2 * 4));
            w.fill<float>()[i] = scales[n * 2 + k / kBlock] * (float(code) - 8);
        }
        const Prepared floats = SmallModel("f")
                                    .input("x", { 1, 32 })
                                    .constant("w", w)
                                    .node("MatMul", { "x", "w" }, { "y" })
                                    .output("y")
                                    .finish();
        const Prepared codes = SmallModel("q")
                                   .input("x", { 1, 32 })
                                   .constant("w_Q4", Tensor::of<uint8_t>({ 2, 2, 8 }, packed))
                                   .constant("w_scales", Tensor::of<float>({ 4 }, scales))
                                   .node("MatMulNBits", { "x", "w_Q4", "w_scales" }, { "y" },
                                       { { "K", int64_t(32) }, { "N", int64_t(2) }, { "bits", int64_t(4) },
                                           { "block_size", int64_t(kBlock) } },
                                       "com.microsoft")
                                   .output("y")
                                   .finish();
        Snapshot s;
        s.floatModel = loadedModel({ floats.plan, &floats.plan->model() });
        s.quantModel = loadedModel({ codes.plan, &codes.plan->model() });
        auto alignment = align(*s.floatModel->plan, *s.quantModel->plan, *s.quantModel->quant, {}, true);
        QVERIFY(alignment.ok());
        s.alignment = std::make_shared<const Alignment>(*std::move(alignment));
        const auto values = readValues(s, *tensorNamed(s, "w", false), 0, {});
        QVERIFY(values.ok() && values->quantized && values->quantized->hasCodes());
        for (size_t i = 0; i < kDepth * kColumns; ++i) {
            const size_t k = i / kColumns, n = i % kColumns;
            QCOMPARE(values->quantized->real(i), double(w.data<float>()[i]));
            QCOMPARE(values->quantized->code(i), int64_t((i * 5 + n) % 16));
            QCOMPARE(values->quantized->scaleIndex(i), n * 2 + k / kBlock);
        }
        QVERIFY(statistics(*values, ValueKind::Codes).exact);
    }

    void oneModelIsEnough()
    {
        Inputs alone = example(nullptr);
        alone.compare = false;
        const SnapshotPtr s = built(alone);
        const Graph& graph = s->floatModel->graph();
        const auto input = tensorNamed(*s, graph.value(graph.inputs()[0]).name, false);
        const auto pixels = readValues(*s, *input, 1, {});
        QVERIFY(pixels.ok() && pixels->reference && !pixels->quantized);
        const auto fed = s->data->feed(1);
        for (size_t i = 0; i < pixels->count(); ++i)
            QCOMPARE(pixels->reference->real(i), elementAsDouble(fed->inputs[0], int64_t(i)));
        const auto output = readValues(*s, { false, graph.outputs()[0], {} }, 1, {});
        QVERIFY(output.ok() && hasKind(*output, ValueKind::Float) && !hasKind(*output, ValueKind::Difference));
        QVERIFY(!tensorNamed(*s, "no such tensor", false));
        QVERIFY(!tensorNamed(*s, graph.value(graph.inputs()[0]).name, true));

        Inputs withoutData = alone;
        withoutData.data = {};
        const SnapshotPtr still = built(withoutData);
        const auto asked = readValues(*still, { false, graph.outputs()[0], {} }, 0, {});
        QVERIFY(!asked.ok());
        QVERIFY(asked.issue().what.find("depend on data") != std::string::npos);
    }

    /// Values of one model alone say why the other has none, and are what it computes.
    void unpairedValuesSayWhy()
    {
        const SnapshotPtr s = built(example("digits_qdq.onnx"));
        size_t seen = 0;
        for (const bool quantized : { false, true }) {
            const LoadedModel& model = quantized ? *s->quantModel : *s->floatModel;
            for (size_t v = 0; v < model.graph().values().size(); ++v) {
                const TensorPlace place { quantized, ValueId(uint32_t(v)), {} };
                if (model.plan->blocked(place.value) || model.plan->isOuter(place.value))
                    continue;
                const auto values = readValues(*s, place, 0, {});
                QVERIFY2(values.ok(), values.ok() ? "" : issueText(values.issue()).c_str());
                QVERIFY(quantized ? values->quantized.has_value() : values->reference.has_value());
                if (values->reference && values->quantized)
                    continue;
                QVERIFY2(!values->note.empty(), values->name.c_str());
                ++seen;
            }
        }
        QVERIFY(seen > 10); // scales, zero points, values inside Q/DQ pairs
    }

    void theSecondModelJoins()
    {
        Inputs inputs = example("digits_qdq.onnx");
        inputs.other.path = kExamples + "digits_qdq_narrow.onnx";
        const SnapshotPtr s = built(inputs);
        QVERIFY(s->other);
        const SnapshotPtr alone = built(example("digits_qdq_narrow.onnx"));
        for (const ActivationRow& row : s->comparison->activations) {
            const auto both = readValues(*s, { false, row.floatValue, {} }, 1, {});
            QVERIFY(both.ok() && both->other);
            const auto one = readValues(*alone, *tensorNamed(*alone, row.name, false), 1, {});
            QVERIFY(one.ok() && one->quantized);
            for (size_t i = 0; i < both->count(); ++i)
                QCOMPARE(both->other->real(i), one->quantized->real(i));
        }
        const auto weight = readValues(*s, { false, s->comparison->weights[0].floatValue, size_t(0) }, 0, {});
        QVERIFY(weight.ok() && weight->other && weight->other->hasCodes());
    }
};

QTEST_APPLESS_MAIN(ReadValuesTest)

#include "read_values_test.moc"
