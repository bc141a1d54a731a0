// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/changed_functions.h"
#include "core/tensor/convert.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>
#include <functional>
#include <numeric>

using namespace qs;
using namespace qs::test;

/// Where two files part, by what, and when nothing can be said of it.
namespace {

constexpr int64_t kRows = 32, kWidth = 16;
constexpr float kFourBits = 1.f / 7;

Comparison proved(const Prepared& f, const Prepared& q)
{
    CompareOptions options;
    options.prove = true;
    const FixedData data({ Tensor::of<float>({ kRows, kWidth }, normals(int(kRows * kWidth), 9)) });
    auto result = compareModels(pairOf(f, q), data, options, {});
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return std::move(result).value();
}

/// [kWidth, columns]
std::vector<float> matrix(int64_t columns, uint32_t seed) { return uniform(size_t(kWidth * columns), seed); }

/// The columns of a matrix that `takes` takes.
template <class Takes> std::vector<float> columnsOf(const std::vector<float>& w, int64_t columns, Takes takes)
{
    std::vector<float> part;
    for (size_t i = 0; i < w.size(); ++i)
        if (takes(int64_t(i) % columns))
            part.push_back(w[i]);
    return part;
}

/// Codes of 4 bits where the step is one of these.
void addWeight(SmallModel& m, bool codes, const std::string& name, int64_t columns, const std::vector<float>& w,
    float step = 1.f / 127)
{
    const Shape shape { kWidth, columns };
    if (!codes)
        m.constant(name, Tensor::of<float>(shape, w));
    else if (step != kFourBits)
        m.weight(name, shape, symmetricCodes(w, { step }), { step });
    else
        m.constant(name + "_codes", packedAs(Tensor::of<int8_t>(shape, symmetricCodes(w, { step })), DType::Int4))
            .constant(name + "_scale", Tensor::scalar(step))
            .node("DequantizeLinear", { name + "_codes", name + "_scale" }, { name });
}

/// Three products side by side, which one file keeps in one matrix, beside one that is wider than each.
Prepared packed(bool codes, float alpha)
{
    constexpr int64_t kPart = 4, kPacked = 3 * kPart, kBeside = 24;
    const std::vector<float> all = matrix(kPacked, 5), beside = matrix(kBeside, 6);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    const std::vector<std::string> parts { "q", "k", "v" };
    if (codes) {
        addWeight(m, true, "wp", kPacked, all);
        m.constant("sizes", Tensor::of<int64_t>({ 3 }, { kPart, kPart, kPart }));
        m.node("MatMul", { "x", "wp" }, { "p" });
        m.node("Split", { "p", "sizes" }, { "pq", "pk", "pv" }, { { "axis", int64_t(1) } });
    }
    for (int64_t i = 0; i < 3 && !codes; ++i) {
        const std::string& name = parts[size_t(i)];
        addWeight(m, false, "w" + name, kPart, columnsOf(all, kPacked, [&](int64_t c) { return c / kPart == i; }));
        m.node("MatMul", { "x", "w" + name }, { name });
    }
    const std::string before = codes ? "p" : "";
    addWeight(m, codes, codes ? "wide" : "fc", kBeside, beside);
    m.node("MatMul", { "x", codes ? "wide" : "fc" }, { codes ? "u" : "f" });
    m.node("Mul", { before + "q", before + "k" }, { codes ? "r" : "qk" });
    m.node("Add", { codes ? "r" : "qk", before + "v" }, { codes ? "s" : "qkv" });
    m.node("Elu", { codes ? "u" : "f" }, { codes ? "e" : "g" }, { { "alpha", alpha } });
    m.node("Concat", { codes ? "s" : "qkv", codes ? "e" : "g" }, { "y" }, { { "axis", int64_t(1) } });
    return m.output("y").finish();
}

constexpr int64_t kSide = 8, kChannels = 2;

/// Pad -> Conv -> Neg; without `before` no Pad. Filled with a zero that is a code.
Prepared paddedConv(bool codes, const std::vector<int64_t>& before, const std::vector<int64_t>& own)
{
    const Shape shape { 3, kChannels, 3, 3 };
    const std::vector<float> w = uniform(54, 5);
    const std::string at = codes ? "x_dq" : "x";
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 1, kChannels, kSide, kSide });
    if (codes)
        m.qdq<int8_t>("x", "x_dq", 0.03f, 0).weight("w", shape, symmetricCodes(w, { 1.f / 127 }), { 1.f / 127 });
    else
        m.constant("w", Tensor::of<float>(shape, w));
    if (!before.empty()) {
        m.constant("pads", Tensor::of<int64_t>({ int64_t(before.size()) }, before))
            .constant("zero", Tensor::scalar(0.f));
        if (codes)
            m.qdq<int8_t>("zero", "zero_dq", 1.f, 0);
        m.node("Pad", { at, "pads", codes ? "zero_dq" : "zero" }, { "p" });
        if (codes)
            m.qdq<int8_t>("p", "p_dq", 0.03f, 0);
    }
    const std::string read = before.empty() ? at : codes ? "p_dq" : "p";
    m.node("Conv", { read, "w" }, { "c" }, { { "pads", own } });
    return m.node("Neg", { "c" }, { "y" }).output("y").finish();
}

