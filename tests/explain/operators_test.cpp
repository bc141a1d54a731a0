// SPDX-License-Identifier: GPL-3.0-or-later
// Every kind of operator is explained to the bit, in every arithmetic.
#include "core/tensor/convert.h"
#include "tests/explain/explained.h"
#include "tests/explain/one_operator.h"

#include <QTest>

#include <functional>

using namespace qs;
using namespace qs::test;

namespace {

struct Named {
    const char* name;
    std::function<void(Case&)> build;
};

template <class A, class B> void qlinearConv(Case& c, const Shape& x, const Shape& w, int64_t group, const Ints& pads)
{
    Tensor scales = Tensor::allocate(DType::Float32, { w[0] });
    for (float& s : scales.fill<float>())
        s = 0.001f + 0.001f * float(c.random() % 9);
    Tensor bias = Tensor::allocate(DType::Int32, { w[0] });
    for (int32_t& b : bias.fill<int32_t>())
        b = int32_t(c.random() % 20000) - 10000;
    c.codeInput<A>("x", x);
    c.grid<A>("x", 0.02f, std::is_signed_v<A> ? -3 : 117);
    c.constant("w", c.codes<B>(w));
    c.constant("w_s", scales).constant("w_z", Tensor::scalar(B(std::is_signed_v<B> ? 0 : 128))).constant("b", bias);
    c.grid<A>("y", 0.9f, std::is_signed_v<A> ? 5 : 121);
    c.op("QLinearConv", { "x", "x_s", "x_z", "w", "w_s", "w_z", "y_s", "y_z", "b" },
        { { "group", group }, { "pads", pads }, { "dilations", Ints(pads.size() / 2, 2) } });
}

template <class A, class B> void qlinearMatMul(Case& c, const Shape& a, const Shape& b)
{
    c.codeInput<A>("a", a);
    c.grid<A>("a", 0.02f, 7);
    c.codeInput<B>("b", b);
    c.grid<B>("b", 0.01f, 3);
    c.grid<A>("y", 0.7f, 11);
    c.op("QLinearMatMul", { "a", "a_s", "a_z", "b", "b_s", "b_z", "y_s", "y_z" });
}

void blocks(Case& c, int64_t accuracy, bool zeros, int64_t bits)
{
    const int64_t depth = 40, columns = 5, block = 32, count = 2, bytes = block * bits / 8;
    c.floats("x", { 2, 3, depth }).constant("w", c.codes<uint8_t>({ columns, count, bytes }));
    Tensor scales = normalFloats(c.random, { columns * count }, 0.1f);
    c.constant("s", scales);
    SmallModel::Names in { "x", "w", "s" };
    if (zeros) {
        c.constant("z", c.codes<uint8_t>({ columns * ((count * bits + 7) / 8) }));
        in.push_back("z");
    }
    c.op("MatMulNBits", in,
        { { "K", depth }, { "N", columns }, { "bits", bits }, { "block_size", block }, { "accuracy_level", accuracy } },
        kMs);
}

template <class T> void codeBinary(Case& c, const std::string& type, const Shape& a, const Shape& b)
{
    c.codeInput<T>("a", a);
    c.grid<T>("a", 0.02f, 9);
    c.codeInput<T>("b", b);
    c.grid<T>("b", 0.05f, 4);
    c.grid<T>("y", 0.06f, 20);
    c.op(type, { "a", "a_s", "a_z", "b", "b_s", "b_z", "y_s", "y_z" }, {}, kMs);
}

void codeUnary(Case& c, const std::string& type, const std::vector<SmallModel::Attribute>& attributes)
{
    c.codeInput<uint8_t>("x", { 1, 3, 5, 6 }).grid<uint8_t>("x", 0.03f, 100).grid<uint8_t>("y", 0.02f, 40);
    c.op(type, { "x", "x_s", "x_z", "y_s", "y_z" }, attributes, kMs);
}

const std::vector<Named>& products()
{
    static const std::vector<Named> all {
        { "Conv, dilated, padded, two groups",
            [](Case& c) {
                c.floats("x", { 2, 4, 7, 6 }).weight("w", { 6, 2, 3, 2 }).weight("b", { 6 });
                c.op("Conv", { "x", "w", "b" },
                    { { "group", int64_t(2) }, { "pads", Ints { 2, 1, 0, 1 } }, { "strides", Ints { 2, 1 } },
                        { "dilations", Ints { 1, 2 } } });
            } },
        { "Conv of one axis",
            [](Case& c) {
                c.floats("x", { 1, 3, 9 }).weight("w", { 2, 3, 4 }).op("Conv", { "x", "w" });
            } },
        { "Conv of three axes, as large",
            [](Case& c) {
                c.floats("x", { 1, 2, 4, 3, 5 }).weight("w", { 3, 2, 2, 2, 3 });
                c.op("Conv", { "x", "w" }, { { "auto_pad", std::string("SAME_UPPER") } });
            } },
        { "Conv, depthwise",
            [](Case& c) {
                c.floats("x", { 1, 4, 6, 6 }).weight("w", { 4, 1, 3, 3 });
                c.op("Conv", { "x", "w" }, { { "group", int64_t(4) } });
            } },
        { "ConvTranspose",
            [](Case& c) {
                c.floats("x", { 1, 4, 3, 4 }).weight("w", { 4, 3, 3, 2 }).weight("b", { 6 });
                c.op("ConvTranspose", { "x", "w", "b" },
                    { { "group", int64_t(2) }, { "strides", Ints { 2, 3 } }, { "pads", Ints { 1, 0, 0, 1 } },
                        { "output_padding", Ints { 1, 0 } }, { "dilations", Ints { 2, 1 } } });
            } },
        { "Gemm",
            [](Case& c) {
                c.floats("a", { 7, 3 }).weight("b", { 5, 7 }).weight("c", { 3, 1 });
                c.op("Gemm", { "a", "b", "c" },
                    { { "transA", int64_t(1) }, { "transB", int64_t(1) }, { "alpha", 0.5f }, { "beta", 2.0f } });
            } },
        { "MatMul, stacks",
            [](Case& c) {
                c.floats("a", { 2, 1, 3, 4 }).floats("b", { 5, 4, 2 }).op("MatMul", { "a", "b" });
            } },
        { "MatMul, a vector",
            [](Case& c) {
                c.floats("a", { 4 }).floats("b", { 3, 4, 2 }).op("MatMul", { "a", "b" });
            } },
        { "MatMulNBits", [](Case& c) { blocks(c, 0, false, 4); } },
        { "MatMulNBits, zero points", [](Case& c) { blocks(c, 0, true, 4); } },
        { "MatMulNBits, 8-bit rows", [](Case& c) { blocks(c, 4, true, 4); } },
        { "MatMulNBits of 8 bits", [](Case& c) { blocks(c, 4, false, 8); } },
    };
    return all;
}

const std::vector<Named>& codeProducts()
{
    static const std::vector<Named> all {
        { "QLinearConv, u8s8",
            [](Case& c) {
                qlinearConv<uint8_t, int8_t>(c, { 2, 4, 8, 7 }, { 6, 2, 3, 2 }, 2, { 1, 1, 2, 0 });
            } },
        { "QLinearConv, u8u8",
            [](Case& c) {
                qlinearConv<uint8_t, uint8_t>(c, { 1, 3, 8 }, { 4, 3, 3 }, 1, { 2, 1 });
            } },
        { "QLinearConv, s8s8",
            [](Case& c) {
                qlinearConv<int8_t, int8_t>(c, { 1, 3, 7, 7 }, { 4, 3, 3, 3 }, 1, { 0, 0, 0, 0 });
            } },
        { "QLinearConv, depthwise",
            [](Case& c) {
                qlinearConv<uint8_t, int8_t>(c, { 1, 4, 7, 7 }, { 4, 1, 3, 3 }, 4, { 1, 1, 1, 1 });
            } },
        { "QLinearConv, odd depth in three axes",
            [](Case& c) {
                qlinearConv<uint8_t, int8_t>(c, { 1, 3, 5, 6, 5 }, { 4, 3, 1, 2, 2 }, 1, { 1, 0, 0, 0, 1, 2 });
            } },
        { "ConvInteger",
            [](Case& c) {
                c.codeInput<uint8_t>("x", { 1, 3, 6, 6 }).constant("w", c.codes<int8_t>({ 4, 3, 3, 3 }));
                c.constant("xz", Tensor::scalar<uint8_t>(13)).op("ConvInteger", { "x", "w", "xz" });
            } },
        { "ConvInteger of quantized floats, without zero points",
            [](Case& c) {
                c.floats("x", { 1, 3, 6, 6 })
                    .grid<uint8_t>("x", 0.02f, 120)
                    .constant("w", c.codes<int8_t>({ 4, 3, 3, 3 }));
                c.model.node("QuantizeLinear", { "x", "x_s", "x_z" }, { "q" });
                c.op("ConvInteger", { "q", "w" }, { { "pads", Ints { 1, 0, 0, 1 } } });
            } },
        { "QLinearMatMul, u8s8",
            [](Case& c) {
                qlinearMatMul<uint8_t, int8_t>(c, { 2, 3, 9 }, { 9, 4 });
            } },
        { "QLinearMatMul, u8u8",
            [](Case& c) {
                qlinearMatMul<uint8_t, uint8_t>(c, { 3, 8 }, { 2, 8, 4 });
            } },
        { "QGemm",
            [](Case& c) {
                c.codeInput<uint8_t>("a", { 3, 11 })
                    .grid<uint8_t>("a", 0.02f, 9)
                    .constant("b", c.codes<int8_t>({ 5, 11 }));
                c.grid<int8_t>("b", 0.01f, 0).constant("c", Tensor::of<int32_t>({ 5 }, { 1, -2000, 300, 4000, -5 }));
                c.grid<uint8_t>("y", 0.8f, 120);
                c.op("QGemm", { "a", "a_s", "a_z", "b", "b_s", "b_z", "c", "y_s", "y_z" },
                    { { "transB", int64_t(1) }, { "alpha", 0.75f } }, kMs);
            } },
        { "QGemm to floats",
            [](Case& c) {
                c.codeInput<uint8_t>("a", { 3, 6 })
                    .grid<uint8_t>("a", 0.02f, 9)
                    .constant("b", c.codes<int8_t>({ 6, 5 }));
                c.grid<int8_t>("b", 0.01f, 0);
                c.op("QGemm", { "a", "a_s", "a_z", "b", "b_s", "b_z" }, {}, kMs);
            } },
        { "MatMulInteger",
            [](Case& c) {
                c.floats("x", { 3, 10 }).model.node("DynamicQuantizeLinear", { "x" }, { "q", "s", "z" });
                c.constant("w", c.codes<int8_t>({ 10, 4 })).constant("wz", Tensor::of<int8_t>({ 4 }, { 1, 0, -3, 9 }));
                c.op("MatMulInteger", { "q", "w", "z", "wz" });
            } },
        { "MatMulInteger with a zero point of its own",
            [](Case& c) {
                c.floats("x", { 3, 10 }).grid<uint8_t>("x", 0.02f, 120).constant("w", c.codes<int8_t>({ 10, 4 }));
                c.model.node("QuantizeLinear", { "x", "x_s", "x_z" }, { "q" });
                c.constant("z", Tensor::scalar<uint8_t>(100)).op("MatMulInteger", { "q", "w", "z" });
            } },
        { "DynamicQuantizeMatMul",
            [](Case& c) {
                c.floats("x", { 3, 10 }).constant("w", c.codes<int8_t>({ 10, 4 })).grid<int8_t>("w", 0.01f, 0);
                c.weight("b", { 4 }).op("DynamicQuantizeMatMul", { "x", "w", "w_s", "w_z", "b" }, {}, kMs);
            } },
        { "MatMulIntegerToFloat",
            [](Case& c) {
                c.codeInput<uint8_t>("a", { 3, 10 })
                    .grid<uint8_t>("a", 0.03f, 77)
                    .constant("w", c.codes<int8_t>({ 10, 4 }));
                c.constant("ws", Tensor::of<float>({ 4 }, { 0.01f, 0.02f, 0.5f, 0.3f })).weight("b", { 4 });
                c.op("MatMulIntegerToFloat", { "a", "w", "a_s", "ws", "a_z", "", "b" }, {}, kMs);
            } },
    };
    return all;
}

const std::vector<Named>& others()
{
    static const std::vector<Named> all {
        { "QuantizeLinear, int8",
            [](Case& c) {
                c.floats("x", { 3, 4 }).grid<int8_t>("g", 0.01f, 3).op("QuantizeLinear", { "x", "g_s", "g_z" });
            } },
        { "QuantizeLinear by channel",
            [](Case& c) {
                c.floats("x", { 3, 4 }).constant("s", Tensor::of<float>({ 4 }, { 0.1f, 0.2f, 0.01f, 1.0f }));
                c.constant("z", Tensor::of<uint8_t>({ 4 }, { 1, 128, 200, 0 })).op("QuantizeLinear", { "x", "s", "z" });
            } },
        { "QuantizeLinear to float8",
            [](Case& c) {
                c.floats("x", { 3, 4 }).constant("s", Tensor::scalar(0.01f));
                c.op("QuantizeLinear", { "x", "s" }, { { "output_dtype", int64_t(DType::Float8E4M3FN) } });
            } },
        { "DequantizeLinear by channel",
            [](Case& c) {
                c.codeInput<int8_t>("x", { 3, 4 }).constant("s", Tensor::of<float>({ 3 }, { 0.1f, 0.2f, 0.01f }));
                c.constant("z", Tensor::of<int8_t>({ 3 }, { 1, -128, 20 }));
                c.op("DequantizeLinear", { "x", "s", "z" }, { { "axis", int64_t(0) } });
            } },
        { "DequantizeLinear to float16",
            [](Case& c) {
                const auto half = [](float v) {
                    Tensor t = Tensor::allocate(DType::Float16, {});
                    t.fill<uint16_t>()[0] = floatToFloat16(v);
                    return t;
                };
                c.codeInput<uint8_t>("x", { 30 }).constant("s", half(0.0123f));
                c.constant("z", Tensor::scalar<uint8_t>(99)).op("DequantizeLinear", { "x", "s", "z" });
            } },
        { "DequantizeLinear in blocks",
            [](Case& c) {
                c.codeInput<int8_t>("x", { 4, 3 }).weight("s", { 2, 3 });
                c.op("DequantizeLinear", { "x", "s" }, { { "axis", int64_t(0) }, { "block_size", int64_t(2) } });
            } },
        { "DynamicQuantizeLinear",
            [](Case& c) {
                c.floats("x", { 3, 9 }).op("DynamicQuantizeLinear", { "x" }, {}, {}, { "y", "s", "z" });
            } },
        { "Add",
            [](Case& c) {
                c.floats("a", { 2, 3, 4 }).floats("b", { 3, 1 }).op("Add", { "a", "b" });
            } },
        { "Sub",
            [](Case& c) {
                c.floats("a", { 4 }).floats("b", { 3, 1 }).op("Sub", { "a", "b" });
            } },
        { "Mul",
            [](Case& c) {
                c.floats("a", { 2, 3, 4 }).floats("b", { 1, 4 }).op("Mul", { "a", "b" });
            } },
        { "Add of 64-bit integers",
            [](Case& c) {
                c.codeInput<int64_t>("a", { 8 }).constant("b", Tensor::scalar<int64_t>(9007199254740993));
                c.op("Add", { "a", "b" });
            } },
        { "Mul of integers that wraps",
            [](Case& c) {
                c.codeInput<int32_t>("a", { 8 }).codeInput<int32_t>("b", { 8 }).op("Mul", { "a", "b" });
            } },
        { "Sub of codes that wraps",
            [](Case& c) {
                c.codeInput<uint8_t>("a", { 8 }).codeInput<uint8_t>("b", { 8 }).op("Sub", { "a", "b" });
            } },
        { "ReduceMax over a NaN",
            [](Case& c) {
                c.floats("x", { 4, 3 });
                c.feed[0].fill<float>()[4] = std::numeric_limits<float>::quiet_NaN();
                c.op("ReduceMax", { "x" }, { { "axes", Ints { 1 } } });
            } },
        { "MaxPool over a NaN",
            [](Case& c) {
                c.floats("x", { 1, 1, 6 });
                c.feed[0].fill<float>()[2] = std::numeric_limits<float>::quiet_NaN();
                c.op("MaxPool", { "x" }, { { "kernel_shape", Ints { 2 } } });
            } },
        { "Relu", [](Case& c) { c.floats("a", { 30 }).op("Relu", { "a" }); } },
        { "Clip",
            [](Case& c) {
                c.floats("a", { 30 }).constant("l", Tensor::scalar(-0.5f)).op("Clip", { "a", "l" });
            } },
        { "Sigmoid", [](Case& c) { c.floats("a", { 30 }).op("Sigmoid", { "a" }); } },
        { "Softmax",
            [](Case& c) {
                c.floats("a", { 2, 3, 4 }).op("Softmax", { "a" }, { { "axis", int64_t(1) } });
            } },
        { "LayerNormalization",
            [](Case& c) {
                c.floats("a", { 2, 6 }).weight("s", { 6 }).op("LayerNormalization", { "a", "s" });
            } },
        { "BatchNormalization",
            [](Case& c) {
                c.floats("x", { 2, 3, 4 }).weight("s", { 3 }).weight("b", { 3 }).weight("m", { 3 });
                c.constant("v", Tensor::of<float>({ 3 }, { 0.5f, 2, 1e-3f }));
                c.op("BatchNormalization", { "x", "s", "b", "m", "v" });
            } },
        { "SkipLayerNormalization",
            [](Case& c) {
                c.floats("x", { 2, 3, 8 }).floats("s", { 2, 3, 8 }).weight("g", { 8 }).weight("b", { 8 });
                c.op("SkipLayerNormalization", { "x", "s", "g", "", "b" }, {}, kMs, { "y", "", "", "sum" });
            } },
        { "MaxPool",
            [](Case& c) {
                c.floats("x", { 1, 2, 7, 8 })
                    .op("MaxPool", { "x" },
                        { { "kernel_shape", Ints { 3, 2 } }, { "pads", Ints { 1, 1, 0, 1 } },
                            { "dilations", Ints { 2, 1 } } });
            } },
        { "AveragePool",
            [](Case& c) {
                c.floats("x", { 1, 2, 7, 8 })
                    .op("AveragePool", { "x" },
                        { { "kernel_shape", Ints { 3, 2 } }, { "pads", Ints { 1, 1, 1, 0 } },
                            { "strides", Ints { 2, 2 } }, { "count_include_pad", int64_t(1) },
                            { "ceil_mode", int64_t(1) } });
            } },
        { "GlobalAveragePool",
            [](Case& c) {
                c.floats("x", { 2, 3, 4, 5 }).op("GlobalAveragePool", { "x" });
            } },
        { "GlobalMaxPool",
            [](Case& c) {
                c.floats("x", { 2, 3, 4, 5 }).op("GlobalMaxPool", { "x" });
            } },
        { "ReduceMean",
            [](Case& c) {
                c.floats("x", { 2, 3, 4 })
                    .op("ReduceMean", { "x" }, { { "axes", Ints { 2, 0 } }, { "keepdims", int64_t(0) } });
            } },
        { "Concat",
            [](Case& c) {
                c.floats("a", { 2, 3 })
                    .floats("b", { 2, 1 })
                    .op("Concat", { "a", "b", "a" }, { { "axis", int64_t(1) } });
            } },
        { "Transpose",
            [](Case& c) {
                c.floats("a", { 2, 3, 4 }).op("Transpose", { "a" }, { { "perm", Ints { 2, 0, 1 } } });
            } },
        { "Crop",
            [](Case& c) {
                c.model.opset(9);
                c.floats("a", { 1, 2, 4, 5 }).op("Crop", { "a" }, { { "border", Ints { 1, 0, 2, 1 } } });
            } },
        { "DynamicSlice",
            [](Case& c) {
                c.model.opset(9);
                c.floats("a", { 3, 4 }).constant("from", Tensor::of<int64_t>({ 1 }, { 1 }));
                c.constant("to", Tensor::of<int64_t>({ 1 }, { 3 })).op("DynamicSlice", { "a", "from", "to" });
            } },
        { "Affine",
            [](Case& c) {
                c.model.opset(9);
                c.floats("a", { 3, 4 }).op("Affine", { "a" }, { { "alpha", 2.0f } });
            } },
        { "Reshape",
            [](Case& c) {
                c.floats("a", { 2, 6 })
                    .constant("s", Tensor::of<int64_t>({ 2 }, { 3, -1 }))
                    .op("Reshape", { "a", "s" });
            } },
        { "Flatten",
            [](Case& c) {
                c.floats("a", { 2, 3, 2 }).op("Flatten", { "a" });
            } },
        { "Pad",
            [](Case& c) {
                c.floats("a", { 2, 3 })
                    .constant("p", Tensor::of<int64_t>({ 4 }, { 0, 1, 1, 0 }))
                    .op("Pad", { "a", "p" });
            } },
        { "Gather",
            [](Case& c) {
                c.floats("a", { 4, 3 })
                    .constant("i", Tensor::of<int64_t>({ 3 }, { 2, -1, 0 }))
                    .op("Gather", { "a", "i" });
            } },
        { "Gather along the second axis",
            [](Case& c) {
                c.floats("a", { 2, 5, 3 }).constant("i", Tensor::of<int64_t>({ 2, 2 }, { 4, -2, 0, 1 }));
                c.op("Gather", { "a", "i" }, { { "axis", int64_t(1) } });
            } },
        { "Gather of one",
            [](Case& c) {
                c.floats("a", { 4, 3 }).constant("i", Tensor::scalar<int64_t>(2)).op("Gather", { "a", "i" });
            } },
        { "Split",
            [](Case& c) {
                c.floats("a", { 4, 3 }).op("Split", { "a" }, {}, {}, { "y", "y2" });
            } },
        { "QLinearAdd",
            [](Case& c) {
                codeBinary<uint8_t>(c, "QLinearAdd", { 2, 3, 4 }, { 2, 3, 4 });
            } },
        { "QLinearAdd, repeated",
            [](Case& c) {
                codeBinary<uint8_t>(c, "QLinearAdd", { 3, 1 }, { 2, 3, 4 });
            } },
        { "QLinearMul",
            [](Case& c) {
                codeBinary<int8_t>(c, "QLinearMul", { 2, 3, 4 }, { 4 });
            } },
        { "QLinearSigmoid", [](Case& c) { codeUnary(c, "QLinearSigmoid", {}); } },
        { "QLinearLeakyRelu",
            [](Case& c) {
                codeUnary(c, "QLinearLeakyRelu", { { "alpha", 0.1f } });
            } },
        { "QLinearSoftmax",
            [](Case& c) {
                codeUnary(c, "QLinearSoftmax", { { "axis", int64_t(-1) }, { "opset", int64_t(13) } });
            } },
        { "QLinearAveragePool",
            [](Case& c) {
                codeUnary(
                    c, "QLinearAveragePool", { { "kernel_shape", Ints { 2, 3 } }, { "pads", Ints { 1, 0, 0, 1 } } });
            } },
        { "QLinearAveragePool, a window that ends behind the padding",
            [](Case& c) {
                codeUnary(c, "QLinearAveragePool",
                    { { "kernel_shape", Ints { 3, 3 } }, { "pads", Ints { 1, 1, 1, 1 } }, { "strides", Ints { 2, 2 } },
                        { "count_include_pad", int64_t(1) }, { "ceil_mode", int64_t(1) } });
            } },
        { "QLinearGlobalAveragePool", [](Case& c) { codeUnary(c, "QLinearGlobalAveragePool", {}); } },
        { "QLinearConcat",
            [](Case& c) {
                c.codeInput<uint8_t>("a", { 2, 3 }).grid<uint8_t>("a", 0.02f, 5).codeInput<uint8_t>("b", { 2, 2 });
                c.grid<uint8_t>("b", 0.03f, 9).grid<uint8_t>("y", 0.02f, 5);
                c.op("QLinearConcat", { "y_s", "y_z", "a", "a_s", "a_z", "b", "b_s", "b_z" },
                    { { "axis", int64_t(1) } }, kMs);
            } },
    };
    return all;
}

} // namespace

