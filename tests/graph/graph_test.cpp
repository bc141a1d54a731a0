// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue.h"
#include "core/graph/graph.h"

#include <QTest>

using namespace qs;

namespace {

/// Adds a node named after its first output.
NodeId add(GraphBuilder& b, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
    const std::vector<std::string>& captures = {})
{
    Node node;
    node.opType = "Op";
    node.name = outputs.front();
    for (const std::string& name : inputs)
        node.inputs.push_back(b.value(name));
    for (const std::string& name : outputs)
        node.outputs.push_back(b.value(name));
    for (const std::string& name : captures)
        node.captures.push_back(b.value(name));
    return b.addNode(std::move(node));
}

QString order(const Graph& g)
{
    QStringList names;
    for (const Node& n : g.nodes())
        names << QString::fromStdString(n.name);
    return names.join(' ');
}

} // namespace

class GraphTests : public QObject {
    Q_OBJECT
private slots:
    void sortsAndKeepsFileOrder();
    void producersAndUses();
    void leftOver();
    void absentInputs();
    void names();
    void cycles();
    void valuesMadeTwice();
    void valuesNobodyMakes();
    void captures();
    void initializersAmongInputs();
    void attributes();
};

void GraphTests::sortsAndKeepsFileOrder()
{
    GraphBuilder sorted;
    sorted.addInput(sorted.value("x"));
    for (const char* name : { "d", "a", "c" })
        add(sorted, { "x" }, { name });
    add(sorted, { "c", "d" }, { "b" });
    QCOMPARE(order(*std::move(sorted).finish()), QString("d a c b"));

    GraphBuilder shuffled;
    shuffled.addInput(shuffled.value("x"));
    add(shuffled, { "n2" }, { "n3" });
    add(shuffled, { "x" }, { "n1" });
    add(shuffled, { "x" }, { "side" });
    add(shuffled, { "n1" }, { "n2" });
    shuffled.addOutput(shuffled.value("n3"));
    const auto g = std::move(shuffled).finish();
    QVERIFY(g.ok());
    QCOMPARE(order(*g), QString("n1 side n2 n3"));
    for (size_t n = 0; n < g->nodes().size(); ++n) // ids follow the new order
        QCOMPARE(g->value(g->nodes()[n].outputs[0]).producer, NodeId(n));
}

void GraphTests::producersAndUses()
{
    GraphBuilder b("net");
    b.addInput(b.value("x"));
    add(b, { "x", "x" }, { "y", "unread" });
    add(b, { "y", "x" }, { "z" });
    b.addOutput(b.value("z"));
    b.addOutput(b.value("x"));
    const auto g = std::move(b).finish();
    QVERIFY(g.ok());
    QCOMPARE(g->name(), std::string("net"));
    const Value& x = g->value(g->findValue("x"));
    QVERIFY(!x.producer.valid());
    QCOMPARE(x.uses, (std::vector<Use> { { NodeId(0), 0 }, { NodeId(0), 1 }, { NodeId(1), 1 } }));
    QVERIFY(g->value(g->findValue("unread")).uses.empty());
    QVERIFY(g->isInput(g->findValue("x")) && g->isOutput(g->findValue("x")) && g->isOutput(g->findValue("z")));
    QVERIFY(!g->isInput(g->findValue("y")) && !g->isOutput(g->findValue("y")));
}

/// What no output follows from reads nothing; bodies that are read from outside do.
void GraphTests::leftOver()
{
    const auto made = [](bool outputs) {
        GraphBuilder b;
        b.addInput(b.value("x"));
        add(b, { "x" }, { "a" });
        add(b, { "a" }, { "first" });
        add(b, { "first" }, { "last" });
        add(b, { "x" }, { "captured" });
        add(b, { "a" }, { "y" }, { "captured" });
        if (outputs)
            b.addOutput(b.value("y"));
        return *std::move(b).finish();
    };
    const auto readers = [](const Graph& g, const char* name) {
        QStringList names;
        for (const Use& use : g.value(g.findValue(name)).uses)
            names << QString::fromStdString(g.node(use.node).name);
        return names.join(' ');
    };
    const Graph g = made(true);
    QCOMPARE(readers(g, "a"), QString("y"));
    QCOMPARE(readers(g, "first"), QString());
    QCOMPARE(readers(g, "x"), QString("a captured"));
    for (const char* name : { "first", "last" })
        QVERIFY2(!g.leadsToOutput(g.findNode(name)), name);
    for (const char* name : { "a", "captured", "y" })
        QVERIFY2(g.leadsToOutput(g.findNode(name)), name);
    const Graph open = made(false);
    QCOMPARE(readers(open, "a"), QString("first y"));
    QVERIFY(open.leadsToOutput(open.findNode("last")));
}

void GraphTests::absentInputs()
{
    GraphBuilder b;
    QVERIFY(!b.value("").valid());
    b.addInput(b.value("x"));
    add(b, { "x", "", "x" }, { "y", "" });
    const auto g = std::move(b).finish();
    QVERIFY(g.ok());
    QVERIFY(g->nodes()[0].hasInput(0) && !g->nodes()[0].hasInput(1) && g->nodes()[0].hasInput(2));
    QVERIFY(!g->nodes()[0].hasInput(3));
    QCOMPARE(g->values().size(), size_t(2));
}

