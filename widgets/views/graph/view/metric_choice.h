// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/metric.h"

#include <QWidget>

#include <vector>

class QButtonGroup;
class QComboBox;

namespace qs {

/// Which number colours the graph: a chip for each, or one list of them where there is no room for chips.
class MetricChoice : public QWidget {
    Q_OBJECT
public:
    explicit MetricChoice(QWidget* parent = nullptr);
    void offer(const std::vector<Metric>& available, Metric chosen);
    void setBrief(bool brief); ///< the list
    /// Pixels that it takes in either form.
    int widthFor(bool brief) const;

signals:
    void chosen(qs::Metric metric);

private:
    void refresh();

    QButtonGroup* m_chips;
    QComboBox* m_list;
    std::vector<Metric> m_available;
    bool m_brief = false;
};

} // namespace qs
