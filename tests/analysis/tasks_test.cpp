// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/tasks/box_forms.h"
#include "core/analysis/tasks/masks.h"
#include "core/analysis/tasks/recognition.h"
#include "tests/analysis/comparing.h"

#include <cmath>
#include <limits>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

using S = std::vector<int64_t>;

double naiveOverlap(const Box& a, const Box& b)
{
    const double w = std::max(0.0, std::min<double>(a.right, b.right) - std::max<double>(a.left, b.left));
    const double h = std::max(0.0, std::min<double>(a.bottom, b.bottom) - std::max<double>(a.top, b.top));
    const auto area = [](const Box& v) { return (double(v.right) - v.left) * (double(v.bottom) - v.top); };
    return w * h / (area(a) + area(b) - w * h);
}

std::vector<Box> randomBoxes(std::mt19937& random, size_t count, int classes)
{
    std::uniform_real_distribution<float> place(0, 100), side(10, 50), score(0, 1);
    std::vector<Box> boxes;
    for (size_t i = 0; i < count; ++i) {
        const float x = place(random), y = place(random);
        boxes.push_back(
            { x, y, x + side(random), y + side(random), score(random), int64_t(random() % unsigned(classes)) });
    }
    return boxes;
}

/// Each candidate, best first, against all that were kept.
std::vector<size_t> naiveSuppressed(const std::vector<Box>& boxes, double overlap)
{
    std::vector<size_t> order(boxes.size()), kept;
    for (size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return boxes[a].score > boxes[b].score; });
    for (const size_t i : order) {
        bool covered = false;
        for (const size_t k : kept)
            covered = covered || (boxes[k].label == boxes[i].label && naiveOverlap(boxes[k], boxes[i]) > overlap);
        if (!covered)
            kept.push_back(i);
    }
    return kept;
}

/// The largest IoU of all free pairs again and again.
size_t naiveMatches(const std::vector<Box>& x, const std::vector<Box>& y, double least, double& overlap)
{
    std::vector<bool> usedX(x.size()), usedY(y.size());
    size_t matched = 0;
    for (;;) {
        double best = -1;
        size_t bi = 0, bj = 0;
        for (size_t i = 0; i < x.size(); ++i)
            for (size_t j = 0; j < y.size(); ++j)
                if (!usedX[i] && !usedY[j] && x[i].label == y[j].label && naiveOverlap(x[i], y[j]) > best) {
                    best = naiveOverlap(x[i], y[j]);
                    bi = i;
                    bj = j;
                }
        if (best < least)
            return matched;
        usedX[bi] = usedY[bj] = true;
        overlap += best;
        ++matched;
    }
}

/// Two boxes in a picture of 64 x 64: class 1 at 8,16..24,40 with 0.9, class 0 at 30,10..50,20 with 0.6.
const std::vector<Box> kTwo { { 8, 16, 24, 40, 0.9F, 1 }, { 30, 10, 50, 20, 0.6F, 0 } };

float logit(float p) { return std::log(p / (1 - p)); }

struct Written {
    std::vector<std::vector<float>> data;
    std::vector<S> shapes;
    std::vector<BoxPart> parts() const
    {
        std::vector<BoxPart> list;
        for (size_t i = 0; i < data.size(); ++i)
            list.push_back({ data[i].data(), Shape(shapes[i].begin(), shapes[i].end()) });
        return list;
    }
};

