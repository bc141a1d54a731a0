// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/infer.h"
#include "core/tensor/convert.h"
#include "tests/ops/single_node.h"

#include <QTest>

using namespace qs;
using namespace qs::test;

class MovementOpsTests : public QObject {
    Q_OBJECT
private slots:
    void reshapeKeepsSymbols();
    void reshapeRefuses();
    void shapesStayKnown();
    void sizesStayKnownBesideFreeOnes();
    void shapesOfFreeSizes();
    void expandsToFreeSizes();
    void splitsAndSlices();
    void padsAndResizes();
    void squeezes();
    void convolutions();
    void products();
};

void MovementOpsTests::reshapeKeepsSymbols()
{
    const Fact x = fact(DType::Float32, Dims { { -1, "N" }, { 64, {} }, { 1, {} }, { 1, {} } });
    QCOMPARE(dims(infer(makeNode("Reshape", 2), { x, ints({ 0, -1 }) })), "Nx64");
    QCOMPARE(dims(infer(makeNode("Reshape", 2), { x, ints({ -1, 64 }) })), "Nx64");
    QCOMPARE(dims(infer(makeNode("Reshape", 2), { x, ints({ 2, -1 }) })), "2x?");
    QCOMPARE(dims(infer(makeNode("Flatten", 1), { x })), "Nx64");
}

void MovementOpsTests::reshapeRefuses()
{
    const Fact x = ofShape({ 2, 3 });
    QVERIFY(!infer(makeNode("Reshape", 2), { x, ints({ 4, 2 }) }).ok());
    QVERIFY(!infer(makeNode("Reshape", 2), { x, ints({ -1, -1 }) }).ok());
    QVERIFY(!infer(makeNode("Reshape", 2), { x, ints({ 6, 1, 0 }) }).ok());
    QVERIFY(!infer(makeNode("Reshape", 2), { x, ints({ int64_t(1) << 62, 1 << 20 }) }).ok());
}

void MovementOpsTests::shapesStayKnown()
{
    const auto shape = infer(makeNode("Shape", 1), { ofShape({ 2, 3, 4 }) });
    QVERIFY(shape.ok() && (*shape)[0].value);
    const auto last = infer(makeNode("Gather", 2), { (*shape)[0], ints({ -1 }) });
    QCOMPARE(toInts(*(*last)[0].value), (std::vector<int64_t> { 4 }));
    const auto both = infer(makeNode("Concat", 2), { (*last)[0], ints({ 7 }) });
    QCOMPARE(dims(both), "issue: axis 1 does not exist in an input of rank 1");
    Node concat = makeNode("Concat", 2);
    concat.attributes.set("axis", int64_t(0));
    const auto joined = infer(concat, { (*last)[0], ints({ 7 }) });
    QCOMPARE(toInts(*(*joined)[0].value), (std::vector<int64_t> { 4, 7 }));
    const auto sliced
        = infer(makeNode("Slice", 5), { (*shape)[0], ints({ -1 }), ints({ -9 }), ints({ 0 }), ints({ -1 }) });
    QCOMPARE(toInts(*(*sliced)[0].value), (std::vector<int64_t> { 4, 3, 2 }));
    QVERIFY(!infer(makeNode("Gather", 2), { (*shape)[0], ints({ 3 }) }).ok());
}

namespace {

Node withAxis0(Node node)
{
    node.attributes.set("axis", int64_t(0));
    return node;
}

/// Shape of a value of N x 3 x S.
Fact shapeOfFree()
{
    const Fact x = fact(DType::Float32, Dims { { -1, "N" }, { 3, {} }, { -1, "S" } });
    return (*infer(makeNode("Shape", 1), { x }))[0];
}

Fact first(Result<std::vector<Fact>> facts) { return facts.ok() ? (*facts)[0] : Fact {}; }

/// What a value is made of that takes these sizes.
QString made(const Fact& sizes) { return dims(infer(makeNode("ConstantOfShape", 1), { sizes })); }

} // namespace

