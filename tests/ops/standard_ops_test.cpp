// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/equation.h"
#include "core/ops/infer.h"
#include "core/tensor/convert.h"
#include "tests/ops/single_node.h"

#include <QTest>

using namespace qs;
using namespace qs::test;

namespace {

Node newest(std::string type, size_t inputs, size_t outputs = 1)
{
    return makeNode(std::move(type), inputs, outputs, {}, 24);
}

} // namespace

class StandardOpsTests : public QObject {
    Q_OBJECT
private slots:
    void equations();
    void attention();
    void vision();
    void others();
};

void StandardOpsTests::equations()
{
    Node einsum = newest("Einsum", 2);
    const auto with = [&](const char* equation, Shape a, Shape b) {
        einsum.attributes.set("equation", std::string(equation));
        return dims(infer(einsum, { ofShape(std::move(a)), ofShape(std::move(b)) }));
    };
    QCOMPARE(with("bij,bjk->bik", { 2, 3, 4 }, { 2, 4, 5 }), QString("2x3x5"));
    QCOMPARE(with("...j,kj", { 7, 3, 4 }, { 5, 4 }), QString("7x3x5"));
    QCOMPARE(with("ij,jk->", { 3, 4 }, { 4, 5 }), QString("scalar"));
    QVERIFY(with("ij->i", { 3, 4 }, { 4, 5 }).contains("terms"));
    QVERIFY(with("ij,jk->ii", { 3, 4 }, { 4, 5 }).contains("repeated"));
    const std::vector<size_t> ranks { 2, 3 };
    const auto e = parseEquation("Zb, ...b -> ...Z", ranks);
    QVERIFY(e.ok());
    QCOMPARE(e->output.size(), size_t(3));
    QCOMPARE(e->operands[0][1], e->operands[1][2]);
}

void StandardOpsTests::attention()
{
    Node node = newest("Attention", 6, 4);
    node.inputs[3] = ValueId();
    std::vector<Fact> inputs { ofShape({ 2, 8, 3, 16 }), ofShape({ 2, 4, 5, 16 }), ofShape({ 2, 4, 5, 24 }), {},
        ofShape({ 2, 4, 7, 16 }), ofShape({ 2, 4, 7, 24 }) };
    auto out = infer(node, inputs);
    QCOMPARE(dims(out), QString("2x8x3x24"));
    QCOMPARE(dims(out, 1), QString("2x4x12x16"));
    QCOMPARE(dims(out, 2), QString("2x4x12x24"));
    QCOMPARE(dims(out, 3), QString("2x8x3x12"));
    node.inputs.resize(3);
    node.attributes.set("q_num_heads", int64_t(8));
    node.attributes.set("kv_num_heads", int64_t(4));
    inputs = { ofShape({ 2, 3, 128 }), ofShape({ 2, 5, 64 }), ofShape({ 2, 5, 96 }) };
    QCOMPARE(dims(infer(node, inputs)), QString("2x3x192"));
    inputs[0] = ofShape({ 2, 3 });
    QVERIFY(dims(infer(node, inputs)).contains("rank"));
}

void StandardOpsTests::vision()
{
    QCOMPARE(
        dims(infer(newest("GridSample", 2), { ofShape({ 2, 3, 5, 6 }), ofShape({ 2, 7, 8, 2 }) })), QString("2x3x7x8"));
    QVERIFY(dims(infer(newest("GridSample", 2), { ofShape({ 2, 3, 5, 6 }), ofShape({ 2, 7, 2 }) })).contains("rank"));
    QCOMPARE(dims(infer(newest("AffineGrid", 2), { ofShape({ 2, 2, 3 }), ints({ 2, 3, 5, 6 }) })), QString("2x5x6x2"));
    QCOMPARE(
        dims(infer(newest("NonMaxSuppression", 2), { ofShape({ 1, 9, 4 }), ofShape({ 1, 1, 9 }) })), QString("?x3"));
    QCOMPARE(dims(infer(newest("Col2Im", 3), { ofShape({ 1, 12, 4 }), ints({ 5, 6 }), ints({ 2, 3 }) })),
        QString("1x2x5x6"));
    QVERIFY(
        dims(infer(newest("Col2Im", 3), { ofShape({ 1, 13, 4 }), ints({ 5, 6 }), ints({ 2, 3 }) })).contains("divide"));
    Node unpool = newest("MaxUnpool", 2);
    unpool.attributes.set("kernel_shape", std::vector<int64_t> { 2, 2 });
    unpool.attributes.set("strides", std::vector<int64_t> { 2, 2 });
    QCOMPARE(dims(infer(unpool, { ofShape({ 1, 3, 4, 5 }), ofShape({ 1, 3, 4, 5 }) })), QString("1x3x8x10"));
    Node roi = newest("RoiAlign", 3);
    roi.attributes.set("output_height", int64_t(7));
    QCOMPARE(dims(infer(roi, { ofShape({ 1, 3, 9, 9 }), ofShape({ 11, 4 }), ofShape({ 11 }) })), QString("11x3x7x1"));
    roi.attributes.set("output_height", int64_t(-7));
    QVERIFY(dims(infer(roi, { ofShape({ 1, 3, 9, 9 }), ofShape({ 11, 4 }), ofShape({ 11 }) })).contains("positive"));
}

void StandardOpsTests::others()
{
    QCOMPARE(dims(infer(newest("Det", 1), { ofShape({ 4, 3, 3 }) })), QString("4"));
    QVERIFY(dims(infer(newest("Det", 1), { ofShape({ 4, 3, 2 }) })).contains("square"));
    Node loss = newest("NegativeLogLikelihoodLoss", 2);
    QCOMPARE(dims(infer(loss, { ofShape({ 4, 3 }), ofShape({ 4 }, DType::Int64) })), QString("scalar"));
    loss.attributes.set("reduction", std::string("none"));
    QCOMPARE(dims(infer(loss, { ofShape({ 4, 3 }), ofShape({ 4 }, DType::Int64) })), QString("4"));
    QVERIFY(
        dims(infer(newest("StringConcat", 2), { ofShape({ 2 }), ofShape({ 2 }, DType::String) })).contains("strings"));
    Node random = newest("RandomUniform", 0);
    random.attributes.set("shape", std::vector<int64_t> { 2, -1 });
    QVERIFY(dims(infer(random, {})).contains("impossible"));
    Node cast = newest("BitCast", 1);
    cast.attributes.set("to", int64_t(DType::UInt64));
    QVERIFY(dims(infer(cast, { ofShape({ 2 }) })).contains("size"));
    Node unique = newest("Unique", 1, 4);
    unique.attributes.set("axis", int64_t(-1));
    QCOMPARE(dims(infer(unique, { ofShape({ 2, 5 }) })), QString("2x?"));
}

int runStandardOpsTests(int argc, char** argv)
{
    StandardOpsTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "standard_ops_test.moc"
