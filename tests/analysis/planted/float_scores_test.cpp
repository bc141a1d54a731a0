// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"

#include <cmath>
#include <limits>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int kPlaces = 8;

std::vector<float> triangle(float mask)
{
    std::vector<float> values;
    for (int i = 0; i < kPlaces; ++i)
        for (int j = 0; j < kPlaces; ++j)
            values.push_back(j > i ? mask : 0);
    return values;
}

/// x -> MatMul -> Add of a mask -> Softmax -> y, its weight alone on `codes`; or another operator in place of both.
Prepared scores(bool codes, float mask, const char* steep = nullptr)
{
    const std::vector<float> w = uniform(kPlaces * kPlaces, 5, -2, 2);
    SmallModel m(codes ? "q" : "f");
    m.input("x", { 2, kPlaces, kPlaces });
    if (codes)
        m.weight("w", { kPlaces, kPlaces }, symmetricCodes(w, { 0.9f }), { 0.9f });
    else
        m.constant("w", Tensor::of<float>({ kPlaces, kPlaces }, w));
    m.node("MatMul", { "x", "w" }, { "s" });
    if (steep)
        return m.node(steep, { "s" }, { "y" }).output("y").finish();
    m.constant("mask", Tensor::of<float>({ 1, kPlaces, kPlaces }, triangle(mask)));
    return m.node("Add", { "s", "mask" }, { "a" }).node("Softmax", { "a" }, { "y" }).output("y").finish();
}

FixedData samples(float factor = 1)
{
    std::vector<float> values = normals(2 * kPlaces * kPlaces, 9);
    for (float& v : values)
        v *= factor;
    return FixedData({ Tensor::of<float>({ 2, kPlaces, kPlaces }, values) });
}

bool offersToLeaveFloat(const Comparison& c)
{
    return std::ranges::any_of(
        c.findings, [](const Finding& f) { return f.change.kind == RemedyKind::ExcludeNode || !f.together.empty(); });
}

} // namespace

/// Scores of attention and steep operators that are in float behind weights on codes.
class FloatScoresTests : public QObject {
    Q_OBJECT
private slots:
    void masks_data()
    {
        QTest::addColumn<float>("mask");
        QTest::newRow("lowest") << std::numeric_limits<float>::lowest();
        QTest::newRow("endless") << -std::numeric_limits<float>::infinity();
        QTest::newRow("1e9") << -1e9f;
        QTest::newRow("float16") << -65504.f;
        QTest::newRow("1e4") << -1e4f;
    }
    /// They count for nothing in the noise of scores, so the Softmax behind does not make it.
    void masks()
    {
        QFETCH(float, mask);
        const Comparison c = compared(scores(false, mask), scores(true, mask), samples());
        const double plain = *rowOf(compared(scores(false, 0), scores(true, 0), samples()), "s").accumulated.sqnrDb;
        const ActivationRow& row = rowOf(c, "a");
        QVERIFY2(std::abs(*row.accumulated.sqnrDb - plain) < 5,
            qPrintable(QString("%1, %2").arg(*row.accumulated.sqnrDb).arg(plain)));
        QCOMPARE(row.accumulated.nonFinite, uint64_t(0));
        QVERIFY(rowOf(c, "y").increaseDb.value_or(0) < 10);
        QVERIFY2(!findingOf(c, Rule::SensitiveOperator), qPrintable(rulesOf(c)));
        QVERIFY2(!findingOf(c, Rule::Inherited), qPrintable(rulesOf(c)));
        QVERIFY2(!offersToLeaveFloat(c), qPrintable(rulesOf(c)));
    }

    /// Ranges still reach over finite masks.
    void ranges()
    {
        const Comparison c = compared(scores(false, -1e4f), scores(true, -1e4f), samples());
        QVERIFY(rowOf(c, "a").floatRange->first < -9900);
    }

    void addedMasks_data()
    {
        QTest::addColumn<float>("own");
        QTest::addColumn<float>("other");
        QTest::addColumn<bool>("same");
        QTest::newRow("lowest of either type") << std::numeric_limits<float>::lowest() << -65504.f << true;
        QTest::newRow("endless") << -1e4f << -std::numeric_limits<float>::infinity() << true;
        QTest::newRow("near, and nearer") << -20.f << -10.f << false;
        QTest::newRow("lets through") << -1e4f << -10.f << false;
    }
    /// A mask that is computed, and added: what masks in both files is the same.
    void addedMasks()
    {
        QFETCH(const float, own);
        QFETCH(const float, other);
        QFETCH(const bool, same);
        const auto network = [](float mask) {
            SmallModel m("m");
            m.input("x", { 2, kPlaces, kPlaces }).constant("lowest", Tensor::scalar(mask));
            m.constant("zero", Tensor::scalar(0.f)).constant("few", Tensor::scalar(-0.5f));
            m.node("Less", { "x", "few" }, { "c" });
            m.node("Where", { "c", "lowest", "zero" }, { "w" }).node("Add", { "x", "w" }, { "a" });
            return m.node("Softmax", { "a" }, { "y" }).output("y").finish();
        };
        const Comparison c = compared(network(own), network(other), samples());
        QCOMPARE(rowOf(c, "w").accumulated.exact, same);
        QCOMPARE(rowOf(c, "y").accumulated.exact, same);
    }

