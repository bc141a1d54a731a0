// SPDX-License-Identifier: GPL-3.0-or-later
// Which paths somebody else may name.
#include "core/agent/folders/allowed_folders.h"
#include "core/base/issue_text.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace qs;

class AgentFoldersTest : public QObject {
    Q_OBJECT
private slots:
    void init();
    void paths_data();
    void paths();
    void writing_data();
    void writing();
    void noFolder();
    void linksBelow();

private:
    std::string at(const QString& path) const { return m_root->filePath(path).toStdString(); }
    std::unique_ptr<QTemporaryDir> m_root;
};

/// allowed/in.txt, allowed/sub, allowed/out -> outside/secret.txt, allowed/way -> outside, allowed/new ->
/// outside/new.txt
void AgentFoldersTest::init()
{
    m_root = std::make_unique<QTemporaryDir>();
    const QDir root(m_root->path());
    for (const char* folder : { "allowed/sub", "outside", "allowed2" })
        QVERIFY(root.mkpath(folder));
    for (const char* name : { "allowed/in.txt", "outside/secret.txt", "allowed2/in.txt" }) {
        QFile file(root.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("x");
    }
    QVERIFY(QFile::link(root.filePath("outside/secret.txt"), root.filePath("allowed/out")));
    QVERIFY(QFile::link(root.filePath("outside"), root.filePath("allowed/way")));
    QVERIFY(QFile::link(root.filePath("outside/new.txt"), root.filePath("allowed/new")));
}

void AgentFoldersTest::paths_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("fault"); ///< empty: none
    QTest::newRow("relative to the folder") << "in.txt"
                                            << "";
    QTest::newRow("whole") << "@/allowed/in.txt"
                           << "";
    QTest::newRow("back and forth") << "@/allowed/sub/../in.txt"
                                    << "";
    QTest::newRow("missing") << "none.txt"
                             << "there is no file";
    QTest::newRow("missing in a folder that is not there") << "none/more/in.txt"
                                                           << "there is no file";
    QTest::newRow("above") << "../outside/secret.txt"
                           << "outside";
    QTest::newRow("above, by a folder that is not there") << "none/../../outside/secret.txt"
                                                          << "outside";
    QTest::newRow("whole, outside") << "@/outside/secret.txt"
                                    << "outside";
    QTest::newRow("outside and missing") << "@/outside/none.txt"
                                         << "outside";
    QTest::newRow("a name that begins like the folder's") << "@/allowed2/in.txt"
                                                          << "outside";
    QTest::newRow("a link") << "out"
                            << "outside";
    QTest::newRow("a link on the way") << "way/secret.txt"
                                       << "outside";
    QTest::newRow("system") << "/etc/passwd"
                            << "outside";
    QTest::newRow("device") << "/dev/stdin"
                            << "outside";
    QTest::newRow("empty") << ""
                           << "no path";
    QTest::newRow("long") << QString(5000, 'a') << "no path";
}

void AgentFoldersTest::paths()
{
    QFETCH(QString, path);
    QFETCH(QString, fault);
    const auto allowed = AllowedFolders::of({ at("allowed") });
    QVERIFY(allowed.ok());
    const auto found = allowed->existing(path.replace("@", m_root->path()).toStdString());
    QCOMPARE(found.ok(), fault.isEmpty());
    if (found.ok())
        QCOMPARE(QString::fromStdString(*found), QDir(m_root->path()).canonicalPath() + "/allowed/in.txt");
    else
        QVERIFY2(
            issueText(found.issue()).find(fault.toStdString()) != std::string::npos, issueText(found.issue()).c_str());
}

void AgentFoldersTest::writing_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("fault");
    QTest::newRow("new") << "sub/new.onnx"
                         << "";
    QTest::newRow("there") << "in.txt"
                           << "";
    QTest::newRow("a folder that is not there") << "none/new.onnx"
                                                << "no folder";
    QTest::newRow("a folder") << "sub"
                              << "is a folder";
    QTest::newRow("by a link to nothing yet") << "new"
                                              << "outside";
    QTest::newRow("by a link on the way") << "way/new.onnx"
                                          << "outside";
    QTest::newRow("above") << "../new.onnx"
                           << "outside";
    QTest::newRow("dots") << "none/.."
                          << "outside";
}

void AgentFoldersTest::writing()
{
    QFETCH(QString, path);
    QFETCH(QString, fault);
    const auto allowed = AllowedFolders::of({ at("allowed") });
    QVERIFY(allowed.ok());
    const auto found = allowed->toWrite(path.toStdString());
    QCOMPARE(found.ok(), fault.isEmpty());
    if (!found.ok())
        QVERIFY2(
            issueText(found.issue()).find(fault.toStdString()) != std::string::npos, issueText(found.issue()).c_str());
}

void AgentFoldersTest::noFolder()
{
    QVERIFY(!AllowedFolders::of({ at("none") }).ok());
    QVERIFY(!AllowedFolders::of({ at("allowed/in.txt") }).ok());
    const auto here = AllowedFolders::of({});
    QVERIFY(here.ok());
    QCOMPARE(QString::fromStdString(here->folders().front()), QDir::current().canonicalPath());
    QVERIFY(AllowedFolders::of({ "/" })->existing(at("outside/secret.txt")).ok());
}

void AgentFoldersTest::linksBelow()
{
    const auto allowed = AllowedFolders::of({ at("allowed") });
    QVERIFY(!allowed->checkBelow(at("allowed")).ok());
    QVERIFY(allowed->checkBelow(at("allowed/sub")).ok());
    QVERIFY(allowed->checkBelow(at("allowed/in.txt")).ok());
}

QTEST_GUILESS_MAIN(AgentFoldersTest)
#include "folders_test.moc"
