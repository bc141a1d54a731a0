// SPDX-License-Identifier: GPL-3.0-or-later
// Texts as tokens: how they are cut, merged and looked up, against naive ways of doing it, and as data of a model.
#include "core/base/issue_text.h"
#include "core/data/open_data.h"
#include "core/data/tokens/character_map.h"
#include "core/data/tokens/text_steps.h"
#include "core/data/tokens/token_words.h"
#include "core/data/tokens/tokenizer.h"
#include "core/tensor/convert.h"

#include <nlohmann/json.hpp>

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <random>

using namespace qs;
using Json = nlohmann::ordered_json;
using Ids = std::vector<int32_t>;

namespace {

/// Single letters and some merges; ids in this order.
const std::vector<std::pair<std::string, std::string>> kMerges { { "t", "h" }, { "th", "e" }, { "\u0120", "the" },
    { "a", "a" }, { "aa", "a" }, { "h", "e" }, { "\u0120", "a" } };

Json pairModel()
{
    Json vocabulary = Json::object();
    for (int b = 0; b < 256; ++b)
        vocabulary[visibleBytes(std::string(1, char(b)))] = vocabulary.size();
    Json merges = Json::array();
    for (const auto& [left, right] : kMerges) {
        vocabulary[left + right] = vocabulary.size();
        merges.push_back({ left, right });
    }
    return { { "type", "BPE" }, { "vocab", vocabulary }, { "merges", merges } };
}

Json byteLevel()
{
    return { { "added_tokens", Json::array() }, { "normalizer", nullptr },
        { "pre_tokenizer", { { "type", "ByteLevel" }, { "add_prefix_space", false } } }, { "post_processor", nullptr },
        { "model", pairModel() } };
}

/// The lowest pair first, from the left, until none is left.
std::vector<std::string> naiveMerged(std::vector<std::string> symbols)
{
    for (;;) {
        size_t best = kMerges.size(), at = 0;
        for (size_t i = 0; i + 1 < symbols.size(); ++i)
            for (size_t m = 0; m < best; ++m)
                if (symbols[i] == kMerges[m].first && symbols[i + 1] == kMerges[m].second) {
                    best = m;
                    at = i;
                }
        if (best == kMerges.size())
            return symbols;
        symbols[at] += symbols[at + 1];
        symbols.erase(symbols.begin() + ptrdiff_t(at) + 1);
    }
}

} // namespace

class TokenizerTests : public QObject {
    Q_OBJECT
private slots:
    void piecesOfGpt2_data();
    void piecesOfGpt2();
    void mergesAgainstNaive();
    void bytesOfUnknown();
    void addedTokens();
    void normalizers_data();
    void normalizers();
    void characterMaps();
    void wordsOfTokens();
    void longestWords();
    void bestScores();
    void refusals_data();
    void refusals();
    void promptsOfAText();
    void tokensAroundTexts_data();
    void tokensAroundTexts();
    void textsThatDoNotFit_data();
    void textsThatDoNotFit();

private:
    QString file(const QString& name, const std::string& bytes) const
    {
        QFile f(m_folder.filePath(name));
        if (!f.open(QIODevice::WriteOnly) || f.write(bytes.data(), qint64(bytes.size())) < 0)
            qFatal("cannot write");
        return f.fileName();
    }
    Tokenizer tokenizer(const Json& json) const
    {
        auto read = Tokenizer::read(file("tokenizer.json", json.dump()).toStdString());
        if (!read.ok())
            qFatal("%s", issueText(read.issue()).c_str());
        return std::move(read).value();
    }
    QTemporaryDir m_folder;
};

void TokenizerTests::piecesOfGpt2_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("pieces");
    QTest::newRow("words") << "the cat's hat" << QStringList { "the", " cat", "'s", " hat" };
    QTest::newRow("numbers and marks") << "a1 22!? x" << QStringList { "a", "1", " 22", "!?", " x" };
    QTest::newRow("white space before a word") << "a   b" << QStringList { "a", "  ", " b" };
    QTest::newRow("white space at the end") << "a  \n" << QStringList { "a", "  \n" };
    QTest::newRow("lines") << "a\n\nb" << QStringList { "a", "\n", "\n", "b" };
    QTest::newRow("other letters") << QStringLiteral("größer 寺院 मा")
                                   << QStringList { QStringLiteral("größer"), QStringLiteral(" 寺院"),
                                          QStringLiteral(" म"), QStringLiteral("ा") };
    QTest::newRow("wide blanks") << QStringLiteral("a\u3000\u00a0b")
                                 << QStringList { "a", QStringLiteral("\u3000"), QStringLiteral("\u00a0"), "b" };
}

