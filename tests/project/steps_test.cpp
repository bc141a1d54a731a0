// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/atomic_file.h"
#include "core/base/files/byte_stream.h"
#include "core/base/issue_text.h"
#include "core/onnx/write/export.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/quant/ranges/range_files.h"
#include "tests/support/helper_call.h"
#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <QTemporaryDir>
#include <QtTest>

#include <array>
#include <functional>
#include <set>

using namespace qs;

namespace {

constexpr size_t kAskedFields = 19;
/// Which fields differ. Another field makes the bindings ill-formed: it then needs an edit of its own in edits().
std::array<bool, kAskedFields> differing(const Asked& a, const Asked& b)
{
    const auto& [a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19] = a;
    const auto& [b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16, b17, b18, b19] = b;
    return { !(a1 == b1), !(a2 == b2), !(a3 == b3), !(a4 == b4), !(a5 == b5), !(a6 == b6), !(a7 == b7), !(a8 == b8),
        !(a9 == b9), !(a10 == b10), !(a11 == b11), !(a12 == b12), !(a13 == b13), !(a14 == b14), !(a15 == b15),
        !(a16 == b16), !(a17 == b17), !(a18 == b18), !(a19 == b19) };
}

constexpr size_t kSettings = 3;
std::array<bool, kSettings> differing(const RunSettings& a, const RunSettings& b)
{
    const auto& [a1, a2, a3] = a;
    const auto& [b1, b2, b3] = b;
    return { a1 != b1, a2 != b2, a3 != b3 };
}

constexpr size_t kDataFields = 6;
std::array<bool, kDataFields> differing(const DataRequest& a, const DataRequest& b)
{
    const auto& [a1, a2, a3, a4, a5, a6] = a;
    const auto& [b1, b2, b3, b4, b5, b6] = b;
    return { a1 != b1, a2 != b2, a3 != b3, a4 != b4, a5 != b5, a6 != b6 };
}

/// A change of one field.
struct Edit {
    const char* name;
    std::function<void(Inputs&)> apply;
    bool numbersStay = false; ///< as what it does promises
};

class Bytes {
public:
    explicit Bytes(const Snapshot& s)
    {
        for (const std::string& name : *s.classNames)
            m_out.text(name);
        for (const std::string& warning : s.warnings)
            m_out.text(warning);
        if (s.quantization)
            for (const auto& [name, range] : s.quantization->ranges.tensors) {
                add(name);
                m_out.number(range.lowest);
                m_out.number(range.highest);
            }
        if (s.alignment)
            add(*s.alignment);
        m_out.number(s.measured != nullptr);
        if (s.comparison)
            add(*s.comparison);
        if (s.other) {
            for (const ParameterDifference& d : s.other->differences)
                add(d.name);
            m_out.text(Bytes(*s.other->snapshot).all());
        }
    }
    const std::string& all() const { return m_out.bytes(); }

private:
    void add(const std::string& text) { m_out.text(text); }
    void add(const Number& n)
    {
        m_out.number(n.has_value());
        m_out.number(n.value_or(0));
    }
    void add(const std::vector<Number>& numbers)
    {
        for (const Number& n : numbers)
            add(n);
    }
    void add(const Similarity& s)
    {
        for (const Number& n : { s.sqnrDb, s.rmse, s.maxAbsError, s.meanError, s.cosine })
            add(n);
        m_out.number(s.exact);
        m_out.number(s.elements);
        m_out.number(s.nonFinite);
    }
    void add(const QuantParams& p)
    {
        m_out.item(p.dtype);
        m_out.numbers(p.scale);
        m_out.numbers(p.zeroPoint);
    }
    void add(const Alignment& a)
    {
        for (const ValuePair& p : a.values) {
            m_out.item(p.method);
            for (const ValueId id : { p.floatValue, p.quantValue })
                m_out.number(id.index());
            m_out.number(p.confidence);
        }
        m_out.number(a.weights.size());
        m_out.number(a.apart.size());
        m_out.number(a.unmatchedFloat.size());
        m_out.number(a.unmatchedQuant.size());
        m_out.number(a.insideFloat.size());
        m_out.number(a.insideQuant.size());
    }
    void add(const ActivationRow& row)
    {
        add(row.name);
        add(row.quantizedName);
        add(row.params);
        add(row.accumulated);
        for (const Number& n :
            { row.localSqnrDb, row.qdqSqnrDb, row.nodeSqnrDb, row.increaseDb, row.idealSqnrDb, row.noise.rounding,
                row.noise.clipping, row.noise.inherited, row.clippedFraction, row.signalPower, row.usedCodes })
            add(n);
        m_out.number(row.implementation.has_value());
        add(row.sampleSqnrDb);
        for (const Histogram* h :
            { &row.floatHistogram, &row.quantHistogram, &row.errorHistogram, &row.beforeHistogram })
            h->write(m_out);
    }
    void add(const Comparison& c)
    {
        m_out.item(c.profile);
        m_out.number(c.samples);
        m_out.number(c.firstSample);
        m_out.number(c.partial);
        for (const ActivationRow& row : c.activations)
            add(row);
        for (const WeightRow& row : c.weights) {
            add(row.name);
            add(row.params);
            add(row.similarity);
            add(row.channelSqnrDb);
            row.floatHistogram.write(m_out);
        }
        for (const OutputRow& row : c.outputs) {
            add(row.name);
            add(row.similarity);
            add(row.top1Agreement);
            m_out.text(taskText(row.task.what));
            add(row.task.agreement);
            add(row.sampleSqnrDb);
            m_out.number(row.implementation.has_value());
        }
        m_out.numbers(c.floatClass);
        m_out.numbers(c.quantClass);
        m_out.number(c.network.has_value());
        for (const Finding& f : c.findings) {
            m_out.item(f.rule);
            add(f.tensor);
            add(f.summary);
            add(f.expectedGainDb);
        }
    }

