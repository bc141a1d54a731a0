// SPDX-License-Identifier: GPL-3.0-or-later
// The difference to the float network is split without a rest.
#include "core/base/issue_text.h"
#include "core/match/alignment.h"
#include "tests/explain/explained.h"
#include "tests/support/foreign_model.h"
#include "tests/support/tensors.h"

#include <QTest>

#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

double sumOf(const ElementDifference& d)
{
    return d.input + d.weight + d.bias + d.rounding + d.clipping + d.saturation + d.summation;
}

/// Both models of a pair on one feed.
struct TwoModels {
    std::vector<Tensor> feed;
    ComparePair pair;
    std::unique_ptr<ExplainedRun> quantized, floats;

    TwoModels(const std::shared_ptr<const Model>& f, const std::shared_ptr<const Model>& q, ArithmeticProfile profile,
        std::vector<Tensor> inputs)
        : feed(std::move(inputs))
    {
        pair.floatPlan = Plan::make(f);
        pair.writtenPlan = Plan::make(q);
        pair.quantPlan = Plan::make(q, { KernelMode::Fast, profile });
        pair.quantView = std::make_shared<const QuantView>(
            QuantView::of(q->graph, [p = pair.writtenPlan](ValueId id) { return p->constant(id); }));
        auto alignment = align(*pair.floatPlan, *pair.writtenPlan, *pair.quantView, {}, true);
        if (!alignment.ok())
            qFatal("%s", issueText(alignment.issue()).c_str());
        pair.alignment = std::make_shared<const Alignment>(*std::move(alignment));
        quantized = std::make_unique<ExplainedRun>(pair.quantPlan, profile, feed);
        floats = std::make_unique<ExplainedRun>(pair.floatPlan, ArithmeticProfile::Simulated, feed);
    }
    ElementExplanation at(const std::string& name, int64_t element) const
    {
        auto e = quantized->explain(pair.quantPlan->graph().findValue(name), element, &pair);
        if (!e.ok())
            qFatal("%s", issueText(e.issue()).c_str());
        return *std::move(e);
    }
};

/// A product of [1, 4] by [4, 2] with a bias, between quantizers that cost next to nothing but for what is planted.
std::shared_ptr<const Model> linear(float weight, float bias, bool quantized, float range, bool relu = false)
{
    SmallModel m(quantized ? "q.onnx" : "f.onnx");
    std::vector<float> w { 1, -2, 3, 4, -5, 6, 7, -8 };
    for (float& v : w)
        v *= weight;
    m.input("x", { 1, 4 }).constant("w", Tensor::of<float>({ 4, 2 }, w));
    m.constant("b", Tensor::of<float>({ 2 }, { 0.5f + bias, -0.25f + bias }));
    std::string x = "x";
    if (quantized) {
        m.qdq<uint16_t>("x", "x_dq", 1.0f / 4096, 32768);
        x = "x_dq";
    }
    m.node("Gemm", { x, "w", "b" }, { "sum" });
    std::string y = "sum";
    if (relu) {
        m.node("Relu", { "sum" }, { "r" });
        y = "r";
    }
    if (quantized)
        m.qdq<uint16_t>(y, "y", range / 65535, relu ? 0 : 32768);
    else
        m.node("Identity", { y }, { "y" });
    m.output("y");
    return std::make_shared<Model>(std::move(m).finish().plan->model());
}

Tensor oneRow() { return Tensor::of<float>({ 1, 4 }, { 0.5f, -0.25f, 1, 1 }); }

} // namespace

class DifferenceTest : public QObject {
    Q_OBJECT
private slots:
    void init() { m_random.seed(m_seed = std::random_device {}()); }

    void addsUp_data()
    {
        QTest::addColumn<int>("profile");
        QTest::addColumn<bool>("perChannel");
        for (int profile = 0; profile < 3; ++profile)
            for (const bool perChannel : { false, true })
                QTest::addRow("%s, %s", kProfileNames[size_t(profile)].data(), perChannel ? "by channel" : "by tensor")
                    << profile << perChannel;
    }

    /// Every element of a network with a residual, a pool and a linear layer.
    void addsUp()
    {
        QFETCH(int, profile);
        QFETCH(bool, perChannel);
        ForeignFile file;
        file.perChannel = perChannel;
        file.otherCodes = true;
        const TwoModels run(
            floatNet(), file.made(), ArithmeticProfile(profile), { normalFloats(m_random, { 1, 2, 6, 6 }) });
        size_t seen = 0, split = 0;
        for (const ValueId id : run.quantized->values()) {
            const auto element = int64_t(m_random() % size_t(run.quantized->of(id).count()));
            const auto e = run.quantized->explain(id, element, &run.pair);
            QVERIFY2(e.ok(), e.ok() ? "" : issueText(e.issue()).c_str());
            if (!e->difference)
                continue;
            const ElementDifference& d = *e->difference;
            const std::string where = e->tensor + " " + std::to_string(element) + ", seed " + std::to_string(m_seed);
            const double size = std::abs(e->real) + std::abs(d.reference) + 1e-6;
            QVERIFY2(d.total == e->real - d.reference, where.c_str());
            QVERIFY2(std::abs(sumOf(d) - d.total) <= 1e-9 * size, where.c_str());
            const bool followed = d.reservation.empty();
            QVERIFY2(!followed || std::abs(d.summation) <= 1e-4 * size + 1e-5, where.c_str());
            if (e->relation == Relation::Products && followed) {
                double byTerm = 0;
                for (const ElementTerm& term : e->terms)
                    byTerm += term.fromA.value_or(0) + term.fromB.value_or(0);
                QVERIFY2(std::abs(byTerm - d.input - d.weight) <= 1e-9 * size, where.c_str());
            }
            ++seen;
            split += followed && d.weight != 0;
        }
        QVERIFY(seen > 10);
        QVERIFY(split >= 2);
    }

