// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/registry/kernel_survey.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"
#include "core/tensor/convert.h"
#include "tests/engine/node_case.h"
#include "tests/support/tensors.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

std::mt19937 g_random; // seeded by each test

Tensor noise(Shape shape) { return normalFloats(g_random, std::move(shape)); }

Tensor ints(const std::vector<int64_t>& v) { return Tensor::of<int64_t>({ int64_t(v.size()) }, v); }
Tensor words(const std::vector<std::string>& v) { return Tensor::strings({ int64_t(v.size()) }, v); }

/// Both modes agree in all outputs; empty when they do.
QString modesDiffer(const NodeCase& c, double tolerance)
{
    const auto fast = run(c), slow = run(c, KernelMode::Reference);
    if (!fast || !slow)
        return QString::fromStdString((fast ? slow : fast).issue().what);
    for (size_t i = 0; i < fast->outputs.size(); ++i) {
        const Tensor &a = (*fast)[i], &b = (*slow)[i];
        if (a.shape() != b.shape() || a.dtype() != b.dtype())
            return QString("output %1 differs in shape or type").arg(i);
        const auto x = toDoubles(a), y = toDoubles(b);
        for (size_t k = 0; k < x.size(); ++k)
            if (!(std::abs(x[k] - y[k]) <= tolerance * (1 + std::abs(y[k]))) && !(std::isnan(x[k]) && std::isnan(y[k])))
                return QString("output %1, element %2: %3, not %4").arg(i).arg(k).arg(x[k]).arg(y[k]);
    }
    return {};
}

QString refusal(const NodeCase& c)
{
    const auto result = run(c);
    return result.ok() ? QString() : QString::fromStdString(result.issue().what);
}

} // namespace

class LowerStandardTests : public QObject {
    Q_OBJECT
private slots:
    void attention_data();
    void attention();
    void attentionMasks();
    void attentionWindows_data();
    void attentionWindows();
    void einsum_data();
    void einsum();
    void einsumRefuses();
    void vision();
    void losses();
    void unique();
    void strings();
    void lookups();
    void randomNumbers();
    void bits();
    void layerStatistics();
    void survey();
};

void LowerStandardTests::attention_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 12; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

void LowerStandardTests::attention()
{
    QFETCH(int, seed);
    g_random.seed(uint32_t(seed));
    const auto size = [](int64_t most) { return std::uniform_int_distribution<int64_t>(1, most)(g_random); };
    const int64_t batch = size(2), keyHeads = size(3), heads = keyHeads * size(2), queries = size(9), keys = size(9),
                  past = size(4), keySize = size(9), valueSize = size(9);
    std::vector<Tensor> inputs { noise({ batch, heads, queries, keySize }), noise({ batch, keyHeads, keys, keySize }),
        noise({ batch, keyHeads, keys, valueSize }), {}, noise({ batch, keyHeads, past, keySize }),
        noise({ batch, keyHeads, past, valueSize }) };
    if (size(2) == 1)
        inputs[3] = noise({ queries, keys + past });
    NodeCase c = makeCase("Attention", inputs, 4);
    c.node.attributes.set("is_causal", int64_t(seed % 2));
    c.node.attributes.set("qk_matmul_output_mode", int64_t(seed % 4));
    const QString different = modesDiffer(c, 1e-5);
    QVERIFY2(different.isEmpty(), qPrintable(different));
    const auto outputs = run(c);
    QCOMPARE((*outputs)[1].shape(), (Shape { batch, keyHeads, past + keys, keySize }));
}

