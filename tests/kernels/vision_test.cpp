// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/random_data.h"
#include "tests/kernels/runners.h"

#include "core/kernels/convolution/col2im.h"
#include "core/kernels/convolution/deform_conv.h"
#include "core/kernels/window/boxes.h"
#include "core/kernels/window/grid_sample.h"

#include <QTest>

#include <limits>

using namespace qs;
using test::RandomData;

class VisionTests : public QObject {
    Q_OBJECT
private slots:
    void gridSample_data();
    void gridSample();
    void gridFarAway();
    void affine();
    void suppression_data();
    void suppression();
    void suppressionTies();
    void regions();
    void columns();
    void deformedAsConvolution();
};

void VisionTests::gridSample_data()
{
    QTest::addColumn<int>("mode");
    QTest::addColumn<int>("padding");
    QTest::addColumn<int>("seed");
    for (int mode = 0; mode < 3; ++mode)
        for (int padding = 0; padding < 3; ++padding)
            for (int seed = 0; seed < 12; ++seed)
                QTest::addRow("mode %d padding %d seed %d", mode, padding, seed) << mode << padding << seed;
}

void VisionTests::gridSample()
{
    QFETCH(int, mode);
    QFETCH(int, padding);
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    GridSample s { random.integer(1, 2), random.integer(1, 3), {}, random.integer(1, 33), GridMode(mode),
        GridPadding(padding), random.integer(0, 1) == 1 };
    int64_t plane = 1;
    for (int64_t d = 0, axes = random.integer(1, 3); d < axes; ++d) {
        s.in.push_back(random.integer(1, 7));
        plane *= s.in.back();
    }
    const auto x = random.floats<double>(s.batch * s.channels * plane);
    auto grid = random.floats<double>(s.batch * s.places * int64_t(s.in.size()));
    for (double& g : grid) // some far outside
        g *= random.integer(0, 9) == 0 ? 40 : 1;
    std::vector<double> y(size_t(s.batch * s.channels * s.places)), expected(y.size());
    qs::gridSample<double>(s, x.data(), grid.data(), y.data());
    gridSampleReference(s, x.data(), grid.data(), expected.data());
    const std::string different = test::difference<double>(y, expected, 1e-12);
    QVERIFY2(different.empty(), different.c_str());
}

void VisionTests::gridFarAway()
{
    const float huge = std::numeric_limits<float>::max(), nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> x { 1, 2, 3, 4 }, grid { huge, huge, -huge, 0, nan, nan };
    for (const GridMode mode : { GridMode::Nearest, GridMode::Linear, GridMode::Cubic }) {
        std::vector<float> y(3, -1.0f);
        qs::gridSample<float>({ 1, 1, { 2, 2 }, 3, mode, GridPadding::Zeros, false }, x.data(), grid.data(), y.data());
        QCOMPARE(y, (std::vector<float> { 0, 0, 0 }));
        for (const GridPadding padding : { GridPadding::Border, GridPadding::Reflection }) {
            qs::gridSample<float>({ 1, 1, { 2, 2 }, 3, mode, padding, true }, x.data(), grid.data(), y.data());
            for (float v : y)
                QVERIFY(std::isfinite(v));
        }
    }
}

void VisionTests::affine()
{
    const std::vector<float> identity { 1, 0, 0, 0, 1, 0 };
    std::vector<float> grid(8);
    affineGrid<float>({ 2, 2 }, true, identity.data(), grid.data());
    QCOMPARE(grid, (std::vector<float> { -1, -1, 1, -1, -1, 1, 1, 1 }));
    affineGrid<float>({ 2, 2 }, false, identity.data(), grid.data());
    QCOMPARE(grid, (std::vector<float> { -0.5f, -0.5f, 0.5f, -0.5f, -0.5f, 0.5f, 0.5f, 0.5f }));
}

void VisionTests::suppression_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 60; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

