// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/project/about/explained_element.h"
#include "core/project/about/largest_error.h"
#include "core/project/snapshot/build_snapshot.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace qs;

namespace {

using Range = std::optional<std::pair<double, double>>;

const std::string kExamples = QS_SOURCE_DIR "/resources/examples/";

SnapshotPtr example(bool quantized)
{
    Inputs inputs;
    inputs.floatPath = kExamples + "digits_float.onnx";
    if (quantized)
        inputs.quantPath = kExamples + "digits_qdq.onnx";
    inputs.data.spec = kExamples + "digits_samples.npz";
    inputs.data.limit = 5;
    auto snapshot = buildSnapshot(inputs, nullptr, {}, {});
    if (!snapshot)
        qFatal("%s", issueText(snapshot.issue()).c_str());
    return std::move(snapshot).value();
}

/// By going through all elements one by one.
std::optional<ErrorFound> byHand(const Snapshot& s, const ErrorSearch& search)
{
    std::optional<ErrorFound> best;
    double furthest = -1;
    for (const size_t sample : search.samples) {
        const TensorValues values = readValues(s, search.place, sample, {}).value();
        for (size_t i = 0; i < values.count(); ++i) {
            const auto at = indicesOf(i, values.shape);
            const bool outside = std::ranges::any_of(search.parts, [&](const AxisPart& part) {
                const auto axis = size_t(part.axis < 0 ? int64_t(at.size()) + part.axis : part.axis);
                return at[axis] < part.first || at[axis] >= part.first + part.count;
            });
            const double x = values.reference->real(i);
            if (outside || (search.within && (x < search.within->first || x >= search.within->second)))
                continue;
            const double distance = std::abs(values.quantized ? values.quantized->real(i) - x : x);
            if (distance > furthest) {
                furthest = distance;
                best = ErrorFound { sample, i, values.shape };
            }
        }
    }
    return best;
}

} // namespace

class TestLargestError : public QObject {
    Q_OBJECT
private slots:
    void isFound_data()
    {
        QTest::addColumn<bool>("quantized");
        QTest::addColumn<std::vector<size_t>>("samples");
        QTest::addColumn<std::vector<AxisPart>>("parts");
        QTest::addColumn<Range>("within");
        const Range any, some { { 0.25, 0.5 } }, none { { 1e6, 1e7 } };
        const std::vector<size_t> one { 0 }, all { 0, 1, 2, 3, 4 };
        QTest::newRow("one sample") << true << one << std::vector<AxisPart> {} << any;
        QTest::newRow("all samples") << true << all << std::vector<AxisPart> {} << any;
        QTest::newRow("a channel") << true << all << std::vector<AxisPart> { { 1, 7, 1 } } << any;
        QTest::newRow("a cell") << true << all << std::vector<AxisPart> { { -2, 1, 1 }, { -1, 2, 2 } } << any;
        QTest::newRow("beyond an axis") << true << one << std::vector<AxisPart> { { 1, 1000, 5 } } << any;
        QTest::newRow("across its end") << true << one << std::vector<AxisPart> { { -1, 2, 1000 } } << any;
        QTest::newRow("values") << true << all << std::vector<AxisPart> {} << some;
        QTest::newRow("no values") << true << all << std::vector<AxisPart> {} << none;
        QTest::newRow("one model alone") << false << all << std::vector<AxisPart> {} << any;
    }

    void isFound()
    {
        QFETCH(bool, quantized);
        QFETCH(std::vector<size_t>, samples);
        QFETCH(std::vector<AxisPart>, parts);
        QFETCH(Range, within);
        const SnapshotPtr snapshot = example(quantized);
        for (const char* name : { "/pool/MaxPool_output_0", "scores" }) {
            const auto place = tensorNamed(*snapshot, name, false);
            QVERIFY(place);
            const bool fits = snapshot->floatModel->graph().value(place->value).type.dims->size() > 2 || parts.empty();
            if (!fits)
                continue;
            const ErrorSearch search { *place, samples, parts, within };
            const auto found = largestError(*snapshot, search, {});
            QVERIFY2(found, found ? "" : issueText(found.issue()).c_str());
            const auto wanted = byHand(*snapshot, search);
            QCOMPARE(found.value().has_value(), wanted.has_value());
            if (wanted) {
                QCOMPARE(found.value()->sample, wanted->sample);
                QCOMPARE(found.value()->element, wanted->element);
                QVERIFY(found.value()->shape == wanted->shape);
            }
        }
    }

    void weightsToo()
    {
        const SnapshotPtr snapshot = example(true);
        const auto place = tensorNamed(*snapshot, "classifier.weight", false);
        QVERIFY(place);
        const ErrorSearch search { *place, { 0 }, {}, {} };
        const auto found = largestError(*snapshot, search, {}), wanted = Result(byHand(*snapshot, search));
        QCOMPARE(found.value()->element, wanted.value()->element);
    }

    /// What is asked for may be of a model that is not there any more.
    void numbersOfOtherModelsAreNotFollowed()
    {
        const SnapshotPtr snapshot = example(true);
        for (const bool quantized : { false, true })
            QVERIFY(!explainElement(*snapshot, { { quantized, ValueId(1'000'000), {} }, { 0, 0 } }, {}));
    }

    void stopsWhenItIsCancelled()
    {
        const SnapshotPtr snapshot = example(true);
        WorkContext work;
        work.cancel.cancel();
        const auto found = largestError(*snapshot, { *tensorNamed(*snapshot, "scores", false), { 0 }, {}, {} }, work);
        QVERIFY(!found);
        QCOMPARE(found.issue().kind, IssueKind::Cancelled);
    }
};

QTEST_GUILESS_MAIN(TestLargestError)
#include "largest_error_test.moc"
