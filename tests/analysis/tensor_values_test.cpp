// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/values/tensor_values.h"

#include "core/analysis/lab/weight_map.h"
#include "core/tensor/convert.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>

using namespace qs;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A float tensor and its codes 0, 1, ..., which stand for 0.5 * (code - 2).
TensorValues smallPair()
{
    TensorValues values;
    values.name = "t";
    values.shape = { 2, 3 };
    values.reference.emplace(Tensor::of<float>({ 2, 3 }, { -1, -0.5f, 0.25f, 0.5f, 1, 90 }));
    values.quantized.emplace(
        Tensor::of<uint8_t>({ 2, 3 }, { 0, 1, 2, 3, 4, 255 }), QuantParams { DType::UInt8, { 0.5f }, { 2 }, {}, 0 });
    return values;
}

SliceGrid gridOf(const TensorValues& values, const char* text = "")
{
    return SliceGrid::inOrder(*parseSlice(text, values.shape), values.shape);
}

} // namespace

class TensorValuesTest : public QObject {
    Q_OBJECT
private slots:
    /// Blocks of a matrix [K, N] whose scales run along K, against sums in plain loops; and a kernel with one scale.
    void weightsAreMappedByBlocks()
    {
        constexpr size_t kInputs = 70, kOutputs = 5, kBlock = 32, kBlocks = 3;
        std::mt19937 random(11);
        std::normal_distribution<float> weight(0, 1);
        std::vector<float> x(kInputs * kOutputs);
        std::vector<int8_t> codes(x.size());
        QuantParams params { DType::Int8, std::vector<float>(kBlocks * kOutputs),
            std::vector<int32_t>(kBlocks * kOutputs), 0, int64_t(kBlock) };
        for (size_t i = 0; i < params.scale.size(); ++i)
            params.scale[i] = 0.1f + 0.01f * float(i);
        const auto scaleOf = [&](size_t k, size_t n) { return params.scale[k / kBlock * kOutputs + n]; };
        for (size_t k = 0; k < kInputs; ++k)
            for (size_t n = 0; n < kOutputs; ++n) {
                x[k * kOutputs + n] = weight(random);
                codes[k * kOutputs + n] = int8_t(std::lrint(x[k * kOutputs + n] / scaleOf(k, n)));
            }
        x[(40 * kOutputs) + 3] += 9; // in the second block of channel 3
        TensorValues values;
        values.shape = { kInputs, kOutputs };
        values.reference.emplace(Tensor::of<float>(values.shape, x));
        values.quantized.emplace(Tensor::of<int8_t>(values.shape, codes), params);
        WeightRow row;
        row.channelAxis = 1;
        const auto map = weightMap(values, row, false);
        QVERIFY(map && map->blocks && map->exchanged && map->matrix);
        QCOMPARE(map->cellElements, kBlock);
        QCOMPARE(map->map.rows, kOutputs);
        QCOMPARE(map->map.columns, kBlocks);
        for (size_t n = 0; n < kOutputs; ++n)
            for (size_t b = 0; b < kBlocks; ++b) {
                double ee = 0, count = 0;
                for (size_t k = b * kBlock; k < std::min((b + 1) * kBlock, kInputs); ++k, ++count)
                    ee += std::pow(double(codes[k * kOutputs + n] * scaleOf(k, n)) - double(x[k * kOutputs + n]), 2);
                QVERIFY(std::abs(map->map.error[n * kBlocks + b] - std::sqrt(ee / count)) < 1e-6);
                QCOMPARE(map->scale[n * kBlocks + b], double(scaleOf(b * kBlock, n)));
            }
        QCOMPARE(map->worst(1), std::vector<size_t> { 3 * kBlocks + 1 });
        QVERIFY(!weightMap(values, row, true)); // there is no second model
    }

    void weightsWithOneScaleAreMappedInParts()
    {
        TensorValues values = smallPair();
        WeightRow row; // rows are the first axis
        const auto map = weightMap(values, row, false);
        QVERIFY(map && !map->blocks && map->matrix && !map->exchanged);
        QCOMPARE(map->map.rows, size_t(2));
        QCOMPARE(map->map.columns, size_t(3));
        QCOMPARE(map->map.error[5], 36.5);
        QCOMPARE(map->worst(9).size(), size_t(2)); // the others are exact, but for 0.25
        values.reference.reset();
        QVERIFY(!weightMap(values, row, false));
    }

    void codesStandForReals()
    {
        const TensorValues values = smallPair();
        const Elements& q = *values.quantized;
        QVERIFY(q.hasCodes());
        QCOMPARE(q.real(0), -1.0);
        QCOMPARE(q.real(5), 126.5);
        QCOMPARE(q.code(3), int64_t(3));
        QCOMPARE(q.atLimit(0), -1);
        QCOMPARE(q.atLimit(1), 0);
        QCOMPARE(q.atLimit(5), 1);
        QVERIFY(!values.reference->hasCodes());
        QCOMPARE(values.reference->atLimit(0), 0);
    }

