// SPDX-License-Identifier: GPL-3.0-or-later
// What language models remember: keys and values of every operator that caches them, against a naive computation in
// double of what the model puts out.
#include "core/analysis/caches/cache_sums.h"
#include "core/analysis/caches/measure_caches.h"
#include "core/base/issue_text.h"
#include "core/engine/run/execution.h"
#include "core/kernels/sequence/cache_codes.h"
#include "core/tensor/convert.h"
#include "tests/support/helper_call.h"
#include "tests/support/small_attention.h"

#include <QtTest>

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

constexpr unsigned kSeed = 20261127;

/// Elements of one tensor that count: prompt, head, position, channel.
struct NaiveRow {
    size_t prompt, head, position;
    std::vector<double> x;
};
using NaiveRows = std::vector<NaiveRow>;

size_t at(const AttentionForm& form, CacheKind kind, size_t prompt, size_t head, size_t position, size_t channel)
{
    const auto heads = size_t(form.memory == Memory::Joined ? form.heads : form.keyHeads), size = size_t(form.size),
               long_ = size_t(kLongest);
    if (form.memory == Memory::ConcatTurned && kind == CacheKind::Key)
        return ((prompt * heads + head) * size + channel) * long_ + position;
    const size_t part = form.memory == Memory::Joined && kind == CacheKind::Value ? 2 * heads * long_ * size : 0;
    return part + ((prompt * heads + head) * long_ + position) * size + channel;
}

/// What the model puts out, by what the mask says.
NaiveRows naiveRows(const Prepared& model, const AttentionForm& form, const DataSource& data, CacheKind kind)
{
    const bool joined = form.memory == Memory::Joined;
    const ValueId value = model.value(joined ? "present_0"
            : kind == CacheKind::Key         ? "present.3.key"
                                             : "present.3.value");
    const auto schedule = Schedule::make(model.plan, { { value }, {} }).value();
    BufferPool pool;
    NaiveRows rows;
    for (size_t f = 0; f < data.feeds(); ++f) {
        const Feed feed = data.feed(f).value();
        Execution run(schedule, pool);
        if (!run.bind(feed.inputs).ok() || !run.runAll().ok())
            return {};
        const std::vector<float> all = toFloats(toPlain(run.get(value)));
        const std::vector<int64_t> mask = toInts(feed.inputs[1]);
        for (size_t b = 0; b < 2; ++b)
            for (size_t p = 0; p < size_t(kLongest); ++p)
                for (size_t h = 0; mask[b * size_t(kLongest) + p] && h < size_t(joined ? form.heads : form.keyHeads);
                     ++h) {
                    NaiveRow row { feed.firstSample + b, h, p, {} };
                    for (size_t d = 0; d < size_t(form.size); ++d)
                        row.x.push_back(all[at(form, kind, b, h, p, d)]);
                    rows.push_back(row);
                }
    }
    return rows;
}

struct NaiveError {
    double signal = 0, noise = 0, sum = 0, largest = 0;
    size_t n = 0;
    void add(double x, double y)
    {
        signal += x * x, noise += (y - x) * (y - x), sum += std::abs(y - x),
            largest = std::max(largest, std::abs(y - x));
        ++n;
    }
    bool equals(const CodingError& e) const
    {
        const auto close = [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(1.0, std::abs(a)); };
        return e.sqnrDb && close(10 * std::log10(signal / noise), *e.sqnrDb) && close(sum / double(n), *e.meanAbsError)
            && close(largest, *e.maxAbsError) && !e.exact;
    }
};

/// By the kernel that GroupQueryAttention runs.
double coded(double x, float scale, int64_t bits)
{
    const CacheCodes codes { bits, 1, 1, &scale, false };
    const auto value = float(x);
    uint8_t code = 0;
    float back = 0;
    quantizeCache(codes, &value, 1, 1, &code);
    dequantizeCache(codes, &code, 1, 1, &back);
    return back;
}

float naiveScale(double threshold, int64_t bits) { return std::max(float(threshold), 1e-6f) / (bits == 8 ? 128 : 8); }

std::vector<double> naiveLargest(const NaiveRows& rows, size_t heads, size_t size)
{
    std::vector<double> largest(heads * size, 0);
    for (const NaiveRow& row : rows)
        for (size_t d = 0; d < size; ++d)
            largest[row.head * size + d] = std::max(largest[row.head * size + d], std::abs(row.x[d]));
    return largest;
}

Result<CacheReport> measured(
    const Prepared& model, const DataSource& data, const CacheOptions& options, size_t threads = 1)
{
    WorkContext work;
    work.threads = threads;
    return measureCaches(model.plan, data, options, work);
}

