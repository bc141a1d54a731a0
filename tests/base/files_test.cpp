// SPDX-License-Identifier: GPL-3.0-or-later
// How files are told apart, watched, and replaced.
#include "core/base/files/atomic_file.h"
#include "core/base/files/file_identity.h"
#include "core/base/files/file_roles.h"
#include "core/base/files/neighbour.h"
#include "core/base/files/opened_file.h"
#include "tests/base/runners.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace qs;

namespace {

QByteArray bytesOf(const std::string& path)
{
    QFile file(QString::fromStdString(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QStringList allIn(const QTemporaryDir& dir)
{
    return QDir(dir.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
}

/// Runs `work` in a process of its own, which ends by SIGKILL; returns when it did.
template <class Work> void inKilledProcess(const Work& work)
{
    const pid_t child = fork();
    if (child == 0) {
        work();
        kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
}

} // namespace

class FileTests : public QObject {
    Q_OBJECT
private slots:
    void rightsAreKept();
    void longNames();
    void danglingLinkIsFollowed();
    void deadNeighboursGo();
    void livingNeighboursStay();
    void allOrNone();
    void tooLargeLeavesTheOldOne();
    void pipesAreNotOpenedEarly();
    void pipesAndDevicesAreWritten();
    void standardStreamIsNotReplaced();
    void rolesUnderOtherNames();
    void rolesInFolders();
    void rolesOfFilesToBe();
    void changesAreSeen();
};

void FileTests::rightsAreKept()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath("a").toStdString();
    for (const mode_t mode : { 0600, 0640, 0444, 0755 }) {
        QVERIFY(writeFile(path, "old").ok());
        QCOMPARE(chmod(path.c_str(), mode), 0);
        QVERIFY(writeFile(path, "new").ok());
        struct stat info { };
        QCOMPARE(stat(path.c_str(), &info), 0);
        QCOMPARE(info.st_mode & 0777u, mode);
        QCOMPARE(bytesOf(path), QByteArray("new"));
    }
    if (geteuid() != 0)
        return;
    QCOMPARE(chown(path.c_str(), 1234, 4321), 0);
    QVERIFY(writeFile(path, "newer").ok());
    struct stat info { };
    QCOMPARE(stat(path.c_str(), &info), 0);
    QCOMPARE(info.st_uid, 1234u);
    QCOMPARE(info.st_gid, 4321u);
}

void FileTests::longNames()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath(QString(255, 'n')).toStdString();
    QVERIFY(canBeWritten(path).ok());
    QVERIFY(writeFile(path, "whole").ok());
    QCOMPARE(bytesOf(path), QByteArray("whole"));
    QVERIFY(!canBeWritten(path + "n").ok());
    QCOMPARE(allIn(dir).size(), 1);
}

void FileTests::danglingLinkIsFollowed()
{
    QTemporaryDir dir;
    const std::string link = dir.filePath("link").toStdString(), target = dir.filePath("target").toStdString();
    QCOMPARE(symlink("target", link.c_str()), 0);
    QVERIFY(writeFile(link, "here").ok());
    QVERIFY(std::filesystem::is_symlink(link));
    QCOMPARE(bytesOf(target), QByteArray("here"));
}

void FileTests::deadNeighboursGo()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath("a").toStdString();
    inKilledProcess([&] {
        auto file = AtomicFile::create(path);
        static_cast<void>(file->write("half"));
        kill(getpid(), SIGKILL);
    });
    QCOMPARE(allIn(dir).size(), 1);
    QVERIFY(writeFile(path, "whole").ok());
    QCOMPARE(allIn(dir), QStringList { "a" });
}

void FileTests::livingNeighboursStay()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath("a").toStdString();
    auto file = AtomicFile::create(path);
    QVERIFY(file.ok() && file->write("mine").ok());
    inKilledProcess([&] { static_cast<void>(writeFile(path, "of another process")); });
    QCOMPARE(bytesOf(path), QByteArray("of another process"));
    QVERIFY(file->commit().ok());
    QCOMPARE(bytesOf(path), QByteArray("mine"));
    QCOMPARE(allIn(dir), QStringList { "a" });
}

void FileTests::allOrNone()
{
    QTemporaryDir dir;
    const std::string old = dir.filePath("old").toStdString(), fresh = dir.filePath("fresh").toStdString(),
                      blocked = dir.filePath("blocked").toStdString();
    QVERIFY(writeFile(old, "as it was").ok());
    std::vector<AtomicFile> files;
    for (const std::string& path : { old, fresh, blocked }) {
        auto file = AtomicFile::create(path);
        QVERIFY(file.ok() && file->write("new").ok());
        files.push_back(std::move(*file));
    }
    QVERIFY(QDir().mkpath(dir.filePath("blocked/folder"))); // no file can have this name now
    QVERIFY(!AtomicFile::commitAll(files).ok());
    files.clear();
    QCOMPARE(bytesOf(old), QByteArray("as it was"));
    QCOMPARE(allIn(dir), (QStringList { "blocked", "old" }));
    QVERIFY(QDir(dir.filePath("blocked")).removeRecursively());
    for (const std::string& path : { old, fresh }) {
        auto file = AtomicFile::create(path);
        QVERIFY(file.ok() && file->write("new").ok());
        files.push_back(std::move(*file));
    }
    QVERIFY(AtomicFile::commitAll(files).ok());
    QCOMPARE(bytesOf(old) + bytesOf(fresh), QByteArray("newnew"));
    QCOMPARE(allIn(dir), (QStringList { "fresh", "old" }));
}

void FileTests::tooLargeLeavesTheOldOne()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath("a").toStdString();
    QVERIFY(writeFile(path, "old").ok());
    rlimit before {};
    QCOMPARE(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small { 100, before.rlim_max };
    QCOMPARE(setrlimit(RLIMIT_FSIZE, &small), 0);
    const Status status = writeFile(path, std::string(1000, 'x'));
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    QVERIFY(!status.ok());
    QCOMPARE(status.issue().file, path);
    QCOMPARE(bytesOf(path), QByteArray("old"));
    QCOMPARE(allIn(dir), QStringList { "a" });
}

void FileTests::pipesAreNotOpenedEarly()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath("pipe").toStdString();
    QCOMPARE(mkfifo(path.c_str(), 0600), 0);
    const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
    QVERIFY(canBeWritten(path).ok()); // would be the end for the reader
    QVERIFY(writeFile(path, "through").ok());
    char text[8] = {};
    QCOMPARE(read(reader, text, sizeof text), 7);
    QCOMPARE(QByteArray(text), QByteArray("through"));
    close(reader);
}

