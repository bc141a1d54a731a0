// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/column.h"
#include "widgets/models/base/formatting.h"

#include <limits>
#include <utility>

/// Ways to make the cells of a column. A value is a member of the row or a function of it, and must be comparable.
namespace qs {

/// A member of a member.
template <class Whole, class Part> auto in(Whole whole, Part part)
{
    return [ whole, part ](const auto& row) -> const auto& { return std::invoke(part, std::invoke(whole, row)); };
}

/// For cells that are not sorted by a number.
inline constexpr auto kNoNumber = [](const auto&...) { return Number(); };

/// Cells that `text` and `number` make of these values.
template <class Row, class Text, class Sort, class... Value> Cell<Row> cell(Text text, Sort number, Value... value)
{
    return { [=](const Row& row) -> QString { return text(std::invoke(value, row)...); },
        [=](const Row& row) -> Number { return number(std::invoke(value, row)...); },
        [=](const Row& a, const Row& b) { return ((std::invoke(value, a) == std::invoke(value, b)) && ...); } };
}

inline QString wordsOf(QString text) { return text; }
inline QString wordsOf(std::string_view text) { return toQt(text); }

template <class Row> Cell<Row> words(auto value)
{
    return cell<Row>([](const auto& text) { return wordsOf(text); }, kNoNumber, value);
}

/// Words that are sorted by a number.
template <class Row> Cell<Row> words(auto value, auto number)
{
    return cell<Row>([](const auto& text, const auto&) { return wordsOf(text); },
        [](const auto&, const auto& key) { return Number(key); }, value, number);
}

/// Numbers that `text` writes.
template <class Row> Cell<Row> numbers(auto value, auto text)
{
    return cell<Row>(
        text, [](const auto& shown) { return Number(shown); }, value);
}

template <class Row> Cell<Row> numbers(auto value)
{
    return numbers<Row>(value, [](const Number& shown) { return numberText(shown); });
}

template <class Row> Cell<Row> percents(auto value) { return numbers<Row>(value, percentText); }

template <class Row> Cell<Row> counts(auto value) { return numbers<Row>(value, countText); }

/// Without the unit, which the column's title or tool tip has.
template <class Row> Cell<Row> decibels(auto value)
{
    return numbers<Row>(value, [](const Number& sqnrDb) { return decibelNumber(sqnrDb); });
}

/// Exact is better than any number, so it sorts behind them.
inline Number orExact(const Number& sqnrDb, bool exact)
{
    return exact ? Number(std::numeric_limits<double>::infinity()) : sqnrDb;
}

template <class Row> Cell<Row> decibels(auto value, auto exact)
{
    return cell<Row>(decibelNumber, orExact, value, exact);
}

template <class Row> Cell<Row> decibelsWithUnit(auto value, auto exact)
{
    return cell<Row>(decibelText, orExact, value, exact);
}

/// Cosine similarities, which differ from 1 in late digits.
template <class Row> Cell<Row> cosines(auto value)
{
    return numbers<Row>(value, [](const Number& cosine) { return numberText(cosine, 6); });
}

template <class T> Number firstOf(const std::vector<T>& values)
{
    return values.empty() ? Number() : Number(double(values.front()));
}

/// Scales or zero points, sorted by the first.
template <class Row> Cell<Row> extents(auto values)
{
    return cell<Row>(
        [](const auto& all) { return extentText(all); }, [](const auto& all) { return firstOf(all); }, values);
}

} // namespace qs
