// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/projects.h"

#include "widgets/models/base/formatting.h"

namespace qs {

Project projectOf(Session& session, const QString& layout)
{
    Project project;
    project.inputs = session.files();
    project.inputs.recipe = session.recipe().recipe();
    project.inputs.links = session.recipe().links();
    project.base = session.recipe().recipeBase();
    project.runs = session.runs().tree();
    project.layout = layout.toStdString();
    project.files = session.fileMarks();
    return project;
}

void saveProject(Session& session, const QString& path, const QString& layout)
{
    JobRequest request;
    request.tag = QStringLiteral("project");
    request.title = Session::tr("Save %1").arg(fileName(path.toStdString()));
    request.process = [&session, path, saved = projectOf(session, layout)](
                          const JobContext&) mutable -> Result<std::function<void()>> {
        QS_CHECK(markFiles(saved));
        QS_CHECK(writeProject(saved, path.toStdString()));
        return std::function<void()>([&session, path, marks = std::move(saved.files)] {
            session.setFileMarks(marks);
            session.recipe().stack().setClean();
            emit session.projectSaved(path);
        });
    };
    request.failed = [&session](const Issue& issue) { emit session.failed(issue); };
    session.jobs().start(std::move(request));
}

void openProject(Session& session, const QString& path)
{
    session.lookAt(Session::tr("Open %1").arg(fileName(path.toStdString())),
        [&session, path](const JobContext&) -> Result<std::function<void()>> {
            QS_TRY(Project project, readProject(path.toStdString()));
            auto warnings = changedFiles(project);
            return std::function<void()>(
                [&session, path, project = std::move(project), warnings = std::move(warnings)] {
                    Opening opening = session.openingOf(project.inputs);
                    opening.base = project.base;
                    opening.otherModels = true;
                    opening.files.links = project.inputs.links;
                    opening.runs = project.runs;
                    opening.marks = project.files;
                    opening.project = path;
                    opening.layout = QString::fromStdString(project.layout);
                    opening.warnings = warnings;
                    session.open(opening);
                });
        });
}

} // namespace qs
