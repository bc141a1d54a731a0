// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/badges.h"
#include "core/layout/folded_graph.h"
#include "core/layout/graph_layout.h"
#include "core/layout/pieces.h"
#include "tests/layout/sample_graphs.h"

#include <QElapsedTimer>
#include <QtTest>

#include <algorithm>
#include <clocale>
#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

GraphLayout laidOut(const FoldedGraph& graph, const LayoutOptions& options = {})
{
    auto layout = layoutGraph(graph, options, CancelToken());
    Q_ASSERT(layout.ok());
    return std::move(layout).value();
}

FoldedGraph folded(const Graph& graph, FoldMode mode)
{
    const ConstantLookup constants = initializersOf(graph);
    return foldGraph(
        graph, QuantView::of(graph, constants), constants,
        [&](ValueId id) -> std::optional<Dims> {
            const Tensor* t = constants(id);
            if (!t && graph.value(id).producer.valid()) { // a dequantized weight has the sizes of its codes
                const Node& node = graph.node(graph.value(id).producer);
                t = node.opType == "DequantizeLinear" ? constants(node.inputs[0]) : nullptr;
            }
            return t ? std::optional(toDims(t->shape())) : graph.value(id).type.dims;
        },
        mode);
}

/// Empty when every box is inside, no two overlap and every edge joins its boxes from top to bottom.
QString faults(const FoldedGraph& graph, const GraphLayout& layout)
{
    if (layout.boxes.size() != graph.boxes.size() || layout.edges.size() != graph.edges.size())
        return "counts differ";
    std::vector<size_t> order(layout.boxes.size());
    for (size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::ranges::sort(order, {}, [&](size_t i) { return layout.boxes[i].y; });
    for (size_t i = 0; i < order.size(); ++i) {
        const LayoutRect& a = layout.boxes[order[i]];
        if (a.x < 0 || a.y < 0 || a.right() > layout.size.width || a.bottom() > layout.size.height)
            return QString("box %1 outside").arg(order[i]);
        for (size_t j = i + 1; j < order.size() && layout.boxes[order[j]].y < a.bottom(); ++j) {
            const LayoutRect& b = layout.boxes[order[j]];
            if (a.x < b.right() && b.x < a.right())
                return QString("boxes %1 and %2 overlap").arg(order[i]).arg(order[j]);
        }
    }
    for (size_t e = 0; e < graph.edges.size(); ++e) {
        const EdgePath& path = layout.edges[e];
        const LayoutRect& from = layout.boxes[graph.edges[e].from];
        const LayoutRect& to = layout.boxes[graph.edges[e].to];
        if (path.points.size() < 4 || path.points.size() % 3 != 1)
            return QString("edge %1 has %2 points").arg(e).arg(path.points.size());
        const auto far = [](LayoutPoint p, double x, double y) { return std::hypot(p.x - x, p.y - y) > 2; };
        if (far(path.points.front(), from.centreX(), from.bottom()) || far(path.points.back(), to.centreX(), to.y))
            return QString("edge %1 does not join its boxes").arg(e);
        if (from.bottom() >= to.y)
            return QString("edge %1 does not go down").arg(e);
    }
    return {};
}

} // namespace

class TestLayout : public QObject {
    Q_OBJECT
private slots:
    void decimalCommasChangeNothing();
    void noOverlaps_data();
    void noOverlaps();
    void emptyGraph();
    void cutsAtJoins();
    void lateSourcesLieAboveTheirConsumer();
    void trunkIsStraight();
    void isDeterministic();
    void hundredsOfLayoutsAreEqual();
    void cancels();
    void isQuick();
    void foldsQdq();
    void foldsFloat();
    void foldsQOperator();
    void foldsDynamic();
    void rawShowsEveryNode();
    void badges();
    void badgesOfPartialGroupsStayApart();
    void titles_data();
    void titles();
    void scopesTellRepeatedBlocksApart();
    void titlesKeepWhatDiffers();
};

