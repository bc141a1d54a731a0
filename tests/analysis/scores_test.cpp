// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/scores.h"
#include "tests/analysis/comparing.h"

#include <cmath>
#include <limits>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

std::vector<double> probabilitiesOf(const float* v, size_t n, ScoreKind kind)
{
    std::vector<double> p(n);
    double sum = 0;
    for (size_t i = 0; i < n; ++i)
        sum += std::exp(double(v[i]));
    for (size_t i = 0; i < n; ++i)
        p[i] = kind == ScoreKind::Probabilities ? double(v[i]) : std::exp(double(v[i])) / sum;
    return p;
}

double naiveKl(const float* x, const float* y, size_t n, ScoreKind kind)
{
    const auto p = probabilitiesOf(x, n, kind), q = probabilitiesOf(y, n, kind);
    double kl = 0;
    for (size_t i = 0; i < n; ++i)
        if (p[i] > 0)
            kl += p[i] * (std::log(std::max(p[i], 1e-12)) - std::log(std::max(q[i], 1e-12)));
    return kl;
}

Prepared sequence(const char* output)
{
    return SmallModel("sequence").input("x", { 1, 3, 4 }).node("Identity", { "x" }, { output }).output(output).finish();
}

} // namespace

class ScoresTests : public QObject {
    Q_OBJECT
private slots:
    void rowsOfShapes_data();
    void rowsOfShapes();
    void againstNaive_data();
    void againstNaive();
    void valuesThatAreNoNumbers();
    void kindOfOutputs_data();
    void kindOfOutputs();
    void ownNorms_data();
    void ownNorms();
    void countsPositions();
    void accuracyNeedsOneClassASample();
};

void ScoresTests::rowsOfShapes_data()
{
    QTest::addColumn<std::vector<int64_t>>("shape");
    QTest::addColumn<int>("samples");
    QTest::addColumn<int>("positions"); // 0 = no scores
    QTest::addColumn<int>("classes");
    using S = std::vector<int64_t>;
    QTest::newRow("classes") << S { 1, 10 } << 1 << 1 << 10;
    QTest::newRow("without a batch axis") << S { 10 } << 1 << 1 << 10;
    QTest::newRow("a batch") << S { 8, 10 } << 8 << 1 << 10;
    QTest::newRow("positions") << S { 1, 5, 10 } << 1 << 5 << 10;
    QTest::newRow("positions of a batch") << S { 8, 5, 10 } << 8 << 5 << 10;
    QTest::newRow("positions without a batch axis") << S { 5, 10 } << 1 << 5 << 10;
    QTest::newRow("time first") << S { 5, 1, 10 } << 1 << 5 << 10;
    QTest::newRow("one position") << S { 1, 1, 10 } << 1 << 1 << 10;
    QTest::newRow("pooled picture") << S { 1, 10, 1, 1 } << 1 << 1 << 10;
    QTest::newRow("pooled sequence") << S { 1, 10, 1 } << 1 << 1 << 10;
    QTest::newRow("one score") << S { 1, 1 } << 1 << 0 << 0;
    QTest::newRow("scalar") << S {} << 1 << 0 << 0;
    QTest::newRow("picture") << S { 1, 10, 8, 8 } << 1 << 0 << 0;
    QTest::newRow("cache") << S { 1, 2, 7, 16 } << 1 << 0 << 0;
    QTest::newRow("empty") << S { 1, 0, 10 } << 1 << 0 << 0;
    QTest::newRow("no samples") << S { 0, 4 } << 1 << 0 << 0;
}

void ScoresTests::rowsOfShapes()
{
    QFETCH(std::vector<int64_t>, shape);
    QFETCH(int, samples);
    QFETCH(int, positions);
    QFETCH(int, classes);
    const auto rows = scoreRows(Shape(shape.begin(), shape.end()), size_t(samples));
    QCOMPARE(rows.has_value(), positions > 0);
    QCOMPARE(rows ? int(rows->positions) : 0, positions);
    if (rows)
        QCOMPARE(int(rows->classes), classes);
}

void ScoresTests::againstNaive_data()
{
    QTest::addColumn<int>("kind");
    QTest::newRow("logits") << int(ScoreKind::Logits);
    QTest::newRow("logarithms") << int(ScoreKind::LogProbabilities);
    QTest::newRow("probabilities") << int(ScoreKind::Probabilities);
    QTest::newRow("ranked") << int(ScoreKind::Ranked);
}

