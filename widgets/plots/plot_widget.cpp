// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/plot_widget.h"

#include "widgets/plots/plot_canvas.h"
#include "widgets/plots/plot_label.h"
#include "widgets/plots/save_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QFileInfo>
#include <QMenu>
#include <QPageSize>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

constexpr int kMostTicks = 5;
constexpr double kTickWidth = 4.2, kTickHeight = 1.6; ///< lines of text of the axis for each
constexpr double kPowersWidth = 1.8; ///< times as wide are numbers with a power of ten
constexpr double kSmallest = 1e-3, kLargest = 1e6; ///< magnitudes that are written without one
constexpr double kLeastNumberedAxis = 1.8; ///< height in lines below which numbers would lie over each other
constexpr int kWidest = 1 << 20; ///< pixels; less than what Qt takes for no limit
constexpr double kLegendLines = 8.5; ///< height in lines without which bins need all the room
constexpr int kVeilAlpha = 150; ///< of 255
constexpr int kPointsPerInch = 72;
constexpr int kExportScale = 2; ///< pixels of a PNG per pixel of the screen

/// Decimals that tell multiples of a step apart; nothing for steps that are written with a power of ten.
std::optional<int> decimalsOf(double step)
{
    constexpr int kMostDecimals = 4;
    double scaled = step;
    for (int decimals = 0; decimals <= kMostDecimals; ++decimals, scaled *= 10)
        if (std::abs(scaled - std::round(scaled)) < 1e-6 * scaled && scaled > 0.5)
            return decimals;
    return std::nullopt;
}

/// Ticks with the texts of the rest of the window, all of them with as many decimals as their step needs.
class TextTicker : public QCPAxisTicker {
public:
    TextTicker(std::function<QString(double)> text, bool whole)
        : m_text(std::move(text))
        , m_whole(whole)
    {
    }

protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override
    {
        constexpr double kMostPlain = 1e5;
        if (std::abs(tick) < m_step * 1e-6) // steps like 0.30000000000000004 are rounded before they become text
            return m_text(0);
        const auto decimals = std::abs(tick) < kMostPlain ? decimalsOf(m_step) : std::nullopt;
        return decimals ? QString::number(tick, 'f', *decimals).replace(u'-', QChar(0x2212)) : m_text(tick);
    }
    double getTickStep(const QCPRange& range) override
    {
        const double step = QCPAxisTicker::getTickStep(range);
        m_step = m_whole ? std::max(1.0, std::round(step)) : step;
        return m_step;
    }

private:
    std::function<QString(double)> m_text;
    bool m_whole;
    double m_step = 1;
};

bool paintOn(QPaintDevice& device, QCustomPlot& plot)
{
    QCPPainter painter;
    if (!painter.begin(&device))
        return false;
    painter.setMode(QCPPainter::pmVectorized);
    plot.toPainter(&painter, plot.width(), plot.height());
    return painter.end();
}

bool paintAs(const QString& suffix, QIODevice& to, QCustomPlot& plot)
{
    if (suffix == QLatin1String("png"))
        return plot.toPixmap(0, 0, kExportScale).save(&to, "PNG");
    if (suffix == QLatin1String("pdf")) {
        QPdfWriter writer(&to);
        writer.setPageMargins(QMarginsF());
        writer.setResolution(kPointsPerInch);
        writer.setPageSize(QPageSize(QSizeF(plot.size()), QPageSize::Point));
        return paintOn(writer, plot);
    }
    QSvgGenerator generator;
    generator.setOutputDevice(&to);
    generator.setSize(plot.size());
    generator.setViewBox(plot.rect());
    return suffix == QLatin1String("svg") && paintOn(generator, plot);
}

} // namespace

PlotWidget::PlotWidget(QWidget* parent)
    : QWidget(parent)
    , m_plot(new PlotCanvas(this))
    , m_veil(new PlotLabel(this))
    , m_readout(new PlotLabel(this))
    , m_message(new PlotLabel(this))
    , m_crosshair(new QCPItemStraightLine(m_plot))
{
    m_plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    m_plot->setLocale(QLocale::c()); // as the numbers of the window are
    m_plot->setNoAntialiasingOnDrag(true);
    m_plot->setMouseTracking(true);
    m_plot->installEventFilter(this);
    m_crosshair->setLayer(QStringLiteral("overlay"));
    m_crosshair->setVisible(false);
    m_veil->hide();
    m_readout->setMargin(4);
    m_readout->hide();
    m_message->setAlignment(Qt::AlignCenter);
    m_message->setWordWrap(true);
    m_message->setMargin(16);
    m_message->hide();
    setFocusPolicy(Qt::StrongFocus);
    m_plot->setFocusPolicy(Qt::NoFocus);
    connect(m_plot, &QCustomPlot::afterLayout, this, &PlotWidget::fitTexts);
}

