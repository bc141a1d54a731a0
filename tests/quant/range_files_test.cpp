// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/ranges/range_files.h"

#include "core/base/files/atomic_file.h"
#include "tests/quant/runners.h"

#include <QTemporaryDir>
#include <QTest>

#include <limits>

using namespace qs;

class RangeFilesTests : public QObject {
    Q_OBJECT
private slots:
    void jsonOfOnnxRuntime();
    void jsonIsReadBack_data();
    void jsonIsReadBack();
    void flatTableOfOnnxRuntime();
    void textTables();
    void refused_data();
    void refused();
    void anyCutOfAFlatTable();
    void filesAreFoundByName();
};

namespace {

/// What ONNX Runtime 1.31.1 wrote (save_tensors_data, write_calibration_table) for ranges -1.5..2.1, float16 0..1e-7
/// and -3..-1.
constexpr std::string_view kJson
    = R"({"CLS": "TensorsData", "data": {"a": {"lowest": {"data": [-1.5], "dtype": "float32", "CLS": "numpy.array"}, )"
      R"("highest": {"data": [2.0999999046325684], "dtype": "float32", "CLS": "numpy.array"}, "CLS": "TensorData"}, )"
      R"("b \"q\"\u00e9": {"lowest": {"data": [0.0], "dtype": "float16", "CLS": "numpy.array"}, "highest": )"
      R"({"data": [1.1920928955078125e-07], "dtype": "float16", "CLS": "numpy.array"}, "CLS": "TensorData"}, "neg x": )"
      R"({"lowest": {"data": [-3.0], "dtype": "float32", "CLS": "numpy.array"}, "highest": {"data": [-1.0], "dtype": )"
      R"("float32", "CLS": "numpy.array"}, "CLS": "TensorData"}}, "calibration_method": {"CLS": "CalibrationMethod", )"
      R"("value": "CalibrationMethod.MinMax"}, "smooth_quant": false})";
constexpr const char* kFlatHex
    = "0c00000000000600080004000600000004000000030000000c0000002c00000064000000a8ffffff0800000010000000"
      "040000002d312e3000000000050000006e65672078000000ccffffff080000002000000016000000312e313932303932"
      "38393535303738313235652d30370000070000006220227122c3a90008000c000800040008000000080000001c000000"
      "12000000322e3039393939393930343633323536383400000100000061000000";
constexpr std::string_view kText = "a 2.0999999046325684\nb \"q\"\xc3\xa9 1.1920928955078125e-07\nneg x -1.0\n";

Ranges threeRanges()
{
    Ranges ranges;
    const auto range = [](DType type, float low, float high) {
        TensorRange r;
        r.dtype = type;
        r.lowest = low;
        r.highest = high;
        r.shape = { 1 };
        return r;
    };
    ranges.tensors["a"] = range(DType::Float32, -1.5f, 2.1f);
    ranges.tensors["b \"q\"\xc3\xa9"] = range(DType::Float16, 0, 1.1920928955078125e-07f);
    ranges.tensors["neg x"] = range(DType::Float32, -3, -1);
    return ranges;
}

std::string flatTable()
{
    const QByteArray bytes = QByteArray::fromHex(kFlatHex);
    return bytes.toStdString();
}

} // namespace

void RangeFilesTests::jsonOfOnnxRuntime()
{
    const auto read = parseRanges(kJson, "c.json");
    QVERIFY(read.ok());
    QCOMPARE(*read, threeRanges());
    QCOMPARE(*formatRanges(threeRanges(), RangeFormat::Json), std::string(kJson));
}

void RangeFilesTests::jsonIsReadBack_data()
{
    QTest::addColumn<int>("method");
    for (const auto method :
        { Calibrator::MinMax, Calibrator::Percentile, Calibrator::Entropy, Calibrator::Distribution })
        QTest::newRow(std::string(nameIn(kCalibrators, method)).c_str()) << int(method);
}

void RangeFilesTests::jsonIsReadBack()
{
    QFETCH(int, method);
    Ranges ranges;
    ranges.calibrator = Calibrator(method);
    ranges.smoothQuant = true;
    TensorRange range;
    range.lowest = -std::numeric_limits<float>::infinity();
    range.highest = std::numeric_limits<float>::denorm_min();
    if (ranges.calibrator == Calibrator::Distribution) {
        range.average = 0.1f;
        range.deviation = 1e30f;
    }
    ranges.tensors["x\n\x01\\"] = range;
    const auto text = formatRanges(ranges, RangeFormat::Json);
    const auto read = parseRanges(*text, "c.json");
    QVERIFY2(read.ok(), text->c_str());
    QCOMPARE(*read, ranges);
}

void RangeFilesTests::flatTableOfOnnxRuntime()
{
    QCOMPARE(*formatRanges(threeRanges(), RangeFormat::FlatBuffers), flatTable());
    const auto read = parseRanges(flatTable(), "c.flatbuffers");
    QVERIFY(read.ok());
    QCOMPARE(read->tensors.size(), size_t(3));
    QCOMPARE(read->find("a")->lowest, -2.1f);
    QCOMPARE(read->find("a")->highest, 2.1f);
    QCOMPARE(read->find("neg x")->highest, 1.0f);
    const auto none = parseRanges(*formatRanges({}, RangeFormat::FlatBuffers), "c.flatbuffers");
    QVERIFY(none.ok() && none->tensors.empty());
}

