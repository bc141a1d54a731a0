// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/compare.h"
#include "core/base/issue_text.h"
#include "core/kernels/instruction_sets.h"
#include "core/project/mend/mended_file.h"
#include "core/project/search/remedy_sentence.h"
#include "core/project/search/tried_remedies.h"
#include "core/project/snapshot/comparing.h"
#include "core/tensor/convert.h"
#include "tests/analysis/planted/planted.h"
#include "tests/project/remedies.h"

#include <algorithm>
#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

Planted healthy(const Planted& faulty)
{
    Planted h = faulty;
    h.ranges = {};
    h.quantized = {};
    return h;
}

/// A chain of clipped tensors: mending one alone gains next to nothing.
Planted clippedChain()
{
    Planted p;
    p.network = "cnn";
    p.fault = "all ranges of a chain x 0.05";
    p.places = { "r1", "r2", "r3", "n_r1", "n_r2", "n_r3" };
    p.ranges = [](Ranges& ranges) {
        for (const char* name : { "r1", "r2" })
            ranges.tensors.at(name).highest *= 0.05f;
    };
    return p;
}

/// All ranges are wrong by as much of their width: mending one of them gains little.
Planted allRanges(const QString& network, float low, float high)
{
    Planted p;
    p.network = network.toStdString();
    p.ranges = [low, high](Ranges& ranges) {
        for (auto& [name, range] : ranges.tensors) {
            const float width = float(range.highest - range.lowest);
            if (range.lowest < 0) // else it would let pass what an activation cuts
                range.lowest += low * width;
            range.highest -= high * width;
        }
    };
    return p;
}

/// The first channel times the factor.
Tensor scaledChannel(const Tensor& weight, float factor)
{
    std::vector<float> values = toFloats(weight);
    for (size_t i = 0; i < values.size() / size_t(weight.dim(0)); ++i)
        values[i] *= factor;
    return Tensor::of<float>(weight.shape(), values);
}

/// The last product of the network, and a bias behind it that is added by a node of its own.
Planted splitProduct()
{
    Planted p;
    p.network = "attention";
    p.floatModel = [](GraphDraft& f) {
        std::ranges::find(
            f.nodes, "down_w", [](const DraftNode& n) { return n.hasInput(1) ? n.inputs[1] : std::string(); })
            ->outputs[0]
            = "product";
        std::vector<float> bias;
        for (int i = 0; i < 8; ++i)
            bias.push_back(0.1f * float(i - 4));
        f.setConstant("down_b", Tensor::of<float>({ 8 }, bias));
        f.nodes.push_back({ NodeId(), "bias", "Add", "", { "product", "down_b" }, { "y" }, {} });
    };
    p.ranges = [](Ranges& ranges) { // its quantizer makes more noise than all before it
        TensorRange& r = ranges.tensors.at("product");
        r.lowest *= 6;
        r.highest *= 6;
    };
    return p;
}

/// Weights in blocks alone, as a builder wrote them with an attribute that no default has.
Planted inBlocks()
{
    Planted p;
    p.network = "attention";
    p.recipe = [](Recipe& r) {
        r.format = RecipeFormat::WeightOnly;
        r.weightType = DType::Int4;
        r.weightOnly.blockSize = 16;
        r.weightOnly.accuracyLevel = 4;
    };
    return p;
}

DraftNode& blocksBehind(GraphDraft& q, const std::string& output)
{
    const auto node = std::ranges::find_if(q.nodes,
        [&](const DraftNode& n) { return n.opType == "MatMulNBits" && !n.outputs.empty() && n.outputs[0] == output; });
    if (node == q.nodes.end())
        qFatal("no product in blocks makes '%s'", output.c_str());
    return *node;
}

Tensor times(const Tensor& t, float factor)
{
    std::vector<float> values = toFloats(t);
    for (float& v : values)
        v *= factor;
    return Tensor::of<float>(t.shape(), values);
}

} // namespace