const CacheRow* rowOf(const CacheReport& report, CacheKind kind)
{
    const auto row = std::ranges::find(report.rows, kind, &CacheRow::kind);
    return row == report.rows.end() ? nullptr : &*row;
}

/// The keys of one token, turned back by naive products.
std::vector<double> turnedBack(const AttentionForm& form, const std::vector<double>& x, size_t position)
{
    const auto size = size_t(form.size), pairs = size / 2;
    std::vector<double> y(x);
    for (size_t i = 0; i < pairs; ++i) {
        const double angle = -double(position) * std::pow(10.0, -double(i) / double(pairs));
        const size_t a = form.interleaved ? 2 * i : i, b = form.interleaved ? 2 * i + 1 : i + pairs;
        y[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
        y[b] = x[a] * std::sin(angle) + x[b] * std::cos(angle);
    }
    return y;
}

} // namespace

Q_DECLARE_METATYPE(AttentionForm)

class CacheNumbersTests : public QObject {
    Q_OBJECT
private slots:
    void againstNaive_data();
    void againstNaive();
    void beforeRotary_data() { againstNaive_data(); }
    void beforeRotary();
    void leastError();
    void anyPosition();
    void mapIsOfOneHead();
    void outliers();
    void codesAreThoseOfTheKernel();
    void namesAndLayers();
    void refusals();

private:
    void checkKind(const AttentionForm& form, const Prepared& model, const DataSource& data, const CacheReport& report,
        CacheKind kind);
};

void CacheNumbersTests::againstNaive_data()
{
    QTest::addColumn<AttentionForm>("form");
    QTest::newRow("GroupQueryAttention") << AttentionForm {};
    QTest::newRow("one head of keys, interleaved") << AttentionForm { Memory::Group, 3, 1, 10, true, true };
    QTest::newRow("packed") << AttentionForm { Memory::GroupPacked, 6, 3, 2, true, false };
    QTest::newRow("packed, interleaved") << AttentionForm { Memory::GroupPacked, 2, 1, 14, true, true };
    QTest::newRow("MultiHeadAttention") << AttentionForm { Memory::ManyHeads, 3, 3, 6, true, false };
    QTest::newRow("MultiHeadAttention, interleaved") << AttentionForm { Memory::ManyHeads, 2, 2, 8, true, true };
    QTest::newRow("Attention of com.microsoft") << AttentionForm { Memory::Joined, 3, 3, 6, false, false };
    QTest::newRow("ONNX's Attention") << AttentionForm { Memory::Standard, 4, 2, 6, true, false };
    QTest::newRow("ONNX's Attention, one head of keys") << AttentionForm { Memory::Standard, 3, 1, 4, true, true };
    QTest::newRow("Concat") << AttentionForm { Memory::Concat, 4, 2, 6, true, false };
    QTest::newRow("Concat, keys upright") << AttentionForm { Memory::ConcatTurned, 3, 1, 10, true, false };
    QTest::newRow("no rotary") << AttentionForm { Memory::Group, 2, 1, 7, false, false };
    QTest::newRow("Concat, no rotary") << AttentionForm { Memory::Concat, 3, 3, 5, false, false };
}

void CacheNumbersTests::againstNaive()
{
    QFETCH(AttentionForm, form);
    const Prepared model = SmallAttention(form, kSeed).make();
    const AttentionPrompts data(form, kSeed);
    const auto report = measured(model, data, { ScaleChoice::Largest, false, {} });
    QVERIFY2(report.ok(), report.ok() ? "" : issueText(report.issue()).c_str());
    QCOMPARE(report->prompts, size_t(6));
    QVERIFY(report->leftOut.empty());
    QS_HELPER(checkKind(form, model, data, *report, CacheKind::Key));
    QS_HELPER(checkKind(form, model, data, *report, CacheKind::Value));
    QCOMPARE(rowOf(*report, CacheKind::KeyBeforeRotary) != nullptr, form.rotary);
    const auto again = measured(model, data, { ScaleChoice::Largest, false, {} }, 3);
    QVERIFY(again.ok());
    QCOMPARE(*rowOf(*again, CacheKind::Key)->errors[1][1].meanAbsError,
        *rowOf(*report, CacheKind::Key)->errors[1][1].meanAbsError);
}

