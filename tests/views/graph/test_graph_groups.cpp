// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/views/support/shown_graph.h"
#include "widgets/models/inspector/inspector_model.h"
#include "widgets/views/graph/graph_numbers.h"
#include "widgets/views/graph/group_look.h"
#include "widgets/views/graph/group_painter.h"
#include "widgets/views/graph/view/around_bar.h"
#include "widgets/views/graph/view/graph_search_bar.h"

#include <QApplication>
#include <QClipboard>
#include <QLineEdit>
#include <QUndoStack>

using namespace qs;
using namespace qs::test;

namespace {

Node nodeOf(const char* type, const std::string& name, std::vector<ValueId> inputs, ValueId output)
{
    Node node;
    node.name = name;
    node.opType = type;
    node.opset = 17;
    node.inputs = std::move(inputs);
    node.outputs = { output };
    return node;
}

/// a → Mul scaled (by the constant w) → Relu → out; a is made outside.
std::shared_ptr<const Graph> branchOf(const std::string& name)
{
    GraphBuilder builder(name);
    builder.allowOuter("a");
    const ValueId w = builder.value("w_" + name), scaled = builder.value(name + "_scaled"),
                  out = builder.value(name + "_out");
    builder.setInitializer(w, Tensor::of<float>({ 2 }, { 1, 2 }));
    builder.addNode(nodeOf("Mul", "mul_" + name, { builder.value("a"), w }, scaled));
    builder.addNode(nodeOf("Relu", "relu_" + name, { scaled }, out));
    builder.addOutput(out);
    return std::make_shared<const Graph>(*std::move(builder).finish());
}

/// x → Relu → a → If (condition) → y, with numbers of the weight in its then branch.
SnapshotPtr withBranchesOpen()
{
    GraphBuilder builder;
    builder.addInput(builder.value("x"));
    builder.addInput(builder.value("condition"));
    builder.setType(builder.value("condition"), { DType::Bool, Dims {}, {} });
    builder.addNode(nodeOf("Relu", "first", { builder.value("x") }, builder.value("a")));
    Node choice = nodeOf("If", "choice", { builder.value("condition") }, builder.value("y"));
    choice.attributes.set("then_branch", branchOf("then"));
    choice.attributes.set("else_branch", branchOf("else"));
    builder.addNode(choice);
    builder.addOutput(builder.value("y"));
    auto model = std::make_shared<Model>();
    model->path = "branches.onnx";
    model->graph = *std::move(builder).finish();
    const auto plan = Plan::make(model);
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->floatModel = { model, plan,
        std::make_shared<QuantView>(QuantView::of(model->graph, [plan](ValueId id) { return plan->constant(id); })),
        std::make_shared<const GraphDraft>(model) };
    snapshot->comparison.emplace();
    WeightRow weight;
    weight.name = weight.quantizedName = "w_then";
    weight.floatNode = weight.quantNode = model->graph.findNode("choice");
    weight.shape = { 2 };
    weight.similarity.sqnrDb = 33.3;
    snapshot->comparison->weights = { weight };
    return snapshot;
}

} // namespace

class TestGraphGroups : public QObject {
    Q_OBJECT
private slots:
    void repeatedBlocksAreOneBox();
    void stripHasAPartForEachBlock();
    void keysOpenAndCloseGroups();
    void searchOpensThePath();
    void groupsComeBackWithAProject();
    void severalBoxesAtOnce();
    void aClosedGroupIsExcludedAsOne();
    void escapeLeavesTheSampleFirst();
    void neighbourhoodOnly();
    void barsCoverNothing();
    void fitHoldsEveryGraph();
    void jumpsAreReadable();
    void nodesInBodiesAreSelected();
};

