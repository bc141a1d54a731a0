// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/qdq_nets.h"

#include "core/tensor/convert.h"
#include "tests/support/tensors.h"

#include <QTest>

#include <algorithm>

namespace qs::test {

void convTo(QdqNet& n, DType in, DType out, float biasScale)
{
    const std::string x = n.qdq(n.input("x", kImage), "a", in);
    n.op("Conv", { x, n.weight("w", { 8, 4, 3, 3 }), n.bias("b", 8, biasScale) }, "conv");
    n.output(n.qdq("conv", "y", out, 1.5f));
}

namespace {

void reluTo(QdqNet& n, int zero)
{
    n.op("Relu", { n.conv(n.qdq(n.input("x", kImage), "a"), "conv") }, "relu");
    n.output(n.qdq("relu", "y", kU8, 0.7f, zero));
}

void clipTo(QdqNet& n, float scale)
{
    n.constant("low", Tensor::scalar(0.0f));
    n.constant("high", Tensor::scalar(6.0f));
    n.op("Clip", { n.conv(n.qdq(n.input("x", kImage), "a"), "conv"), "low", "high" }, "clip");
    n.output(n.qdq("clip", "y", kU8, scale, 0));
}

void branch(QdqNet& n, DType type)
{
    const std::string x = n.qdq(n.input("x", kImage), "a", type);
    n.output(n.qdq(n.conv(x, "c1", 4), "y1", type, 1.5f));
    n.output(n.qdq(n.conv(x, "c2", 4), "y2", type, 1.5f));
}

void pooledBranch(QdqNet& n, DType type, int readers)
{
    n.node("MaxPool", { n.qdq(n.input("x", kImage), "a", type) }, "pool")
        .attributes.set("kernel_shape", std::vector<int64_t> { 2, 2 });
    for (int i = 0; i < readers; ++i) {
        const std::string stem = std::to_string(i);
        n.output(n.qdq(n.conv("pool", "c" + stem, 4), "y" + stem, type, 1.5f));
    }
}

void binary(QdqNet& n, DType a, DType b, DType out)
{
    n.op("Add", { n.qdq(n.input("x", kImage), "a", a), n.qdq(n.input("z", kImage), "b", b, 0.07f) }, "sum");
    n.output(n.qdq("sum", "y", out, 0.1f));
}

void product(QdqNet& n, DType type, bool quantized)
{
    n.op("MatMul", { n.qdq(n.input("x", { 3, 36 }), "a", type), n.weight("w", { 36, 5 }) }, "p");
    n.output(quantized ? n.qdq("p", "y", type, 1.5f) : "p");
}

void addend(QdqNet& n, Shape rows, Shape terms)
{
    rows.push_back(36);
    Tensor b = Tensor::allocate(DType::Float32, std::move(terms));
    std::ranges::fill(b.fill<float>(), 0.25f);
    n.op("MatMul", { n.qdq(n.input("x", rows), "a"), n.weight("w", { 36, 5 }) }, "p");
    n.op("Add", { n.constant("b", b), "p" }, "sum");
    n.output(n.qdq("sum", "y", kU8, 1.5f));
}

/// x times a weight of 40 x 5 behind a DequantizeLinear, in blocks of 16 or per column (block 0). `p` is the product.
void stored(QdqNet& n, DType type, int64_t block, bool zeros, const char* op = "MatMul", Shape rows = { 3 })
{
    rows.push_back(40);
    n.opset = 21;
    n.op(op, { n.input("x", rows), n.storedWeight("w", type, block, zeros) }, "p");
}

/// A weight of 5 x 40 with a scale for each number along `axis`, turned before the product.
void storedTurned(QdqNet& n, DType type, int64_t axis)
{
    n.opset = 21;
    n.constant("w_q", n.packedCodes(type, { 5, 40 }));
    n.constant("w_s", Tensor::of<float>({ axis == 0 ? 5 : 40 }, std::vector<float>(axis == 0 ? 5 : 40, 0.02f)));
    n.node("DequantizeLinear", { "w_q", "w_s" }, "w").attributes.set("axis", axis);
    n.node("Transpose", { "w" }, "turned").attributes.set("perm", std::vector<int64_t> { 1, 0 });
    n.output(n.op("MatMul", { n.input("x", { 3, 40 }), "turned" }, "p"));
}

void storedAnd(QdqNet& n, const char* next, bool quantized)
{
    stored(n, DType::Int4, 16, false);
    if (std::string_view(next) == "Add")
        n.op(next, { "p", n.constant("b", Tensor::of<float>({ 5 }, { 1, 2, 3, 4, 5 })) }, "next");
    else
        n.op(next, { "p" }, "next");
    n.output(quantized ? n.qdq("next", "y", kU8, 1.5f) : n.op("Neg", { "next" }, "y"));
}

void gemm(QdqNet& n, float alpha, float beta, bool bias, bool quantized, float biasScale = 0.05f * 0.01f)
{
    std::vector<std::string> inputs { n.qdq(n.input("x", { 3, 36 }), "a"), n.weight("w", { 36, 5 }) };
    if (bias)
        inputs.push_back(n.bias("b", 5, biasScale));
    Node& node = n.node("Gemm", inputs, "g");
    node.attributes.set("alpha", alpha);
    node.attributes.set("beta", beta);
    n.output(quantized ? n.qdq("g", "y", kU8, 1.5f) : "g");
}

void move(QdqNet& n, const char* type, float scale)
{
    n.op(type, { n.qdq(n.input("x", kImage), "a") }, "moved");
    n.output(n.qdq("moved", "y", kU8, scale));
}

void twins(QdqNet& n, float second)
{
    n.conv(n.qdq(n.input("x", kImage), "a"), "conv");
    const auto g = n.grid("g", kU8, 1.5f, 128), h = n.grid("h", kU8, second, 128);
    const auto& other = second == 1.5f ? g : h;
    n.op("QuantizeLinear", { "conv", g[0], g[1] }, "q1");
    n.op("QuantizeLinear", { "conv", other[0], other[1] }, "q2");
    n.output(n.op("DequantizeLinear", { "q1", g[0], g[1] }, "y1"));
    n.output(n.op("DequantizeLinear", { "q2", other[0], other[1] }, "y2"));
}

void residual(QdqNet& n, DType type)
{
    const std::string x = n.qdq(n.input("x", kImage), "a", type);
    n.op("Add", { n.qdq(n.conv(x, "conv", 4), "c", type, 1.5f), x }, "sum");
    n.output(n.qdq("sum", "y", type, 1.5f));
}

/// Two pairs behind a convolution, with a copy between them where `between` names its operator.
void pairsInARow(QdqNet& n, DType type, float first, int zero, float second, int otherZero, const char* between = "")
{
    n.conv(n.qdq(n.input("x", kImage), "a", type), "conv");
    std::string at = n.qdq("conv", "p", type, first, zero);
    if (std::string_view(between) == "Cast")
        n.node("Cast", { at }, "copy").attributes.set("to", int64_t(1)); // float
    else if (*between)
        n.op(between, { at }, "copy");
    n.output(n.qdq(*between ? "copy" : at, "y", type, second, otherZero));
}

/// Codes of 5 x 36 with a scale for each number along `axis`, turned before the product.
void turnedWeight(QdqNet& n, int64_t axis, bool readTwice)
{
    const int64_t count = axis == 0 ? 5 : 36;
    n.constant("w_q", n.codes({ 5, 36 }));
    std::vector<float> scales;
    for (int64_t i = 0; i < count; ++i)
        scales.push_back(0.01f * float(1 + i % 4));
    n.constant("w_s", Tensor::of<float>({ count }, scales));
    n.constant("w_z", Tensor::of<int8_t>({ count }, std::vector<int8_t>(size_t(count), 0)));
    n.node("DequantizeLinear", { "w_q", "w_s", "w_z" }, "w").attributes.set("axis", axis);
    n.node("Transpose", { "w" }, "turned").attributes.set("perm", std::vector<int64_t> { 1, 0 });
    n.output(n.op("MatMul", { n.qdq(n.input("x", { 3, 36 }), "a"), "turned" }, "p"));
    if (readTwice)
        n.output(n.op("MatMul", { "a", "turned" }, "again"));
}

/// A scale for each column of a weight.
void scaledColumns(QdqNet& n, int64_t axis)
{
    n.constant("w_q", n.codes({ 36, 5 }));
    n.constant("w_s", Tensor::of<float>({ 5 }, { 0.01f, 0.02f, 0.03f, 0.04f, 0.05f }));
    n.constant("w_z", Tensor::of<int8_t>({ 5 }, std::vector<int8_t>(5, 0)));
    n.node("DequantizeLinear", { "w_q", "w_s", "w_z" }, "w").attributes.set("axis", axis);
    n.output(n.op("MatMul", { n.qdq(n.input("x", { 3, 36 }), "a"), "w" }, "p"));
}

const UnitCase kUnitCases[] = {
    { "conv", [](QdqNet& n) { convTo(n, kU8, kU8); }, "QLinearConv>y_q" },
    { "conv s8", [](QdqNet& n) { convTo(n, kS8, kS8); }, "QLinearConv>y_q" },
    { "conv u8 to s8", [](QdqNet& n) { convTo(n, kU8, kS8); }, "QLinearConv>y_q" },
    { "conv, bias on another grid", [](QdqNet& n) { convTo(n, kU8, kU8, 0.01f); }, "" },
    { "conv, zero point of Relu", [](QdqNet& n) { reluTo(n, 0); }, "QLinearConv>y_q" },
    { "conv, Relu that matters", [](QdqNet& n) { reluTo(n, 10); }, "" },
    { "conv, range of Clip", [](QdqNet& n) { clipTo(n, 6.0f / 255); }, "QLinearConv>y_q" },
    { "conv, Clip that matters", [](QdqNet& n) { clipTo(n, 8.0f / 255); }, "" },
    { "shared DequantizeLinear", [](QdqNet& n) { branch(n, kU8); }, "QLinearConv>y1_q QLinearConv>y2_q" },
    { "shared s8 DequantizeLinear is not shifted", [](QdqNet& n) { branch(n, kS8); }, "" },
    { "residual", [](QdqNet& n) { residual(n, kU8); }, "QLinearConv>c_q QLinearAdd>y_q" },
    { "s8 residual", [](QdqNet& n) { residual(n, kS8); }, "" },
    { "conv whose output is read",
        [](QdqNet& n) {
            convTo(n, kU8, kU8);
            n.output("conv");
        },
        "" },
    { "codes that are read",
        [](QdqNet& n) {
            convTo(n, kU8, kU8);
            n.output("y_q");
        },
        "QLinearConv>y_q" },
    { "s8 codes that are read",
        [](QdqNet& n) {
            convTo(n, kS8, kS8);
            n.output("y_q");
        },
        "" },
    { "two equal quantizers", [](QdqNet& n) { twins(n, 1.5f); }, "QLinearConv>q1 Identity>q2" },
    { "pairs in a row, equal", [](QdqNet& n) { pairsInARow(n, kU8, 1.5f, 128, 1.5f, 128); }, "QLinearConv>p_q" },
    { "pairs in a row, narrower behind", [](QdqNet& n) { pairsInARow(n, kU8, 1.5f, 0, 1.25f, 0); },
        "QLinearConv>p_q DequantizeLinear>p Identity>y_q", false },
    { "pairs in a row, narrower in front", [](QdqNet& n) { pairsInARow(n, kU8, 1.25f, 0, 1.5f, 0); },
        "QLinearConv>p_q Identity>y_q DequantizeLinear>y", false },
    { "pairs in a row, s8, ranges overlap", [](QdqNet& n) { pairsInARow(n, kS8, 1.5f, 20, 1.25f, -30); },
        "QLinearConv>p_q DequantizeLinear>p Identity>y_q DequantizeLinear>y", false },
    { "pairs in a row, nothing in common", [](QdqNet& n) { pairsInARow(n, kU8, 1.5f, 0, 1.5f, 255); },
        "QLinearConv>p_q", false },
    { "pairs in a row, Identity between", [](QdqNet& n) { pairsInARow(n, kU8, 1.5f, 0, 1.25f, 0, "Identity"); },
        "QLinearConv>p_q DequantizeLinear>p Identity>y_q", false },
    { "pairs in a row, Cast to float between", [](QdqNet& n) { pairsInARow(n, kU8, 1.5f, 0, 1.25f, 0, "Cast"); },
        "QLinearConv>p_q DequantizeLinear>p Identity>y_q", false },
    { "pairs in a row, Relu between", [](QdqNet& n) { pairsInARow(n, kU8, 1.5f, 0, 1.25f, 0, "Relu"); },
        "QLinearConv>p_q", false },
    { "pairs in a row behind a float operator",
        [](QdqNet& n) {
            n.op("Tanh", { n.input("x", kImage) }, "t");
            n.output(n.qdq(n.qdq("t", "p", kU8, 0.01f, 128), "y", kU8, 0.005f, 128));
        },
        "QuantizeLinear>p_q DequantizeLinear>p Identity>y_q", false },
    { "three pairs in a row",
        [](QdqNet& n) {
            n.conv(n.qdq(n.input("x", kImage), "a"), "conv");
            n.output(n.qdq(n.qdq(n.qdq("conv", "p", kU8, 1.5f, 0), "q", kU8, 1.0f, 0), "y", kU8, 1.25f, 0));
        },
        "QLinearConv>p_q DequantizeLinear>p Identity>q_q Identity>y_q DequantizeLinear>y", false },
    { "pairs in a row, codes read between",
        [](QdqNet& n) {
            pairsInARow(n, kU8, 1.5f, 0, 1.25f, 0);
            n.output("p_q");
        },
        "QLinearConv>p_q", false },
    { "two quantizers", [](QdqNet& n) { twins(n, 2.0f); }, "" },
    { "pool before conv", [](QdqNet& n) { pooledBranch(n, kU8, 1); }, "MaxPool+QLinearConv>y0_q" },
    { "pool before two convs", [](QdqNet& n) { pooledBranch(n, kU8, 2); },
        "MaxPool+QLinearConv>y0_q MaxPool+QLinearConv>y1_q" },
    { "pool before a conv and a quantizer",
        [](QdqNet& n) {
            pooledBranch(n, kU8, 1);
            n.output(n.qdq(n.conv(n.qdq("pool", "b"), "c1", 4), "y1", kU8, 1.5f));
        },
        "QLinearConv>y1_q" },
    { "s8 pool before conv", [](QdqNet& n) { pooledBranch(n, kS8, 1); }, "MaxPool+QLinearConv>y0_q" },
    { "s8 pool before two convs", [](QdqNet& n) { pooledBranch(n, kS8, 2); }, "" },
    { "pool behind conv and Relu",
        [](QdqNet& n) {
            n.op("Relu", { n.conv(n.qdq(n.input("x", kImage), "a"), "conv") }, "relu");
            n.node("MaxPool", { "relu" }, "pool").attributes.set("kernel_shape", std::vector<int64_t> { 2, 2 });
            n.output(n.qdq("pool", "y", kU8, 0.7f, 0));
        },
        "QLinearConv+MaxPool>y_q" },
    { "s8 conv whose shape is read",
        [](QdqNet& n) {
            const std::string y = n.qdq(n.conv(n.qdq(n.input("x", kImage), "a", kS8), "conv"), "y", kS8, 1.5f);
            n.op("Reshape", { y, n.op("Shape", { y }, "sizes") }, "r");
            n.output(n.op("Tanh", { "r" }, "t"));
        },
        "QLinearConv>y_q" },
    { "shape read before a Reshape and a quantizer",
        [](QdqNet& n) {
            n.conv(n.qdq(n.input("x", kImage), "a"), "conv");
            n.op("Reshape", { "conv", n.op("Shape", { "conv" }, "sizes") }, "r");
            n.output(n.qdq("r", "y", kU8, 1.5f));
        },
        "QLinearConv+Reshape>y_q" },
    { "identities between",
        [](QdqNet& n) {
            n.op("Identity", { n.qdq(n.input("x", kImage), "a") }, "same");
            n.op("Identity", { n.conv("same", "conv") }, "too");
            n.output(n.qdq("too", "y", kU8, 1.5f));
        },
        "QLinearConv>y_q" },
    { "float constants of a conv",
        [](QdqNet& n) {
            Tensor w = Tensor::allocate(DType::Float32, { 8, 4, 3, 3 });
            for (float& v : w.fill<float>())
                v = static_cast<float>(n.random() % 1000) / 1000 - 0.3f;
            n.op("Conv", { n.qdq(n.input("x", kImage), "a"), n.constant("w", w) }, "conv");
            n.output(n.qdq("conv", "y", kU8, 1.5f));
        },
        "QLinearConv>y_q" },
    { "add", [](QdqNet& n) { binary(n, kU8, kU8, kU8); }, "QLinearAdd>y_q" },
    { "add s8", [](QdqNet& n) { binary(n, kS8, kS8, kS8); }, "QLinearAdd>y_q" },
    { "add u8 and s8", [](QdqNet& n) { binary(n, kU8, kS8, kU8); }, "QLinearAdd>y_q" },
    { "where and number",
        [](QdqNet& n) {
            n.op("Greater", { n.input("x", kImage), n.constant("zero", Tensor::scalar(0.0f)) }, "which");
            n.op("Where", { "which", n.qdq("x", "a"), n.constant("number", Tensor::scalar(-3.0f)) }, "chosen");
            n.output(n.qdq("chosen", "y", kU8, 0.06f));
        },
        "QLinearWhere>y_q" },
    { "product", [](QdqNet& n) { product(n, kU8, true); }, "QLinearMatMul>y_q" },
    { "product to float", [](QdqNet& n) { product(n, kU8, false); }, "MatMulIntegerToFloat>p" },
    { "s8 product to float", [](QdqNet& n) { product(n, kS8, false); }, "MatMulIntegerToFloat>p" },
    { "product, scales per column", [](QdqNet& n) { scaledColumns(n, 1); }, "MatMulIntegerToFloat>p" },
    { "product, scales along the last axis", [](QdqNet& n) { scaledColumns(n, -1); }, "MatMulIntegerToFloat>p" },
    { "product, scales per row, turned", [](QdqNet& n) { turnedWeight(n, 0, false); }, "MatMulIntegerToFloat>p" },
    { "product, scales per column, turned", [](QdqNet& n) { turnedWeight(n, 1, false); }, "" },
    { "product, turned and read twice", [](QdqNet& n) { turnedWeight(n, 0, true); }, "" },
    { "product and addend", [](QdqNet& n) { addend(n, { 3 }, { 5 }); }, "QGemm>y_q" },
    { "product and addend, rank 3",
        [](QdqNet& n) {
            addend(n, { 2, 3 }, { 5 });
        },
        "Reshape+QGemm+Reshape>y_q" },
    { "product and matrix",
        [](QdqNet& n) {
            addend(n, { 3 }, { 3, 5 });
        },
        "" },
    { "gemm", [](QdqNet& n) { gemm(n, 1, 1, true, true); }, "QGemm>y_q" },
    { "gemm, bias on another grid", [](QdqNet& n) { gemm(n, 1, 1, true, true, 0.4f); }, "QGemm>y_q", false },
    { "gemm to float", [](QdqNet& n) { gemm(n, 1, 1, true, false); }, "QGemm>g" },
    { "gemm, alpha", [](QdqNet& n) { gemm(n, 0.5f, 1, false, true); }, "QGemm>y_q" },
    { "gemm, alpha and bias", [](QdqNet& n) { gemm(n, 0.5f, 1, true, true); }, "" },
    { "gemm, beta", [](QdqNet& n) { gemm(n, 1, 2, true, true); }, "" },
    { "movement on one grid", [](QdqNet& n) { move(n, "Flatten", 0.05f); }, "Flatten>y_q" },
    { "movement to another grid", [](QdqNet& n) { move(n, "Flatten", 0.06f); }, "" },
    { "not joined", [](QdqNet& n) { move(n, "Tanh", 0.05f); }, "" },
    { "stored int4",
        [](QdqNet& n) {
            stored(n, DType::Int4, 16, false);
            n.output("p");
        },
        "MatMulNBits>p" },
    { "stored uint4",
        [](QdqNet& n) {
            stored(n, DType::UInt4, 16, true);
            n.output("p");
        },
        "MatMulNBits>p" },
    { "stored uint4 without zero points",
        [](QdqNet& n) {
            stored(n, DType::UInt4, 16, false);
            n.output("p");
        },
        "MatMulNBits>p" },
    { "stored int8 per column",
        [](QdqNet& n) {
            stored(n, kS8, 0, true);
            n.output("p");
        },
        "MatMulNBits>p" },
    { "stored int2",
        [](QdqNet& n) {
            stored(n, DType::Int2, 32, false);
            n.output("p");
        },
        "MatMulNBits>p" },
    { "stored int8, turned", [](QdqNet& n) { storedTurned(n, kS8, 0); }, "MatMulNBits>p" },
    { "stored int8 per row, turned", [](QdqNet& n) { storedTurned(n, kS8, 1); }, "" },
    { "stored int4, turned", [](QdqNet& n) { storedTurned(n, DType::Int4, 0); }, "" },
    { "stored, one row",
        [](QdqNet& n) {
            stored(n, DType::Int4, 32, false, "MatMul", {});
            n.output("p");
        },
        "MatMulNBits>p" },
    { "stored, rank 3",
        [](QdqNet& n) {
            stored(n, DType::Int4, 32, false, "MatMul", { 2, 3 });
            n.output("p");
        },
        "MatMulNBits>p" },
    { "stored, Gemm with bias",
        [](QdqNet& n) {
            stored(n, DType::UInt4, 16, true, "Gemm");
            n.nodes.back().inputs.push_back(
                n.builder.value(n.constant("b", Tensor::of<float>({ 5 }, { 1, -2, 3, -4, 5 }))));
            n.output("p");
        },
        "MatMulNBits>p" },
    { "stored, Gemm with alpha",
        [](QdqNet& n) {
            stored(n, DType::Int4, 16, false, "Gemm");
            n.nodes.back().attributes.set("alpha", 0.5f);
            n.output("p");
        },
        "" },
    { "stored in small blocks",
        [](QdqNet& n) {
            stored(n, DType::Int4, 8, false);
            n.output("p");
        },
        "" },
    { "stored, two readers",
        [](QdqNet& n) {
            stored(n, DType::Int4, 16, false);
            n.op("MatMul", { "x", "w" }, "again");
            n.output("p");
            n.output("again");
        },
        "" },
    { "stored, scale of two weights",
        [](QdqNet& n) {
            stored(n, DType::Int4, 16, false);
            n.constant("other_q", n.packedCodes(DType::Int4, { 40, 5 }));
            Node& other = n.node("DequantizeLinear", { "other_q", "w_s" }, "other");
            other.attributes = n.nodes.front().attributes;
            n.op("MatMul", { "x", "other" }, "again");
            n.output("p");
            n.output("again");
        },
        "" },
    { "stored, codes come in",
        [](QdqNet& n) {
            n.opset = 21;
            n.op("MatMul", { n.qdq(n.input("x", { 3, 40 }), "a"), n.storedWeight("w", DType::Int4, 16, false) }, "p");
            n.output("p");
        },
        "" },
    { "stored, codes go out",
        [](QdqNet& n) {
            stored(n, DType::Int4, 16, false);
            n.output(n.qdq("p", "y", kU8, 1.5f));
        },
        "" },
    { "stored, 16-bit codes go out",
        [](QdqNet& n) {
            stored(n, DType::Int4, 16, false);
            n.constant("y_s", Tensor::scalar(0.01f));
            n.constant("y_z", Tensor::scalar<uint16_t>(32768));
            n.op("QuantizeLinear", { "p", "y_s", "y_z" }, "y_q");
            n.output(n.op("DequantizeLinear", { "y_q", "y_s", "y_z" }, "y"));
        },
        "MatMulNBits>p" },
    { "stored, a Relu with one reader", [](QdqNet& n) { storedAnd(n, "Relu", false); }, "" },
    { "stored, a Tanh with one reader", [](QdqNet& n) { storedAnd(n, "Tanh", false); }, "MatMulNBits>p" },
    { "stored and an addend", [](QdqNet& n) { storedAnd(n, "Add", false); }, "MatMulNBits>p" },
    { "stored and an addend, codes go out", [](QdqNet& n) { storedAnd(n, "Add", true); }, "" },
    { "mean", [](QdqNet& n) { move(n, "GlobalAveragePool", 0.05f); }, "QLinearGlobalAveragePool>y_q" },
};

} // namespace

std::span<const UnitCase> unitCases() { return kUnitCases; }

std::vector<Tensor> feedOf(const Plan& plan, unsigned seed)
{
    std::vector<Tensor> inputs;
    for (ValueId id : plan.graph().inputs()) {
        std::mt19937 random(seed++);
        inputs.push_back(normalFloats(random, *toShape(*plan.graph().value(id).type.dims), 4));
    }
    return inputs;
}

std::vector<Tensor> run(const std::shared_ptr<const Plan>& plan, const std::vector<ValueId>& wanted,
    const std::vector<Tensor>& feed, std::map<NodeId, PairCounts>* counts)
{
    auto schedule = Schedule::make(plan, { wanted, {} });
    if (!schedule.ok()) {
        qWarning("%s", schedule.issue().what.c_str());
        return {};
    }
    BufferPool pool;
    Execution execution(*schedule, pool);
    Status status = execution.bind(feed);
    if (status.ok())
        status = execution.runAll();
    if (!status.ok()) {
        qWarning("%s: %s", status.issue().node.c_str(), status.issue().what.c_str());
        return {};
    }
    std::vector<Tensor> values;
    for (ValueId id : wanted)
        values.push_back(toPlain(execution.get(id)));
    if (counts)
        *counts = execution.pairCounts();
    return values;
}

} // namespace qs::test