/// Remedies of findings, made and measured.
class RemediesTests : public QObject {
    Q_OBJECT

private slots:
    /// Faults of the file: their remedy brings back what was lost, and what is offered gains what is said of it.
    void remediesRestoreWhatWasLost()
    {
        size_t faults = 0, restored = 0, offered = 0, kept = 0;
        for (const Planted& p : plantedFaults()) {
            if ((!p.ranges && !p.quantized) || p.floatModel || p.recipe || p.fault.find("made by") != std::string::npos
                || p.fault.find("attribute") != std::string::npos)
                continue;
            const PlantedPair files = plantedPair(p);
            const SnapshotPtr now = snapshotOf(files);
            const double lost = outputDb(*snapshotOf(plantedPair(healthy(p)))) - outputDb(*now);
            if (lost < 1)
                continue;
            ++faults;
            const SnapshotPtr after = tried(now);
            for (const Finding& f : after->comparison->findings) {
                if (!f.measuredGainDb || f.change.kind == RemedyKind::None)
                    continue;
                ++offered;
                QVERIFY(*f.measuredGainDb >= 0);
                QVERIFY(f.expectedGainDb.value_or(0) <= *f.measuredGainDb + 1e-9);
            }
            const Finding* first = firstOffered(*after);
            const double gain = first ? first->measuredGainDb.value_or(0) : 0;
            if (gain >= 0.9 * lost)
                ++restored;
            else
                qInfo("%s, %s: %.1f of %.1f dB; %s", p.network.c_str(), p.fault.c_str(), gain, lost,
                    qPrintable(rulesOf(*after->comparison)));
            if (first && after->comparison->trials && after->comparison->trials->inFile) {
                const double mended = mendedDb(files, now, changesOf(*first)) - outputDb(*now);
                if (std::abs(mended - gain) < 1e-6)
                    ++kept;
                else
                    qInfo("%s, %s: says %.3f, gives %.3f", p.network.c_str(), p.fault.c_str(), gain, mended);
            } else {
                ++kept;
            }
        }
        qInfo("restored %zu of %zu, %zu remedies offered, %zu kept", restored, faults, offered, kept);
        QVERIFY(faults >= 15);
        QVERIFY(double(restored) >= 0.9 * double(faults));
        QCOMPARE(kept, faults);
    }

    void causesThatHideEachOtherAreMendedTogether()
    {
        const Planted p = clippedChain();
        const PlantedPair files = plantedPair(p);
        const SnapshotPtr now = snapshotOf(files);
        const double lost = outputDb(*snapshotOf(plantedPair(healthy(p)))) - outputDb(*now);
        const SnapshotPtr after = tried(now);
        const Finding* first = firstOffered(*after);
        QVERIFY2(first, qPrintable(rulesOf(*after->comparison)));
        QVERIFY(!after->comparison->findings.empty() && first == &after->comparison->findings.front());
        QVERIFY2(*first->measuredGainDb >= 0.9 * lost, qPrintable(rulesOf(*after->comparison)));
        // As good, and less than other ranges for all tensors.
        const std::vector<Remedy> changes = changesOf(*first);
        const bool pair = changes.size() == 2
            && std::ranges::all_of(changes, [](const Remedy& r) { return r.kind == RemedyKind::SetRange; });
        QVERIFY2(pair, qPrintable(QString::fromStdString(first->remedy)));
        QVERIFY(after->comparison->trials->tried > 1);
    }

