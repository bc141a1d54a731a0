// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/price/weight_prices.h"

#include <QtTest>

#include <cmath>

using namespace qs;

namespace {

/// Three units at 0, 1 or 2, whose losses add up; with bytes of each.
struct Units {
    std::vector<std::vector<double>> bytes { { 10, 20, 40 }, { 10, 20, 40 }, { 100, 200, 400 } };
    std::vector<std::vector<double>> losses { { 1, 0.25, 0 }, { 8, 0.5, 0 }, { 10, 1, 0 } };
    size_t measured = 0;

    double loss(const StoreChoice& choice) const
    {
        double sum = 0;
        for (size_t u = 0; u < choice.size(); ++u)
            sum += losses[u][choice[u]];
        return sum;
    }
    PriceSearch search()
    {
        PriceSearch search;
        search.start = { 0, 0, 0 };
        search.loss = loss(search.start);
        search.bytes = bytes;
        search.alone = losses;
        search.steps = 100;
        search.measure = [this](const std::vector<StoreChoice>& choices) -> Result<std::vector<double>> {
            std::vector<double> all;
            for (const StoreChoice& choice : choices)
                all.push_back(loss(choice));
            measured += choices.size();
            return all;
        };
        return search;
    }
};

std::vector<StoreChoice> pathOf(PriceSearch search)
{
    std::vector<StoreChoice> path;
    search.taken = [&](const StoreChoice& choice) -> Status {
        path.push_back(choice);
        return {};
    };
    if (!searchPrices(search).ok())
        qFatal("the search failed");
    return path;
}

PricePoint pointOf(uint64_t bytes, double noise)
{
    PricePoint point;
    point.choice = { size_t(bytes) };
    point.bytes = bytes;
    point.score.signal = 100;
    point.score.noise = noise;
    point.score.positions = 10;
    point.score.divergence = 10 * noise;
    return point;
}

} // namespace

class PriceTests : public QObject {
    Q_OBJECT
private slots:
    void raisesWhatGainsMostForItsBytes()
    {
        Units units;
        const auto path = pathOf(units.search());
        // 7.5 for 10 bytes, 9 for 100, 0.75 for 10, then what is left of each.
        const std::vector<StoreChoice> expected { { 0, 1, 0 }, { 0, 1, 1 }, { 1, 1, 1 }, { 1, 2, 1 }, { 2, 2, 1 },
            { 2, 2, 2 } };
        QCOMPARE(path, expected);
        QVERIFY(units.measured <= kTriedInStep * path.size());
    }

    void measuresWhatGainsHideFromEachOther()
    {
        Units units;
        units.losses = { { 4, 0, 0 }, { 4, 0, 0 }, { 1, 0, 0 } };
        PriceSearch search = units.search();
        // The first two are one thing: who raises one has raised the other, too.
        search.measure = [&](const std::vector<StoreChoice>& choices) -> Result<std::vector<double>> {
            std::vector<double> all;
            for (const StoreChoice& c : choices)
                all.push_back((c[0] + c[1] > 0 ? 0 : 4) + (c[2] > 0 ? 0 : 1));
            return all;
        };
        search.loss = 5;
        QCOMPARE(pathOf(search), (std::vector<StoreChoice> { { 1, 0, 0 }, { 1, 0, 1 } }));
    }

    void endsWhereItIsTold()
    {
        Units units;
        PriceSearch search = units.search();
        search.steps = 2;
        QCOMPARE(searchPrices(search)->stop, PriceStop::Steps);
        QCOMPARE(searchPrices(search)->steps, size_t(2));
        search = units.search();
        search.enough = 3;
        QCOMPARE(searchPrices(search)->choice, (StoreChoice { 0, 1, 1 }));
        QCOMPARE(searchPrices(search)->stop, PriceStop::Done);
        search.timeIsUp = [] { return true; };
        QCOMPARE(searchPrices(search)->stop, PriceStop::Time);
        QCOMPARE(searchPrices(search)->choice, search.start);
        search = units.search();
        search.alone = { { 1, 2, 2 }, { 1, 2, 2 }, { 1, 2, 2 } };
        QCOMPARE(searchPrices(search)->stop, PriceStop::NoGain);
        search = units.search();
        search.measure = [](const auto&) -> Result<std::vector<double>> { return cancelled(); };
        QVERIFY(!searchPrices(search).ok());
    }

