// SPDX-License-Identifier: GPL-3.0-or-later
// Scales of weights that are too coarse, too small, lost or others', and weights whose elements stand in other places.
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kWidth = 32, kRows = 64;
constexpr float kScale = 1.f / 127;

FixedData rows() { return FixedData({ Tensor::of<float>({ kRows, kWidth }, normals(kRows * kWidth, 9)) }); }

/// x -> MatMul -> y, its weight in codes of these scales of columns; rounded to `before` before, where that is given.
Prepared oneLayer(bool codes, const std::vector<float>& scales, float before, float largest)
{
    std::vector<float> w = uniform(kWidth * kWidth, 5);
    for (size_t i = 0; i < 5; ++i)
        w[i * 200] = i % 2 == 0 ? -largest : largest; // a few large ones
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    if (codes) {
        std::vector<float> rounded = w;
        for (float& v : rounded)
            v = before > 0 ? std::nearbyint(v / before) * before : v;
        m.qdq<int16_t>("x", "x_dq", 8.f / 32767, 0)
            .weight("w", { kWidth, kWidth }, columnCodes(rounded, scales), scales, 1);
    } else {
        m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w));
    }
    return m.node("MatMul", { codes ? "x_dq" : "x", "w" }, { "y" }).output("y").finish();
}

/// A square weight in codes of 4 bits, in blocks along the axis that sums run over, as MatMulNBits has them.
struct Blocks {
    static constexpr size_t kSize = 64, kBlock = 32, kEach = kSize / kBlock;
    std::vector<uint8_t> codes; ///< by output
    std::vector<float> scales;

    explicit Blocks(const std::vector<float>& w) // [in, out]
    {
        for (size_t out = 0; out < kSize; ++out)
            for (size_t block = 0; block < kEach; ++block) {
                const auto at = [&](size_t i) { return w[(block * kBlock + i) * kSize + out]; };
                float most = 0;
                for (size_t i = 0; i < kBlock; ++i)
                    most = std::max(most, std::fabs(at(i)));
                scales.push_back(most / 7);
                for (size_t i = 0; i < kBlock; ++i)
                    codes.push_back(uint8_t(8 + (most > 0 ? std::lround(at(i) / scales.back()) : 0)));
            }
    }
    std::vector<float> values() const
    {
        std::vector<float> w(kSize * kSize);
        for (size_t i = 0; i < codes.size(); ++i)
            w[i % kSize * kSize + i / kSize] = (float(codes[i]) - 8) * scales[i / kBlock];
        return w;
    }
    /// Output `from` in place of `to`.
    void take(size_t to, const Blocks& all, size_t from)
    {
        std::copy_n(all.codes.begin() + ptrdiff_t(from * kSize), kSize, codes.begin() + ptrdiff_t(to * kSize));
        std::copy_n(all.scales.begin() + ptrdiff_t(from * kEach), kEach, scales.begin() + ptrdiff_t(to * kEach));
    }
    void exchangeHalves()
    {
        for (size_t i = 0; i < codes.size(); i += 2)
            std::swap(codes[i], codes[i + 1]);
    }
};

std::vector<float> exchangedSquare(const std::vector<float>& w)
{
    std::vector<float> turned(w.size());
    for (size_t i = 0; i < w.size(); ++i)
        turned[i % Blocks::kSize * Blocks::kSize + i / Blocks::kSize] = w[i];
    return turned;
}

/// x -> MatMul -> a -> MatMul -> y, or the same by Gemm with outputs in rows; the other file stores both in blocks.
Prepared twoSquares(const std::vector<float>& v, const std::vector<float>& w, const Blocks* first, bool gemm)
{
    constexpr auto kSize = int64_t(Blocks::kSize), kEach = int64_t(Blocks::kEach);
    SmallModel m(first ? "q" : "f");
    m.input("x", { kRows, kSize });
    if (!first && gemm) {
        m.constant("v", Tensor::of<float>({ kSize, kSize }, exchangedSquare(v)));
        m.constant("w", Tensor::of<float>({ kSize, kSize }, exchangedSquare(w)));
        m.node("Gemm", { "x", "v" }, { "a" }, { { "transB", int64_t(1) } });
        return m.node("Gemm", { "a", "w" }, { "y" }, { { "transB", int64_t(1) } }).output("y").finish();
    }
    if (!first) {
        m.constant("v", Tensor::of<float>({ kSize, kSize }, v)).constant("w", Tensor::of<float>({ kSize, kSize }, w));
        return m.node("MatMul", { "x", "v" }, { "a" }).node("MatMul", { "a", "w" }, { "y" }).output("y").finish();
    }
    const Blocks second(w);
    const auto add = [&](const std::string& in, const Blocks& b, const std::string& name, const std::string& out) {
        std::vector<uint8_t> bytes;
        for (size_t i = 0; i < b.codes.size(); i += 2)
            bytes.push_back(uint8_t(b.codes[i] | b.codes[i + 1] << 4));
        m.constant(name + "_Q4", Tensor::of<uint8_t>({ kSize, kEach, int64_t(Blocks::kBlock) / 2 }, bytes));
        m.constant(name + "_scales", Tensor::of<float>({ kSize * kEach }, b.scales));
        m.node("MatMulNBits", { in, name + "_Q4", name + "_scales" }, { out },
            { { "K", kSize }, { "N", kSize }, { "bits", int64_t(4) }, { "block_size", int64_t(Blocks::kBlock) } },
            "com.microsoft");
    };
    add("x", *first, "v", "a");
    add("a", second, "w", "y");
    return m.output("y").finish();
}

