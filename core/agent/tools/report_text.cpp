// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/tools/report_text.h"

#include "core/base/utc_time.h"
#include "core/base/work/memory.h"
#include "core/project/snapshot/comparing.h"
#include "core/report/ci/ci_reports.h"
#include "core/report/weight_columns.h"

namespace qs {

Result<std::string> reportText(const Snapshot& s, std::string_view form, const WorkContext& work)
{
    if (form == "markdown" || form == "junit" || form == "sarif") {
        QS_TRY(const Judgement judgement, judged(*s.comparison, Gates {}));
        return form == "markdown" ? compareMarkdown(s, judgement)
            : form == "junit"     ? compareJunit(s, judgement, utcTime())
                                  : compareSarif(s, judgement);
    }
    if (form != "html" && form != "json" && form != "csv")
        return badUse(
            "there is no report '" + std::string(form) + "'", "give html, json, csv, markdown, junit or sarif");
    ReportInfo info { peakMemoryBytes(), true, nullptr };
    const std::vector<FileFacts> facts = fileFacts(std::array { &s });
    const WeightLaboratory laboratory
        = weightLaboratory(foldedConstantsOf(s), s.floatModel->model, s.comparison->weights, work.threadCount());
    info.files = &facts;
    info.laboratory = &laboratory;
    if (work.cancel.cancelled())
        return cancelled();
    return form == "html" ? compareHtml(s, info) : form == "csv" ? compareCsv(s, laboratory) : compareJson(s, info);
}

} // namespace qs
