// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/search/palette_model.h"

#include <QAbstractItemModelTester>
#include <QtTest>

#include <algorithm>
#include <ctime>

using namespace qs;

namespace {

/// Names by their scores, best first.
QStringList ranked(const QString& typed, const QStringList& names)
{
    const FuzzyQuery query(typed);
    std::vector<std::pair<int, QString>> found;
    for (const QString& name : names)
        if (const auto score = fuzzyScore(query, FuzzyName(name)))
            found.emplace_back(*score, name);
    std::ranges::stable_sort(found, std::ranges::greater(), [](const auto& f) { return f.first; });
    QStringList texts;
    for (const auto& [score, name] : found)
        texts << name;
    return texts;
}

PaletteGroupPtr group(PaletteKind kind, const QStringList& names, std::vector<size_t>* chosen = nullptr)
{
    auto made = std::make_shared<PaletteGroup>();
    made->kind = kind;
    for (const QString& name : names)
        made->entries.push_back({ FuzzyName(name) });
    if (chosen)
        made->choose = [chosen](size_t entry) { chosen->push_back(entry); };
    return made;
}

QStringList rows(const PaletteModel& model)
{
    QStringList texts;
    for (int row = 0; row < model.rowCount(); ++row)
        texts << model.index(row).data().toString();
    return texts;
}

} // namespace

class TestSearch : public QObject {
    Q_OBJECT
private slots:
    void betterNamesComeFirst_data()
    {
        QTest::addColumn<QString>("typed");
        QTest::addColumn<QStringList>("wanted"); ///< in this order
        QTest::addColumn<QStringList>("never");
        const QStringList none;
        QTest::newRow("whole, start, inside")
            << "conv" << QStringList { "conv", "conv_1", "layer1/conv", "xconvx" } << none;
        QTest::newRow("in a row before scattered")
            << "relu" << QStringList { "block/relu_6", "r_e_l_u" } << QStringList { "rel" };
        QTest::newRow("initials") << "of" << QStringList { "Open float…", "Profile a run", "elbowfoo" }
                                  << QStringList { "fold" };
        QTest::newRow("capitals are borders") << "qc" << QStringList { "QLinearConv", "aqxcx" } << none;
        QTest::newRow("underscores are borders") << "lw" << QStringList { "layer_weight", "allow" } << none;
        QTest::newRow("slashes are borders") << "b2c" << QStringList { "b2/conv", "ab21xxc" } << none;
        QTest::newRow("the case that was typed") << "Add" << QStringList { "Add_1", "add_1" } << none;
        QTest::newRow("any case matches") << "OPEN" << QStringList { "open", "Reopen" } << none;
        QTest::newRow("short above long")
            << "conv_1" << QStringList { "conv_1", "conv_10", "conv_1_output_0" } << QStringList { "conv_2" };
        QTest::newRow("words in any order")
            << "relu conv" << QStringList { "Conv_1 + Relu_2" } << QStringList { "conv_1", "relu" };
        QTest::newRow("order of letters counts") << "vnoc" << none << QStringList { "conv" };
        QTest::newRow("other alphabets") << "größe" << QStringList { "Größe", "Die Größe" } << QStringList { "grosse" };
        QTest::newRow("longer than the name") << "convolution" << none << QStringList { "conv" };
    }

    void betterNamesComeFirst()
    {
        QFETCH(const QString, typed);
        QFETCH(const QStringList, wanted);
        QFETCH(const QStringList, never);
        QStringList names = wanted + never;
        std::ranges::reverse(names); // the order that they come in must not be what decides
        QCOMPARE(ranked(typed, names), wanted);
    }

    void placesAreThoseOfTheBestMatch_data()
    {
        QTest::addColumn<QString>("typed");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QList<int>>("places");
        QTest::newRow("in a row") << "conv"
                                  << "a/conv" << QList { 2, 3, 4, 5 };
        QTest::newRow("initials, not the first o") << "of"
                                                   << "to Open Files" << QList { 3, 8 };
        QTest::newRow("two words") << "re co"
                                   << "conv relu" << QList { 0, 1, 5, 6 };
        QTest::newRow("no match") << "x"
                                  << "conv" << QList<int>();
    }