/// A constant and a value through operators of somebody's own.
Prepared throughOwnOperators(bool own)
{
    SmallModel m(own ? "q" : "f");
    m.input("x", { kRows, kWidth }).constant("c", Tensor::of<float>({ kWidth }, uniform(size_t(kWidth), 5)));
    if (own)
        m.node("Rounded", { "x" }, { "x_own" }, {}, "com.example")
            .node("Rounded", { "c" }, { "c_own" }, {}, "com.example");
    m.node("Mul", { own ? "x_own" : "x", own ? "c_own" : "c" }, { "h" });
    if (own)
        m.node("Unrounded", { "h" }, { "h_own" }, {}, "com.example");
    return m.node("Neg", { own ? "h_own" : "h" }, { "y" }).output("y").finish();
}

/// A product that one file computes in two, of every second column each, whose weights have no partner.
Prepared interleaved(bool codes, float step)
{
    constexpr int64_t kColumns = 8;
    const std::vector<float> w = matrix(kColumns, 5);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    addWeight(m, codes, "first", kWidth, matrix(kWidth, 6), step);
    m.node("MatMul", { "x", "first" }, { "h" });
    if (!codes) {
        addWeight(m, false, "w", kColumns, w);
        return m.node("MatMul", { "h", "w" }, { "p" }).node("Neg", { "p" }, { "y" }).output("y").finish();
    }
    m.constant("axes", Tensor::of<int64_t>({ 1 }, { 2 }));
    m.constant("shape", Tensor::of<int64_t>({ 2 }, { kRows, kColumns }));
    for (const int64_t i : { 0, 1 }) {
        const std::string n = i == 0 ? "a" : "b";
        addWeight(m, true, "w" + n, kColumns / 2, columnsOf(w, kColumns, [&](int64_t c) { return c % 2 == i; }), step);
        m.node("MatMul", { "h", "w" + n }, { "p" + n }).node("Unsqueeze", { "p" + n, "axes" }, { "u" + n });
    }
    m.node("Concat", { "ua", "ub" }, { "c" }, { { "axis", int64_t(2) } }).node("Reshape", { "c", "shape" }, { "r" });
    return m.node("Neg", { "r" }, { "y" }).output("y").finish();
}

/// x + factor * Elu(x), and a copy of it in another shape that asks how large it is.
Prepared dying(float alpha)
{
    SmallModel m("dying");
    m.input("x", { kRows, kWidth }).constant("factor", Tensor::scalar(0.05f));
    m.node("Elu", { "x" }, { "a" }, { { "alpha", alpha } }).node("Mul", { "a", "factor" }, { "b" });
    m.node("Add", { "b", "x" }, { "c" }).node("Shape", { "b" }, { "size" }).node("Reshape", { "c", "size" }, { "d" });
    return m.node("Neg", { "d" }, { "y" }).output("y").finish();
}

