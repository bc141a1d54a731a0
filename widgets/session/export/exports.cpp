// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/export/exports.h"

#include "core/base/files/atomic_file.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/export/report_file.h"

namespace qs {

void writeInJob(Session& session, const QString& tag, const QString& path,
    std::function<Status(const JobContext&)> work, std::function<void()> then)
{
    JobRequest request;
    request.tag = tag;
    request.title = Session::tr("Write %1").arg(fileName(path.toStdString()));
    request.process = [&session, path, work = std::move(work), then = std::move(then), open = OpenWork(session)](
                          const JobContext& job) -> Result<std::function<void()>> {
        QS_CHECK(open.mayWrite(path));
        QS_CHECK(work(job));
        return std::function<void()>([&session, path, then] {
            emit session.written(path);
            if (then)
                then();
        });
    };
    request.failed = [&session](const Issue& issue) {
        emit session.failed(issue);
        emit session.notWritten();
    };
    session.jobs().start(std::move(request));
}

void exportReport(Session& session, const QString& path)
{
    writeInJob(session, QStringLiteral("report"), path, [snapshot = session.snapshot(), path](const JobContext&) {
        return writeReport(*snapshot, path.toStdString());
    });
}

void exportLinks(Session& session, const QString& path)
{
    writeInJob(session, QStringLiteral("links"), path, [links = session.recipe().links(), path](const JobContext&) {
        return writeFile(path.toStdString(), manualLinksJson(links));
    });
}

} // namespace qs