void TestLayout::noOverlaps_data()
{
    QTest::addColumn<FoldedGraph>("graph");
    QTest::addColumn<int>("largestPiece");
    QTest::newRow("one") << chain(1) << 500;
    QTest::newRow("chain") << chain(40) << 500;
    QTest::newRow("diamond") << diamond() << 500;
    QTest::newRow("residual") << residual(30) << 500;
    QTest::newRow("wide") << wide(60) << 500;
    QTest::newRow("wide on the grid") << wide(600) << 500;
    QTest::newRow("diamond on the grid") << diamond() << 2;
    QTest::newRow("residual on the grid") << residual(10) << 3;
    QTest::newRow("two parts") << boxesAndEdges(4, { { 0, 1 }, { 2, 3 } }) << 500;
    QTest::newRow("isolated boxes") << boxesAndEdges(5, {}) << 500;
    QTest::newRow("double edge") << boxesAndEdges(3, { { 0, 1 }, { 0, 1 }, { 1, 2 }, { 0, 2 } }) << 500;
    QTest::newRow("side output") << boxesAndEdges(6, { { 0, 1 }, { 1, 2 }, { 1, 3 }, { 3, 4 }, { 4, 5 } }) << 500;
}

void TestLayout::noOverlaps()
{
    QFETCH(FoldedGraph, graph);
    QFETCH(int, largestPiece);
    LayoutOptions options;
    options.largestPiece = static_cast<size_t>(largestPiece);
    QCOMPARE(faults(graph, laidOut(graph, options)), QString());
}

void TestLayout::emptyGraph()
{
    const GraphLayout layout = laidOut({});
    QVERIFY(layout.boxes.empty());
    QCOMPARE(layout.size.width, 0.0);
}

void TestLayout::cutsAtJoins()
{
    const FoldedGraph graph = residual(7);
    const auto pieces = cutIntoPieces(graph, layersOf(graph));
    QCOMPARE(pieces.size(), size_t(7));
    size_t edges = 0;
    for (const Piece& piece : pieces) {
        QCOMPARE(piece.boxes.size(), size_t(4));
        edges += piece.edges.size();
    }
    QCOMPARE(edges, graph.edges.size());
    const FoldedGraph straight = chain(5);
    QCOMPARE(cutIntoPieces(straight, layersOf(straight)).size(), size_t(4));
}

void TestLayout::lateSourcesLieAboveTheirConsumer()
{
    const FoldedGraph graph = boxesAndEdges(5, { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 4, 3 } });
    QCOMPARE(layersOf(graph), (std::vector<uint32_t> { 0, 1, 2, 3, 2 }));
    QCOMPARE(faults(graph, laidOut(graph)), QString());
}

void TestLayout::trunkIsStraight()
{
    // blocks of two boxes beside a branch of one, as residual networks have them
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    for (uint32_t at = 0; at < 40; at += 4)
        edges.insert(edges.end(),
            { { at, at + 1 }, { at + 1, at + 2 }, { at + 2, at + 4 }, { at, at + 3 }, { at + 3, at + 4 } });
    const FoldedGraph graph = boxesAndEdges(41, edges);
    const GraphLayout layout = laidOut(graph);
    for (uint32_t at = 0; at <= 40; at += 4)
        QVERIFY(std::abs(layout.boxes[at].centreX() - layout.boxes[0].centreX()) < 1);
    QCOMPARE(faults(graph, layout), QString());
}

void TestLayout::isDeterministic()
{
    const FoldedGraph graph = residual(20);
    const GraphLayout a = laidOut(graph), b = laidOut(graph);
    for (size_t i = 0; i < a.boxes.size(); ++i) {
        QCOMPARE(a.boxes[i].x, b.boxes[i].x);
        QCOMPARE(a.boxes[i].y, b.boxes[i].y);
    }
}

