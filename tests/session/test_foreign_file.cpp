// SPDX-License-Identifier: GPL-3.0-or-later
// What the nodes of a quantized file that another tool made, with names of its own, are in the recipe.
#include "core/onnx/write/export.h"
#include "tests/support/foreign_model.h"
#include "tests/support/real_build.h"
#include "widgets/session/recipe/recipe_view.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int kPatience = 60'000;

/// Of a model that was never in a file.
GraphDraft draftOf(const std::shared_ptr<const Model>& built)
{
    auto model = std::make_shared<Model>(*built);
    model->path.clear();
    return GraphDraft(std::move(model));
}

std::string nameOf(const RecipeView& view, std::optional<size_t> node)
{
    return node ? view.nodes()[*node].name : std::string();
}

} // namespace

class TestForeignFile : public QObject {
    Q_OBJECT
private slots:
    void nodesAreThoseThatMakeTheSameTensor_data()
    {
        QTest::addColumn<bool>("misleading");
        QTest::newRow("names of its own") << false;
        QTest::newRow("a name of another node") << true;
    }

    /// Not the next one with a known name.
    void nodesAreThoseThatMakeTheSameTensor()
    {
        QFETCH(bool, misleading);
        QTemporaryDir folder;
        Inputs inputs;
        inputs.floatPath = folder.filePath(QStringLiteral("float.onnx")).toStdString();
        inputs.quantPath = folder.filePath(QStringLiteral("foreign.onnx")).toStdString();
        inputs.data.spec = "random:8";
        ForeignFile foreign;
        GraphDraft file = draftOf(foreign.made());
        for (DraftNode& node : file.nodes)
            if (node.outputs.front() == "t6") // the pool
                node.name = misleading ? "n_c1" : "n_g1";
        QVERIFY(exportModel(draftOf(floatNet()), inputs.floatPath).ok());
        QVERIFY(exportModel(file, inputs.quantPath).ok());
        Session session(realBuild());
        const RecipeView view(session);
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(inputs);
        QVERIFY(settled.wait(kPatience));
        const SnapshotPtr snapshot = session.snapshot();
        QVERIFY(snapshot->alignment && snapshot->quantModel);
        const Graph& graph = snapshot->quantModel->graph();
        for (const char* output : { "t1", "t2", "t3", "t4", "t5", "t6", "t8", "out" }) {
            const ValueId value = graph.findValue(output);
            QVERIFY2(value.valid(), output);
            Place place;
            place.side = Side::Quantized;
            place.node = graph.value(value).producer;
            QCOMPARE(nameOf(view, view.nodeOf(place)), "n_" + foreign.names.at(output));
            place.node = {};
            place.value = value;
            QCOMPARE(nameOf(view, view.nodeOf(place)), "n_" + foreign.names.at(output));
        }
    }

    /// A mean over the picture has no rule in a recipe, and the file pools codes: that is not "left in float".
    void whatARecipeCannotSayIsOfTheFile()
    {
        QTemporaryDir folder;
        Inputs inputs;
        inputs.floatPath = folder.filePath(QStringLiteral("float.onnx")).toStdString();
        inputs.quantPath = folder.filePath(QStringLiteral("foreign.onnx")).toStdString();
        inputs.data.spec = "random:8";
        GraphDraft net = draftOf(floatNet());
        const auto pool = std::ranges::find(net.nodes, "n_g1", &DraftNode::name);
        QVERIFY(pool != net.nodes.end());
        pool->opType = "ReduceMean";
        pool->attributes.set("axes", std::vector<int64_t> { 2, 3 });
        pool->attributesChanged = true;
        QVERIFY(exportModel(net, inputs.floatPath).ok());
        QVERIFY(exportModel(draftOf(ForeignFile().made()), inputs.quantPath).ok());
        Session session(realBuild());
        const RecipeView view(session);
        QSignalSpy settled(&session, &Session::settled);
        session.openInputs(inputs);
        QVERIFY(settled.wait(kPatience));
        QVERIFY(view.mark("n_c1") == NodeMark::Quantized);
        QVERIFY(view.mark("n_g1") == NodeMark::OfFile);
        QCOMPARE(nodeMarkText(NodeMark::OfFile), QStringLiteral("as in the file"));
        QVERIFY(view.isOfFile(std::vector { *view.find("n_g1") }));
        QVERIFY(!view.isOfFile(std::vector { *view.find("n_g1"), *view.find("n_c1") }));
    }
};

QTEST_GUILESS_MAIN(TestForeignFile)
#include "test_foreign_file.moc"
