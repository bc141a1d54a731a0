// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs of which only a part, or not every detail, is painted.
#include "widgets/views/graph/geometry/band_index.h"
#include "widgets/views/graph/geometry/spots.h"
#include "widgets/views/graph/graph_painter.h"
#include "widgets/views/graph/graph_scene.h"

#include <QPainter>
#include <QtTest>

#include <algorithm>
#include <numeric>
#include <random>

using namespace qs;

namespace {

/// Layers of a few boxes with edges to the next layers, some of them far away.
std::shared_ptr<const GraphContent> layeredContent(uint32_t layers, uint32_t perLayer)
{
    std::mt19937 random(11);
    auto content = std::make_shared<GraphContent>();
    FoldedGraph& graph = content->whole;
    for (uint32_t b = 0; b < layers * perLayer; ++b) {
        DisplayBox box;
        box.title = "Conv conv_" + std::to_string(b);
        box.subtitle = "3×3 → 24";
        graph.boxes.push_back(std::move(box));
        const uint32_t layer = b / perLayer;
        for (uint32_t e = 0; layer > 0 && e < 2; ++e) {
            const uint32_t back = e == 0 || random() % 20 ? 1 : 1 + uint32_t(random() % layer);
            DisplayEdge edge;
            edge.from = (layer - back) * perLayer + uint32_t(random() % perLayer);
            edge.to = b;
            edge.badge = random() % 3 ? "s8 .0391" : "";
            graph.edges.push_back(std::move(edge));
        }
    }
    content->grouping.order.resize(graph.boxes.size());
    std::iota(content->grouping.order.begin(), content->grouping.order.end(), 0u);
    content->grouping.innermost.assign(graph.boxes.size(), BoxGroup::kNone);
    return content;
}

GraphScene sceneOf(const std::shared_ptr<const GraphContent>& content)
{
    auto scene = GraphScene::make(content, GraphView {}, GraphFonts::of(QApplication::font()), {});
    return std::move(scene).value();
}

GraphLook lookOf(const GraphScene& scene, const Theme& theme)
{
    GraphLook look;
    look.theme = theme;
    look.fonts = GraphFonts::of(QApplication::font());
    look.boxes.resize(scene.boxCount());
    for (uint32_t b = 0; b < look.boxes.size(); ++b) {
        look.boxes[b].number = QStringLiteral("%1 dB").arg(b % 60);
        look.boxes[b].fill = b % 7 ? QColor::fromHsv(int(b) * 5 % 360, 90, 230) : QColor();
    }
    look.selected = uint32_t(scene.boxCount() / 2);
    look.hovered = uint32_t(scene.boxCount() / 2 + 1);
    return look;
}

struct View {
    QPointF corner;
    double zoom;
    double pixels = 1; ///< of the device in a pixel
    QSize size { 640, 420 };
    QRectF area() const { return { corner, QSizeF(size) / zoom }; }
};

/// `painted`: what the painter is told to be in sight.
QImage picture(const GraphScene& scene, const GraphLook& look, const View& view, const QRectF& painted)
{
    QImage image(view.size * view.pixels, QImage::Format_RGB32);
    image.setDevicePixelRatio(view.pixels);
    image.fill(look.theme.panel);
    QPainter painter(&image);
    painter.scale(view.zoom, view.zoom);
    painter.translate(-view.corner);
    paintGraph(painter, scene, look, painted, view.zoom);
    return image;
}

QRectF randomRect(std::mt19937& random, double reach)
{
    std::uniform_real_distribution<double> place(-reach / 4, reach), size(0, 1);
    const auto side = [&] { return std::pow(size(random), 6) * reach + 0.01; };
    return { place(random), place(random), side(), side() };
}

} // namespace

class TestLargeGraphs : public QObject {
    Q_OBJECT
private slots:
    void anIndexFindsWhatOverlaps();
    void anIndexOfNothingFindsNothing();
    void whatIsOutOfSightIsNotMissed_data();
    void whatIsOutOfSightIsNotMissed();
    void fromAfarEverySpotIsTaken_data();
    void fromAfarEverySpotIsTaken();
    void fromAfarMarkedBoxesAreSeen();
    void spotsLieStillWhileTheViewMoves();
};

void TestLargeGraphs::anIndexFindsWhatOverlaps()
{
    std::mt19937 random(5);
    for (const double reach : { 300.0, 20000.0, 4e6 }) {
        std::vector<QRectF> rects(2000);
        std::ranges::generate(rects, [&] { return randomRect(random, reach); });
        const BandIndex index(rects);
        for (int i = 0; i < 200; ++i) {
            const QRectF area = randomRect(random, reach);
            std::vector<uint32_t> expected;
            for (uint32_t r = 0; r < rects.size(); ++r)
                if (rects[r].intersects(area))
                    expected.push_back(r);
            QCOMPARE(index.in(rects, area), expected);
            const double least = std::max(area.width(), area.height()) / 3;
            std::vector<uint32_t> large;
            index.visit(rects, area, least, [&](uint32_t r) { large.push_back(r); });
            std::ranges::sort(large);
            QVERIFY(std::ranges::includes(expected, large));
            for (const uint32_t r : expected)
                QVERIFY(std::max(rects[r].width(), rects[r].height()) < least || std::ranges::binary_search(large, r));
        }
    }
}

