// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/models/suites.h"
#include "tests/support/fake_snapshot.h"
#include "widgets/models/inspector/inspector_model.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>

using namespace qs;

namespace {

QString valueOf(const std::vector<InspectorRow>& rows, const char* key)
{
    const auto it = std::ranges::find(rows, QString::fromUtf8(key), &InspectorRow::key);
    return it == rows.end() ? QString() : it->value;
}

Place activationPlace(const Snapshot& snapshot, size_t row)
{
    Place place;
    place.activation = row;
    place.value = snapshot.comparison->activations[row].floatValue;
    place.node = snapshot.comparison->activations[row].floatNode;
    return place;
}

} // namespace

class TestInspector : public QObject {
    Q_OBJECT
private slots:
    void nothingSelected()
    {
        const auto rows = inspectorRows(*fake::floatOnly(), {});
        QCOMPARE(valueOf(rows, "file"), QStringLiteral("float.onnx"));
        QVERIFY(inspectorRows(Snapshot {}, {}).empty());
    }

    void activation()
    {
        const SnapshotPtr snapshot = fake::comparison();
        const Place place = activationPlace(*snapshot, 1);
        const auto rows = inspectorRows(*snapshot, place);
        QCOMPARE(valueOf(rows, "quantizer"), QStringLiteral("0.0239 * (q - -128) int8, per tensor"));
        QCOMPARE(valueOf(rows, "range / observed"), QStringLiteral("[0, 6.10] / [−1, 19.7]"));
        QCOMPARE(valueOf(rows, "accumulated"), QStringLiteral("30.0 dB, ideal 41.3 dB"));
        QCOMPARE(valueOf(rows, "noise"), QStringLiteral("clip 70 %, round 6 %, inherit 24 %"));
        QCOMPARE(valueOf(rows, "kernel_shape"), QStringLiteral("[1, 1]"));
        QCOMPARE(inspectorTitle(*snapshot, place), QStringLiteral("layer/conv_1 · output"));
        const auto accumulated = std::ranges::find(rows, QStringLiteral("accumulated"), &InspectorRow::key);
        QVERIFY(accumulated->toolTip.contains(QStringLiteral("2 samples, simulated")));
        QVERIFY(accumulated->toolTip.contains(QStringLiteral("= 30.0 dB")));
    }

    void whyFloat()
    {
        auto snapshot = std::make_shared<Snapshot>(*fake::comparison());
        const Place place = activationPlace(*snapshot, 1);
        QVERIFY(valueOf(inspectorRows(*snapshot, place), "why is this float?").isEmpty());
        FloatNodeRow row;
        row.node = "layer/conv_1";
        row.reason = { FloatCause::Excluded, "the recipe excludes it" };
        row.macShare = 0.25;
        snapshot->comparison->floatNodes = { row };
        const auto rows = inspectorRows(*snapshot, place);
        QCOMPARE(valueOf(rows, "why is this float?"),
            QStringLiteral("the recipe excludes it (25.0 % of the multiplications)"));
        Place other = activationPlace(*snapshot, 2);
        QVERIFY(valueOf(inspectorRows(*snapshot, other), "why is this float?").isEmpty());
    }

    void weight()
    {
        const SnapshotPtr snapshot = fake::comparison();
        Place place;
        place.weight = 0;
        place.value = snapshot->comparison->weights[0].floatValue;
        place.node = snapshot->comparison->weights[0].floatNode;
        const auto rows = inspectorRows(*snapshot, place);
        QCOMPARE(valueOf(rows, "worst channel"), QStringLiteral("20.0 dB (channel 0)"));
        QCOMPARE(valueOf(rows, "per tensor | channel"), QStringLiteral("33.0 dB | 38.0 dB"));
    }

    void valueWithoutPartner()
    {
        auto snapshot = std::make_shared<Snapshot>(*fake::comparison());
        Place place = activationPlace(*snapshot, 2);
        place.activation.reset();
        const auto rows = inspectorRows(*snapshot, place);
        QVERIFY(valueOf(rows, "match").contains(QStringLiteral("no partner")));
    }

    void modelKeepsRows()
    {
        const SnapshotPtr snapshot = fake::comparison();
        InspectorModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setRows(inspectorRows(*snapshot, activationPlace(*snapshot, 1)));
        QVERIFY(model.rowCount() > 10);
        QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
        model.setRows(inspectorRows(*snapshot, activationPlace(*snapshot, 2))); // the same keys
        QCOMPARE(resets.size(), 0);
        QCOMPARE(changes.size(), 1);
        model.setRows({});
        QCOMPARE(resets.size(), 1);
        QCOMPARE(model.rowCount(), 0);
    }
};

int runInspector(int argc, char** argv)
{
    TestInspector test;
    return QTest::qExec(&test, argc, argv);
}

#include "test_inspector.moc"
