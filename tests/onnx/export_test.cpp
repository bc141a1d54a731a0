// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/onnx/write/export.h"
#include "tests/support/helper_call.h"
#endif
#include "core/tensor/convert.h"
#include "tests/onnx/model_bytes.h"
#include "tests/onnx/runners.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;
using namespace qs::test;

class ExportTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    std::string path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)).toStdString(); }

    void write(const std::string& file, const onnx::ModelProto& proto)
    {
        QFile out(QString::fromStdString(file));
        QVERIFY(out.open(QIODevice::WriteOnly));
        const std::string bytes = proto.SerializeAsString();
        out.write(bytes.data(), qint64(bytes.size()));
    }
    static onnx::ModelProto read(const std::string& file)
    {
        QFile in(QString::fromStdString(file));
        onnx::ModelProto proto;
        if (in.open(QIODevice::ReadOnly))
            proto.ParseFromString(in.readAll().toStdString());
        return proto;
    }

    /// x -> Relu -> (documented) Mul by w -> y, with all kinds of notes.
    onnx::ModelProto annotated() const
    {
        auto model = emptyModel();
        model.set_producer_name("maker");
        model.set_doc_string("about the model");
        auto* entry = model.add_metadata_props();
        entry->set_key("k");
        entry->set_value("v");
        auto* graph = model.mutable_graph();
        graph->set_doc_string("about the graph");
        addInput(graph, "x");
        graph->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(
            "batch");
        addNode(graph, "Relu", { "x" }, { "r" }); // without a name
        auto* mul = addNode(graph, "Mul", { "r", "w" }, { "y" }, "scale");
        mul->set_doc_string("about the node");
        mul->mutable_unknown_fields()->AddLengthDelimited(4000, "newer");
        addFloats(graph, "w", { 1, 2, 3 })->set_doc_string("about the weight");
        addFloats(graph, "unused", { 7 });
        setType(graph->add_value_info(), "r", { 2, 3 });
        addOutput(graph, "y");
        return model;
    }

    /// The same with a constant of 4,000 bytes.
    onnx::ModelProto withLargeConstant() const
    {
        auto proto = annotated();
        addFloats(proto.mutable_graph(), "large", std::vector<float>(1000, 0.25f));
        addNode(proto.mutable_graph(), "Identity", { "large" }, { "copy" }, "reader");
        return proto;
    }