PlotWidget::~PlotWidget() = default;

QCustomPlot& PlotWidget::plot() const { return *m_plot; }

void PlotWidget::redraw() { m_plot->redraw(); }

void PlotWidget::setStyle(const PlotStyle& style)
{
    m_style = style;
    applyStyle();
    rebuild();
}

void PlotWidget::applyStyle()
{
    m_plot->setBackground(m_style.background);
    const QFont small = font();
    for (QCPAxis* axis : { m_plot->xAxis, m_plot->yAxis }) {
        axis->setBasePen(QPen(m_style.border));
        axis->setTickPen(QPen(m_style.border));
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(m_style.muted);
        axis->setLabelColor(m_style.muted);
        axis->setTickLabelFont(small);
        axis->setLabelFont(small);
        axis->grid()->setPen(QPen(m_style.grid));
        axis->grid()->setZeroLinePen(QPen(m_style.grid));
    }
    m_crosshair->setPen(QPen(m_style.muted, 0, Qt::DotLine));
    m_plot->legend->setBrush(Qt::NoBrush);
    m_plot->legend->setBorderPen(Qt::NoPen);
    m_plot->legend->setTextColor(m_style.muted);
    m_plot->legend->setFont(small);
    const int line = QFontMetrics(small).height();
    m_plot->legend->setIconSize(line * 3 / 4, line * 3 / 4);
    QColor pale = m_style.background;
    pale.setAlpha(kVeilAlpha);
    m_veil->setColours({ pale, {}, {} });
    m_readout->setColours({ m_style.background, m_style.text, m_style.border });
    m_message->setColours({ {}, m_style.muted, {} });
}

void PlotWidget::setDimmed(bool dimmed)
{
    m_veil->setVisible(dimmed);
    m_veil->raise();
    m_readout->raise();
}

bool PlotWidget::dimmed() const { return !m_veil->isHidden(); }

QString PlotWidget::number(double value) const
{
    return m_style.number ? m_style.number(value) : QString::number(value, 'g', 4);
}

void PlotWidget::describePart(const QString& part)
{
    setAccessibleDescription(part.isEmpty() ? m_words : part + QStringLiteral(". ") + m_words);
}

void PlotWidget::useLinearTicks(QCPAxis& axis, TickNumbers numbers)
{
    const auto text = [this](double tick) { return number(tick); };
    axis.setTicker(QSharedPointer<QCPAxisTicker>(new TextTicker(text, numbers == TickNumbers::Whole)));
    axis.ticker()->setTickCount(tickCount(axis));
}

void PlotWidget::useLogarithmicTicks(QCPAxis& axis)
{
    axis.setTicker(QSharedPointer<QCPAxisTicker>(new QCPAxisTickerLog));
    axis.ticker()->setTickCount(tickCount(axis));
    axis.setNumberFormat(QStringLiteral("gb"));
    axis.setNumberPrecision(3);
}

/// As many as have room for their texts.
int PlotWidget::tickCount(const QCPAxis& axis) const
{
    const bool across = axis.orientation() == Qt::Horizontal;
    const QSize area = m_plot->axisRect()->size();
    const double lines = double(across ? area.width() : area.height()) / fontMetrics().height();
    const double largest = std::max(std::fabs(axis.range().lower), std::fabs(axis.range().upper));
    const double width = largest < kSmallest || largest > kLargest ? kTickWidth * kPowersWidth : kTickWidth;
    return std::clamp(int(lines / (across ? width : kTickHeight)), 2, kMostTicks);
}

QRect PlotWidget::axesArea() const { return m_plot->axisRect()->rect(); }

double PlotWidget::linesHigh() const { return double(height()) / fontMetrics().height(); }

void PlotWidget::setAxisLabel(QCPAxis& axis, const QString& text)
{
    m_labels[&axis] = text;
    axis.setLabel(text);
}

