// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/graph_layout.h"
#include "core/layout/groups/grouping.h"
#include "core/layout/groups/name_scopes.h"
#include "core/layout/groups/neighbourhood.h"
#include "core/layout/groups/repeats.h"
#include "tests/layout/sample_graphs.h"

#include <QtTest>

#include <algorithm>
#include <map>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

/// The definition of repeats.h, box by box.
bool equalBlocks(const BoxRow& row, uint32_t start, uint32_t period, uint32_t count)
{
    for (uint32_t i = start; i + period < start + period * count; ++i) {
        const uint32_t j = i + period, block = start + (i - start) / period * period;
        if (row.labels[i] != row.labels[j] || row.inputs[i].size() != row.inputs[j].size())
            return false;
        for (size_t slot = 0; slot < row.inputs[i].size(); ++slot) {
            const uint32_t a = row.inputs[i][slot], b = row.inputs[j][slot];
            const bool inFirst = a >= block, inSecond = b >= block + period;
            if (inFirst || inSecond) {
                if (!inFirst || !inSecond || b - a != period)
                    return false;
            } else if (a != b && b - a != period && a >= start) {
                return false;
            }
        }
    }
    return true;
}

/// Most boxes that any run covers, by trying everything.
uint32_t largestRun(const BoxRow& row)
{
    const auto n = static_cast<uint32_t>(row.labels.size());
    uint32_t best = 0;
    for (uint32_t start = 0; start < n; ++start)
        for (uint32_t period = 1; start + 2 * period <= n; ++period)
            for (uint32_t count = 2; start + count * period <= n && equalBlocks(row, start, period, count); ++count)
                if (count * period >= kLeastRunBoxes)
                    best = std::max(best, count * period);
    return best;
}

/// Boxes by label, each reading the one before; `extra` adds further operands.
BoxRow rowOf(const std::vector<uint32_t>& labels, const std::vector<std::pair<uint32_t, uint32_t>>& extra = {})
{
    BoxRow row;
    row.labels = labels;
    row.inputs.resize(labels.size());
    for (uint32_t i = 1; i < labels.size(); ++i)
        row.inputs[i].push_back(i - 1);
    for (const auto& [from, to] : extra)
        row.inputs[to].push_back(from);
    return row;
}

std::vector<uint32_t> repeated(
    std::vector<uint32_t> before, const std::vector<uint32_t>& block, size_t count, const std::vector<uint32_t>& behind)
{
    for (size_t i = 0; i < count; ++i)
        before.insert(before.end(), block.begin(), block.end());
    before.insert(before.end(), behind.begin(), behind.end());
    return before;
}

struct Drawing {
    Graph graph;
    FoldedGraph whole;
    Grouping grouping;
    Drawing(Graph made, GroupBy by)
        : graph(std::move(made))
    {
        const ConstantLookup constants = initializersOf(graph);
        const DimsLookup dims = [&](ValueId id) -> std::optional<Dims> {
            const Tensor* t = constants(id);
            return t ? std::optional(toDims(t->shape())) : graph.value(id).type.dims;
        };
        whole = foldGraph(graph, QuantView::of(graph, constants), constants, dims, FoldMode::Folded);
        grouping = groupBoxes(graph, whole, dims, by);
    }
    const BoxGroup* group(const std::string& title) const
    {
        const auto found = std::ranges::find(grouping.groups, title, &BoxGroup::title);
        return found == grouping.groups.end() ? nullptr : &*found;
    }
};

