// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/models/suites.h"
#include "tests/support/fake_snapshot.h"
#include "widgets/models/arithmetic/saturation_model.h"
#include "widgets/models/base/cells.h"
#include "widgets/models/findings/finding_model.h"
#include "widgets/models/tables/difference_model.h"
#include "widgets/models/tables/job_model.h"
#include "widgets/models/tables/match_model.h"
#include "widgets/models/tables/output_model.h"
#include "widgets/models/tables/sample_model.h"
#include "widgets/models/tables/tensor_model.h"
#include "widgets/models/tables/weight_model.h"
#include "widgets/models/words/tensor_label.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

using namespace qs;

namespace {

constexpr auto kMode = QAbstractItemModelTester::FailureReportingMode::QtTest;
constexpr size_t kHuge = 100'000;

/// All signals by which a model tells of changes.
class Spies {
public:
    explicit Spies(const QAbstractItemModel& model)
        : m_changed(&model, &QAbstractItemModel::dataChanged)
        , m_inserted(&model, &QAbstractItemModel::rowsInserted)
        , m_removed(&model, &QAbstractItemModel::rowsRemoved)
        , m_reset(&model, &QAbstractItemModel::modelReset)
    {
    }
    qsizetype changed() const { return m_changed.size(); }
    qsizetype inserted() const { return m_inserted.size(); }
    qsizetype removed() const { return m_removed.size(); }
    qsizetype resets() const { return m_reset.size(); }
    qsizetype all() const { return changed() + inserted() + removed() + resets(); }

private:
    QSignalSpy m_changed, m_inserted, m_removed, m_reset;
};

std::unique_ptr<ColumnModel> makeModel(const QString& name)
{
    if (name == QLatin1String("tensors"))
        return std::make_unique<TensorModel>();
    if (name == QLatin1String("weights"))
        return std::make_unique<WeightModel>();
    if (name == QLatin1String("outputs"))
        return std::make_unique<OutputModel>();
    if (name == QLatin1String("samples"))
        return std::make_unique<SampleModel>();
    if (name == QLatin1String("difference"))
        return std::make_unique<DifferenceModel>();
    if (name == QLatin1String("saturation"))
        return std::make_unique<SaturationModel>();
    return std::make_unique<MatchModel>();
}

struct Thing {
    std::string name;
    Number value;
};

/// All that a table takes.
class ThingModel : public RowModel<Thing> {
public:
    enum class Key { Value };
    ThingModel()
    {
        addColumns({
            { { QStringLiteral("thing"), QStringLiteral("What it is called"), {}, Text }, words<R>(&R::name) },
            { { QStringLiteral("value"), QStringLiteral("What it is worth"), {}, Value, kDown, true, Key::Value },
                percents<R>(&R::value), [](const R& row) { return QStringLiteral("of ") + toQt(row.name); } },
        });
    }
    using RowModel::setRows;

protected:
    bool isSame(const Thing& a, const Thing& b) const override { return a.name == b.name; }
};

/// Samples that nobody reads.
class NamedSamples final : public DataSource {
public:
    explicit NamedSamples(size_t count)
    {
        m_samples = m_feeds = count;
        m_labels.assign(count, 1);
    }
    Result<Feed> feed(size_t) const override { return Feed(); }
};

/// With something in the tables that other snapshots leave empty: tensors without a partner, samples, a second model,
/// saturated sums.
SnapshotPtr withUnmatched(const SnapshotPtr& base, size_t count)
{
    auto copy = std::make_shared<Snapshot>(*base);
    copy->data = std::make_shared<NamedSamples>(base->comparison->samples);
    auto other = std::make_shared<OtherComparison>();
    other->snapshot = base;
    for (size_t i = 0; i < count; ++i) {
        TensorParameters a { "q", { DType::Int8, { 0.5F }, { 0 }, {}, 0 }, false, 20.0, 30.0 }, b = a;
        b.params.scale[0] = 0.25F * float(i);
        other->differences.push_back({ "t" + std::to_string(i), "n", "Conv", ParameterDifference::Kind::Activation, a,
            i % 3 == 0 ? std::nullopt : std::optional(b), i == 2, 0.5 * double(i), double(i) });
        copy->comparison->saturation.push_back({ NodeId(0), "n" + std::to_string(i), "Conv", 100, { 0, i, 2 } });
    }
    copy->other = other;
    const auto values = base->floatModel->graph().values();
    Alignment alignment = *base->alignment;
    for (size_t i = 0; i < std::min(count, values.size()); ++i) {
        alignment.unmatchedFloat.push_back(ValueId(i));
        alignment.unmatchedQuant.push_back(ValueId(i));
        alignment.insideFloat.push_back({ ValueId(i), NodeId(0) });
        alignment.whyFloat[ValueId(i)] = WhyAlone(i % 6);
    }
    copy->alignment = std::make_shared<const Alignment>(std::move(alignment));
    return copy;
}

} // namespace

