// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include "core/kernels/movement/indexed_copy.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/kernels/reduce/top_k.h"
#include "core/kernels/window/resample.h"

#include <QTest>

#include <algorithm>
#include <numeric>

using namespace qs;
using test::RandomData;

namespace {

const std::byte* bytesOf(const void* p) { return static_cast<const std::byte*>(p); }
std::byte* bytesOf(void* p) { return static_cast<std::byte*>(p); }

/// What was written between bytes that nobody may touch.
class Guarded {
public:
    explicit Guarded(size_t bytes)
        : m_bytes(bytes + 2 * kGuard, kUntouched)
    {
    }
    std::byte* data() { return bytesOf(m_bytes.data() + kGuard); }
    bool neighboursUnharmed() const
    {
        return std::all_of(m_bytes.begin(), m_bytes.begin() + kGuard, untouched)
            && std::all_of(m_bytes.end() - kGuard, m_bytes.end(), untouched);
    }
    std::vector<uint8_t> inside() const { return { m_bytes.begin() + kGuard, m_bytes.end() - kGuard }; }

private:
    static constexpr size_t kGuard = 4096;
    static constexpr uint8_t kUntouched = 0xa5;
    static bool untouched(uint8_t byte) { return byte == kUntouched; }
    std::vector<uint8_t> m_bytes;
};

void pixelSizes()
{
    QTest::addColumn<int>("bytes");
    for (int bytes = 1; bytes <= 32; ++bytes)
        QTest::addRow("%d bytes", bytes) << bytes;
}

} // namespace

class MovementTests : public QObject {
    Q_OBJECT
private slots:
    void transposesByHand();
    void readsBackwards();
    void copiesLikeReference_data();
    void copiesLikeReference();
    void padsByHand();
    void looksUpLikeReference_data();
    void looksUpLikeReference();
    void movesPixelsOfAnySize_data();
    void movesPixelsOfAnySize();
    void movesBlocksOfAnySize_data();
    void movesBlocksOfAnySize();
    void scattersInOrder();
    void reducesEveryType();
    void picksLargestAndSmallest();
    void picksAsReference_data();
    void picksAsReference();
    void nearestRounding();
    void linearWeights();
    void filtersLikeReference();
};

void MovementTests::transposesByHand()
{
    const std::vector<int32_t> x { 1, 2, 3, 4, 5, 6 };
    std::vector<int32_t> y(6);
    stridedCopy(bytesOf(x.data()), bytesOf(y.data()), 4, { { 3, 2 }, { 1, 3 }, { 2, 1 } });
    QCOMPARE(y, (std::vector<int32_t> { 1, 4, 2, 5, 3, 6 }));
}

void MovementTests::readsBackwards()
{
    const std::vector<uint8_t> x { 1, 2, 3, 4, 5 };
    std::vector<uint8_t> y(3);
    stridedCopy(bytesOf(&x[4]), bytesOf(y.data()), 1, { { 3 }, { -2 }, { 1 } });
    QCOMPARE(y, (std::vector<uint8_t> { 5, 3, 1 }));
}

void MovementTests::copiesLikeReference_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 200; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

void MovementTests::copiesLikeReference()
{
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    const auto rank = static_cast<size_t>(random.integer(0, 5));
    const size_t bytes = size_t(1) << random.integer(0, 4);
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < rank; ++i)
        sizes.push_back(random.integer(i == 2 ? 0 : 1, seed % 3 ? 7 : 40) % (rank > 3 ? 9 : 41));
    int64_t count = 1;
    for (int64_t s : sizes)
        count *= s;
    const auto x = random.integers<uint8_t>(std::max<int64_t>(1, count) * int64_t(bytes), 0, 255);
    std::vector<uint8_t> expected(x.size(), 0), y(x.size(), 0);
    // A permutation, some axes repeated (stride 0) instead of read.
    std::vector<size_t> perm(rank);
    std::iota(perm.begin(), perm.end(), size_t(0));
    for (size_t i = rank; i > 1; --i)
        std::swap(perm[i - 1], perm[static_cast<size_t>(random.integer(0, int64_t(i) - 1))]);
    std::vector<int64_t> from(rank, 1);
    for (size_t i = rank; i-- > 1;)
        from[i - 1] = from[i] * sizes[i];
    StridedCopy copy;
    for (size_t a : perm) {
        copy.shape.push_back(sizes[a]);
        copy.from.push_back(random.integer(0, 9) == 0 ? 0 : from[a]);
    }
    copy.to.assign(rank, 1);
    for (size_t i = rank; i-- > 1;)
        copy.to[i - 1] = copy.to[i] * copy.shape[i];
    stridedCopyReference(bytesOf(x.data()), bytesOf(expected.data()), bytes, copy);
    stridedCopy(bytesOf(x.data()), bytesOf(y.data()), bytes, copy);
    QCOMPARE(y, expected);
}