/// Empty when a drawing with frames is sound: nothing outside its frame, no box over another, edges go down.
QString faults(const FoldedGraph& graph, const GraphLayout& layout)
{
    const auto inside = [](const LayoutRect& a, const LayoutRect& b) {
        return a.x >= b.x && a.y >= b.y && a.right() <= b.right() && a.bottom() <= b.bottom();
    };
    const auto apart = [](const LayoutRect& a, const LayoutRect& b) {
        return a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y;
    };
    if (layout.frames.size() != graph.frames.size() || layout.edges.size() != graph.edges.size())
        return "counts differ";
    std::vector<std::vector<uint32_t>> framesAround(graph.boxes.size());
    for (uint32_t b = 0; b < graph.boxes.size(); ++b)
        for (uint32_t f = graph.frames.empty() ? FoldedGraph::kNoBox : graph.frameOfBox[b]; f != FoldedGraph::kNoBox;
             f = graph.frames[f].parent)
            framesAround[b].push_back(f);
    for (uint32_t b = 0; b < graph.boxes.size(); ++b) {
        for (uint32_t f = 0; f < graph.frames.size(); ++f) {
            const bool member = std::ranges::find(framesAround[b], f) != framesAround[b].end();
            if (member ? !inside(layout.boxes[b], layout.frames[f]) : !apart(layout.boxes[b], layout.frames[f]))
                return QString("box %1, frame %2").arg(b).arg(f);
        }
        for (uint32_t other = 0; other < b; ++other)
            if (!apart(layout.boxes[b], layout.boxes[other]))
                return QString("boxes %1 and %2 overlap").arg(b).arg(other);
    }
    for (size_t e = 0; e < graph.edges.size(); ++e) {
        const auto& points = layout.edges[e].points;
        const LayoutRect &from = layout.boxes[graph.edges[e].from], &to = layout.boxes[graph.edges[e].to];
        if (points.size() % 3 != 1 || points.size() < 4)
            return QString("edge %1 has %2 points").arg(e).arg(points.size());
        if (std::abs(points.front().y - from.bottom()) > 2 || std::abs(points.back().y - to.y) > 2)
            return QString("edge %1 does not join its boxes").arg(e);
        for (size_t i = 3; i < points.size(); i += 3)
            if (points[i].y + 0.5 < points[i - 3].y)
                return QString("edge %1 goes up").arg(e);
    }
    return {};
}

} // namespace

class TestGroups : public QObject {
    Q_OBJECT
private slots:
    void scopes_data();
    void scopes();
    void orderKeepsScopesTogether();
    void runs_data();
    void runs();
    void nestedRuns_data();
    void nestedRuns();
    void runsAgainstTheDefinition_data();
    void runsAgainstTheDefinition();
    void transformerIsOneBox();
    void firstAndLastLayersAreBlocks();
    void statesGoWithTheirLayer();
    void metadataInPlaceOfNames();
    void stagesOfACnn();
    void blocksByNames();
    void closingGroupsNeverMakesACycle_data();
    void closingGroupsNeverMakesACycle();
    void neighbourhoods();
    void bodiesAreGroups();
    void blocksCutNoBody();
};

void TestGroups::scopes_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QStringList>("scopes");
    QTest::newRow("path") << "/encoder/layer.3/attn/MatMul" << QStringList { "encoder", "layer", "3", "attn" };
    QTest::newRow("repeated prefix") << "/layer1/layer1.0/conv1/Conv" << QStringList { "layer1", "0", "conv1" };
    QTest::newRow("dots") << "model.layers.0.mlp.MatMul_7" << QStringList { "model", "layers", "0", "mlp" };
    QTest::newRow("torchscript") << "Net::/Block::body/Conv2d[0]/Conv" << QStringList { "body", "0" };
    QTest::newRow("fused") << "model/conv2d/Relu;model/conv2d/BiasAdd" << QStringList { "model", "conv2d" };
    QTest::newRow("none") << "Conv_12" << QStringList {};
    QTest::newRow("number") << "1399" << QStringList {};
    QTest::newRow("empty parts") << "//a//Conv" << QStringList { "a" };
    QTest::newRow("empty") << "" << QStringList {};
}

void TestGroups::scopes()
{
    QFETCH(QString, name);
    QFETCH(QStringList, scopes);
    QStringList found;
    for (const std::string& scope : nameScopes(name.toStdString()))
        found << QString::fromStdString(scope);
    QCOMPARE(found, scopes);
}

