// SPDX-License-Identifier: GPL-3.0-or-later
// What tables and pages say of findings and of where noise is made.
#include "core/project/quantize/quantization.h"
#include "core/report/remedy_text.h"
#include "core/report/weight_columns.h"
#include "tests/support/fake_snapshot.h"
#include "tests/support/small_model.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <optional>

using namespace qs;

class FindingTextTest : public QObject {
    Q_OBJECT
private slots:
    void saysEvidenceInItsForm_data()
    {
        QTest::addColumn<std::string>("key");
        QTest::addColumn<double>("number");
        QTest::addColumn<std::string>("said");
        QTest::newRow("a count") << std::string("saturated_pairs") << 47006.0 << std::string("saturated pairs 47,006");
        QTest::newRow("a large count") << std::string("pairs") << 1024000.0 << std::string("pairs 1,024,000");
        QTest::newRow("of a channel") << std::string("worst_channel_pairs") << 8285.0
                                      << std::string("saturated in the worst channel 8,285");
        QTest::newRow("a share") << std::string("clipped_fraction") << 0.118
                                 << std::string("clipped of its own values 11.8 %");
        QTest::newRow("a share of a weight")
            << std::string("below_normal") << 0.5 << std::string("numbers too small 50.0 %");
        QTest::newRow("another number") << std::string("peak_over_rms") << 12.5 << std::string("peak over RMS 12.5");
    }
    /// Of the finding and of its places.
    void saysEvidenceInItsForm()
    {
        QFETCH(std::string, key);
        QFETCH(double, number);
        QFETCH(std::string, said);
        Snapshot s = *fake::comparison({});
        Finding& f = s.comparison->findings.front();
        f.evidence = { evidence(key, number) };
        f.places.resize(2);
        for (FindingPlace& place : f.places)
            place.evidence = f.evidence;
        const std::string page = compareHtml(s, {});
        size_t times = 0;
        for (size_t at = page.find(said + "<"); at != std::string::npos; at = page.find(said + "<", at + 1))
            ++times;
        QVERIFY2(times == 3, page.c_str());
    }

    /// What differs is not what is cut.
    void longNamesStayDifferent()
    {
        Snapshot s = *fake::comparison({});
        Finding& f = s.comparison->findings.front();
        for (int i = 0; i < 4; ++i) {
            FindingPlace place;
            place.node = "/model/layers." + std::to_string(i) + "/a_long_name_that_all_of_them_have/conv";
            f.places.push_back(place);
        }
        const std::string text = compareTable(s, {});
        for (const char* part : { "layers.1", "layers.2", "layers.3" })
            QVERIFY2(text.find(part) != std::string::npos, text.c_str());
    }

    void outputsInAnotherOrder_data()
    {
        QTest::addColumn<bool>("exchanged");
        QTest::newRow("as they stand") << false;
        QTest::newRow("in another order") << true;
    }
    /// No name says which output is which.
    void outputsInAnotherOrder()
    {
        QFETCH(bool, exchanged);
        const test::Prepared other = test::SmallModel("other")
                                         .input("x", { 2 })
                                         .node("Exp", { "x" }, { "c" })
                                         .node("Neg", { "x" }, { "d" })
                                         .output("c")
                                         .output("d")
                                         .finish();
        Snapshot s = *fake::comparison({});
        s.quantModel->plan = other.plan;
        OutputRow row = s.comparison->outputs.front();
        s.comparison->outputs.clear();
        for (const auto& [name, theirs] : { std::pair("a", exchanged ? "d" : "c"), { "b", exchanged ? "c" : "d" } }) {
            row.name = name;
            row.quantizedName = theirs;
            row.quantValue = other.value(theirs);
            s.comparison->outputs.push_back(row);
        }
        const std::string text = compareTable(s, {});
        QVERIFY2((text.find("outputs in another order: a is its d, b is its c\n") != std::string::npos) == exchanged,
            text.c_str());
        QCOMPARE(text.find("another order") != std::string::npos, exchanged);
    }

    void differenceToTheFileAsWritten_data()
    {
        QTest::addColumn<bool>("integer");
        QTest::addColumn<bool>("codes");
        QTest::newRow("simulated") << false << false;
        QTest::newRow("codes") << true << true;
        QTest::newRow("integer sums that end in no codes") << true << false;
    }
    /// What outputs differ by is told whether or not there are codes to compare.
    void differenceToTheFileAsWritten()
    {
        QFETCH(bool, integer);
        QFETCH(bool, codes);
        Snapshot s = *fake::comparison({});
        for (ActivationRow& row : s.comparison->activations)
            row.implementation.reset();
        if (integer) {
            s.comparison->profile = ArithmeticProfile::IntegerAvx2;
            s.comparison->outputs.front().implementation.emplace().sqnrDb = 18.4;
        }
        if (codes)
            s.comparison->activations.front().implementation.emplace();
        const std::string text = compareTable(s, {});
        QCOMPARE(text.find("no codes to compare") != std::string::npos, integer && !codes);
        QCOMPARE(text.find("end to end: 18.4 dB") != std::string::npos, integer);
    }

