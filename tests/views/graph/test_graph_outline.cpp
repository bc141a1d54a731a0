// SPDX-License-Identifier: GPL-3.0-or-later
// The graph in words: the outline, and what screen readers find in the canvas.
#include "tests/views/support/shown_graph.h"
#include "widgets/views/graph/outline/box_accessible.h"
#include "widgets/views/graph/outline/canvas_accessible.h"
#include "widgets/views/graph/outline/graph_accessibility.h"
#include "widgets/views/graph/outline/outline_panel.h"

#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QTreeView>

using namespace qs;
using namespace qs::test;

namespace {

/// What screen readers are told of a canvas, in order. Listened to at its source: without one, Qt drops it.
class Told {
public:
    explicit Told(GraphCanvas& canvas)
    {
        QAccessible::queryAccessibleInterface(&canvas); // from now on it is told
        QObject::connect(canvas.findChild<CanvasAnnouncer*>(), &CanvasAnnouncer::told, &m_context,
            [this](QAccessible::Event event, std::optional<uint32_t> box) { m_told.emplace_back(event, box); });
    }
    bool holds(QAccessible::Event event, std::optional<uint32_t> box) const
    {
        return std::ranges::find(m_told, std::pair(event, box)) != m_told.end();
    }
    void clear() { m_told.clear(); }

private:
    QObject m_context;
    std::vector<std::pair<QAccessible::Event, std::optional<uint32_t>>> m_told;
};

struct Outlined : ShownGraph {
    OutlinePanel outline { small.session, recipe, panel };
    explicit Outlined(size_t blocks = 1)
        : ShownGraph(blocks)
    {
        outline.resize(700, 400);
        outline.show();
    }
    const OutlineModel& model() const { return outline.model(); }
    QString text(const QModelIndex& index, int column = OutlineModel::Name) const
    {
        return index.siblingAtColumn(column).data().toString();
    }
    QModelIndex named(const QString& name) { return model().find(name, {}, true); }
    std::string selectedNode()
    {
        const Place& place = small.session.selection().current();
        const Snapshot& snapshot = *small.session.snapshot();
        return place.node.valid() ? modelOf(snapshot, place.side)->graph().node(place.node).name : "";
    }
};

QAccessibleInterface* accessibleOf(GraphCanvas& canvas) { return QAccessible::queryAccessibleInterface(&canvas); }

} // namespace