void MovementOpsTests::sizesStayKnownBesideFreeOnes()
{
    const Fact shape = shapeOfFree();
    QVERIFY(!shape.value);
    QCOMPARE(made(shape), "Nx3xS");
    const Fact three = first(infer(makeNode("Gather", 2), { shape, ints({ 1 }) }));
    QVERIFY(three.value);
    QCOMPARE(toInts(*three.value), (std::vector<int64_t> { 3 }));
    const Fact batch = first(infer(makeNode("Gather", 2), { shape, constantFact(Tensor::scalar<int64_t>(-3)) }));
    QCOMPARE(dims(infer(makeNode("Unsqueeze", 2), { batch, ints({ 0 }) })), "1");
    const Fact list = first(infer(makeNode("Unsqueeze", 2), { batch, ints({ 0 }) }));
    const Fact unknown = fact(DType::Int64, Dims { { 1, {} } });
    QCOMPARE(made(first(infer(withAxis0(makeNode("Concat", 4)), { list, ints({ 7 }), unknown, three }))), "Nx7x?x3");
    const Fact back
        = first(infer(makeNode("Slice", 5), { shape, ints({ -1 }), ints({ -9 }), ints({ 0 }), ints({ -2 }) }));
    QCOMPARE(made(back), "SxN");
    const Fact middle = first(infer(makeNode("Slice", 3), { shape, ints({ 1 }), ints({ 2 }) }));
    QVERIFY(middle.value);
    Fact longer = shape; // of a hostile file: each step would double it
    for (size_t i = 0; i < 40; ++i)
        longer = first(infer(withAxis0(makeNode("Concat", 2)), { longer, longer }));
    QVERIFY(!longer.ints && !longer.value);
    Node part = makeNode("Shape", 1);
    part.attributes.set("start", int64_t(1));
    part.attributes.set("end", int64_t(-1));
    QVERIFY(first(infer(part, { fact(DType::Float32, Dims { { -1, "N" }, { 3, {} }, { -1, "S" } }) })).value);
}

void MovementOpsTests::shapesOfFreeSizes()
{
    const Fact shape = shapeOfFree();
    const Fact x = fact(DType::Float32, Dims { { -1, "N" }, { -1, "S" }, { 12, {} } });
    const auto concat
        = [](std::vector<Fact> parts) { return first(infer(withAxis0(makeNode("Concat", parts.size())), parts)); };
    const auto at = [&](int64_t i) { return first(infer(makeNode("Gather", 2), { shape, ints({ i }) })); };
    QCOMPARE(dims(infer(makeNode("Reshape", 2), { x, concat({ at(0), ints({ -1, 3, 4 }) }) })), "NxSx3x4");
    QCOMPARE(dims(infer(makeNode("Reshape", 2), { x, concat({ at(0), ints({ 0, -1 }), at(1) }) })), "NxSx4x3");
    QCOMPARE(dims(infer(makeNode("Reshape", 2), { x, concat({ ints({ -1 }), at(2), ints({ 12 }) }) })), "NxSx12");
    const Fact product = first(infer(makeNode("Mul", 2), { at(0), at(2) }));
    QVERIFY(!product.ints && !product.value);
    QCOMPARE(dims(infer(makeNode("Reshape", 2), { x, concat({ product, ints({ 12 }) }) })), "?x12");
    QVERIFY(!infer(makeNode("Reshape", 2), { x, concat({ at(0), ints({ -1, -1 }) }) }).ok());
    QVERIFY(!infer(makeNode("Reshape", 2), { x, concat({ at(0), ints({ -2 }) }) }).ok());
    const Fact image = fact(DType::Float32, Dims { { -1, "N" }, { 3, {} }, { 8, {} } });
    Node resize = makeNode("Resize", 4);
    resize.inputs[1] = resize.inputs[2] = {};
    QCOMPARE(dims(infer(resize, { image, {}, {}, shape })), "Nx3xS");
}

