// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/data/open_data.h"
#include "core/tensor/convert.h"
#include "tests/datasource/array_bytes.h"
#include "tests/support/helper_call.h"

#include <QDir>
#include <QImage>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;
using namespace qs::testing;

namespace {

InputSpec input(std::string name, DType type, Dims dims) { return { std::move(name), type, std::move(dims) }; }

/// A serialized TensorProto with raw data.
std::string proto(const std::string& name, int type, const Shape& shape, const std::string& raw)
{
    std::string out;
    for (const int64_t size : shape)
        out += std::string("\x08") + static_cast<char>(size);
    out += std::string("\x10") + static_cast<char>(type);
    out += std::string("\x42") + static_cast<char>(name.size()) + name;
    return out + std::string("\x4a") + static_cast<char>(raw.size()) + raw;
}

} // namespace

class OtherFormsTest : public QObject {
    Q_OBJECT
    std::unique_ptr<QTemporaryDir> m_folder;

    std::string path(const std::string& name) const { return m_folder->path().toStdString() + "/" + name; }
    void makeFolder(const std::string& name) const { QVERIFY(QDir().mkpath(QString::fromStdString(path(name)))); }
    DataRequest request(const std::string& spec, const std::string& json = {}) const
    {
        DataRequest r;
        r.spec = spec;
        if (!json.empty()) {
            writeBytes(path(".preprocess.json"), json);
            r.preprocess = path(".preprocess.json");
        }
        return r;
    }
    static QString refusal(const DataRequest& r, const std::vector<InputSpec>& inputs)
    {
        const auto data = openData(r, inputs);
        if (!data)
            return QString::fromStdString(issueText(data.issue()));
        for (size_t i = 0; i < data.value()->feeds(); ++i)
            if (const auto feed = data.value()->feed(i); !feed)
                return QString::fromStdString(issueText(feed.issue()));
        return {};
    }
    /// A 4x2 picture: pixel (x, y) is (10 x, 100 y, 7).
    void savePicture(const std::string& name) const
    {
        QImage image(4, 2, QImage::Format_RGB888);
        for (int y = 0; y < 2; ++y)
            for (int x = 0; x < 4; ++x)
                image.setPixel(x, y, qRgb(10 * x, 100 * y, 7));
        QVERIFY(image.save(QString::fromStdString(path(name))));
    }

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void testDataSets()
    {
        for (const int set : { 0, 2, 10 }) {
            const std::string folder = "test_data_set_" + std::to_string(set);
            QS_HELPER(makeFolder(folder));
            const auto value = static_cast<float>(set);
            writeBytes(path(folder + "/input_0.pb"), proto("x", 1, { 1, 2 }, bytesOf<float>({ value, 1 })));
            writeBytes(path(folder + "/input_1.pb"), proto("", 7, { 1 }, bytesOf<int64_t>({ set })));
        }
        const std::vector<InputSpec> inputs { input("x", DType::Float32, toDims({ 1, 2 })),
            input("n", DType::Int64, { Dim {} }) };
        const auto data = openData(request(path("")), inputs);
        QVERIFY(data.ok());
        QCOMPARE(data.value()->samples(), size_t(3));
        QCOMPARE(data.value()->sampleName(1), std::string("test_data_set_2"));
        const Feed last = data.value()->feed(2).value();
        QVERIFY(toFloats(last.inputs[0]) == std::vector<float>({ 10, 1 }));
        QVERIFY(toInts(last.inputs[1]) == std::vector<int64_t>({ 10 }));
        QVERIFY(refusal(request(path("")), { input("x", DType::Float32, toDims({ 1, 3 })) }).contains("1x3"));
        QVERIFY(refusal(request(path("")), { inputs[0], inputs[1], input("z", DType::Float32, {}) }).contains("'z'"));
        std::string broken = proto("x", 1, { 1, 2 }, bytesOf<float>({ 1, 2 }));
        for (size_t length = 0; length < broken.size(); ++length) {
            writeBytes(path("test_data_set_0/input_0.pb"), broken.substr(0, length));
            QVERIFY(!refusal(request(path("")), inputs).isEmpty());
        }
        for (size_t at = 0; at < broken.size(); ++at) { // any answer, but no crash
            std::string changed = broken;
            changed[at] = static_cast<char>(changed[at] ^ 0x8f);
            writeBytes(path("test_data_set_0/input_0.pb"), changed);
            refusal(request(path("")), inputs);
        }
    }

