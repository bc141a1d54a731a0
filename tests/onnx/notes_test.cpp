// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/graph/origin/exporter_origin.h"
#include "core/graph/value_notes.h"
#include "core/onnx/write/export.h"
#endif
#include "core/onnx/files/proto.h"
#include "tests/onnx/model_bytes.h"
#include "tests/onnx/runners.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>
#include <google/protobuf/unknown_field_set.h>

using namespace qs;
using namespace qs::test;

namespace {

void addEntry(google::protobuf::Message& message, int number, const std::string& key, const std::string& value)
{
    onnx::StringStringEntryProto entry;
    entry.set_key(key);
    entry.set_value(value);
    message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(number, entry.SerializeAsString());
}

/// "doc|key=value|key=value"
QString notes(const Node& node)
{
    if (!node.cameFrom || !node.cameFrom->metadata)
        return QStringLiteral("-");
    const Metadata& metadata = *node.cameFrom->metadata;
    std::string text(metadata.docString);
    for (const auto& [key, value] : metadata.entries)
        text += "|" + std::string(key) + "=" + std::string(value);
    return QString::fromStdString(text);
}

const Node& nodeOf(const Imported& model, const char* name)
{
    const NodeId id = (*model)->graph.findNode(name);
    return (*model)->graph.node(id.valid() ? id : NodeId(0));
}

/// x -> If -> y; both branches are documented nodes.
onnx::ModelProto withBranches()
{
    auto model = emptyModel(10, 21);
    auto* graph = model.mutable_graph();
    addInput(graph, "x");
    addOutput(graph, "y");
    auto* condition = graph->add_initializer();
    setRaw(condition, "c", 9, {}, std::string(1, '\1'));
    auto* node = addNode(graph, "If", { "c" }, { "y" }, "if");
    addEntry(*node, kNodeMetadata, "where", "outside");
    for (const char* branch : { "then_branch", "else_branch" }) {
        auto* body = addAttribute(node, branch, onnx::AttributeProto::GRAPH)->mutable_g();
        body->set_name(branch);
        auto* inner = addNode(body, "Relu", { "x" }, { std::string("o_") + branch }, "inner");
        inner->set_doc_string("inner doc");
        addEntry(*inner, kNodeMetadata, "where", branch);
        setType(body->add_output(), std::string("o_") + branch, { 2, 3 });
    }
    return model;
}

} // namespace

class NotesTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::string path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)).toStdString(); }
    static void write(const std::string& file, const onnx::ModelProto& proto)
    {
        QFile out(QString::fromStdString(file));
        QVERIFY(out.open(QIODevice::WriteOnly));
        const std::string bytes = proto.SerializeAsString();
        QCOMPARE(out.write(bytes.data(), qint64(bytes.size())), qint64(bytes.size()));
    }

