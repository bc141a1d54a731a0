// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/params/weights.h"
#include "tests/analysis/planted/planted.h"
#include "tests/support/tensors.h"

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

bool saysZeroPoint(const Comparison& c)
{
    return std::ranges::any_of(c.findings, [](const Finding& f) { return f.rule == Rule::WrongZeroPoint; });
}

/// `x` in float16 through a quantizer of 16 bits, whose steps are finer than the numbers of its type.
SmallModel halfModel(bool quantized)
{
    SmallModel m(quantized ? "half_qdq" : "half");
    m.input("x", { 1, 64 }, DType::Float16);
    m.constant("half", realTensor(DType::Float16, {}, std::vector<float> { 0.5f }));
    m.node("Mul", { "x", "half" }, { "h" });
    if (!quantized)
        return m.node("Neg", { "h" }, { "y" }).output("y");
    m.constant("s", realTensor(DType::Float16, {}, std::vector<float> { 6.5e-05f }))
        .constant("z", Tensor::scalar(int16_t(0)));
    m.node("QuantizeLinear", { "h", "s", "z" }, { "h_QuantizeLinear_Output" })
        .node("DequantizeLinear", { "h_QuantizeLinear_Output", "s", "z" }, { "h_DequantizeLinear_Output" });
    return m.node("Neg", { "h_DequantizeLinear_Output" }, { "y" }).output("y");
}

/// x -> Neg -> a, which two nodes read: operators on codes, or pairs. The second takes it by `scale` and `zero`.
SmallModel readTwice(bool onCodes, float scale, int zero)
{
    SmallModel m("q");
    m.input("x", { 1, 64 }).node("Neg", { "x" }, { "a" });
    m.constant("s", Tensor::scalar(0.03f)).constant("z", Tensor::scalar(uint8_t(128)));
    m.constant("s2", Tensor::scalar(scale)).constant("z2", Tensor::scalar(uint8_t(zero)));
    m.node("QuantizeLinear", { "a", "s", "z" }, { "a_QuantizeLinear_Output" });
    if (onCodes)
        return m
            .node("QLinearAdd",
                { "a_QuantizeLinear_Output", "s", "z", "a_QuantizeLinear_Output", "s2", "z2", "s", "z" }, { "y_codes" },
                {}, "com.microsoft")
            .node("DequantizeLinear", { "y_codes", "s", "z" }, { "y" })
            .output("y");
    return m.node("DequantizeLinear", { "a_QuantizeLinear_Output", "s", "z" }, { "a_1" })
        .node("DequantizeLinear", { "a_QuantizeLinear_Output", "s2", "z2" }, { "a_2" })
        .node("Add", { "a_1", "a_2" }, { "y" })
        .output("y");
}

constexpr int64_t kInner = 32;

/// x, perhaps behind a Relu, as codes -> MatMulInteger or ConvInteger -> y. `zero`: what that reads, -1: nothing;
/// `computed`: the codes are DynamicQuantizeLinear's, and "c_zero" is the zero point.
SmallModel sums(const std::string& type, bool computed, bool relu, int written, const std::string& zero)
{
    const bool conv = type == "Conv";
    const std::vector<float> w = normals(kInner * 8, 5);
    const Shape shape = conv ? Shape { 8, kInner, 1, 1 } : Shape { kInner, 8 };
    SmallModel m(zero == "float" ? "f" : "q");
    m.input("x", conv ? Shape { 1, kInner, 4, 4 } : Shape { 16, kInner });
    if (relu)
        m.node("Relu", { "x" }, { "r" });
    const std::string in = relu ? "r" : "x";
    if (zero == "float")
        return m.constant("w", Tensor::of<float>(shape, w)).node(type, { in, "w" }, { "y" }).output("y");
    m.constant("w_codes", Tensor::of<int8_t>(shape, symmetricCodes(w, { 0.03f })));
    m.constant("w_scale", Tensor::scalar(0.03f)).constant("s", Tensor::scalar(0.03f));
    m.constant("z", Tensor::scalar(uint8_t(written))).constant("z120", Tensor::scalar(uint8_t(120)));
    m.constant("z128", Tensor::scalar(uint8_t(128)));
    if (computed)
        m.node("DynamicQuantizeLinear", { in }, { "c", "c_scale", "c_zero" });
    else
        m.node("QuantizeLinear", { in, "s", "z" }, { "c" });
    m.node(type + "Integer", { "c", "w_codes", zero }, { "sums" });
    m.node("Cast", { "sums" }, { "real" }, { { "to", int64_t(1) } });
    m.node("Mul", { computed ? "c_scale" : "s", "w_scale" }, { "scale" });
    return m.node("Mul", { "real", "scale" }, { "y" }).output("y");
}

} // namespace

