// SPDX-License-Identifier: GPL-3.0-or-later
// Scales that are larger or smaller than their own elements ask for, and codes that are read as others.
#include "core/quant/params/weights.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kRows = 64;
constexpr size_t kSize = 64, kBlock = 32, kEach = kSize / kBlock;

FixedData inputRows()
{
    return FixedData({ Tensor::of<float>({ kRows, int64_t(kSize) }, normals(int(kRows * kSize), 9)) });
}

/// A square weight [in, out] in symmetric codes around zero, a scale for each block of an output.
struct Coded {
    int bits;
    std::vector<float> scales; ///< by output and block
    std::vector<int> codes; ///< by output and input

    int lowest() const { return -(1 << (bits - 1)); }
    int highest() const { return -lowest() - 1; }

    Coded(const std::vector<float>& w, int codeBits, size_t blocks, const std::string& how, float factor)
        : bits(codeBits)
    {
        const float overall = std::max(-std::ranges::min(w), std::ranges::max(w));
        for (size_t out = 0; out < kSize; ++out)
            for (size_t block = 0; block < blocks; ++block) {
                std::vector<float> own;
                for (size_t i = block * kSize / blocks; i < (block + 1) * kSize / blocks; ++i)
                    own.push_back(w[i * kSize + out]);
                const float most = how == "tensor" ? overall : std::max(-std::ranges::min(own), std::ranges::max(own));
                float scale = most / float(highest());
                if (how == "4 bits")
                    scale = most / 7;
                if (how == "searched")
                    scale = searched(own, scale);
                if (how == "powers of two")
                    scale = std::exp2(std::ceil(std::log2(scale)));
                if (how != "one block" || block == 0)
                    scale *= factor;
                scales.push_back(scale);
                for (const float v : own)
                    codes.push_back(code(v, scale));
            }
    }
    int code(float v, float scale) const { return std::clamp(int(std::nearbyint(v / scale)), lowest(), highest()); }
    /// The scale that makes the least error, of smaller ones.
    float searched(const std::vector<float>& own, float largest) const
    {
        float best = largest;
        double least = HUGE_VAL;
        for (int i = 10; i <= 20; ++i) {
            const float scale = largest * float(i) / 20;
            double noise = 0;
            for (const float v : own)
                noise += std::pow(double(v) - double(scale) * code(v, scale), 2);
            if (noise < least)
                best = scale;
            least = std::min(noise, least);
        }
        return best;
    }
    /// Each fourth code one further: as roundings that look at outputs may leave them.
    void moveSome()
    {
        for (size_t i = 0; i < codes.size(); i += 4)
            codes[i] = std::clamp(codes[i] + (i % 8 == 0 ? 1 : -1), lowest(), highest());
    }
    /// Stored as MatMulNBits has them, unsigned.
    std::vector<uint8_t> bytes(bool twosComplement, bool exchanged) const
    {
        std::vector<uint8_t> stored;
        for (size_t i = 0; i < codes.size(); ++i)
            stored.push_back(uint8_t(twosComplement ? codes[i] & ((1 << bits) - 1) : codes[i] - lowest()));
        if (bits == 8)
            return stored;
        std::vector<uint8_t> packed;
        for (size_t i = 0; i < stored.size(); i += 2)
            packed.push_back(uint8_t(stored[i + size_t(exchanged)] | stored[i + size_t(!exchanged)] << 4));
        return packed;
    }
    /// As a matrix [in, out] of this type, bit by bit.
    Tensor matrix(DType type) const
    {
        std::vector<int32_t> values(codes.size());
        for (size_t i = 0; i < codes.size(); ++i) {
            const int all = 1 << bits, code = codes[i];
            values[i % kSize * kSize + i / kSize] = isSigned(type) || code >= 0 ? code : code + all;
        }
        return codeTensor(type, { int64_t(kSize), int64_t(kSize) }, values);
    }
};

SmallModel begun(const std::string& name)
{
    SmallModel m(name);
    m.opset(21).input("x", { kRows, int64_t(kSize) });
    return m;
}

/// A second product, whose weight is right: a file all of whose weights are others is another network.
Prepared ended(SmallModel& m, bool codes)
{
    const Shape shape { int64_t(kSize), int64_t(kSize) };
    const std::vector<float> v = uniform(kSize * kSize, 8);
    if (codes)
        m.weight("v", shape, symmetricCodes(v, { 1.f / 127 }), { 1.f / 127 });
    else
        m.constant("v", Tensor::of<float>(shape, v));
    return m.node("MatMul", { "a", "v" }, { "y" }).output("y").finish();
}

