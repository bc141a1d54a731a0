// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/choice_plot.h"

namespace qs {

/// Points, joined by a line or not, with a second series of the same things or not; a click, or Enter on the one that
/// the arrow keys mark, chooses one.
class PointChart : public ChoicePlot {
    Q_OBJECT
public:
    explicit PointChart(QWidget* parent = nullptr);

    void setData(const PointData& data); ///< nothing is chosen then
    const PointData& data() const { return m_data; }
    QString csv() const override;

protected:
    void rebuild() override;
    void fitAxes() override;
    size_t itemCount() const override { return m_data.points.size(); }
    std::optional<size_t> itemAt(double x, double y) const override; ///< nearest within reach
    double xOf(size_t item) const override { return m_data.points[item].x; }
    QString itemText(size_t item) const override { return m_data.points[item].text; }
    void markChosen() override { rebuild(); }

private:
    enum class Look { Line, Hollow, Filled };
    enum class Form { Circle, Square };
    struct Marks {
        Look look;
        QColor colour;
        double size;
        Form form = Form::Circle;
        QString name; ///< in the legend; empty: it stands there no second time
    };
    void addPoints(const std::vector<PointData::Point>& all, const std::vector<size_t>& points, const Marks& marks);
    void addSeries(const std::vector<PointData::Point>& all, Form form, const QColor& colour, const QString& name);
    void markChosenOf(const std::vector<PointData::Point>& all, Form form, const QColor& colour);

    PointData m_data;
};

} // namespace qs
