// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/base/runners.h"

#include "core/base/files/atomic_file.h"
#include "core/base/files/regular_file.h"
#include "core/base/files/whole_file.h"
#include "core/base/hash.h"
#include "core/base/ids.h"
#include "core/base/issue_text.h"
#include "core/base/name_pattern.h"
#include "core/base/rounding.h"
#include "core/base/work/cancel.h"
#include "core/base/work/memory.h"
#include "core/base/work/parallel.h"
#include "core/base/work/work_context.h"
#include "core/base/work/worker_team.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <stdexcept>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace qs;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<std::string> matched(const std::string& pattern, const std::vector<std::string>& names)
{
    const auto found = matchNames(pattern, names);
    std::vector<std::string> texts;
    if (found.ok())
        for (size_t i : *found)
            texts.push_back(names[i]);
    return texts;
}

QByteArray contents(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

Result<int> half(int v)
{
    if (v % 2 != 0)
        return badInput("is odd");
    return v / 2;
}

Result<int> quarter(int v)
{
    QS_TRY(const int h, half(v));
    QS_TRY(const int q, half(h));
    return q;
}

Status mustBeEven(int v)
{
    QS_CHECK(half(v));
    return {};
}

} // namespace

class BaseTests : public QObject {
    Q_OBJECT
private slots:
    void tiesGoToTheEvenNumber();
    void integersSaturate();
    void quantizesOneNumber();
    void resultsPassIssuesOn();
    void idsAreInvalidUntilGiven();
    void exactNamesComeFirst();
    void globs_data();
    void globs();
    void regularExpressions();
    void optionsSplitAtCommas();
    void issuesAreOneSentence();
    void atomicFileReplacesOnCommit();
    void abandonedAtomicFileLeavesTheOldOne();
    void atomicFileNeedsAFolder();
    void atomicFileKeepsLinksAndDevices();
    void temporariesAreRemovedAtOnce();
    void wholeFilesComeBack();
    void nothingElseIsRead();
    void zeroIsAllThereIs();
    void everyIndexOnce();
    void firstExceptionIsRethrown();
    void firstFailureIsTold();
    void teamRunsLoopAfterLoop();
    void hashesAreStable();
    void cancelFlagIsShared();
};

void BaseTests::tiesGoToTheEvenNumber()
{
    const std::vector<std::pair<double, double>> cases { { 0.5, 0 }, { 1.5, 2 }, { 2.5, 2 }, { -0.5, 0 }, { -1.5, -2 },
        { -2.5, -2 }, { 0.49999, 0 }, { 2.50001, 3 }, { 8388607.5, 8388608 } };
    for (const auto& [value, rounded] : cases) {
        QCOMPARE(roundHalfEven(value), rounded);
        QCOMPARE(roundHalfEven(float(value)), float(rounded));
    }
    QVERIFY(std::signbit(roundHalfEven(-0.5)));
    QCOMPARE(clampOr(3, -1, 1), 1.0);
    QCOMPARE(clampOr(-3, -1, 1), -1.0);
    QCOMPARE(clampOr(0.5, -1, 1), 0.5);
    QCOMPARE(clampOr(kNan, -1, 1, 7), 7.0);
}

void BaseTests::integersSaturate()
{
    QCOMPARE(saturateTo<int8_t>(-129), int8_t(-128));
    QCOMPARE(saturateTo<int8_t>(128), int8_t(127));
    QCOMPARE(saturateTo<int8_t>(-128), int8_t(-128));
    QCOMPARE(saturateTo<uint8_t>(-1), uint8_t(0));
    QCOMPARE(saturateTo<uint8_t>(256), uint8_t(255));
    QCOMPARE(saturateTo<int32_t>(INT64_MIN), INT32_MIN);
    QCOMPARE(saturateTo<int32_t>(INT64_MAX), INT32_MAX);
    QCOMPARE(saturateTo<uint32_t>(INT64_MAX), UINT32_MAX);
    QCOMPARE(saturateTo<int64_t>(INT64_MIN), INT64_MIN);
}