Prepared inFloat(const std::vector<float>& w)
{
    SmallModel m = begun("f");
    m.constant("w", Tensor::of<float>({ int64_t(kSize), int64_t(kSize) }, w));
    m.node("MatMul", { "x", "w" }, { "a" });
    return ended(m, false);
}

Prepared inBlocks(const Coded& c, bool twosComplement = false, bool exchanged = false)
{
    constexpr auto kSide = int64_t(kSize), kBlocks = int64_t(kEach);
    SmallModel m = begun("q");
    m.constant("w_Q",
        Tensor::of<uint8_t>({ kSide, kBlocks, int64_t(kBlock) * c.bits / 8 }, c.bytes(twosComplement, exchanged)));
    m.constant("w_scales", Tensor::of<float>({ kSide * kBlocks }, c.scales));
    m.node("MatMulNBits", { "x", "w_Q", "w_scales" }, { "a" },
        { { "K", kSide }, { "N", kSide }, { "bits", int64_t(c.bits) }, { "block_size", int64_t(kBlock) } },
        "com.microsoft");
    return ended(m, true);
}

/// Scales a channel, one or in blocks along the inputs.
Prepared inPairs(const Coded& c, DType type)
{
    const auto side = int64_t(kSize);
    SmallModel m = begun("q");
    m.constant("w_quantized", c.matrix(type));
    if (c.scales.size() > kSize) {
        std::vector<float> turned(c.scales.size());
        for (size_t i = 0; i < turned.size(); ++i)
            turned[i % kEach * kSize + i / kEach] = c.scales[i];
        m.constant("w_scale", Tensor::of<float>({ int64_t(kEach), side }, turned));
        m.node("DequantizeLinear", { "w_quantized", "w_scale" }, { "w" },
            { { "axis", int64_t(0) }, { "block_size", int64_t(kBlock) } });
    } else {
        const bool one = std::ranges::all_of(c.scales, [&](float s) { return s == c.scales[0]; });
        m.constant("w_scale", one ? Tensor::scalar(c.scales[0]) : Tensor::of<float>({ side }, c.scales));
        m.node("DequantizeLinear", { "w_quantized", "w_scale" }, { "w" }, { { "axis", int64_t(1) } });
    }
    m.node("MatMul", { "x", "w" }, { "a" });
    return ended(m, true);
}

} // namespace

