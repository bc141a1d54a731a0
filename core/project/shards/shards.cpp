// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/shards/shards.h"

#include "core/analysis/compare.h"
#include "core/analysis/lockstep/proof_samples.h"
#include "core/analysis/measure/measured_state.h"
#include "core/analysis/pairs/pair_plan.h"
#include "core/analysis/rows/weight_rows.h"
#include "core/base/files/atomic_file.h"
#include "core/base/files/whole_file.h"
#include "core/base/part_files.h"
#include "core/base/version.h"
#include "core/engine/lowered/content_key.h"
#include "core/match/alignment_state.h"
#include "core/project/quantize/provenance.h"
#include "core/project/shards/shard_state.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/project/snapshot/comparing.h"
#include "core/project/snapshot/warnings.h"
#include "core/quant/calibrate/calibration_parts.h"
#include "core/quant/recipe/recipe_json.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

const char* const kRunAgain = "run all shards of one comparison with the same files and options";

/// Issue: the disk does not say whether it is there.
Result<StateFile> stateFile(const std::string& path)
{
    std::error_code error;
    const bool exists = !path.empty() && std::filesystem::exists(path, error);
    const auto whole = exists ? std::filesystem::absolute(path, error) : std::filesystem::path();
    if (error)
        return badInput("cannot be looked at: " + error.message(), path, "check the disk");
    return StateFile { path, whole.lexically_normal().string() };
}

/// Where the file lies now: as it was named, or else where it lay.
std::string located(const StateFile& file)
{
    std::error_code error;
    return file.absolute.empty() || std::filesystem::exists(file.given, error) ? file.given : file.absolute;
}

/// The bytes of the file and what it computes (weights may lie in other files).
Result<Hash128> identityOf(const LoadedModel& model, const std::string& path, const std::string& recipe)
{
    Hash128 bytes = hashText(recipe);
    if (!path.empty()) {
        QS_TRY(bytes, hashFile(path, "give the path of a model file"));
    }
    KeyBuilder key;
    key.add(bytes);
    for (ValueId out : model.graph().outputs())
        if (const Hash128* computed = model.plan->key(out))
            key.add(*computed);
    return key.key();
}

Result<ShardHeader> headerOf(std::span<const SnapshotPtr> snapshots)
{
    const Snapshot& first = *snapshots.front();
    const Inputs& inputs = first.inputs;
    ShardHeader h;
    h.program = kVersion;
    QS_TRY(h.floatModel, stateFile(inputs.floatPath));
    QS_TRY(h.map, stateFile(inputs.mapPath));
    QS_TRY(h.ranges, stateFile(inputs.rangesPath));
    QS_TRY(h.calibrationCache, stateFile(inputs.calibrationCache));
    if (!h.calibrationCache.absolute.empty()) {
        QS_TRY(h.cacheHash, hashFile(inputs.calibrationCache, "give another file for the calibration cache"));
    }
    QS_TRY(h.data, stateFile(inputs.data.spec));
    QS_TRY(h.preprocess, stateFile(inputs.data.preprocess));
    h.recipe = inputs.recipe ? recipeToJson(*inputs.recipe) : std::string();
    h.shapes = inputs.data.shapes;
    h.limit = inputs.data.limit;
    h.seed = inputs.data.seed;
    h.profile = inputs.profile;
    h.nodeAlone = inputs.nodeAlone;
    h.tasks = inputs.tasks;
    h.expanded = std::ranges::any_of(
        snapshots, [](const SnapshotPtr& s) { return s->floatModel->bodies || s->quantModel->bodies; });
    h.count = inputs.shard->count;
    h.samples = first.data->samples();
    h.labels = first.data->labels();
    QS_TRY(h.floatIdentity, identityOf(*first.floatModel, inputs.floatPath, {}));
    QS_TRY(h.dataIdentity, dataIdentity(*first.data));
    for (const SnapshotPtr& s : snapshots) {
        QS_TRY(StateFile quantized, stateFile(s->inputs.quantPath));
        h.quantModels.push_back(std::move(quantized));
        QS_TRY(const Hash128 identity, identityOf(*s->quantModel, s->inputs.quantPath, h.recipe));
        h.quantIdentities.push_back(identity);
        h.alignments.push_back(alignmentBytes(*s->alignment));
    }
    return h;
}

