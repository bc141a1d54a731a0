// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/agent/agent_serving.h"

#include "core/agent/attach/agent_door.h"
#include "widgets/session/agent/agent_call.h"
#include "widgets/session/agent/window_session.h"

#include <QCoreApplication>

#include <chrono>

namespace qs {

namespace {

constexpr int kLongMs = 300; ///< calls that take less are not shown

QStringList listed(const std::vector<std::string>& folders)
{
    QStringList list;
    for (const std::string& folder : folders)
        list << QString::fromStdString(folder);
    return list;
}

} // namespace

/// What happens at the door, on its threads.
class AgentServing::Admission {
public:
    explicit Admission(AgentServing& serving)
        : m_serving(serving)
        , m_door(std::make_shared<const int>(0))
    {
    }

    Result<std::unique_ptr<McpServer>> admit(const AttachRequest& request, McpServer::Write write) const
    {
        QS_TRY(AllowedFolders folders, AllowedFolders::seenFrom(request.folder, request.allow));
        AgentServing* const s = &m_serving;
        s->m_gui.post([s, door = m_door, names = listed(folders.folders())] { s->come(door, names); });
        auto shared
            = std::make_unique<WindowSession>(WindowSession::Window { s->m_session, s->m_edits, s->m_ear, s->m_gui });
        return std::make_unique<McpServer>(
            AgentDesk(std::move(folders), RunSettings {}, std::move(shared)), std::move(write), watch());
    }

    void left() const
    {
        AgentServing* const s = &m_serving;
        s->m_gui.post([s, door = m_door] { s->leave(door); });
    }

private:
    McpWatch watch() const
    {
        AgentServing* const s = &m_serving;
        const auto current = std::make_shared<std::shared_ptr<AgentCall>>(); // of the agent's thread
        McpWatch watch;
        watch.named = [s](const std::string& client) {
            s->m_gui.post([s, name = QString::fromStdString(client)] {
                if (s->m_guest)
                    s->m_guest->name = name;
                emit s->changed();
            });
        };
        watch.begun = [s, current](const std::string& tool, const CancelToken& cancel) -> ProgressFn {
            *current = std::make_shared<AgentCall>(tool, cancel);
            s->m_gui.post([s, call = *current] { s->begin(call); });
            return [call = *current](
                       std::string_view phase, size_t done, size_t total) { call->tell(phase, done, total); };
        };
        watch.ended = [s, current] {
            (*current)->end();
            s->m_gui.post([s] { s->begin(nullptr); });
        };
        return watch;
    }

    AgentServing& m_serving;
    DoorMark m_door;
};

AgentServing::AgentServing(Session& session, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_edits(session)
    , m_ear(session)
{
    m_longTimer.setSingleShot(true);
    m_longTimer.setInterval(kLongMs);
    connect(&m_longTimer, &QTimer::timeout, this, &AgentServing::showCall);
    connect(&m_ear, &WindowEar::somethingEnded, &m_gui, &GuiCalls::retry);
    connect(&m_edits, &AgentEdits::changed, this, &AgentServing::changed);
}

AgentServing::~AgentServing()
{
    m_gui.close(); // who waits for an answer waits no longer
    m_door.reset();
    m_closing.clear();
}

Status AgentServing::start()
{
    if (m_door)
        return {};
    const Admission door(*this);
    AgentConnection::Rules rules;
    rules.window = "Quantscope, process " + std::to_string(QCoreApplication::applicationPid());
    rules.admit = [door](const AttachRequest& request, McpServer::Write write) {
        return door.admit(request, std::move(write));
    };
    rules.left = [door] { door.left(); };
    auto opened = AgentDoor::open(std::move(rules));
    if (opened.ok())
        m_door = std::move(*opened);
    emit changed();
    return opened.ok() ? Status() : Status(opened.issue());
}

void AgentServing::stop()
{
    if (!m_door)
        return;
    std::erase_if(m_closing,
        [](const auto& closing) { return closing.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
    m_closing.push_back(std::async(std::launch::async, [door = std::move(m_door)]() mutable { door.reset(); }));
    emit changed();
}

QString AgentServing::socket() const { return m_door ? QString::fromStdString(m_door->path()) : QString(); }

void AgentServing::letGo()
{
    if (m_door)
        m_door->letGo("the person at the window let this agent go");
}

QString AgentServing::doing() const { return m_call && m_long ? QString::fromStdString(m_call->tool()) : QString(); }

void AgentServing::come(const DoorMark& door, const QStringList& folders)
{
    m_guestDoor = door;
    m_guest = Guest { {}, folders, QDateTime::currentDateTime() };
    m_edits.accept(); // what is there now stays
}

void AgentServing::leave(const DoorMark& door)
{
    if (door != m_guestDoor)
        return; // there is another guest already
    m_guest.reset();
    begin(nullptr);
    emit changed();
}

void AgentServing::begin(const std::shared_ptr<AgentCall>& call)
{
    m_call = call;
    if (call)
        m_longTimer.start();
    else
        m_longTimer.stop();
    if (std::exchange(m_long, false))
        emit changed();
}

/// A comparison is in the list by itself.
void AgentServing::showCall()
{
    if (!m_call || m_session.busy())
        return m_call ? m_longTimer.start() : void();
    m_long = true;
    m_session.jobs().start(AgentCall::job(m_call, tr("Agent: %1").arg(QString::fromStdString(m_call->tool()))));
    emit changed();
}

} // namespace qs

#include "moc_agent_serving.cpp"
