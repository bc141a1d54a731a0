// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPixmap>
#include <QWidget>

namespace qs {

class GraphCanvas;

/// The whole graph in the canvas's corner, with the part in sight; hidden while everything is in sight.
class Minimap : public QWidget {
    Q_OBJECT
public:
    /// Lives inside the canvas and places itself.
    explicit Minimap(GraphCanvas& canvas);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void follow();
    void forget();
    QRectF drawing() const;
    void moveTo(QPointF position);

    GraphCanvas& m_canvas;
    QPixmap m_picture;
};

} // namespace qs
