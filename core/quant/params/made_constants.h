// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace qs {

/// Constants that quantizations of one model made of its own, each made once. Those of the model are told apart by
/// their storage, which is kept alive. Thread-safe.
class MadeConstants {
public:
    using Make = std::function<Result<std::vector<Tensor>>()>;
    /// What `make` gives of the constant; `how` holds all else that it follows from.
    Result<std::vector<Tensor>> of(const Tensor& constant, const std::string& how, const Make& make);

private:
    struct Entry {
        Tensor constant;
        std::vector<Tensor> made;
    };
    std::mutex m_mutex;
    std::map<std::pair<const void*, std::string>, Entry> m_entries;
};

} // namespace qs
