// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/models/suites.h"
#include "widgets/models/values/value_table_model.h"
#include "widgets/models/values/value_words.h"

#include <QAbstractItemModelTester>
#include <QTest>

#include <limits>
#include <random>

using namespace qs;

namespace {

/// 0, 1, 2 ... as floats, beside codes of a step of 0.5 from -2 on.
std::shared_ptr<const TensorValues> counting(const Shape& shape)
{
    TensorValues values;
    values.name = "t";
    values.shape = shape;
    Tensor x = Tensor::allocate(DType::Float32, shape), q = Tensor::allocate(DType::Int8, shape);
    for (int64_t i = 0; i < x.count(); ++i) {
        x.fill<float>()[size_t(i)] = float(i);
        q.fill<int8_t>()[size_t(i)] = int8_t(i % 256 - 128);
    }
    values.reference.emplace(x);
    values.quantized.emplace(q, QuantParams { DType::Int8, { 0.5f }, { -4 }, {}, 0 });
    return std::make_shared<const TensorValues>(std::move(values));
}

ValueView viewOf(const std::shared_ptr<const TensorValues>& values, const char* slice, std::optional<size_t> across,
    ValueKind kind = ValueKind::Float)
{
    return { values, kind, *parseSlice(slice, values->shape), across };
}

QStringList texts(const ValueTableModel& model)
{
    QStringList rows;
    for (int r = 0; r < model.rowCount(); ++r) {
        QStringList cells { model.headerData(r, Qt::Vertical, Qt::DisplayRole).toString() + u':' };
        for (int c = 0; c < model.columnCount(); ++c)
            cells << model.index(r, c).data().toString();
        rows << cells.join(u' ');
    }
    return rows;
}

} // namespace

class TestValues : public QObject {
    Q_OBJECT
private slots:
    void rowsAndColumns_data()
    {
        QTest::addColumn<QString>("slice");
        QTest::addColumn<int>("across");
        QTest::addColumn<QStringList>("rows");
        QTest::newRow("a matrix") << "0" << 2 << QStringList { "0: 0 1 2 3", "1: 4 5 6 7", "2: 8 9 10 11" };
        QTest::newRow("turned") << "0" << 1 << QStringList { "0: 0 4 8", "1: 1 5 9", "2: 2 6 10", "3: 3 7 11" };
        QTest::newRow("two axes down") << ":, 1:, ::3" << 2
                                       << QStringList { "0, 1: 4 7", "0, 2: 8 11", "1, 1: 16 19", "1, 2: 20 23" };
        QTest::newRow("one axis") << "1, 1" << -1 << QStringList { "0: 16", "1: 17", "2: 18", "3: 19" };
        QTest::newRow("one element") << "1, 1, 1" << -1 << QStringList { ": 17" };
        QTest::newRow("none") << "0, 2:1" << 2 << QStringList {};
    }

    void rowsAndColumns()
    {
        QFETCH(QString, slice);
        QFETCH(int, across);
        QFETCH(QStringList, rows);
        ValueTableModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.show(
            viewOf(counting({ 2, 3, 4 }), slice.toUtf8(), across < 0 ? std::nullopt : std::optional(size_t(across))));
        QCOMPARE(texts(model), rows);
        model.show({});
        QCOMPARE(model.rowCount(), 0);
    }

    void columnHeadersAreIndices()
    {
        ValueTableModel model;
        model.show(viewOf(counting({ 2, 3, 4 }), "0, :, ::-2", 2));
        QCOMPARE(model.headerData(0, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("3"));
        QCOMPARE(model.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("1"));
    }

    void scalars()
    {
        TensorValues values;
        values.reference.emplace(Tensor::scalar(2.5f));
        ValueTableModel model;
        model.show(viewOf(std::make_shared<const TensorValues>(std::move(values)), "", std::nullopt));
        QCOMPARE(texts(model), QStringList { ": 2.500" });
    }

    void otherNumbersKeepThePlaces()
    {
        ValueTableModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const auto values = counting({ 3, 4 });
        model.show(viewOf(values, "", 1));
        const QPersistentModelIndex cell(model.index(2, 3));
        QCOMPARE(cell.data().toString(), QStringLiteral("11"));
        model.show(viewOf(values, "", 1, ValueKind::Codes));
        QVERIFY(cell.isValid());
        QCOMPARE(cell.data().toString(), QStringLiteral("−117"));
        ValueView hex = viewOf(values, "", 1, ValueKind::Codes);
        hex.hex = true;
        model.show(hex);
        QCOMPARE(cell.data().toString(), QStringLiteral("8B"));
        QCOMPARE(cell.data(ValueTableModel::CopyRole).toString(), QStringLiteral("-117"));
    }

    void limitsHaveASign()
    {
        ValueTableModel model;
        const auto values = counting({ 256 });
        model.show(viewOf(values, "", std::nullopt, ValueKind::Codes));
        QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("▼ −128"));
        QCOMPARE(model.index(255, 0).data().toString(), QStringLiteral("▲ 127"));
        QCOMPARE(model.index(1, 0).data().toString(), QStringLiteral("−127"));
        const QString tip = model.index(255, 0).data(Qt::ToolTipRole).toString();
        QVERIFY2(tip.contains(QStringLiteral("0.500000 × (127 − (−4)) = 65.5000")), qPrintable(tip));
        QVERIFY(tip.contains(QStringLiteral("the highest code")));
        QVERIFY(tip.startsWith(QStringLiteral("[255]")));
    }

