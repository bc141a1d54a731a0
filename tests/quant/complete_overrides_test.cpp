// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/quant/model/complete_overrides.h"
#include "core/quant/write/ort_script.h"
#include "core/quant/write/quantizer.h"
#endif
#include "tests/quant/runners.h"
#include "tests/support/small_model.h"

#include <QtTest>

#include <algorithm>

using namespace qs;
using qs::test::SmallModel;

namespace {

/// x - Relu - a - Add - c - Sigmoid - y; b = Tanh(x) goes into the Add, into an Exp and out; a goes into a Neg.
std::shared_ptr<const Model> net()
{
    SmallModel m("net.onnx");
    m.input("x", { 2, 3 }).node("Relu", { "x" }, { "a" }).node("Tanh", { "x" }, { "b" });
    m.node("Add", { "a", "b" }, { "c" }).node("Sigmoid", { "c" }, { "y" });
    m.node("Exp", { "b" }, { "e" }).node("Neg", { "a" }, { "n" });
    m.output("y").output("e").output("n").output("b");
    return std::make_shared<Model>(std::move(m).finish().plan->model());
}

TensorOverride ofType(DType type)
{
    TensorOverride o;
    o.parts.front().type = type;
    return o;
}

TensorOverride converting(DType type, DType to, std::vector<std::string> readers)
{
    TensorOverride o = ofType(type);
    o.convert = QuantConversion { {}, std::move(readers) };
    o.convert->to.type = to;
    return o;
}

Result<std::map<std::string, TensorOverride>> completed(const std::map<std::string, TensorOverride>& tensors)
{
    Recipe recipe;
    recipe.activationType = DType::UInt8;
    recipe.tensors = tensors;
    QS_TRY(const FloatModel model, FloatModel::make(GraphDraft(net()), recipe, {}));
    return completeOverrides(model, recipe);
}

using Overrides = std::map<std::string, TensorOverride>;
constexpr DType U8 = DType::UInt8, U16 = DType::UInt16;

} // namespace

class CompleteOverridesTest : public QObject {
    Q_OBJECT

private slots:
    void aroundAnOutput()
    {
        // The Add makes and reads 16 bits: what it reads is converted for it alone, what it makes for all that reads
        // it; the Sigmoid behind it reads 16 bits as well, so its output is made of them.
        const auto made = completed({ { "c", ofType(U16) } });
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        QVERIFY((*made
            == Overrides { { "a", converting(U8, U16, { "n_c" }) }, { "b", converting(U8, U16, { "n_c" }) },
                { "c", ofType(U16) }, { "y", ofType(U16) } }));
    }

    void aroundWhatSeveralRead()
    {
        const auto made = completed({ { "b", ofType(U16) } });
        QVERIFY(made.ok());
        QVERIFY((*made
            == Overrides { { "a", converting(U8, U16, { "n_c" }) }, { "b", ofType(U16) },
                { "c", converting(U16, U8, { "n_y" }) }, { "e", ofType(U16) },
                { "x", converting(U8, U16, { "n_b" }) } }));
    }

    void whatIsLeftAlone()
    {
        // The recipe's own type, a scale without a type, and conversions that are stated already.
        TensorOverride scale;
        scale.parts.front().scale = 0.5;
        scale.parts.front().zeroPoint = 3;
        const Overrides given { { "c", ofType(U8) }, { "b", scale }, { "a", converting(U16, U8, { "n_c" }) } };
        const auto made = completed(given);
        QVERIFY(made.ok());
        QVERIFY(*made == given);
    }

    void contradictions()
    {
        const auto made = completed({ { "a", ofType(U16) }, { "b", ofType(DType::Int16) } });
        QVERIFY(!made.ok());
        QCOMPARE(made.issue().kind, IssueKind::BadInput);
        QVERIFY(!made.issue().remedy.empty());
    }

    void inQuantizerAndScript()
    {
        Recipe recipe;
        recipe.activationType = U8;
        recipe.opTypes = { "Add", "Sigmoid", "Tanh", "Relu", "Exp", "Neg" };
        recipe.tensors = { { "c", ofType(U16) } };
        recipe.completeOverrides = true;
        Ranges ranges;
        for (const char* name : { "x", "a", "b", "c", "y", "e", "n" }) {
            ranges.tensors[name].lowest = -1;
            ranges.tensors[name].highest = 1;
        }
        const auto made = quantizeDraft(GraphDraft(net()), recipe, ranges);
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        const auto& nodes = made->draft.nodes;
        const auto add = std::ranges::find(nodes, std::string("n_c"), &DraftNode::name);
        QVERIFY(add != nodes.end());
        QCOMPARE(add->inputs.front(), std::string("a_convert_DequantizeLinear_Output"));
        QCOMPARE(made->draft.constant("y_zero_point")->dtype(), U16);
        QCOMPARE(made->draft.constant("n_zero_point")->dtype(), U8);
        const auto script = ortScript(GraphDraft(net()), recipe, ranges, { "s.py", "a.onnx", "b.onnx" });
        QVERIFY(script.ok());
        QVERIFY(script->text.find("\"recv_nodes\": set([\"n_c\"])") != std::string::npos);

        recipe.format = RecipeFormat::QOperator;
        QVERIFY(!quantizeDraft(GraphDraft(net()), recipe, ranges).ok());
    }

    void sharedParametersThatAreConverted()
    {
        // A Reshape's output has the parameters that the Reshape sees, and a conversion of its own behind them.
        SmallModel m("net.onnx");
        m.input("x", { 2, 3 }).node("Sigmoid", { "x" }, { "a" });
        m.constant("shape", Tensor::of<int64_t>({ 2 }, { 3, 2 })).node("Reshape", { "a", "shape" }, { "r" });
        m.node("Sigmoid", { "r" }, { "y" }).output("y");
        Recipe recipe;
        recipe.activationType = U8;
        recipe.tensors = { { "a", converting(U8, U16, { "n_r" }) }, { "r", converting(U16, U8, { "n_y" }) } };
        Ranges ranges;
        for (const char* name : { "x", "a", "r", "y" }) {
            ranges.tensors[name].lowest = 0;
            ranges.tensors[name].highest = 1;
        }
        const auto prepared = std::move(m).finish();
        const auto made = quantizeDraft(GraphDraft(std::make_shared<Model>(prepared.plan->model())), recipe, ranges);
        QVERIFY2(made.ok(), made.ok() ? "" : made.issue().what.c_str());
        const auto& nodes = made->draft.nodes;
        const auto first = std::ranges::find(nodes, std::string("r_QuantizeLinear"), &DraftNode::name);
        const auto second = std::ranges::find(nodes, std::string("r_convert_QuantizeLinear"), &DraftNode::name);
        QVERIFY(first != nodes.end() && second != nodes.end());
        QCOMPARE(first->inputs[1], std::string("a_scale_convert"));
        QCOMPARE(second->inputs[1], std::string("r_scale_convert"));
        QCOMPARE(made->draft.constant("r_zero_point_convert")->dtype(), U8);
    }
};

int runCompleteOverridesTests(int argc, char** argv)
{
    CompleteOverridesTest t;
    return QTest::qExec(&t, argc, argv);
}

#include "complete_overrides_test.moc"