class TestGraphOutline : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        installGraphAccessibility();
        QApplication::setKeyboardInputInterval(60'000); // however slow the machine is
    }
    void outlineNamesNumbersAndNeighbours()
    {
        Outlined o;
        const QAbstractItemModelTester tester(
            o.outline.tree()->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(o.load());
        const QModelIndex conv = o.named(QStringLiteral("conv_1"));
        QVERIFY(conv.isValid());
        QCOMPARE(o.text(conv, OutlineModel::Kind), QStringLiteral("Conv"));
        QCOMPARE(o.text(conv, OutlineModel::Reads), QStringLiteral("x"));
        QCOMPARE(o.text(conv, OutlineModel::Feeds), QStringLiteral("relu_1"));
        QVERIFY(o.text(conv, OutlineModel::Number).contains(QStringLiteral("12")));
        const QString sentence = conv.data(Qt::AccessibleTextRole).toString();
        for (const char* part : { "conv_1, Conv, ", "12", "reads x", "feeds relu_1" })
            QVERIFY2(sentence.contains(QLatin1String(part)), qPrintable(sentence));
        o.small.session.setMetric(Metric::Added);
        QTRY_VERIFY(o.text(conv, OutlineModel::Number).contains(QStringLiteral("17")));
        QCOMPARE(
            o.model().headerData(OutlineModel::Number, Qt::Horizontal).toString(), metricInfo(Metric::Added).title);
    }

    void numbersAreWholeInANarrowPanel()
    {
        Outlined o;
        QVERIFY(o.load());
        QTreeView* tree = o.outline.tree();
        for (const int width : { 320, 226, 200 }) {
            o.outline.resize(width, 400);
            QTRY_COMPARE(o.outline.width(), width);
            const QModelIndex conv = o.named(QStringLiteral("conv_1")).siblingAtColumn(OutlineModel::Number);
            const QRect cell = tree->visualRect(conv);
            QVERIFY2(cell.right() < tree->viewport()->width(), qPrintable(QString::number(width)));
            QVERIFY(cell.width() > tree->fontMetrics().horizontalAdvance(conv.data().toString()));
            QVERIFY(cell.left() > 0); // names keep some room
        }
        tree->setColumnWidth(OutlineModel::Name, 190); // what the user draws stays
        o.outline.resize(300, 400);
        QCoreApplication::processEvents();
        QCOMPARE(tree->columnWidth(OutlineModel::Name), 190);
    }

    void groupsAreBranchesInOrder()
    {
        Outlined o(200);
        const QAbstractItemModelTester tester(
            o.outline.tree()->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(o.load());
        QTRY_VERIFY(o.model().rowCount() > 0);
        std::vector<uint32_t> order;
        int branches = 0;
        const std::function<void(const QModelIndex&)> walk = [&](const QModelIndex& at) {
            for (int row = 0; row < o.model().rowCount(at); ++row) {
                const QModelIndex index = o.model().index(row, 0, at);
                if (const QVariant box = index.data(OutlineModel::BoxRole); box.isValid())
                    order.push_back(box.toUInt());
                else
                    ++branches;
                walk(index);
            }
        };
        walk({});
        QCOMPARE(order, o.panel.content()->grouping.order);
        QVERIFY(branches > 0);
        for (const uint32_t box : order)
            QCOMPARE(o.model().indexOf(box).data(OutlineModel::BoxRole).toUInt(), box);
        QVERIFY(!o.model().indexOf(100'000).isValid());
    }

    void enterSelectsAndTypingFinds()
    {
        Outlined o(3);
        QVERIFY(o.load());
        QTRY_VERIFY(o.model().rowCount() > 0);
        QTreeView* tree = o.outline.tree();
        tree->setCurrentIndex(o.model().index(0, 0));
        tree->setFocus();
        for (const QChar c : QStringLiteral("u_2")) // within the name, in a branch that is closed
            QTest::keyClick(tree, c.toLatin1());
        QCOMPARE(o.text(tree->currentIndex()), QStringLiteral("relu_2"));
        QVERIFY(o.selectedNode() != "relu_2");
        QTest::keyClick(tree, Qt::Key_Return);
        QCOMPARE(o.selectedNode(), std::string("relu_2"));
    }

    void outlineFollowsTheSelection()
    {
        Outlined o(3);
        QVERIFY(o.load());
        QTRY_VERIFY(o.model().rowCount() > 0);
        QVERIFY(o.small.session.selection().selectByName("conv_3"));
        QTRY_COMPARE(o.text(o.outline.tree()->currentIndex()), QStringLiteral("conv_3"));
        const QModelIndex relu = o.named(QStringLiteral("relu_1"));
        o.outline.tree()->scrollTo(relu);
        QTest::mouseClick(
            o.outline.tree()->viewport(), Qt::LeftButton, {}, o.outline.tree()->visualRect(relu).center());
        QCOMPARE(o.selectedNode(), std::string("relu_1"));
        o.panel.setMode(FoldMode::Raw); // another content: every node of the file
        QVERIFY(o.wait());
        QTRY_VERIFY(o.named(QStringLiteral("x_Q")).isValid());
        QTRY_COMPARE(o.text(o.outline.tree()->currentIndex()), QStringLiteral("relu_1"));
    }

    /// While another graph is laid out, numbers and boxes do not belong together.
    void outlineThatIsShownMeanwhileWaits()
    {
        Outlined o(200);
        QVERIFY(o.load());
        QTRY_VERIFY(o.model().rowCount() > 0);
        o.outline.hide();
        o.panel.setSide(Side::Float);
        o.outline.show();
        o.outline.hide();
        o.panel.setSide(Side::Quantized);
        o.panel.setSide(Side::Float);
        o.outline.show();
        QVERIFY(o.wait());
        QTRY_COMPARE(o.model().content(), o.panel.content().get());
        QVERIFY(o.panel.content()->model == o.small.session.snapshot()->floatModel->model);
    }

    /// Until the smaller graph is laid out, the outline shows the larger one, whose nodes the smaller one does not
    /// have.
    void outlineAsksNothingOfAnotherGraph()
    {
        Outlined o(200);
        QVERIFY(o.load());
        QTRY_VERIFY(o.model().rowCount() > 0);
        const QPersistentModelIndex last = o.named(QStringLiteral("relu_200"));
        QVERIFY(last.isValid());
        std::optional<QString> state;
        connect(&o.small.session, &Session::snapshotChanged, this, [&] {
            if (last.isValid())
                state = o.text(last, OutlineModel::State);
        });
        QVERIFY(o.small.loadQuantized(1));
        QCOMPARE(state.value_or(QStringLiteral("not asked")), QString());
        QVERIFY(o.wait());
        QTRY_VERIFY(!o.named(QStringLiteral("relu_200")).isValid());
    }

    /// A pane that nobody sees keeps the picture of the last graph: what it is asked then has no answer.
    void hiddenPaneIsNotAskedOfAnotherGraph()
    {
        SmallSession small(200);
        RecipeView recipe(small.session);
        GraphPanel pane(small.session, recipe, GraphPanel::Pane::Second);
        pane.resize(640, 480);
        pane.show();
        pane.setSide(Side::Quantized);
        QVERIFY(small.load());
        QTRY_VERIFY(pane.content() && small.session.jobs().idle());
        const auto last = uint32_t(pane.canvas().scene()->boxCount() - 1);
        emit pane.canvas().boxesChosen({ last - 1, last });
        QApplication::clipboard()->setText(QStringLiteral("before"));
        pane.copyChosen();
        QVERIFY(QApplication::clipboard()->text() != QStringLiteral("before"));
        pane.hide();
        QVERIFY(small.loadQuantized(1));
        QVERIFY(!pane.upToDate());
        QApplication::clipboard()->setText(QStringLiteral("before"));
        pane.copyChosen();
        QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("before"));
    }

    void boxesAreChildrenOfTheCanvas()
    {
        ShownGraph g;
        QVERIFY(g.load());
        QAccessibleInterface* canvas = accessibleOf(g.panel.canvas());
        QVERIFY(canvas);
        QCOMPARE(canvas->role(), QAccessible::Tree);
        QCOMPARE(canvas->text(QAccessible::Name), QStringLiteral("Graph"));
        QVERIFY(canvas->text(QAccessible::Description).contains(QStringLiteral("4 boxes")));
        QCOMPARE(canvas->childCount(), int(g.scene().boxCount()));
        QVERIFY(!canvas->child(-1));
        QVERIFY(!canvas->child(canvas->childCount()));
        const uint32_t conv = g.boxOf("conv");
        QAccessibleInterface* box = canvas->child(int(conv));
        QVERIFY(box && box->isValid());
        QCOMPARE(canvas->child(int(conv)), box); // made once
        QCOMPARE(canvas->indexOfChild(box), int(conv));
        QCOMPARE(box->parent(), canvas);
        QCOMPARE(box->role(), QAccessible::TreeItem);
        const QString name = box->text(QAccessible::Name), more = box->text(QAccessible::Description);
        for (const QString& part :
            { QStringLiteral("conv_1, Conv, "), metricInfo(Metric::Accumulated).title, QStringLiteral("dB") })
            QVERIFY2(name.contains(part), qPrintable(name));
        QCOMPARE(more, QStringLiteral("reads x; feeds relu_1"));
        QVERIFY(g.panel.canvas().rect().translated(g.panel.canvas().mapToGlobal(QPoint())).intersects(box->rect()));
        QCOMPARE(canvas->childAt(box->rect().center().x(), box->rect().center().y()), box);
        QVERIFY(!canvas->childAt(-10'000, -10'000));
    }

    void screenReadersFollowTheWalk()
    {
        ShownGraph g;
        QVERIFY(g.load());
        GraphCanvas& canvas = g.panel.canvas();
        QAccessibleInterface* tree = accessibleOf(canvas);
        g.panel.activateWindow();
        canvas.setFocus();
        QTRY_VERIFY(canvas.hasFocus());
        const uint32_t conv = g.boxOf("conv");
        Told told(canvas);
        tree->child(int(conv))->actionInterface()->doAction(QAccessibleActionInterface::pressAction());
        QCOMPARE(canvas.look().selected, std::optional(conv));
        QVERIFY(told.holds(QAccessible::Selection, conv));
        QVERIFY(told.holds(QAccessible::Focus, conv));
        QVERIFY(tree->child(int(conv))->state().selected);
        QVERIFY(tree->child(int(conv))->state().focused);
        QCOMPARE(tree->focusChild(), tree->child(int(conv)));
        told.clear();
        QTest::keyClick(&canvas, Qt::Key_Down); // along the edge
        const auto relu = canvas.look().selected;
        QVERIFY(relu && *relu != conv);
        QVERIFY(tree->child(int(*relu))->text(QAccessible::Name).startsWith(QStringLiteral("relu_1, Relu")));
        QVERIFY(told.holds(QAccessible::Focus, *relu));
        QVERIFY(!tree->child(int(conv))->state().selected);
        told.clear();
        g.small.session.setMetric(Metric::Added);
        QVERIFY(told.holds(QAccessible::NameChanged, *relu));
        QVERIFY(!told.holds(QAccessible::Focus, *relu));
    }

    void groupsOpenAndOldBoxesAreForgotten()
    {
        ShownGraph g(200);
        QVERIFY(g.load());
        QVERIFY(g.close());
        QAccessibleInterface* tree = accessibleOf(g.panel.canvas());
        QCOMPARE(tree->childCount(), 3);
        QAccessibleInterface* group = tree->child(1);
        const QAccessible::Id id = QAccessible::uniqueId(group);
        QVERIFY(group->state().expandable);
        QVERIFY(group->state().collapsed);
        QVERIFY2(group->text(QAccessible::Name).contains(QStringLiteral("group of ")),
            qPrintable(group->text(QAccessible::Name)));
        QVERIFY(group->actionInterface()->actionNames().contains(BoxAccessible::openAction()));
        Told told(g.panel.canvas());
        group->actionInterface()->doAction(BoxAccessible::openAction());
        QTRY_VERIFY(g.scene().boxCount() > 3);
        QVERIFY(told.holds(QAccessible::ObjectReorder, std::nullopt));
        QVERIFY(!QAccessible::accessibleInterface(id));
        QCOMPARE(tree->childCount(), int(g.scene().boxCount()));
    }

    void nothingIsThereWithoutAGraph()
    {
        GraphCanvas canvas;
        QAccessibleInterface* tree = accessibleOf(canvas);
        QCOMPARE(tree->childCount(), 0);
        QVERIFY(!tree->child(0));
        QVERIFY(!tree->focusChild());
        OutlineModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(!model.find(QStringLiteral("x"), {}, true).isValid());
        model.setContent(nullptr, {});
        QCOMPARE(model.rowCount(), 0);
    }
};

QTEST_MAIN(TestGraphOutline)
#include "test_graph_outline.moc"
