// SPDX-License-Identifier: GPL-3.0-or-later
// Two files whose nodes are named otherwise, or stand in other steps: what is blamed, and what is right there.
#include "core/analysis/confirm/confirmed_pairs.h"
#include "core/analysis/rounding/convolution_pads.h"
#include "core/analysis/rounding/turned_axes.h"
#include "core/match/graph/added_products.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <fmt/format.h>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kRows = 8, kWidth = 8;
using Order = std::vector<int64_t>;

Tensor sample(const Shape& shape, uint32_t seed)
{
    return Tensor::of<float>(shape, normals(int(*elementCount(shape)), seed));
}

Comparison proved(const ComparePair& pair, const Shape& shape)
{
    CompareOptions options;
    options.prove = true;
    const FixedData data({ sample(shape, 9) });
    auto result = compareModels(pair, data, options, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return std::move(result).value();
}

/// With the values that both files compute held against each other.
Comparison confirmed(const Prepared& f, const Prepared& q, const Shape& shape)
{
    ComparePair pair = pairOf(f, q);
    auto found = confirmPairs(pair, {}, { { sample(shape, 101) }, { sample(shape, 102) } }, {});
    if (!found.ok())
        qFatal("%s", issueText(found.issue()).c_str());
    pair.alignment = std::make_shared<const Alignment>(std::move(found).value());
    return proved(pair, shape);
}

/// Elu -> Softmax, between Transposes where there is an order.
Prepared turned(float alpha, int64_t axis, const Order& order)
{
    SmallModel m("turned");
    m.input("x", { 2, kWidth, kWidth }).node("Elu", { "x" }, { "a" }, { { "alpha", alpha } });
    const bool turns = !order.empty();
    if (turns)
        m.node("Transpose", { "a" }, { "t" }, { { "perm", order } });
    m.node("Softmax", { turns ? "t" : "a" }, { "s" }, { { "axis", axis } });
    if (turns)
        m.node("Transpose", { "s" }, { "b" }, { { "perm", order } });
    return m.node("Neg", { turns ? "b" : "s" }, { "y" }).output("y").finish();
}

/// y = x + Elu(x) / 20, with what the Elu makes as a state for the next run; or beside two LeakyRelus whose slopes
/// take the effect of each other away.
Prepared withEffects(const QString& kind, float alpha, const std::vector<float>& slopes)
{
    SmallModel m("effects");
    m.input("x", { kRows, kWidth }).constant("little", Tensor::scalar(kind == "state" ? 0.05f : 0.002f));
    m.node("Elu", { "x" }, { "a" }, { { "alpha", alpha } }).node("Mul", { "a", "little" }, { "b" });
    std::string sum = "x";
    for (size_t i = 0; i < slopes.size(); ++i) {
        const std::string n = std::to_string(i);
        m.node("LeakyRelu", { "x" }, { "r" + n }, { { "alpha", slopes[i] } });
        m.node("Add", { sum, "r" + n }, { "c" + n });
        sum = "c" + n;
    }
    m.node("Add", { "b", sum }, { "y" });
    if (kind == "state")
        m.node("Identity", { "a" }, { "present.0.key" }).output("present.0.key");
    return m.output("y").finish();
}

/// x * factor, normalized where that is asked for, -> MatMul -> Tanh or nothing.
Prepared parting(bool other, bool normalizes)
{
    SmallModel m(other ? "q" : "f");
    std::vector<float> w = uniform(size_t(kWidth * kWidth), 5, -0.0135f, 0.0135f);
    m.input("x", { kRows, kWidth }).constant("factor", Tensor::scalar(other ? 2.0007f : 2.f));
    m.constant("g", Tensor::of<float>({ kWidth }, std::vector<float>(size_t(kWidth), 1)));
    m.constant("w", Tensor::of<float>({ kWidth, kWidth }, w)).node("Mul", { "x", "factor" }, { "h" });
    m.node(normalizes ? "LayerNormalization" : "Sin",
        normalizes ? SmallModel::Names { "h", "g" } : SmallModel::Names { "h" }, { "n" });
    m.node("MatMul", { "n", "w" }, { "t" }).node(other && normalizes ? "Identity" : "Tanh", { "t" }, { "u" });
    return m.node("Neg", { "u" }, { "y" }).output("y").finish();
}

/// LSTM or GRU, or one behind the other, with names of its own; `faults`: inputs that hold other numbers.
Prepared recurrent(const std::string& n, const std::vector<std::string>& types, const std::vector<size_t>& faults)
{
    constexpr int64_t kBatch = 2, kSize = 5;
    SmallModel m(n);
    m.input("x", { kRows, kBatch, kWidth }).constant(n + "axes", Tensor::of<int64_t>({ 1 }, { 1 }));
    std::string in = "x";
    for (const std::string& type : types) {
        const int64_t gates = type == "LSTM" ? 4 : 3, width = in == "x" ? kWidth : kSize;
        const std::string k = n + type;
        const std::vector<Shape> shapes { { 1, gates * kSize, width }, { 1, gates * kSize, kSize },
            { 1, 2 * gates * kSize } };
        SmallModel::Names inputs { in };
        for (size_t i = 0; i < shapes.size(); ++i) {
            const bool fault = std::ranges::find(faults, i + 1) != faults.end();
            inputs.push_back(k + "WRB"[i]);
            m.constant(inputs.back(),
                Tensor::of<float>(shapes[i],
                    uniform(size_t(*elementCount(shapes[i])), uint32_t(10 * gates) + uint32_t(i) + (fault ? 5 : 0))));
        }
        m.node(type, inputs, { k + "y" }, { { "hidden_size", kSize } });
        m.node("Squeeze", { k + "y", n + "axes" }, { k + "s" });
        in = k + "s";
    }
    return m.node("Neg", { in }, { "y" }).output("y").finish();
}

/// Attention of one head. `codes`: names of its own, with codes of the weights and of a step.
Prepared attention(bool codes, bool exchanged)
{
    constexpr float kStep = 1.f / 127;
    const std::string n = codes ? "layer/" : "m.";
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    for (uint32_t i = 0; i < 3; ++i) {
        const std::string k = n + "qkv"[i];
        const std::vector<float> w = uniform(size_t(kWidth * kWidth), 5 + (exchanged && i < 2 ? 1 - i : i));
        m.constant(k + "_b", Tensor::of<float>({ kWidth }, uniform(size_t(kWidth), 15 + i)));
        if (codes)
            m.weight(k + "_w", { kWidth, kWidth }, symmetricCodes(w, { kStep }), { kStep });
        else
            m.constant(k + "_w", Tensor::of<float>({ kWidth, kWidth }, w));
        m.node("MatMul", { "x", k + "_w" }, { k + "_p" }).node("Add", { k + "_p", k + "_b" }, { k });
    }
    m.node("Transpose", { n + "k" }, { n + "t" }, { { "perm", Order { 1, 0 } } });
    m.node("MatMul", { n + "q", n + "t" }, { n + "s" }).node("Softmax", { n + "s" }, { n + "a" });
    return m.node("MatMul", { n + "a", n + "v" }, { n + "o" }).node("Neg", { n + "o" }, { "y" }).output("y").finish();
}

/// A gate through a Sigmoid times another product, and what multiplies that.
Prepared gated(bool codes, bool exchanged)
{
    constexpr float kStep = 1.f / 127;
    const std::string n = codes ? "layer/" : "m.";
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    for (uint32_t i = 0; i < 3; ++i) {
        const std::string k = n + "guo"[i];
        const std::vector<float> w = uniform(size_t(kWidth * kWidth), 5 + (exchanged && i < 2 ? 1 - i : i));
        if (codes)
            m.weight(k + "_w", { kWidth, kWidth }, symmetricCodes(w, { kStep }), { kStep });
        else
            m.constant(k + "_w", Tensor::of<float>({ kWidth, kWidth }, w));
        if (i < 2)
            m.node("MatMul", { "x", k + "_w" }, { k });
    }
    m.node("Sigmoid", { n + "g" }, { n + "s" }).node("Mul", { n + "g", n + "s" }, { n + "a" });
    m.node("Mul", { n + "a", n + "u" }, { n + "m" }).node("MatMul", { n + "m", n + "o_w" }, { n + "o" });
    return m.node("Neg", { n + "o" }, { "y" }).output("y").finish();
}

bool tells(const Finding* f, const std::string& part) { return f && f->summary.find(part) != std::string::npos; }

} // namespace

