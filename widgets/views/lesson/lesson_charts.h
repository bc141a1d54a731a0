// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/lesson.h"
#include "core/project/snapshot/snapshot.h"

#include <QPicture>
#include <QSize>
#include <QString>

#include <set>
#include <utility>
#include <vector>

namespace qs {

/// A chart as it is printed.
struct LessonChart {
    QString caption;
    QPicture vectors;
    QSize size; ///< its proportions
};

/// Charts of the panels that steps have, in the colours of paper. Those that an earlier step has are not made again.
class LessonCharts {
public:
    /// `hides`: without those that show the step's answer.
    std::vector<LessonChart> of(const SnapshotPtr& snapshot, const LessonStep& step, bool hides);

private:
    std::set<std::pair<SnapshotPtr, std::string>> m_made; ///< with panel and place
};

} // namespace qs