/// A product whose weight has codes in steps of 0.5, and a bias.
Prepared withBias(bool codes, const std::vector<float>& bias)
{
    const auto outputs = int64_t(bias.size());
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).constant("b", Tensor::of<float>({ outputs }, bias));
    addWeight(m, codes, "w", outputs, matrix(outputs, 5), 0.5f);
    return m.node("MatMul", { "x", "w" }, { "p" }).node("Add", { "p", "b" }, { "y" }).output("y").finish();
}

/// A result that is little off, and a state for the next run that is far off or of another size.
Prepared withState(float alpha, int64_t repeats)
{
    SmallModel m("state");
    m.input("x", { kRows, kWidth }).constant("factor", Tensor::scalar(0.05f));
    m.constant("repeats", Tensor::of<int64_t>({ 2 }, { repeats, 1 }));
    m.node("Elu", { "x" }, { "a" }, { { "alpha", alpha } }).node("Mul", { "a", "factor" }, { "b" });
    m.node("Add", { "b", "x" }, { "y" }).node("Tile", { "a", "repeats" }, { "present.0.key" });
    return m.output("present.0.key").output("y").finish();
}

/// A normalization whose part of the result is small, behind a product whose weight the quantized file has in codes
/// that no float constant is alike.
Prepared normed(bool codes, float epsilon)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth }).constant("one", Tensor::of<float>({ kWidth }, std::vector<float>(kWidth, 1)));
    if (codes)
        m.qdq<int8_t>("x", "x_dq", 0.04f, 0);
    m.node("LayerNormalization", { codes ? "x_dq" : "x", "one" }, { "n" }, { { "epsilon", epsilon } });
    return m.node("Neg", { "n" }, { "y" }).output("y").finish();
}

/// The place of the largest element along an axis, as the only result.
Prepared largest(int64_t axis, int64_t last)
{
    SmallModel m("largest");
    m.input("x", { kRows, kWidth }).node("Neg", { "x" }, { "n" }).node("Round", { "n" }, { "r" });
    m.node("ArgMax", { "r" }, { "i" }, { { "axis", axis }, { "keepdims", int64_t(0) }, { "select_last_index", last } });
    return m.node("Relu", { "r" }, { "y" }).output("y").output("i").finish();
}

/// Two inputs of one size that do different things, and two results.
Prepared twoEnds(bool inputsExchanged, bool outputsExchanged)
{
    SmallModel m("two");
    const std::string first = inputsExchanged ? "r" : "l", second = inputsExchanged ? "l" : "r";
    m.input("l", { kRows, kWidth }).input("r", { kRows, kWidth });
    m.node("Relu", { first }, { "a" }).node("Tanh", { second }, { "b" });
    m.node("Add", { "a", "b" }, { "c" }).node("Abs", { "c" }, { "d" });
    const std::string up = outputsExchanged ? "q" : "p", down = outputsExchanged ? "p" : "q";
    m.node("Neg", { "d" }, { up }).node("Exp", { "b" }, { down });
    return m.output("p").output("q").finish();
}

} // namespace

class NetworkPartsTests : public QObject {
    Q_OBJECT
private slots:
    /// A matrix beside a packed one is no part of it: its own partner is found, and with it the proof is a sharp one.
    void besidePacked()
    {
        const Comparison same = proved(packed(false, 1), packed(true, 1));
        QVERIFY2(same.network && same.network->same() && !same.network->rearranged, qPrintable(rulesOf(same)));
        QVERIFY(std::ranges::any_of(same.weights, [](const WeightRow& row) { return row.name == "fc"; }));
        QVERIFY2(!findingOf(same, Rule::WeightsDiffer), qPrintable(rulesOf(same)));
        const Comparison other = proved(packed(false, 1), packed(true, 0.9f));
        QVERIFY2(other.network && other.network->known() && !other.network->same(), qPrintable(rulesOf(other)));
    }