void FileTests::pipesAndDevicesAreWritten()
{
    QVERIFY(writeFile("/dev/null", "nothing").ok());
    const Status full = writeFile("/dev/full", "something");
    QVERIFY(!full.ok() && full.issue().file == "/dev/full");
}

void FileTests::standardStreamIsNotReplaced()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath("out").toStdString();
    const int kept = dup(STDOUT_FILENO);
    const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(file, STDOUT_FILENO);
    const Status named = writeFile(path, "x"), device = writeFile("/dev/stdout", "x");
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(file);
    QVERIFY(!named.ok() && !device.ok());
    QVERIFY(writeFile(path, "x").ok());
}

void FileTests::rolesUnderOtherNames()
{
    QTemporaryDir dir;
    const std::string model = dir.filePath("model").toStdString(), link = dir.filePath("link").toStdString(),
                      hard = dir.filePath("hard").toStdString(), folder = dir.filePath("folder").toStdString();
    QVERIFY(writeFile(model, "weights").ok());
    QCOMPARE(symlink("model", link.c_str()), 0);
    QCOMPARE(::link(model.c_str(), hard.c_str()), 0);
    QCOMPARE(symlink(".", folder.c_str()), 0);
    QVERIFY(QDir().mkpath(dir.filePath("sub")));
    for (const std::string& name :
        { model, link, hard, folder + "/model", dir.path().toStdString() + "/./sub/../model" }) {
        FileRoles files;
        files.reads(model, "the model");
        files.writes(name, "the report");
        const Status status = files.check();
        QVERIFY2(!status.ok(), name.c_str());
        QCOMPARE(int(status.issue().kind), int(IssueKind::BadUse));
        QVERIFY(status.issue().what.find("the report") != std::string::npos);
        QVERIFY(status.issue().what.find("the model") != std::string::npos);
    }
    FileRoles others;
    others.reads(model, "the model");
    others.writes(dir.filePath("other").toStdString(), "the report");
    others.writes("-", "the table");
    others.writes("/dev/null", "one more");
    others.writes("/dev/null", "another");
    QVERIFY(others.check().ok());
    others.writes("-", "the second on stdout");
    QVERIFY(!others.check().ok());
}

