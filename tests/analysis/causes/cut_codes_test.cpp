// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>

/// Constants that lose something beside rounding, and by what: codes that were cut, by a narrower type or by a Clip,
/// and floats of few levels.
namespace {

using namespace qs;
using namespace qs::test;

constexpr int64_t kRows = 64, kWidth = 8;
constexpr float kInputScale = 2.f / 255, kWeightScale = 1.f / 127;

FixedData evenData() { return FixedData({ Tensor::of<float>({ kRows, kWidth }, uniform(size_t(kRows * kWidth), 3)) }); }

double part(const ActivationRow& row, const Number& of)
{
    const double rmse = row.accumulated.rmse.value_or(0);
    return of.value_or(-1) / (rmse * rmse);
}

const Finding* withCause(const Comparison& c, const std::string& cause)
{
    const auto at = std::ranges::find(c.findings, cause, &Finding::cause);
    return at == c.findings.end() ? nullptr : &*at;
}

/// x -> Gemm -> y; the codes of the bias, which is stored in 32 bits, end at `limit`.
Prepared biased(bool codes, const std::vector<float>& bias, int32_t limit)
{
    const std::vector<float> w = uniform(size_t(kWidth * kWidth), 5);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    if (codes) {
        std::vector<int32_t> stored;
        const double scale = double(kInputScale) * kWeightScale;
        for (const float b : bias)
            stored.push_back(int32_t(std::clamp(std::nearbyint(b / scale), -double(limit), double(limit))));
        m.qdq<uint8_t>("x", "x_dq", kInputScale, 128);
        m.weight("w", { kWidth, kWidth }, symmetricCodes(w, { kWeightScale }), { kWeightScale });
        m.constant("b_quantized", Tensor::of<int32_t>({ kWidth }, stored));
        m.constant("b_scale", Tensor::scalar(float(scale)));
        m.node("DequantizeLinear", { "b_quantized", "b_scale" }, { "b" });
    } else {
        m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w)).constant("b", Tensor::of<float>({ kWidth }, bias));
    }
    return m.node("Gemm", { codes ? "x_dq" : "x", "w", "b" }, { "y" }, { { "transB", int64_t(1) } })
        .output("y")
        .finish();
}

/// x -> Neg -> a -> Add or Mul with the constant g -> y. The range of a is far too wide, that of g ends at `end`.
Prepared operand(bool codes, const std::string& type, float end)
{
    const std::vector<float> g = uniform(size_t(kRows * kWidth), 6, -4, 4);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).node("Neg", { "x" }, { "a" });
    if (codes) {
        m.qdq<int8_t>("a", "a_dq", 8.f / 127, 0);
        m.weight("g", { kRows, kWidth }, symmetricCodes(g, { end / 127 }), { end / 127 });
    } else {
        m.constant("g", Tensor::of<float>({ kRows, kWidth }, g));
    }
    return m.node(type, { codes ? "a_dq" : "a", "g" }, { "y" }).output("y").finish();
}

struct Bounds {
    int low = -128, high = 127;
};

/// x -> Neg -> a0 -> Neg -> a1 -> Neg -> a2 -> Neg -> y (the first Neg may be Abs), whose codes pass a Clip each.
Prepared chain(bool codes, float scale, const std::vector<Bounds>& clips, bool positive)
{
    SmallModel m(codes ? "q" : "f");
    std::string from = "x";
    m.input("x", { kRows, kWidth }).constant("s", Tensor::scalar(scale)).constant("z", Tensor::scalar<int8_t>(0));
    for (size_t i = 0; i < clips.size(); ++i) {
        const std::string a = "a" + std::to_string(i);
        m.node(positive ? "Abs" : "Neg", { from }, { a });
        from = a;
        if (!codes)
            continue;
        m.constant(a + "_low", Tensor::scalar<int8_t>(int8_t(clips[i].low)));
        m.constant(a + "_high", Tensor::scalar<int8_t>(int8_t(clips[i].high)));
        m.node("QuantizeLinear", { a, "s", "z" }, { a + "_q" });
        m.node("Clip", { a + "_q", a + "_low", a + "_high" }, { a + "_c" });
        from = a + "_dq";
        m.node("DequantizeLinear", { a + "_c", "s", "z" }, { from });
    }
    return m.node("Neg", { from }, { "y" }).output("y").finish();
}

