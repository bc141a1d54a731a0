// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/projects.h"

#include "core/base/files/whole_file.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/files/open_work.h"

#include <QFileInfo>

#include <algorithm>
#include <memory>

namespace qs {

namespace {

/// Without the numbers of files, all that a project says.
Opening openingOf(const Session& session, const Project& project)
{
    Opening opening = session.openingOf(project.inputs);
    opening.base = project.base;
    opening.otherModels = true;
    opening.files.links = project.inputs.links;
    opening.runs = project.runs;
    opening.steps = project.steps;
    opening.otherwise = project.otherwise;
    opening.marks = project.files;
    opening.layout = QString::fromStdString(project.layout);
    return opening;
}

/// What the project says of files that are others now is not true any more: numbers of runs, the recipe read from the
/// quantized file. Edits of that are done to the recipe which the file has now.
void dropStale(Opening& opening, const Project& project)
{
    const auto changed = [&](const std::string& path) {
        return !path.empty() && std::ranges::find(opening.changed, path, &Issue::file) != opening.changed.end();
    };
    const Inputs& files = project.inputs;
    const bool quantized = changed(files.quantPath);
    const bool others
        = std::ranges::any_of(opening.changed, [&](const Issue& one) { return one.file != files.quantPath; });
    if (quantized || others)
        opening.runs.forgetNumbers(!others);
    if (!quantized || project.base.origin != ValueOrigin::Imported || !QFileInfo::exists(toQt(files.quantPath)))
        return;
    opening.reread = Reread { opening.recipe, project.base.recipe };
    opening.base = { quantscopeRecipe(), ValueOrigin::Preset };
    opening.recipe = opening.base.recipe;
    opening.steps = {};
    opening.otherwise.clear();
}

/// Of a project file; empty where there is none.
std::string hashOf(const QString& path)
{
    const auto hash = hashFile(path.toStdString(), {});
    return hash ? hash->hex() : std::string();
}

/// An issue where somebody else saved the project since it was opened or saved here; `now` is what it has become.
Status keepsOthersWork(const QString& path, const std::string& known, std::string& now)
{
    const std::string found = hashOf(path);
    if (known.empty() || found.empty() || found == known)
        return {};
    now = found;
    return badInput("has been saved by another window or program since it was opened here, and is left as it is",
        path.toStdString(), "save this work under another name, or save it again to replace the file");
}

using Located = std::map<QString, QString>;

std::string locatedPath(const std::string& path, const Located& located)
{
    const QString was = toQt(path);
    if (const auto known = located.find(was); known != located.end())
        return known->second.toStdString();
    if (path.empty() || QFileInfo::exists(was))
        return path;
    for (const auto& [from, to] : located) {
        const QString folder = QFileInfo(from).path() + u'/';
        const QString there = QFileInfo(to).path() + u'/' + was.mid(folder.size());
        if (was.startsWith(folder) && QFileInfo::exists(there))
            return there.toStdString();
    }
    return path;
}

void locate(Project& project, const Located& located)
{
    if (located.empty())
        return;
    Inputs& i = project.inputs;
    for (std::string* path : { &i.floatPath, &i.quantPath, &i.other.path, &i.data.spec, &i.data.preprocess,
             &i.calibration.spec, &i.calibration.preprocess, &i.rangesPath, &i.mapPath, &i.classNamesPath })
        *path = locatedPath(*path, located);
    std::map<std::string, FileMark> files; // what is there now is held against what was there then
    for (const auto& [path, mark] : project.files)
        files.emplace(locatedPath(path, located), mark);
    project.files = std::move(files);
}

/// "": all are there.
QString missingModel(const Inputs& inputs)
{
    for (const std::string& path : { inputs.floatPath, inputs.quantPath, inputs.other.path })
        if (!path.empty() && !QFileInfo::exists(toQt(path)))
            return toQt(path);
    return {};
}

void openSaved(
    Session& session, const QString& path, const std::vector<Issue>& refused, bool lost, const Located& located = {})
{
    session.lookAt(Session::tr("Open %1").arg(fileName(path.toStdString())),
        [&session, path, refused, lost, located](const JobContext&) -> Result<std::function<void()>> {
            const std::string hash = hashOf(path);
            QS_TRY(Project project, readProject(path.toStdString()));
            locate(project, located);
            const QString missing = missingModel(project.inputs);
            const auto changed = changedFiles(project);
            const bool moved = !located.empty();
            const std::string former = project.recovery ? hashOf(toQt(project.recovery->project)) : hash;
            return std::function<void()>(
                [&session, path, refused, lost, moved, missing, located, project, changed, former] {
                    if (!lost && !project.recovery && !missing.isEmpty())
                        emit session.modelMissing(path, missing, located);
                    Opening opening = openingOf(session, project);
                    opening.unsaved = moved;
                    opening.project = lost || project.recovery ? QString() : path;
                    if (project.recovery) {
                        opening.project = toQt(project.recovery->project);
                        opening.steps = project.recovery->steps;
                    }
                    if (lost || project.recovery) {
                        opening.recovered = path;
                        opening.unsaved = true;
                    }
                    opening.projectHash = former;
                    opening.changed = changed;
                    opening.refused = refused;
                    dropStale(opening, project);
                    session.open(opening);
                });
        });
}

} // namespace

Project projectOf(Session& session, const QString& layout)
{
    Project project;
    project.inputs = session.files();
    project.inputs.recipe = session.recipe().recipe();
    project.inputs.links = session.recipe().links();
    project.base = session.recipe().recipeBase();
    project.otherwise = session.otherwise();
    project.runs = session.runs().tree();
    project.layout = layout.toStdString();
    project.files = session.fileMarks();
    return project;
}

void saveProject(Session& session, const QString& path, const QString& layout, const std::function<void(bool)>& done)
{
    JobRequest request;
    request.tag = QStringLiteral("project");
    request.title = Session::tr("Save %1").arg(fileName(path.toStdString()));
    const auto found = std::make_shared<std::string>(); // what somebody else made of it
    Project toSave = projectOf(session, layout);
    toSave.steps = session.recipe().steps();
    request.process
        = [&session, path, done, content = session.content(), saved = std::move(toSave), work = OpenWork(session),
              found, known = path == session.project() ? session.projectHash() : std::string()](
              const JobContext&) mutable -> Result<std::function<void()>> {
        QS_CHECK(work.maySave(path));
        QS_CHECK(keepsOthersWork(path, known, *found));
        QS_CHECK(markFiles(saved));
        QS_CHECK(writeProject(saved, path.toStdString()));
        return std::function<void()>(
            [&session, path, done, content, marks = std::move(saved.files), hash = hashOf(path)] {
                const Inputs& open = session.files(); // other models may have come meanwhile
                if (open.floatPath == content.files.floatPath && open.quantPath == content.files.quantPath) {
                    session.noteProject(hash);
                    session.setSaved(path, content, marks);
                }
                emit session.projectSaved(path);
                if (done)
                    done(true);
            });
    };
    request.failed = [&session, done, path, found](const Issue& issue) {
        if (!found->empty() && path == session.project()) // who saves again knows of it
            session.noteProject(*found);
        emit session.failed(issue);
        emit session.notWritten();
        if (done)
            done(false);
    };
    session.jobs().start(std::move(request));
}

void openProject(
    Session& session, const QString& path, const std::vector<Issue>& refused, const std::map<QString, QString>& located)
{
    openSaved(session, path, refused, false, located);
}

void recoverProject(Session& session, const QString& path) { openSaved(session, path, {}, true); }

} // namespace qs