    void saysTheCommandOfRemedies()
    {
        Snapshot s = *fake::comparison({});
        auto quantized = std::make_shared<Model>(*s.quantModel->model);
        quantized->path = "models/quant 2.onnx";
        s.quantModel->model = quantized;
        QVERIFY(compareTable(s, {}).find("quantscope-cli quantize") == std::string::npos);
        s.comparison->findings.front().change.kind = RemedyKind::PerChannel;
        const std::string command
            = "quantscope-cli quantize /models/micro_kws/float.onnx --like 'models/quant 2.onnx' \\\n"
              "          --per-channel -o 'quant 2_mended.onnx'";
        QVERIFY2(compareTable(s, {}).find(command + "\n") != std::string::npos, compareTable(s, {}).c_str());
        QVERIFY(compareHtml(s, {}).find("--per-channel -o") != std::string::npos);
    }

    void commandsOfRecipes_data()
    {
        QTest::addColumn<QStringList>("given");
        QTest::addColumn<int>("change");
        QTest::addColumn<QString>("options"); // of the command
        const auto row = [](const char* name, const QStringList& given, RemedyKind change, const char* options) {
            QTest::newRow(name) << given << int(change) << QString(options);
        };
        row("another value", { "--format weight-only", "--weight-type int4" }, RemedyKind::EightBitWeight,
            "--format weight-only --weight-type uint8");
        row("another format", { "--format dynamic", "--reduce-range" }, RemedyKind::StaticFormat,
            "--reduce-range --format qdq --activation-type uint8 --keep-extreme-constants");
        row("a switch that is off", { "--no-per-channel", "--exclude 'a --per-channel'" }, RemedyKind::PerChannel,
            "--exclude 'a --per-channel' --per-channel");
        row("one more of a list", { "--exclude a", "--exclude 'b c'" }, RemedyKind::ExcludeNode,
            "--exclude a --exclude 'b c' --exclude 'n'");
        row("of another calibrator", { "--method percentile", "--percentile 97" }, RemedyKind::Calibrate,
            "--method entropy");
    }
    /// An option that may be given once is given once: as the change sets it.
    void commandsOfRecipes()
    {
        QFETCH(const QStringList, given);
        QFETCH(const int, change);
        QFETCH(const QString, options);
        Snapshot s = *fake::comparison({});
        const GraphDraft draft(s.floatModel->model);
        s.quantization = std::make_shared<Quantization>(Quantization { draft, draft });
        for (const QString& word : given)
            s.inputs.recipeWords.push_back(word.toStdString());
        Finding& f = s.comparison->findings.front();
        f.change = { RemedyKind(change), "n", {}, 0, 0, 0 };
        f.change.calibrator = Calibrator::Entropy;
        const QString line = QString::fromStdString(text::remedyCommandLine(s, f));
        QVERIFY2(line.contains("float.onnx " + options + " --data "), qPrintable(line));
    }

    /// With the data, all options, or by what was measured.
    void commandsAreRunnable()
    {
        Snapshot s = *fake::comparison({});
        s.inputs.data.spec = "test set.npz";
        Finding& f = s.comparison->findings.front();
        f.change.kind = RemedyKind::Equalize;
        f.together = { { RemedyKind::EightBitWeight, {}, {}, 0, 0, 0 } };
        const std::string quantize = text::remedyCommandLine(s, f);
        QVERIFY2(quantize.find("--equalize --weight-type uint8 --data 'test set.npz' -o ") != std::string::npos,
            quantize.c_str());
        f.measuredGainDb = 3;
        s.comparison->trials = RemedyTrialNote { 4, 7, true };
        QCOMPARE(text::remedyCommandLine(s, f), quantize);
        const auto savesMended = [&] {
            const std::string line = text::remedyCommandLine(s, f);
            return line.starts_with("quantscope-cli compare ")
                && line.find("--data 'test set.npz' --try-remedies 7 --save-mended qdq_mended.onnx")
                != std::string::npos;
        };
        f.triedInFile = true; // its other nodes are not as the recipe makes them
        QVERIFY2(savesMended(), text::remedyCommandLine(s, f).c_str());
        f.triedInFile = false;
        f.together = { { RemedyKind::EightBitWeight, "n", "w", 0, 0, 0 } }; // for which there is no option
        QVERIFY2(savesMended(), text::remedyCommandLine(s, f).c_str());
        f.together = { { RemedyKind::PerChannel, "n", "w", 0, 0, 0 } }; // whose option is for all
        QVERIFY2(savesMended(), text::remedyCommandLine(s, f).c_str());
        QCOMPARE(nlohmann::json::parse(compareJson(s, {}))["findings"][0]["command"].get<std::string>(),
            text::remedyCommandLine(s, f));
    }

