// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/rules/findings.h"
#include "core/graph/domains.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <functional>

using namespace qs;
using namespace qs::test;

/// Every form of a quantized file is proved, or says why it is not.
namespace {

using Names = SmallModel::Names;

NetworkVerdict verdictOn(const ComparePair& pair, const std::vector<Tensor>& inputs)
{
    return networkVerdict(proveNetwork(pair, inputs), Comparison {}).value();
}

QString told(const NetworkVerdict& v)
{
    return QString::number(v.distance.worstOutput.distance) + ' ' + QString::fromStdString(v.reason);
}

const Tensor kIds = Tensor::of<int64_t>({ 2 }, { 1, 0 });
const std::vector<float> kTable = uniform(12, 31);
constexpr float kStep = 1.f / 127;

Prepared tableOf(bool other)
{
    return SmallModel("f")
        .input("ids", { 2 }, DType::Int64)
        .constant("t", Tensor::of<float>({ 3, 4 }, kTable))
        .node("Gather", { "t", "ids" }, { "e" })
        .node(other ? "Neg" : "Tanh", { "e" }, { "y" })
        .output("y")
        .finish();
}

/// As ONNX Runtime writes an embedding that is quantized by itself: rows of codes are chosen, then dequantized.
Prepared tableOfCodes()
{
    return SmallModel("q")
        .input("ids", { 2 }, DType::Int64)
        .constant("t_quantized", Tensor::of<int8_t>({ 3, 4 }, symmetricCodes(kTable, { kStep })))
        .constant("s", Tensor::scalar(kStep))
        .constant("z", Tensor::scalar<int8_t>(0))
        .node("Gather", { "t_quantized", "ids" }, { "e_quantized" })
        .node("DequantizeLinear", { "e_quantized", "s", "z" }, { "e" })
        .node("Tanh", { "e" }, { "y" })
        .output("y")
        .finish();
}

Prepared sumOf(bool other)
{
    return SmallModel("f")
        .input("ids", { 2 }, DType::Int64)
        .constant("t", Tensor::of<float>({ 3, 4 }, kTable))
        .constant("p", Tensor::of<float>({ 2, 4 }, uniform(8, 32)))
        .node("Gather", { "t", "ids" }, { "e" })
        .node(other ? "Mul" : "Add", { "e", "p" }, { "y" })
        .output("y")
        .finish();
}

/// Rows of codes that an operator on codes reads.
Prepared sumOfCodes()
{
    SmallModel model("q");
    model.input("ids", { 2 }, DType::Int64);
    model.constant("t_quantized", Tensor::of<int8_t>({ 3, 4 }, symmetricCodes(kTable, { kStep })));
    model.constant("p_quantized", Tensor::of<int8_t>({ 2, 4 }, symmetricCodes(uniform(8, 32), { kStep })));
    model.constant("s", Tensor::scalar(kStep)).constant("z", Tensor::scalar<int8_t>(0));
    model.constant("ys", Tensor::scalar(2 * kStep)).node("Gather", { "t_quantized", "ids" }, { "e_quantized" });
    model.node("QLinearAdd", { "e_quantized", "s", "z", "p_quantized", "s", "z", "ys", "z" }, { "y_quantized" }, {},
        kMicrosoftDomain);
    return model.node("DequantizeLinear", { "y_quantized", "ys", "z" }, { "y" }).output("y").finish();
}

constexpr int64_t kDepth = 16, kColumns = 3;
const std::vector<float> kDeep = uniform(size_t(kDepth * kColumns), 33);
const Tensor kDeepSample = Tensor::of<float>({ 2, kDepth }, uniform(size_t(2 * kDepth), 34));

Prepared deep(bool other)
{
    SmallModel model("f");
    model.input("x", { 2, kDepth }).constant("w", Tensor::of<float>({ kDepth, kColumns }, kDeep));
    return model.node("MatMul", { "x", "w" }, { "m" })
        .node(other ? "Tanh" : "Relu", { "m" }, { "y" })
        .output("y")
        .finish();
}

/// Zero points that are not whole, as half-quadratic quantization makes them.
Prepared deepWithRealZeros()
{
    constexpr float kScale = 1.f / 7, kZero = 7.5f;
    std::vector<uint8_t> bytes(size_t(kColumns * kDepth / 2), 0);
    for (int64_t c = 0; c < kColumns; ++c)
        for (int64_t k = 0; k < kDepth; ++k) {
            const float code = std::nearbyint(kDeep[size_t(k * kColumns + c)] / kScale + kZero);
            bytes[size_t(c * kDepth / 2 + k / 2)] |= uint8_t(uint8_t(std::clamp(code, 0.f, 15.f)) << (4 * (k % 2)));
        }
    SmallModel model("q");
    model.input("x", { 2, kDepth }).constant("w_Q4", Tensor::of<uint8_t>({ kColumns, 1, kDepth / 2 }, bytes));
    model.constant("s", Tensor::of<float>({ kColumns, 1 }, std::vector<float>(size_t(kColumns), kScale)));
    model.constant("z", Tensor::of<float>({ kColumns, 1 }, std::vector<float>(size_t(kColumns), kZero)));
    model.node("MatMulNBits", { "x", "w_Q4", "s", "z" }, { "m" },
        { { "K", kDepth }, { "N", kColumns }, { "bits", int64_t(4) }, { "block_size", int64_t(16) } },
        kMicrosoftDomain);
    return model.node("Relu", { "m" }, { "y" }).output("y").finish();
}

// An LSTM of two inputs and three states.
constexpr int64_t kStates = 3, kGates = 4 * kStates, kFeatures = 2;
const std::vector<float> kInput = uniform(size_t(kGates * kFeatures), 35),
                         kRecurrent = uniform(size_t(kGates * kStates), 36);
const Tensor kSequence = Tensor::of<float>({ 4, 1, kFeatures }, uniform(size_t(4 * kFeatures), 37));
const SmallModel::Attribute kHidden { "hidden_size", kStates };

Prepared recurrent(bool other)
{
    SmallModel model("f");
    model.input("x", { 4, 1, kFeatures }).constant("w", Tensor::of<float>({ 1, kGates, kFeatures }, kInput));
    model.constant("r", Tensor::of<float>({ 1, kGates, kStates }, kRecurrent));
    return model.node("LSTM", { "x", "w", "r" }, { "h" }, { kHidden })
        .node(other ? "Neg" : "Identity", { "h" }, { "y" })
        .output("y")
        .finish();
}

/// Rows and columns exchanged, as this operator wants them.
Tensor exchangedCodes(const std::vector<float>& w, int64_t columns)
{
    std::vector<int8_t> codes(w.size());
    const std::vector<int8_t> plain = symmetricCodes(w, { kStep });
    for (int64_t g = 0; g < kGates; ++g)
        for (int64_t k = 0; k < columns; ++k)
            codes[size_t(k * kGates + g)] = plain[size_t(g * columns + k)];
    return Tensor::of<int8_t>({ 1, columns, kGates }, codes);
}

Prepared recurrentOnCodes()
{
    SmallModel model("q");
    model.input("x", { 4, 1, kFeatures }).constant("w_quantized", exchangedCodes(kInput, kFeatures));
    model.constant("r_quantized", exchangedCodes(kRecurrent, kStates));
    model.constant("s", Tensor::of<float>({ 1 }, { kStep })).constant("z", Tensor::of<int8_t>({ 1 }, { 0 }));
    model.node("DynamicQuantizeLSTM", { "x", "w_quantized", "r_quantized", "", "", "", "", "", "s", "z", "s", "z" },
        { "h" }, { kHidden }, kMicrosoftDomain);
    return model.node("Identity", { "h" }, { "y" }).output("y").finish();
}

/// Beside what it computes: a quantizer whose codes nobody reads, and an operator that could not be taken out.
Prepared productBesideUnused()
{
    SmallModel m("q");
    m.input("x", { 2, 4 }).constant("s", Tensor::scalar(kStep)).constant("z", Tensor::scalar<int8_t>(0));
    m.constant("w_quantized", Tensor::of<int8_t>({ 4, 3 }, symmetricCodes(kWeights, { kStep })));
    m.constant("unused", Tensor::of<float>({ 3 }, { 1, 2, 3 }));
    m.node("QuantizeLinear", { "unused", "s", "z" }, { "unused_quantized" });
    m.node("QuantizeLinear", { "x", "s", "z" }, { "x_quantized" });
    m.node("QLinearSoftmax", { "x_quantized", "s", "z", "s", "z" }, { "lost" },
        { { "axis", int64_t(0) }, { "opset", int64_t(12) } }, kMicrosoftDomain);
    m.node("DequantizeLinear", { "x_quantized", "s", "z" }, { "x_dq" });
    m.node("DequantizeLinear", { "w_quantized", "s", "z" }, { "w" });
    return m.node("MatMul", { "x_dq", "w" }, { "m" }).node("Relu", { "m" }, { "y" }).output("y").finish();
}

/// x plus what follows from constants alone: a product or a convolution of them.
Prepared besideConstants(bool convolution, bool other)
{
    SmallModel m("f");
    m.input("x", { 2, 4 }).constant("t", Tensor::of<float>({ 2, 4 }, uniform(8, 51)));
    m.constant("w", Tensor::of<float>(convolution ? Shape { 4, 4, 1 } : Shape { 4, 4 }, uniform(16, 52)));
    m.constant("three", Tensor::of<int64_t>({ 3 }, { 2, 4, 1 })).constant("two", Tensor::of<int64_t>({ 2 }, { 2, 4 }));
    m.node("Neg", { "t" }, { "n" }).node("Reshape", { "n", convolution ? "three" : "two" }, { "r" });
    m.node(convolution ? "Conv" : "MatMul", { "r", "w" }, { "m" }).node("Reshape", { "m", "two" }, { "p" });
    return m.node(other ? "Mul" : "Add", { "x", "p" }, { "y" }).output("y").finish();
}

/// The same by the dynamic form: constants, rounded to codes at run.
Prepared besideDynamic(bool convolution)
{
    SmallModel m("q");
    m.input("x", { 2, 4 }).constant("t", Tensor::of<float>({ 2, 4 }, uniform(8, 51)));
    m.constant("w_quantized",
        Tensor::of<int8_t>(
            convolution ? Shape { 4, 4, 1 } : Shape { 4, 4 }, symmetricCodes(uniform(16, 52), { kStep })));
    m.constant("w_scale", Tensor::scalar(kStep)).constant("w_zero_point", Tensor::scalar<int8_t>(0));
    m.constant("three", Tensor::of<int64_t>({ 3 }, { 2, 4, 1 })).constant("two", Tensor::of<int64_t>({ 2 }, { 2, 4 }));
    m.node("Neg", { "t" }, { "n" }).node("Reshape", { "n", convolution ? "three" : "two" }, { "r" });
    m.node("DynamicQuantizeLinear", { "r" }, { "r_quantized", "r_scale", "r_zero_point" });
    m.node("Mul", { "r_scale", "w_scale" }, { "scales" });
    m.node(convolution ? "ConvInteger" : "MatMulInteger",
        { "r_quantized", "w_quantized", "r_zero_point", "w_zero_point" }, { "m_output_quantized" });
    m.node("Cast", { "m_output_quantized" }, { "m_cast" }, { { "to", int64_t(DType::Float32) } });
    m.node("Mul", { "m_cast", "scales" }, { "m" }).node("Reshape", { "m", "two" }, { "p" });
    return m.node("Add", { "x", "p" }, { "y" }).output("y").finish();
}

struct Case {
    const char* name;
    std::function<Prepared()> f, q, other;
    std::vector<Tensor> inputs;
};

std::vector<Case> cases()
{
    return {
        { "rows of codes", [] { return tableOf(false); }, tableOfCodes, [] { return tableOf(true); }, { kIds } },
        { "rows of codes into an operator on codes", [] { return sumOf(false); }, sumOfCodes,
            [] { return sumOf(true); }, { kIds } },
        { "zero points that are not whole", [] { return deep(false); }, deepWithRealZeros, [] { return deep(true); },
            { kDeepSample } },
        { "beside what nothing depends on", [] { return product(); }, productBesideUnused, [] { return product(true); },
            { Tensor::of<float>({ 2, 4 }, uniform(8, 3)) } },
        { "a product of constants", [] { return besideConstants(false, false); }, [] { return besideDynamic(false); },
            [] { return besideConstants(false, true); }, { Tensor::of<float>({ 2, 4 }, uniform(8, 3)) } },
        { "a convolution of constants", [] { return besideConstants(true, false); }, [] { return besideDynamic(true); },
            [] { return besideConstants(true, true); }, { Tensor::of<float>({ 2, 4 }, uniform(8, 3)) } },
        { "DynamicQuantizeLSTM", [] { return recurrent(false); }, recurrentOnCodes, [] { return recurrent(true); },
            { kSequence } },
    };
}

Prepared softmax(bool codes)
{
    SmallModel model(codes ? "q" : "f");
    model.input("x", { 2, 4 });
    if (!codes)
        return model.node("Softmax", { "x" }, { "y" }, { { "axis", int64_t(0) } }).output("y").finish();
    model.constant("s", Tensor::scalar(kStep)).constant("z", Tensor::scalar<int8_t>(0));
    model.node("QuantizeLinear", { "x", "s", "z" }, { "x_quantized" });
    model.node("QLinearSoftmax", { "x_quantized", "s", "z", "s", "z" }, { "y_quantized" },
        { { "axis", int64_t(0) }, { "opset", int64_t(12) } }, kMicrosoftDomain);
    return model.node("DequantizeLinear", { "y_quantized", "s", "z" }, { "y" }).output("y").finish();
}

/// With what cannot be taken out, and two constants.
Prepared scaledSoftmax(bool codes, const std::vector<float>& term, const std::vector<float>& factor)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 2, 4 }).constant("term", Tensor::of<float>({ 4 }, term));
    m.constant("factor", Tensor::of<float>({ 4 }, factor));
    if (codes)
        m.constant("s", Tensor::scalar(kStep))
            .constant("z", Tensor::scalar<int8_t>(0))
            .node("QuantizeLinear", { "x", "s", "z" }, { "x_quantized" })
            .node("QLinearSoftmax", { "x_quantized", "s", "z", "s", "z" }, { "p_quantized" },
                { { "axis", int64_t(0) }, { "opset", int64_t(12) } }, kMicrosoftDomain)
            .node("DequantizeLinear", { "p_quantized", "s", "z" }, { "p" });
    else
        m.node("Softmax", { "x" }, { "p" }, { { "axis", int64_t(0) } });
    return m.node("Add", { "p", "term" }, { "a" }).node("Mul", { "a", "factor" }, { "y" }).output("y").finish();
}

