// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/code_data.h"
#include "tests/kernels/runners.h"

#include "core/kernels/codes/code_conv.h"

#include <QTest>

using namespace qs;
using test::RandomData;

namespace {

/// Sizes around the widths of vectors, tiles and blocks of channels.
int64_t someChannels(RandomData& random)
{
    static constexpr int64_t kEdges[] { 1, 3, 4, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 96, 130 };
    return random.integer(0, 2) ? kEdges[random.integer(0, 15)] : random.integer(1, 80);
}

IntegerConv randomConv(RandomData& random)
{
    IntegerConv c;
    c.batch = random.integer(1, 2);
    switch (random.integer(0, 3)) {
    case 0: // depthwise
        c.groups = c.inChannels = c.outChannels = 1 + someChannels(random);
        break;
    case 1:
        c.groups = random.integer(2, 4);
        c.inChannels = c.groups * random.integer(1, 9);
        c.outChannels = c.groups * random.integer(1, 20);
        break;
    default:
        c.inChannels = someChannels(random);
        c.outChannels = someChannels(random);
    }
    const bool pointwise = random.integer(0, 3) == 0, three = random.integer(0, 1) != 0;
    for (size_t d = three ? 1 : static_cast<size_t>(random.integer(0, 2)); d < 3; ++d) {
        c.kernel[d] = pointwise ? 1 : three ? 3 : random.integer(1, 5);
        c.dilation[d] = random.integer(0, 2) ? 1 : 2;
        c.stride[d] = random.integer(0, 1) ? 1 : random.integer(1, 3);
        c.pad[d] = pointwise ? 0 : random.integer(0, 2);
        const int64_t reach = (c.kernel[d] - 1) * c.dilation[d] + 1, padEnd = random.integer(0, 2);
        c.in[d] = random.integer(reach, reach + 6);
        c.out[d] = (c.in[d] + c.pad[d] + padEnd - reach) / c.stride[d] + 1;
    }
    return c;
}

/// A convolution with data and what the reference makes of it, positions before channels.
struct Case {
    explicit Case(uint32_t seed)
        : random(seed)
        , conv(randomConv(random))
        , xSigned(random.integer(0, 1))
        , wSigned(random.integer(0, 2))
        , outSigned(random.integer(0, 1))
        , x(test::codes(random, conv.batch * conv.inChannels * conv.inPositions()))
        , w(test::codes(random, conv.outChannels * (conv.inChannels / conv.groups) * conv.taps()))
        , xZero(test::zeroPoint(random, xSigned))
        , bias(random.integers<int32_t>(random.integer(0, 1) ? conv.outChannels : 0, -30000, 30000))
        , multiplier(test::multipliers(random, conv.outChannels))
    {
        if (random.integer(0, 2) == 0)
            wZero = test::zeroPoints(random, wSigned, conv.outChannels);
        else if (!wSigned)
            wZero = { 128 };
        const int64_t positions = conv.outPositions(), channels = conv.outChannels;
        std::vector<int32_t> planes(size_t(conv.batch * channels * positions));
        integerConvReference(conv, { x.data(), xSigned }, xZero, { w.data(), wSigned }, wZero, planes.data());
        sums.resize(planes.size());
        for (int64_t b = 0; b < conv.batch; ++b)
            for (int64_t m = 0; m < channels; ++m)
                for (int64_t p = 0; p < positions; ++p)
                    sums[size_t((b * positions + p) * channels + m)]
                        = planes[size_t((b * channels + m) * positions + p)];
        requantization
            = { multiplier, bias, test::zeroPoint(random, outSigned), outSigned ? -128 : 0, outSigned ? 127 : 255 };
        out.resize(sums.size());
        requantizeReference(sums.data(), conv.batch * positions, channels, requantization, out.data());
    }
    std::string text() const
    {
        std::string s = "channels " + std::to_string(conv.inChannels) + " -> " + std::to_string(conv.outChannels)
            + " in " + std::to_string(conv.groups) + " groups, kernel/stride/dilation/pad/in";
        for (size_t d = 0; d < 3; ++d)
            for (int64_t v : { conv.kernel[d], conv.stride[d], conv.dilation[d], conv.pad[d], conv.in[d] })
                s += " " + std::to_string(v);
        return s;
    }

