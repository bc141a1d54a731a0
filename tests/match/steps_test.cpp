// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/match/chains.h"

#include <QtTest>

using namespace qs;
using namespace qs::test;

/// Networks that one file writes in more steps than the other.
class StepsTests : public QObject {
    Q_OBJECT
private slots:
    void anchorsByFoldedWeights_data();
    void anchorsByFoldedWeights();
    void normalizationsOfQuant_data();
    void normalizationsOfQuant();
    void normalizationsOfBoth();
    void activationInsideOneStep();
    void activationThatIsLost();
    void gemmThatAddsNothing();
    void branchesWithExchangedWeights();
    void termInsideALaterNode();
};

namespace {

Tensor four(std::vector<float> values) { return Tensor::of<float>({ 4 }, values); }
/// Along the channels of an image.
Tensor alongImage(std::vector<float> values) { return Tensor::of<float>({ 1, 4, 1, 1 }, values); }

const std::vector<float> kFactors { 2, 3, 4, 5 }, kTerms { 1, -1, 2, -2 }, kMeans { .5f, .25f, 1, 2 };

/// x -> Conv with its bias -> Relu -> Sigmoid
Prepared foldedConv()
{
    std::vector<float> folded = kW1;
    for (size_t i = 0; i < folded.size(); ++i)
        folded[i] *= kFactors[i / (folded.size() / kFactors.size())];
    return SmallModel("f")
        .input("x", { 1, 2, 5, 5 })
        .constant("w", Tensor::of<float>(kWeight, folded))
        .constant("b", four(kTerms))
        .node("Conv", { "x", "w", "b" }, { "c" }, kPads)
        .node("Relu", { "c" }, { "r" })
        .node("Sigmoid", { "r" }, { "y" })
        .output("y")
        .finish();
}

/// The convolution, quantized; what is behind it follows.
SmallModel bareConv(const char* path)
{
    SmallModel q(path);
    q.input("x", { 1, 2, 5, 5 }).weight("k", kWeight, symmetricCodes(kW1, { 0.03f }), { 0.03f });
    q.constant("factors", alongImage(kFactors)).constant("terms", alongImage(kTerms));
    q.constant("means", alongImage(kMeans))
        .constant("zeros", four({ 0, 0, 0, 0 }))
        .constant("ones", four({ 1, 1, 1, 1 }));
    q.constant("gamma", four(kFactors)).constant("beta", four(kTerms));
    q.node("Conv", { "x", "k" }, { "u" }, kPads).qdq<int8_t>("u", "u_dq", 0.05f, 0);
    return q;
}

/// A quantizer does the work of the Relu behind `from`.
Prepared finished(SmallModel q, const std::string& from)
{
    return q.qdq<uint8_t>(from, "v_dq", 0.05f, 0).node("Sigmoid", { "v_dq" }, { "y" }).output("y").finish();
}

} // namespace

void StepsTests::anchorsByFoldedWeights_data()
{
    QTest::addColumn<bool>("own");
    QTest::newRow("the weight times the normalization's factors") << true;
    QTest::newRow("another weight") << false;
}

