// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/export/report_file.h"

#include "core/base/files/atomic_file.h"
#include "core/base/work/memory.h"
#include "core/base/work/parallel.h"
#include "core/project/snapshot/comparing.h"
#include "core/report/report.h"
#include "widgets/models/base/formatting.h"

#include <QFileInfo>

namespace qs {

Status writeReport(const Snapshot& snapshot, const std::string& path)
{
    if (!snapshot.comparison)
        return badUse("nothing is compared yet", "open two models and data first");
    ReportInfo info;
    info.peakMemoryBytes = peakMemoryBytes();
    const QString suffix = QFileInfo(toQt(path)).suffix().toLower();
    WeightLaboratory laboratory;
    if (suffix != QLatin1String("csv")) {
        laboratory = weightLaboratory(
            foldedConstantsOf(snapshot), snapshot.floatModel->model, snapshot.comparison->weights, hardwareThreads());
        info.laboratory = &laboratory;
    }
    std::vector<const Snapshot*> shown { &snapshot };
    if (snapshot.other)
        shown.push_back(snapshot.other->snapshot.get());
    std::vector<FileFacts> files;
    if (suffix != QLatin1String("csv"))
        files = fileFacts(shown);
    info.files = &files;
    std::string text;
    if (suffix == QLatin1String("html") || suffix == QLatin1String("htm"))
        text = compareHtml(snapshot, info);
    else if (suffix == QLatin1String("json"))
        text = compareJson(snapshot, info);
    else if (suffix == QLatin1String("csv"))
        text = compareCsv(snapshot);
    else
        return badUse("a report cannot be written as '" + fileName(path).toStdString() + "'",
            "choose a name that ends in .html, .json or .csv");
    return writeFile(path, text);
}

} // namespace qs
