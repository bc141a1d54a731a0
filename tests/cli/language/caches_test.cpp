// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/command_line.h"
#include "tests/cli/runners.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

using namespace qs::test;
using nlohmann::json;

namespace {

const QString kDecoder = example("verses_float.onnx"), kVersePrompts = example("verses_prompts.npz");
const QStringList kCachesCommand { "caches", kDecoder, "--data", kVersePrompts };
constexpr size_t kLayers = 2, kSize = 16, kPositions = 48; ///< of the bundled language model, one head of keys

json cachesOf(const QStringList& more)
{
    const Outcome o = quantscope(kCachesCommand + more + QStringList { "--json", "-" });
    if (o.code != 0)
        qFatal("caches failed: %s", o.err.constData());
    return parsed(o.out);
}

json readJson(const QString& path) { return parsed(contentOf(path)); }

const json& cacheOf(const json& document, size_t layer, const char* kind)
{
    for (const json& cache : document["caches"])
        if (cache["layer"] == layer && cache["kind"] == kind)
            return cache;
    qFatal("no %s in layer %zu", kind, layer);
}

void collect(const json& value, std::set<std::string>& keys)
{
    if (value.is_object())
        for (const auto& [key, inner] : value.items()) {
            keys.insert(key);
            collect(inner, keys);
        }
    else if (value.is_array())
        for (const json& inner : value)
            collect(inner, keys);
}

class CachesTests : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QString file(const QString& name) const { return m_folder.filePath(name); }

private slots:
    void layersHeadsChannelsPositions()
    {
        const json d = cachesOf({});
        QCOMPARE(d["prompts"], json(8));
        QCOMPARE(d["method"], json("mse"));
        QCOMPARE(d["caches"].size(), 3 * kLayers);
        QVERIFY(d["left_out"].empty());
        for (const json& cache : d["caches"]) {
            QCOMPARE(cache["head_size"], json(kSize));
            QCOMPARE(cache["positions"], json(kPositions));
            QCOMPARE(cache["elements"], json(8 * kPositions * kSize));
            QCOMPARE(cache["heads"].size(), size_t(1));
            const json& head = cache["heads"][0];
            QCOMPARE(head["channels"].size(), kSize);
            QCOMPARE(head["positions"].size(), kPositions);
            QCOMPARE(head["errors"], cache["errors"]); // there is one
            double largest = 0;
            for (const json& range : head["channels"])
                largest = std::max({ largest, std::abs(range[0].get<double>()), std::abs(range[1].get<double>()) });
            QCOMPARE(cache["max_abs"].get<double>(), largest);
            for (const char* bits : { "int8", "int4" }) {
                const json& e = cache["errors"][bits];
                QVERIFY(e["per_channel"]["sqnr_db"] > e["per_tensor"]["sqnr_db"]);
                QVERIFY(e["per_token"]["mean_abs_error"] < e["per_tensor"]["mean_abs_error"]);
            }
            QVERIFY(
                cache["errors"]["int8"]["per_channel"]["sqnr_db"] > cache["errors"]["int4"]["per_channel"]["sqnr_db"]);
        }
    }

    void everyKeyIsExplained()
    {
        const QByteArray page = contentOf(QStringLiteral(QS_SOURCE_DIR "/docs/metrics.md"));
        std::set<std::string> keys;
        collect(cachesOf({ "--map", "0:key:0" }), keys);
        QVERIFY(keys.size() > 30);
        for (const std::string& key : keys)
            QVERIFY2(page.contains(QByteArray::fromStdString("`" + key + "`")), key.c_str());
    }

    void scaleFile_data()
    {
        QTest::addColumn<QString>("per");
        QTest::addColumn<int>("bits");
        for (const char* per : { "tensor", "channel" })
            for (const int bits : { 8, 4 })
                QTest::addRow("%s %d", per, bits) << per << bits;
    }
    void scaleFile()
    {
        QFETCH(QString, per);
        QFETCH(int, bits);
        const QString path = file("scales.json");
        const json d = cachesOf({ "--scales", path, "--per", per, "--bits", QString::number(bits) });
        const json scales = readJson(path);
        QCOMPARE(scales["qmax"], json(bits == 8 ? 128.0 : 8.0));
        QCOMPARE(scales["layer_ids"], json({ 0, 1 }));
        for (const auto& [key, kind] : { std::pair("k_scales", "key"), std::pair("v_scales", "value") })
            for (size_t layer = 0; layer < kLayers; ++layer) {
                const json& told = cacheOf(d, layer, kind)["scales"]["int" + std::to_string(bits)];
                const json& written = scales["scales"][key][layer];
                QCOMPARE(written.size(), per == "tensor" ? size_t(1) : kSize);
                QCOMPARE(written, per == "tensor" ? json::array({ told["per_tensor"] }) : told["per_channel"]);
                for (const json& scale : written)
                    QVERIFY(scale > 0);
            }
    }