void BaseTests::quantizesOneNumber()
{
    QCOMPARE(quantizeOne(0.5f, 1, 0, -128, 127), 0);
    QCOMPARE(quantizeOne(1.5f, 1, 0, -128, 127), 2);
    QCOMPARE(quantizeOne(0.5f, 1, 3, 0, 255), 3); // rounds before the zero point is added
    QCOMPARE(quantizeOne(1e30f, 0.1f, 0, -128, 127), 127);
    QCOMPARE(quantizeOne(-1e30f, 0.1f, 0, -128, 127), -128);
    QCOMPARE(quantizeOne(kInfinity, 0.1f, 128, 0, 255), 255);
    QCOMPARE(quantizeOne(-kInfinity, 0.1f, 128, 0, 255), 0);
    QCOMPARE(quantizeOne(kNan, 0.1f, 128, 0, 255), 0);
    QCOMPARE(quantizeOne(3e9f, 1, 0, INT32_MIN, INT32_MAX), INT32_MAX);
    for (int zero : { -128, 0, 5, 127 })
        for (int q = -128; q <= 127; ++q)
            QCOMPARE(quantizeOne(dequantizeOne(q, 0.0173f, zero), 0.0173f, zero, -128, 127), q);
    QCOMPARE(dequantizeOne(INT32_MIN, 1, 1), float(INT32_MIN));
}

void BaseTests::resultsPassIssuesOn()
{
    QCOMPARE(*quarter(12), 3);
    QCOMPARE(quarter(6).issue().what, std::string("is odd"));
    QVERIFY(mustBeEven(4).ok());
    QVERIFY(!mustBeEven(5));
    QCOMPARE(mustBeEven(5).issue().kind, IssueKind::BadInput);
}

void BaseTests::idsAreInvalidUntilGiven()
{
    QVERIFY(!NodeId().valid());
    QVERIFY(NodeId(0).valid());
    QVERIFY(NodeId(1) < NodeId(2));
    QCOMPARE(std::hash<ValueId> {}(ValueId(3)), std::hash<ValueId> {}(ValueId(3)));
}

void BaseTests::exactNamesComeFirst()
{
    const std::vector<std::string> names { "a*", "ab", "re:b", "rb", "ab" };
    QCOMPARE(matched("a*", names), (std::vector<std::string> { "a*" }));
    QCOMPARE(matched("re:b", names), (std::vector<std::string> { "re:b" }));
    QCOMPARE(*matchNames("ab", names), (std::vector<size_t> { 1, 4 }));
    const auto missing = matchNames("zz", names);
    QVERIFY(!missing.ok());
    QCOMPARE(missing.issue().kind, IssueKind::BadInput);
    QVERIFY(missing.issue().what.find("'zz'") != std::string::npos);
}

void BaseTests::globs_data()
{
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("expected");
    QTest::newRow("over slashes") << "/block1/*"
                                  << "/block1/conv /block1/a/relu";
    QTest::newRow("at the end") << "*relu"
                                << "/block1/a/relu";
    QTest::newRow("in the middle") << "/b*k2/*v"
                                   << "/block2/conv";
    QTest::newRow("one character") << "/block?/conv"
                                   << "/block1/conv /block2/conv";
    QTest::newRow("several stars") << "*l*o*1*"
                                   << "/block1/conv /block1/a/relu";
    QTest::newRow("star for nothing") << "head*"
                                      << "head head(1)";
    QTest::newRow("signs of regular expressions are plain") << "head(?)"
                                                            << "head(1)";
    QTest::newRow("all") << "*"
                         << "/block1/conv /block1/a/relu /block2/conv head head(1)";
    QTest::newRow("from the start") << "block*"
                                    << "";
    QTest::newRow("question mark needs one") << "head?"
                                             << "";
}

void BaseTests::globs()
{
    QFETCH(QString, pattern);
    QFETCH(QString, expected);
    const std::vector<std::string> names { "/block1/conv", "/block1/a/relu", "/block2/conv", "head", "head(1)" };
    QStringList found;
    for (const std::string& name : matched(pattern.toStdString(), names))
        found << QString::fromStdString(name);
    QCOMPARE(found.join(' '), expected);
    QCOMPARE(matchNames(pattern.toStdString(), names).ok(), !expected.isEmpty());
}