    /// Rows of padding hold nothing but masks.
    void wholeRows()
    {
        const auto network = [](bool codes) {
            const std::vector<float> w = uniform(kPlaces * kPlaces, 5, -2, 2);
            std::vector<float> mask = triangle(-1e4f);
            std::fill(mask.end() - kPlaces, mask.end(), -1e4f);
            SmallModel m(codes ? "q" : "f");
            m.input("x", { 2, kPlaces, kPlaces }).constant("mask", Tensor::of<float>({ 1, kPlaces, kPlaces }, mask));
            if (codes)
                m.weight("w", { kPlaces, kPlaces }, symmetricCodes(w, { 0.9f }), { 0.9f });
            else
                m.constant("w", Tensor::of<float>({ kPlaces, kPlaces }, w));
            m.node("MatMul", { "x", "w" }, { "s" }).node("Add", { "s", "mask" }, { "a" });
            return m.node("Softmax", { "a" }, { "y" }).output("y").finish();
        };
        const Comparison c = compared(network(false), network(true), samples());
        QVERIFY2(
            *rowOf(c, "a").accumulated.sqnrDb < 40, qPrintable(QString::number(*rowOf(c, "a").accumulated.sqnrDb)));
    }

    /// A mask that is none in the quantized file is not left out.
    void brokenMask()
    {
        const Comparison c = compared(scores(false, -1e4f), scores(true, -3), samples());
        QVERIFY(*rowOf(c, "a").accumulated.sqnrDb < 1);
    }

    /// What is in float already cannot be left there.
    void steepInFloat()
    {
        const Comparison c = compared(scores(false, 0, "Exp"), scores(true, 0, "Exp"), samples(3));
        QVERIFY(rowOf(c, "y").increaseDb.value_or(0) > 10 && *rowOf(c, "y").accumulated.sqnrDb < 20);
        QVERIFY2(!findingOf(c, Rule::SensitiveOperator) && !offersToLeaveFloat(c), qPrintable(rulesOf(c)));
    }

    /// A file without any quantizers leaves nothing in float.
    void nothingQuantized()
    {
        const auto network = [](bool half) {
            SmallModel m(half ? "q" : "f");
            m.input("x", { 2, 4 }).constant("w", kFloatWeight);
            m.node("MatMul", { "x", "w" }, { "a" });
            if (half)
                m.node("Cast", { "a" }, { "h" }, { { "to", int64_t(10) } })
                    .node("Cast", { "h" }, { "b" }, { { "to", int64_t(1) } });
            return m.node("Relu", { half ? "b" : "a" }, { "y" }).output("y").finish();
        };
        const Comparison c
            = compared(network(false), network(true), FixedData({ Tensor::of<float>({ 2, 4 }, uniform(8, 3)) }));
        QVERIFY2(!findingOf(c, Rule::LeftInFloat), qPrintable(rulesOf(c)));
    }

    /// Constants that rule their scales are freed in all places that are told of.
    void extremeEverywhere()
    {
        Finding f = makeFinding(Rule::ExtremeConstant);
        for (const char* tensor : { "a", "b", "c" }) {
            FindingPlace place;
            place.tensor = tensor;
            place.change = { RemedyKind::KeepExtremeConstants, {}, tensor, 0, 0, 0 };
            f.places.push_back(place);
        }
        f.change = f.places.front().change;
        QCOMPARE(changesOf(f).size(), size_t(3));
    }

    /// Infinite values are in no range that was seen.
    void endlessRange()
    {
        const auto network = [](bool codes) {
            constexpr float kLow = std::numeric_limits<float>::lowest();
            SmallModel m(codes ? "q" : "f");
            m.input("x", { 2, kPlaces, kPlaces })
                .constant("mask", Tensor::of<float>({ 1, kPlaces, kPlaces }, triangle(kLow)));
            m.node("Add", { "x", "mask" }, { "a" });
            if (codes)
                m.qdq<uint16_t>("a", "a_dq", 5.2e33f, 65535);
            return m.node("Softmax", { codes ? "a_dq" : "a" }, { "y" }).output("y").finish();
        };
        const Comparison c = compared(network(false), network(true), samples());
        const Finding* found = findingOf(c, Rule::ExtremeConstant);
        QVERIFY2(found, qPrintable(rulesOf(c)));
        QVERIFY2(found->summary.find("from 0 to 0") == std::string::npos, found->summary.c_str());
    }
};

QTEST_GUILESS_MAIN(FloatScoresTests)
#include "float_scores_test.moc"
