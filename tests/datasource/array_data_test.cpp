// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/issue_text.h"
#include "core/base/work/parallel.h"
#include "core/data/arrays/npz_writer.h"
#include "core/data/open_data.h"
#include "core/tensor/convert.h"
#include "tests/datasource/array_bytes.h"

#include <QTemporaryDir>
#include <QtTest>

#include <atomic>

using namespace qs;
using namespace qs::testing;

namespace {

InputSpec floatInput(std::string name, Dims dims) { return { std::move(name), DType::Float32, std::move(dims) }; }
InputSpec floatInput(std::string name, const Shape& shape) { return floatInput(std::move(name), toDims(shape)); }

Dims withDynamicBatch(const Shape& rest)
{
    Dims dims = toDims(rest);
    dims.insert(dims.begin(), Dim { -1, "N" });
    return dims;
}

std::string floats(size_t n) { return bytesOf(counting<float>(n)); }

} // namespace

class ArrayDataTest : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;

    std::string path(const std::string& name) const { return m_folder.path().toStdString() + "/" + name; }

    std::string npz(const Members& members, Packing packing = Packing::Stored)
    {
        writeZip(path("data.npz"), members, packing);
        return path("data.npz");
    }

    static std::shared_ptr<const DataSource> opened(
        const std::string& spec, const std::vector<InputSpec>& inputs, std::optional<size_t> limit = {})
    {
        DataRequest request;
        request.spec = spec;
        request.limit = limit;
        auto data = openData(request, inputs);
        if (!data)
            qWarning("%s", issueText(data.issue()).c_str());
        return data ? data.value() : nullptr;
    }

    static QString refusal(
        const std::string& spec, const std::vector<InputSpec>& inputs, std::optional<size_t> limit = {})
    {
        DataRequest request;
        request.spec = spec;
        request.limit = limit;
        const auto data = openData(request, inputs);
        if (!data)
            return QString::fromStdString(issueText(data.issue()));
        const auto feed = data.value()->feed(0);
        return feed ? QString() : QString::fromStdString(issueText(feed.issue()));
    }

