// SPDX-License-Identifier: GPL-3.0-or-later
// Mixtures of experts whose weights a file holds in codes (QMoE), beside the float model's MoE.
#include "core/graph/domains.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kExperts = 4, kHidden = 32, kInner = 48, kTokens = 64;
constexpr size_t kOfExpert = kHidden * kInner;

/// What is done to the file; nothing: it is healthy.
struct Fault {
    std::string what;
    int64_t k = 2, normalize = 1;
    std::string activation = "relu";
    int64_t block = 0;
    bool moreWeights = false; ///< shares of the experts beside router_probs
};

std::vector<float> weightsOf(uint32_t seed) { return uniform(kExperts * kOfExpert, seed, -0.3f, 0.3f); }

/// Two codes a byte, the first in the lower bits; a scale for each row, or for each `block` of it.
void addCodes(SmallModel& m, const std::string& name, int64_t rows, int64_t depth, uint32_t seed, const Fault& fault)
{
    const std::vector<float> w = weightsOf(seed);
    const size_t each = size_t(fault.block > 0 ? fault.block : depth);
    std::vector<float> scales;
    std::vector<uint8_t> codes;
    for (size_t begin = 0; begin < w.size(); begin += each) {
        float most = 0;
        for (size_t i = begin; i < begin + each; ++i)
            most = std::max(most, std::fabs(w[i]));
        scales.push_back(most / 7);
        for (size_t i = begin; i < begin + each; ++i)
            codes.push_back(uint8_t(std::lround(w[i] / scales.back()) + 8));
    }
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < codes.size(); i += 2)
        bytes.push_back(uint8_t(codes[i] | codes[i + 1] << 4));
    if (fault.what == name + " nibbles")
        for (uint8_t& b : bytes)
            b = uint8_t(b << 4 | b >> 4);
    if (fault.what == name + " experts")
        std::ranges::rotate(bytes, bytes.end() - ptrdiff_t(bytes.size() / kExperts));
    if (fault.what == name + " scale")
        for (size_t i = 2 * scales.size() / kExperts; i < 3 * scales.size() / kExperts; ++i)
            scales[i] *= 3;
    const int64_t blocks = depth / int64_t(each);
    m.constant(name + "_codes", Tensor::of<uint8_t>({ kExperts, rows, depth / 2 }, bytes));
    m.constant(name + "_scales",
        Tensor::of<float>(fault.block > 0 ? Shape { kExperts, rows, blocks } : Shape { kExperts, rows }, scales));
}

/// x -> router -> experts -> Add -> y
Prepared experts(const std::optional<Fault>& codes, int64_t normalize = 1)
{
    SmallModel m(codes ? "q" : "f");
    m.input("x", { kTokens, kHidden }).constant("r", Tensor::of<float>({ kHidden, kExperts }, uniform(128, 4)));
    m.constant("b", Tensor::of<float>({ kExperts, kInner }, uniform(kExperts * kInner, 3, -0.1f, 0.1f)));
    m.node("MatMul", { "x", "r" }, { "p" });
    const Fault fault = codes.value_or(Fault { .normalize = normalize });
    std::vector<SmallModel::Attribute> attributes { { "k", fault.k }, { "activation_type", fault.activation },
        { "normalize_routing_weights", fault.normalize } };
    if (codes) {
        addCodes(m, "v", kInner, kHidden, 5, fault);
        addCodes(m, "w", kHidden, kInner, 6, fault);
        attributes.emplace_back("expert_weight_bits", int64_t(4));
        attributes.emplace_back("block_size", fault.block);
        SmallModel::Names inputs { "x", "p", "v_codes", "v_scales", "b", "w_codes", "w_scales" };
        if (fault.moreWeights)
            inputs.insert(inputs.end(), { "", "", "", "", "", "", "", "p" });
        m.node("QMoE", inputs, { "m" }, attributes, std::string(kMicrosoftDomain));
    } else {
        m.constant("v", Tensor::of<float>({ kExperts, kInner, kHidden }, weightsOf(5)));
        m.constant("w", Tensor::of<float>({ kExperts, kHidden, kInner }, weightsOf(6)));
        m.node("MoE", { "x", "p", "v", "b", "w" }, { "m" }, attributes, std::string(kMicrosoftDomain));
    }
    return m.node("Add", { "x", "m" }, { "y" }).output("y").finish();
}

