// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/prepare/layouts/channel_blocks.h"
#include "core/prepare/layouts/channels_last.h"
#endif
#include "core/graph/domains.h"
#include "core/tensor/convert.h"
#include "tests/prepare/running.h"
#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <QtTest>

#include <algorithm>
#include <random>

using namespace qs;
using namespace qs::test;

namespace {

using Ints = std::vector<int64_t>;

GraphDraft draftOf(SmallModel net)
{
    GraphDraft draft(std::make_shared<Model>(std::move(net).finish().plan->model()));
    draft.opsets[""] = 17;
    draft.opsets[kMicrosoftDomain] = draft.opsets[kNchwcDomain] = 1;
    return GraphDraft(draft.build().value());
}

std::shared_ptr<const Plan> planOf(const GraphDraft& draft) { return Plan::make(draft.build().value()); }

std::vector<double> valueOf(const std::shared_ptr<const Plan>& plan, const std::string& name, const Tensor& x)
{
    return valuesOf(plan, { plan->graph().findValue(name) }, { x });
}

const DraftNode* nodeOf(const GraphDraft& draft, const std::string& output)
{
    const auto node = std::ranges::find_if(
        draft.nodes, [&](const DraftNode& n) { return !n.outputs.empty() && n.outputs[0] == output; });
    return node == draft.nodes.end() ? nullptr : &*node;
}

/// x [1,4,6,5] in codes, turned; a convolution, a sum, a concatenation, a pool, turned back, and read as it is.
SmallModel channelsLast()
{
    std::mt19937 random(5);
    Tensor weight = Tensor::allocate(DType::Int8, { 4, 4, 3, 3 });
    for (int8_t& code : weight.fill<int8_t>())
        code = static_cast<int8_t>(random() % 256 - 128);
    const std::vector<SmallModel::Attribute> last { { "channels_last", int64_t(1) } };
    auto conv = last, pool = std::vector<SmallModel::Attribute> { { "kernel_shape", Ints { 2, 3 } } };
    conv.emplace_back("pads", Ints { 1, 1, 1, 1 });
    SmallModel m("last");
    m.input("x", { 1, 4, 6, 5 }).constant("w", weight).constant("s", Tensor::scalar(.05f));
    m.constant("z", Tensor::scalar<uint8_t>(128)).constant("ws", Tensor::scalar(.01f));
    m.constant("wz", Tensor::scalar<int8_t>(0)).constant("all", Tensor::of<int64_t>({ 1 }, { -1 }));
    m.node("QuantizeLinear", { "x", "s", "z" }, { "xq" });
    m.node("Transpose", { "xq" }, { "xt" }, { { "perm", Ints { 0, 2, 3, 1 } } });
    m.node("QLinearConv", { "xt", "s", "z", "w", "ws", "wz", "s", "z" }, { "c" }, conv, kMicrosoftDomain);
    m.node("QLinearAdd", { "c", "s", "z", "xt", "s", "z", "s", "z" }, { "a" }, {}, kMicrosoftDomain);
    m.node("QLinearConcat", { "s", "z", "a", "s", "z", "c", "s", "z" }, { "both" }, { { "axis", int64_t(3) } },
        kMicrosoftDomain);
    m.node("NhwcMaxPool", { "both" }, { "p" }, pool, kMicrosoftDomain);
    m.node("Transpose", { "p" }, { "back" }, { { "perm", Ints { 0, 3, 1, 2 } } });
    m.node("DequantizeLinear", { "back", "s", "z" }, { "y" }).node("Reshape", { "a", "all" }, { "flat" });
    return std::move(m.output("y").output("flat"));
}

/// Filters filled up to whole blocks of eight, with their channels where `inBlocks`; one block of filters.
Tensor filledUp(const Tensor& filter, bool inBlocks)
{
    constexpr int64_t kBlock = 8;
    const int64_t filters = filter.dim(0), channels = filter.dim(1), taps = filter.dim(2) * filter.dim(3);
    const int64_t all = inBlocks ? kBlock : channels;
    std::vector<float> out(size_t(kBlock * all * taps));
    for (int64_t o = 0; o < filters; ++o)
        for (int64_t i = 0; i < channels; ++i)
            for (int64_t t = 0; t < taps; ++t) {
                const int64_t at = inBlocks ? (t * kBlock + i) * kBlock + o : (i * taps + t) * kBlock + o;
                out[size_t(at)] = filter.data<float>()[size_t((o * channels + i) * taps + t)];
            }
    return Tensor::of<float>({ kBlock, all, filter.dim(2), filter.dim(3) }, out);
}

} // namespace

