// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/registry/registry.h"
#include "core/engine/run/execution.h"
#include "core/onnx/import.h"
#include "core/tensor/container.h"
#include "tests/fuzz/fuzz_rounds.h"
#include "tests/fuzz/model_mutator.h"

#include <QDirIterator>
#include <QFile>
#include <QtTest>
#include <chrono>
#include <cstdio>

using namespace qs;
using namespace qs::test;

namespace {

/// Random bytes make every kind of number, NaN and infinities among them; small ones are likelier for integers.
Tensor anyTensor(DType type, const Shape& shape, ModelMutator& random)
{
    if (type == DType::String)
        return Tensor::strings(shape, std::vector<std::string>(size_t(elementCount(shape).value_or(0)), "text"));
    Tensor t = Tensor::allocate(type, shape);
    const bool wild = random.below(4) == 0;
    const size_t width = std::max<size_t>(dtypeBits(type) / 8, 1);
    auto bytes = t.fill<uint8_t>();
    for (size_t i = 0; i < t.byteCount(); ++i) {
        auto& byte = bytes.data()[i];
        if (type == DType::Bool)
            byte = uint8_t(random.below(2));
        else if (wild)
            byte = uint8_t(random.below(256));
        else
            byte = i % width == 0 ? uint8_t(random.below(8)) : isInteger(type) ? 0 : uint8_t(random.below(64));
    }
    return t;
}

/// A value of a declared type; unknown sizes are drawn, of what cannot be drawn there is none. Containers hold few
/// values and are sometimes empty.
Tensor anyValue(const ValueType& type, ModelMutator& random)
{
    if (type.container == "sequence") {
        std::vector<Tensor> items;
        for (size_t n = random.below(4); n > 0; --n)
            if (Tensor item = anyValue(type.element ? *type.element : ValueType {}, random); item.valid())
                items.push_back(std::move(item));
        return makeSequence(std::move(items), type.element ? type.element->dtype : DType::Undefined);
    }
    if (type.container == "optional")
        return random.below(2) == 0 ? makeNoValue() : anyTensor(DType::Float32, { int64_t(random.below(4)) }, random);
    Shape shape;
    for (const Dim& d : type.dims.value_or(Dims {}))
        shape.push_back(d.known() ? std::min<int64_t>(d.value, 64) : int64_t(1 + random.below(4)));
    const auto count = elementCount(shape);
    const bool usable = type.container.empty() && type.dtype != DType::Undefined && count && *count < 1 << 20;
    return usable ? anyTensor(type.dtype, shape, random) : Tensor();
}

std::vector<Tensor> anyInputs(const Graph& graph, ModelMutator& random)
{
    std::vector<Tensor> inputs;
    for (ValueId id : graph.inputs())
        inputs.push_back(anyValue(graph.value(id).type, random));
    return inputs;
}

constexpr uint64_t kMemory = 256 << 20;

} // namespace

class EngineFuzz : public QObject {
    Q_OBJECT

    const unsigned m_seed = setting("QS_FUZZ_SEED", 1); ///< another one by hand, with many rounds
    const unsigned m_rounds = setting("QS_FUZZ_ROUNDS", 1500);
    std::vector<std::pair<QString, std::string>> m_models; ///< path, bytes

    /// Opens, plans and runs one model; every way out but success is an issue.
    bool runs(const std::string& bytes, ModelMutator& random, const CancelToken& cancel)
    {
        const auto model = importModelFromBytes(std::as_bytes(std::span(bytes.data(), bytes.size())), ".");
        if (!model)
            return false;
        PlanOptions options;
        options.mode = random.below(3) == 0 ? KernelMode::Reference : KernelMode::Fast;
        const auto plan = Plan::make(*model, options);
        Demand demand;
        for (ValueId out : plan->graph().outputs())
            if (!plan->blocked(out))
                demand.values.push_back(out);
        const auto schedule = Schedule::make(plan, demand);
        if (!schedule || (*schedule)->estimatedPeakBytes() > kMemory)
            return false;
        BufferPool pool(kMemory);
        Execution execution(*schedule, pool);
        return execution.bind(anyInputs(plan->graph(), random)).ok() && execution.runAll(cancel).ok();
    }

private slots:
    void initTestCase()
    {
        const QString folder = qEnvironmentVariable("QS_FUZZ_MODELS", QS_ONNX_TESTDATA);
        for (QDirIterator it(folder, { "*.onnx" }, QDir::Files, QDirIterator::Subdirectories); it.hasNext();) {
            QFile file(it.next());
            if (file.size() < 200'000 && file.open(QIODevice::ReadOnly))
                m_models.emplace_back(file.fileName(), file.readAll().toStdString());
        }
        std::ranges::sort(m_models);
        qInfo("QS_FUZZ_SEED=%u QS_FUZZ_ROUNDS=%u, %zu models", m_seed, m_rounds, m_models.size());
        if (m_models.empty())
            QSKIP("no ONNX models to start from (Debian: libonnx-testdata)");
    }

    void mutatedModels()
    {
        std::vector<std::string> types;
        for (const auto& [key, lower] : loweringRegistry().all())
            types.push_back(key.second);
        Watchdog watchdog(std::chrono::seconds(5), std::chrono::seconds(60));
        size_t ran = 0;
        double longest = 0;
        std::string slowest;
        for (unsigned round = 0; round < m_rounds; ++round) {
            // Each round has a seed of its own, so that one can be repeated alone: QS_FUZZ_ROUND.
            if (const unsigned only = setting("QS_FUZZ_ROUND", round); only != round)
                continue;
            ModelMutator mutator(uint64_t(m_seed) << 32 | round, types);
            const auto& [path, whole] = m_models[mutator.below(m_models.size())];
            onnx::ModelProto proto;
            if (!proto.ParseFromString(whole))
                continue;
            mutator.mutate(proto);
            const std::string name
                = "seed " + std::to_string(m_seed) + " round " + std::to_string(round) + ", " + path.toStdString();
            const CancelToken cancel = watchdog.begin(name);
            if (qEnvironmentVariableIsSet("QS_FUZZ_VERBOSE"))
                std::fprintf(stderr, "%s\n", name.c_str());
            const auto start = std::chrono::steady_clock::now();
            ran += runs(proto.SerializeAsString(), mutator, cancel);
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
            if (took.count() > longest) {
                longest = took.count();
                slowest = name;
            }
        }
        qInfo("%zu of %u changed models still run; the slowest took %.2f s (%s)", ran, m_rounds, longest,
            slowest.c_str());
    }
};

QTEST_APPLESS_MAIN(EngineFuzz)

#include "engine_fuzz.moc"
