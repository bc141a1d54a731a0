// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lowered/content_key.h"
#include "core/engine/run/execution.h"
#include "tests/support/tensors.h"

#include <QTest>

#include <random>

using namespace qs;
using namespace qs::test;

namespace {

/// A chain of convolutions, each behind a Q/DQ pair, with a skip around every second one. Layer i uses scales[i].
struct Chain {
    std::vector<Tensor> weights;
    std::vector<float> scales;

    explicit Chain(std::mt19937& random, size_t layers = 6)
        : scales(layers, 0.02f)
    {
        for (size_t i = 0; i < layers; ++i)
            weights.push_back(normalFloats(random, { 4, 4, 3, 3 }));
    }

    std::shared_ptr<const Plan> plan(
        const std::shared_ptr<LoweringCache>& cache, ArithmeticProfile profile = ArithmeticProfile::Simulated) const
    {
        GraphBuilder builder;
        const auto op = [&](const std::string& type, const std::vector<std::string>& inputs, const std::string& out) {
            Node node;
            node.name = out;
            node.opType = type;
            node.opset = 17;
            for (const std::string& name : inputs)
                node.inputs.push_back(builder.value(name));
            node.outputs = { builder.value(out) };
            if (type == "Conv")
                node.attributes.set("pads", std::vector<int64_t> { 1, 1, 1, 1 });
            builder.addNode(std::move(node));
        };
        const ValueId x = builder.value("x");
        builder.setType(x, { DType::Float32, Dims { { 1 }, { 4 }, { 9 }, { 9 } }, {} });
        builder.addInput(x);
        builder.setInitializer(builder.value("zero"), Tensor::scalar<uint8_t>(128));
        std::string at = "x";
        for (size_t i = 0; i < weights.size(); ++i) {
            const std::string n = std::to_string(i);
            builder.setInitializer(builder.value("s" + n), Tensor::scalar(scales[i]));
            builder.setInitializer(builder.value("w" + n), weights[i]);
            op("QuantizeLinear", { at, "s" + n, "zero" }, "q" + n);
            op("DequantizeLinear", { "q" + n, "s" + n, "zero" }, "d" + n);
            op("Conv", { "d" + n, "w" + n }, "c" + n);
            op("Add", { "c" + n, "d" + n }, "a" + n);
            op("Tanh", { i % 2 ? "a" + n : "c" + n }, "t" + n);
            at = "t" + n;
        }
        builder.addOutput(builder.value(at));
        auto model = std::make_shared<Model>();
        model->path = "chain.onnx";
        model->graph = *std::move(builder).finish();
        return Plan::make(model, { KernelMode::Fast, profile, cache });
    }
};

/// All values of a run, by graph; tasks that really ran are counted.
struct Ran {
    std::vector<Tensor> values;
    size_t tasks = 0;
};

Ran runAll(const std::shared_ptr<const Plan>& plan, const Tensor& x, ActivationCache* cache)
{
    Demand demand;
    for (size_t v = 0; v < plan->graph().values().size(); ++v)
        if (!plan->constant(ValueId(v)) && !plan->hidden(ValueId(v)))
            demand.values.push_back(ValueId(v));
    const auto schedule = *Schedule::make(plan, demand);
    BufferPool pool;
    Execution execution(schedule, pool);
    const Tensor inputs[] { x };
    if (!execution.bind(inputs).ok())
        return {};
    if (cache)
        execution.useCache(*cache, sampleKey(inputs));
    Ran ran;
    while (!execution.finished()) {
        const auto& task = schedule->tasks()[execution.position()];
        ran.tasks += !execution.has(task.outputs[0]);
        if (!execution.step().ok())
            return {};
    }
    for (ValueId id : demand.values)
        ran.values.push_back(execution.get(id));
    return ran;
}

class CachesTests : public QObject {
    Q_OBJECT
private slots:
    void equalNodesShareTheirKernels()
    {
        std::mt19937 random(1);
        const auto cache = std::make_shared<LoweringCache>();
        Chain chain(random);
        auto first = chain.plan(cache);
        const size_t alive = cache->size();
        chain.scales[3] = 0.5f;
        auto second = chain.plan(cache);
        size_t shared = 0, own = 0;
        for (size_t n = 0; n < first->graph().nodes().size(); ++n)
            ++(first->step(NodeId(n)).lowered == second->step(NodeId(n)).lowered ? shared : own);
        QCOMPARE(own, size_t(2)); // the pair with the other scale
        QCOMPARE(cache->size(), alive + 2);
        first.reset();
        QVERIFY(runAll(second, normalFloats(random, { 1, 4, 9, 9 }), nullptr).tasks > 0); // what is shared stays alive
        second.reset();
        QCOMPARE(cache->size(), size_t(0));
    }