Comparison judged(const Prepared& f, const Prepared& q)
{
    CompareOptions options;
    options.prove = true;
    return compared(
        f, q, FixedData({ Tensor::of<float>({ kTokens, kHidden }, normals(kTokens * kHidden, 9)) }), options);
}

} // namespace

class ExpertsTests : public QObject {
    Q_OBJECT
private slots:
    void faults_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<int>("k");
        QTest::addColumn<QString>("activation");
        QTest::addColumn<int>("block");
        QTest::addColumn<QString>("rule"); // "": healthy
        QTest::addColumn<QString>("told");
        QTest::newRow("healthy") << "" << 2 << "relu" << 0 << ""
                                 << "";
        QTest::newRow("healthy, in blocks") << "" << 2 << "relu" << 16 << ""
                                            << "";
        QTest::newRow("nibbles") << "w nibbles" << 2 << "relu" << 0 << "weights_differ"
                                 << "";
        QTest::newRow("nibbles, in blocks") << "v nibbles" << 2 << "relu" << 16 << "weights_differ"
                                            << "";
        QTest::newRow("experts") << "v experts" << 2 << "relu" << 0 << "weights_differ"
                                 << "";
        QTest::newRow("one expert's scales") << "w scale" << 2 << "relu" << 0 << "weights_differ"
                                             << "2 of 4 (axis 0)";
        QTest::newRow("fewer experts") << "" << 1 << "relu" << 0 << "models_differ"
                                       << "k 1, in the float model 2";
        QTest::newRow("activation") << "" << 2 << "gelu" << 0 << "models_differ"
                                    << "activation_type gelu, in the float model relu";
    }
    void faults()
    {
        QFETCH(const QString, what);
        QFETCH(const int, k);
        QFETCH(const QString, activation);
        QFETCH(const int, block);
        QFETCH(const QString, rule);
        QFETCH(const QString, told);
        const Prepared q = experts(
            Fault { .what = what.toStdString(), .k = k, .activation = activation.toStdString(), .block = block });
        QCOMPARE(q.view->form(), QuantForm::WeightOnly);
        const Comparison c = judged(experts({}), q);
        QCOMPARE(c.weights.size(), size_t(2));
        QVERIFY(c.network && c.network->known());
        QCOMPARE(c.network->same(), rule != "models_differ");
        const bool loud
            = std::ranges::any_of(c.findings, [](const Finding& f) { return f.severity == Severity::Error; });
        QVERIFY2(loud != rule.isEmpty(), qPrintable(rulesOf(c)));
        if (rule.isEmpty())
            return;
        const Finding& first = c.findings.front();
        QVERIFY2(ruleId(first.rule) == rule.toStdString(), qPrintable(rulesOf(c)));
        QVERIFY2(QString::fromStdString(first.summary).contains(told), first.summary.c_str());
        if (!what.isEmpty())
            QCOMPARE(QString::fromStdString(first.tensor), what.left(1));
    }

    /// Nothing comes in, so what is off is made by the weights; of one that is another one nothing is said by the
    /// other.
    void noise()
    {
        const Comparison healthy = judged(experts({}), experts(Fault {}));
        const ActivationRow& row = rowOf(healthy, "m");
        QVERIFY(row.noise.weights && *row.noise.weights > 0);
        QCOMPARE(*row.noise.inherited, 0.0);
        const Comparison damaged = judged(experts({}), experts(Fault { .what = "w nibbles" }));
        for (const Finding& f : damaged.findings)
            QVERIFY2(f.rule != Rule::WeightsTooCoarse || f.rank < 0.1, qPrintable(rulesOf(damaged)));
    }

    /// A QMoE without router_weights normalizes, whatever it says.
    void normalizes()
    {
        const Comparison same = judged(experts({}), experts(Fault { .normalize = 0 }));
        QVERIFY(same.network->known() && same.network->same());
        const Comparison other = judged(experts({}, 0), experts(Fault { .normalize = 0 }));
        QVERIFY(other.network->known() && !other.network->same());
        QVERIFY2(QString::fromStdString(other.findings.front().summary).contains("normalize_routing_weights 1"),
            other.findings.front().summary.c_str());
    }

    void untested()
    {
        const Comparison c = judged(experts({}), experts(Fault { .moreWeights = true }));
        QVERIFY(!c.network || !c.network->known() || !c.network->same());
    }
};

QTEST_GUILESS_MAIN(ExpertsTests)
#include "experts_test.moc"
