// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lockstep/compare_options.h"
#include "core/base/files/atomic_file.h"
#include "core/base/files/file_roles.h"
#include "core/base/profile.h"
#include "core/base/result.h"
#include "core/base/work/work_context.h"
#include "core/data/data_source.h"
#include "core/engine/run/carry.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace qs::cli {

/// Exit codes of the command line contract.
enum ExitCode { kDone = 0, kThresholdMissed = 1, kBadUse = 2, kBadInput = 3, kCancelled = 4, kInternal = 5 };

/// Options that every computing command shares, as given.
struct CommonOptions {
    std::optional<int64_t> threads;
    std::string memoryLimit;
    std::vector<std::string> carry;
    uint64_t seed = 0;
    bool seedGiven = false;
    std::string json;
    bool quiet = false;
    bool verbose = false;
};

/// The `--data` family.
struct DataOptions {
    std::string data;
    std::string preprocess;
    std::vector<std::string> shapes;
    std::optional<int64_t> limit;
    std::string text, tokenizer; ///< in place of `data`
    bool tokensNamed = false; ///< the tokenizer may stand without a text, for what tokens are called
    std::optional<int64_t> positions;
    bool required = false;
    bool given() const { return !data.empty() || !text.empty(); }
};

/// What a command needs besides its own options.
struct Context {
    CancelToken cancel;
    CommonOptions common;
};

/// Notes the words that an option takes, which completions of shells offer; it checks nothing. Returns the option.
CLI::Option* takesWords(CLI::Option* option, const std::vector<std::string>& words);
/// Those that were noted.
std::vector<std::string> wordsOf(CLI::Option& option);

void addCommonOptions(CLI::App& command, CommonOptions& options);
/// Those of them that commands without data have.
void addResultOptions(CLI::App& command, CommonOptions& options);
enum class DataNeed { Required, Optional };
void addDataOptions(CLI::App& command, DataOptions& options, DataNeed need = DataNeed::Required);

Result<DataRequest> dataRequest(const DataOptions& data, const CommonOptions& common);
Result<size_t> threadCount(const CommonOptions& common); ///< 0 = all cores
/// The profile behind --arithmetic.
Result<ArithmeticProfile> arithmeticProfile(const std::string& name);
/// --arithmetic, a name of a profile.
void addArithmetic(CLI::App& command, std::string& name);
Result<uint64_t> memoryLimit(const CommonOptions& common); ///< bytes; 0 = default
Result<Shard> shardNumber(const std::string& text); ///< I/N of --shard
Result<CarryNames> carryPairs(const CommonOptions& common);

/// A bar on stderr when that is a terminal and not --quiet; else nothing.
ProgressFn progressBar(const CommonOptions& common);
/// With that bar, and the threads and the memory that the options allow.
Result<WorkContext> workContext(const Context& context);
void clearProgress(const CommonOptions& common);
void printWarnings(const std::vector<std::string>& warnings, const CommonOptions& common);

/// The files behind --data, and --json.
void addFilesOf(FileRoles& files, const DataOptions& data);
void addFilesOf(FileRoles& files, const CommonOptions& common);
/// Fails early: a run should not end with a path that cannot be written, no two results may go to one place, and none
/// over a file that is read.
Status checkFiles(const FileRoles& files);

/// Text to stdout ("-") or, by a temporary neighbour, to a file.
Status writeOutput(const std::string& path, const std::string& text);
/// Adds a complete file that is still to take its name; nothing where there is no path.
Status stage(std::vector<AtomicFile>& files, const std::string& path, const std::string& text);
/// The same of what is no text: every byte as it is.
Status stageBytes(std::vector<AtomicFile>& files, const std::string& path, std::string_view bytes);
/// Whether all that went to stdout came to where it leads.
Status stdoutWritten();

} // namespace qs::cli
