// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/issue_text.h"
#include "core/match/alignment.h"
#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <QStringList>

/// A chain of convolutions, float and quantized, and what matching says of it.
namespace qs::test {

inline const Shape kWeight { 4, 2, 3, 3 };
inline const std::vector<float> kW1 = normals(72, 1), kW2 = normals(144, 2), kW3 = normals(12, 3);
inline const std::vector<SmallModel::Attribute> kPads { { "pads", std::vector<int64_t> { 1, 1, 1, 1 } } };

/// x -> Conv -> Relu -> Conv -> y
inline Prepared convChain()
{
    return SmallModel("float.onnx")
        .input("x", { 1, 2, 5, 5 })
        .constant("w1", Tensor::of<float>(kWeight, kW1))
        .constant("w2", Tensor::of<float>({ 4, 4, 3, 3 }, kW2))
        .node("Conv", { "x", "w1" }, { "c1" }, kPads)
        .node("Relu", { "c1" }, { "r1" })
        .node("Conv", { "r1", "w2" }, { "y" }, kPads)
        .output("y")
        .finish();
}

/// What ONNX Runtime's quantizer makes of convChain: the Relu is gone, the range does its work.
inline Prepared quantizedChain()
{
    return SmallModel("quant.onnx")
        .input("x", { 1, 2, 5, 5 })
        .weight("w1", kWeight, symmetricCodes(kW1, { 0.03f }), { 0.03f })
        .weight("w2", { 4, 4, 3, 3 }, symmetricCodes(kW2, { 0.03f }), { 0.03f })
        .qdq<uint8_t>("x", "x_DequantizeLinear_Output", 0.02f, 128)
        .node("Conv", { "x_DequantizeLinear_Output", "w1" }, { "c1" }, kPads)
        .qdq<uint8_t>("c1", "r1_DequantizeLinear_Output", 0.05f, 0)
        .node("Conv", { "r1_DequantizeLinear_Output", "w2" }, { "y_QuantizeLinear_Input" }, kPads)
        .qdq<uint8_t>("y_QuantizeLinear_Input", "y", 0.1f, 100)
        .output("y")
        .finish();
}

inline Result<Alignment> alignOf(const Prepared& f, const Prepared& q, const ManualPairs& manual = {})
{
    return align(*f.plan, *q.plan, *q.view, { manual, {} });
}

/// Pairs as text: "float=quantized" in order.
inline QStringList pairsOf(const Prepared& f, const Prepared& q, const Alignment& a)
{
    QStringList list;
    for (const ValuePair& p : a.values)
        list << QString::fromStdString(f.graph().value(p.floatValue).name + "=" + q.graph().value(p.quantValue).name);
    return list;
}

inline const ValuePair* pairOf(const Prepared& f, const Alignment& a, const std::string& name)
{
    const auto it = std::ranges::find(a.values, f.value(name), &ValuePair::floatValue);
    return it == a.values.end() ? nullptr : &*it;
}

inline QStringList namesOf(const Prepared& m, const std::vector<ValueId>& values)
{
    QStringList list;
    for (ValueId v : values)
        list << QString::fromStdString(m.graph().value(v).name);
    return list;
}

inline QString sentence(const Result<Alignment>& r)
{
    return r ? QString() : QString::fromStdString(issueText(r.issue()));
}

} // namespace qs::test