/// The steps before are other ones, so only the weight tells which convolution this is, and the quantized file alone
/// has folded the normalization in.
void StepsTests::anchorsByFoldedWeights()
{
    QFETCH(const bool, own);
    const std::vector<float> gamma { 3, -0.25f, 1, -2 };
    const Prepared f = SmallModel("f")
                           .input("x", { 1, 2, 5, 5 })
                           .constant("w", Tensor::of<float>(kWeight, kW1))
                           .constant("gamma", four(gamma))
                           .constant("beta", four({ 1, 2, 3, 4 }))
                           .constant("mean", four({ 0, 0, 0, 0 }))
                           .constant("var", four({ 1, 1, 1, 1 }))
                           .node("HardSigmoid", { "x" }, { "h" })
                           .node("Mul", { "x", "h" }, { "m" })
                           .node("Conv", { "m", "w" }, { "c" }, kPads)
                           .node("BatchNormalization", { "c", "gamma", "beta", "mean", "var" }, { "b" })
                           .node("Sigmoid", { "b" }, { "y" })
                           .output("y")
                           .finish();
    std::vector<float> folded(own ? kW1.begin() : kW2.begin(), own ? kW1.end() : kW2.begin() + 72);
    for (size_t i = 0; i < folded.size(); ++i)
        folded[i] *= gamma[i / 18];
    const Prepared q = SmallModel("q")
                           .input("in", { 1, 2, 5, 5 })
                           .weight("k", kWeight, symmetricCodes(folded, { 0.06f }), { 0.06f })
                           .constant("bias", four({ 1, 2, 3, 4 }))
                           .node("HardSwish", { "in" }, { "s" })
                           .node("Conv", { "s", "k", "bias" }, { "u" }, kPads)
                           .node("Sigmoid", { "u" }, { "v" })
                           .output("v")
                           .finish();
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok() == own, qPrintable(sentence(a))); // else nothing of the two is one
    if (!own)
        return;
    QCOMPARE(a->weights.size(), size_t(1));
    QVERIFY(pairsOf(f, q, *a).contains("b=u"));
}

void StepsTests::normalizationsOfQuant_data()
{
    QTest::addColumn<QStringList>("steps");
    QTest::newRow("factors and terms") << QStringList { "Mul factors", "Add terms" };
    QTest::newRow("means first") << QStringList { "Sub means", "Mul factors", "Add terms" };
    QTest::newRow("operator") << QStringList { "BatchNormalization" };
}

void StepsTests::normalizationsOfQuant()
{
    QFETCH(QStringList, steps);
    SmallModel q = bareConv("q");
    std::string last = "u_dq";
    for (const QString& step : steps) {
        const std::string type = step.section(' ', 0, 0).toStdString(), made = "after_" + type;
        if (type == "BatchNormalization")
            q.node(type, { last, "gamma", "beta", "zeros", "ones" }, { made });
        else
            q.node(type, { last, step.section(' ', 1).toStdString() }, { made });
        last = made;
        if (step != steps.back()) {
            q.qdq<int8_t>(made, made + "_dq", 0.05f, 0);
            last = made + "_dq";
        }
    }
    const Prepared f = foldedConv(), quant = finished(q, last);
    const auto a = alignOf(f, quant);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairsOf(f, quant, *a), (QStringList { "x=x", "r=v_dq", "y=y" }));
}

void StepsTests::normalizationsOfBoth()
{
    const Prepared f = SmallModel("f")
                           .input("x", { 1, 2, 5, 5 })
                           .constant("w", Tensor::of<float>(kWeight, kW1))
                           .constant("gamma", four(kFactors))
                           .constant("beta", four(kTerms))
                           .constant("mean", four({ 0, 0, 0, 0 }))
                           .constant("var", four({ 1, 1, 1, 1 }))
                           .node("Conv", { "x", "w" }, { "c" }, kPads)
                           .node("BatchNormalization", { "c", "gamma", "beta", "mean", "var" }, { "b" })
                           .node("Relu", { "b" }, { "r" })
                           .node("Sigmoid", { "r" }, { "y" })
                           .output("y")
                           .finish();
    SmallModel q = bareConv("q");
    q.node("Mul", { "u_dq", "factors" }, { "m" }).qdq<int8_t>("m", "m_dq", 0.05f, 0);
    q.node("Add", { "m_dq", "terms" }, { "s" });
    const Prepared quant = finished(q, "s");
    const auto a = alignOf(f, quant);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairsOf(f, quant, *a), (QStringList { "x=x", "c=u_dq", "r=v_dq", "y=y" }));
}