    void placesAreThoseOfTheBestMatch()
    {
        QFETCH(const QString, typed);
        QFETCH(const QString, name);
        QFETCH(const QList<int>, places);
        QList<int> found;
        for (const qsizetype place : fuzzyPlaces(FuzzyQuery(typed), FuzzyName(name)))
            found << int(place);
        QCOMPARE(found, places);
    }

    /// What matches holds the letters in order, whatever the name; places are as many as letters.
    void everyMatchHoldsTheLetters()
    {
        QRandomGenerator random(7);
        const QString letters = QStringLiteral("abAB_/1 ");
        const auto text = [&](int most) {
            QString made;
            for (int n = random.bounded(1, most); n > 0; --n)
                made += letters[random.bounded(int(letters.size()))];
            return made;
        };
        for (int round = 0; round < 5000; ++round) {
            const FuzzyQuery query(text(5));
            const FuzzyName name(text(14));
            bool holds = true;
            for (const QString& word : query.folded()) {
                qsizetype next = 0; // letters of the word that were found
                for (const QChar c : name.inLowerCase())
                    next += next < word.size() && c == word[next];
                holds = holds && next == word.size();
            }
            QCOMPARE(fuzzyScore(query, name).has_value(), holds);
            if (holds && query.words().size() == 1)
                QCOMPARE(qsizetype(fuzzyPlaces(query, name).size()), query.words()[0].size());
        }
    }

    void longNamesAreNoTrouble()
    {
        const QString name(3000, u'a');
        QVERIFY(fuzzyScore(FuzzyQuery(QStringLiteral("aaaa")), FuzzyName(name)));
        QVERIFY(fuzzyScore(FuzzyQuery(QString(100, u'a')), FuzzyName(name)));
        QVERIFY(!fuzzyScore(FuzzyQuery(QStringLiteral("ab")), FuzzyName(name)));
    }

    void theModelShowsWhatMatches()
    {
        PaletteModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        std::vector<size_t> chosen;
        model.setGroups({ group(PaletteKind::Action, { "Open float…", "Run", "Reset" }, &chosen),
            group(PaletteKind::Node, { "conv_1", "relu_1" }) });
        QTRY_VERIFY(!model.searching());
        QCOMPARE(rows(model), QStringList({ "Open float…", "Run", "Reset", "conv_1", "relu_1" }));
        model.setQuery(QStringLiteral("re"));
        QTRY_VERIFY(!model.searching());
        QCOMPARE(rows(model).size(), 2);
        QCOMPARE(rows(model)[0], QStringLiteral("relu_1")); // all of it is typed sooner
        model.setQuery(QStringLiteral("res"));
        QTRY_VERIFY(!model.searching());
        QCOMPARE(rows(model), QStringList { "Reset" });
        QVERIFY(model.choose(model.index(0)));
        QCOMPARE(chosen, std::vector<size_t> { 2 });
        QVERIFY(model.index(0).data(Qt::AccessibleTextRole).toString().contains(QStringLiteral("action")));
        QCOMPARE(model.index(0).data(PaletteModel::PlacesRole).toList(), QVariantList({ 0, 1, 2 }));
        model.setQuery(QStringLiteral("zzz"));
        QTRY_VERIFY(!model.searching());
        QCOMPARE(model.rowCount(), 0);
    }

    void signsChooseAKind_data()
    {
        QTest::addColumn<QString>("typed");
        QTest::addColumn<QStringList>("wanted");
        QTest::newRow("actions, panels, files") << ">a" << QStringList { "a-action", "a-panel", "a-recent" };
        QTest::newRow("nodes") << "@a" << QStringList { "a-node" };
        QTest::newRow("tensors") << "#" << QStringList { "a-tensor" };
        QTest::newRow("settings") << "= a" << QStringList { "a-setting" };
        QTest::newRow("findings") << "!" << QStringList { "a-finding" };
        QTest::newRow("samples") << "%" << QStringList { "a-sample" };
    }