void TestGroups::orderKeepsScopesTogether()
{
    const Drawing drawing(twoInterleavedScopes(4), GroupBy::Names);
    const BoxGroup *a = drawing.group("a"), *b = drawing.group("b");
    QVERIFY(a && b);
    QCOMPARE(a->end - a->first, 4u);
    QCOMPARE(b->end - b->first, 4u);
}

void TestGroups::runs_data()
{
    QTest::addColumn<BoxRow>("row");
    QTest::addColumn<std::vector<BlockRun>>("expected");
    using Runs = std::vector<BlockRun>;
    QTest::newRow("nothing") << BoxRow {} << Runs {};
    QTest::newRow("all unlike") << rowOf({ 0, 1, 2, 3, 4, 5, 6, 7 }) << Runs {};
    QTest::newRow("twelve layers") << rowOf(repeated({ 90, 91 }, { 1, 2, 3, 4 }, 12, { 99 })) << Runs { { 2, 4, 12 } };
    QTest::newRow("equal boxes") << rowOf(repeated({ 9 }, { 1 }, 8, { 8 })) << Runs { { 1, 1, 8 } };
    QTest::newRow("too short") << rowOf(repeated({ 9 }, { 1, 2 }, 2, { 8 })) << Runs {};
    QTest::newRow("two runs") << rowOf(repeated(repeated({ 90 }, { 1, 2, 3 }, 3, { 91 }), { 4, 5, 6 }, 4, { 92 }))
                              << Runs { { 1, 3, 3 }, { 11, 3, 4 } };
    // the labels repeat from box 1 on, but one value passes at box 3 only: skips lie over the other places
    QTest::newRow("begins where one value passes")
        << rowOf(repeated({ 9, 3, 3 }, { 1, 2, 3 }, 4, { 8 }), { { 2, 5 }, { 5, 8 }, { 8, 11 }, { 11, 14 } })
        << Runs { { 3, 3, 4 } };
    QTest::newRow("another connection inside")
        << rowOf(repeated({ 9 }, { 1, 2, 3 }, 4, { 8 }), { { 1, 3 }, { 4, 6 }, { 8, 9 }, { 10, 12 } })
        << Runs { { 1, 3, 2 } };
    QTest::newRow("a mask that all read")
        << rowOf(repeated({ 9, 7 }, { 1, 2, 3 }, 4, { 8 }), { { 0, 3 }, { 0, 6 }, { 0, 9 }, { 0, 12 } })
        << Runs { { 2, 3, 4 } };
}

void TestGroups::runs()
{
    QFETCH(BoxRow, row);
    QFETCH(std::vector<BlockRun>, expected);
    const std::vector<BlockRun> found = findRuns(row);
    for (const BlockRun& run : found)
        qInfo() << run.first << run.period << run.count;
    QCOMPARE(found, expected);
}

/// Blocks within blocks, whether the outer ones or the inner ones are found first.
void TestGroups::nestedRuns_data()
{
    QTest::addColumn<BoxRow>("row");
    QTest::addColumn<std::vector<BlockRun>>("expected");
    using Runs = std::vector<BlockRun>;
    const std::vector<uint32_t> block = repeated({ 3 }, { 1, 2 }, 4, { 4 });
    QTest::newRow("three of four") << rowOf(repeated({ 9 }, block, 3, { 8 }))
                                   << Runs { { 1, 10, 3 }, { 2, 2, 4 }, { 12, 2, 4 }, { 22, 2, 4 } };
    QTest::newRow("two of four") << rowOf(repeated({ 9 }, block, 2, { 8 }))
                                 << Runs { { 1, 10, 2 }, { 2, 2, 4 }, { 12, 2, 4 } };
    QTest::newRow("others between") << rowOf(repeated(repeated({ 9 }, { 1, 2 }, 4, { 8 }), { 1, 2 }, 4, { 7 }))
                                    << Runs { { 1, 2, 4 }, { 10, 2, 4 } };
    QTest::newRow("three deep") << rowOf(repeated({ 9 }, repeated({ 5 }, block, 3, { 6 }), 2, { 8 }))
                                << Runs { { 1, 32, 2 }, { 2, 10, 3 }, { 3, 2, 4 }, { 13, 2, 4 }, { 23, 2, 4 },
                                       { 34, 10, 3 }, { 35, 2, 4 }, { 45, 2, 4 }, { 55, 2, 4 } };
    QTest::newRow("nothing") << BoxRow {} << Runs {};
}

