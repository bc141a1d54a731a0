// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/bypass.h"
#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/confirm/other_constants.h"
#include "core/analysis/rows/weight_rows.h"
#include "core/analysis/rules/findings.h"
#include "core/graph/domains.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>
#include <functional>

using namespace qs;
using namespace qs::test;

namespace {

/// A float model, the same in quantized form, and a float model that is none of it.
struct Case {
    const char* name;
    std::function<Prepared()> f, q, other;
    std::vector<Tensor> inputs;
};

Tensor row(uint32_t seed = 3) { return Tensor::of<float>({ 2, 4 }, uniform(8, seed)); }

SmallModel onCodes()
{
    SmallModel model("q");
    model.input("x", { 2, 4 })
        .constant("w_quantized", Tensor::of<int8_t>({ 4, 3 }, symmetricCodes(kWeights, { 1.f / 127 })))
        .constant("w_scale", Tensor::scalar(1.f / 127))
        .constant("w_zero_point", Tensor::scalar<int8_t>(0));
    return model;
}

Prepared dynamicProduct()
{
    return onCodes()
        .node("DynamicQuantizeLinear", { "x" }, { "x_quantized", "x_scale", "x_zero_point" })
        .node("MatMulInteger", { "x_quantized", "w_quantized", "x_zero_point", "w_zero_point" }, { "sums" })
        .node("Cast", { "sums" }, { "sums_float" }, { { "to", int64_t(1) } })
        .node("Mul", { "x_scale", "w_scale" }, { "scales" })
        .node("Mul", { "sums_float", "scales" }, { "m" })
        .node("Relu", { "m" }, { "y" })
        .output("y")
        .finish();
}

const Tensor kBias = Tensor::of<float>({ 3 }, { 0.5f, -0.25f, 0.125f });

/// x -> MatMul -> Add -> Relu (or another) -> y
Prepared withBias(const char* last)
{
    return SmallModel("f")
        .input("x", { 2, 4 })
        .constant("w", kFloatWeight)
        .constant("b", kBias)
        .node("MatMul", { "x", "w" }, { "p" })
        .node("Add", { "p", "b" }, { "m" })
        .node(last, { "m" }, { "y" })
        .output("y")
        .finish();
}

Prepared dynamicallyWithBias(bool codes)
{
    SmallModel model = onCodes();
    model.constant("b", kBias);
    if (codes)
        model.node("DynamicQuantizeLinear", { "x" }, { "x_quantized", "x_scale", "x_zero_point" })
            .node("MatMulIntegerToFloat",
                { "x_quantized", "w_quantized", "x_scale", "w_scale", "x_zero_point", "w_zero_point", "b" }, { "m" },
                {}, kMicrosoftDomain);
    else
        model.node("DynamicQuantizeMatMul", { "x", "w_quantized", "w_scale", "w_zero_point", "b" }, { "m" }, {},
            kMicrosoftDomain);
    return model.node("Relu", { "m" }, { "y" }).output("y").finish();
}

// Weights in blocks of 16, four bits, zero at 8.
constexpr int64_t kDepth = 16, kColumns = 3;
const std::vector<float> kDeep = uniform(size_t(kDepth * kColumns), 7);

/// Rows of the table, or columns of the product's weight, as codes; `at(block, element)`.
std::vector<uint8_t> packedCodes(const std::function<float(int64_t, int64_t)>& at)
{
    std::vector<uint8_t> bytes(size_t(kColumns * kDepth / 2), 0);
    for (int64_t c = 0; c < kColumns; ++c)
        for (int64_t k = 0; k < kDepth; ++k) {
            const auto code = uint8_t(std::clamp(std::nearbyint(at(c, k) * 7) + 8, 0.f, 15.f));
            bytes[size_t(c * kDepth / 2 + k / 2)] |= uint8_t(code << (4 * (k % 2)));
        }
    return bytes;
}

const Tensor kBlockScales = Tensor::of<float>({ kColumns, 1 }, { 1.f / 7, 1.f / 7, 1.f / 7 });

Prepared deepProduct(bool other)
{
    SmallModel model("f");
    model.input("x", { 2, kDepth }).constant("w", Tensor::of<float>({ kDepth, kColumns }, kDeep)).constant("b", kBias);
    model.node("MatMul", { "x", "w" }, { "p" }).node(other ? "Sub" : "Add", { "p", "b" }, { "m" });
    return model.node("Relu", { "m" }, { "y" }).output("y").finish();
}

Prepared blockProduct(bool biasInside)
{
    SmallModel model("q");
    model.input("x", { 2, kDepth }).constant("b", kBias).constant("s", kBlockScales);
    model.constant("w_Q4", Tensor::of<uint8_t>({ kColumns, 1, kDepth / 2 }, packedCodes([](int64_t c, int64_t k) {
        return kDeep[size_t(k * kColumns + c)];
    })));
    SmallModel::Names inputs { "x", "w_Q4", "s" };
    if (biasInside)
        inputs.insert(inputs.end(), { "", "", "b" });
    model.node("MatMulNBits", inputs, { biasInside ? "m" : "p" },
        { { "K", kDepth }, { "N", kColumns }, { "bits", int64_t(4) }, { "block_size", int64_t(16) } },
        kMicrosoftDomain);
    if (!biasInside)
        model.node("Add", { "p", "b" }, { "m" });
    return model.node("Relu", { "m" }, { "y" }).output("y").finish();
}

Prepared table(bool other)
{
    SmallModel model("f");
    model.input("ids", { 4 }, DType::Int64).constant("t", Tensor::of<float>({ kColumns, kDepth }, kDeep));
    return model.node("Gather", { "t", "ids" }, { "e" })
        .node(other ? "Neg" : "Tanh", { "e" }, { "y" })
        .output("y")
        .finish();
}

Prepared blockTable()
{
    SmallModel model("q");
    model.input("ids", { 4 }, DType::Int64).constant("s", kBlockScales);
    model.constant("t_Q4", Tensor::of<uint8_t>({ kColumns, kDepth / 2 }, packedCodes([](int64_t r, int64_t k) {
        return kDeep[size_t(r * kDepth + k)];
    })));
    return model
        .node("GatherBlockQuantized", { "t_Q4", "ids", "s" }, { "e" },
            { { "bits", int64_t(4) }, { "block_size", int64_t(16) }, { "gather_axis", int64_t(0) },
                { "quantize_axis", int64_t(1) } },
            kMicrosoftDomain)
        .node("Tanh", { "e" }, { "y" })
        .output("y")
        .finish();
}

// One sequence of two tokens of four, two heads.
const std::vector<float> kProjection = uniform(48, 11);
const Tensor kProjectionBias = Tensor::of<float>({ 12 }, uniform(12, 12));
const std::vector<SmallModel::Attribute> kTwoHeads { { "num_heads", int64_t(2) } };

Prepared attention(bool other)
{
    std::vector<SmallModel::Attribute> attributes = kTwoHeads;
    if (other)
        attributes.push_back({ "unidirectional", int64_t(1) });
    return SmallModel("f")
        .input("x", { 1, 2, 4 })
        .constant("w", Tensor::of<float>({ 4, 12 }, kProjection))
        .constant("b", kProjectionBias)
        .node("Attention", { "x", "w", "b" }, { "y" }, attributes, kMicrosoftDomain)
        .output("y")
        .finish();
}

Prepared attentionOnCodes()
{
    return SmallModel("q")
        .input("x", { 1, 2, 4 })
        .constant("b", kProjectionBias)
        .constant("w_quantized", Tensor::of<int8_t>({ 4, 12 }, symmetricCodes(kProjection, { 1.f / 127 })))
        .constant("w_scale", Tensor::scalar(1.f / 127))
        .constant("w_zero_point", Tensor::scalar<int8_t>(0))
        .node("DynamicQuantizeLinear", { "x" }, { "x_quantized", "x_scale", "x_zero_point" })
        .node("QAttention",
            { "x_quantized", "w_quantized", "b", "x_scale", "w_scale", "", "x_zero_point", "w_zero_point" }, { "y" },
            kTwoHeads, kMicrosoftDomain)
        .output("y")
        .finish();
}

// A choice between the input and a constant.
const std::vector<float> kOthers { 0.5f, -0.75f, 0.25f, 1 };

Prepared choice(bool other)
{
    SmallModel model("f");
    model.input("c", { 4 }, DType::Bool).input("x", { 4 }).constant("k", Tensor::of<float>({ 4 }, kOthers));
    return model
        .node("Where", other ? SmallModel::Names { "c", "k", "x" } : SmallModel::Names { "c", "x", "k" }, { "y" })
        .output("y")
        .finish();
}

Prepared choiceOfCodes()
{
    SmallModel model("q");
    model.input("c", { 4 }, DType::Bool).input("x", { 4 });
    model.constant("s", Tensor::scalar(1.f / 127)).constant("z", Tensor::scalar<int8_t>(0));
    model.constant("k_quantized", Tensor::of<int8_t>({ 4 }, symmetricCodes(kOthers, { 1.f / 127 })));
    return model.node("QuantizeLinear", { "x", "s", "z" }, { "x_quantized" })
        .node("QLinearWhere", { "c", "x_quantized", "s", "z", "k_quantized", "s", "z", "s", "z" }, { "y_quantized" },
            {}, kMicrosoftDomain)
        .node("DequantizeLinear", { "y_quantized", "s", "z" }, { "y" })
        .output("y")
        .finish();
}

/// a x w - b, whose inputs the quantized file has in another order, one under another name.
Prepared difference(const std::string& first, bool other)
{
    return SmallModel("f")
        .input(first, { 2, 4 })
        .input("b", { 2, 3 })
        .constant("w", kFloatWeight)
        .node("MatMul", { first, "w" }, { "m" })
        .node("Sub", other ? SmallModel::Names { "b", "m" } : SmallModel::Names { "m", "b" }, { "y" })
        .output("y")
        .finish();
}

Prepared renamedDifference()
{
    SmallModel model("q");
    model.input("b", { 2, 3 }).input("renamed", { 2, 4 }).qdq<int8_t>("renamed", "a_dq", 1.f / 127, 0);
    model.weight("w", { 4, 3 }, symmetricCodes(kWeights, { 1.f / 127 }), { 1.f / 127 });
    return model.node("MatMul", { "a_dq", "w" }, { "m" })
        .qdq<int8_t>("m", "m_dq", 1.f / 32, 0)
        .node("Sub", { "m_dq", "b" }, { "y" })
        .output("y")
        .finish();
}

const std::vector<float> kConv { 0.5f, -0.25f, 1, 0.125f };
/// Of a normalization by channels: scale, shift, mean, variance.
struct Norm {
    std::vector<float> gamma { 2, 0.5f }, beta { 0.1f, -0.2f }, mean { 0.3f, 0 }, variance { 1, 4 };
    float factor(size_t c) const { return gamma[c] / std::sqrt(variance[c] + 1e-5f); }
    float shift(size_t c) const { return beta[c] - mean[c] * factor(c); }
    std::vector<float> folded(std::vector<float> w) const
    {
        for (size_t i = 0; i < w.size(); ++i)
            w[i] *= factor(i / 2);
        return w;
    }
};

SmallModel& addNorm(SmallModel& model, const Norm& norm, const std::string& from, const std::string& to)
{
    model.constant("gamma", Tensor::of<float>({ 2 }, norm.gamma)).constant("beta", Tensor::of<float>({ 2 }, norm.beta));
    model.constant("mean", Tensor::of<float>({ 2 }, norm.mean));
    model.constant("variance", Tensor::of<float>({ 2 }, norm.variance));
    return model.node("BatchNormalization", { from, "gamma", "beta", "mean", "variance" }, { to });
}

/// Conv -> BatchNormalization, or one Conv that has taken it in -> `last`.
Prepared convolution(bool folded, const char* last)
{
    const Norm norm;
    SmallModel model("f");
    model.input("x", { 1, 2, 2, 2 });
    if (folded) {
        model.constant("w", Tensor::of<float>({ 2, 2, 1, 1 }, norm.folded(kConv)));
        model.constant("b", Tensor::of<float>({ 2 }, { norm.shift(0), norm.shift(1) }));
        model.node("Conv", { "x", "w", "b" }, { "n" });
    } else {
        model.constant("w", Tensor::of<float>({ 2, 2, 1, 1 }, kConv)).node("Conv", { "x", "w" }, { "c" });
        addNorm(model, norm, "c", "n");
    }
    return model.node(last, { "n" }, { "y" }).output("y").finish();
}

/// The Conv of a quantizer, which has taken the normalization in.
Prepared quantizedConvolution()
{
    const Norm norm;
    SmallModel model("q");
    model.input("x", { 1, 2, 2, 2 }).qdq<int8_t>("x", "x_dq", 1.f / 64, 0);
    model.weight("w", { 2, 2, 1, 1 }, symmetricCodes(norm.folded(kConv), { 2.f / 127 }), { 2.f / 127 });
    model.constant("b", Tensor::of<float>({ 2 }, { norm.shift(0), norm.shift(1) }));
    return model.node("Conv", { "x_dq", "w", "b" }, { "n" })
        .qdq<int8_t>("n", "n_dq", 1.f / 32, 0)
        .node("Tanh", { "n_dq" }, { "y" })
        .output("y")
        .finish();
}

/// As training with simulated quantization exports it: the weight has taken the factor in, behind the Conv it is
/// divided by that again, and normalized.
Prepared trainedConvolution(const std::vector<float>& weights = kConv, const Norm& norm = {})
{
    SmallModel model("q");
    model.input("x", { 1, 2, 2, 2 }).qdq<int8_t>("x", "x_dq", 1.f / 64, 0);
    model.constant("w_scaled", Tensor::of<float>({ 2, 2, 1, 1 }, norm.folded(weights)));
    model.qdq<int8_t>("w_scaled", "w_dq", 2.f / 127, 0).node("Conv", { "x_dq", "w_dq" }, { "scaled" });
    model.constant("factor", Tensor::of<float>({ 1, 2, 1, 1 }, { norm.factor(0), norm.factor(1) }));
    model.node("Div", { "scaled", "factor" }, { "c" });
    return addNorm(model, norm, "c", "n")
        .node("Tanh", { "n" }, { "t" })
        .qdq<int8_t>("t", "y", 1.f / 127, 0)
        .output("y")
        .finish();
}

const Tensor kPicture = Tensor::of<float>({ 1, 2, 2, 2 }, uniform(8, 9));

std::vector<Case> cases()
{
    const auto relu = [] { return product(); };
    const auto leaky = [] { return product(true); };
    const Tensor deep = Tensor::of<float>({ 2, kDepth }, uniform(size_t(2 * kDepth), 4));
    return {
        { "operators on codes", relu, productOnCodes, leaky, { row() } },
        { "integer sums", relu, dynamicProduct, leaky, { row() } },
        { "MatMulIntegerToFloat", [] { return withBias("Relu"); }, [] { return dynamicallyWithBias(true); },
            [] { return withBias("Tanh"); }, { row() } },
        { "DynamicQuantizeMatMul", [] { return withBias("Relu"); }, [] { return dynamicallyWithBias(false); },
            [] { return withBias("Tanh"); }, { row() } },
        { "MatMulNBits", [] { return deepProduct(false); }, [] { return blockProduct(false); },
            [] { return deepProduct(true); }, { deep } },
        { "MatMulNBits with its bias", [] { return deepProduct(false); }, [] { return blockProduct(true); },
            [] { return deepProduct(true); }, { deep } },
        { "GatherBlockQuantized", [] { return table(false); }, blockTable, [] { return table(true); },
            { Tensor::of<int64_t>({ 4 }, { 2, 0, 1, 2 }) } },
        { "QAttention", [] { return attention(false); }, attentionOnCodes, [] { return attention(true); },
            { Tensor::of<float>({ 1, 2, 4 }, uniform(8, 5)) } },
        { "QLinearWhere", [] { return choice(false); }, choiceOfCodes, [] { return choice(true); },
            { Tensor::of<uint8_t>({ 4 }, { 1, 0, 0, 1 }).reinterpreted(DType::Bool),
                Tensor::of<float>({ 4 }, uniform(4, 8)) } },
        { "partly renamed inputs", [] { return difference("a", false); }, renamedDifference,
            [] { return difference("a", true); }, { row(), Tensor::of<float>({ 2, 3 }, uniform(6, 6)) } },
        { "normalization taken in", [] { return convolution(false, "Tanh"); }, quantizedConvolution,
            [] { return convolution(false, "Neg"); }, { kPicture } },
        { "normalization of training", [] { return convolution(false, "Tanh"); }, [] { return trainedConvolution(); },
            [] { return convolution(false, "Neg"); }, { kPicture } },
        { "the same, folded in the float file", [] { return convolution(true, "Tanh"); },
            [] { return trainedConvolution(); }, [] { return convolution(true, "Neg"); }, { kPicture } },
    };
}

std::optional<NetworkVerdict> verdictOn(const Prepared& f, const Prepared& q, const std::vector<Tensor>& inputs)
{
    const ComparePair pair = pairOf(f, q);
    Comparison c;
    c.weights = compareWeights(pair, false, 1);
    NetworkProof proof = proveNetwork(pair, inputs);
    measureOtherConstants(pair, std::vector { ProofSample { inputs, 0 } }, {}, {}, proof);
    return networkVerdict(proof, c);
}

} // namespace