/// The two boxes as a detector with two classes says them; what is left of the candidates is below every threshold.
Written written(BoxForm form)
{
    const size_t cells = 64 + 16 + 4;
    Written w;
    const auto centre = [](const Box& b, size_t i) {
        const float v[] { (b.left + b.right) / 2, (b.top + b.bottom) / 2, b.right - b.left, b.bottom - b.top };
        return v[i];
    };
    const auto corner = [](const Box& b, size_t i) {
        const float v[] { b.left, b.top, b.right, b.bottom };
        return v[i];
    };
    switch (form) {
    case BoxForm::Yolov5:
        w = { { std::vector<float>(3 * cells * 7) }, { { 1, int64_t(3 * cells), 7 } } };
        for (size_t b = 0; b < 2; ++b) {
            float* v = w.data[0].data() + (5 + b * 9) * 7;
            for (size_t i = 0; i < 4; ++i)
                v[i] = centre(kTwo[b], i);
            v[4] = 0.95F;
            v[5 + size_t(kTwo[b].label)] = kTwo[b].score / 0.95F;
        }
        break;
    case BoxForm::Yolov8:
        w = { { std::vector<float>(6 * cells) }, { { 1, 6, int64_t(cells) } } };
        for (size_t b = 0; b < 2; ++b) {
            for (size_t i = 0; i < 4; ++i)
                w.data[0][i * cells + 3 + b] = centre(kTwo[b], i);
            w.data[0][(4 + size_t(kTwo[b].label)) * cells + 3 + b] = kTwo[b].score;
        }
        break;
    case BoxForm::Yolox:
        w = { { std::vector<float>(cells * 7) }, { { 1, int64_t(cells), 7 } } };
        for (size_t b = 0; b < 2; ++b) { // the cell of stride 16 at row 1, column 1 + b
            const size_t row = 1, column = 1 + b;
            float* v = w.data[0].data() + (64 + row * 4 + column) * 7;
            v[0] = centre(kTwo[b], 0) / 16 - float(column);
            v[1] = centre(kTwo[b], 1) / 16 - float(row);
            v[2] = std::log(centre(kTwo[b], 2) / 16);
            v[3] = std::log(centre(kTwo[b], 3) / 16);
            v[4] = 1;
            v[5 + size_t(kTwo[b].label)] = kTwo[b].score;
        }
        break;
    case BoxForm::EndToEnd:
        w = { { std::vector<float>(5 * 6) }, { { 1, 5, 6 } } };
        for (size_t b = 0; b < 2; ++b) {
            for (size_t i = 0; i < 4; ++i)
                w.data[0][b * 6 + i] = corner(kTwo[b], i);
            w.data[0][b * 6 + 4] = kTwo[b].score;
            w.data[0][b * 6 + 5] = float(kTwo[b].label);
        }
        break;
    case BoxForm::List:
        w = { { {}, { kTwo[0].score, kTwo[1].score }, { 1, 0 } }, { { 2, 4 }, { 2 }, { 2 } } };
        for (const Box& b : kTwo)
            for (size_t i = 0; i < 4; ++i)
                w.data[0].push_back(corner(b, i));
        break;
    case BoxForm::Ssd: // class 0 is the background, so theirs are 2 and 1
        w = { { {}, { 0.05F, 0.05F, 0.9F, 0.3F, 0.6F, 0.1F } }, { { 1, 2, 4 }, { 1, 2, 3 } } };
        for (const Box& b : kTwo)
            for (size_t i = 0; i < 4; ++i)
                w.data[0].push_back(corner(b, i) / 64);
        break;
    case BoxForm::Detr:
    case BoxForm::DetrSigmoid:
        w = { { {}, {} }, { { 1, 2, 4 }, { 1, 2, form == BoxForm::Detr ? 3 : 2 } } };
        for (const Box& b : kTwo) {
            for (size_t i = 0; i < 4; ++i)
                w.data[0].push_back(centre(b, i) / 64);
            const float rest = (1 - b.score) / 2;
            if (form == BoxForm::Detr)
                for (int64_t c = 0; c < 3; ++c)
                    w.data[1].push_back(std::log(c == b.label ? b.score : rest));
            else
                for (int64_t c = 0; c < 2; ++c)
                    w.data[1].push_back(logit(c == b.label ? b.score : 0.1F));
        }
        break;
    case BoxForm::Nms:
        w = { { { 0, 1, 0, 0, 0, 1 }, {}, { 0, 0.6F, 0.9F, 0 } }, { { 2, 3 }, { 1, 2, 4 }, { 1, 2, 2 } } };
        for (const Box& b : kTwo)
            for (size_t i = 0; i < 4; ++i)
                w.data[1].push_back(corner(b, i));
        break;
    case BoxForm::None:
        break;
    }
    return w;
}

/// A model whose outputs are its inputs through one operator each: what recognition looks at, and nothing else.
struct Output {
    const char* name;
    S shape;
    const char* op = "Abs";
    DType dtype = DType::Float32;
};

