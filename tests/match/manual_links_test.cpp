// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/match/chains.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace qs;
using namespace qs::test;

class ManualLinksTests : public QObject {
    Q_OBJECT
private slots:
    void manualPairsWin();
    void pairsAreKeptApart();
    void refusesWrongMaps();
};

void ManualLinksTests::manualPairsWin()
{
    const Prepared f = convChain(), q = quantizedChain();
    const auto a = alignOf(f, q, { { "r1", "c1" } });
    QVERIFY2(a.ok(), qPrintable(sentence(a)));
    QCOMPARE(pairOf(f, *a, "r1")->method, MatchMethod::Manual);
    QCOMPARE(pairOf(f, *a, "r1")->confidence, 1.0);

    QTemporaryDir folder;
    const QString path = folder.filePath("map.json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"pairs":[{"float":"a","quantized":"b"},{"float":"c","quantized":"d"}]})");
    file.close();
    const auto pairs = readManualLinks(path.toStdString());
    QVERIFY(pairs.ok());
    QCOMPARE(pairs->pairs, (ManualPairs { { "a", "b" }, { "c", "d" } }));
    QVERIFY(pairs->apart.empty());
}

void ManualLinksTests::pairsAreKeptApart()
{
    const Prepared f = convChain(), q = quantizedChain();
    const auto found = alignOf(f, q);
    QVERIFY2(found.ok(), qPrintable(sentence(found)));
    const ValuePair* pair = pairOf(f, *found, "r1");
    QVERIFY(pair);
    const ManualLinks links { { { "c1", "c1" } }, { { "r1", q.plan->graph().value(pair->quantValue).name } } };
    const auto apart = align(*f.plan, *q.plan, *q.view, links);
    QVERIFY2(apart.ok(), qPrintable(sentence(apart)));
    QVERIFY(!pairOf(f, *apart, "r1"));
    QVERIFY(std::ranges::find(apart->unmatchedFloat, pair->floatValue) != apart->unmatchedFloat.end());
    QCOMPARE(apart->values.size(), found->values.size() - 1);

    const ManualLinks linked = withLink(links, "r1", links.apart[0].second);
    QVERIFY(linked.apart.empty());
    QCOMPARE(linked.pairs.size(), size_t(2));
    QCOMPARE(withLink(linked, "c1", "other").pairs.size(), size_t(2)); // in place of its first partner
    QVERIFY(withoutLink(linked, "c1", "c1").apart.empty());
    QVERIFY(withoutLink(withoutLink(linked, "r1", links.apart[0].second), "r1", links.apart[0].second).apart
        == links.apart);

    QTemporaryDir folder;
    QFile file(folder.filePath("map.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(manualLinksJson(links).c_str());
    file.close();
    const auto read = readManualLinks(file.fileName().toStdString());
    QVERIFY(read.ok());
    QVERIFY(*read == links);
}

void ManualLinksTests::refusesWrongMaps()
{
    const Prepared f = convChain(), q = quantizedChain();
    const auto noFloat = alignOf(f, q, { { "nobody", "c1" } });
    QVERIFY(!noFloat.ok());
    QVERIFY2(sentence(noFloat).contains("float.onnx") && sentence(noFloat).contains("nobody"),
        qPrintable(sentence(noFloat)));
    const auto noQuant = alignOf(f, q, { { "r1", "nothing" } });
    QVERIFY(!noQuant.ok());
    QVERIFY2(sentence(noQuant).contains("quant.onnx") && sentence(noQuant).contains("nothing"),
        qPrintable(sentence(noQuant)));
    const auto unequal = alignOf(f, q, { { "c1", "x_DequantizeLinear_Output" } });
    QVERIFY(!unequal.ok());
    QVERIFY2(
        sentence(unequal).contains("1x4x5x5") && sentence(unequal).contains("1x2x5x5"), qPrintable(sentence(unequal)));

    QTemporaryDir folder;
    const std::string path = folder.filePath("map.json").toStdString();
    for (const char* text : { "", "[]", "{", "{\"pairs\":1}", "{\"pairs\":[1]}", "{\"pairs\":[{\"float\":\"a\"}]}",
             "{\"pairs\":[{\"float\":1,\"quantized\":\"b\"}]}" }) {
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
        file.write(text);
        file.close();
        const auto pairs = readManualLinks(path);
        QVERIFY2(!pairs.ok(), text);
        QCOMPARE(pairs.issue().file, path);
        QVERIFY(!pairs.issue().remedy.empty());
    }
    QVERIFY(!readManualLinks(path + ".missing").ok());
    QVERIFY(!readManualLinks(folder.path().toStdString()).ok());
}

int runManualLinksTests(int argc, char** argv)
{
    ManualLinksTests test;
    return QTest::qExec(&test, argc, argv);
}

#include "manual_links_test.moc"
