// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/export/prepared_model.h"

#include "core/onnx/write/export.h"
#include "core/project/snapshot/samples.h"
#include "core/quant/write/quantizer.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/export/exports.h"

namespace qs {

namespace {

Result<PreparedModel> prepared(const Snapshot& snapshot, const std::vector<std::string>& passes, const JobContext& job)
{
    const auto& file = snapshot.floatFile ? snapshot.floatFile : snapshot.floatModel;
    if (!file)
        return badUse("no float model is open", "open one first");
    QS_CHECK(checkIsFloat(GraphDraft(file->model)));
    std::shared_ptr<const DataSource> data = snapshot.data;
    if (!data) {
        DataRequest some;
        some.spec = "random:2";
        QS_TRY(data, openDataFor(file->graph(), some));
    }
    const WorkContext work = workFor(snapshot.inputs.settings(), job.progress, job.cancel);
    QS_TRY(auto made, provedPreparation(file->model, passes, *data, work));
    return PreparedModel(std::make_shared<const ProvedPreparation>(std::move(made)));
}

} // namespace

void prepareModel(Session& session, const std::vector<std::string>& passes, std::function<void(PreparedModel)> done,
    std::function<void(const Issue&)> failed)
{
    JobRequest request;
    request.tag = kPrepareTag;
    request.title = Session::tr("Prepare %1").arg(fileName(session.snapshot()->inputs.floatPath));
    request.process = [snapshot = session.snapshot(), passes, done = std::move(done)](
                          const JobContext& job) -> Result<std::function<void()>> {
        QS_TRY(PreparedModel made, prepared(*snapshot, passes, job));
        return std::function<void()>([done, made] { done(made); });
    };
    request.failed = std::move(failed);
    session.jobs().start(std::move(request));
}

void saveAndOpen(Session& session, const PreparedModel& prepared, const QString& path)
{
    JobRequest request;
    request.tag = QStringLiteral("prepare-write");
    request.title = Session::tr("Write %1").arg(fileName(path.toStdString()));
    request.process
        = [&session, prepared, path, open = OpenWork(session)](const JobContext&) -> Result<std::function<void()>> {
        QS_CHECK(open.mayWrite(path));
        QS_CHECK(exportModel(prepared->draft, path.toStdString()));
        return std::function<void()>([&session, path] {
            emit session.written(path);
            Inputs inputs = session.wantedFiles();
            inputs.floatPath = path.toStdString();
            session.openInputs(inputs);
        });
    };
    request.failed = [&session](const Issue& issue) { emit session.failed(issue); };
    session.jobs().start(std::move(request));
}

} // namespace qs
