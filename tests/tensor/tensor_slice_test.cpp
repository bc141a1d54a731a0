// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/tensor/tensor_slice.h"

#include <QTest>

#include <algorithm>
#include <random>

using namespace qs;

namespace {

/// What Python's range(n)[begin:end:step] holds, by walking: of all indices in the direction of the step those that
/// both ends let through, every |step|-th of them.
std::vector<int64_t> walked(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step, int64_t n)
{
    const auto place = [n](int64_t at) { return at < 0 ? at + n : at; };
    std::vector<int64_t> list;
    int64_t passed = 0;
    for (int64_t k = 0; k < n; ++k) {
        const int64_t at = step > 0 ? k : n - 1 - k;
        const bool begun = !begin || (step > 0 ? at >= place(*begin) : at <= place(*begin));
        const bool ended = end && (step > 0 ? at >= place(*end) : at <= place(*end));
        if (begun && !ended && passed++ % std::abs(step) == 0)
            list.push_back(at);
    }
    return list;
}

QString elementsText(const TensorSlice& slice, const Shape& shape)
{
    const SliceGrid grid = SliceGrid::inOrder(slice, shape);
    QStringList list;
    for (size_t i = 0; i < grid.count(); ++i)
        list << QString::number(grid.at(i));
    return list.join(u' ');
}

} // namespace

