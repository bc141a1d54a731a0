// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/domains.h"
#include "core/tensor/convert.h"
#include "tests/engine/node_case.h"

#include <QTest>

#include <cmath>

using namespace qs;
using namespace qs::test;

/// Models as scikit-learn exports write them, small enough to compute by hand.
namespace {

using Reals = std::vector<float>;
using Integers = std::vector<int64_t>;
using Texts = std::vector<std::string>;

Tensor rows(int64_t width, const Reals& v) { return Tensor::of<float>({ int64_t(v.size()) / width, width }, v); }

NodeCase mlCase(const char* type, const Tensor& x, size_t outputs = 1)
{
    return makeCase(type, { x }, outputs, kMlDomain);
}

/// x0 <= 1 ? leaf 1 : leaf 2; a second tree is a single leaf.
void setTrees(Attributes& a, const std::string& what, const Reals& weights, const Integers& targets)
{
    a.set("nodes_treeids", Integers { 0, 0, 0, 1 });
    a.set("nodes_nodeids", Integers { 0, 1, 2, 0 });
    a.set("nodes_featureids", Integers { 0, 0, 0, 0 });
    a.set("nodes_values", Reals { 1, 0, 0, 0 });
    a.set("nodes_modes", Texts { "BRANCH_LEQ", "LEAF", "LEAF", "LEAF" });
    a.set("nodes_truenodeids", Integers { 1, 0, 0, 0 });
    a.set("nodes_falsenodeids", Integers { 2, 0, 0, 0 });
    a.set(what + "_treeids", Integers { 0, 0, 1 });
    a.set(what + "_nodeids", Integers { 1, 2, 0 });
    a.set(what + "_ids", targets);
    a.set(what + "_weights", weights);
}

std::vector<double> numbers(const Result<NodeOutcome>& r, size_t i = 0)
{
    return r.ok() && i < r->outputs.size() ? toDoubles((*r)[i]) : std::vector<double> {};
}

QString refusal(const NodeCase& c)
{
    const auto result = run(c);
    return result.ok() ? QString() : QString::fromStdString(result.issue().what);
}

bool close(const std::vector<double>& a, const std::vector<double>& b)
{
    if (a.size() != b.size())
        return false;
    for (size_t i = 0; i < a.size(); ++i)
        if (!(std::abs(a[i] - b[i]) <= 1e-6 * (1 + std::abs(b[i]))))
            return false;
    return true;
}

} // namespace

class LowerMlTests : public QObject {
    Q_OBJECT
private slots:
    void treesAddUp();
    void treesOfOneClass_data();
    void treesOfOneClass();
    void treesRefuse();
    void newestTrees();
    void linearModels();
    void supportVectors();
    void features();
    void categories();
    void experts();
    void expertsRoundRows_data();
    void expertsRoundRows();
};

void LowerMlTests::treesAddUp()
{
    NodeCase c = mlCase("TreeEnsembleRegressor", rows(1, { 1, 1.5f, NAN }));
    setTrees(c.node.attributes, "target", { 10, 20, 3 }, { 0, 0, 0 });
    QVERIFY(close(numbers(run(c)), { 13, 23, 23 }));
    c.node.attributes.set("nodes_missing_value_tracks_true", Integers { 1, 0, 0, 0 });
    c.node.attributes.set("base_values", Reals { 0.5f });
    QVERIFY(close(numbers(run(c)), { 13.5, 23.5, 13.5 }));
    for (const auto& [how, first] : { std::pair("AVERAGE", 7.0), { "MIN", 3.5 }, { "MAX", 10.5 } }) {
        c.node.attributes.set("aggregate_function", std::string(how));
        QVERIFY2(close({ numbers(run(c))[0] }, { first }), how);
    }
    QVERIFY(refusal(mlCase("TreeEnsembleRegressor", rows(1, { 1 }))).contains("lists of nodes"));
}

