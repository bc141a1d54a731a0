// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include "core/kernels/reduce/reduce.h"

#include <QTest>

#include <limits>

using namespace qs;
using test::RandomData;

class ReduceTests : public QObject {
    Q_OBJECT
private slots:
    void equalsReference_data();
    void equalsReference();
    void integers();
    void nothing();
    void longSumsStayAccurate();
    void argTies();
    void cumulativeSums();
};

void ReduceTests::equalsReference_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("seed");
    for (int kind = 0; kind <= int(ReduceKind::SumSquare); ++kind)
        for (int seed = 0; seed < 25; ++seed)
            QTest::addRow("kind %d seed %d", kind, seed) << kind << seed;
}

void ReduceTests::equalsReference()
{
    QFETCH(int, kind);
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    Shape shape;
    std::vector<bool> reduced;
    int64_t outputs = 1;
    for (int64_t d = random.integer(0, 5); d > 0; --d) {
        shape.push_back(random.integer(1, 9));
        reduced.push_back(random.integer(0, 1) == 1);
        outputs *= reduced.back() ? 1 : shape.back();
    }
    auto x = random.floats(elementCount(shape).value_or(0));
    for (float& v : x)
        v = ReduceKind(kind) == ReduceKind::LogSum ? std::abs(v)
            : ReduceKind(kind) == ReduceKind::Prod ? 1 + v / 100 // stays far from the denormals
                                                   : v;
    std::vector<float> y(static_cast<size_t>(outputs));
    std::vector<double> expected(y.size());
    const ReducePlan plan = makeReducePlan(shape, reduced);
    QCOMPARE(plan.outputCount(), outputs);
    reduce<float>(ReduceKind(kind), plan, x.data(), y.data());
    reduceReference(ReduceKind(kind), shape, reduced, test::widened(x), expected);
    const std::string different = test::difference<float>(y, std::span<const double>(expected), 1e-6);
    QVERIFY2(different.empty(), different.c_str());
}

void ReduceTests::integers()
{
    const ReducePlan plan = makeReducePlan({ 2, 2 }, { false, true });
    const std::vector<int64_t> x { int64_t(1) << 60, 1, -7, 2 };
    std::vector<int64_t> y(2);
    reduce<int64_t>(ReduceKind::Sum, plan, x.data(), y.data());
    QCOMPARE(y, (std::vector<int64_t> { (int64_t(1) << 60) + 1, -5 }));
    reduce<int64_t>(ReduceKind::Mean, plan, x.data(), y.data());
    QCOMPARE(y[1], int64_t(-2));
    reduce<int64_t>(ReduceKind::L1, plan, x.data(), y.data());
    QCOMPARE(y[1], int64_t(9));
    const std::vector<int8_t> codes { -128, 127, 3, -4 };
    std::vector<int8_t> best(2);
    reduce<int8_t>(ReduceKind::Max, plan, codes.data(), best.data());
    QCOMPARE(best, (std::vector<int8_t> { 127, 3 }));
    reduce<int8_t>(ReduceKind::Min, plan, codes.data(), best.data());
    QCOMPARE(best, (std::vector<int8_t> { -128, -4 }));
}

void ReduceTests::nothing()
{
    const ReducePlan plan = makeReducePlan({ 2, 0 }, { false, true });
    std::vector<float> y(2, 5);
    reduce<float>(ReduceKind::Sum, plan, nullptr, y.data());
    QCOMPARE(y, (std::vector<float> { 0, 0 }));
    reduce<float>(ReduceKind::Prod, plan, nullptr, y.data());
    QCOMPARE(y, (std::vector<float> { 1, 1 }));
    reduce<float>(ReduceKind::Max, plan, nullptr, y.data());
    QCOMPARE(y[0], -std::numeric_limits<float>::infinity());
    QCOMPARE(makeReducePlan({ 0, 3 }, { false, true }).outputCount(), int64_t(0));
}

void ReduceTests::longSumsStayAccurate()
{
    // 0.1f added a million times in float32 would be off by one part in a hundred.
    const std::vector<float> x(1000000, 0.1f);
    float y = 0;
    reduce<float>(ReduceKind::Mean, makeReducePlan({ 1000000 }, { true }), x.data(), &y);
    QCOMPARE(y, 0.1f);
}

void ReduceTests::argTies()
{
    const std::vector<float> x { 1, 3, 3, 0 };
    int64_t at = -1;
    argReduce<float>(ArgKind::Max, ArgTie::First, { 1, 4, 1 }, x.data(), &at);
    QCOMPARE(at, int64_t(1));
    argReduce<float>(ArgKind::Max, ArgTie::Last, { 1, 4, 1 }, x.data(), &at);
    QCOMPARE(at, int64_t(2));
    std::vector<int64_t> columns(2);
    argReduce<float>(ArgKind::Min, ArgTie::First, { 1, 2, 2 }, x.data(), columns.data());
    QCOMPARE(columns, (std::vector<int64_t> { 0, 1 }));
}

void ReduceTests::cumulativeSums()
{
    const std::vector<int32_t> x { 1, 2, 3 };
    std::vector<int32_t> y(3);
    const AxisShape s { 1, 3, 1 };
    cumSum<int32_t>({}, s, x.data(), y.data());
    QCOMPARE(y, (std::vector<int32_t> { 1, 3, 6 }));
    cumSum<int32_t>({ true, false }, s, x.data(), y.data());
    QCOMPARE(y, (std::vector<int32_t> { 0, 1, 3 }));
    cumSum<int32_t>({ false, true }, s, x.data(), y.data());
    QCOMPARE(y, (std::vector<int32_t> { 6, 5, 3 }));
    cumSum<int32_t>({ true, true }, s, x.data(), y.data());
    QCOMPARE(y, (std::vector<int32_t> { 5, 3, 0 }));
}

int runReduceTests(int argc, char** argv)
{
    ReduceTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "reduce_test.moc"
