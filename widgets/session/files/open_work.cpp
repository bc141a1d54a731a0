// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/open_work.h"

#include "core/onnx/write/export.h"
#include "core/project/files/used_files.h"
#include "widgets/session/session.h"

#include <utility>

namespace qs {

OpenWork::OpenWork(const Session& session)
    : m_files { session.files(), session.wantedFiles() }
    , m_shown { session.snapshot() }
    , m_project(session.project().toStdString())
{
    const KeptSession* aside = session.setAside();
    if (!aside)
        return;
    m_files.push_back(aside->files.inputs);
    m_shown.push_back(aside->complete);
    m_otherProjects.push_back(aside->files.project.toStdString());
    if (aside->opening) { // it goes on when the lesson is left
        m_files.push_back(aside->opening->files);
        m_otherProjects.push_back(aside->opening->project.toStdString());
    }
}

Status OpenWork::mayWrite(const QString& path) const
{
    FileRoles files;
    files.reads(m_project, "the project that is open");
    return mayWrite(path, std::move(files));
}

Status OpenWork::maySave(const QString& path) const
{
    return path.toStdString() == m_project ? mayWrite(path, {}) : mayWrite(path);
}

Status OpenWork::mayWrite(const QString& path, FileRoles files) const
{
    for (const std::string& project : m_otherProjects)
        files.reads(project, "the project that the lesson gives back");
    for (const Inputs& inputs : m_files)
        addFilesOf(files, inputs);
    for (const SnapshotPtr& shown : m_shown)
        addFilesOf(files, *shown); // what an edit of the recipe compares is no longer the file that it began with
    files.writes(path.toStdString(), "the new file");
    for (const std::string& beside : filesBeside(path.toStdString()))
        files.writesBeside(beside, "what belongs to the new file");
    return files.check();
}

} // namespace qs