Prepared normalized(float epsilon)
{
    SmallModel model("f");
    model.input("x", { 2, 4 }).constant("scale", Tensor::of<float>({ 4 }, uniform(4, 41, 1, 2)));
    return model.node("LayerNormalization", { "x", "scale" }, { "y" }, { { "epsilon", epsilon } }).output("y").finish();
}

} // namespace

class ProofFormTests : public QObject {
    Q_OBJECT
private slots:
    void tellsNetworks_data();
    void tellsNetworks();
    void saysWhyNot();
    void namesLostConstants_data();
    void namesLostConstants();
    void rangesStandForThemselves();
    void namesOtherFunctions();
    void namesOtherDefaults();
    void namesErfForTanh();
};

void ProofFormTests::tellsNetworks_data()
{
    QTest::addColumn<int>("index");
    const auto all = cases();
    for (size_t i = 0; i < all.size(); ++i)
        QTest::newRow(all[i].name) << int(i);
}

void ProofFormTests::tellsNetworks()
{
    QFETCH(int, index);
    const Case c = cases()[size_t(index)];
    const NetworkVerdict same = verdictOn(pairOf(c.f(), c.q()), c.inputs);
    QVERIFY2(same.same() && !same.storedWeights, qPrintable(told(same)));
    const NetworkVerdict other = verdictOn(pairOf(c.other(), c.q()), c.inputs);
    QVERIFY2(other.known() && !other.same(), qPrintable(told(other)));
}

