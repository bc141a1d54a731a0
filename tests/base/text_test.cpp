// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/base/runners.h"

#include "core/base/files/json_text.h"
#include "core/base/text/distinct_names.h"
#include "core/base/text/nearest_names.h"
#include "core/base/text/one_line.h"
#include "core/base/text/regex.h"
#include "core/base/text/share_text.h"
#include "core/base/text/text_columns.h"
#include "core/base/text/utf8.h"

#include <QTest>

#include <random>
#include <set>

using namespace qs;

class TextTests : public QObject {
    Q_OBJECT
private slots:
    void characters_data();
    void characters();
    void everyCharacterComesBack();
    void cutsBetweenCharacters();
    void patterns_data();
    void patterns();
    void patternsMatchParts();
    void wrongPatterns_data();
    void wrongPatterns();
    void hostilePatternsEnd();
    void quotedTextIsPlain();
    void jsonComesInItsOrder();
    void hostileJson_data();
    void hostileJson();
    void numbersOfJsonFit();
    void whatActsIsEscaped();
    void nearestNamesComeFirst();
    void distinctNames_data();
    void distinctNames();
    void distinctNamesOfAnything();
    void distinctFileNames_data();
    void distinctFileNames();
    void shares();
    void columns_data();
    void columns();
};

void TextTests::characters_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("expected"); // what is not valid: "?" for each byte
    const auto row = [](const char* name, const QByteArray& text, const char* expected) {
        QTest::newRow(name) << text << QString(expected);
    };
    row("nothing", "", "");
    row("ASCII with a zero", QByteArray("a\0z", 3), "61 0 7a");
    row("one to four bytes", "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
        "7f 80 7ff 800 ffff 10000 10ffff");
    row("the replacement character itself", "\xef\xbf\xbd", "fffd");
    row("continuation alone", "\x80\xbf", "? ?");
    row("never in UTF-8", "\xf8\xfe\xff", "? ? ?");
    row("overlong of two", "\xc0\x80\xc1\xbf", "? ? ? ?");
    row("overlong of three", "\xe0\x9f\xbf", "? ? ?");
    row("overlong of four", "\xf0\x8f\xbf\xbf", "? ? ? ?");
    row("surrogates", "\xed\x9f\xbf\xed\xa0\x80\xed\xbf\xbf\xee\x80\x80", "d7ff ? ? ? ? ? ? e000");
    row("beyond the last", "\xf4\x90\x80\x80\xf7\xbf\xbf\xbf", "? ? ? ? ? ? ? ?");
    row("cut off at the end", "a\xe2\x82", "61 ? ?");
    row("cut off by another",
        "\xe2\x82"
        "b\xf0\x9f\xc3\xa9",
        "? ? 62 ? ? e9");
}

void TextTests::characters()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, expected);
    const std::string all = text.toStdString();
    QStringList found;
    std::string bytes;
    forEachCharacter(all, [&](const Utf8Character& c) {
        found << (c.valid ? QString::number(uint32_t(c.point), 16) : "?");
        QVERIFY(c.valid || (c.bytes.size() == 1 && c.point == U'\uFFFD'));
        bytes += c.bytes;
    });
    QCOMPARE(found.join(' '), expected);
    QCOMPARE(bytes, all);
}

void TextTests::everyCharacterComesBack()
{
    for (char32_t point = 0; point <= 0x10FFFF; ++point) {
        if (point == 0xD800)
            point = 0xE000;
        const std::string text = utf8Text(point), longer = text + "x";
        const Utf8Character c = firstCharacter(longer); // looks at it
        if (!c.valid || c.point != point || c.bytes != text)
            QFAIL(qPrintable(QString::number(uint32_t(point), 16)));
    }
}

void TextTests::cutsBetweenCharacters()
{
    const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
    QCOMPARE(characterCount(text), size_t(5));
    std::vector<size_t> borders;
    for (size_t i = 0; i < text.size(); ++i)
        if (beginsCharacter(text[i]))
            borders.push_back(i);
    QCOMPARE(borders, (std::vector<size_t> { 0, 1, 3, 6, 10 }));
}

