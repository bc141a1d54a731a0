// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/graph_export.h"

#include "core/base/files/atomic_file.h"

#include <QBuffer>
#include <QFileInfo>
#include <QImage>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>

#include <algorithm>

namespace qs {

namespace {

constexpr double kLongestPicture = 16000; ///< pixels of a PNG's side
constexpr double kPngScale = 2;
constexpr int kPointsPerInch = 72;

void paintWhole(QPainter& painter, const GraphScene& scene, GraphLook look)
{
    look.hovered.reset();
    look.selected.reset();
    look.selectedEdge.reset();
    look.searching = false;
    painter.fillRect(scene.bounds(), look.theme.panel);
    paintGraph(painter, scene, look, scene.bounds(), 1);
}

bool exportPng(const GraphScene& scene, const GraphLook& look, QIODevice& to)
{
    const QSizeF size = scene.bounds().size();
    const double scale = std::min(kPngScale, kLongestPicture / std::max(size.width(), size.height()));
    QImage image((size * scale).toSize().expandedTo({ 1, 1 }), QImage::Format_RGB32);
    if (image.isNull())
        return false;
    image.fill(look.theme.panel);
    QPainter painter(&image);
    painter.scale(scale, scale);
    paintWhole(painter, scene, look);
    painter.end();
    return image.save(&to, "PNG");
}

bool exportSvg(const GraphScene& scene, const GraphLook& look, QIODevice& to)
{
    QSvgGenerator generator;
    generator.setOutputDevice(&to);
    generator.setSize(scene.bounds().size().toSize());
    generator.setViewBox(scene.bounds());
    QPainter painter;
    if (!painter.begin(&generator))
        return false;
    paintWhole(painter, scene, look);
    return painter.end();
}

bool exportPdf(const GraphScene& scene, const GraphLook& look, QIODevice& to)
{
    QPdfWriter writer(&to);
    writer.setResolution(kPointsPerInch);
    writer.setPageMargins(QMarginsF());
    writer.setPageSize(QPageSize(scene.bounds().size(), QPageSize::Point));
    QPainter painter;
    if (!painter.begin(&writer))
        return false;
    paintWhole(painter, scene, look);
    return painter.end();
}

} // namespace

bool exportGraph(const GraphScene& scene, const GraphLook& look, const QString& path)
{
    if (scene.bounds().isEmpty())
        return false;
    const QString suffix = QFileInfo(path).suffix().toLower();
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    const bool painted = suffix == QLatin1String("png") ? exportPng(scene, look, buffer)
        : suffix == QLatin1String("svg")                ? exportSvg(scene, look, buffer)
                                         : suffix == QLatin1String("pdf") && exportPdf(scene, look, buffer);
    return painted && writeFile(path.toStdString(), { bytes.constData(), size_t(bytes.size()) }).ok();
}

} // namespace qs