void CacheNumbersTests::checkKind(
    const AttentionForm& form, const Prepared& model, const DataSource& data, const CacheReport& report, CacheKind kind)
{
    const NaiveRows rows = naiveRows(model, form, data, kind);
    QVERIFY(!rows.empty());
    const CacheRow* found = rowOf(report, kind);
    QVERIFY(found);
    const auto heads = size_t(form.memory == Memory::Joined ? form.heads : form.keyHeads), size = size_t(form.size);
    QCOMPARE(found->headCount, heads);
    QCOMPARE(found->size, size);
    QCOMPARE(found->layer, size_t(form.memory == Memory::Joined ? 0 : 3));
    QCOMPARE(found->positions, size_t(kLongest));
    QCOMPARE(found->elements, uint64_t(rows.size() * size));
    const std::vector<double> largest = naiveLargest(rows, heads, size);
    std::vector<double> low(heads * size, 1e30), high(heads * size, -1e30), byPosition(size_t(kLongest) * heads, 0);
    for (const NaiveRow& row : rows)
        for (size_t d = 0; d < size; ++d) {
            const size_t c = row.head * size + d;
            low[c] = std::min(low[c], row.x[d]), high[c] = std::max(high[c], row.x[d]);
            double& one = byPosition[row.position * heads + row.head];
            one = std::max(one, std::abs(row.x[d]));
        }
    for (size_t c = 0; c < heads * size; ++c) {
        QCOMPARE(double(found->channels[c].low), low[c]);
        QCOMPARE(double(found->channels[c].high), high[c]);
        QCOMPARE(found->channelScales[0][c], naiveScale(largest[c], 8));
        QCOMPARE(found->channelScales[1][c], naiveScale(largest[c], 4));
    }
    for (size_t i = 0; i < byPosition.size(); ++i)
        QCOMPARE(double(found->byPosition[i].largest()), byPosition[i]);
    const double all = *std::ranges::max_element(largest);
    QCOMPARE(double(found->range.largest()), all);
    for (const int64_t bits : { 8, 4 }) {
        std::vector<std::array<NaiveError, 3>> errors(heads + 1); // the last: all
        for (const NaiveRow& row : rows) {
            double most = 0;
            for (const double x : row.x)
                most = std::max(most, std::abs(x));
            for (size_t d = 0; d < size; ++d) {
                const double x = row.x[d];
                const double y[] { coded(x, naiveScale(all, bits), bits),
                    coded(x, naiveScale(largest[row.head * size + d], bits), bits),
                    coded(x, float(most) / float(bits == 8 ? 127 : 7), bits) };
                for (size_t s = 0; s < 3; ++s)
                    errors[row.head][s].add(x, y[s]), errors[heads][s].add(x, y[s]);
            }
        }
        for (size_t s = 0; s < 3; ++s) {
            QVERIFY2(errors[heads][s].equals(found->errors[bits == 4][s]),
                qPrintable(QString("all %1 %2").arg(bits).arg(s)));
            for (size_t h = 0; h < heads; ++h)
                QVERIFY2(errors[h][s].equals(found->heads[h].errors[bits == 4][s]),
                    qPrintable(QString("%1 %2").arg(bits).arg(s)));
        }
    }
}

/// The cached keys are those before, turned by their positions.
void CacheNumbersTests::beforeRotary()
{
    QFETCH(AttentionForm, form);
    if (!form.rotary)
        return;
    const Prepared model = SmallAttention(form, kSeed).make();
    const AttentionPrompts data(form, kSeed, 1);
    const auto report = measured(model, data, { ScaleChoice::Largest, false, {} });
    QVERIFY(report.ok());
    const CacheRow *before = rowOf(*report, CacheKind::KeyBeforeRotary), *after = rowOf(*report, CacheKind::Key);
    QVERIFY(before && after && after->rotary);
    QCOMPARE(before->elements, after->elements);
    // The first position is not turned, and a rotation keeps lengths.
    for (size_t h = 0; h < after->headCount; ++h)
        QVERIFY(std::abs(before->byPosition[h].high - after->byPosition[h].high) < 1e-5f);
    const NaiveRows rows = naiveRows(model, form, data, CacheKind::Key);
    std::vector<double> largest(size_t(form.keyHeads * form.size), 0);
    for (const NaiveRow& row : rows) {
        const std::vector<double> x = turnedBack(form, row.x, row.position);
        for (size_t d = 0; d < x.size(); ++d)
            largest[row.head * x.size() + d] = std::max(largest[row.head * x.size() + d], std::abs(x[d]));
    }
    for (size_t c = 0; c < largest.size(); ++c)
        QVERIFY2(std::abs(double(before->channels[c].largest()) - largest[c]) < 1e-4, qPrintable(QString::number(c)));
}