    RandomData random;
    IntegerConv conv;
    bool xSigned, wSigned, outSigned;
    std::vector<uint8_t> x, w;
    int32_t xZero;
    std::vector<int32_t> wZero, bias;
    std::vector<float> multiplier;
    Requantization requantization;
    std::vector<int32_t> sums;
    std::vector<uint8_t> out;
};

std::vector<uint8_t> channelsLast(const Case& t)
{
    const int64_t channels = t.conv.inChannels, positions = t.conv.inPositions();
    std::vector<uint8_t> y(t.x.size());
    for (int64_t b = 0; b < t.conv.batch; ++b)
        for (int64_t c = 0; c < channels; ++c)
            for (int64_t p = 0; p < positions; ++p)
                y[size_t((b * positions + p) * channels + c)] = t.x[size_t((b * channels + c) * positions + p)];
    return y;
}

} // namespace

class CodeConvTests : public QObject {
    Q_OBJECT
private slots:
    void equalsReference_data();
    void equalsReference();
    void noChannels();
};

void CodeConvTests::equalsReference_data() { test::addProductSeeds(300); }

void CodeConvTests::equalsReference()
{
    QFETCH(int, seed);
    QFETCH(bool, dots);
    const Case t { uint32_t(seed) };
    const IntegerConv& c = t.conv;
    const auto weights = std::make_shared<CodeConvWeights>(
        packCodeConv(c, { t.w.data(), t.wSigned }, t.wZero, dots ? CodeProducts::Best : CodeProducts::Pairs));
    const CodeConv ready(weights, t.xSigned, t.xZero, t.requantization);
    const auto x = channelsLast(t);
    const auto scratch = test::scratchMemory(static_cast<size_t>(ready.scratchBytes(c)));
    std::vector<int32_t> sums(t.sums.size());
    std::vector<uint8_t> out(t.out.size());
    for (int64_t b = 0; b < c.batch; ++b) {
        const uint8_t* image = x.data() + b * c.inChannels * c.inPositions();
        const int64_t at = b * c.outPositions(), half = c.outPositions() / 2; // two pieces, as threads take them
        for (const auto& [first, count] :
            { std::pair { int64_t(0), half }, std::pair { half, c.outPositions() - half } }) {
            const int64_t to = (at + first) * c.outChannels;
            ready.sums(c, image, first, count, scratch.get(), sums.data() + to);
            ready.codes(c, image, first, count, scratch.get(), out.data() + to);
        }
    }
    QVERIFY2(sums == t.sums, t.text().c_str());
    QVERIFY2(out == t.out, t.text().c_str());
}

/// Every sum is 0.
void CodeConvTests::noChannels()
{
    IntegerConv c;
    c.inChannels = 0;
    c.outChannels = 3;
    c.in = c.out = { 1, 4, 5 };
    c.kernel = { 1, 3, 3 };
    c.pad = { 0, 1, 1 };
    const std::vector<float> multiplier { 0.5f };
    const std::vector<int32_t> bias { 4, -2, 0 };
    const uint8_t none = 0;
    for (const CodeProducts products : { CodeProducts::Best, CodeProducts::Pairs }) {
        const auto weights
            = std::make_shared<CodeConvWeights>(packCodeConv(c, { &none, true }, std::vector<int32_t> {}, products));
        const CodeConv ready(weights, false, 3, { multiplier, bias, 10, 0, 255 });
        const auto scratch = test::scratchMemory(static_cast<size_t>(ready.scratchBytes(c)));
        std::vector<uint8_t> out(size_t(c.outPositions() * c.outChannels));
        ready.codes(c, &none, 0, c.outPositions(), scratch.get(), out.data());
        for (size_t i = 0; i < out.size(); i += 3)
            QCOMPARE(std::vector(out.begin() + ptrdiff_t(i), out.begin() + ptrdiff_t(i) + 3),
                (std::vector<uint8_t> { 12, 9, 10 }));
    }
}

int runCodeConvTests(int argc, char** argv)
{
    CodeConvTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "code_conv_test.moc"