    /// A recipe of the file would hold the weights in another form: the file itself is mended, and measured.
    void commandsBesideBlocks_data()
    {
        QTest::addColumn<bool>("ranges"); // quantized activations beside the weights
        QTest::addColumn<QString>("begins");
        QTest::newRow("weights alone") << false << "quantscope-cli quantize ";
        QTest::newRow("ranges beside them") << true << "quantscope-cli compare ";
    }
    void commandsBesideBlocks()
    {
        QFETCH(const bool, ranges);
        QFETCH(const QString, begins);
        test::SmallModel m("mixed.onnx");
        m.input("x", { 2, 16 }).constant("w", Tensor::of<uint8_t>({ 4, 1, 8 }, std::vector<uint8_t>(32, 0x21)));
        m.constant("s", Tensor::of<float>({ 4 }, { 1, 1, 1, 1 }));
        if (ranges)
            m.qdq<int8_t>("x", "x_dq", 0.1f, 0);
        m.node("MatMulNBits", { ranges ? "x_dq" : "x", "w", "s" }, { "y" },
            { { "K", int64_t(16) }, { "N", int64_t(4) }, { "bits", int64_t(4) }, { "block_size", int64_t(16) } },
            "com.microsoft");
        const test::Prepared mixed = m.output("y").finish();
        Snapshot s = *fake::comparison({});
        s.quantModel->model = std::shared_ptr<const Model>(mixed.plan, &mixed.plan->model());
        s.quantModel->plan = mixed.plan;
        s.quantModel->quant = mixed.view;
        Finding& f = s.comparison->findings.front();
        f.change = { RemedyKind::SetRange, "n", "x", -1, 1, 0 };
        const QString line = QString::fromStdString(text::remedyCommandLine(s, f));
        QVERIFY2(line.startsWith(begins), qPrintable(line));
        QCOMPARE(line.contains("--try-remedies 10 --save-mended mixed_mended.onnx"), ranges);
    }

    /// Codes that a Clip cuts would have all bits of their type.
    void commandsBesideClips_data()
    {
        QTest::addColumn<int>("highest"); // of the codes that the Clip leaves
        QTest::addColumn<int>("kind");
        QTest::addColumn<bool>("quantizes");
        QTest::newRow("four bits, another range") << 7 << int(RemedyKind::SetRange) << false;
        QTest::newRow("four bits, asymmetric") << 7 << int(RemedyKind::AsymmetricActivations) << false;
        QTest::newRow("four bits, left in float") << 7 << int(RemedyKind::ExcludeNode) << true;
        QTest::newRow("all bits, another range") << 127 << int(RemedyKind::SetRange) << true;
    }
    void commandsBesideClips()
    {
        QFETCH(const int, highest);
        QFETCH(const int, kind);
        QFETCH(const bool, quantizes);
        test::SmallModel m("clipped.onnx");
        m.input("x", { 2, 16 }).constant("s", Tensor::scalar(0.1f)).constant("z", Tensor::scalar(int8_t(0)));
        m.constant("lo", Tensor::scalar(int8_t(-highest - 1))).constant("hi", Tensor::scalar(int8_t(highest)));
        m.node("QuantizeLinear", { "x", "s", "z" }, { "c" }).node("Clip", { "c", "lo", "hi" }, { "few" });
        const test::Prepared clipped = m.node("DequantizeLinear", { "few", "s", "z" }, { "d" })
                                           .node("Relu", { "d" }, { "y" })
                                           .output("y")
                                           .finish();
        const test::Prepared reals
            = test::SmallModel("reals.onnx").input("x", { 2, 16 }).node("Relu", { "x" }, { "y" }).output("y").finish();
        Snapshot s = *fake::comparison({});
        s.floatModel->model = std::shared_ptr<const Model>(reals.plan, &reals.plan->model());
        s.floatModel->plan = reals.plan;
        s.quantModel->model = std::shared_ptr<const Model>(clipped.plan, &clipped.plan->model());
        s.quantModel->plan = clipped.plan;
        s.quantModel->quant = clipped.view;
        Finding& f = s.comparison->findings.front();
        f.change = { RemedyKind(kind), "n", "x", -1, 1, 0 };
        const QString line = QString::fromStdString(text::remedyCommandLine(s, f));
        QVERIFY2(line.startsWith(quantizes ? "quantscope-cli quantize " : "quantscope-cli compare "), qPrintable(line));
    }

