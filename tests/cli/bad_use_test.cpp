// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/onnx_bytes.h"
#include "tests/cli/runners.h"
#include "tests/datasource/array_bytes.h"

#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <csignal>
#include <sys/stat.h>

using namespace qs::test;
using namespace qs::testing;

namespace {

QStringList comparing(const QStringList& more = {}) { return QStringList { "compare", kFloat, kQdq } + more; }
QStringList comparingData(const QStringList& more = {})
{
    return comparing(QStringList { "--data", kData, "--limit", "2" } + more);
}
QStringList running(const QString& data, const QStringList& more = {})
{
    return QStringList { "run", kFloat, "--data", data } + more;
}

} // namespace

class BadUseTests : public QObject {
    Q_OBJECT
private slots:
    void helpAndVersion();
    void wrongCommandLine_data();
    void wrongCommandLine();
    void damagedModels();
    void refusedGraphs();
    void wrongData();
    void memoryOfManyNodes();
    void noRegularFiles();
    void hostileTexts();
    void namesDoNotReachTheTerminal();
    void lyingArchive();
    void imagesNeedPreprocess();
    void anotherNetwork();
    void missedThreshold();
    void unwritableOutput();
    void failureLeavesFilesAlone();
    void signalsCancel_data();
    void signalsCancel();

private:
    QString path(const QString& name) const { return m_folder.filePath(name); }
    QString file(const QString& name, const std::string& bytes) const
    {
        writeBytes(path(name).toStdString(), bytes);
        return path(name);
    }
    QTemporaryDir m_folder;
};

void BadUseTests::helpAndVersion()
{
    for (const QStringList& arguments : { QStringList { "--help" }, { "--version" }, { "info", "--help" },
             { "run", "--help" }, { "compare", "--help" } }) {
        const Outcome outcome = quantscope(arguments);
        QCOMPARE(outcome.code, 0);
        QVERIFY(!outcome.out.isEmpty());
        QVERIFY(outcome.err.isEmpty());
    }
    QVERIFY(quantscope({ "--version" }).out.startsWith("quantscope-cli "));
    for (const char* option :
        { "--data", "--limit", "--preprocess", "--threads", "--memory-limit", "--carry", "--seed", "--json", "--csv",
            "--html", "--map", "--local", "--node-alone", "--fail-below-sqnr", "--quiet", "--verbose" })
        QVERIFY2(quantscope({ "compare", "--help" }).out.contains(option), option);
}

void BadUseTests::wrongCommandLine_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("word");
    QTest::newRow("no command") << QStringList {} << "";
    QTest::newRow("unknown command") << QStringList { "frobnicate" } << "frobnicate";
    QTest::newRow("unknown option") << QStringList { "info", kFloat, "--frobnicate" } << "--frobnicate";
    QTest::newRow("unknown global option") << QStringList { "--frobnicate" } << "";
    QTest::newRow("no model") << QStringList { "info" } << "MODEL";
    QTest::newRow("too many models") << QStringList { "info", kFloat, kQdq } << "digits_qdq.onnx";
    QTest::newRow("no data") << comparing() << "--data";
    QTest::newRow("no quantized file") << QStringList { "compare", kFloat, "--data", kData } << "quantized";
    QTest::newRow("empty data") << comparing({ "--data", "" }) << "empty";
    for (const char* value : { "-3", "99999999999999999999999", "1.5", "x" })
        QTest::addRow("seed %s", value) << comparing({ "--data", kData, "--seed", value }) << "--seed";
    for (const char* value : { "0", "-1", "-7", "abc", "1.5", "99999999999999999999" }) {
        if (!QString(value).startsWith("999")) // more samples than there are: all of them
            QTest::addRow("limit %s", value) << comparing({ "--data", kData, "--limit", value }) << "--limit";
        QTest::addRow("threads %s", value) << comparingData({ "--threads", value }) << "--threads";
        QTest::addRow("info threads %s", value) << QStringList { "info", kFloat, "--threads", value } << "--threads";
        QTest::addRow("memory %s", value)
            << (QString(value).startsWith("999") ? comparingData({ "--memory-limit", "1e9" })
                                                 : comparingData({ "--memory-limit", value }))
            << "--memory-limit";
    }
    for (const char* value : { "abc", "nan", "inf" })
        QTest::addRow("threshold %s", value) << comparingData({ "--fail-below-sqnr", value }) << "--fail-below-sqnr";
    QTest::newRow("no number") << comparingData({ "--fail-below-sqnr", "abc" })
                               << "--fail-below-sqnr 'abc' is no number";
    QTest::newRow("the command's help") << comparingData({ "--nonsense" }) << "quantscope-cli compare --help";
    QTest::newRow("arithmetic") << comparingData({ "--arithmetic", "quantum" }) << "quantum";
    QTest::newRow("decode") << comparingData({ "--decode", "slowly" }) << "slowly";
    QTest::newRow("tokens of no prompt") << comparingData({ "--prompt-tokens", "4" }) << "--decode free";
    QTest::newRow("tokens of forced ones")
        << comparingData({ "--decode", "forced", "--new-tokens", "4" }) << "--decode free";
    for (const char* option : { "--prompt-tokens", "--new-tokens" })
        QTest::addRow("%s 0", option) << comparingData({ "--decode", "free", option, "0" }) << option;
    QTest::newRow("decode a shard") << comparingData({ "--decode", "free", "--shard", "1/2", "--state", "s" })
                                    << "--shard";
    QTest::newRow("carry") << comparingData({ "--carry", "nothing" }) << "--carry";
    QTest::newRow("shape") << running("random:2", { "--shape", "image=axb" }) << "--shape";
    QTest::newRow("random") << running("random:many") << "random";
    QTest::newRow("option without value") << comparingData({ "--json" }) << "--json";
    QTest::newRow("two choices") << running(kData, { "--all-tensors", "--tensors", "scores" }) << "--tensors";
}

