// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/confirmed_pairs.h"
#include "core/analysis/lab/ladder.h"
#include "core/data/arrays/npz_writer.h"
#include "core/engine/run/execution.h"
#include "core/tensor/convert.h"
#include "tests/analysis/comparing.h"
#include "tests/analysis/products.h"
#include "tests/support/tensors.h"

#include <QTemporaryDir>

using namespace qs;
using namespace qs::test;

namespace {

FixedData samplesOf(size_t n, uint32_t seed = 1)
{
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < n; ++i)
        tensors.push_back(Tensor::of<float>({ 2, 4 }, uniform(8, seed + uint32_t(i))));
    return FixedData(std::move(tensors));
}

} // namespace

class DiagnosisTests : public QObject {
    Q_OBJECT
private slots:
    void inputsAndCoverage();
    void duplicatesAndGrowth();
    void pairsByNumbers();
    void exchangedAxesAreLinks();
    void sameValueTwice();
    void ladderFindsTheStep();
    void ladderReadsCodes();
    void savedValuesThatDoNotFit();
};

void DiagnosisTests::inputsAndCoverage()
{
    const Prepared f = SmallModel("f").input("x", { 1, 3, 1, 2 }).node("Neg", { "x" }, { "y" }).output("y").finish();
    const Prepared q = SmallModel("q")
                           .input("x", { 1, 3, 1, 2 })
                           .qdq<uint8_t>("x", "x_dq", 1.f / 64, 128)
                           .node("Neg", { "x_dq" }, { "y" })
                           .output("y")
                           .finish();
    const auto picture = [](float base) { return Tensor::of<float>({ 1, 3, 1, 2 }, { base, base, 10, 30, 200, 100 }); };
    const Comparison c = compared(f, q, FixedData({ picture(0), picture(1), picture(0) }));
    QCOMPARE(c.inputs.size(), size_t(1));
    const InputRow& row = c.inputs[0];
    QCOMPARE(row.channels.size(), size_t(3));
    QVERIFY(close(row.channels[1].mean, 20));
    QVERIFY(close(row.channels[1].deviation, 10));
    QCOMPARE(row.all->lowest, 0.0);
    QCOMPARE(row.all->highest, 200.0);
    QVERIFY2(row.note.find("raw pixels") != std::string::npos, row.note.c_str());
    const auto scaled = Tensor::of<float>({ 1, 3, 1, 2 }, { 7.705e-7f, 0.25f, 0.5f, 0.75f, 1, 1 });
    const Comparison c01 = compared(f, q, FixedData({ scaled }));
    const std::string& note = c01.inputs[0].note;
    QVERIFY2(note.starts_with("values from 0 to 1, calibrated for -2 to 1.984: "), note.c_str());
    QVERIFY(c.coverage);
    QCOMPARE(c.coverage->worst, std::string("x"));
    QVERIFY(close(c.coverage->outside, 12.0 / 18));
    QCOMPARE(c.coverage->tensorsOutside, size_t(1));
    QCOMPARE(c.duplicates, (std::vector<std::vector<size_t>> { { 0, 2 } }));
}

void DiagnosisTests::duplicatesAndGrowth()
{
    const Prepared f = SmallModel("f").input("x", { 2 }).node("Neg", { "x" }, { "y" }).output("y").finish();
    const Prepared q = SmallModel("q")
                           .input("x", { 2 })
                           .qdq<int8_t>("x", "x_dq", 0.1f, 0)
                           .node("Neg", { "x_dq" }, { "y" })
                           .output("y")
                           .finish();
    std::vector<Tensor> samples;
    for (const float largest : { 1.f, 2.f, 2.f, 4.f, 3.f })
        samples.push_back(Tensor::of<float>({ 2 }, { 0, largest }));
    const Comparison c = compared(f, q, FixedData(samples));
    QCOMPARE(c.duplicates, (std::vector<std::vector<size_t>> { { 1, 2 } }));
    QCOMPARE(c.rangeGrowth.size(), size_t(4)); // 1, 2, 4, 5
    QVERIFY(close(c.rangeGrowth[0].meanShare, 0.25));
    QVERIFY(close(c.rangeGrowth[1].meanShare, 0.5));
    QCOMPARE(c.rangeGrowth[1].settledShare, 0.0);
    QCOMPARE(c.rangeGrowth[2].settledShare, 1.0);
    QCOMPARE(c.rangeGrowth[3].samples, size_t(5));
}

