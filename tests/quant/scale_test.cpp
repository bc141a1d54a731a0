// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/params/scale.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"
#include "tests/quant/runners.h"

#include <QtTest>

#include <bit>
#include <cmath>

using namespace qs;

namespace {

float fromBits(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

/// 24 weights that fill the range unevenly, 4 x 6.
Tensor someWeights()
{
    std::vector<float> w;
    for (int i = 0; i < 24; ++i)
        w.push_back(static_cast<float>((37 * i % 101) - 50) / 64);
    return Tensor::of<float>({ 4, 6 }, w);
}

} // namespace

/// Numbers that ONNX Runtime's quantization tools gave.
class ScaleTest : public QObject {
    Q_OBJECT

private slots:
    void codeRanges()
    {
        const auto range = [](DType type, bool symmetric, bool reduced) {
            const CodeRange r = targetCodes(type, symmetric, reduced);
            return std::pair(r.low, r.high);
        };
        using P = std::pair<int64_t, int64_t>;
        QCOMPARE(range(DType::UInt8, true, false), P(0, 255));
        QCOMPARE(range(DType::Int8, false, false), P(-128, 127));
        QCOMPARE(range(DType::Int8, true, false), P(-127, 127));
        QCOMPARE(range(DType::Int8, true, true), P(-64, 64));
        QCOMPARE(range(DType::UInt8, false, true), P(0, 127));
        QCOMPARE(range(DType::UInt16, false, true), P(0, 32767));
        QCOMPARE(range(DType::Int16, true, false), P(-32767, 32767));
        QCOMPARE(range(DType::Int16, true, true), P(-16384, 16384));
        QCOMPARE(range(DType::Int4, true, false), P(-8, 7));
        QCOMPARE(range(DType::Int4, false, true), P(-4, 3));
        QCOMPARE(range(DType::UInt4, false, true), P(0, 7));
    }

    void fromRange_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<bool>("symmetric");
        QTest::addColumn<float>("low");
        QTest::addColumn<float>("high");
        QTest::addColumn<int>("zero");
        QTest::addColumn<quint32>("scale");
        const auto row
            = [](const char* name, DType type, bool symmetric, float low, float high, int zero, quint32 scale) {
                  QTest::newRow(name) << int(type) << symmetric << low << high << zero << scale;
              };
        row("u8", DType::UInt8, false, -0.3f, 0.7f, 77, 0x3B808081);
        row("i8", DType::Int8, false, -0.3f, 0.7f, -51, 0x3B808081);
        row("u8 symmetric", DType::UInt8, true, -0.3f, 0.7f, 128, 0x3BB3E71A);
        row("i8 symmetric", DType::Int8, true, -0.3f, 0.7f, 0, 0x3BB49C6C);
        row("u16", DType::UInt16, false, -0.3f, 0.7f, 19661, 0x37800080);
        row("i16", DType::Int16, false, -0.3f, 0.7f, -13107, 0x37800080);
        row("u16 symmetric", DType::UInt16, true, -0.3f, 0.7f, 32768, 0x37B333E6);
        row("i16 symmetric", DType::Int16, true, -0.3f, 0.7f, 0, 0x37B33499);
        row("u8 positive", DType::UInt8, false, 0.1f, 6, 0, 0x3CC0C0C1);
        row("i8 positive symmetric", DType::Int8, true, 0.1f, 6, 0, 0x3D418306);
        row("u8 negative", DType::UInt8, false, -5.5f, -0.25f, 255, 0x3CB0B0B1);
        row("i8 negative", DType::Int8, false, -5.5f, -0.25f, 127, 0x3CB0B0B1);
        row("u8 even", DType::UInt8, false, -1, 1, 128, 0x3C008081);
        row("i8 even", DType::Int8, false, -1, 1, 0, 0x3C008081);
        row("i8 even symmetric", DType::Int8, true, -1, 1, 0, 0x3C010204);
        row("nothing", DType::UInt8, true, 0, 0, 0, 0x3F800000);
        row("below normal", DType::Int8, false, 1e-39f, 2e-39f, 0, 0x3F800000);
    }
    void fromRange()
    {
        QFETCH(int, type);
        QFETCH(bool, symmetric);
        QFETCH(float, low);
        QFETCH(float, high);
        QFETCH(int, zero);
        QFETCH(quint32, scale);
        ScaleRules rules;
        rules.type = static_cast<DType>(type);
        rules.symmetric = symmetric;
        const ScaleZero z = scaleAndZeroPoint(double(low), double(high), rules);
        QCOMPARE(z.zeroPoint, zero);
        QCOMPARE(bitsOf(z.scale), scale);
    }