class OperatorsTest : public QObject {
    Q_OBJECT
private slots:
    void init() { m_random.seed(m_seed = std::random_device {}()); }

    void everyKind_data()
    {
        QTest::addColumn<int>("list");
        QTest::addColumn<int>("index");
        QTest::addColumn<int>("profile");
        for (int list = 0; list < 3; ++list)
            for (size_t i = 0; i < cases(list).size(); ++i)
                for (int profile = 0; profile < 3; ++profile)
                    QTest::addRow("%s, %s", cases(list)[i].name, kProfileNames[size_t(profile)].data())
                        << list << int(i) << profile;
    }

    void everyKind()
    {
        QFETCH(int, list);
        QFETCH(int, index);
        QFETCH(int, profile);
        Case c(m_random);
        cases(list)[size_t(index)].build(c);
        const auto model = std::make_shared<Model>(std::move(c.model).finish().plan->model());
        const auto plan = Plan::make(model, { KernelMode::Fast, ArithmeticProfile(profile) });
        const ExplainedRun run(plan, ArithmeticProfile(profile), c.feed);
        const std::string found = run.complaints(m_random, 12);
        QVERIFY2(found.empty(), (found + ", seed " + std::to_string(m_seed)).c_str());
    }

private:
    static const std::vector<Named>& cases(int list)
    {
        return list == 0 ? products() : list == 1 ? codeProducts() : others();
    }
    uint32_t m_seed = 0;
    std::mt19937 m_random;
};

QTEST_APPLESS_MAIN(OperatorsTest)

#include "operators_test.moc"
