// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/memory_budget.h"
#include "tests/engine/net.h"

#include "core/base/files/mapped_pages.h"
#include "core/graph/domains.h"

#include <QTemporaryFile>
#include <QTest>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <sys/mman.h>

using namespace qs;
using namespace qs::test;

/// What a run holds is counted before it is taken.
class MemoryTests : public QObject {
    Q_OBJECT
private slots:
    void sharesTheMemoryLimit();
    void plansLeaveWeightsAlone();
    void foldingHasALimit();
    void packsBlocksInPlaceOfTheFile_data();
    void packsBlocksInPlaceOfTheFile();
};

namespace {

std::shared_ptr<const Schedule> scheduleTo(const std::shared_ptr<const Plan>& plan, const std::string& name)
{
    const auto schedule = Schedule::make(plan, { { plan->graph().findValue(name) }, {} });
    return schedule.ok() ? *schedule : nullptr;
}

/// A file of these bytes, mapped and guarded as models are.
struct MappedFile {
    QTemporaryFile file;
    std::byte* data = nullptr;
    size_t bytes;
    std::atomic<bool> lost = false;
    std::optional<PageGuard> guard;

    explicit MappedFile(const std::vector<uint8_t>& content)
        : bytes(content.size())
    {
        if (!file.open() || file.write(reinterpret_cast<const char*>(content.data()), qint64(bytes)) != qint64(bytes)
            || !file.flush())
            return;
        data = static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.handle(), 0));
        guard.emplace(data, bytes, lost);
    }
    ~MappedFile()
    {
        guard.reset();
        ::munmap(data, bytes);
    }
    /// kB of it that are in this process's memory; -1: the system does not say.
    int64_t resident() const
    {
        std::ifstream maps("/proc/self/smaps");
        std::ostringstream begin;
        begin << std::hex << reinterpret_cast<uintptr_t>(data) << '-';
        bool here = false;
        for (std::string line; std::getline(maps, line);) {
            if (line.find(begin.str()) != std::string::npos)
                here = true;
            else if (here && line.starts_with("Rss:"))
                return std::stoll(line.substr(4));
        }
        return -1;
    }
};

} // namespace

/// A weight that is copied when somebody looks at it.
void MemoryTests::plansLeaveWeightsAlone()
{
    const auto bytes = std::make_shared<std::vector<std::byte>>(4 * 160 * 160 + 1);
    const auto net = [&] {
        Net made;
        made.input("x", DType::Float32, toDims({ 1, 160 }));
        made.constant("w", Tensor::wrapUnaligned(DType::Float32, { 160, 160 }, bytes->data() + 1, bytes));
        made.op("MatMul", { "x", "w" }, { "a" });
        made.op("Gemm", { "a", "w" }, { "b" });
        made.output("b");
        return made;
    };
    const auto plan = net().plan({ .memoryLimit = 1 << 30 });
    QVERIFY(bytes.use_count() > 1); // nobody looked
    const std::shared_ptr<const Schedule> schedule[] { scheduleTo(plan, "b") };
    QCOMPARE(heldBytes(schedule), uint64_t(4) * 4 * 160 * 160); // in the file, copied, packed twice
    QVERIFY(checkConstants(*plan, 2 * 4 * 160 * 160).ok());
    QVERIFY(!checkConstants(*plan, 2 * 4 * 160 * 160 - 1).ok());
    QVERIFY(bytes.use_count() > 1);
    QVERIFY(runNet(plan, { Tensor::allocate(DType::Float32, { 1, 160 }) }).ok());
    Net folded = net();
    folded.op("Transpose", { "w" }, { "t" });
    folded.op("MatMul", { "b", "t" }, { "y" });
    folded.constant("one", Tensor::of<float>({ 1 }, { 1 }));
    folded.op("Neg", { "one" }, { "minus" });
    const auto looked = folded.plan({ .onlyLookedAt = true });
    const auto constant = [&](const char* name) { return looked->constant(looked->graph().findValue(name)); };
    QVERIFY(!constant("t") && constant("w") && constant("minus"));
    QVERIFY(looked->unsupported().empty());
    QVERIFY(bytes.use_count() > 1);
}

