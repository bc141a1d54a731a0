// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

using namespace qs;
using namespace qs::test;

namespace {

const std::vector<int64_t> kWindow { 2, 2 };

enum class Form { Plain, Pooled, KeptRelu, PooledKeptRelu, MovedKeptRelu, Channels, CutCodes, OtherType };

/// x -> MaxPool -> Conv -> Relu -> y
Prepared pooledConv(bool moved)
{
    SmallModel m("f");
    m.input("x", { 1, 2, 4, 4 })
        .constant("w", Tensor::of<float>({ 2, 2, 1, 1 }, { 0.5f, 0.25f, -0.5f, 1 }))
        .node("MaxPool", { "x" }, { "p" }, { { "kernel_shape", kWindow } })
        .node("Conv", { "p", "w" }, { "c" })
        .node("Relu", { "c" }, { moved ? "m" : "y" });
    if (moved)
        m.node("Transpose", { "m" }, { "y" });
    return m.output("y").finish();
}

Prepared pooledConvOnCodes(Form form)
{
    const bool pooled = form == Form::Pooled || form == Form::PooledKeptRelu;
    SmallModel m("q");
    m.input("x", { 1, 2, 4, 4 }).weight("w", { 2, 2, 1, 1 }, { 64, 32, -64, 127 }, { 1.f / 128 });
    m.qdq<uint8_t>("x", "x_dq", 0.03f, 128);
    m.node("MaxPool", { "x_dq" }, { "p" }, { { "kernel_shape", kWindow } });
    if (form == Form::Channels) {
        m.constant("ps", Tensor::of<float>({ 2 }, { 0.03f, 0.02f }));
        m.constant("pz", Tensor::of<uint8_t>({ 2 }, { 128, 128 }));
        m.node("QuantizeLinear", { "p", "ps", "pz" }, { "p_q" });
        m.node("DequantizeLinear", { "p_q", "ps", "pz" }, { "p_dq" });
    } else if (form == Form::CutCodes) {
        m.constant("ps", Tensor::scalar(0.03f)).constant("pz", Tensor::scalar<uint8_t>(128));
        m.constant("low", Tensor::scalar<uint8_t>(0)).constant("high", Tensor::scalar<uint8_t>(250));
        m.node("QuantizeLinear", { "p", "ps", "pz" }, { "p_q" }).node("Clip", { "p_q", "low", "high" }, { "p_c" });
        m.node("DequantizeLinear", { "p_c", "ps", "pz" }, { "p_dq" });
    } else if (form == Form::KeptRelu || form == Form::MovedKeptRelu) {
        m.qdq<int8_t>("p", "p_dq", 0.03f, 0);
    } else if (!pooled) {
        m.qdq<uint8_t>("p", "p_dq", 0.03f, 128);
    }
    m.node("Conv", { pooled ? "p" : "p_dq", "w" }, { "c" }).node("Relu", { "c" }, { "r" });
    if (form == Form::MovedKeptRelu)
        return m.node("Transpose", { "r" }, { "m" }).qdq<int8_t>("m", "y", 0.02f, 0).output("y").finish();
    if (form == Form::PooledKeptRelu)
        return m.qdq<uint8_t>("r", "y", 0.02f, 10).output("y").finish();
    if (form == Form::KeptRelu || form == Form::OtherType)
        return m.qdq<int8_t>("r", "y", 0.02f, int8_t(form == Form::KeptRelu ? 0 : -128)).output("y").finish();
    return m.qdq<uint8_t>("r", "y", 0.02f, 0).output("y").finish();
}

} // namespace
Q_DECLARE_METATYPE(Form)

/// Products that have codes all around: those that ONNX Runtime joins, and those that it computes in float.
class UnfusedTests : public QObject {
    Q_OBJECT

private slots:
    void products_data()
    {
        QTest::addColumn<Form>("form");
        QTest::addColumn<QString>("why"); ///< part of the reason; empty where it is joined
        QTest::newRow("joined") << Form::Plain << QString();
        QTest::newRow("codes come through a MaxPool") << Form::Pooled << QString();
        QTest::newRow("a Relu stays") << Form::KeptRelu << "its Relu";
        QTest::newRow("a Relu stays where codes come through a MaxPool") << Form::PooledKeptRelu << "its Relu";
        QTest::newRow("a Relu stays before a Transpose") << Form::MovedKeptRelu << "its Relu";
        QTest::newRow("several scales of an activation") << Form::Channels << "several scales";
        QTest::newRow("a Clip on codes") << Form::CutCodes << QString();
        QTest::newRow("other types") << Form::OtherType << QString();
    }
    void products()
    {
        QFETCH(Form, form);
        QFETCH(QString, why);
        const FixedData data({ Tensor::of<float>({ 1, 2, 4, 4 }, uniform(32, 4)) });
        const Comparison c = compared(pooledConv(form == Form::MovedKeptRelu), pooledConvOnCodes(form), data);
        const FloatNodeRow* row = whyFloat(c, "n_c");
        QVERIFY2((row != nullptr) == !why.isEmpty(), row ? row->reason.text.c_str() : "");
        QCOMPARE(findingOf(c, Rule::LeftInFloat) != nullptr, !why.isEmpty());
        if (!row)
            return;
        QCOMPARE(row->reason.cause, FloatCause::Unfused);
        QVERIFY2(row->reason.text.find(why.toStdString()) != std::string::npos, row->reason.text.c_str());
    }

    /// A quantizer behind what moves its result makes no operator on codes of one that has none.
    void withoutKernel()
    {
        const auto network = [](bool codes) {
            SmallModel m(codes ? "q" : "f");
            m.input("x", { 4, 8 });
            if (codes)
                m.qdq<uint8_t>("x", "x_dq", 0.03f, 128);
            m.node("Erf", { codes ? "x_dq" : "x" }, { "e" }).node("Transpose", { "e" }, { codes ? "t" : "y" });
            if (codes)
                m.qdq<uint8_t>("t", "y", 0.01f, 128);
            return m.output("y").finish();
        };
        const FixedData data({ Tensor::of<float>({ 4, 8 }, uniform(32, 4)) });
        const Comparison c = compared(network(false), network(true), data);
        const FloatNodeRow* row = whyFloat(c, "n_e");
        QVERIFY(row);
        QVERIFY2(row->reason.text.find("do not quantize Erf") != std::string::npos, row->reason.text.c_str());
    }
};

QTEST_GUILESS_MAIN(UnfusedTests)
#include "unfused_test.moc"
