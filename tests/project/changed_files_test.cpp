// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are written again while they are open.
#include "core/base/files/opened_file.h"
#include "core/base/issue_text.h"
#include "core/project/snapshot/build_snapshot.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <fcntl.h>
#include <unistd.h>

using namespace qs;

namespace {

const QString kExamples = QStringLiteral(QS_SOURCE_DIR "/resources/examples/");

QByteArray bytesOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// In place, as exporters write.
bool rewrite(const QString& path, const QByteArray& bytes)
{
    QFile file(path);
    return file.open(QIODevice::WriteOnly | QIODevice::Truncate) && file.write(bytes) == bytes.size();
}

} // namespace

class ChangedFilesTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QString path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)); }
    Inputs inputs() const
    {
        Inputs in;
        in.floatPath = path("float.onnx").toStdString();
        in.quantPath = path("qdq.onnx").toStdString();
        in.data.spec = path("data.npz").toStdString();
        in.data.limit = 20;
        in.threads = 1;
        return in;
    }

private slots:
    void init()
    {
        for (const auto& [from, to] : { std::pair("digits_float.onnx", "float.onnx"),
                 std::pair("digits_qdq.onnx", "qdq.onnx"), std::pair("digits_samples.npz", "data.npz") })
            QVERIFY(rewrite(path(to), bytesOf(kExamples + QLatin1String(from))));
    }

    void whileItRuns_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("how");
        for (const char* name : { "float.onnx", "qdq.onnx", "data.npz" })
            for (const char* how : { "nothing", "half", "as long", "replaced" })
                QTest::addRow("%s %s", name, how) << path(name) << how;
    }

    /// The file changes with the first sample that is run.
    void whileItRuns()
    {
        QFETCH(QString, name);
        QFETCH(QString, how);
        const QByteArray before = bytesOf(name);
        std::atomic<bool> done = false;
        const auto change = [&] {
            QByteArray other = before;
            for (qsizetype i = other.size() / 3; i < other.size() * 2 / 3; ++i)
                other[i] = char(i);
            if (how == "replaced")
                QFile::remove(name);
            return rewrite(name,
                how == "nothing"    ? QByteArray()
                    : how == "half" ? before.left(before.size() / 2)
                                    : other);
        };
        const auto progress = [&](std::string_view phase, size_t, size_t) {
            if (phase == "run" && !done.exchange(true) && !change())
                qFatal("%s cannot be written", qPrintable(name));
        };
        const auto result = buildSnapshot(inputs(), nullptr, progress, {});
        QVERIFY(done);
        QVERIFY(!result.ok());
        QCOMPARE(result.issue().file, name.toStdString());
        QVERIFY2(asksToOpenAgain(result.issue()), issueText(result.issue()).c_str());
    }

    void betweenRuns()
    {
        const auto first = buildSnapshot(inputs(), nullptr, {}, {});
        QVERIFY(first.ok() && unchanged(**first).ok());
        Inputs more = inputs();
        more.data.limit = 21;
        QVERIFY(rewrite(path("qdq.onnx"), bytesOf(kExamples + "digits_qdq_narrow.onnx")));
        QVERIFY(!unchanged(**first).ok());
        const auto second = buildSnapshot(more, *first, {}, {});
        QVERIFY(!second.ok() && asksToOpenAgain(second.issue()));
        const auto again = buildSnapshot(more, std::make_shared<Snapshot>(), {}, {}); // what Reload does
        QVERIFY(again.ok());
    }

    void movedAway()
    {
        const auto first = buildSnapshot(inputs(), nullptr, {}, {});
        QVERIFY(first.ok());
        QVERIFY(QFile::rename(path("qdq.onnx"), path("moved.onnx")));
        Inputs alone = inputs();
        alone.nodeAlone = true;
        QVERIFY(buildSnapshot(alone, *first, {}, {}).ok()); // it is there still for who opened it
    }
};

QTEST_GUILESS_MAIN(ChangedFilesTest)
#include "changed_files_test.moc"