/// Weights of the first product, one output of which is small and one block of which is empty.
std::vector<float> squareWeight(bool empty)
{
    std::vector<float> v = normals(Blocks::kSize * Blocks::kSize, 21);
    for (size_t i = 0; i < Blocks::kSize; ++i)
        v[i * Blocks::kSize + 9] *= 0.2f;
    for (size_t i = 0; i < Blocks::kBlock && empty; ++i)
        v[i * Blocks::kSize + 30] = 0;
    return v;
}

/// The weight of the first product in blocks, with this fault.
Blocks faulty(const QString& fault, const std::vector<float>& v, const std::vector<float>& w)
{
    if (fault.startsWith("transposed"))
        return Blocks(exchangedSquare(v));
    if (fault == "rounded and transposed")
        return Blocks(exchangedSquare(Blocks(v).values()));
    if (fault == "another")
        return Blocks(w);
    Blocks b(v);
    const Blocks all = b;
    if (fault == "halves")
        b.exchangeHalves();
    for (size_t out = 0; fault == "rolled" && out < Blocks::kSize; ++out)
        b.take(out, all, (out + 1) % Blocks::kSize);
    if (fault == "exchanged") {
        b.take(9, all, 40);
        b.take(40, all, 9);
    }
    if (fault == "no scale")
        b.scales[11] = 0;
    if (fault == "no scales of a row")
        b.scales[22] = b.scales[23] = 0;
    if (fault == "no scales")
        std::ranges::fill(b.scales, 0.f);
    return b;
}

/// x -> MatMul -> a -> MatMul -> y; the other file stores the codes of the first weight twice, with scales of their
/// own.
Prepared tied(const std::vector<float>& w, const std::vector<float>& another, const std::vector<float>& scales,
    const std::vector<float>& ofSecond)
{
    SmallModel m(scales.empty() ? "f" : "q");
    m.input("x", { kRows, kWidth });
    const auto add
        = [&](const std::string& in, const std::string& name, const std::vector<float>& own, const std::string& out) {
              if (scales.empty())
                  m.constant(name, Tensor::of<float>({ kWidth, kWidth }, name == "v" ? w : another));
              else
                  m.weight(name, { kWidth, kWidth }, columnCodes(w, scales), own, 1);
              m.node("MatMul", { in, name }, { out });
          };
    add("x", "v", scales, "a");
    add("a", "w", ofSecond, "y");
    return m.output("y").finish();
}

/// y = x * w + `part` * x * w, the second part in float: one column of w is five times as large as the others, and has
/// one scale with them.
Prepared oneLargeColumn(bool codes, float part)
{
    std::vector<float> w = normals(int(kWidth * kWidth), 7);
    for (size_t row = 0; row < size_t(kWidth); ++row)
        w[row * size_t(kWidth)] *= 5;
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    const float scale = std::max(-std::ranges::min(w), std::ranges::max(w)) / 127;
    if (codes)
        m.weight("w", { kWidth, kWidth }, symmetricCodes(w, { scale }), { scale });
    else
        m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w));
    m.node("MatMul", { "x", "w" }, { "p" });
    for (float& v : w)
        v *= part;
    m.constant("v", Tensor::of<float>({ kWidth, kWidth }, w)).node("MatMul", { "x", "v" }, { "r" });
    return m.node("Add", { "p", "r" }, { "y" }).output("y").finish();
}

} // namespace