class TestModels : public QObject {
    Q_OBJECT
private slots:
    void tensorLabels_data()
    {
        QTest::addColumn<QString>("tensor");
        QTest::addColumn<QString>("node");
        QTest::addColumn<QString>("label");
        QTest::newRow("number") << "1399"
                                << "/encoder/MatMul"
                                << "1399 · /encoder/MatMul";
        QTest::newRow("counted") << "val_12"
                                 << "conv"
                                 << "val_12 · conv";
        QTest::newRow("exporter's weight") << "onnx::Conv_497"
                                           << "/c/Conv"
                                           << "onnx::Conv_497 · /c/Conv";
        QTest::newRow("a name") << "conv_1_output"
                                << "conv_1"
                                << "conv_1_output";
        QTest::newRow("layer3") << "layer3"
                                << "Conv_7"
                                << "layer3";
        QTest::newRow("no node") << "1399"
                                 << ""
                                 << "1399";
        QTest::newRow("the same") << "12"
                                  << "12"
                                  << "12";
        QTest::newRow("empty") << ""
                               << "conv"
                               << "";
    }
    void tensorLabels()
    {
        QFETCH(QString, tensor);
        QFETCH(QString, node);
        QTEST(tensorLabel(tensor.toStdString(), node.toStdString()), "label");
    }
    void commonEnds()
    {
        const std::pair<const char*, const char*> names[] { { "/mlp/Mul/output_0", "/mlp/Mul" },
            { "Conv_3_output_0", "Conv_3" }, { "relu_DequantizeLinear_Output_1", "relu" },
            { "a/conv2d_1/Conv2D;a/conv2d_2/BiasAdd/ReadVariableOp__28:0", "a/conv2d_1/Conv2D;a/conv2d_2" },
            { "layers.0.mlp.up_proj.MatMul.weight", "layers.0.mlp.up_proj" }, { "conv_weight_quantized", "conv" },
            { "weight", "weight" }, { "fc.bias", "fc.bias" }, { "output_0", "output_0" }, { "logits", "logits" } };
        for (const auto& [name, shorter] : names)
            QCOMPARE(withoutCommonEnd(QString::fromLatin1(name)), QString::fromLatin1(shorter));
    }
    void columnModels_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : { "tensors", "weights", "outputs", "matching", "samples", "difference", "saturation" })
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void columnModels()
    {
        QFETCH(QString, name);
        const auto model = makeModel(name);
        const QAbstractItemModelTester tester(model.get(), kMode);
        QCOMPARE(model->rowCount(), 0);
        fake::Options options;
        for (const size_t tensors : { size_t(2), size_t(40), size_t(7) }) { // one or two rows, many, fewer again
            options.tensors = tensors;
            model->setSnapshot(withUnmatched(fake::comparison(options), tensors));
            QVERIFY(model->rowCount() > 0);
        }
        for (int row = 0; row < model->rowCount(); ++row) {
            for (int column = 0; column < model->columnCount(); ++column) {
                const QModelIndex index = model->index(row, column);
                QVERIFY(!index.data().toString().contains(QLatin1String("nan"), Qt::CaseInsensitive));
                if (model->column(column).kind != ColumnKind::Text && index.data(SortRole).isValid())
                    QCOMPARE(index.data(SortRole).userType(), int(QMetaType::Double));
            }
        }
        model->setSnapshot(std::make_shared<Snapshot>());
        QCOMPARE(model->rowCount(), 0);
    }

    void aColumnIsOneEntry()
    {
        ThingModel model;
        const QAbstractItemModelTester tester(&model, kMode);
        model.setRows(std::vector<Thing> { { "a", 0.125 }, { "b", {} } });
        const int value = model.columnOf(ThingModel::Key::Value);
        QCOMPARE(value, 1);
        QCOMPARE(model.headerData(value, Qt::Horizontal).toString(), QStringLiteral("value"));
        QCOMPARE(model.headerData(0, Qt::Horizontal, Qt::ToolTipRole).toString(), QStringLiteral("What it is called"));
        const QModelIndex first = model.index(0, value), second = model.index(1, value);
        QCOMPARE(first.data().toString(), QStringLiteral("12.5 %"));
        QCOMPARE(first.data(SortRole).toDouble(), 0.125);
        QCOMPARE(first.data(CopyRole).toDouble(), 0.125);
        QCOMPARE(first.data(Qt::ToolTipRole).toString(), QStringLiteral("of a"));
        QVERIFY(!second.data(SortRole).isValid());
        QCOMPARE(second.data(CopyRole).toString(), absentText());
        QCOMPARE(first.siblingAtColumn(0).data(SortRole).toString(), QStringLiteral("a"));
        QCOMPARE(model.headerData(value, Qt::Horizontal, Qt::TextAlignmentRole), first.data(Qt::TextAlignmentRole));
    }

    void changesFollowFromTheColumns()
    {
        ThingModel model;
        const QAbstractItemModelTester tester(&model, kMode);
        std::vector<Thing> rows { { "a", 1 }, { "b", 2 }, { "c", 3 }, { "d", 4 } };
        model.setRows(rows);
        const Spies spies(model);
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        model.setRows(rows);
        QCOMPARE(spies.all(), 0);
        rows[1].value = rows[2].value = 9;
        model.setRows(rows);
        QCOMPARE(spies.all(), 1);
        QCOMPARE(changed[0][0].toModelIndex().row(), 1);
        QCOMPARE(changed[0][1].toModelIndex().row(), 2);
        rows.insert(rows.begin() + 2, { "new", 5 }); // what stays says the same
        model.setRows(rows);
        QCOMPARE(spies.inserted(), 1);
        QCOMPARE(spies.all(), 2);
        rows[2] = { "other", 6 };
        model.setRows(rows);
        QCOMPARE(spies.removed(), 1);
        QCOMPARE(spies.inserted(), 2);
        QCOMPARE(model.rowCount(), 5);
        QCOMPARE(model.at(2).name, std::string("other"));
    }

    /// Not the one share that they are sorted by.
    void sharesAreCopiedAsText()
    {
        TensorModel model;
        model.setSnapshot(withUnmatched(fake::comparison({}), 2));
        int split = 0;
        while (split < model.columnCount() && model.column(split).kind != ColumnKind::Split)
            ++split;
        QVERIFY(split < model.columnCount());
        const QModelIndex cell = model.index(0, split);
        QVERIFY(cell.data(SortRole).isValid());
        QCOMPARE(cell.data(CopyRole).toString(), cell.data().toString());
        QVERIFY(cell.data(CopyRole).toString().contains(QStringLiteral("inputs")));
    }

    void everyMetricHasAColumn()
    {
        const TensorModel model;
        for (const Metric metric : kMetrics) {
            const ColumnSpec& column = model.column(model.columnOf(metric));
            QVERIFY(column.key == metric);
            QVERIFY(!column.title.isEmpty() && column.kind != ColumnKind::Text);
        }
    }

    void classesHaveNames()
    {
        SampleModel model;
        const QAbstractItemModelTester tester(&model, kMode);
        auto named = std::make_shared<Snapshot>(*withUnmatched(fake::comparison({}), 2));
        Comparison& c = *named->comparison;
        c.floatClass.assign(c.samples, 1);
        c.quantClass.assign(c.samples, 1);
        c.quantClass[0] = 2;
        model.setSnapshot(std::make_shared<Snapshot>(*named));
        const auto shown = [&](int row, int role = Qt::DisplayRole) {
            return model.index(row, model.columnOf(SampleModel::Key::Class)).data(role).toString();
        };
        QCOMPARE(shown(0), QStringLiteral("1 → 2"));
        const Spies spies(model);
        named->classNames = std::make_shared<const ClassNames>(ClassNames { "no", "yes" });
        model.setSnapshot(named);
        QCOMPARE(spies.changed(), 1);
        QCOMPARE(spies.all(), 1);
        QCOMPARE(shown(0), QStringLiteral("yes → 2")); // the third has no name
        QCOMPARE(shown(0, CopyRole), shown(0));
        QCOMPARE(shown(1), QStringLiteral("yes"));
        QCOMPARE(shown(1, Qt::ToolTipRole), QStringLiteral("yes (1)"));
        QVERIFY(shown(0, SortRole) < shown(1, SortRole)); // flipped ones first
        QCOMPARE(model.index(1, model.columnOf(SampleModel::Key::Label)).data().toString(), QStringLiteral("yes"));
    }

    void numbersOnlyAreOneSignal()
    {
        TensorModel model;
        const QAbstractItemModelTester tester(&model, kMode);
        fake::Options options;
        options.tensors = 200;
        model.setSnapshot(fake::comparison(options));
        const Spies spies(model);
        options.offsetDb = 3;
        model.setSnapshot(fake::comparison(options));
        QCOMPARE(spies.changed(), 1);
        QCOMPARE(spies.all(), 1);
        const SnapshotPtr same = fake::comparison(options);
        model.setSnapshot(same);
        QCOMPARE(spies.all(), 1); // equal numbers: nothing to say
    }

    void otherRowsAreFewSignals()
    {
        TensorModel model;
        const QAbstractItemModelTester tester(&model, kMode);
        fake::Options options;
        options.tensors = 100;
        model.setSnapshot(fake::comparison(options));
        {
            const Spies spies(model);
            options.tensors = 120;
            model.setSnapshot(fake::comparison(options));
            QCOMPARE(spies.inserted(), 1);
            QVERIFY(spies.all() <= 3);
            QCOMPARE(model.rowCount(), 120);
        }
        const Spies spies(model);
        options.prefix = "other"; // only "input" stays
        model.setSnapshot(fake::comparison(options));
        QVERIFY(spies.all() <= 4);
        QCOMPARE(model.index(5, 0).data().toString(), QStringLiteral("other/conv_5_output"));
    }

    void hugeTable()
    {
        fake::Options options;
        options.tensors = kHuge;
        options.samples = 1;
        const SnapshotPtr snapshot = fake::comparison(options);
        TensorModel model;
        const Spies spies(model);
        model.setSnapshot(snapshot);
        QCOMPARE(model.rowCount(), int(kHuge));
        QCOMPARE(spies.all(), 1);
        const std::vector<double> keys = model.sortKeys(model.columnOf(Metric::Accumulated));
        QCOMPARE(keys.size(), kHuge);
    }

    void findings()
    {
        FindingModel model;
        const QAbstractItemModelTester tester(&model, kMode);
        model.setSnapshot(fake::comparison());
        QCOMPARE(model.rowCount(), 2);
        const QModelIndex first = model.index(0);
        QCOMPARE(first.data(FindingModel::TitleRole).toString(), QStringLiteral("Calibration does not fit the input"));
        QCOMPARE(first.data(FindingModel::EvidenceRole).toString(), QStringLiteral("clipped 50.2 % · gain 8.4 dB"));
        const Spies spies(model);
        model.setSnapshot(fake::comparison());
        QCOMPARE(spies.all(), 0); // the same findings: the cards stay
        model.setSnapshot(std::make_shared<Snapshot>());
        QCOMPARE(model.rowCount(), 0);
        Finding measured;
        measured.evidence = { { "clipped_fraction", 0.118, {}, {} }, { "local_sqnr_db", 3.5, {}, "dB" },
            { "source", {}, "conv_1", {} }, { "new_key", 2.0, {}, {} }, { "saturated_pairs", 1024000.0, {}, {} },
            { "worst_channel_pairs", 8285.0, {}, {} } };
        const QString path
            = QStringLiteral("Worst at micro_kws/dense/MatMul;micro_kws/dense/Relu;micro_kws/dense/BiasAdd: a");
        QCOMPARE(withShortNames(path), QStringLiteral("Worst at micro_kws/…/dense/BiasAdd: a"));
        QCOMPARE(withShortNames(QStringLiteral("at onnx::QuantizeLinear_1429: a")),
            QStringLiteral("at onnx::QuantizeLinear_1429: a"));
        QCOMPARE(evidenceText(measured),
            QStringLiteral("clipped of its own values 11.8 % · SQNR with this quantizer alone 3.5 dB · source conv_1 · "
                           "new key 2 · saturated pairs 1,024,000 · saturated in the worst channel 8,285"));
        for (const RuleInfo& info : ruleTable())
            QVERIFY2(!ruleExplanation(info.rule).isEmpty(), info.id.data());
    }

    void jobs()
    {
        JobModel model;
        const QAbstractItemModelTester tester(&model, kMode);
        for (quint64 id = 1; id <= JobModel::kKept + 20; ++id) {
            JobRow row;
            row.id = id;
            row.title = QStringLiteral("job %1").arg(id);
            model.add(row);
        }
        QCOMPARE(model.rowCount(), JobModel::kKept);
        QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("job %1").arg(JobModel::kKept + 20));
        JobRow row = *model.find(JobModel::kKept + 20);
        const Spies spies(model);
        model.update(row);
        QCOMPARE(spies.all(), 0);
        row.phase = QStringLiteral("run");
        row.done = 50;
        row.total = 200;
        row.elapsedMs = 2000;
        model.update(row);
        QCOMPARE(spies.changed(), 1);
        const int progress = model.columnOf(JobModel::Key::Progress);
        QCOMPARE(model.index(0, progress).data().toString(), QStringLiteral("50 of 200"));
        QCOMPARE(model.index(0, model.columnOf(JobModel::Key::Rate)).data().toString(), QStringLiteral("25 / s"));
        QCOMPARE(model.index(0, model.columnOf(JobModel::Key::Remaining)).data().toString(), QStringLiteral("6.0 s"));
        QCOMPARE(model.index(0, progress).data(SortRole).toDouble(), 0.25);
        model.update(JobRow { 987654 }); // unknown: ignored
        QCOMPARE(spies.all(), 1);
    }
};

int runModels(int argc, char** argv)
{
    TestModels test;
    return QTest::qExec(&test, argc, argv);
}

int main(int argc, char** argv)
{
    const QCoreApplication application(argc, argv);
    return runFormatting(argc, argv) | runInspector(argc, argv) | runModels(argc, argv) | runRecipeModels(argc, argv)
        | runTables(argc, argv) | runValues(argc, argv) | runWindowWords(argc, argv);
}

#include "test_models.moc"