/// A form that cannot be taken out is named, and so is its node: in the verdict, and, since the output is far off, as a
/// warning.
void ProofFormTests::saysWhyNot()
{
    CompareOptions options;
    options.prove = true;
    const FixedData data({ Tensor::of<float>({ 2, 4 }, uniform(8, 3)) });
    const Comparison c = compared(softmax(false), softmax(true), data, options);
    QVERIFY(c.network && !c.network->known() && !c.network->same());
    QVERIFY2(c.network->reason.find("n_y_quantized") != std::string::npos, c.network->reason.c_str());
    QVERIFY2(c.network->reason.find("QLinearSoftmax") != std::string::npos, c.network->reason.c_str());
    const Finding* warning = findingOf(c, Rule::ModelsDiffer);
    QVERIFY(warning && warning->severity == Severity::Warning);
    QVERIFY(warning->summary.find(c.network->reason) != std::string::npos);
}

void ProofFormTests::namesLostConstants_data()
{
    QTest::addColumn<std::vector<float>>("term");
    QTest::addColumn<std::vector<float>>("factor");
    QTest::addColumn<QString>("severity"); // empty: nothing is told
    const std::vector<float> term = uniform(4, 61), factor = uniform(4, 62, 1, 2), zeros(4, 0.f);
    QTest::newRow("as they were") << term << factor << "";
    QTest::newRow("zeros") << zeros << factor << "warning";
    QTest::newRow("other numbers") << factor << factor << "";
    QTest::newRow("zeros beside other numbers") << zeros << uniform(4, 63, 1, 2) << "note";
}