void BaseTests::regularExpressions()
{
    const std::vector<std::string> names { "/layer.1/conv", "/layer.12/conv", "conv" };
    QCOMPARE(matched("re:conv", names), names);
    QCOMPARE(matched("re:^conv$", names), (std::vector<std::string> { "conv" }));
    QCOMPARE(matched("re:layer\\.[0-9]{1,2}/", names), (std::vector<std::string> { names[0], names[1] }));
    const auto malformed = matchNames("re:(", names);
    QVERIFY(!malformed.ok());
    QCOMPARE(malformed.issue().kind, IssueKind::BadUse);
    QVERIFY(!matchNames("re:nothing", names).ok());
    const std::string other = "/a\xE9/b"; // no UTF-8
    for (const std::string glob : { "*", "/a*", "/a?/b", "/a\xE9/*", "/?\xE9/b" })
        QCOMPARE(matchNames(glob, { other, "/\xC3\xA9" }).value()[0], size_t(0));
    QCOMPARE(*matchNames("/?", { other, "/\xC3\xA9" }), std::vector<size_t> { 1 }); // a character of two bytes
    const auto hostile = matchNames("re:^(a+)+$", { std::string(100'000, 'a') + "b" });
    QVERIFY(!hostile.ok());
    QCOMPARE(hostile.issue().kind, IssueKind::BadInput);
    for (const char* beyond : { "re:(a)\\1", "re:a(?=b)", "re:a{99999}" }) {
        const auto refused = matchNames(beyond, names);
        QVERIFY2(!refused.ok() && refused.issue().kind == IssueKind::BadUse, beyond);
        QVERIFY(issueText(refused.issue()).starts_with("'" + std::string(beyond) + "' is no regular expression: "));
    }
}

void BaseTests::optionsSplitAtCommas()
{
    const auto split = splitPatterns({ "a,b*", "re:x{1,2}", ",c,,", "" });
    QCOMPARE(split, (std::vector<std::string> { "a", "b*", "re:x{1,2}", "c" }));
    QCOMPARE(splitPatterns({ "a,b", "a,c" }, { "a,b" }), (std::vector<std::string> { "a,b", "a", "c" }));
}

void BaseTests::issuesAreOneSentence()
{
    Issue issue = badInput("is cut\noff", "m.onnx", "download it again");
    QCOMPARE(issueText(issue), std::string("m.onnx: is cut off; download it again"));
    issue.node = "conv1";
    issue.tensor = "w";
    issue.remedy.clear();
    QCOMPARE(issueText(issue), std::string("m.onnx: node 'conv1': tensor 'w': is cut off"));
    QCOMPARE(issueText(badUse("no such option")), std::string("no such option"));
    QCOMPARE(issueText(cancelled()), std::string("cancelled"));
    // Names come from files, which may hold anything.
    QCOMPARE(issueText(badUse("a\nb\r\x1b[31mc\x7f")), std::string("a b  [31mc "));
    QCOMPARE(issueText(badUse("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80")),
        std::string("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
    for (const char* broken : { "\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80" }) {
        const std::string text = issueText(badUse(std::string("x") + broken + "y"));
        QVERIFY2(text.starts_with("x\xef\xbf\xbd") && text.ends_with("y"), broken);
        QCOMPARE(QString::fromUtf8(text.c_str()).toStdString(), text);
    }
    const std::string longest = issueText({ IssueKind::BadInput, std::string(100'000, 'w'), "f",
        std::string(1 << 20, 'n'), std::string(1 << 20, 't'), "shorten it" });
    QVERIFY(longest.size() < 10'000 && longest.starts_with("f: node 'nnn") && longest.ends_with("; shorten it"));
}

void BaseTests::atomicFileKeepsLinksAndDevices()
{
    QTemporaryDir dir;
    const std::string link = dir.filePath("link").toStdString(), target = dir.filePath("target").toStdString();
    QCOMPARE(symlink("target", link.c_str()), 0);
    for (const char* text : { "first", "second" }) { // without and with a file behind the link
        auto file = AtomicFile::create(std::ifstream(target) ? link : target);
        QVERIFY(file.ok());
        QVERIFY(file->write(text).ok() && file->commit().ok());
        std::string read;
        QVERIFY(std::getline(std::ifstream(target), read) && read == text);
    }
    QVERIFY(QFileInfo(dir.filePath("link")).isSymLink());
    auto null = AtomicFile::create("/dev/null");
    QVERIFY(null.ok());
    QVERIFY(null->write("gone").ok() && null->commit().ok());
    QVERIFY(!QFileInfo("/dev/null").isFile());
}

void BaseTests::temporariesAreRemovedAtOnce()
{
    QTemporaryDir dir;
    auto first = AtomicFile::create(dir.filePath("a").toStdString());
    auto moved = std::make_unique<AtomicFile>(std::move(*first));
    auto second = AtomicFile::create(dir.filePath("b").toStdString());
    QVERIFY(second.ok());
    QCOMPARE(QDir(dir.path()).entryList(QDir::Files | QDir::Hidden).size(), 2);
    AtomicFile::removeTemporaries();
    QVERIFY(QDir(dir.path()).entryList(QDir::Files | QDir::Hidden).isEmpty());
}

void BaseTests::atomicFileReplacesOnCommit()
{
    QTemporaryDir folder;
    const QString path = folder.filePath("report.json");
    for (const char* text : { "first", "second, longer" }) {
        auto file = AtomicFile::create(path.toStdString());
        QVERIFY(file.ok());
        QVERIFY(file->write(text).ok());
        QVERIFY(contents(path) != text);
        QVERIFY(file->commit().ok());
        QCOMPARE(contents(path), QByteArray(text));
    }
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden), QStringList { "report.json" });
    const mode_t mask = umask(0);
    umask(mask);
    struct stat info { };
    QCOMPARE(stat(qPrintable(path), &info), 0);
    QCOMPARE(info.st_mode & 0777u, 0666u & ~mask);
}

void BaseTests::abandonedAtomicFileLeavesTheOldOne()
{
    QTemporaryDir folder;
    const QString path = folder.filePath("report.json");
    {
        auto old = AtomicFile::create(path.toStdString());
        QVERIFY(old.ok() && old->write("old").ok() && old->commit().ok());
    }
    {
        auto fresh = AtomicFile::create(path.toStdString());
        QVERIFY(fresh.ok() && fresh->write("half of the n").ok());
        const AtomicFile moved = std::move(*fresh); // the moved-from one must not remove the file
        QVERIFY(QFile::exists(QString::fromStdString(moved.temporaryPath())));
    }
    QCOMPARE(contents(path), QByteArray("old"));
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden), QStringList { "report.json" });
}

void BaseTests::atomicFileNeedsAFolder()
{
    QTemporaryDir folder;
    const std::string missing = folder.filePath("no/such/report.json").toStdString();
    const auto file = AtomicFile::create(missing);
    QVERIFY(!file.ok());
    QCOMPARE(file.issue().file, missing);
    QVERIFY(!file.issue().remedy.empty());
    QVERIFY(!AtomicFile::create(folder.path().toStdString()).ok());
}

void BaseTests::wholeFilesComeBack()
{
    const QTemporaryDir dir;
    const std::string path = dir.filePath("file").toStdString(), bytes("a\0b\n", 4);
    QVERIFY(writeFile(path, bytes).ok());
    QCOMPARE(*readWholeFile(path, {}), bytes);
    QCOMPARE(*hashFile(path, {}), *hashFile(path, {}));
    QVERIFY(writeFile(path, {}).ok());
    QCOMPARE(*readWholeFile(path, {}), std::string());
    QCOMPARE(readWholeFile(dir.filePath("none").toStdString(), "give one").issue().remedy, std::string("give one"));
}

/// A pipe would wait for its writer, a device need not end.
void BaseTests::nothingElseIsRead()
{
    const QTemporaryDir dir;
    const std::string pipe = dir.filePath("pipe").toStdString();
    QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& path : { pipe, std::string("/dev/zero"), std::string("/dev/null"), std::string("/") }) {
        const auto whole = readWholeFile(path, {});
        QVERIFY(!whole.ok() && !hashFile(path, {}).ok() && !RegularFile::open(path).ok());
        QCOMPARE(whole.issue().kind, IssueKind::BadInput);
        QCOMPARE(whole.issue().file, path);
        QVERIFY(!whole.issue().remedy.empty());
    }
}

void BaseTests::zeroIsAllThereIs()
{
    WorkContext work;
    QCOMPARE(work.threadCount(), hardwareThreads());
    QCOMPARE(work.memoryBytes(), memoryLimitOrDefault(0));
    work.tell("nobody", 1, 2); // listens
    work.threads = 3;
    work.memoryLimit = 1000;
    std::string heard;
    work.progress = [&](std::string_view phase, size_t done, size_t total) {
        heard = std::string(phase) + " " + std::to_string(done) + " of " + std::to_string(total);
    };
    work.tell("run", 1, 2);
    QCOMPARE(heard, std::string("run 1 of 2"));
    QCOMPARE(work.threadCount(), size_t(3));
    QCOMPARE(work.memoryBytes(), uint64_t(1000));
    const WorkContext copy = work;
    work.cancel.cancel();
    QVERIFY(copy.cancel.cancelled());
}

void BaseTests::everyIndexOnce()
{
    QVERIFY(hardwareThreads() >= 1);
    for (size_t threads : { 0, 1, 2, 3, 16 })
        for (size_t count : { 0, 1, 2, 7, 1000 }) {
            std::vector<std::atomic<int>> calls(count);
            std::atomic<size_t> largestWorker = 0;
            parallelFor(count, threads, [&](size_t index, size_t worker) {
                ++calls[index];
                size_t seen = largestWorker;
                while (seen < worker && !largestWorker.compare_exchange_weak(seen, worker)) { }
            });
            for (const auto& n : calls)
                QCOMPARE(n.load(), 1);
            QVERIFY(largestWorker < std::max<size_t>(threads, 1));
        }
    std::vector<size_t> order;
    parallelFor(5, 1, [&](size_t index, size_t) { order.push_back(index); });
    QCOMPARE(order, (std::vector<size_t> { 0, 1, 2, 3, 4 }));
}

void BaseTests::firstExceptionIsRethrown()
{
    for (size_t threads : { 1, 4 }) {
        std::atomic<size_t> calls = 0;
        QString said;
        try {
            parallelFor(100000, threads, [&](size_t index, size_t) {
                ++calls;
                if (index == 3)
                    throw std::runtime_error("third");
            });
        } catch (const std::runtime_error& e) {
            said = e.what();
        }
        QCOMPARE(said, QString("third"));
        QVERIFY(threads > 1 || calls == 4);
    }
}

void BaseTests::firstFailureIsTold()
{
    // Others fail at once beside it: which thread is the first to say so is chance, what is told is not.
    const CancelToken cancel;
    for (size_t threads : { 1, 2, 8 })
        for (int round = 0; round < 500; ++round) {
            const auto status = parallelTry(200, threads, cancel, [](size_t index, size_t) -> Status {
                return index < 2 ? Status() : Status(badInput("number " + std::to_string(index)));
            });
            QVERIFY(!status.ok());
            QCOMPARE(status.issue().what, std::string("number 2"));
        }
}

void BaseTests::teamRunsLoopAfterLoop()
{
    for (size_t threads : { 0, 1, 2, 5 }) {
        WorkerTeam team(threads);
        QVERIFY(team.threads() >= 1);
        for (size_t loop = 0; loop < 300; ++loop) {
            const size_t count = loop % 9;
            std::vector<std::atomic<int>> calls(count);
            team.run(count, [&](size_t index, size_t worker) {
                ++calls[index];
                if (worker >= team.threads())
                    calls[index] = 100;
            });
            for (const auto& n : calls)
                QCOMPARE(n.load(), 1);
            if (loop % 100 == 0)
                std::this_thread::sleep_for(std::chrono::milliseconds(2)); // helpers fall asleep
        }
        QVERIFY_EXCEPTION_THROWN(
            team.run(50, [](size_t, size_t) { throw std::runtime_error("no"); }), std::runtime_error);
        std::atomic<size_t> after = 0;
        team.run(10, [&](size_t, size_t) { ++after; });
        QCOMPARE(after.load(), size_t(10));
    }
}

void BaseTests::hashesAreStable()
{
    // Known digests of XXH3 with 128 bits, written as xxh128sum does.
    QCOMPARE(hashText("").hex(), std::string("99aa06d3014798d86001c324468d497f"));
    QCOMPARE(hashText("a").hex(), std::string("a96faf705af16834e6c632b61e964e1f"));
    QCOMPARE(hashText("a").hex(), hashBytes(std::as_bytes(std::span("a", 1))).hex());
    std::set<Hash128> different { hashText(""), hashText("a"), hashText("b"), hashText(std::string(1, '\0')),
        combine(hashText("a"), hashText("b")), combine(hashText("b"), hashText("a")) };
    QCOMPARE(different.size(), size_t(6));
    QCOMPARE((Hash128 { 0x0123456789abcdef, 1 }.hex()), std::string("00000000000000010123456789abcdef"));
}

void BaseTests::cancelFlagIsShared()
{
    const CancelToken token, other;
    const CancelToken copy = token;
    QVERIFY(!copy.cancelled());
    token.cancel();
    QVERIFY(copy.cancelled());
    QVERIFY(!other.cancelled());
}

int runBaseTests(int argc, char** argv)
{
    BaseTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "base_test.moc"
