// SPDX-License-Identifier: GPL-3.0-or-later
// What a large graph costs: from opening to the first picture of its structure, to the numbers, and each frame while
// the view moves.
//   QT_QPA_PLATFORM=offscreen bench_graph FLOAT [DATA] [--open] [--size 1600x1000]
#include "core/base/issue_text.h"
#include "core/base/work/memory.h"
#include "core/project/snapshot/build_snapshot.h"
#include "widgets/views/graph/graph_canvas.h"
#include "widgets/views/graph/graph_panel.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/main_window.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <sys/resource.h>

using namespace qs;

namespace {

void waitFor(const std::function<bool()>& done)
{
    while (!done()) {
        QEventLoop loop;
        QTimer::singleShot(1, &loop, &QEventLoop::quit);
        loop.exec();
    }
}

double peakMegabytes()
{
    rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_maxrss) / 1024;
}

void printFrames(GraphCanvas& canvas, const char* what, const std::function<void(int)>& move)
{
    std::vector<double> ms;
    for (int i = 0; i < 60; ++i) {
        QElapsedTimer clock;
        clock.start();
        move(i);
        canvas.grab();
        ms.push_back(double(clock.nsecsElapsed()) * 1e-6);
    }
    std::ranges::sort(ms);
    std::printf("%-24s median %6.2f ms a frame, p95 %6.2f\n", what, ms[ms.size() / 2], ms[ms.size() * 95 / 100]);
}

void printAllFrames(GraphCanvas& canvas)
{
    canvas.fit();
    const QPointF middle = canvas.visibleArea().center();
    printFrames(canvas, "whole graph, panned", [&](int i) { canvas.centreOn(middle + QPointF(i, 10 * i)); });
    canvas.fit();
    printFrames(canvas, "zooming in", [&](int) { canvas.zoomBy(true); });
    canvas.centreOn(canvas.scene()->bounds().center());
    printFrames(canvas, "zoomed in, panned",
        [&](int i) { canvas.centreOn(canvas.scene()->bounds().center() + QPointF(0, 7 * i)); });
}

} // namespace

int main(int argc, char** argv)
{
    QApplication application(argc, argv);
    QCoreApplication::setOrganizationName(QStringLiteral("Quantscope"));
    QCoreApplication::setApplicationName(QStringLiteral("quantscope-bench"));
    setUpApplication(application);
    QStringList arguments = application.arguments();
    const bool open = arguments.removeAll(QStringLiteral("--open")) > 0;
    if (arguments.size() < 2) {
        std::fprintf(stderr, "give FLOAT [DATA] [--open]\n");
        return 1;
    }
    Inputs inputs;
    inputs.floatPath = arguments[1].toStdString();
    if (arguments.size() > 2)
        inputs.data.spec = arguments[2].toStdString();
    Session session(
        [](const Inputs& asked, const SnapshotPtr& previous, const ProgressFn& progress, const CancelToken& cancel,
            const PartialFn& partial) { return buildSnapshot(asked, previous, progress, cancel, partial); });
    QObject::connect(&session, &Session::failed,
        [](const Issue& issue) { std::fprintf(stderr, "error: %s\n", issueText(issue).c_str()); });
    MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
    window.resize(1600, 1000);
    window.show();
    GraphCanvas& canvas = window.graph().canvas();
    QElapsedTimer clock;
    clock.start();
    session.openInputs(inputs);
    waitFor([&] { return canvas.scene() != nullptr; });
    window.grab();
    std::printf("structure painted after  %8.1f ms (%zu boxes)\n", double(clock.nsecsElapsed()) * 1e-6,
        canvas.scene()->boxCount());
    waitFor([&] { return session.work() == Session::Work::Settled && session.jobs().idle() && canvas.scene(); });
    window.grab();
    std::printf("finished after           %8.1f ms, peak %.0f MB%s\n", double(clock.nsecsElapsed()) * 1e-6,
        peakMegabytes(), session.comparison() ? "" : ", without numbers");
    if (open) {
        clock.restart();
        const GraphScene* before = canvas.scene();
        window.graph().setAllClosed(false);
        waitFor([&] { return canvas.scene() != before || session.jobs().idle(); });
        window.grab();
        std::printf("all opened after         %8.1f ms (%zu boxes)\n", double(clock.nsecsElapsed()) * 1e-6,
            canvas.scene()->boxCount());
    }
    printAllFrames(canvas);
    return 0;
}