    void wrongRangesAreFoundAnewTogether_data()
    {
        QTest::addColumn<QString>("network");
        QTest::addColumn<float>("low"); ///< cut off, of the width
        QTest::addColumn<float>("high");
        for (const std::string& network : networkNames()) {
            const QString name = QString::fromStdString(network);
            QTest::addRow("%s, too narrow", network.c_str()) << name << 0.15f << 0.15f;
            QTest::addRow("%s, not centred", network.c_str()) << name << -0.15f << 0.15f;
            QTest::addRow("%s, too wide", network.c_str()) << name << -4.f << -4.f;
        }
    }
    /// The finding that comes first has a remedy that brings back nearly all, though its own tensor alone would not.
    void wrongRangesAreFoundAnewTogether()
    {
        QFETCH(QString, network);
        QFETCH(float, low);
        QFETCH(float, high);
        const Planted p = allRanges(network, low, high);
        const SnapshotPtr now = snapshotOf(plantedPair(p));
        const double lost = outputDb(*snapshotOf(plantedPair(healthy(p)))) - outputDb(*now);
        QVERIFY2(lost > 3, qPrintable(QString::number(lost)));
        const SnapshotPtr after = tried(now, 4);
        const Finding* first = firstOffered(*after);
        QVERIFY2(first, qPrintable(rulesOf(*after->comparison)));
        QVERIFY2(*first->measuredGainDb >= 0.9 * lost,
            qPrintable(QString("%1 of %2: ").arg(*first->measuredGainDb).arg(lost) + rulesOf(*after->comparison)));
    }

    /// A range of what is taken out has no place left, whichever comes first.
    void rangesOfWhatIsTakenOut()
    {
        Planted p;
        p.network = "cnn";
        const SnapshotPtr now = snapshotOf(plantedPair(p));
        const Remedy range { RemedyKind::SetRange, "n_y", "y", -1, 1, 0 };
        const Remedy out { RemedyKind::ExcludeNode, "n_y", "y", 0, 0, 0 };
        for (const auto& changes : { std::vector { range, out }, std::vector { out, range } }) {
            const auto draft = mendedFile(*now, changes);
            QVERIFY(draft.ok());
            size_t passed = 0;
            for (const DraftNode& node : draft->nodes)
                if (node.is("Identity")) {
                    ++passed;
                    QCOMPARE(node.inputs.size(), size_t(1));
                }
            QVERIFY(passed > 0);
        }
    }

    void optionsForAllWeights_data()
    {
        QTest::addColumn<int>("format");
        QTest::addColumn<bool>("fewBits");
        for (const RecipeFormat format : { RecipeFormat::Qdq, RecipeFormat::QOperator })
            QTest::addRow("%d", int(format)) << int(format) << false;
        QTest::newRow("4 bits") << int(RecipeFormat::Qdq) << true;
    }
    /// What is told is what the option does: to all weights.
    void optionsForAllWeights()
    {
        QFETCH(int, format);
        QFETCH(bool, fewBits);
        Planted p;
        p.network = "cnn";
        p.floatModel = [fewBits](GraphDraft& f) { // a channel that Relu takes away
            if (fewBits)
                return;
            f.setConstant("c2_w", scaledChannel(*f.constant("c2_w"), 100));
            std::vector<float> bias = toFloats(*f.constant("c2_b"));
            bias[0] = -1e4F;
            f.setConstant("c2_b", Tensor::of<float>({ int64_t(bias.size()) }, bias));
        };
        p.recipe = [&](Recipe& r) {
            r.format = RecipeFormat(format);
            r.weightType = fewBits ? DType::Int4 : DType::Int8;
        };
        const SnapshotPtr now = snapshotOf(plantedPair(p)), after = tried(now);
        const auto& all = after->comparison->findings;
        const auto f
            = std::ranges::find_if(all, [](const Finding& g) { return isOffered(g) && g.change.ofAllWeights(); });
        QVERIFY2(f != all.end(), qPrintable(rulesOf(*after->comparison)));
        QVERIFY(!f->triedInFile && f->remedy.find("all weights") != std::string::npos);
        const auto changes = changesOf(*f);
        Planted mended = p;
        mended.recipe = [&](Recipe& r) {
            p.recipe(r);
            for (const Remedy& change : changes)
                r = withRemedy(r, change, *now->floatModel->draft);
        };
        const bool onCodes = RecipeFormat(format) == RecipeFormat::QOperator; // which add as this CPU does
        const auto sums
            = onCodes && addsPairsIn16Bits() ? ArithmeticProfile::IntegerAvx2 : ArithmeticProfile::Simulated;
        const double made
            = outputDb(*snapshotOf(plantedPair(mended), sums)) - outputDb(*snapshotOf(plantedPair(p), sums));
        QVERIFY2(made > 0 && std::abs(made - *f->measuredGainDb) < 0.1, qPrintable(QString::number(made)));
    }