class ProofTests : public QObject {
    Q_OBJECT
private slots:
    void tellsNetworks_data();
    void tellsNetworks();
    void weightsAreThoseOfTheQuantizer();
    void trainedOn_data();
    void trainedOn();
    void keepsToMemory();
    void sharesFloatWeights();
};

void ProofTests::tellsNetworks_data()
{
    QTest::addColumn<int>("index");
    const auto all = cases();
    for (size_t i = 0; i < all.size(); ++i)
        QTest::newRow(all[i].name) << int(i);
}

void ProofTests::tellsNetworks()
{
    QFETCH(int, index);
    const Case c = cases()[size_t(index)];
    const auto same = verdictOn(c.f(), c.q(), c.inputs);
    QVERIFY(same);
    QVERIFY2(same->same(), qPrintable(QString::number(same->distance.worstOutput.distance)));
    QVERIFY(!same->storedWeights);
    const auto other = verdictOn(c.other(), c.q(), c.inputs);
    QVERIFY(other);
    QVERIFY(!other->same());
}

/// Where a normalization was taken in, the stored weight is compared with the float one that has, too.
void ProofTests::weightsAreThoseOfTheQuantizer()
{
    for (const Prepared& q : { quantizedConvolution(), trainedConvolution() }) {
        const auto rows = compareWeights(pairOf(convolution(false, "Tanh"), q), false, 1);
        QCOMPARE(rows.size(), size_t(1));
        QVERIFY(*rows[0].similarity.sqnrDb > 35);
        QCOMPARE(*rows[0].offByMoreThanHalfStep, 0.0);
    }
}

