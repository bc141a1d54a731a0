// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/convert.h"
#include "tests/engine/node_case.h"
#include "tests/support/tensors.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

using Attribute = std::pair<std::string, AttributeValue>;

NodeCase call(const std::string& type, std::vector<Tensor> inputs, size_t outputs,
    const std::vector<Attribute>& attributes, const std::string& domain = {})
{
    NodeCase c = makeCase(type, std::move(inputs), outputs, domain);
    if (domain.empty())
        c.node.opset = 17;
    for (const auto& [name, value] : attributes)
        c.node.attributes.set(name, value);
    return c;
}

Result<NodeOutcome> runKnown(const NodeCase& c, KernelMode mode = KernelMode::Fast)
{
    return run(c, mode, Weights::Constant);
}

class Numbers {
public:
    explicit Numbers(uint32_t seed)
        : m_random(seed)
    {
    }
    Tensor floats(Shape shape) { return normalFloats(m_random, std::move(shape), 0.5f); }
    Tensor codes(Shape shape)
    {
        std::uniform_int_distribution<int> any(-127, 127);
        Tensor t = Tensor::allocate(DType::Int8, std::move(shape));
        for (int8_t& v : t.fill<int8_t>())
            v = static_cast<int8_t>(any(m_random));
        return t;
    }

private:
    std::mt19937 m_random;
};

/// Largest distance between the outputs of two runs; infinite when one failed or shapes differ.
double distance(const Result<NodeOutcome>& a, const Result<NodeOutcome>& b)
{
    double most = 0;
    if (!a.ok() || !b.ok() || a->outputs.size() != b->outputs.size())
        return INFINITY;
    for (size_t i = 0; i < a->outputs.size(); ++i) {
        if ((*a)[i].shape() != (*b)[i].shape() || (*a)[i].dtype() != (*b)[i].dtype())
            return INFINITY;
        const auto x = toDoubles((*a)[i]), y = toDoubles((*b)[i]);
        for (size_t k = 0; k < x.size(); ++k)
            most = std::max(most, std::abs(x[k] - y[k]));
    }
    return most;
}

const std::vector<std::pair<const char*, int64_t>> kKinds { { "RNN", 1 }, { "GRU", 3 }, { "LSTM", 4 } };

} // namespace

class LowerRecurrentTests : public QObject {
    Q_OBJECT
private slots:
    void fastAgreesWithReference_data();
    void fastAgreesWithReference();
    void layoutsAgree();
    void refusals();
    void quantizedLstm();
    void shortTimeTransformIsOneOfEachFrame();
    void transformRefusals();
};

void LowerRecurrentTests::fastAgreesWithReference_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("seed");
    for (int kind = 0; kind < 3; ++kind)
        for (int seed = 0; seed < 8; ++seed)
            QTest::addRow("%s seed %d", kKinds[size_t(kind)].first, seed) << kind << seed;
}

void LowerRecurrentTests::fastAgreesWithReference()
{
    QFETCH(int, kind);
    QFETCH(int, seed);
    const auto [type, gates] = kKinds[size_t(kind)];
    Numbers n { uint32_t(seed) };
    const int64_t length = 1 + seed, batch = 1 + seed % 4, input = 3 + 5 * seed, hidden = 1 + 7 * seed;
    const int64_t dirs = seed % 3 == 2 ? 2 : 1;
    std::vector<Tensor> inputs { n.floats({ length, batch, input }), n.floats({ dirs, gates * hidden, input }),
        n.floats({ dirs, gates * hidden, hidden }), n.floats({ dirs, 2 * gates * hidden }),
        seed % 2 ? Tensor::of<int32_t>({ batch }, std::vector<int32_t>(size_t(batch), seed)) : Tensor(),
        n.floats({ dirs, batch, hidden }) };
    const char* direction = dirs == 2 ? "bidirectional" : seed % 3 == 1 ? "reverse" : "forward";
    const NodeCase cell = call(type, inputs, kind == 2 ? 3 : 2,
        { { "direction", std::string(direction) }, { "linear_before_reset", int64_t(seed / 4) } });
    const auto expected = runKnown(cell, KernelMode::Reference);
    QVERIFY2(expected.ok(), expected.ok() ? "" : expected.issue().what.c_str());
    QVERIFY(distance(runKnown(cell), expected) < 2e-5);
    QVERIFY(distance(run(cell), expected) < 2e-5);
}

