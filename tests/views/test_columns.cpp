// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/views/support/fake_window.h"
#include "tests/views/support/program_set_up.h"
#include "widgets/views/base/table_header.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/window/main_window.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include <algorithm>

using namespace qs;
using namespace qs::test;

class TestColumns : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { setUpProgram(m_settings); }

    /// Where titles would be cut, the last columns are left out and told of; what the user asks for stays.
    void columnsWithoutRoomAreToldOf()
    {
        Shown shown;
        MainWindow& window = shown.window;
        window.resize(1920, 1080);
        QVERIFY(shown.open());
        TablePanel& panel = window.tensors();
        QTableView* table = panel.table();
        QToolButton* choose = nullptr;
        for (QToolButton* button : panel.header()->findChildren<QToolButton*>())
            if (button->accessibleName() == QStringLiteral("Choose columns"))
                choose = button;
        QVERIFY(choose);
        QTRY_VERIFY(table->viewport()->width() > 600);
        QCOMPARE(choose->text(), QStringLiteral("Columns"));
        const auto hidden = [&](const QString& title) {
            for (int column = 0; column < panel.model()->columnCount(); ++column)
                if (panel.model()->column(column).title == title)
                    return table->isColumnHidden(column);
            return true;
        };
        window.resize(1160, 700);
        QTRY_VERIFY(choose->text().startsWith(QStringLiteral("Columns +")));
        QVERIFY(hidden(QStringLiteral("match"))); // a text, the last one
        QVERIFY(!hidden(QStringLiteral("accumulated"))); // sorted by
        QVERIFY(choose->toolTip().contains(QStringLiteral("match")));
        QCOMPARE(table->horizontalScrollBar()->maximum(), 0);
        auto* sections = static_cast<TableHeader*>(table->horizontalHeader());
        for (int column = 1; column < panel.model()->columnCount(); ++column)
            if (!table->isColumnHidden(column))
                QVERIFY2(table->columnWidth(column) >= sections->titleWidth(panel.model()->column(column).title),
                    qPrintable(panel.model()->column(column).title));
        window.resize(1920, 1080);
        QTRY_COMPARE(choose->text(), QStringLiteral("Columns"));
        QVERIFY(!hidden(QStringLiteral("match")));
    }

    void whatNobodyChoseLeavesTheWorstInSight()
    {
        Session session([](const Inputs& inputs, auto&&... rest) -> Result<SnapshotPtr> {
            QS_TRY(const SnapshotPtr made, fakeBuild(inputs, rest...));
            auto best = std::make_shared<Snapshot>(*made);
            const auto key = [](const ActivationRow& row) { return row.accumulated.sqnrDb.value_or(0); };
            const auto& rows = best->comparison->activations;
            best->comparison->findings.front().activation
                = size_t(std::ranges::max_element(rows, {}, key) - rows.begin());
            return SnapshotPtr(best);
        });
        MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
        window.show();
        Inputs inputs;
        inputs.floatPath = "/models/micro_kws/float.onnx";
        inputs.quantPath = "/models/micro_kws/qdq.onnx";
        session.openInputs(inputs);
        QVERIFY(QTest::qWaitFor([&session] { return session.jobs().idle() && session.comparison(); }));
        QTableView* table = window.tensors().table();
        for (const QSize size : { QSize(1280, 700), QSize(900, 560) }) {
            window.resize(size);
            QTest::qWait(50);
            QVERIFY(table->currentIndex().row() > table->viewport()->height() / table->rowHeight(0));
            QCOMPARE(table->rowAt(1), 0);
        }
        window.tensors().walk(-1); // the user goes on from it
        QTRY_VERIFY(table->rowAt(1) > 0);
    }

    void copiesWhatIsChosenInTheTableWithTheFocus()
    {
        Shown shown;
        MainWindow& window = shown.window;
        window.resize(1600, 1000);
        QVERIFY(shown.open());
        const auto copied = [] { return QGuiApplication::clipboard()->text().split(u'\n', Qt::SkipEmptyParts); };
        QTableView* tensors = window.tensors().table();
        tensors->setFocus();
        tensors->selectAll();
        QTest::keyClick(tensors, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(copied().size(), 13);
        QVERIFY(copied()[0].startsWith(QStringLiteral("tensor\t")));
        tensors->selectionModel()->setCurrentIndex(
            tensors->model()->index(2, 0), QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        QTest::keyClick(tensors, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(copied().size(), 2);
        window.showView(QStringLiteral("weights"));
        QTableView* weights = window.findChild<TablePanel*>(QStringLiteral("weights"))->table();
        weights->setFocus();
        QTRY_COMPARE(QApplication::focusWidget(), weights);
        window.actions().find(QStringLiteral("edit.copyTsv"))->action()->trigger();
        QCOMPARE(copied().size(), 12);
        QVERIFY2(copied()[0].startsWith(QStringLiteral("weight\t")), qPrintable(copied()[0]));
    }

    void escapeClearsTheFilter()
    {
        Shown shown;
        Session& session = shown.session;
        MainWindow& window = shown.window;
        window.resize(1600, 1000);
        QVERIFY(shown.open());
        TablePanel& panel = window.tensors();
        window.showView(panel.objectName());
        panel.focusFilter();
        auto* filter = qobject_cast<QLineEdit*>(QApplication::focusWidget());
        QVERIFY(filter);
        QTest::keyClicks(filter, QStringLiteral("conv_3"));
        QCOMPARE(panel.table()->model()->rowCount(), 1);
        const auto said = [&] { // over the table
            const auto labels = panel.header()->findChildren<QLabel*>();
            return std::ranges::any_of(
                labels, [](const QLabel* label) { return label->text().contains(QStringLiteral("the selected one")); });
        };
        session.selection().selectActivation(3);
        QVERIFY(!said());
        session.selection().selectActivation(4);
        QVERIFY(said());
        QTest::keyClick(filter, Qt::Key_Escape);
        QVERIFY(filter->text().isEmpty());
        QCOMPARE(panel.table()->model()->rowCount(), 12);
        QVERIFY(!said());
        QCOMPARE(panel.table()->currentIndex().data(RowRole).toULongLong(), 4ULL);
    }

    void columnsFollowTheirTexts()
    {
        Shown shown;
        MainWindow& window = shown.window;
        window.resize(1920, 1080);
        QVERIFY(shown.open());
        QTableView* table = window.tensors().table();
        QTRY_VERIFY(table->viewport()->width() > 600);
        constexpr int kMatch = 2;
        const QString match = table->model()->index(0, kMatch).data().toString();
        QVERIFY(table->columnWidth(kMatch) > table->fontMetrics().horizontalAdvance(match));
        QCOMPARE(table->horizontalHeader()->length(), table->viewport()->width()); // the first one takes the rest
        table->horizontalHeader()->resizeSection(kMatch, 130);
        window.resize(1280, 800);
        QTRY_VERIFY(table->viewport()->width() < 800);
        QCOMPARE(table->columnWidth(kMatch), 130); // what the user drew stays
    }

private:
    QTemporaryDir m_settings;
};

QTEST_MAIN(TestColumns)
#include "test_columns.moc"
