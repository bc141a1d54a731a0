// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/onnx/model_bytes.h"
#include "tests/onnx/runners.h"

#include <QtTest>

using namespace qs;
using namespace qs::test;

namespace {

Names namesOf(const Graph& g, std::span<const ValueId> ids)
{
    Names names;
    for (ValueId id : ids)
        names.push_back(id.valid() ? g.value(id).name : "");
    return names;
}

const Graph& subgraph(const Graph& g, const char* node, const char* attribute)
{
    return **g.node(g.findNode(node)).attributes.get<std::shared_ptr<const Graph>>(attribute);
}

/// NAME=TEXT, or NAME, which is 1; nothing where it is empty.
void setOldForm(onnx::NodeProto* node, const QString& attribute)
{
    const QStringList parts = attribute.split('=');
    if (parts.size() == 2)
        addAttribute(node, parts[0].toStdString(), onnx::AttributeProto::STRING)->set_s(parts[1].toStdString());
    else if (!attribute.isEmpty())
        addAttribute(node, attribute.toStdString(), onnx::AttributeProto::INT)->set_i(1);
}

} // namespace

class GraphTest : public QObject {
    Q_OBJECT
private slots:
    void wholeModel()
    {
        const auto opened = import(richModel());
        QVERIFY2(opened.ok(), sentence(opened).c_str());
        const Model& m = **opened;
        QCOMPARE(m.irVersion, int64_t(8));
        QCOMPARE(m.producer, std::string("maker 1.2"));
        QCOMPARE(m.opsetImports, (std::map<std::string, int64_t> { { "", 17 }, { "local", 1 } }));
        QCOMPARE(m.fileNodes, size_t(5));
        QVERIFY(m.warnings.empty());
        QCOMPARE(m.graph.nodes().size(), size_t(7));
        QCOMPARE(namesOf(m.graph, m.graph.inputs()), (Names { "x", "condition" }));
        QCOMPARE(namesOf(m.graph, m.graph.outputs()), Names { "y" });
        const Value& x = m.graph.value(m.graph.findValue("x"));
        QCOMPARE(dimsText(*x.type.dims), std::string("2x3"));
        QCOMPARE(x.type.dtype, DType::Float32);
        QCOMPARE(m.graph.node(m.graph.findNode("constant")).attributes.get<Tensor>("value")->data<float>()[0], 0.5f);
    }

    void initializersAreNoInputs()
    {
        auto model = emptyModel(3, 8);
        auto* g = model.mutable_graph();
        addInput(g, "w", { 3 });
        addInput(g, "x", { 3 });
        addFloats(g, "w", { 1, 2, 3 });
        addNode(g, "Add", { "x", "w" }, { "y" });
        addOutput(g, "y");
        const auto opened = import(model);
        QVERIFY2(opened.ok(), sentence(opened).c_str());
        const Graph& graph = (*opened)->graph;
        QCOMPARE(namesOf(graph, graph.inputs()), Names { "x" });
        QCOMPARE(graph.nodes()[0].name, std::string("y"));
        QCOMPARE(graph.nodes()[0].opset, 8);
        addFloats(g, "w", { 1 });
        QVERIFY(sentence(import(model)).find("tensor 'w': is given twice") != std::string::npos);
    }

    void lastOfSeveralConstantsCounts_data()
    {
        QTest::addColumn<QStringList>("given"); // in this order; "wide" and "node" are others than the rest
        QTest::addColumn<bool>("opens");
        QTest::newRow("nodes") << QStringList { "constant", "constant" } << true;
        QTest::newRow("node behind an initializer") << QStringList { "initializer", "constant" } << true;
        QTest::newRow("initializers") << QStringList { "initializer", "initializer" } << true;
        QTest::newRow("all") << QStringList { "initializer", "constant", "initializer", "constant" } << true;
        QTest::newRow("node for an input") << QStringList { "input", "constant" } << true;
        QTest::newRow("of other shapes") << QStringList { "wide", "constant" } << false;
        QTest::newRow("a computed one") << QStringList { "node", "constant" } << false;
        QTest::newRow("computed behind it") << QStringList { "constant", "node" } << false;
    }

