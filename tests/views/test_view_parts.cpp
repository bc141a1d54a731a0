// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/small_model.h"
#include "tests/views/support/small_session.h"
#include "widgets/session/shown/empty_texts.h"
#include "widgets/views/base/noise_bar.h"
#include "widgets/views/base/text/dialog_size.h"
#include "widgets/views/base/text/elided_name.h"
#include "widgets/views/base/text/menu_width.h"
#include "widgets/views/base/text/wrapped_tips.h"
#include "widgets/views/graph/graph_export.h"
#include "widgets/views/graph/view/graph_legend.h"
#include "widgets/views/tables/sample_pictures.h"
#include "widgets/views/theme/system_theme.h"

#include <QApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QHeaderView>
#include <QHelpEvent>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QScreen>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolTip>
#include <QXmlStreamReader>
#include <QtTest>

#include <numeric>

using namespace qs;
using namespace qs::test;

namespace {

const QString kSpace = QStringLiteral("org.freedesktop.appearance");
const QString kScheme = QStringLiteral("color-scheme");
constexpr size_t kSampleCount = 20; ///< more than are made at once
constexpr int kSide = 6;

/// The folded graph of the small session, with one coloured box.
struct DrawnGraph {
    SmallSession small;
    std::optional<GraphScene> scene;
    GraphLook look;
    QTemporaryDir folder;