class CrossedCausesTest : public QObject {
    Q_OBJECT
private slots:
    void axes_data()
    {
        QTest::addColumn<Order>("order"); // of the float model's Transposes
        QTest::addColumn<Order>("other");
        QTest::addColumn<int64_t>("axis");
        QTest::addColumn<int64_t>("otherAxis");
        QTest::addColumn<bool>("told");
        const Order exchanged { 0, 2, 1 };
        QTest::newRow("between Transposes in the float model")
            << exchanged << Order {} << int64_t(2) << int64_t(1) << false;
        QTest::newRow("between Transposes in the other") << Order {} << exchanged << int64_t(1) << int64_t(2) << false;
        QTest::newRow("another axis") << Order {} << Order {} << int64_t(2) << int64_t(1) << true;
        QTest::newRow("another axis between Transposes") << exchanged << exchanged << int64_t(2) << int64_t(1) << true;
    }
    void axes()
    {
        QFETCH(Order, order);
        QFETCH(Order, other);
        QFETCH(int64_t, axis);
        QFETCH(int64_t, otherAxis);
        QFETCH(bool, told);
        const Shape shape { 2, kWidth, kWidth };
        const Comparison c = proved(pairOf(turned(1, axis, order), turned(0.3f, otherAxis, other)), shape);
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2(tells(found, "alpha 0.3"), qPrintable(rulesOf(c)));
        QVERIFY2(tells(found, "has axis") == told, found->summary.c_str());
    }

