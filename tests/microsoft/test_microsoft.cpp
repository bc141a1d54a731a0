// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/engine/run/execution.h"
#include "core/onnx/import.h"
#include "core/tensor/convert.h"

#include <QDir>
#include <QTest>

#include <cmath>

using namespace qs;

namespace {

/// Codes and integers must be equal, floats within so much of the tensor's largest magnitude. What was recorded adds up
/// in float32 as the fast kernels do; the reference is more exact, most of all where -10000 masks a score.
double tolerance(DType type, KernelMode mode)
{
    if (!isFloat(type))
        return 0;
    return type != DType::Float32 ? 2e-3 : mode == KernelMode::Fast ? 3e-6 : 2e-4;
}

QString difference(const Tensor& got, const Tensor& wanted, KernelMode mode)
{
    if (got.dtype() != wanted.dtype() || got.shape() != wanted.shape())
        return QStringLiteral("is %1 %2, not %3 %4")
            .arg(dtypeName(got.dtype()).data(), shapeText(got.shape()).c_str(), dtypeName(wanted.dtype()).data(),
                shapeText(wanted.shape()).c_str());
    const std::vector<double> a = toDoubles(toPlain(got)), b = toDoubles(wanted);
    double largest = 0;
    for (double v : b)
        largest = std::max(largest, std::abs(v));
    const double limit = tolerance(got.dtype(), mode) * largest;
    for (size_t i = 0; i < a.size(); ++i)
        if (!(std::abs(a[i] - b[i]) <= limit))
            return QStringLiteral("element %1 is %2, not %3 (limit %4)").arg(i).arg(a[i]).arg(b[i]).arg(limit);
    return {};
}

/// What inference said of an output before it was computed.
QString contradiction(const Fact& fact, const Tensor& computed)
{
    if (fact.dtype != computed.dtype())
        return QStringLiteral("was inferred as %1").arg(dtypeName(fact.dtype).data());
    bool fits = fact.dims && fact.dims->size() == computed.rank();
    for (size_t d = 0; fits && d < computed.rank(); ++d)
        fits = !(*fact.dims)[d].known() || (*fact.dims)[d].value == computed.dim(d);
    return fits ? QString()
                : QStringLiteral("was inferred with shape ") + (fact.dims ? dimsText(*fact.dims).c_str() : "?");
}

/// A tensor that the file stores beside the network.
const Tensor* stored(const Graph& graph, const std::string& name)
{
    const ValueId id = graph.findValue(name);
    return id.valid() && graph.value(id).initializer ? &*graph.value(id).initializer : nullptr;
}

/// Empty when all outputs are as recorded.
QString run(const std::string& file, KernelMode mode)
{
    const auto model = importModel(file);
    if (!model)
        return QString::fromStdString(issueText(model.issue()));
    const Graph& graph = (*model)->graph;
    Demand demand;
    demand.values.assign(graph.outputs().begin(), graph.outputs().end());
    const auto schedule = Schedule::make(Plan::make(*model, { mode }), demand);
    if (!schedule)
        return QString::fromStdString(issueText(schedule.issue()));
    std::vector<Tensor> feed;
    for (ValueId id : graph.inputs()) {
        const Tensor* t = stored(graph, "feed:" + graph.value(id).name);
        if (!t)
            return QStringLiteral("there is nothing to feed");
        feed.push_back(*t);
    }
    if (const auto& issues = (*schedule)->plan().facts().issues; !issues.empty())
        return QString::fromStdString(issueText(issues[0]));
    BufferPool pool;
    Execution execution(*schedule, pool);
    if (const auto bound = execution.bind(feed); !bound)
        return QString::fromStdString(issueText(bound.issue()));
    if (const auto done = execution.runAll({}); !done)
        return QString::fromStdString(issueText(done.issue()));
    QStringList all;
    for (ValueId id : graph.outputs()) {
        const std::string& name = graph.value(id).name;
        const Tensor* wanted = stored(graph, "expected:" + name);
        QString text = wanted ? difference(execution.get(id), *wanted, mode) : QStringLiteral("was not recorded");
        if (text.isEmpty())
            text = contradiction((*schedule)->plan().facts().of(id), execution.get(id));
        if (!text.isEmpty())
            all << QString::fromStdString(name) + ' ' + text;
    }
    return all.join(QStringLiteral("; "));
}

} // namespace

/// ONNX Runtime's own operators against what it computed (tests/data/microsoft/record.py), with the fast and the
/// reference kernels. QS_MICROSOFT_DIR in the environment names another folder of such cases.
class TestMicrosoft : public QObject {
    Q_OBJECT
private slots:
    void recorded_data();
    void recorded();
};

void TestMicrosoft::recorded_data()
{
    QTest::addColumn<QString>("file");
    const QString other = qEnvironmentVariable("QS_MICROSOFT_DIR");
    const QString folder = other.isEmpty() ? QStringLiteral(QS_SOURCE_DIR "/tests/data/microsoft") : other;
    const QFileInfoList files = QDir(folder).entryInfoList({ QStringLiteral("*.onnx") });
    QVERIFY(!files.empty());
    for (const QFileInfo& file : files)
        QTest::newRow(qPrintable(file.baseName())) << file.filePath();
}

void TestMicrosoft::recorded()
{
    QFETCH(QString, file);
    for (const KernelMode mode : { KernelMode::Fast, KernelMode::Reference }) {
        const QString text = run(file.toStdString(), mode);
        QVERIFY2(text.isEmpty(), qPrintable((mode == KernelMode::Fast ? "fast: " : "reference: ") + text));
    }
}

QTEST_GUILESS_MAIN(TestMicrosoft)
#include "test_microsoft.moc"
