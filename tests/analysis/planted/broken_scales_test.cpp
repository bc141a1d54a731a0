// SPDX-License-Identifier: GPL-3.0-or-later
// Scales of which nothing can be made.
#include "tests/analysis/comparing.h"

#include <limits>

using namespace qs;
using namespace qs::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNone = std::numeric_limits<float>::quiet_NaN();
constexpr float kStep = 1.f / 64;

/// x -> MatMul -> y with two columns of weights.
Prepared product(
    std::optional<float> activation, const std::vector<float>& weightScales, const std::vector<int8_t>& codes)
{
    SmallModel m(activation ? "q" : "f");
    m.input("x", { 8, 2 });
    if (!activation) {
        std::vector<float> weights;
        for (const int8_t code : codes)
            weights.push_back(float(code) * kStep);
        return m.constant("w", Tensor::of<float>({ 2, 2 }, weights))
            .node("MatMul", { "x", "w" }, { "y" })
            .output("y")
            .finish();
    }
    return m.qdq<uint8_t>("x", "x_read", *activation, 128)
        .weight("w", { 2, 2 }, codes, weightScales, 1)
        .node("MatMul", { "x_read", "w" }, { "y" })
        .output("y")
        .finish();
}

} // namespace

class BrokenScalesTests : public QObject {
    Q_OBJECT
private slots:
    void names_data()
    {
        QTest::addColumn<float>("activation");
        QTest::addColumn<float>("weight");
        QTest::addColumn<bool>("emptyChannel");
        QTest::addColumn<QString>("named"); // its tensor
        QTest::newRow("right") << kStep << kStep << false << "";
        QTest::newRow("activation zero") << 0.f << kStep << false << "x";
        QTest::newRow("activation infinite") << kInfinity << kStep << false << "x";
        QTest::newRow("activation no number") << kNone << kStep << false << "x";
        QTest::newRow("weight zero") << kStep << 0.f << false << "w";
        QTest::newRow("weight infinite") << kStep << kInfinity << false << "w";
        QTest::newRow("weight no number") << kStep << kNone << false << "w";
        QTest::newRow("weight below zero") << kStep << -kStep << false << "";
        QTest::newRow("zero for zeros") << kStep << 0.f << true << "";
    }
    /// One finding says it, and nothing is told of what follows from it.
    void names()
    {
        QFETCH(float, activation);
        QFETCH(float, weight);
        QFETCH(bool, emptyChannel);
        QFETCH(QString, named);
        const int8_t second = emptyChannel ? 0 : 20;
        const std::vector<int8_t> codes { 50, second, -90, int8_t(-second) };
        const FixedData data({ Tensor::of<float>({ 8, 2 }, normals(16, 4)) });
        const auto result = compareModels(
            pairOf(product({}, {}, codes), product(activation, { kStep, weight }, codes)), data, CompareOptions {}, {});
        if (!result.ok())
            qFatal("%s", issueText(result.issue()).c_str());
        const Comparison& c = *result;
        const Finding* found = findingOf(c, Rule::BrokenScale);
        QVERIFY2((found != nullptr) == !named.isEmpty(), qPrintable(rulesOf(c)));
        QVERIFY2(!findingOf(c, Rule::ExtremeConstant) && !findingOf(c, Rule::WrongZeroPoint), qPrintable(rulesOf(c)));
        if (!found)
            return;
        QCOMPARE(QString::fromStdString(found->tensor), named);
        QVERIFY2(!findingOf(c, Rule::WeightsDiffer), qPrintable(rulesOf(c)));
        QCOMPARE(found->change.kind, activation == 0 ? RemedyKind::SetRange : RemedyKind::Requantize);
    }
};

QTEST_GUILESS_MAIN(BrokenScalesTests)
#include "broken_scales_test.moc"
