// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/atomic_file.h"
#include "core/base/issue_text.h"
#include "core/data/images/prepared.h"
#include "core/data/images/presets.h"
#include "core/tensor/convert.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace qs;

namespace {

/// Of one colour.
Picture plain(int width, int height, std::array<uint8_t, 3> colour)
{
    Picture picture { width, height, 3, {} };
    for (int i = 0; i < width * height; ++i)
        picture.pixels.insert(picture.pixels.end(), colour.begin(), colour.end());
    return picture;
}

Preprocess sized(Preprocess how, int width, int height)
{
    how.width = width;
    how.height = height;
    return how;
}

} // namespace

class PicturesTest : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;

    Result<Preprocess> readBack(const std::string& json) const
    {
        const std::string path = m_folder.filePath(QStringLiteral("how.json")).toStdString();
        QS_CHECK(writeFile(path, json));
        return readPreprocess(path);
    }

private slots:
    void presetsGiveTheirNumbers_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<double>("first"); // of a picture with red 255, green 128, blue 0
        QTest::addColumn<double>("second");
        QTest::addColumn<double>("third");
        QTest::newRow("imagenet") << "imagenet" << (1 - 0.485) / 0.229 << (128 / 255.0 - 0.456) / 0.224
                                  << -0.406 / 0.225;
        QTest::newRow("unit") << "unit" << 1.0 << 128 / 255.0 << 0.0;
        QTest::newRow("symmetric") << "symmetric" << 1.0 << 128 / 127.5 - 1 << -1.0;
        QTest::newRow("bgr") << "bgr" << 0.0 << 128.0 << 255.0;
        QTest::newRow("caffe") << "caffe" << -103.939 << 128 - 116.779 << 255 - 123.68;
        QTest::newRow("yolo") << "yolo" << 1.0 << 128 / 255.0 << 0.0;
    }

    void presetsGiveTheirNumbers()
    {
        QFETCH(QString, name);
        QFETCH(double, first);
        QFETCH(double, second);
        QFETCH(double, third);
        const Preprocess how = sized(presetPreprocess(name.toStdString()), 4, 4);
        const auto made = preparedPicture(how, plain(8, 8, { 255, 128, 0 }));
        QVERIFY(made.ok());
        const auto values = toFloats(*made);
        QCOMPARE(values[0], float(first));
        QCOMPARE(values[16], float(second));
        QCOMPARE(values[32], float(third));
        QCOMPARE(QString::fromUtf8(presetOf(how).data()), name);
        // by name in a file, and written in full
        const auto named = readBack("{\"preset\": \"" + name.toStdString() + "\", \"size\": [4, 4]}");
        QVERIFY2(named.ok(), named.ok() ? "" : issueText(named.issue()).c_str());
        QCOMPARE(preprocessJson(*named), preprocessJson(how));
        const auto whole = readBack(preprocessJson(how));
        QVERIFY(whole.ok());
        QCOMPARE(preprocessJson(*whole), preprocessJson(how));
        QCOMPARE(toFloats(*preparedPicture(*whole, plain(8, 8, { 255, 128, 0 }))), values);
    }

    void everyFieldIsKept()
    {
        Preprocess how = sized(withColor(presetPreprocess("imagenet"), ColorOrder::Bgr), 31, 17);
        QCOMPARE(how.mean, (std::vector<double> { 0.406, 0.456, 0.485 }));
        how.shortSide = 40;
        how.cropShare = 0.5;
        how.interpolation = Interpolation::Bicubic;
        how.rounding = PixelRounding::Nearest;
        how.crop = CropPlace::TopLeft;
        how.padValue = 3;
        how.channelsFirst = false;
        how.dtype = DType::UInt8;
        const auto back = readBack(preprocessJson(how));
        QVERIFY(back.ok());
        QCOMPARE(preprocessJson(*back), preprocessJson(how));
        QVERIFY(back->shortSide == 40 && back->crop == CropPlace::TopLeft && !back->channelsFirst
            && back->dtype == DType::UInt8 && back->interpolation == Interpolation::Bicubic && back->width == 31
            && back->rounding == PixelRounding::Nearest);
    }

    void aPresetFitsGreyNetworks()
    {
        const auto grey = readBack(R"({"preset":"imagenet","color":"gray","size":[2,2]})");
        QVERIFY(grey.ok());
        QCOMPARE(grey->mean.size(), size_t(1));
        QCOMPARE(grey->mean[0], (0.485 + 0.456 + 0.406) / 3);
        QCOMPARE(presetOf(*grey), std::string_view("imagenet"));
        const auto nearest = readBack(R"({"preset":"imagenet","rounding":"nearest"})");
        QVERIFY(nearest.ok() && nearest->rounding == PixelRounding::Nearest && presetOf(*nearest).empty());
        QCOMPARE(withColor(*grey, ColorOrder::Rgb).mean.size(), size_t(3));
        const auto own = readBack(R"({"preset":"imagenet","mean":[0,0,0]})");
        QVERIFY(own.ok() && own->mean == std::vector<double>(3, 0) && own->deviation[0] == 0.229);
        const auto wrong = readBack(R"({"preset":"imagnet"})");
        QVERIFY(!wrong.ok() && issueText(wrong.issue()).find("\"yolo\"") != std::string::npos);
    }

    /// 256 of which 224 are taken: the crop is cut out of the middle.
    void theCropKeepsItsShare()
    {
        Preprocess how = presetPreprocess("unit");
        how = sized(how, 7, 7);
        how.resize = ResizeMode::ShortSide;
        how.cropShare = 0.875; // the short side becomes 8: nothing is scaled
        Picture picture = plain(8, 8, { 0, 0, 0 });
        for (int i = 0; i < 8; ++i) // white right and bottom edges, which the crop leaves out
            for (int c = 0; c < 3; ++c) {
                picture.pixels[size_t((i * 8 + 7) * 3 + c)] = 255;
                picture.pixels[size_t((7 * 8 + i) * 3 + c)] = 255;
            }
        const auto statistics = channelStatistics({ *preparedPicture(how, picture) }, true);
        QCOMPARE(statistics.size(), size_t(3));
        QCOMPARE(statistics[0].high, 0.0);
        how.cropShare = 1;
        QVERIFY(channelStatistics({ *preparedPicture(how, picture) }, true)[0].high > 0.4);
    }

    void partsOfPixels_data()
    {
        QTest::addColumn<QString>("rounding");
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("height");
        QTest::addColumn<int>("side");
        QTest::addColumn<double>("scaled"); ///< the width
        QTest::addColumn<int>("left"); ///< where the cut begins
        // of the page: the other side is rounded, the offset the floor of half the margin
        QTest::newRow("margin 3") << "" << 7 << 4 << 4 << 7.0 << 1;
        QTest::newRow("margin 5") << "" << 9 << 4 << 4 << 9.0 << 2;
        QTest::newRow("margin 1") << "" << 5 << 4 << 4 << 5.0 << 0;
        QTest::newRow("margin 7") << "nearest" << 11 << 4 << 4 << 11.0 << 3;
        QTest::newRow("14.67 becomes 15") << "" << 11 << 6 << 8 << 15.0 << 5;
        QTest::newRow("45.9 becomes 46") << "nearest" << 51 << 20 << 18 << 46.0 << 21;
        // torchvision's Resize cuts the fraction of the long side off, and its CenterCrop rounds half pixels to even
        QTest::newRow("torchvision, margin 3") << "torchvision" << 7 << 4 << 4 << 7.0 << 2;
        QTest::newRow("torchvision, margin 5") << "torchvision" << 9 << 4 << 4 << 9.0 << 2;
        QTest::newRow("torchvision, margin 1") << "torchvision" << 5 << 4 << 4 << 5.0 << 0;
        QTest::newRow("torchvision, margin 7") << "torchvision" << 11 << 4 << 4 << 11.0 << 4;
        QTest::newRow("torchvision, 14.67 becomes 14") << "torchvision" << 11 << 6 << 8 << 14.0 << 5;
        QTest::newRow("preset, margin 7") << "preset" << 11 << 4 << 4 << 11.0 << 4;
    }

    void partsOfPixels()
    {
        QFETCH(QString, rounding);
        QFETCH(int, width);
        QFETCH(int, height);
        QFETCH(int, side);
        QFETCH(double, scaled);
        QFETCH(int, left);
        QString keys = QStringLiteral("{'interpolation':'nearest','size':[4,4],'short_side':%1").arg(side);
        keys += rounding == "preset" ? QStringLiteral(",'preset':'imagenet','mean':0,'std':1")
                                     : QStringLiteral(",'resize':'short_side','scale':0.00392156862745098");
        if (!rounding.isEmpty() && rounding != "preset")
            keys += QStringLiteral(",'rounding':'%1'").arg(rounding);
        const auto how = readBack(keys.append(u'}').replace(u'\'', u'"').toStdString());
        QVERIFY2(how.ok(), how.ok() ? "" : issueText(how.issue()).c_str());
        Picture picture = plain(width, height, { 0, 0, 0 });
        for (int i = 0; i < width * height; ++i)
            picture.pixels[size_t(i) * 3] = uint8_t(i % width * 5); // the red of a pixel: its column
        const Tensor t = *preparedPicture(*how, picture);
        for (int x = 0; x < 4; ++x)
            QCOMPARE(std::lround(t.data<float>()[size_t(x)] * 255),
                std::lround(std::floor((x + left + 0.5) * width / scaled)) * 5);
        QCOMPARE(preprocessJson(*readBack(preprocessJson(*how))), preprocessJson(*how));
    }

    void statisticsAreThoseOfTheChannels()
    {
        const Tensor first = Tensor::of<float>({ 2, 1, 2 }, { 1, 3, -1, NAN });
        const Tensor last = Tensor::of<float>({ 1, 1, 2, 2 }, { 5, 7, 5, 7 });
        const auto a = channelStatistics({ first }, true);
        QCOMPARE(a.size(), size_t(2));
        QVERIFY(a[0].mean == 2 && a[0].deviation == 1 && a[0].low == 1 && a[0].high == 3);
        QVERIFY(a[1].mean == -1 && a[1].deviation == 0);
        const auto b = channelStatistics({ last }, false);
        QVERIFY(b.size() == 2 && b[0].mean == 5 && b[1].mean == 7);
        QVERIFY(channelStatistics({}, true).empty());
        QVERIFY(channelStatistics({ Tensor::of<float>({ 4 }, { 1, 2, 3, 4 }) }, true).empty());
    }

    void usualPhotographsAreNormalizedByImageNet()
    {
        for (const ChannelStatistics& c : expectedStatistics(presetPreprocess("imagenet"))) {
            QVERIFY(std::abs(c.mean) < 1e-12 && std::abs(c.deviation - 1) < 1e-12);
            QVERIFY(c.low < -1.7 && c.high > 2.2);
        }
        const auto caffe = expectedStatistics(presetPreprocess("caffe"));
        QVERIFY(std::abs(caffe[0].mean) < 1 && std::abs(caffe[2].mean) < 1); // blue first, in its mean, too
        QCOMPARE(expectedStatistics(presetPreprocess("symmetric"))[0].low, -1.0);
    }

    void inputsSayWhatTheyWant_data()
    {
        QTest::addColumn<std::vector<int>>("dims");
        QTest::addColumn<QString>("wanted");
        QTest::newRow("nchw") << std::vector { 1, 3, 224, 200 } << "nchw 3 200x224";
        QTest::newRow("nhwc") << std::vector { -1, 224, 200, 3 } << "nhwc 3 200x224";
        QTest::newRow("grey") << std::vector { -1, 1, 28, 28 } << "nchw 1 28x28";
        QTest::newRow("open sizes") << std::vector { -1, 3, -1, -1 } << "nchw 3 0x0";
        QTest::newRow("no batch") << std::vector { 3, 8, 9 } << "nchw 3 9x8";
        QTest::newRow("all open") << std::vector { -1, -1, -1, -1 } << "nchw 3 0x0";
        QTest::newRow("features") << std::vector { 1, 16, 8, 8 } << "";
        QTest::newRow("tokens") << std::vector { 1, 128 } << "";
    }

    void inputsSayWhatTheyWant()
    {
        QFETCH(std::vector<int>, dims);
        QFETCH(QString, wanted);
        InputSpec input { "x", DType::Float32, Dims() };
        for (const int size : dims)
            input.dims->push_back(size < 0 ? Dim {} : Dim { size, "" });
        const auto form = pictureForm(input);
        QCOMPARE(form ? QStringLiteral("%1 %2 %3x%4")
                            .arg(form->channelsFirst ? "nchw" : "nhwc")
                            .arg(form->channels)
                            .arg(form->width)
                            .arg(form->height)
                      : QString(),
            wanted);
        if (!form)
            return;
        const Preprocess how = fitted(sized(presetPreprocess("caffe"), 11, 12), *form);
        QCOMPARE(how.channels(), form->channels);
        QCOMPARE(how.mean.size(), size_t(form->channels));
        QCOMPARE(how.width, form->width > 0 ? form->width : 11);
        QVERIFY(form->channels == 1 || how.color == ColorOrder::Bgr);
    }
};

QTEST_APPLESS_MAIN(PicturesTest)
#include "pictures_test.moc"
