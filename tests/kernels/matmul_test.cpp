// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include "core/kernels/product/matmul.h"

#include <QTest>

using namespace qs;
using test::RandomData;

class MatmulTests : public QObject {
    Q_OBJECT
private slots:
    void byHand();
    void integersWrap();
    void fastEqualsReference_data();
    void fastEqualsReference();
    void epilogue();
};

void MatmulTests::byHand()
{
    const double a[] { 1, 2, 3, 4, 5, 6 }, b[] { 1, 0, 0, 1, 1, 1 };
    double c[4];
    matmulReference<double>({ 2, 3, 2 }, a, b, c);
    const std::vector<double> expected { 4, 5, 10, 11 };
    QCOMPARE(std::vector<double>(c, c + 4), expected);
    // The same numbers stored the other way round.
    const double at[] { 1, 4, 2, 5, 3, 6 }, bt[] { 1, 0, 1, 0, 1, 1 };
    matmulReference<double>({ 2, 3, 2, true, true }, at, bt, c);
    QCOMPARE(std::vector<double>(c, c + 4), expected);
}

void MatmulTests::integersWrap()
{
    const uint64_t a[] { uint64_t(-3) }, b[] { 5 };
    uint64_t c[1];
    matmulReference<uint64_t>({ 1, 1, 1 }, a, b, c);
    QCOMPARE(int64_t(c[0]), int64_t(-15));
}

void MatmulTests::fastEqualsReference_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 120; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

void MatmulTests::fastEqualsReference()
{
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    const ProductShape s { random.integer(1, 70), random.integer(1, 130), random.integer(1, 70),
        random.integer(0, 1) == 1, random.integer(0, 1) == 1 };
    const auto a = random.floats(s.rows * s.inner), b = random.floats(s.inner * s.columns);
    std::vector<double> expected(size_t(s.rows * s.columns));
    matmulReference<double>(s, test::widened(a).data(), test::widened(b).data(), expected.data());
    for (const float* constant : { static_cast<const float*>(nullptr), b.data() }) {
        FloatMatmul product(constant);
        const auto prepared = product.prepare(s);
        QVERIFY(prepared);
        std::vector<float> c(expected.size()), again(expected.size());
        const auto scratch = test::scratchMemory(prepared->scratchBytes());
        QVERIFY(prepared->run(a.data(), b.data(), c.data(), scratch.get()));
        const std::string different = test::difference<float>(c, std::span<const double>(expected), 1e-5);
        QVERIFY2(different.empty(), different.c_str());
        QVERIFY(prepared->run(a.data(), b.data(), again.data(), scratch.get()));
        QCOMPARE(c, again);
    }
}

void MatmulTests::epilogue()
{
    std::vector<float> c { 1, 2, 3, 4, 5, 6 };
    const float row[] { 10, 20, 30 }, column[] { 1, 2 };
    scaleAndAdd<float>(2, 3, 2, 0.5f, { row, 0, 1 }, c.data());
    QCOMPARE(c, (std::vector<float> { 7, 14, 21, 13, 20, 27 }));
    scaleAndAdd<float>(2, 3, 1, 1, { column, 1, 0 }, c.data());
    QCOMPARE(c, (std::vector<float> { 8, 15, 22, 15, 22, 29 }));
    scaleAndAdd<float>(2, 3, 3, 1, {}, c.data());
    QCOMPARE(c[5], 87.0f);
}

int runMatmulTests(int argc, char** argv)
{
    MatmulTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "matmul_test.moc"