    void ownWeights_data()
    {
        QTest::addColumn<float>("step");
        QTest::addColumn<bool>("known");
        QTest::newRow("fine") << 1.f / 127 << true;
        QTest::newRow("coarse") << kFourBits << false;
    }
    /// Where rounding explains much of the output nothing is proved, and nothing was moved where no weight shows it.
    void ownWeights()
    {
        QFETCH(float, step);
        QFETCH(bool, known);
        const Comparison c = proved(interleaved(false, 0), interleaved(true, step));
        QVERIFY(c.network);
        QVERIFY2(c.network->known() == known && c.network->same() == known, qPrintable(rulesOf(c)));
        QVERIFY2(!findingOf(c, Rule::WeightsDiffer), qPrintable(rulesOf(c)));
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2((found != nullptr) != known, qPrintable(rulesOf(c)));
        QVERIFY2(known || found->summary.find("hides what else differs") != std::string::npos, qPrintable(rulesOf(c)));
    }

    /// Behind a fault, whose effect dies down, names stay; the place is its node, and its attribute is named.
    void behindTheFault()
    {
        const Comparison c = proved(dying(1), dying(0.5f));
        for (const char* name : { "a", "b", "c", "d", "y" })
            QCOMPARE(rowOf(c, name).quantizedName, std::string(name));
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QCOMPARE(found->node, std::string("n_a"));
        QVERIFY2(found->summary.find("Elu 'n_a' has alpha 0.5, in the float model 1") != std::string::npos,
            found->summary.c_str());
    }

    void noNumbers_data()
    {
        QTest::addColumn<float>("added");
        QTest::addColumn<bool>("inFloat"); // it is the float model that adds it
        QTest::addColumn<bool>("same");
        const float infinite = std::numeric_limits<float>::infinity();
        QTest::newRow("nothing") << 0.f << false << true;
        QTest::newRow("infinite") << -infinite << false << false;
        QTest::newRow("none") << std::numeric_limits<float>::quiet_NaN() << false << false;
        QTest::newRow("infinite in the float model") << -infinite << true << false;
        QTest::newRow("none in the float model") << std::numeric_limits<float>::quiet_NaN() << true << false;
    }
    /// Elements that are no numbers in one of the files alone are no part of its error, and yet not the same.
    void noNumbers()
    {
        QFETCH(float, added);
        QFETCH(bool, inFloat);
        QFETCH(bool, same);
        const auto net = [&](bool adds) {
            SmallModel m(adds ? "q" : "f");
            m.input("x", { 1, 4 }).constant("w", Tensor::of<float>({ 4, 6 }, uniform(24, 3)));
            m.node("MatMul", { "x", "w" }, { adds ? "raw" : "y" });
            if (adds)
                m.constant("ban", Tensor::of<float>({ 6 }, { 0, added, 0, 0, 0, 0 }))
                    .node("Add", { "raw", "ban" }, { "y" });
            return m.output("y").finish();
        };
        CompareOptions options;
        options.prove = true;
        const FixedData data({ Tensor::of<float>({ 1, 4 }, normals(4, 9)) });
        const Comparison c = compared(net(inFloat), net(!inFloat), data, options);
        QVERIFY(c.network && c.network->known());
        QCOMPARE(c.network->same(), same);
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2((found != nullptr) != same, qPrintable(rulesOf(c)));
        if (found)
            QVERIFY2(found->summary.find(inFloat ? "of which 1 element is finite there and infinite or NaN"
                                                 : "of which 1 element is infinite or NaN there")
                    != std::string::npos,
                found->summary.c_str());
    }

    void lostBias_data()
    {
        QTest::addColumn<float>("factor");
        QTest::addColumn<bool>("lost");
        QTest::newRow("corrected") << 0.9f << false;
        QTest::newRow("zeros") << 0.f << true;
        QTest::newRow("another") << -0.2f << true;
    }
    /// What goes under in the noise of the weights, and is yet no correction.
    void lostBias()
    {
        QFETCH(float, factor);
        QFETCH(bool, lost);
        std::vector<float> bias = uniform(8, 7, -0.05f, 0.05f), stored = bias;
        for (float& v : stored)
            v *= factor;
        const Comparison c = proved(withBias(false, bias), withBias(true, stored));
        const Finding* found = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QCOMPARE(found->tensor, std::string("b"));
        QCOMPARE(found->severity != Severity::Note, lost);
        QCOMPARE(found->summary.find("zeros") != std::string::npos, lost);
    }