/// After the layout, which tells how much room there is; what changes with it is laid out once more.
void PlotWidget::fitTexts()
{
    bool changed = fitLegend();
    for (QCPAxis* axis : { m_plot->xAxis, m_plot->yAxis }) {
        const int ticks = tickCount(*axis);
        changed = changed || axis->ticker()->tickCount() != ticks;
        axis->ticker()->setTickCount(ticks);
        const auto whole = m_labels.find(axis);
        if (whole == m_labels.end())
            continue;
        const QSize area = m_plot->axisRect()->size();
        const QString label = QFontMetrics(axis->labelFont())
                                  .elidedText(whole->second, Qt::ElideRight,
                                      axis->orientation() == Qt::Horizontal ? area.width() : area.height());
        changed = changed || label != axis->label();
        axis->setLabel(label);
    }
    const bool numbers = m_plot->axisRect()->height() >= kLeastNumberedAxis * fontMetrics().height();
    const bool appear = m_plot->yAxis->tickLabels() != numbers;
    m_plot->yAxis->setTickLabels(numbers);
    if (changed || appear)
        redraw();
    if (appear && !std::exchange(m_fitting, true)) { // who draws now would miss the texts of ticks that had none
        m_plot->layOutAgain();
        m_fitting = false;
    }
}

/// As many names in a row as have room; true when that changed.
bool PlotWidget::fitLegend()
{
    QCPLegend& legend = *m_plot->legend;
    int widest = 1, together = 0, items = 0;
    for (int i = 0; i < legend.itemCount(); ++i) {
        const QCPAbstractLegendItem* item = legend.item(i);
        if (!item) // a cell that was left
            continue;
        const int width = item->minimumOuterSizeHint().width() + legend.columnSpacing();
        widest = std::max(widest, width);
        together += width;
        ++items;
    }
    const int wrap = together <= m_plot->width() ? 0 : std::clamp(m_plot->width() / widest, 1, std::max(1, items));
    const int rows = wrap == 0 ? 1 : (items + wrap - 1) / wrap;
    const bool shown = m_legendWanted && linesHigh() >= kLegendLines + 2 * (rows - 1);
    const bool appears = shown != legend.visible();
    legend.setVisible(shown);
    if (QCPLayoutElement* row = legend.layout()) {
        row->setMinimumSize(shown ? QSize(0, 0) : QSize(1, 1)); // a hidden one would keep its room
        row->setMaximumSize(
            QSize(kWidest, QWIDGETSIZE_MAX)); // one without names would make the plot as narrow as it is
    }
    if (!shown)
        return appears;
    if (legend.wrap() == wrap)
        return appears;
    legend.setWrap(wrap);
    legend.setFillOrder(legend.fillOrder(), true);
    return true;
}

void PlotWidget::placeLegendBelow()
{
    if (m_plot->plotLayout()->rowCount() > 1)
        return;
    auto* row = new QCPLayoutGrid;
    m_plot->plotLayout()->addElement(1, 0, row);
    row->setMargins(QMargins(8, 0, 8, 4));
    row->addElement(0, 0, m_plot->legend);
    m_plot->legend->setFillOrder(QCPLegend::foColumnsFirst);
    m_plot->legend->setColumnSpacing(10);
    m_plot->legend->setMargins({ 0, 4, 0, 4 });
    m_plot->legend->setIconTextPadding(4);
    m_plot->plotLayout()->setRowStretchFactor(1, 0.001);
    showLegend(true);
}

void PlotWidget::showLegend(bool shown)
{
    m_legendWanted = shown;
    fitLegend();
}

void PlotWidget::showMessage(const QString& text)
{
    m_message->setText(text);
    m_message->setVisible(!text.isEmpty());
    m_plot->setVisible(text.isEmpty());
    hideCrosshair();
}

void PlotWidget::resetView()
{
    fitAxes();
    redraw();
}

bool PlotWidget::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_plot)
        return QWidget::eventFilter(watched, event);
    switch (event->type()) {
    case QEvent::MouseMove: {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        if (mouse->buttons() == Qt::NoButton)
            moveCrosshair(mouse->pos());
        else
            hideCrosshair();
        break;
    }
    case QEvent::Leave:
        hideCrosshair();
        break;
    case QEvent::MouseButtonPress:
        m_pressed = static_cast<QMouseEvent*>(event)->pos();
        setFocus(Qt::MouseFocusReason);
        break;
    case QEvent::MouseButtonRelease: {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        const bool still = (mouse->pos() - m_pressed).manhattanLength() < QApplication::startDragDistance();
        if (mouse->button() == Qt::LeftButton && still && m_plot->axisRect()->rect().contains(mouse->pos()))
            clicked(m_plot->xAxis->pixelToCoord(mouse->pos().x()), m_plot->yAxis->pixelToCoord(mouse->pos().y()));
        break;
    }
    case QEvent::MouseButtonDblClick:
        resetView();
        break;
    case QEvent::ContextMenu:
        showMenu(static_cast<QContextMenuEvent*>(event)->globalPos());
        return true;
    default:
        break;
    }
    return QWidget::eventFilter(watched, event);
}