/// Why a shard does not belong to the first one; empty when it does.
std::string difference(const ShardHeader& a, const ShardHeader& b)
{
    if (a.program != b.program)
        return "was made by version " + b.program + " of this program, the first one by " + a.program;
    if (a.floatIdentity != b.floatIdentity || a.floatModel.given != b.floatModel.given)
        return "is of another float model";
    if (a.quantIdentities != b.quantIdentities || a.recipe != b.recipe)
        return "is of another quantized model";
    if (a.dataIdentity != b.dataIdentity || a.samples != b.samples || a.labels != b.labels)
        return "is of other data";
    return a == b ? "" : "was made with other options or paths";
}

uint64_t bytesOf(const std::vector<std::string>& paths)
{
    uint64_t bytes = 0;
    for (const std::string& path : paths) {
        std::error_code error;
        const uint64_t size = std::filesystem::file_size(path, error);
        bytes += error ? 0 : size;
    }
    return bytes;
}

class Merger {
public:
    explicit Merger(const WorkContext& work)
        : m_work(work)
    {
    }

    Result<std::vector<SnapshotPtr>> run(const std::vector<std::string>& paths)
    {
        QS_CHECK(readHeads(paths, Parts::All));
        QS_CHECK(addAll(paths));
        return finish();
    }

    Result<ShardSum> sum(const std::vector<std::string>& paths)
    {
        QS_CHECK(readHeads(paths, Parts::Neighbours));
        QS_CHECK(addAll(paths));
        ShardState state { m_header, m_span, {} };
        for (const auto& measured : m_measured) {
            if (std::ranges::find(measured->done, uint8_t(0)) != measured->done.end())
                return lacking();
            ByteWriter out;
            writeMeasured(*measured, out);
            state.measured.push_back(out.bytes());
        }
        ShardSum sum { shardStateBytes(state), {} };
        for (Snapshot& s : m_snapshots) {
            s.inputs.data = request(located(m_header.data), located(m_header.preprocess));
            sum.snapshots.push_back(std::make_shared<const Snapshot>(std::move(s)));
        }
        return sum;
    }

private:
    static Issue lacking() { return badInput("the shards do not hold all samples", {}, kRunAgain); }

    /// Which shards these are, before anything takes long.
    Status readHeads(const std::vector<std::string>& paths, Parts parts)
    {
        std::vector<PartFile> files;
        std::vector<ShardSpan> spans;
        for (const std::string& path : paths) {
            QS_TRY(const ShardHead head, readShardHead(path));
            files.push_back({ path, head.span.first, head.span.last, head.count });
            spans.push_back(head.span);
        }
        QS_CHECK(putInOrder(files, parts));
        m_span = *std::ranges::min_element(spans, {}, &ShardSpan::first);
        m_span.last = files.back().last;
        m_span.samples = 0;
        for (const ShardSpan& span : spans)
            m_span.samples += span.samples;
        m_bytes = bytesOf(paths);
        return {};
    }

    /// The heads may say what is not among all samples.
    Status checkSpan(const std::string& path) const
    {
        const size_t all = m_header.samples;
        if (m_span.firstSample > all || m_span.samples > all - m_span.firstSample)
            return badInput("does not fit the other shards: they say that they hold " + std::to_string(m_span.samples)
                    + " of " + std::to_string(all) + " samples",
                path, kRunAgain);
        return {};
    }

    Status addAll(const std::vector<std::string>& paths)
    {
        for (size_t i = 0; i < paths.size(); ++i) {
            if (m_work.cancel.cancelled())
                return cancelled();
            m_work.tell("merge", i, paths.size());
            QS_TRY(const ShardState state, readShardState(paths[i]));
            if (i == 0) {
                m_header = state.header;
                QS_CHECK(checkSpan(paths[i]));
                QS_CHECK(open());
            }
            if (const std::string why = difference(m_header, state.header); !why.empty())
                return badInput(why, paths[i], kRunAgain);
            QS_CHECK(add(state, paths[i]));
        }
        return {};
    }

