// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/graph/graph_painter.h"
#include "widgets/views/graph/graph_scene.h"

#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace qs {

/// Shows a GraphScene: zoom to the pointer with the wheel, pan by dragging, arrow keys walk along the edges, Space
/// fits, F shows the selection. Clicks with Shift or Ctrl, and dragging with Shift, choose several boxes.
class GraphCanvas : public QWidget {
    Q_OBJECT
public:
    using TipText = std::function<QString(uint32_t index)>;

    explicit GraphCanvas(QWidget* parent = nullptr);

    enum class FirstView { Sensible, Kept };
    /// Null shows the message. A new scene gets a sensible first view, or that of the one before: where nobody moved
    /// the view, the sensible one all the same.
    void setScene(std::shared_ptr<const GraphScene> scene, FirstView view = FirstView::Sensible);
    const GraphScene* scene() const { return m_scene.get(); }
    void setMessage(const QString& text);
    const GraphLook& look() const { return m_look; }
    /// As many boxes as the scene has.
    void setLook(GraphLook look);
    void setTips(TipText box, TipText edge);
    /// Pixels at the upper edge where something lies over the drawing: it begins below in the first view, and where all
    /// of it is fitted.
    void setCovered(int pixels);

    double zoom() const { return m_zoom; }
    QRectF visibleArea() const; ///< in scene coordinates
    void centreOn(QPointF point);
    void showBox(uint32_t box); ///< scrolls as little as needed
    void reveal(uint32_t box); ///< and zooms in where its text could not be read
    QPointF onWidget(QPointF scene) const { return scene * m_zoom + m_offset; }
    void moveTo(QPointF scene, QPointF widget); ///< so that this point of the scene lies there
    void fit();
    void zoomBy(bool closer); ///< a step, around the middle
    void focusSelection();

    QSize sizeHint() const override { return { 640, 480 }; }
    QSize minimumSizeHint() const override { return { 220, 160 }; }

signals:
    void boxChosen(uint32_t box);
    void edgeChosen(uint32_t edge);
    void boxToggled(uint32_t box); ///< its check box
    void boxAdded(uint32_t box); ///< to those that are chosen together, or taken out of them
    void boxesChosen(const std::vector<uint32_t>& boxes); ///< by a rubber band, none of them before
    void groupOpened(uint32_t box);
    void frameClosed(uint32_t frame);
    void viewChanged();
    void sceneChanged();
    void lookChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    QPointF toScene(QPointF widget) const { return (widget - m_offset) / m_zoom; }
    double fitZoom() const;
    double uncovered() const { return height() - m_covered; }
    QPointF middle() const { return { width() / 2.0, m_covered + uncovered() / 2 }; } ///< of what is not covered
    double textZoom() const;
    void zoomAt(QPointF widget, double factor);
    void setView(double zoom, QPointF offset);
    void showFirstView();
    void keepInside();
    std::optional<uint32_t> neighbour(int key) const;
    std::optional<uint32_t> checkAt(QPointF point) const; ///< box whose check box lies at a point of the scene
    void showTip(const QPoint& local, const QPoint& global);
    void clickAt(QPointF point, Qt::KeyboardModifiers modifiers);
    void paintBand(QPainter& painter) const;

    std::shared_ptr<const GraphScene> m_scene;
    GraphLook m_look;
    QString m_message;
    TipText m_boxTip, m_edgeTip;
    double m_zoom = 1;
    int m_covered = 0;
    QPointF m_offset; ///< of the scene's origin, in widget pixels
    bool m_untouched = true; ///< nobody zoomed or moved yet: a resize repeats the first view
    bool m_focusShown = false;
    std::optional<QPointF> m_pressed;
    QPointF m_offsetAtPress;
    bool m_dragging = false;
    bool m_banding = false; ///< dragging a rubber band
    QPointF m_bandEnd;
};

} // namespace qs