namespace {

/// Values that neither names nor structure pair: both graphs compute them by other operators.
Prepared squares(const char* path, bool byProduct, bool transposed, bool twice)
{
    SmallModel model(path);
    model.input("x", { 2, 4 });
    const std::string in = byProduct ? "x_dq" : "x";
    if (byProduct)
        model.qdq<int8_t>("x", in, 1.f / 127, 0);
    const std::string to = byProduct ? "q1" : "f1";
    if (byProduct)
        model.node("Mul", { in, in }, { to });
    else
        model.constant("two", Tensor::scalar(2.f)).node("Pow", { in, "two" }, { to });
    if (twice)
        model.constant("one", Tensor::scalar(1.f)).node("Pow", { to, "one" }, { to + "_again" });
    std::string last = to;
    if (transposed) {
        last = to + "_t";
        model.node("Transpose", { to }, { last }, { { "perm", std::vector<int64_t> { 1, 0 } } });
    }
    return model.node("Exp", { last }, { byProduct ? "qe" : "fe" })
        .node("ReduceSum", { byProduct ? "qe" : "fe" }, { "y" })
        .output("y")
        .finish();
}

Alignment numbersOf(const Prepared& f, const Prepared& q)
{
    const ComparePair pair = pairOf(f, q);
    std::vector<std::vector<Tensor>> samples;
    for (const uint32_t seed : { 1u, 2u })
        samples.push_back({ Tensor::of<float>({ 2, 4 }, uniform(8, seed)) });
    return *confirmPairs(pair, {}, samples, {});
}

const ValuePair* numericPair(const Alignment& alignment, ValueId f)
{
    const auto it = std::ranges::find(alignment.values, f, &ValuePair::floatValue);
    return it == alignment.values.end() || it->method != MatchMethod::Numeric ? nullptr : &*it;
}

} // namespace

void DiagnosisTests::pairsByNumbers()
{
    const Prepared f = squares("f", false, false, false), q = squares("q", true, false, false);
    const Alignment found = numbersOf(f, q);
    const ValuePair* square = numericPair(found, f.value("f1"));
    QVERIFY(square);
    QVERIFY(square->quantValue == q.value("q1"));
    QVERIFY(square->confidence > 0.9);
    const ValuePair* power = numericPair(found, f.value("fe"));
    QVERIFY(power);
    QVERIFY(power->quantValue == q.value("qe"));
    QVERIFY(found.links.empty());
}

void DiagnosisTests::exchangedAxesAreLinks()
{
    const Prepared f = squares("f", false, false, false), q = squares("q", true, true, false);
    const Alignment found = numbersOf(f, q);
    QVERIFY(!numericPair(found, f.value("fe")));
    const auto link = std::ranges::find(found.links, f.value("fe"), &NumericLink::floatValue);
    QVERIFY(link != found.links.end());
    QVERIFY(link->permuted);
    QVERIFY(link->quantValue == q.value("qe"));
    QVERIFY(link->confidence < 0.9);
}

void DiagnosisTests::sameValueTwice()
{
    const Prepared f = squares("f", false, false, false), q = squares("q", true, false, true);
    const Alignment found = numbersOf(f, q);
    const ValuePair* square = numericPair(found, f.value("f1"));
    QVERIFY(square);
    QVERIFY(square->quantValue == q.value("q1")); // either is right; the other one is a link
    QCOMPARE(std::ranges::count(found.links, f.value("f1"), &NumericLink::floatValue), 1);
}

namespace {

struct LadderCase {
    QTemporaryDir folder;
    Prepared f = product(), q = productOnCodes();
    FixedData data = samplesOf(4);
    std::shared_ptr<const Plan> integer = Plan::make(
        std::make_shared<const Model>(q.plan->model()), { KernelMode::Fast, ArithmeticProfile::Integer, nullptr });

