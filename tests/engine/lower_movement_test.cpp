// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/convert.h"
#include "tests/engine/node_case.h"

#include <QTest>

#include <algorithm>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

Tensor ints(const std::vector<int64_t>& v) { return Tensor::of<int64_t>({ int64_t(v.size()) }, v); }

Tensor floats(const std::vector<float>& v) { return Tensor::of<float>({ int64_t(v.size()) }, v); }

Tensor codes(std::mt19937& random, DType type, Shape shape)
{
    Tensor t = Tensor::allocate(type, std::move(shape));
    for (uint8_t& v : t.fill<uint8_t>())
        v = static_cast<uint8_t>(random());
    return t;
}

/// A QLinearConv with everything odd: asymmetric pads, groups, a scale for each channel.
NodeCase oddConv(std::mt19937& random)
{
    NodeCase c = makeCase("QLinearConv",
        { codes(random, DType::UInt8, { 2, 6, 7, 5 }), Tensor::scalar(0.02f), Tensor::scalar(uint8_t(255)),
            codes(random, DType::Int8, { 4, 3, 3, 2 }), Tensor::of<float>({ 4 }, { 0.01f, 0.02f, 0.03f, 0.005f }),
            Tensor::of<int8_t>({ 4 }, { 0, 1, -128, 127 }), Tensor::scalar(0.7f), Tensor::scalar(uint8_t(3)),
            Tensor::of<int32_t>({ 4 }, { 1000, -2000, 0, 7 }) });
    c.node.attributes.set("group", int64_t(2));
    c.node.attributes.set("pads", std::vector<int64_t> { 0, 1, 2, 0 });
    c.node.attributes.set("strides", std::vector<int64_t> { 2, 1 });
    return c;
}

} // namespace

class LowerMovementTests : public QObject {
    Q_OBJECT
private slots:
    void movesStrings();
    void reducesStrings();
    void movesPackedCodes();
    void padsStringsAndNumbers();
    void concatKeepsChannelsLast();
    void refusesBadInput();
    void resizesCodes();
    void resizesPixels_data();
    void resizesPixels();
    void convolvesAlike();
    void convolvesChannelsLast();
    void unroundedIsBeforeRounding();
    void productsAlike();
};

void LowerMovementTests::movesStrings()
{
    const Tensor words = Tensor::strings({ 2, 2 }, { "a", "b", "c", "d" });
    NodeCase transpose = makeCase("Transpose", { words });
    QCOMPARE(run(transpose)->outputs[0].stringData(), (std::vector<std::string> { "a", "c", "b", "d" }));
    NodeCase concat = makeCase("Concat", { words, words });
    concat.node.attributes.set("axis", int64_t(1));
    QCOMPARE(
        run(concat)->outputs[0].stringData(), (std::vector<std::string> { "a", "b", "a", "b", "c", "d", "c", "d" }));
    NodeCase reshape = makeCase("Reshape", { words, ints({ -1 }) });
    QCOMPARE(run(reshape)->outputs[0].shape(), Shape { 4 });
    QCOMPARE(run(reshape)->outputs[0].stringData().size(), size_t(4));
}

void LowerMovementTests::reducesStrings()
{
    const Tensor words = Tensor::strings({ 3 }, { "b", "d", "f" }), more = Tensor::strings({ 3 }, { "x", "c", "g" });
    const auto scattered = [&](const char* type, const Tensor& places, const char* reduction) {
        return run(with(makeCase(type, { words, places, more }), "reduction", std::string(reduction)));
    };
    const Tensor rows = Tensor::of<int64_t>({ 3, 1 }, { 0, 0, -1 });
    QCOMPARE(scattered("ScatterElements", ints({ 0, 0, -1 }), "add")->outputs[0].stringData(),
        (std::vector<std::string> { "bxc", "d", "fg" }));
    QCOMPARE(
        scattered("ScatterND", rows, "max")->outputs[0].stringData(), (std::vector<std::string> { "x", "d", "g" }));
    QCOMPARE(
        scattered("ScatterND", rows, "min")->outputs[0].stringData(), (std::vector<std::string> { "b", "d", "f" }));
    QVERIFY(!scattered("ScatterND", rows, "mul").ok());
}