void MovementTests::padsByHand()
{
    const std::vector<int16_t> x { 1, 2, 3 };
    const int16_t fill = -9;
    std::vector<int16_t> y(6);
    tableCopy(bytesOf(x.data()), bytesOf(y.data()), 2, { { -1, 0, 1, 2, 1, 0 } }, bytesOf(&fill));
    QCOMPARE(y, (std::vector<int16_t> { -9, 1, 2, 3, 2, 1 }));
}

void MovementTests::looksUpLikeReference_data() { copiesLikeReference_data(); }

void MovementTests::looksUpLikeReference()
{
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    const auto rank = static_cast<size_t>(random.integer(0, 4));
    const size_t bytes = size_t(1) << random.integer(0, 4);
    AxisOffsets axes(rank);
    int64_t stride = 1, cells = 1;
    for (size_t d = rank; d-- > 0;) {
        const int64_t size = random.integer(1, 9), out = random.integer(seed % 7 == 0 ? 0 : 1, 20);
        const bool runs = random.integer(0, 1) == 0;
        for (int64_t i = 0; i < out; ++i) {
            const int64_t at = runs ? i - 3 : random.integer(-1, size - 1);
            axes[d].push_back(at < 0 || at >= size ? -1 : at * stride);
        }
        stride *= size;
        cells *= out;
    }
    const auto x = random.integers<uint8_t>(stride * int64_t(bytes), 0, 255);
    const auto fill = random.integers<uint8_t>(int64_t(bytes), 0, 255);
    std::vector<uint8_t> expected(size_t(cells) * bytes), y(expected.size());
    tableCopyReference(bytesOf(x.data()), bytesOf(expected.data()), bytes, axes, bytesOf(fill.data()));
    tableCopy(bytesOf(x.data()), bytesOf(y.data()), bytes, axes, bytesOf(fill.data()));
    QCOMPARE(y, expected);
}

void MovementTests::movesPixelsOfAnySize_data() { pixelSizes(); }

void MovementTests::movesPixelsOfAnySize()
{
    QFETCH(int, bytes);
    RandomData random { uint32_t(bytes) };
    const auto pixel = size_t(bytes);
    // From one to three axes of pixels, made larger, smaller, cut off and turned round.
    const std::vector<std::vector<int64_t>> lines { { 0, 0, 1, 1, 2, 2, 3, 3 }, { 0, 2, 4 }, { 4, 3, 2, 1, 0 },
        { -1, 0, 1, 2, 3, 4, -1, -1 }, { 0, 0, 0, 2, 2, 2 } };
    const int64_t size = 5;
    for (size_t rank = 1; rank <= 3; ++rank)
        for (size_t first = 0; first < lines.size(); ++first) {
            AxisOffsets axes(rank);
            int64_t stride = 1, cells = 1;
            for (size_t d = rank; d-- > 0; stride *= size) {
                axes[d] = lines[(first + d) % lines.size()];
                cells *= int64_t(axes[d].size());
                for (int64_t& p : axes[d])
                    p = p < 0 ? -1 : p * stride;
            }
            const auto x = random.integers<uint8_t>(stride * bytes, 0, 255),
                       fill = random.integers<uint8_t>(bytes, 0, 255);
            Guarded expected(size_t(cells) * pixel), y(size_t(cells) * pixel);
            tableCopyReference(bytesOf(x.data()), expected.data(), pixel, axes, bytesOf(fill.data()));
            tableCopy(bytesOf(x.data()), y.data(), pixel, axes, bytesOf(fill.data()));
            QVERIFY(y.neighboursUnharmed());
            QCOMPARE(y.inside(), expected.inside());
        }
}

void MovementTests::movesBlocksOfAnySize_data() { pixelSizes(); }