void TokenizerTests::piecesOfGpt2()
{
    QFETCH(const QString, text);
    QFETCH(const QStringList, pieces);
    const auto steps = readPreTokenizer({ { "type", "ByteLevel" }, { "add_prefix_space", false } });
    QVERIFY(steps.ok());
    std::vector<std::string> found, wanted;
    const std::string bytes = text.toStdString();
    runSteps(*steps, { bytes, true }, [&](const TextPiece& piece) { found.emplace_back(piece.text); });
    for (const QString& piece : pieces)
        wanted.push_back(visibleBytes(piece.toStdString()));
    QCOMPARE(found, wanted);
}

void TokenizerTests::mergesAgainstNaive()
{
    const Tokenizer tokens = tokenizer(byteLevel());
    const Json vocabulary = pairModel()["vocab"];
    std::mt19937 random(2);
    for (int i = 0; i < 300; ++i) {
        std::string word;
        for (size_t length = 1 + random() % 12; length > 0; --length)
            word += "the a"[random() % 5];
        Ids wanted;
        const auto steps = readPreTokenizer(byteLevel()["pre_tokenizer"]);
        runSteps(*steps, { word, true }, [&](const TextPiece& piece) {
            std::vector<std::string> symbols;
            for (const QChar c : QString::fromUtf8(piece.text.data(), qsizetype(piece.text.size())))
                symbols.push_back(QString(c).toStdString());
            for (const std::string& symbol : naiveMerged(symbols))
                wanted.push_back(vocabulary.at(symbol).get<int32_t>());
        });
        QVERIFY2(tokens.encode(word) == wanted, word.c_str());
    }
}

/// What has no token is spelled in bytes, else unknown.
void TokenizerTests::bytesOfUnknown()
{
    Json vocabulary = { { "<unk>", 0 }, { "a", 1 }, { "▁", 2 } };
    Json model = { { "type", "BPE" }, { "vocab", vocabulary }, { "merges", Json::array() }, { "unk_token", "<unk>" },
        { "fuse_unk", true } };
    Json json = { { "pre_tokenizer", { { "type", "Metaspace" }, { "replacement", "▁" } } }, { "model", model } };
    QCOMPARE(tokenizer(json).encode("aé ü"), (Ids { 2, 1, 0, 2, 0 }));
    QCOMPARE(tokenizer(json).encode("aéü"), (Ids { 2, 1, 0 }));
    for (int b = 0; b < 256; ++b)
        json["model"]["vocab"][QString::asprintf("<0x%02X>", b).toStdString()] = 10 + b;
    json["model"]["byte_fallback"] = true;
    QCOMPARE(tokenizer(json).encode("aé"), (Ids { 2, 1, 10 + 0xC3, 10 + 0xA9 }));
}

void TokenizerTests::addedTokens()
{
    Json json = byteLevel();
    const auto added = [](int id, const char* text, const char* option) {
        return Json { { "id", id }, { "content", text }, { "special", true }, { "normalized", false },
            { option, true } };
    };
    json["added_tokens"] = { added(300, "<s>", "special"), added(301, "<mask>", "lstrip"),
        added(302, "he", "single_word"), added(303, "<s><s>", "special") };
    const Tokenizer tokens = tokenizer(json);
    const Ids a = tokens.encode("a");
    QCOMPARE(tokens.encode("a<s>a"), (Ids { a[0], 300, a[0] }));
    QCOMPARE(tokens.encode("<s><s><s>"), (Ids { 303, 300 })); // the longest
    QCOMPARE(tokens.encode("a  <mask>a"), (Ids { a[0], 301, a[0] }));
    QCOMPARE(tokens.encode("he")[0], 302);
    QVERIFY(tokens.encode("the")[0] != 302);
    json["post_processor"] = { { "type", "TemplateProcessing" },
        { "single",
            { { { "SpecialToken", { { "id", "<s>" }, { "type_id", 0 } } } }, { { "Sequence", { { "id", "A" } } } } } },
        { "special_tokens", { { "<s>", { { "ids", { 300 } } } } } } };
    QCOMPARE(tokenizer(json).before(), (Ids { 300 }));
    QVERIFY(tokenizer(json).after().empty());
    json["post_processor"]["single"].push_back({ { "SpecialToken", { { "id", "</s>" }, { "type_id", 0 } } } });
    json["post_processor"]["special_tokens"]["</s>"] = { { "ids", { 304 } } };
    QCOMPARE(tokenizer(json).before(), (Ids { 300 }));
    QCOMPARE(tokenizer(json).after(), (Ids { 304 }));
    json["post_processor"] = { { "type", "BertProcessing" }, { "sep", { "[SEP]", 102 } }, { "cls", { "[CLS]", 101 } } };
    QCOMPARE(tokenizer(json).before(), (Ids { 101 }));
    QCOMPARE(tokenizer(json).after(), (Ids { 102 }));
    QVERIFY(tokens.before().empty() && tokens.after().empty());
}