void LowerMovementTests::movesPackedCodes()
{
    const Tensor bytes = Tensor::of<int8_t>({ 2, 3 }, { 1, -2, 3, -8, 7, 0 });
    const Tensor packed = packedAs(bytes, DType::Int4);
    const NodeOutcome turned = *run(makeCase("Transpose", { packed }));
    QCOMPARE(turned.outputs[0].dtype(), DType::Int4);
    QCOMPARE(toInts(turned.outputs[0]), (std::vector<int64_t> { 1, -8, -2, 7, 3, 0 }));
    const NodeOutcome flat = *run(makeCase("Reshape", { packed, ints({ 6 }) }));
    QCOMPARE(flat.outputs[0].bytes().data(), packed.bytes().data()); // a view
}

void LowerMovementTests::padsStringsAndNumbers()
{
    const Tensor word = Tensor::strings({ 1 }, { "x" });
    QCOMPARE(run(makeCase("Pad", { word, ints({ 1, 1 }), Tensor::strings({}, { "-" }) }))->outputs[0].stringData(),
        (std::vector<std::string> { "-", "x", "-" }));
    QCOMPARE(run(makeCase("Pad", { word, ints({ 0, 1 }) }))->outputs[0].stringData(),
        (std::vector<std::string> { "x", "" }));
    NodeCase wrap = makeCase("Pad", { Tensor::of<float>({ 3 }, { 1, 2, 3 }), ints({ 4, -1 }) });
    wrap.node.attributes.set("mode", std::string("wrap"));
    QCOMPARE(toFloats(run(wrap)->outputs[0]), (std::vector<float> { 3, 1, 2, 3, 1, 2 }));
}

void LowerMovementTests::concatKeepsChannelsLast()
{
    std::mt19937 random(7);
    const Tensor a = codes(random, DType::UInt8, { 2, 3, 4, 5 }), b = codes(random, DType::UInt8, { 2, 1, 4, 5 });
    NodeCase plain = makeCase("Concat", { a, b });
    plain.node.attributes.set("axis", int64_t(1));
    NodeCase last = plain;
    last.inputs = { toLayout(a, Layout::ChannelsLast), toLayout(b, Layout::ChannelsLast) };
    NodeCase mixed = plain;
    mixed.inputs[1] = toLayout(b, Layout::ChannelsLast);
    const Tensor expected = run(plain)->outputs[0];
    QCOMPARE(run(last)->outputs[0].layout(), Layout::ChannelsLast);
    QCOMPARE(toInts(run(last)->outputs[0]), toInts(expected));
    QCOMPARE(toInts(run(mixed)->outputs[0]), toInts(expected));
    QCOMPARE(toInts(run(plain, KernelMode::Reference)->outputs[0]), toInts(expected));
}

void LowerMovementTests::refusesBadInput()
{
    const Tensor x = Tensor::of<float>({ 2, 2 }, { 1, 2, 3, 4 });
    QVERIFY(!run(makeCase("Reshape", { x, ints({ 3, 2 }) })).ok());
    QVERIFY(!run(makeCase("Reshape", { x, ints({ INT64_MAX, INT64_MAX }) })).ok());
    QVERIFY(!run(makeCase("Expand", { x, ints({ int64_t(1) << 40, 2, 2 }) })).ok());
    QVERIFY(!run(makeCase("Gather", { x, ints({ 2 }) })).ok());
    QVERIFY(!run(makeCase("Pad", { x, ints({ INT64_MAX, 0, INT64_MAX, 0 }) })).ok());
    QVERIFY(!run(makeCase("Slice", { x, ints({ 0 }), ints({ 1 }), ints({ 5 }) })).ok());
    QVERIFY(!run(makeCase("Tile", { x, ints({ -1, 2 }) })).ok());
    QVERIFY(!run(makeCase("Concat", { x, Tensor::of<float>({ 3 }, { 1, 2, 3 }) })).ok());
    QVERIFY(!run(makeCase("ScatterND", { x, Tensor::of<int64_t>({ 1, 1 }, { 9 }), x })).ok());
    QVERIFY(!run(makeCase("TopK", { x, ints({ 3 }) })).ok());
    QVERIFY(!run(makeCase("Resize", { x, Tensor(), Tensor::of<float>({ 2 }, { 1e30f, 1 }) })).ok());
    const Tensor pixel = Tensor::of<float>({ 1, 1, 1, 1 }, { 1 }),
                 huge = Tensor::of<float>({ 4 }, { 1, 1, 2e9f, 2e9f });
    QVERIFY(!run(makeCase("Resize", { toLayout(pixel, Layout::ChannelsLast), Tensor(), huge })).ok());
    QVERIFY(!run(makeCase("MatMulInteger", { x, x })).ok());
    const auto mixed = run(makeCase("MatMul", { x, Tensor::allocate(DType::Float16, { 2, 2 }) }));
    QVERIFY(!mixed.ok());
    QCOMPARE(mixed.issue().what, std::string("its factors have different element types, float32 and float16"));
}

