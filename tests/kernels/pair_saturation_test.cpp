// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/codes/pair_saturation.h"
#include "tests/kernels/runners.h"

#include <QTest>

#include <random>
#include <vector>

namespace qs::test {

namespace {

using Bytes = std::vector<uint8_t>;

/// Codes full of extremes, so that many pairs leave 16 bits.
Bytes extremeCodes(std::mt19937& random, int64_t n, uint8_t low, uint8_t high)
{
    Bytes codes(static_cast<size_t>(n));
    for (uint8_t& c : codes)
        c = static_cast<uint8_t>(random() % 3 ? random() % 256 : random() % 2 ? low : high);
    return codes;
}

std::vector<int32_t> exactSums(const CodeMatrix& a, const CodeMatrix& b)
{
    std::vector<int32_t> sums(static_cast<size_t>(a.rows * b.columns));
    multiplyReference(a, {}, b, {}, sums.data());
    return sums;
}

class PairSaturationTests : public QObject {
    Q_OBJECT

private slots:
    void equalsReference_data();
    void equalsReference();
    void sevenBitsNeverSaturate();
    void convEqualsProduct_data();
    void convEqualsProduct();
};

void PairSaturationTests::equalsReference_data()
{
    QTest::addColumn<int64_t>("depth");
    for (int64_t depth : { 1, 2, 3, 7, 8, 31, 32, 37, 64, 257 })
        QTest::addRow("%lld", static_cast<long long>(depth)) << depth;
}

void PairSaturationTests::equalsReference()
{
    QFETCH(int64_t, depth);
    constexpr int64_t rows = 5, columns = 7;
    const unsigned seed = 17 + static_cast<unsigned>(depth);
    std::mt19937 random(seed);
    const Bytes a = extremeCodes(random, rows * depth, 0, 255), b = extremeCodes(random, depth * columns, 127, 128);
    const CodeMatrix am { { a.data(), false }, rows, depth, depth, 1 };
    const CodeMatrix bm { { b.data(), true }, depth, columns, columns, 1 };
    std::vector<int32_t> expected(static_cast<size_t>(rows * columns));
    saturatingSumsReference(am, bm, expected.data());
    std::vector<int32_t> sums = exactSums(am, bm);
    const std::vector<int32_t> exact = sums;
    const SaturationTable table = saturationTable(bm);
    QCOMPARE(table.columns(), columns);
    std::vector<uint64_t> counts(columns), wanted(columns);
    SaturationTally tally { counts, {} };
    for (int64_t r = 0; r < rows; ++r)
        saturatePairs(table, a.data() + r * depth, sums.data() + r * columns, tally);
    SaturatedPair worst;
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
            for (int64_t k = 0; k + 1 < depth; k += 2) {
                const int32_t v = am.codes.at(r * depth + k) * bm.codes.at(k * columns + c)
                    + am.codes.at(r * depth + k + 1) * bm.codes.at((k + 1) * columns + c);
                wanted[static_cast<size_t>(c)] += v > 32767 || v < -32768;
                const SaturatedPair pair { c, k / 2, am.codes.at(r * depth + k), am.codes.at(r * depth + k + 1),
                    bm.codes.at(k * columns + c), bm.codes.at((k + 1) * columns + c) };
                QCOMPARE(pair.sum(), v);
                if (losesMore(pair, worst))
                    worst = pair;
            }
    QCOMPARE(tally.worst.lost(), worst.lost());
    if (worst.lost() > 0)
        QCOMPARE(tally.worst, worst);
    QVERIFY2(sums == expected, qPrintable(QStringLiteral("seed %1").arg(seed)));
    QVERIFY2(counts == wanted, qPrintable(QStringLiteral("seed %1").arg(seed)));
    if (depth >= 7)
        QVERIFY(sums != exact);
}

void PairSaturationTests::sevenBitsNeverSaturate()
{
    std::mt19937 random(3);
    Bytes b(64 * 3);
    for (uint8_t& c : b)
        c = static_cast<uint8_t>(static_cast<int>(random() % 129) - 64);
    QVERIFY(saturationTable({ { b.data(), true }, 64, 3, 3, 1 }).pairs.empty());
}

void PairSaturationTests::convEqualsProduct_data()
{
    QTest::addColumn<int64_t>("channels");
    QTest::addColumn<int64_t>("groups");
    QTest::addColumn<int64_t>("kernel");
    QTest::newRow("pairs of channels") << int64_t(4) << int64_t(1) << int64_t(3);
    QTest::newRow("pairs across positions") << int64_t(3) << int64_t(1) << int64_t(3);
    QTest::newRow("pairs of positions") << int64_t(1) << int64_t(1) << int64_t(3);
    QTest::newRow("1x1") << int64_t(6) << int64_t(1) << int64_t(1);
    QTest::newRow("groups") << int64_t(6) << int64_t(2) << int64_t(3);
}

/// The depth runs over kernel positions, and at each over channels; outside is the zero point.
void PairSaturationTests::convEqualsProduct()
{
    QFETCH(int64_t, channels);
    QFETCH(int64_t, groups);
    QFETCH(int64_t, kernel);
    constexpr int32_t zero = 201, shift = 128;
    IntegerConv conv;
    conv.inChannels = channels;
    conv.outChannels = 2 * groups;
    conv.groups = groups;
    conv.in = { 1, 5, 4 };
    conv.kernel = { 1, kernel, kernel };
    conv.pad = { 0, kernel / 2, kernel / 2 };
    conv.out = conv.in;
    std::mt19937 random(29);
    const int64_t own = channels / groups, depth = own * conv.taps();
    const Bytes x = extremeCodes(random, conv.inPositions() * channels, 0, 127); // high once shifted
    const Bytes w = extremeCodes(random, conv.outChannels * depth, 127, 128);
    const auto tables = convSaturationTables(conv, { w.data(), true });
    QCOMPARE(tables.size(), static_cast<size_t>(groups));
    std::vector<int32_t> sums(static_cast<size_t>(conv.outPositions() * conv.outChannels));
    std::vector<uint64_t> counts(static_cast<size_t>(conv.outChannels));
    Bytes scratch(static_cast<size_t>(saturationScratch(conv)));
    SaturationTally tally { counts, {} };
    saturateConvRows(conv, tables, x.data(), zero, shift, 0, conv.outPositions(), scratch.data(), sums.data(), tally);
    QVERIFY(tally.worst.lost() > 0 && tally.worst.column < conv.outChannels);
    QVERIFY(counts[static_cast<size_t>(tally.worst.column)] > 0);
    for (int64_t p = 0; p < conv.outPositions(); ++p)
        for (int64_t m = 0; m < conv.outChannels; ++m) {
            Bytes row, column;
            for (int64_t tap = 0; tap < conv.taps(); ++tap)
                for (int64_t c = 0; c < own; ++c) {
                    const int64_t at = conv.inputPosition({ 0, p / conv.out[2], p % conv.out[2] }, tap);
                    const int64_t channel = m / 2 * own + c;
                    const int32_t code = at < 0 ? zero : x[static_cast<size_t>(at * channels + channel)];
                    row.push_back(static_cast<uint8_t>(code + shift));
                    column.push_back(w[static_cast<size_t>((m * own + c) * conv.taps() + tap)]);
                }
            const CodeMatrix a { { row.data(), false }, 1, depth, depth, 1 };
            const CodeMatrix b { { column.data(), true }, depth, 1, 1, 1 };
            int32_t expected = 0;
            saturatingSumsReference(a, b, &expected);
            QCOMPARE(sums[static_cast<size_t>(p * conv.outChannels + m)], expected - exactSums(a, b)[0]);
        }
    IntegerConv depthwise = conv;
    depthwise.groups = depthwise.outChannels = depthwise.inChannels = 4;
    QVERIFY(convSaturationTables(depthwise, { w.data(), true }).empty());
}

} // namespace

} // namespace qs::test

int runPairSaturationTests(int argc, char** argv)
{
    qs::test::PairSaturationTests test;
    return QTest::qExec(&test, argc, argv);
}

#include "pair_saturation_test.moc"
