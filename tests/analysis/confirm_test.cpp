// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/confirmed_pairs.h"
#include "core/match/units/fused_units.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/runners.h"
#include "tests/support/tensors.h"

#include <cmath>

using namespace qs;
using namespace qs::test;

/// Pairs held against what both files compute.
class ConfirmTests : public QObject {
    Q_OBJECT
private slots:
    void foldedNormalization_data();
    void foldedNormalization();
    void biasApart();
    void removedActivation();
    void lostActivation();
    void confidenceIsTheShare();
};

namespace {

const std::vector<SmallModel::Attribute> kSamePads { { "pads", std::vector<int64_t> { 1, 1, 1, 1 } } };
const Shape kConv { 4, 4, 3, 3 };

struct Fold {
    std::vector<float> weight, bias, gamma, beta, mean, variance;
};

/// A convolution's weight and a normalization behind it.
Fold foldOf(uint32_t seed)
{
    Fold f { normals(144, seed), {}, normals(4, seed + 1), normals(4, seed + 2), normals(4, seed + 3),
        normals(4, seed + 4) };
    for (size_t c = 0; c < 4; ++c) {
        f.gamma[c] = 1 + std::fabs(f.gamma[c]);
        f.variance[c] = 0.5f + std::fabs(f.variance[c]);
    }
    return f;
}

Tensor four(const std::vector<float>& v) { return Tensor::of<float>({ 4 }, v); }

/// x -> (Conv -> BatchNormalization -> Clip) `layers` times -> y
Prepared normalized(int layers)
{
    SmallModel m("float");
    m.input("x", { 1, 4, 6, 6 });
    std::string last = "x";
    for (int i = 0; i < layers; ++i) {
        const std::string n = std::to_string(i);
        const Fold f = foldOf(uint32_t(10 * i + 1));
        m.constant("w" + n, Tensor::of<float>(kConv, f.weight));
        m.constant("g" + n, four(f.gamma)).constant("b" + n, four(f.beta));
        m.constant("m" + n, four(f.mean)).constant("v" + n, four(f.variance));
        m.constant("low" + n, Tensor::scalar(0.f)).constant("high" + n, Tensor::scalar(6.f));
        m.node("Conv", { last, "w" + n }, { "conv" + n }, kSamePads);
        m.node("BatchNormalization", { "conv" + n, "g" + n, "b" + n, "m" + n, "v" + n }, { "norm" + n },
            { { "epsilon", 0.f } });
        m.node("Clip", { "norm" + n, "low" + n, "high" + n }, { "clip" + n });
        last = "clip" + n;
    }
    return m.node("Sigmoid", { last }, { "y" }).output("y").finish();
}

/// The same with the normalization folded; the convolution's name is that of the value behind it, or all are others.
Prepared folded(int layers, bool keepsNames)
{
    SmallModel m("quantized");
    m.input("x", { 1, 4, 6, 6 });
    m.qdq<int8_t>("x", "x_DequantizeLinear_Output", 0.03f, 0);
    std::string last = "x_DequantizeLinear_Output";
    for (int i = 0; i < layers; ++i) {
        const std::string n = std::to_string(i);
        const Fold f = foldOf(uint32_t(10 * i + 1));
        std::vector<float> w = f.weight, bias(4), scale(4);
        for (size_t c = 0; c < 4; ++c) {
            const float factor = f.gamma[c] / std::sqrt(f.variance[c]);
            bias[c] = f.beta[c] - f.mean[c] * factor;
            for (size_t k = 0; k < 36; ++k)
                w[c * 36 + k] *= factor;
        }
        m.weight("w" + n, kConv, symmetricCodes(w, { 0.08f }), { 0.08f });
        m.constant("bias" + n, four(bias));
        const std::string conv = (keepsNames ? "conv" : "t") + n;
        m.node("Conv", { last, "w" + n, "bias" + n }, { conv }, kSamePads);
        last = conv + "_DequantizeLinear_Output";
        m.qdq<uint8_t>(conv, last, 6.f / 255, 0);
    }
    return m.node("Sigmoid", { last }, { "y" }).output("y").finish();
}

Alignment confirmed(const Prepared& f, const Prepared& q, const Shape& shape)
{
    SampleInputs samples;
    for (const uint32_t seed : { 101u, 102u })
        samples.push_back({ Tensor::of<float>(shape, normals(size_t(*elementCount(shape)), seed)) });
    const auto found = confirmPairs(pairOf(f, q), {}, samples, {});
    if (!found.ok())
        qFatal("%s", issueText(found.issue()).c_str());
    return *found;
}

std::string partner(const Prepared& f, const Prepared& q, const Alignment& a, const std::string& name)
{
    const auto it = std::ranges::find(a.values, f.value(name), &ValuePair::floatValue);
    return it == a.values.end() ? std::string() : q.graph().value(it->quantValue).name;
}

/// Name of the node of the quantized file that a float value is inside.
std::string around(const Prepared& f, const Prepared& q, Alignment a, const std::string& name)
{
    addUnits(*f.plan, *q.plan, *q.view, a);
    const NodeId node = nodeAround(a.insideFloat, f.value(name));
    return node.valid() ? q.graph().node(node).name : std::string();
}

} // namespace

