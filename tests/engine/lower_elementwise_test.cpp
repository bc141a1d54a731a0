// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/convert.h"
#include "tests/engine/node_case.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

template <class T> Tensor randomTensor(Shape shape, unsigned seed)
{
    std::mt19937 random(seed);
    Tensor t = Tensor::allocate(dtypeOf<T>(), std::move(shape));
    for (T& v : t.fill<T>())
        v = std::is_floating_point_v<T> ? T(int(random() % 2000) - 1000) / T(97) : T(random());
    return t;
}

Tensor floats(Shape shape, unsigned seed = 1) { return randomTensor<float>(std::move(shape), seed); }
Tensor bytes(Shape shape, unsigned seed = 2) { return randomTensor<uint8_t>(std::move(shape), seed); }
Tensor scale(float v) { return Tensor::scalar(v); }
Tensor zero(int v) { return Tensor::scalar(static_cast<uint8_t>(v)); }

std::vector<std::pair<std::string, NodeCase>> layoutCases()
{
    const Shape image { 2, 5, 3, 4 };
    const std::string ms = "com.microsoft";
    std::vector<std::pair<std::string, NodeCase>> all;
    const auto add = [&](const char* name, NodeCase c) { all.emplace_back(name, std::move(c)); };
    add("relu", makeCase("Relu", { floats(image) }));
    add("clip", makeCase("Clip", { floats(image), scale(-2), scale(3) }));
    add("cast", with(makeCase("Cast", { floats(image) }), "to", int64_t(DType::Int8)));
    add("cast to int4", with(makeCase("Cast", { floats(image) }), "to", int64_t(DType::Int4)));
    add("add same shape", makeCase("Add", { floats(image), floats(image, 5) }));
    add("add scalar", makeCase("Add", { floats(image), scale(2) }));
    add("add channels", makeCase("Add", { floats(image), floats({ 5, 1, 1 }) }));
    add("add channels of rank 4", makeCase("Mul", { floats({ 1, 5, 1, 1 }), floats(image) }));
    add("add rows", makeCase("Add", { floats(image), floats({ 4 }) }));
    add("add lower rank", makeCase("Sub", { floats(image), floats({ 5, 3, 4 }) }));
    add("add batch of one", makeCase("Add", { floats(image), floats({ 1, 5, 3, 4 }) }));
    add("max of three", makeCase("Max", { floats(image), floats({ 5, 1, 1 }), floats(image, 9) }));
    add("prelu", makeCase("PRelu", { floats(image), floats({ 5, 1, 1 }) }));
    add("greater", makeCase("Greater", { floats(image), floats(image, 7) }));
    add("where", makeCase("Where", { bytes(image).reinterpreted(DType::Bool), floats(image), scale(1) }));
    add("quantize", makeCase("QuantizeLinear", { floats(image), scale(0.05f), zero(90) }));
    const Tensor five = Tensor::of<float>({ 5 }, { 0.05f, 0.1f, 0.2f, 0.03f, 0.5f });
    const Tensor four = Tensor::of<float>({ 4 }, { 0.05f, 0.1f, 0.2f, 0.03f });
    add("quantize channels", makeCase("QuantizeLinear", { floats(image), five, bytes({ 5 }) }));
    add("quantize columns", with(makeCase("QuantizeLinear", { floats(image), four, {} }), "axis", int64_t(-1)));
    add("dequantize channels", makeCase("DequantizeLinear", { bytes(image), five, bytes({ 5 }) }));
    add("quantize blocks",
        with(makeCase("QuantizeLinear", { floats(image), floats({ 2, 3, 3, 4 }, 8), {} }), "block_size", int64_t(2)));
    add("quantize to int4",
        with(makeCase("QuantizeLinear", { floats(image), scale(1), {} }), "output_dtype", int64_t(DType::Int4)));
    const Tensor s1 = scale(0.04f), z1 = zero(120), s2 = scale(0.06f), z2 = zero(99), s3 = scale(0.09f), z3 = zero(80);
    add("qlinear add", makeCase("QLinearAdd", { bytes(image), s1, z1, bytes(image, 3), s2, z2, s3, z3 }, 1, ms));
    add("qlinear mul channels",
        makeCase("QLinearMul", { bytes(image), s1, z1, bytes({ 5, 1, 1 }), s2, z2, s3, z3 }, 1, ms));
    add("qlinear sigmoid", makeCase("QLinearSigmoid", { bytes(image), s1, z1, scale(1.0f / 256), zero(0) }, 1, ms));
    add("qlinear leaky", makeCase("QLinearLeakyRelu", { bytes(image), s1, z1, s3, z3 }, 1, ms));
    add("qlinear average pool",
        with(with(makeCase("QLinearAveragePool", { bytes(image), s1, z1, s1, z2 }, 1, ms), "kernel_shape",
                 std::vector<int64_t> { 2, 3 }),
            "pads", std::vector<int64_t> { 1, 0, 0, 1 }));
    add("qlinear global pool", makeCase("QLinearGlobalAveragePool", { bytes(image), s1, z1, s1, z2 }, 1, ms));
    for (int64_t axis : { 0, 1, 3 })
        add(("qlinear concat " + std::to_string(axis)).c_str(),
            with(makeCase("QLinearConcat", { s3, z3, bytes(image), s1, z1, bytes(image, 4), s2, z2 }, 1, ms), "axis",
                axis));
    add("qlinear softmax",
        with(with(makeCase("QLinearSoftmax", { bytes(image), s1, z1, scale(1.0f / 256), zero(0) }, 1, ms), "axis",
                 int64_t(1)),
            "opset", int64_t(13)));
    add("qlinear where",
        makeCase("QLinearWhere",
            { bytes(image).reinterpreted(DType::Bool), bytes(image), s1, z1, bytes(image, 4), s2, z2, s3, z3 }, 1, ms));
    return all;
}

