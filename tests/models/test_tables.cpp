// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/models/suites.h"
#include "tests/support/fake_snapshot.h"
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
