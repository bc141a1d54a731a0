// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace qs {

/// Which lengths of n-grams are counted, and how many elements may be skipped between two of one.
struct NgramLimits {
    int64_t shortest = 1, longest = 1, mostSkipped = 0;
};

/// A set of n-grams over words or numbers. Source: ONNX TfIdfVectorizer.
template <class Key> class Ngrams {
public:
    void add(std::span<const Key> ngram, int64_t id)
    {
        size_t at = 0;
        for (const Key& key : ngram) {
            const auto [it, isNew] = m_nodes[at].next.try_emplace(key, m_nodes.size());
            at = it->second;
            if (isNew)
                m_nodes.emplace_back();
        }
        m_nodes[at].id = id;
    }
    /// Calls found(id) for every occurrence in a line.
    template <class Fn> void count(std::span<const Key> line, const NgramLimits& limits, Fn found) const
    {
        int64_t shortest = limits.shortest;
        for (int64_t step = 1; step <= limits.mostSkipped + 1 && shortest <= limits.longest; ++step) {
            if (step > static_cast<int64_t>(line.size()))
                break;
            for (size_t start = 0; start < line.size(); ++start)
                countAt(line.subspan(start), static_cast<size_t>(step), shortest, limits.longest, found);
            shortest = shortest == 1 ? 2 : shortest; // single elements skip nothing: once is enough
        }
    }

private:
    template <class Fn>
    void countAt(std::span<const Key> line, size_t step, int64_t shortest, int64_t longest, Fn found) const
    {
        size_t at = 0;
        for (int64_t length = 1; length <= longest; ++length) {
            const size_t place = static_cast<size_t>(length - 1) * step;
            if (place >= line.size())
                return;
            const auto it = m_nodes[at].next.find(line[place]);
            if (it == m_nodes[at].next.end())
                return;
            at = it->second;
            if (length >= shortest && m_nodes[at].id >= 0)
                found(m_nodes[at].id);
        }
    }
    struct Place {
        int64_t id = -1; ///< of the n-gram that ends here
        std::map<Key, size_t> next = {};
    };
    std::vector<Place> m_nodes = std::vector<Place>(1);
};

} // namespace qs