Prepared modelOf(const S& picture, const std::vector<Output>& outputs, const std::vector<std::string>& besides)
{
    SmallModel model("outputs");
    model.input("image", Shape(picture.begin(), picture.end()));
    for (const Output& out : outputs) {
        const std::string name = out.name;
        model.input("in_" + name, Shape(out.shape.begin(), out.shape.end()), out.dtype);
        model.node(out.op, { "in_" + name }, { name }).output(name);
    }
    for (const std::string& op : besides)
        model.node(op, { "image" }, { "beside_" + op });
    return model.finish();
}

std::string tasksOf(const Prepared& model, const TaskChoices& choices = {})
{
    std::string text;
    const auto outputs = model.plan->graph().outputs();
    for (const OutputTask& task : outputTasks(*model.plan, { outputs.begin(), outputs.end() }, choices))
        text += (text.empty() ? "" : " ") + taskText(task.what) + (task.told ? "!" : "");
    return text;
}

} // namespace

Q_DECLARE_METATYPE(std::vector<Output>)

class TasksTests : public QObject {
    Q_OBJECT
private slots:
    void textsOfTasks();
    void suppressionAgainstNaive();
    void matchesAgainstNaive();
    void boxesWithoutArea();
    void formsAreRead_data();
    void formsAreRead();
    void formsThatDoNotFit();
    void samplesOfABatch();
    void masksAgainstNaive_data();
    void masksAgainstNaive();
    void masksWithoutForeground();
    void recognized_data();
    void recognized();
    void centresOfNonMaxSuppression_data();
    void centresOfNonMaxSuppression();
    void toldTasks();
    void toldTasksThatCannotBe();
};

void TasksTests::textsOfTasks()
{
    for (const TaskChoice& choice : allTaskChoices())
        QVERIFY(taskFromText(taskText(choice)) == choice);
    for (const char* wrong : { "", "box", "boxes", "boxes:", "boxes:yolov99", "Classes" })
        QVERIFY2(!taskFromText(wrong), wrong);
}

void TasksTests::suppressionAgainstNaive()
{
    std::mt19937 random(7);
    for (int run = 0; run < 20; ++run) {
        const auto boxes = randomBoxes(random, 120, 3);
        const auto kept = suppressed(boxes, 0.45);
        const auto expected = naiveSuppressed(boxes, 0.45);
        QCOMPARE(kept.size(), expected.size());
        for (size_t i = 0; i < kept.size(); ++i) {
            QCOMPARE(kept[i].score, boxes[expected[i]].score);
            QCOMPARE(kept[i].left, boxes[expected[i]].left);
        }
    }
}

void TasksTests::matchesAgainstNaive()
{
    std::mt19937 random(8);
    std::normal_distribution<float> shift(0, 4);
    for (int run = 0; run < 20; ++run) {
        const auto x = randomBoxes(random, 40, 3);
        auto y = x;
        for (Box& box : y) {
            box.left += shift(random);
            box.bottom += shift(random);
            box.score *= 0.9F;
            if (random() % 8 == 0)
                box.label = (box.label + 1) % 3;
        }
        y.erase(y.begin() + 3, y.begin() + 7);
        double overlap = 0;
        const size_t matched = naiveMatches(x, y, 0.5, overlap);
        const BoxSums sums = boxSums(x, y, 0.5);
        QCOMPARE(size_t(sums.matched), matched);
        QVERIFY(std::abs(sums.overlap - overlap) < 1e-9);
        QCOMPARE(sums.floatBoxes, 40.0);
        QCOMPARE(sums.quantBoxes, 36.0);
        QCOMPARE(sums.missed() + sums.matched + sums.reclassed, 40.0);
        QCOMPARE(sums.extra() + sums.matched + sums.reclassed, 36.0);
        QVERIFY(sums.missed() >= 0 && sums.extra() >= 0 && !sums.same());
    }
    const BoxSums equal = boxSums(kTwo, kTwo, 0.5);
    QVERIFY(equal.same());
    QCOMPARE(equal.overlap, 2.0);
    QCOMPARE(equal.confidence, 0.0);
    auto other = kTwo;
    other[1].label = 1;
    const BoxSums changed = boxSums(kTwo, other, 0.5);
    QCOMPARE(changed.reclassed, 1.0);
    QCOMPARE(changed.missed() + changed.extra(), 0.0);
}