    void minimumRange()
    {
        ScaleRules rules;
        rules.type = DType::UInt8;
        rules.minimumRange = 1e-4;
        const ScaleZero z = scaleAndZeroPoint(double(-1e-6f), double(1e-6f), rules);
        QCOMPARE(z.zeroPoint, 3);
        QCOMPARE(bitsOf(z.scale), 0x34D289A1u);
    }

    void restricted_data()
    {
        QTest::addColumn<float>("low");
        QTest::addColumn<float>("high");
        QTest::addColumn<int>("zero");
        QTest::addColumn<quint32>("scale");
        QTest::newRow("both signs") << -0.3f << 0.7f << 128 << quint32(0x3BB49C6C);
        QTest::newRow("negative") << -5.5f << -0.25f << 128 << quint32(0x3D300000);
        QTest::newRow("positive") << 0.1f << 6.0f << 0 << quint32(0x3CC0C0C1);
        QTest::newRow("nothing") << 0.0f << 0.0f << 0 << quint32(0x3B808081);
    }
    void restricted()
    {
        QFETCH(float, low);
        QFETCH(float, high);
        QFETCH(int, zero);
        QFETCH(quint32, scale);
        ScaleRules rules;
        rules.type = DType::UInt8;
        rules.restricted = true;
        const ScaleZero z = scaleAndZeroPoint(double(low), double(high), rules);
        QCOMPARE(z.zeroPoint, zero);
        QCOMPARE(bitsOf(z.scale), scale);
    }

    void halfPrecision()
    {
        ScaleRules rules;
        rules.type = DType::Int8;
        rules.real = DType::Float16;
        rules.symmetric = true;
        QCOMPARE(scaleAndZeroPoint(-0.007, 0.007, rules).scale, 1.0f); // a scale below float16's normal numbers
        QCOMPARE(scaleAndZeroPoint(-0.5, 0.5, rules).scale, roundedTo(DType::Float16, 1.0 / 254));
        QCOMPARE(roundedTo(DType::Float16, 1.0 + 1.0 / 2048 + 1e-12), 1.0f + 1.0f / 1024); // not rounded twice
        rules.type = DType::UInt8;
        rules.symmetric = false;
        QVERIFY(std::isfinite(scaleAndZeroPoint(-60000, 60000, rules).scale)); // the width alone exceeds float16
    }