void TestLargeGraphs::anIndexOfNothingFindsNothing()
{
    QVERIFY(BandIndex().in({}, QRectF(0, 0, 10, 10)).empty());
    QVERIFY(BandIndex(std::vector<QRectF>()).in({}, QRectF(0, 0, 10, 10)).empty());
}

void TestLargeGraphs::whatIsOutOfSightIsNotMissed_data()
{
    QTest::addColumn<double>("zoom");
    QTest::addColumn<double>("pixels");
    QTest::addColumn<bool>("dark");
    for (const double zoom : { 0.11, 0.2, 0.3, 0.6, 1.0, 2.7 })
        for (const double pixels : { 1.0, 1.5, 2.0 })
            QTest::addRow("%g, %g", zoom, pixels) << zoom << pixels << (pixels > 1.2 && pixels < 1.8);
}

void TestLargeGraphs::whatIsOutOfSightIsNotMissed()
{
    QFETCH(double, zoom);
    QFETCH(double, pixels);
    QFETCH(bool, dark);
    static const GraphScene scene = sceneOf(layeredContent(60, 7));
    const GraphLook look = lookOf(scene, dark ? Theme::darkOne() : Theme::light());
    std::mt19937 random(9);
    const QRectF all = scene.bounds().adjusted(-100, -100, 100, 100);
    for (int i = 0; i < 6; ++i) {
        View view { {}, zoom, pixels };
        std::uniform_real_distribution<double> x(-50, all.width()), y(-50, all.height());
        view.corner = { std::round(x(random) * zoom) / zoom, std::round(y(random) * zoom) / zoom };
        QCOMPARE(picture(scene, look, view, view.area()), picture(scene, look, view, all));
    }
}

void TestLargeGraphs::fromAfarEverySpotIsTaken_data()
{
    QTest::addColumn<double>("zoom");
    QTest::addColumn<bool>("dark");
    for (const double zoom : { 0.003, 0.01, 0.04, 0.09 })
        for (const bool dark : { false, true })
            QTest::addRow("%g %s", zoom, dark ? "dark" : "light") << zoom << dark;
}

/// Where a box lies in sight, something else than the ground is seen.
void TestLargeGraphs::fromAfarEverySpotIsTaken()
{
    QFETCH(double, zoom);
    QFETCH(bool, dark);
    static const GraphScene scene = sceneOf(layeredContent(400, 6));
    GraphLook look = lookOf(scene, dark ? Theme::darkOne() : Theme::light());
    look.selected.reset();
    std::mt19937 random(3);
    std::uniform_real_distribution<double> part(0, 0.7);
    for (int i = 0; i < 5; ++i) {
        const View view { { part(random) * scene.bounds().width(), part(random) * scene.bounds().height() }, zoom };
        const QImage image = picture(scene, look, view, view.area());
        const QRectF inside = QRectF(image.rect()).adjusted(3, 3, -3, -3);
        for (uint32_t b = 0; b < scene.boxCount(); ++b) {
            const QPointF at = (scene.box(b).center() - view.corner) * zoom;
            if (!inside.contains(at))
                continue;
            bool seen = false;
            for (int dx = -2; dx <= 2; ++dx)
                for (int dy = -2; dy <= 2; ++dy)
                    seen = seen || image.pixelColor(at.toPoint() + QPoint(dx, dy)) != look.theme.panel;
            QVERIFY2(seen, qPrintable(QStringLiteral("box %1").arg(b)));
        }
    }
}

void TestLargeGraphs::fromAfarMarkedBoxesAreSeen()
{
    static const GraphScene scene = sceneOf(layeredContent(400, 6));
    GraphLook look = lookOf(scene, Theme::light());
    look.selected.reset();
    const View view { {}, 420 / scene.bounds().height() };
    QVERIFY(view.zoom < 0.1);
    const auto accents = [&] {
        const QImage image = picture(scene, look, view, view.area());
        int found = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                found += image.pixelColor(x, y) == look.theme.accent;
        return found;
    };
    QCOMPARE(accents(), 0);
    for (const uint32_t b : { 5u, 1201u, 2399u }) { // the first of its spot or not
        look.boxes[b].chosen = true;
        QVERIFY(accents() > 0);
        look.boxes[b].chosen = false;
    }
    look.searching = true;
    look.boxes[1202].found = true;
    QVERIFY(accents() > 0);
}

void TestLargeGraphs::spotsLieStillWhileTheViewMoves()
{
    std::mt19937 random(1);
    std::uniform_real_distribution<double> place(100, 900);
    const double zoom = 0.07;
    const QRectF first(0, 0, 1000, 1000), second(33.3, 71.9, 1000, 1000);
    const Spots before(first, zoom), after(second, zoom);
    for (int i = 0; i < 500; ++i) {
        const QPointF a(place(random), place(random)), b = a + QPointF(place(random), place(random)) / 40;
        QCOMPARE(after.at(a) == after.at(b), before.at(a) == before.at(b));
    }
}

QTEST_MAIN(TestLargeGraphs)
#include "test_large_graphs.moc"