    ByteWriter m_out;
};

std::string text(const Result<SnapshotPtr>& built)
{
    return built.ok() ? Bytes(**built).all() : issueText(built.issue());
}

std::string fromScratch(const Inputs& inputs) { return text(buildSnapshot(inputs, nullptr, {}, {})); }

} // namespace

/// What a snapshot holds follows from what is asked, whatever was built before it.
class StepsTests : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void eachFieldAsFromScratch_data() { bases(); }
    void eachFieldAsFromScratch();
    void editsTell();
    void nothingRunsAgain_data() { bases(); }
    void nothingRunsAgain();
    void settingsChangeNoNumbers_data() { bases(); }
    void smallFilesAreReadAgain();
    void settingsChangeNoNumbers();

private:
    static void bases()
    {
        QTest::addColumn<bool>("byRecipe");
        QTest::addRow("recipe") << true;
        QTest::addRow("file") << false;
    }
    std::string path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)).toStdString(); }
    void writeFloat(const char* name, float spread);
    void writeQuantized(const char* name, const Recipe& recipe);
    Inputs base(bool byRecipe) const;
    std::vector<Edit> edits() const;

    QTemporaryDir m_folder;
};

/// A layer whose sum goes on to the next sample, where that is asked for.
void StepsTests::writeFloat(const char* name, float spread)
{
    std::mt19937 random(7);
    const test::Prepared made = test::SmallModel({})
                                    .input("x", { 1, 8 })
                                    .input("state", { 1, 8 })
                                    .constant("w", test::normalFloats(random, { 8, 8 }, spread))
                                    .constant("v", test::normalFloats(random, { 8, 4 }, spread))
                                    .node("MatMul", { "x", "w" }, { "h" })
                                    .node("Add", { "h", "state" }, { "sum" })
                                    .node("Relu", { "sum" }, { "next" })
                                    .node("MatMul", { "next", "v" }, { "y" })
                                    .output("y")
                                    .output("next")
                                    .finish();
    const std::shared_ptr<const Model> model(made.plan, &made.plan->model());
    const auto bytes = exportToBytes(GraphDraft(model));
    QVERIFY(bytes.ok() && writeFile(path(name), *bytes).ok());
}

void StepsTests::writeQuantized(const char* name, const Recipe& recipe)
{
    Inputs inputs = base(true);
    inputs.recipe = recipe;
    inputs.compare = false;
    const auto made = buildSnapshot(inputs, nullptr, {}, {});
    QVERIFY2(made.ok(), made.ok() ? "" : issueText(made.issue()).c_str());
    QVERIFY(exportModel((*made)->quantization->draft, path(name)).ok());
    Ranges wide = (*made)->quantization->ranges;
    for (auto& [tensor, range] : wide.tensors)
        range.highest *= 4;
    const auto ranges = formatRanges(wide, RangeFormat::Json);
    QVERIFY(ranges.ok());
    QVERIFY(writeFile(path("ranges.json"), *ranges).ok());
}

