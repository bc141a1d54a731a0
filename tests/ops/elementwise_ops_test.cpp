// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/convert.h"
#include "tests/ops/single_node.h"

#include <QTest>

using namespace qs;
using namespace qs::test;

class ElementwiseOpsTest : public QObject {
    Q_OBJECT
private slots:
    void broadcastsShapes();
    void refusesShapesThatClash();
    void computesIntegersOfShapes();
    void knowsResultTypes();
    void oldBroadcastKeepsTheFirstShape();
    void quantizersTakeTheZeroPointsType();
    void refusesScalesThatDoNotFit();
    void sizesOfIntegerPools();
    void sizesOfConcatenatedCodes();
    void experimentalOperators_data();
    void experimentalOperators();
};

void ElementwiseOpsTest::broadcastsShapes()
{
    const auto out = infer(makeNode("Add", 2), { ofShape({ 2, 1, 4 }), ofShape({ 3, 1 }) });
    QVERIFY(out.ok());
    QCOMPARE(dimsText(*(*out)[0].dims), std::string("2x3x4"));
    QCOMPARE((*out)[0].dtype, DType::Float32);
}

void ElementwiseOpsTest::refusesShapesThatClash()
{
    QVERIFY(!infer(makeNode("Mul", 2), { ofShape({ 2, 3 }), ofShape({ 2, 4 }) }).ok());
    QVERIFY(!infer(makeNode("Add", 1), {}).ok());
}

void ElementwiseOpsTest::computesIntegersOfShapes()
{
    const Fact a = constantFact(Tensor::of<int64_t>({ 3 }, { 7, 8, -9 }));
    const Fact two = constantFact(Tensor::scalar<int64_t>(2));
    const auto quotient = infer(makeNode("Div", 2), { a, two });
    QCOMPARE(toInts(*(*quotient)[0].value), (std::vector<int64_t> { 3, 4, -4 }));
    const auto equal = infer(makeNode("Equal", 2), { a, constantFact(Tensor::scalar<int64_t>(8)) });
    QCOMPARE(toInts(*(*equal)[0].value), (std::vector<int64_t> { 0, 1, 0 }));
    const auto chosen = infer(makeNode("Where", 3), { (*equal)[0], two, a });
    QCOMPARE(toInts(*(*chosen)[0].value), (std::vector<int64_t> { 7, 2, -9 }));
}

void ElementwiseOpsTest::knowsResultTypes()
{
    Node cast = makeNode("Cast", 1);
    cast.attributes.set("to", int64_t(DType::Int4));
    QCOMPARE((*infer(cast, { ofShape({ 5 }) }))[0].dtype, DType::Int4);
    QCOMPARE((*infer(makeNode("Less", 2), { ofShape({ 5 }), ofShape({ 5 }) }))[0].dtype, DType::Bool);
    QCOMPARE((*infer(makeNode("IsNaN", 1), { ofShape({ 5 }) }))[0].dtype, DType::Bool);
    QCOMPARE((*infer(makeNode("CastLike", 2), { ofShape({ 5 }), fact(DType::Int8) }))[0].dtype, DType::Int8);
}

void ElementwiseOpsTest::oldBroadcastKeepsTheFirstShape()
{
    Node add = makeNode("Add", 2, 1, {}, 6);
    add.attributes.set("broadcast", int64_t(1));
    add.attributes.set("axis", int64_t(1));
    const auto out = infer(add, { ofShape({ 2, 3, 4 }), ofShape({ 3 }) });
    QCOMPARE(dimsText(*(*out)[0].dims), std::string("2x3x4"));
}

void ElementwiseOpsTest::quantizersTakeTheZeroPointsType()
{
    const Fact scale = ofShape({});
    QCOMPARE((*infer(makeNode("QuantizeLinear", 2), { ofShape({ 4 }), scale }))[0].dtype, DType::UInt8);
    const auto signedCodes = infer(makeNode("QuantizeLinear", 3), { ofShape({ 4 }), scale, fact(DType::Int8) });
    QCOMPARE((*signedCodes)[0].dtype, DType::Int8);
    Node typed = makeNode("QuantizeLinear", 2, 1, {}, 21);
    typed.attributes.set("output_dtype", int64_t(DType::Int16));
    QCOMPARE((*infer(typed, { ofShape({ 4 }), scale }))[0].dtype, DType::Int16);
    const auto halves
        = infer(makeNode("DequantizeLinear", 2, 1, {}, 19), { fact(DType::Int8, toDims({ 4 })), fact(DType::Float16) });
    QCOMPARE((*halves)[0].dtype, DType::Float16);
    QCOMPARE((*infer(makeNode("DynamicQuantizeLinear", 1), { ofShape({ 4 }) })).size(), size_t(3));
}