void TasksTests::boxesWithoutArea()
{
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
    const Box good { 0, 0, 2, 2, 1, 0 };
    for (const Box& bad : { Box { 1, 1, 1, 1, 1, 0 }, Box { 2, 2, 1, 1, 1, 0 }, Box { nan, 0, 2, 2, 1, 0 },
             Box { 0, 0, infinite, 2, 1, 0 } }) {
        QCOMPARE(overlapOf(good, bad), 0.0);
        QCOMPARE(overlapOf(bad, bad), 0.0);
    }
    QCOMPARE(boxSums({}, {}, 0.5).same(), true);
    QVERIFY(suppressed({}, 0.5).empty());
}

void TasksTests::formsAreRead_data()
{
    QTest::addColumn<int>("form");
    for (const TaskChoice& choice : allTaskChoices())
        if (choice.kind == TaskKind::Boxes)
            QTest::newRow(boxFormName(choice.form).data()) << int(choice.form);
}

void TasksTests::formsAreRead()
{
    QFETCH(int, form);
    const auto which = BoxForm(form);
    const bool shares = which == BoxForm::Ssd || which == BoxForm::Detr || which == BoxForm::DetrSigmoid;
    const auto found = boxesOf(which, written(which).parts(), { 64, 64 }, {}, {});
    QVERIFY(found);
    QCOMPARE(found->size(), size_t(2));
    for (size_t i = 0; i < 2; ++i) {
        const Box &box = (*found)[i], &expected = kTwo[i];
        const float unit = shares ? 64.0F : 1.0F;
        for (const auto& [a, b] : { std::pair(box.left, expected.left), std::pair(box.top, expected.top),
                 std::pair(box.right, expected.right), std::pair(box.bottom, expected.bottom) })
            QVERIFY2(std::abs(a * unit - b) < 1e-3F, qPrintable(QString::number(a * unit)));
        QVERIFY(std::abs(box.score - expected.score) < 1e-5F);
        QCOMPARE(box.label, expected.label + (which == BoxForm::Ssd ? 1 : 0));
    }
    const auto sure = boxesOf(which, written(which).parts(), { 64, 64 }, {}, { 0.7, 0.45, 0.5 });
    QVERIFY(sure);
    QCOMPARE(sure->size(), size_t(1));
}

void TasksTests::formsThatDoNotFit()
{
    const std::vector<float> data(600);
    const BoxPart part { data.data(), { 1, 10, 5 } };
    for (const TaskChoice& choice : allTaskChoices())
        if (choice.kind == TaskKind::Boxes && choice.form != BoxForm::Yolov8)
            QVERIFY2(!boxesOf(choice.form, std::vector { part }, { 64, 64 }, {}, {}), boxFormName(choice.form).data());
    QVERIFY(
        !boxesOf(BoxForm::Yolov8, std::vector<BoxPart> { { data.data(), { 2, 10, 5 } } }, {}, {}, {})); // two samples
    QVERIFY(!boxesOf(BoxForm::Yolox, std::vector<BoxPart> { { data.data(), { 1, 80, 7 } } }, { 64, 64 }, {}, {}));
    Written selected = written(BoxForm::Nms);
    selected.data[0][2] = 9; // a box that there is not
    QVERIFY(!boxesOf(BoxForm::Nms, selected.parts(), {}, {}, {}));
}

void TasksTests::samplesOfABatch()
{
    Written w = written(BoxForm::EndToEnd);
    std::vector<float> both(30); // the first sample has nothing
    both.insert(both.end(), w.data[0].begin(), w.data[0].end());
    const std::vector<BoxPart> parts { { both.data(), { 2, 5, 6 } } };
    QCOMPARE(boxesOf(BoxForm::EndToEnd, parts, {}, { 0, 2 }, {})->size(), size_t(0));
    QCOMPARE(boxesOf(BoxForm::EndToEnd, parts, {}, { 1, 2 }, {})->size(), size_t(2));
}