void CacheNumbersTests::leastError()
{
    const AttentionForm form;
    const Prepared model = SmallAttention(form, kSeed).make();
    const AttentionPrompts data(form, kSeed, 5);
    const auto plain = measured(model, data, { ScaleChoice::Largest, false, {} }), best = measured(model, data, {});
    QVERIFY(plain.ok() && best.ok());
    const NaiveRows rows = naiveRows(model, form, data, CacheKind::Value);
    const CacheRow* found = rowOf(*best, CacheKind::Value);
    const auto heads = size_t(form.keyHeads), size = size_t(form.size);
    const std::vector<double> largest = naiveLargest(rows, heads, size);
    for (const int64_t bits : { 8, 4 })
        for (size_t c = 0; c < heads * size; ++c) {
            double least = std::numeric_limits<double>::infinity();
            float scale = 0;
            for (int i = 0; i < 28; ++i) {
                const float widest = bits == 8 ? 128 / 127.0f : 8 / 7.0f;
                const float share = i < 23 ? 0.2f + 0.8f * float(i) / 23.0f : 1 + (widest - 1) * float(i - 23) / 4.0f;
                const float one = naiveScale(double(float(largest[c]) * share), bits);
                double error = 0;
                for (const NaiveRow& row : rows)
                    if (row.head == c / size)
                        error += std::pow(coded(row.x[c % size], one, bits) - row.x[c % size], 2);
                if (error <= least)
                    least = error, scale = one;
            }
            QCOMPARE(found->channelScales[bits == 4][c], scale);
        }
    for (const CacheKind kind : { CacheKind::Key, CacheKind::Value, CacheKind::KeyBeforeRotary })
        for (const CacheBits bits : kCacheBits)
            for (const CacheScales scales : { CacheScales::PerTensor, CacheScales::PerChannel })
                QVERIFY(*errorOf(rowOf(*best, kind)->errors, bits, scales).sqnrDb
                    >= *errorOf(rowOf(*plain, kind)->errors, bits, scales).sqnrDb);
}

void CacheNumbersTests::anyPosition()
{
    for (const bool interleaved : { false, true }) {
        const AttentionForm form { Memory::Group, 4, 2, 6, true, interleaved };
        const Prepared model = SmallAttention(form, kSeed).make();
        const AttentionPrompts data(form, kSeed);
        const auto report = measured(model, data, { ScaleChoice::Largest, true, {} });
        QVERIFY(report.ok());
        const NaiveRows rows = naiveRows(model, form, data, CacheKind::Key);
        std::vector<double> lengths(size_t(form.keyHeads * form.size), 0);
        for (const NaiveRow& row : rows)
            for (size_t i = 0; i < 3; ++i) {
                const size_t a = interleaved ? 2 * i : i, b = interleaved ? 2 * i + 1 : i + 3;
                const double length = std::hypot(row.x[a], row.x[b]);
                for (const size_t d : { a, b })
                    lengths[row.head * 6 + d] = std::max(lengths[row.head * 6 + d], length);
            }
        const CacheRow* key = rowOf(*report, CacheKind::Key);
        for (size_t c = 0; c < lengths.size(); ++c)
            QVERIFY(std::abs(key->channelScales[0][c] * 128 - lengths[c]) < 1e-5 * lengths[c]);
        // Values are not turned.
        const CacheRow* value = rowOf(*report, CacheKind::Value);
        QCOMPARE(value->channelScales[0][3], naiveScale(double(value->channels[3].largest()), 8));
    }
}

void CacheNumbersTests::mapIsOfOneHead()
{
    const AttentionForm form { Memory::ConcatTurned, 4, 2, 6, true, false };
    const Prepared model = SmallAttention(form, kSeed).make();
    const AttentionPrompts data(form, kSeed);
    WorkContext work;
    const auto map = cacheMap(model.plan, data, {}, 0, 1, work);
    QVERIFY(map.ok());
    QCOMPARE(map->channels, size_t(6));
    QCOMPARE(map->positions, size_t(kLongest));
    std::vector<double> naive(6 * size_t(kLongest), 0);
    for (const NaiveRow& row : naiveRows(model, form, data, CacheKind::Key))
        for (size_t d = 0; d < 6 && row.head == 1; ++d) {
            double& one = naive[d * size_t(kLongest) + row.position];
            one = std::max(one, std::abs(row.x[d]));
        }
    for (size_t i = 0; i < naive.size(); ++i)
        QCOMPARE(double(map->largest[i]), naive[i]);
    QVERIFY(cacheMap(model.plan, data, {}, 0, 2, work).issue().what.find("not a head 2") != std::string::npos);
    QVERIFY(!cacheMap(model.plan, data, {}, 3, 0, work).ok());
}