void ConfirmTests::foldedNormalization_data()
{
    QTest::addColumn<bool>("keepsNames");
    QTest::newRow("names kept") << true;
    QTest::newRow("other names") << false;
}

void ConfirmTests::foldedNormalization()
{
    QFETCH(bool, keepsNames);
    const Prepared f = normalized(3), q = folded(3, keepsNames);
    const Alignment a = confirmed(f, q, { 1, 4, 6, 6 });
    for (int i = 0; i < 3; ++i) {
        const std::string n = std::to_string(i), conv = (keepsNames ? "conv" : "t") + n;
        QCOMPARE(partner(f, q, a, "conv" + n), std::string()); // before the normalization: in one file alone
        QCOMPARE(around(f, q, a, "conv" + n), "n_" + conv);
        QCOMPARE(partner(f, q, a, "norm" + n), conv);
        QCOMPARE(partner(f, q, a, "clip" + n), conv + "_DequantizeLinear_Output");
    }
    QCOMPARE(a.weights.size(), size_t(3));
}

void ConfirmTests::biasApart()
{
    const std::vector<float> w = normals(12, 3), b { 1, -2, 3 };
    const Prepared f = SmallModel("f")
                           .input("x", { 8, 4 })
                           .constant("w", Tensor::of<float>({ 4, 3 }, w))
                           .constant("b", Tensor::of<float>({ 3 }, b))
                           .node("MatMul", { "x", "w" }, { "product" })
                           .node("Add", { "product", "b" }, { "sum" })
                           .node("Sigmoid", { "sum" }, { "y" })
                           .output("y")
                           .finish();
    // The fused node keeps the product's name.
    const Prepared q = SmallModel("q")
                           .input("x", { 8, 4 })
                           .weight("w", { 4, 3 }, symmetricCodes(w, { 0.02f }), { 0.02f })
                           .constant("b", Tensor::of<float>({ 3 }, b))
                           .node("Gemm", { "x", "w", "b" }, { "product" })
                           .qdq<int8_t>("product", "product_DequantizeLinear_Output", 0.05f, 0)
                           .node("Sigmoid", { "product_DequantizeLinear_Output" }, { "y" })
                           .output("y")
                           .finish();
    const Alignment a = confirmed(f, q, { 8, 4 });
    QCOMPARE(partner(f, q, a, "product"), std::string());
    QCOMPARE(around(f, q, a, "product"), std::string("n_product"));
    QCOMPARE(partner(f, q, a, "sum"), std::string("product_DequantizeLinear_Output"));
    QCOMPARE(a.weights.size(), size_t(1));
}

