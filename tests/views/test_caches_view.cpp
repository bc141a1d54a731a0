// SPDX-License-Identifier: GPL-3.0-or-later
// What a language model remembers: layers and heads in a table, and the channels of one beside it.
#include "tests/views/support/example_window.h"
#include "widgets/models/language/cache_model.h"
#include "widgets/plots/heat_map.h"
#include "widgets/views/language/cache_map_data.h"
#include "widgets/views/language/caches_panel.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QTableView>
#include <QTest>

#include <cmath>

namespace qs::test {

namespace {

const std::string kFolder = QS_SOURCE_DIR "/resources/examples/";

Inputs verses()
{
    Inputs inputs;
    inputs.floatPath = kFolder + "verses_float.onnx";
    inputs.quantPath = kFolder + "verses_int4.onnx";
    inputs.data.spec = kFolder + "verses_prompts.npz";
    return inputs;
}

struct Shown : ExampleWindow {
    CachesPanel& panel = *window.findChild<CachesPanel*>();
    QAbstractItemModelTester tester { panel.model() };

    explicit Shown(const Inputs& inputs)
        : ExampleWindow(realBuild(), inputs)
    {
    }
    bool compared()
    {
        return QTest::qWaitFor([this] { return session.jobs().idle() && session.comparison(); }, kPatience);
    }
    bool ready()
    {
        window.showView(QStringLiteral("caches"));
        return QTest::qWaitFor(
            [this] { return session.jobs().idle() && panel.shown().found() && panel.shownMap().map(); }, kPatience);
    }
    QString cell(int row, const QString& title) const
    {
        const QAbstractItemModel& model = *panel.model();
        for (int column = 0; column < model.columnCount(); ++column)
            if (model.headerData(column, Qt::Horizontal).toString() == title)
                return model.index(row, column).data().toString();
        return {};
    }
};

/// Of two layers: the first of one head, the second of two.
CacheReport smallReport()
{
    CacheReport report;
    for (size_t layer = 0; layer < 2; ++layer) {
        CacheRow row;
        row.layer = layer;
        row.name = "present." + std::to_string(layer) + ".key";
        row.size = 4;
        row.range = { -1, 2 };
        row.heads.resize(layer + 1);
        row.errors[1][2] = { 12.34, false, 0.5, 1.5 };
        if (layer == 1)
            row.outliers = { { 6, 9.5 }, { 1, 5 } };
        report.rows.push_back(row);
    }
    report.rows[1].heads[1].outliers = 1;
    return report;
}

} // namespace

class CachesViewTest : public QObject {
    Q_OBJECT
private slots:
    void rowsOfLayersAndHeads();
    void cellsOfManyChannels();
    void tableAndMap();
    void kindsAndRows();
    void otherModelsSaySo();
    void staysWhileTheRecipeChanges();
};

void CachesViewTest::rowsOfLayersAndHeads()
{
    CacheModel model;
    QAbstractItemModelTester tester(&model);
    CacheReport report = smallReport();
    model.setReport(&report, CacheKind::Key);
    QCOMPARE(model.rowCount(), 4); // a layer of one head is one row
    const auto text = [&](int row, int column) { return model.index(row, column).data().toString(); };
    QCOMPARE(text(0, 0), QStringLiteral("0"));
    QCOMPARE(text(0, 1), QStringLiteral("all"));
    QCOMPARE(text(0, 2), QStringLiteral("−1 … 2"));
    QCOMPARE(text(3, 1), QStringLiteral("1"));
    QCOMPARE(text(0, model.columnCount() - 1), QStringLiteral("12.3"));
    const auto tip = [&](int row) { return model.index(row, 3).data(Qt::ToolTipRole).toString().section(u'\n', 1); };
    QCOMPARE(tip(1), QStringLiteral("1/2 (9.50×), 0/1 (5×)"));
    QCOMPARE(tip(3), QStringLiteral("2 (9.50×)"));
    QVERIFY(model.index(0, model.columnCount() - 1)
                .data(Qt::ToolTipRole)
                .toString()
                .contains(QStringLiteral("largest 1.5")));
    model.setReport(&report, CacheKind::Value);
    QCOMPARE(model.rowCount(), 0);
    model.setReport(&report, CacheKind::Key);
    model.setReport(nullptr, CacheKind::Key);
    QCOMPARE(model.rowCount(), 0);
}

void CachesViewTest::cellsOfManyChannels()
{
    CacheMap map { 300, 1000, std::vector<float>(300000, 1) };
    map.largest[299 * 1000 + 998] = 7;
    map.largest[0] = std::numeric_limits<float>::quiet_NaN();
    const HeatData data = cacheMapData(&map, Theme::light());
    QCOMPARE(data.rows, size_t(150));
    QCOMPARE(data.columns, size_t(250));
    QCOMPARE(data.high, 7.0);
    QCOMPARE(data.values[149 * 250 + 249], 7.0);
    QCOMPARE(data.values[0], 1.0); // of its neighbours
    QVERIFY(cacheMapData(nullptr, Theme::light()).values.empty());
}

void CachesViewTest::tableAndMap()
{
    Shown shown(verses());
    QVERIFY(shown.compared());
    QVERIFY(!shown.panel.shown().found()); // nothing is worked out for nobody
    QVERIFY(shown.ready());
    QCOMPARE(shown.panel.model()->rowCount(), 2);
    const CacheReport& report = *shown.panel.shown().found();
    QCOMPARE(report.rows.size(), size_t(6));
    const double sqnr = *errorOf(report.rows[3].errors, CacheBits::Four, CacheScales::PerChannel).sqnrDb;
    QCOMPARE(shown.cell(1, QStringLiteral("int4 channel")), QString::number(sqnr, 'f', 1));
    const HeatData& data = shown.panel.map().data();
    QCOMPARE(data.rows, size_t(16));
    QCOMPARE(data.columns, size_t(48));
    QVERIFY(std::abs(data.high - double(report.rows[0].range.largest())) < 1e-6);
}

void CachesViewTest::kindsAndRows()
{
    Shown shown(verses());
    QVERIFY(shown.compared() && shown.ready());
    const CacheReport& report = *shown.panel.shown().found();
    QComboBox& kinds = shown.panel.kinds();
    QCOMPARE(kinds.count(), 3);
    for (int kind = 0; kind < kinds.count(); ++kind) {
        kinds.setCurrentIndex(kind);
        QVERIFY(shown.ready());
        for (int row = 0; row < 2; ++row) {
            shown.panel.table()->setCurrentIndex(shown.panel.table()->model()->index(row, 0));
            QVERIFY(shown.ready());
            const auto& rows = *static_cast<const CacheModel*>(shown.panel.model());
            const CacheRow& of = report.rows[rows.at(row).place];
            QCOMPARE(int(of.kind), kinds.currentData().toInt());
            QCOMPARE(of.layer, size_t(row));
            const QString said = QStringLiteral("kind %1, row %2: %3, %4")
                                     .arg(kind)
                                     .arg(row)
                                     .arg(shown.panel.map().data().high)
                                     .arg(of.range.largest());
            QVERIFY2(std::abs(shown.panel.map().data().high - double(of.range.largest())) < 1e-6, qPrintable(said));
        }
    }
}

void CachesViewTest::otherModelsSaySo()
{
    Inputs inputs;
    inputs.floatPath = kFolder + "digits_float.onnx";
    inputs.quantPath = kFolder + "digits_qdq.onnx";
    inputs.data.spec = kFolder + "digits_samples.npz";
    inputs.data.limit = 20;
    Shown shown(inputs);
    QVERIFY(shown.compared());
    shown.window.showView(QStringLiteral("caches"));
    QVERIFY(QTest::qWaitFor([&] { return shown.session.jobs().idle(); }, kPatience));
    QVERIFY(!shown.panel.shown().found() && !ShownCaches::possible(*shown.session.snapshot()));
    QCOMPARE(shown.panel.model()->rowCount(), 0);
    QVERIFY(!shown.panel.kinds().isEnabled());
    shown.session.openInputs(verses());
    QVERIFY(shown.compared() && shown.ready());
    QCOMPARE(shown.panel.model()->rowCount(), 2);
}

void CachesViewTest::staysWhileTheRecipeChanges()
{
    Shown shown(verses());
    QVERIFY(shown.compared() && shown.ready());
    const auto found = shown.panel.shown().found();
    Inputs fewer = verses();
    fewer.nodeAlone = true; // another comparison of the same model and prompts
    shown.session.openInputs(fewer);
    QVERIFY(shown.compared() && shown.ready());
    QCOMPARE(shown.panel.shown().found(), found);
    Inputs first = verses();
    first.data.limit = 2;
    shown.session.openInputs(first);
    QVERIFY(shown.compared() && shown.ready());
    QCOMPARE(shown.panel.shown().found()->prompts, size_t(2));
    QVERIFY(shown.panel.shown().found() != found);
}

} // namespace qs::test

QTEST_MAIN(qs::test::CachesViewTest)
#include "test_caches_view.moc"