private slots:
    void textsAreWritten()
    {
        auto writer = NpzWriter::create(path("texts.npz"), { "s" }, 2);
        QVERIFY(writer);
        QVERIFY(writer->add(1, { Tensor::strings({ 2 }, { "abc", "\xc3\xa9" }) }));
        QVERIFY(writer->add(0, { Tensor::strings({ 2 }, { "", "x" }) }));
        QVERIFY(writer->finish());
        QFile file(QString::fromStdString(path("texts.npz")));
        QVERIFY(file.open(QFile::ReadOnly));
        const QByteArray bytes = file.readAll();
        const std::u32string expected(U"\0\0\0x\0\0abc\u00e9\0\0", 12);
        QVERIFY(bytes.contains("'descr': '<U3'") && bytes.contains("'shape': (2, 2)"));
        QVERIFY(bytes.contains(QByteArray(reinterpret_cast<const char*>(expected.data()), 48)));
    }

    void itemsAndCompleteInputs()
    {
        const std::string file = npz({ { "x.npy", npy("<f4", "(4, 3)", floats(12)) } });
        auto items = opened(file, { floatInput("x", withDynamicBatch({ 3 })) });
        QVERIFY(items);
        QCOMPARE(items->samples(), size_t(4));
        const Feed third = items->feed(2).value();
        QCOMPARE(third.firstSample, size_t(2));
        QVERIFY(third.inputs[0].shape() == Shape({ 1, 3 }));
        QVERIFY(toFloats(third.inputs[0]) == std::vector<float>({ 6, 7, 8 }));

        auto complete = opened(file, { floatInput("x", Shape { 3 }) });
        QVERIFY(complete);
        QCOMPARE(complete->samples(), size_t(4));
        QVERIFY(complete->feed(3).value().inputs[0].shape() == Shape({ 3 }));

        auto batched = opened(file, { floatInput("x", Shape { 2, 3 }) });
        QVERIFY(batched);
        QCOMPARE(batched->feeds(), size_t(2));
        QCOMPARE(batched->samples(), size_t(4));
        QCOMPARE(batched->feed(1).value().samples, size_t(2));
        QVERIFY(toFloats(batched->feed(1).value().inputs[0]) == std::vector<float>({ 6, 7, 8, 9, 10, 11 }));
    }

    void batchThatIsNotFilled()
    {
        const std::string file = npz({ { "x.npy", npy("<f4", "(5, 3)", floats(15)) } });
        QVERIFY(refusal(file, { floatInput("x", Shape { 2, 3 }) }).contains("do not fill"));
        QVERIFY(refusal(file, { floatInput("x", Shape { 2, 3 }) }, 3).contains("--limit 2"));
        QCOMPARE(opened(file, { floatInput("x", Shape { 2, 3 }) }, 4)->feeds(), size_t(2));
        QVERIFY(refusal(file, { floatInput("x", Shape { 8, 3 }) }).contains("do not fill"));
    }

    void optionsOfOtherForms()
    {
        DataRequest request;
        request.spec = npz({ { "x.npy", npy("<f4", "(2, 3)", floats(6)) } });
        request.preprocess = "pictures.json";
        request.shapes["x"] = { 2, 3 };
        const auto data = openData(request, { floatInput("x", withDynamicBatch({ 3 })) });
        QVERIFY(data.ok());
        QCOMPARE((*data)->warnings().size(), size_t(2));
        QVERIFY(QString::fromStdString((*data)->warnings()[0]).contains("--preprocess"));
        QVERIFY(QString::fromStdString((*data)->warnings()[1]).contains("--shape"));
    }

    void keys()
    {
        const auto array = npy("<f4", "(2, 3)", floats(6));
        const InputSpec x = floatInput("x", withDynamicBatch({ 3 }));
        const InputSpec y = floatInput("y", withDynamicBatch({ 3 }));
        QVERIFY(opened(npz({ { "arr_0.npy", array } }), { x }));
        auto extra = opened(npz({ { "other.npy", array }, { "x.npy", array } }), { x });
        QVERIFY(extra && extra->warnings().size() == 1);
        QVERIFY(QString::fromStdString(extra->warnings()[0]).contains("'other'"));
        const QString missing = refusal(npz({ { "a.npy", array }, { "x.npy", array } }), { x, y });
        QVERIFY2(missing.contains("'y'") && missing.contains("'a'") && missing.contains("'x'"), qPrintable(missing));
        QVERIFY(!refusal(npz({ { "a.npy", array }, { "b.npy", array } }), { x }).isEmpty());
        writeBytes(path("one.npy"), array);
        QVERIFY(opened(path("one.npy"), { x }));
        QVERIFY(refusal(path("one.npy"), { x, y }).contains("2 inputs"));
        QVERIFY(!refusal(npz({ { "x.npy", array }, { "x", array } }), { x }).isEmpty());
    }

    /// What a language model reads beside its tokens, where the file gives the tokens alone.
    void tokensAlone()
    {
        const Dim batch { -1, "batch" }, positions { -1, "positions" }, past { -1, "past" }, width { -1, "width" };
        const std::vector<InputSpec> inputs { { "attention_mask", DType::Int64, Dims { batch, positions } },
            { "input_ids", DType::Int64, Dims { batch, positions } },
            { "position_ids", DType::Int32, Dims { batch, positions } },
            { "past_key_values.0.key", DType::Int8, Dims { batch, Dim { 2, "" }, past, width } } };
        const std::vector<int64_t> ids { 5, 6, 7, 8, 9, 10 };
        const std::string file = npz({ { "input_ids.npy", npy("<i8", "(2, 3)", bytesOf(ids)) } });
        const auto data = opened(file, inputs);
        QVERIFY(data);
        QCOMPARE(data->samples(), size_t(2));
        QCOMPARE(data->warnings().size(), size_t(1));
        const auto feed = data->feed(1);
        QVERIFY(feed.ok());
        const std::vector<Tensor>& in = feed.value().inputs;
        QCOMPARE(in.size(), inputs.size());
        QCOMPARE(toInts(in[0]), (std::vector<int64_t> { 1, 1, 1 }));
        QCOMPARE(toInts(in[1]), (std::vector<int64_t> { 8, 9, 10 }));
        QCOMPARE(toInts(in[2]), (std::vector<int64_t> { 0, 1, 2 }));
        QCOMPARE(in[2].dtype(), DType::Int32);
        QCOMPARE(in[3].shape(), (Shape { 1, 2, 0, 1 }));
        QCOMPARE(in[3].dtype(), DType::Int8);
        // A float past without positions is none for a model that remembers codes; one with positions does not fit.
        const auto withPast = [&](const char* shape, size_t count) {
            return npz({ { "input_ids.npy", npy("<i8", "(2, 3)", bytesOf(ids)) },
                { "past_key_values.0.key.npy", npy("<f4", shape, floats(count)) } });
        };
        const auto other = opened(withPast("(2, 2, 0, 8)", 0), inputs);
        QVERIFY(other);
        QCOMPARE(other->warnings().size(), size_t(1));
        const auto otherFeed = other->feed(0);
        QVERIFY(otherFeed.ok());
        QCOMPARE(otherFeed.value().inputs[3].dtype(), DType::Int8);
        QCOMPARE(otherFeed.value().inputs[3].count(), int64_t(0));
        QVERIFY(refusal(withPast("(2, 2, 1, 8)", 32), inputs).contains("int8"));
        // One of the model's own type tells the width that the model leaves open, whether axis 0 counts samples or not.
        for (const char* shape : { "(2, 2, 0, 8)", "(2, 1, 2, 0, 8)" }) {
            std::vector<InputSpec> own = inputs;
            own[3].dtype = DType::Float32;
            const std::string rows = npz({ { "input_ids.npy", npy("<i8", "(2, 1, 3)", bytesOf(ids)) },
                { "past_key_values.0.key.npy", npy("<f4", shape, {}) } });
            const auto mine = opened(rows, own);
            QVERIFY(mine);
            const auto given = mine->feed(1);
            QVERIFY(given.ok());
            QCOMPARE(given.value().inputs[3].shape(), (Shape { 1, 2, 0, 8 }));
        }
        // Without tokens nothing is implied.
        const std::vector<InputSpec> others { floatInput("x", Shape { 1, 2 }), inputs[0] };
        QVERIFY(refusal(npz({ { "x.npy", npy("<f4", "(1, 2)", floats(2)) } }), others).contains("attention_mask"));
    }

    /// One text alone is all of the first segment.
    void segmentsAreZeros_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("implied");
        for (const char* name : { "token_type_ids", "input_type_ids", "segment_ids", "segments" })
            QTest::newRow(name) << QString(name) << true;
        QTest::newRow("what nothing tells of") << "languages" << false;
    }
    void segmentsAreZeros()
    {
        QFETCH(const QString, name);
        QFETCH(const bool, implied);
        const Dim batch { -1, "batch" }, positions { -1, "positions" };
        const std::vector<InputSpec> inputs { { "input_ids", DType::Int64, Dims { batch, positions } },
            { name.toStdString(), DType::Int32, Dims { batch, positions } } };
        const std::string file
            = npz({ { "input_ids.npy", npy("<i8", "(2, 3)", bytesOf<int64_t>({ 5, 6, 7, 8, 9, 10 })) } });
        if (!implied) {
            QVERIFY(refusal(file, inputs).contains(name));
            return;
        }
        const auto data = opened(file, inputs);
        QVERIFY(data);
        QCOMPARE(data->warnings().size(), size_t(1));
        QVERIFY(data->warnings()[0].find("zeros") != std::string::npos);
        const auto feed = data->feed(1);
        QVERIFY(feed.ok());
        QCOMPARE(feed->inputs[1].dtype(), DType::Int32);
        QCOMPARE(feed->inputs[1].shape(), (Shape { 1, 3 }));
        QCOMPARE(toInts(feed->inputs[1]), (std::vector<int64_t> { 0, 0, 0 }));
    }

    /// Places in three tables, and what linear attention remembers.
    void tokensOfModelsThatSee()
    {
        const Dim batch { -1, "batch" }, positions { -1, "positions" };
        const std::vector<InputSpec> inputs { { "input_ids", DType::Int64, Dims { batch, positions } },
            { "position_ids", DType::Int64, Dims { Dim { 3, "" }, batch, positions } },
            { "past.0.recurrent", DType::Float32, Dims { batch, Dim { 2, "" }, Dim { 4, "" }, Dim { 5, "" } } } };
        const auto data
            = opened(npz({ { "input_ids.npy", npy("<i8", "(1, 2)", bytesOf<int64_t>({ 5, 6 })) } }), inputs);
        QVERIFY(data);
        const auto feed = data->feed(0);
        QVERIFY(feed.ok());
        QCOMPARE(feed.value().inputs[1].shape(), (Shape { 3, 1, 2 }));
        QCOMPARE(toInts(feed.value().inputs[1]), (std::vector<int64_t> { 0, 1, 0, 1, 0, 1 }));
        QCOMPARE(feed.value().inputs[2].shape(), (Shape { 1, 2, 4, 5 }));
        QCOMPARE(toFloats(feed.value().inputs[2]), std::vector<float>(40, 0.0f));
    }

    void sampleCounts()
    {
        const InputSpec x = floatInput("x", withDynamicBatch({ 2 }));
        const InputSpec rate { "rate", DType::Int64, Dims {} };
        const InputSpec state = floatInput("state", Shape { 2, 1, 2 });
        const auto three = npy("<f4", "(3, 2)", floats(6));
        auto data = opened(npz({ { "x.npy", three }, { "rate.npy", npy("<i8", "()", bytesOf<int64_t>({ 16000 })) },
                               { "state.npy", npy("<f4", "(2, 1, 2)", floats(4)) } }),
            { x, state, rate });
        QVERIFY(data);
        QCOMPARE(data->samples(), size_t(3));
        QCOMPARE(data->feed(2).value().samples, size_t(1));
        QVERIFY(toInts(data->feed(2).value().inputs[2]) == std::vector<int64_t>({ 16000 }));
        QVERIFY(toFloats(data->feed(2).value().inputs[1]) == std::vector<float>({ 0, 1, 2, 3 }));
        const InputSpec y = floatInput("y", withDynamicBatch({ 2 }));
        const QString text
            = refusal(npz({ { "x.npy", three }, { "y.npy", npy("<f4", "(2, 2)", floats(4)) } }), { x, y });
        QVERIFY2(text.contains("different sample counts"), qPrintable(text));
        QVERIFY(refusal(npz({ { "x.npy", npy("<f4", "(0, 2)", "") } }), { x }).contains("no samples"));
    }

    void labelsAndLimit()
    {
        const InputSpec x = floatInput("x", withDynamicBatch({ 2 }));
        const auto array = npy("<f4", "(3, 2)", floats(6));
        auto data = opened(
            npz({ { "x.npy", array }, { "labels.npy", npy("<i4", "(3,)", bytesOf<int32_t>({ 5, 1, 4 })) } }), { x }, 2);
        QVERIFY(data);
        QCOMPARE(data->samples(), size_t(2));
        QVERIFY(data->labels() == std::vector<int64_t>({ 5, 1 }));
        QVERIFY(data->warnings().empty());
        const auto two = npy("<i4", "(2,)", bytesOf<int32_t>({ 5, 1 }));
        QVERIFY(refusal(npz({ { "x.npy", array }, { "labels.npy", two } }), { x }).contains("2 labels for 3 samples"));
        const auto real = npy("<f4", "(3,)", floats(3));
        QVERIFY(refusal(npz({ { "x.npy", array }, { "labels.npy", real } }), { x }).contains("integer"));
    }

    void shapesAndTypes()
    {
        const InputSpec x = floatInput("x", Shape { 1, 3, 8, 8 });
        const QString text = refusal(npz({ { "x.npy", npy("<f4", "(2, 8, 8, 3)", floats(384)) } }), { x });
        QVERIFY2(text.contains("'x'") && text.contains("1x3x8x8") && text.contains("2x8x8x3"), qPrintable(text));
        const InputSpec tokens { "t", DType::Int64, withDynamicBatch({ 2 }) };
        QVERIFY(refusal(npz({ { "t.npy", npy("<f4", "(1, 2)", floats(2)) } }), { tokens }).contains("int64"));
        const InputSpec y = floatInput("y", withDynamicBatch({ 2 }));
        QVERIFY(refusal(npz({ { "y.npy", npy("<i8", "(1, 2)", std::string(16, 0)) } }), { y }).contains("float32"));
    }

    void conversions()
    {
        const InputSpec y = floatInput("y", withDynamicBatch({ 2 }));
        auto doubles = opened(npz({ { "y.npy", npy("<f8", "(1, 2)", bytesOf<double>({ 0.1, -2 })) } }), { y });
        QVERIFY(toFloats(doubles->feed(0).value().inputs[0]) == std::vector<float>({ 0.1f, -2 }));
        QVERIFY(!refusal(npz({ { "y.npy", npy("<f8", "(1, 2)", bytesOf<double>({ 1e300, 0 })) } }), { y }).isEmpty());
        auto halves = opened(npz({ { "y.npy", npy("<f2", "(1, 2)", bytesOf<uint16_t>({ 0x3c00, 0xc000 })) } }), { y });
        QVERIFY(toFloats(halves->feed(0).value().inputs[0]) == std::vector<float>({ 1, -2 }));
        auto swapped
            = opened(npz({ { "y.npy", npy(">f4", "(1, 2)", std::string("\x3f\x80\0\0\xc0\0\0\0", 8)) } }), { y });
        QVERIFY(toFloats(swapped->feed(0).value().inputs[0]) == std::vector<float>({ 1, -2 }));
        const InputSpec t { "t", DType::Int32, withDynamicBatch({ 2 }) };
        auto ints = opened(npz({ { "t.npy", npy("<i8", "(1, 2)", bytesOf<int64_t>({ -5, 7 })) } }), { t });
        QVERIFY(toInts(ints->feed(0).value().inputs[0]) == std::vector<int64_t>({ -5, 7 }));
        QVERIFY(
            !refusal(npz({ { "t.npy", npy("<i8", "(1, 2)", bytesOf<int64_t>({ 1ll << 40, 7 })) } }), { t }).isEmpty());
        const InputSpec u { "u", DType::UInt8, withDynamicBatch({ 2 }) };
        QVERIFY(!refusal(npz({ { "u.npy", npy("<i8", "(1, 2)", bytesOf<int64_t>({ -1, 7 })) } }), { u }).isEmpty());
        const InputSpec b { "b", DType::Bool, withDynamicBatch({ 2 }) };
        auto flags = opened(npz({ { "b.npy", npy("|b1", "(1, 2)", std::string("\1\0", 2)) } }), { b });
        QVERIFY(toInts(flags->feed(0).value().inputs[0]) == std::vector<int64_t>({ 1, 0 }));
    }

    void packingsAndOrders_data()
    {
        QTest::addColumn<bool>("deflated");
        QTest::addColumn<bool>("fortran");
        QTest::addColumn<int>("items");
        for (const int items : { 5, 70000 }) // small stays in memory, large goes through a temporary file
            for (const bool deflated : { false, true })
                for (const bool fortran : { false, true })
                    QTest::addRow("%d %s %s", items, deflated ? "deflated" : "stored", fortran ? "fortran" : "C")
                        << deflated << fortran << items;
    }
    void packingsAndOrders()
    {
        QFETCH(bool, deflated);
        QFETCH(bool, fortran);
        QFETCH(int, items);
        const auto n = static_cast<size_t>(items);
        std::vector<float> stored(n * 24);
        for (size_t i = 0; i < n; ++i)
            for (size_t a = 0; a < 4; ++a)
                for (size_t b = 0; b < 6; ++b)
                    stored[fortran ? i + n * (a + 4 * b) : (i * 4 + a) * 6 + b]
                        = static_cast<float>(i * 100 + a * 10 + b);
        const std::string shape = "(" + std::to_string(n) + ", 4, 6)";
        const std::string file = npz({ { "x.npy", npy("<f4", shape, bytesOf(stored), fortran) } },
            deflated ? Packing::Deflated : Packing::Stored);
        auto data = opened(file, { floatInput("x", withDynamicBatch({ 4, 6 })) }, fortran ? n : n - 1);
        QVERIFY(data);
        std::atomic<int> wrong = 0;
        const size_t step = std::max<size_t>(n / 50, 1);
        parallelFor((data->feeds() + step - 1) / step, 4, [&](size_t k, size_t) {
            const size_t index = k * step;
            const auto feed = data->feed(index);
            const auto values = feed ? toFloats(feed.value().inputs[0]) : std::vector<float>();
            for (size_t e = 0; e < 24; ++e)
                if (values.size() != 24 || values[e] != static_cast<float>(index * 100 + e / 6 * 10 + e % 6))
                    ++wrong;
        });
        QCOMPARE(wrong.load(), 0);
    }

    void damage()
    {
        const InputSpec x = floatInput("x", withDynamicBatch({ 2 }));
        const auto good = npy("<f4", "(3, 2)", floats(6));
        QVERIFY(refusal(npz({ { "x.npy", good.substr(0, good.size() - 4) } }), { x }).contains("promises"));
        QVERIFY(refusal(npz({ { "x.npy", good + "more" } }, Packing::Deflated), { x }).contains("promises"));
        writeBytes(path("short.npy"), good.substr(0, good.size() - 1));
        QVERIFY(refusal(path("short.npy"), { x }).contains("promises"));
        QVERIFY(
            refusal(npz({ { "x.npy", npy("|O", "(3, 2)", std::string(48, 'x')) } }), { x }).contains("object array"));
        QVERIFY(!refusal(npz({ { "x.npy", npy("<f4", "(3, 1152921504606846976)", "") } }), { x }).isEmpty());
        QVERIFY(!refusal(npz({ { "x.npy", npy("<f4", "(-3, 2)", "") } }), { x }).isEmpty());
        QVERIFY(!refusal(npz({ { "x.npy", "no array" } }), { x }).isEmpty());
        writeBytes(path("text.npz"), "hello");
        QVERIFY(refusal(path("text.npz"), { x }).contains("neither"));
        QVERIFY(!refusal(path("missing.npz"), { x }).isEmpty());
        writeBytes(path("empty.npz"), "");
        QVERIFY(!refusal(path("empty.npz"), { x }).isEmpty());
        npz({ { "x.npy", good } });
        QFile whole(QString::fromStdString(path("data.npz")));
        QVERIFY(whole.open(QIODevice::ReadOnly));
        const std::string bytes = whole.readAll().toStdString();
        for (size_t length = 0; length < bytes.size(); length += 7) {
            writeBytes(path("cut.npz"), bytes.substr(0, length));
            QVERIFY(!refusal(path("cut.npz"), { x }).isEmpty());
        }
        for (size_t at = 0; at < bytes.size(); ++at) { // any answer, but no crash
            std::string changed = bytes;
            changed[at] = static_cast<char>(changed[at] ^ 0x55);
            writeBytes(path("changed.npz"), changed);
            refusal(path("changed.npz"), { x });
        }
    }
};

QTEST_APPLESS_MAIN(ArrayDataTest)
#include "array_data_test.moc"
