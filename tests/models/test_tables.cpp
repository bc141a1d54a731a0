// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/models/suites.h"
#include "tests/support/fake_snapshot.h"
#include "widgets/models/base/natural_order.h"
#include "widgets/models/base/table_text.h"
#include "widgets/models/base/worst_first_proxy.h"
#include "widgets/models/tables/match_model.h"
#include "widgets/models/tables/tensor_model.h"

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QTest>

using namespace qs;

namespace {

double sortValue(const WorstFirstProxy& proxy, int row, int column)
{
    return proxy.index(row, column).data(SortRole).toDouble();
}

/// One row of numbers to copy.
class NumberRow : public QAbstractTableModel {
public:
    explicit NumberRow(std::vector<double> numbers)
        : m_numbers(std::move(numbers))
    {
    }
    int rowCount(const QModelIndex&) const override { return 1; }
    int columnCount(const QModelIndex&) const override { return int(m_numbers.size()); }
    QVariant data(const QModelIndex& index, int role) const override
    {
        return role == CopyRole ? QVariant(m_numbers[size_t(index.column())]) : QVariant();
    }

private:
    std::vector<double> m_numbers;
};

} // namespace

class TestTables : public QObject {
    Q_OBJECT
private slots:
    void worstFirst()
    {
        TensorModel model;
        WorstFirstProxy proxy;
        const QAbstractItemModelTester tester(&proxy, QAbstractItemModelTester::FailureReportingMode::QtTest);
        proxy.setColumns(&model);
        proxy.sortWorstFirst(model.columnOf(Metric::Accumulated));
        fake::Options options;
        options.tensors = 30;
        model.setSnapshot(fake::comparison(options));
        for (int row = 1; row < proxy.rowCount(); ++row)
            QVERIFY(sortValue(proxy, row - 1, model.columnOf(Metric::Accumulated))
                <= sortValue(proxy, row, model.columnOf(Metric::Accumulated)));
        proxy.sortWorstFirst(model.columnOf(Metric::Clipped)); // lower is better: the largest comes first
        for (int row = 1; row < proxy.rowCount(); ++row)
            QVERIFY(sortValue(proxy, row - 1, model.columnOf(Metric::Clipped))
                >= sortValue(proxy, row, model.columnOf(Metric::Clipped)));
        options.offsetDb = -7;
        model.setSnapshot(fake::comparison(options)); // other numbers under the same sorting
        proxy.sortWorstFirst(model.columnOf(Metric::Accumulated));
        QCOMPARE(sortValue(proxy, 0, model.columnOf(Metric::Accumulated)), -17.0);
    }

    void absentIsLastInBothOrders()
    {
        TensorModel model;
        WorstFirstProxy proxy;
        proxy.setColumns(&model);
        fake::Options options;
        options.tensors = 7; // rows 0, 3 and 6 have no increase
        model.setSnapshot(fake::comparison(options));
        for (const Qt::SortOrder order : { Qt::AscendingOrder, Qt::DescendingOrder }) {
            proxy.sort(model.columnOf(Metric::Increase), order);
            for (int row = 0; row < 7; ++row)
                QCOMPARE(proxy.index(row, model.columnOf(Metric::Increase)).data(SortRole).isValid(), row < 4);
            QCOMPARE(proxy.mapToSource(proxy.index(4, 0)).row(), 0); // the network's order
            QCOMPARE(proxy.mapToSource(proxy.index(6, 0)).row(), 6);
        }
    }

    void filter()
    {
        TensorModel model;
        WorstFirstProxy proxy;
        proxy.setColumns(&model);
        fake::Options options;
        options.tensors = 30;
        model.setSnapshot(fake::comparison(options));
        proxy.setFilterWords(QStringLiteral("CONV_2 int8"));
        QCOMPARE(proxy.rowCount(), 11); // conv_2, conv_20 ... conv_29
        QCOMPARE(proxy.hiddenRows(), 19);
        proxy.setFilterWords(QStringLiteral("conv_2 float32"));
        QCOMPARE(proxy.rowCount(), 0);
        proxy.setFilterWords({});
        QCOMPARE(proxy.rowCount(), 30);
    }

    void hugeTableSortsQuickly()
    {
        fake::Options options;
        options.tensors = 100'000;
        options.samples = 1;
        TensorModel model;
        WorstFirstProxy proxy;
        proxy.setColumns(&model);
        model.setSnapshot(fake::comparison(options));
        QElapsedTimer timer;
        timer.start();
        proxy.sortWorstFirst(model.columnOf(Metric::Accumulated));
        qInfo("100,000 rows sorted in %lld ms", timer.elapsed());
        QCOMPARE(sortValue(proxy, 0, model.columnOf(Metric::Accumulated)), -10.0);
        QVERIFY(timer.elapsed() < 5000); // generous: sanitizers and busy machines
    }