    void pictures()
    {
        QS_HELPER(savePicture("b.png"));
        QS_HELPER(savePicture("a.BMP"));
        const InputSpec x = input("x", DType::Float32, { Dim {}, Dim { 3, "" }, Dim { 2, "" }, Dim { 4, "" } });
        const auto data
            = openData(request(path(""), R"({"size":[4,2],"scale":0.5,"mean":[1,2,3],"std":[1,2,4]})"), { x });
        QVERIFY(data.ok());
        QCOMPARE(data.value()->samples(), size_t(2));
        QCOMPARE(data.value()->sampleName(0), std::string("a.BMP"));
        QVERIFY(data.value()->labels().empty());
        const Tensor t = data.value()->feed(1).value().inputs[0];
        QVERIFY(t.shape() == Shape({ 1, 3, 2, 4 }));
        const auto values = toFloats(t);
        for (size_t y = 0; y < 2; ++y)
            for (size_t px = 0; px < 4; ++px) {
                QCOMPARE(values[y * 4 + px], static_cast<float>(10 * px * 0.5 - 1));
                QCOMPARE(values[8 + y * 4 + px], static_cast<float>((100 * y * 0.5 - 2) / 2));
                QCOMPARE(values[16 + y * 4 + px], static_cast<float>((7 * 0.5 - 3) / 4));
            }
        // BGR, channels last, the size from the model, bytes
        const InputSpec bytes = input("x", DType::UInt8, toDims({ 2, 2, 4, 3 }));
        const auto both = openData(request(path(""), R"({"color":"bgr","layout":"nhwc","dtype":"uint8"})"), { bytes });
        QVERIFY(both.ok());
        QCOMPARE(both.value()->feeds(), size_t(1));
        const Tensor raw = both.value()->feed(0).value().inputs[0];
        QVERIFY(toInts(raw)[3] == 7 && toInts(raw)[5] == 10 && toInts(raw)[4 * 3 + 1] == 100);
        QVERIFY(refusal(request(path(""), R"({"size":[2,4]})"), { x }).contains("1x3x4x2"));
        QVERIFY(refusal(request(path(""), R"({"size":[4,2],"layout":"nhwc"})"), { x }).contains("nchw"));
        QVERIFY(refusal(request(path(""), R"({"size":[4,2],"resize":"short_side","short_side":1})"), { x })
                    .contains("larger"));
        QVERIFY(refusal(request(path(""), R"({"size":[4,2]})"), { x, x }).contains("one input"));
        DataRequest without = request(path(""));
        const auto issue = openData(without, { x });
        QVERIFY(!issue.ok() && issue.issue().kind == IssueKind::BadUse);
    }

    void grayAndLetterbox()
    {
        QS_HELPER(savePicture("a.png"));
        const InputSpec x = input("x", DType::UInt8, toDims({ 1, 1, 4, 4 }));
        const auto data = openData(
            request(path(""), R"({"size":[4,4],"color":"gray","resize":"letterbox","pad_value":114,"dtype":"uint8"})"),
            { x });
        QVERIFY(data.ok());
        const auto v = toInts(data.value()->feed(0).value().inputs[0]);
        QCOMPARE(v[0], int64_t(114));
        QCOMPARE(v[4], int64_t(1)); // 0.114 * 7, rounded
        QCOMPARE(v[9], int64_t(62)); // 0.299 * 10 + 0.587 * 100 + 0.8
        QCOMPARE(v[15], int64_t(114));
    }

