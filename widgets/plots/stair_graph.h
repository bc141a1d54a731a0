// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace qs {

/// Stairs of which one a column of pixels is drawn, the least or the greatest there: a thousand steps in a few hundred
/// pixels would be the same picture at many times the price.
class StairGraph : public QCPGraph {
public:
    enum class Keep { Least, Greatest };
    StairGraph(QCustomPlot& plot, Keep keep)
        : QCPGraph(plot.xAxis, plot.yAxis)
        , m_keep(keep)
    {
        setLineStyle(lsStepLeft);
        setAdaptiveSampling(false);
    }

protected:
    void getOptimizedLineData(QVector<QCPGraphData>* line, const QCPGraphDataContainer::const_iterator& begin,
        const QCPGraphDataContainer::const_iterator& end) const override
    {
        double column = 0;
        for (auto it = begin; it != end; ++it) {
            const double at = std::floor(keyAxis()->coordToPixel(it->key));
            if (line->isEmpty() || at != column)
                line->append(*it);
            else if (m_keep == Keep::Least)
                line->last().value = std::min(line->last().value, it->value);
            else
                line->last().value = std::max(line->last().value, it->value);
            column = at;
        }
    }

private:
    Keep m_keep;
};

} // namespace qs
