// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/value_notes.h"
#include "tests/models/suites.h"
#include "tests/support/fake_snapshot.h"
#include "widgets/models/inspector/derivation_text.h"
#include "widgets/models/inspector/inspector_model.h"
#include "widgets/models/inspector/place_origin.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>
#include <array>

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

/// A chain of Convs that PyTorch's metadata say this of.
SnapshotPtr withOrigin(const std::string& scopes, const std::string& classes)
{
    auto snapshot = std::make_shared<Snapshot>(*fake::floatOnly());
    const auto texts = std::make_shared<const std::array<std::string, 3>>(std::array { scopes, classes,
        std::string("File \"/p/train.py\", line 9, in <module>\n    net(x)\n"
                    "File \"/p/net.py\", line 4, in forward\n    x = self.conv(x)\n") });
    auto metadata = std::make_shared<Metadata>();
    metadata->entries = { { "pkg.torch.onnx.name_scopes", (*texts)[0] },
        { "pkg.torch.onnx.class_hierarchy", (*texts)[1] }, { "pkg.torch.onnx.stack_trace", (*texts)[2] } };
    metadata->owner = texts;
    GraphDraft draft(snapshot->floatModel->model);
    for (DraftNode& node : draft.nodes)
        node.cameFrom = std::make_shared<const NodeOrigin>(NodeOrigin { metadata, nullptr });
    snapshot->floatModel->model = draft.build().value();
    return snapshot;
}