    void classNames_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QStringList>("names");
        const auto row = [](const char* title, const char* text, const QStringList& names) {
            QTest::newRow(title) << QByteArray(text) << names;
        };
        row("lines", "\xef\xbb\xbfno\r\n yes \n\nstop\n\n", { "no", "yes", "", "stop" });
        row("one line", "background", { "background" });
        row("list", R"(["a", "b, c"])", { "a", "b, c" });
        row("dictionary", R"({"2": "c", "0": "a", "10": "k"})", { "a", "", "c", "", "", "", "", "", "", "", "k" });
        row("lists in a dictionary", R"({"1": ["n2", "shark"], "0": ["n1", "tench"]})", { "tench", "shark" });
        row("of Python", "{0: 'person', 1: \"driver's seat\", 2: 'it\\'s'}", { "person", "driver's seat", "it's" });
        row("list of Python", "['a', 'b']", { "a", "b" });
        row("a dictionary of something else", R"({"accuracy": "high"})", {});
        row("numbers", "[1, 2]", {});
        row("too high a number", R"({"99999999999": "a"})", {});
        row("nothing", " \n ", {});
        row("cut off", "{0: 'a', 1: 'b", {});
        row("deep", QByteArray(400'000, '['), {});
        row("deep dictionaries", QByteArray("{0: ").repeated(100'000), {});
    }

    void classNames()
    {
        QFETCH(QByteArray, text);
        QFETCH(QStringList, names);
        QStringList found;
        for (const std::string& name : parseClassNames(text.toStdString()))
            found << QString::fromStdString(name);
        QCOMPARE(found, names);
        writeBytes(path("names"), text.toStdString());
        const auto read = readClassNames(path("names"));
        QCOMPARE(read.ok(), !names.isEmpty());
        if (!read.ok())
            QCOMPARE(read.issue().file, path("names"));
        for (qsizetype i = 0; i < names.size(); ++i)
            QCOMPARE(QString::fromStdString(className(*read, i)), names[i].isEmpty() ? QString::number(i) : names[i]);
        QCOMPARE(className({ "a" }, -1), std::string("no class"));
        QVERIFY(!readClassNames(path("nowhere")).ok());
    }

    void classNamesOfAModel()
    {
        QVERIFY(classNamesIn({ { "names", "{0: 'a', 1: 'b'}" } }) == ClassNames({ "a", "b" }));
        QVERIFY(classNamesIn({ { "labels", "a\nb\n" } }) == ClassNames({ "a", "b" }));
        QVERIFY(classNamesIn({ { "names", "first release" }, { "stride", "[32]" } }).empty());
    }

    void labels()
    {
        for (const char* name : { "dog", "cat", "empty" })
            QS_HELPER(makeFolder(name));
        QS_HELPER(savePicture("dog/1.png"));
        QS_HELPER(savePicture("cat/2.png"));
        QS_HELPER(savePicture("dog/0.png"));
        const std::string json = R"({"size":[4,2]})";
        const InputSpec x = input("x", DType::Float32, toDims({ 1, 3, 2, 4 }));
        auto data = openData(request(path(""), json), { x });
        QVERIFY(data.ok());
        QVERIFY(data.value()->labels() == std::vector<int64_t>({ 0, 1, 1 }));
        QVERIFY(data.value()->classNames() == ClassNames({ "cat", "dog", "empty" }));
        QCOMPARE(data.value()->sampleName(1), std::string("dog/0.png"));
        writeBytes(path("labels.csv"),
            "\xef\xbb\xbf"
            "file,label\r\ndog/0.png,7\r\n\"cat/2.png\",3\r\ndog/1.png,8\r\n");
        data = openData(request(path(""), json), { x });
        QVERIFY(data.ok());
        QVERIFY(data.value()->labels() == std::vector<int64_t>({ 3, 7, 8 }));
        QVERIFY(data.value()->classNames().empty());
        writeBytes(path("labels.csv"), "dog/0.png,7\ncat/2.png,3\n");
        QVERIFY(refusal(request(path(""), json), { x }).contains("1 of 3 pictures: 'dog/1.png'"));
        writeBytes(path("labels.csv"), "dog/0.png,seven\n");
        QVERIFY(refusal(request(path(""), json), { x }).contains("seven"));
        QFile::remove(QString::fromStdString(path("labels.csv")));
        writeBytes(path("dog/notes.txt"), "hello");
        QVERIFY(refusal(request(path(""), json), { x }).contains("dog/notes.txt"));
        QVERIFY(
            QFile::rename(QString::fromStdString(path("dog/notes.txt")), QString::fromStdString(path("dog/.notes"))));
        data = openData(request(path(""), json), { x });
        QVERIFY(data.ok() && data.value()->labels().size() == 3); // names that begin with a dot are skipped
        QFile::remove(QString::fromStdString(path("dog/.notes")));
        QVERIFY(QDir(QString::fromStdString(path("only"))).mkpath("."));
        writeBytes(path("only/a.txt"), "hello");
        QVERIFY(refusal(request(path("only"), json), { x })
                    .contains("holds no picture (png, jpg, jpeg, bmp), but 'a.txt'"));
        QVERIFY(QDir(QString::fromStdString(path("only"))).removeRecursively());
    }

    void foldersOfNumbers_data()
    {
        QTest::addColumn<QStringList>("folders");
        QTest::addColumn<bool>("warned");
        QTest::newRow("places") << QStringList { "0", "1", "2" } << false;
        QTest::newRow("places, padded") << QStringList { "00", "01", "02" } << false;
        QTest::newRow("other numbers") << QStringList { "1", "281", "872" } << true;
        QTest::newRow("ten before two") << QStringList { "0", "1", "10" } << true;
        QTest::newRow("names") << QStringList { "1a", "7", "x" } << false;
    }
    /// Numbers of classes look like labels, and are none.
    void foldersOfNumbers()
    {
        QFETCH(QStringList, folders);
        QFETCH(bool, warned);
        for (const QString& name : folders) {
            QS_HELPER(makeFolder(qPrintable(name)));
            QS_HELPER(savePicture(name.toStdString() + "/a.png"));
        }
        const auto data
            = openData(request(path(""), R"({"size":[4,2]})"), { input("x", DType::Float32, toDims({ 1, 3, 2, 4 })) });
        QVERIFY(data.ok());
        QVERIFY(data.value()->labels() == std::vector<int64_t>({ 0, 1, 2 }));
        QCOMPARE(!data.value()->warnings().empty(), warned);
        QCOMPARE(data.value()->classNames().empty(), warned);
        for (const QString& name : folders)
            QVERIFY(QDir(QString::fromStdString(path(name.toStdString()))).removeRecursively());
    }

    void damagedPictures_data()
    {
        QTest::addColumn<QString>("ending");
        QTest::newRow("png") << "png";
        QTest::newRow("jpg") << "jpg";
        QTest::newRow("bmp") << "bmp";
    }
    void damagedPictures()
    {
        QFETCH(QString, ending);
        const std::string name = "a." + ending.toStdString();
        QS_HELPER(savePicture(name));
        const InputSpec x = input("x", DType::Float32, toDims({ 1, 3, 2, 4 }));
        const std::string json = R"({"size":[4,2]})";
        QVERIFY(refusal(request(path(""), json), { x }).isEmpty());
        QFile file(QString::fromStdString(path(name)));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const std::string bytes = file.readAll().toStdString();
        for (const size_t less : { size_t(1), size_t(13), bytes.size() / 2, bytes.size() }) {
            writeBytes(path(name), bytes.substr(0, bytes.size() - less));
            const QString text = refusal(request(path(""), json), { x });
            QVERIFY2(text.contains("a." + ending), qPrintable(text));
        }
    }

    void wrongPreprocessing_data()
    {
        QTest::addColumn<QString>("json");
        QTest::addColumn<QString>("told");
        QTest::newRow("no json") << "{"
                                 << "JSON";
        QTest::newRow("unknown") << R"({"size":[4,2],"crops":1})"
                                 << "crops";
        QTest::newRow("size") << R"({"size":[4]})"
                              << "size";
        QTest::newRow("negative") << R"({"size":[4,-2]})"
                                  << "size";
        QTest::newRow("resize") << R"({"size":[4,2],"resize":"fit"})"
                                << "letterbox";
        QTest::newRow("mean") << R"({"size":[4,2],"mean":[1,2]})"
                              << "mean";
        QTest::newRow("std") << R"({"size":[4,2],"std":[1,0,1]})"
                             << "std";
        QTest::newRow("scale") << R"({"size":[4,2],"scale":"1/255"})"
                               << "scale";
        QTest::newRow("dtype") << R"({"size":[4,2],"dtype":"int8"})"
                               << "dtype";
        QTest::newRow("pad") << R"({"size":[4,2],"pad_value":300})"
                             << "pad_value";
    }
    void wrongPreprocessing()
    {
        QFETCH(QString, json);
        QFETCH(QString, told);
        QS_HELPER(savePicture("a.png"));
        const InputSpec x = input("x", DType::Float32, toDims({ 1, 3, 2, 4 }));
        const QString text = refusal(request(path(""), json.toStdString()), { x });
        QVERIFY2(text.contains(told) && text.contains(".preprocess.json"), qPrintable(text));
    }

    void randomData()
    {
        const std::vector<InputSpec> inputs { input("x", DType::Float32, toDims({ 2, 50 })),
            input("n", DType::Int64, toDims({ 2, 50 })), input("b", DType::Bool, toDims({ 2, 50 })) };
        const auto data = openData(request("random:6:3"), inputs);
        QVERIFY(data.ok());
        QCOMPARE(data.value()->samples(), size_t(6));
        QCOMPARE(data.value()->feeds(), size_t(3));
        const Feed feed = data.value()->feed(1).value();
        const auto x = toFloats(feed.inputs[0]);
        QVERIFY(*std::min_element(x.begin(), x.end()) >= 0 && *std::max_element(x.begin(), x.end()) < 1);
        const auto n = toInts(feed.inputs[1]);
        QVERIFY(*std::min_element(n.begin(), n.end()) >= 0 && *std::max_element(n.begin(), n.end()) <= 127);
        const auto b = toInts(feed.inputs[2]);
        QVERIFY(*std::min_element(b.begin(), b.end()) == 0 && *std::max_element(b.begin(), b.end()) == 1);
        const auto again = openData(request("random:2:3"), inputs);
        QVERIFY(
            toFloats(again.value()->feed(0).value().inputs[0]) == toFloats(data.value()->feed(0).value().inputs[0]));
        QVERIFY(toFloats(data.value()->feed(0).value().inputs[0]) != x);
        const auto other = openData(request("random:2:4"), inputs);
        QVERIFY(
            toFloats(other.value()->feed(0).value().inputs[0]) != toFloats(data.value()->feed(0).value().inputs[0]));
        QVERIFY(refusal(request("random:3"), inputs).contains("do not fill"));
        QVERIFY(refusal(request("random:0"), inputs).contains("no samples"));
        const InputSpec open = input("x", DType::Float32, { Dim { -1, "N" }, Dim { 3, "" } });
        QVERIFY(refusal(request("random:3"), { open }).contains("--shape x="));
        DataRequest shaped = request("random:3");
        shaped.shapes["x"] = { 1, 3 };
        QVERIFY(refusal(shaped, { open }).isEmpty());
        shaped.shapes["x"] = { 2, 3 }; // complete inputs of that shape, not a batch to fill
        const auto whole = openData(shaped, { open });
        QVERIFY(whole.ok() && whole.value()->samples() == 3 && whole.value()->feeds() == 3);
        QCOMPARE(whole.value()->feed(2).value().inputs[0].shape(), (Shape { 2, 3 }));
        shaped.shapes["x"] = { 1, 4 };
        QVERIFY(!refusal(shaped, { open }).isEmpty());
        for (const char* wrong : { "random:", "random:x", "random:3:", "random:3:x", "random:-1" }) {
            const auto issue = openData(request(wrong), inputs);
            QVERIFY(!issue.ok() && issue.issue().kind == IssueKind::BadUse);
        }
    }
};

QTEST_GUILESS_MAIN(OtherFormsTest)
#include "other_forms_test.moc"