void ScoresTests::againstNaive()
{
    QFETCH(int, kind);
    const auto of = ScoreKind(kind);
    const uint32_t seed = 20;
    qInfo("seed %u", seed);
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 3);
    for (const size_t classes : { 2, 5, 6, 37 }) {
        const ScoreRows rows { 11, classes };
        std::vector<float> x(rows.positions * classes), y(x.size());
        for (size_t i = 0; i < x.size(); ++i) {
            x[i] = normal(random);
            y[i] = x[i] + 0.3f * normal(random);
        }
        if (of == ScoreKind::Probabilities)
            for (auto* v : { &x, &y })
                for (size_t i = 0; i < v->size(); i += classes) {
                    const auto p = probabilitiesOf(v->data() + i, classes, ScoreKind::Logits);
                    for (size_t j = 0; j < classes; ++j)
                        (*v)[i + j] = j == 1 ? 0.f : float(p[j]); // zeros, as codes make them
                }
        const ScoreSums sums = scoreSums(x.data(), y.data(), rows, of);
        double kl = 0, largest = 0;
        size_t agreeing = 0;
        for (size_t i = 0; i < rows.positions; ++i) {
            const float *a = x.data() + i * classes, *b = y.data() + i * classes;
            const double one = std::max(naiveKl(a, b, classes, of), 0.0);
            kl += one;
            largest = std::max(largest, one);
            agreeing += std::max_element(a, a + classes) - a == std::max_element(b, b + classes) - b;
        }
        QCOMPARE(size_t(sums.positions), rows.positions);
        QCOMPARE(size_t(sums.agreeing), agreeing);
        if (classes <= 5)
            QCOMPARE(sums.amongFive, sums.positions);
        QCOMPARE(sums.distributions, of == ScoreKind::Ranked ? 0 : sums.positions);
        if (of == ScoreKind::Ranked)
            continue;
        QVERIFY2(std::fabs(sums.divergence - kl) <= 1e-5 * std::max(1.0, kl), qPrintable(QString::number(kl)));
        QVERIFY(std::fabs(sums.largestDivergence - largest) <= 1e-5 * std::max(1.0, largest));
    }
}

void ScoresTests::valuesThatAreNoNumbers()
{
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
    const float x[] = { nan, 2, 1, 1, 2, 3 }, y[] = { 0, 2, 1, -infinite, 2, 3 };
    const ScoreSums sums = scoreSums(x, y, { 2, 3 }, ScoreKind::Logits);
    QCOMPARE(sums.positions, 2.0);
    QCOMPARE(sums.agreeing, 1.0); // NaN names no class
    QCOMPARE(sums.amongFive, 1.0);
    QCOMPARE(scoreSums(x, x, { 1, 3 }, ScoreKind::Logits).agreeing, 0.0);
    QCOMPARE(argmax(x, 3), kNoClass);
    QVERIFY(std::isnan(marginOf(x, 3, 1)) && std::isnan(marginOf(y, 3, kNoClass)));
    QCOMPARE(sums.distributions, 0.0); // neither row is finite in both
    const float huge[] = { 1e30f, -1e30f }; // no overflow
    QCOMPARE(scoreSums(huge, huge, { 1, 2 }, ScoreKind::Logits).divergence, 0.0);
}

void ScoresTests::kindOfOutputs_data()
{
    QTest::addColumn<QString>("op");
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("kind");
    const auto row = [](const char* tag, const char* op, const char* name, ScoreKind kind) {
        QTest::newRow(tag) << QString::fromLatin1(op) << QString::fromLatin1(name) << int(kind);
    };
    row("logits", "Abs", "logits", ScoreKind::Logits);
    row("softmax", "Softmax", "y", ScoreKind::Probabilities);
    row("log softmax", "LogSoftmax", "y", ScoreKind::LogProbabilities);
    row("sigmoid", "Sigmoid", "y", ScoreKind::Ranked);
    row("boxes", "Abs", "pred_Boxes", ScoreKind::None);
    row("features", "Abs", "last_hidden_state", ScoreKind::None);
    row("cache", "Abs", "present.0.key", ScoreKind::None);
    row("states", "Abs", "lstm_states.1", ScoreKind::None);
    row("TensorFlow's name", "Softmax", "StatefulPartitionedCall:0", ScoreKind::Probabilities);
    row("TensorFlow's name, no Softmax", "Abs", "StatefulPartitionedCall:1", ScoreKind::Logits);
}

void ScoresTests::kindOfOutputs()
{
    QFETCH(QString, op);
    QFETCH(QString, name);
    QFETCH(int, kind);
    const std::string out = name.toStdString();
    const Prepared model = SmallModel("kind")
                               .input("x", { 1, 4 })
                               .node(op.toStdString(), { "x" }, { "a" })
                               .node("Identity", { "a" }, { out })
                               .output(out)
                               .finish();
    QCOMPARE(int(scoreKindOf(*model.plan, model.plan->graph().outputs()[0])), kind);
}

