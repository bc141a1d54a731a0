// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>
#include <map>

/// Weights that are others one by one, and make up for one another: in another order, or turned.
namespace {

using namespace qs;
using namespace qs::test;

constexpr int64_t kRows = 32, kWidth = 16, kInner = 24;

struct Matrix {
    int64_t rows = 0, columns = 0;
    std::vector<float> values;
    float& at(int64_t r, int64_t c) { return values[size_t(r * columns + c)]; }
    float at(int64_t r, int64_t c) const { return values[size_t(r * columns + c)]; }
};
using Weights = std::map<std::string, Matrix>;

Weights weights(uint32_t seed = 5)
{
    Weights all;
    for (const char* name : { "gate", "up", "down", "value", "out" }) {
        const bool in = name[0] == 'g' || name[0] == 'u', down = name[0] == 'd';
        Matrix m { down ? kInner : kWidth, in ? kInner : kWidth, {} };
        m.values = uniform(size_t(m.rows * m.columns), seed++, -0.4f, 0.4f);
        all[name] = std::move(m);
    }
    return all;
}

/// Columns in another order.
Matrix reordered(const Matrix& m, bool rows)
{
    Matrix made = m;
    for (int64_t r = 0; r < m.rows; ++r)
        for (int64_t c = 0; c < m.columns; ++c)
            made.at(r, c) = rows ? m.at((r * 7 + 3) % m.rows, c) : m.at(r, (c * 7 + 3) % m.columns);
    return made;
}

/// Pairs of columns turned by an angle each; of rows.
Matrix turned(const Matrix& m, bool rows)
{
    Matrix made = m;
    const int64_t half = (rows ? m.rows : m.columns) / 2, lines = rows ? m.columns : m.rows;
    for (int64_t i = 0; i < half; ++i)
        for (int64_t k = 0; k < lines; ++k) {
            const float a = rows ? m.at(i, k) : m.at(k, i), b = rows ? m.at(i + half, k) : m.at(k, i + half);
            const float cosine = std::cos(0.5f + float(i)), sine = std::sin(0.5f + float(i));
            (rows ? made.at(i, k) : made.at(k, i)) = a * cosine - b * sine;
            (rows ? made.at(i + half, k) : made.at(k, i + half)) = a * sine + b * cosine;
        }
    return made;
}

void addWeight(SmallModel& m, bool codes, const std::string& name, const Matrix& w)
{
    const Shape shape { w.rows, w.columns };
    if (!codes) {
        m.constant(name, Tensor::of<float>(shape, w.values));
        return;
    }
    float most = 0;
    for (const float v : w.values)
        most = std::max(most, std::fabs(v));
    const float step = most / 7;
    m.constant(name + "_codes", packedAs(Tensor::of<int8_t>(shape, symmetricCodes(w.values, { step })), DType::Int4))
        .constant(name + "_scale", Tensor::scalar(step))
        .node("DequantizeLinear", { name + "_codes", name + "_scale" }, { name });
}

/// x + down(Relu(gate(x)) * up(x)), and two products behind it; `sure`: and a Softmax that one class is sure of.
Prepared net(const Weights& all, bool codes, bool sure = false)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    for (const auto& [name, w] : all)
        addWeight(m, codes, name, w);
    m.node("MatMul", { "x", "gate" }, { "g" }).node("MatMul", { "x", "up" }, { "u" }).node("Relu", { "g" }, { "a" });
    m.node("Mul", { "a", "u" }, { "h" }).node("MatMul", { "h", "down" }, { "d" }).node("Add", { "x", "d" }, { "r" });
    m.node("MatMul", { "r", "value" }, { "v" }).node("MatMul", { "v", "out" }, { "y" });
    if (!sure)
        return m.output("y").finish();
    std::vector<float> first(size_t(kWidth), 0);
    first[0] = 40;
    m.constant("first", Tensor::of<float>({ kWidth }, first));
    m.node("Add", { "y", "first" }, { "scores" }).node("Softmax", { "scores" }, { "p" }, { { "axis", int64_t(1) } });
    return m.output("p").finish();
}