/// Zeros in place of a constant are told of where nothing is proved, too.
void ProofFormTests::namesLostConstants()
{
    QFETCH(std::vector<float>, term);
    QFETCH(std::vector<float>, factor);
    QFETCH(QString, severity);
    CompareOptions options;
    options.prove = true;
    const FixedData data({ Tensor::of<float>({ 2, 4 }, uniform(8, 3)) });
    const Prepared f = scaledSoftmax(false, uniform(4, 61), uniform(4, 62, 1, 2));
    const Comparison c = compared(f, scaledSoftmax(true, term, factor), data, options);
    QVERIFY(c.network && !c.network->known());
    const auto lost = std::ranges::find(c.findings, "lost", &Finding::cause);
    QVERIFY2((lost != c.findings.end()) == !severity.isEmpty(), qPrintable(rulesOf(c)));
    if (severity.isEmpty())
        return;
    QCOMPARE(lost->rule, Rule::WeightsDiffer);
    QCOMPARE(lost->tensor, std::string("term"));
    QCOMPARE(lost->node, std::string("n_a"));
    QCOMPARE(QString::fromStdString(std::string(severityName(lost->severity))), severity);
    QCOMPARE(lost->change.kind, RemedyKind::StoreConstant);
}

/// A Relu that a range has taken over is seen by the range where no pair tells of it.
void ProofFormTests::rangesStandForThemselves()
{
    ComparePair pair = pairOf(product(), productOnCodes());
    Alignment alignment = *pair.alignment;
    std::erase_if(alignment.values, [](const ValuePair& p) { return p.quantizer.has_value(); });
    pair.alignment = std::make_shared<const Alignment>(std::move(alignment));
    const NetworkVerdict same = verdictOn(pair, { Tensor::of<float>({ 2, 4 }, uniform(8, 3)) });
    QVERIFY2(same.same(), qPrintable(told(same)));
}