class OwnScalesTests : public QObject {
    Q_OBJECT
private slots:
    void factors_data()
    {
        QTest::addColumn<bool>("operatorHolds"); // else a DequantizeLinear
        QTest::addColumn<int>("bits");
        QTest::addColumn<size_t>("blocks");
        QTest::addColumn<QString>("how");
        QTest::addColumn<float>("factor");
        QTest::addColumn<QString>("cause");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* name, bool holds, int bits, size_t blocks, const char* how, float factor,
                             const char* cause, const char* text) {
            QTest::newRow(name) << holds << bits << blocks << QString(how) << factor << QString(cause) << QString(text);
        };
        row("4 bits in blocks, right", true, 4, kEach, "", 1, "", "");
        row("4 bits in blocks, searched", true, 4, kEach, "searched", 1, "", "");
        row("4 bits in blocks, powers of two", true, 4, kEach, "powers of two", 1, "", "");
        row("4 bits in blocks, large", true, 4, kEach, "", 4, "scale", "All scales are 4");
        row("4 bits in blocks, used codes", true, 4, kEach, "", 4, "scale", "the codes reach 6 … 10 of 0 … 15");
        row("4 bits in blocks, some large", true, 4, kEach, "one block", 8, "scale", "50.0 % of the scales are 9");
        row("4 bits in blocks, small", true, 4, kEach, "", 0.5f, "clipped", "All scales are 0.57");
        row("8 bits in blocks, right", true, 8, kEach, "", 1, "", "");
        row("8 bits in blocks, large", true, 8, kEach, "", 16, "scale", "the codes reach 120 … 136 of 0 … 255");
        row("int4 pairs in blocks, right", false, 4, kEach, "", 1, "", "");
        row("int4 pairs in blocks, large", false, 4, kEach, "", 4, "scale", "(int4 in blocks of 32)");
        row("int4 pairs in blocks, small", false, 4, kEach, "", 0.5f, "clipped", "are clipped at the ends");
        row("int8 per channel, right", false, 8, 1, "", 1, "", "");
        row("int8 per channel, large", false, 8, 1, "", 16, "scale", "All scales are 16");
        row("int8 per channel, of 4 bits", false, 8, 1, "4 bits", 1, "scale", "These are all codes of 4 bits");
        row("int8 per channel, powers of two", false, 8, 1, "powers of two", 1, "", "");
        row("int8 per tensor, right", false, 8, 1, "tensor", 1, "", "");
        row("int8 per tensor, large", false, 8, 1, "tensor", 16, "scale", "It is 16 times as large as that");
    }
    /// Scales are held against those of their own elements; formats that search for theirs are right.
    void factors()
    {
        QFETCH(bool, operatorHolds);
        QFETCH(int, bits);
        QFETCH(size_t, blocks);
        QFETCH(QString, how);
        QFETCH(float, factor);
        QFETCH(QString, cause);
        QFETCH(QString, text);
        const std::vector<float> w = normals(int(kSize * kSize), 7);
        const Coded coded(w, bits, blocks, how.toStdString(), factor);
        const Comparison c = compared(inFloat(w),
            operatorHolds ? inBlocks(coded) : inPairs(coded, bits == 4 ? DType::Int4 : DType::Int8), inputRows());
        QVERIFY2(!findingOf(c, Rule::WeightsDiffer), qPrintable(rulesOf(c)));
        const Finding* f = findingOf(c, Rule::WeightsTooCoarse);
        const bool told = f && f->tensor == "w" && (f->cause == "scale" || f->cause == "clipped");
        QVERIFY2(told == !cause.isEmpty(), qPrintable(rulesOf(c)));
        if (!told)
            return;
        QCOMPARE(QString::fromStdString(f->cause), cause);
        QVERIFY2(QString::fromStdString(f->summary).contains(text), f->summary.c_str());
        QVERIFY2(f->title.ends_with(cause == "scale" ? "too large" : "too small"), f->title.c_str());
        QCOMPARE(f->severity == Severity::Note, how == "4 bits"); // which may be meant
        QCOMPARE(f->change.kind, RemedyKind::Requantize);
        QVERIFY(*f->expectedGainDb > 5);
    }

    void readings_data()
    {
        QTest::addColumn<int>("bits");
        QTest::addColumn<QString>("fault");
        QTest::addColumn<bool>("moved"); // some codes are not the nearest ones
        QTest::addColumn<QString>("text");
        QTest::newRow("right") << 4 << "" << false << "";
        QTest::newRow("int4 as uint4") << 4 << "sign" << false << "read as int4 the same codes";
        QTest::newRow("int8 as uint8") << 8 << "sign" << false << "read as int8 the same codes";
        QTest::newRow("int4 as uint4, moved") << 4 << "sign" << true << "read as int4 the same codes";
        QTest::newRow("upper bit") << 4 << "upper" << false << "the upper bit of each code";
        QTest::newRow("upper bit of 8") << 8 << "upper" << false << "the upper bit of each code";
        QTest::newRow("halves") << 4 << "halves" << false << "the halves of each byte are swapped";
        QTest::newRow("halves, moved") << 4 << "halves" << true << "the halves of each byte are swapped";
        QTest::newRow("moved alone") << 4 << "" << true << "retrained";
    }
    /// Codes that are right once they are read otherwise, also where they are not the nearest ones.
    void readings()
    {
        QFETCH(int, bits);
        QFETCH(QString, fault);
        QFETCH(bool, moved);
        QFETCH(QString, text);
        const std::vector<float> w = normals(int(kSize * kSize), 7);
        Coded coded(w, bits, fault == "sign" ? 1 : kEach, "", 1);
        if (moved)
            coded.moveSome();
        const Comparison c = compared(inFloat(w),
            fault == "sign" ? inPairs(coded, bits == 4 ? DType::UInt4 : DType::UInt8)
                            : inBlocks(coded, fault == "upper", fault == "halves"),
            inputRows());
        const Finding* f = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2((f != nullptr) == !text.isEmpty(), qPrintable(rulesOf(c)));
        if (!f)
            return;
        QVERIFY2(QString::fromStdString(f->summary).contains(text), f->summary.c_str());
        if (fault.isEmpty())
            return;
        QCOMPARE(f->severity, Severity::Error);
        if (fault == "sign" && !moved)
            for (const WeightRow& row : c.weights) // none has a code at the end
                QVERIFY(row.clippedFraction.value_or(1) < 0.001);
    }
};

QTEST_GUILESS_MAIN(OwnScalesTests)
#include "own_scales_test.moc"