/// Two products, of which the first has an adapter of low rank: in its weight, in a branch beside it, both or neither.
Prepared adapted(bool codes, bool merged, bool branch)
{
    constexpr int64_t kRank = 2;
    constexpr float kFactor = 1.5f;
    Matrix w { kWidth, kWidth, uniform(kWidth * kWidth, 5, -0.4f, 0.4f) };
    const Matrix out { kWidth, kWidth, uniform(kWidth * kWidth, 6, -0.4f, 0.4f) };
    const Matrix a { kWidth, kRank, uniform(kWidth * kRank, 7, -0.3f, 0.3f) },
        b { kRank, kWidth, uniform(kRank * kWidth, 8, -0.3f, 0.3f) };
    for (int64_t r = 0; merged && r < kWidth; ++r)
        for (int64_t c = 0; c < kWidth; ++c)
            for (int64_t k = 0; k < kRank; ++k)
                w.at(r, c) += kFactor * a.at(r, k) * b.at(k, c);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kRows, kWidth });
    addWeight(m, codes, "w", w);
    addWeight(m, codes, "out", out);
    m.node("MatMul", { "x", "w" }, { branch ? "base" : "p" });
    if (branch) {
        addWeight(m, false, "a", a);
        addWeight(m, false, "b", b);
        m.constant("factor", Tensor::scalar(kFactor));
        m.node("MatMul", { "x", "a" }, { "xa" }).node("MatMul", { "xa", "b" }, { "xab" });
        m.node("Mul", { "xab", "factor" }, { "adapter" }).node("Add", { "base", "adapter" }, { "p" });
    }
    m.node("Sigmoid", { "p" }, { "s" }).node("MatMul", { "s", "out" }, { "y" });
    return m.output("y").finish();
}

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

const Finding* worstOf(const Comparison& c)
{
    const Finding* worst = findingOf(c, Rule::WeightsDiffer);
    return worst && worst->severity != Severity::Note ? worst : nullptr;
}

} // namespace

class MadeUpWeightsTests : public QObject {
    Q_OBJECT
private slots:
    /// Where outputs follow from no weight, they do not tell that weights make up for one another.
    void sureOutputs()
    {
        Weights own = weights(), other = own;
        std::swap(other["value"], other["out"]);
        const Comparison c = proved(net(own, false, true), net(other, true, true));
        QVERIFY2(worstOf(c), qPrintable(rulesOf(c)));
        QVERIFY(c.network && c.network->madeUp.empty());
    }