void ConfirmTests::removedActivation()
{
    // Nothing but the place tells that the range does what the Relu did.
    const std::vector<float> w = normals(144, 9);
    const Prepared f = SmallModel("f")
                           .input("x", { 1, 4, 6, 6 })
                           .constant("w", Tensor::of<float>(kConv, w))
                           .node("Conv", { "x", "w" }, { "conv" }, kSamePads)
                           .node("Relu", { "conv" }, { "relu" })
                           .node("Sigmoid", { "relu" }, { "y" })
                           .output("y")
                           .finish();
    const Prepared q = SmallModel("q")
                           .input("x", { 1, 4, 6, 6 })
                           .weight("k", kConv, symmetricCodes(w, { 0.03f }), { 0.03f })
                           .node("Conv", { "x", "k" }, { "t" }, kSamePads)
                           .qdq<uint8_t>("t", "t_dq", 0.05f, 0)
                           .node("Sigmoid", { "t_dq" }, { "y" })
                           .output("y")
                           .finish();
    const Alignment a = confirmed(f, q, { 1, 4, 6, 6 });
    QCOMPARE(partner(f, q, a, "conv"), std::string("t"));
    QCOMPARE(partner(f, q, a, "relu"), std::string("t_dq"));
}

void ConfirmTests::lostActivation()
{
    // Neither the node nor the range does what the Relu did: it is not inside the node behind it.
    const std::vector<float> w = normals(144, 9);
    const auto begin = [&](const char* path) {
        SmallModel m(path);
        m.input("x", { 1, 4, 6, 6 }).constant("w", Tensor::of<float>(kConv, w));
        m.constant("k", Tensor::of<float>(kConv, normals(144, 5))).node("Conv", { "x", "w" }, { "conv" }, kSamePads);
        return m;
    };
    const Prepared f = begin("f")
                           .node("Relu", { "conv" }, { "relu" })
                           .node("Conv", { "relu", "k" }, { "y" }, kSamePads)
                           .output("y")
                           .finish();
    const Prepared q = begin("q")
                           .qdq<int8_t>("conv", "conv_dq", 0.2f, 0)
                           .node("Conv", { "conv_dq", "k" }, { "y" }, kSamePads)
                           .output("y")
                           .finish();
    Alignment a = confirmed(f, q, { 1, 4, 6, 6 });
    addUnits(*f.plan, *q.plan, *q.view, a);
    QCOMPARE(a.insideFloat.size(), size_t(0));
    if (partner(f, q, a, "relu").empty())
        QCOMPARE(a.whyFloat.at(f.value("relu")), WhyAlone::RemovedActivation);
}

void ConfirmTests::confidenceIsTheShare()
{
    // What is said against what is measured, on networks whose true pairs are known.
    std::map<int, std::pair<int, int>> bins; // tenths: right, all
    for (const bool keepsNames : { true, false })
        for (int layers = 1; layers <= 4; ++layers) {
            const Prepared f = normalized(layers), q = folded(layers, keepsNames);
            for (const ValuePair& p : confirmed(f, q, { 1, 4, 6, 6 }).values) {
                std::string name = f.graph().value(p.floatValue).name, truth = name;
                const std::string conv = keepsNames ? "conv" : "t";
                if (name.starts_with("norm") || name.starts_with("conv"))
                    truth = name.starts_with("norm") ? conv + name.substr(4) : std::string();
                else if (name.starts_with("clip"))
                    truth = conv + name.substr(4) + "_DequantizeLinear_Output";
                else if (name == "x")
                    truth = "x_DequantizeLinear_Output";
                auto& [right, all] = bins[int(p.confidence * 10)];
                right += q.graph().value(p.quantValue).name == truth;
                ++all;
            }
        }
    for (const auto& [bin, counts] : bins) {
        qInfo("said %.1f to %.1f: right %d of %d", bin / 10.0, bin / 10.0 + 0.1, counts.first, counts.second);
        QVERIFY(counts.first >= counts.second * bin / 10.0);
    }
    QVERIFY(bins.contains(9));
}

int qs::test::runConfirmTests(int argc, char** argv)
{
    ConfirmTests test;
    return QTest::qExec(&test, argc, argv);
}
#include "confirm_test.moc"