void ElementwiseOpsTest::refusesScalesThatDoNotFit()
{
    Node node = makeNode("QuantizeLinear", 2, 1, {}, 21);
    QVERIFY(infer(node, { ofShape({ 2, 3, 4 }), ofShape({ 3 }) }).ok());
    QVERIFY(!infer(node, { ofShape({ 2, 3, 4 }), ofShape({ 4 }) }).ok());
    node.attributes.set("axis", int64_t(7));
    QVERIFY(!infer(node, { ofShape({ 2, 3, 4 }), ofShape({ 3 }) }).ok());
    node.attributes.set("axis", int64_t(2));
    node.attributes.set("block_size", int64_t(3));
    QVERIFY(infer(node, { ofShape({ 2, 3, 4 }), ofShape({ 2, 3, 2 }) }).ok());
    QVERIFY(!infer(node, { ofShape({ 2, 3, 4 }), ofShape({ 2, 3, 4 }) }).ok());
}

void ElementwiseOpsTest::sizesOfIntegerPools()
{
    Node pool = makeNode("QLinearAveragePool", 1, 1, "com.microsoft", 1);
    pool.attributes.set("kernel_shape", std::vector<int64_t> { 3, 2 });
    pool.attributes.set("strides", std::vector<int64_t> { 2, 1 });
    pool.attributes.set("channels_last", int64_t(1));
    const Fact x = fact(DType::Int8, toDims({ 1, 7, 6, 8 }));
    QCOMPARE(dimsText(*(*infer(pool, { x }))[0].dims), std::string("1x3x5x8"));
    const Node global = makeNode("QLinearGlobalAveragePool", 1, 1, "com.microsoft", 1);
    QCOMPARE(dimsText(*(*infer(global, { x }))[0].dims), std::string("1x7x1x1"));
}

void ElementwiseOpsTest::sizesOfConcatenatedCodes()
{
    Node node = makeNode("QLinearConcat", 8, 1, "com.microsoft", 1);
    node.attributes.set("axis", int64_t(-2));
    std::vector<Fact> inputs(8);
    inputs[2] = fact(DType::UInt8, toDims({ 1, 3, 4 }));
    inputs[5] = fact(DType::UInt8, toDims({ 1, 2, 4 }));
    QCOMPARE(dimsText(*(*infer(node, inputs))[0].dims), std::string("1x5x4"));
}

/// What ONNX Runtime 1.31.1 takes and refuses.
void ElementwiseOpsTest::experimentalOperators_data()
{
    QTest::addColumn<QString>("type");
    QTest::addColumn<QString>("attribute");
    QTest::addColumn<QList<int>>("numbers");
    QTest::addColumn<QString>("wanted"); ///< dims for 2 x 3 x 4 x 5
    QTest::newRow("affine") << "Affine"
                            << "" << QList<int> {} << "2x3x4x5";
    QTest::newRow("scale") << "Scale"
                           << "" << QList<int> {} << "2x3x4x5";
    QTest::newRow("softplus") << "ParametricSoftplus"
                              << "" << QList<int> {} << "2x3x4x5";
    QTest::newRow("tanh") << "ScaledTanh"
                          << "" << QList<int> {} << "2x3x4x5";
    QTest::newRow("biases") << "ImageScaler"
                            << "bias" << QList<int> { 1, 2, 3 } << "2x3x4x5";
    QTest::newRow("too few biases") << "ImageScaler"
                                    << "bias" << QList<int> { 1, 2 } << "issue";
    QTest::newRow("crop") << "Crop"
                          << "border" << QList<int> { 1, 0, 2, 1 } << "2x3x3x2";
    QTest::newRow("crop to nothing") << "Crop"
                                     << "border" << QList<int> { 3, 0, 2, 0 } << "2x3x4x0";
    QTest::newRow("crop too much") << "Crop"
                                   << "border" << QList<int> { 3, 0, 3, 0 } << "issue";
    QTest::newRow("negative border") << "Crop"
                                     << "border" << QList<int> { 1, -1, 0, 0 } << "issue";
    QTest::newRow("three borders") << "Crop"
                                   << "border" << QList<int> { 0, 0, 0 } << "issue";
}

void ElementwiseOpsTest::experimentalOperators()
{
    QFETCH(QString, type);
    QFETCH(QString, attribute);
    QFETCH(QList<int>, numbers);
    QFETCH(QString, wanted);
    Node node = makeNode(type.toStdString(), 1, 1, {}, 9);
    if (attribute == "bias")
        node.attributes.set("bias", std::vector<float>(numbers.begin(), numbers.end()));
    else if (!attribute.isEmpty())
        node.attributes.set(attribute.toStdString(), std::vector<int64_t>(numbers.begin(), numbers.end()));
    const auto found = infer(node, { ofShape({ 2, 3, 4, 5 }) });
    QCOMPARE(found.ok() ? dims(found) : "issue", wanted);
    node.opset = 10;
    const auto later = infer(node, { ofShape({ 2, 3, 4, 5 }) });
    QVERIFY(!later.ok() && later.issue().what.find("opset 9") != std::string::npos);
}

int runElementwiseOpsTests(int argc, char** argv)
{
    ElementwiseOpsTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "elementwise_ops_test.moc"