    void signsChooseAKind()
    {
        QFETCH(const QString, typed);
        QFETCH(const QStringList, wanted);
        PaletteModel model;
        model.setGroups({ group(PaletteKind::Action, { "a-action" }), group(PaletteKind::Panel, { "a-panel" }),
            group(PaletteKind::Recent, { "a-recent" }), group(PaletteKind::Setting, { "a-setting" }),
            group(PaletteKind::Finding, { "a-finding" }), group(PaletteKind::Node, { "a-node" }),
            group(PaletteKind::Tensor, { "a-tensor" }), group(PaletteKind::Sample, { "a-sample" }) });
        model.setQuery(typed);
        QTRY_VERIFY(!model.searching());
        QStringList found = rows(model);
        found.sort();
        QCOMPARE(found, wanted);
    }

    void whatWasUsedLastIsFirst()
    {
        PaletteModel model;
        model.setGroups({ group(PaletteKind::Action, { "a", "b", "c", "d" }) });
        model.setUsed({ "c", "b", "gone" });
        QTRY_VERIFY(!model.searching());
        QCOMPARE(rows(model), QStringList({ "c", "b", "a", "d" }));
        model.setQuery(QStringLiteral("a"));
        QTRY_VERIFY(!model.searching());
        QCOMPARE(rows(model), QStringList { "a" });
        model.setQuery({});
        QTRY_VERIFY(!model.searching());
        QCOMPARE(rows(model).front(), QStringLiteral("c"));
    }

    void whatCannotBeChosenSaysWhy()
    {
        auto made = std::make_shared<PaletteGroup>();
        made->entries.push_back({ FuzzyName(QStringLiteral("Save")), {}, {}, QStringLiteral("nothing is open"), {} });
        made->choose = [](size_t) { QFAIL("chosen"); };
        PaletteModel model;
        model.setGroups({ made });
        QTRY_VERIFY(!model.searching());
        QVERIFY(!model.choose(model.index(0)));
        QCOMPARE(model.index(0).data(PaletteModel::WhyNotRole).toString(), QStringLiteral("nothing is open"));
    }

    /// A narrower query finds the same as a fresh one, also when it comes before the wider one is through.
    void manyNamesAreSearchedInSteps()
    {
        QStringList names;
        for (int i = 0; i < 100'000; ++i)
            names << QStringLiteral("/model/layers.%1/self_attn/q_proj/MatMul_%2").arg(i / 50).arg(i);
        const PaletteGroupPtr all = group(PaletteKind::Node, names);
        PaletteModel model, fresh;
        std::clock_t longest = 0; // processor time: others may have the machine
        model.setGroups({ all });
        for (const char* typed : { "l", "lq", "lqm", "lqm7", "lqm77", "lqm7", "matmul_77777" }) {
            const std::clock_t before = std::clock();
            model.setQuery(QString::fromLatin1(typed));
            longest = std::max(longest, std::clock() - before);
        }
        qInfo() << "the longest that one letter held the window up:" << 1000.0 * double(longest) / CLOCKS_PER_SEC
                << "ms";
        const std::clock_t before = std::clock();
        QTRY_VERIFY_WITH_TIMEOUT(!model.searching(), 20000);
        model.setQuery(QStringLiteral("lq7"));
        QTRY_VERIFY_WITH_TIMEOUT(!model.searching(), 20000);
        qInfo() << names.size() << "names searched twice in" << 1000.0 * double(std::clock() - before) / CLOCKS_PER_SEC
                << "ms";
        model.setQuery(QStringLiteral("matmul_77777"));
        QTRY_VERIFY_WITH_TIMEOUT(!model.searching(), 20000);
        QCOMPARE(rows(model).front(), QStringLiteral("/model/layers.1555/self_attn/q_proj/MatMul_77777"));
        for (const char* typed : { "proj1", "proj12", "proj123" }) {
            model.setQuery(QString::fromLatin1(typed));
            QTRY_VERIFY_WITH_TIMEOUT(!model.searching(), 20000);
        }
        fresh.setGroups({ all });
        fresh.setQuery(QStringLiteral("proj123"));
        QTRY_VERIFY_WITH_TIMEOUT(!fresh.searching(), 20000);
        QCOMPARE(model.matches(), fresh.matches());
        QCOMPARE(rows(model), rows(fresh));
        QCOMPARE(model.rowCount(), int(PaletteModel::kShown));
    }
};

QTEST_GUILESS_MAIN(TestSearch)
#include "test_search.moc"