/// Scale and zero point of the codes that a QLinear case writes.
std::pair<double, double> outputGrid(const NodeCase& c)
{
    const size_t n = c.inputs.size();
    const size_t at = c.node.opType == "QLinearConcat" ? 0 : n - 2;
    return { elementAsDouble(c.inputs[at], 0), elementAsDouble(c.inputs[at + 1], 0) };
}

} // namespace

class LowerElementwiseTest : public QObject {
    Q_OBJECT
private slots:
    void layoutsAgree_data();
    void layoutsAgree();
    void fastAgreesWithReference_data() { layoutsAgree_data(); }
    void fastAgreesWithReference();
    void unroundedValueRoundsToTheCodes();
    void oldBroadcastAligns();
    void clipBoundsOfOldOpsets();
    void refusesWhatDoesNotFit();
    void boundsOfIntegers();
    void textAndNumbers();
};

void LowerElementwiseTest::layoutsAgree_data()
{
    QTest::addColumn<int>("index");
    const auto all = layoutCases();
    for (size_t i = 0; i < all.size(); ++i)
        QTest::newRow(all[i].first.c_str()) << int(i);
}

void LowerElementwiseTest::layoutsAgree()
{
    QFETCH(int, index);
    const NodeCase c = layoutCases()[size_t(index)].second;
    const auto plain = run(c);
    QVERIFY2(plain.ok(), plain.ok() ? "" : plain.issue().what.c_str());
    // Every choice of operands that may come with channels last.
    for (unsigned mask = 1; mask < (1u << c.inputs.size()); ++mask) {
        NodeCase turned = c;
        bool possible = true;
        for (size_t i = 0; i < turned.inputs.size(); ++i)
            if (mask >> i & 1) {
                possible = possible && c.inputs[i].valid() && c.inputs[i].rank() >= 3;
                if (possible)
                    turned.inputs[i] = toLayout(c.inputs[i], Layout::ChannelsLast);
            }
        if (!possible)
            continue;
        const auto last = run(turned);
        QVERIFY2(last.ok(), last.ok() ? "" : last.issue().what.c_str());
        QCOMPARE(last->outputs[0].shape(), plain->outputs[0].shape());
        QCOMPARE(toDoubles(last->outputs[0]), toDoubles(plain->outputs[0]));
        if (plain->unrounded.valid())
            QCOMPARE(toDoubles(last->unrounded), toDoubles(plain->unrounded));
    }
}