void StepsTests::initTestCase()
{
    QS_HELPER(writeFloat("float.onnx", 1));
    QS_HELPER(writeFloat("wider.onnx", 3));
    QS_HELPER(writeQuantized("quantized.onnx", quantscopeRecipe()));
    Recipe other = quantscopeRecipe();
    other.perChannel = !other.perChannel;
    other.reduceRange = true;
    QS_HELPER(writeQuantized("other.onnx", other));
    QVERIFY(writeFile(path("names.txt"), "zero\none\ntwo\nthree\n").ok());
    QVERIFY(writeFile(path("map.json"), manualLinksJson({ {}, { { "next", "next" } } })).ok());
}

Inputs StepsTests::base(bool byRecipe) const
{
    Inputs inputs;
    inputs.floatPath = path("float.onnx");
    inputs.data.spec = "random:4:1";
    inputs.threads = 1;
    if (byRecipe)
        inputs.recipe = quantscopeRecipe();
    else
        inputs.quantPath = path("quantized.onnx");
    return inputs;
}

/// At least one for each field of Asked, in that order; those of a request for each field of it.
std::vector<Edit> StepsTests::edits() const
{
    Recipe coarse = quantscopeRecipe();
    coarse.exclude = { "n_h" };
    return {
        { "float", [this](Inputs& i) { i.floatPath = path("wider.onnx"); } },
        { "quantized", [this](Inputs& i) { i.quantPath = path("other.onnx"); } },
        { "recipe", [coarse](Inputs& i) { i.recipe = coarse; } },
        { "ranges", [this](Inputs& i) { i.rangesPath = path("ranges.json"); } },
        { "calibration cache", [this](Inputs& i) { i.calibrationCache = path("cache"); }, true },
        { "data", [](Inputs& i) { i.data.spec = "random:3:5"; } },
        { "preprocess", [](Inputs& i) { i.data.preprocess = "nothing.json"; } },
        { "shapes",
            [](Inputs& i) {
                i.data.shapes["x"] = { 2, 8 };
            } },
        { "limit", [](Inputs& i) { i.data.limit = 2; } },
        { "seed", [](Inputs& i) { i.data.seed = 9; }, true }, // the data have one of their own
        { "bytes of random data", [](Inputs& i) { i.data.mostBytes = 1 << 20; }, true }, // they take fewer
        { "calibration", [](Inputs& i) { i.calibration.spec = "random:4:17"; } },
        { "class names", [this](Inputs& i) { i.classNamesPath = path("names.txt"); } },
        { "map", [this](Inputs& i) { i.mapPath = path("map.json"); } },
        { "links",
            [](Inputs& i) {
                i.links.apart = { { "y", "y" } };
            } },
        { "other", [this](Inputs& i) { i.other.path = path("other.onnx"); } },
        { "carry",
            [](Inputs& i) {
                i.carry = { { "next", "state" } };
            } },
        { "compare", [](Inputs& i) { i.compare = false; } },
        { "run", [](Inputs& i) { i.run = false; } },
        { "shard",
            [](Inputs& i) {
                i.shard = Shard { 2, 2 };
            } },
        { "node alone", [](Inputs& i) { i.nodeAlone = true; } },
        { "tasks", [](Inputs& i) { i.tasks.told["y"] = { TaskKind::Values }; } },
        { "histograms", [](Inputs& i) { i.histograms = false; } },
        { "profile", [](Inputs& i) { i.profile = ArithmeticProfile::Integer; } },
    };
}