void LowerMovementTests::resizesCodes()
{
    const Tensor x = Tensor::of<uint8_t>({ 1, 1, 1, 2 }, { 10, 250 });
    const Tensor scales = Tensor::of<float>({ 4 }, { 1, 1, 1, 2 });
    QCOMPARE(toInts(run(makeCase("Resize", { x, Tensor(), scales }))->outputs[0]),
        (std::vector<int64_t> { 10, 10, 250, 250 }));
    NodeCase linear = makeCase("Resize", { x, Tensor(), scales });
    linear.node.attributes.set("mode", std::string("linear"));
    QCOMPARE(toInts(run(linear)->outputs[0]), (std::vector<int64_t> { 10, 70, 190, 250 }));
}

void LowerMovementTests::resizesPixels_data()
{
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("channels");
    for (const DType type : { DType::Int8, DType::Float16, DType::Float32, DType::Float64 })
        for (int channels = 1; channels * int(dtypeBits(type)) / 8 <= 32; ++channels)
            QTest::addRow("%d channels of %s", channels, dtypeName(type).data()) << int(type) << channels;
}

/// Channels-last images, whose pixels have any number of bytes, as plain ones by the reference.
void LowerMovementTests::resizesPixels()
{
    QFETCH(int, type);
    QFETCH(int, channels);
    std::mt19937 random(static_cast<unsigned>(channels));
    const Shape sizes { 5, 3, 4 };
    const std::vector<float> factors { 2, 0.7f, 1.5f };
    for (size_t axes = 1; axes <= sizes.size(); ++axes)
        for (const char* coordinates : { "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                 "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize" })
            for (const char* rounding : { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil" }) {
                Shape shape { 2, channels };
                std::vector<float> scales { 1, 1 }, roi(2 * (axes + 2), 1);
                shape.insert(shape.end(), sizes.begin(), sizes.begin() + std::ptrdiff_t(axes));
                scales.insert(scales.end(), factors.begin(), factors.begin() + std::ptrdiff_t(axes));
                std::fill_n(roi.begin(), axes + 2, 0.0f);
                Tensor x = Tensor::allocate(DType(type), shape);
                for (std::byte& b : x.fill<std::byte>())
                    b = static_cast<std::byte>(random());
                NodeCase resize = with(with(makeCase("Resize", { x, floats(roi), floats(scales) }),
                                           "coordinate_transformation_mode", std::string(coordinates)),
                    "nearest_mode", std::string(rounding));
                const Tensor expected = run(resize, KernelMode::Reference)->outputs[0];
                resize.inputs[0] = toLayout(resize.inputs[0], Layout::ChannelsLast);
                const Tensor y = run(resize)->outputs[0];
                QCOMPARE(y.layout(), Layout::ChannelsLast);
                QVERIFY(std::ranges::equal(toPlain(y).bytes(), expected.bytes()));
            }
}

void LowerMovementTests::convolvesAlike()
{
    std::mt19937 random(11);
    const NodeCase c = oddConv(random);
    const NodeOutcome reference = *run(c, KernelMode::Reference);
    QCOMPARE(reference.outputs[0].shape(), (Shape { 2, 4, 4, 5 }));
    for (const Weights weights : { Weights::Constant, Weights::Data }) {
        const NodeOutcome fast = *run(c, KernelMode::Fast, weights);
        QCOMPARE(toInts(fast.outputs[0]), toInts(reference.outputs[0]));
        QCOMPARE(toFloats(fast.unrounded), toFloats(reference.unrounded));
    }
}

void LowerMovementTests::convolvesChannelsLast()
{
    std::mt19937 random(13);
    NodeCase c = oddConv(random);
    const auto expected = toInts(run(c)->outputs[0]);
    c.inputs[0] = toLayout(c.inputs[0], Layout::ChannelsLast);
    QCOMPARE(toInts(run(c)->outputs[0]), expected);
    QCOMPARE(toInts(run(c, KernelMode::Reference)->outputs[0]), expected);
}

void LowerMovementTests::unroundedIsBeforeRounding()
{
    // One product: (3 - 1) * (5 - 2) = 6, + bias 4 = 10, times 0.5 * 0.25 = 1.25; 1.25 / 0.5 = 2.5 -> 2, + 7.
    const NodeCase c = makeCase("QLinearConv",
        { Tensor::of<uint8_t>({ 1, 1, 1 }, { 3 }), Tensor::scalar(0.5f), Tensor::scalar(uint8_t(1)),
            Tensor::of<int8_t>({ 1, 1, 1 }, { 5 }), Tensor::scalar(0.25f), Tensor::scalar(int8_t(2)),
            Tensor::scalar(0.5f), Tensor::scalar(uint8_t(7)), Tensor::of<int32_t>({ 1 }, { 4 }) });
    for (const KernelMode mode : { KernelMode::Fast, KernelMode::Reference }) {
        const NodeOutcome out = *run(c, mode);
        QCOMPARE(toInts(out.outputs[0]), (std::vector<int64_t> { 9 }));
        QCOMPARE(toFloats(out.unrounded), (std::vector<float> { 1.25f }));
    }
}

void LowerMovementTests::productsAlike()
{
    std::mt19937 random(17);
    // Scales and zero points for each row of a and each column of b, b one matrix for the whole batch.
    const NodeCase rows = makeCase("QLinearMatMul",
        { codes(random, DType::Int8, { 2, 3, 9 }), Tensor::of<float>({ 3 }, { 0.1f, 0.2f, 0.05f }),
            Tensor::of<int8_t>({ 3 }, { -128, 0, 127 }), codes(random, DType::UInt8, { 9, 17 }), Tensor::scalar(0.02f),
            Tensor::scalar(uint8_t(128)), Tensor::scalar(1.5f), Tensor::scalar(int8_t(-3)) });
    NodeCase gemm = makeCase("QGemm",
        { codes(random, DType::UInt8, { 5, 4 }), Tensor::scalar(0.1f), Tensor::scalar(uint8_t(9)),
            codes(random, DType::Int8, { 6, 5 }), Tensor::scalar(0.2f), Tensor::scalar(int8_t(0)),
            Tensor::of<int32_t>({ 6 }, { 1, 2, 3, 4, 5, 6 }) },
        1, "com.microsoft");
    gemm.node.attributes.set("transA", int64_t(1));
    gemm.node.attributes.set("transB", int64_t(1));
    for (const NodeCase& c : { rows, gemm }) {
        const auto reference = run(c, KernelMode::Reference);
        QVERIFY2(reference.ok(), reference.ok() ? "" : reference.issue().what.c_str());
        for (const Weights weights : { Weights::Constant, Weights::Data })
            QCOMPARE(toDoubles(run(c, KernelMode::Fast, weights)->outputs[0]), toDoubles(reference->outputs[0]));
    }
    QCOMPARE(run(gemm)->outputs[0].dtype(), DType::Float32);
}

int runLowerMovementTests(int argc, char** argv)
{
    LowerMovementTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "lower_movement_test.moc"