    void lossesThatAreNoNumbers()
    {
        Units units;
        units.losses[1][0] = std::numeric_limits<double>::infinity();
        PriceSearch search = units.search();
        QCOMPARE(pathOf(search).front(), (StoreChoice { 0, 1, 0 }));
        OutputScore none;
        QCOMPARE(lossOf(none, PriceLoss::Divergence), std::numeric_limits<double>::infinity());
        none.noise = NAN;
        QCOMPARE(lossOf(none, PriceLoss::Noise), std::numeric_limits<double>::infinity());
    }

    void nothingOfTheListIsBeaten()
    {
        const auto front = priceFront({ pointOf(5, 1), pointOf(3, 2), pointOf(4, 2), pointOf(3, 4), pointOf(9, 1),
                                          pointOf(8, 0.5), pointOf(7, 3) },
            PriceLoss::Noise);
        QCOMPARE(front.size(), size_t(3));
        for (size_t i = 1; i < front.size(); ++i) {
            QVERIFY(front[i].bytes > front[i - 1].bytes);
            QVERIFY(front[i].score.noise < front[i - 1].score.noise);
        }
    }

    void budgets()
    {
        WeightPrices prices;
        prices.pareto = { pointOf(3, 2), pointOf(5, 1), pointOf(8, 0.5) };
        const auto bytesOf = [&](const PriceBudget& budget) { return chosenPoint(prices, budget)->bytes; };
        QCOMPARE(bytesOf({ .maxBytes = 7 }), uint64_t(5));
        QCOMPARE(bytesOf({ .maxBytes = 8 }), uint64_t(8));
        QCOMPARE(bytesOf({ .maxKl = 1.0 }), uint64_t(5));
        QCOMPARE(bytesOf({ .maxKl = 10.0 }), uint64_t(3));
        QCOMPARE(bytesOf({ .minSqnrDb = 18.0 }), uint64_t(5)); // 10 log 100 / 1
        const auto few = chosenPoint(prices, { .maxBytes = 2 });
        QVERIFY(!few.ok() && few.issue().kind == IssueKind::BadInput);
        QVERIFY(QString::fromStdString(few.issue().what).contains("the smallest has 3"));
        QVERIFY(!chosenPoint(prices, { .maxKl = 0.1 }).ok());
        QVERIFY(!chosenPoint(prices, {}).ok());
    }

    void ladders_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("algorithm");
        QTest::addColumn<bool>("dequantized");
        QTest::addColumn<QString>("ladder");
        const int usual = int(WeightOnlyAlgorithm::Default), hqq = int(WeightOnlyAlgorithm::Hqq);
        QTest::newRow("signed") << int(DType::Int4) << usual << false << "int4 int8 float";
        QTest::newRow("8 bits") << int(DType::UInt8) << usual << false << "uint4 uint8 float";
        QTest::newRow("2 bits") << int(DType::UInt2) << usual << false << "uint2 uint4 uint8 float";
        QTest::newRow("no kernels for 8 bits") << int(DType::UInt4) << hqq << false << "uint4 float";
        QTest::newRow("dequantized") << int(DType::Int4) << usual << true << "int4 float";
    }
    void ladders()
    {
        QFETCH(int, type);
        QFETCH(int, algorithm);
        QFETCH(bool, dequantized);
        Recipe recipe;
        recipe.weightType = DType(type);
        recipe.weightOnly.algorithm = WeightOnlyAlgorithm(algorithm);
        recipe.weightOnly.dequantizeForm = dequantized;
        QStringList names;
        for (const WeightStore& store : weightLadder(recipe))
            names << QString::fromStdString(weightStoreName(store));
        QTEST(names.join(' '), "ladder");
    }
};

QTEST_APPLESS_MAIN(PriceTests)
#include "price_test.moc"
