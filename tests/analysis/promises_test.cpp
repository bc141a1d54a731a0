// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/float_elements.h"
#include "core/analysis/rows/output_row.h"
#include "tests/analysis/comparing.h"
#include "tests/support/tensors.h"

#include <cmath>

using namespace qs;
using namespace qs::test;

/// What a finding promises is what its remedy gives, and nothing is told of what a runtime removes.
namespace {

constexpr int64_t kCount = 2048;

FixedData normalData() { return FixedData({ Tensor::of<float>({ kCount }, normals(kCount, 9)) }); }

/// x, a = -x, b = -a, y = -b.
Prepared negated()
{
    return SmallModel("f")
        .input("x", { kCount })
        .node("Neg", { "x" }, { "a" })
        .node("Neg", { "a" }, { "b" })
        .node("Neg", { "b" }, { "y" })
        .output("y")
        .finish();
}

/// The same with x, a and b quantized.
template <class T> Prepared inCodes(std::array<float, 3> scales, T zero)
{
    return SmallModel("q")
        .input("x", { kCount })
        .template qdq<T>("x", "x_dq", scales[0], zero)
        .node("Neg", { "x_dq" }, { "a" })
        .template qdq<T>("a", "a_dq", scales[1], zero)
        .node("Neg", { "a_dq" }, { "b" })
        .template qdq<T>("b", "b_dq", scales[2], zero)
        .node("Neg", { "b_dq" }, { "y" })
        .output("y")
        .finish();
}

const Finding* rangeFinding(const Comparison& c, const std::string& tensor)
{
    const auto it = std::ranges::find_if(c.findings,
        [&](const Finding& f) { return f.rule == Rule::RangeTooLarge && f.tensor == tensor && f.cause.empty(); });
    return it == c.findings.end() ? nullptr : &*it;
}

const Finding* reducedFinding(const Comparison& c)
{
    const auto it = std::ranges::find(c.findings, std::string("reduced"), &Finding::cause);
    return it == c.findings.end() ? nullptr : &*it;
}

/// QuantizeLinear, one node on codes, DequantizeLinear.
Prepared nodeOnCodes(const std::string& type, const std::vector<SmallModel::Attribute>& attributes)
{
    SmallModel model("q");
    model.input("x", { kCount })
        .constant("s", Tensor::scalar<float>(0.034f))
        .constant("z", Tensor::scalar<uint8_t>(128))
        .constant("low", Tensor::scalar<uint8_t>(0))
        .constant("high", Tensor::scalar<uint8_t>(255))
        .node("QuantizeLinear", { "x", "s", "z" }, { "codes" });
    if (type == "Clip")
        model.node("Clip", { "codes", "low", "high" }, { "same" });
    else if (type == "chain")
        model.node("Cast", { "codes" }, { "wide" }, { { "to", int64_t(6) } })
            .node("Cast", { "wide" }, { "same" }, { { "to", int64_t(2) } });
    else
        model.node(type, { "codes" }, { "same" }, attributes);
    return model.node("DequantizeLinear", { "same", "s", "z" }, { "a" })
        .node("Neg", { "a" }, { "y" })
        .output("y")
        .finish();
}

Prepared negatedOnce()
{
    return SmallModel("f").input("x", { kCount }).node("Neg", { "x" }, { "y" }).output("y").finish();
}

class PromisesTests : public QObject {
    Q_OBJECT
private slots:
    void gainAtATensor_data()
    {
        QTest::addColumn<float>("scaleX");
        QTest::newRow("little came in") << 0.041f;
        QTest::newRow("as much came in") << 0.6f;
        QTest::newRow("most came in") << 2.f;
    }
    /// A range that is twenty times too wide (its remedy here a little wider than the data), behind a tensor whose
    /// noise is already there.
    void gainAtATensor()
    {
        QFETCH(float, scaleX);
        const Comparison c = compared(negated(), inCodes<int8_t>({ scaleX, 0.68f, 0.68f }, 0), normalData());
        const Finding* f = rangeFinding(c, "a");
        QVERIFY2(f && f->expectedGainDb, qPrintable(rulesOf(c)));
        const Comparison mended = compared(negated(), inCodes<int8_t>({ scaleX, 0.034f, 0.68f }, 0), normalData());
        const double gained = *rowOf(mended, "a").accumulated.sqnrDb - *rowOf(c, "a").accumulated.sqnrDb;
        QVERIFY2(std::fabs(gained - *f->expectedGainDb) < 3,
            qPrintable(QStringLiteral("%1, promised %2").arg(gained).arg(*f->expectedGainDb)));
    }

