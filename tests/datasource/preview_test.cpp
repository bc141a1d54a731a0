// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/images/preview.h"

#include <QtTest>

using namespace qs;

class PreviewTests : public QObject {
    Q_OBJECT
private slots:
    void picturesOfImages()
    {
        std::vector<float> values(3 * 6 * 8);
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = i < 48 ? 1.f : -1.f; // red alone
        const Picture first = inputPreview(Tensor::of<float>({ 1, 3, 6, 8 }, values), 0, 1, 100);
        QCOMPARE(first.channels, 3);
        QCOMPARE(first.width, 8);
        QCOMPARE(first.height, 6);
        QCOMPARE(first.pixels.size(), size_t(8 * 6 * 3));
        QCOMPARE(int(first.pixels[0]), 255);
        QCOMPARE(int(first.pixels[1]), 0);
        const Picture small = inputPreview(Tensor::of<float>({ 1, 3, 6, 8 }, values), 0, 1, 4);
        QCOMPARE(small.width, 4);
        QCOMPARE(small.height, 3);
        std::vector<float> last(6 * 8 * 3, 0.f);
        last[5] = 1; // second pixel, blue
        const Picture interleaved = inputPreview(Tensor::of<float>({ 1, 6, 8, 3 }, last), 0, 1, 100);
        QCOMPARE(interleaved.channels, 3);
        QCOMPARE(int(interleaved.pixels[5]), 255);
    }

    void curvesAndTables()
    {
        std::vector<float> rise(400);
        for (size_t i = 0; i < rise.size(); ++i)
            rise[i] = float(i);
        const Picture curve = inputPreview(Tensor::of<float>({ 1, 1, 400 }, rise), 0, 1, 40);
        QCOMPARE(curve.channels, 1);
        QCOMPARE(curve.width, 40);
        QCOMPARE(curve.height, 20);
        QCOMPARE(int(curve.pixels[19 * 40]), 255); // begins low
        QCOMPARE(int(curve.pixels[39]), 255); // ends high
        QCOMPARE(int(curve.pixels[0]), 0);
        const Picture table = inputPreview(Tensor::of<float>({ 2, 20, 10 }, rise), 1, 2, 100);
        QCOMPARE(table.width, 10);
        QCOMPARE(table.height, 20);
        QCOMPARE(int(table.pixels.back()), 255);
        QCOMPARE(int(table.pixels.front()), 0);
    }

    void nothingToShow()
    {
        QVERIFY(inputPreview({}, 0, 1, 10).pixels.empty());
        const float nan = std::numeric_limits<float>::quiet_NaN();
        QVERIFY(inputPreview(Tensor::of<float>({ 2, 2 }, { nan, nan, nan, nan }), 0, 1, 10).pixels.empty());
        QVERIFY(!inputPreview(Tensor::of<float>({ 2, 2 }, { nan, 1, 1, 1 }), 0, 1, 10).pixels.empty());
    }
};

QTEST_GUILESS_MAIN(PreviewTests)
#include "preview_test.moc"
