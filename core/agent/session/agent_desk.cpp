// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/session/agent_desk.h"

#include "core/base/text/one_line.h"
#include "core/onnx/import.h"
#include "core/onnx/write/export.h"
#include "core/project/files/used_files.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

/// A model may keep its weights in files that lie anywhere.
Status checkModel(const AllowedFolders& folders, const std::optional<LoadedModel>& model)
{
    if (!model)
        return {};
    for (const auto& file : filesOf(*model->model))
        QS_CHECK(folders.check(file->path()));
    return {};
}

std::string keyOf(const Inputs& inputs)
{
    std::string key;
    for (const std::string* part : { &inputs.floatPath, &inputs.quantPath, &inputs.data.spec, &inputs.data.preprocess,
             &inputs.calibration.spec, &inputs.rangesPath })
        key += *part + '\n';
    return key + (inputs.recipe ? inputs.recipe->codes.file : std::string());
}

} // namespace

AgentSession::Check AgentDesk::modelCheck() const
{
    return [folders = m_folders](const Snapshot& made) -> Status {
        QS_CHECK(checkModel(folders, made.floatFile));
        return checkModel(folders, made.quantFile);
    };
}

Result<AgentSession*> AgentDesk::open(Inputs inputs, const WorkContext& work)
{
    if (!m_shared) {
        QS_TRY(OwnSession opened, OwnSession::open(std::move(inputs), modelCheck(), work));
        return add(std::move(opened));
    }
    QS_CHECK(m_shared->open(inputs, modelCheck(), work));
    return sharedSession({}, work);
}

void AgentDesk::alsoReadTokenizer(const std::string& path) { addTokenizer(m_alsoRead, path); }

/// Also of sessions that will be gone.
void AgentDesk::noteRead(const AgentSession& session)
{
    const Inputs present = session.present();
    FileRoles& read = m_read[keyOf(present)];
    read = {};
    addFilesOf(read, *session.models());
    addFilesOf(read, present);
}

AgentSession* AgentDesk::add(OwnSession session)
{
    noteRead(session);
    if (m_entries.size() == kMostSessions)
        m_entries.erase(std::ranges::min_element(m_entries, {}, &Entry::used));
    m_current = "s" + std::to_string(++m_opened);
    m_entries.push_back({ m_current, std::make_unique<OwnSession>(std::move(session)), ++m_uses });
    return m_entries.back().session.get();
}

Result<AgentSession*> AgentDesk::sharedSession(const std::string& name, const WorkContext& work)
{
    if (!name.empty() && name != kSharedName)
        return badUse("there is no session '" + oneLine(name, 80) + "'",
            std::string("leave it out: there is one, '") + kSharedName + "'");
    QS_CHECK(m_shared->look(work));
    if (std::string key = keyOf(m_shared->present()); key != m_sharedKey) { // others open files, too
        noteRead(*m_shared);
        m_sharedKey = std::move(key);
    }
    m_current = kSharedName;
    return m_shared.get();
}

Result<AgentSession*> AgentDesk::session(const std::string& name, const WorkContext& work)
{
    if (m_shared)
        return sharedSession(name, work);
    if (m_entries.empty())
        return badUse("nothing is open", "call open first");
    const std::string& wanted = name.empty() ? m_current : name;
    const auto entry = std::ranges::find(m_entries, wanted, &Entry::name);
    if (entry == m_entries.end())
        return badUse("there is no session '" + oneLine(wanted, 80) + "'",
            "call open, which says the name of the session; the " + std::to_string(kMostSessions)
                + " that were used last are kept");
    m_current = entry->name;
    entry->used = ++m_uses;
    return entry->session.get();
}

std::vector<std::pair<std::string, AgentSession*>> AgentDesk::sessions() const
{
    std::vector<std::pair<std::string, AgentSession*>> all;
    if (m_shared)
        all.emplace_back(kSharedName, m_shared.get());
    for (const Entry& entry : m_entries)
        all.emplace_back(entry.name, entry.session.get());
    return all;
}

Result<std::string> AgentDesk::placeFor(
    const std::string& path, const std::string& role, bool overwrite, const WorkContext& work, bool model) const
{
    QS_TRY(const std::string place, m_folders.toWrite(path));
    const std::vector<std::string> beside = model ? filesBeside(place) : std::vector<std::string>();
    for (const std::string& neighbour : beside)
        QS_CHECK(m_folders.check(neighbour));
    std::vector<FileRoles> all { m_alsoRead };
    for (const auto& [opened, read] : m_read)
        all.push_back(read);
    for (FileRoles& files : all) {
        files.writes(place, role);
        for (const std::string& neighbour : beside)
            files.writesBeside(neighbour, "what belongs to " + role);
        QS_CHECK(files.check());
    }
    if (m_shared)
        QS_CHECK(m_shared->mayWrite(place, work));
    std::error_code error;
    if (!overwrite && !m_written.contains(place) && std::filesystem::exists(place, error))
        return badInput("is there already", place, "give another path, or overwrite true");
    return place;
}

} // namespace qs