void BadUseTests::wrongCommandLine()
{
    QFETCH(QStringList, arguments);
    QFETCH(QString, word);
    QS_EXPECT(2, word.isEmpty() ? QStringList() : QStringList { word }, arguments);
    QVERIFY(quantscope(arguments).out.isEmpty());
}

void BadUseTests::damagedModels()
{
    QS_EXPECT(3, QStringList { "missing.onnx" }, { "info", path("missing.onnx") });
    QS_EXPECT(3, QStringList { "text.onnx" }, { "info", file("text.onnx", "This is no model.\n") });
    QS_EXPECT(3, QStringList { "empty.onnx" }, { "info", file("empty.onnx", "") });
    QS_EXPECT(3, QStringList { "folder" }, { "info", m_folder.path() });
    const QByteArray whole = contentOf(kQdq);
    QVERIFY(whole.size() > 10000);
    QString cut;
    for (qsizetype length : { 1, 2, 7, 100, 999, 5000, 10000 }) {
        cut = file("cut.onnx", whole.left(length).toStdString());
        QS_EXPECT(3, QStringList { "cut.onnx" }, { "info", cut });
        QS_EXPECT(3, QStringList { "cut.onnx" }, { "compare", kFloat, cut, "--data", kData });
        QS_EXPECT(3, QStringList { "cut.onnx" }, { "run", cut, "--data", kData });
    }
    cut = file("cut.onnx", whole.left(whole.size() - 1).toStdString());
    QS_EXPECT(3, QStringList { "cut.onnx" }, { "compare", cut, kQdq, "--data", kData });
}

