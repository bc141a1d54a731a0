// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/onnx/model_bytes.h"
#include "tests/onnx/runners.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>
#include <unistd.h>

using namespace qs;
using namespace qs::test;

class BadFileTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    QString open(const std::string& bytes)
    {
        QFile file(m_folder.filePath("bad.onnx"));
        file.open(QIODevice::WriteOnly);
        file.write(bytes.data(), qint64(bytes.size()));
        file.close();
        const auto opened = importModel(file.fileName().toStdString());
        if (!opened && opened.issue().kind != IssueKind::BadInput)
            return "wrong kind";
        return QString::fromStdString(sentence(opened));
    }

private slots:
    void noModel()
    {
        QVERIFY(open("").contains("bad.onnx: the file is empty"));
        QVERIFY(open("Hello, this is a text file.\nIt has lines.\n").contains("is not an ONNX model"));
        QVERIFY(open("\n\nanother text\n").contains("is not an ONNX model"));
        QVERIFY(open("{\"json\": true}").contains("is not an ONNX model"));
        QVERIFY(open("version https://git-lfs.github.com/spec/v1\noid sha256:0\n").contains("Git LFS"));
        QVERIFY(open(std::string(1000, '\0')).contains("is not an ONNX model"));
        QVERIFY(open(std::string(1000, '\xff')).contains("is not an ONNX model"));
        onnx::ModelProto none = emptyModel();
        none.clear_graph();
        QVERIFY(open(none.SerializeAsString()).contains("it has no graph"));
        onnx::TensorProto tensor;
        setRaw(&tensor, "x", 1, { 1 }, "abcd");
        QVERIFY(open(tensor.SerializeAsString()).contains("is not an ONNX model"));
    }

    void graphsCountAsMemory()
    {
        open(emptyModel().SerializeAsString());
        const std::string path = m_folder.filePath("bad.onnx").toStdString();
        const auto model = importModel(path);
        QVERIFY(model.ok() && (*model)->graphBytes > 0);
        QVERIFY(importModel(path, (*model)->graphBytes).ok());
        const auto refused = importModel(path, (*model)->graphBytes - 1);
        QVERIFY(!refused.ok() && refused.issue().what.find("memory limit") != std::string::npos);
    }

    void places()
    {
        const auto text
            = [](const QString& path) { return QString::fromStdString(sentence(importModel(path.toStdString()))); };
        QVERIFY(text(m_folder.path()).contains("is a folder"));
        QVERIFY(text(m_folder.filePath("none.onnx")).contains("does not exist"));
        QVERIFY(text("/dev/null").contains("not a regular file"));
        if (::geteuid() == 0)
            return; // root may read everything
        open(emptyModel().SerializeAsString());
        QFile::setPermissions(m_folder.filePath("bad.onnx"), {});
        QVERIFY(text(m_folder.filePath("bad.onnx")).contains("must not be read"));
        QFile::setPermissions(m_folder.filePath("bad.onnx"), QFile::ReadOwner | QFile::WriteOwner);
    }

    void oldAndUnfinished()
    {
        QVERIFY(open(emptyModel(2).SerializeAsString()).contains("IR version 2"));
        auto model = emptyModel();
        model.clear_opset_import();
        QVERIFY(open(model.SerializeAsString()).contains("imports no operator set"));
        QCOMPARE(open(emptyModel(3).SerializeAsString()), QString());
        QCOMPARE(open(emptyModel(99).SerializeAsString()), QString());
    }

    void graphsThatAreNone()
    {
        auto model = emptyModel();
        auto* g = model.mutable_graph();
        addInput(g, "x");
        addOutput(g, "y");
        QVERIFY(open(model.SerializeAsString()).contains("tensor 'y'"));
        addNode(g, "Add", { "x", "b" }, { "a" }, "first");
        addNode(g, "Relu", { "a" }, { "b" }, "second");
        addNode(g, "Relu", { "b" }, { "y" }, "third");
        const QString cycle = open(model.SerializeAsString());
        QVERIFY2(cycle.contains("bad.onnx: node '") && cycle.contains("cycle"), qPrintable(cycle));
        g->mutable_node(0)->set_input(1, "ghost");
        const QString dangling = open(model.SerializeAsString());
        QVERIFY2(dangling.contains("node 'first': tensor 'ghost'"), qPrintable(dangling));
        g->mutable_node(0)->set_input(1, "x");
        QCOMPARE(open(model.SerializeAsString()), QString());
        g->mutable_node(1)->set_output(0, "a");
        QVERIFY(open(model.SerializeAsString()).contains("twice"));
        g->mutable_node(1)->set_output(0, "b");
        addInput(g, "x");
        QVERIFY(open(model.SerializeAsString()).contains("tensor 'x': is listed twice"));
    }

    void weightsOfTheWrongSizeInAnAttribute()
    {
        auto model = emptyModel();
        auto* constant = addNode(model.mutable_graph(), "Constant", {}, { "c" }, "stored");
        setRaw(addAttribute(constant, "value", onnx::AttributeProto::TENSOR)->mutable_t(), "", 1, { 4 }, "12");
        const QString text = open(model.SerializeAsString());
        QVERIFY2(text.contains("bad.onnx: node 'stored': tensor 'value': its shape 4 of float32 needs 16 bytes"),
            qPrintable(text));
    }

    void deepNesting()
    {
        auto model = emptyModel();
        auto* g = model.mutable_graph();
        for (int i = 0; i < 60; ++i)
            g = addAttribute(addNode(g, "If", {}, {}), "then_branch", onnx::AttributeProto::GRAPH)->mutable_g();
        QVERIFY(open(model.SerializeAsString()).contains("too deeply"));
    }

    void cutAtEveryByte()
    {
        const std::string whole = richModel().SerializeAsString();
        size_t opened = 0;
        for (size_t length = 0; length < whole.size(); ++length) {
            const auto result = importBytes(whole.substr(0, length));
            opened += result.ok();
            if (!result) {
                QCOMPARE(result.issue().kind, IssueKind::BadInput);
                QVERIFY(!result.issue().what.empty() && !result.issue().remedy.empty());
            }
        }
        // Only between whole fields at the end, where functions or further imports are missing, is it still a model.
        QVERIFY2(opened <= 4, std::to_string(opened).c_str());
    }
};

int runBadFileTest(int argc, char** argv)
{
    BadFileTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "bad_file_test.moc"
