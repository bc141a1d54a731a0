// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/onnx/model_bytes.h"
#include "tests/onnx/runners.h"

#include <QtTest>
#include <google/protobuf/unknown_field_set.h>

using namespace qs;
using namespace qs::test;

namespace {

onnx::FunctionProto* addFunction(
    onnx::ModelProto& model, const std::string& name, const Names& inputs, const Names& outputs)
{
    auto* f = model.add_functions();
    f->set_domain("local");
    f->set_name(name);
    for (const auto& i : inputs)
        f->add_input(i);
    for (const auto& o : outputs)
        f->add_output(o);
    f->add_opset_import()->set_version(13);
    return f;
}

onnx::NodeProto* addCall(google::protobuf::RepeatedPtrField<onnx::NodeProto>* nodes, const std::string& function,
    const Names& inputs, const Names& outputs, const std::string& name)
{
    auto* node = addNode(nodes, function, inputs, outputs, name);
    node->set_domain("local");
    return node;
}

onnx::ModelProto baseModel()
{
    auto model = emptyModel(10, 21);
    addInput(model.mutable_graph(), "x");
    addOutput(model.mutable_graph(), "y");
    return model;
}

std::string listing(const Imported& opened)
{
    if (!opened)
        return sentence(opened);
    const Graph& g = (*opened)->graph;
    std::string text;
    for (const Node& n : g.nodes()) {
        text += n.name + "=" + n.opType + "(";
        for (ValueId i : n.inputs)
            text += (i.valid() ? g.value(i).name : "-") + " ";
        text += ">";
        for (ValueId o : n.outputs)
            text += " " + (o.valid() ? g.value(o).name : "-");
        text += ") ";
    }
    return text;
}

} // namespace

class FunctionTest : public QObject {
    Q_OBJECT
private slots:
    /// A graph handed to a function becomes as many graphs as the function refers to it.
    void graphsHandedToFunctions()
    {
        const auto model = [](int references, int nodes) {
            auto m = baseModel();
            auto* f = addFunction(m, "Many", { "c" }, { "r" });
            f->add_attribute("body");
            for (int i = 0; i < references; ++i) {
                auto* node = addNode(f->mutable_node(), "If", { "c" }, { i == 0 ? "r" : "r" + std::to_string(i) });
                auto* a = node->add_attribute();
                a->set_name("then_branch");
                a->set_ref_attr_name("body");
                a->set_type(onnx::AttributeProto::GRAPH);
            }
            auto* call = addCall(m.mutable_graph()->mutable_node(), "Many", { "x" }, { "y" }, "call");
            auto* body = call->add_attribute();
            body->set_name("body");
            body->set_type(onnx::AttributeProto::GRAPH);
            body->mutable_g()->set_name("body");
            for (int i = 0; i < nodes; ++i)
                addNode(
                    body->mutable_g(), "Neg", { i ? "n" + std::to_string(i - 1) : "x" }, { "n" + std::to_string(i) });
            body->mutable_g()->add_output()->set_name("n0");
            return m;
        };
        QVERIFY(import(model(3, 4)).ok());
        const auto opened = import(model(2000, 2000)); // 80 kB for four million nodes
        QVERIFY(!opened.ok());
        QVERIFY2(sentence(opened).find("expand") != std::string::npos, sentence(opened).c_str());
    }