void LowerStandardTests::attentionMasks()
{
    // One query that may see the first of two keys only, by four means.
    const Tensor q = Tensor::of<float>({ 1, 1, 1, 1 }, { 1 }), k = Tensor::of<float>({ 1, 1, 2, 1 }, { 5, 9 });
    Tensor flags = Tensor::allocate(DType::Bool, { 1, 2 });
    flags.fill<uint8_t>()[0] = 1;
    flags.fill<uint8_t>()[1] = 0;
    const Tensor added = Tensor::of<float>({ 1, 2 }, { 0, -INFINITY }), tooShort = Tensor::of<float>({ 1, 1 }, { 0 });
    for (const Tensor& mask : { flags, added, tooShort })
        QCOMPARE((*run(makeCase("Attention", { q, k, k, mask })))[0].data<float>()[0], 5.0f);
    NodeCase padded = makeCase("Attention", { q, k, k, {}, {}, {}, ints({ 1 }) });
    QCOMPARE((*run(padded))[0].data<float>()[0], 5.0f);
    NodeCase causal = makeCase("Attention", { q, k, k });
    causal.node.attributes.set("is_causal", int64_t(1));
    QCOMPARE((*run(causal))[0].data<float>()[0], 5.0f);
    QVERIFY(refusal(makeCase("Attention", { q, k, k, Tensor::of<float>({ 3, 2 }, std::vector<float>(6)) }))
                .contains("mask"));
    QVERIFY(refusal(makeCase("Attention", { noise({ 1, 2, 4 }), noise({ 1, 2, 4 }), noise({ 1, 2, 4 }) }))
                .contains("heads"));
    // Sizes whose sum leaves 64 bits and comes out at 12 again.
    NodeCase projected
        = makeCase("Attention", { noise({ 1, 2, 4 }), noise({ 4, 12 }), noise({ 12 }) }, 1, kMicrosoftDomain);
    projected.node.attributes.set("num_heads", int64_t(1));
    projected.node.attributes.set(
        "qkv_hidden_sizes", std::vector<int64_t> { 6148914691236517209, 6148914691236517209, 6148914691236517210 });
    QVERIFY(refusal(projected).contains("does not hold queries"));
    projected.node.attributes.set("qkv_hidden_sizes", std::vector<int64_t> { 4, 4, 4 });
    QVERIFY(run(projected).ok());
}

void LowerStandardTests::attentionWindows_data()
{
    QTest::addColumn<int>("causal");
    QTest::addColumn<int>("left");
    QTest::addColumn<int>("right");
    QTest::addColumn<int>("length"); // of the keys; -1: all count, and the queries start with the first
    QTest::addColumn<std::vector<double>>("expected"); // means of the keys that two queries see
    using Means = std::vector<double>;
    QTest::addRow("all") << 0 << -1 << -1 << -1 << Means { 2.5, 2.5 };
    QTest::addRow("causal") << 1 << -1 << -1 << -1 << Means { 1, 1.5 };
    QTest::addRow("to the left") << 0 << 0 << -1 << -1 << Means { 2.5, 3 };
    QTest::addRow("to the right") << 0 << -1 << 1 << -1 << Means { 1.5, 2 };
    QTest::addRow("alone") << 0 << 0 << 0 << -1 << Means { 1, 2 };
    QTest::addRow("causal at the end") << 1 << -1 << -1 << 3 << Means { 1.5, 2 };
    QTest::addRow("alone at the end") << 0 << 0 << 0 << 3 << Means { 2, 3 };
    QTest::addRow("none before the first") << 1 << -1 << -1 << 1 << Means { 0, 1 };
    QTest::addRow("no key") << 0 << -1 << -1 << 0 << Means { 0, 0 };
}

void LowerStandardTests::attentionWindows()
{
    QFETCH(int, causal);
    QFETCH(int, left);
    QFETCH(int, right);
    QFETCH(int, length);
    QFETCH(std::vector<double>, expected);
    const Tensor q = Tensor::of<float>({ 1, 1, 2, 1 }, { 0, 0 }), k = Tensor::of<float>({ 1, 1, 4, 1 }, { 1, 2, 3, 4 });
    NodeCase c = makeCase("Attention", { q, k, k, {}, {}, {}, length < 0 ? Tensor() : ints({ length }) });
    c.node.attributes.set("is_causal", int64_t(causal));
    c.node.attributes.set("left_window_size", int64_t(left));
    c.node.attributes.set("right_window_size", int64_t(right));
    for (KernelMode mode : { KernelMode::Fast, KernelMode::Reference }) {
        const auto y = run(c, mode);
        QVERIFY(y.ok());
        const auto means = toDoubles((*y)[0]);
        for (size_t i = 0; i < 2; ++i)
            QVERIFY2(std::abs(means[i] - expected[i]) < 1e-6, qPrintable(QString::number(means[i])));
    }
}

void LowerStandardTests::einsum_data()
{
    QTest::addColumn<QByteArray>("equation");
    for (const char* equation : { "ij,jk->ik", "ij,kj", "bij,bjk->bik", "ii->i", "ii", "ij->ji", "i,j->ij", "i,i->",
             "ij->", "bhqd,bhkd->bhqk", "...ij,...jk->...ik", "i...->...i", "ij,jk,kl->il", "a,b,c,d->bd",
             "abc,cd,def->feb", "iij,jk->ik", "ab , bc -> a c", "...,...", "ij,ij->j" })
        QTest::addRow("%s", equation) << QByteArray(equation);
}

