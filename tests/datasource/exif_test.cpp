// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/atomic_file.h"
#include "core/data/images/orientation.h"
#include "core/data/images/prepared.h"
#include "core/data/images/presets.h"
#include "core/tensor/convert.h"

#include <QBuffer>
#include <QImage>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;

namespace {

/// Three columns and two rows, numbered.
Picture numbered(int orientation)
{
    Picture picture { 3, 2, 1, { 1, 2, 3, 4, 5, 6 } };
    picture.orientation = orientation;
    return picture;
}

void put(std::string& to, uint32_t value, size_t bytes, bool bigEndian)
{
    for (size_t i = 0; i < bytes; ++i)
        to += static_cast<char>(value >> 8 * (bigEndian ? bytes - 1 - i : i));
}

/// A TIFF header with one directory: a few other entries, the orientation, and where the next directory lies.
std::string tiff(uint32_t orientation, bool bigEndian, uint32_t type = 3, uint32_t next = 0)
{
    std::string bytes = bigEndian ? "MM" : "II";
    put(bytes, 42, 2, bigEndian);
    put(bytes, 8, 4, bigEndian);
    put(bytes, 2, 2, bigEndian);
    put(bytes, 0x0100, 2, bigEndian); // the width
    put(bytes, 4, 2, bigEndian);
    put(bytes, 1, 4, bigEndian);
    put(bytes, 3, 4, bigEndian);
    put(bytes, 0x0112, 2, bigEndian);
    put(bytes, type, 2, bigEndian);
    put(bytes, 1, 4, bigEndian);
    put(bytes, orientation, type == 4 ? 4 : 2, bigEndian);
    put(bytes, 0, type == 4 ? 0 : 2, bigEndian);
    put(bytes, next, 4, bigEndian);
    return bytes;
}

std::string segment(uint8_t marker, const std::string& content)
{
    std::string bytes { '\xff', static_cast<char>(marker) };
    put(bytes, uint32_t(content.size() + 2), 2, true);
    return bytes + content;
}

std::string exif(const std::string& content) { return segment(0xe1, std::string("Exif\0\0", 6) + content); }

/// A JPEG whose left half is black and whose right half is white, with these segments in front.
std::string jpeg(const std::string& segments)
{
    QImage image(32, 16, QImage::Format_RGB888);
    image.fill(Qt::black);
    for (int y = 0; y < 16; ++y)
        for (int x = 16; x < 32; ++x)
            image.setPixelColor(x, y, Qt::white);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    image.save(&buffer, "jpg", 95);
    const std::string plain = bytes.toStdString();
    return plain.substr(0, 2) + segments + plain.substr(2);
}

} // namespace

class ExifTest : public QObject {
    Q_OBJECT
private slots:
    void everyOrientationIsTurnedUpright_data()
    {
        QTest::addColumn<int>("orientation");
        QTest::addColumn<std::vector<uint8_t>>("pixels");
        const auto row = [](int orientation, std::vector<uint8_t> pixels) {
            QTest::addRow("%d", orientation) << orientation << pixels;
        };
        row(1, { 1, 2, 3, 4, 5, 6 });
        row(2, { 3, 2, 1, 6, 5, 4 });
        row(3, { 6, 5, 4, 3, 2, 1 });
        row(4, { 4, 5, 6, 1, 2, 3 });
        row(5, { 1, 4, 2, 5, 3, 6 });
        row(6, { 4, 1, 5, 2, 6, 3 });
        row(7, { 6, 3, 5, 2, 4, 1 });
        row(8, { 3, 6, 2, 5, 1, 4 });
        row(9, { 1, 2, 3, 4, 5, 6 });
    }

    void everyOrientationIsTurnedUpright()
    {
        QFETCH(int, orientation);
        QFETCH(std::vector<uint8_t>, pixels);
        const Picture turned = upright(numbered(orientation));
        QCOMPARE(turned.pixels, pixels);
        const bool swapped = orientation >= 5 && orientation <= 8;
        QCOMPARE(turned.width, swapped ? 2 : 3);
        QCOMPARE(turned.height, swapped ? 3 : 2);
        if (orientation <= 8)
            QCOMPARE(turned.orientation, 1);
    }