void TasksTests::masksAgainstNaive_data()
{
    QTest::addColumn<int>("classes");
    QTest::addColumn<bool>("last");
    QTest::newRow("one score") << 1 << false;
    QTest::newRow("two classes") << 2 << false;
    QTest::newRow("seven classes") << 7 << false;
    QTest::newRow("seven classes, last axis") << 7 << true;
}

void TasksTests::masksAgainstNaive()
{
    QFETCH(int, classes);
    QFETCH(bool, last);
    std::mt19937 random(9);
    std::normal_distribution<float> normal(0, 1);
    const size_t pixels = 60, n = size_t(classes);
    std::vector<float> x(pixels * n), y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = normal(random);
        y[i] = x[i] + 0.5F * normal(random);
    }
    const Shape shape = last ? Shape { 1, 6, 10, classes } : Shape { 1, classes, 6, 10 };
    const auto layout = maskLayout(shape, 1, last, false);
    QVERIFY(layout);
    const auto naive = [&](const std::vector<float>& v) {
        std::vector<int64_t> mask;
        for (size_t p = 0; p < pixels; ++p) {
            int64_t best = 0;
            for (size_t c = 1; c < n; ++c)
                if (v[last ? p * n + c : c * pixels + p] > v[last ? p * n + size_t(best) : size_t(best) * pixels + p])
                    best = int64_t(c);
            mask.push_back(n == 1 ? int64_t(v[p] > 0) : best);
        }
        return mask;
    };
    const float threshold = maskThreshold(x.data(), x.size(), ScoreKind::Logits);
    QCOMPARE(threshold, 0.0F);
    const auto mx = maskOf(x.data(), *layout, threshold), my = maskOf(y.data(), *layout, threshold);
    QVERIFY(mx == naive(x) && my == naive(y));
    PartCounts counts;
    const MaskSums sums = maskSums(mx, my, n > 1, counts);
    double total = 0;
    int occurring = 0;
    for (int64_t c = n > 1 ? 0 : 1; c < std::max<int64_t>(classes, 2); ++c) {
        double both = 0, any = 0;
        for (size_t p = 0; p < pixels; ++p) {
            both += mx[p] == c && my[p] == c;
            any += mx[p] == c || my[p] == c;
        }
        QCOMPARE(double(counts.all[size_t(c)]), any);
        QCOMPARE(double(counts.same[size_t(c)]), both);
        total += any > 0 ? both / any : 0;
        occurring += any > 0;
    }
    QVERIFY(std::abs(sums.overlap - total / occurring) < 1e-12);
    QCOMPARE(sums.pixels, double(pixels));
}

void TasksTests::masksWithoutForeground()
{
    PartCounts counts;
    const std::vector<int64_t> none(8, 0);
    const MaskSums sums = maskSums(none, none, false, counts);
    QCOMPARE(sums.overlap, -1.0);
    QCOMPARE(sums.agreeing, 8.0);
    const float shares[] { 0.1F, 0.9F };
    QCOMPARE(maskThreshold(shares, 2, ScoreKind::Logits), 0.5F); // all of them lie in 0..1
    QVERIFY(!maskLayout({ 1, 4 }, 1, false, false) && !maskLayout({ 1, 2, 4, 4 }, 1, false, true));
    QCOMPARE(maskLayout({ 2, 4, 5 }, 2, false, true)->pixels, size_t(20));
}

