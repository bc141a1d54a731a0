// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/termination_signals.h"

#include <QSocketNotifier>

#include <array>
#include <csignal>
#include <sys/socket.h>
#include <unistd.h>

namespace qs {

namespace {

constexpr std::array kSignals { SIGINT, SIGTERM, SIGHUP };

int g_pipe[2] = { -1, -1 };
volatile std::sig_atomic_t g_waits = 0; ///< one was not seen to yet

extern "C" void handleSignal(int number)
{
    if (g_waits) {
        std::signal(number, SIG_DFL);
        ::raise(number);
        return;
    }
    g_waits = 1;
    const char byte = 1;
    [[maybe_unused]] const auto written = ::write(g_pipe[0], &byte, 1);
}

} // namespace

TerminationSignals::TerminationSignals(QObject* parent)
    : QObject(parent)
{
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, g_pipe) != 0)
        return;
    m_notifier = new QSocketNotifier(g_pipe[1], QSocketNotifier::Read, this);
    connect(m_notifier, &QSocketNotifier::activated, this, &TerminationSignals::heard);
    for (const int number : kSignals)
        std::signal(number, handleSignal);
}

TerminationSignals::~TerminationSignals()
{
    if (!m_notifier)
        return;
    for (const int number : kSignals)
        std::signal(number, SIG_DFL);
    delete m_notifier; // before what it watches
    ::close(g_pipe[0]);
    ::close(g_pipe[1]);
    g_waits = 0;
}

void TerminationSignals::rearm() { g_waits = 0; }

void TerminationSignals::heard()
{
    char byte = 0;
    if (::read(g_pipe[1], &byte, 1) == 1)
        emit asked();
}

} // namespace qs

#include "moc_termination_signals.cpp"