    void reducedRanges_data()
    {
        QTest::addColumn<float>("scale");
        QTest::addColumn<int>("zero");
        QTest::addColumn<bool>("found");
        QTest::newRow("7 bits of uint8") << 0.055f << 64 << true;
        QTest::newRow("8 bits of uint8") << 0.027f << 128 << false;
        QTest::newRow("a part of 7 bits") << 0.2f << 64 << false;
    }
    void reducedRanges()
    {
        QFETCH(float, scale);
        QFETCH(int, zero);
        QFETCH(bool, found);
        const auto codes = inCodes<uint8_t>({ scale, scale, scale }, uint8_t(zero));
        const Comparison c = compared(negated(), codes, normalData());
        const Finding* f = reducedFinding(c);
        QVERIFY2((f != nullptr) == found, qPrintable(rulesOf(c)));
        if (!f)
            return;
        QCOMPARE(f->severity, Severity::Note);
        QVERIFY(!f->remedy.empty() && !f->evidence.empty());
        QVERIFY(f->expectedGainDb && *f->expectedGainDb > 0 && *f->expectedGainDb < 6.03);
    }

    void copiesOfCodes_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<bool>("told");
        QTest::newRow("a Cast to the same type") << "Cast" << false;
        QTest::newRow("Casts there and back") << "chain" << false;
        QTest::newRow("Clip") << "Clip" << true;
    }
    void copiesOfCodes()
    {
        QFETCH(QString, type);
        QFETCH(bool, told);
        const Prepared q = nodeOnCodes(type.toStdString(), { { "to", int64_t(2) } });
        const Comparison c = compared(negatedOnce(), q, normalData());
        QVERIFY2((findingOf(c, Rule::RuntimeRejects) != nullptr) == told, qPrintable(rulesOf(c)));
    }