    /// As far from the float model's as zeros are, and none: it is not said to be lost.
    void doubledBias()
    {
        const std::vector<float> bias = uniform(8, 7, -2, 2);
        std::vector<float> stored = bias;
        for (float& v : stored)
            v *= 2;
        const Comparison c = proved(withBias(false, bias), withBias(true, stored));
        const Finding* found = findingOf(c, Rule::WeightsDiffer);
        QVERIFY2(found && found->severity == Severity::Error, qPrintable(rulesOf(c)));
        QVERIFY2(found->summary.find("nothing but zeros") == std::string::npos, found->summary.c_str());
    }

    void states_data()
    {
        QTest::addColumn<float>("alpha");
        QTest::addColumn<int64_t>("repeats"); // of the state
        QTest::addColumn<bool>("same");
        QTest::newRow("the same") << 1.f << int64_t(1) << true;
        QTest::newRow("a state of another size") << 1.f << int64_t(2) << true;
        QTest::newRow("both are off") << 0.5f << int64_t(1) << false;
        QTest::newRow("a state of another size, and off") << 0.5f << int64_t(2) << false;
    }
    /// Results are told of before states.
    void states()
    {
        QFETCH(float, alpha);
        QFETCH(int64_t, repeats);
        QFETCH(bool, same);
        const Comparison c = proved(withState(1, 1), withState(alpha, repeats));
        QVERIFY2(c.network && c.network->same() == same, qPrintable(rulesOf(c)));
        QCOMPARE(c.network->output, std::string("y"));
        QVERIFY(std::isfinite(c.network->distance.worstOutput.distance));
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY(same || (found && found->summary.find("of the size of y") != std::string::npos));
    }

    void attributes_data()
    {
        QTest::addColumn<float>("epsilon");
        QTest::addColumn<bool>("told");
        QTest::newRow("the same") << 1e-5f << false;
        QTest::newRow("another that does nothing") << 1e-9f << false;
        QTest::newRow("another") << 0.3f << true;
    }
    /// An attribute is told of by what it does, and where it does nothing it is none.
    void attributes()
    {
        QFETCH(float, epsilon);
        QFETCH(bool, told);
        const Comparison c = proved(normed(false, 1e-5f), normed(true, epsilon));
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2((found && found->severity == Severity::Error) == told, qPrintable(rulesOf(c)));
        if (!told)
            return;
        QCOMPARE(found->node, std::string("n_n"));
        QVERIFY2(found->summary.find("epsilon 0.3") != std::string::npos, found->summary.c_str());
    }