void ProofFormTests::namesOtherFunctions()
{
    const std::vector<Tensor> sample { Tensor::of<float>({ 2, 4 }, uniform(8, 3, -10, 10)) };
    const NetworkVerdict verdict = verdictOn(pairOf(normalized(1e-5f), normalized(1e-3f)), sample);
    QCOMPARE(verdict.otherFunctions.size(), size_t(1));
    QVERIFY(verdict.otherFunctions[0].find("epsilon") != std::string::npos);
    QVERIFY(verdictOn(pairOf(normalized(1e-5f), normalized(1e-5f)), sample).otherFunctions.empty());
    const auto gelu = [](const char* kind) {
        return SmallModel("f")
            .input("x", { 2, 4 })
            .node(std::string(kind) == "FastGelu" ? "FastGelu" : "Gelu", { "x" }, { "y" }, {}, kMicrosoftDomain)
            .output("y")
            .finish();
    };
    const NetworkVerdict gelus = verdictOn(pairOf(gelu("Gelu"), gelu("FastGelu")), sample);
    QCOMPARE(gelus.otherFunctions.size(), size_t(1));
    QVERIFY2(gelus.otherFunctions[0].find("FastGelu 'n_y'") != std::string::npos, gelus.otherFunctions[0].c_str());
}

/// What an attribute says where the other file does not have it, or has it in a node that does more.
void ProofFormTests::namesOtherDefaults()
{
    const std::vector<Tensor> sample { Tensor::of<float>({ 1, 2, 8 }, uniform(16, 3, -3, 3)) };
    const auto attention = [](const std::vector<SmallModel::Attribute>& attributes) {
        SmallModel m("f");
        m.input("x", { 1, 2, 8 });
        m.node("MultiHeadAttention", { "x", "x", "x" }, { "y" }, attributes, kMicrosoftDomain);
        return m.output("y").finish();
    };
    const auto others
        = [&](const Prepared& f, const Prepared& q) { return verdictOn(pairOf(f, q), sample).otherFunctions; };
    const Prepared plain = attention({ { "num_heads", int64_t(2) } });
    const auto scaled = others(plain, attention({ { "num_heads", int64_t(2) }, { "scale", 0.125f } }));
    QVERIFY2(scaled.size() == 1 && scaled[0].find("scale 0.125, in the float model 0.5") != std::string::npos,
        scaled.empty() ? "" : scaled[0].c_str());
    QVERIFY(others(plain, attention({ { "num_heads", int64_t(2) }, { "scale", 0.5f } })).empty());
    const auto masked = others(plain, attention({ { "num_heads", int64_t(2) }, { "mask_filter_value", -1.f } }));
    QVERIFY(
        masked.size() == 1 && masked[0].find("mask_filter_value -1, in the float model -1e+04") != std::string::npos);

    const auto norm = [](bool fused, float epsilon) {
        SmallModel m("f");
        m.input("x", { 1, 2, 8 }).constant("g", Tensor::of<float>({ 8 }, uniform(8, 5)));
        if (fused)
            m.node("SkipLayerNormalization", { "x", "x", "g" }, { "y", "mean", "deviation", "a" },
                { { "epsilon", epsilon } }, kMicrosoftDomain);
        else
            m.node("Add", { "x", "x" }, { "a" })
                .node("LayerNormalization", { "a", "g" }, { "y" }, { { "epsilon", epsilon } });
        return m.output("y").finish();
    };
    const auto epsilon = others(norm(false, 1e-5f), norm(true, 0.5f));
    QCOMPARE(epsilon.size(), size_t(1));
    QVERIFY2(epsilon[0].find("epsilon 0.5, in the float model 1e-05") != std::string::npos, epsilon[0].c_str());
    QVERIFY(others(norm(false, 1e-5f), norm(true, 1e-5f)).empty());
}

