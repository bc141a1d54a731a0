// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/net.h"

#include "core/engine/lowered/channel_block.h"
#include "core/graph/domains.h"
#include "core/kernels/convolution/blocked_filter.h"
#include "tests/support/tensors.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

/// Filters x channels x kernel in blocks, by the definition: output block, input block, kernel, input, output.
Tensor blocked(const Tensor& filter, int64_t block, bool blockedInput)
{
    const int64_t filters = filter.dim(0), channels = filter.dim(1);
    const int64_t taps = filter.count() / std::max<int64_t>(filters * channels, 1), inner = blockedInput ? block : 1;
    std::vector<float> out;
    for (int64_t o = 0; o < filters; o += block)
        for (int64_t i = 0; i < channels; i += inner)
            for (int64_t t = 0; t < taps; ++t)
                for (int64_t bi = 0; bi < inner; ++bi)
                    for (int64_t bo = 0; bo < block; ++bo)
                        out.push_back(filter.data<float>()[size_t(((o + bo) * channels + i + bi) * taps + t)]);
    return Tensor::of<float>(filter.shape(), out);
}

/// Filters of very different sizes, as trained ones are.
Tensor unevenFilter(std::mt19937& random, const Shape& shape)
{
    std::normal_distribution<float> exponent;
    const Tensor even = normalFloats(random, shape);
    std::vector<float> out = toFloats(even);
    const size_t one = out.size() / size_t(shape[0]);
    for (size_t o = 0; o < size_t(shape[0]); ++o) {
        const float scale = std::exp(2 * exponent(random)); // so much that the elements tell on every CPU
        for (size_t i = 0; i < one; ++i)
            out[o * one + i] *= scale;
    }
    return Tensor::of<float>(shape, out);
}

const std::vector<std::pair<std::string, AttributeValue>> kConvAttributes {
    { "pads", std::vector<int64_t> { 1, 0, 1, 2 } },
    { "strides", std::vector<int64_t> { 1, 2 } },
    { "activation", std::string("LeakyRelu") },
    { "activation_params", std::vector<float> { 0.125f } },
};

} // namespace

class NchwcTests : public QObject {
    Q_OBJECT

private slots:
    void convolves_data();
    void convolves();
    void reorders();
    void poolsAndUpsamples();
    void findsBlocksBySizes();
    void findsBlocksByElements();
    void refuses();
};

void NchwcTests::convolves_data()
{
    QTest::addColumn<int>("block");
    QTest::addColumn<int>("channels"); // of one filter
    QTest::addColumn<int>("groups");
    QTest::addColumn<bool>("blockedInput");
    for (const int block : { 8, 16 }) {
        QTest::addRow("%d, image channel by channel", block) << block << 3 << 1 << false;
        QTest::addRow("%d, in blocks", block) << block << 2 * block << 1 << true;
        QTest::addRow("%d, each channel apart", block) << block << 1 << 3 * block << false;
        QTest::addRow("%d, in two groups", block) << block << block << 2 << true;
    }
}

void NchwcTests::convolves()
{
    QFETCH(int, block);
    QFETCH(int, channels);
    QFETCH(int, groups);
    QFETCH(bool, blockedInput);
    std::mt19937 random(7);
    // An odd number of blocks, so that 16 is ruled out by the sizes where the block is 8; else the elements tell.
    const int64_t filters = groups == 2 ? 6 * block : 3 * block;
    const Tensor filter = unevenFilter(random, { filters, channels, 3, 2 });
    const Tensor bias = normalFloats(random, { filters });
    const Tensor x = normalFloats(random, { 2, int64_t(channels) * groups, 5, 7 });
    const Tensor sum = normalFloats(random, { 2, filters, 5, 4 });
    auto attributes = kConvAttributes;
    attributes.emplace_back("group", int64_t(groups));
    const auto net = [&](const Tensor& weights, const char* domain, const char* type) {
        return Net()
            .input("x", DType::Float32)
            .input("z", DType::Float32)
            .constant("w", weights)
            .constant("b", bias)
            .domain(domain)
            .op(type, { "x", "w", "b", "z" }, { "y" }, attributes)
            .output("y")
            .plan();
    };
    const auto plan = net(blocked(filter, block, blockedInput), kNchwcDomain, "Conv");
    QCOMPARE(channelBlockOf(plan->graph()), int64_t(block));
    const auto made = runNet(plan, { x, sum });
    const auto expected = runNet(net(filter, kMicrosoftDomain, "FusedConv"), { x, sum });
    QVERIFY2(made.ok() && expected.ok(), made.ok() ? "" : made.issue().what.c_str());
    QCOMPARE(numbers(made), numbers(expected));
}