    /// Data are said once, behind all else.
    void optionsOfSeveralChanges()
    {
        const Remedy equalize { RemedyKind::Equalize, {}, {}, 0, 0, 0 };
        const Remedy ranges { RemedyKind::Calibrate, {}, {}, 0, 0, 0 };
        QCOMPARE(
            remedyOptions(std::vector { equalize, ranges }), std::string("--equalize --method minmax --data DATA"));
        QCOMPARE(remedyOptions(std::vector { Remedy { RemedyKind::StaticFormat, {}, {}, 0, 0, 0 } }),
            std::string("--format qdq --activation-type uint8 --keep-extreme-constants --data DATA"));
    }

    /// Each is named, however many there are.
    void changesAreNamed()
    {
        const Remedy a { RemedyKind::EightBitWeight, "n_a", "a", 0, 0, 0 };
        const Remedy b { RemedyKind::EightBitWeight, "n_b", "b", 0, 0, 0 };
        const Remedy equalize { RemedyKind::Equalize, {}, {}, 0, 0, 0 };
        QCOMPARE(remedySentence({ a, b }), std::string("Quantize a, b to 8 bits."));
        QCOMPARE(
            remedySentence({ { RemedyKind::ExcludeNode, "n_a", "a", 0, 0, 0 } }), std::string("Leave n_a in float."));
        QCOMPARE(remedySentence({ equalize, a, b }),
            std::string("Make 3 changes together; each alone gains less, since the other causes hide it: equalize the "
                        "ranges of weights across layers before quantizing; quantize a, b to 8 bits."));
    }

    /// By the recipe that makes the file; in the file itself the sum reads the product without a quantizer.
    void splitProductsAreFused()
    {
        const PlantedPair files = plantedPair(splitProduct());
        const SnapshotPtr now = snapshotOf(files);
        const SnapshotPtr after = tried(now);
        const auto& all = after->comparison->findings;
        const auto f = std::ranges::find(all, Rule::SplitProduct, &Finding::rule);
        QVERIFY2(f != all.end(), qPrintable(rulesOf(*after->comparison)));
        QCOMPARE(f->change.kind, RemedyKind::FuseGemm);
        QVERIFY(f->measuredGainDb && *f->measuredGainDb > 1);
        const double inFile = mendedDb(files, now, { f->change }) - outputDb(*now);
        QVERIFY2(std::abs(inFile - *f->measuredGainDb) < 1, qPrintable(QString::number(inFile)));
    }

    /// Each reader has a pair of its own, and the second reads what it did not write: all of the value are written
    /// anew.
    void pairsOfOneValueAreMendedTogether()
    {
        Planted p;
        p.network = "residual";
        p.recipe = [](Recipe& r) { r.dedicatedPairs = true; };
        p.quantized = [](GraphDraft& q) {
            q.setConstant("other_scale", Tensor::scalar(3 * float(elementAsDouble(*q.constant("r1_scale"), 0))));
            const auto reader = std::ranges::find_if(q.nodes, [](const DraftNode& node) {
                return !node.outputs.empty() && node.outputs[0] == "r1_DequantizeLinear_Output_2";
            });
            if (reader == q.nodes.end())
                qFatal("r1 has one pair");
            reader->inputs[1] = "other_scale";
        };
        const SnapshotPtr now = snapshotOf(plantedPair(p));
        const double lost = outputDb(*snapshotOf(plantedPair(healthy(p)))) - outputDb(*now);
        QVERIFY2(lost > 3, qPrintable(QString::number(lost)));
        const SnapshotPtr after = tried(now);
        const Finding* first = firstOffered(*after);
        QVERIFY2(first && first->rule == Rule::WrongZeroPoint, qPrintable(rulesOf(*after->comparison)));
        QVERIFY2(*first->measuredGainDb >= 0.9 * lost, qPrintable(rulesOf(*after->comparison)));
    }