void BadUseTests::refusedGraphs()
{
    const OnnxBytes cyclic = OnnxBytes()
                                 .input("x", { 1 })
                                 .node("Add", { "x", "b" }, { "a" })
                                 .node("Relu", { "a" }, { "b" })
                                 .output("b", { 1 });
    QS_EXPECT(3, QStringList { "cyclic.onnx" }, { "info", file("cyclic.onnx", cyclic.model()) });
    const OnnxBytes loose = OnnxBytes().input("x", { 1 }).node("Add", { "x", "nobody" }, { "y" }).output("y", { 1 });
    QS_EXPECT(3, (QStringList { "loose.onnx", "nobody" }), { "info", file("loose.onnx", loose.model()) });
    const int64_t huge = int64_t(1) << 40;
    const OnnxBytes weights = OnnxBytes()
                                  .input("x", { 1 })
                                  .floats("w", { huge, huge }, { 1 })
                                  .node("Add", { "x", "w" }, { "y" })
                                  .output("y", {});
    QS_EXPECT(3, (QStringList { "huge.onnx", "w" }), { "info", file("huge.onnx", weights.model()) });
    const OnnxBytes inputs
        = OnnxBytes().input("x", { 1 << 20, 1 << 20 }).node("Relu", { "x" }, { "y" }).output("y", { 1 << 20, 1 << 20 });
    QS_EXPECT(3, QStringList(), { "run", file("wide.onnx", inputs.model()), "--data", "random:1" });
    const OnnxBytes unknown = OnnxBytes().input("x", { 2 }).node("Frobnicate", { "x" }, { "y" }).output("y", { 2 });
    const QString opaque = file("opaque.onnx", unknown.model());
    QS_EXPECT(0, QStringList(), { "info", opaque });
    QS_EXPECT(3, (QStringList { "opaque.onnx", "Frobnicate" }), { "run", opaque, "--data", "random:1" });
}

void BadUseTests::wrongData()
{
    auto array = [&](const QString& name, const std::string& key, const std::string& type, const std::string& shape,
                     size_t bytes) {
        writeZip(path(name).toStdString(), { { key + ".npy", npy(type, shape, std::string(bytes, '\0')) } });
        return path(name);
    };
    QS_EXPECT(3, QStringList { "nothing.npz" }, running(path("nothing.npz")));
    QS_EXPECT(3, QStringList { "text.npz" }, running(file("text.npz", "no archive")));
    QS_EXPECT(
        3, (QStringList { "shape.npz", "image" }), running(array("shape.npz", "image", "<f4", "(2, 3, 8, 8)", 1536)));
    QS_EXPECT(3, (QStringList { "rank.npz", "image" }), running(array("rank.npz", "image", "<f4", "(2, 64)", 512)));
    QS_EXPECT(
        3, (QStringList { "type.npz", "image" }), running(array("type.npz", "image", "<i4", "(2, 1, 8, 8)", 512)));
    QS_EXPECT(3, (QStringList { "none.npz" }), running(array("none.npz", "image", "<f4", "(0, 1, 8, 8)", 0)));
    // Two arrays, none of the input's name.
    const std::string good = npy("<f4", "(2, 1, 8, 8)", std::string(512, '\0'));
    writeZip(path("names.npz").toStdString(), { { "a.npy", good }, { "b.npy", good } });
    QS_EXPECT(3, (QStringList { "names.npz", "image" }), running(path("names.npz")));
    // A single array of another name serves a model with one input.
    writeZip(path("single.npz").toStdString(), { { "a.npy", good } });
    QCOMPARE(quantscope(running(path("single.npz"))).code, 0);
    QS_EXPECT(3, QStringList { "image" }, running("random:2"));
    QS_EXPECT(3, QStringList { "typo" }, running(kData, { "--tensors", "typo*" }));
    QS_EXPECT(3, QStringList { "nobody" }, comparingData({ "--carry", "nobody=image" }));
    QS_EXPECT(3, QStringList { "map.json" }, comparingData({ "--map", file("map.json", "{\"pairs\":3}") }));
    QS_EXPECT(3, QStringList { m_folder.path() }, comparingData({ "--map", m_folder.path() }));
    QS_EXPECT(3, QStringList { "nobody" },
        comparingData({ "--map", file("map.json", R"({"pairs":[{"float":"nobody","quantized":"scores"}]})") }));
    QS_EXPECT(3, QStringList { "memory limit" }, comparingData({ "--memory-limit", "1000" }));
    // A size that only the data tell.
    const OnnxBytes growing
        = OnnxBytes().input("n", { 1 }, 7).node("ConstantOfShape", { "n" }, { "y" }).output("y", { -1 });
    int64_t size = int64_t(1) << 28;
    writeZip(path("size.npz").toStdString(),
        { { "n.npy", npy("<i8", "(1, 1)", std::string(reinterpret_cast<const char*>(&size), 8)) } });
    const QString grows = file("growing.onnx", growing.model());
    for (const QStringList& models : { QStringList { "run", grows }, { "compare", grows, grows } })
        QS_EXPECT(3, (QStringList { "growing.onnx", "memory limit" }),
            models + QStringList { "--data", path("size.npz"), "--memory-limit", "100000000" });
}