void TestGraphGroups::repeatedBlocksAreOneBox()
{
    ShownGraph shown(200);
    QVERIFY(shown.load());
    QCOMPARE(shown.scene().frameCount(), size_t(2)); // large, so closed, but for the way to the selection
    QCOMPARE(shown.scene().boxCount(), size_t(2 + 199 + 2));
    QVERIFY(shown.close());
    const DisplayBox& group = shown.scene().graph().boxes[1];
    QVERIFY2(group.title.starts_with("200 × "), group.title.c_str());
    const BoxLook& look = shown.panel.canvas().look().boxes[1];
    QVERIFY2(look.number.contains("5.4"), qPrintable(look.number)); // the worst of its tensors
    QCOMPARE(look.strip.size(), size_t(48)); // several blocks each; most have no number
    const auto known = std::ranges::count_if(look.strip, &QColor::isValid);
    QVERIFY(known >= 1 && known <= 2);
    QCOMPARE(shown.panel.canvas().look().selected, std::optional<uint32_t>(1));
    const QString tip = boxToolTip(*shown.small.session.snapshot(), Side::Quantized, shown.scene().graph(), 1);
    QVERIFY(tip.contains("200 ×"));

    shown.panel.canvas().centreOn(shown.scene().box(1).center());
    const QPointF mark = shown.panel.canvas().onWidget(foldMarkRect(shown.scene().box(1)).center());
    QTest::mouseClick(&shown.panel.canvas(), Qt::LeftButton, {}, mark.toPoint());
    QTRY_COMPARE(shown.scene().frameCount(), size_t(1));
    QCOMPARE(shown.scene().boxCount(), size_t(202));
    shown.panel.canvas().centreOn(shown.scene().frameTitle(0).center());
    const QPointF bar = shown.panel.canvas().onWidget(shown.scene().frameTitle(0).center());
    QTest::mouseClick(&shown.panel.canvas(), Qt::LeftButton, {}, bar.toPoint());
    QTRY_COMPARE(shown.scene().boxCount(), size_t(3));
    shown.panel.setGroupBy(GroupBy::Nothing);
    QVERIFY(shown.wait());
    QCOMPARE(shown.scene().boxCount(), size_t(402));
}

void TestGraphGroups::stripHasAPartForEachBlock()
{
    std::vector<BoxNumber> numbers(6); // three blocks of two boxes
    numbers[0].value = 30;
    numbers[1].value = 20;
    numbers[4].value = 10;
    const auto colour = [](const BoxNumber& number) { return QColor::fromRgb(int(*number.value), 0, 0); };
    const auto strip = stripOfBlocks({ 0, 1, 2, 3, 4, 5 }, 3, numbers, Metric::Accumulated, colour);
    QCOMPARE(strip.size(), size_t(3));
    QVERIFY(strip[0] == QColor::fromRgb(20, 0, 0) && !strip[1].isValid() && strip[2] == QColor::fromRgb(10, 0, 0));
}

void TestGraphGroups::keysOpenAndCloseGroups()
{
    ShownGraph shown(200);
    QVERIFY(shown.load() && shown.close());
    GraphCanvas& canvas = shown.panel.canvas();
    const auto selected = shown.small.session.selection().current().activation;
    shown.click(1);
    QTest::keyClick(&canvas, Qt::Key_Plus);
    QTRY_COMPARE(shown.scene().boxCount(), size_t(202));
    QTest::keyClick(&canvas, Qt::Key_Plus); // the block that the selection lies in
    QTRY_COMPARE(shown.scene().boxCount(), size_t(203));
    QTest::keyClick(&canvas, Qt::Key_Minus);
    QTRY_COMPARE(shown.scene().boxCount(), size_t(202));
    QTest::keyClick(&canvas, Qt::Key_Minus);
    QTRY_COMPARE(shown.scene().boxCount(), size_t(3));
    QCOMPARE(shown.small.session.selection().current().activation, selected);
    const double zoom = canvas.zoom();
    QTest::keyClick(&canvas, Qt::Key_Plus, Qt::ControlModifier);
    QVERIFY(canvas.zoom() > zoom);
    QCOMPARE(shown.scene().boxCount(), size_t(3));
}

void TestGraphGroups::searchOpensThePath()
{
    ShownGraph shown(200);
    QVERIFY(shown.load() && shown.close());
    shown.panel.openSearch();
    auto* edit = shown.panel.findChild<QLineEdit*>();
    edit->setText("conv_77");
    QCOMPARE(shown.panel.matches(), std::vector<uint32_t> { 1 });
    QTest::keyClick(edit, Qt::Key_Return);
    QTRY_VERIFY(shown.titled("Conv conv_77") != 0);
    QTRY_COMPARE(shown.panel.canvas().look().selected, std::optional(shown.titled("Conv conv_77")));
    QCOMPARE(shown.panel.matches(), std::vector<uint32_t> { shown.titled("Conv conv_77") });
    QVERIFY(shown.close());
    QVERIFY(shown.small.session.selection().selectByName("conv_33")); // as a palette does
    QTRY_VERIFY(shown.titled("Conv conv_33") != 0);
}