class WeightScalesTests : public QObject {
    Q_OBJECT
private slots:
    void oneScaleAtTheOutput_data()
    {
        QTest::addColumn<float>("part");
        QTest::addColumn<bool>("warns");
        QTest::newRow("little of the sum is left") << -0.9f << true;
        QTest::newRow("all of it") << 1.f << false;
    }
    /// Scales a channel are no mere note where the output is poor for want of them, though the weight has above 25 dB.
    void oneScaleAtTheOutput()
    {
        QFETCH(float, part);
        QFETCH(bool, warns);
        const Comparison c = compared(oneLargeColumn(false, part), oneLargeColumn(true, part), rows());
        const Finding* f = findingOf(c, Rule::ChannelImbalance);
        QVERIFY2(f, qPrintable(rulesOf(c)));
        QVERIFY(c.weights[0].similarity.sqnrDb.value_or(0) > 25);
        QCOMPARE(f->severity, warns ? Severity::Warning : Severity::Note);
    }

    void placesOfElements_data()
    {
        QTest::addColumn<bool>("broken"); // the scale, or the weight is another one
        QTest::addColumn<QString>("text");
        QTest::newRow("right") << false << "";
        QTest::newRow("right, of Gemm") << false << "";
        QTest::newRow("transposed") << false << "holds the float model's weight transposed";
        QTest::newRow("transposed, of Gemm") << false << "holds the float model's weight transposed";
        QTest::newRow("rounded and transposed") << false << "holds the float model's weight transposed";
        QTest::newRow("halves") << false << "the halves of each byte are swapped";
        QTest::newRow("rolled") << false << "another order: 0 ... 62 hold 1 ... 63, 63 holds 0";
        QTest::newRow("exchanged") << false
                                   << "columns 9, 40 of 64 (axis 1) are not the float model's, all others are rounded "
                                      "well. Of these 9 holds the float model's 40, 40 holds the float model's 9.";
        QTest::newRow("another") << false << "those of n_y (w), rounded";
        QTest::newRow("empty block") << true << "";
        QTest::newRow("no scale") << true << "1 of its 128 scales is zero, infinite or no numbers in 1 of 64 channels";
        QTest::newRow("no scales of a row")
            << true << "2 of its 128 scales are zero, infinite or no numbers in 1 of 64";
        QTest::newRow("no scales") << true << "128 of its 128 scales are zero, infinite or no numbers in 64 of 64";
    }
    /// Whose elements a weight in blocks has, and blocks whose scale is zero, are told by name.
    void placesOfElements()
    {
        QFETCH(bool, broken);
        QFETCH(QString, text);
        const QString fault = QTest::currentDataTag();
        const std::vector<float> v = squareWeight(fault == "empty block"),
                                 w = normals(Blocks::kSize * Blocks::kSize, 22);
        const Blocks first = faulty(fault, v, w);
        const FixedData data({ Tensor::of<float>({ kRows, int64_t(Blocks::kSize) }, normals(kRows * 64, 9)) });
        CompareOptions options;
        options.prove = true;
        const bool gemm = fault.endsWith("of Gemm");
        const Comparison c = compared(twoSquares(v, w, nullptr, gemm), twoSquares(v, w, &first, gemm), data, options);
        QVERIFY2(!findingOf(c, Rule::ModelsDiffer), qPrintable(rulesOf(c)));
        const Finding* f = findingOf(c, broken ? Rule::BrokenScale : Rule::WeightsDiffer);
        const Finding* other = findingOf(c, broken ? Rule::WeightsDiffer : Rule::BrokenScale);
        QVERIFY2((f != nullptr) == !text.isEmpty() && !other, qPrintable(rulesOf(c)));
        if (!f)
            return;
        QCOMPARE(f->severity, Severity::Error);
        QCOMPARE(f->tensor, std::string("v"));
        QVERIFY2(QString::fromStdString(f->summary).contains(text), f->summary.c_str());
        const bool coarse = std::ranges::any_of(
            c.findings, [&](const Finding& o) { return o.rule == Rule::WeightsTooCoarse && o.tensor == f->tensor; });
        QVERIFY2(!coarse, qPrintable(rulesOf(c)));
    }