/// Graphs, what pairing makes of them, numbers: all of it is counted, so either it fits or the limit is told.
void BadUseTests::memoryOfManyNodes()
{
    constexpr int kNodes = 6000;
    OnnxBytes chain;
    chain.input("v0", { 1, 8 });
    for (int i = 0; i < kNodes; ++i)
        chain.node("Relu", { "v" + std::to_string(i) }, { "v" + std::to_string(i + 1) });
    const QString model = file("chain.onnx", chain.output("v" + std::to_string(kNodes), { 1, 8 }).model());
    const QStringList compare { "compare", model, model, "--data", "random:1", "--quiet", "--json", "-" };
    bool fitted = false;
    for (int megabytes = 8; megabytes <= 1024 && !fitted; megabytes *= 2) {
        const Outcome outcome
            = quantscope(compare + QStringList { "--memory-limit", QString::number(megabytes * 1000000) });
        fitted = outcome.code == 0;
#ifdef __SANITIZE_ADDRESS__ // whose own memory counts, too
        if (fitted)
            break;
#endif
        if (fitted)
            QVERIFY(parsed(outcome.out)["peak_memory_bytes"] < (megabytes * 1.2 + 64) * 1e6);
        else
            QVERIFY2(complaint(outcome, 3, { "chain.onnx", "memory limit" }).isEmpty(), qPrintable(outcome.err));
        QVERIFY(!fitted || megabytes > 8);
    }
    QVERIFY(fitted);
}

/// A pipe without a writer would wait for ever, a device need not end.
void BadUseTests::noRegularFiles()
{
    const QString pipe = path("pipe");
    QCOMPARE(mkfifo(pipe.toLocal8Bit().constData(), 0600), 0);
    for (const QString& odd : { pipe, QStringLiteral("/dev/zero") }) {
        QS_EXPECT(3, QStringList { odd }, { "info", odd });
        QS_EXPECT(3, QStringList { odd }, { "merge", odd });
        QS_EXPECT(3, QStringList { odd }, running(odd));
        QS_EXPECT(3, QStringList { odd }, comparingData({ "--map", odd }));
        QS_EXPECT(3, QStringList { odd }, comparingData({ "--class-names", odd }));
        for (const char* option : { "--recipe", "--ranges" })
            QS_EXPECT(3, QStringList { odd }, { "compare", kFloat, "--data", kData, option, odd });
    }
    const QString npz = path("pipe.npz");
    QCOMPARE(mkfifo(npz.toLocal8Bit().constData(), 0600), 0);
    QS_EXPECT(3, QStringList { npz }, running(npz));
}