/// Channels are filled up with zeros, and taken away again.
void NchwcTests::reorders()
{
    std::mt19937 random(3);
    for (const int64_t last : { 0, 1 }) {
        const Tensor x = normalFloats(random, last ? Shape { 2, 3, 4, 20 } : Shape { 2, 20, 3, 4 });
        const auto plan = Net()
                              .input("x", DType::Float32)
                              .domain(kNchwcDomain)
                              .op("ReorderInput", { "x" }, { "blocks" }, { { "channels_last", last } })
                              .op("ReorderOutput", { "blocks" }, { "y" },
                                  { { "channels", int64_t(20) }, { "channels_last", last } })
                              .output("blocks")
                              .output("y")
                              .plan();
        const auto made = runNet(plan, { x });
        QVERIFY(made.ok());
        const int64_t block = nativeChannelBlock(); // nothing in this graph tells
        QCOMPARE((*made)[0].shape(), (Shape { 2, (20 + block - 1) / block * block, 3, 4 }));
        QCOMPARE((*made)[1].shape(), x.shape());
        QCOMPARE(numbers(made, 1), toFloats(x));
        QCOMPARE(numbers(made, 0).back(), 0.0f);
    }
}

void NchwcTests::poolsAndUpsamples()
{
    std::mt19937 random(5);
    const Tensor x = normalFloats(random, { 1, 16, 6, 5 });
    const std::vector<std::pair<std::string, AttributeValue>> window {
        { "kernel_shape", std::vector<int64_t> { 3, 2 } },
        { "pads", std::vector<int64_t> { 1, 0, 1, 1 } },
        { "strides", std::vector<int64_t> { 2, 1 } },
        { "ceil_mode", int64_t(1) },
    };
    for (const char* pool : { "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool" }) {
        const auto with = [&](const char* domain) {
            Net net;
            net.input("x", DType::Float32).opset(domain == std::string(kNchwcDomain) ? 1 : 21).domain(domain);
            net.op(pool, { "x" }, { "y" }, std::string(pool).starts_with("Global") ? decltype(window) {} : window);
            return runNet(net.output("y").plan(), { x });
        };
        const auto made = with(kNchwcDomain), expected = with("");
        QVERIFY2(made.ok() && expected.ok(), pool);
        QCOMPARE((*made)[0].shape(), (*expected)[0].shape());
        QCOMPARE(numbers(made), numbers(expected));
    }
    const auto larger
        = runNet(Net()
                     .input("x", DType::Float32)
                     .domain(kNchwcDomain)
                     .op("Upsample", { "x" }, { "y" }, { { "scales", std::vector<int64_t> { 1, 1, 2, 3 } } })
                     .output("y")
                     .plan(),
            { x });
    QVERIFY(larger.ok());
    QCOMPARE((*larger)[0].shape(), (Shape { 1, 16, 12, 15 }));
    QCOMPARE(numbers(larger)[16], toFloats(x)[0]);
    QCOMPARE(numbers(larger)[18], toFloats(x)[1]);
}

void NchwcTests::findsBlocksBySizes()
{
    QCOMPARE(
        channelBlockOf(*Net().input("x", DType::Float32).op("Relu", { "x" }, { "y" }).output("y").graph()), int64_t(0));
    // 32 filters for 20 channels: 24 would do in blocks of 8.
    const auto graph = Net()
                           .input("x", DType::Float32)
                           .constant("w", Tensor::of<float>({ 32, 1, 1, 1 }, std::vector<float>(32, 1)))
                           .domain(kNchwcDomain)
                           .op("Conv", { "x", "w" }, { "h" })
                           .op("ReorderOutput", { "h" }, { "y" }, { { "channels", int64_t(20) } })
                           .output("y")
                           .graph();
    QCOMPARE(channelBlockOf(*graph), int64_t(16));
}

void NchwcTests::findsBlocksByElements()
{
    std::mt19937 random(11);
    const Tensor uneven = unevenFilter(random, { 32, 16, 3, 3 }), even = normalFloats(random, { 32, 16, 3, 3 });
    const auto found = [&](const Tensor& filter) {
        return channelBlockOf(*Net()
                                   .input("x", DType::Float32)
                                   .constant("w", filter)
                                   .domain(kNchwcDomain)
                                   .op("Conv", { "x", "w" }, { "y" })
                                   .output("y")
                                   .graph());
    };
    QCOMPARE(found(blocked(uneven, 8, true)), int64_t(8));
    QCOMPARE(found(blocked(uneven, 16, true)), int64_t(16));
    QCOMPARE(found(even), nativeChannelBlock());
}

void NchwcTests::refuses()
{
    const Tensor x = Tensor::of<float>({ 1, 3, 4, 4 }, std::vector<float>(48, 1));
    const auto plan = Net()
                          .input("x", DType::Float32)
                          .constant("w", Tensor::of<float>({ 12, 3, 1, 1 }, std::vector<float>(36, 1)))
                          .domain(kNchwcDomain)
                          .op("Conv", { "x", "w" }, { "y" })
                          .output("y")
                          .plan();
    QCOMPARE(plan->unsupported().size(), size_t(1));
    QVERIFY(plan->unsupported()[0].second.what.find("does not fill blocks of 8 channels") != std::string::npos);
    const auto cut = runNet(Net()
                                .input("x", DType::Float32)
                                .domain(kNchwcDomain)
                                .op("ReorderOutput", { "x" }, { "y" }, { { "channels", int64_t(4) } })
                                .output("y")
                                .plan(),
        { x });
    QVERIFY(!cut.ok());
}

int runNchwcTests(int argc, char** argv)
{
    NchwcTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "nchwc_test.moc"