void TextTests::patterns_data()
{
    QTest::addColumn<QByteArray>("pattern");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("matches");
    const auto row = [](const char* pattern, const char* text, bool matches) {
        QTest::addRow("%s on '%s'", pattern, text) << QByteArray(pattern) << QByteArray(text) << matches;
    };
    row("", "", true);
    row("", "a", false);
    row("abc", "abc", true);
    row("abc", "abcd", false);
    row("a|bc|", "bc", true);
    row("a|bc|", "", true);
    row("(ab)*c", "ababc", true);
    row("(ab)+?c", "c", false);
    row("a{2,3}", "aa", true);
    row("a{2,3}", "aaaa", false);
    row("a{2}", "aaa", false);
    row("a{2,}", "aaaaa", true);
    row("a{,3}", "a{,3}", true);
    row("[a-c-]+", "a-b", true);
    row("[^a-c]+", "dee", true);
    row("[^a-c]+", "dae", false);
    row("[]x]+", "]x", true);
    row("\\d\\w\\s\\D\\W\\S", "1a b-c", true);
    row("www\\.[\\w.-]+\\.\\bcom\\b", "www.google.com", true);
    row("www\\.[\\w.-]+\\.\\bcom\\b", "www.bbc.co.uk", false);
    row("(\\W|^)[\\w.\\-]{0,25}@(yahoo|gmail)\\.com(\\W|$)", "account@gmail.com", true);
    row("^a.c$", "a\nc", false);
    row("a.c",
        "a\xC3\xBC"
        "c",
        true);
    row("(?:a|(?P<name>b))\\x", "", false);
    row("foo\\B.*", "foobar", true);
    row("foo\\b.*", "foobar", false);
    row("(?i)a\\pN[[:alpha:]]", "A1z", true);
    row("(a*)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false);
}

void TextTests::patterns()
{
    QFETCH(QByteArray, pattern);
    QFETCH(QByteArray, text);
    QFETCH(bool, matches);
    const Regex regex(pattern.toStdString());
    QCOMPARE(regex.fault().empty() && regex.matchesAll(text.toStdString()), matches);
}

void TextTests::patternsMatchParts()
{
    const Regex regex("b+c");
    QVERIFY(regex.matchesPart("abbcd") && !regex.matchesPart("abd"));
    QVERIFY(!regex.matchesAll("abbcd") && regex.matchesAll("bbc"));
    QVERIFY(Regex("^$").matchesPart("") && !Regex("^b$").matchesPart("ab"));
}

void TextTests::wrongPatterns_data()
{
    QTest::addColumn<QByteArray>("pattern");
    for (const char* pattern : { "(", ")", "a(b", "[a", "*a", "a\\", "a{2000}", "a{3,2}", "[b-a]", "(a)\\1", "a(?=b)",
             "a(?!b)", "(?<=a)b", "\\u0041", "\xff" })
        QTest::newRow(pattern) << QByteArray(pattern);
    QTest::newRow("too deep") << QByteArray(100'000, '(');
    QTest::newRow("too large") << QByteArray("((((a{1000}){1000}){1000}){1000})");
    QTest::newRow("too large, repetition after repetition") << QByteArray("((a{100}){10}|[^b]){1000}").repeated(100);
}

void TextTests::wrongPatterns()
{
    QFETCH(QByteArray, pattern);
    const Regex regex(pattern.toStdString());
    QVERIFY(!regex.fault().empty());
    QVERIFY(!regex.matchesAll("") && !regex.matchesPart("a"));
}

void TextTests::hostilePatternsEnd()
{
    const std::string many(200'000, 'a');
    QVERIFY(Regex("(a|b|ab)*c").matchesAll(many + "c"));
    for (const char* pattern : { "(a+)+$", "(a*)*$", "(a|a)*$", "(a|aa)+$", "(.*a){20}$" })
        QVERIFY2(!Regex(std::string("^") + pattern).matchesAll(many + "b"), pattern);
}

void TextTests::quotedTextIsPlain()
{
    const std::string signs = "a.*+?()[]{}|^$\\/-_ \xc3\xa9\n";
    QVERIFY(Regex(Regex::quoted(signs)).matchesAll(signs));
    QVERIFY(!Regex(Regex::quoted("a.")).matchesAll("ab"));
}

void TextTests::jsonComesInItsOrder()
{
    const auto json = readJson(R"({"z": [1, -2, 0.5, "t", null, true], "a": {"b": {}}, "": []})");
    QVERIFY(json.ok());
    QCOMPARE(json->dump(), std::string(R"({"z":[1,-2,0.5,"t",null,true],"a":{"b":{}},"":[]})"));
    QCOMPARE(readJson("7")->dump(), std::string("7"));
    const std::string deep = std::string(64, '[') + std::string(64, ']');
    QCOMPARE(readJson(deep)->dump(), deep);
}

void TextTests::hostileJson_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("told");
    QTest::newRow("nothing") << QByteArray() << "no JSON at byte";
    QTest::newRow("cut off") << QByteArray("{\"a\": [1, 2") << "no JSON at byte";
    QTest::newRow("more behind it") << QByteArray("{} {}") << "no JSON at byte 4";
    QTest::newRow("no UTF-8") << QByteArray("\"\xff\"") << "no JSON at byte";
    QTest::newRow("lists in lists") << QByteArray(400'000, '[') << "nested deeper than 64";
    QTest::newRow("objects in objects") << QByteArray("{\"a\":").repeated(400'000) << "nested deeper than 64";
    QTest::newRow("many values") << "[" + QByteArray("0,").repeated(2000) + "0]"
                                 << "more than 1000 values";
    QTest::newRow("a key twice") << QByteArray(R"({"a": {"b": 1, "c": 2, "b": 3}})") << "the key 'b' twice";
    QTest::newRow("long") << QByteArray(100'001, ' ') << "longer than";
}

void TextTests::hostileJson()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, told);
    JsonLimits limits;
    if (told.contains("values"))
        limits.values = 1000;
    if (told.contains("longer"))
        limits.bytes = 100'000;
    const auto json = readJson(text.toStdString(), limits);
    QVERIFY(!json.ok());
    QVERIFY2(QString::fromStdString(json.issue().what).contains(told), json.issue().what.c_str());
}

void TextTests::numbersOfJsonFit()
{
    const auto json = readJson(R"({"n": 18446744073709551615, "i": -3, "f": 1e300, "s": "4"})");
    QVERIFY(json.ok());
    QCOMPARE(naturalOf((*json)["n"]), std::numeric_limits<uint64_t>::max());
    QCOMPARE(naturalAt(*json, "none", 5), uint64_t(5));
    QCOMPARE(wholeOf((*json)["i"]), int64_t(-3));
    using Exception = nlohmann::ordered_json::exception;
    for (const char* key : { "i", "f", "s" })
        QVERIFY_THROWS_EXCEPTION(Exception, naturalAt(*json, key));
    for (const char* key : { "n", "f", "s" })
        QVERIFY_THROWS_EXCEPTION(Exception, wholeOf((*json)[key]));
}

void TextTests::whatActsIsEscaped()
{
    QCOMPARE(visible("a\tb\nc\r\nd \xc3\xa9"), std::string("a\tb\nc\r\nd \xc3\xa9"));
    QCOMPARE(visible("\x1b[2J\r\x7f\xc2\x9b"), std::string("\\u001B[2J\\u000D\\u007F\\u009B"));
    QCOMPARE(visible("\xe2\x80\xae\xd8\x9c\xe2\x81\xa6\xff"), std::string("\\u202E\\u061C\\u2066\xef\xbf\xbd"));
    const nlohmann::ordered_json json { { "\xe2\x80\xae", "\xc2\x9b" } };
    const auto again = readJson(visible(json.dump()));
    QVERIFY(again.ok() && *again == json);
}

void TextTests::nearestNamesComeFirst()
{
    const std::vector<std::string> names { "input", "conv1_output", "conv2_output", "Relu_output_0", "scores", "" };
    using Found = std::vector<std::string>;
    QCOMPARE(nearestNames("score", names, 1), Found { "scores" });
    QCOMPARE(nearestNames("SCORES", names, 1), Found { "scores" });
    QCOMPARE(nearestNames("output", names), (Found { "conv1_output", "conv2_output", "Relu_output_0" }));
    QCOMPARE(nearestNames("conv3_output", names, 2), (Found { "conv1_output", "conv2_output" }));
    QVERIFY(nearestNames("", names).empty());
    QVERIFY(nearestNames("zq", { "abcdef" }).empty());
    QVERIFY(nearestNames("a", {}).empty());
    const std::string longName(100000, 'x');
    QCOMPARE(nearestNames(longName, { longName }, 1), Found { longName });
}

int runTextTests(int argc, char** argv)
{
    TextTests tests;
    return QTest::qExec(&tests, argc, argv);
}

void TextTests::distinctFileNames_data()
{
    QTest::addColumn<QString>("a");
    QTest::addColumn<QString>("b");
    QTest::addColumn<QString>("names");
    const auto row = [](const char* a, const char* b, const char* names) {
        QTest::addRow("'%s' and '%s'", a, b) << QString(a) << QString(b) << QString(names);
    };
    row("/x/float.onnx", "int8.onnx", "float.onnx int8.onnx");
    row("fp32/model.onnx", "int4/model.onnx", "fp32/model.onnx int4/model.onnx");
    row("/a/fp32/onnx/model.onnx", "/a/int4/onnx/model.onnx", "fp32/onnx/model.onnx int4/onnx/model.onnx");
    row("model.onnx", "int4/model.onnx", "model.onnx int4/model.onnx");
    row("/model.onnx", "/int4/model.onnx", "/model.onnx int4/model.onnx");
    row("a/model.onnx", "a/model.onnx", "model.onnx model.onnx");
    row("m", "m", "m m");
    row("", "m", " m");
}

void TextTests::distinctFileNames()
{
    QFETCH(QString, a);
    QFETCH(QString, b);
    const auto names = qs::distinctFileNames(a.toStdString(), b.toStdString());
    QTEST(QString::fromStdString(names.first + " " + names.second), "names");
    using Names = std::vector<std::string>;
    QCOMPARE(qs::distinctFileNames(Names { "a/x/m", "b/x/m", "a/x/m", "" }), (Names { "a/x/m", "b/x/m", "a/x/m", "" }));
    QCOMPARE(qs::distinctFileNames(Names { "a/m", "a/n", "a/o" }), (Names { "m", "n", "o" }));
    QCOMPARE(qs::distinctFileNames(Names {}), Names {});
}

void TextTests::distinctNames_data()
{
    QTest::addColumn<QStringList>("names");
    QTest::addColumn<int>("widest");
    QTest::addColumn<QStringList>("expected");
    QTest::newRow("no limit") << QStringList { "a/very/long/name" } << 0 << QStringList { "a/very/long/name" };
    QTest::newRow("short") << QStringList { "a/b", "c" } << 10 << QStringList { "a/b", "c" };
    QTest::newRow("differ in the middle")
        << QStringList { "/layers.3/mlp/up_proj/MatMul/output_0", "/layers.3/mlp/down_proj/MatMul/output_0" } << 34
        << QStringList { "/layers.3/mlp/up_proj/.../output_0", "/layers.3/mlp/down_proj/MatMul/..." };
    QTest::newRow("no parts") << QStringList { "abcdefghijklmnopqrstuvwxyz" } << 11 << QStringList { "abcd...wxyz" };
    QTest::newRow("characters count") << QStringList {
        "\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc"
    } << 9 << QStringList { "\u00e4\u00f6\u00fc...\u00e4\u00f6\u00fc" };
}

void TextTests::distinctNames()
{
    QFETCH(QStringList, names);
    QFETCH(int, widest);
    QFETCH(QStringList, expected);
    std::vector<std::string> given;
    for (const QString& name : names)
        given.push_back(name.toStdString());
    QStringList shown;
    for (const std::string& name : qs::distinctNames(given, size_t(widest)))
        shown << QString::fromStdString(name);
    QCOMPARE(shown, expected);
}

/// Never too long, equal for equal names, and different where the parts of paths permit.
void TextTests::distinctNamesOfAnything()
{
    std::mt19937 random(5);
    const auto below = [&](size_t n) { return random() % n; };
    const std::vector<std::string> parts { "model", "layers.0", "layers.11", "mlp", "attn", "down_proj", "o_proj",
        "MatMul" };
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> names;
        for (size_t i = 0; i < 20; ++i) {
            std::string name;
            for (size_t p = 0; p < 3 + below(4); ++p)
                name += "/" + parts[below(parts.size())];
            names.push_back(name);
        }
        const size_t widest = 8 + below(40);
        const std::vector<std::string> shown = qs::distinctNames(names, widest);
        QCOMPARE(shown.size(), names.size());
        for (size_t i = 0; i < names.size(); ++i) {
            QVERIFY(characterCount(shown[i]) <= widest);
            for (size_t j = 0; j < i; ++j)
                if (names[i] == names[j])
                    QCOMPARE(shown[i], shown[j]);
        }
    }
}

/// One rule for whoever writes a share; a half goes away from zero.
void TextTests::shares()
{
    const std::vector<std::pair<double, std::string>> rows { { 2 / 32., "6.3 %" }, { -2 / 32., "-6.3 %" },
        { 0.1184, "11.8 %" }, { 1.103, "110.3 %" }, { -0.102, "-10.2 %" }, { 0, "0 %" }, { -0.0004, "0 %" },
        { 0.0004, "<0.1 %" }, { 0.9996, ">99.9 %" }, { 1, "100 %" }, { 1.0004, "100 %" },
        { 0.1 + 0.2 + 0.7, "100 %" } };
    for (const auto& [share, text] : rows)
        QCOMPARE(shareText(share), text);
}

void TextTests::columns_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("columns");
    QTest::newRow("letters") << QByteArray("conv_1") << 6;
    QTest::newRow("Greek and an ellipsis") << QByteArray("σ…") << 2;
    QTest::newRow("Chinese") << QByteArray("卷积/1") << 6;
    QTest::newRow("a mark on its letter") << QByteArray("e\xCC\x81") << 1;
    QTest::newRow("a byte that is none") << QByteArray("\xFF") << 1;
}

void TextTests::columns()
{
    QFETCH(QByteArray, text);
    QFETCH(int, columns);
    QCOMPARE(int(qs::columnCount(text.toStdString())), columns);
}

#include "text_test.moc"