/// There and back again, with and without what caches keep. A failure has to be the same one.
void StepsTests::eachFieldAsFromScratch()
{
    QFETCH(const bool, byRecipe);
    std::set<size_t> fields, dataFields;
    const auto text
        = [](const Result<SnapshotPtr>& built) { return built.ok() ? Bytes(**built).all() : issueText(built.issue()); };
    const Inputs start = base(byRecipe);
    const std::string before = fromScratch(start);
    for (const uint64_t cache : { uint64_t(0), uint64_t(1) << 26 }) {
        Inputs from = start;
        from.activationCache = cache;
        SnapshotPtr last = buildSnapshot(from, nullptr, {}, {}).value();
        for (const Edit& edit : edits()) {
            Inputs to = from;
            edit.apply(to);
            const auto changed = differing(from.asked(), to.asked());
            QCOMPARE(std::ranges::count(changed, true), std::ptrdiff_t(1));
            fields.insert(size_t(std::ranges::find(changed, true) - changed.begin()));
            const auto inData = differing(from.data, to.data);
            if (const auto field = std::ranges::find(inData, true); field != inData.end())
                dataFields.insert(size_t(field - inData.begin()));
            Inputs alone = to;
            alone.activationCache = 0;
            const std::string scratch = fromScratch(alone);
            const auto there = buildSnapshot(to, last, {}, {});
            QVERIFY2(text(there) == scratch, edit.name);
            if (there.ok())
                last = *there;
            last = buildSnapshot(from, last, {}, {}).value();
            QVERIFY2(Bytes(*last).all() == before, edit.name);
        }
    }
    QCOMPARE(fields.size(), kAskedFields);
    QCOMPARE(dataFields.size(), kDataFields);
}

/// A step that overlooked one of them would be noticed.
void StepsTests::editsTell()
{
    for (const Edit& edit : edits()) {
        bool told = false;
        for (const bool byRecipe : { true, false }) {
            Inputs inputs = base(byRecipe);
            edit.apply(inputs);
            told = told || fromScratch(inputs) != fromScratch(base(byRecipe));
        }
        QVERIFY2(told != edit.numbersStay, edit.name);
    }
}

void StepsTests::nothingRunsAgain()
{
    QFETCH(const bool, byRecipe);
    const auto none = [](std::string_view phase, size_t, size_t) { QFAIL(std::string(phase).c_str()); };
    for (const Edit& edit : edits()) {
        Inputs inputs = base(byRecipe);
        edit.apply(inputs);
        const auto first = buildSnapshot(inputs, nullptr, {}, {});
        if (!first.ok())
            continue;
        const auto second = buildSnapshot(inputs, *first, none, {});
        QVERIFY2(second.ok() && Bytes(**second).all() == Bytes(**first).all(), edit.name);
        QVERIFY2((*second)->floatModel == (*first)->floatModel && (*second)->quantModel == (*first)->quantModel
                && (*second)->data == (*first)->data && (*second)->alignment == (*first)->alignment
                && (*second)->other == (*first)->other,
            edit.name);
    }
}

/// What small files say is asked anew each time, under whatever name they lie.
void StepsTests::smallFilesAreReadAgain()
{
    Inputs inputs = base(false);
    inputs.classNamesPath = path("changing.txt");
    inputs.mapPath = path("changing.json");
    QVERIFY(writeFile(inputs.classNamesPath, "zero\none\ntwo\nthree\n").ok());
    QVERIFY(writeFile(inputs.mapPath, manualLinksJson({})).ok());
    const auto first = buildSnapshot(inputs, nullptr, {}, {});
    QVERIFY(first.ok());
    QVERIFY(writeFile(inputs.classNamesPath, "none\nsome\nmany\nall\n").ok());
    QVERIFY(writeFile(inputs.mapPath, manualLinksJson({ {}, { { "next", "next" } } })).ok());
    const auto second = buildSnapshot(inputs, *first, {}, {});
    QVERIFY(second.ok());
    QCOMPARE((*second)->classNames->front(), std::string("none"));
    QVERIFY(Bytes(**second).all() != Bytes(**first).all());
    QVERIFY(Bytes(**second).all() == fromScratch(inputs));
    QVERIFY((*second)->floatModel == (*first)->floatModel && (*second)->data == (*first)->data);
}

void StepsTests::settingsChangeNoNumbers()
{
    QFETCH(const bool, byRecipe);
    const Inputs start = base(byRecipe);
    const std::string before = fromScratch(start);
    const std::vector<std::function<void(RunSettings&)>> changes { [](RunSettings& s) { s.threads = 3; },
        [](RunSettings& s) { s.memoryLimit = uint64_t(1) << 28; }, [](RunSettings& s) { s.activationCache = 4096; } };
    std::set<size_t> fields;
    for (const auto& change : changes) {
        Inputs inputs = start;
        change(inputs);
        const auto changed = differing(start.settings(), inputs.settings());
        fields.insert(size_t(std::ranges::find(changed, true) - changed.begin()));
        QVERIFY(fromScratch(inputs) == before);
    }
    QCOMPARE(fields.size(), kSettings);
}

QTEST_APPLESS_MAIN(StepsTests)
#include "steps_test.moc"