void LowerRecurrentTests::layoutsAgree()
{
    // A batch of one: both layouts hold the same numbers in the same order.
    Numbers n { 3 };
    const Tensor x = n.floats({ 6, 1, 5 }), w = n.floats({ 2, 12, 5 }), r = n.floats({ 2, 12, 4 });
    const Attribute both { "direction", std::string("bidirectional") };
    const auto first = runKnown(call("GRU", { x, w, r }, 2, { both }));
    const auto second = runKnown(call("GRU", { x.reshaped({ 1, 6, 5 }), w, r }, 2, { both, { "layout", int64_t(1) } }));
    QVERIFY(first.ok() && second.ok());
    QCOMPARE((*second)[0].shape(), (Shape { 1, 6, 2, 4 }));
    QCOMPARE((*second)[1].shape(), (Shape { 1, 2, 4 }));
    QCOMPARE(toFloats((*first)[0]), toFloats((*second)[0]));
    QCOMPARE(toFloats((*first)[1]), toFloats((*second)[1]));
}

void LowerRecurrentTests::refusals()
{
    Numbers n { 4 };
    const Tensor x = n.floats({ 6, 2, 5 }), w = n.floats({ 1, 4, 5 }), r = n.floats({ 1, 4, 4 });
    const auto fails = [](std::vector<Tensor> inputs, const std::vector<Attribute>& attributes = {}) {
        const NodeCase cell = call("RNN", std::move(inputs), 1, attributes);
        return !runKnown(cell).ok() && !runKnown(cell, KernelMode::Reference).ok();
    };
    QVERIFY(!fails({ x, w, r }));
    QVERIFY(fails({ n.floats({ 6, 5 }), w, r }));
    QVERIFY(fails({ n.floats({ 6, 2, 4 }), w, r }));
    QVERIFY(fails({ x, n.floats({ 1, 5, 5 }), r }) && fails({ x, w, n.floats({ 1, 4, 5 }) }));
    QVERIFY(fails({ x, w, r, n.floats({ 1, 7 }) }));
    QVERIFY(fails({ x, w, r, Tensor(), Tensor::of<int32_t>({ 2 }, { 6, 7 }) }));
    QVERIFY(fails({ x, w, r, Tensor(), Tensor::of<int32_t>({ 1 }, { 6 }) }));
    QVERIFY(fails({ x, w, r, Tensor(), Tensor(), n.floats({ 2, 2, 4 }) }));
    QVERIFY(fails({ x, w, r }, { { "direction", std::string("sideways") } }));
    QVERIFY(fails({ x, w, r }, { { "direction", std::string("bidirectional") } }));
    QVERIFY(fails({ x, w, r }, { { "hidden_size", int64_t(5) } }));
    QVERIFY(fails({ x, w, r }, { { "activations", std::vector<std::string> { "Tanh", "Tanh" } } }));
    QVERIFY(fails({ x, w, r }, { { "activations", std::vector<std::string> { "Gelu" } } }));
}