    void lastOfSeveralConstantsCounts()
    {
        QFETCH(QStringList, given);
        QFETCH(bool, opens);
        auto model = emptyModel();
        auto* g = model.mutable_graph();
        addInput(g, "x", { 1 });
        float number = 0;
        float last = 0; // nodes stand behind initializers
        for (const QString& what : given) {
            ++number;
            if (what == "input")
                addInput(g, "t", { 1 });
            if (what == "initializer")
                addFloats(g, "t", { number });
            if (what == "node")
                addNode(g, "Neg", { "x" }, { "t" });
            if (what != "constant" && what != "wide")
                continue;
            auto* t
                = addAttribute(addNode(g, "Constant", {}, { "t" }), "value", onnx::AttributeProto::TENSOR)->mutable_t();
            t->set_data_type(1);
            t->add_dims(what == "wide" ? 2 : 1);
            for (int i = 0; i < t->dims(0); ++i)
                t->add_float_data(number);
            last = number;
        }
        addNode(g, "Add", { "x", "t" }, { "y" });
        addOutput(g, "y");
        const auto opened = import(model);
        QCOMPARE(opened.ok(), opens);
        if (!opens) {
            QVERIFY(sentence(opened).find("twice") != std::string::npos);
            return;
        }
        const Graph& graph = (*opened)->graph;
        QCOMPARE(namesOf(graph, graph.inputs()), Names { "x" });
        QCOMPARE((*opened)->warnings.size(), size_t(given.contains("input") ? 0 : 1));
        const Value& t = graph.value(graph.findValue("t"));
        const Tensor* made = t.initializer ? &*t.initializer : graph.node(t.producer).attributes.get<Tensor>("value");
        QVERIFY(made);
        QCOMPARE(made->data<float>()[0], last == 0 ? number : last);
    }

    void anyOrderOfNodes()
    {
        auto model = emptyModel();
        auto* g = model.mutable_graph();
        addInput(g, "x");
        addNode(g, "Relu", { "b" }, { "y" }, "third");
        addNode(g, "Relu", { "a" }, { "b" }, "second");
        addNode(g, "Relu", { "x" }, { "a" }, "first");
        addOutput(g, "y");
        const auto opened = import(model);
        QVERIFY(opened.ok());
        Names names;
        for (const Node& n : (*opened)->graph.nodes())
            names.push_back(n.name);
        QCOMPARE(names, (Names { "first", "second", "third" }));
    }

    void attributesOfEveryKind()
    {
        using A = onnx::AttributeProto;
        auto model = emptyModel();
        auto* node = addNode(model.mutable_graph(), "Strange", { "", "x", "" }, { "", "y" });
        node->set_domain("some.where");
        addInput(model.mutable_graph(), "x");
        setInt(node, "int", -4);
        addAttribute(node, "float", A::FLOAT)->set_f(1.5f);
        addAttribute(node, "string", A::STRING)->set_s("abc");
        addAttribute(node, "tensor", A::TENSOR)->mutable_t()->set_data_type(1);
        node->mutable_attribute(3)->mutable_t()->add_dims(0);
        addAttribute(node, "graph", A::GRAPH)->mutable_g();
        addAttribute(node, "ints", A::INTS)->add_ints(3);
        addAttribute(node, "floats", A::FLOATS)->add_floats(2);
        addAttribute(node, "strings", A::STRINGS)->add_strings("s");
        *addAttribute(node, "tensors", A::TENSORS)->add_tensors() = node->attribute(3).t();
        addAttribute(node, "graphs", A::GRAPHS)->add_graphs();
        addAttribute(node, "type", A::TYPE_PROTO)->mutable_tp();
        auto* undeclared = node->add_attribute();
        undeclared->set_name("undeclared");
        undeclared->set_i(9);
        const auto opened = import(model);
        QVERIFY2(opened.ok(), sentence(opened).c_str());
        const Node& n = (*opened)->graph.nodes()[0];
        QCOMPARE(n.name, std::string("y"));
        QCOMPARE(n.domain, std::string("some.where"));
        QCOMPARE(n.opset, 0);
        QCOMPARE(n.inputs.size(), size_t(3));
        QVERIFY(!n.hasInput(0) && n.hasInput(1) && !n.hasInput(2));
        QCOMPARE(n.attributes.integer("int", 0), int64_t(-4));
        QCOMPARE(n.attributes.real("float", 0), 1.5f);
        QCOMPARE(n.attributes.text("string", ""), std::string("abc"));
        QCOMPARE(n.attributes.integers("ints"), std::vector<int64_t> { 3 });
        QCOMPARE(n.attributes.reals("floats"), std::vector<float> { 2 });
        QCOMPARE(*n.attributes.get<std::vector<std::string>>("strings"), std::vector<std::string> { "s" });
        QCOMPARE(n.attributes.get<Tensor>("tensor")->count(), int64_t(0));
        QCOMPARE(n.attributes.get<std::vector<Tensor>>("tensors")->size(), size_t(1));
        QVERIFY(n.attributes.get<std::shared_ptr<const Graph>>("graph"));
        QCOMPARE(n.attributes.get<std::vector<std::shared_ptr<const Graph>>>("graphs")->size(), size_t(1));
        QVERIFY(n.attributes.get<OpaqueAttribute>("type"));
        QCOMPARE(n.attributes.integer("undeclared", 0), int64_t(9));
        QCOMPARE((*opened)->warnings.size(), size_t(1)); // the domain is not imported
    }