void LowerStandardTests::einsum()
{
    QFETCH(QByteArray, equation);
    // Every letter has its own size; an ellipsis stands for two axes, one of them repeated in later operands.
    g_random.seed(5);
    std::vector<Tensor> inputs;
    for (const QByteArray& term :
        equation.left(equation.indexOf('-') < 0 ? equation.size() : equation.indexOf('-')).split(',')) {
        Shape shape;
        for (int i = 0; i < term.size(); ++i) {
            if (std::isalpha(term[i]))
                shape.push_back(2 + term[i] % 5);
            if (term[i] == '.' && i + 2 < term.size() && term[i + 2] == '.')
                shape.insert(shape.end(), { inputs.empty() ? 3 : 1, 2 });
        }
        inputs.push_back(noise(shape));
    }
    NodeCase c = makeCase("Einsum", inputs);
    c.node.attributes.set("equation", equation.toStdString());
    QString different = modesDiffer(c, 1e-5);
    QVERIFY2(different.isEmpty(), qPrintable(different));
    for (Tensor& t : c.inputs) { // integers: exact in both
        Tensor whole = Tensor::allocate(DType::Int32, t.shape());
        for (size_t i = 0; i < size_t(t.count()); ++i)
            whole.fill<int32_t>()[i] = int32_t(100 * t.data<float>()[i]);
        t = whole;
    }
    different = modesDiffer(c, 0);
    QVERIFY2(different.isEmpty(), qPrintable(different));
}

void LowerStandardTests::einsumRefuses()
{
    const auto says = [](const char* equation, std::vector<Tensor> inputs) {
        NodeCase c = makeCase("Einsum", std::move(inputs));
        c.node.attributes.set("equation", std::string(equation));
        return refusal(c);
    };
    QVERIFY(says("ij,jk->ik", { noise({ 2, 3 }), noise({ 4, 5 }) }).contains("sizes"));
    QVERIFY(says("ij,jk->ik", { noise({ 2, 3 }) }).contains("terms"));
    QVERIFY(says("ijk->i", { noise({ 2, 3 }) }).contains("rank 2"));
    QVERIFY(says("ij->k", { noise({ 2, 3 }) }).contains("label"));
    QVERIFY(says("i1->i", { noise({ 2, 3 }) }).contains("no label"));
}

void LowerStandardTests::vision()
{
    g_random.seed(3);
    NodeCase grid = makeCase("GridSample", { noise({ 2, 3, 5, 7 }), noise({ 2, 4, 3, 2 }) });
    for (const char* mode : { "linear", "cubic" })
        for (const char* padding : { "zeros", "border", "reflection" }) {
            grid.node.attributes.set("mode", std::string(mode));
            grid.node.attributes.set("padding_mode", std::string(padding));
            const QString different = modesDiffer(grid, 1e-4);
            QVERIFY2(different.isEmpty(), qPrintable(different));
        }
    grid.node.attributes.set("mode", std::string("psychic"));
    QVERIFY(refusal(grid).contains("psychic"));

    const NodeCase boxes = makeCase("NonMaxSuppression",
        { noise({ 2, 20, 4 }), noise({ 2, 3, 20 }), ints({ 7 }), Tensor::scalar(0.1f), Tensor::scalar(-0.5f) });
    QCOMPARE(modesDiffer(boxes, 0), QString());
    QCOMPARE(
        (*run(makeCase("NonMaxSuppression", { noise({ 1, 4, 4 }), noise({ 1, 1, 4 }) })))[0].shape(), (Shape { 0, 3 }));

    NodeCase crop = makeCase("CenterCropPad", { Tensor::of<float>({ 1, 5 }, { 1, 2, 3, 4, 5 }), ints({ 3, 2 }) });
    const Tensor cropped = (*run(crop))[0];
    QCOMPARE(toFloats(cropped), (std::vector<float> { 0, 0, 2, 3, 0, 0 }));

    NodeCase unpool = makeCase(
        "MaxUnpool", { Tensor::of<float>({ 1, 1, 1, 2 }, { 1, 2 }), Tensor::of<int64_t>({ 1, 1, 1, 2 }, { 5, 2 }) });
    unpool.node.attributes.set("kernel_shape", std::vector<int64_t> { 2, 2 });
    unpool.node.attributes.set("strides", std::vector<int64_t> { 2, 2 });
    QCOMPARE(toFloats((*run(unpool))[0]), (std::vector<float> { 0, 0, 2, 0, 0, 1, 0, 0 }));
    unpool.inputs[1] = Tensor::of<int64_t>({ 1, 1, 1, 2 }, { 5, 8 });
    QVERIFY(refusal(unpool).contains("index 8"));

    Tensor truths = Tensor::allocate(DType::Bool, { 1, 2, 3 });
    std::ranges::copy(std::vector<uint8_t> { 1, 0, 0, 1, 0, 1 }, truths.fill<uint8_t>().begin());
    const auto image = run(makeCase("Col2Im", { truths, ints({ 1, 4 }), ints({ 1, 2 }) }));
    QVERIFY(image.ok());
    QCOMPARE((*image)[0].dtype(), DType::Bool);
    QCOMPARE(toInts((*image)[0]), (std::vector<int64_t> { 1, 1, 0, 1 }));

    NodeCase roi = makeCase("RoiAlign", { noise({ 1, 2, 6, 6 }), noise({ 3, 4 }), ints({ 0, 0, 1 }) });
    QVERIFY(refusal(roi).contains("sample 1"));
    const NodeCase deformed = makeCase("DeformConv",
        { noise({ 2, 4, 5, 6 }), noise({ 6, 2, 2, 3 }), noise({ 2, 24, 4, 4 }), noise({ 6 }), noise({ 2, 12, 4, 4 }) });
    NodeCase grouped = deformed;
    grouped.node.attributes.set("group", int64_t(2));
    grouped.node.attributes.set("offset_group", int64_t(2));
    const QString different = modesDiffer(grouped, 1e-4);
    QVERIFY2(different.isEmpty(), qPrintable(different));
    QVERIFY(!refusal(deformed).isEmpty());
}