void MovementOpsTests::expandsToFreeSizes()
{
    // What torch.Tensor.expand becomes: sizes of -1 are those of the value itself.
    const Fact shape = shapeOfFree();
    Node filled = makeNode("ConstantOfShape", 1);
    filled.attributes.set("value", Tensor::of<int64_t>({ 1 }, { 1 }));
    const Fact ones = first(infer(filled, { ints({ 3 }) }));
    const Fact none = first(infer(makeNode("Equal", 2), { shape, ints({ -1 }) }));
    QVERIFY(none.value);
    const Fact same = first(infer(makeNode("Equal", 2), { shape, shape })); // names promise little
    QVERIFY(!same.value);
    const Fact sequence = first(infer(makeNode("SequenceConstruct", 1), { shape }));
    QVERIFY(sequence.element && !sequence.element->ints);
    const Fact target = first(infer(makeNode("Where", 3), { none, ones, shape }));
    QCOMPARE(made(target), "Nx3xS");
    QCOMPARE(dims(infer(makeNode("Expand", 2), { ofShape({ 1, 1, 1 }), target })), "Nx3xS");
    QCOMPARE(dims(infer(makeNode("Expand", 2), { ofShape({ 1, 3, 5 }), target })), "Nx3x5");
    QCOMPARE(dims(infer(makeNode("Tile", 2), { ofShape({ 1, 2, 1 }), target })), "Nx6xS");
    const Fact zero = constantFact(Tensor::scalar<int64_t>(0)), one = constantFact(Tensor::scalar<int64_t>(1));
    const Fact count = first(infer(makeNode("Gather", 2), { shape, constantFact(Tensor::scalar<int64_t>(2)) }));
    QCOMPARE(dims(infer(makeNode("Range", 3), { zero, count, one })), "S");
    QCOMPARE(dims(infer(makeNode("Range", 3), { one, count, one })), "?");
    Node cast = makeNode("Cast", 1);
    cast.attributes.set("to", int64_t(DType::Int32));
    QCOMPARE(made(first(infer(cast, { first(infer(makeNode("Mul", 2), { shape, ints({ 1 }) })) }))), "Nx3xS");
    const Fact sums = first(infer(makeNode("Add", 2), { shape, ints({ 0, 2, 1 }) }));
    QCOMPARE(made(sums), "Nx5x?");
}

void MovementOpsTests::splitsAndSlices()
{
    Node split = makeNode("Split", 1, 3);
    split.attributes.set("axis", int64_t(1));
    const auto parts = infer(split, { ofShape({ 2, 7 }) });
    QCOMPARE(dims(parts, 0), "2x3");
    QCOMPARE(dims(parts, 2), "2x1");
    Node slice = makeNode("Slice", 1, 1, {}, 9);
    slice.attributes.set("starts", std::vector<int64_t> { 1, -2 });
    slice.attributes.set("ends", std::vector<int64_t> { 1000, -1 });
    QCOMPARE(dims(infer(slice, { ofShape({ 5, 6 }) })), "4x1");
    QCOMPARE(dims(infer(makeNode("Slice", 5),
                 { ofShape({ 5, 6 }), ints({ 4 }), ints({ INT64_MIN }), ints({ 0 }), ints({ INT64_MIN }) })),
        "1x6");
    // Backwards from before the first element: that one.
    QCOMPARE(dims(infer(makeNode("Slice", 5),
                 { ofShape({ 5, 6 }), ints({ -9 }), ints({ INT64_MIN }), ints({ 0 }), ints({ -1 }) })),
        "1x6");
}