/// Gelu by Tanh, step by step, in the float model.
void ProofFormTests::namesErfForTanh()
{
    const auto gelu = [](bool tanh) {
        SmallModel m("f");
        m.input("x", { 2, 4 }).constant("half", Tensor::scalar(0.5f)).constant("one", Tensor::scalar(1.f));
        m.constant("three", Tensor::scalar(3.f)).constant("c", Tensor::scalar(0.044715f));
        m.constant("k", Tensor::scalar(tanh ? 0.7978846f : 0.7071068f));
        m.node("Pow", { "x", "three" }, { "x3" }).node("Mul", { "x3", "c" }, { "cx3" });
        m.node("Add", { "x", "cx3" }, { "sum" }).node("Mul", { tanh ? "sum" : "x", "k" }, { "a" });
        m.node(tanh ? "Tanh" : "Erf", { "a" }, { "t" }).node("Add", { "t", "one" }, { "u" });
        return m.node("Mul", { "x", "u" }, { "v" }).node("Mul", { "v", "half" }, { "y" }).output("y").finish();
    };
    const std::vector<Tensor> sample { Tensor::of<float>({ 2, 4 }, uniform(8, 3, -3, 3)) };
    const NetworkVerdict verdict = verdictOn(pairOf(gelu(true), gelu(false)), sample);
    QVERIFY(std::ranges::any_of(verdict.otherFunctions, [](const std::string& text) {
        return text.find("Erf 'n_t' computes Gelu by Erf; the float model computes it by Tanh") != std::string::npos;
    }));
}

QTEST_GUILESS_MAIN(ProofFormTests)
#include "proof_forms_test.moc"
