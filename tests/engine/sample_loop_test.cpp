// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/sample_loop.h"

#include "net.h"

#include <QTest>

#include <atomic>
#include <mutex>
#include <set>
#include <tuple>

using namespace qs;
using namespace qs::test;

class SampleLoopTests : public QObject {
    Q_OBJECT
private slots:
    void threadsGoToSamplesOrNodes();
    void everySampleOnce();
    void oneAtATimeIsInOrder();
    void progressCountsOverPasses();
    void firstSampleThatFailsIsTold();
    void stopsWhenCancelled();
    void sharesTheLimit();
};

namespace {

/// y = relu(x) over 100 numbers.
std::shared_ptr<const Schedule> relu()
{
    Net net;
    net.input("x", DType::Float32, toDims({ 100 }));
    net.op("Relu", { "x" }, { "y" }).output("y");
    const auto plan = net.plan();
    auto schedule = Schedule::make(plan, { { plan->graph().findValue("y") }, {} });
    return schedule.ok() ? *schedule : nullptr;
}

WorkContext onThreads(size_t threads)
{
    WorkContext work;
    work.threads = threads;
    return work;
}

Result<SampleLoop> loopOf(size_t atOnce, const WorkContext& work)
{
    const std::shared_ptr<const Schedule> beside[] { relu() };
    return SampleLoop::make(beside, atOnce, work);
}

} // namespace

void SampleLoopTests::threadsGoToSamplesOrNodes()
{
    QCOMPARE(asManyAtOnce(0, 4), size_t(1));
    QCOMPARE(asManyAtOnce(3, 4), size_t(3));
    QCOMPARE(asManyAtOnce(9, 4), size_t(4));
    QCOMPARE(allOrOneAtOnce(3, 4), size_t(1));
    QCOMPARE(allOrOneAtOnce(4, 4), size_t(4));
    for (const auto& [atOnce, samples, atMost, team] :
        std::vector<std::tuple<size_t, size_t, size_t, size_t>> { { 1, 5, SIZE_MAX, 6 }, { 3, 5, SIZE_MAX, 2 },
            { 6, 9, SIZE_MAX, 1 }, { 6, 2, SIZE_MAX, 3 }, { 6, 9, 1, 6 } }) {
        auto loop = loopOf(atOnce, onThreads(6));
        QVERIFY(loop.ok());
        std::atomic<size_t> other = 0;
        QVERIFY(loop->run({ samples, {}, 0, 0, atMost },
                        [&, wanted = team](size_t, const SampleWorker& worker) -> Status {
                            other += worker.team.threads() != wanted;
                            return {};
                        })
                    .ok());
        QCOMPARE(other.load(), size_t(0));
    }
}

void SampleLoopTests::everySampleOnce()
{
    const auto schedule = relu();
    auto loop = loopOf(4, onThreads(4));
    QVERIFY(loop.ok());
    QCOMPARE(loop->workers(), size_t(4));
    for (size_t samples : { 0, 1, 3, 50 }) { // the same buffers again
        std::vector<float> sums(samples, 0);
        std::vector<std::atomic<int>> calls(samples);
        QVERIFY(loop->run({ samples },
                        [&](size_t sample, const SampleWorker& worker) -> Status {
                            ++calls[sample];
                            Execution run = worker.execution(schedule);
                            QS_CHECK(
                                run.bind({ { Tensor::of<float>({ 100 }, std::vector<float>(100, float(sample))) } }));
                            QS_CHECK(run.runAll());
                            sums[sample] = toFloats(run.get(schedule->demand().values[0]))[99];
                            return {};
                        })
                    .ok());
        for (size_t i = 0; i < samples; ++i) {
            QCOMPARE(calls[i].load(), 1);
            QCOMPARE(sums[i], float(i));
        }
    }
}

void SampleLoopTests::oneAtATimeIsInOrder()
{
    auto loop = loopOf(4, onThreads(4));
    QVERIFY(loop.ok());
    std::vector<size_t> order;
    QVERIFY(loop->run({ 5, {}, 0, 0, 1 },
                    [&](size_t sample, const SampleWorker&) -> Status {
                        order.push_back(sample);
                        return {};
                    })
                .ok());
    QCOMPARE(order, (std::vector<size_t> { 0, 1, 2, 3, 4 }));
}

void SampleLoopTests::progressCountsOverPasses()
{
    using Told = std::tuple<std::string, size_t, size_t>;
    std::vector<Told> told;
    WorkContext work = onThreads(2);
    work.progress = [&](std::string_view phase, size_t done, size_t total) { told.emplace_back(phase, done, total); };
    auto loop = loopOf(2, work);
    QVERIFY(loop.ok());
    const SampleLoop::Each nothing = [](size_t, const SampleWorker&) { return Status(); };
    QVERIFY(loop->run({ 2 }, nothing).ok());
    QVERIFY(told.empty());
    QVERIFY(loop->run({ 2, "run" }, nothing).ok());
    QCOMPARE(told, (std::vector<Told> { { "run", 1, 2 }, { "run", 2, 2 } }));
    told.clear();
    QVERIFY(loop->run({ 2, "variants", 4, 9 }, nothing).ok());
    QCOMPARE(told, (std::vector<Told> { { "variants", 5, 9 }, { "variants", 6, 9 } }));
}

void SampleLoopTests::firstSampleThatFailsIsTold()
{
    for (size_t threads : { 1, 4 }) {
        auto loop = loopOf(threads, onThreads(threads));
        QVERIFY(loop.ok());
        std::atomic<size_t> calls = 0;
        const auto status = loop->run({ 1000 }, [&](size_t sample, const SampleWorker&) -> Status {
            ++calls;
            return sample < 2 ? Status() : Status(badInput("sample " + std::to_string(sample)));
        });
        QVERIFY(!status.ok());
        QCOMPARE(status.issue().what, std::string("sample 2"));
        QVERIFY(calls <= 2 + 2 * threads);
    }
}

void SampleLoopTests::stopsWhenCancelled()
{
    const WorkContext work = onThreads(3);
    auto loop = loopOf(3, work);
    QVERIFY(loop.ok());
    std::atomic<size_t> calls = 0;
    const auto status = loop->run({ 1000 }, [&](size_t, const SampleWorker&) -> Status {
        ++calls;
        work.cancel.cancel();
        return {};
    });
    QVERIFY(!status.ok() && status.issue().kind == IssueKind::Cancelled);
    QVERIFY(calls <= 3);
}

void SampleLoopTests::sharesTheLimit()
{
    WorkContext work = onThreads(4);
    work.memoryLimit = 8'000;
    auto loop = loopOf(4, work);
    QVERIFY(loop.ok());
    QCOMPARE(loop->bytesEach(), uint64_t(2'000));
    QCOMPARE(loop->spareBytes(), uint64_t(1'200)); // 100 numbers come, 100 are made
    QVERIFY_EXCEPTION_THROWN((void)loop->run({ 4 },
                                 [](size_t, const SampleWorker& worker) -> Status {
                                     worker.pool.allocate(DType::Float32, { 501 });
                                     return {};
                                 }),
        std::bad_alloc);
    work.memoryLimit = 3'000;
    QCOMPARE(loopOf(4, work)->workers(), size_t(3)); // fewer samples at once where that fits
    work.memoryLimit = 800;
    QCOMPARE(loopOf(4, work)->workers(), size_t(1));
    work.memoryLimit = 799;
    QVERIFY(!loopOf(4, work).ok());
}

int runSampleLoopTests(int argc, char** argv)
{
    SampleLoopTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "sample_loop_test.moc"
