// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"

#include <string>

namespace qs {

/// What a model has room for, of inputs by their place among all.
struct PromptLimits {
    struct Table {
        size_t input = 0; ///< integers that choose rows of it
        int64_t rows = 0;
    };
    std::vector<Table> tables;
    std::optional<size_t> ids; ///< [prompts, positions]: the tokens
    std::optional<size_t> mask; ///< one number for each position of the caches and each token
    std::vector<size_t> caches; ///< [prompts, heads, positions, size]
    int64_t positions = 0; ///< that it can tell apart, those in its caches among them; 0: any number
    bool none() const { return tables.empty() && !ids; }
};

/// The same samples, of which each is held against the limits when it is read. An Issue then names `spec`, the prompt,
/// the input and what to give; `tokenizer` is the file that made the tokens, or empty.
std::shared_ptr<const DataSource> checkedPrompts(std::shared_ptr<const DataSource> data, PromptLimits limits,
    std::vector<std::string> inputNames, std::string spec, std::string tokenizer);

} // namespace qs