void VisionTests::suppression()
{
    QFETCH(int, seed);
    RandomData random { uint32_t(seed) };
    const int64_t count = random.integer(0, 70);
    std::vector<float> boxes, scores;
    for (int64_t i = 0; i < count; ++i) {
        for (int k = 0; k < 4; ++k)
            boxes.push_back(float(random.integer(0, 12)) / 4);
        scores.push_back(float(random.integer(0, 9)) / 10); // many ties
    }
    const BoxScores b { boxes.data(), scores.data(), count, random.integer(0, 1) == 1 };
    SuppressionLimits limits { random.integer(0, 20), float(random.integer(0, 10)) / 10, {} };
    if (random.integer(0, 1))
        limits.score = 0.3f;
    QCOMPARE(suppressNonMax(b, limits), suppressNonMaxReference(b, limits));
}

void VisionTests::suppressionTies()
{
    const std::vector<float> boxes { 0, 0, 1, 1, 0, 0, 1, 1, 5, 5, 4, 4 };
    const std::vector<float> scores { 0.5f, 0.5f, std::numeric_limits<float>::quiet_NaN() };
    QCOMPARE(suppressNonMax({ boxes.data(), scores.data(), 3 }, { 3, 0.5f, {} }), (std::vector<int64_t> { 0 }));
    QCOMPARE(suppressNonMax({ boxes.data(), scores.data(), 2 }, { 3, 1.0f, {} }), (std::vector<int64_t> { 0, 1 }));
    QVERIFY(suppressNonMax({ boxes.data(), scores.data(), 2 }, { 0, 1.0f, {} }).empty());
}

void VisionTests::regions()
{
    // A plane that rises evenly: the mean of a bin is the value at its middle.
    std::vector<double> map(64);
    for (size_t i = 0; i < map.size(); ++i)
        map[i] = double(i % 8) + 10 * double(i / 8);
    const std::vector<double> corners { 1, 1, 5, 5 };
    const int64_t sample = 0;
    RegionPool p { 1, 8, 8, 1, 4, 2, 2, 1, 2, false, false };
    std::vector<double> y(4);
    regionAlign<double>(p, map.data(), corners.data(), &sample, y.data());
    QCOMPARE(y, (std::vector<double> { 22, 24, 42, 44 }));
    regionMaxPool<double>(p, map.data(), corners.data(), &sample, y.data());
    QCOMPARE(y, (std::vector<double> { 33, 35, 53, 55 }));
    const std::vector<double> strange { std::numeric_limits<double>::quiet_NaN(), -1e30, 1e30, 1e300 };
    for (const bool largest : { false, true }) {
        p.largest = largest;
        p.samples = 0;
        regionAlign<double>(
            { 1, 8, 8, 1, 4, 1, 1, 1, 2, true, largest }, map.data(), strange.data(), &sample, y.data());
        regionMaxPool<double>(p, map.data(), strange.data(), &sample, y.data());
    }
}

void VisionTests::columns()
{
    // Windows of ones count how many windows an element lies in.
    const WindowGrid g { { 4, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 0 }, { 0, 0 } };
    QCOMPARE(g.windows(0), int64_t(4));
    QCOMPARE(g.windows(1), int64_t(2));
    std::vector<float> image(12), ones(2 * 2 * 4 * 2, 1.0f);
    col2im<float>(g, 1, ones.data(), image.data());
    QCOMPARE(image, (std::vector<float> { 2, 4, 2, 2, 4, 2, 2, 4, 2, 1, 2, 1 }));
}

void VisionTests::deformedAsConvolution()
{
    // Whole offsets move the window; without any it is a convolution.
    const DeformConv s { 1, 1, 1, 1, 3, 3, 2, 2, 2, 2 };
    const std::vector<float> x { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, w { 1, 10, 100, 1000 }, bias { 0.5f };
    std::vector<float> offset(2 * 4 * 4, 0.0f), y(4);
    deformConv<float>(s, x.data(), w.data(), offset.data(), bias.data(), nullptr, y.data());
    QCOMPARE(y[0], 1 + 20 + 400 + 5000 + 0.5f);
    for (size_t p = 0; p < 4; ++p)
        offset[4 + p] = 1; // the first tap, one to the right
    deformConv<float>(s, x.data(), w.data(), offset.data(), nullptr, nullptr, y.data());
    QCOMPARE(y[0], 2.0f + 20 + 400 + 5000);
    QCOMPARE(y[1], 3.0f + 30 + 500 + 6000);
}

int runVisionTests(int argc, char** argv)
{
    VisionTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "vision_test.moc"