void MovementOpsTests::padsAndResizes()
{
    QCOMPARE(dims(infer(makeNode("Pad", 2), { ofShape({ 2, 3 }), ints({ 0, 1, 2, -1 }) })), "4x3");
    QVERIFY(!infer(makeNode("Pad", 2), { ofShape({ 2, 3 }), ints({ 0, 1, 2 }) }).ok());
    QVERIFY(!infer(makeNode("Pad", 2), { ofShape({ 2, 3 }), ints({ -3, 0, 0, 0 }) }).ok());
    Node resize = makeNode("Resize", 4);
    resize.inputs[1] = resize.inputs[2] = ValueId();
    QCOMPARE(dims(infer(resize, { ofShape({ 1, 3, 8, 8 }), {}, {}, ints({ 1, 3, 12, 5 }) })), "1x3x12x5");
    Node upsample = makeNode("Upsample", 1, 1, {}, 7);
    upsample.attributes.set("scales", std::vector<float> { 1, 1, 2, 1.5f });
    QCOMPARE(dims(infer(upsample, { ofShape({ 1, 3, 8, 5 }) })), "1x3x16x7");
}

void MovementOpsTests::squeezes()
{
    QCOMPARE(dims(infer(makeNode("Squeeze", 1), { ofShape({ 1, 3, 1 }) })), "3");
    QCOMPARE(dims(infer(makeNode("Squeeze", 2), { ofShape({ 1, 3, 1 }), ints({ -1 }) })), "1x3");
    QVERIFY(!infer(makeNode("Squeeze", 2), { ofShape({ 1, 3, 1 }), ints({ 1 }) }).ok());
    QCOMPARE(dims(infer(makeNode("Unsqueeze", 2), { ofShape({ 3 }), ints({ 0, -1 }) })), "1x3x1");
    QVERIFY(!infer(makeNode("Unsqueeze", 2), { ofShape({ 3 }), ints({ 0, 0 }) }).ok());
}

void MovementOpsTests::convolutions()
{
    Node conv = makeNode("QLinearConv", 8);
    conv.attributes.set("strides", std::vector<int64_t> { 2, 2 });
    conv.attributes.set("pads", std::vector<int64_t> { 1, 1, 1, 1 });
    conv.attributes.set("group", int64_t(2));
    const Fact scalar = ofShape({}), zero = ofShape({}, DType::Int8);
    const std::vector<Fact> inputs { ofShape({ 1, 4, 9, 9 }, DType::Int8), scalar, zero,
        ofShape({ 6, 2, 3, 3 }, DType::Int8), scalar, zero, scalar, zero };
    const auto out = infer(conv, inputs);
    QCOMPARE(dims(out), "1x6x5x5");
    QCOMPARE((*out)[0].dtype, DType::Int8);
    const Op* op = opRegistry().find(conv);
    QCOMPARE(op->macs({ conv, inputs }, *out).value_or(-1), int64_t(6 * 25 * 2 * 9));
    conv.attributes.set("group", int64_t(3));
    QVERIFY(!infer(conv, inputs).ok());
}

void MovementOpsTests::products()
{
    const auto out = infer(
        makeNode("MatMulInteger", 2), { ofShape({ 5, 1, 2, 3 }, DType::UInt8), ofShape({ 4, 3, 7 }, DType::Int8) });
    QCOMPARE(dims(out), "5x4x2x7");
    QCOMPARE((*out)[0].dtype, DType::Int32);
    QVERIFY(!infer(makeNode("MatMulInteger", 2), { ofShape({ 2, 3 }), ofShape({ 2, 3 }) }).ok());
    Node gemm = makeNode("QGemm", 6, 1, "com.microsoft", 1);
    gemm.attributes.set("transB", int64_t(1));
    const Fact scalar = ofShape({}), zero = ofShape({}, DType::UInt8);
    const auto floats
        = infer(gemm, { ofShape({ 2, 3 }, DType::UInt8), scalar, zero, ofShape({ 7, 3 }, DType::UInt8), scalar, zero });
    QCOMPARE(dims(floats), "2x7");
    QCOMPARE((*floats)[0].dtype, DType::Float32);
}

int runMovementOpsTests(int argc, char** argv)
{
    MovementOpsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "movement_ops_test.moc"