/// x -> MatMul -> y with codes behind a Clip that are stored, or made by QuantizeLinear.
Prepared clippedWeight(bool codes, float scale, Bounds stored, Bounds clip, bool made)
{
    const std::vector<float> w = uniform(size_t(kWidth * kWidth), 5);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    if (!codes)
        return m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w))
            .node("MatMul", { "x", "w" }, { "y" })
            .output("y")
            .finish();
    m.constant("s", Tensor::scalar(scale)).constant("z", Tensor::scalar<int8_t>(0));
    m.constant("low", Tensor::scalar<int8_t>(int8_t(clip.low)));
    m.constant("high", Tensor::scalar<int8_t>(int8_t(clip.high)));
    if (made) {
        m.constant("w_f", Tensor::of<float>({ kWidth, kWidth }, w));
        m.node("QuantizeLinear", { "w_f", "s", "z" }, { "w_q" });
    } else {
        std::vector<int8_t> all;
        for (const float v : w)
            all.push_back(int8_t(std::clamp(int(std::lround(v / scale)), stored.low, stored.high)));
        m.constant("w_q", Tensor::of<int8_t>({ kWidth, kWidth }, all));
    }
    m.node("Clip", { "w_q", "low", "high" }, { "w_c" }).node("DequantizeLinear", { "w_c", "s", "z" }, { "w" });
    m.qdq<uint8_t>("x", "x_dq", kInputScale, 128).node("MatMul", { "x_dq", "w" }, { "y" });
    return m.output("y").finish();
}

/// `levels` on either side of zero, by one scale or one for each row; 0: as they are.
std::vector<float> ofFewLevels(std::vector<float> values, int levels, size_t rows)
{
    const size_t length = values.size() / rows;
    for (size_t row = 0; row < rows && levels > 0; ++row) {
        float most = 0;
        for (size_t i = row * length; i < (row + 1) * length; ++i)
            most = std::max(most, std::fabs(values[i]));
        const float step = most / float(levels);
        for (size_t i = row * length; i < (row + 1) * length; ++i)
            values[i] = std::nearbyint(values[i] / step) * step;
    }
    return values;
}

/// x -> GRU -> y, whose weights are floats in both files.
Prepared recurrent(bool codes, int levels, size_t rows)
{
    constexpr int64_t kTimes = 8, kBatch = 8, kSize = 8, kGates = 3 * kSize;
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kTimes, kBatch, kSize });
    if (codes)
        m.qdq<uint8_t>("x", "x_dq", kInputScale, 128);
    m.constant("w",
        Tensor::of<float>(
            { 1, kGates, kSize }, ofFewLevels(uniform(size_t(kGates * kSize), 5), codes ? levels : 0, rows)));
    m.constant("r", Tensor::of<float>({ 1, kGates, kSize }, uniform(size_t(kGates * kSize), 6, -0.3f, 0.3f)));
    return m.node("GRU", { codes ? "x_dq" : "x", "w", "r" }, { "y" }, { { "hidden_size", kSize } })
        .output("y")
        .finish();
}

} // namespace

class CutCodesTests : public QObject {
    Q_OBJECT

private slots:
    void biases_data()
    {
        QTest::addColumn<float>("highest");
        QTest::addColumn<float>("lowest");
        QTest::addColumn<int>("limit");
        QTest::addColumn<QString>("told");
        QTest::newRow("healthy") << 2.2f << -2.3f << INT32_MAX << QString();
        QTest::newRow("16 bits, which hold it") << 1.9f << -1.9f << 32767 << QString();
        QTest::newRow("cut above") << 2.2f << -1.9f << 32767 << "end at 32767, where those of 16 bits do";
        QTest::newRow("cut below") << 1.9f << -2.2f << 32767 << "end at 32767, where those of 16 bits do";
        QTest::newRow("cut on both sides") << 2.2f << -2.3f << 32767 << "end at 32767, where those of 16 bits do";
    }
    /// Little of the output's power, but nearly all of its noise, which did not come in with the input.
    void biases()
    {
        QFETCH(float, highest);
        QFETCH(float, lowest);
        QFETCH(int, limit);
        QFETCH(QString, told);
        const std::vector<float> bias { 0.3f, -1.2f, highest, 0.7f, -0.4f, lowest, -0.1f, 0.9f };
        const Comparison c = compared(biased(false, bias, limit), biased(true, bias, limit), evenData());
        const Finding* found = findingOf(c, Rule::WrongBiasScale);
        QVERIFY2(bool(found) == !told.isEmpty(), qPrintable(rulesOf(c)));
        if (!found)
            return;
        QVERIFY2(found->title.ends_with("is clipped"), found->title.c_str());
        QVERIFY2(QString::fromStdString(found->summary).contains(told), found->summary.c_str());
        const ActivationRow& row = rowOf(c, "y");
        QVERIFY2(part(row, row.noise.weights) > 0.9, qPrintable(QString::number(part(row, row.noise.weights))));
    }