void RangeFilesTests::textTables()
{
    QCOMPARE(*formatRanges(threeRanges(), RangeFormat::Text), std::string(kText));
    const auto read = parseRanges(kText, "c.cache");
    QVERIFY(read.ok());
    QCOMPARE(read->find("a")->lowest, -2.1f);
    // TensorRT's own: the bits of 1/127.
    const auto tensorRt = parseRanges("TRT-8601-EntropyCalibration2\nx/a:0: 3c010204\r\n\n", "c.cache");
    QVERIFY(tensorRt.ok());
    QCOMPARE(tensorRt->find("x/a:0")->highest, 1.0f);
    Ranges broken;
    broken.tensors["a\nb"] = {};
    QVERIFY(!formatRanges(broken, RangeFormat::Text).ok());
}

void RangeFilesTests::refused_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("mentions");
    const auto json = [](const QByteArray& entry) {
        return "{\"data\": {\"x\": " + entry + "}, \"calibration_method\": {\"value\": \"CalibrationMethod.MinMax\"}}";
    };
    QTest::newRow("empty") << QByteArray(" \n") << "empty";
    QTest::newRow("half a document") << QByteArray(kJson.data(), 200) << "JSON";
    QTest::newRow("deep") << QByteArray("{\"a\":" + QByteArray(100000, '[')) << "JSON";
    QTest::newRow("a tensor twice") << QByteArray(R"({"data": {"a": {}, "a": {}}})") << "'a' twice";
    QTest::newRow("deep and closed") << QByteArray("{\"a\":" + QByteArray(5000, '[') + QByteArray(5000, ']') + "}")
                                     << "JSON";
    QTest::newRow("another document") << QByteArray("{\"a\": 1}") << "calibration cache";
    QTest::newRow("no method") << QByteArray("{\"data\": {}}") << "method";
    QTest::newRow("not a range") << json("3") << "x";
    QTest::newRow("no highest") << json("{\"lowest\": 1.5}") << "highest";
    QTest::newRow("text for a number") << json("{\"lowest\": \"a\", \"highest\": 2}") << "lowest";
    QTest::newRow("several numbers") << json("{\"lowest\": 0, \"highest\": {\"data\": [1, 2], \"dtype\": \"float32\"}}")
                                     << "one float";
    QTest::newRow("integers") << json("{\"lowest\": 0, \"highest\": {\"data\": 1, \"dtype\": \"int64\"}}") << "float";
    QTest::newRow("not a number") << json("{\"lowest\": NaN, \"highest\": 1}") << "NaN";
    QTest::newRow("upside down") << json("{\"lowest\": 2.5, \"highest\": 1}") << "2.5";
    QTest::newRow("prose") << QByteArray("Dear reader\n") << "line 1";
    QTest::newRow("second line") << QByteArray("a 1\nb\n") << "line 2";
    QTest::newRow("infinite") << QByteArray("a inf\n") << "finite";
    QTest::newRow("TensorRT without bits") << QByteArray("TRT-1\nx: zz\n") << "line 2";
    QTest::newRow("binary") << QByteArray(64, '\0') << "table";
    QTest::newRow("wild offsets") << QByteArray(64, '\xff').append('\0') << "table";
}

void RangeFilesTests::refused()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, mentions);
    const auto read = parseRanges(bytes.toStdString(), "given.file");
    QVERIFY(!read.ok());
    QCOMPARE(read.issue().kind, IssueKind::BadInput);
    QCOMPARE(read.issue().file, std::string("given.file"));
    QVERIFY(!read.issue().remedy.empty());
    const QString sentence = QString::fromStdString(read.issue().what + " " + read.issue().tensor);
    QVERIFY2(sentence.contains(mentions), qPrintable(sentence));
}

/// Neither a cut file nor one with a changed byte is read outside its bytes (the address sanitizer looks on).
void RangeFilesTests::anyCutOfAFlatTable()
{
    const std::string whole = flatTable();
    for (size_t size = 0; size < whole.size(); ++size)
        (void)parseRanges(whole.substr(0, size), "cut");
    for (size_t at = 0; at < whole.size(); ++at)
        for (const char byte : { '\x00', '\x7f', '\xff', '\x01' }) {
            std::string changed = whole;
            changed[at] = byte;
            (void)parseRanges(changed, "changed");
        }
}

void RangeFilesTests::filesAreFoundByName()
{
    QTemporaryDir folder;
    for (const char* name : { "r.json", "r.flatbuffers", "r.cache" }) {
        const std::string path = folder.filePath(name).toStdString();
        const auto bytes = formatRanges(threeRanges(), rangeFormatOf(path));
        QVERIFY(bytes.ok());
        QVERIFY(writeFile(path, *bytes).ok());
        QVERIFY(readRanges(path).ok());
    }
    QVERIFY(!readRanges(folder.filePath("none.json").toStdString()).ok());
    QVERIFY(!readRanges(folder.path().toStdString()).ok());
}

int runRangeFilesTests(int argc, char** argv)
{
    RangeFilesTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "range_files_test.moc"