    void rearranged_data()
    {
        QTest::addColumn<QStringList>("columns"); // in another order
        QTest::addColumn<QStringList>("rows");
        QTest::addColumn<QStringList>("turns"); // columns of the first, rows of the second
        QTest::addColumn<QStringList>("others"); // weights of another training
        QTest::addColumn<bool>("noted"); // told as a note
        QTest::addColumn<QStringList>("faulty"); // told as more
        const QStringList none;
        QTest::newRow("as they are") << none << none << none << none << false << none;
        QTest::newRow("neurons in another order")
            << QStringList { "gate", "up" } << QStringList { "down" } << none << none << true << none;
        QTest::newRow("channels turned") << none << none << QStringList { "value", "out" } << none << true << none;
        QTest::newRow("both") << QStringList { "gate", "up" } << QStringList { "down" }
                              << QStringList { "value", "out" } << none << true << none;
        QTest::newRow("in another order, and not undone")
            << QStringList { "gate", "up" } << none << none << none << false << QStringList { "gate", "up" };
        QTest::newRow("turned, and not undone")
            << none << none << QStringList { "value" } << none << false << QStringList { "value" };
        QTest::newRow("another weight") << none << none << none << QStringList { "out" } << false
                                        << QStringList { "out" };
        QTest::newRow("in another order, and another weight")
            << QStringList { "gate", "up" } << QStringList { "down" } << none << QStringList { "out" } << false
            << QStringList { "out" };
    }
    /// What the weights behind undo is no fault; what they do not undo is one.
    void rearranged()
    {
        QFETCH(QStringList, columns);
        QFETCH(QStringList, rows);
        QFETCH(QStringList, turns);
        QFETCH(QStringList, others);
        QFETCH(bool, noted);
        QFETCH(QStringList, faulty);
        const Weights meant = weights(), other = weights(50);
        Weights stored = meant;
        for (auto& [name, w] : stored) {
            const QString key = QString::fromStdString(name);
            w = columns.contains(key) ? reordered(w, false) : rows.contains(key) ? reordered(w, true) : w;
            w = turns.contains(key) ? turned(w, name == "out") : others.contains(key) ? other.at(name) : w;
        }
        const Comparison c = proved(net(meant, false), net(stored, true));
        QVERIFY2(c.network, qPrintable(rulesOf(c)));
        const auto note = std::ranges::find(c.findings, "Weights are rearranged", &Finding::title);
        QCOMPARE(note != c.findings.end(), noted);
        QCOMPARE(c.network->same() && c.network->rearranged, noted);
        if (noted) {
            QCOMPARE(note->severity, Severity::Note);
            QCOMPARE(c.network->madeUp.size(), size_t(columns.size() + rows.size() + turns.size()));
            QVERIFY2(!findingOf(c, Rule::ModelsDiffer), qPrintable(rulesOf(c)));
        }
        const Finding* worst = worstOf(c);
        QVERIFY2((worst != nullptr) == !faulty.isEmpty(), qPrintable(rulesOf(c)));
        for (const QString& name : faulty)
            QVERIFY2(std::ranges::any_of(c.findings,
                         [&](const Finding& f) {
                             return f.rule == Rule::WeightsDiffer && f.severity == Severity::Error
                                 && std::ranges::any_of(f.places.empty() ? placesOf(f) : f.places,
                                     [&](const FindingPlace& p) { return QString::fromStdString(p.tensor) == name; });
                         }),
                qPrintable(rulesOf(c)));
    }

    void adapters_data()
    {
        QTest::addColumn<bool>("floatMerged");
        QTest::addColumn<bool>("floatBranch");
        QTest::addColumn<bool>("merged");
        QTest::addColumn<bool>("branch");
        QTest::addColumn<bool>("same");
        QTest::newRow("a branch in both") << false << true << false << true << true;
        QTest::newRow("a branch for what was merged") << true << false << false << true << true;
        QTest::newRow("merged for a branch") << false << true << true << false << true;
        QTest::newRow("counted twice") << true << false << true << true << false;
        QTest::newRow("lost") << true << false << false << false << false;
        QTest::newRow("a lost branch") << false << true << false << false << false;
    }
    /// A branch beside a weight (LoRA) is a part of it.
    void adapters()
    {
        QFETCH(bool, floatMerged);
        QFETCH(bool, floatBranch);
        QFETCH(bool, merged);
        QFETCH(bool, branch);
        QFETCH(bool, same);
        const Comparison c = proved(adapted(false, floatMerged, floatBranch), adapted(true, merged, branch));
        const bool faultless = std::ranges::none_of(
            c.findings, [](const Finding& f) { return f.rule == Rule::WeightsDiffer || f.rule == Rule::ModelsDiffer; });
        QVERIFY2(c.network && faultless == same && (!same || c.network->same()), qPrintable(rulesOf(c)));
    }

    /// Another network of the same form is compared, and told of before all else.
    void anotherNetwork()
    {
        const Comparison c = proved(net(weights(), false), net(weights(50), true));
        QVERIFY(!c.findings.empty());
        const Finding& first = c.findings.front();
        QCOMPARE(first.severity, Severity::Error);
        QCOMPARE(first.title, std::string("The weights are those of another network"));
        QVERIFY2(first.summary.find("5 of 5 weights") != std::string::npos, first.summary.c_str());
        QVERIFY2(first.summary.find("of the size of the float model's results apart") != std::string::npos,
            first.summary.c_str());
    }
};

QTEST_GUILESS_MAIN(MadeUpWeightsTests)
#include "made_up_weights_test.moc"