void StepsTests::activationInsideOneStep()
{
    SmallModel f("f");
    f.input("x", { 1, 2, 5, 5 }).constant("w", Tensor::of<float>(kWeight, kW1));
    f.constant("slopes", alongImage({ -.1f, -.2f, -.3f, -.4f })).constant("w2", Tensor::of<float>({ 4, 4, 3, 3 }, kW2));
    f.node("Conv", { "x", "w" }, { "c" }, kPads).node("Relu", { "c" }, { "r" }).node("Neg", { "c" }, { "n" });
    f.node("Relu", { "n" }, { "rn" }).node("Mul", { "rn", "slopes" }, { "m" }).node("Add", { "r", "m" }, { "p" });
    const Prepared apart = f.node("Conv", { "p", "w2" }, { "y" }, kPads).output("y").finish();
    const Prepared one = SmallModel("q")
                             .input("x", { 1, 2, 5, 5 })
                             .weight("k", kWeight, symmetricCodes(kW1, { 0.03f }), { 0.03f })
                             .weight("k2", { 4, 4, 3, 3 }, symmetricCodes(kW2, { 0.03f }), { 0.03f })
                             .constant("slopes", Tensor::of<float>({ 4, 1, 1 }, { .1f, .2f, .3f, .4f }))
                             .node("Conv", { "x", "k" }, { "u" }, kPads)
                             .qdq<int8_t>("u", "u_dq", 0.05f, 0)
                             .node("PRelu", { "u_dq", "slopes" }, { "q" })
                             .qdq<int8_t>("q", "q_dq", 0.05f, 0)
                             .node("Conv", { "q_dq", "k2" }, { "y" }, kPads)
                             .output("y")
                             .finish();
    const auto a = alignOf(apart, one);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairOf(apart, *a, "c")->quantValue, one.value("u_dq"));
    QVERIFY(!pairOf(apart, *a, "r")); // a part of the PRelu, which the range in front of it does not stand for
}

void StepsTests::activationThatIsLost()
{
    // Its input has another reader, and what read it reads the quantizer in its place.
    const auto build = [](bool quantized) {
        SmallModel m(quantized ? "q" : "f");
        m.input("x", { 1, 2, 5, 5 });
        if (quantized)
            m.weight("w", kWeight, symmetricCodes(kW1, { 0.03f }), { 0.03f })
                .weight("w2", { 4, 4, 3, 3 }, symmetricCodes(kW2, { 0.03f }), { 0.03f });
        else
            m.constant("w", Tensor::of<float>(kWeight, kW1)).constant("w2", Tensor::of<float>({ 4, 4, 3, 3 }, kW2));
        m.node("Conv", { "x", "w" }, { quantized ? "u" : "c" }, kPads);
        if (quantized)
            m.qdq<int8_t>("u", "u_dq", 0.05f, 0);
        else
            m.node("Relu", { "c" }, { "r" });
        m.node("Conv", { quantized ? "u_dq" : "r", "w2" }, { quantized ? "v" : "d" }, kPads);
        return m.node("Add", { quantized ? "u_dq" : "c", quantized ? "v" : "d" }, { "y" }).output("y").finish();
    };
    const Prepared f = build(false), q = build(true);
    const auto a = alignOf(f, q);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairOf(f, *a, "r")->quantValue, q.value("u_dq"));
}