    void scalesFollowAxisAndBlocks()
    {
        const Tensor codes = packedAs(Tensor::of<int8_t>({ 2, 4 }, { -8, -1, 0, 1, 2, 3, 4, 7 }), DType::Int4);
        const Elements channels(codes, { DType::Int4, { 1, 10 }, { 0, 1 }, 0, 0 });
        const Elements blocks(codes, { DType::Int4, { 1, 2, 3, 4 }, { 0, 0, 0, 0 }, 1, 2 });
        const double byChannel[] { -8, -1, 0, 1, 10, 20, 30, 60 }, byBlock[] { -8, -1, 0, 2, 6, 9, 16, 28 };
        for (size_t i = 0; i < 8; ++i) {
            QCOMPARE(channels.real(i), byChannel[i]);
            QCOMPARE(blocks.real(i), byBlock[i]);
            QCOMPARE(blocks.scaleIndex(i), i / 2);
        }
        QCOMPARE(blocks.atLimit(0), -1);
        QCOMPARE(blocks.atLimit(7), 1);
        const Elements exchanged = blocks.ordered({ 4, 2 }, { 2, nullptr });
        for (size_t r = 0; r < 4; ++r)
            for (size_t c = 0; c < 2; ++c)
                QCOMPARE(exchanged.real(r * 2 + c), byBlock[c * 4 + r]);
        const Elements part = blocks.ordered(
            { 2 }, { 0, std::make_shared<const std::vector<uint32_t>>(std::vector<uint32_t> { 6, 1 }) });
        QCOMPARE(part.count(), size_t(2));
        QCOMPARE(part.real(0), 16.0);
        QCOMPARE(part.code(1), int64_t(-1));
    }

    void kindsFollowWhatIsThere()
    {
        TensorValues values = smallPair();
        QVERIFY(hasKind(values, ValueKind::Difference) && hasKind(values, ValueKind::Codes));
        QVERIFY(!hasKind(values, ValueKind::Other) && !hasKind(values, ValueKind::Between));
        QCOMPARE(valueAt(values, ValueKind::Difference, 2), -0.25);
        QCOMPARE(valueAt(values, ValueKind::Relative, 2), -1.0);
        QCOMPARE(valueAt(values, ValueKind::Relative, 0), 0.0);
        values.other.emplace(Tensor::of<float>({ 2, 3 }, { 0, 0, 1, 0, 0, 0 }));
        QCOMPARE(valueAt(values, ValueKind::OtherDifference, 2), 0.75);
        QCOMPARE(valueAt(values, ValueKind::Between, 2), 1.0);
        QVERIFY(!hasKind(values, ValueKind::OtherCodes));
        values.quantized.reset();
        QVERIFY(!hasKind(values, ValueKind::Quantized) && !hasKind(values, ValueKind::Between));
        QVERIFY(hasKind(values, ValueKind::Float));
    }

    void statisticsLeaveOutWhatIsNotFinite()
    {
        TensorValues values;
        values.shape = { 6 };
        values.reference.emplace(Tensor::of<float>({ 6 }, { kNan, 0, 4, kInfinity, -2, 2 }));
        const auto s = statisticsOf(values, ValueKind::Float, gridOf(values));
        QVERIFY(s);
        QCOMPARE(s->count, uint64_t(6));
        QCOMPARE(s->finite, uint64_t(4));
        QCOMPARE(s->zeros, uint64_t(1));
        QCOMPARE(s->nans, uint64_t(1));
        QCOMPARE(s->infinities, uint64_t(1));
        QCOMPARE(s->lowest, -2.0);
        QCOMPARE(s->highest, 4.0);
        QCOMPARE(s->mean, 1.0);
        QCOMPARE(s->deviation, std::sqrt(5.0));
        QCOMPARE(s->largest, 4.0);
        QVERIFY(!s->distinctCodes && !s->sqnrDb);
    }

    void statisticsOfCodes()
    {
        const TensorValues values = smallPair();
        const auto s = statisticsOf(values, ValueKind::Codes, gridOf(values));
        QCOMPARE(s->distinctCodes, std::optional<uint64_t>(6));
        QCOMPARE(*s->atLimits, 2.0 / 6);
        QCOMPARE(s->highest, 255.0);
        const auto row = statisticsOf(values, ValueKind::Quantized, gridOf(values, "0"));
        QCOMPARE(row->count, uint64_t(3));
        QVERIFY(std::fabs(*row->sqnrDb - 10 * std::log10(1.3125 / 0.0625)) < 1e-9);
        QVERIFY(statisticsOf(values, ValueKind::Quantized, gridOf(values, "0, :2"))->exact);
    }

