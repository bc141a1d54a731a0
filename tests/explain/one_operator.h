// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/small_model.h"
#include "tests/support/tensors.h"

#include <limits>
#include <random>
#include <string>
#include <vector>

/// A model of one operator with what it is fed.
namespace qs::test {

using Ints = std::vector<int64_t>;
inline const std::string kMs = "com.microsoft";

struct Case {
    SmallModel model { "one.onnx" };
    std::mt19937& random;
    std::vector<Tensor> feed;

    explicit Case(std::mt19937& r)
        : random(r)
    {
    }
    Case& floats(const std::string& name, const Shape& shape)
    {
        model.input(name, shape);
        feed.push_back(normalFloats(random, shape));
        return *this;
    }
    template <class T> Tensor codes(const Shape& shape)
    {
        Tensor t = Tensor::allocate(dtypeOf<T>(), shape);
        for (T& c : t.fill<T>())
            c = static_cast<T>(random() % 4 ? random() : std::numeric_limits<T>::max());
        return t;
    }
    template <class T> Case& codeInput(const std::string& name, const Shape& shape)
    {
        model.input(name, shape, dtypeOf<T>());
        feed.push_back(codes<T>(shape));
        return *this;
    }
    Case& weight(const std::string& name, const Shape& shape)
    {
        model.constant(name, normalFloats(random, shape));
        return *this;
    }
    Case& constant(const std::string& name, Tensor tensor)
    {
        model.constant(name, std::move(tensor));
        return *this;
    }
    /// NAME_s and NAME_z.
    template <class T> Case& grid(const std::string& name, float scale, int zero)
    {
        return constant(name + "_s", Tensor::scalar(scale)).constant(name + "_z", Tensor::scalar(static_cast<T>(zero)));
    }
    Case& op(const std::string& type, const SmallModel::Names& in, const std::vector<SmallModel::Attribute>& a = {},
        const std::string& domain = {}, const SmallModel::Names& out = { "y" })
    {
        model.node(type, in, out, a, domain).output(out[0]);
        return *this;
    }
};

} // namespace qs::test