void TasksTests::recognized_data()
{
    QTest::addColumn<std::vector<Output>>("outputs");
    QTest::addColumn<QStringList>("besides");
    QTest::addColumn<QString>("tasks");
    const auto row
        = [](const char* tag, const std::vector<Output>& outputs, const char* tasks, const QStringList& besides = {}) {
              QTest::newRow(tag) << outputs << besides << QString::fromLatin1(tasks);
          };
    const auto whole = DType::Int64;
    row("classes", { { "logits", { 1, 10 } } }, "classes");
    row("one score", { { "score", { 1, 1 }, "Sigmoid" } }, "values");
    row("pooled", { { "y", { 1, 10, 1, 1 } } }, "classes");
    row("features at one place", { { "conv2d_19", { 1, 1, 1, 96 } } }, "values");
    row("pooled, classes last", { { "y", { 1, 1, 1, 10 }, "Softmax" } }, "classes");
    row("pooled, classes last by name", { { "class_logits", { 1, 1, 1, 10 } } }, "classes");
    row("clipped spectrum", { { "output", { 1, 12, 32 }, "Clip" } }, "values");
    row("embedding", { { "embedding", { 1, 128 } } }, "values");
    row("regression through tanh", { { "y", { 1, 3 }, "Tanh" } }, "values");
    row("sequence", { { "logits", { 1, 12, 50 } } }, "sequence");
    row("features", { { "y", { 1, 16, 32, 32 } } }, "values");
    row("recolored picture", { { "y", { 1, 3, 64, 64 } } }, "values");
    row("mask by softmax", { { "y", { 1, 2, 64, 64 }, "Softmax" } }, "mask");
    row("mask by sigmoid", { { "y", { 1, 1, 64, 64 }, "Sigmoid" } }, "mask");
    row("mask by name", { { "seg_logits", { 1, 3, 16, 16 } } }, "mask");
    row("mask by channels", { { "out", { 1, 21, 64, 64 } } }, "mask");
    row("mask, classes last", { { "out", { 1, 64, 64, 21 }, "Softmax" } }, "mask");
    row("attention weights", { { "attentions", { 1, 12, 17, 17 }, "Softmax" } }, "values");
    row("yolov5", { { "output0", { 1, 252, 85 } } }, "boxes:yolov5");
    row("yolov5 with its maps", { { "output", { 1, 252, 85 } }, { "350", { 1, 3, 8, 8, 85 } } }, "boxes:yolov5 values");
    row("yolov8", { { "output0", { 1, 84, 84 } } }, "boxes:yolov8");
    row("yolov8 with masks", { { "output0", { 1, 116, 84 } }, { "output1", { 1, 32, 16, 16 } } }, "sequence values");
    row("yolox", { { "output", { 1, 84, 15 } } }, "boxes:yolox");
    row("yolox decoded", { { "output", { 1, 84, 15 } } }, "boxes:yolov5", { "Exp" });
    row("turned around", { { "output", { 1, 84, 15 } } }, "sequence", { "Softmax" });
    row("end to end", { { "output0", { 1, 300, 6 } } }, "boxes:end2end", { "NonMaxSuppression" });
    row("six numbers", { { "output0", { 1, 300, 6 } } }, "sequence");
    row("torchvision", { { "812", { 7, 4 } }, { "813", { 7 }, "Abs", whole }, { "814", { 7 } } },
        "boxes:list boxes:list boxes:list");
    row("tensorflow",
        { { "detection_boxes", { 1, 100, 4 } }, { "detection_classes", { 1, 100 } }, { "detection_scores", { 1, 100 } },
            { "num_detections", { 1 } } },
        "boxes:list boxes:list boxes:list values");
    row("ssd", { { "scores", { 1, 90, 21 }, "Softmax" }, { "boxes", { 1, 90, 4 } } }, "boxes:ssd boxes:ssd");
    row("detr", { { "logits", { 1, 100, 92 } }, { "pred_boxes", { 1, 100, 4 }, "Sigmoid" } }, "boxes:detr boxes:detr");
    row("detr with three classes", { { "logits", { 1, 20, 4 } }, { "pred_boxes", { 1, 20, 4 }, "Sigmoid" } },
        "boxes:detr boxes:detr");
    row("rt-detr", { { "logits", { 1, 300, 80 } }, { "pred_boxes", { 1, 300, 4 }, "Sigmoid" } },
        "boxes:detr-sigmoid boxes:detr-sigmoid", { "TopK" });
    row("boxes alone", { { "boxes", { 1, 100, 4 } } }, "values");
}

void TasksTests::recognized()
{
    QFETCH(std::vector<Output>, outputs);
    QFETCH(QStringList, besides);
    QFETCH(QString, tasks);
    std::vector<std::string> ops;
    for (const QString& op : besides)
        ops.push_back(op.toStdString());
    QCOMPARE(QString::fromStdString(tasksOf(modelOf({ 1, 3, 64, 64 }, outputs, ops))), tasks);
}