/// A channel counts from more than four times the median on.
void CacheNumbersTests::outliers()
{
    const AttentionForm form { Memory::Group, 4, 2, 6, true, false };
    const Prepared model = SmallAttention(form, kSeed).make();
    const auto report = measured(model, AttentionPrompts(form, kSeed), {});
    QVERIFY(report.ok());
    for (const CacheRow& row : report->rows) {
        std::vector<double> sizes;
        for (const ValueSpan& span : row.channels)
            sizes.push_back(span.largest());
        std::vector<double> sorted = sizes;
        std::ranges::sort(sorted);
        const double median = (sorted[5] + sorted[6]) / 2;
        size_t count = 0, ofHeads = 0;
        for (size_t c = 0; c < sizes.size(); ++c) {
            const auto outlier = std::ranges::find(row.outliers, c, &OutlierChannel::channel);
            QCOMPARE(outlier != row.outliers.end(), sizes[c] > 4 * median);
            if (outlier == row.outliers.end())
                continue;
            ++count;
            QCOMPARE(outlier->ratio, sizes[c] / median);
        }
        for (const CacheHead& head : row.heads)
            ofHeads += head.outliers;
        QCOMPARE(ofHeads, count);
        QVERIFY(std::ranges::is_sorted(row.outliers, std::greater<>(), &OutlierChannel::ratio));
    }
}

void CacheNumbersTests::codesAreThoseOfTheKernel()
{
    std::mt19937 random(kSeed);
    std::normal_distribution<float> normal(0, 3);
    for (int i = 0; i < 20000; ++i) {
        const float scale = std::abs(normal(random)) * 0.02f + 1e-8f;
        const float x = i % 3 ? normal(random) : std::round(normal(random) * 10) * 0.5f * scale; // also ties
        for (const CacheBits bits : kCacheBits)
            QCOMPARE(double(throughCode(x, scale, bits)), coded(x, scale, bitsOf(bits)));
    }
}

void CacheNumbersTests::namesAndLayers()
{
    SmallModel m("names");
    const auto add = [&](const char* in, const char* out, const Shape& shape) {
        m.input(in, shape).node("Concat", { in, "fresh" }, { out }, { { "axis", int64_t(1) } }).output(out);
    };
    m.input("fresh", { 1, 1, 4 });
    add("cache_k_in", "cache_k_out", { 1, -1, 4 });
    add("cache_v_in", "cache_v_out", { 1, -1, 4 });
    add("layers.1.keys.past", "layers.1.keys.present", { 1, -1, 4 });
    add("memory_in", "memory_out", { 1, -1, 4 });
    const Prepared model = m.finish();
    const auto& inputs = model.graph().inputs();
    std::vector<std::pair<ValueId, size_t>> caches;
    for (const auto& [in, out] : { std::pair("cache_k_in", "cache_k_out"), std::pair("cache_v_in", "cache_v_out"),
             std::pair("layers.1.keys.past", "layers.1.keys.present"), std::pair("memory_in", "memory_out") })
        caches.emplace_back(model.value(out), size_t(std::ranges::find(inputs, model.value(in)) - inputs.begin()));
    const auto found = cachePlaces(*model.plan, caches);
    QVERIFY(found.ok());
    QCOMPARE(found->places.size(), size_t(3));
    QCOMPARE(found->places[0].name, std::string("cache_k_out"));
    QCOMPARE(found->places[1].kind, CacheKind::Value);
    QCOMPARE(found->places[2].layer, size_t(1));
    QCOMPARE(found->leftOut.size(), size_t(1));
    QCOMPARE(found->leftOut[0].name, std::string("memory_out"));
}

void CacheNumbersTests::refusals()
{
    SmallModel none("none");
    const Prepared model = none.input("x", { 1, 2 }).node("Relu", { "x" }, { "y" }).output("y").finish();
    const AttentionPrompts data(AttentionForm {}, kSeed);
    const auto report = measured(model, data, {});
    QVERIFY(!report.ok());
    QVERIFY(report.issue().what.find("no caches of keys and values") != std::string::npos);
    QVERIFY(!hasCaches(*model.plan, {}));
    QVERIFY(hasCaches(*SmallAttention({}, kSeed).make().plan, {}));
    WorkContext work;
    work.cancel.cancel();
    const auto stopped = measureCaches(SmallAttention({}, kSeed).make().plan, data, {}, work);
    QVERIFY(!stopped.ok() && stopped.issue().kind == IssueKind::Cancelled);
}

QTEST_GUILESS_MAIN(CacheNumbersTests)
#include "cache_numbers_test.moc"