void TestGraphGroups::groupsComeBackWithAProject()
{
    ShownGraph shown(200);
    QVERIFY(shown.load() && shown.close());
    shown.panel.openSearch();
    QVERIFY(shown.small.session.selection().selectByName("conv_33"));
    QTRY_VERIFY(shown.titled("Conv conv_33") != 0);
    const QString state = shown.panel.viewState();
    ShownGraph again(200);
    QVERIFY(again.load());
    again.panel.setViewState(state);
    QTRY_VERIFY(again.titled("Conv conv_33") != 0);
    QCOMPARE(again.panel.viewState(), state);
    again.panel.setViewState("no state");
    again.panel.setViewState("");
    QCOMPARE(again.panel.viewState(), state);
}

void TestGraphGroups::severalBoxesAtOnce()
{
    ShownGraph shown(4);
    QVERIFY(shown.load());
    shown.panel.setGroupBy(GroupBy::Nothing);
    QVERIFY(shown.wait());
    GraphCanvas& canvas = shown.panel.canvas();
    shown.click(shown.titled("Conv conv_2"));
    QCOMPARE(shown.panel.chosenNodes().size(), shown.scene().graph().boxes[shown.titled("Conv conv_2")].nodes.size());
    shown.click(shown.titled("Conv conv_3"), Qt::ShiftModifier);
    QVERIFY(shown.panel.severalChosen());
    shown.click(shown.titled("Conv conv_4"), Qt::ControlModifier);
    QVERIFY(canvas.look().boxes[shown.titled("Conv conv_4")].chosen);
    shown.click(shown.titled("Conv conv_4"), Qt::ControlModifier);
    QVERIFY(!canvas.look().boxes[shown.titled("Conv conv_4")].chosen);

    QTest::keyClick(&canvas, Qt::Key_C, Qt::ControlModifier);
    const QString copied = QApplication::clipboard()->text();
    QVERIFY2(copied.contains("conv_2\tConv") && copied.contains("conv_3\tConv"), qPrintable(copied));
    QCOMPARE(copied.count('\n'), 2);

    RecipeHistory& recipe = shown.small.session.recipe();
    QVERIFY(recipe.editable());
    const Recipe before = recipe.recipe();
    QVERIFY(shown.panel.toggleSelected());
    QCOMPARE(recipe.stack().index(), 1); // one step
    QVERIFY(!(recipe.recipe() == before));
    for (const char* title : { "Conv conv_2", "Conv conv_3" })
        QCOMPARE(canvas.look().boxes[shown.titled(title)].quantized, std::optional(TriState::None));
    QCOMPARE(canvas.look().boxes[shown.titled("Conv conv_4")].quantized, std::optional(TriState::All));
    recipe.stack().undo();
    QVERIFY(recipe.recipe() == before);
    emit canvas.boxToggled(shown.titled("Conv conv_3")); // its check, while several are chosen
    QCOMPARE(recipe.stack().index(), 1);
    QCOMPARE(canvas.look().boxes[shown.titled("Conv conv_2")].quantized, std::optional(TriState::None));
    recipe.stack().undo();

    canvas.fit();
    QTest::mousePress(&canvas, Qt::LeftButton, Qt::ShiftModifier, { 2, 2 });
    QTest::mouseMove(&canvas, { 300, 200 });
    QTest::mouseMove(&canvas, { canvas.width() - 2, canvas.height() - 2 });
    QTest::mouseRelease(&canvas, Qt::LeftButton, Qt::ShiftModifier, { canvas.width() - 2, canvas.height() - 2 });
    const auto& boxes = canvas.look().boxes;
    QCOMPARE(size_t(std::ranges::count(boxes, true, &BoxLook::chosen)), shown.scene().boxCount());
    QTest::keyClick(&canvas, Qt::Key_Escape);
    QVERIFY(!shown.panel.severalChosen());
}