    Inputs inputsOf(size_t model) const
    {
        Inputs inputs;
        inputs.floatPath = located(m_header.floatModel);
        inputs.quantPath = located(m_header.quantModels[model]);
        inputs.mapPath = located(m_header.map);
        inputs.rangesPath = located(m_header.ranges);
        inputs.calibrationCache = cacheAsItWas();
        inputs.profile = m_header.profile;
        inputs.nodeAlone = m_header.nodeAlone;
        inputs.tasks = m_header.tasks;
        inputs.threads = m_work.threads;
        inputs.memoryLimit = m_work.memoryLimit;
        inputs.run = false;
        return inputs;
    }

    /// The shards' calibration cache; empty where it is another one by now, which would be written.
    std::string cacheAsItWas() const
    {
        const std::string cache = located(m_header.calibrationCache);
        if (cache.empty())
            return {};
        const auto hash = hashFile(cache, {});
        return hash.ok() && *hash == m_header.cacheHash ? cache : std::string();
    }

    DataRequest request(const std::string& spec, const std::string& preprocess) const
    {
        return { spec, preprocess, m_header.shapes, m_header.limit, m_header.seed };
    }

    /// Opens the models and pairs their values.
    Status open()
    {
        SnapshotPtr previous;
        for (size_t i = 0; i < m_header.quantModels.size(); ++i) {
            Inputs inputs = inputsOf(i);
            if (!m_header.recipe.empty()) {
                QS_TRY(inputs.recipe, recipeFromJson(m_header.recipe));
            }
            if (inputs.recipe || m_header.expanded)
                inputs.data = request(located(m_header.data), located(m_header.preprocess));
            QS_TRY(previous, buildSnapshot(inputs, previous, m_work.progress, m_work.cancel));
            QS_TRY(const Hash128 ours, identityOf(*previous->floatModel, inputs.floatPath, {}));
            QS_TRY(const Hash128 theirs, identityOf(*previous->quantModel, inputs.quantPath, m_header.recipe));
            if (ours != m_header.floatIdentity)
                return badInput("changed since the shards were made", inputs.floatPath, kRunAgain);
            if (theirs != m_header.quantIdentities[i])
                return badInput("changed since the shards were made",
                    inputs.quantPath.empty() ? inputs.floatPath + " by recipe" : inputs.quantPath, kRunAgain);
            m_snapshots.push_back(*previous);
            Snapshot& s = m_snapshots.back();
            Alignment found = *s.alignment;
            if (!readAlignment(m_header.alignments[i], s.floatModel->graph(), s.quantModel->graph(),
                    s.quantModel->quant->quantizers().size(), found))
                return badInput("does not fit its models", inputs.quantPath, kRunAgain);
            s.alignment = std::make_shared<const Alignment>(std::move(found));
            m_pairs.push_back(comparePairOf(s));
            if (s.quantization)
                m_pairs.back().provenance = std::make_shared<const Provenance>(
                    provenanceOf(*s.quantization, s.calibrationData ? s.calibrationData : s.data, s.data.get()));
            // What is made room for must be in the files.
            const uint64_t bytesEach = 1 + planPairs(m_pairs.back()).size() * sizeof(PairSums);
            if (m_span.samples > m_bytes / bytesEach)
                return badInput("the shards say that they hold " + std::to_string(m_span.samples)
                        + " samples, but their files are too small for them",
                    {}, kRunAgain);
            const SampleStretch stretch { m_span.firstSample, m_span.samples, m_header.samples };
            m_measured.push_back(emptyMeasured(m_pairs.back(), stretch, m_header.nodeAlone));
        }
        return {};
    }

    Status add(const ShardState& state, const std::string& path)
    {
        for (size_t i = 0; i < m_measured.size(); ++i) {
            ByteReader in(state.measured[i]);
            mergeMeasured(in, m_pairs[i].floatPlan->graph(), m_pairs[i].quantPlan->graph(), *m_measured[i]);
            if (!in.ok() || !in.atEnd())
                return badInput("does not fit the models and the other shards", path, kRunAgain);
        }
        return {};
    }

    static bool isHere(const DataRequest& data)
    {
        const auto exists = [](const std::string& path) {
            std::error_code unseen;
            return std::filesystem::exists(path, unseen);
        };
        return exists(data.spec) && (data.preprocess.empty() || exists(data.preprocess));
    }