Place nodePlace(uint32_t node)
{
    Place place;
    place.node = NodeId(node);
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
        QCOMPARE(valueOf(rows, "quantizer"), QStringLiteral("0.0239 * (q + 128) int8, per tensor"));
        QCOMPARE(valueOf(rows, "range / observed"), QStringLiteral("[0, 6.10] / [−1, 19.7]"));
        QCOMPARE(valueOf(rows, "accumulated"), QStringLiteral("30.0 dB, ideal 41.3 dB"));
        QCOMPARE(valueOf(rows, "noise"), QStringLiteral("clip 70 %, round 6 %, weights 0 %, inputs 24 %"));
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
        const auto why = std::ranges::find(rows, QStringLiteral("why is this float?"), &InspectorRow::key);
        QVERIFY(why->sentence);
        InspectorModel model;
        model.setRows(rows);
        const int at = int(why - rows.begin());
        QVERIFY(model.index(at, 1).data(InspectorModel::SentenceRole).toBool());
        QVERIFY(model.index(at, 1).data(Qt::ToolTipRole).toString().startsWith(why->value)); // also where it is cut
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

    /// What a node computes with is reached from it.
    void weightsOfTheNode()
    {
        const SnapshotPtr snapshot = fake::comparison();
        const auto& weights = snapshot->comparison->weights;
        Place place;
        place.node = weights[0].floatNode;
        const auto rows = inspectorRows(*snapshot, place);
        const auto leads = std::ranges::find_if(rows, [](const InspectorRow& row) { return row.weight.has_value(); });
        QVERIFY(leads != rows.end());
        QCOMPARE(*leads->weight, size_t(0));
        QVERIFY(leads->value.contains(QStringLiteral("dB")));
        QVERIFY(leads->toolTip.contains(QString::fromStdString(weights[0].name)));
        place.weight = 0; // it is shown itself
        QVERIFY(std::ranges::none_of(
            inspectorRows(*snapshot, place), [](const InspectorRow& row) { return row.weight.has_value(); }));
    }

    void valueWithoutPartner()
    {
        auto snapshot = std::make_shared<Snapshot>(*fake::comparison());
        Place place = activationPlace(*snapshot, 2);
        place.activation.reset();
        const auto rows = inspectorRows(*snapshot, place);
        QVERIFY(valueOf(rows, "match").contains(QStringLiteral("no partner")));
    }

    void origin()
    {
        const auto rows = inspectorRows(*withOrigin("['', 'block', 'block.0', 'conv2d']",
                                            "['m.Net', 'torch.nn.Sequential', 'm.Block', 'aten.conv2d.default']"),
            nodePlace(1));
        QCOMPARE(valueOf(rows, "module"), QStringLiteral("block.0"));
        QCOMPARE(valueOf(rows, "class"), QStringLiteral("m.Block"));
        QCOMPARE(valueOf(rows, "source"), QStringLiteral("net.py:4 in forward — x = self.conv(x)"));
        QCOMPARE(valueOf(rows, "made from"), QString());
        const auto source = std::ranges::find(rows, QStringLiteral("source"), &InspectorRow::key);
        QVERIFY(source->toolTip.contains(QStringLiteral("line 9, in <module>")));
        const auto module = std::ranges::find(rows, QStringLiteral("module"), &InspectorRow::key);
        QVERIFY(module->toolTip.contains(QStringLiteral("metadata")));
        QVERIFY(module->toolTip.contains(QStringLiteral("aten.conv2d.default")));
    }

    void originOfTheModelItself()
    {
        const auto rows = inspectorRows(*withOrigin("['', 'add']", "['m.Net', 'aten.add']"), nodePlace(1));
        QCOMPARE(valueOf(rows, "module"), QStringLiteral("(the model itself)"));
        QCOMPARE(valueOf(rows, "class"), QStringLiteral("m.Net"));
    }

    void originOfTheOtherFile()
    {
        const SnapshotPtr told = withOrigin("['', 'head', 'linear']", "[]");
        auto snapshot = std::make_shared<Snapshot>(*fake::comparison());
        const Place place = activationPlace(*snapshot, 1);
        snapshot->quantModel = told->floatModel; // the fake's names say nothing of modules there
        const auto rows = inspectorRows(*snapshot, place);
        QCOMPARE(valueOf(rows, "module"), QStringLiteral("head"));
        QCOMPARE(valueOf(rows, "source"), QStringLiteral("net.py:4 in forward — x = self.conv(x)"));
    }

    void originsThatDiffer()
    {
        auto snapshot = std::make_shared<Snapshot>(*fake::comparison());
        snapshot->floatModel = withOrigin("['', 'a', 'linear']", "[]")->floatModel;
        snapshot->quantModel = withOrigin("['', 'b', 'linear']", "[]")->floatModel;
        const auto rows = inspectorRows(*snapshot, activationPlace(*snapshot, 1));
        QCOMPARE(valueOf(rows, "module"), QStringLiteral("a"));
        QCOMPARE(valueOf(rows, "module, quantized"), QStringLiteral("b"));
    }

    void originLines_data()
    {
        QTest::addColumn<QString>("scopes");
        QTest::addColumn<QString>("line");
        QTest::newRow("class") << "['', 'block', 'x']"
                               << "block (Block) · net.py:4";
        QTest::newRow("root") << "['', 'x']"
                              << "net.py:4";
    }
    void originLines()
    {
        QFETCH(QString, scopes);
        const SnapshotPtr snapshot = withOrigin(scopes.toStdString(), "['m.Net', 'm.Block', 'aten.x']");
        QTEST(originLine(snapshot->floatModel->graph().node(NodeId(0))), "line");
        QCOMPARE(originLine(fake::comparison()->floatModel->graph().node(NodeId(0))), QString());
    }

    void madeFrom_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("text");
        using Kind = Derivation::Kind;
        QTest::newRow("call") << int(Kind::Call) << "in the function F, called by a; iteration 3 of loop (Loop)";
        QTest::newRow("branch") << int(Kind::Branch)
                                << "in the branch of a (F) that is taken; iteration 3 of loop (Loop)";
        QTest::newRow("fused") << int(Kind::Fused)
                               << "made of a (F), b (Sub), c (Pow), d (Div) and 2 more; iteration 3 of loop (Loop)";
    }
    void madeFrom()
    {
        QFETCH(int, kind);
        const auto outer = std::make_shared<const Derivation>(
            Derivation { Derivation::Kind::Iteration, { { "loop", "Loop", nullptr } }, 3, nullptr });
        Derivation way { static_cast<Derivation::Kind>(kind), { { "a", "F", nullptr } }, {}, outer };
        if (way.kind == Derivation::Kind::Fused)
            for (const auto& [name, type] :
                { std::pair { "b", "Sub" }, { "c", "Pow" }, { "d", "Div" }, { "/e/n", "Mul" }, { "f", "Add" } })
                way.nodes.push_back({ name, type, nullptr });
        Node node;
        node.cameFrom
            = std::make_shared<const NodeOrigin>(NodeOrigin { nullptr, std::make_shared<const Derivation>(way) });
        QTEST(derivationText(node), "text");
        QCOMPARE(fusedSourcesText(node).contains(QStringLiteral("/e/n (Mul), e")), way.nodes.size() > 1);
    }

    void storedConstants()
    {
        auto snapshot = std::make_shared<Snapshot>(*fake::comparison());
        Place place;
        place.value = snapshot->floatModel->graph().findValue("layer/conv_1.weight");
        QCOMPARE(valueOf(inspectorRows(*snapshot, place), "stored"), QStringLiteral("in the model file"));
        ValueNotes notes;
        notes.external["layer/conv_1.weight"] = { "w.bin", 4096, 256 };
        auto metadata = std::make_shared<Metadata>();
        metadata->entries.emplace_back("pkg.onnxscript.optimizer.folded_from", "['a', 'b']");
        notes.metadata["layer/conv_1.weight"] = metadata;
        auto model = std::make_shared<Model>(*snapshot->floatModel->model);
        model->valueNotes = std::make_shared<const ValueNotes>(notes);
        snapshot->floatModel->model = model;
        const auto rows = inspectorRows(*snapshot, place);
        QCOMPARE(valueOf(rows, "stored"), QStringLiteral("w.bin, from byte 4,096, 256 bytes"));
        QCOMPARE(valueOf(rows, "folded from"), QStringLiteral("a, b"));
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