    /// Against sums over a list, for any slice.
    void statisticsAgainstAList()
    {
        std::mt19937 random(5);
        std::normal_distribution<float> normal(3, 2);
        TensorValues values;
        values.shape = { 4, 5, 6 };
        Tensor t = Tensor::allocate(DType::Float32, values.shape);
        for (float& v : t.fill<float>())
            v = normal(random);
        values.reference.emplace(t);
        for (const char* text : { "", "1", ":, 2", "..., ::-2", "1:3, ::2, 1:4", "0, 0, 0", "0, 3:2, :" }) {
            const SliceGrid grid = gridOf(values, text);
            double sum = 0, squares = 0;
            for (size_t i = 0; i < grid.count(); ++i)
                sum += t.data<float>()[grid.at(i)];
            const double mean = grid.count() ? sum / double(grid.count()) : 0;
            for (size_t i = 0; i < grid.count(); ++i)
                squares += std::pow(t.data<float>()[grid.at(i)] - mean, 2);
            const auto s = statisticsOf(values, ValueKind::Float, grid);
            QCOMPARE(s->count, uint64_t(grid.count()));
            QVERIFY(std::fabs(s->mean - mean) < 1e-9);
            QVERIFY(std::fabs(s->deviation * s->deviation * double(grid.count()) - squares) < 1e-6);
        }
    }

    void stopsWhenAsked()
    {
        TensorValues values;
        values.shape = { 1 << 16 };
        values.reference.emplace(Tensor::of<float>(values.shape, std::vector<float>(1 << 16)));
        const CancelToken stop;
        stop.cancel();
        QVERIFY(!statisticsOf(values, ValueKind::Float, gridOf(values), stop));
        QVERIFY(!findValue(values, ValueKind::Float, gridOf(values), { FindWhat::Equal, 0 }, {}, stop));
    }

    void finds_data()
    {
        using Position = std::optional<size_t>;
        QTest::addColumn<FindWhat>("what");
        QTest::addColumn<double>("value");
        QTest::addColumn<bool>("backwards");
        QTest::addColumn<Position>("from");
        QTest::addColumn<Position>("found");
        QTest::newRow("above") << FindWhat::Above << 0.3 << false << Position() << Position(3);
        QTest::newRow("next above") << FindWhat::Above << 0.3 << false << Position(3) << Position(4);
        QTest::newRow("around the end") << FindWhat::Below << -0.5 << false << Position(4) << Position(0);
        QTest::newRow("the only one again") << FindWhat::Above << 80.0 << false << Position(5) << Position(5);
        QTest::newRow("backwards") << FindWhat::Above << 0.3 << true << Position(4) << Position(3);
        QTest::newRow("backwards from the end") << FindWhat::Above << 0.3 << true << Position() << Position(5);
        QTest::newRow("equal") << FindWhat::Equal << 0.25 << false << Position() << Position(2);
        QTest::newRow("none") << FindWhat::Equal << 7.0 << false << Position() << Position();
        QTest::newRow("not finite") << FindWhat::NotFinite << 0.0 << false << Position() << Position();
        QTest::newRow("limit") << FindWhat::AtLimit << 0.0 << false << Position(0) << Position(5);
        QTest::newRow("lowest") << FindWhat::Lowest << 0.0 << false << Position(3) << Position(0);
        QTest::newRow("highest") << FindWhat::Highest << 0.0 << false << Position(3) << Position(5);
        QTest::newRow("difference") << FindWhat::LargestDifference << 0.0 << false << Position() << Position(5);
    }

    void finds()
    {
        QFETCH(FindWhat, what);
        QFETCH(double, value);
        QFETCH(bool, backwards);
        QFETCH(std::optional<size_t>, from);
        QFETCH(std::optional<size_t>, found);
        const TensorValues values = smallPair();
        QCOMPARE(findValue(values, ValueKind::Float, gridOf(values), { what, value, backwards }, from), found);
    }

    void findsWhatAFloatIsFor()
    {
        TensorValues values;
        values.shape = { 2 };
        values.reference.emplace(Tensor::of<float>({ 2 }, { kInfinity, 0.1f }));
        QCOMPARE(findValue(values, ValueKind::Float, gridOf(values), { FindWhat::Equal, 0.1 }, {}),
            std::optional<size_t>(1));
        QCOMPARE(
            findValue(values, ValueKind::Float, gridOf(values), { FindWhat::NotFinite }, {}), std::optional<size_t>(0));
        values.shape = { 0 };
        values.reference.emplace(Tensor::of<float>({ 0 }, {}));
        QVERIFY(!findValue(values, ValueKind::Float, gridOf(values), { FindWhat::Highest }, {}));
    }
};

QTEST_APPLESS_MAIN(TensorValuesTest)

#include "tensor_values_test.moc"