    void digitsAndWhatIsNotFinite()
    {
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        TensorValues values;
        values.shape = { 4 };
        values.reference.emplace(
            Tensor::of<float>({ 4 }, { 0.123456f, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e-9f }));
        ValueView view = viewOf(std::make_shared<const TensorValues>(std::move(values)), "", std::nullopt);
        view.digits = 3;
        ValueTableModel model;
        model.show(view);
        QCOMPARE(texts(model), (QStringList { "0: 0.123", "1: −∞", "2: NaN", "3: 1.00e−9" }));
        view.digits = 5;
        model.show(view);
        QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("0.12346"));
        QCOMPARE(model.index(0, 0).data(ValueTableModel::CopyRole).toString(), QStringLiteral("0.123456001"));
        QVERIFY(!model.index(0, 0).data(ValueTableModel::StrengthRole).isValid());
        model.setLargest(0.123456f * 2);
        QCOMPARE(model.index(0, 0).data(ValueTableModel::StrengthRole).toDouble(), 0.5);
        QVERIFY(!model.index(1, 0).data(ValueTableModel::StrengthRole).isValid());
    }

    /// Millions of rows go over pages, and each place is found.
    void longTensorsHavePages()
    {
        const size_t count = 2'500'000;
        ValueTableModel model;
        model.show(viewOf(counting({ int64_t(count) }), "", std::nullopt));
        QVERIFY(model.paged());
        QCOMPARE(model.rowCount(), ValueTableModel::kMostRows);
        for (const size_t element : { size_t(0), size_t(99'999), size_t(100'000), count / 2, count - 1 }) {
            const QModelIndex cell = model.reveal(element);
            QVERIFY(cell.isValid());
            QCOMPARE(model.positionOf(cell), element);
            QCOMPARE(cell.data(ValueTableModel::CopyRole).toDouble(), double(element));
            QCOMPARE(model.headerData(cell.row(), Qt::Vertical, Qt::DisplayRole).toString(), QString::number(element));
        }
        model.show(viewOf(counting({ 2, 20'001 }), "", 1));
        QCOMPARE(model.columnCount(), ValueTableModel::kMostColumns);
        const QModelIndex last = model.reveal(2 * 20'001 - 1);
        QCOMPARE(model.columnCount(), 1);
        QCOMPARE(last.row(), 1);
        QCOMPARE(last.data(ValueTableModel::CopyRole).toDouble(), 40'001.0);
    }

    /// Any shape and slice, against loops over the axes.
    void anySlice()
    {
        std::mt19937 random(11);
        const auto number = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
        for (int trial = 0; trial < 200; ++trial) {
            const Shape shape { number(1, 4), number(1, 5), number(1, 6) };
            const auto values = counting(shape);
            const int64_t fixed = number(0, int(shape[0]) - 1), step = number(1, 3);
            const bool turned = number(0, 1);
            const std::string slice = std::to_string(fixed) + ", :, ::" + std::to_string(step);
            ValueTableModel model;
            model.show(viewOf(values, slice.c_str(), turned ? 1 : 2));
            const int64_t across = (shape[2] + step - 1) / step;
            QCOMPARE(model.rowCount(), int(turned ? across : shape[1]));
            QCOMPARE(model.columnCount(), int(turned ? shape[1] : across));
            for (int r = 0; r < model.rowCount(); ++r)
                for (int c = 0; c < model.columnCount(); ++c) {
                    const int64_t i = turned ? c : r, j = (turned ? r : c) * step;
                    QCOMPARE(model.index(r, c).data(ValueTableModel::CopyRole).toDouble(),
                        double((fixed * shape[1] + i) * shape[2] + j));
                }
        }
    }

    void statisticsInWords()
    {
        const auto values = counting({ 256 });
        const SliceGrid grid = SliceGrid::inOrder(TensorSlice::whole(values->shape), values->shape);
        const QString text = statisticsText(*statisticsOf(*values, ValueKind::Codes, grid), 4);
        QVERIFY2(
            text.startsWith(QStringLiteral("256 values · min −128 · max 127 · mean −0.5000 · std 73.90 · 1 zero ·")),
            qPrintable(text));
        QVERIFY(text.contains(QStringLiteral("256 codes used · 0.8 % at the limits · SQNR")));
    }
};

int runValues(int argc, char** argv)
{
    TestValues test;
    return QTest::qExec(&test, argc, argv);
}

#include "test_values.moc"