    void rightReaders_data()
    {
        QTest::addColumn<size_t>("by"); // columns that the scales of the second reader are further
        QTest::addColumn<float>("factor");
        QTest::addColumn<QString>("title");
        const QString wrong = "n_y reads its weights with wrong scales";
        QTest::newRow("right") << size_t(0) << 1.f << "";
        QTest::newRow("rolled") << size_t(1) << 1.f << wrong;
        QTest::newRow("twice as large") << size_t(0) << 2.f << wrong;
        QTest::newRow("codes of another weight") << size_t(3) << 1.f << "n_y has other weights";
    }
    /// Codes that are right where another node reads them: neither training nor equalization, but wrong scales.
    void rightReaders()
    {
        QFETCH(size_t, by);
        QFETCH(float, factor);
        QFETCH(QString, title);
        std::vector<float> w = uniform(kWidth * kWidth, 5), scales;
        for (size_t i = 0; i < size_t(kWidth); ++i)
            scales.push_back(kScale * (1 + 0.1f * float(i)));
        for (size_t i = 0; i < w.size(); ++i)
            w[i] *= scales[i % kWidth] / kScale;
        std::vector<float> second = scales;
        std::ranges::rotate(second, second.begin() + ptrdiff_t(by));
        for (float& scale : second)
            scale *= factor;
        const bool another = title.endsWith("other weights");
        const std::vector<float> ofSecond = another ? normals(kWidth * kWidth, 8) : w;
        const Comparison c = compared(tied(w, ofSecond, {}, {}), tied(w, ofSecond, scales, second), rows());
        const Finding* f = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2((f != nullptr) == !title.isEmpty(), qPrintable(rulesOf(c)));
        if (!f)
            return;
        QCOMPARE(f->severity, Severity::Error);
        QCOMPARE(QString::fromStdString(f->title), title);
        const bool told = f->summary.find("n_a reads the same codes with other scales") != std::string::npos;
        QVERIFY2(told != another, f->summary.c_str());
    }

    void scales_data()
    {
        QTest::addColumn<float>("factor"); // of the right scale
        QTest::addColumn<float>("before"); // what was rounded to before, in right steps
        QTest::addColumn<float>("largest");
        QTest::addColumn<QString>("title");
        QTest::newRow("right") << 1.f << 0.f << 1.f << "";
        QTest::newRow("rounded twice") << 12.f << 1.f << 1.f << "The scales of the weights of n_y are too large";
        QTest::newRow("clipped a little") << 1.f << 0.f << 1.06f << "The scales of the weights of n_y are too small";
        QTest::newRow("clipped more") << 1.f << 0.f << 1.2f << "The scales of the weights of n_y are too small";
    }
    void scales()
    {
        QFETCH(float, factor);
        QFETCH(float, before);
        QFETCH(float, largest);
        QFETCH(QString, title);
        const std::vector<float> scales(size_t(kWidth), factor * kScale);
        const Comparison c
            = compared(oneLayer(false, scales, 0, largest), oneLayer(true, scales, before * kScale, largest), rows());
        QVERIFY2(!findingOf(c, Rule::WeightsDiffer), qPrintable(rulesOf(c)));
        const Finding* f = findingOf(c, Rule::WeightsTooCoarse);
        QVERIFY2((f != nullptr) == !title.isEmpty(), qPrintable(rulesOf(c)));
        if (f)
            QCOMPARE(QString::fromStdString(f->title), title);
    }

    void axes_data()
    {
        QTest::addColumn<int64_t>("axis"); // that the file says
        QTest::addColumn<bool>("told");
        QTest::newRow("right") << int64_t(0) << false;
        QTest::newRow("the other one of that length") << int64_t(1) << true;
    }
    /// A kernel with as many inputs as outputs, whose DequantizeLinear says the wrong one of them.
    void axes()
    {
        QFETCH(int64_t, axis);
        QFETCH(bool, told);
        const Shape shape { 16, 16, 3, 3 };
        std::vector<float> w = uniform(16 * 16 * 9, 5), scales;
        for (size_t c = 0; c < 16; ++c)
            scales.push_back(kScale * (0.2f + 0.1f * float(c)));
        std::vector<int8_t> codes;
        for (size_t i = 0; i < w.size(); ++i) {
            w[i] *= scales[i / 144] / kScale;
            codes.push_back(int8_t(std::nearbyint(w[i] / scales[i / 144])));
        }
        const auto model = [&](bool quantized) {
            SmallModel m(quantized ? "q" : "f");
            m.input("x", { 1, 16, 8, 8 });
            if (quantized)
                m.qdq<int8_t>("x", "x_dq", 0.04f, 0).weight("w", shape, codes, scales, axis);
            else
                m.constant("w", Tensor::of<float>(shape, w));
            return m.node("Conv", { quantized ? "x_dq" : "x", "w" }, { "y" }).output("y").finish();
        };
        const FixedData data({ Tensor::of<float>({ 1, 16, 8, 8 }, normals(1024, 9)) });
        const Comparison c = compared(model(false), model(true), data);
        const Finding* f = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2((f != nullptr) == told, qPrintable(rulesOf(c)));
        if (!f)
            return;
        QCOMPARE(f->severity, Severity::Error);
        QVERIFY2(f->summary.find("Its 16 scales belong to axis 0, the file says axis 1.") != std::string::npos,
            f->summary.c_str());
    }
};

QTEST_GUILESS_MAIN(WeightScalesTests)
#include "weight_scales_test.moc"