    void largestMagnitudes()
    {
        const json d = cachesOf({ "--method", "minmax" }),
                   anywhere = cachesOf({ "--method", "minmax", "--any-position" });
        QCOMPARE(d["method"], json("minmax"));
        QCOMPARE(anywhere["any_position"], json(true));
        const json &key = cacheOf(d, 1, "key"), &wide = cacheOf(anywhere, 1, "key");
        QCOMPARE(float(key["scales"]["int8"]["per_tensor"].get<double>()), float(key["max_abs"].get<double>()) / 128);
        for (size_t c = 0; c < kSize; ++c)
            QVERIFY(wide["scales"]["int8"]["per_channel"][c] >= key["scales"]["int8"]["per_channel"][c]);
        QCOMPARE(cacheOf(anywhere, 1, "value")["scales"], cacheOf(d, 1, "value")["scales"]);
    }

    void mapOfAHead()
    {
        const json d = cachesOf({ "--map", "1:key_before_rotary:0" });
        const json &map = d["map"]["max_abs"], &head = cacheOf(d, 1, "key_before_rotary")["heads"][0];
        QCOMPARE(map.size(), kSize);
        for (size_t c = 0; c < kSize; ++c) {
            QCOMPARE(map[c].size(), kPositions);
            double largest = 0;
            for (const json& one : map[c])
                largest = std::max(largest, one.get<double>());
            const json& range = head["channels"][c];
            QCOMPARE(largest, std::max(std::abs(range[0].get<double>()), std::abs(range[1].get<double>())));
        }
    }

    void tableNamesWhatItTells()
    {
        const Outcome o = quantscope(kCachesCommand + QStringList { "--verbose" });
        QCOMPARE(o.code, 0);
        for (const char* word : { "keys before rotary", "int8 tensor", "int4 tensor", "outliers", "values" })
            QVERIFY2(o.out.contains(word), word);
    }

    void badUse_data()
    {
        QTest::addColumn<int>("code");
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QStringList>("options");
        QTest::newRow("bits") << 2 << QStringList { "--bits 5" } << kCachesCommand + QStringList { "--bits", "5" };
        QTest::newRow("per") << 2 << QStringList { "--per 'token'" }
                             << kCachesCommand + QStringList { "--per", "token" };
        QTest::newRow("method") << 2 << QStringList { "--method" } << kCachesCommand + QStringList { "--method", "x" };
        QTest::newRow("map") << 2 << QStringList { "LAYER:KIND:HEAD" }
                             << kCachesCommand + QStringList { "--json", "-", "--map", "1:key" };
        QTest::newRow("map in a table") << 2 << QStringList { "--json" }
                                        << kCachesCommand + QStringList { "--map", "1:key:0" };
        QTest::newRow("no such layer") << 3 << QStringList { "layer 7" }
                                       << kCachesCommand + QStringList { "--json", "-", "--map", "7:key:0" };
        QTest::newRow("no such head") << 3 << QStringList { "head 4" }
                                      << kCachesCommand + QStringList { "--json", "-", "--map", "1:key:4" };
        QTest::newRow("no caches") << 3 << QStringList { "no caches of keys and values" }
                                   << QStringList { "caches", kFloat, "--data", kData };
        QTest::newRow("no data") << 2 << QStringList { "--data" } << QStringList { "caches", kDecoder };
        QTest::newRow("over the model") << 2 << QStringList { "verses_float.onnx" }
                                        << kCachesCommand + QStringList { "--scales", kDecoder };
    }
    void badUse()
    {
        QFETCH(int, code);
        QFETCH(QStringList, words);
        QFETCH(QStringList, options);
        QS_EXPECT(code, words, options);
    }
};

} // namespace

int qs::test::runCachesTests(int argc, char** argv)
{
    CachesTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "caches_test.moc"