    void padded_data()
    {
        using Pads = std::vector<int64_t>;
        QTest::addColumn<Pads>("before");
        QTest::addColumn<Pads>("own");
        QTest::addColumn<Pads>("floatBefore");
        QTest::addColumn<Pads>("floatOwn");
        QTest::addColumn<std::string>("told"); // empty: one network
        const Pads none { 0, 0, 0, 0 }, around { 1, 1, 1, 1 };
        const Pads behind { 0, 0, 0, 0, 0, 0, 2, 2 }, aroundBefore { 0, 0, 1, 1, 0, 0, 1, 1 };
        QTest::newRow("before") << aroundBefore << none << Pads() << around << std::string();
        QTest::newRow("folded") << Pads() << around << aroundBefore << none << std::string();
        QTest::newRow("on the other side")
            << behind << none << Pads() << around
            << std::string("pads [0, 0, 0, 0] behind Pad 'n_p' of [0, 0, 2, 2], in the float model [1, 1, 1, 1]");
        QTest::newRow("folded on the wrong side")
            << Pads() << around << behind << none
            << std::string("pads [1, 1, 1, 1], in the float model [0, 0, 0, 0] behind Pad 'n_p' of [0, 0, 2, 2]");
    }
    /// What a convolution and a Pad before it pad together is what counts.
    void padded()
    {
        QFETCH(std::vector<int64_t>, before);
        QFETCH(std::vector<int64_t>, own);
        QFETCH(std::vector<int64_t>, floatBefore);
        QFETCH(std::vector<int64_t>, floatOwn);
        QFETCH(std::string, told);
        CompareOptions options;
        options.prove = true;
        const int64_t count = kChannels * kSide * kSide;
        const FixedData data({ Tensor::of<float>({ 1, kChannels, kSide, kSide }, normals(size_t(count), 9)) });
        const Comparison c
            = compared(paddedConv(false, floatBefore, floatOwn), paddedConv(true, before, own), data, options);
        QVERIFY(c.network && c.network->known());
        QCOMPARE(c.network->same(), told.empty());
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2((found != nullptr) == !told.empty(), qPrintable(rulesOf(c)));
        if (told.empty())
            return;
        QCOMPARE(c.findings.front().rule, Rule::ModelsDiffer);
        QCOMPARE(found->severity, Severity::Error);
        QCOMPARE(found->node, std::string(floatBefore.empty() ? "n_c" : "n_p")); // a Pad that was folded is the first
        QVERIFY2(found->summary.find(told) != std::string::npos, found->summary.c_str());
    }

    /// One finding in place of as many as there are nodes, and nothing that is not so.
    void ownOperators()
    {
        const Prepared f = throughOwnOperators(false), q = throughOwnOperators(true);
        const Comparison c = proved(f, q);
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2(found && found->severity == Severity::Warning, qPrintable(rulesOf(c)));
        QCOMPARE(found->cause, std::string("operators"));
        QCOMPARE(found->title, std::string("3 operators cannot be run"));
        QVERIFY2(found->summary.find("2 Rounded (com.example), 1 Unrounded (com.example)") != std::string::npos,
            found->summary.c_str());
        QVERIFY(c.network && c.network->reason.find("cannot be run here: 2 Rounded") != std::string::npos);
        const auto alignment = align(*f.plan, *q.plan, *q.view, {});
        QVERIFY(alignment.ok());
        const auto& why = alignment->whyQuant;
        const auto at = why.find(q.value("c_own"));
        QVERIFY(at == why.end() || at->second != WhyAlone::Sizes);
    }