/// `wrong_zero_point` speaks of faults alone.
class ZeroPointTests : public QObject {
    Q_OBJECT

private slots:
    void silentOnHealthyFiles_data()
    {
        QTest::addColumn<QString>("network");
        QTest::addColumn<int>("type");
        QTest::addColumn<bool>("symmetric");
        QTest::addColumn<double>("kept"); // share of each range: a calibrator that cuts
        for (const std::string& network : networkNames())
            for (const DType type : { DType::Int8, DType::UInt8, DType::Int16, DType::UInt16 })
                for (const bool symmetric : { false, true })
                    for (const double kept : { 1.0, 0.5 })
                        QTest::addRow("%s %s %s %g", network.c_str(), std::string(dtypeName(type)).c_str(),
                            symmetric ? "symmetric" : "asymmetric", kept)
                            << QString::fromStdString(network) << int(type) << symmetric << kept;
    }
    void silentOnHealthyFiles()
    {
        QFETCH(QString, network);
        QFETCH(int, type);
        QFETCH(bool, symmetric);
        QFETCH(double, kept);
        Planted healthy;
        healthy.network = network.toStdString();
        healthy.recipe = [&](Recipe& r) {
            r.activationType = DType(type);
            r.symmetricActivations = symmetric;
        };
        healthy.ranges = [&](Ranges& ranges) {
            for (auto& [name, range] : ranges.tensors) {
                range.lowest *= float(kept);
                range.highest *= float(kept);
            }
        };
        const Comparison c = comparePlanted(healthy);
        QVERIFY2(!saysZeroPoint(c), qPrintable(rulesOf(c)));
    }

    /// Cut on one side alone by a symmetric range, as a calibrator for skewed values does.
    void silentOnSkewedSymmetricRanges()
    {
        for (const DType type : { DType::Int8, DType::UInt8, DType::Int16 }) {
            Planted healthy;
            healthy.network = "residual";
            healthy.recipe = [&](Recipe& r) {
                r.activationType = type;
                r.symmetricActivations = true;
            };
            healthy.ranges = [](Ranges& ranges) {
                TensorRange& r = ranges.tensors.at("r1");
                r.highest *= 0.55f;
                r.lowest = -r.highest;
            };
            const Comparison c = comparePlanted(healthy);
            QVERIFY2(!saysZeroPoint(c), qPrintable(rulesOf(c)));
        }
    }

    void silentBelowThePrecisionOfTheType()
    {
        std::vector<Tensor> samples;
        for (int i = 0; i < 4; ++i) {
            std::vector<float> values;
            for (int k = 0; k < 64; ++k)
                values.push_back(roundedTo(DType::Float16, 2.5 + 0.02 * k + 0.003 * i));
            samples.push_back(realTensor(DType::Float16, { 1, 64 }, values));
        }
        const Comparison c = compared(halfModel(false).finish(), halfModel(true).finish(), FixedData(samples));
        QVERIFY(rowOf(c, "h").noise.rounding.value_or(0) > 0);
        QVERIFY2(!saysZeroPoint(c), qPrintable(rulesOf(c)));
    }