void MemoryTests::foldingHasALimit()
{
    const auto net = [] {
        Net made;
        made.input("x", DType::Float32, toDims({ 1, 100 }));
        made.constant("w", Tensor::allocate(DType::Float32, { 100, 100 }));
        made.op("Transpose", { "w" }, { "t" });
        made.op("Neg", { "t" }, { "n" });
        made.op("MatMul", { "x", "n" }, { "y" });
        return made;
    };
    QVERIFY(!net().plan({ .memoryLimit = 80'000 })->overLimit());
    const auto plan = net().plan({ .memoryLimit = 79'999 });
    QVERIFY(plan->overLimit() && plan->overLimit()->what.find("memory limit") != std::string::npos);
    QVERIFY(plan->constant(plan->graph().findValue("t")));
    QVERIFY(plan->blocked(plan->graph().findValue("y")));
    QVERIFY(!checkConstants(*plan, 1 << 30).ok());
}

void MemoryTests::sharesTheMemoryLimit()
{
    Net net;
    net.input("x", DType::Float32, toDims({ 1, 100 }));
    net.constant("w", Tensor::allocate(DType::Float32, { 100, 100 }));
    net.op("MatMul", { "x", "w" }, { "a" });
    net.op("MatMul", { "a", "w" }, { "y" });
    const std::shared_ptr<const Schedule> schedule[] { scheduleTo(net.plan(), "y") };
    QCOMPARE(schedule[0]->constantBytes(), uint64_t(40'000)); // read twice, held once
    QCOMPARE(heldBytes(schedule), uint64_t(120'000)); // and packed by both nodes
    QCOMPARE(schedule[0]->estimatedPeakBytes(), uint64_t(800));
    const auto each = memoryPerWorker(schedule, 130'000, 4);
    QVERIFY(each.ok());
    QCOMPARE(*each, uint64_t(2'500));
    const auto tooManyWorkers = memoryPerWorker(schedule, 122'000, 4);
    QVERIFY(!tooManyWorkers.ok() && tooManyWorkers.issue().what.find("one sample") != std::string::npos);
    const auto tooLarge = memoryPerWorker(schedule, 119'999, 1);
    QVERIFY(!tooLarge.ok() && tooLarge.issue().what.find("weights") != std::string::npos);
    QCOMPARE(tooLarge.issue().file, std::string("net.onnx"));
}

void MemoryTests::packsBlocksInPlaceOfTheFile_data()
{
    QTest::addColumn<int64_t>("bits");
    QTest::addColumn<int64_t>("accuracy");
    for (const int64_t bits : { 2, 4, 8 })
        for (const int64_t accuracy : { 0, 4 })
            QTest::addRow("%d bits, level %d", int(bits), int(accuracy)) << bits << accuracy;
}

void MemoryTests::packsBlocksInPlaceOfTheFile()
{
    QFETCH(int64_t, bits);
    QFETCH(int64_t, accuracy);
    constexpr int64_t kColumns = 512, kDepth = 4096, kBlock = 32, kBlocks = kColumns * kDepth / kBlock;
    std::vector<uint8_t> content(size_t(kColumns * kDepth * bits / 8));
    for (size_t i = 0; i < content.size(); ++i)
        content[i] = uint8_t(i * 2654435761u >> 11);
    const MappedFile mapped(content);
    QVERIFY(mapped.data);
    const auto planOf = [&](Tensor codes) {
        Net net;
        net.input("x", DType::Float32, toDims({ 1, kDepth }));
        net.constant("w", std::move(codes));
        net.constant("s", Tensor::of<float>({ kBlocks }, std::vector<float>(kBlocks, 0.25f)));
        net.domain(kMicrosoftDomain)
            .op("MatMulNBits", { "x", "w", "s" }, { "y" },
                { { "K", kDepth }, { "N", kColumns }, { "bits", bits }, { "block_size", kBlock },
                    { "accuracy_level", accuracy } });
        net.output("y");
        return net.plan();
    };
    const Shape shape { int64_t(content.size()) };
    const auto plan = planOf(Tensor::wrap(DType::UInt8, shape, mapped.data, nullptr));
    const auto copied = planOf(Tensor::of<uint8_t>(shape, content));
    QCOMPARE(mapped.resident(), int64_t(0)); // a plan packs nothing
    const auto held = [](const std::shared_ptr<const Plan>& p) {
        const std::shared_ptr<const Schedule> schedule[] { scheduleTo(p, "y") };
        return heldBytes(schedule);
    };
    const uint64_t packed = (bits == 2 ? 2 : 1) * content.size(), scales = 4 * kBlocks;
    QCOMPARE(held(plan), packed + 2 * scales);
    QCOMPARE(held(copied), content.size() + packed + 2 * scales);

    const std::vector<Tensor> x { Tensor::of<float>({ 1, kDepth }, std::vector<float>(kDepth, 0.5f)) };
    const auto y = runNet(plan, x), wanted = runNet(copied, x);
    QVERIFY(y.ok() && wanted.ok());
    QVERIFY(std::ranges::equal((*y)[0].bytes(), (*wanted)[0].bytes()));
    QCOMPARE(mapped.resident(), int64_t(0));
    QVERIFY(std::ranges::equal(std::span(mapped.data, mapped.bytes), std::as_bytes(std::span(content))));
}

int runMemoryTests(int argc, char** argv)
{
    MemoryTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "memory_test.moc"
