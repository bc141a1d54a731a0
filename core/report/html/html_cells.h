// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"

#include <string>
#include <string_view>
#include <vector>

/// Tables of the HTML report, cell by cell.
namespace qs::html {

struct Head {
    const char* title;
    std::string_view tip;
    bool numeric = true;
};
std::string openTable(const char* id, const std::vector<Head>& heads);
std::string closeTable();

std::string textCell(const std::string& text, const char* cssClass = "");
/// A cell that sorts by `key`; without one it sorts last.
std::string numberCell(const std::string& text, const Number& key, const std::string& inner = {});
std::string plain(const Number& v);
std::string share(const Number& v); ///< as percent
std::string decibels(const Number& v, bool exact = false);
std::string coloured(const Similarity& s);

} // namespace qs::html
