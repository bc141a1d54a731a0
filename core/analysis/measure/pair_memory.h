// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/measured.h"
#include "core/base/hash.h"

#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

struct WeightRow;

/// What was measured of one pair, or of one pair of outputs, over all samples.
struct PairStatistics {
    std::vector<PairSums> sums; ///< by sample
    std::vector<double> scaleSquares; ///< by sample; of outputs none
    PairHistograms histograms;
    std::bitset<256> codes;
    Shape shape;
    std::vector<float> cachePeaks;
    std::vector<int64_t> floatClass, quantClass; ///< of outputs, by sample
    std::vector<double> floatMargin, quantMargin; ///< the same
    std::vector<ScoreSums> scores; ///< the same
    std::vector<std::vector<TokenScores>> tokens; ///< the same
    std::vector<MaskSums> masks; ///< the same
    std::vector<BoxSums> boxes; ///< the same
    PartCounts parts; ///< of outputs, over all samples
};

/// Finished measurements over one set of samples, by the content keys of the values and everything else that they
/// follow from: what the next run finds here it neither runs nor compares again, and the numbers are equal in every
/// bit. Those longest unused go first. Thread-safe.
class PairMemory {
public:
    explicit PairMemory(uint64_t budgetBytes = uint64_t(256) << 20)
        : m_budget(budgetBytes)
    {
    }
    std::shared_ptr<const PairStatistics> find(Hash128 key);
    void keep(Hash128 key, std::shared_ptr<const PairStatistics> statistics);
    /// Of weights: everything in their row but names and places.
    std::shared_ptr<const WeightRow> findWeight(Hash128 key);
    void keepWeight(Hash128 key, std::shared_ptr<const WeightRow> row);
    /// What all the samples are like; null before a run has seen them.
    std::shared_ptr<const InputStatistics> inputs();
    void keepInputs(std::shared_ptr<const InputStatistics> inputs);
    /// Measured::readsAhead by the name of the output; nothing before a run has asked.
    std::optional<std::map<std::string, uint8_t>> readsAhead();
    void keepReadsAhead(std::map<std::string, uint8_t> found);

private:
    struct Entry {
        Hash128 key;
        std::shared_ptr<const PairStatistics> statistics;
    };
    using Entries = std::list<Entry>; ///< longest unused first
    struct KeyHash {
        size_t operator()(const Hash128& key) const { return key.low; }
    };
    std::mutex m_mutex;
    const uint64_t m_budget;
    uint64_t m_used = 0;
    Entries m_entries;
    std::unordered_map<Hash128, Entries::iterator, KeyHash> m_index;
    std::unordered_map<Hash128, std::shared_ptr<const WeightRow>, KeyHash> m_weights;
    std::shared_ptr<const InputStatistics> m_inputs;
    std::optional<std::map<std::string, uint8_t>> m_readsAhead;
};

/// What the row of a weight follows from; nothing where a part has no key. `layout`: axes and how they are turned.
std::optional<Hash128> weightKey(
    const ComparePair& pair, ValueId floatValue, uint32_t quantizer, std::initializer_list<int64_t> layout);

/// One comparison's use of a memory. Pairs with values whose content has no key are measured always.
class RememberedPairs {
public:
    /// Fills in what is known. `measured` must have its pairs and room for them.
    RememberedPairs(PairMemory& memory, const ComparePair& pair, const std::vector<OutputPair>& outputs,
        bool histograms, Measured& measured);
    /// Everything is known; nothing has to run.
    bool complete() const;
    /// All samples are done: what was not known is now.
    void keep();

private:
    void take(size_t pair, const PairStatistics& known);
    void takeOutput(size_t output, const PairStatistics& known);

    PairMemory& m_memory;
    Measured& m_measured;
    std::vector<std::optional<Hash128>> m_pairs, m_floats, m_outputs; ///< keys
};

} // namespace qs