void MovementTests::movesBlocksOfAnySize()
{
    QFETCH(int, bytes);
    RandomData random { uint32_t(bytes) };
    const auto block = size_t(bytes);
    const StridedCopy turned { { 6, 5, 7 }, { 1, 42, 6 }, { 35, 7, 1 } };
    const auto x = random.integers<uint8_t>(210 * bytes, 0, 255);
    Guarded expected(210 * block), y(210 * block);
    stridedCopyReference(bytesOf(x.data()), expected.data(), block, turned);
    stridedCopy(bytesOf(x.data()), y.data(), block, turned);
    QVERIFY(y.neighboursUnharmed());
    QCOMPARE(y.inside(), expected.inside());

    const std::vector<int64_t> places { 4, 0, 2, 1, 3 };
    Guarded picked(places.size() * block), back(places.size() * block);
    gatherBlocks(bytesOf(x.data()), picked.data(), block, places);
    scatterBlocks(picked.data(), back.data(), block, places);
    QVERIFY(picked.neighboursUnharmed() && back.neighboursUnharmed());
    QCOMPARE(back.inside(), std::vector<uint8_t>(x.begin(), x.begin() + std::ptrdiff_t(places.size() * block)));
}

void MovementTests::scattersInOrder()
{
    const std::vector<int32_t> updates { 1, 2, 3, 4 };
    const std::vector<int64_t> blocks { 1, 1 };
    std::vector<int32_t> y(6, 0);
    scatterBlocks(bytesOf(updates.data()), bytesOf(y.data()), 8, blocks);
    QCOMPARE(y, (std::vector<int32_t> { 0, 0, 3, 4, 0, 0 }));
}

void MovementTests::reducesEveryType()
{
    const std::vector<int64_t> blocks { 0, 0 };
    const auto reduced = [&](ScatterReduction r) {
        const std::vector<int8_t> updates { 100, 100 };
        std::vector<int8_t> y { 2 };
        scatterReduce(DType::Int8, bytesOf(updates.data()), bytesOf(y.data()), 1, blocks, r);
        return int(y[0]);
    };
    QCOMPARE(reduced(ScatterReduction::Add), int(int8_t(202)));
    QCOMPARE(reduced(ScatterReduction::Mul), int(int8_t(20000)));
    QCOMPARE(reduced(ScatterReduction::Min), 2);
    QCOMPARE(reduced(ScatterReduction::Max), 100);
    const float nan = std::nanf("");
    for (const std::vector<float>& updates : { std::vector<float> { 1, nan }, std::vector<float> { nan, 1 } })
        for (const ScatterReduction r : { ScatterReduction::Min, ScatterReduction::Max }) {
            float y = 0;
            QVERIFY(scatterReduce(DType::Float32, bytesOf(updates.data()), bytesOf(&y), 1, blocks, r));
            QVERIFY(std::isnan(y));
        }
    uint8_t none[2] {};
    QVERIFY(!scatterReduce(DType::String, bytesOf(none), bytesOf(none), 1, blocks, ScatterReduction::Add));
}

void MovementTests::picksLargestAndSmallest()
{
    const float nan = std::nanf("");
    const std::vector<float> x { 3, nan, 1, 3, -2 };
    std::vector<int64_t> places(3);
    QVERIFY(topKIndices(DType::Float32, bytesOf(x.data()), { 1, 5, 1, 3, true }, places.data()));
    QCOMPARE(places, (std::vector<int64_t> { 1, 0, 3 }));
    QVERIFY(topKIndices(DType::Float32, bytesOf(x.data()), { 1, 5, 1, 3, false }, places.data()));
    QCOMPARE(places, (std::vector<int64_t> { 4, 2, 0 }));
    QVERIFY(!topKIndices(DType::String, bytesOf(x.data()), { 1, 5, 1, 3, false }, places.data()));
}

void MovementTests::picksAsReference_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 60; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