void TokenizerTests::normalizers_data()
{
    QTest::addColumn<QString>("type");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("changed");
    QTest::newRow("composed") << "NFC" << QStringLiteral("e\u0301 \u1100\u1161\u11a8 a\u0323\u0307 \u212b")
                              << QStringLiteral("\u00e9 \uac01 \u1ea1\u0307 \u00c5");
    QTest::newRow("what never composes") << "NFC" << QStringLiteral("\u0958") << QStringLiteral("\u0915\u093c");
    QTest::newRow("blocked") << "NFC" << QStringLiteral("a\u0324\u0303\u0302") << QStringLiteral("\u00e3\u0324\u0302");
    QTest::newRow("looks composed") << "NFKC" << QStringLiteral("\ufb01\u00b2 e\u0301 \uff21\u00a0\u11a7")
                                    << QStringLiteral("fi2 \u00e9 A \u11a7");
    QTest::newRow("looks decomposed") << "NFKD" << QStringLiteral("\ufb01\u00e9\u2460") << QStringLiteral("fie\u03011");
    QTest::newRow("bytes") << "ByteLevel" << QStringLiteral("a \u00e9") << QStringLiteral("a\u0120\u00c3\u00a9");
    QTest::newRow("decomposed") << "NFD" << QStringLiteral("\u1e69\uac01")
                                << QStringLiteral("s\u0323\u0307\u1100\u1161\u11a8");
    QTest::newRow("small letters") << "Lowercase" << QStringLiteral("AÄΣЖ\u0130x") << QStringLiteral("aäσжi\u0307x");
    QTest::newRow("accents") << "StripAccents" << QStringLiteral("e\u0301a\u0308") << "ea";
    QTest::newRow("BERT") << "BertNormalizer" << QStringLiteral("\u00c9t\u00e9\t\u0001\u4e2d.")
                          << QStringLiteral("ete  \u4e2d .");
}

void TokenizerTests::normalizers()
{
    QFETCH(const QString, type);
    QFETCH(const QString, text);
    QFETCH(const QString, changed);
    const auto steps = readNormalizer({ { "type", type.toStdString() } });
    QVERIFY(steps.ok());
    QString found;
    const std::string bytes = text.toStdString();
    runSteps(*steps, { bytes, true },
        [&](const TextPiece& piece) { found += QString::fromUtf8(piece.text.data(), qsizetype(piece.text.size())); });
    QCOMPARE(found, changed);
}

