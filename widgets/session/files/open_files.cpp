// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/open_files.h"

#include "core/onnx/import.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/files/file_roles.h"
#include "widgets/session/files/projects.h"

namespace qs {

namespace {

template <class Change> void openChanged(Session& session, const Change& change)
{
    Inputs inputs = session.wantedFiles();
    change(inputs);
    session.openInputs(inputs);
}

/// Work is asked about only where something can take its place: what is no model is told of at once.
void openReadable(Session& session, const std::vector<std::string>& models, std::function<void()> go)
{
    if (!session.unsaved() || models.empty())
        return go();
    session.lookAt(Session::tr("Look at %1").arg(fileName(models.front())),
        [models, go = std::move(go)](const JobContext&) -> Result<std::function<void()>> {
            std::optional<Issue> first;
            for (const std::string& path : models) {
                const auto model = importModel(path);
                if (model.ok())
                    return go;
                if (!first)
                    first = model.issue();
            }
            return *first;
        });
}

std::vector<std::string> modelsOf(const Inputs& inputs)
{
    std::vector<std::string> models { inputs.floatPath, inputs.quantPath };
    std::erase(models, std::string());
    return models;
}

void placeFloat(Session& session, const QString& path)
{
    const Inputs& wanted = session.wantedFiles();
    const Snapshot& shown = *session.snapshot();
    const bool alone = quantizedAlone(shown) && shown.inputs.floatPath == wanted.floatPath && wanted.quantPath.empty()
        && path.toStdString() != wanted.floatPath;
    Inputs inputs = wanted.floatPath.empty() || alone ? wanted : Inputs {};
    if (alone)
        inputs.quantPath = wanted.floatPath;
    inputs.floatPath = path.toStdString();
    session.openInputs(inputs);
}

} // namespace

void openFloat(Session& session, const QString& path)
{
    openReadable(session, { path.toStdString() }, [&session, path] { placeFloat(session, path); });
}

void openQuantized(Session& session, const QString& path)
{
    openReadable(session, { path.toStdString() },
        [&session, path] { openChanged(session, [&](Inputs& inputs) { inputs.quantPath = path.toStdString(); }); });
}

void openDataRequest(Session& session, const DataRequest& request)
{
    openChanged(session, [&](Inputs& inputs) { inputs.data = request; });
}

void openData(Session& session, const QString& spec, const QString& preprocess)
{
    DataRequest request;
    request.spec = spec.toStdString();
    request.preprocess = preprocess.toStdString();
    openDataRequest(session, request);
}

void openCalibrationRequest(Session& session, const DataRequest& request)
{
    openChanged(session, [&](Inputs& inputs) {
        inputs.calibration = request;
        if (request == inputs.data)
            inputs.calibration = {}; // these are the data themselves
    });
}

void openCalibration(Session& session, const QString& spec, const QString& preprocess)
{
    DataRequest request;
    request.spec = spec.toStdString();
    request.preprocess = preprocess.toStdString();
    const DataRequest& data = session.wantedFiles().data;
    if (data.spec == request.spec && data.preprocess == request.preprocess)
        request = data;
    else if (request.spec.starts_with("random:"))
        request.shapes = data.shapes;
    openCalibrationRequest(session, request);
}

void openClassNames(Session& session, const QString& path)
{
    openChanged(session, [&](Inputs& inputs) { inputs.classNamesPath = path.toStdString(); });
}

void openOther(Session& session, const OtherQuantized& other)
{
    openChanged(session, [&](Inputs& inputs) { inputs.other = other; });
}

OtherQuantized quantizedNow(const Session& session)
{
    const Snapshot& shown = *session.snapshot();
    OtherQuantized now;
    if (shown.inputs.recipe && shown.inputs.quantPath.empty())
        now.recipe = shown.inputs.recipe;
    else
        now.path = shown.inputs.quantPath;
    return now;
}

OtherQuantized quantizedOf(const Session& session, const RecipeRun& run)
{
    OtherQuantized made;
    if (run.imported)
        made.path = session.files().quantPath;
    else
        made.recipe = run.recipe;
    return made;
}

void swapWithOther(Session& session)
{
    const OtherQuantized first = session.wantedFiles().other, second = quantizedNow(session);
    if (!first.given() || !second.given())
        return;
    if (first.recipe) // of the float model that is open
        session.recipe().apply(Session::tr("Swap A and B"), Recipe(*first.recipe));
    else if (first.path == session.files().quantPath)
        session.recipe().apply(Session::tr("Swap A and B"), Recipe(session.recipe().base()));
    else
        return openChanged(session, [&](Inputs& inputs) {
            inputs.quantPath = first.path;
            inputs.other = second;
        });
    openOther(session, second);
}

void setTasks(Session& session, const TaskChoices& tasks)
{
    openChanged(session, [&](Inputs& inputs) { inputs.tasks = tasks; });
}

void setArithmetic(Session& session, ArithmeticProfile profile)
{
    openChanged(session, [&](Inputs& inputs) { inputs.profile = profile; });
}

void setNodeAlone(Session& session, bool on)
{
    openChanged(session, [&](Inputs& inputs) { inputs.nodeAlone = on; });
}

void openFiles(Session& session, const QStringList& paths) { openFiles(session, paths, session.wantedFiles()); }

void openFiles(Session& session, const QStringList& paths, const Inputs& beside)
{
    const QString what
        = paths.size() == 1 ? fileName(paths.front().toStdString()) : Session::tr("%1 files").arg(paths.size());
    session.lookAt(Session::tr("Look at %1").arg(what),
        [&session, paths, beside](const JobContext& job) -> Result<std::function<void()>> {
            QS_TRY(const PlacedFiles placed, withFiles(beside, paths, job.cancel));
            return std::function<void()>([&session, placed] {
                if (!placed.project.isEmpty())
                    return openProject(session, placed.project, placed.refused);
                Opening opening = session.openingOf(placed.inputs);
                opening.refused = placed.refused;
                session.open(opening);
            });
        });
}

void openAnew(Session& session, const Inputs& inputs)
{
    Opening opening = session.openingOf(inputs);
    const RecipeEdits& edits = session.recipe();
    if (!opening.otherModels && !(edits.recipe() == edits.base())) {
        opening.otherModels = true; // or the edited recipe would go on
        opening.files.links = {};
        opening.base = { quantscopeRecipe(), ValueOrigin::Preset };
        opening.recipe = opening.base.recipe;
    }
    session.open(opening);
}

void openRecent(Session& session, const RecentEntry& entry)
{
    if (entry.project.isEmpty())
        openReadable(
            session, modelsOf(entry.inputs), [&session, inputs = entry.inputs] { session.openInputs(inputs); });
    else
        openProject(session, entry.project);
}

} // namespace qs
