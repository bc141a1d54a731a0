// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/range_use.h"
#include "tests/analysis/planted/planted.h"

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

bool isAt(const Planted& planted, const std::string& node, const std::string& tensor)
{
    return std::ranges::any_of(planted.places, [&](const std::string& p) { return p == node || p == tensor; });
}

bool findingNames(const Planted& planted, const Comparison& c)
{
    return !c.findings.empty() && isAt(planted, c.findings[0].node, c.findings[0].tensor);
}

bool increaseNames(const Planted& planted, const Comparison& c)
{
    const auto largest = std::ranges::max_element(
        c.activations, {}, [](const ActivationRow& row) { return growthDb(row).value_or(-1e9); });
    return largest != c.activations.end() && isAt(planted, largest->node, largest->name);
}

/// Share of the faults for which `finds` holds; the others are told of.
double shareOf(const char* what, bool (*finds)(const Planted&, const Comparison&))
{
    size_t found = 0;
    const auto faults = plantedFaults();
    for (const Planted& p : faults) {
        const Comparison c = comparePlanted(p);
        if (finds(p, c)) {
            ++found;
            continue;
        }
        qInfo().noquote() << what << "misses:" << p.network.c_str() << p.fault.c_str() << '\n' << rulesOf(c);
    }
    qInfo() << what << found << "of" << faults.size();
    return double(found) / double(faults.size());
}

} // namespace

class PlantedTests : public QObject {
    Q_OBJECT

private slots:
    void healthyNetworksHaveNoError_data()
    {
        QTest::addColumn<QString>("network");
        for (const std::string& name : networkNames())
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    void healthyNetworksHaveNoError()
    {
        QFETCH(QString, network);
        Planted healthy;
        healthy.network = network.toStdString();
        for (const bool perChannel : { false, true }) {
            healthy.recipe = [&](Recipe& r) {
                r.activationType = DType::UInt8;
                r.perChannel = perChannel;
            };
            const Comparison c = comparePlanted(healthy);
            QVERIFY2(std::ranges::none_of(c.findings, [](const Finding& f) { return f.severity == Severity::Error; }),
                qPrintable(rulesOf(c)));
        }
    }
    /// The first finding's change of the recipe, applied, takes the finding away.
    void remediesMend_data()
    {
        QTest::addColumn<QString>("fault");
        for (const char* fault : { "scale of r1 x 0.1", "scale of r3 x 30", "scale of c3 x 40", "one channel of c2" })
            QTest::newRow(fault) << fault;
    }
    void remediesMend()
    {
        QFETCH(QString, fault);
        const auto faults = plantedFaults();
        const auto planted = std::ranges::find_if(
            faults, [&](const Planted& p) { return QString::fromStdString(p.fault).startsWith(fault); });
        QVERIFY(planted != faults.end());
        const Finding first = comparePlanted(*planted).findings.front();
        QVERIFY(first.change.kind == RemedyKind::SetRange || first.change.kind == RemedyKind::PerChannel);
        QVERIFY(first.expectedGainDb && *first.expectedGainDb > 6);
        Planted mended = *planted;
        mended.recipe = [&](Recipe& recipe) {
            recipe.activationType = DType::UInt8;
            recipe = withRemedy(recipe, first.change, GraphDraft(std::make_shared<const Model>()));
        };
        const Comparison c = comparePlanted(mended);
        QVERIFY2(std::ranges::none_of(
                     c.findings, [&](const Finding& f) { return f.rule == first.rule && f.tensor == first.tensor; }),
            qPrintable(rulesOf(c)));
    }
    void optionsOfRemedies()
    {
        const std::vector<Remedy> remedies { { RemedyKind::ExcludeNode, "/a b", {}, 0, 0, 0 },
            { RemedyKind::PerChannel, {}, "w", 0, 0, 0 }, { RemedyKind::PerChannel, {}, "v", 0, 0, 1 }, {} };
        QCOMPARE(remedyOptions(remedies), std::string("--exclude '/a b' --per-channel"));
        const Remedy join { RemedyKind::ExcludeNode, "cat", "s", 0, 1, 0 }; // whose branch had its range
        QCOMPARE(remedyOptions(std::span(&join, 1)), std::string("--exclude 'cat' --tensor-range 's=0:1'"));
        const Recipe apart = withRemedy({}, join, GraphDraft(std::make_shared<const Model>()));
        QCOMPARE(apart.exclude, std::vector<std::string> { "cat" });
        QVERIFY(apart.tensors.contains("s") && apart.tensors.at("s").parts.front().highest == 1.0);
        QVERIFY(remedyOptions({}).empty());
    }
    void enoughFaults() { QVERIFY(plantedFaults().size() >= 40); }
    void firstFindingNamesThePlace() { QVERIFY(shareOf("the first finding", findingNames) >= 0.95); }
    void increaseFindsThePlace() { QVERIFY(shareOf("increase", increaseNames) >= 0.9); }
};

QTEST_GUILESS_MAIN(PlantedTests)
#include "planted_test.moc"