void TestGraphGroups::aClosedGroupIsExcludedAsOne()
{
    ShownGraph shown(4);
    QVERIFY(shown.load() && shown.close());
    RecipeHistory& recipe = shown.small.session.recipe();
    const auto marked = [&] { return shown.panel.canvas().look().boxes[1].quantized; };
    QCOMPARE(marked(), std::optional(TriState::All));
    shown.click(1);
    QVERIFY(shown.panel.toggleSelected());
    QCOMPARE(recipe.stack().index(), 1);
    QCOMPARE(marked(), std::optional(TriState::None));
    shown.panel.setAllClosed(false);
    QVERIFY(shown.wait());
    QTRY_VERIFY(shown.titled("Conv conv_3") != 0);
    for (const char* title : { "Conv conv_1", "Conv conv_2", "Conv conv_3", "Conv conv_4" })
        QCOMPARE(shown.panel.canvas().look().boxes[shown.titled(title)].quantized, std::optional(TriState::None));
    emit shown.panel.canvas().boxToggled(shown.titled("Conv conv_3"));
    QVERIFY(shown.close());
    QCOMPARE(marked(), std::optional(TriState::Some));
    recipe.stack().undo();
    recipe.stack().undo();
    QCOMPARE(marked(), std::optional(TriState::All));
}

void TestGraphGroups::escapeLeavesTheSampleFirst()
{
    ShownGraph shown(4);
    QVERIFY(shown.load());
    GraphCanvas& canvas = shown.panel.canvas();
    Selection& selection = shown.small.session.selection();
    shown.click(shown.titled("Conv conv_2"));
    shown.click(shown.titled("Conv conv_3"), Qt::ShiftModifier);
    selection.selectSample(0);
    QVERIFY(shown.panel.severalChosen() && selection.current().sample);
    QTest::keyClick(&canvas, Qt::Key_Escape);
    QVERIFY(shown.panel.severalChosen() && !selection.current().sample);
    QTest::keyClick(&canvas, Qt::Key_Escape);
    QVERIFY(!shown.panel.severalChosen());
}

void TestGraphGroups::neighbourhoodOnly()
{
    ShownGraph shown(200);
    QVERIFY(shown.load());
    QVERIFY(shown.small.session.selection().selectByName("conv_100"));
    QTRY_VERIFY(shown.titled("Conv conv_100") != 0);
    QTest::keyClick(&shown.panel.canvas(), Qt::Key_N);
    QTRY_COMPARE(shown.scene().boxCount(), size_t(7)); // three steps up and down
    QCOMPARE(shown.scene().graph().boxes[*shown.panel.canvas().look().selected].title, std::string("Conv conv_100"));
    shown.panel.setAround(Neighbourhood { 1, true, false });
    QTRY_COMPARE(shown.scene().boxCount(), size_t(1 + 198 + 2));
    QVERIFY(shown.small.session.selection().selectByName("conv_150")); // not drawn: the middle moves there
    QTRY_VERIFY(shown.titled("Conv conv_150") != 0);
    QTest::keyClick(&shown.panel.canvas(), Qt::Key_N);
    QTRY_VERIFY(shown.scene().frameCount() > 0);
}

/// Neither each other nor, after a fit, the drawing.
void TestGraphGroups::barsCoverNothing()
{
    ShownGraph shown(200);
    QVERIFY(shown.load());
    GraphCanvas& canvas = shown.panel.canvas();
    QVERIFY(shown.small.session.selection().selectByName("conv_100"));
    QTest::keyClick(&canvas, Qt::Key_N);
    QTRY_COMPARE(shown.scene().boxCount(), size_t(7));
    auto* around = canvas.findChild<AroundBar*>();
    auto* search = canvas.findChild<GraphSearchBar*>();
    QVERIFY(around->isVisible());
    const auto below
        = [&] { return canvas.onWidget(shown.scene().bounds().topLeft()).y() + 1 >= around->geometry().bottom(); };
    for (const uint32_t steps : { 1U, 2U }) {
        shown.panel.setAround(Neighbourhood { steps, false, false });
        QTRY_COMPARE(shown.scene().boxCount(), size_t(1 + 2 * steps));
        QVERIFY(below());
    }
    shown.panel.setAround(Neighbourhood { 3, false, false });
    QTRY_COMPARE(shown.scene().boxCount(), size_t(7));
    for (const bool searching : { false, true }) {
        if (searching)
            shown.panel.openSearch();
        QVERIFY(!searching || !around->geometry().intersects(search->geometry()));
        QVERIFY(!searching || canvas.rect().contains(search->geometry()));
        canvas.fit();
        const QPointF top = canvas.onWidget(shown.scene().bounds().topLeft());
        const QPointF end = canvas.onWidget(shown.scene().bounds().bottomRight());
        QVERIFY(top.y() >= around->geometry().bottom() && end.y() <= canvas.height() + 1);
    }
}

