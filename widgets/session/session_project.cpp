// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the session that opens and saves project files.
#include "widgets/models/base/formatting.h"
#include "widgets/session/opening.h"
#include "widgets/session/session.h"

namespace qs {

Project Session::project(const QString& layout) const
{
    Project project;
    project.inputs = m_files;
    project.inputs.recipe = m_history.recipe();
    project.inputs.links = m_history.links();
    project.base = m_history.recipeBase();
    project.runs = m_runs.tree();
    project.layout = layout.toStdString();
    project.files = m_fileMarks;
    return project;
}

void Session::saveProject(const QString& path, const QString& layout)
{
    JobRequest request;
    request.tag = QStringLiteral("project");
    request.title = tr("Save %1").arg(fileName(path.toStdString()));
    request.process
        = [this, path, saved = project(layout)](const JobContext&) mutable -> Result<std::function<void()>> {
        QS_CHECK(markFiles(saved));
        QS_CHECK(writeProject(saved, path.toStdString()));
        return std::function<void()>([this, path, marks = std::move(saved.files)] {
            m_fileMarks = marks;
            m_history.stack().setClean();
            emit projectSaved(path);
        });
    };
    request.failed = [this](const Issue& issue) { emit failed(issue); };
    m_jobs.start(std::move(request));
}

void Session::openProject(const QString& path)
{
    JobRequest request;
    request.tag = QStringLiteral("roles"); // as other files that are looked at before they are opened
    request.title = tr("Open %1").arg(fileName(path.toStdString()));
    request.process = [this, path](const JobContext&) -> Result<std::function<void()>> {
        QS_TRY(Project project, readProject(path.toStdString()));
        auto warnings = changedFiles(project);
        return std::function<void()>([this, path, project = std::move(project), warnings = std::move(warnings)] {
            Opening opening = openingOf(project.inputs);
            opening.base = project.base;
            opening.otherModels = true;
            opening.files.links = project.inputs.links;
            opening.runs = project.runs;
            opening.marks = project.files;
            opening.project = path;
            opening.layout = QString::fromStdString(project.layout);
            opening.warnings = warnings;
            open(opening, m_complete);
        });
    };
    request.failed = [this](const Issue& issue) {
        emit failed(issue);
        emit settled();
    };
    m_jobs.start(std::move(request));
}

} // namespace qs
