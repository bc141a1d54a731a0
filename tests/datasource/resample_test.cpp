// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/images/resample.h"

#include <QFile>
#include <QtTest>

using namespace qs;

namespace {

/// A picture that a script can make too: value = (x * 37 + y * 101 + x * y * 3 + channel * 59) mod 256.
Picture pattern(int width, int height, int channels)
{
    Picture p { width, height, channels, {} };
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int c = 0; c < channels; ++c)
                p.pixels.push_back(static_cast<uint8_t>((x * 37 + y * 101 + x * y * 3 + c * 59) % 256));
    return p;
}

} // namespace

class ResampleTest : public QObject {
    Q_OBJECT
private slots:
    /// tests/data/resample.txt holds what Pillow makes of the pattern (tests/data/make_resample.py).
    void asPillow()
    {
        QFile file(QStringLiteral(QS_SOURCE_DIR "/tests/data/resample.txt"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        int cases = 0;
        while (!file.atEnd()) {
            const QList<QByteArray> fields = file.readLine().trimmed().split(' ');
            if (fields.size() != 7)
                continue;
            const Picture in = pattern(fields[1].toInt(), fields[2].toInt(), fields[3].toInt());
            const auto mode = fields[0] == "bilinear" ? Interpolation::Bilinear
                : fields[0] == "bicubic"              ? Interpolation::Bicubic
                                                      : Interpolation::Nearest;
            const Picture out = resized(in, fields[4].toInt(), fields[5].toInt(), mode);
            const QByteArray expected = QByteArray::fromHex(fields[6]);
            const QByteArray got(reinterpret_cast<const char*>(out.pixels.data()), qsizetype(out.pixels.size()));
            QCOMPARE(got.toHex(), expected.toHex());
            ++cases;
        }
        QVERIFY(cases >= 10);
    }

    void nearestTakesThePixelUnderTheCentre()
    {
        const Picture in = pattern(7, 5, 3);
        const Picture out = resized(in, 3, 11, Interpolation::Nearest);
        for (int y = 0; y < 11; ++y)
            for (int x = 0; x < 3; ++x)
                for (int c = 0; c < 3; ++c) {
                    const int fromX = (2 * x + 1) * 7 / 6;
                    const int fromY = (2 * y + 1) * 5 / 22;
                    QCOMPARE(out.pixels[static_cast<size_t>((y * 3 + x) * 3 + c)],
                        in.pixels[static_cast<size_t>((fromY * 7 + fromX) * 3 + c)]);
                }
    }

    void sameSizeIsTheSamePicture()
    {
        const Picture in = pattern(9, 4, 1);
        for (const auto mode : { Interpolation::Nearest, Interpolation::Bilinear, Interpolation::Bicubic })
            QCOMPARE(resized(in, 9, 4, mode).pixels, in.pixels);
    }

    void grayIsRounded()
    {
        const Picture rgb { 4, 1, 3, { 255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255 } };
        QCOMPARE(toGray(rgb).pixels, std::vector<uint8_t>({ 255, 76, 150, 29 }));
        QCOMPARE(toRgb({ 1, 1, 1, { 9 } }).pixels, std::vector<uint8_t>({ 9, 9, 9 }));
    }
};

QTEST_APPLESS_MAIN(ResampleTest)
#include "resample_test.moc"