    void scalesThatDoNotFit_data()
    {
        QTest::addColumn<std::string>("codes"); // "": the input is left out
        QTest::addColumn<Shape>("scales");
        QTest::addColumn<int64_t>("block");
        QTest::addColumn<std::string>("told"); // "": they fit
        QTest::addColumn<std::string>("remedy");
        const std::string codes = "w_q";
        QTest::newRow("as many as channels") << codes << Shape { 4 } << int64_t(0) << std::string() << std::string();
        QTest::newRow("blocks") << codes << Shape { 2, 6 } << int64_t(2) << std::string() << std::string();
        QTest::newRow("as many as of the other axis")
            << codes << Shape { 6 } << int64_t(0) << std::string("does not fit values of shape 4x6 along axis 0")
            << std::string("Set the axis of n_w to 1.");
        QTest::newRow("blocks of the other axis")
            << codes << Shape { 4, 3 } << int64_t(2) << std::string("it would along axis 1")
            << std::string("Set the axis of n_w to 1.");
        QTest::newRow("as many as of none")
            << codes << Shape { 5 } << int64_t(0) << std::string("does not fit values of shape 4x6 along axis 0")
            << std::string("Quantize this tensor anew.");
        QTest::newRow("no codes") << std::string() << Shape { 6 } << int64_t(0)
                                  << std::string("required input 0 is missing")
                                  << std::string("Quantize this tensor anew.");
    }
    /// A fault of the file, and no operator that nobody knows.
    void scalesThatDoNotFit()
    {
        QFETCH(std::string, codes);
        QFETCH(Shape, scales);
        QFETCH(int64_t, block);
        QFETCH(std::string, told);
        QFETCH(std::string, remedy);
        const auto net = [&](bool quantized) {
            SmallModel m(quantized ? "q" : "f");
            m.opset(21).input("x", { 1, 4 });
            if (!quantized) {
                m.constant("w", Tensor::of<float>({ 4, 6 }, std::vector<float>(24, 0.5f)));
            } else {
                const auto count = size_t(std::accumulate(scales.begin(), scales.end(), int64_t(1), std::multiplies()));
                m.constant("w_q", Tensor::of<int8_t>({ 4, 6 }, std::vector<int8_t>(24, 50)));
                m.constant("w_s", Tensor::of<float>(scales, std::vector<float>(count, 0.01f)));
                m.node(
                    "DequantizeLinear", { codes, "w_s" }, { "w" }, { { "axis", int64_t(0) }, { "block_size", block } });
            }
            return m.node("MatMul", { "x", "w" }, { "y" }).output("y").finish();
        };
        CompareOptions options;
        options.prove = true;
        const FixedData data({ Tensor::of<float>({ 1, 4 }, normals(4, 9)) });
        const Comparison c = compared(net(false), net(true), data, options);
        const Finding* found = findingOf(c, Rule::RuntimeRejects);
        QVERIFY2((found == nullptr) == told.empty(), qPrintable(rulesOf(c)));
        QVERIFY2(!findingOf(c, Rule::ModelsDiffer), qPrintable(rulesOf(c)));
        if (!found)
            return;
        QCOMPARE(c.findings.front().rule, Rule::RuntimeRejects);
        QCOMPARE(found->severity, Severity::Error);
        QVERIFY2(found->summary.find(told) != std::string::npos, found->summary.c_str());
        QCOMPARE(found->remedy, remedy);
    }

    void counts_data()
    {
        QTest::addColumn<int64_t>("axis");
        QTest::addColumn<int64_t>("last");
        QTest::addColumn<bool>("same");
        QTest::newRow("the same") << int64_t(1) << int64_t(0) << true;
        QTest::newRow("the last of equal ones") << int64_t(1) << int64_t(1) << false;
    }
    /// Whole numbers that are made of the same reals have to be the same.
    void counts()
    {
        QFETCH(int64_t, axis);
        QFETCH(int64_t, last);
        QFETCH(bool, same);
        const Comparison c = proved(largest(1, 0), largest(axis, last));
        QVERIFY2(c.network && c.network->same() == same, qPrintable(rulesOf(c)));
        const Finding* found = findingOf(c, Rule::ModelsDiffer);
        QVERIFY2((found != nullptr) != same, qPrintable(rulesOf(c)));
        if (same)
            return;
        QCOMPARE(found->node, std::string("n_i"));
        QVERIFY2(found->summary.find("whole numbers") != std::string::npos, found->summary.c_str());
    }

    void exchanged_data()
    {
        QTest::addColumn<bool>("inputs");
        QTest::addColumn<bool>("outputs");
        QTest::newRow("inputs") << true << false;
        QTest::newRow("outputs") << false << true;
    }
    void exchanged()
    {
        QFETCH(bool, inputs);
        QFETCH(bool, outputs);
        const Prepared f = twoEnds(false, false), q = twoEnds(inputs, outputs);
        const Shape shape { kRows, kWidth };
        const ProofSample sample { { Tensor::of<float>(shape, normals(int(kRows * kWidth), 9)),
                                       Tensor::of<float>(shape, normals(int(kRows * kWidth), 4)) },
            0 };
        const std::string text = exchangedEnds(pairOf(f, q), sample, {});
        QVERIFY2(text.find(inputs ? "inputs l and r" : "outputs p and q") != std::string::npos, text.c_str());
        QVERIFY(exchangedEnds(pairOf(f, twoEnds(false, false)), sample, {}).empty());
    }
};

QTEST_GUILESS_MAIN(NetworkPartsTests)
#include "network_parts_test.moc"