class LayoutsTest : public QObject {
    Q_OBJECT

private slots:
    void channelsLastComeSecond()
    {
        const GraphDraft file = draftOf(channelsLast());
        const auto before = planOf(file);
        QVERIFY(hasChannelsLast(before->graph()));
        GraphDraft draft(std::make_shared<Model>(before->model()));
        putChannelsSecond(draft, *before);
        const auto after = planOf(draft);
        QVERIFY(!hasChannelsLast(after->graph()));
        std::mt19937 random(2);
        const Tensor x = normalFloats(random, { 1, 4, 6, 5 }, 3);
        for (const char* output : { "y", "flat" }) {
            const auto expected = valueOf(before, output, x);
            QVERIFY(!expected.empty());
            QCOMPARE(valueOf(after, output, x), expected);
        }
        const auto shapeOf
            = [&](const char* name) { return *toShape(*after->facts().of(after->graph().findValue(name)).dims); };
        QCOMPARE(shapeOf("c"), (Shape { 1, 4, 6, 5 }));
        QCOMPARE(shapeOf("both"), (Shape { 1, 8, 6, 5 }));
        QCOMPARE(shapeOf("p"), (Shape { 1, 8, 5, 3 }));
        QCOMPARE(valueOf(after, "back", x), valueOf(before, "back", x));
    }

    /// The file's own order stays where nothing with channels last works on it.
    void otherTransposesStay()
    {
        SmallModel m("none");
        m.input("x", { 1, 4, 6, 5 }).node("Transpose", { "x" }, { "t" }, { { "perm", Ints { 0, 2, 3, 1 } } });
        m.node("Relu", { "t" }, { "y" }).output("y");
        const GraphDraft file = draftOf(std::move(m));
        const auto plan = planOf(file);
        QVERIFY(!hasChannelsLast(plan->graph()) && !hasChannelBlocks(plan->graph()));
        GraphDraft draft(std::make_shared<Model>(plan->model()));
        putChannelsSecond(draft, *plan);
        QCOMPARE(nodeOf(draft, "t")->opType, std::string("Transpose"));
    }

    void blocksAreTakenApart()
    {
        std::mt19937 random(4);
        const Tensor first = normalFloats(random, { 5, 3, 3, 3 }), second = normalFloats(random, { 6, 5, 3, 3 });
        Tensor bias = Tensor::of<float>({ 8 }, { 1, -2, 3, -4, 5, 0, 0, 0 });
        SmallModel m("blocks");
        m.input("x", { 1, 3, 8, 7 }).constant("w1", filledUp(first, false)).constant("w2", filledUp(second, true));
        m.constant("b", bias);
        m.node("Conv", { "x", "w1", "b" }, { "c" }, { { "activation", std::string("Relu") } }, kNchwcDomain);
        m.node("MaxPool", { "c" }, { "p" }, { { "kernel_shape", Ints { 2, 2 } } }, kNchwcDomain);
        m.node("Conv", { "p", "w2" }, { "d" }, {}, kNchwcDomain);
        m.node("ReorderOutput", { "d" }, { "y" }, { { "channels", int64_t(6) } }, kNchwcDomain).output("y");
        const GraphDraft file = draftOf(std::move(m));
        const auto before = planOf(file);
        QVERIFY(hasChannelBlocks(before->graph()));
        GraphDraft draft(std::make_shared<Model>(before->model()));
        takeApartBlocks(draft, *before);
        const auto after = planOf(draft);
        QVERIFY(!hasChannelBlocks(after->graph()));
        const Tensor x = normalFloats(random, { 1, 3, 8, 7 });
        const auto expected = valueOf(before, "y", x), made = valueOf(after, "y", x);
        QVERIFY(!expected.empty() && expected.size() == made.size());
        for (size_t i = 0; i < made.size(); ++i)
            QVERIFY(std::abs(made[i] - expected[i]) < 1e-4);
        const auto filterOf = [&](const char* output) { return draft.constant(nodeOf(draft, output)->inputs[1]); };
        QCOMPARE(nodeOf(draft, "c")->opType, std::string("FusedConv"));
        QCOMPARE(filterOf("c")->shape(), first.shape());
        QCOMPARE(toFloats(*filterOf("c")), toFloats(first));
        QCOMPARE(nodeOf(draft, "d")->opType, std::string("Conv"));
        QCOMPARE(filterOf("d")->shape(), second.shape());
        QCOMPARE(toFloats(*filterOf("d")), toFloats(second));
    }
};

QTEST_APPLESS_MAIN(LayoutsTest)
#include "layouts_test.moc"