void GraphTests::names()
{
    GraphBuilder b;
    QCOMPARE(b.value("x"), b.value("x"));
    b.addInput(b.value("x"));
    for (const char* output : { "a", "b" }) {
        Node node;
        node.name = "same";
        node.inputs = { b.value("x") };
        node.outputs = { b.value(output) };
        b.addNode(node);
    }
    const auto g = std::move(b).finish();
    QCOMPARE(g->findNode("same"), NodeId(0));
    QVERIFY(!g->findNode("other").valid());
    QVERIFY(!g->findValue("same").valid());
    QVERIFY(!g->findValue("").valid());
}

void GraphTests::cycles()
{
    GraphBuilder b;
    b.addInput(b.value("x"));
    add(b, { "p" }, { "behind" }); // not in the cycle itself
    add(b, { "q", "x" }, { "p" });
    add(b, { "p" }, { "q" });
    const auto g = std::move(b).finish();
    QVERIFY(!g.ok());
    QCOMPARE(g.issue().kind, IssueKind::BadInput);
    QVERIFY(g.issue().node == "p" || g.issue().node == "q");
    QVERIFY(g.issue().what.find("cycle") != std::string::npos);

    GraphBuilder self;
    add(self, { "y" }, { "y" });
    const auto alone = std::move(self).finish();
    QVERIFY(!alone.ok());
    QCOMPARE(alone.issue().node, std::string("y"));
}

void GraphTests::valuesMadeTwice()
{
    for (const char* other : { "node", "same node", "input", "initializer" }) {
        GraphBuilder b;
        b.addInput(b.value("x"));
        add(b, { "x" }, { "y" });
        if (other == std::string("node"))
            add(b, { "x" }, { "second", "y" });
        else if (other == std::string("same node"))
            add(b, { "x" }, { "second", "second" });
        else if (other == std::string("input"))
            b.addInput(b.value("y"));
        else
            b.setInitializer(b.value("y"), Tensor::scalar(1.0f));
        const auto g = std::move(b).finish();
        QVERIFY2(!g.ok(), other);
        QCOMPARE(g.issue().tensor, std::string(other == std::string("same node") ? "second" : "y"));
        QVERIFY(g.issue().what.find("twice") != std::string::npos);
    }
}

void GraphTests::valuesNobodyMakes()
{
    GraphBuilder b;
    b.addInput(b.value("x"));
    add(b, { "x", "ghost" }, { "y" });
    const auto g = std::move(b).finish();
    QVERIFY(!g.ok());
    QCOMPARE(g.issue().tensor, std::string("ghost"));
    QCOMPARE(g.issue().node, std::string("y"));

    GraphBuilder output;
    output.addOutput(output.value("ghost"));
    const auto h = std::move(output).finish();
    QVERIFY(!h.ok());
    QCOMPARE(h.issue().tensor, std::string("ghost"));
}

void GraphTests::captures()
{
    // A subgraph of `loop` reads y: the node must come after the one that makes y, but y is none of its inputs.
    GraphBuilder b;
    b.addInput(b.value("x"));
    add(b, { "x" }, { "loop" }, { "y" });
    add(b, { "x" }, { "y" });
    const auto g = std::move(b).finish();
    QVERIFY(g.ok());
    QCOMPARE(order(*g), QString("y loop"));
    QVERIFY(g->value(g->findValue("y")).uses.empty());

    GraphBuilder missing;
    add(missing, {}, { "loop" }, { "ghost" });
    QCOMPARE(std::move(missing).finish().issue().tensor, std::string("ghost"));

    GraphBuilder inner;
    inner.allowOuter("y");
    add(inner, { "y" }, { "z" });
    inner.addOutput(inner.value("z"));
    QVERIFY(std::move(inner).finish().ok());
}

void GraphTests::initializersAmongInputs()
{
    GraphBuilder b;
    b.addInput(b.value("w"));
    b.addInput(b.value("x"));
    b.setInitializer(b.value("w"), Tensor::of<int8_t>({ 2, 1 }, { 1, 2 }));
    add(b, { "x", "w" }, { "y" });
    const auto g = std::move(b).finish();
    QVERIFY(g.ok());
    QCOMPARE(g->inputs().size(), size_t(1));
    QCOMPARE(g->value(g->inputs()[0]).name, std::string("x"));
    const Value& w = g->value(g->findValue("w"));
    QCOMPARE(w.type.dtype, DType::Int8);
    QCOMPARE(*w.type.dims, toDims({ 2, 1 }));
    QVERIFY(!w.producer.valid() && w.initializer);
}

void GraphTests::attributes()
{
    Attributes a;
    a.set("axis", int64_t(-1));
    a.set("alpha", 0.5f);
    a.set("mode", std::string("linear"));
    a.set("pads", std::vector<int64_t> { 1, 2 });
    a.set("axis", int64_t(3));
    QCOMPARE(a.integer("axis", 0), int64_t(3));
    QCOMPARE(a.integer("missing", 7), int64_t(7));
    QCOMPARE(a.integer("alpha", 7), int64_t(7)); // another kind counts as missing
    QCOMPARE(a.real("alpha", 0), 0.5f);
    QCOMPARE(a.text("mode", "nearest"), std::string("linear"));
    QCOMPARE(a.integers("pads"), (std::vector<int64_t> { 1, 2 }));
    QVERIFY(a.reals("missing").empty());
    QVERIFY(a.has("pads") && !a.has("missing"));
    QCOMPARE(a.all().size(), size_t(4));
}

QTEST_APPLESS_MAIN(GraphTests)

#include "graph_test.moc"