    void capturedValues()
    {
        // The node with the subgraph comes first in the file and reads 'late' only inside of it.
        auto model = emptyModel();
        auto* g = model.mutable_graph();
        addInput(g, "c", {});
        addInput(g, "x");
        auto* outer = addNode(g, "If", { "c" }, { "y" }, "outer");
        auto* then = addAttribute(outer, "then_branch", onnx::AttributeProto::GRAPH)->mutable_g();
        auto* inner = addNode(then, "If", { "c" }, { "t" }, "inner");
        auto* deep = addAttribute(inner, "then_branch", onnx::AttributeProto::GRAPH)->mutable_g();
        addNode(deep, "Relu", { "late" }, { "x" }); // its own 'x' hides the outer one
        addNode(deep, "Relu", { "x" }, { "d" });
        addOutput(deep, "d");
        addOutput(then, "t");
        addNode(g, "Relu", { "x" }, { "late" }, "maker");
        addOutput(g, "y");
        const auto opened = import(model);
        QVERIFY2(opened.ok(), sentence(opened).c_str());
        const Graph& graph = (*opened)->graph;
        QCOMPARE(graph.nodes()[0].name, std::string("maker"));
        QCOMPARE(namesOf(graph, graph.nodes()[1].captures), (Names { "c", "late" }));
        const Graph& branch = subgraph(graph, "outer", "then_branch");
        QCOMPARE(namesOf(branch, branch.node(branch.findNode("inner")).captures), Names { "late" });
        QVERIFY(subgraph(branch, "inner", "then_branch").findValue("late").valid());
        deep->mutable_node(0)->set_input(0, "nowhere");
        const std::string text = sentence(import(model));
        QVERIFY2(text.find("node 'outer': tensor 'nowhere'") != std::string::npos, text.c_str());
        deep->mutable_node(0)->set_input(0, "y"); // a loop through the subgraph
        QVERIFY(sentence(import(model)).find("cycle") != std::string::npos);
    }

    void declaredTypes()
    {
        auto model = emptyModel();
        auto* g = model.mutable_graph();
        auto* x = g->add_input();
        setType(x, "x", { -1, 5 }, 22);
        x->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_param("batch");
        g->add_input()->set_name("list");
        g->mutable_input(1)->mutable_type()->mutable_sequence_type();
        g->add_input()->set_name("unknown");
        addNode(g, "Foo", { "x", "list", "unknown" }, { "y" });
        setType(g->add_value_info(), "y", { INT64_MAX, INT64_MAX });
        setType(g->add_value_info(), "nobody", { 1 });
        const auto opened = import(model);
        QVERIFY2(opened.ok(), sentence(opened).c_str());
        const Graph& graph = (*opened)->graph;
        QCOMPARE(graph.values()[0].type.dtype, DType::Int4);
        QCOMPARE(dimsText(*graph.values()[0].type.dims), std::string("?x5xbatch"));
        QCOMPARE(graph.values()[1].type.container, std::string("sequence"));
        QVERIFY(!graph.values()[2].type.dims);
        QVERIFY(!graph.value(graph.findValue("y")).type.dims);
        QVERIFY(!graph.findValue("nobody").valid());
        QCOMPARE((*opened)->warnings.size(), size_t(1));
        setType(g->add_input(), "huge", { INT64_MAX, INT64_MAX });
        QVERIFY(sentence(import(model)).find("tensor 'huge': its declared shape") != std::string::npos);
    }

    void movedAttributes_data()
    {
        QTest::addColumn<int>("opset");
        QTest::addColumn<int>("lines");
        QTest::addRow("before") << 17 << 0;
        QTest::addRow("since") << 18 << 1;
        QTest::addRow("raised") << 21 << 1;
    }

    void movedAttributes()
    {
        QFETCH(const int, opset);
        QFETCH(const int, lines);
        auto model = emptyModel();
        model.mutable_opset_import(0)->set_version(opset);
        auto* g = model.mutable_graph();
        addInput(g, "x");
        for (const std::string name : { "first", "second" }) {
            auto* mean = addNode(g, "ReduceMean", { "x" }, { name }, name);
            addAttribute(mean, "axes", onnx::AttributeProto::INTS)->add_ints(0);
        }
        const auto opened = import(model);
        QVERIFY2(opened.ok(), sentence(opened).c_str());
        QCOMPARE((*opened)->warnings.size(), size_t(lines));
        if (lines > 0)
            QVERIFY((*opened)->warnings[0].find("node 'first' and 1 more: 'axes' of ReduceMean is an input since")
                != std::string::npos);
    }