void FileTests::rolesInFolders()
{
    QTemporaryDir dir;
    QVERIFY(QDir().mkpath(dir.filePath("data/cats")));
    const std::string picture = dir.filePath("data/cats/1.png").toStdString(),
                      other = dir.filePath("data/notes.txt").toStdString(), hard = dir.filePath("h").toStdString();
    QVERIFY(writeFile(picture, "png").ok() && writeFile(other, "text").ok());
    QCOMPARE(::link(picture.c_str(), hard.c_str()), 0);
    const auto check = [&](const std::string& result) {
        FileRoles files;
        files.readsBelow(dir.filePath("data").toStdString(), "a picture",
            [](std::string_view name) { return name.ends_with(".png"); });
        files.writes(result, "the report");
        return files.check().ok();
    };
    QVERIFY(!check(picture));
    QVERIFY(!check(hard));
    QVERIFY(check(other));
    QVERIFY(check(dir.filePath("data/new.png").toStdString()));
}

void FileTests::rolesOfFilesToBe()
{
    QTemporaryDir dir;
    QVERIFY(QDir().mkpath(dir.filePath("real")));
    QCOMPARE(symlink("real", qPrintable(dir.filePath("folder"))), 0);
    QCOMPARE(symlink("real/a", qPrintable(dir.filePath("link"))), 0);
    const std::string direct = dir.filePath("real/a").toStdString();
    for (const char* name : { "folder/a", "real/../real/a", "link" }) {
        FileRoles files;
        files.writes(direct, "one");
        files.writes(dir.filePath(name).toStdString(), "two");
        QVERIFY2(!files.check().ok(), name);
    }
}

void FileTests::changesAreSeen()
{
    QTemporaryDir dir;
    const std::string path = dir.filePath("model").toStdString();
    const auto opened = [&] {
        [[maybe_unused]] const Status written = writeFile(path, "0123456789");
        return OpenedFile::at(path).value();
    };
    auto file = opened();
    QVERIFY(file->unchanged().ok());
    QCOMPARE(chmod(path.c_str(), 0600), 0);
    QVERIFY(file->unchanged().ok());
    struct stat info { };
    QCOMPARE(stat(path.c_str(), &info), 0);
    const auto rewrite = [&](const char* text, int flags) {
        const int fd = open(path.c_str(), O_WRONLY | flags);
        [[maybe_unused]] const auto n = write(fd, text, strlen(text));
        close(fd);
    };
    rewrite("9876543210", 0); // as long, and the time that it had
    const timespec times[2] = { info.st_atim, info.st_mtim };
    QCOMPARE(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    QVERIFY(!file->unchanged().ok());
    QCOMPARE(file->unchanged().issue().file, path);
    file = opened();
    rewrite("012", O_TRUNC);
    QVERIFY(!file->unchanged().ok());
    file = opened();
    QVERIFY(writeFile(path, "another").ok());
    QVERIFY(!file->unchanged().ok());
    file = opened();
    QVERIFY(QFile::remove(QString::fromStdString(path)));
    QVERIFY(file->unchanged().ok());
}

int runFileTests(int argc, char** argv)
{
    FileTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "files_test.moc"
