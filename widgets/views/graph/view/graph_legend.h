// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/metric.h"
#include "widgets/session/shown/theme.h"

#include <QStringList>
#include <QWidget>

#include <utility>
#include <vector>

class QPushButton;

namespace qs {

using ColourLimits = std::pair<double, double>;

/// One line below the graph: colours of the chosen number with its fixed limits; a click edits the limits.
class GraphLegend : public QWidget {
    Q_OBJECT
public:
    explicit GraphLegend(QWidget* parent = nullptr);
    /// What the numbers are of, where that is not what one would think.
    struct Numbers {
        QString sample; ///< one alone; empty: all samples
        bool stale = false; ///< the recipe has moved on
    };
    void setScale(Metric metric, ColourLimits limits, const Theme& theme, const Numbers& numbers);
    void setScale(Metric metric, ColourLimits limits, const Theme& theme)
    {
        setScale(metric, limits, theme, Numbers());
    }
    void editLimits();
    /// What is painted and where: nothing of it below the name of a sample.
    struct Line {
        std::vector<std::pair<QRect, QString>> texts;
        QRect scale;
        QRect noNumber; ///< the sample of its colour; null where there is not room for it
    };
    Line line() const;
    QSize sizeHint() const override { return { 420, 26 }; }
    QSize minimumSizeHint() const override { return { 160, 26 }; }

signals:
    void limitsChanged(qs::Metric metric, qs::ColourLimits limits);
    void allSamplesWanted(); ///< in place of the one that the numbers are of

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    /// What is said before the scale and at its ends.
    struct Wording {
        QStringList before;
        QString low, high;
    };
    void placeSample();
    int end() const; ///< of the room for texts and scale
    std::vector<Wording> wordings() const; ///< each needs less room than the one before
    int widthOf(const Wording& wording) const; ///< with the least of a scale

    Metric m_metric = Metric::Accumulated;
    ColourLimits m_limits { 0, 40 };
    Theme m_theme = Theme::light();
    Numbers m_numbers;
    QPushButton* m_sample; ///< names it, and leads back to all samples
};

/// Colour of a number within limits.
QColor metricColour(const Theme& theme, Metric metric, double value, ColourLimits limits);

} // namespace qs