    void oldForms_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<int>("inputs");
        QTest::addColumn<int>("outputs");
        QTest::addColumn<QString>("attribute"); // NAME=TEXT, or an integer
        QTest::addColumn<int>("opset");
        QTest::addColumn<QString>("line"); // "": none
        const auto row = [](const char* type, int inputs, int outputs, const char* attribute, int since,
                             const char* line, int before) {
            QTest::addRow("%s, opset %d", type, since) << type << inputs << outputs << attribute << since << line;
            QTest::addRow("%s, opset %d", type, before) << type << inputs << outputs << attribute << before << "";
        };
        row("Split", 1, 2, "", 18, "'num_outputs' or the sizes of its parts since opset 18", 17);
        row("Upsample", 2, 1, "mode=nearest", 10, "there is no Upsample, but Resize since opset 10", 9);
        row("Scatter", 3, 1, "", 13, "there is no Scatter, but ScatterElements since opset 11", 10);
        row("Resize", 2, 1, "mode=nearest", 13, "is 'roi' and no longer 'scales' since opset 11", 10);
        row("BatchNormalization", 5, 5, "", 15, "three outputs at most since opset 14", 13);
        row("GridSample", 2, 1, "mode=bicubic", 20, "are called linear and cubic since opset 20", 16);
        row("DFT", 1, 1, "axis", 20, "'axis' of DFT is none since opset 20", 17);
        row("Dropout", 1, 1, "is_test", 13, "'is_test' of Dropout is none since opset 7", 6);
        QTest::addRow("Split that says how many") << "Split" << 1 << 2 << "num_outputs" << 18 << "";
        QTest::addRow("Split that has sizes") << "Split" << 2 << 2 << "" << 18 << "";
        QTest::addRow("GridSample of today") << "GridSample" << 2 << 1 << "mode=linear" << 20 << "";
        QTest::addRow("Resize of today") << "Resize" << 3 << 1 << "mode=nearest" << 13 << "";
    }

    /// Of a main graph, and of a body.
    void oldForms()
    {
        QFETCH(const QString, type);
        QFETCH(const int, inputs);
        QFETCH(const int, outputs);
        QFETCH(const QString, attribute);
        QFETCH(const int, opset);
        QFETCH(const QString, line);
        for (const bool inBody : { false, true }) {
            auto model = emptyModel();
            model.mutable_opset_import(0)->set_version(opset);
            auto* g = model.mutable_graph();
            std::vector<std::string> in, out;
            for (int i = 0; i < inputs; ++i)
                addInput(g, in.emplace_back("x" + std::to_string(i)));
            for (int i = 0; i < outputs; ++i)
                out.push_back("y" + std::to_string(i));
            if (inBody) {
                addInput(g, "c");
                auto* branch = addNode(g, "If", { "c" }, { "z" }, "if");
                for (const char* name : { "then_branch", "else_branch" }) {
                    auto* body = addAttribute(branch, name, onnx::AttributeProto::GRAPH)->mutable_g();
                    if (std::string(name) == "then_branch")
                        setOldForm(addNode(body, type.toStdString(), in, out, "old"), attribute);
                    else
                        addNode(body, "Identity", { "x0" }, { "y0" }, "plain");
                    body->add_output()->set_name("y0");
                }
            } else {
                setOldForm(addNode(g, type.toStdString(), in, out, "old"), attribute);
            }
            const auto opened = import(model);
            QVERIFY2(opened.ok(), sentence(opened).c_str());
            QCOMPARE((*opened)->warnings.size(), size_t(line.isEmpty() ? 0 : 1));
            if (!line.isEmpty())
                QVERIFY2((*opened)->warnings[0].find(line.toStdString()) != std::string::npos,
                    (*opened)->warnings[0].c_str());
        }
    }

    void namesThatAreNoText()
    {
        auto model = emptyModel();
        addInput(model.mutable_graph(), "gr\xc3\xbc\xc3\x9f");
        addNode(model.mutable_graph(), "Relu", { "gr\xc3\xbc\xc3\x9f" }, { "\xff\xc0\x80" });
        const auto opened = import(model);
        QVERIFY(opened.ok());
        QCOMPARE((*opened)->graph.values()[0].name, std::string("gr\xc3\xbc\xc3\x9f"));
        QCOMPARE((*opened)->graph.values()[1].name, std::string("\\xFF\\xC0\\x80"));
    }
};

int runGraphTest(int argc, char** argv)
{
    GraphTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "graph_test.moc"