void LowerElementwiseTest::fastAgreesWithReference()
{
    QFETCH(int, index);
    const NodeCase c = layoutCases()[size_t(index)].second;
    const auto fast = run(c);
    const auto reference = run(c, KernelMode::Reference);
    QVERIFY(fast.ok() && reference.ok());
    const std::vector<double> a = toDoubles(fast->outputs[0]), b = toDoubles(reference->outputs[0]);
    QCOMPARE(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
        QVERIFY(std::fabs(a[i] - b[i]) <= 1e-6 * std::fabs(b[i]));
}

void LowerElementwiseTest::unroundedValueRoundsToTheCodes()
{
    for (const auto& [name, c] : layoutCases()) {
        if (c.node.domain.empty())
            continue;
        const auto out = run(c);
        QVERIFY2(out.ok() && out->unrounded.valid(), name.c_str());
        const auto [step, zeroPoint] = outputGrid(c);
        const std::vector<double> codes = toDoubles(out->outputs[0]), reals = toDoubles(out->unrounded);
        for (size_t i = 0; i < codes.size(); ++i)
            if (codes[i] > 0 && codes[i] < 255)
                QVERIFY2(std::fabs((codes[i] - zeroPoint) * step - reals[i]) <= step * 0.5001, name.c_str());
    }
}

void LowerElementwiseTest::oldBroadcastAligns()
{
    NodeCase c = atOpset(6, makeCase("Add", { floats({ 2, 3, 4 }), floats({ 3 }, 6) }));
    QVERIFY(!run(c).ok());
    c = with(with(c, "broadcast", int64_t(1)), "axis", int64_t(1));
    const auto out = run(c);
    QVERIFY(out.ok());
    const float sum = c.inputs[0].data<float>()[1 * 12 + 2 * 4 + 3] + c.inputs[1].data<float>()[2];
    QCOMPARE(out->outputs[0].data<float>()[1 * 12 + 2 * 4 + 3], sum);
    const NodeCase prelu = atOpset(6, makeCase("PRelu", { floats({ 2, 3, 4 }), floats({ 3 }, 6) }));
    QVERIFY(run(prelu).ok());
}

void LowerElementwiseTest::clipBoundsOfOldOpsets()
{
    NodeCase c = atOpset(6, makeCase("Clip", { Tensor::of<float>({ 4 }, { -3, 0, 2, 9 }) }));
    c = with(c, "max", 1.5f);
    QCOMPARE(toDoubles(run(c)->outputs[0]), (std::vector<double> { -3, 0, 1.5, 1.5 }));
}

void LowerElementwiseTest::refusesWhatDoesNotFit()
{
    for (const NodeCase& c :
        { makeCase("Add", { floats({ 2, 3 }), floats({ 4 }) }), makeCase("Add", { floats({ 2 }), bytes({ 2 }) }),
            makeCase("Exp", { bytes({ 2 }) }), makeCase("QuantizeLinear", { floats({ 2, 3 }), floats({ 2 }), {} }),
            makeCase("QuantizeLinear", { floats({ 2, 3 }), floats({ 2, 3 }), {} }),
            makeCase("QLinearAdd",
                { bytes({ 2 }), scale(1), zero(0), floats({ 2 }), scale(1), zero(0), scale(1), zero(0) }, 1,
                "com.microsoft"),
            makeCase("QLinearSigmoid", { bytes({ 2 }), floats({ 2 }), zero(0), scale(1), zero(0) }, 1, "com.microsoft"),
            makeCase("Where", { floats({ 2 }), floats({ 2 }), floats({ 2 }) }) }) {
        const auto out = run(c);
        QVERIFY2(!out.ok() && !out.issue().what.empty(), c.node.opType.c_str());
    }
}

void LowerElementwiseTest::boundsOfIntegers()
{
    const NodeCase c
        = makeCase("Clip", { Tensor::of<int8_t>({ 3 }, { -100, 5, 100 }), {}, Tensor::scalar<int8_t>(50) });
    QCOMPARE(toInts(run(c)->outputs[0]), (std::vector<int64_t> { -100, 5, 50 }));
}

void LowerElementwiseTest::textAndNumbers()
{
    NodeCase toText
        = with(makeCase("Cast", { Tensor::of<float>({ 2 }, { 0.5f, -INFINITY }) }), "to", int64_t(DType::String));
    const auto text = run(toText);
    QCOMPARE(text->outputs[0].stringData(), (std::vector<std::string> { "0.5", "-INF" }));
    const NodeCase back = with(makeCase("Cast", { text->outputs[0] }), "to", int64_t(DType::Float32));
    QCOMPARE(run(back)->outputs[0].data<float>()[0], 0.5f);
    const NodeCase bad = with(makeCase("Cast", { Tensor::strings({ 1 }, { "five" }) }), "to", int64_t(DType::Int32));
    QVERIFY(!run(bad).ok());
}

int runLowerElementwiseTests(int argc, char** argv)
{
    LowerElementwiseTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "lower_elementwise_test.moc"