    /// What a row without a partner says.
    void matchingSaysWhy()
    {
        auto snapshot = std::make_shared<Snapshot>(*fake::comparison());
        Alignment alignment = *snapshot->alignment;
        const size_t pairs = alignment.values.size();
        const NodeId node(1);
        alignment.insideFloat = { { ValueId(1), node } };
        alignment.unmatchedQuant = { ValueId(1), ValueId(2) };
        alignment.whyQuant = { { ValueId(2), WhyAlone::RemovedActivation } };
        snapshot->alignment = std::make_shared<const Alignment>(alignment);
        MatchModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setSnapshot(snapshot);
        const int match = model.columnOf(MatchModel::Key::Match), first = int(pairs);
        QCOMPARE(model.rowCount(), first + 3);
        const QString name = QString::fromStdString(snapshot->quantModel->graph().node(node).name);
        QCOMPARE(model.index(first, match).data().toString(), QStringLiteral("inside ") + name);
        QVERIFY(model.at(first).quantName().isEmpty() && model.at(first).around == node);
        QCOMPARE(model.index(first + 1, match).data().toString(), QStringLiteral("no partner"));
        QCOMPARE(model.index(first + 2, match).data().toString(),
            QStringLiteral("no partner: the other file has no such activation here"));
        WorstFirstProxy proxy; // what is inside is known: last, while what has no partner comes first
        proxy.setColumns(&model);
        proxy.sortWorstFirst(match);
        QCOMPARE(proxy.mapToSource(proxy.index(proxy.rowCount() - 1, 0)).row(), first);
        QVERIFY(proxy.mapToSource(proxy.index(0, 0)).row() > first);
    }

    void namesAreInNaturalOrder_data()
    {
        QTest::addColumn<QString>("first");
        QTest::addColumn<QString>("second");
        const auto row = [](const char* first, const char* second) {
            QTest::newRow(first) << QString::fromLatin1(first) << QString::fromLatin1(second);
        };
        row("sample 2", "sample 10");
        row("img_9.png", "img_10.png");
        row("a7b2", "a07b10");
        row("conv", "conv_1");
        row("Conv_1", "conv_2");
        row("a01", "a1"); // equal but for the zero: still an order
        row("x99999999999999999998", "x99999999999999999999");
        row("", "a");
    }

    void namesAreInNaturalOrder()
    {
        QFETCH(QString, first);
        QFETCH(QString, second);
        QCOMPARE(naturalCompare(first, second), -1);
        QCOMPARE(naturalCompare(second, first), 1);
        QCOMPARE(naturalCompare(first, first), 0);
    }

    void copiedNumbersAreReadable()
    {
        const NumberRow model({ 27.934523105621338, 0.1f, 123456789, -3.25e-9 });
        const QString text = tableText(model, { 0 }, { 0, 1, 2, 3 }, TableFormat::Tsv);
        QCOMPARE(text.section(u'\n', 1, 1), QStringLiteral("27.93452\t0.1\t123456789\t-3.25e-09"));
    }

    /// What reads it wants numbers, and nothing where there is none.
    void copiedCellsAreNumbersOrEmpty()
    {
        TensorModel model;
        SnapshotPtr made = fake::comparison();
        auto snapshot = std::make_shared<Snapshot>(*made);
        ActivationRow& row = snapshot->comparison->activations[0];
        row.noise.clipping = 0.25;
        row.noise.rounding = 0.5;
        row.noise.weights = 0;
        row.noise.inherited = 0.25;
        row.clippedFraction.reset();
        snapshot->comparison->activations[1].noise = {};
        model.setSnapshot(snapshot);
        int noise = 0;
        while (model.column(noise).kind != ColumnKind::Split)
            ++noise;
        const QString text = tableText(model, { 0, 1 }, { noise, model.columnOf(Metric::Clipped) }, TableFormat::Tsv);
        const QStringList lines = text.split(u'\n');
        QCOMPARE(lines[0],
            QStringLiteral("noise clipping\tnoise rounding\tnoise weights\tnoise kernel\tnoise inputs\tclipped"));
        QCOMPARE(lines[1], QStringLiteral("0.25\t0.5\t0\t\t0.25\t"));
        QVERIFY2(lines[2].startsWith(QStringLiteral("\t\t\t\t\t")), qPrintable(lines[2]));
        QVERIFY(tableText(model, { 0 }, { noise }, TableFormat::Markdown).contains(QStringLiteral("| noise |")));
        auto integer = std::make_shared<Snapshot>(*snapshot);
        integer->comparison->activations[0].noise.kernel = 1;
        integer->comparison->activations[0].floatClippedFraction = 0.5;
        model.setSnapshot(integer);
        const QString kernel = tableText(model, { 0 }, { noise }, TableFormat::Tsv);
        QVERIFY2(kernel.contains(QStringLiteral("0.125\t0.25\t0\t0.5\t0.125")), qPrintable(kernel));
        QCOMPARE(model.index(0, noise).data().toString(),
            QStringLiteral("clip 13 %, round 25 %, weights 0 %, kernel 50 %, inputs 13 %"));
        const QString tip = model.index(0, model.columnOf(Metric::Clipped)).data(Qt::ToolTipRole).toString();
        QVERIFY2(tip.contains(QStringLiteral("of the float data, 50.0 % lie beyond the range")), qPrintable(tip));
    }

    void copy()
    {
        TensorModel model;
        model.setSnapshot(fake::comparison());
        const std::vector<int> columns { 0, model.columnOf(Metric::Accumulated) };
        QCOMPARE(tableText(model, { 0, 1 }, columns, TableFormat::Tsv),
            QStringLiteral("tensor\taccumulated\ninput\t40\nlayer/conv_1_output\t30\n"));
        QCOMPARE(tableText(model, { 1 }, columns, TableFormat::Markdown),
            QStringLiteral("| tensor | accumulated |\n| --- | ---: |\n| layer/conv_1_output | 30.0 |\n"));
    }
};

int runTables(int argc, char** argv)
{
    TestTables test;
    return QTest::qExec(&test, argc, argv);
}

#include "test_tables.moc"