void PlotWidget::resizeEvent(QResizeEvent* event)
{
    if (rect().isEmpty())
        return QWidget::resizeEvent(event); // nothing can be painted, and nothing is seen
    m_plot->setGeometry(rect());
    m_veil->setGeometry(rect());
    m_message->setGeometry(rect());
    QWidget::resizeEvent(event);
}

void PlotWidget::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Home) {
        resetView();
        return;
    }
    if (event->key() == Qt::Key_Plus || event->key() == Qt::Key_Minus) {
        const double factor = event->key() == Qt::Key_Plus ? 0.8 : 1.25;
        m_plot->xAxis->scaleRange(factor);
        redraw();
        return;
    }
    QWidget::keyPressEvent(event);
}

void PlotWidget::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange) {
        applyStyle();
        redraw();
    }
    QWidget::changeEvent(event);
}

void PlotWidget::moveCrosshair(const QPoint& position)
{
    std::optional<std::pair<double, QString>> there;
    if (m_plot->axisRect()->rect().contains(position))
        there = readout(m_plot->xAxis->pixelToCoord(position.x()), m_plot->yAxis->pixelToCoord(position.y()));
    if (!there) {
        hideCrosshair();
        return;
    }
    m_crosshair->point1->setCoords(there->first, 0);
    m_crosshair->point2->setCoords(there->first, 1);
    m_crosshair->point1->setTypeY(QCPItemPosition::ptAxisRectRatio);
    m_crosshair->point2->setTypeY(QCPItemPosition::ptAxisRectRatio);
    m_crosshair->setVisible(true);
    m_plot->layer(QStringLiteral("overlay"))->replot();
    QStringList lines = there->second.split(u'\n');
    for (QString& line : lines) // names may be longer than the plot is wide
        line = fontMetrics().elidedText(line, Qt::ElideMiddle, width() - 4 * m_readout->margin());
    m_readout->setText(lines.join(u'\n'));
    m_readout->adjustSize();
    QPoint corner = position + QPoint(14, 14);
    if (corner.x() + m_readout->width() > width())
        corner.setX(std::max(0, position.x() - 14 - m_readout->width()));
    if (corner.y() + m_readout->height() > height())
        corner.setY(std::max(0, position.y() - 14 - m_readout->height()));
    m_readout->move(corner);
    m_readout->show();
    m_readout->raise();
}

void PlotWidget::hideCrosshair()
{
    m_readout->hide();
    if (!m_crosshair->visible())
        return;
    m_crosshair->setVisible(false);
    m_plot->layer(QStringLiteral("overlay"))->replot();
}

void PlotWidget::showMenu(const QPoint& global)
{
    QMenu menu(this);
    menu.addActions(actions());
    menu.addSeparator();
    menu.addAction(tr("Reset view"), this, &PlotWidget::resetView);
    menu.addSeparator();
    menu.addAction(tr("Copy picture"), this, [this] { QApplication::clipboard()->setPixmap(m_plot->toPixmap()); });
    menu.addAction(tr("Copy numbers"), this, [this] { QApplication::clipboard()->setText(csv()); });
    for (const char* suffix : { "png", "svg", "pdf", "csv" }) {
        const QString ending = QString::fromLatin1(suffix);
        menu.addAction(tr("Save as %1…").arg(ending.toUpper()), this, [this, ending] {
            saveAs(this, tr("Save as %1").arg(ending.toUpper()), ending,
                [this](const QString& path) { return exportTo(path); });
        });
    }
    menu.exec(global);
}

/// The whole file, or what was there before.
bool PlotWidget::exportTo(const QString& path) const
{
    const QString suffix = QFileInfo(path).suffix().toLower();
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return false;
    const QByteArray text = suffix == QLatin1String("csv") ? csv().toUtf8() : QByteArray();
    return (text.isEmpty() ? paintAs(suffix, file, *m_plot) : file.write(text) == text.size()) && file.commit();
}

QPicture PlotWidget::vectors(QSize size)
{
    resize(size);
    setAttribute(Qt::WA_DontShowOnScreen); // what is never shown has no layout
    show();
    QPicture picture;
    paintOn(picture, *m_plot);
    hide();
    return picture;
}

QString csvCell(QString text)
{
    if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"')))
        return text;
    return QLatin1Char('"') + text.replace(QLatin1Char('"'), QLatin1String("\"\"")) + QLatin1Char('"');
}

} // namespace qs

#include "moc_plot_widget.cpp"