void TasksTests::centresOfNonMaxSuppression_data()
{
    QTest::addColumn<int64_t>("centres");
    QTest::newRow("corners") << int64_t(0);
    QTest::newRow("centre and size") << int64_t(1);
}

/// The same numbers are other boxes.
void TasksTests::centresOfNonMaxSuppression()
{
    QFETCH(int64_t, centres);
    SmallModel m("nms");
    m.input("image", { 1, 3, 64, 64 }).input("b0", { 1, 2, 4 }).input("s0", { 1, 1, 2 });
    m.constant("most", Tensor::scalar(int64_t(10)));
    m.node("Abs", { "b0" }, { "boxes" }).node("Abs", { "s0" }, { "scores" });
    m.node("NonMaxSuppression", { "boxes", "scores", "most" }, { "found" }, { { "center_point_box", centres } });
    const Prepared model = m.output("found").output("boxes").output("scores").finish();
    QCOMPARE(tasksOf(model), std::string("boxes:nms boxes:nms boxes:nms"));
    const auto outputs = model.plan->graph().outputs();
    const auto tasks = outputTasks(*model.plan, { outputs.begin(), outputs.end() });
    QCOMPARE(tasks[0].reading().centres, centres == 1);
    QVERIFY(tasks[0].choices && !tasks[1].choices);
    const Written w { { { 0, 0, 0, 0, 0, 1 }, { 20, 30, 8, 8, 40, 10, 8, 8 }, { 0.9F, 0.6F } },
        { { 2, 3 }, { 1, 2, 4 }, { 1, 1, 2 } } };
    const auto found = boxesOf(tasks[0].reading(), w.parts(), { 64, 64 }, {}, {});
    QVERIFY(found && found->size() == 2);
    const Box &a = found->front(), expected = centres ? Box { 16, 26, 24, 34 } : Box { 8, 8, 20, 30 };
    QVERIFY(
        a.left == expected.left && a.top == expected.top && a.right == expected.right && a.bottom == expected.bottom);
}

void TasksTests::toldTasks()
{
    const Prepared model = modelOf({ 1, 3, 64, 64 }, { { "a", { 1, 10 } }, { "b", { 1, 6, 84 } } }, {});
    QCOMPARE(tasksOf(model), std::string("classes sequence"));
    QCOMPARE(tasksOf(model, { { { "b", { TaskKind::Boxes, BoxForm::Yolov8 } } }, {} }),
        std::string("classes boxes:yolov8!"));
    QCOMPARE(tasksOf(model, { { { "a", {} } }, {} }), std::string("values! sequence"));
    // A partner that is something of its own stays that.
    const Prepared detr
        = modelOf({ 1, 3, 64, 64 }, { { "logits", { 1, 20, 5 } }, { "pred_boxes", { 1, 20, 4 }, "Sigmoid" } }, {});
    QCOMPARE(tasksOf(detr, { { { "logits", { TaskKind::Sequence } } }, {} }), std::string("sequence! values"));
    QCOMPARE(tasksOf(detr, { { { "pred_boxes", { TaskKind::Boxes, BoxForm::DetrSigmoid } } }, {} }),
        std::string("boxes:detr-sigmoid! boxes:detr-sigmoid!"));
}

void TasksTests::toldTasksThatCannotBe()
{
    const Prepared model = modelOf({ 1, 3, 64, 64 }, { { "a", { 1, 10 } } }, {});
    const auto said = [&](const char* name, TaskChoice choice) {
        const Status status = checkTasks(*model.plan, { { { name, choice } }, {} });
        return status.ok() ? QString() : QString::fromStdString(issueText(status.issue()));
    };
    QVERIFY(said("a", { TaskKind::Values }).isEmpty());
    QVERIFY(said("nothing", { TaskKind::Classes }).contains(QStringLiteral("no output has that name")));
    QVERIFY(said("a", { TaskKind::Mask }).contains(QStringLiteral("cannot be mask")));
    QVERIFY(said("a", { TaskKind::Boxes, BoxForm::Ssd }).contains(QStringLiteral("cannot be boxes:ssd")));
}

QTEST_GUILESS_MAIN(TasksTests)
#include "tasks_test.moc"