void TestGraphGroups::fitHoldsEveryGraph()
{
    ShownGraph shown(20000);
    QVERIFY(shown.load());
    shown.panel.setGroupBy(GroupBy::Nothing);
    QTRY_COMPARE_WITH_TIMEOUT(shown.scene().boxCount(), size_t(40002), 20000);
    QTest::keyClick(&shown.panel.canvas(), Qt::Key_Space);
    QVERIFY(shown.panel.canvas().visibleArea().adjusted(-1, -1, 1, 1).contains(shown.scene().bounds()));
    QVERIFY(!shown.panel.canvas().grab().isNull());
}

void TestGraphGroups::jumpsAreReadable()
{
    ShownGraph shown(40);
    QVERIFY(shown.load());
    GraphCanvas& canvas = shown.panel.canvas();
    QTest::keyClick(&canvas, Qt::Key_Space);
    QVERIFY(canvas.zoom() < 0.5);
    QVERIFY(shown.small.session.selection().selectByName("conv_20"));
    QVERIFY(canvas.zoom() > 0.7);
    QVERIFY(canvas.visibleArea().contains(shown.scene().box(*canvas.look().selected)));
}

/// An If is opened in place: edges come in from outside, and a click on a box within shows that node and its weights.
void TestGraphGroups::nodesInBodiesAreSelected()
{
    const SnapshotPtr made = withBranchesOpen();
    Session session([made](const Inputs&, const SnapshotPtr&, const ProgressFn&, const CancelToken&,
                        const PartialFn&) -> Result<SnapshotPtr> { return made; });
    RecipeView recipe(session);
    GraphPanel panel(session, recipe);
    panel.resize(640, 480);
    panel.show();
    session.openInputs({});
    const auto settled = [&] { return panel.canvas().scene() && session.jobs().idle(); };
    QVERIFY(QTest::qWaitFor(settled));
    panel.setAllClosed(false);
    QVERIFY(QTest::qWaitFor(settled));
    const FoldedGraph& graph = panel.canvas().scene()->graph();
    const Graph& file = made->floatModel->graph();
    const auto boxOf = [&](const char* name) {
        const auto called = [&](const DisplayBox& box) { return innerName(file, box.inner) == name; };
        return uint32_t(std::ranges::find_if(graph.boxes, called) - graph.boxes.begin());
    };
    const uint32_t inside = boxOf("choice/then_branch/mul_then"), outside = *graph.box(file.findNode("first"));
    QVERIFY(inside < graph.boxes.size() && outside < graph.boxes.size());
    QVERIFY(std::ranges::any_of(
        graph.edges, [&](const DisplayEdge& e) { return e.from == outside && e.to == inside && e.value.valid(); }));

    emit panel.canvas().boxChosen(inside);
    const Place& place = session.selection().current();
    QVERIFY(place.inner.valid());
    QCOMPARE(place.node, made->floatModel->graph().findNode("choice"));
    QCOMPARE(panel.canvas().look().selected, std::optional(inside));
    QCOMPARE(inspectorTitle(*made, place), QStringLiteral("choice/then_branch/mul_then"));
    QStringList rows;
    for (const InspectorRow& row : inspectorRows(*made, place))
        rows << row.key + u' ' + row.value;
    const QString text = rows.join(u'\n');
    QVERIFY2(text.contains(QStringLiteral("operator Mul")) && text.contains(QStringLiteral("then_branch of choice")),
        qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("a  from outside")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("33.3 dB")), qPrintable(text));
    QVERIFY(boxToolTip(*made, Side::Float, graph, inside).contains(QStringLiteral("mul_then")));

    emit panel.canvas().boxChosen(boxOf("choice/else_branch/mul_else")); // whose weight nothing is known of
    QVERIFY(!inspectorRows(*made, session.selection().current()).empty());
    for (const InspectorRow& row : inspectorRows(*made, session.selection().current()))
        QVERIFY(!row.value.contains(QStringLiteral("33.3")));
    session.selection().goBack();
    QCOMPARE(panel.canvas().look().selected, std::optional(inside));
    panel.setAllClosed(true);
    QVERIFY(QTest::qWaitFor(settled));
    QVERIFY(panel.canvas().look().selected); // the closed group that it lies in
    session.reload(); // the same file again
    QVERIFY(QTest::qWaitFor(settled));
    QVERIFY(session.selection().current().inner.valid());
}

QTEST_MAIN(TestGraphGroups)
#include "test_graph_groups.moc"
