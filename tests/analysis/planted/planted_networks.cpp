// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/calibrate.h"
#include "tests/analysis/planted/planted.h"
#include "tests/support/calibrated_tensors.h"

#include <cmath>
#include <random>

namespace qs::test {

namespace {

constexpr size_t kSamples = 24;
constexpr uint32_t kSeed = 20;

class Numbers {
public:
    explicit Numbers(uint32_t seed)
        : m_random(seed)
    {
    }
    /// Normal numbers; the standard deviation keeps the power of what `fanIn` inputs add up to.
    Tensor weights(const Shape& shape, int64_t fanIn)
    {
        std::normal_distribution<float> normal(0.f, std::sqrt(2.f / static_cast<float>(fanIn)));
        return fill(shape, normal);
    }
    Tensor normals(const Shape& shape, float deviation)
    {
        std::normal_distribution<float> normal(0.f, deviation);
        return fill(shape, normal);
    }

private:
    Tensor fill(const Shape& shape, std::normal_distribution<float>& normal)
    {
        Tensor t = Tensor::allocate(DType::Float32, shape);
        for (float& v : t.fill<float>())
            v = normal(m_random);
        return t;
    }
    std::mt19937 m_random;
};

using Names = SmallModel::Names;

const Shape kPicture { 1, 4, 8, 8 };
const std::vector<int64_t> kPads { 1, 1, 1, 1 };

/// A 3x3 convolution with bias; constants OUT_w and OUT_b.
void conv(SmallModel& m, Numbers& n, const std::string& in, const std::string& out, int64_t from, int64_t to)
{
    m.constant(out + "_w", n.weights({ to, from, 3, 3 }, from * 9)).constant(out + "_b", n.normals({ to }, 0.2f));
    m.node("Conv", { in, out + "_w", out + "_b" }, { out }, { { "pads", kPads } });
}

void gemm(SmallModel& m, Numbers& n, const std::string& in, const std::string& out, int64_t from, int64_t to)
{
    m.constant(out + "_w", n.weights({ to, from }, from)).constant(out + "_b", n.normals({ to }, 0.2f));
    m.node("Gemm", { in, out + "_w", out + "_b" }, { out }, { { "transB", int64_t(1) } });
}

SmallModel cnn(Numbers n)
{
    SmallModel m("cnn");
    m.input("x", kPicture);
    conv(m, n, "x", "c1", 4, 8);
    m.node("Relu", { "c1" }, { "r1" });
    conv(m, n, "r1", "c2", 8, 8);
    m.node("Relu", { "c2" }, { "r2" });
    conv(m, n, "r2", "c3", 8, 12);
    m.node("Relu", { "c3" }, { "r3" });
    m.node("GlobalAveragePool", { "r3" }, { "pool" }).node("Flatten", { "pool" }, { "flat" });
    gemm(m, n, "flat", "y", 12, 10);
    return m.output("y");
}

SmallModel residual(Numbers n)
{
    SmallModel m("residual");
    m.input("x", kPicture);
    conv(m, n, "x", "c1", 4, 8);
    m.node("Relu", { "c1" }, { "r1" });
    conv(m, n, "r1", "c2", 8, 8);
    m.node("Relu", { "c2" }, { "r2" });
    conv(m, n, "r2", "c3", 8, 8);
    m.node("Add", { "r1", "c3" }, { "sum" }).node("Relu", { "sum" }, { "r3" });
    conv(m, n, "r3", "c4", 8, 6);
    m.node("MaxPool", { "c4" }, { "pool" },
        { { "kernel_shape", std::vector<int64_t> { 2, 2 } }, { "strides", std::vector<int64_t> { 2, 2 } } });
    return m.node("Sigmoid", { "pool" }, { "y" }).output("y");
}

SmallModel attention(Numbers n)
{
    SmallModel m("attention");
    m.input("x", { 1, 64, 12 });
    for (const char* name : { "q", "k", "v" })
        m.constant(std::string(name) + "_w", n.weights({ 12, 12 }, 24))
            .node("MatMul", { "x", std::string(name) + "_w" }, { name });
    m.node("Transpose", { "k" }, { "kt" }, { { "perm", std::vector<int64_t> { 0, 2, 1 } } });
    m.node("MatMul", { "q", "kt" }, { "scores" });
    m.constant("root", Tensor::scalar(0.3f)).node("Mul", { "scores", "root" }, { "scaled" });
    m.node("Softmax", { "scaled" }, { "p" }, { { "axis", int64_t(-1) } }).node("MatMul", { "p", "v" }, { "mixed" });
    m.node("Add", { "x", "mixed" }, { "sum" });
    m.constant("up_w", n.weights({ 12, 24 }, 12)).node("MatMul", { "sum", "up_w" }, { "up" });
    m.node("Relu", { "up" }, { "r" });
    m.constant("down_w", n.weights({ 24, 8 }, 24)).node("MatMul", { "r", "down_w" }, { "y" });
    return m.output("y");
}

SmallModel branches(Numbers n)
{
    SmallModel m("branches");
    m.input("x", kPicture);
    conv(m, n, "x", "a", 4, 6);
    m.node("Relu", { "a" }, { "ra" });
    conv(m, n, "x", "b", 4, 6);
    m.node("Relu", { "b" }, { "rb" });
    m.node("Concat", { "ra", "rb" }, { "join" }, { { "axis", int64_t(1) } });
    conv(m, n, "join", "c", 12, 8);
    m.node("Sigmoid", { "c" }, { "gate" });
    conv(m, n, "gate", "d", 8, 8);
    m.node("Relu", { "d" }, { "rd" });
    m.node("GlobalAveragePool", { "rd" }, { "pool" }).node("Flatten", { "pool" }, { "flat" });
    gemm(m, n, "flat", "y", 8, 10);
    return m.output("y");
}

SmallModel networkNamed(const std::string& name)
{
    const Numbers n(kSeed);
    return name == "cnn" ? cnn(n) : name == "residual" ? residual(n) : name == "attention" ? attention(n) : branches(n);
}

std::shared_ptr<const Model> changed(
    const std::shared_ptr<const Model>& model, const std::function<void(GraphDraft&)>& edit)
{
    GraphDraft draft(model);
    if (edit)
        edit(draft);
    auto built = draft.build();
    if (!built.ok())
        qFatal("%s", issueText(built.issue()).c_str());
    return std::move(built).value();
}

Prepared prepared(std::shared_ptr<const Model> model, ArithmeticProfile profile = ArithmeticProfile::Simulated)
{
    Prepared p;
    p.plan = Plan::make(std::move(model), { KernelMode::Fast, profile, {} });
    p.view = std::make_shared<const QuantView>(
        QuantView::of(p.graph(), [plan = p.plan](ValueId id) { return plan->constant(id); }));
    return p;
}

std::shared_ptr<FixedData> dataFor(const Graph& graph, const std::function<float(float)>& change)
{
    const Shape shape = *toShape(*graph.value(graph.inputs()[0]).type.dims);
    std::vector<Tensor> samples;
    Numbers n(7);
    for (size_t s = 0; s < kSamples; ++s) {
        Tensor t = n.normals(shape, 1);
        if (change)
            for (float& v : t.fill<float>())
                v = change(v);
        samples.push_back(std::move(t));
    }
    return std::make_shared<FixedData>(std::move(samples));
}

} // namespace

std::vector<std::string> networkNames() { return { "cnn", "residual", "attention", "branches" }; }

PlantedPair plantedPair(const Planted& planted)
{
    const auto plain = std::make_shared<const Model>(networkNamed(planted.network).finish().plan->model());
    const Prepared f = prepared(changed(plain, planted.floatModel));
    CalibrationRun run;
    run.plan = f.plan;
    run.tensors = test::tensorsToCalibrate(*f.plan);
    run.data = dataFor(f.graph(), {});
    Recipe recipe;
    recipe.activationType = DType::UInt8;
    if (planted.recipe)
        planted.recipe(recipe);
    auto ranges = calibrate(run, recipe.calibration);
    if (!ranges.ok())
        qFatal("%s", issueText(ranges.issue()).c_str());
    if (planted.ranges)
        planted.ranges(*ranges);
    const auto source = std::make_shared<const Model>(f.plan->model());
    auto draft = quantizeDraft(GraphDraft(source), recipe, *ranges);
    if (!draft.ok())
        qFatal("%s", issueText(draft.issue()).c_str());
    if (planted.quantized)
        planted.quantized(draft->draft);
    auto model = draft->draft.build();
    if (!model.ok())
        qFatal("%s", issueText(model.issue()).c_str());
    return { source, *model, dataFor(f.graph(), planted.data) };
}

Comparison comparePlanted(const Planted& planted)
{
    const PlantedPair files = plantedPair(planted);
    const Prepared f = prepared(files.floatModel), q = prepared(files.quantModel);
    ComparePair pair = pairOf(f, q);
    CompareOptions options;
    options.profile = planted.profile;
    options.prove = true;
    if (planted.profile != ArithmeticProfile::Simulated) {
        pair.writtenPlan = pair.quantPlan;
        pair.quantPlan = Plan::make(files.quantModel, { KernelMode::Fast, planted.profile, {} });
    }
    auto compared = compareModels(pair, *files.data, options);
    if (!compared.ok())
        qFatal("%s", issueText(compared.issue()).c_str());
    return std::move(compared).value();
}

} // namespace qs::test