void LowerMlTests::treesOfOneClass_data()
{
    QTest::addColumn<std::vector<float>>("weights");
    QTest::addColumn<QString>("transform");
    QTest::addColumn<std::vector<double>>("scores"); // of two rows
    QTest::addColumn<std::vector<double>>("labels");
    const double e = std::exp(1);
    QTest::addRow("positive") << Reals { 0.25f, 0.75f, 0 } << "NONE" << std::vector<double> { 0.75, 0.25, 0.25, 0.75 }
                              << std::vector<double> { 5, 7 };
    QTest::addRow("mixed") << Reals { -2, 1, 0 } << "NONE" << std::vector<double> { 2, -2, -1, 1 }
                           << std::vector<double> { 5, 7 };
    QTest::addRow("logistic") << Reals { -1, 1, 0 } << "LOGISTIC"
                              << std::vector<double> { e / (1 + e), 1 / (1 + e), 1 / (1 + e), e / (1 + e) }
                              << std::vector<double> { 5, 7 };
}

void LowerMlTests::treesOfOneClass()
{
    QFETCH(std::vector<float>, weights);
    QFETCH(QString, transform);
    QFETCH(std::vector<double>, scores);
    QFETCH(std::vector<double>, labels);
    NodeCase c = mlCase("TreeEnsembleClassifier", rows(1, { 0, 2 }), 2);
    setTrees(c.node.attributes, "class", weights, { 0, 0, 0 });
    c.node.attributes.set("classlabels_int64s", Integers { 5, 7 });
    c.node.attributes.set("post_transform", transform.toStdString());
    const auto outputs = run(c);
    QVERIFY(outputs.ok());
    QCOMPARE(numbers(outputs), labels);
    QVERIFY(close(numbers(outputs, 1), scores));
}

void LowerMlTests::treesRefuse()
{
    NodeCase c = mlCase("TreeEnsembleRegressor", rows(1, { 1 }));
    setTrees(c.node.attributes, "target", { 1, 1, 1 }, { 0, 0, 0 });
    const Attributes good = c.node.attributes;
    const auto with = [&](const char* name, AttributeValue value) {
        c.node.attributes = good;
        c.node.attributes.set(name, std::move(value));
        return refusal(c);
    };
    QVERIFY(with("nodes_truenodeids", Integers { 9, 0, 0, 0 }).contains("no node 9"));
    QVERIFY(with("nodes_truenodeids", Integers { 0, 0, 0, 0 }).contains("no trees"));
    QVERIFY(with("nodes_featureids", Integers { 4, 0, 0, 0 }).contains("5 features"));
    QVERIFY(with("nodes_modes", Texts { "BRANCH_MAYBE", "LEAF", "LEAF", "LEAF" }).contains("BRANCH_MAYBE"));
    QVERIFY(with("target_ids", Integers { 0, 3, 0 }).contains("target 3"));
    QVERIFY(with("post_transform", std::string("SQUARE")).contains("SQUARE"));
    QVERIFY(with("n_targets", int64_t(-1)).contains("-1 targets"));
}

void LowerMlTests::newestTrees()
{
    // Member of {1, 3} ? leaf 0 : leaf 1.
    NodeCase c = mlCase("TreeEnsemble", rows(1, { 1, 2, 3 }));
    Attributes& a = c.node.attributes;
    a.set("n_targets", int64_t(1));
    a.set("tree_roots", Integers { 0 });
    a.set("nodes_featureids", Integers { 0 });
    a.set("nodes_modes", Tensor::of<uint8_t>({ 1 }, { 6 }));
    a.set("nodes_splits", Tensor::of<float>({ 1 }, { 0 }));
    a.set("nodes_truenodeids", Integers { 0 });
    a.set("nodes_falsenodeids", Integers { 1 });
    a.set("nodes_trueleafs", Integers { 1 });
    a.set("nodes_falseleafs", Integers { 1 });
    a.set("leaf_targetids", Integers { 0, 0 });
    a.set("leaf_weights", Tensor::of<float>({ 2 }, { 5, -1 }));
    QVERIFY(refusal(c).contains("set of members"));
    a.set("membership_values", Tensor::of<float>({ 3 }, { 1, 3, NAN }));
    QVERIFY(close(numbers(run(c)), { 5, -1, 5 }));
    a.set("nodes_falseleafs", Integers { 0 });
    QVERIFY(refusal(c).contains("leads to 1"));
    a.set("nodes_falsenodeids", Integers { 0 });
    QVERIFY(refusal(c).contains("no trees"));
}