    void scalesOfOperatorsOnCodes_data()
    {
        QTest::addColumn<QString>("network");
        QTest::addColumn<size_t>("conv");
        QTest::addColumn<size_t>("slot"); ///< input of it
        QTest::addColumn<float>("factor");
        QTest::newRow("of what comes in") << "cnn" << size_t(1) << size_t(1) << 0.4f;
        QTest::newRow("of the weight") << "cnn" << size_t(1) << size_t(4) << 2.f;
        QTest::newRow("of what is moved") << "residual" << size_t(3) << size_t(6) << 0.2f;
    }
    /// The scale is set where the operators read it. The bias, whose scale follows from it, is right again in its
    /// codes.
    void scalesOfOperatorsOnCodes()
    {
        QFETCH(QString, network);
        QFETCH(size_t, conv);
        QFETCH(size_t, slot);
        QFETCH(float, factor);
        Planted p;
        p.network = network.toStdString();
        p.recipe = [](Recipe& r) { r.format = RecipeFormat::QOperator; };
        p.quantized = [&](GraphDraft& q) {
            std::vector<const DraftNode*> convs;
            for (const DraftNode& node : q.nodes)
                if (node.is("QLinearConv"))
                    convs.push_back(&node);
            const std::string name = convs.at(conv)->inputs.at(slot);
            std::vector<float> scales = toFloats(*q.constant(name));
            for (float& s : scales)
                s *= factor;
            q.setConstant(name, Tensor::of<float>(q.constant(name)->shape(), scales));
        };
        const PlantedPair files = plantedPair(p);
        const SnapshotPtr now = snapshotOf(files);
        const double before = outputDb(*snapshotOf(plantedPair(healthy(p))));
        QVERIFY(before - outputDb(*now) > 3);
        const Finding* first = firstOffered(*now);
        QVERIFY2(first, qPrintable(rulesOf(*now->comparison)));
        const double db = mendedDb(files, now, { first->change });
        QVERIFY2(db > before - 1, qPrintable(QString("%1 of %2").arg(db).arg(before)));
    }

    /// In the file itself: one product gets its weight anew, and the attributes of all stay.
    void blocksAreMendedInTheFile()
    {
        Planted p = inBlocks();
        p.quantized = [](GraphDraft& q) {
            const std::string scales = blocksBehind(q, "up").inputs[2];
            q.setConstant(scales, times(*q.constant(scales), 2));
        };
        const SnapshotPtr now = snapshotOf(plantedPair(p));
        const double lost = outputDb(*snapshotOf(plantedPair(healthy(p)))) - outputDb(*now);
        const SnapshotPtr after = tried(now);
        const Finding* first = firstOffered(*after);
        QVERIFY2(first && first->rule == Rule::WeightsDiffer, qPrintable(rulesOf(*after->comparison)));
        QVERIFY2(*first->measuredGainDb >= 0.9 * lost, qPrintable(rulesOf(*after->comparison)));
        const auto draft = mendedModel(after, 1, {});
        QVERIFY2(draft.ok(), draft.ok() ? "" : issueText(draft.issue()).c_str());
        size_t products = 0;
        for (const DraftNode& node : draft->nodes)
            if (node.opType == "MatMulNBits") {
                ++products;
                QCOMPARE(node.attributes.integer("accuracy_level", 0), int64_t(4));
            }
        QCOMPARE(products, size_t(5));
    }

