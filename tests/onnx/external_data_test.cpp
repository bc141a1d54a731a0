// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/mapped_pages.h"
#include "tests/onnx/model_bytes.h"
#include "tests/onnx/runners.h"
#include "tests/support/helper_call.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

using namespace qs;
using namespace qs::test;

class ExternalDataTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    void write(const QString& name, const QByteArray& bytes)
    {
        QFile file(m_folder.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes);
    }
    static onnx::ModelProto model(const std::string& location, const std::string& offset, const std::string& length)
    {
        auto proto = emptyModel();
        auto* tensor = proto.mutable_graph()->add_initializer();
        tensor->set_name("w");
        tensor->set_data_type(onnx::TensorProto::FLOAT);
        tensor->add_dims(2);
        tensor->set_data_location(onnx::TensorProto::EXTERNAL);
        const auto add = [&](const char* key, const std::string& value) {
            if (value.empty())
                return;
            auto* entry = tensor->add_external_data();
            entry->set_key(key);
            entry->set_value(value);
        };
        add("location", location);
        add("offset", offset);
        add("length", length);
        return proto;
    }
    std::string open(const QString& file, const onnx::ModelProto& proto)
    {
        const std::string bytes = proto.SerializeAsString();
        write(file, QByteArray(bytes.data(), int(bytes.size()))); // what was not written does not open
        return sentence(importModel(m_folder.filePath(file).toStdString()));
    }