void LowerMlTests::linearModels()
{
    NodeCase c = mlCase("LinearRegressor", rows(2, { 1, 2, 3, 4 }));
    c.node.attributes.set("coefficients", Reals { 1, 10, -1, 0 });
    c.node.attributes.set("intercepts", Reals { 0.5f, 0 });
    c.node.attributes.set("targets", int64_t(2));
    QVERIFY(close(numbers(run(c)), { 21.5, -1, 43.5, -3 }));
    c.node.attributes.set("targets", int64_t(3));
    QVERIFY(refusal(c).contains("3 targets"));
    // Shorter rows take the first coefficients, as in ONNX Runtime (recorded with onnxruntime 1.31.1).
    NodeCase shorter = mlCase("LinearClassifier", rows(2, { 1, 0, 0, 1, 1, 1 }), 2);
    shorter.node.attributes.set("coefficients", Reals { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 });
    shorter.node.attributes.set("intercepts", Reals { 0, 0, 0 });
    shorter.node.attributes.set("classlabels_ints", Integers { 0, 1, 2 });
    QVERIFY(close(numbers(run(shorter), 1), { 1, 3, 5, 2, 4, 6, 3, 7, 11 }));

    NodeCase classes = mlCase("LinearClassifier", rows(1, { 1, -1 }), 2);
    classes.node.attributes.set("coefficients", Reals { 2, -2 });
    classes.node.attributes.set("intercepts", Reals { 0, 0 });
    classes.node.attributes.set("classlabels_strings", Texts { "up", "down" });
    classes.node.attributes.set("post_transform", std::string("SOFTMAX"));
    const auto outputs = run(classes);
    QVERIFY(outputs.ok());
    QCOMPARE((*outputs)[0].stringData(), (Texts { "up", "down" }));
    const double p = 1 / (1 + std::exp(-4.0));
    QVERIFY(close(numbers(outputs, 1), { p, 1 - p, 1 - p, p }));
}

void LowerMlTests::supportVectors()
{
    NodeCase c = mlCase("SVMRegressor", rows(1, { 2 }));
    c.node.attributes.set("kernel_type", std::string("POLY"));
    c.node.attributes.set("kernel_params", Reals { 0.5f, 1, 2 });
    c.node.attributes.set("support_vectors", Reals { 1, 3 });
    c.node.attributes.set("coefficients", Reals { 1, -1 });
    c.node.attributes.set("rho", Reals { 7 });
    c.node.attributes.set("n_supports", int64_t(2));
    QVERIFY(close(numbers(run(c)), { 7.0 + 4 - 16 }));
    c.node.attributes.set("one_class", int64_t(1));
    QVERIFY(close(numbers(run(c)), { -1 }));

    // Three classes with a vector each; 0 wins against 1 and 2.
    NodeCase classes = mlCase("SVMClassifier", rows(1, { 1 }), 2);
    classes.node.attributes.set("support_vectors", Reals { 1, 2, 3 });
    classes.node.attributes.set("vectors_per_class", Integers { 1, 1, 1 });
    classes.node.attributes.set("coefficients", Reals { 1, 1, 0, 0, 0, 0 });
    classes.node.attributes.set("rho", Reals { 0, 1, -1 });
    classes.node.attributes.set("classlabels_ints", Integers { 4, 5, 6 });
    const auto outputs = run(classes);
    QVERIFY(outputs.ok());
    QCOMPARE(numbers(outputs), std::vector<double> { 4 });
    QCOMPARE((*outputs)[1].dim(1), int64_t(3));
    classes.node.attributes.set("rho", Reals { 0 });
    QVERIFY(refusal(classes).contains("3 classes"));
}