    void weights_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<bool>("symmetric");
        QTest::addColumn<bool>("reduced");
        QTest::addColumn<int>("zero");
        QTest::addColumn<quint32>("scale");
        QTest::addColumn<QList<int>>("codes");
        QTest::newRow("i8 symmetric") << int(DType::Int8) << true << false << 0 << quint32(0x3BC99326)
                                      << QList<int> { -127, -33, 61, -102, -8, 86, -76, 18, 112, -51, 43, -119, -25, 69,
                                             -94, 0, 94, -69, 25, 119, -43, 51, -112, -18 };
        QTest::newRow("i8 symmetric reduced") << int(DType::Int8) << true << true << 0 << quint32(0x3C480000)
                                              << QList<int> { -64, -17, 31, -51, -4, 44, -38, 9, 56, -26, 22, -60, -13,
                                                     35, -47, 0, 47, -35, 13, 60, -22, 26, -56, -9 };
        QTest::newRow("i8") << int(DType::Int8) << false << false << 3 << quint32(0x3BC2C2C3)
                            << QList<int> { -128, -31, 66, -102, -5, 92, -76, 21, 119, -50, 48, -121, -23, 74, -94, 3,
                                   100, -68, 29, 127, -42, 56, -113, -15 };
        QTest::newRow("u8") << int(DType::UInt8) << false << false << 131 << quint32(0x3BC2C2C3)
                            << QList<int> { 0, 97, 194, 26, 123, 220, 52, 149, 247, 78, 176, 7, 105, 202, 34, 131, 228,
                                   60, 157, 255, 86, 184, 15, 113 };
        QTest::newRow("u8 reduced") << int(DType::UInt8) << false << true << 65 << quint32(0x3C43870E)
                                    << QList<int> { 0, 48, 96, 13, 61, 110, 26, 74, 123, 39, 87, 3, 52, 100, 17, 65,
                                           113, 30, 78, 127, 43, 91, 7, 56 };
    }
    void weights()
    {
        QFETCH(int, type);
        QFETCH(bool, symmetric);
        QFETCH(bool, reduced);
        QFETCH(int, zero);
        QFETCH(quint32, scale);
        QFETCH(QList<int>, codes);
        ScaleRules rules;
        rules.type = static_cast<DType>(type);
        rules.symmetric = symmetric;
        rules.reduced = reduced;
        const auto params = weightParams(someWeights(), rules, std::nullopt);
        QVERIFY(params.ok());
        QCOMPARE(bitsOf(params->scale.front()), scale);
        QCOMPARE(params->zeroPoint.front(), zero);
        const auto got = toInts(weightCodes(someWeights(), *params));
        QCOMPARE(QList<int>(got.begin(), got.end()), codes);
    }

    void weightsPerChannel()
    {
        ScaleRules rules;
        rules.symmetric = true;
        const auto params = weightParams(someWeights(), rules, 0);
        QVERIFY(params.ok());
        const std::vector<uint32_t> scales { 0x3BC99326, 0x3BBD7AF6, 0x3B952A55, 0x3BBD7AF6 };
        for (size_t c = 0; c < 4; ++c)
            QCOMPARE(bitsOf(params->scale[c]), scales[c]);
        const std::vector<int64_t> codes { -127, -33, 61, -102, -8, 86, -81, 19, 119, -54, 46, -127, -34, 93, -127, 0,
            127, -93, 27, 127, -46, 54, -119, -19 };
        QCOMPARE(toInts(weightCodes(someWeights(), *params)), codes);
    }

    void ties()
    {
        const Tensor x = Tensor::of<float>({ 7 }, { 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 300, -300 });
        QCOMPARE(toInts(weightCodes(x, { DType::Int8, { 1 }, { 0 }, std::nullopt, 0 })),
            (std::vector<int64_t> { 0, 2, 2, 0, -2, 127, -128 }));
        QCOMPARE(toInts(weightCodes(x, { DType::UInt8, { 1 }, { 3 }, std::nullopt, 0 })),
            (std::vector<int64_t> { 3, 5, 5, 3, 1, 255, 0 }));
        QCOMPARE(toInts(weightCodes(x, { DType::Int4, { 1 }, { 0 }, std::nullopt, 0 })),
            (std::vector<int64_t> { 0, 2, 2, 0, -2, 7, -8 }));
    }

    void fourBitsArePacked()
    {
        const Tensor x = Tensor::of<float>({ 3 }, { 1, 2, -3 });
        const Tensor codes = weightCodes(x, { DType::Int4, { 1 }, { 0 }, std::nullopt, 0 });
        QCOMPARE(codes.dtype(), DType::Int4);
        QCOMPARE(codes.byteCount(), size_t(2));
        QCOMPARE(int(codes.bytes()[0]), 0x21); // the first in the low half
        QCOMPARE(int(codes.bytes()[1]), 0x0D);
    }

    void blocks()
    {
        // Two blocks of 2 and one of 1 along the first axis, each column on its own.
        const Tensor w = Tensor::of<float>({ 5, 2 }, { 1, -2, 3, 4, -5, 6, 7, 8, 0, 0 });
        ScaleRules rules;
        rules.symmetric = true;
        const auto params = blockedWeightParams(w, rules, 0, 2);
        QVERIFY(params.ok());
        QCOMPARE(paramsShape(*params, w.shape()), (Shape { 3, 2 }));
        const std::vector<float> expected { 6.0f / 254, 8.0f / 254, 14.0f / 254, 16.0f / 254, 1, 1 };
        for (size_t i = 0; i < expected.size(); ++i)
            QCOMPARE(params->scale[i], expected[i]);
        const auto codes = toInts(weightCodes(w, *params));
        QCOMPARE(codes[2], 127); // the largest of its block
        QCOMPARE(codes[7], 127);
    }

    void biasOfLayer()
    {
        const std::vector<float> weight { 0.0061515748f };
        const auto bias = quantizeBias(Tensor::of<float>({ 3 }, { 1, -0.333f, 0.05f }), 0.023529412f, weight);
        QVERIFY(bias.ok());
        QCOMPARE(bitsOf(bias->scale.front()), 0x3917C623u);
        QCOMPARE(toInts(bias->codes), (std::vector<int64_t> { 6909, -2301, 345 }));
        QVERIFY(!bias->saturated);
    }

    void biasThatDoesNotFit()
    {
        const float tiny = fromBits(0x3057972C);
        const Tensor bias = Tensor::of<float>({ 3 }, { 5, -4.5f, 0.25f });
        QVERIFY(!quantizeBias(bias, 0.5f, std::span<const float>()).ok()); // a weight without channels
        const auto cut = quantizeBias(bias, 0.5f, std::vector<float> { tiny });
        QVERIFY(cut.ok() && cut->saturated);
        QCOMPARE(toInts(cut->codes), (std::vector<int64_t> { 2147483647, -2147483648LL, 637500000 }));

        QuantParams weight { DType::Int8, { tiny }, { 0 }, std::nullopt, 0 };
        QVERIFY(*adjustScalesForBias(weight, bias, 0.5f, DType::Float32));
        QCOMPARE(bitsOf(weight.scale.front()), 0x31A00419u);
        QCOMPARE(toInts(quantizeBias(bias, 0.5f, weight.scale)->codes),
            (std::vector<int64_t> { 2147268834, -1932541951, 107363442 }));

        QuantParams channels { DType::Int8, { tiny, 0.001f, tiny }, { 0, 0, 0 }, 0, 0 };
        QVERIFY(*adjustScalesForBias(channels, Tensor::of<float>({ 3 }, { 5, -4.5f, 0.25f }), 0.5f, DType::Float32));
        QCOMPARE(bitsOf(channels.scale[0]), 0x31A00419u);
        QCOMPARE(channels.scale[1], 0.001f);
        QCOMPARE(channels.scale[2], tiny);
        QCOMPARE(toInts(quantizeBias(bias, 0.5f, channels.scale)->codes),
            (std::vector<int64_t> { 2147268834, -9000, 637500000 }));
    }

    /// Numbers of onnxruntime.quantization 1.31.1 and 1.32.0 (compute_scale_zp).
    void smallHalves_data()
    {
        QTest::addColumn<double>("lowest");
        QTest::addColumn<double>("highest");
        QTest::addColumn<int>("older"); // float16 bits of the scale
        QTest::addColumn<int>("newer");
        QTest::addColumn<int>("zeroPoint"); // of the newer
        QTest::newRow("subnormal") << -0.001 << 0.0005 << 0x3c00 << 0x63 << 170;
        QTest::newRow("smallest") << 0.0 << 1e-5 << 0x3c00 << 0x1 << 0;
        QTest::newRow("vanishes") << 0.0 << 7e-6 << 0x3c00 << 0x3c00 << 0;
        QTest::newRow("negative") << -3e-6 << 0.0 << 0x3c00 << 0x3c00 << 0;
    }
    void smallHalves()
    {
        QFETCH(double, lowest);
        QFETCH(double, highest);
        QFETCH(int, older);
        QFETCH(int, newer);
        QFETCH(int, zeroPoint);
        ScaleRules rules;
        rules.type = DType::UInt8;
        rules.real = DType::Float16;
        const auto found
            = [&] { return scaleAndZeroPoint(roundedTo(rules.real, lowest), roundedTo(rules.real, highest), rules); };
        QCOMPARE(int(floatToFloat16(found().scale)), older);
        rules.subnormalHalves = true;
        QCOMPARE(int(floatToFloat16(found().scale)), newer);
        QCOMPARE(found().zeroPoint, zeroPoint);
    }

    /// Numbers of onnxruntime.quantization 1.32.0.
    void biasesOfHalves()
    {
        const auto half = [](std::vector<float> values) {
            const auto count = static_cast<int64_t>(values.size());
            return realTensor(DType::Float16, { count }, values);
        };
        const BiasRules wide { .noneForBetaZero = true, .wideScales = true };
        const float tiny = roundedTo(DType::Float16, 6e-8), small = roundedTo(DType::Float16, 1e-3);
        const Tensor bias = half({ 300, -2, roundedTo(DType::Float16, 0.001) });
        const auto one = quantizeBias(bias, 0.5f, std::vector<float> { tiny }, wide);
        QVERIFY(one.ok() && one->real == DType::Float32 && !one->saturated);
        QCOMPARE(bitsOf(one->scale.front()), 0x341603D7u);
        QCOMPARE(toInts(one->codes), (std::vector<int64_t> { 2147268930, -14315126, 7160 }));
        const auto each = quantizeBias(half({ 300, -2, 0 }), 0.5f, std::vector<float> { tiny, small, tiny }, wide);
        QVERIFY(each.ok() && each->real == DType::Float32);
        QCOMPARE(bitsOf(each->scale[1]), 0x3A032000u);
        QCOMPARE(bitsOf(each->scale[2]), 0x33000000u);
        QCOMPARE(toInts(each->codes), (std::vector<int64_t> { 2147268930, -3998, 0 }));
        // What fits stays float16, as before.
        const auto fits = quantizeBias(bias, 0.5f, std::vector<float> { small }, wide);
        QVERIFY(fits.ok() && fits->real == DType::Float16);
        QCOMPARE(fits->scale, quantizeBias(bias, 0.5f, std::vector<float> { small })->scale);
        const auto none
            = quantizeBias(bias, 0.5f, std::vector<float> { small }, { .beta = 0, .noneForBetaZero = true });
        QCOMPARE(toInts(none->codes), (std::vector<int64_t> { 0, 0, 0 }));
        QVERIFY(none->scale.front() > 0);
    }

    /// A float16 scale that is rounded down may be too small for the bias again.
    void scalesOfHalvesAreRoundedUp()
    {
        const Tensor bias = realTensor(DType::Float16, { 1 }, std::vector<float> { 200 });
        const float tiny = roundedTo(DType::Float16, 6e-8), input = roundedTo(DType::Float16, 0.3);
        for (const bool upwards : { false, true }) {
            QuantParams weight { DType::Int8, { tiny }, { 0 }, std::nullopt, 0 };
            QVERIFY(*adjustScalesForBias(weight, bias, input, DType::Float16, upwards));
            const double needed = 1.0001 * 400 / 4294967294.0 / double(input);
            QCOMPARE(double(weight.scale.front()) >= needed, upwards);
        }
    }

    void refusals()
    {
        ScaleRules rules;
        QVERIFY(!weightParams(Tensor::of<float>({ 2 }, { 1, NAN }), rules, std::nullopt).ok());
        QVERIFY(!weightParams(Tensor::of<float>({ 2 }, { 1, INFINITY }), rules, std::nullopt).ok());
        // No element, but axes without an end.
        for (const Shape& shape : { Shape { 0, int64_t(1) << 62 }, Shape { int64_t(1) << 62, 0 } })
            for (const int64_t axis : { 0, 1 })
                QVERIFY(!weightParams(Tensor::of<float>(shape, std::vector<float> {}), rules, axis).ok());
        QVERIFY(!quantizeBias(Tensor::of<float>({ 2 }, { 1, 2 }), 1, std::vector<float> { 1, 2, 3 }).ok());
        QuantParams weight { DType::Int8, { 1, 1, 1 }, { 0, 0, 0 }, 0, 0 };
        QVERIFY(!adjustScalesForBias(weight, Tensor::of<float>({ 2 }, { 1, 2 }), 1, DType::Float32).ok());
        QCOMPARE(
            weightParams(Tensor::of<float>({ 0 }, std::vector<float> {}), rules, std::nullopt)->scale.front(), 1.0f);
    }
};

int runScaleTests(int argc, char** argv)
{
    ScaleTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "scale_test.moc"