    /// The first shard proved the network on its own samples; all together choose others, as one run does. Where the
    /// samples are not here, what it told has to do.
    Status proveOnAll()
    {
        if (m_measured.empty() || !m_measured.front()->proof
            || !std::ranges::all_of(m_measured.front()->done, [](uint8_t done) { return done != 0; }))
            return {};
        Inputs inputs = inputsOf(0);
        inputs.data = request(located(m_header.data), located(m_header.preprocess));
        const auto opened = buildSnapshot(
            inputs, std::make_shared<const Snapshot>(m_snapshots.front()), m_work.progress, m_work.cancel);
        if (!opened.ok() && isHere(inputs.data))
            return opened.issue(); // they are here, and cannot be read
        const auto data = opened.ok() ? (*opened)->data : nullptr;
        const auto identity = data ? dataIdentity(*data) : Result<Hash128>(cancelled());
        if (!identity.ok() || *identity != m_header.dataIdentity)
            return {};
        const auto feed = [&](size_t index) { return data->feed(index); };
        for (size_t i = 0; i < m_measured.size(); ++i) {
            QS_TRY(const CarriedState before, CarriedState::make(m_pairs[i].floatPlan, {}, data->initialStates()));
            QS_CHECK(proveMeasured(m_pairs[i], before, data->feeds(), feed, *m_measured[i], m_work));
        }
        return {};
    }

    Result<std::vector<SnapshotPtr>> finish()
    {
        QS_CHECK(proveOnAll());
        std::vector<SnapshotPtr> done;
        for (size_t i = 0; i < m_snapshots.size(); ++i) {
            Snapshot& s = m_snapshots[i];
            // Reports name the files as the shards did.
            s.inputs.data = request(m_header.data.given, m_header.preprocess.given);
            auto weights = compareWeights(m_pairs[i], true, m_work.threadCount());
            const ComparePair pair = withEqualized(m_pairs[i], weights);
            s.comparison = summarize(pair, m_header.profile, *m_measured[i], m_header.labels, std::move(weights));
            if (s.comparison->partial)
                return lacking();
            const bool pictures = !m_header.preprocess.given.empty();
            for (const auto& warning :
                { unusedLabelsWarning(*s.comparison, m_header.labels, pictures), nonFiniteWarning(*s.comparison) })
                if (warning)
                    s.warnings.push_back(*warning);
            s.measured = m_measured[i];
            nameAsGiven(s.floatModel, m_header.floatModel.given);
            if (m_header.recipe.empty())
                nameAsGiven(s.quantModel, m_header.quantModels[i].given);
            done.push_back(std::make_shared<const Snapshot>(std::move(s)));
        }
        return done;
    }

    static void nameAsGiven(std::optional<LoadedModel>& model, const std::string& path)
    {
        auto named = std::make_shared<Model>(*model->model);
        named->path = path;
        model->model = std::move(named);
    }

    const WorkContext& m_work;
    ShardHeader m_header;
    ShardSpan m_span; ///< of all files together
    std::vector<Snapshot> m_snapshots;
    std::vector<ComparePair> m_pairs;
    std::vector<std::shared_ptr<Measured>> m_measured;
    uint64_t m_bytes = 0; ///< of all state files
};

} // namespace

Status writeShardState(const std::string& path, std::span<const SnapshotPtr> snapshots)
{
    ShardState state;
    QS_TRY(state.header, headerOf(snapshots));
    const Measured& first = *snapshots.front()->measured;
    const size_t index = snapshots.front()->inputs.shard->index;
    state.span = { index, index, first.firstSample, first.samples };
    for (const SnapshotPtr& s : snapshots) {
        ByteWriter measured;
        writeMeasured(*s->measured, measured);
        state.measured.push_back(measured.bytes());
    }
    return writeFile(path, shardStateBytes(state));
}

Result<ShardSum> sumShards(const std::vector<std::string>& paths, const WorkContext& work)
{
    return Merger(work).sum(paths);
}

Result<std::vector<SnapshotPtr>> mergeShards(const std::vector<std::string>& paths, const WorkContext& work)
{
    return Merger(work).run(paths);
}

} // namespace qs
