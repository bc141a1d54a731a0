// SPDX-License-Identifier: GPL-3.0-or-later
// Query, key and value side by side in one stored matrix, where the float model has three.
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

using namespace qs;
using namespace qs::test;

namespace {

constexpr size_t kDepth = 32, kQuery = 16, kKey = 8, kAll = kQuery + 2 * kKey, kHead = 4;
constexpr int kLayers = 2, kOthers = 6;

/// In the other file, of the last layer: "nibbles" exchanges inputs in pairs, "heads" the two heads of the key,
/// "query" takes another query; "interleaved" has all layers by heads.
std::vector<float> packed(int layer, const std::string& fault)
{
    const bool last = layer + 1 == kLayers;
    const auto part
        = [&](uint32_t seed, size_t columns) { return uniform(kDepth * columns, seed + uint32_t(10 * layer)); };
    const std::vector<float> q = part(last && fault == "query" ? 9 : 1, kQuery), k = part(2, kKey), v = part(3, kKey);
    std::vector<float> w(kDepth * kAll);
    for (size_t i = 0; i < kDepth; ++i)
        for (size_t o = 0; o < kAll; ++o) {
            const size_t from = last && fault == "nibbles" ? i ^ 1 : i;
            size_t column = o;
            if (last && fault == "heads" && o >= kQuery && o < kQuery + kKey)
                column = kQuery + (o - kQuery + kHead) % kKey;
            if (fault == "interleaved")
                column = o * 5 % kAll;
            w[i * kAll + o] = column < kQuery ? q[from * kQuery + column]
                : column < kQuery + kKey      ? k[from * kKey + column - kQuery]
                                              : v[from * kKey + column - kQuery - kKey];
        }
    return w;
}

std::vector<int8_t> codesOf(const std::vector<float>& w)
{
    std::vector<int8_t> codes;
    for (const float x : w)
        codes.push_back(int8_t(std::lround(x * 127)));
    return codes;
}

Prepared layers(bool codes, const std::string& fault = {})
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 16, kDepth });
    std::string from = "x";
    for (int layer = 0; layer < kLayers; ++layer) {
        const std::string n = std::to_string(layer), to = "y" + n;
        if (codes) {
            m.weight("qkv" + n, { kDepth, kAll }, codesOf(packed(layer, fault)), { 1.f / 127 });
            m.node("MatMul", { from, "qkv" + n }, { "p" + n });
        } else {
            SmallModel::Names parts;
            for (const auto& [name, seed, columns] :
                { std::tuple { "q", 1, kQuery }, { "k", 2, kKey }, { "v", 3, kKey } }) {
                m.constant(name + ("_w" + n),
                    Tensor::of<float>(
                        { kDepth, int64_t(columns) }, uniform(kDepth * columns, uint32_t(seed + 10 * layer))));
                m.node("MatMul", { from, name + ("_w" + n) }, { parts.emplace_back(name + n) });
            }
            m.node("Concat", parts, { "p" + n }, { { "axis", int64_t(1) } });
        }
        m.node("Tanh", { "p" + n }, { to });
        from = to;
    }
    for (int i = 0; i < kOthers; ++i) { // which show that both are one network
        const std::string w = "h" + std::to_string(i), to = w + "_y";
        const std::vector<float> values = uniform(kAll * kAll, uint32_t(50 + i));
        if (codes)
            m.weight(w, { kAll, kAll }, codesOf(values), { 1.f / 127 });
        else
            m.constant(w, Tensor::of<float>({ kAll, kAll }, values));
        m.node("MatMul", { from, w }, { w + "_p" }).node("Tanh", { w + "_p" }, { to });
        from = to;
    }
    return m.output(from).finish();
}

} // namespace

class PackedPartsTests : public QObject {
    Q_OBJECT
private slots:
    void parts_data()
    {
        QTest::addColumn<QString>("fault");
        QTest::addColumn<int>("paired");
        QTest::addColumn<QStringList>("others"); // weights that are told of
        QTest::newRow("healthy") << "" << 6 + kOthers << QStringList();
        QTest::newRow("nibbles") << "nibbles" << 6 + kOthers << QStringList { "q_w1", "k_w1", "v_w1" };
        QTest::newRow("heads") << "heads" << 6 + kOthers << QStringList { "k_w1" };
        QTest::newRow("one part") << "query" << 6 + kOthers << QStringList { "q_w1" };
        QTest::newRow("arranged otherwise") << "interleaved" << kOthers << QStringList(); // nothing shows how
    }
    void parts()
    {
        QFETCH(const QString, fault);
        QFETCH(const int, paired);
        QFETCH(const QStringList, others);
        const FixedData data({ Tensor::of<float>({ 16, kDepth }, normals(16 * kDepth, 9)) });
        const Comparison c = compared(layers(false), layers(true, fault.toStdString()), data);
        QCOMPARE(int(c.weights.size()), paired);
        QStringList found;
        for (const WeightRow& row : c.weights)
            if (isOtherWeight(row))
                found << QString::fromStdString(row.name);
        QCOMPARE(found, others);
        const Finding* differ = findingOf(c, Rule::WeightsDiffer);
        QCOMPARE(differ != nullptr, !others.isEmpty());
        if (differ)
            QVERIFY2(differ->severity != Severity::Note && others.contains(QString::fromStdString(differ->tensor)),
                qPrintable(rulesOf(c)));
    }
};

QTEST_GUILESS_MAIN(PackedPartsTests)
#include "packed_parts_test.moc"