    void keysFollowContent()
    {
        std::mt19937 random(2);
        const auto cache = std::make_shared<LoweringCache>();
        Chain chain(random);
        const auto a = chain.plan(cache);
        const auto again = chain.plan(std::make_shared<LoweringCache>());
        chain.scales[3] = 0.5f;
        const auto b = chain.plan(cache);
        const auto key = [](const auto& plan, const char* name) { return *plan->key(plan->graph().findValue(name)); };
        for (const char* name : { "x", "q0", "d2", "t2", "q3", "d3", "t5" })
            QVERIFY2(key(a, name) == key(again, name), name);
        for (const char* name : { "x", "q0", "d2", "t2" })
            QVERIFY2(key(a, name) == key(b, name), name);
        for (const char* name : { "q3", "d3", "c3", "t5" })
            QVERIFY2(key(a, name) != key(b, name), name);
        QVERIFY(key(a, "t0") != key(a, "t1"));
        const auto integer = chain.plan(cache, ArithmeticProfile::Integer);
        QVERIFY(key(b, "q1") != key(integer, "q1"));
        QVERIFY(!chain.plan(nullptr)->key(ValueId(0)));
    }

    void incrementalEqualsFromScratch_data()
    {
        QTest::addColumn<qulonglong>("budget");
        QTest::addColumn<int>("profile");
        for (int profile = 0; profile < 3; ++profile) {
            QTest::addRow("everything fits, profile %d", profile) << qulonglong(1 << 24) << profile;
            QTest::addRow("little fits, profile %d", profile) << qulonglong(6000) << profile;
            QTest::addRow("nothing fits, profile %d", profile) << qulonglong(0) << profile;
        }
    }

    void incrementalEqualsFromScratch()
    {
        QFETCH(const qulonglong, budget);
        QFETCH(const int, profile);
        const unsigned seed = 7;
        std::mt19937 random(seed);
        const auto lowered = std::make_shared<LoweringCache>();
        ActivationCache activations(budget);
        Chain chain(random);
        const Tensor samples[] { normalFloats(random, { 1, 4, 9, 9 }), normalFloats(random, { 1, 4, 9, 9 }) };
        for (int edit = 0; edit < 40; ++edit) {
            const size_t layer = random() % chain.scales.size();
            if (edit % 5 == 4)
                chain.weights[layer] = normalFloats(random, { 4, 4, 3, 3 });
            else
                chain.scales[layer] = 0.01f * float(1 + random() % 3);
            const auto plan = chain.plan(lowered, ArithmeticProfile(profile));
            activations.beginPass();
            for (const Tensor& x : samples) {
                const Ran incremental = runAll(plan, x, &activations);
                const Ran scratch = runAll(chain.plan(nullptr, ArithmeticProfile(profile)), x, nullptr);
                QCOMPARE(incremental.values.size(), scratch.values.size());
                for (size_t i = 0; i < scratch.values.size(); ++i)
                    QVERIFY2(sameBits(incremental.values[i], scratch.values[i]),
                        qPrintable(QString("edit %1, value %2, seed %3").arg(edit).arg(i).arg(seed)));
            }
            QVERIFY(activations.usedBytes() <= budget);
        }
    }

    void onlyTheConeRuns()
    {
        std::mt19937 random(3);
        const auto lowered = std::make_shared<LoweringCache>();
        ActivationCache activations(1 << 24);
        Chain chain(random);
        const Tensor x = normalFloats(random, { 1, 4, 9, 9 });
        QCOMPARE(runAll(chain.plan(lowered), x, &activations).tasks, size_t(30));
        QCOMPARE(runAll(chain.plan(lowered), x, &activations).tasks, size_t(0));
        chain.scales[4] = 0.3f;
        QCOMPARE(runAll(chain.plan(lowered), x, &activations).tasks, size_t(10));
        chain.scales[4] = 0.02f; // undo
        QCOMPARE(runAll(chain.plan(lowered), x, &activations).tasks, size_t(0));
        QCOMPARE(runAll(chain.plan(lowered), normalFloats(random, { 1, 4, 9, 9 }), &activations).tasks, size_t(30));
    }

    void aPassLargerThanTheBudgetKeepsItsFirst()
    {
        ActivationCache cache(1000);
        const Tensor tensor = Tensor::of<uint8_t>({ 400 }, std::vector<uint8_t>(400, 3));
        const auto key = [](uint64_t i) { return Hash128 { i, 0 }; };
        cache.beginPass();
        for (uint64_t i = 0; i < 3; ++i)
            cache.keep(key(i), key(9), tensor);
        QVERIFY(cache.find(key(0), key(9)).valid() && cache.find(key(1), key(9)).valid());
        QVERIFY(!cache.find(key(2), key(9)).valid());
        QCOMPARE(cache.usedBytes(), uint64_t(800));
        cache.beginPass();
        QVERIFY(cache.find(key(1), key(9)).valid());
        cache.keep(key(2), key(9), tensor); // in place of 0, which this pass did not use
        QVERIFY(cache.find(key(1), key(9)).valid() && cache.find(key(2), key(9)).valid());
        QVERIFY(!cache.find(key(0), key(9)).valid());
        const Tensor found = cache.find(key(2), key(9));
        cache.beginPass();
        cache.keep(key(5), key(9), tensor);
        cache.keep(key(6), key(9), tensor);
        QCOMPARE(found.data<uint8_t>()[399], uint8_t(3)); // dropped there, alive here
    }
};

} // namespace

int runCachesTests(int argc, char** argv)
{
    CachesTests tests;
    return QTest::qExec(&tests, argc, argv);
}

#include "caches_test.moc"