/// As recorded by tests/data/tokens/record.py.
void TokenizerTests::characterMaps()
{
    QFile file(QStringLiteral(QS_SOURCE_DIR "/tests/data/tokens/character_map.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const Json record = Json::parse(file.readAll().toStdString());
    const std::string base64 = record.at("precompiled_charsmap");
    const auto map = CharacterMap::decoded(base64);
    QVERIFY(map.ok());
    for (const Json& text : record.at("texts"))
        QCOMPARE(map->mapped(text.at(0).get<std::string>()), text.at(1).get<std::string>());
    // Damaged ones map something, or are refused.
    for (size_t at = 0; at < base64.size(); ++at) {
        std::string damaged = base64;
        damaged[at] = damaged[at] == 'w' ? '/' : 'w';
        if (const auto other = CharacterMap::decoded(damaged); other.ok())
            other->mapped("Af\u20ac e\u0301");
        if (const auto less = CharacterMap::decoded(base64.substr(0, at)); less.ok())
            less->mapped("Af\u20ac e\u0301");
    }
}

void TokenizerTests::wordsOfTokens()
{
    const auto words = [&](const Json& json) {
        QFile file(m_folder.filePath("words.json"));
        if (!file.open(QIODevice::WriteOnly))
            throw std::runtime_error("cannot write");
        file.write(QByteArray::fromStdString(json.dump()));
        file.close();
        return TokenWords::read(file.fileName().toStdString());
    };
    const auto bytes = words({ { "decoder", { { "type", "ByteLevel" } } },
        { "model", { { "type", "BPE" }, { "vocab", { { "\u0120the", 0 }, { "\u010a", 1 }, { "\u00c3", 2 } } } } },
        { "added_tokens", { { { "id", 3 }, { "content", "<s>" } } } } });
    QVERIFY(bytes.ok());
    QCOMPARE(bytes->count(), size_t(4));
    QCOMPARE(bytes->word(0), std::string(" the"));
    QCOMPARE(bytes->word(1), std::string("\n"));
    QCOMPARE(bytes->word(2), std::string("\xc3")); // half a character
    QCOMPARE(bytes->word(3), std::string("<s>"));
    QVERIFY(bytes->word(4).empty() && bytes->word(-1).empty());
    const Json scored = Json::array({ Json::array({ "\u2581a", -1.0 }), Json::array({ "<0x0A>", -2.0 }) });
    const auto pieces = words({ { "model", { { "type", "Unigram" }, { "vocab", scored } } } });
    QVERIFY(pieces.ok());
    QCOMPARE(pieces->word(0), std::string(" a"));
    QCOMPARE(pieces->word(1), std::string("\n"));
    const auto parts
        = words({ { "model", { { "type", "WordPiece" }, { "vocab", { { "un", 0 }, { "##aff", 1 } } } } } });
    QVERIFY(parts.ok());
    QCOMPARE(parts->word(0) + parts->word(1), std::string(" unaff"));
    for (const Json& damaged :
        { Json(), Json::array(), Json({ { "model", 1 } }), Json({ { "model", { { "vocab", { { "a", "b" } } } } } }),
            Json({ { "model", { { "vocab", { 1, 2 } } } } }) }) {
        const auto none = words(damaged);
        QVERIFY(!none.ok() && none.issue().file.find("words.json") != std::string::npos);
    }
}

void TokenizerTests::longestWords()
{
    const Json model = { { "type", "WordPiece" }, { "unk_token", "[UNK]" }, { "continuing_subword_prefix", "##" },
        { "max_input_chars_per_word", 8 },
        { "vocab",
            { { "[UNK]", 0 }, { "un", 1 }, { "##aff", 2 }, { "##able", 3 }, { "a", 4 }, { "##a", 5 }, { "é", 6 } } } };
    const Tokenizer tokens = tokenizer({ { "pre_tokenizer", { { "type", "BertPreTokenizer" } } }, { "model", model } });
    QCOMPARE(tokens.encode("unaff aaa"), (Ids { 1, 2, 4, 5, 5 }));
    QCOMPARE(tokens.encode("unx é"), (Ids { 0, 6 })); // nothing of a word that leaves something over
    QCOMPARE(tokens.encode("aaaaaaaaa"), (Ids { 0 })); // too long
}

/// The best of all ways to cut a word.
void TokenizerTests::bestScores()
{
    const std::vector<std::pair<std::string, double>> words { { "<unk>", 0 }, { "a", -3 }, { "b", -3.5 },
        { "ab", -5.5 }, { "ba", -4.1 }, { "aba", -9 }, { "é", -2 } };
    Json vocabulary = Json::array();
    for (const auto& [word, score] : words)
        vocabulary.push_back({ word, score });
    const Tokenizer tokens
        = tokenizer({ { "model", { { "type", "Unigram" }, { "unk_id", 0 }, { "vocab", vocabulary } } } });
    std::mt19937 random(6);
    for (int i = 0; i < 200; ++i) {
        std::string text;
        for (size_t length = 1 + random() % 9; length > 0; --length)
            text += "ab"[random() % 2];
        double best = -1e9;
        const std::function<void(size_t, double)> go = [&](size_t at, double score) {
            if (at == text.size())
                best = std::max(best, score);
            for (const auto& [word, value] : words)
                if (at < text.size() && text.compare(at, word.size(), word) == 0)
                    go(at + word.size(), score + value);
        };
        go(0, 0);
        double score = 0;
        std::string joined;
        for (const int32_t id : tokens.encode(text)) {
            score += words[size_t(id)].second;
            joined += words[size_t(id)].first;
        }
        QCOMPARE(joined, text);
        QVERIFY(std::abs(score - best) < 1e-9);
    }
    QCOMPARE(tokens.encode("axyé"), (Ids { 1, 0, 6 })); // unknown ones together
}

void TokenizerTests::refusals_data()
{
    QTest::addColumn<QString>("bytes");
    QTest::addColumn<QString>("words");
    const auto with = [](const char* key, const Json& value) {
        Json json = byteLevel();
        json[key] = value;
        return QString::fromStdString(json.dump());
    };
    QTest::newRow("no JSON") << "hello"
                             << "no JSON";
    QTest::newRow("a list") << "[]"
                            << "no tokenizer";
    QTest::newRow("no model") << "{}"
                              << "no tokenizer";
    QTest::newRow("another model") << with("model", { { "type", "WordLevel" }, { "vocab", Json::object() } })
                                   << "'WordLevel'";
    QTest::newRow("another normalizer") << with("normalizer", { { "type", "Nmt" } }) << "'Nmt'";
    QTest::newRow("a damaged map") << with(
        "normalizer", { { "type", "Precompiled" }, { "precompiled_charsmap", "AAQAAAAA" } })
                                   << "damaged precompiled_charsmap";
    QTest::newRow("another pre-tokenizer")
        << with("pre_tokenizer", { { "type", "UnicodeScripts" } }) << "'UnicodeScripts'";
    QTest::newRow("looking behind") << with(
        "pre_tokenizer", { { "type", "Split" }, { "pattern", { { "Regex", "(?<=a)b" } } }, { "behavior", "Isolated" } })
                                    << "looks ahead or behind";
    QTest::newRow("a damaged pattern") << with(
        "pre_tokenizer", { { "type", "Split" }, { "pattern", { { "Regex", "(a" } } }, { "behavior", "Isolated" } })
                                       << "cannot be used";
    Json merges = pairModel();
    merges["merges"].push_back({ "x", "yz" });
    QTest::newRow("a merge of nothing") << with("model", merges) << "'yz'";
    Json ids = pairModel();
    ids["vocab"]["x"] = -1;
    QTest::newRow("an id below 0") << with("model", ids) << "no tokenizer";
    ids["vocab"]["x"] = 5'000'000'000;
    QTest::newRow("an id too large") << with("model", ids) << "32 bits";
}

void TokenizerTests::refusals()
{
    QFETCH(const QString, bytes);
    QFETCH(const QString, words);
    const auto read = Tokenizer::read(file("damaged.json", bytes.toStdString()).toStdString());
    QVERIFY(!read.ok());
    QCOMPARE(read.issue().kind, IssueKind::BadInput);
    const QString text = QString::fromStdString(issueText(read.issue()));
    QVERIFY2(text.contains(words) && text.contains("damaged.json"), qPrintable(text));
}

namespace {

InputSpec tokensInput(int64_t batch = -1, int64_t positions = -1)
{
    return { "input_ids", DType::Int64, Dims { { batch, {} }, { positions, {} } } };
}

} // namespace

void TokenizerTests::promptsOfAText()
{
    const std::string path = file("t.json", byteLevel().dump()).toStdString();
    const std::string text = file("text.txt", "the theta aaaa and the other thing").toStdString();
    const Ids ids = tokenizer(byteLevel()).encode("the theta aaaa and the other thing");
    const InputSpec mask { "attention_mask", DType::Int64, Dims { { -1, {} }, { -1, {} } } };
    const InputSpec past { "past_key_values.0.key", DType::Float32,
        Dims { { -1, {} }, { 2, {} }, { -1, {} }, { 4, {} } } };
    DataRequest request = textRequest(text, path, 5);
    QCOMPARE(textPositions(request), size_t(5));
    const auto data = openData(request, { tokensInput(), mask, past });
    QVERIFY2(data.ok(), data.ok() ? "" : issueText(data.issue()).c_str());
    QCOMPARE((*data)->samples(), ids.size() / 5);
    for (size_t s = 0; s < (*data)->samples(); ++s) {
        const auto feed = (*data)->feed(s);
        QVERIFY(feed.ok());
        QCOMPARE(feed->inputs[0].shape(), (Shape { 1, 5 }));
        const auto part = ids.begin() + ptrdiff_t(s) * 5;
        QCOMPARE(toInts(feed->inputs[0]), std::vector<int64_t>(part, part + 5));
        QCOMPARE(toInts(feed->inputs[1]), std::vector<int64_t>(5, 1));
        QCOMPARE(feed->inputs[2].shape(), (Shape { 1, 2, 0, 4 }));
    }
    request.limit = 1;
    QCOMPARE((*openData(request, { tokensInput(), mask, past }))->samples(), size_t(1));
    const auto pairs = openData(textRequest(text, path, 4), { tokensInput(2, 4) }); // a fixed batch
    QCOMPARE(pairs.ok(), ids.size() / 4 % 2 == 0);
}

void TokenizerTests::tokensAroundTexts_data()
{
    QTest::addColumn<bool>("around");
    QTest::addColumn<bool>("segments");
    for (const bool around : { false, true })
        for (const bool segments : { false, true })
            QTest::addRow(
                "%s, %s", around ? "[CLS] and [SEP]" : "nothing around", segments ? "segments" : "no segments")
                << around << segments;
}

/// As a tokenizer gives a single text: its own tokens around, all of it the first segment.
void TokenizerTests::tokensAroundTexts()
{
    QFETCH(const bool, around);
    QFETCH(const bool, segments);
    Json json = byteLevel();
    if (around)
        json["post_processor"]
            = { { "type", "BertProcessing" }, { "sep", { "[SEP]", 201 } }, { "cls", { "[CLS]", 200 } } };
    std::vector<InputSpec> inputs { tokensInput() };
    if (segments)
        inputs.push_back({ "token_type_ids", DType::Int64, inputs[0].dims });
    const std::string text = file("around.txt", "the a the a the a").toStdString();
    const Ids ids = tokenizer(json).encode("the a the a the a");
    const size_t each = around ? 2 : 4;
    const auto data = openData(textRequest(text, file("around.json", json.dump()).toStdString(), 4), inputs);
    QVERIFY2(data.ok(), data.ok() ? "" : issueText(data.issue()).c_str());
    QCOMPARE((*data)->samples(), ids.size() / each);
    const auto feed = (*data)->feed(0);
    QVERIFY(feed.ok());
    std::vector<int64_t> wanted { ids.begin(), ids.begin() + ptrdiff_t(each) };
    if (around) {
        wanted.insert(wanted.begin(), 200);
        wanted.push_back(201);
    }
    QCOMPARE(toInts(feed->inputs[0]), wanted);
    const auto& warnings = (*data)->warnings();
    QCOMPARE(std::ranges::any_of(warnings, [](const std::string& w) { return w.find("zeros") != std::string::npos; }),
        segments);
    if (segments)
        QCOMPARE(toInts(feed->inputs[1]), std::vector<int64_t>(4, 0));
}

void TokenizerTests::textsThatDoNotFit_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("positions");
    QTest::addColumn<bool>("more"); // an input that no text gives
    QTest::addColumn<QString>("words");
    QTest::newRow("too short") << QByteArray("the") << 5 << false << "too few";
    QTest::newRow("empty") << QByteArray() << 1 << false << "0 tokens";
    QTest::newRow("no UTF-8") << QByteArray("abc\xff") << 1 << false << "byte 3";
    QTest::newRow("another input") << QByteArray("the a") << 1 << true << "pixel_values";
    QTest::newRow("more positions than the model has") << QByteArray("the a") << 9 << false << "--positions";
}

void TokenizerTests::textsThatDoNotFit()
{
    QFETCH(const QByteArray, text);
    QFETCH(const int, positions);
    QFETCH(const bool, more);
    QFETCH(const QString, words);
    std::vector<InputSpec> inputs { tokensInput(-1, positions == 9 ? 8 : -1) };
    if (more)
        inputs.push_back({ "pixel_values", DType::Float32, Dims { { -1, {} }, { 3, {} } } });
    const auto data = openData(textRequest(file("bad.txt", text.toStdString()).toStdString(),
                                   file("t.json", byteLevel().dump()).toStdString(), size_t(positions)),
        inputs);
    QVERIFY(!data.ok());
    QCOMPARE(data.issue().kind, IssueKind::BadInput);
    QVERIFY2(QString::fromStdString(issueText(data.issue())).contains(words), issueText(data.issue()).c_str());
}

QTEST_GUILESS_MAIN(TokenizerTests)
#include "tokenizer_test.moc"
