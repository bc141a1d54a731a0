// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ops/single_node.h"

#include <QTest>

using namespace qs;
using namespace qs::test;

namespace {

/// Inferred dims of the outputs, or "issue".
QString dimsOf(const std::string& type, const std::vector<Fact>& inputs,
    const std::vector<std::pair<std::string, AttributeValue>>& attributes = {}, int opset = 17, size_t outputs = 1,
    const std::string& domain = {})
{
    Node node;
    node.name = "node";
    node.opType = type;
    node.domain = domain;
    node.opset = domain.empty() ? opset : 1;
    for (size_t i = 0; i < inputs.size(); ++i)
        node.inputs.push_back(inputs[i].dtype == DType::Undefined ? ValueId() : ValueId(i));
    for (size_t i = 0; i < outputs; ++i)
        node.outputs.emplace_back(100 + i);
    for (const auto& [name, value] : attributes)
        node.attributes.set(name, value);
    const auto out = opRegistry().find(node)->infer({ node, inputs });
    if (!out.ok())
        return "issue";
    QStringList texts;
    for (const Fact& f : *out)
        texts << (f.dims ? QString::fromStdString(dimsText(*f.dims)) : QStringLiteral("unknown"));
    return texts.join(' ');
}

Fact number(int64_t value) { return constantFact(Tensor::scalar<int64_t>(value)); }
const Fact kUnknown = fact(DType::Float32);
const Fact kAbsent {};

} // namespace

class SequenceOpsTest : public QObject {
    Q_OBJECT
private slots:
    void recurrent();
    void dft();
    void stft();
    void windowsAndMel();
    void linearAttention();
};

void SequenceOpsTest::recurrent()
{
    const std::vector<Fact> lstm { ofShape({ 7, 3, 5 }), ofShape({ 1, 16, 5 }), ofShape({ 1, 16, 4 }) };
    QCOMPARE(dimsOf("LSTM", lstm, {}, 17, 3), QString("7x1x3x4 1x3x4 1x3x4"));
    QCOMPARE(dimsOf("LSTM", lstm, { { "layout", int64_t(1) } }, 17, 2), QString("7x3x1x4 7x1x4"));
    QCOMPARE(dimsOf("GRU", { ofShape({ 7, 3, 5 }), kUnknown, kUnknown },
                 { { "direction", std::string("bidirectional") }, { "hidden_size", int64_t(9) } }, 17, 2),
        QString("7x2x3x9 2x3x9"));
    QCOMPARE(dimsOf("RNN", { kUnknown, kUnknown, kUnknown }, {}, 17, 1), QString("?x1x?x?"));
    QCOMPARE(dimsOf("RNN", { ofShape({ 7, 3 }), kUnknown, kUnknown }), QString("issue"));
    const std::vector<Fact> coded { ofShape({ 7, 3, 5 }), fact(DType::Int8, toDims({ 1, 5, 16 })),
        fact(DType::Int8, toDims({ 1, 4, 16 })) };
    QCOMPARE(dimsOf("DynamicQuantizeLSTM", coded, { { "hidden_size", int64_t(4) } }, 1, 2, "com.microsoft"),
        QString("7x1x3x4 1x3x4"));
}

void SequenceOpsTest::dft()
{
    const std::pair<std::string, AttributeValue> onesided { "onesided", int64_t(1) }, inverse { "inverse", int64_t(1) };
    QCOMPARE(dimsOf("DFT", { ofShape({ 1, 10, 4, 1 }) }), QString("1x10x4x2"));
    QCOMPARE(dimsOf("DFT", { ofShape({ 1, 10, 4, 1 }) }, { onesided }), QString("1x6x4x2"));
    QCOMPARE(dimsOf("DFT", { ofShape({ 1, 10, 4, 1 }), number(16) }, { { "axis", int64_t(2) } }), QString("1x10x16x2"));
    QCOMPARE(dimsOf("DFT", { ofShape({ 1, 10, 4, 2 }), kAbsent, number(1) }, {}, 20), QString("1x10x4x2"));
    QCOMPARE(dimsOf("DFT", { ofShape({ 1, 10, 4, 1 }) }, { onesided }, 20), QString("1x10x3x2"));
    QCOMPARE(dimsOf("DFT", { ofShape({ 1, 6, 2 }) }, { onesided, inverse }), QString("1x10x1"));
    QCOMPARE(
        dimsOf("DFT", { ofShape({ 1, 10, 4, 1 }), kAbsent, fact(DType::Int64, Dims {}) }, {}, 20), QString("?x?x?x?"));
    QCOMPARE(dimsOf("DFT", { kUnknown }), QString("unknown"));
    for (const Shape& shape : { Shape { 5 }, Shape { 1, 5, 3 } })
        QCOMPARE(dimsOf("DFT", { ofShape(shape) }), QString("issue"));
    QCOMPARE(dimsOf("DFT", { ofShape({ 1, 5, 2 }) }, { { "axis", int64_t(9) } }), QString("issue"));
}

void SequenceOpsTest::stft()
{
    QCOMPARE(dimsOf("STFT", { ofShape({ 2, 128, 1 }), number(8), ofShape({ 16 }) }), QString("2x15x9x2"));
    QCOMPARE(dimsOf("STFT", { ofShape({ 2, 128, 1 }), number(8), kAbsent, number(20) }, { { "onesided", int64_t(0) } }),
        QString("2x14x20x2"));
    QCOMPARE(dimsOf("STFT", { kUnknown, number(8) }), QString("?x?x?x2"));
    QCOMPARE(dimsOf("STFT", { ofShape({ 2, 128 }), number(8), ofShape({ 16 }) }), QString("2x15x9x2"));
    QCOMPARE(dimsOf("STFT", { ofShape({ 128 }), number(8) }), QString("issue"));
}

void SequenceOpsTest::windowsAndMel()
{
    QCOMPARE(dimsOf("HannWindow", { number(10) }), QString("10"));
    QCOMPARE(dimsOf("BlackmanWindow", { fact(DType::Int64, Dims {}) }), QString("?"));
    QCOMPARE(dimsOf("HammingWindow", { number(-1) }), QString("issue"));
    const Fact edge = ofShape({});
    QCOMPARE(dimsOf("MelWeightMatrix", { number(8), number(16), number(8192), edge, edge }), QString("9x8"));
}

void SequenceOpsTest::linearAttention()
{
    const auto of = [](int64_t queries, int64_t values) {
        return dimsOf("LinearAttention",
            { ofShape({ 2, 5, queries * 4 }), ofShape({ 2, 5, queries * 4 }), ofShape({ 2, 5, values * 3 }) },
            { { "q_num_heads", queries }, { "kv_num_heads", values } }, 27, 2);
    };
    QCOMPARE(of(4, 2), QString("2x5x12 2x2x4x3"));
    QCOMPARE(of(2, 4), QString("2x5x12 2x4x4x3"));
    QCOMPARE(of(2, 3), QString("issue"));
}

int runSequenceOpsTests(int argc, char** argv)
{
    SequenceOpsTest tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "sequence_ops_test.moc"
