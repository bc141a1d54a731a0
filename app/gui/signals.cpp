// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/signals.h"

#include <QObject>
#include <QSocketNotifier>

#include <csignal>
#include <sys/socket.h>
#include <unistd.h>

namespace qs {

namespace {

int g_pipe[2] = { -1, -1 };

extern "C" void handleSignal(int number)
{
    const char byte = 1;
    [[maybe_unused]] const auto written = ::write(g_pipe[0], &byte, 1);
    std::signal(number, SIG_DFL);
}

} // namespace

void onTerminationSignal(QObject* context, std::function<void()> function)
{
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, g_pipe) != 0)
        return;
    auto* notifier = new QSocketNotifier(g_pipe[1], QSocketNotifier::Read, context);
    QObject::connect(notifier, &QSocketNotifier::activated, context, [notifier, function = std::move(function)] {
        notifier->setEnabled(false);
        function();
    });
    std::signal(SIGINT, handleSignal);
    std::signal(SIGTERM, handleSignal);
    std::signal(SIGHUP, handleSignal);
}

} // namespace qs