/// Graphviz counts its searches in a char that wraps: with its older ranking one layout of 255 crashed.
void TestLayout::hundredsOfLayoutsAreEqual()
{
    const FoldedGraph one = diamond();
    const FoldedGraph two = boxesAndEdges(7,
        { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 }, { 3, 4 }, { 4, 5 }, { 3, 5 },
            { 6, 5 } }); // a late source below a cut
    const GraphLayout first = laidOut(two);
    QCOMPARE(faults(two, first), QString());
    for (int i = 0; i < 256; ++i) {
        laidOut(one);
        const GraphLayout again = laidOut(two);
        for (size_t b = 0; b < first.boxes.size(); ++b) {
            QCOMPARE(again.boxes[b].x, first.boxes[b].x);
            QCOMPARE(again.boxes[b].y, first.boxes[b].y);
        }
    }
}

void TestLayout::cancels()
{
    const CancelToken cancel;
    cancel.cancel();
    const auto layout = layoutGraph(residual(100), {}, cancel);
    QVERIFY(!layout.ok());
    QCOMPARE(layout.issue().kind, IssueKind::Cancelled);
}

void TestLayout::isQuick()
{
    for (const size_t blocks : { 333, 1666 }) {
        const FoldedGraph graph = residual(blocks);
        QElapsedTimer timer;
        timer.start();
        const GraphLayout layout = laidOut(graph);
        qInfo() << graph.boxes.size() << "boxes:" << timer.elapsed() << "ms";
        QCOMPARE(layout.boxes.size(), graph.boxes.size());
    }
    const FoldedGraph dense = wide(498);
    QElapsedTimer timer;
    timer.start();
    laidOut(dense);
    qInfo() << "one piece of" << dense.boxes.size() << "boxes:" << timer.elapsed() << "ms";
}

void TestLayout::foldsFloat()
{
    const FoldedGraph graph = folded(floatGraph(), FoldMode::Folded);
    QCOMPARE(graph.boxes.size(), size_t(6)); // x, four operators, y
    QCOMPARE(graph.edges.size(), size_t(6));
    QCOMPARE(graph.boxes[1].title, std::string("Conv conv_1"));
    QCOMPARE(graph.boxes[1].subtitle, std::string("3×3 → 4"));
    QCOMPARE(graph.boxes[1].weights.size(), size_t(1));
    for (const DisplayEdge& edge : graph.edges)
        QVERIFY(edge.badge.empty());
}

void TestLayout::foldsQdq()
{
    const Graph source = qdqGraph();
    const FoldedGraph graph = folded(source, FoldMode::Folded);
    QCOMPARE(graph.boxes.size(), size_t(5)); // x, two Conv, Add, y
    QCOMPARE(graph.edges.size(), size_t(5));
    for (const DisplayEdge& edge : graph.edges) {
        QCOMPARE(edge.badge, std::string("s8 .0391 z−128"));
        QCOMPARE(edge.quantizers.size(), size_t(1));
    }
    const DisplayBox& conv = graph.boxes[1];
    QCOMPARE(conv.subtitle, std::string("3×3 → 4"));
    QCOMPARE(conv.weights.size(), size_t(1));
    QVERIFY(conv.weights[0].quantizer.has_value());
    QCOMPARE(source.value(conv.mainValue()).name, std::string("b"));
    // plumbing is found through the box it belongs to
    QCOMPARE(graph.box(source.findValue("b_dq")).value(), 1u);
    QCOMPARE(graph.box(source.findNode("b_Q")).value(), 1u);
    QCOMPARE(graph.box(source.findNode("w1_DQ")).value(), 1u);
    QCOMPARE(graph.box(source.findValue("x_dq")).value(), 0u);
    QCOMPARE(faults(graph, laidOut(graph)), QString());
}

void TestLayout::foldsQOperator()
{
    const FoldedGraph graph = folded(qoperatorGraph(), FoldMode::Folded);
    QCOMPARE(graph.boxes.size(), size_t(3));
    QCOMPARE(graph.edges.size(), size_t(2));
    QCOMPARE(graph.boxes[1].title, std::string("QLinearConv 0"));
    QCOMPARE(graph.boxes[1].subtitle, std::string("3×3 → 4"));
    QCOMPARE(graph.edges[0].badge, std::string("u8 .5 z128"));
    QCOMPARE(graph.edges[1].badge, std::string("u8 .5 z128"));
}