    void operands_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<float>("end");
        QTest::addColumn<bool>("cut");
        QTest::newRow("sum, cut") << "Add" << 2.f << true;
        QTest::newRow("sum, healthy") << "Add" << 4.f << false;
        QTest::newRow("difference, cut") << "Sub" << 2.f << true;
        QTest::newRow("product, cut") << "Mul" << 2.f << true;
        QTest::newRow("product, healthy") << "Mul" << 4.f << false;
    }
    /// What a cut constant does is told of it, not of the other operand, though that has a bad range.
    void operands()
    {
        QFETCH(QString, type);
        QFETCH(float, end);
        QFETCH(bool, cut);
        const std::string op = type.toStdString();
        const Comparison c = compared(operand(false, op, end), operand(true, op, end), evenData());
        const ActivationRow& row = rowOf(c, "y");
        QVERIFY2(
            cut == (part(row, row.noise.weights) > 0.9), qPrintable(QString::number(part(row, row.noise.weights))));
        const Finding* coarse = findingOf(c, Rule::WeightsTooCoarse);
        QVERIFY2(bool(coarse) == cut, qPrintable(rulesOf(c)));
        if (!cut)
            return;
        QVERIFY2(coarse->title == "The scale of the constant g, which n_y reads, is too small", coarse->title.c_str());
        QVERIFY2(!findingOf(c, Rule::Inherited), qPrintable(rulesOf(c)));
        for (const Finding& f : c.findings) // of the other operand's range
            for (const EvidenceItem& item : f.evidence)
                QVERIFY2(item.key != "output_share" || item.number.value_or(0) < 0.1, f.summary.c_str());
    }

    void activationsBehindClips_data()
    {
        QTest::addColumn<float>("scale");
        QTest::addColumn<int>("low");
        QTest::addColumn<int>("high");
        QTest::addColumn<int>("others"); // bits of the other tensors' Clips
        QTest::addColumn<bool>("positive");
        QTest::addColumn<QString>("told");
        QTest::newRow("4 bits") << 1.f / 7 << -8 << 7 << 4 << false << QString();
        QTest::newRow("4 bits, without the lowest") << 1.f / 7 << -7 << 7 << 4 << false << QString();
        QTest::newRow("7 codes of one sign") << 1.f / 7 << 0 << 7 << 4 << true << QString();
        QTest::newRow("a scale that is too small") << 1.f / 16 << -8 << 7 << 4 << false << QString();
        QTest::newRow("fewer bits with a scale of their own") << 1.f << -2 << 1 << 8 << false << QString();
        QTest::newRow("negative codes cut")
            << 1.f / 7 << 0 << 7 << 4 << false << "-8 … 7, which 2 other Clips of the file leave";
        QTest::newRow("fewer than the others")
            << 1.f / 7 << -4 << 3 << 4 << false << "-8 … 7, which 2 other Clips of the file leave";
        QTest::newRow("no codes of so many bits") << 1.f / 127 << -128 << 60 << 8 << false << "-128 … 127";
    }
    void activationsBehindClips()
    {
        QFETCH(float, scale);
        QFETCH(int, low);
        QFETCH(int, high);
        QFETCH(int, others);
        QFETCH(bool, positive);
        QFETCH(QString, told);
        const Bounds usual { -(1 << (others - 1)), (1 << (others - 1)) - 1 };
        const std::vector<Bounds> clips { { low, high }, usual, usual };
        const Comparison c
            = compared(chain(false, scale, clips, positive), chain(true, scale, clips, positive), evenData());
        const Finding* found = withCause(c, "clip");
        QVERIFY2(bool(found) == !told.isEmpty(), qPrintable(rulesOf(c)));
        if (!found)
            return;
        QVERIFY2(found->rule == Rule::RangeTooSmall && found->tensor == "a0", qPrintable(rulesOf(c)));
        QVERIFY2(QString::fromStdString(found->summary).contains(told), found->summary.c_str());
        QVERIFY(found->summary.find("n_a0_c") != std::string::npos);
        QCOMPARE(int(found->change.kind), int(RemedyKind::OpenClip));
    }

    void weightsBehindClips_data()
    {
        QTest::addColumn<float>("scale");
        QTest::addColumn<int>("stored"); // codes on either side of zero
        QTest::addColumn<int>("clip");
        QTest::addColumn<bool>("made");
        QTest::addColumn<QString>("told");
        QTest::newRow("8 bits") << 1.f / 127 << 127 << 127 << false << QString();
        QTest::newRow("4 bits") << 1.f / 7 << 7 << 7 << false << QString();
        QTest::newRow("5 bits, made of floats") << 1.f / 15 << 0 << 15 << true << QString();
        QTest::newRow("a scale that is too small") << 1.f / 60 << 15 << 15 << false << QString();
        QTest::newRow("the same, made of floats") << 1.f / 60 << 0 << 15 << true << QString();
        QTest::newRow("stored codes cut") << 1.f / 127 << 127 << 15 << false << "leaves the codes -15 … 15";
        QTest::newRow("a little") << 1.f / 127 << 127 << 100 << false << "leaves the codes -100 … 100";
        QTest::newRow("made codes cut") << 1.f / 127 << 0 << 100 << true << "leaves the codes -100 … 100";
    }
    void weightsBehindClips()
    {
        QFETCH(float, scale);
        QFETCH(int, stored);
        QFETCH(int, clip);
        QFETCH(bool, made);
        QFETCH(QString, told);
        const Bounds of { -stored, stored }, by { -clip, clip };
        const Comparison c
            = compared(clippedWeight(false, scale, of, by, made), clippedWeight(true, scale, of, by, made), evenData());
        const Finding* found = withCause(c, "clip");
        QVERIFY2(bool(found) == !told.isEmpty(), qPrintable(rulesOf(c)));
        if (!found)
            return;
        QVERIFY2(found->rule == Rule::WeightsTooCoarse && found->severity != Severity::Note, qPrintable(rulesOf(c)));
        QVERIFY2(QString::fromStdString(found->summary).contains(told), found->summary.c_str());
        QVERIFY2(found->summary.find("the codes -128 … 127") != std::string::npos, found->summary.c_str());
        QCOMPARE(std::ranges::count(c.findings, Rule::WeightsTooCoarse, &Finding::rule), 1);
    }

    /// The quantizer of a weight in a body is one of the body's, which the main graph's list does not hold.
    void weightsInBodies()
    {
        const Bounds of { -127, 127 }, by { -15, 15 };
        const Prepared f = clippedWeight(false, kWeightScale, of, by, false),
                       q = clippedWeight(true, kWeightScale, of, by, false);
        Comparison c = compared(f, q, evenData());
        QVERIFY(withCause(c, "clip"));
        for (WeightRow& row : c.weights) {
            row.floatValue = {};
            row.quantizer = 1000;
        }
        std::vector<Finding> found;
        findClippedCodes(pairOf(f, q), c, found);
        QVERIFY(found.empty());
    }

    void roundedFloats_data()
    {
        QTest::addColumn<int>("levels");
        QTest::addColumn<int>("rows");
        QTest::addColumn<bool>("told");
        QTest::newRow("as they are") << 0 << 1 << false;
        QTest::newRow("31 levels") << 15 << 1 << true;
        QTest::newRow("31 levels a row") << 15 << 24 << true;
        QTest::newRow("255 levels") << 127 << 1 << false;
    }
    /// Recurrent weights that stay in floats have no quantizer that would tell of their rounding.
    void roundedFloats()
    {
        QFETCH(int, levels);
        QFETCH(int, rows);
        QFETCH(bool, told);
        CompareOptions options;
        options.prove = true;
        const FixedData data({ Tensor::of<float>({ 8, 8, 8 }, uniform(512, 9)) });
        const Comparison c
            = compared(recurrent(false, levels, size_t(rows)), recurrent(true, levels, size_t(rows)), data, options);
        QVERIFY(c.network && c.network->same());
        const Finding* found = withCause(c, "rounded_floats");
        QVERIFY2(bool(found) == told, qPrintable(rulesOf(c)));
        if (levels > 0)
            QVERIFY2(!rowOf(c, "y").noise.weights, "no estimate of recurrent weights");
        if (!found)
            return;
        QCOMPARE(found->tensor, std::string("w"));
        QCOMPARE(int(found->change.kind), int(RemedyKind::StoreConstant));
        const auto share = std::ranges::find(found->evidence, std::string("noise_share"), &EvidenceItem::key);
        QVERIFY2(share != found->evidence.end() && share->number > 0.5, found->summary.c_str());
    }
};

QTEST_GUILESS_MAIN(CutCodesTests)
#include "cut_codes_test.moc"