    void listedScales_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<QString>("listed"); ///< the constant of shape [1]
        QTest::addColumn<bool>("told");
        for (const char* type : { "QLinearMul", "QLinearAdd", "QLinearAveragePool", "QLinearSigmoid", "QLinearConcat" })
            for (const char* listed : { "", "s", "z", "w" })
                if (*listed != 'w' || QString(type) == "QLinearMul" || QString(type) == "QLinearAdd")
                    QTest::addRow("%s, %s", type, *listed ? listed : "nothing")
                        << QString(type) << QString(listed)
                        << ((*listed == 's' || *listed == 'z') && QString(type) != "QLinearSigmoid"
                               && QString(type) != "QLinearConcat");
    }
    /// ONNX Runtime wants scalars of some operators on codes, as scales and zero points, not as the codes themselves.
    void listedScales()
    {
        QFETCH(QString, type);
        QFETCH(QString, listed);
        QFETCH(bool, told);
        const std::string name = type.toStdString();
        const auto shape = [&](const char* constant) { return listed == constant ? Shape { 1 } : Shape {}; };
        const auto model = [&](bool codes) {
            SmallModel m(codes ? "q" : "f");
            m.input("x", { 1, 1, 4, 4 });
            if (codes)
                m.constant("s", Tensor::of<float>(shape("s"), { 0.03f }))
                    .constant("z", Tensor::of<uint8_t>(shape("z"), { 128 }))
                    .constant("w", Tensor::of<uint8_t>(shape("w"), { 161 }))
                    .constant("s0", Tensor::scalar(0.03f))
                    .constant("z0", Tensor::scalar<uint8_t>(128))
                    .node("QuantizeLinear", { "x", "s0", "z0" }, { "x_quantized" });
            else
                m.constant("w", Tensor::of<float>(Shape {}, { 0.99f }));
            const bool two = name == "QLinearMul" || name == "QLinearAdd";
            const std::string op = codes ? name : name.substr(7), made = codes ? "r_quantized" : "r";
            const std::string domain = codes ? "com.microsoft" : "";
            SmallModel::Names inputs { codes ? "x_quantized" : "x" };
            if (codes)
                inputs = name == "QLinearConcat" ? SmallModel::Names { "s", "z", "x_quantized", "s0", "z0" }
                    : two ? SmallModel::Names { "x_quantized", "s0", "z0", "w", "s0", "z0", "s", "z" }
                          : SmallModel::Names { "x_quantized", "s", "z", "s0", "z0" };
            else if (two)
                inputs.push_back("w");
            std::vector<SmallModel::Attribute> attributes;
            if (name == "QLinearAveragePool")
                attributes.emplace_back("kernel_shape", std::vector<int64_t> { 2, 2 });
            if (name == "QLinearConcat")
                attributes.emplace_back("axis", int64_t(1));
            m.node(op, inputs, { made }, attributes, domain);
            if (codes)
                m.node("DequantizeLinear", { made, "s0", "z0" }, { "r" });
            return m.node("Neg", { "r" }, { "y" }).output("y").finish();
        };
        const FixedData data({ Tensor::of<float>({ 1, 1, 4, 4 }, normals(16, 3)) });
        const Comparison c = compared(model(false), model(true), data);
        QVERIFY2((findingOf(c, Rule::RuntimeRejects) != nullptr) == told, qPrintable(rulesOf(c)));
    }

    void refusedFiles_data()
    {
        QTest::addColumn<int>("opset");
        QTest::addColumn<bool>("halfValues");
        QTest::addColumn<bool>("halfScales");
        QTest::addColumn<bool>("axis");
        QTest::addColumn<int>("needed"); ///< opset; 0: nothing is told
        QTest::newRow("float32 scales") << 17 << false << false << false << 0;
        QTest::newRow("float16 scales") << 17 << true << true << false << 19;
        QTest::newRow("float16 scales, new opset") << 19 << true << true << false << 0;
        QTest::newRow("float32 scales of float16 values") << 21 << true << false << false << 23;
        QTest::newRow("the same, new opset") << 23 << true << false << false << 0;
        QTest::newRow("an axis") << 13 << false << false << true << 0;
        QTest::newRow("an axis, old opset") << 12 << false << false << true << 13;
    }
    /// What ONNX Runtime does not load is a finding, so that gates and reports have it.
    void refusedFiles()
    {
        QFETCH(int, opset);
        QFETCH(bool, halfValues);
        QFETCH(bool, halfScales);
        QFETCH(bool, axis);
        QFETCH(int, needed);
        const auto type = [](bool half) { return half ? DType::Float16 : DType::Float32; };
        const Shape scales = axis ? Shape { 2 } : Shape {};
        const auto model = [&](bool quantized) {
            SmallModel m(quantized ? "q" : "f");
            m.opset(opset).input("x", { 1, 2 }, type(halfValues));
            m.constant(
                "s", convertedTo(Tensor::of<float>(scales, std::vector<float>(axis ? 2 : 1, 0.25f)), type(halfScales)));
            m.constant("z", Tensor::of<uint8_t>(scales, std::vector<uint8_t>(axis ? 2 : 1, uint8_t(100))));
            std::vector<SmallModel::Attribute> attributes;
            if (axis)
                attributes.emplace_back("axis", int64_t(1));
            if (quantized)
                m.node("QuantizeLinear", { "x", "s", "z" }, { "c" }, attributes)
                    .node("DequantizeLinear", { "c", "s", "z" }, { "d" }, attributes);
            return m.node("Neg", { quantized ? "d" : "x" }, { "y" }).output("y").finish();
        };
        const FixedData data({ convertedTo(Tensor::of<float>({ 1, 2 }, { 1, -2 }), type(halfValues)) });
        const Comparison c = compared(model(false), model(true), data);
        const Finding* f = findingOf(c, Rule::RuntimeRejects);
        QVERIFY2((f != nullptr) == (needed > 0), qPrintable(rulesOf(c)));
        if (!f)
            return;
        QCOMPARE(f->severity, Severity::Warning);
        QCOMPARE(f->node, std::string("n_c"));
        const QString sentence = QStringLiteral("needs opset %1; the model has opset %2.").arg(needed).arg(opset);
        QVERIFY2(QString::fromStdString(f->summary).contains(sentence), f->summary.c_str());
    }

    void refusedBlocks_data()
    {
        QTest::addColumn<int>("bits");
        QTest::addColumn<bool>("real"); ///< zero points
        QTest::addColumn<bool>("refused");
        QTest::newRow("8 bits, real zero points") << 8 << true << true;
        QTest::newRow("8 bits, whole zero points") << 8 << false << false;
        QTest::newRow("4 bits, real zero points") << 4 << true << false;
    }
    /// hqq has zero points between codes, and kernels take these with fewer than 8 bits.
    void refusedBlocks()
    {
        QFETCH(int, bits);
        QFETCH(bool, real);
        QFETCH(bool, refused);
        constexpr int64_t kIn = 16, kOut = 2;
        const int64_t bytes = kIn * bits / 8;
        const auto model = [&](bool quantized) {
            SmallModel m(quantized ? "q" : "f");
            m.input("x", { 1, kIn });
            if (!quantized)
                return m.constant("w", Tensor::of<float>({ kIn, kOut }, std::vector<float>(size_t(kIn * kOut), 0.5f)))
                    .node("MatMul", { "x", "w" }, { "y" })
                    .output("y")
                    .finish();
            m.constant("c", Tensor::of<uint8_t>({ kOut, 1, bytes }, std::vector<uint8_t>(size_t(kOut * bytes), 0x99)));
            m.constant("s", Tensor::of<float>({ kOut }, { 0.1f, 0.1f }));
            m.constant("z",
                real ? Tensor::of<float>({ kOut }, { 3.5f, 3.5f })
                     : Tensor::of<uint8_t>({ kOut, 1 }, std::vector<uint8_t>(size_t(kOut), 3)));
            return m
                .node("MatMulNBits", { "x", "c", "s", "z" }, { "y" },
                    { { "K", kIn }, { "N", kOut }, { "bits", int64_t(bits) }, { "block_size", int64_t(16) } },
                    "com.microsoft")
                .output("y")
                .finish();
        };
        const Comparison c = compared(model(false), model(true),
            FixedData({ Tensor::of<float>({ 1, kIn }, std::vector<float>(size_t(kIn), 1)) }));
        const Finding* f = findingOf(c, Rule::RuntimeRejects);
        QVERIFY2((f != nullptr) == refused, qPrintable(rulesOf(c)));
        if (f)
            QVERIFY2(f->title.find("does not load") != std::string::npos, f->title.c_str());
    }

    /// The noise of a part says nothing beside that of the whole.
    void partsHaveNoIncrease()
    {
        const auto model = [](bool quantized) {
            SmallModel m(quantized ? "q" : "f");
            m.input("x", { kCount });
            if (quantized)
                m.qdq<int8_t>("x", "x_dq", 0.034f, 0);
            return m.node("Neg", { quantized ? "x_dq" : "x" }, { "a" })
                .node("Split", { "a" }, { "b", "c" }, { { "axis", int64_t(0) } })
                .node("Neg", { "b" }, { "y" })
                .node("Neg", { "c" }, { "z" })
                .output("y")
                .output("z")
                .finish();
        };
        const Comparison c = compared(model(false), model(true), normalData());
        QVERIFY(!rowOf(c, "b").increaseDb && !rowOf(c, "c").increaseDb);
        QVERIFY(rowOf(c, "a").increaseDb && rowOf(c, "y").increaseDb);
    }

    void worstResult()
    {
        std::vector<OutputRow> outputs(3);
        outputs[0].similarity.sqnrDb = 20;
        outputs[1].similarity.sqnrDb = 10;
        outputs[1].handedOn = true;
        outputs[2].similarity.exact = true;
        QCOMPARE(worstOutput(outputs), &outputs[0]);
        QCOMPARE(resultOutputs(outputs).size(), size_t(2));
        outputs[0].handedOn = outputs[2].handedOn = true;
        QCOMPARE(worstOutput(outputs), &outputs[1]);
        QCOMPARE(worstOutput({}), nullptr);
    }
};

} // namespace

QTEST_GUILESS_MAIN(PromisesTests)
#include "promises_test.moc"