void BadUseTests::hostileTexts()
{
    const QString deep = file("deep.json", std::string(400'000, '['));
    QS_EXPECT(3, QStringList { deep }, comparingData({ "--map", deep }));
    QS_EXPECT(3, QStringList { deep }, comparingData({ "--class-names", deep }));
    for (const char* option : { "--recipe", "--ranges" })
        QS_EXPECT(3, QStringList { deep }, { "compare", kFloat, "--data", kData, option, deep });
    const QString twice = file("twice.json", R"({"per_channel": true, "per_channel": false})");
    QS_EXPECT(3, (QStringList { twice, "per_channel" }), { "compare", kFloat, "--data", kData, "--recipe", twice });
}

void BadUseTests::namesDoNotReachTheTerminal()
{
    const OnnxBytes net = OnnxBytes()
                              .input("x\x1b[2J", { 2 })
                              .node("Re\x1b]0;lu\x07", { "x\x1b[2J" }, { "\xe2\x80\xaey" })
                              .output("\xe2\x80\xaey", { 2 });
    const QString model = file("names.onnx", net.model());
    for (const QStringList& command : { QStringList { "info", model }, QStringList { "info", model, "--json", "-" },
             QStringList { "run", model, "--data", "random:1" }, QStringList { "bench", model } }) {
        const auto ran = quantscope(command);
        QVERIFY(ran.code == 0 || ran.code == 2 || ran.code == 3);
        for (const auto& text : { ran.out, ran.err })
            QVERIFY2(!text.contains('\x1b') && !text.contains("\xe2\x80\xae"), qPrintable(command.join(' ')));
    }
}

void BadUseTests::lyingArchive()
{
    // The header promises more than is stored, then more than any memory holds.
    for (const char* shape : { "(3, 1, 8, 8)", "(1000000000000, 1, 8, 8)" }) {
        writeZip(path("lie.npz").toStdString(), { { "image.npy", npy("<f4", shape, std::string(512, '\0')) } });
        QS_EXPECT(3, QStringList { "lie.npz" }, running(path("lie.npz")));
        QS_EXPECT(3, QStringList { "lie.npz" }, comparing({ "--data", path("lie.npz") }));
        writeBytes(path("lie.npy").toStdString(), npy("<f4", shape, std::string(512, '\0')));
        QS_EXPECT(3, QStringList { "lie.npy" }, running(path("lie.npy")));
    }
    const std::string half = contentOf(kData).left(contentOf(kData).size() / 2).toStdString();
    QS_EXPECT(3, QStringList { "half.npz" }, running(file("half.npz", half)));
}

void BadUseTests::imagesNeedPreprocess()
{
    QVERIFY(QDir(m_folder.path()).mkpath("pictures"));
    // A BMP of one pixel.
    std::string bmp("BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0\1\0\0\0\1\0\x18\0\0\0\0\0\4\0\0\0", 38);
    bmp += std::string(16, '\0') + std::string("\x10\x20\x30\0", 4);
    file("pictures/a.bmp", bmp);
    QS_EXPECT(2, QStringList { "--preprocess" }, running(path("pictures")));
    QS_EXPECT(3, QStringList { "missing.json" }, running(path("pictures"), { "--preprocess", path("missing.json") }));
    const QString json = file("p.json", R"({"size":[8,8],"resize":"stretch","color":"gray","scale":0.00392156862})");
    QCOMPARE(quantscope(running(path("pictures"), { "--preprocess", json })).code, 0);
    const QString wrong = file("w.json", R"({"size":[8,8],"frobnicate":1})");
    QS_EXPECT(3, (QStringList { "w.json", "frobnicate" }), running(path("pictures"), { "--preprocess", wrong }));
    QVERIFY(QDir(m_folder.path()).mkpath("nothing"));
    QS_EXPECT(3, QStringList { "nothing" }, running(path("nothing"), { "--preprocess", json }));
}

void BadUseTests::anotherNetwork()
{
    const OnnxBytes other = OnnxBytes()
                                .input("image", { -1, 1, 8, 8 })
                                .node("Flatten", { "image" }, { "flat" })
                                .node("Relu", { "flat" }, { "scores" })
                                .output("scores", { -1, 64 });
    const QString path = file("other.onnx", other.model());
    QS_EXPECT(3, (QStringList { "other.onnx", "another network" }), { "compare", kFloat, path, "--data", kData });
    const OnnxBytes shape = OnnxBytes()
                                .input("image", { 1, 3, 224, 224 })
                                .node("Relu", { "image" }, { "y" })
                                .output("y", { 1, 3, 224, 224 });
    QS_EXPECT(3, (QStringList { "shape.onnx", "image" }),
        { "compare", kFloat, file("shape.onnx", shape.model()), "--data", kData });
}

void BadUseTests::missedThreshold()
{
    const QString json = path("threshold.json");
    QS_EXPECT(1, QStringList { "90" }, comparingData({ "--fail-below-sqnr", "90", "--json", json }));
    QVERIFY2(contentOf(json).startsWith("{"), "the report is written although the threshold was missed");
    QS_EXPECT(0, QStringList(), comparingData({ "--fail-below-sqnr", "5" }));
    // Equal outputs miss no threshold.
    QS_EXPECT(
        0, QStringList(), { "compare", kFloat, kFloat, "--data", kData, "--limit", "2", "--fail-below-sqnr", "200" });
}

void BadUseTests::unwritableOutput()
{
    const QString nowhere = path("no/such/folder/file");
    for (const char* option : { "--json", "--csv", "--html" })
        QS_EXPECT(3, QStringList { nowhere }, comparingData({ option, nowhere }));
    QS_EXPECT(3, QStringList { nowhere }, running(kData, { "--out", nowhere }));
    QS_EXPECT(3, QStringList { nowhere }, { "info", kFloat, "--json", nowhere });
    QS_EXPECT(3, QStringList { m_folder.path() }, comparingData({ "--json", m_folder.path() }));
    // All files or none.
    QS_EXPECT(3, QStringList { nowhere }, comparingData({ "--json", path("some.json"), "--html", nowhere }));
    QVERIFY(!QFile::exists(path("some.json")));
    QS_EXPECT(3, QStringList { nowhere }, running(kData, { "--out", path("some.npz"), "--json", nowhere }));
    QVERIFY(!QFile::exists(path("some.npz")));
    QS_EXPECT(2, QStringList { "'-'" }, comparingData({ "--json", "-", "--csv", "-" }));
    QS_EXPECT(3, QStringList { "/dev/null" }, running(kData, { "--out", "/dev/null" }));
    QCOMPARE(quantscope(comparingData({ "--json", "/dev/null" })).code, 0);
    QVERIFY(!QFileInfo("/dev/null").isFile());
    const QStringList leftOver
        = QDir(m_folder.path()).entryList({ "some*", "file*", ".quant*" }, QDir::Files | QDir::Hidden);
    QVERIFY2(leftOver.isEmpty(), qPrintable(leftOver.join(' ')));
}

void BadUseTests::failureLeavesFilesAlone()
{
    const QString kept = path("kept");
    writeText(kept, "as it was");
    // No result over what is read.
    const QString model = path("model.onnx"), data = path("data.npz");
    QVERIFY(QFile::copy(kFloat, model) && QFile::copy(kData, data));
    QS_EXPECT(2, QStringList { "overwrite" }, { "info", model, "--json", path("./model.onnx") });
    QS_EXPECT(2, QStringList { "overwrite" }, { "run", model, "--data", data, "--out", data });
    QS_EXPECT(2, QStringList { "overwrite" }, { "compare", kFloat, model, "--data", data, "--csv", model });
    QS_EXPECT(2, QStringList { "overwrite" }, { "compare", model, kQdq, "--data", data, "--html", data });
    QCOMPARE(contentOf(model), contentOf(kFloat));
    QCOMPARE(contentOf(data), contentOf(kData));
    const QString text = file("text.onnx", "no model");
    QS_EXPECT(
        3, QStringList(), { "compare", kFloat, text, "--data", kData, "--json", kept, "--html", path("kept.html") });
    QS_EXPECT(3, QStringList(), comparing({ "--data", path("missing.npz"), "--csv", kept }));
    QS_EXPECT(3, QStringList(), { "run", kFloat, "--data", path("missing.npz"), "--out", kept });
    QS_EXPECT(2, QStringList(), running(kData, { "--out", kept, "--limit", "0" }));
    QCOMPARE(contentOf(kept), QByteArray("as it was"));
    QCOMPARE(
        QDir(m_folder.path()).entryList({ "kept*", ".quant*" }, QDir::Files | QDir::Hidden), QStringList { "kept" });
}

void BadUseTests::signalsCancel_data()
{
    QTest::addColumn<int>("signal");
    QTest::newRow("SIGTERM") << SIGTERM;
    QTest::newRow("SIGINT") << SIGINT;
}

void BadUseTests::signalsCancel()
{
    QFETCH(int, signal);
    const QString kept = path("cancelled");
    writeText(kept, "as it was");
    const QStringList one { "--shape", "image=256x1x8x8", "--threads", "1" };
    for (const QStringList& arguments : { comparing({ "--data", "random:102400", "--json", kept }) + one,
             running("random:1024000", { "--out", kept }) + one }) {
        QElapsedTimer timer;
        timer.start();
        const Outcome outcome = quantscope(arguments, signal, 700);
        QVERIFY2(complaint(outcome, 4).isEmpty(), qPrintable(complaint(outcome, 4)));
        QVERIFY2(timer.elapsed() < 10000, qPrintable(QString::number(timer.elapsed())));
        QCOMPARE(contentOf(kept), QByteArray("as it was"));
        QVERIFY(outcome.out.isEmpty());
    }
}

int qs::test::runBadUseTests(int argc, char** argv)
{
    BadUseTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "bad_use_test.moc"