private slots:
    void initTestCase()
    {
        QVERIFY(QDir(m_folder.path()).mkpath("store"));
        QVERIFY(QDir(m_folder.path()).mkpath("models/sub"));
        const float values[] = { 1, 2, 3, 4 };
        QS_HELPER(write("models/w.bin", QByteArray(reinterpret_cast<const char*>(values), sizeof values)));
        QS_HELPER(write("models/sub/w.bin", QByteArray(reinterpret_cast<const char*>(values), sizeof values)));
        QS_HELPER(write("outside.bin", QByteArray(100, 'x')));
    }

    /// Also where an exporter cuts the file while it is open.
    void cutWhileItIsOpen()
    {
        const QString weights = m_folder.filePath("cut.bin");
        write("cut.bin", QByteArray(1 << 16, 'x'));
        auto proto = model("cut.bin", "", "");
        proto.mutable_graph()->mutable_initializer(0)->set_dims(0, 1 << 14);
        QCOMPARE(open("cut.onnx", proto), std::string());
        const auto opened = importModel(m_folder.filePath("cut.onnx").toStdString());
        QVERIFY(opened.ok());
        const OpenedFiles files = filesOf(**opened);
        QCOMPARE(files.size(), size_t(2));
        QCOMPARE(files[1]->path(), weights.toStdString());
        QVERIFY(unchanged(files).ok());
        const Graph& graph = (*opened)->graph;
        const Tensor& w = *graph.value(graph.findValue("w")).initializer;
        const auto values = w.data<uint8_t>();
        QCOMPARE(std::ranges::count(values, 'x'), std::ptrdiff_t(1 << 14));
        letPagesGo(w.bytes()); // they come back
        QCOMPARE(std::ranges::count(values, 'x'), std::ptrdiff_t(1 << 14));
        letPagesGo(w.bytes());
        QVERIFY(QFile::resize(weights, 5000));
        size_t read = 0; // page by page, from the end: what is lost reads as zeros
        for (size_t at = values.size(); at-- > 0;)
            read += values[at] == 'x';
        QVERIFY(read < values.size());
        letPagesGo(w.bytes());
        QCOMPARE(values[values.size() - 1], uint8_t(0));
        QVERIFY(!unchanged(files).ok());
        QCOMPARE(files[1]->unchanged().issue().file, weights.toStdString());
    }

    void reads_data()
    {
        QTest::addColumn<QString>("location");
        QTest::addColumn<QString>("offset");
        QTest::addColumn<QString>("length");
        QTest::addColumn<float>("first");
        QTest::newRow("whole") << "w.bin"
                               << ""
                               << "" << 1.f;
        QTest::newRow("offset") << "w.bin"
                                << "4"
                                << "8" << 2.f;
        QTest::newRow("end") << "w.bin"
                             << "8"
                             << "" << 3.f;
        QTest::newRow("misaligned") << "w.bin"
                                    << "1"
                                    << "8" << -1.f;
        QTest::newRow("folder") << "sub/w.bin"
                                << "0"
                                << "8" << 1.f;
        QTest::newRow("dot") << "./w.bin"
                             << "0"
                             << "8" << 1.f;
    }
    void reads()
    {
        QFETCH(QString, location);
        QFETCH(QString, offset);
        QFETCH(QString, length);
        QFETCH(float, first);
        const auto proto = model(location.toStdString(), offset.toStdString(), length.toStdString());
        QCOMPARE(open("models/model.onnx", proto), std::string());
        const auto opened = importModel(m_folder.filePath("models/model.onnx").toStdString());
        const Tensor& w = *(*opened)->graph.values()[0].initializer;
        if (first > 0) // the misaligned one holds no meaningful number
            QCOMPARE(w.data<float>()[0], first);
        QCOMPARE(w.count(), int64_t(2));
        QVERIFY(import(proto, m_folder.filePath("models").toStdString()).ok());
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("location");
        QTest::addColumn<QString>("offset");
        QTest::addColumn<QString>("length");
        QTest::addColumn<QString>("why");
        QTest::newRow("missing") << "lost.bin"
                                 << ""
                                 << ""
                                 << "'lost.bin' is missing";
        QTest::newRow("no name") << ""
                                 << ""
                                 << ""
                                 << "no file name";
        QTest::newRow("too short") << "w.bin"
                                   << "12"
                                   << ""
                                   << "too short";
        QTest::newRow("offset past the end") << "w.bin"
                                             << "18446744073709551615"
                                             << ""
                                             << "too short";
        QTest::newRow("no number") << "w.bin"
                                   << "4x"
                                   << ""
                                   << "not a number";
        QTest::newRow("negative") << "w.bin"
                                  << "-4"
                                  << ""
                                  << "not a number";
        QTest::newRow("huge number") << "w.bin"
                                     << "99999999999999999999"
                                     << ""
                                     << "not a number";
        QTest::newRow("length") << "w.bin"
                                << "0"
                                << "12"
                                << "needs 8 bytes, but its external data has 12";
        QTest::newRow("parent") << "../outside.bin"
                                << ""
                                << ""
                                << "outside the model's folder";
        QTest::newRow("hidden parent") << "sub/../../outside.bin"
                                       << ""
                                       << ""
                                       << "outside the model's folder";
        QTest::newRow("absolute") << m_folder.filePath("models/w.bin") << ""
                                  << ""
                                  << "outside the model's folder";
        QTest::newRow("a folder") << "sub"
                                  << ""
                                  << ""
                                  << "is a folder";
        QTest::newRow("a link out") << "link.bin"
                                    << ""
                                    << ""
                                    << "leads out of";
    }
    void refuses()
    {
        QFETCH(QString, location);
        QFETCH(QString, offset);
        QFETCH(QString, length);
        QFETCH(QString, why);
        QFile::link(m_folder.filePath("outside.bin"), m_folder.filePath("models/link.bin"));
        const auto text = QString::fromStdString(
            open("models/bad.onnx", model(location.toStdString(), offset.toStdString(), length.toStdString())));
        QVERIFY2(text.contains(why), qPrintable(text));
        QVERIFY2(text.contains("bad.onnx") && text.contains("tensor 'w'") && text.contains("; "), qPrintable(text));
        QCOMPARE(text.count('\n'), 0);
    }

    void linksOfAModelCache()
    {
        // A cache stores files under other names in one folder and links to them from a folder a model.
        const float values[] = { 5, 6 };
        QS_HELPER(write("store/blob1", QByteArray(reinterpret_cast<const char*>(values), sizeof values)));
        const std::string bytes = model("weights.bin", "", "").SerializeAsString();
        QS_HELPER(write("store/blob2", QByteArray(bytes.data(), int(bytes.size()))));
        QVERIFY(QDir(m_folder.path()).mkpath("snapshot"));
        QVERIFY(QFile::link("../store/blob1", m_folder.filePath("snapshot/weights.bin")));
        QVERIFY(QFile::link("../store/blob2", m_folder.filePath("snapshot/model.onnx")));
        const auto opened = importModel(m_folder.filePath("snapshot/model.onnx").toStdString());
        QVERIFY2(opened.ok(), sentence(opened).c_str());
        QCOMPARE((*opened)->graph.values()[0].initializer->data<float>()[1], 6.f);
    }
};

int runExternalDataTest(int argc, char** argv)
{
    ExternalDataTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "external_data_test.moc"