    bool make()
    {
        if (!small.load())
            return false;
        look.theme = Theme::light();
        look.fonts = GraphFonts::of(QFont());
        auto made = GraphScene::make(
            GraphContent::of(*small.session.snapshot()->quantModel, FoldMode::Folded, GroupBy::Nothing), GraphView {},
            look.fonts, {});
        if (!made.ok())
            return false;
        scene = std::move(made).value();
        look.boxes.resize(scene->boxCount());
        look.boxes[1].fill = Qt::red;
        return true;
    }
    QString path(const char* name) const { return folder.filePath(QString::fromLatin1(name)); }
    QByteArray written(const char* name) const
    {
        QFile file(path(name));
        return exportGraph(*scene, look, path(name)) && file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
};

/// One feed a sample, the last of which cannot be read: a picture that is red in even samples and blue in odd ones.
class Colours final : public DataSource {
public:
    Colours() { m_samples = m_feeds = kSampleCount; }
    Result<Feed> feed(size_t index) const override
    {
        if (index + 1 == kSampleCount)
            return badInput("broken", {}, {});
        std::vector<float> values(3 * kSide * kSide, 0.0F);
        const size_t plane = kSide * kSide, channel = index % 2 ? 2 : 0;
        std::fill_n(values.begin() + ptrdiff_t(channel * plane), plane, 1.0F);
        Feed feed;
        feed.inputs.push_back(Tensor::of<float>({ 1, 3, kSide, kSide }, values));
        feed.firstSample = index;
        return feed;
    }
};

/// A session that shows these snapshots one after another.
class SampleSession {
public:
    void show(std::shared_ptr<const DataSource> data)
    {
        auto snapshot = std::make_shared<Snapshot>();
        snapshot->data = std::move(data);
        m_next = snapshot;
        Inputs inputs;
        inputs.floatPath = std::to_string(++m_shown) + ".onnx";
        session.openInputs(inputs);
    }
    bool shown() const { return session.snapshot() == m_next; }

private:
    SnapshotPtr m_next;
    int m_shown = 0;

public:
    Session session { [this](const Inputs&, const SnapshotPtr&, const ProgressFn&, const CancelToken&,
                          const PartialFn&) { return Result<SnapshotPtr>(m_next); } };
};

/// As the desktop portal tells of a setting.
void tell(SystemTheme& theme, const QString& space, const QString& key, const QVariant& value)
{
    QMetaObject::invokeMethod(&theme, "portalChanged", Qt::DirectConnection, Q_ARG(QString, space), Q_ARG(QString, key),
        Q_ARG(QDBusVariant, QDBusVariant(value)));
}

} // namespace

class TestViewParts : public QObject {
    Q_OBJECT
private slots:
    void coloursStayWithinTheirLimits();
    void legendPaintsItsScale();
    void legendLeavesRoomForTheSample();
    void legendEditsItsLimits();
    void pngShowsTheWholeGraph();
    void svgAndPdfAreAsLargeAsTheGraph();
    void unwritableGraphsAreToldOf();
    void samplesGetPictures();
    void theDesktopDecidesOnDark();
    void emptyTextsSayWhy();
    void emptyTextsCountWhatCannotRun_data();
    void emptyTextsCountWhatCannotRun();
    void windowsFitIntoTheScreen();
    void namesKeepWhatDiffers();
    void tipsAreWrapped();
    void menusStayNarrow();
    void namesThatDifferInTheMiddleStayApart();
    void noiseBarsShowTheLargest();
    void noiseBarsShowKernels();
};

void TestViewParts::coloursStayWithinTheirLimits()
{
    const Theme theme = Theme::light();
    const ColourLimits limits { 0, 40 };
    const auto colour = [&](double value) { return metricColour(theme, Metric::Accumulated, value, limits); };
    QCOMPARE(colour(-7), colour(0));
    QCOMPARE(colour(90), colour(40));
    QCOMPARE(colour(0), theme.magnitude(1)); // higher is better
    QCOMPARE(colour(40), theme.magnitude(0));
    QCOMPARE(metricColour(theme, Metric::Increase, 30, { 0, 30 }), theme.magnitude(1));
    QCOMPARE(metricColour(theme, Metric::Accumulated, 5, { 3, 3 }), theme.magnitude(1)); // no width: no division
}

void TestViewParts::legendPaintsItsScale()
{
    const Theme theme = Theme::darkOne();
    GraphLegend legend;
    legend.setScale(Metric::Accumulated, { 10, 20 }, theme);
    for (const int width : { 700, 200 }) { // with the name of the number, and without
        legend.resize(width, legend.sizeHint().height());
        const QImage picture = legend.grab().toImage();
        QCOMPARE(picture.pixelColor(1, 2), theme.panel);
        int x = 0;
        for (int block = 0; block < 10; ++block) { // from the left to the right, worst first
            const QColor wanted = metricColour(theme, Metric::Accumulated, 10 + block + 0.5, { 10, 20 });
            while (x < width && picture.pixelColor(x, picture.height() / 2) != wanted)
                ++x;
            QVERIFY2(x < width, qPrintable(QStringLiteral("block %1 of %2 pixels").arg(block).arg(width)));
        }
    }
    QVERIFY(legend.toolTip().startsWith(metricInfo(Metric::Accumulated).definition));
}

/// Texts give way to the chip, and the scale keeps its least width, however long the name of the sample is.
void TestViewParts::legendLeavesRoomForTheSample()
{
    const QString name(60, u'x');
    for (const bool stale : { false, true }) {
        GraphLegend legend;
        const auto* chip = legend.findChild<QPushButton*>(QStringLiteral("sampleChip"));
        QVERIFY(chip);
        for (int width = 300; width <= 900; width += 10) {
            legend.resize(width, legend.sizeHint().height());
            legend.setScale(Metric::Accumulated, { 0, 40 }, Theme::light(), { name, stale });
            const GraphLegend::Line line = legend.line();
            const QString at = QStringLiteral("%1 at %2").arg(stale ? "stale" : "now").arg(width);
            QVERIFY2(legend.rect().contains(chip->geometry()), qPrintable(at));
            QVERIFY2(line.scale.width() >= 40 && line.scale.right() < chip->x(), qPrintable(at));
            QString all;
            int x = 0; // texts stand beside each other
            for (const auto& [place, text] : line.texts) {
                QVERIFY2(place.left() >= x && place.right() < chip->x(), qPrintable(at + u' ' + text));
                QVERIFY2(!place.intersects(line.scale), qPrintable(at + u' ' + text));
                QVERIFY2(place.width() >= legend.fontMetrics().horizontalAdvance(text), qPrintable(at + u' ' + text));
                x = place.right();
                all += text;
            }
            QVERIFY2(all.contains(u"≤ 0") && all.contains(u"≥ 40"), qPrintable(at + u' ' + all));
        }
        const GraphLegend::Line wide = legend.line();
        QVERIFY(wide.texts.front().second.startsWith(metricInfo(Metric::Accumulated).legend));
        QCOMPARE(wide.texts[1].second.contains(QStringLiteral("before the changes")), stale);
        QVERIFY(!wide.noNumber.isNull());
    }
}

void TestViewParts::legendEditsItsLimits()
{
    GraphLegend legend;
    legend.setScale(Metric::Clipped, { 2, 8 }, Theme::light());
    legend.show();
    std::vector<std::pair<Metric, ColourLimits>> changes;
    connect(&legend, &GraphLegend::limitsChanged, this,
        [&](Metric metric, ColourLimits limits) { changes.emplace_back(metric, limits); });
    QTest::keyClick(&legend, Qt::Key_Return);
    QPointer<QDialog> dialog = legend.findChild<QDialog*>();
    QVERIFY(dialog);
    const auto boxes = dialog->findChildren<QDoubleSpinBox*>();
    QCOMPARE(boxes.size(), 2);
    QCOMPARE(boxes[0]->value(), 2.0);
    QCOMPARE(boxes[1]->value(), 8.0);
    const auto* buttons = dialog->findChild<QDialogButtonBox*>();
    boxes[0]->setValue(9);
    QVERIFY(!buttons->button(QDialogButtonBox::Ok)->isEnabled()); // from above to below
    buttons->button(QDialogButtonBox::RestoreDefaults)->click();
    QCOMPARE(boxes[0]->value(), metricScale(Metric::Clipped).low);
    QCOMPARE(boxes[1]->value(), metricScale(Metric::Clipped).high);
    boxes[1]->setValue(5);
    buttons->button(QDialogButtonBox::Ok)->click();
    QTRY_VERIFY(!dialog);
    QCOMPARE(changes.size(), size_t(1));
    QVERIFY(changes[0].first == Metric::Clipped);
    QCOMPARE(changes[0].second, ColourLimits(metricScale(Metric::Clipped).low, 5));
    QTest::mouseClick(&legend, Qt::LeftButton);
    dialog = legend.findChild<QDialog*>();
    QVERIFY(dialog);
    dialog->reject();
    QTRY_VERIFY(!dialog);
    QCOMPARE(changes.size(), size_t(1));
}

void TestViewParts::pngShowsTheWholeGraph()
{
    DrawnGraph drawn;
    QVERIFY(drawn.make());
    const QImage picture = QImage::fromData(drawn.written("graph.PNG"));
    QCOMPARE(picture.size(), (drawn.scene->bounds().size() * 2).toSize());
    const QRectF box = drawn.scene->box(1);
    int red = 0, all = 0;
    for (int y = int(box.top() * 2); y < int(box.bottom() * 2); ++y)
        for (int x = int(box.left() * 2); x < int(box.right() * 2); ++x, ++all)
            red += picture.pixelColor(x, y) == QColor(Qt::red);
    QVERIFY2(red * 2 > all, qPrintable(QStringLiteral("%1 of %2").arg(red).arg(all))); // the rest is text
    drawn.look.selected = drawn.look.hovered = 0;
    drawn.look.searching = true;
    QCOMPARE(QImage::fromData(drawn.written("selected.png")), picture); // what is only of the moment stays out
}

void TestViewParts::svgAndPdfAreAsLargeAsTheGraph()
{
    DrawnGraph drawn;
    QVERIFY(drawn.make());
    const QSizeF size = drawn.scene->bounds().size();
    const QByteArray svg = drawn.written("graph.svg");
    QXmlStreamReader reader(svg);
    QVERIFY(reader.readNextStartElement());
    const QStringList view = reader.attributes().value(QLatin1String("viewBox")).toString().split(u' ');
    QCOMPARE(view.size(), 4);
    QVERIFY(std::abs(view[2].toDouble() - size.width()) < 1 && std::abs(view[3].toDouble() - size.height()) < 1);
    while (!reader.atEnd())
        reader.readNext();
    QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
    QVERIFY(svg.contains("Conv") && svg.contains("#ff0000"));
    const QByteArray pdf = drawn.written("graph.pdf");
    QVERIFY(pdf.startsWith("%PDF"));
    static const QRegularExpression kBox(QStringLiteral("/MediaBox \\[\\s*0 0 ([\\d.]+) ([\\d.]+)\\s*\\]"));
    const auto found = kBox.match(QString::fromLatin1(pdf));
    QVERIFY(found.hasMatch());
    QVERIFY(std::abs(found.captured(1).toDouble() - size.width()) <= 1);
    QVERIFY(std::abs(found.captured(2).toDouble() - size.height()) <= 1);
}

void TestViewParts::unwritableGraphsAreToldOf()
{
    DrawnGraph drawn;
    QVERIFY(drawn.make());
    for (const char* name : { "graph", "graph.jpeg", "missing/graph.png", "missing/graph.svg", "missing/graph.pdf" })
        QVERIFY2(!exportGraph(*drawn.scene, drawn.look, drawn.path(name)), name);
}

void TestViewParts::samplesGetPictures()
{
    SampleSession samples;
    SamplePictures pictures(samples.session);
    QSignalSpy changes(&pictures, &SamplePictures::changed);
    samples.show(std::make_shared<Colours>());
    QTRY_VERIFY(samples.shown());
    QVERIFY(pictures.at(0).isNull()); // nobody looked yet
    pictures.want();
    QTRY_VERIFY(!pictures.at(kSampleCount - 2).isNull());
    QTRY_VERIFY(samples.session.jobs().idle());
    QCOMPARE(changes.size(), 2); // in batches, so that the first are there soon
    const QImage even = pictures.at(0).toImage(), odd = pictures.at(1).toImage();
    QCOMPARE(even.size(), QSize(SamplePictures::kSide * 2, SamplePictures::kSide * 2));
    QCOMPARE(even.pixelColor(SamplePictures::kSide, SamplePictures::kSide), QColor(Qt::red));
    QCOMPARE(odd.pixelColor(SamplePictures::kSide, SamplePictures::kSide), QColor(Qt::blue));
    QVERIFY(pictures.at(kSampleCount - 1).isNull()); // it cannot be read
    QVERIFY(pictures.at(kSampleCount).isNull());
    pictures.want();
    QVERIFY(samples.session.jobs().idle()); // they are there
    samples.show(std::make_shared<Colours>());
    QTRY_VERIFY(samples.shown());
    QVERIFY(pictures.at(0).isNull()); // those were of other data
    pictures.want();
    QTRY_VERIFY(!pictures.at(0).isNull());
}

void TestViewParts::namesKeepWhatDiffers()
{
    const QFontMetrics font(QApplication::font());
    const auto shown = [&font](const char* name, const char* room) {
        return elidedName(QString::fromLatin1(name), font, font.horizontalAdvance(QString::fromUtf8(room)));
    };
    QCOMPARE(shown("/conv1/Conv_output_0", "/conv1/Conv_output_0"), QStringLiteral("/conv1/Conv_output_0"));
    QCOMPARE(shown("/conv1/Conv_output_0", "/conv1/Conv"), QStringLiteral("/conv1/Conv"));
    const char* deep = "/model/layers.3/mlp/down_proj/MatMul/output_0";
    QCOMPARE(shown(deep, "layers.3/…tMul"), QStringLiteral("layers.3/…tMul"));
    QVERIFY(shown(deep, "…ers.3/mlp/down_proj/MatMul").contains(QStringLiteral("layers.3/…")));
    QVERIFY(shown(deep, "…/layers.3/mlp/down_proj/MatMul").startsWith(u'…'));
    QVERIFY(shown(deep, "…MatMul").endsWith(QStringLiteral("Mul")));
    QCOMPARE(shown("/block4/block/block.0/Conv", "block4/…0/Conv"), QStringLiteral("block4/…0/Conv"));
    const char* weight = "model.layers.0.attn.o_proj.MatMul.weight";
    QCOMPARE(shown(weight, "model.layers.0.attn.o_proj"), QStringLiteral("model.layers.0.attn.o_proj"));
    QCOMPARE(shown(weight, "layers.0…o_proj"), QStringLiteral("layers.0…o_proj"));
    QCOMPARE(shown("block2.block.0.weight", "block2…ck.0"), QStringLiteral("block2…ck.0"));
    const QString down = QStringLiteral("/model/layers.3/mlp/down_proj/MatMul"),
                  up = QString(down).replace(QStringLiteral("down"), QStringLiteral("up"));
    const int room = font.horizontalAdvance(QStringLiteral("layers.3/…roj/MatMul"));
    QCOMPARE(elidedName(down, { up }, font, 10000), down);
    QCOMPARE(elidedName(down, { down, QStringLiteral("/model/norm/Mul") }, font, room), elidedName(down, font, room));
    QVERIFY(elidedName(down, font, room) == elidedName(up, font, room));
    QVERIFY(elidedName(down, { up }, font, room) != elidedName(up, { down }, font, room));
    QVERIFY(elidedName(up, { down }, font, room).endsWith(QStringLiteral("up_proj")));
}

/// What all of them begin and end with is not what tells them apart.
void TestViewParts::namesThatDifferInTheMiddleStayApart()
{
    const QFontMetrics font(QApplication::font());
    QStringList names;
    for (const char* number : { "0", "1", "2", "13" })
        names << QStringLiteral("model.encoder.layers.%1.some_long_submodule_name.conv/relu")
                     .arg(QString::fromLatin1(number));
    const int room = font.horizontalAdvance(QStringLiteral("…layers.13…conv/relu"));
    QStringList shown;
    for (const QString& name : names) {
        QStringList beside = names;
        beside.removeOne(name);
        shown << elidedName(name, beside, font, room);
        QVERIFY2(font.horizontalAdvance(shown.back()) <= room, qPrintable(shown.back()));
        QVERIFY2(shown.back().endsWith(QStringLiteral("conv/relu")), qPrintable(shown.back()));
    }
    QCOMPARE(shown.removeDuplicates(), 0);
    QVERIFY2(shown[1].contains(QStringLiteral("layers.1…")), qPrintable(shown[1]));
    const QString text = withNarrowNames(QStringLiteral("Exclude %1 + %2").arg(names[0], names[1]), font, room);
    QVERIFY(font.horizontalAdvance(text) <= 2 * room + font.horizontalAdvance(QStringLiteral("Exclude  + ")));
    QVERIFY(text.startsWith(QStringLiteral("Exclude ")));
}

/// No part of a bar is seen before a larger one, and the bar is full.
void TestViewParts::noiseBarsShowTheLargest()
{
    QCOMPARE(noiseWidths({ 0.012, 0, 0.002, 0, 0.6 }, 38), (std::array { 1, 0, 0, 0, 37 }));
    QCOMPARE(noiseWidths({ 0.01, 0, 0.005, 0, 0.985 }, 38), (std::array { 0, 0, 0, 0, 38 }));
    QCOMPARE(noiseWidths({ -1, 1, 0, 0, 1 }, 9), (std::array { 0, 5, 0, 0, 4 }));
    QCOMPARE(noiseWidths({}, 9), (std::array<int, kNoiseParts> {}));
    for (int width = 1; width < 60; ++width)
        for (int step = 0; step < 50; ++step) {
            const NoiseParts parts { 0.001 * step, 0.0007 * step, 0.013, 0.0003 * step, 1 };
            const auto widths = noiseWidths(parts, width);
            QCOMPARE(std::accumulate(widths.begin(), widths.end(), 0), width);
            for (size_t i = 0; i < parts.size(); ++i)
                for (size_t j = 0; j < parts.size(); ++j)
                    QVERIFY(parts[i] <= parts[j] || widths[i] >= widths[j]);
        }
}

/// What integer kernels make is a part as the others are, and none where there is no such arithmetic.
void TestViewParts::noiseBarsShowKernels()
{
    for (const Theme& theme : { Theme::light(), Theme::darkOne() }) {
        for (const QColor& other : { theme.clipping, theme.rounding, theme.weights, theme.inherited })
            QVERIFY(theme.kernel != other);
        NoiseBar bar;
        bar.setTheme(theme);
        bar.resize(400, bar.sizeHint().height());
        NoiseSplit split { 0.1, 0.0, 0.1, 0.0, 0.8 }; // rounding, clipping, inherited, weights, kernel
        bar.setNoise(split, 20, QStringLiteral("measured"));
        QVERIFY2(bar.text().contains(QStringLiteral("kernel 80.0 %")), qPrintable(bar.text()));
        const QImage drawn = bar.grab().toImage();
        QCOMPARE(drawn.pixelColor(200, 5), theme.kernel);
        const QString brief = QStringLiteral("20.0 dB · kernel 80.0 %"); // the small parts are not worth its name
        bar.setNoise({ 0.05, 0.05, 0.09, 0.01, 0.8 }, 20, QStringLiteral("measured"));
        QCOMPARE(bar.textFor(bar.fontMetrics().horizontalAdvance(brief)), brief);
        bar.setNoise({ 0, -0.001, 1.001, 0 }, 20, QStringLiteral("measured")); // nearly nothing taken back
        QVERIFY2(bar.text().endsWith(QStringLiteral("inputs 100 %")), qPrintable(bar.text()));
        QVERIFY2(!bar.text().contains(QStringLiteral("cancel")), qPrintable(bar.text()));
        bar.setNoise({ 0, -0.102, 1.102, 0 }, 20, QStringLiteral("measured"));
        QVERIFY2(bar.text().contains(QStringLiteral("parts cancel")), qPrintable(bar.text()));
        split.kernel.reset();
        bar.setNoise(split, 20, QStringLiteral("measured"));
        QVERIFY2(!bar.text().contains(QStringLiteral("kernel")), qPrintable(bar.text()));
        bar.setNoise({ 0.1, 0.0, 0.9, 0.0 }, 20, QStringLiteral("predicted"), true); // known together only
        QVERIFY2(bar.text().endsWith(QStringLiteral("kernel and inputs 90.0 %")), qPrintable(bar.text()));
        QVERIFY(bar.toolTip().contains(QStringLiteral("integer kernels")));
    }
}

/// Sentences on heads of columns go over several lines, and say the same.
void TestViewParts::tipsAreWrapped()
{
    const WrappedTips tips(nullptr);
    QCOMPARE(wrappedTip(QStringLiteral("brief")), QStringLiteral("brief"));
    QVERIFY(wrappedTip(QStringLiteral("a sentence ").repeated(12)).startsWith(QStringLiteral("<p")));
    QStandardItemModel model(1, 1);
    model.setHeaderData(0, Qt::Horizontal, QString(QStringLiteral("a sentence ").repeated(12)), Qt::ToolTipRole);
    QTableView table;
    table.setModel(&model);
    table.show();
    QVERIFY(QTest::qWaitForWindowExposed(&table));
    QWidget* head = table.horizontalHeader()->viewport();
    QHelpEvent help(QEvent::ToolTip, { 5, 5 }, head->mapToGlobal(QPoint(5, 5)));
    QApplication::sendEvent(head, &help);
    QVERIFY2(QToolTip::text().startsWith(QStringLiteral("<p")), qPrintable(QToolTip::text()));
    QToolTip::hideText();
}

void TestViewParts::menusStayNarrow()
{
    QMenu menu;
    QAction elsewhere(QString(300, u'w'));
    const QString name = QStringLiteral("Exclude /model/") + QString(300, u'x') + QStringLiteral("/MatMul");
    QAction* named = menu.addAction(name + QStringLiteral("\tE"));
    QAction* brief = menu.addAction(QStringLiteral("Copy\tCtrl+C"));
    QMenu* parts = menu.addMenu(QStringLiteral("Parts"));
    QAction* part = parts->addAction(name);
    menu.addAction(&elsewhere);
    keepNarrow(menu);
    QVERIFY(named->text().startsWith(QStringLiteral("Exclude /model/")));
    QVERIFY(named->text().endsWith(QStringLiteral("/MatMul\tE")));
    QVERIFY(named->text().size() < 100 && part->text().size() < 100);
    QCOMPARE(named->toolTip(), name);
    QVERIFY(menu.toolTipsVisible());
    QCOMPARE(brief->text(), QStringLiteral("Copy\tCtrl+C"));
    QCOMPARE(elsewhere.text().size(), 300); // others show it, too
}

void TestViewParts::emptyTextsCountWhatCannotRun_data()
{
    QTest::addColumn<int>("unknown");
    QTest::addColumn<int>("behind"); ///< nodes that need what these make
    QTest::addColumn<QString>("says");
    QTest::newRow("one alone") << 1 << 0 << "1 node cannot run: ";
    QTest::newRow("one, and one behind it") << 1 << 1 << "1 node cannot run, so 1 other cannot either: ";
    QTest::newRow("several") << 2 << 3 << "2 nodes cannot run, so 3 others cannot either: ";
}

void TestViewParts::emptyTextsCountWhatCannotRun()
{
    QFETCH(int, unknown);
    QFETCH(int, behind);
    QFETCH(QString, says);
    SmallModel m("q");
    m.input("x", { 4 }).node("Neg", { "x" }, { "y0" });
    for (int i = 0; i < unknown + behind; ++i)
        m.node(i < unknown ? "Strange" : "Neg", { i < unknown ? "x" : "y" + std::to_string(i) },
            { "y" + std::to_string(i + 1) }, {}, i < unknown ? "org.example" : "");
    const Prepared made = m.output("y" + std::to_string(unknown + behind)).finish();
    Snapshot pair;
    pair.quantModel = loadedModel(std::shared_ptr<const Model>(made.plan, &made.plan->model()));
    pair.floatModel = pair.quantModel;
    QVERIFY2(whyNothingCompared(pair).startsWith(says), qPrintable(whyNothingCompared(pair)));
}

void TestViewParts::emptyTextsSayWhy()
{
    SmallSession small;
    QVERIFY(small.load());
    Snapshot pair = *small.session.snapshot();
    pair.inputs.floatPath = "/models/first.onnx";
    pair.inputs.quantPath = "/models/second.onnx";
    QVERIFY(whyNothingCompared(pair).isEmpty());
    QVERIFY(pairNote(pair).isEmpty());
    pair.comparison.reset();
    QCOMPARE(whyNothingCompared(pair), QStringLiteral("Open data to compare the models."));
    Snapshot coming = pair;
    coming.inputs.data.spec = "/models/samples.npz"; // asked for, and not there yet
    QVERIFY(numbersFollow(coming) && !numbersFollow(pair));
    QCOMPARE(whyNothingCompared(coming), QStringLiteral("The models are read; numbers follow when they have run."));
    Snapshot floats = pair, quantized = pair, swapped = pair, alone = pair;
    floats.quantModel = pair.floatModel;
    QCOMPARE(pairNote(floats), QStringLiteral("Both models are float: second.onnx has no quantizers."));
    quantized.floatModel = pair.quantModel;
    QVERIFY(pairNote(quantized).startsWith(QStringLiteral("Both models are quantized: first.onnx")));
    std::swap(swapped.floatModel, swapped.quantModel);
    QVERIFY(pairNote(swapped).contains(QStringLiteral("first.onnx is quantized, second.onnx is float")));
    alone.floatModel = pair.quantModel;
    alone.quantModel.reset();
    QVERIFY(whyNothingCompared(alone).startsWith(QStringLiteral("first.onnx is quantized already")));
    QVERIFY(whyNoRecipe(pair).isEmpty());
    QVERIFY(whyNoRecipe(floats).startsWith(QStringLiteral("second.onnx has no quantizers")));
    QVERIFY(whyNoRecipe(quantized).startsWith(QStringLiteral("first.onnx is quantized already")));
    QVERIFY(whyNoRecipe(Snapshot()).isEmpty());
    pair.data.reset();
    pair.inputs.data.spec = "samples.npz";
    QVERIFY(whyNothingCompared(pair).contains(QStringLiteral("numbers follow"))); // while they are read
    floats.inputs.recipe = Recipe();
    QVERIFY(pairNote(floats).startsWith(QStringLiteral("The recipe quantizes no node")));
}

void TestViewParts::windowsFitIntoTheScreen()
{
    QWidget large, small;
    const QSize room = large.screen()->availableSize();
    large.resize(room); // its frame needs some
    QVERIFY(!fitsIntoScreen(large));
    large.resize(room * 2);
    QVERIFY(!fitsIntoScreen(large));
    fitIntoScreen(large);
    QVERIFY(fitsIntoScreen(large));
    QVERIFY(large.width() < room.width() && large.height() < room.height());
    small.resize(200, 100);
    fitIntoScreen(small);
    QCOMPARE(small.size(), QSize(200, 100));
}

void TestViewParts::theDesktopDecidesOnDark()
{
    const QPalette before = QGuiApplication::palette();
    QGuiApplication::setPalette(QPalette(Qt::black));
    QVERIFY(SystemTheme().dark()); // the portal has not answered: as the palette is
    QGuiApplication::setPalette(QPalette(Qt::white));
    SystemTheme theme;
    QGuiApplication::setPalette(before);
    QVERIFY(!theme.dark());
    QSignalSpy changes(&theme, &SystemTheme::changed);
    tell(theme, kSpace, kScheme, 1U);
    QVERIFY(theme.dark());
    QCOMPARE(changes.takeFirst()[0].toBool(), true);
    tell(theme, kSpace, kScheme, 1U);
    tell(theme, kSpace, QStringLiteral("accent-color"), 2U);
    tell(theme, QStringLiteral("org.gnome"), kScheme, 2U);
    QCOMPARE(changes.size(), 0); // the same, or nothing of ours
    tell(theme, kSpace, kScheme, QVariant::fromValue(QDBusVariant(2U))); // wrapped twice, as some portals do
    QVERIFY(!theme.dark());
    QCOMPARE(changes.size(), 1);
    tell(theme, kSpace, kScheme, 0U); // no preference
    QVERIFY(!theme.dark());
    QCOMPARE(changes.size(), 1);
}

QTEST_MAIN(TestViewParts)
#include "test_view_parts.moc"