    void readers_data()
    {
        QTest::addColumn<bool>("onCodes");
        QTest::addColumn<float>("scale");
        QTest::addColumn<int>("zero");
        QTest::addColumn<bool>("told");
        for (const bool onCodes : { false, true }) {
            const char* form = onCodes ? "on codes" : "pairs";
            QTest::addRow("%s, equal numbers", form) << onCodes << 0.03f << 128 << false;
            QTest::addRow("%s, another scale", form) << onCodes << 0.06f << 128 << true;
            QTest::addRow("%s, another zero point", form) << onCodes << 0.03f << 100 << true;
        }
    }
    /// Whoever reads codes takes them for what they were written as, the first reader or not.
    void readers()
    {
        QFETCH(bool, onCodes);
        QFETCH(float, scale);
        QFETCH(int, zero);
        QFETCH(bool, told);
        SmallModel f("f");
        f.input("x", { 1, 64 }).node("Neg", { "x" }, { "a" }).node("Add", { "a", "a" }, { "y" }).output("y");
        const FixedData data({ Tensor::of<float>({ 1, 64 }, normals(64, 9)) });
        const Comparison c = compared(f.finish(), readTwice(onCodes, scale, zero).finish(), data);
        QVERIFY2(saysZeroPoint(c) == told, qPrintable(rulesOf(c)));
        if (!told)
            return;
        const Finding& found = *findingOf(c, Rule::WrongZeroPoint);
        QCOMPARE(found.tensor, std::string("a"));
        QCOMPARE(found.node, std::string("n_y"));
        QCOMPARE(found.severity, Severity::Error);
        QCOMPARE(found.change.kind, RemedyKind::Requantize);
        const Finding* inherited = findingOf(c, Rule::Inherited);
        QVERIFY2(!inherited || inherited->remedy.find("n_y") != std::string::npos, qPrintable(rulesOf(c)));
        QVERIFY2(found.summary.find(onCodes ? "n_y_codes" : "n_a_2") != std::string::npos, found.summary.c_str());
    }

    void zeroPointsOfSums_data()
    {
        QTest::addColumn<bool>("computed");
        QTest::addColumn<bool>("relu");
        QTest::addColumn<int>("written");
        QTest::addColumn<QString>("zero"); // that is read; empty: none
        QTest::addColumn<bool>("told");
        QTest::newRow("the writer's") << false << false << 128 << "z" << false;
        QTest::newRow("the writer's number") << false << false << 128 << "z128" << false;
        QTest::newRow("another") << false << false << 128 << "z120" << true;
        QTest::newRow("none") << false << false << 128 << "" << true;
        QTest::newRow("none, written with zero") << false << true << 0 << "" << false;
        QTest::newRow("computed") << true << false << 128 << "c_zero" << false;
        QTest::newRow("computed, another") << true << false << 128 << "z120" << true;
        QTest::newRow("computed, none") << true << false << 128 << "" << true;
        QTest::newRow("computed of what has no negative values, none") << true << true << 128 << "" << false;
        QTest::newRow("computed of what has no negative values, another") << true << true << 128 << "z120" << true;
    }
    /// Products of codes take them with a zero point alone: it is the writer's.
    void zeroPointsOfSums()
    {
        QFETCH(bool, computed);
        QFETCH(bool, relu);
        QFETCH(int, written);
        QFETCH(QString, zero);
        QFETCH(bool, told);
        for (const std::string type : { "MatMul", "Conv" }) {
            std::vector<Tensor> samples;
            for (uint32_t i = 0; i < 4; ++i)
                samples.push_back(Tensor::of<float>(
                    type == "Conv" ? Shape { 1, kInner, 4, 4 } : Shape { 16, kInner }, normals(16 * kInner, 9 + i)));
            const Comparison c = compared(sums(type, computed, relu, written, "float").finish(),
                sums(type, computed, relu, written, zero.toStdString()).finish(), FixedData(samples));
            QVERIFY2(saysZeroPoint(c) == told, qPrintable(rulesOf(c)));
            QVERIFY2(!findingOf(c, Rule::SensitiveOperator), qPrintable(rulesOf(c)));
            if (!told)
                continue;
            const Finding& found = *findingOf(c, Rule::WrongZeroPoint);
            QCOMPARE(found.tensor, std::string(relu ? "r" : "x"));
            QCOMPARE(found.node, std::string("n_y"));
            QCOMPARE(found.severity, Severity::Error);
            QCOMPARE(found.remedy, std::string("Give n_sums the zero point of n_c."));
            QVERIFY2(
                found.summary.find(zero == "z120" ? "with zero point 120" : "with zero point 0") != std::string::npos,
                found.summary.c_str());
        }
    }