    /// Long names before each of many names.
    void longNames()
    {
        auto m = baseModel();
        auto* f = addFunction(m, "Long", { "a" }, { "b" });
        for (int i = 0; i < 10'000; ++i)
            addNode(f->mutable_node(), "Neg", { i ? "t" + std::to_string(i - 1) : "a" },
                { i == 9'999 ? "b" : "t" + std::to_string(i) });
        addCall(m.mutable_graph()->mutable_node(), "Long", { "x" }, { "y" }, std::string(1 << 20, 'n'));
        QVERIFY(!import(m).ok());
        m.mutable_graph()->mutable_node(0)->set_name("call");
        QVERIFY(import(m).ok());
    }

    /// Numbers that were tried for a name are not tried again.
    void manyCallsOfOneName()
    {
        auto m = baseModel();
        addNode(addFunction(m, "One", { "a" }, { "b" })->mutable_node(), "Neg", { "a" }, { "b" });
        constexpr int kCalls = 60'000;
        for (int i = 0; i < kCalls; ++i)
            addCall(m.mutable_graph()->mutable_node(), "One", { i ? "v" + std::to_string(i - 1) : "x" },
                { i + 1 == kCalls ? "y" : "v" + std::to_string(i) }, "call");
        QElapsedTimer timer;
        timer.start();
        QVERIFY(import(m).ok());
        QVERIFY2(
            timer.elapsed() < 15'000, qPrintable(QString::number(timer.elapsed()))); // 60 s and more when quadratic
    }

    void nestedCallsAndReferences()
    {
        const auto opened = import(richModel());
        QVERIFY2(opened.ok(), sentence(opened).c_str());
        const Graph& g = (*opened)->graph;
        const Node& product = g.node(g.findNode("call/inner/product"));
        QCOMPARE(product.opType, std::string("Mul"));
        QCOMPARE(product.opset, 15);
        QCOMPARE(g.value(product.inputs[0]).name, std::string("x"));
        const Node& constant = g.node(g.value(product.inputs[1]).producer);
        QCOMPARE(constant.attributes.real("value_float", 0), 2.5f);
        QCOMPARE(g.value(product.outputs[0]).name, std::string("call/scaled"));
        QCOMPARE(g.node(g.value(g.findValue("negative")).producer).opType, std::string("Neg"));
    }

    void twoCallsMakeDifferentNames()
    {
        auto model = baseModel();
        auto* f = addFunction(model, "F", { "a" }, { "b" });
        addNode(f->mutable_node(), "Relu", { "a" }, { "m" });
        addNode(f->mutable_node(), "Neg", { "m" }, { "b" });
        auto* g = model.mutable_graph();
        addCall(g->mutable_node(), "F", { "x" }, { "h" }, "same");
        addCall(g->mutable_node(), "F", { "h" }, { "same/m_2" }, "same"); // takes a name that would be made up
        addNode(g, "Relu", { "same/m_2" }, { "y" }, "end");
        QCOMPARE(listing(import(model)),
            std::string("same/m=Relu(x > same/m) h=Neg(same/m > h) same_2/m=Relu(h > same_2/m) "
                        "same/m_2=Neg(same_2/m > same/m_2) end=Relu(same/m_2 > y) "));
    }

    void absentInputsAndOutputs()
    {
        auto model = baseModel();
        auto* f = addFunction(model, "F", { "a", "optional" }, { "b", "extra" });
        addNode(f->mutable_node(), "Clip", { "a", "optional" }, { "b" }, "clip");
        addNode(f->mutable_node(), "Relu", { "b" }, { "extra" }, "relu");
        addCall(model.mutable_graph()->mutable_node(), "F", { "x" }, { "y" }, "call");
        QCOMPARE(listing(import(model)), std::string("call/clip=Clip(x - > y) call/relu=Relu(y > call/extra) "));
        model.mutable_graph()->mutable_node(0)->add_input("x");
        model.mutable_graph()->mutable_node(0)->add_input("x");
        QVERIFY(listing(import(model)).find("more inputs") != std::string::npos);
    }

    void inputsHandedOn()
    {
        auto model = baseModel();
        addFunction(model, "F", { "a" }, { "a" });
        addCall(model.mutable_graph()->mutable_node(), "F", { "x" }, { "y" }, "call");
        QCOMPARE(listing(import(model)), std::string("call/output_0=Identity(x > y) "));
        model.mutable_functions(0)->set_output(0, "nothing");
        QVERIFY(listing(import(model)).find("does not make its output 'nothing'") != std::string::npos);
    }

    void aBodyDoesNotSeeTheGraph()
    {
        auto model = baseModel();
        auto* f = addFunction(model, "F", { "a" }, { "b" });
        addNode(f->mutable_node(), "Add", { "a", "w" }, { "b" }, "add");
        addFloats(model.mutable_graph(), "w", { 1 });
        addCall(model.mutable_graph()->mutable_node(), "F", { "x" }, { "y" }, "call");
        const std::string text = listing(import(model));
        QVERIFY2(text.find("tensor 'call/w'") != std::string::npos, text.c_str());
    }

    void referencesWithoutValue()
    {
        auto model = baseModel();
        auto* f = addFunction(model, "F", { "a" }, { "b" });
        f->add_attribute("axis");
        setReference(addNode(f->mutable_node(), "Softmax", { "a" }, { "b" }), "axis", "axis");
        addCall(model.mutable_graph()->mutable_node(), "F", { "x" }, { "y" }, "call");
        QVERIFY(!(*import(model))->graph.nodes()[0].attributes.has("axis"));
        setInt(model.mutable_graph()->mutable_node(0), "axis", 2);
        QCOMPARE((*import(model))->graph.nodes()[0].attributes.integer("axis", 0), int64_t(2));
        setReference(addNode(model.mutable_graph(), "Softmax", { "x" }, { "z" }), "axis", "axis");
        QVERIFY(listing(import(model)).find("in no function") != std::string::npos);
    }

    void fieldsOfNewerFormats()
    {
        // attribute_proto (11), value_info (12) and overload (13) of functions, overload (8) of nodes.
        auto model = baseModel();
        for (const char* overload : { "one", "two" }) {
            auto* f = addFunction(model, "F", { "a" }, { "b" });
            addNode(f->mutable_node(), overload == std::string("one") ? "Relu" : "Neg", { "a" }, { "m" });
            setReference(addNode(f->mutable_node(), "Softmax", { "m" }, { "b" }, "soft"), "axis", "axis");
            onnx::AttributeProto axis;
            axis.set_name("axis");
            axis.set_type(onnx::AttributeProto::INT);
            axis.set_i(7);
            onnx::ValueInfoProto info;
            setType(&info, "m", { 2, 3 });
            auto* unknown = f->GetReflection()->MutableUnknownFields(f);
            unknown->AddLengthDelimited(11, axis.SerializeAsString());
            unknown->AddLengthDelimited(12, info.SerializeAsString());
            unknown->AddLengthDelimited(13, overload);
        }
        auto* call = addCall(model.mutable_graph()->mutable_node(), "F", { "x" }, { "y" }, "call");
        call->GetReflection()->MutableUnknownFields(call)->AddLengthDelimited(8, "two");
        const auto opened = import(model);
        QCOMPARE(listing(opened), std::string("call/m=Neg(x > call/m) call/soft=Softmax(call/m > y) "));
        const Graph& g = (*opened)->graph;
        QCOMPARE(g.nodes()[1].attributes.integer("axis", 0), int64_t(7));
        QCOMPARE(dimsText(*g.value(g.findValue("call/m")).type.dims), std::string("2x3"));
        call->GetReflection()->MutableUnknownFields(call)->Clear();
        QCOMPARE(listing(import(model)), std::string("call=F(x > y) ")); // no such overload: an opaque node
    }

    void subgraphsInsideFunctions()
    {
        auto model = baseModel();
        auto* g = addFunction(model, "G", { "a" }, { "b" });
        addNode(g->mutable_node(), "Neg", { "a" }, { "b" });
        auto* f = addFunction(model, "F", { "a" }, { "b" });
        addNode(f->mutable_node(), "Relu", { "a" }, { "m" });
        addNode(f->mutable_node(), "Constant", {}, { "c" });
        auto* choice = addNode(f->mutable_node(), "If", { "c" }, { "b" }, "if");
        auto* branch = addAttribute(choice, "then_branch", onnx::AttributeProto::GRAPH)->mutable_g();
        addCall(branch->mutable_node(), "G", { "m" }, { "t" }, "deep");
        addOutput(branch, "t");
        addCall(model.mutable_graph()->mutable_node(), "F", { "x" }, { "y" }, "call");
        const auto opened = import(model);
        QVERIFY2(opened.ok(), sentence(opened).c_str());
        const Graph& graph = (*opened)->graph;
        const Node& node = graph.node(graph.findNode("call/if"));
        QCOMPARE(node.captures.size(), size_t(1));
        QCOMPARE(graph.value(node.captures[0]).name, std::string("call/m"));
        const Graph& inner = **node.attributes.get<std::shared_ptr<const Graph>>("then_branch");
        QCOMPARE(inner.nodes().size(), size_t(1));
        QCOMPARE(inner.nodes()[0].opType, std::string("Neg"));
        QCOMPARE(inner.value(inner.nodes()[0].inputs[0]).name, std::string("call/m"));
    }

    void subgraphsInsideFunctionsHideNothing()
    {
        // The branch calls its result as the caller calls what it gives the function.
        auto model = baseModel();
        auto* f = addFunction(model, "F", { "a" }, { "b" });
        addNode(f->mutable_node(), "Constant", {}, { "c" });
        auto* choice = addNode(f->mutable_node(), "If", { "c" }, { "b" }, "if");
        auto* branch = addAttribute(choice, "then_branch", onnx::AttributeProto::GRAPH)->mutable_g();
        addNode(branch->mutable_node(), "Neg", { "a" }, { "x" });
        addOutput(branch, "x");
        addCall(model.mutable_graph()->mutable_node(), "F", { "x" }, { "y" }, "call");
        const auto opened = import(model);
        QVERIFY2(opened.ok(), sentence(opened).c_str());
        const Graph& graph = (*opened)->graph;
        const Node& node = graph.node(graph.findNode("call/if"));
        QCOMPARE(node.captures.size(), size_t(1));
        QCOMPARE(graph.value(node.captures[0]).name, std::string("x"));
    }

    void graphsAsArguments()
    {
        // The graph that a call passes reads names of the caller, not of the function.
        auto model = baseModel();
        auto* f = addFunction(model, "F", { "m" }, { "b" });
        f->add_attribute("body");
        setReference(addNode(f->mutable_node(), "If", { "m" }, { "b" }, "if"), "then_branch", "body",
            onnx::AttributeProto::GRAPH);
        auto* g = model.mutable_graph();
        addNode(g, "Relu", { "x" }, { "m" });
        auto* call = addCall(g->mutable_node(), "F", { "x" }, { "y" }, "call");
        auto* branch = addAttribute(call, "body", onnx::AttributeProto::GRAPH)->mutable_g();
        addNode(branch, "Neg", { "m" }, { "t" });
        addOutput(branch, "t");
        const auto opened = import(model);
        QVERIFY2(opened.ok(), sentence(opened).c_str());
        const Graph& graph = (*opened)->graph;
        QCOMPARE(graph.value(graph.node(graph.findNode("call/if")).captures.at(0)).name, std::string("m"));
    }

    void recursionAndExplosion()
    {
        auto model = baseModel();
        for (const auto& [name, callee] : { std::pair("F", "G"), std::pair("G", "F") })
            addCall(addFunction(model, name, { "a" }, { "b" })->mutable_node(), callee, { "a" }, { "b" }, "c");
        addCall(model.mutable_graph()->mutable_node(), "F", { "x" }, { "y" }, "call");
        QVERIFY(listing(import(model)).find("node 'call/c/c': function 'local:F' calls itself") != std::string::npos);

        auto doubling = baseModel(); // each function calls the next twice: 2^40 nodes
        for (int i = 0; i < 40; ++i) {
            auto* f = addFunction(doubling, "F" + std::to_string(i), { "a" }, { "b" });
            addCall(f->mutable_node(), "F" + std::to_string(i + 1), { "a" }, { "m" }, "p");
            addCall(f->mutable_node(), "F" + std::to_string(i + 1), { "m" }, { "b" }, "q");
        }
        addCall(doubling.mutable_graph()->mutable_node(), "F0", { "x" }, { "y" }, "call");
        QVERIFY(listing(import(doubling)).find("more than 100000 nodes") != std::string::npos);

        auto deep = baseModel();
        for (int i = 0; i < 200; ++i) {
            auto* f = addFunction(deep, "F" + std::to_string(i), { "a" }, { "b" });
            addCall(f->mutable_node(), "F" + std::to_string(i + 1), { "a" }, { "b" }, "p");
        }
        addCall(deep.mutable_graph()->mutable_node(), "F0", { "x" }, { "y" }, "call");
        QVERIFY(listing(import(deep)).find("100 levels") != std::string::npos);
    }
};

int runFunctionTest(int argc, char** argv)
{
    FunctionTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "function_test.moc"