void TestGroups::nestedRuns()
{
    QFETCH(BoxRow, row);
    QFETCH(std::vector<BlockRun>, expected);
    const std::vector<BlockRun> found = findNestedRuns(row);
    for (const BlockRun& run : found)
        qInfo() << run.first << run.period << run.count;
    QCOMPARE(found, expected);
}

void TestGroups::runsAgainstTheDefinition_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 60; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

void TestGroups::runsAgainstTheDefinition()
{
    QFETCH(int, seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    std::vector<uint32_t> block(1 + below(5));
    std::ranges::generate(block, [&] { return below(3); });
    std::vector<uint32_t> before(below(6)), behind(below(6));
    for (auto* part : { &before, &behind })
        std::ranges::generate(*part, [&] { return below(4); });
    BoxRow row = rowOf(repeated(before, block, below(6), behind));
    for (uint32_t extra = below(4); extra > 0 && row.labels.size() > 2; --extra) {
        const uint32_t to = 1 + below(static_cast<uint32_t>(row.labels.size() - 1));
        row.inputs[to].push_back(below(to));
    }
    const std::vector<BlockRun> found = findRuns(row);
    uint32_t end = 0;
    for (const BlockRun& run : found) {
        QVERIFY(run.first >= end); // apart, ascending
        end = run.end();
        QVERIFY(run.count >= 2 && run.count * run.period >= kLeastRunBoxes);
        QVERIFY(equalBlocks(row, run.first, run.period, run.count));
        QVERIFY(blocksAreEqual(row, run));
    }
    const uint32_t best = largestRun(row);
    const auto covers = [](const BlockRun& run) { return run.count * run.period; };
    const uint32_t most = found.empty() ? 0 : covers(*std::ranges::max_element(found, {}, covers));
    QVERIFY2(most <= best, "more than there is");
    if (row.inputs.size() == before.size() + behind.size() && best > 0)
        QVERIFY(most > 0);
}

void TestGroups::transformerIsOneBox()
{
    for (const bool scopes : { true, false }) {
        const Drawing drawing(transformer(12, scopes), GroupBy::Blocks);
        const auto run = std::ranges::find(drawing.grouping.groups, BoxGroup::Kind::Run, &BoxGroup::kind);
        QVERIFY(run != drawing.grouping.groups.end());
        QCOMPARE(run->blocks, 12u);
        QVERIFY2(run->title.starts_with("12 × "), run->title.c_str());
        QCOMPARE(std::ranges::count(drawing.grouping.groups, BoxGroup::Kind::Block, &BoxGroup::kind), 12);
        const FoldedGraph drawn = joinGroups(drawing.whole, drawing.grouping, [](uint32_t) { return true; });
        QCOMPARE(std::ranges::count(drawn.boxes, DisplayBox::Kind::Group, &DisplayBox::kind), 1);
        Grouping single = drawing.grouping; // as if each block were one node
        BoxGroup& blocks = single.groups[size_t(run - drawing.grouping.groups.begin())];
        blocks.blocks = blocks.end - blocks.first;
        const FoldedGraph each = joinGroups(drawing.whole, single, [](uint32_t) { return true; });
        const auto joined = std::ranges::find(each.boxes, DisplayBox::Kind::Group, &DisplayBox::kind);
        QVERIFY(joined != each.boxes.end());
        QCOMPARE(joined->subtitle, std::string("1 node each"));
        size_t members = 0;
        for (const DisplayBox& box : drawn.boxes)
            members += box.members.size();
        QCOMPARE(members, drawing.whole.boxes.size());
        for (uint32_t b = 0; b < drawn.boxes.size(); ++b)
            for (const NodeId node : drawn.boxes[b].nodes)
                QCOMPARE(drawn.box(node), std::optional(b));
        if (scopes)
            QVERIFY(drawing.group("layer/3"));
    }
}

/// They differ from the others by an operator, so that names alone tell that they are layers.
void TestGroups::firstAndLastLayersAreBlocks()
{
    const Drawing named(transformer(6, true, true), GroupBy::Blocks);
    QVERIFY(named.group("4 × layer"));
    const BoxGroup *first = named.group("layer/0"), *second = named.group("layer/1"), *last = named.group("layer/5");
    QVERIFY(first && second && last);
    QCOMPARE(first->kind, BoxGroup::Kind::Block);
    QCOMPARE(first->end - first->first, second->end - second->first);
    QCOMPARE(last->end - last->first, second->end - second->first);
    QCOMPARE(first->parent, BoxGroup::kNone);
    const FoldedGraph drawn = joinGroups(named.whole, named.grouping, [](uint32_t) { return true; });
    QCOMPARE(std::ranges::count(drawn.boxes, DisplayBox::Kind::Group, &DisplayBox::kind), 3);

    const Drawing unnamed(transformer(6, false, true), GroupBy::Blocks);
    QCOMPARE(std::ranges::count(unnamed.grouping.groups, BoxGroup::Kind::Run, &BoxGroup::kind), 1);
    QVERIFY(std::ranges::count(unnamed.grouping.groups, BoxGroup::Kind::Block, &BoxGroup::kind) <= 5);
}

void TestGroups::statesGoWithTheirLayer()
{
    const Drawing drawing(decoder(4), GroupBy::Blocks);
    const BoxGroup *run = drawing.group("4 × layers"), *layer = drawing.group("layers/2");
    QVERIFY(run && layer);
    QCOMPARE(run->end - run->first, 4u * 5u);
    QCOMPARE(layer->end - layer->first, 5u);
    const auto titleAt = [&](uint32_t place) { return drawing.whole.boxes[drawing.grouping.order[place]].title; };
    QCOMPARE(titleAt(layer->first), std::string("past.2"));
    QCOMPARE(titleAt(layer->end - 1), std::string("present.2"));
    std::vector<uint32_t> places(drawing.whole.boxes.size());
    for (uint32_t i = 0; i < places.size(); ++i)
        places[drawing.grouping.order[i]] = i;
    for (const DisplayEdge& edge : drawing.whole.edges)
        QVERIFY(places[edge.from] < places[edge.to]);

    const FoldedGraph drawn = joinGroups(drawing.whole, drawing.grouping, [](uint32_t) { return true; });
    QCOMPARE(drawn.boxes.size(), size_t(5)); // x, all, the layers, the head, y
    const auto joined = std::ranges::find(drawn.boxes, DisplayBox::Kind::Group, &DisplayBox::kind);
    QVERIFY(joined != drawn.boxes.end());
    QCOMPARE(joined->subtitle, std::string("3 nodes each"));
    const FoldedGraph open = joinGroups(drawing.whole, drawing.grouping, [](uint32_t) { return false; });
    const auto layout = layoutGraph(open, {}, CancelToken());
    QVERIFY(layout.ok());
    QCOMPARE(faults(open, *layout), QString());
}

void TestGroups::metadataInPlaceOfNames()
{
    const auto titles = [](const Drawing& drawing) {
        QStringList all;
        for (const BoxGroup& group : drawing.grouping.groups)
            all << QString::fromStdString(group.title);
        return all;
    };
    const Graph named = transformer(4, true);
    const QStringList expected = titles(Drawing(named, GroupBy::Names));
    QVERIFY(expected.contains(QStringLiteral("4 × layer")));
    QCOMPARE(titles(Drawing(toldByMetadata(named), GroupBy::Names)), expected);
}

void TestGroups::stagesOfACnn()
{
    const Drawing drawing(residualStages({ 3, 4, 2 }), GroupBy::Blocks);
    std::vector<uint32_t> blocks;
    for (const BoxGroup& group : drawing.grouping.groups)
        if (group.kind == BoxGroup::Kind::Run)
            blocks.push_back(group.blocks);
    QCOMPARE(blocks, (std::vector<uint32_t> { 3, 4, 2 }));
}

void TestGroups::blocksByNames()
{
    const Drawing drawing(transformer(3, true), GroupBy::Names);
    QVERIFY(drawing.group("3 × layer"));
    QVERIFY(drawing.group("encoder/layer/1/attn"));
    const FoldedGraph open = joinGroups(drawing.whole, drawing.grouping, [](uint32_t) { return false; });
    QCOMPARE(open.boxes.size(), drawing.whole.boxes.size());
    QVERIFY(open.frames.size() >= 5); // the encoder, the run, three layers
    for (uint32_t f = 0; f < open.frames.size(); ++f)
        QVERIFY(open.frames[f].parent == FoldedGraph::kNoBox || open.frames[f].parent < f);
}

void TestGroups::closingGroupsNeverMakesACycle_data()
{
    QTest::addColumn<int>("graph");
    QTest::addColumn<int>("seed");
    for (int graph = 0; graph < 4; ++graph)
        for (int seed = 0; seed < 6; ++seed)
            QTest::addRow("graph %d, seed %d", graph, seed) << graph << seed;
}

void TestGroups::closingGroupsNeverMakesACycle()
{
    QFETCH(int, graph);
    QFETCH(int, seed);
    const Drawing drawing(graph == 0 ? transformer(4, true)
            : graph == 1             ? residualStages({ 2, 3 })
            : graph == 2             ? twoInterleavedScopes(5)
                                     : transformer(5, false),
        GroupBy::Names);
    std::mt19937 random(static_cast<unsigned>(seed));
    std::vector<bool> closed(drawing.grouping.groups.size());
    for (size_t g = 0; g < closed.size(); ++g)
        closed[g] = seed == 0 ? false : random() % 2 == 0;
    const FoldedGraph drawn = joinGroups(drawing.whole, drawing.grouping, [&](uint32_t g) { return closed[g]; });
    for (const DisplayEdge& edge : drawn.edges)
        QVERIFY(edge.from < edge.to);
    const auto layout = layoutGraph(drawn, {}, CancelToken());
    QVERIFY(layout.ok());
    QCOMPARE(faults(drawn, *layout), QString());
}

void TestGroups::neighbourhoods()
{
    const FoldedGraph graph = residual(4); // 0 1 2 3 4 ... 12
    QCOMPARE(boxesAround(graph, { 6 }, { 1 }), (std::vector<uint32_t> { 3, 5, 6, 7, 9 }));
    QCOMPARE(boxesAround(graph, { 6 }, { 1, true }), (std::vector<uint32_t> { 0, 1, 2, 3, 4, 5, 6, 7, 9 }));
    QCOMPARE(boxesAround(graph, { 6 }, { 1, false, true }), (std::vector<uint32_t> { 3, 5, 6, 7, 8, 9, 10, 11, 12 }));
    const FoldedGraph part = partOf(graph, { 3, 5, 6, 7, 9 });
    QCOMPARE(part.boxes.size(), size_t(5));
    QCOMPARE(part.edges.size(), size_t(4));
    QCOMPARE(part.boxes[2].members, std::vector<uint32_t> { 6 });
}

void TestGroups::bodiesAreGroups()
{
    const Graph graph = withBranches();
    const ConstantLookup constants = initializersOf(graph);
    FoldedGraph whole = foldGraph(graph, QuantView::of(graph, constants), constants, {}, FoldMode::Folded);
    const size_t outside = whole.boxes.size();
    const std::vector<DrawnBody> bodies = addBodies(graph, FoldMode::Folded, whole);
    QCOMPARE(bodies.size(), size_t(2));
    QCOMPARE(whole.boxes.size(), outside + 2 + 3); // Relu, output; Tanh, Neg, output
    const Grouping grouping = groupBoxes(graph, whole, {}, GroupBy::Nothing, bodies);
    QCOMPARE(grouping.groups.size(), size_t(3));
    QCOMPARE(joinGroups(whole, grouping, [](uint32_t) { return true; }).boxes.size(), outside);
    const FoldedGraph open = joinGroups(whole, grouping, [](uint32_t) { return false; });
    QCOMPARE(open.boxes.size(), whole.boxes.size());
    QCOMPARE(open.frames.size(), size_t(3));
    QCOMPARE(open.frames[1].parent, 0u);
    QCOMPARE(open.frames[2].parent, 0u);
    for (const DisplayEdge& edge : open.edges)
        QVERIFY(edge.from < edge.to);
    // what the branches read from outside comes from the box that makes it
    const auto at = [&](const char* name) {
        const auto called = [&](const DisplayBox& box) { return innerName(graph, box.inner) == name; };
        return uint32_t(std::ranges::find_if(open.boxes, called) - open.boxes.begin());
    };
    for (const char* inside : { "If/then_branch/Relu_inside", "If/else_branch/Tanh_inside" }) {
        QVERIFY2(at(inside) < open.boxes.size(), inside);
        const DisplayEdge wanted { *open.box(graph.findNode("Relu")), at(inside), graph.findValue("a"), {}, {} };
        QVERIFY2(std::ranges::count(open.edges, wanted) == 1, inside);
    }
    QVERIFY(at("If/else_branch/Neg_inside") < open.boxes.size());
    const DisplayBox& neg = open.boxes[at("If/else_branch/Neg_inside")];
    QCOMPARE(innerNode(graph, neg.inner)->node->opType, std::string("Neg"));
    QVERIFY(!innerNode(graph, { neg.inner.owner, { { "else_branch", NodeId(7) } } }));
    QVERIFY(!innerNode(graph, { neg.inner.owner, { { "no_branch", NodeId(0) } } }));
    const FoldedGraph closed = joinGroups(whole, grouping, [](uint32_t) { return true; });
    const auto reading = std::ranges::find(closed.boxes, DisplayBox::Kind::Group, &DisplayBox::kind);
    QVERIFY(std::ranges::any_of(closed.edges, [&](const DisplayEdge& e) {
        return e.to == reading - closed.boxes.begin() && e.value == graph.findValue("a");
    }));
    const auto layout = layoutGraph(open, {}, CancelToken());
    QVERIFY(layout.ok());
    QCOMPARE(faults(open, *layout), QString());
}

/// Equal branches within branches are a row of equal boxes, of which each If reaches to the end.
void TestGroups::blocksCutNoBody()
{
    const Graph graph = withElseIfs(8);
    const ConstantLookup constants = initializersOf(graph);
    FoldedGraph whole = foldGraph(graph, QuantView::of(graph, constants), constants, {}, FoldMode::Folded);
    const std::vector<DrawnBody> bodies = addBodies(graph, FoldMode::Folded, whole);
    const Grouping grouping = groupBoxes(graph, whole, {}, GroupBy::Blocks, bodies);
    QVERIFY(grouping.groups.size() >= 9);
    for (const BoxGroup& group : grouping.groups) {
        QVERIFY(group.first < group.end && group.end <= whole.boxes.size());
        for (const BoxGroup& other : grouping.groups)
            QVERIFY(other.end <= group.first || group.end <= other.first
                || (group.first <= other.first && other.end <= group.end)
                || (other.first <= group.first && group.end <= other.end));
    }
    for (const bool close : { false, true }) {
        const FoldedGraph drawn = joinGroups(whole, grouping, [&](uint32_t) { return close; });
        for (const DisplayEdge& edge : drawn.edges)
            QVERIFY(edge.from < edge.to);
    }
}

QTEST_APPLESS_MAIN(TestGroups)
#include "test_groups.moc"