void LowerStandardTests::losses()
{
    g_random.seed(9);
    NodeCase c = makeCase("SoftmaxCrossEntropyLoss",
        { noise({ 3, 5, 2 }), Tensor::of<int64_t>({ 3, 2 }, { 0, 4, -1, 2, 1, 1 }), noise({ 5 }) }, 2);
    c.node.attributes.set("ignore_index", int64_t(-1));
    for (const char* reduction : { "none", "sum", "mean" }) {
        c.node.attributes.set("reduction", std::string(reduction));
        const QString different = modesDiffer(c, 1e-4);
        QVERIFY2(different.isEmpty(), qPrintable(different));
    }
    c.node.attributes.set("ignore_index", int64_t(7));
    QVERIFY(refusal(c).contains("target -1"));
}

void LowerStandardTests::unique()
{
    NodeCase c = makeCase("Unique", { Tensor::of<float>({ 6 }, { 2, 1, 1, 3, NAN, NAN }) }, 4);
    auto sorted = *run(c);
    QCOMPARE(sorted[0].count(), int64_t(4));
    QCOMPARE(toInts(sorted[1]), (std::vector<int64_t> { 1, 0, 3, 4 }));
    QCOMPARE(toInts(sorted[2]), (std::vector<int64_t> { 1, 0, 0, 2, 3, 3 }));
    QCOMPARE(toInts(sorted[3]), (std::vector<int64_t> { 2, 1, 1, 2 }));
    c.node.attributes.set("sorted", int64_t(0));
    QCOMPARE(toInts((*run(c))[1]), (std::vector<int64_t> { 0, 1, 3, 4 }));
    NodeCase columns = makeCase("Unique", { Tensor::of<int64_t>({ 2, 3 }, { 1, 0, 1, 2, 2, 2 }) }, 4);
    columns.node.attributes.set("axis", int64_t(1));
    QCOMPARE(toInts((*run(columns))[0]), (std::vector<int64_t> { 0, 1, 2, 2 }));
    QCOMPARE((*run(makeCase("Unique", { words({ "b", "a", "b" }) })))[0].stringData(),
        (std::vector<std::string> { "a", "b" }));
}