    /// No recipe has ranges beside weights that operators hold in blocks: what is measured is made in the file, and the
    /// command writes it.
    void blocksBesideRanges()
    {
        Planted p = inBlocks();
        p.quantized = [](GraphDraft& q) {
            for (DraftNode& node : q.nodes)
                std::ranges::replace(node.inputs, std::string("x"), std::string("x_dq"));
            q.setConstant("x_scale", Tensor::scalar(0.008f)); // values reach four times as far
            q.setConstant("x_zero", Tensor::scalar<int8_t>(0));
            q.nodes.push_back({ NodeId(), "n_x_q", "QuantizeLinear", "", { "x", "x_scale", "x_zero" }, { "x_q" }, {} });
            q.nodes.push_back(
                { NodeId(), "n_x_dq", "DequantizeLinear", "", { "x_q", "x_scale", "x_zero" }, { "x_dq" }, {} });
        };
        const PlantedPair files = plantedPair(p);
        const SnapshotPtr now = snapshotOf(files);
        const Finding* told = firstOffered(*now);
        QVERIFY2(told && told->severity == Severity::Error, qPrintable(rulesOf(*now->comparison)));
        const SnapshotPtr after = tried(now);
        const Finding* first = firstOffered(*after);
        QVERIFY2(
            first && first->measuredGainDb && first->triedInFile, after->comparison->findings.front().remedy.c_str());
        const auto draft = mendedModel(after, 1, {});
        QVERIFY2(draft.ok(), draft.ok() ? "" : issueText(draft.issue()).c_str());
        QCOMPARE(std::ranges::count(draft->nodes, "MatMulNBits", &DraftNode::opType), ptrdiff_t(5));
        const auto model = draft->build();
        QVERIFY(model.ok());
        const double gained = outputDb(*snapshotOf({ files.floatModel, *model, files.data })) - outputDb(*now);
        QVERIFY2(std::abs(gained - *first->measuredGainDb) < 0.1 && gained > 3,
            qPrintable(QString("%1, %2").arg(gained).arg(*first->measuredGainDb)));
    }

    /// A gain stands behind a remedy only where the remedy makes it, not what the recipe does by the way.
    void gainsInAnotherNetwork()
    {
        Planted p = inBlocks();
        p.quantized = [](GraphDraft& q) {
            q.setConstant("root", Tensor::scalar(1.5f)); // what scores are multiplied with
        };
        const PlantedPair files = plantedPair(p);
        const SnapshotPtr now = snapshotOf(files), after = tried(now);
        const auto& all = after->comparison->findings;
        const auto differ = std::ranges::find(all, Rule::ModelsDiffer, &Finding::rule);
        QVERIFY2(differ != all.end() && differ->severity == Severity::Error, qPrintable(rulesOf(*after->comparison)));
        const double lost = outputDb(*snapshotOf(plantedPair(healthy(p)))) - outputDb(*now);
        QVERIFY(differ->measuredGainDb && std::abs(*differ->measuredGainDb - lost) < 1);
        QVERIFY2(differ->remedy.starts_with("Quantize the float model anew"), differ->remedy.c_str());
        for (const Finding& f : all)
            if (f.rule != Rule::ModelsDiffer && f.measuredGainDb && f.change.kind != RemedyKind::None) {
                const double made = mendedDb(files, now, changesOf(f)) - outputDb(*now);
                QVERIFY2(std::abs(made - *f.measuredGainDb) < 1e-6, f.summary.c_str());
            }
    }

    /// A constant that is no codes: the float model's values are stored, tried and measured.
    void constantsAreStored()
    {
        Planted p = inBlocks();
        p.floatModel = [](GraphDraft& f) { // a factor for each channel
            f.setConstant("gamma", Tensor::of<float>({ 12 }, std::vector<float>(12, 1.1f)));
            for (DraftNode& node : f.nodes)
                for (std::string& in : node.inputs)
                    if (in == "sum" && node.opType == "MatMul")
                        in = "normed";
            f.nodes.push_back({ NodeId(), "norm", "Mul", "", { "sum", "gamma" }, { "normed" }, {} });
        };
        p.quantized = [](GraphDraft& q) {
            std::vector<float> other(12, 1.1f);
            other[3] = 6;
            q.setConstant("gamma", Tensor::of<float>({ 12 }, other));
        };
        const PlantedPair files = plantedPair(p);
        const SnapshotPtr now = snapshotOf(files), after = tried(now);
        const double lost = outputDb(*snapshotOf(plantedPair(healthy(p)))) - outputDb(*now);
        const Finding* first = firstOffered(*after);
        QVERIFY2(first && first->rule == Rule::WeightsDiffer, qPrintable(rulesOf(*after->comparison)));
        QCOMPARE(first->change.kind, RemedyKind::StoreConstant);
        QVERIFY2(
            first->measuredGainDb && *first->measuredGainDb >= 0.99 * lost, qPrintable(rulesOf(*after->comparison)));
        QVERIFY(mendedModel(after, 1, {}).ok());
    }

