// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/byte_mutator.h"
#include "tests/fuzz/fuzz_rounds.h"
#include "tests/onnx/model_bytes.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

/// Reads everything a graph offers, so that sanitizers see storage that is too short.
size_t readAll(const Graph& graph);

size_t sumOf(const Tensor& t)
{
    size_t sum = 0;
    if (t.dtype() == DType::String)
        for (const auto& s : t.stringData())
            sum += s.size();
    else
        for (std::byte b : t.bytes())
            sum += std::to_integer<size_t>(b);
    if (t.dtype() == DType::Float32)
        for (float v : t.data<float>())
            sum += v != 0;
    return sum;
}

size_t readAll(const Graph& graph)
{
    size_t sum = 0;
    for (const Value& v : graph.values())
        if (v.initializer)
            sum += sumOf(*v.initializer);
    for (const Node& n : graph.nodes())
        for (const auto& [name, value] : n.attributes.all()) {
            if (const auto* tensor = std::get_if<Tensor>(&value))
                sum += sumOf(*tensor);
            if (const auto* inner = std::get_if<std::shared_ptr<const Graph>>(&value))
                sum += readAll(**inner);
        }
    return sum;
}

} // namespace

class OnnxFuzz : public QObject {
    Q_OBJECT

    const unsigned m_seed = setting("QS_FUZZ_SEED", std::random_device {}());
    const unsigned m_rounds = setting("QS_FUZZ_ROUNDS", 3000);

private slots:
    void initTestCase() { qInfo("QS_FUZZ_SEED=%u QS_FUZZ_ROUNDS=%u", m_seed, m_rounds); }

    void damagedModels()
    {
        const std::string whole = richModel().SerializeAsString();
        ByteMutator mutator(m_seed);
        size_t opened = 0;
        size_t sum = 0;
        for (unsigned round = 0; round < m_rounds; ++round) {
            const auto result = importBytes(mutator.damaged(whole));
            if (result) {
                ++opened;
                sum += readAll((*result)->graph);
                continue;
            }
            QCOMPARE(result.issue().kind, IssueKind::BadInput);
            QVERIFY(!result.issue().what.empty() && !result.issue().remedy.empty());
        }
        qInfo("%zu of %u damaged models still open (sum %zu)", opened, m_rounds, sum);
    }

    void damagedTensors()
    {
        onnx::TensorProto tensor;
        setRaw(&tensor, "x", onnx::TensorProto::FLOAT, { 16, 32 }, std::string(2048, 'f'));
        const std::string whole = tensor.SerializeAsString();
        ByteMutator mutator(m_seed);
        QTemporaryDir folder;
        for (unsigned round = 0; round < m_rounds / 10; ++round) {
            QFile file(folder.filePath("x.pb"));
            QVERIFY(file.open(QIODevice::WriteOnly));
            const std::string bytes = mutator.damaged(whole);
            file.write(bytes.data(), qint64(bytes.size()));
            file.close();
            ValueType type;
            type.dtype = DType::Float32;
            type.container = round % 4 ? "" : "sequence";
            const auto result = importValue(file.fileName().toStdString(), type);
            if (result && result->dtype() != DType::Sequence)
                sumOf(*result);
            else if (!result)
                QCOMPARE(result.issue().kind, IssueKind::BadInput);
        }
    }

    void noise()
    {
        ByteMutator mutator(m_seed);
        for (unsigned round = 0; round < m_rounds; ++round) {
            std::string bytes(mutator.below(300), '\0');
            for (char& c : bytes)
                c = static_cast<char>(mutator.below(256));
            QVERIFY(!importBytes(bytes).ok());
        }
    }
};

QTEST_APPLESS_MAIN(OnnxFuzz)

#include "onnx_fuzz.moc"