    void constants_data()
    {
        QTest::addColumn<QString>("fault");
        QTest::addColumn<QString>("said"); // empty: nothing
        QTest::newRow("healthy") << ""
                                 << "";
        QTest::newRow("read wider") << "read"
                                    << "made it with";
        QTest::newRow("written finer") << "written"
                                       << "16 of 16 channels disagree";
        QTest::newRow("two scales exchanged") << "exchanged"
                                              << "2 of 16 channels disagree";
        QTest::newRow("read along another axis") << "axis"
                                                 << "16 scales along axis 1, but";
    }
    /// A weight in floats between QuantizeLinear and DequantizeLinear, as PyTorch writes them.
    void constants()
    {
        QFETCH(QString, fault);
        QFETCH(QString, said);
        std::vector<float> w = normals(256, 5), written, read;
        for (size_t c = 0; c < 16; ++c) {
            written.push_back(0.03f * float(1 + c));
            for (size_t k = 0; k < 16; ++k)
                w[c * 16 + k] *= float(1 + c);
        }
        read = written;
        if (fault == "exchanged")
            std::swap(read[0], read[15]);
        for (float& scale : fault == "read" ? read : written)
            scale *= fault == "read" ? 1.5f : fault == "written" ? 0.5f : 1.f;
        const auto model = [&](bool quantized) {
            SmallModel m(quantized ? "q" : "f");
            m.input("x", { 1, 16, 4, 4 }).constant("w", Tensor::of<float>({ 16, 16, 1, 1 }, w));
            if (!quantized)
                return m.node("Conv", { "x", "w" }, { "y" }).output("y").finish();
            m.qdq<int8_t>("x", "x_dq", 0.04f, 0).constant("z", Tensor::of<int8_t>({ 16 }, std::vector<int8_t>(16)));
            m.constant("s", Tensor::of<float>({ 16 }, written)).constant("s2", Tensor::of<float>({ 16 }, read));
            m.node("QuantizeLinear", { "w", "s", "z" }, { "w_codes" }, { { "axis", int64_t(0) } });
            m.node("DequantizeLinear", { "w_codes", "s2", "z" }, { "w_dq" }, { { "axis", int64_t(fault == "axis") } });
            return m.node("Conv", { "x_dq", "w_dq" }, { "y" }).output("y").finish();
        };
        const FixedData data({ Tensor::of<float>({ 1, 16, 4, 4 }, normals(256, 9)) });
        const Comparison c = compared(model(false), model(true), data);
        QCOMPARE(c.weights.size(), size_t(1));
        const Finding* f = findingOf(c, Rule::WrongZeroPoint);
        QVERIFY2((f != nullptr) == !said.isEmpty(), qPrintable(rulesOf(c)));
        QCOMPARE(c.weights[0].similarity.sqnrDb.value_or(0) > 30, !f); // by what the Conv reads
        if (!f)
            return;
        QVERIFY2(f->severity == Severity::Error && f->weight == size_t(0), qPrintable(rulesOf(c)));
        QVERIFY2(f->summary.find(said.toStdString()) != std::string::npos, f->summary.c_str());
        for (const Rule rule : { Rule::WeightsDiffer, Rule::WeightsTooCoarse, Rule::SensitiveOperator })
            QVERIFY2(!findingOf(c, rule), qPrintable(rulesOf(c)));
    }

    /// A shift in one place is still told of, whatever the type.
    void speaksOfFaults()
    {
        size_t told = 0, faults = 0;
        for (const Planted& p : plantedFaults())
            if (p.fault.find("zero point of") == 0 || p.fault.find("disagree") != std::string::npos) {
                ++faults;
                const Comparison c = comparePlanted(p);
                // Where a shift lets through what a Relu cut, that is said of it.
                const bool says = saysZeroPoint(c) || findingOf(c, Rule::ActivationLost);
                QVERIFY2(says, qPrintable(rulesOf(c)));
                told += says;
            }
        QVERIFY(faults >= 8);
        QCOMPARE(told, faults);
    }
};

QTEST_GUILESS_MAIN(ZeroPointTests)
#include "zero_point_test.moc"