class TensorSliceTest : public QObject {
    Q_OBJECT
private slots:
    void reads_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("elements"); // of arange(24).reshape(2, 3, 4), as numpy gives them
        QTest::newRow("indices") << "1, 2, 3"
                                 << "23";
        QTest::newRow("from the end") << "-1,-1,-1"
                                      << "23";
        QTest::newRow("ranges") << "0, :, 1:3"
                                << "1 2 5 6 9 10";
        QTest::newRow("steps") << "1, ::2, ::3"
                               << "12 15 20 23";
        QTest::newRow("backwards") << "0, 0, ::-1"
                                   << "3 2 1 0";
        QTest::newRow("backwards by two") << "0, 2:0:-1, 3:0:-2"
                                          << "11 9 7 5";
        QTest::newRow("negative ends") << "0, -2:, :-1"
                                       << "4 5 6 8 9 10";
        QTest::newRow("cut") << "0:100, 2, 3:9"
                             << "11 23";
        QTest::newRow("left out") << "1"
                                  << "12 13 14 15 16 17 18 19 20 21 22 23";
        QTest::newRow("dots") << "..., 0"
                              << "0 4 8 12 16 20";
        QTest::newRow("dots between") << "1, ..., 0"
                                      << "12 16 20";
        QTest::newRow("brackets") << "[1, 0, :]"
                                  << "12 13 14 15";
        QTest::newRow("comma behind") << "1, 0,"
                                      << "12 13 14 15";
        QTest::newRow("empty") << "0, 2:1, :"
                               << "";
        QTest::newRow("long step") << "0, 0, 1:4:9223372036854775807"
                                   << "1";
    }

    void reads()
    {
        QFETCH(QString, text);
        QFETCH(QString, elements);
        const Shape shape { 2, 3, 4 };
        const auto slice = parseSlice(text.toStdString(), shape);
        QVERIFY(slice.ok());
        QCOMPARE(elementsText(*slice, shape), elements);
        const auto again = parseSlice(sliceText(*slice, shape), shape);
        QVERIFY2(again.ok(), sliceText(*slice, shape).c_str());
        QCOMPARE(elementsText(*again, shape), elements);
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("why");
        QTest::newRow("outside") << "0, 3, 0"
                                 << "axis 1: 3 is outside of 0..2";
        QTest::newRow("outside at the end") << "0, -4, 0"
                                            << "axis 1: -4 is outside of 0..2";
        QTest::newRow("no number") << "0, a"
                                   << "axis 1: 'a' is no whole number";
        QTest::newRow("half") << "0.5"
                              << "axis 0: '0.5' is no whole number";
        QTest::newRow("nothing") << "0,,1"
                                 << "axis 1: there is nothing between the commas";
        QTest::newRow("zero step") << "::0"
                                   << "axis 0: the step is 0";
        QTest::newRow("colons") << "1:2:3:4"
                                << "axis 0: '1:2:3:4' has too many colons";
        QTest::newRow("too many") << "0, 0, 0, 0"
                                  << "there are 4 indices for 3 axes";
        QTest::newRow("dots twice") << "..., 0, ..."
                                    << "'...' stands twice";
        QTest::newRow("too long") << "99999999999999999999"
                                  << "axis 0: '99999999999999999999' is no whole number";
    }

    void refuses()
    {
        QFETCH(QString, text);
        QFETCH(QString, why);
        const auto slice = parseSlice(text.toStdString(), { 2, 3, 4 });
        QVERIFY(!slice.ok());
        QCOMPARE(QString::fromStdString(slice.issue().what), why);
        QVERIFY(!slice.issue().remedy.empty());
    }

    void anyRangeIsPythons()
    {
        std::mt19937 random(7);
        const auto number = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
        for (int trial = 0; trial < 3000; ++trial) {
            const int64_t n = number(0, 9);
            std::optional<int64_t> begin, end;
            if (number(0, 2) > 0)
                begin = number(-12, 12);
            if (number(0, 2) > 0)
                end = number(-12, 12);
            int64_t step = number(-4, 4);
            step = step == 0 ? 1 : step;
            const std::string text = (begin ? std::to_string(*begin) : "") + ":" + (end ? std::to_string(*end) : "")
                + ":" + std::to_string(step);
            const auto slice = parseSlice(text, { n });
            QVERIFY(slice.ok());
            const SliceGrid grid = SliceGrid::inOrder(*slice, { n });
            std::vector<int64_t> found;
            for (size_t i = 0; i < grid.count(); ++i)
                found.push_back(int64_t(grid.at(i)));
            QVERIFY2(found == walked(begin, end, step, n), (text + " of " + std::to_string(n)).c_str());
            QVERIFY(*parseSlice(sliceText(*slice, { n }), { n }) == *slice);
        }
    }

    /// Any axis may go across; each element knows its place.
    void gridsHoldEachElementOnce()
    {
        std::mt19937 random(3);
        const auto number = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
        for (int trial = 0; trial < 300; ++trial) {
            Shape shape;
            TensorSlice slice;
            for (int rank = number(0, 4), d = 0; d < rank; ++d) {
                shape.push_back(number(1, 5));
                const auto axis = parseSlice(number(0, 1) ? std::to_string(number(0, int(shape.back()) - 1))
                                                          : "::" + std::to_string(number(0, 1) ? 2 : -1),
                    { shape.back() });
                slice.axes.push_back(axis->axes[0]);
            }
            const auto ranges = slice.ranges();
            const auto across
                = ranges.empty() ? std::nullopt : std::optional(ranges[size_t(number(0, int(ranges.size()) - 1))]);
            const SliceGrid grid(slice, shape, across);
            QCOMPARE(grid.count(), slice.count());
            std::vector<bool> seen(size_t(*elementCount(shape)));
            for (size_t i = 0; i < grid.count(); ++i) {
                const size_t element = grid.at(i);
                QVERIFY(element < seen.size() && !seen[element]);
                seen[element] = true;
                QCOMPARE(grid.positionOf(element), std::optional(i));
                const auto indices = indicesOf(element, shape);
                if (across)
                    QCOMPARE(grid.columnIndex(i % grid.columns()), indices[*across]);
                std::vector<int64_t> down;
                for (const size_t axis : ranges)
                    if (axis != across)
                        down.push_back(indices[axis]);
                QVERIFY(grid.rowIndices(i / grid.columns()) == down);
            }
            for (size_t element = 0; element < seen.size(); ++element)
                QCOMPARE(grid.positionOf(element).has_value(), bool(seen[element]));
            size_t rows = 0;
            grid.eachRow([&](size_t begin, int64_t step, size_t n) {
                for (size_t i = 0; i < n; ++i)
                    if (size_t(int64_t(begin) + int64_t(i) * step) != grid.at(rows, i))
                        return false;
                ++rows;
                return true;
            });
            QCOMPARE(rows, grid.rows());
        }
    }
};

QTEST_APPLESS_MAIN(TensorSliceTest)

#include "tensor_slice_test.moc"