    /// Saves what a model computes for a value, times a factor, under a name.
    std::string saved(const std::shared_ptr<const Plan>& plan, const std::string& value, const std::string& name,
        float factor = 1) const
    {
        const std::string path = folder.filePath(QString::fromStdString(name + ".npz")).toStdString();
        const ValueId id = plan->graph().findValue(value);
        const auto schedule = Schedule::make(plan, { { id }, {} });
        auto writer = NpzWriter::create(path, { name }, data.samples());
        for (size_t i = 0; i < data.feeds(); ++i) {
            BufferPool pool;
            Execution execution(*schedule, pool);
            if (!execution.bind(data.feed(i)->inputs).ok() || !execution.runAll().ok())
                qFatal("%s does not run", value.c_str());
            Tensor made = execution.get(id);
            if (factor != 1) {
                std::vector<float> reals = toFloats(made);
                for (float& v : reals)
                    v *= factor;
                made = Tensor::of<float>(made.shape(), reals);
            }
            if (!writer->add(i, { made }).ok())
                qFatal("%s cannot be saved", value.c_str());
        }
        if (!writer->finish().ok())
            qFatal("%s cannot be saved", path.c_str());
        return path;
    }

    Result<Ladder> climb(const std::string& framework, const std::string& device) const
    {
        std::optional<SavedValues> first, last;
        if (!framework.empty()) {
            QS_TRY(first, SavedValues::open(framework, data.samples()));
        }
        if (!device.empty()) {
            QS_TRY(last, SavedValues::open(device, data.samples()));
        }
        LadderRequest request;
        request.pair = pairOf(f, q);
        request.integerPlan = integer;
        request.data = &data;
        request.framework = first ? &*first : nullptr;
        request.device = last ? &*last : nullptr;
        WorkContext work;
        work.threads = 2;
        return climbLadder(request, work);
    }
};

} // namespace

void DiagnosisTests::ladderFindsTheStep()
{
    const LadderCase c;
    const auto good = c.climb(c.saved(c.f.plan, "y", "y"), c.saved(c.integer, "y", "y_device"));
    QVERIFY2(good.ok(), good.ok() ? "" : issueText(good.issue()).c_str());
    QCOMPARE(good->rows.size(), size_t(4));
    QVERIFY(!good->firstApart);
    QVERIFY(good->rows[0].similarity.exact);
    QVERIFY(good->rows[3].similarity.exact);
    QVERIFY(good->unknown.empty());
    const auto first = c.climb(c.saved(c.f.plan, "y", "logits", 1.001f), {});
    QVERIFY(first.ok());
    QCOMPARE(*first->firstApart, size_t(0));
    QCOMPARE(first->rows[0].step, LadderStep::Float);
    QVERIFY(close(first->rows[0].relative, 0.001 / 1.001, 1e-3));
    const auto last = c.climb({}, c.saved(c.integer, "y", "out", 1.3f));
    QVERIFY(last.ok());
    QCOMPARE(last->rows.size(), size_t(3));
    QCOMPARE(*last->firstApart, size_t(2));
    QCOMPARE(last->rows[2].step, LadderStep::Device);
}

/// A device may give codes where the file gives reals, and inner values.
void DiagnosisTests::ladderReadsCodes()
{
    const LadderCase c;
    const auto climbed = c.climb({}, c.saved(c.integer, "y_quantized", "y_quantized"));
    QVERIFY2(climbed.ok(), climbed.ok() ? "" : issueText(climbed.issue()).c_str());
    QCOMPARE(climbed->rows.back().name, std::string("y_quantized"));
    QVERIFY(climbed->rows.back().similarity.exact);
    const auto ofFloat = c.climb(c.saved(c.f.plan, "m", "m"), {});
    QVERIFY(ofFloat.ok());
    QCOMPARE(ofFloat->rows[0].name, std::string("m"));
    QVERIFY(ofFloat->rows[0].agrees);
}

void DiagnosisTests::savedValuesThatDoNotFit()
{
    const LadderCase c;
    const std::string path = c.saved(c.f.plan, "y", "y");
    const auto few = SavedValues::open(path, 5);
    QVERIFY(!few.ok());
    QVERIFY2(issueText(few.issue()).find("--limit 4") != std::string::npos, issueText(few.issue()).c_str());
    QVERIFY(!SavedValues::open(c.folder.path().toStdString(), 4).ok());
    const auto sizes = c.climb(c.saved(c.f.plan, "x", "m"), {}); // eight elements a sample for six
    QVERIFY(!sizes.ok());
    QVERIFY2(issueText(sizes.issue()).find("'m'") != std::string::npos, issueText(sizes.issue()).c_str());
}

QTEST_APPLESS_MAIN(DiagnosisTests)
#include "diagnosis_test.moc"