void LowerRecurrentTests::quantizedLstm()
{
    Numbers n { 5 };
    const int64_t hidden = 6, input = 9;
    const Tensor x = n.floats({ 7, 2, input }), w = n.codes({ 1, input, 4 * hidden }),
                 r = n.codes({ 1, hidden, 4 * hidden });
    const Tensor scale = Tensor::of<float>({ 1 }, { 0.004f }), zero = Tensor::of<int8_t>({ 1 }, { 0 });
    std::vector<Tensor> inputs { x, w, r };
    inputs.resize(8);
    for (const Tensor& t : { scale, zero, scale, zero })
        inputs.push_back(t);
    const NodeCase quantized = call("DynamicQuantizeLSTM", inputs, 3, { { "hidden_size", hidden } }, "com.microsoft");
    const auto fast = runKnown(quantized);
    QVERIFY2(fast.ok(), fast.ok() ? "" : fast.issue().what.c_str());
    QCOMPARE(distance(fast, runKnown(quantized, KernelMode::Reference)), 0.0); // the sums are exact
    QCOMPARE(distance(fast, run(quantized)), 0.0);
    // Close to the float cell with the dequantized weights.
    const auto real = [&](const Tensor& codes) {
        Tensor t = Tensor::allocate(DType::Float32, { 1, 4 * hidden, codes.dim(1) });
        for (int64_t i = 0; i < codes.dim(1); ++i)
            for (int64_t j = 0; j < 4 * hidden; ++j)
                t.fill<float>()[size_t(j * codes.dim(1) + i)]
                    = 0.004f * codes.data<int8_t>()[size_t(i * 4 * hidden + j)];
        return t;
    };
    const auto plain = runKnown(call("LSTM", { x, real(w), real(r) }, 3, {}), KernelMode::Reference);
    QVERIFY(distance(fast, plain) < 0.05);
    inputs[9] = Tensor::of<int8_t>({ 3 }, { 0, 0, 0 });
    QVERIFY(!runKnown(call("DynamicQuantizeLSTM", inputs, 1, {}, "com.microsoft")).ok());
}

void LowerRecurrentTests::shortTimeTransformIsOneOfEachFrame()
{
    Numbers n { 6 };
    const Tensor x = n.floats({ 2, 50, 1 }), window = n.floats({ 12 });
    const auto whole = runKnown(call("STFT", { x, Tensor::scalar<int64_t>(7), window }, 1, {}));
    QVERIFY(whole.ok());
    QCOMPARE((*whole)[0].shape(), (Shape { 2, 6, 7, 2 }));
    const auto reference
        = runKnown(call("STFT", { x, Tensor::scalar<int64_t>(7), window }, 1, {}), KernelMode::Reference);
    QVERIFY(distance(whole, reference) < 1e-6);
    // Frame 2 of sequence 1, by DFT.
    Tensor frame = Tensor::allocate(DType::Float32, { 1, 12, 1 });
    for (size_t i = 0; i < 12; ++i)
        frame.fill<float>()[i] = x.data<float>()[50 + 14 + i] * window.data<float>()[i];
    const auto one = runKnown(call("DFT", { frame }, 1, { { "onesided", int64_t(1) } }));
    QVERIFY(one.ok());
    const auto got = toFloats((*whole)[0]), wanted = toFloats((*one)[0]);
    for (size_t i = 0; i < wanted.size(); ++i)
        QVERIFY(std::abs(got[(6 + 2) * 14 + i] - wanted[i]) < 1e-5f);
}

void LowerRecurrentTests::transformRefusals()
{
    Numbers n { 7 };
    const auto fails = [](const char* type, std::vector<Tensor> inputs, const std::vector<Attribute>& attributes = {}) {
        return !runKnown(call(type, std::move(inputs), 1, attributes)).ok();
    };
    const Tensor x = n.floats({ 1, 10, 1 });
    const auto number = [](int64_t v) { return Tensor::scalar(v); };
    QVERIFY(!fails("DFT", { x }) && !fails("STFT", { x, number(2), Tensor(), number(4) }));
    QVERIFY(fails("DFT", { n.floats({ 1, 10, 3 }) }) && fails("DFT", { x, number(0) }));
    QVERIFY(fails("DFT", { x }, { { "axis", int64_t(2) } }) && fails("DFT", { x }, { { "axis", int64_t(5) } }));
    QVERIFY(
        fails("STFT", { x, number(0), Tensor(), number(4) }) && fails("STFT", { x, number(2), Tensor(), number(11) }));
    QVERIFY(fails("STFT", { x, number(2), n.floats({ 5 }), number(4) }));
    QVERIFY(fails("HannWindow", { number(-1) }));
    const Tensor low = Tensor::scalar(0.0f), high = Tensor::scalar(1e9f);
    QVERIFY(fails("MelWeightMatrix", { number(8), number(16), number(8192), low, high }));
    QVERIFY(fails("MelWeightMatrix", { number(8), number(16), number(8192), high, low }));
}

int runLowerRecurrentTests(int argc, char** argv)
{
    LowerRecurrentTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "lower_recurrent_test.moc"