void ScoresTests::ownNorms_data()
{
    QTest::addColumn<QStringList>("norm"); // operators from a to n, which y is a over
    QTest::addColumn<bool>("ofOwn"); // of a, else of x
    QTest::addColumn<int>("kind");
    QTest::newRow("length") << QStringList { "ReduceL2" } << true << int(ScoreKind::None);
    QTest::newRow("length, at least") << QStringList { "ReduceL2", "Clip" } << true << int(ScoreKind::None);
    QTest::newRow("written out") << QStringList { "Mul", "ReduceSum", "Sqrt" } << true << int(ScoreKind::None);
    QTest::newRow("root of mean") << QStringList { "Mul", "ReduceMean", "Sqrt" } << true << int(ScoreKind::None);
    QTest::newRow("factor") << QStringList { "ReduceL2", "Reciprocal" } << true << int(ScoreKind::None);
    QTest::newRow("length of another value") << QStringList { "ReduceL2" } << false << int(ScoreKind::Logits);
    QTest::newRow("sum, as a softmax written out") << QStringList { "ReduceSum" } << true << int(ScoreKind::Logits);
}

/// Vectors of length one are features, however their length is made so.
void ScoresTests::ownNorms()
{
    QFETCH(QStringList, norm);
    QFETCH(bool, ofOwn);
    QFETCH(int, kind);
    SmallModel m("norm");
    m.input("x", { 2, 4 }).node("Exp", { "x" }, { "a" });
    std::string from = ofOwn ? "a" : "x";
    for (qsizetype i = 0; i < norm.size(); ++i) {
        const std::string to = "n" + std::to_string(i), op = norm[i].toStdString();
        m.node(op, op == "Mul" ? SmallModel::Names { from, from } : SmallModel::Names { from }, { to });
        from = to;
    }
    const Prepared model
        = m.node(norm.back() == "Reciprocal" ? "Mul" : "Div", { "a", from }, { "y" }).output("y").finish();
    QCOMPARE(int(scoreKindOf(*model.plan, model.plan->graph().outputs()[0])), kind);
}

void ScoresTests::countsPositions()
{
    // Over all 12 elements both samples would agree; of the six positions one differs.
    const Prepared f = SmallModel("f").input("x", { 1, 3, 4 }).node("Abs", { "x" }, { "y" }).output("y").finish();
    const Prepared q = SmallModel("q")
                           .input("x", { 1, 3, 4 })
                           .node("Abs", { "x" }, { "y_QuantizeLinear_Input" })
                           .constant("s", Tensor::scalar(1.0f))
                           .constant("z", Tensor::scalar<uint8_t>(0))
                           .node("QuantizeLinear", { "y_QuantizeLinear_Input", "s", "z" }, { "codes" })
                           .node("DequantizeLinear", { "codes", "s", "z" }, { "y" })
                           .output("y")
                           .finish();
    const FixedData data({ Tensor::of<float>({ 1, 3, 4 }, { 0, 9, 1, 2, 0, 0, 0.6f, 0.9f, 3, 1, 1, 1 }),
                             Tensor::of<float>({ 1, 3, 4 }, { 4, 0, 0, 0, 0, 5, 0, 0, 0, 0, 6, 0 }) },
        { 1, 2 });
    const Comparison c = compared(f, q, data);
    QCOMPARE(c.outputs[0].positions, 6.0);
    QCOMPARE(*c.outputs[0].top1Agreement, 5.0 / 6);
    QCOMPARE(c.flipped, std::vector<size_t> { 0 });
    QVERIFY(c.outputs[0].klMean && *c.outputs[0].klMean > 0 && *c.outputs[0].klMax >= *c.outputs[0].klMean);
}

void ScoresTests::accuracyNeedsOneClassASample()
{
    const FixedData data({ Tensor::of<float>({ 1, 3, 4 }, std::vector<float>(12, 1.0f)) }, { 1 });
    QVERIFY(!compared(sequence("y"), sequence("y"), data).accuracy); // a class by position, one label
    const Comparison boxes = compared(sequence("boxes"), sequence("boxes"), data);
    QVERIFY(!boxes.outputs[0].top1Agreement && !boxes.outputs[0].klMean);
    QVERIFY(boxes.flipped.empty());
}

QTEST_GUILESS_MAIN(ScoresTests)
#include "scores_test.moc"