void LowerMlTests::features()
{
    NodeCase scaler = mlCase("Scaler", rows(2, { 1, 2, 3, 4 }));
    scaler.node.attributes.set("offset", Reals { 1, 2 });
    scaler.node.attributes.set("scale", Reals { 10 });
    QVERIFY(close(numbers(run(scaler)), { 0, 0, 20, 20 }));
    scaler.node.attributes.set("offset", Reals { 1, 2, 3 });
    QVERIFY(refusal(scaler).contains("3 offsets"));

    for (const auto& [norm, expected] : { std::pair<std::string, std::vector<double>>("MAX", { 1, -4.0 / 3, 0, 0 }),
             { "L1", { 3.0 / 7, -4.0 / 7, 0, 0 } }, { "L2", { 0.6, -0.8, 0, 0 } } }) {
        NodeCase c = mlCase("Normalizer", rows(2, { 3, -4, 0, 0 }));
        c.node.attributes.set("norm", norm);
        QVERIFY2(close(numbers(run(c)), expected), norm.c_str());
    }

    NodeCase imputer = mlCase("Imputer", rows(2, { NAN, 2, 3, NAN }));
    imputer.node.attributes.set("imputed_value_floats", Reals { 7, 8 });
    imputer.node.attributes.set("replaced_value_float", NAN);
    QVERIFY(close(numbers(run(imputer)), { 7, 2, 3, 8 }));

    NodeCase joined = makeCase("FeatureVectorizer", { rows(1, { 1, 2 }), rows(2, { 3, 4, 5, 6 }) }, 1, kMlDomain);
    joined.node.attributes.set("inputdimensions", Integers { 2, 1 });
    QVERIFY(close(numbers(run(joined)), { 1, 0, 3, 2, 0, 5 }));
}

void LowerMlTests::categories()
{
    const Tensor words = Tensor::strings({ 3 }, { "a", "q", "b" });
    NodeCase hot = mlCase("OneHotEncoder", words);
    hot.node.attributes.set("cats_strings", Texts { "b", "a" });
    QVERIFY(close(numbers(run(hot)), { 0, 1, 0, 0, 1, 0 }));
    hot.node.attributes.set("zeros", int64_t(0));
    QVERIFY(refusal(hot).contains("element 1"));

    NodeCase mapper = mlCase("CategoryMapper", words);
    mapper.node.attributes.set("cats_strings", Texts { "b", "a" });
    mapper.node.attributes.set("cats_int64s", Integers { 10, 11 });
    QVERIFY(close(numbers(run(mapper)), { 11, -1, 10 }));
    mapper.inputs = { Tensor::of<int64_t>({ 2 }, { 10, 3 }) };
    QCOMPARE((*run(mapper))[0].stringData(), (Texts { "b", "_Unused" }));

    const int64_t large = int64_t(1) << 53; // and the next one are the same as doubles
    NodeCase label = mlCase("LabelEncoder", Tensor::of<int64_t>({ 3 }, { large + 1, large, 0 }));
    label.node.attributes.set("keys_int64s", Integers { large, large + 1 });
    label.node.attributes.set("values_strings", Texts { "even", "odd" });
    QCOMPARE((*run(label))[0].stringData(), (Texts { "odd", "even", "_Unused" }));
    NodeCase first = mlCase("LabelEncoder", words);
    first.node.attributes.set("classes_strings", Texts { "b", "a" });
    QVERIFY(close(numbers(run(first)), { 1, -1, 0 }));
}