    void theTagIsFound_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<int>("orientation");
        const auto row = [](const char* name, const std::string& segments, int orientation) {
            QTest::newRow(name) << QByteArray::fromStdString(jpeg(segments)) << orientation;
        };
        row("none", "", 1);
        row("little endian", exif(tiff(6, false)), 6);
        row("big endian", exif(tiff(8, true)), 8);
        row("a long number", exif(tiff(3, true, 4)), 3);
        row("a text in front", segment(0xfe, "a comment") + exif(tiff(5, false)), 5);
        row("another application's segment in front", segment(0xe1, "http://ns.adobe.com/") + exif(tiff(7, true)), 7);
        row("padding in front", "\xff\xff" + exif(tiff(2, true)), 2);
        row("no orientation there is", exif(tiff(9, true)), 1);
        row("zero", exif(tiff(0, false)), 1);
        row("a text as its type", exif(tiff(6, true, 2)), 1);
        row("a directory that leads to itself", exif(tiff(6, true, 3, 8)), 6);
        row("a directory that leads out of the file", exif(tiff(6, false, 3, 0xfffffff0)), 6);
    }

    void theTagIsFound()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(int, orientation);
        QCOMPARE(exifOrientation(bytes.toStdString()), orientation);
    }

    /// Cut off anywhere, and with each byte replaced: nothing is read beyond the end, and the answer is an orientation.
    void damagedFilesAreReadSafely()
    {
        for (const bool bigEndian : { false, true }) {
            const std::string whole = jpeg(exif(tiff(6, bigEndian))).substr(0, 64);
            for (size_t length = 0; length <= whole.size(); ++length) {
                const std::vector<char> cut(whole.begin(), whole.begin() + ptrdiff_t(length)); // its end is guarded
                const int found = exifOrientation({ cut.data(), cut.size() });
                QVERIFY(found == 1 || found == 6);
            }
            for (size_t at = 0; at < whole.size(); ++at)
                for (const int value : { 0x00, 0x01, 0x08, 0x7f, 0xff }) {
                    std::vector<char> bytes(whole.begin(), whole.end());
                    bytes[at] = static_cast<char>(value);
                    const int found = exifOrientation({ bytes.data(), bytes.size() });
                    QVERIFY(found >= 1 && found <= 8);
                }
        }
        std::string many = "II";
        put(many, 42, 2, false);
        put(many, 8, 4, false);
        put(many, 0xffff, 2, false); // entries that are not there
        QCOMPARE(exifOrientation(jpeg(exif(many))), 1);
        std::string far = "MM";
        put(far, 42, 2, true);
        put(far, 0xffffffff, 4, true);
        QCOMPARE(exifOrientation(jpeg(exif(far))), 1);
    }

    /// The file's own pixels by default, as most loaders of training code take them; upright where that is asked for.
    void picturesAreTurnedWhereAskedFor()
    {
        const QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("turned.jpg")).toStdString();
        QVERIFY(writeFile(path, jpeg(exif(tiff(6, true)))).ok()); // a quarter to the right: black above white
        auto picture = loadPicture(path);
        QVERIFY(picture.ok());
        QCOMPARE(picture->orientation, 6);
        QCOMPARE(picture->width, 32);
        Preprocess how = presetPreprocess("unit");
        how = withColor(how, ColorOrder::Gray);
        how.width = how.height = 2;
        const auto asItIs = toFloats(*preparedPicture(how, *picture));
        QVERIFY(asItIs[0] < 0.2F && asItIs[1] > 0.8F && asItIs[2] < 0.2F && asItIs[3] > 0.8F);
        how.exif = true;
        const auto turned = toFloats(*preparedPicture(how, *picture));
        QVERIFY(turned[0] < 0.2F && turned[1] < 0.2F && turned[2] > 0.8F && turned[3] > 0.8F);
    }

    void theFileOfTheDescriptionSaysIt()
    {
        const QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("how.json")).toStdString();
        const auto readBack = [&](const std::string& json) {
            return writeFile(path, json).ok() ? readPreprocess(path) : badInput("not written", path, {});
        };
        QVERIFY(!readBack("{}")->exif);
        QVERIFY(!readBack(R"({"preset": "imagenet"})")->exif);
        const auto on = readBack(R"({"preset": "imagenet", "exif": true})");
        QVERIFY(on.ok() && on->exif);
        QVERIFY(readBack(preprocessJson(*on))->exif);
        QCOMPARE(presetOf(*on), std::string_view("imagenet")); // it says nothing of the arithmetic
        const auto wrong = readBack(R"({"exif": "yes"})");
        QVERIFY(!wrong.ok() && wrong.issue().what.find("\"exif\"") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(ExifTest)
#include "exif_test.moc"