    /// Another form of the same numbers gains nothing: what quantizing anew gains there is another cause's.
    void formsAreNotTried()
    {
        Finding f = makeFinding(Rule::RuntimeRejects);
        f.change = { RemedyKind::Requantize, "n_y", {}, 0, 0, 0 };
        QVERIFY(!canBeTried(f));
    }

    void gainsOfOtherPlaces_data() { nothingIsTriedOfHealthyFiles_data(); }
    /// What a node gains in float mends nothing in another place.
    void gainsOfOtherPlaces()
    {
        QFETCH(QString, network);
        Planted p;
        p.network = network.toStdString();
        auto s = std::make_shared<Snapshot>(*snapshotOf(plantedPair(p)));
        Finding f = makeFinding(Rule::WrongBiasScale, "n_y");
        f.node = f.tensor = "elsewhere";
        f.change = { RemedyKind::Requantize, f.node, f.tensor, 0, 0, 0 };
        s->comparison->findings = { f };
        const SnapshotPtr after = tried(s);
        for (const Finding& one : after->comparison->findings)
            QVERIFY2(one.change.kind != RemedyKind::ExcludeNode, one.remedy.c_str());
    }

    /// A bias without which the output is far worse is not wrong, and neither are weights; a range may be all the same.
    void whatIsRefutedIsNotTold()
    {
        Planted p;
        p.network = "cnn";
        for (const Rule rule : { Rule::WrongBiasScale, Rule::WeightsDiffer, Rule::RangeTooLarge }) {
            auto s = std::make_shared<Snapshot>(*snapshotOf(plantedPair(p)));
            Finding f = makeFinding(rule, "n_r1");
            f.severity = Severity::Error;
            f.node = "n_r1";
            f.tensor = "r1";
            f.change = { RemedyKind::SetRange, f.node, f.tensor, 0, 0.01, 0 };
            s->comparison->findings = { f };
            QCOMPARE(tried(s)->comparison->findings.empty(), rule != Rule::RangeTooLarge);
        }
    }

    void nothingIsTriedOfHealthyFiles_data()
    {
        QTest::addColumn<QString>("network");
        for (const std::string& name : networkNames())
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    /// What new ranges gain alone is no gain of what is done with them.
    void gainsOfNewRangesAreTold()
    {
        Planted p = allRanges("cnn", 0.15F, 0.15F);
        p.floatModel = [](GraphDraft& f) { // a channel that equalization makes like the others
            f.setConstant("c1_w", scaledChannel(*f.constant("c1_w"), 30));
            std::vector<float> w = toFloats(*f.constant("c2_w"));
            for (size_t i = 0, of = w.size() / 64; i < w.size(); ++i)
                w[i] /= i / of % 8 == 0 ? 30 : 1;
            f.setConstant("c2_w", Tensor::of<float>(f.constant("c2_w")->shape(), w));
        };
        const SnapshotPtr after = tried(snapshotOf(plantedPair(p)));
        const Finding* first = firstOffered(*after);
        QVERIFY2(first && first->remedy.starts_with("Recalibrate"), qPrintable(rulesOf(*after->comparison)));
        QVERIFY2(first->remedy.find("That alone gains") != std::string::npos, first->remedy.c_str());
        QCOMPARE(changesOf(*first).back().kind, RemedyKind::Equalize);
    }

    /// No advice that harms.
    void nothingIsTriedOfHealthyFiles()
    {
        QFETCH(QString, network);
        Planted p;
        p.network = network.toStdString();
        const SnapshotPtr after = tried(snapshotOf(plantedPair(p)));
        for (const Finding& f : after->comparison->findings)
            QVERIFY(!f.measuredGainDb || f.change.kind == RemedyKind::None || *f.measuredGainDb >= 0);
    }
};

QTEST_GUILESS_MAIN(RemediesTests)
#include "remedies_test.moc"