void TestLayout::foldsDynamic()
{
    const Graph source = dynamicGraph();
    const FoldedGraph graph = folded(source, FoldMode::Folded);
    const auto product = graph.box(source.findNode("fc_quant"));
    QVERIFY(product.has_value());
    const auto edge
        = std::ranges::find_if(graph.edges, [&](const DisplayEdge& e) { return e.to == *product && e.from == 0; });
    QVERIFY(edge != graph.edges.end());
    QCOMPARE(edge->badge, std::string("u8 dynamic"));
    QVERIFY(!graph.box(source.findNode("x_Q")).has_value() || *graph.box(source.findNode("x_Q")) == 0);
}

void TestLayout::rawShowsEveryNode()
{
    const Graph source = qdqGraph();
    const FoldedGraph graph = folded(source, FoldMode::Raw);
    QCOMPARE(graph.boxes.size(), source.nodes().size() + 2);
    for (size_t n = 0; n < source.nodes().size(); ++n)
        QVERIFY(graph.box(NodeId(n)).has_value());
    const auto q = graph.box(source.findNode("b_Q"));
    QCOMPARE(graph.boxes[*q].subtitle, std::string("s8 .0391 z−128"));
    QCOMPARE(faults(graph, laidOut(graph)), QString());
}

void TestLayout::badges()
{
    QuantParams params { DType::UInt8, { 0.5f }, { 0 }, std::nullopt, 0 };
    QCOMPARE(badgeText(params, false), std::string("u8 .5"));
    params.scale = { 12.34f };
    params.zeroPoint = { 7 };
    QCOMPARE(badgeText(params, false), std::string("u8 12.3 z7"));
    params.scale = { 0.00001234f };
    QCOMPARE(badgeText(params, false), std::string("u8 1.23e-05 z7"));
    params = { DType::Int4, { 1, 2, 3 }, { 0, 0, 0 }, 1, 0 };
    QCOMPARE(badgeText(params, false), std::string("s4 axis 1"));
    QCOMPARE(badgeText({ DType::UInt8, {}, {}, std::nullopt, 0 }, true), std::string("u8 dynamic"));
}

void TestLayout::badgesOfPartialGroupsStayApart()
{
    FoldedGraph graph = wide(4);
    for (size_t e = 0; e < graph.edges.size(); ++e)
        if (graph.edges[e].from == 0 && e > 0)
            graph.edges[e].badge = "s8 .000" + std::to_string(e);
    const GraphLayout layout = laidOut(graph);
    std::vector<LayoutRect> rects;
    for (size_t e = 0; e < graph.edges.size(); ++e) {
        QCOMPARE(layout.edges[e].badge.has_value(), !graph.edges[e].badge.empty());
        if (!layout.edges[e].badge)
            continue;
        const LayoutSize size = badgeSize(graph.edges[e].badge);
        const LayoutRect rect { layout.edges[e].badge->x - size.width / 2, layout.edges[e].badge->y - size.height / 2,
            size.width, size.height };
        for (const LayoutRect& other : rects)
            QVERIFY(!(rect.x < other.right() && other.x < rect.right() && rect.y < other.bottom()
                && other.y < rect.bottom()));
        rects.push_back(rect);
    }
    QCOMPARE(rects.size(), size_t(3));
}

void TestLayout::titles_data()
{
    QTest::addColumn<QString>("type");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("title");
    QTest::newRow("path") << "Conv"
                          << "/features/features.0/features.0.0/Conv"
                          << "Conv features.0.0";
    QTest::newRow("plain") << "Conv"
                           << "conv_2"
                           << "Conv conv_2";
    QTest::newRow("numbered") << "Conv"
                              << "Conv_12"
                              << "Conv 12";
    QTest::newRow("quantized") << "QLinearConv"
                               << "Conv_12_quant"
                               << "QLinearConv 12";
    QTest::newRow("type only") << "Relu"
                               << "Relu"
                               << "Relu";
    QTest::newRow("unnamed") << "Add"
                             << ""
                             << "Add";
    QTest::newRow("long") << "Gemm"
                          << "abcdefghijklmnopqrstuvwxyz0123456789"
                          << "Gemm abcdefghijk…yz0123456789";
    QTest::newRow("generic module") << "Conv"
                                    << "/block/first/conv/Conv"
                                    << "Conv first";
    QTest::newRow("fused") << "Conv"
                           << "net/conv2d_1/Relu;net/conv2d_1/BiasAdd"
                           << "Conv conv2d_1";
    QTest::newRow("other operator") << "AveragePool"
                                    << "net/average/AvgPool__53"
                                    << "AveragePool average";
    QTest::newRow("only an operator") << "AveragePool"
                                      << "/AvgPool"
                                      << "AveragePool AvgPool";
    QTest::newRow("nothing but the type") << "Conv"
                                          << "conv"
                                          << "Conv";
    QTest::newRow("numbered in a path") << "Add"
                                        << "/block/Add_1"
                                        << "Add block";
}