    void plantedWeight()
    {
        const TwoModels run(
            linear(1, 0, false, 0), linear(1.25f, 0, true, 80), ArithmeticProfile::Simulated, { oneRow() });
        for (int64_t i = 0; i < 2; ++i) {
            const auto e = run.at("y", i);
            QVERIFY(e.difference && e.difference->reservation.empty());
            const ElementDifference& d = *e.difference;
            const double products = d.reference - (i == 0 ? 0.5 : -0.25);
            QVERIFY(std::abs(d.weight - 0.25 * products) < 1e-3);
            QVERIFY(std::abs(d.input) < 1e-3 && std::abs(d.bias) < 1e-6 && std::abs(d.rounding) < 1e-3);
            QVERIFY(d.clipping == 0 && d.saturation == 0);
        }
    }

    void plantedBias()
    {
        const TwoModels run(
            linear(1, 0, false, 0), linear(1, 0.125f, true, 80), ArithmeticProfile::Simulated, { oneRow() });
        const auto e = run.at("y", 1);
        QVERIFY(e.difference && std::abs(e.difference->bias - 0.125) < 1e-6);
        QVERIFY(std::abs(e.difference->weight) < 1e-6);
    }

    /// The range ends at 2, the number lies beyond.
    void plantedClipping()
    {
        const TwoModels run(linear(1, 0, false, 0), linear(1, 0, true, 4), ArithmeticProfile::Simulated, { oneRow() });
        for (int64_t i = 0; i < 2; ++i) {
            const auto e = run.at("y", i);
            QVERIFY(e.difference && e.behind && e.behind->clipped);
            const ElementDifference& d = *e.difference;
            const double kept = std::clamp(d.reference, -2.0, 2.0);
            QVERIFY(std::abs(d.clipping - (kept - d.reference)) < 2e-3);
        }
    }

    /// Functions of one number: what is not rounding is carried in, and nothing is reserved.
    void behindAFunction()
    {
        SmallModel f("f.onnx"), q("q.onnx");
        f.input("x", { 1, 4 }).node("Sigmoid", { "x" }, { "y" }).output("y");
        q.input("x", { 1, 4 }).qdq<uint8_t>("x", "x_dq", 0.03f, 128).node("Sigmoid", { "x_dq" }, { "s" });
        q.qdq<uint8_t>("s", "y", 1.0f / 256, 0).output("y");
        const auto floats = std::make_shared<Model>(std::move(f).finish().plan->model());
        const auto codes = std::make_shared<Model>(std::move(q).finish().plan->model());
        for (int profile = 0; profile < 3; ++profile) {
            const TwoModels run(floats, codes, ArithmeticProfile(profile), { oneRow() });
            for (int64_t i = 0; i < 4; ++i) {
                const auto e = run.at("y", i);
                QVERIFY(e.difference && e.difference->reservation.empty());
                const ElementDifference& d = *e.difference;
                QVERIFY(std::abs(sumOf(d) - d.total) < 1e-12);
                QVERIFY(std::abs(d.rounding) <= 0.5001 / 256 && std::abs(d.input) < 0.25 * 0.0151);
                QVERIFY(d.weight == 0 && d.clipping == 0);
            }
        }
    }

    /// Where an activation lets nothing pass, no operand has a part in the difference.
    void behindAnActivation()
    {
        const TwoModels run(
            linear(1, 0, false, 0, true), linear(1.25f, 0, true, 80, true), ArithmeticProfile::Simulated, { oneRow() });
        for (int64_t i = 0; i < 2; ++i) {
            const auto e = run.at("y", i);
            QVERIFY(e.difference);
            const ElementDifference& d = *e.difference;
            QVERIFY(std::abs(sumOf(d) - d.total) < 1e-9);
            QVERIFY(std::abs(d.summation) < 1e-4);
            QCOMPARE(d.weight == 0, d.reference == 0);
        }
    }

private:
    uint32_t m_seed = 0;
    std::mt19937 m_random;
};

QTEST_APPLESS_MAIN(DifferenceTest)

#include "difference_test.moc"