private slots:
    void nodesKeepTheirNotes()
    {
        auto model = emptyModel(10, 21);
        auto* graph = model.mutable_graph();
        addInput(graph, "x");
        auto* relu = addNode(graph, "Relu", { "x" }, { "r" }, "relu");
        relu->set_doc_string("what\xff it does");
        relu->set_domain("");
        addEntry(*relu, kNodeMetadata, "a", "1");
        addEntry(*relu, kNodeMetadata, "b", std::string(5000, 'z'));
        addNode(graph, "Neg", { "r" }, { "y" }, "neg");
        addOutput(graph, "y");
        const auto read = import(model);
        QVERIFY2(read.ok(), sentence(read).c_str());
        QCOMPARE(
            notes(nodeOf(read, "relu")), QString::fromStdString("what\xff it does|a=1|b=" + std::string(5000, 'z')));
        QVERIFY(!nodeOf(read, "neg").cameFrom);
    }

    /// More than is copied is read where it lies.
    void manyNotesAreNotCopied()
    {
        auto model = emptyModel(10, 21);
        addInput(model.mutable_graph(), "x");
        addOutput(model.mutable_graph(), "y2");
        for (int i = 0; i < 3; ++i) {
            auto* node = addNode(model.mutable_graph(), "Neg", { i ? "y" + std::to_string(i - 1) : "x" },
                { "y" + std::to_string(i) }, "n" + std::to_string(i));
            addEntry(*node, kNodeMetadata, "k", std::string(6 << 20, char('a' + i)));
        }
        const auto read = import(model);
        QVERIFY2(read.ok(), sentence(read).c_str());
        for (int i = 0; i < 3; ++i) {
            const auto& said = nodeOf(read, ("n" + std::to_string(i)).c_str()).cameFrom->metadata;
            QCOMPARE(said->find("k").size(), size_t(6 << 20));
            QCOMPARE(said->find("k").back(), char('a' + i));
        }
    }

    void damagedNotesAreLeftOut_data()
    {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("found");
        QTest::newRow("no entry") << QByteArray("\xff\xff") << "|=";
        QTest::newRow("longer than it is") << QByteArray("\x0a\x7f"
                                                         "ab")
                                           << "|=";
        QTest::newRow("a key alone") << QByteArray("\x0a\x02"
                                                   "ab")
                                     << "|ab=";
        QTest::newRow("other fields, too") << QByteArray("\x0a\x01"
                                                         "a"
                                                         "\x2a\x01"
                                                         "x"
                                                         "\x12\x01"
                                                         "b")
                                           << "|a=b";
        QTest::newRow("a number among them") << QByteArray("\x0a\x01"
                                                           "a"
                                                           "\x18\x05"
                                                           "\x12\x01"
                                                           "b")
                                             << "|a=";
        QTest::newRow("empty") << QByteArray() << "|=";
    }
    void damagedNotesAreLeftOut()
    {
        QFETCH(QByteArray, content);
        auto model = emptyModel(10, 21);
        addInput(model.mutable_graph(), "x");
        addOutput(model.mutable_graph(), "y");
        auto* node = addNode(model.mutable_graph(), "Relu", { "x" }, { "y" }, "n");
        node->mutable_unknown_fields()->AddLengthDelimited(kNodeMetadata, content.toStdString());
        node->mutable_unknown_fields()->AddVarint(int(kPayloadField), 12345); // forged
        const auto read = import(model);
        QVERIFY2(read.ok(), sentence(read).c_str());
        QTEST(notes(nodeOf(read, "n")), "found");
    }

    void writtenFilesKeepThem()
    {
        auto model = withBranches();
        write(path("in.onnx"), model);
        const auto read = importModel(path("in.onnx"));
        QVERIFY2(read.ok(), sentence(read).c_str());
        GraphDraft draft(*read);
        const auto branch = draft.nodes[0].attributes.get<std::shared_ptr<const Graph>>("then_branch");
        QVERIFY(branch && *branch);
        QCOMPARE(notes((*branch)->nodes()[0]), QStringLiteral("inner doc|where=then_branch"));
        for (const bool changed : { false, true }) { // written from the file, and anew
            draft.nodes[0].attributesChanged = changed;
            const auto bytes = exportToBytes(draft);
            QVERIFY(bytes.ok());
            QVERIFY2(bytes->find("inner doc") != std::string::npos, changed ? "anew" : "from the file");
            const auto again = importBytes(*bytes);
            QVERIFY2(again.ok(), sentence(again).c_str());
            const Node& node = nodeOf(again, "if");
            QCOMPARE(notes(node), QStringLiteral("|where=outside"));
            const auto inner = node.attributes.get<std::shared_ptr<const Graph>>("else_branch");
            QCOMPARE(notes((*inner)->nodes()[0]), QStringLiteral("inner doc|where=else_branch"));
        }
    }

    /// A node that stands in another's place is written with what the file says of that one.
    void replacedNodesKeepThem()
    {
        auto model = emptyModel(10, 21);
        addInput(model.mutable_graph(), "x");
        addOutput(model.mutable_graph(), "y");
        addEntry(*addNode(model.mutable_graph(), "Relu", { "x" }, { "y" }, "n"), kNodeMetadata, "k", "v");
        write(path("plain.onnx"), model);
        const auto read = importModel(path("plain.onnx"));
        QVERIFY2(read.ok(), sentence(read).c_str());
        GraphDraft draft(*read);
        DraftNode other { NodeId(), "other", "Neg", "", { "x" }, { "y" }, {} };
        other.namedAfter = draft.nodes[0].origin;
        draft.nodes = { other };
        const auto bytes = exportToBytes(draft);
        QVERIFY(bytes.ok());
        QCOMPARE(notes(nodeOf(importBytes(*bytes), "other")), QStringLiteral("|k=v"));
        const auto built = draft.build();
        QVERIFY(built.ok());
        QCOMPARE(notes((*built)->graph.nodes()[0]), QStringLiteral("|k=v"));
    }

    void expandedFunctionsNameTheirCall()
    {
        auto model = emptyModel(10, 21);
        for (const char* name : { "Inner", "Outer" }) {
            auto* f = model.add_functions();
            f->set_domain("local");
            f->set_name(name);
            f->add_input("a");
            f->add_output("b");
            f->add_opset_import()->set_version(21);
        }
        addNode(model.mutable_functions(0)->mutable_node(), "Relu", { "a" }, { "b" }, "relu");
        auto* inner = addNode(model.mutable_functions(1)->mutable_node(), "Inner", { "a" }, { "b" }, "inner");
        inner->set_domain("local");
        addInput(model.mutable_graph(), "x");
        addOutput(model.mutable_graph(), "y");
        auto* call = addNode(model.mutable_graph(), "Outer", { "x" }, { "y" }, "call");
        call->set_domain("local");
        addEntry(*call, kNodeMetadata, "namespace", ": m.Net/head: m.Head/gelu: aten.gelu");
        const auto read = import(model);
        QVERIFY2(read.ok(), sentence(read).c_str());
        const Node& node = (*read)->graph.nodes()[0];
        const DerivationPtr way = node.cameFrom->derivation;
        QCOMPARE(way->nodes.front().opType, std::string("local:Inner"));
        QCOMPARE(way->nodes.front().name, std::string("call/inner"));
        QVERIFY(way->outer);
        QCOMPARE(way->outer->nodes.front().name, std::string("call"));
        QVERIFY(!way->outer->outer);
        const ExporterOrigin origin = exporterOrigin(node);
        QCOMPARE(origin.path, std::string("head"));
        QCOMPARE(origin.toldBy, std::string("call"));
    }

    void valuesSayWhereTheyAre()
    {
        auto model = emptyModel(10, 21);
        auto* graph = model.mutable_graph();
        addInput(graph, "x", { 4 });
        addOutput(graph, "y", { 4 });
        addNode(graph, "Add", { "x", "w" }, { "y" }, "add");
        auto* weight = graph->add_initializer();
        weight->set_name("w");
        weight->set_data_type(1);
        weight->add_dims(4);
        weight->set_data_location(onnx::TensorProto::EXTERNAL);
        for (const auto& [key, value] : { std::pair { "location", "w.bin" }, { "offset", "8" }, { "length", "16" } }) {
            auto* entry = weight->add_external_data();
            entry->set_key(key);
            entry->set_value(value);
        }
        auto* info = graph->add_value_info();
        setType(info, "w", { 4 });
        addEntry(*info, kValueMetadata, "pkg.onnxscript.optimizer.folded_from", "['a', 'b']");
        QFile data(m_folder.filePath(QStringLiteral("w.bin")));
        QVERIFY(data.open(QIODevice::WriteOnly) && data.write(QByteArray(24, '\0')) == 24);
        data.close();
        write(path("external.onnx"), model);
        const auto read = importModel(path("external.onnx"));
        QVERIFY2(read.ok(), sentence(read).c_str());
        QVERIFY((*read)->valueNotes);
        const ExternalPlace& place = (*read)->valueNotes->external.at("w");
        QCOMPARE(place.file, std::string("w.bin"));
        QCOMPARE(place.offset, uint64_t(8));
        QCOMPARE(place.length, uint64_t(16));
        QCOMPARE(foldedFrom(*(*read)->valueNotes->metadata.at("w")), (std::vector<std::string> { "a", "b" }));
    }

    /// What PyTorch's exporters write (tests/data/origin/make_origin_models.py), held against tiny_model.py.
    void realFiles_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("node");
        QTest::addColumn<QString>("module");
        QTest::addColumn<QString>("type");
        QTest::addColumn<QString>("source");
        const QString conv = QStringLiteral("torch.nn.modules.conv.Conv2d"),
                      norm = QStringLiteral("torch.nn.modules.batchnorm.BatchNorm2d");
        const auto row = [](const char* name, const QString& file, const QString& node, const QString& module,
                             const QString& type, const QString& source) {
            QTest::newRow(name) << file << node << module << type << "/project/tiny_model.py:" + source;
        };
        const QString dynamo = QStringLiteral("dynamo.onnx"), script = QStringLiteral("torchscript.onnx");
        row("conv", dynamo, "node_conv2d", "stem", conv, "27 in forward x = self.stem(x)");
        row("folded conv", dynamo, "node_Conv_18", "blocks.1.norm", norm, "15 in forward y = self.norm(y)");
        row("relu", dynamo, "node_relu", "blocks.0", "tiny_model.Block", "16 in forward return torch.relu(y) + x");
        row("mean", dynamo, "node_mean", "", "tiny_model.Net", "29 in forward return self.head(x.mean((2, 3)))");
        row("head", dynamo, "node_linear", "head", "torch.nn.modules.linear.Linear",
            "29 in forward return self.head(x.mean((2, 3)))");
        row("script conv", script, "/stem/Conv", "stem", "", "27 in forward ");
        row("script norm", script, "/blocks/blocks.1/norm/BatchNormalization", "blocks.1.norm", "", "15 in forward ");
        row("script add", script, "/blocks/blocks.0/Add", "blocks.0", "", "16 in forward ");
        row("script mean", script, "/ReduceMean", "", "", "29 in forward ");
    }
    void realFiles()
    {
        QFETCH(QString, file);
        QFETCH(QString, node);
        const auto model = importModel(QStringLiteral(QS_SOURCE_DIR "/tests/data/origin/%1").arg(file).toStdString());
        QVERIFY2(model.ok(), sentence(model).c_str());
        const NodeId id = (*model)->graph.findNode(node.toStdString());
        QVERIFY(id.valid());
        const ExporterOrigin origin = exporterOrigin((*model)->graph.node(id));
        QTEST(QString::fromStdString(origin.path), "module");
        QTEST(QString::fromStdString(origin.moduleType()), "type");
        const bool rewritten = node == QLatin1String("node_Conv_18");
        QCOMPARE(origin.rewrittenBy, std::string(rewritten ? "FuseBatchNormIntoConv" : ""));
        const SourceFrame* frame = origin.shownFrame();
        QVERIFY(frame);
        QTEST(QString::fromStdString(sourceLine(*frame) + " in " + frame->function + " " + frame->code), "source");
    }
};

int runNotesTest(int argc, char** argv)
{
    NotesTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "notes_test.moc"