void TestLayout::titles()
{
    QFETCH(QString, type);
    QFETCH(QString, name);
    QFETCH(QString, title);
    Node node;
    node.opType = type.toStdString();
    node.name = name.toStdString();
    QCOMPARE(QString::fromStdString(boxTitle(node)), title);
}

void TestLayout::scopesTellRepeatedBlocksApart()
{
    Node node;
    node.opType = "Conv";
    node.name = "/block3/block/0/Conv";
    QCOMPARE(boxTitle(node), std::string("Conv 0"));
    QCOMPARE(boxTitle(node, 1), std::string("Conv block/0"));
    QCOMPARE(boxTitle(node, 2), std::string("Conv block3/…/0"));
    QCOMPARE(boxTitle(node, 9), std::string("Conv block3/…/0"));
    node.name = "Conv_12";
    QCOMPARE(boxTitle(node, 2), std::string("Conv 12"));
    const FoldedGraph graph = folded(repeatedBlocks(), FoldMode::Folded);
    QCOMPARE(graph.boxes[1].title, std::string("Relu a/…/0"));
    QCOMPARE(graph.boxes[2].title, std::string("Relu b/…/0"));
    QCOMPARE(graph.boxes[3].title, std::string("Relu head"));
}

/// Also where the process has a locale that writes 0,5.
void TestLayout::decimalCommasChangeNothing()
{
    const FoldedGraph graph = residual(3);
    const GraphLayout wanted = laidOut(graph);
    const std::string before = std::setlocale(LC_NUMERIC, nullptr);
    for (const char* name : { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "fr_FR.utf8", "pl_PL.UTF-8" })
        if (std::setlocale(LC_NUMERIC, name))
            break;
    if (std::localeconv()->decimal_point != std::string(","))
        QSKIP("no locale with a decimal comma is installed");
    const GraphLayout layout = laidOut(graph);
    std::setlocale(LC_NUMERIC, before.c_str());
    QCOMPARE(layout.size.width, wanted.size.width);
    QCOMPARE(layout.size.height, wanted.size.height);
    for (size_t box = 0; box < wanted.boxes.size(); ++box)
        QCOMPARE(layout.boxes[box].centreX(), wanted.boxes[box].centreX());
}

void TestLayout::titlesKeepWhatDiffers()
{
    GraphBuilder builder;
    std::string at = "x";
    builder.addInput(builder.value("x"));
    for (const char* number : { "1", "2", "17" }) {
        Node node;
        node.name = std::string("transformer_block_") + number + "_attention_query_projection_dense";
        node.opType = "Relu";
        node.inputs = { builder.value(at) };
        at = std::string("out") + number;
        node.outputs = { builder.value(at) };
        builder.addNode(std::move(node));
    }
    builder.addOutput(builder.value(at));
    const auto graph = std::move(builder).finish();
    QVERIFY(graph.ok());
    const FoldedGraph drawn = folded(*graph, FoldMode::Folded);
    QCOMPARE(drawn.boxes[1].title, std::string("Relu …1…"));
    QCOMPARE(drawn.boxes[2].title, std::string("Relu …2…"));
    QCOMPARE(drawn.boxes[3].title, std::string("Relu …17…"));
}

QTEST_APPLESS_MAIN(TestLayout)
#include "test_layout.moc"