    void effects_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<std::vector<float>>("slopes");
        QTest::addColumn<std::vector<float>>("others");
        QTest::addColumn<QString>("cause");
        using Slopes = std::vector<float>;
        QTest::newRow("a state moves more") << "state" << Slopes {} << Slopes {} << "Elu";
        QTest::newRow("made up for") << "result" << Slopes { 0.1f, 0.3f } << Slopes { 0.3f, 0.1f } << "Elu";
        Slopes many(13, 0.12f);
        many[0] = 0.6f;
        QTest::newRow("many") << "result" << Slopes(13, 0.1f) << many << "LeakyRelu";
    }
    /// The cause is told by what it does to the output that is told of; what moves that far more is not it.
    void effects()
    {
        QFETCH(QString, kind);
        QFETCH(std::vector<float>, slopes);
        QFETCH(std::vector<float>, others);
        QFETCH(QString, cause);
        const Comparison c
            = proved(pairOf(withEffects(kind, 1, slopes), withEffects(kind, 0.3f, others)), { kRows, kWidth });
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2(found && c.network && !c.network->changed.empty(), qPrintable(rulesOf(c)));
        const auto number = [](double v) { return fmt::format("{:.2g}", v); };
        const std::string& text = found->summary;
        const ChangedFunction& told = c.network->changed.front();
        QVERIFY2(tells(found, "this alone moves the float model's y by " + number(told.effect)), text.c_str());
        QVERIFY2(told.text.find(cause.toStdString()) != std::string::npos, told.text.c_str());
        if (cause == "Elu")
            QCOMPARE(number(told.effect), number(c.network->distance.worstOutput.distance));
        QVERIFY2(text.find(" more.") == text.rfind(" more."), text.c_str());
    }

    void places_data()
    {
        QTest::addColumn<bool>("normalizes");
        QTest::addColumn<QString>("tensor");
        QTest::newRow("agrees between") << true << "u";
        QTest::newRow("stays apart") << false << "h";
    }
    /// What is apart first is not the place where it is no more before the output.
    void places()
    {
        QFETCH(bool, normalizes);
        QFETCH(QString, tensor);
        const Comparison c = proved(pairOf(parting(false, normalizes), parting(true, normalizes)), { kRows, kWidth });
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QVERIFY2(found->tensor == tensor.toStdString(), qPrintable(rulesOf(c)));
        QVERIFY2(tells(found, "before, most comes in at") == normalizes, found->summary.c_str());
    }

    void recurrents_data()
    {
        QTest::addColumn<QStringList>("types");
        QTest::addColumn<QList<int>>("faults"); // inputs
        QTest::newRow("healthy") << QStringList { "LSTM", "GRU" } << QList<int> {};
        QTest::newRow("input weights of a GRU") << QStringList { "GRU" } << QList<int> { 1 };
        QTest::newRow("recurrent weights of an LSTM") << QStringList { "LSTM" } << QList<int> { 2 };
        QTest::newRow("biases of an LSTM") << QStringList { "LSTM" } << QList<int> { 3 };
        QTest::newRow("all of two") << QStringList { "LSTM", "GRU" } << QList<int> { 1, 2, 3 };
    }
    /// Their weights are told to be others, whatever they are named.
    void recurrents()
    {
        QFETCH(QStringList, types);
        QFETCH(QList<int>, faults);
        std::vector<std::string> names;
        for (const QString& type : types)
            names.push_back(type.toStdString());
        const Comparison c = confirmed(recurrent("f_", names, {}),
            recurrent("q_", names, std::vector<size_t>(faults.begin(), faults.end())), { kRows, 2, kWidth });
        QVERIFY2(!findingOf(c, Rule::ModelsDiffer), qPrintable(rulesOf(c)));
        const Finding* found = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2((found == nullptr) == faults.empty(), qPrintable(rulesOf(c)));
        const auto& others = c.network->step.roundings;
        for (const int fault : faults)
            for (const std::string& type : names)
                QCOMPARE(std::ranges::count(others, "f_" + type + "WRB"[size_t(fault - 1)], &WeightRounding::name), 1);
    }

    void products_data()
    {
        QTest::addColumn<bool>("gates");
        QTest::addColumn<bool>("exchanged");
        QTest::newRow("healthy attention") << false << false;
        QTest::newRow("weights of query and key") << false << true;
        QTest::newRow("healthy gate") << true << false;
        QTest::newRow("weights of gate and gated") << true << true;
    }
    /// What products are for tells which is which, not their weights.
    void products()
    {
        QFETCH(bool, gates);
        QFETCH(bool, exchanged);
        const Comparison c = confirmed(gates ? gated(false, false) : attention(false, false),
            gates ? gated(true, exchanged) : attention(true, exchanged), { kRows, kWidth });
        QVERIFY2(!findingOf(c, Rule::ModelsDiffer), qPrintable(rulesOf(c)));
        const Finding* found = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2((found != nullptr) == exchanged, qPrintable(rulesOf(c)));
        if (found)
            QVERIFY2(tells(found, "they are those of"), found->summary.c_str());
    }

    /// Nodes that lack inputs, and attributes and constants that are none of theirs.
    void brokenNodes()
    {
        SmallModel m("broken");
        m.input("x", { 2, kWidth }).constant("w", sample({ kWidth, kWidth }, 3)).node("MatMul", { "x", "w" }, { "p" });
        const Prepared alone = m.node("Add", { "p" }, { "y" }).output("y").finish();
        QVERIFY(!addedMatrix(*alone.plan, alone.graph().value(alone.value("p")).producer));
        SmallModel lacking("lacking");
        lacking.input("x", { 2, kWidth }).constant("w", sample({ kWidth, kWidth }, 3));
        lacking.node("MatMul", { "x", "w" }, { "p" }).node("MatMul", { "", "w" }, { "b" });
        const Prepared beside = lacking.node("Add", { "p", "b" }, { "y" }).output("y").finish();
        QVERIFY(!addedMatrix(*beside.plan, beside.graph().value(beside.value("p")).producer));

        const Prepared f = turned(1, 1, {}), q = turned(1, 1, { 0, 9, -1 });
        const auto softmax = [](const Prepared& p) { return p.graph().value(p.value("s")).producer; };
        QVERIFY(!axesBefore(pairOf(f, q), softmax(f), softmax(q), 1, 1));

        for (const Order& pads : { Order { 1 }, Order { 0, 0, 1 }, Order(8, INT64_MAX) }) {
            SmallModel padded("padded");
            padded.input("x", { 1, 2, kWidth, kWidth }).constant("w", sample({ 3, 2, 3, 3 }, 4));
            padded.constant("pads", Tensor::of<int64_t>({ int64_t(pads.size()) }, pads));
            padded.node("Pad", { "x", "pads" }, { "p" })
                .node("Conv", { "p", "w" }, { "c" }, { { "pads", Order(4, 1) } });
            const Prepared p = padded.output("c").finish();
            const auto found = convolutionPads(*p.plan, p.graph().value(p.value("c")).producer);
            QVERIFY(!found || found->pad.empty());
        }
    }

    /// A node that leads to no output reads nothing: the activation is still folded, and both files are the same.
    void leftOver()
    {
        const auto net = [](bool quantized, bool leftOver) {
            constexpr float kStep = 1.f / 64;
            SmallModel m(quantized ? "q" : "f");
            m.input("x", { 4, 8 });
            if (quantized)
                m.qdq<int8_t>("x", "x_dq", 3.f / 127, 0);
            for (const char* name : { "v", "w" }) {
                const std::vector<float> values = uniform(64, uint32_t(name[0]));
                if (quantized)
                    m.weight(name, { 8, 8 }, symmetricCodes(values, { kStep / 2 }), { kStep / 2 });
                else
                    m.constant(name, Tensor::of<float>({ 8, 8 }, values));
            }
            m.node("MatMul", { quantized ? "x_dq" : "x", "v" }, { "p" });
            if (quantized)
                m.qdq<uint8_t>("p", "a_dq", 6.f / 255, 0);
            else
                m.node("Relu", { "p" }, { "a" });
            if (leftOver)
                m.node("Neg", { "p" }, { "unread" }).node("Exp", { "unread" }, { "last" });
            return m.node("MatMul", { quantized ? "a_dq" : "a", "w" }, { "y" }).output("y").finish();
        };
        const auto severe = [](const Comparison& c) {
            std::vector<std::string> titles;
            for (const Finding& f : c.findings)
                if (f.severity != Severity::Note)
                    titles.push_back(f.title + ": " + f.summary);
            return titles;
        };
        const Shape shape { 4, 8 };
        const Comparison clean = proved(pairOf(net(false, false), net(true, false)), shape);
        for (const bool inFloat : { false, true }) {
            const Comparison c = proved(pairOf(net(false, inFloat), net(true, !inFloat)), shape);
            QCOMPARE(severe(c), severe(clean));
            QVERIFY(c.network && c.network->same());
            QCOMPARE(rowOf(c, "a").foldedActivation, rowOf(clean, "a").foldedActivation);
            QCOMPARE(rowOf(c, "a").accumulated.sqnrDb, rowOf(clean, "a").accumulated.sqnrDb);
        }
    }
};

QTEST_GUILESS_MAIN(CrossedCausesTest)
#include "crossed_causes_test.moc"