void MovementTests::picksAsReference()
{
    QFETCH(int, seed);
    test::RandomData random { uint32_t(seed) };
    TopK top { random.integer(1, 3), random.integer(1, seed % 3 ? 70 : 2100), random.integer(1, 3), 0,
        random.integer(0, 1) == 1 };
    top.k = random.integer(0, top.size);
    const int64_t count = top.outer * top.size * top.inner;
    std::vector<int64_t> places(size_t(top.outer * top.k * top.inner)), expected(places.size());
    const auto compare = [&](DType type, const std::byte* data) {
        QVERIFY(topKIndices(type, data, top, places.data()));
        QVERIFY(topKIndicesReference(type, data, top, expected.data()));
        QCOMPARE(places, expected);
    };
    std::vector<float> x = random.floats(count);
    for (float& v : x) { // ties, both zeros, infinities, NaN
        const int64_t what = random.integer(0, 9);
        v = what == 0 ? -0.0f : what == 1 ? 0.0f : what == 2 ? std::nanf("") : what == 3 ? -INFINITY : std::round(v);
    }
    compare(DType::Float32, bytesOf(x.data()));
    const std::vector<double> wide = test::widened(x);
    compare(DType::Float64, bytesOf(wide.data()));
    const auto words = random.integers<uint16_t>(count, 0, 65535);
    compare(DType::Float16, bytesOf(words.data()));
    compare(DType::UInt16, bytesOf(words.data()));
    compare(DType::Int16, bytesOf(words.data()));
    const auto large = random.integers<int64_t>(count, -3, 3);
    compare(DType::Int64, bytesOf(large.data()));
    compare(DType::UInt64, bytesOf(large.data()));
}

void MovementTests::nearestRounding()
{
    // Coordinates of 4 -> 8 by half pixels: -0.25 0.25 0.75 1.25 ...; by asymmetric 8 -> 4: 0 2 4 6.
    const ResizeAxis up { 4, 8, 2.0f, ResizeCoordinates::HalfPixel };
    QCOMPARE(nearestElements(up, NearestRounding::PreferFloor), (std::vector<int64_t> { 0, 0, 1, 1, 2, 2, 3, 3 }));
    QCOMPARE(nearestElements(up, NearestRounding::Ceil), (std::vector<int64_t> { 0, 1, 1, 2, 2, 3, 3, 3 }));
    const ResizeAxis tie { 2, 4, 2.0f, ResizeCoordinates::Asymmetric };
    QCOMPARE(nearestElements(tie, NearestRounding::PreferFloor), (std::vector<int64_t> { 0, 0, 1, 1 }));
    QCOMPARE(nearestElements(tie, NearestRounding::PreferCeil), (std::vector<int64_t> { 0, 1, 1, 1 }));
    const ResizeAxis crop { 3, 3, 1.0f, ResizeCoordinates::TfCropAndResize, 0.0f, 2.0f };
    QCOMPARE(nearestElements(crop, NearestRounding::Floor), (std::vector<int64_t> { 0, 2, -1 }));
}

void MovementTests::linearWeights()
{
    const AxisFilter f = axisFilter({ 2, 4, 2.0f, ResizeCoordinates::HalfPixel }, {});
    const std::vector<float> x { 0, 8 };
    std::vector<float> y(4);
    applyFilterReference(f, x.data(), y.data(), 1, 2, 4, 1);
    QCOMPARE(y, (std::vector<float> { 0, 2, 6, 8 }));
}

void MovementTests::filtersLikeReference()
{
    for (uint32_t seed = 0; seed < 60; ++seed) {
        RandomData random { seed };
        const int64_t in = random.integer(1, 20), out = random.integer(1, 30);
        const ResizeAxis axis { in, out, float(out) / float(in), static_cast<ResizeCoordinates>(random.integer(0, 4)) };
        const AxisFilter f = axisFilter(
            axis, { random.integer(0, 1) == 1, random.integer(0, 1) == 1, random.integer(0, 1) == 1, -0.5f });
        for (int64_t inner : { int64_t(1), random.integer(1, 40) }) {
            const auto x = random.floats(3 * in * inner);
            std::vector<float> expected(size_t(3 * out * inner)), y(expected.size());
            applyFilterReference(f, x.data(), expected.data(), 3, in, out, inner);
            applyFilter(f, x.data(), y.data(), 3, in, out, inner);
            const auto wide = test::widened(expected);
            const std::string problem = test::difference<float>(y, wide, 1e-6);
            QVERIFY2(problem.empty(), qPrintable(QString("seed %1: %2").arg(seed).arg(problem.c_str())));
        }
    }
}

int runMovementTests(int argc, char** argv)
{
    MovementTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "movement_test.moc"