void StepsTests::gemmThatAddsNothing()
{
    const Prepared f = SmallModel("f")
                           .input("x", { 2, 4 })
                           .constant("w", Tensor::of<float>({ 4, 3 }, kW3))
                           .constant("b", Tensor::of<float>({ 3 }, { 1, 2, 3 }))
                           .node("Gemm", { "x", "w", "b" }, { "g" })
                           .node("Sigmoid", { "g" }, { "y" })
                           .output("y")
                           .finish();
    for (const float beta : { 0.f, 1.f }) {
        const Prepared q = SmallModel("q")
                               .input("x", { 2, 4 })
                               .weight("k", { 4, 3 }, symmetricCodes(kW3, { 0.02f }), { 0.02f })
                               .constant("none", Tensor::scalar(0.f))
                               .weight("b2", { 3 }, { 10, 20, 30 }, { 0.1f })
                               .node("Gemm", { "x", "k", "none" }, { "m" }, { { "beta", beta } })
                               .node("Add", { "m", "b2" }, { "s" })
                               .qdq<uint8_t>("s", "s_dq", 0.05f, 128)
                               .node("Sigmoid", { "s_dq" }, { "y" })
                               .output("y")
                               .finish();
        const auto a = alignOf(f, q);
        QVERIFY2(a.ok(), qPrintable(sentence(a)));
        QCOMPARE(pairsOf(f, q, *a), (QStringList { "x=x", "g=s_dq", "y=y" }));
        QCOMPARE(a->weights.size(), size_t(2));
        QCOMPARE(a->weights[1].floatValue, f.value("b")); // its bias is the term behind
    }
}

void StepsTests::branchesWithExchangedWeights()
{
    // Two branches that nothing tells apart but how they are set, their biases and their weights.
    const Shape shape { 2, 2, 3, 3 };
    const std::vector<float> wa = normals(36, 5), wb = normals(36, 6);
    const auto build = [&](const char* path, const std::string& tail, bool exchanged) {
        SmallModel m(path);
        m.input("x", { 1, 2, 9, 9 }).constant("wa" + tail, Tensor::of<float>(shape, exchanged ? wb : wa));
        m.constant("wb" + tail, Tensor::of<float>(shape, exchanged ? wa : wb));
        m.constant("ba" + tail, Tensor::of<float>({ 2 }, { 1, -2 }))
            .constant("bb" + tail, Tensor::of<float>({ 2 }, { 3, 1 }));
        m.node("Conv", { "x", "wa" + tail, "ba" + tail }, { "a" + tail }, kPads);
        m.node("Conv", { "x", "wb" + tail, "bb" + tail }, { "b" + tail },
            { { "pads", std::vector<int64_t> { 2, 2, 2, 2 } }, { "dilations", std::vector<int64_t> { 2, 2 } } });
        return m.node("Sub", { "a" + tail, "b" + tail }, { "y" + tail }).output("y" + tail).finish();
    };
    const Prepared f = build("f", "", false), q = build("q", "2", true);
    const auto a = align(*f.plan, *q.plan, *q.view, {}, true);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairOf(f, *a, "a")->quantValue, q.value("a2"));
    QCOMPARE(pairOf(f, *a, "b")->quantValue, q.value("b2"));
}

void StepsTests::termInsideALaterNode()
{
    // x -> MatMul -> + -> LayerNormalization -> y, where one file adds the term in the node that normalizes.
    const Tensor w = Tensor::of<float>({ 4, 4 }, normals(16, 5));
    const auto begin = [&](const char* path) {
        SmallModel m(path);
        m.input("x", { 3, 4 }).constant("w", w).constant("b", four(kTerms)).constant("g", four(kFactors));
        return m.node("MatMul", { "x", "w" }, { "p" });
    };
    const Prepared f = begin("f")
                           .node("Add", { "p", "b" }, { "s" })
                           .node("Add", { "s", "x" }, { "r" })
                           .node("LayerNormalization", { "r", "g" }, { "n" })
                           .node("Exp", { "n" }, { "y" })
                           .output("y")
                           .finish();
    const Prepared q = begin("q")
                           .node("SkipLayerNormalization", { "p", "x", "g", "", "b" }, { "n" }, {}, "com.microsoft")
                           .node("Exp", { "n" }, { "y" })
                           .output("y")
                           .finish();
    const auto a = align(*f.plan, *q.plan, *q.view, {}, true);
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairsOf(f, q, *a), (QStringList { "x=x", "p=p", "n=n", "y=y" }));
}

#include "steps_test.moc"

int runStepsTests(int argc, char** argv)
{
    StepsTests tests;
    return QTest::qExec(&tests, argc, argv);
}