void LowerStandardTests::strings()
{
    using Words = std::vector<std::string>;
    QCOMPARE((*run(makeCase("StringConcat", { words({ "a", "b" }), words({ "!" }) })))[0].stringData(),
        (Words { "a!", "b!" }));
    NodeCase split = makeCase("StringSplit", { words({ "  a  b c ", "", "x" }) }, 2);
    QCOMPARE((*run(split))[0].stringData(), (Words { "a", "b", "c", "", "", "", "x", "", "" }));
    QCOMPARE(toInts((*run(split))[1]), (std::vector<int64_t> { 3, 0, 1 }));
    split.node.attributes.set("maxsplit", int64_t(1));
    QCOMPARE((*run(split))[0].stringData(), (Words { "a", "b c ", "", "", "x", "" }));
    NodeCase dashes = makeCase("StringSplit", { words({ "-a--b", "" }) }, 2);
    dashes.node.attributes.set("delimiter", std::string("-"));
    QCOMPARE(toInts((*run(dashes))[1]), (std::vector<int64_t> { 4, 1 }));
    NodeCase normal = makeCase("StringNormalizer", { words({ "Monday", "tuesday" }) });
    normal.node.attributes.set("stopwords", Words { "monday" });
    normal.node.attributes.set("case_change_action", std::string("UPPER"));
    QCOMPARE((*run(normal))[0].stringData(), (Words { "TUESDAY" }));
    QVERIFY(refusal(makeCase("StringConcat", { ints({ 1 }), words({ "a" }) })).contains("strings"));
}

void LowerStandardTests::lookups()
{
    NodeCase c = makeCase("LabelEncoder", { words({ "b", "z" }) }, 1, "ai.onnx.ml");
    c.node.attributes.set("keys_strings", std::vector<std::string> { "a", "b" });
    c.node.attributes.set("values_floats", std::vector<float> { 1, 2 });
    c.node.attributes.set("default_float", 7.0f);
    QCOMPARE(toFloats((*run(c))[0]), (std::vector<float> { 2, 7 }));
    c.inputs[0] = ints({ 1 });
    QVERIFY(refusal(c).contains("keys"));
}

void LowerStandardTests::randomNumbers()
{
    NodeCase c = makeCase("RandomNormal", {});
    c.node.attributes.set("shape", std::vector<int64_t> { 3, 700 });
    const Tensor first = (*run(c))[0], again = (*run(c))[0];
    QCOMPARE(toFloats(first), toFloats(again));
    c.node.attributes.set("seed", 3.0f);
    QVERIFY(toFloats((*run(c))[0]) != toFloats(first));
    const Tensor draws = (*run(makeCase("Bernoulli", { Tensor::of<float>({ 3 }, { 0, 1, 1 }) })))[0];
    QCOMPARE(toFloats(draws), (std::vector<float> { 0, 1, 1 }));
    QVERIFY(!loweringRegistry().find(c.node)({ c.node, {}, {} })->foldable);
}

void LowerStandardTests::bits()
{
    NodeCase c = makeCase("BitCast", { Tensor::of<float>({ 1 }, { 1.0f }) });
    c.node.attributes.set("to", int64_t(DType::Int32));
    QCOMPARE(toInts((*run(c))[0]), (std::vector<int64_t> { 0x3F800000 }));
    c.node.attributes.set("to", int64_t(DType::Int64));
    QVERIFY(refusal(c).contains("size"));
}

/// Their type is stash_type's, whatever the input's.
void LowerStandardTests::layerStatistics()
{
    const NodeCase c = makeCase(
        "LayerNormalization", { Tensor::of<double>({ 1, 2 }, { 1, 3 }), Tensor::of<double>({ 2 }, { 1, 1 }) }, 3);
    QCOMPARE((*run(c))[0].dtype(), DType::Float64);
    QCOMPARE((*run(c))[1].dtype(), DType::Float32);
    QCOMPARE(toFloats((*run(c))[1]), (std::vector<float> { 2 }));
    QCOMPARE((*run(with(c, "stash_type", int64_t(DType::BFloat16))))[2].dtype(), DType::BFloat16);
    QVERIFY(refusal(with(c, "stash_type", int64_t(DType::Int8))).contains("stash_type"));
}

void LowerStandardTests::survey()
{
    const auto conv = surveyKernels("Conv");
    QCOMPARE(conv.size(), size_t(2)); // of ai.onnx and of com.microsoft.nchwc
    QVERIFY(conv[0].domain.empty());
    QVERIFY(!conv[0].choices.empty() && conv[0].choices[0].types.front() == DType::Float32);
    QVERIFY(surveyKernels("Nonsense").empty());
    for (const OperatorKernels& k : surveyKernels())
        QVERIFY2(k.choices.empty() != k.refusal.empty(), k.type.c_str());
}

int runLowerStandardTests(int argc, char** argv)
{
    LowerStandardTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "lower_standard_test.moc"