    /// Above a histogram of both.
    void pagesSayWhoseValuesAreClipped()
    {
        Snapshot s = *fake::comparison({});
        for (ActivationRow& row : s.comparison->activations) {
            row.clippedFraction = 0.125;
            row.floatClippedFraction = 0.875;
            row.floatHistogram.add(1.F);
        }
        QVERIFY(compareHtml(s, {}).find("clipped 12.5 %, of the float data 87.5 %") != std::string::npos);
    }

    void kernelsHaveTheirShare()
    {
        Snapshot s = *fake::comparison({});
        QVERIFY(compareTable(s, {}).find("kernel") == std::string::npos);
        ActivationRow& row = s.comparison->activations.front();
        row.noise.kernel = 0.75 * *row.accumulated.rmse * *row.accumulated.rmse;
        const std::string text = compareTable(s, { 0, true });
        QVERIFY2(text.find("kernel") != std::string::npos && text.find("75.0 %") != std::string::npos, text.c_str());
        const auto json = nlohmann::json::parse(compareJson(s, {}));
        QCOMPARE(json["activations"][0]["noise"]["kernel"].get<double>(), *row.noise.kernel);
        QVERIFY(compareHtml(s, {}).find("kernel 75.0 %") != std::string::npos);
    }

    void inheritedIsAllOfIt_data()
    {
        QTest::addColumn<std::optional<double>>("inputs");
        QTest::addColumn<std::optional<double>>("weights");
        QTest::addColumn<std::optional<double>>("kernel");
        const std::optional<double> none;
        QTest::newRow("inputs alone") << std::optional(4.0) << std::optional(0.0) << none;
        QTest::newRow("weights made a part") << std::optional(1.0) << std::optional(3.0) << none;
        QTest::newRow("kernel made a part") << std::optional(1.0) << std::optional(2.0) << std::optional(1.0);
        QTest::newRow("not told apart") << none << none << none;
    }
    /// rounding + clipping + inherited = rmse²; weights, kernel and inputs are the parts of what was inherited.
    void inheritedIsAllOfIt()
    {
        QFETCH(std::optional<double>, inputs);
        QFETCH(std::optional<double>, weights);
        QFETCH(std::optional<double>, kernel);
        Snapshot s = *fake::comparison({});
        ActivationRow& row = s.comparison->activations.front();
        row.noise = { 1.5, 3.5, inputs, weights, kernel };
        row.accumulated.rmse = 3;
        const auto noise = nlohmann::json::parse(compareJson(s, {}))["activations"][0]["noise"];
        QCOMPARE(noise["inherited"].get<double>(), 4.0);
        QCOMPARE(noise["inputs"].is_null(), !inputs);
        if (inputs)
            QCOMPARE(noise["inputs"].get<double>(), *inputs);
        QVERIFY(compareCsv(s).find("noise.inherited") != std::string::npos);
    }

    /// The scalar keys that JSON has have columns, whether the first weight was looked at or not.
    void laboratoryHasColumns()
    {
        const Snapshot s = *fake::comparison({});
        QVERIFY(!s.comparison->weights.empty());
        for (const bool known : { true, false }) {
            WeightLaboratory laboratory;
            laboratory.weights.resize(s.comparison->weights.size());
            if (known) {
                laboratory.weights[0].emplace();
                laboratory.weights[0]->outlierShare = 0.125;
                laboratory.weights[0]->bulkRange = 0.75;
            }
            const std::string text = compareCsv(s, laboratory), head = text.substr(0, text.find('\n'));
            for (const char* key : { "outlier_share", "bulk_range", "equalized.range_ratio" })
                QVERIFY2(head.find(",laboratory." + std::string(key)) != std::string::npos, head.c_str());
            QCOMPARE(text.find(",0.125,0.75,") != std::string::npos, known);
            QVERIFY2(head.find("laboratory,") == std::string::npos, head.c_str());
        }
        QVERIFY(compareCsv(s).find("laboratory") == std::string::npos); // nobody asked it
    }
};

QTEST_GUILESS_MAIN(FindingTextTest)
#include "finding_text_test.moc"