private slots:
    void unchangedModelsComeBack_data()
    {
        QTest::addColumn<bool>("rich");
        QTest::newRow("annotated") << false;
        QTest::newRow("functions and subgraphs") << true;
    }
    void unchangedModelsComeBack()
    {
        QFETCH(bool, rich);
        QS_HELPER(write(path("in.onnx"), rich ? richModel() : annotated()));
        const auto model = importModel(path("in.onnx"));
        QVERIFY2(model.ok(), sentence(model).c_str());
        const Status written = exportModel(GraphDraft(*model), path("out.onnx"));
        QVERIFY2(written.ok(), written.ok() ? "" : issueText(written.issue()).c_str());
        const auto again = importModel(path("out.onnx"));
        QVERIFY2(again.ok(), sentence(again).c_str());
        const Graph &a = (*model)->graph, &b = (*again)->graph;
        QCOMPARE(b.nodes().size(), a.nodes().size());
        for (size_t n = 0; n < a.nodes().size(); ++n) {
            QCOMPARE(b.nodes()[n].name, a.nodes()[n].name);
            QCOMPARE(b.nodes()[n].opType, a.nodes()[n].opType);
            QCOMPARE(b.nodes()[n].attributes.all().size(), a.nodes()[n].attributes.all().size());
        }
        for (const Value& value : a.values()) {
            const ValueId same = b.findValue(value.name);
            QVERIFY2(same.valid(), value.name.c_str());
            QCOMPARE(b.value(same).initializer.has_value(), value.initializer.has_value());
            if (value.initializer && isFloat(value.initializer->dtype()))
                QCOMPARE(toDoubles(*b.value(same).initializer), toDoubles(*value.initializer));
        }
        QCOMPARE((*again)->metadata, (*model)->metadata);
        QCOMPARE((*again)->producer, (*model)->producer);
    }

    void keepsNotes()
    {
        QS_HELPER(write(path("in.onnx"), annotated()));
        const auto model = importModel(path("in.onnx"));
        QVERIFY(model.ok());
        GraphDraft draft(*model);
        draft.nodes[0].outputs[0] = "renamed";
        draft.nodes[1].inputs[0] = "renamed";
        draft.nodes.push_back({ NodeId(), "new", "Neg", "", { "renamed" }, { "z" }, {} });
        draft.setConstant("added", Tensor::of<int8_t>({ 2 }, { 1, -1 }));
        draft.dropUnusedConstants();
        QVERIFY(exportModel(draft, path("out.onnx")).ok());
        const onnx::ModelProto out = read(path("out.onnx"));
        QCOMPARE(out.doc_string(), std::string("about the model"));
        QCOMPARE(out.graph().doc_string(), std::string("about the graph"));
        QCOMPARE(out.graph().node_size(), 3);
        QVERIFY(out.graph().node(0).name().empty());
        QCOMPARE(out.graph().node(0).output(0), std::string("renamed"));
        QCOMPARE(out.graph().node(1).doc_string(), std::string("about the node"));
        QCOMPARE(out.graph().node(1).unknown_fields().field_count(), 1);
        QCOMPARE(out.graph().node(2).op_type(), std::string("Neg"));
        QCOMPARE(out.graph().initializer_size(), 1); // the unused ones are gone
        QCOMPARE(out.graph().initializer(0).doc_string(), std::string("about the weight"));
        QVERIFY(out.graph().initializer(0).unknown_fields().empty());
        QCOMPARE(out.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), std::string("batch"));
        QCOMPARE(out.graph().value_info_size(), 0); // of a value that exists no more
    }

    void typesOfSequences()
    {
        QS_HELPER(write(path("in.onnx"), annotated()));
        const auto model = importModel(path("in.onnx"));
        QVERIFY(model.ok());
        for (const bool known : { true, false }) {
            GraphDraft draft(*model);
            ValueType type { DType::Sequence, std::nullopt, "sequence" };
            if (known)
                type.element = std::make_shared<const ValueType>(ValueType { DType::Int8, Dims { { 4, {} } }, {} });
            draft.types["r"] = type;
            QVERIFY(exportModel(draft, path("out.onnx")).ok());
            const onnx::ModelProto out = read(path("out.onnx"));
            QCOMPARE(out.graph().value_info_size(), known ? 1 : 0);
            if (!known)
                continue;
            const auto& element = out.graph().value_info(0).type().sequence_type().elem_type().tensor_type();
            QCOMPARE(element.elem_type(), int(onnx::TensorProto::INT8));
            QCOMPARE(element.shape().dim(0).dim_value(), int64_t(4));
        }
    }

    void oldFormatListsConstantsAsInputs()
    {
        auto proto = annotated();
        proto.set_ir_version(3);
        addInput(proto.mutable_graph(), "w", { 3 });
        QS_HELPER(write(path("in.onnx"), proto));
        const auto model = importModel(path("in.onnx"));
        QVERIFY(model.ok());
        QVERIFY(exportModel(GraphDraft(*model), path("out.onnx")).ok());
        const onnx::ModelProto out = read(path("out.onnx"));
        QCOMPARE(out.graph().input_size(), 1); // else the constant would be a mere default
        QVERIFY(out.ir_version() >= 4);
    }

    void newElementTypesRaiseTheIrVersion()
    {
        auto proto = annotated();
        proto.set_ir_version(8);
        QS_HELPER(write(path("in.onnx"), proto));
        const auto model = importModel(path("in.onnx"));
        QVERIFY(model.ok());
        for (const auto& [type, ir] : { std::pair(DType::Int8, 8), std::pair(DType::Float8E4M3FN, 9),
                 std::pair(DType::UInt4, 10), std::pair(DType::Int2, 13) }) {
            GraphDraft draft(*model);
            draft.setConstant("w", Tensor::allocate(type, { 3 }));
            QVERIFY(exportModel(draft, path("out.onnx")).ok());
            QCOMPARE(read(path("out.onnx")).ir_version(), ir);
        }
    }

    void externalData()
    {
        QS_HELPER(write(path("in.onnx"), withLargeConstant()));
        const auto model = importModel(path("in.onnx"));
        QVERIFY(model.ok());
        ExportOptions options;
        options.inlineLimit = 1000;
        QVERIFY(exportModel(GraphDraft(*model), path("big.onnx"), options).ok());
        QVERIFY(QFile::exists(QString::fromStdString(path("big.onnx.data"))));
        const auto again = importModel(path("big.onnx"));
        QVERIFY2(again.ok(), sentence(again).c_str());
        const Graph& graph = (*again)->graph;
        QCOMPARE(toFloats(*graph.value(graph.findValue("large")).initializer), std::vector<float>(1000, 0.25f));

        // What is read from a second file comes inside.
        QVERIFY(QDir(m_folder.path()).mkpath("other"));
        QVERIFY(exportModel(GraphDraft(*again), path("other/small.onnx")).ok());
        const auto inside = importModel(path("other/small.onnx"));
        QVERIFY2(inside.ok(), sentence(inside).c_str());
        QVERIFY(!QFile::exists(QString::fromStdString(path("other/small.onnx.data"))));
    }

    /// The model that is replaced and its data stay whole until the new ones are.
    void externalDataOfTwoModels()
    {
        QS_HELPER(write(path("in.onnx"), withLargeConstant()));
        const auto model = importModel(path("in.onnx"));
        QVERIFY(model.ok());
        ExportOptions options;
        options.inlineLimit = 1000;
        const QString first = QString::fromStdString(path("twice.onnx.data")),
                      second = QString::fromStdString(path("twice.onnx.2.data"));
        for (const float value : { 1.f, 2.f, 3.f }) {
            GraphDraft draft(*model);
            draft.setConstant("large", Tensor::of<float>({ 1000 }, std::vector<float>(1000, value)));
            {
                auto staged = stageModel(draft, path("twice.onnx"), options);
                QVERIFY(staged.ok() && staged->size() == 2);
                QVERIFY(staged->front().commit().ok()); // and then the process ends
            }
            if (value > 1)
                QVERIFY(importModel(path("twice.onnx")).ok());
            QVERIFY(exportModel(draft, path("twice.onnx"), options).ok());
            const auto again = importModel(path("twice.onnx"));
            QVERIFY2(again.ok(), sentence(again).c_str());
            const Graph& graph = (*again)->graph;
            QCOMPARE(toFloats(*graph.value(graph.findValue("large")).initializer), std::vector<float>(1000, value));
            QCOMPARE(QFile::exists(first), value != 2);
            QCOMPARE(QFile::exists(second), value == 2);
        }
    }

    void refusals()
    {
        QS_HELPER(write(path("in.onnx"), annotated()));
        const auto model = importModel(path("in.onnx"));
        QVERIFY(model.ok());
        QVERIFY(!exportModel(GraphDraft(*model), path("missing/out.onnx")).ok());
        GraphDraft broken(*model);
        broken.nodes[1].inputs[0] = "nobody makes it";
        QVERIFY(!broken.build().ok());
        QVERIFY(QFile::remove(QString::fromStdString(path("in.onnx"))));
        QVERIFY(!exportModel(GraphDraft(*model), path("out2.onnx")).ok());
        QVERIFY(!QFile::exists(QString::fromStdString(path("out2.onnx"))));
    }

    void modelsFromMemory()
    {
        const auto model = import(annotated());
        QVERIFY(model.ok());
        const auto bytes = exportToBytes(GraphDraft(*model));
        QVERIFY(bytes.ok());
        const auto again = importBytes(*bytes);
        QVERIFY2(again.ok(), sentence(again).c_str());
        QCOMPARE((*again)->graph.nodes().size(), size_t(2));
    }
};

int runExportTest(int argc, char** argv)
{
    ExportTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "export_test.moc"