void LowerMlTests::experts()
{
    // Two experts of one unit; the second doubles. Each token takes the better one, with its share or wholly.
    const Tensor x = rows(1, { 3, -1 }), logits = rows(2, { 0, std::log(3.0f), 5, 0 });
    const Tensor in = Tensor::of<float>({ 2, 1, 1 }, { 1, 2 }), out = Tensor::of<float>({ 2, 1, 1 }, { 1, 1 });
    NodeCase c
        = makeCase("MoE", { x, logits, in, {}, out, Tensor::of<float>({ 2, 1 }, { 0.5f, 0 }) }, 1, kMicrosoftDomain);
    const double share = 1 / (1 + std::exp(-5.0));
    QVERIFY(close(numbers(run(c)), { 0.75 * 6, share * 0.5 }));
    c.node.attributes.set("activation_type", std::string("identity"));
    c.node.attributes.set("normalize_routing_weights", int64_t(1));
    QVERIFY(close(numbers(run(c)), { 6, -0.5 }));
    c.node.attributes.set("k", int64_t(3));
    QVERIFY(refusal(c).contains("2 experts"));

    // Codes of four bits, two a byte: (9 - 8) * 0.5 and (6 - 8) * 0.5.
    Tensor codes = Tensor::of<uint8_t>({ 1, 2, 1 }, { 0x69, 0x69 });
    const Tensor scale = Tensor::of<float>({ 1, 2 }, { 0.5f, 0.5f });
    NodeCase q
        = makeCase("QMoE", { rows(2, { 4, 2 }), rows(1, { 7 }), codes, scale, {}, codes, scale }, 1, kMicrosoftDomain);
    q.node.attributes.set("activation_type", std::string("identity"));
    QVERIFY(close(numbers(run(q)), { 0, 0 }));
    q.inputs[0] = rows(2, { 4, 0 });
    QVERIFY(close(numbers(run(q)), { -1, -1 }));
    q.node.attributes.set("quant_type", std::string("fp8"));
    QVERIFY(refusal(q).contains("fp8"));
}

void LowerMlTests::expertsRoundRows_data()
{
    QTest::addColumn<int>("bits");
    QTest::addColumn<int>("block");
    QTest::addColumn<int>("level");
    QTest::addColumn<bool>("rounds");
    QTest::newRow("4 bits as floats") << 4 << 16 << 0 << false;
    QTest::newRow("4 bits at level 4") << 4 << 16 << 4 << true;
    QTest::newRow("4 bits at level 1") << 4 << 16 << 1 << false;
    QTest::newRow("4 bits, whole rows") << 4 << 0 << 4 << false;
    QTest::newRow("8 bits") << 8 << 16 << 0 << true;
    QTest::newRow("8 bits, blocks of 512") << 8 << 512 << 0 << false;
}

/// One expert whose first product sums the row up, and whose second hands that on: of 127 and 0.25s in one block of
/// eight bits nothing but the 127 is left.
void LowerMlTests::expertsRoundRows()
{
    QFETCH(const int, bits);
    QFETCH(const int, block);
    QFETCH(const int, level);
    QFETCH(const bool, rounds);
    const int64_t depth = std::max(block, 16), bytes = depth * bits / 8;
    const uint8_t zero = bits == 4 ? 0x88 : 0x80, one = bits == 4 ? 0x99 : 0x81;
    std::vector<uint8_t> in(size_t(depth * bytes), zero), out = in;
    std::fill_n(in.begin(), bytes, one);
    out[0] = bits == 4 ? 0x89 : 0x81;
    const Tensor scale
        = Tensor::of<float>(block ? Shape { 1, depth, 1 } : Shape { 1, depth }, std::vector(size_t(depth), 1.0f));
    std::vector<float> x(size_t(depth), 0.25f);
    x[3] = 127;
    NodeCase c = makeCase("QMoE",
        { rows(depth, x), rows(1, { 7 }), Tensor::of<uint8_t>({ 1, depth, bytes }, in), scale, {},
            Tensor::of<uint8_t>({ 1, depth, bytes }, out), scale },
        1, kMicrosoftDomain);
    c.node.attributes.set("activation_type", std::string("identity"));
    for (const auto& [name, value] :
        { std::pair { "expert_weight_bits", bits }, { "block_size", block }, { "accuracy_level", level } })
        c.node.attributes.set(name, int64_t(value));
    QCOMPARE(numbers(run(c))[0], rounds ? 127 : 127 + 0.25 * double(depth - 1));
    c.node.attributes.set("swiglu_limit_after_activation", int64_t(1));
    QVERIFY(refusal(c).contains("swiglu_limit_after_activation"));
}

int runLowerMlTests(int argc, char** argv)
{
    LowerMlTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "lower_ml_test.moc"