void ProofTests::trainedOn_data()
{
    QTest::addColumn<bool>("folded");
    QTest::newRow("normalization in the float file") << false;
    QTest::newRow("folded in the float file") << true;
}

/// Other weights prove nothing by themselves: given the stored ones, the float model must compute the same.
void ProofTests::trainedOn()
{
    QFETCH(bool, folded);
    const std::vector<float> weights { 0.8f, -0.1f, 0.6f, 0.5f };
    const Norm norm { { 1.5f, 0.75f }, { 0.3f, 0.1f }, { -0.1f, 0.2f }, { 2, 3 } };
    const auto same = verdictOn(convolution(folded, "Tanh"), trainedConvolution(weights, norm), { kPicture });
    QVERIFY(same);
    QVERIFY2(same->same(), qPrintable(QString::number(same->distance.worstOutput.distance)));
    QVERIFY(same->storedWeights);
    const auto other = verdictOn(convolution(folded, "Neg"), trainedConvolution(weights, norm), { kPicture });
    QVERIFY(other);
    QVERIFY(other->storedWeights);
    QVERIFY(!other->same());
}

void ProofTests::keepsToMemory()
{
    WorkContext work;
    work.memoryLimit = 16;
    const NetworkProof proof = proveNetwork(pairOf(product(), dynamicProduct()), { row() }, work);
    QVERIFY(!proof.withFloatWeights && !proof.withStoredWeights);
    QVERIFY2(proof.reason.find("memory") != std::string::npos, proof.reason.c_str());
}

/// The file without its quantizers holds no copy of what the float model has.
void ProofTests::sharesFloatWeights()
{
    const Prepared f = deepProduct(false), q = blockProduct(false);
    const ComparePair pair = pairOf(f, q);
    const auto bypassed = bypassQuantizers(pair, planPairs(pair));
    QVERIFY(bypassed.ok());
    const Tensor* weight = f.plan->constant(f.plan->graph().findValue("w"));
    const Graph& graph = bypassed->plan->graph();
    std::vector<std::string> large;
    for (const Value& value : graph.values())
        if (value.initializer && value.initializer->count() >= kDepth * kColumns) {
            large.push_back(value.name);
            QCOMPARE(value.initializer->identity(), weight->identity());
        }
    QCOMPARE(large, std::vector<std::string> { "w_Q4_columns" });
}

QTEST_GUILESS_MAIN(ProofTests)
#include "proof_test.moc"
