// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/options/options.h"

#include "core/base/text/one_line.h"
#include "core/data/open_data.h"
#include "core/project/files/used_files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>
#include <sstream>
#include <unistd.h>

namespace qs::cli {

namespace {

constexpr int64_t kMostPositions = 1'000'000; ///< of a prompt

std::optional<int64_t> parseInteger(const std::string& text)
{
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

Result<std::pair<std::string, std::string>> splitPair(const std::string& text, const char* option, const char* form)
{
    const size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
        return badUse(
            std::string(option) + " '" + text + "' is not " + form, std::string("write ") + option + " " + form);
    return std::pair(text.substr(0, at), text.substr(at + 1));
}

} // namespace

/// Kept as the name of a validator that lets everything pass: options have no room of their own for it.
CLI::Option* takesWords(CLI::Option* option, const std::vector<std::string>& words)
{
    std::string all;
    for (const std::string& word : words)
        all += (all.empty() ? "" : " ") + word;
    CLI::Validator passes([](std::string&) { return std::string(); }, "");
    return option->check(passes.name(all));
}

std::vector<std::string> wordsOf(CLI::Option& option)
{
    std::vector<std::string> words;
    try {
        std::istringstream all(option.get_validator(0)->get_name());
        for (std::string word; all >> word;)
            words.push_back(word);
    } catch (const CLI::OptionNotFound&) { // there is none
    }
    return words;
}

void addArithmetic(CLI::App& command, std::string& name)
{
    CLI::Option* option = command.add_option("--arithmetic", name,
        "how the model is computed: simulated (the file as written), integer (fused integer kernels, as ONNX Runtime "
        "runs it by default), integer-avx2 (the same with the saturating 16-bit sums of CPUs without VNNI)");
    takesWords(option, { kProfileNames.begin(), kProfileNames.end() });
}

void addCommonOptions(CLI::App& command, CommonOptions& o)
{
    addResultOptions(command, o);
    command
        .add_option("--carry", o.carry,
            "OUTPUT=INPUT: state carried from one sample to the next, in order; it begins as the data say where they "
            "have an "
            "array named INPUT (its first item), else with zeros")
        ->allow_extra_args(false);
    command.add_option_function<std::string>(
        "--seed",
        [&o](const std::string& text) {
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), o.seed);
            if (error != std::errc() || end != text.data() + text.size())
                throw CLI::ValidationError(
                    "--seed", "'" + text + "' is no whole number from 0 to 18446744073709551615");
            o.seedGiven = true;
        },
        "seed of random data");
}

void addResultOptions(CLI::App& command, CommonOptions& o)
{
    command.add_option("--threads", o.threads, "threads (default: all cores)");
    command.add_option("--memory-limit", o.memoryLimit, "bytes (default: 80 % of RAM)");
    command.add_option("--json", o.json, "write JSON to a file, or to stdout with -");
    command.add_flag("--quiet", o.quiet, "no progress, no warnings");
    command.add_flag("--verbose", o.verbose, "say more");
}

void addDataOptions(CLI::App& command, DataOptions& o, DataNeed need)
{
    o.required = need == DataNeed::Required;
    command.add_option(
        "--data", o.data, "FILE.npz, FILE.npy, a folder of ONNX test data or images, or random:N[:SEED]");
    command.add_option("--text", o.text,
        "in place of --data, for language models: a text that is cut into prompts; needs --tokenizer and --positions");
    command.add_option("--tokenizer", o.tokenizer,
        o.tokensNamed
            ? "tokenizer.json of Hugging Face's tokenizers library: cuts --text; names tokens of --decode free "
              "and --blame"
            : "with --text: tokenizer.json of Hugging Face's tokenizers library");
    command.add_option("--positions", o.positions, "with --text: tokens of each prompt");
    command.add_option("--preprocess", o.preprocess, "JSON that says how pictures become inputs");
    command.add_option("--shape", o.shapes, "NAME=2x3x4: sizes of a dynamic input for random data")
        ->allow_extra_args(false);
    command.add_option("--limit", o.limit, "use the first N samples");
}

namespace {

/// What --data or --text name.
Result<DataRequest> namedData(const DataOptions& o)
{
    if (o.text.empty() && ((!o.tokenizer.empty() && !o.tokensNamed) || o.positions))
        return badUse("--tokenizer and --positions cut a text into prompts, but there is none", "add --text FILE");
    if (o.text.empty()) {
        if (o.required && o.data.empty())
            return badUse("--data is required", "give --data with a .npz or .npy file, a folder, or random:N");
        DataRequest request;
        request.spec = o.data;
        request.preprocess = o.preprocess;
        return request;
    }
    if (!o.data.empty() || !o.preprocess.empty() || !o.shapes.empty())
        return badUse("--text takes the place of --data, --preprocess and --shape", "leave one of them out");
    if (o.tokenizer.empty() || !o.positions)
        return badUse("--text is cut into prompts by a tokenizer", "add --tokenizer tokenizer.json and --positions N");
    if (*o.positions < 1 || *o.positions > kMostPositions)
        return badUse("--positions " + std::to_string(*o.positions) + " is no number of tokens", "give 1 or more");
    return textRequest(o.text, o.tokenizer, size_t(*o.positions));
}

} // namespace

Result<DataRequest> dataRequest(const DataOptions& o, const CommonOptions& common)
{
    QS_TRY(DataRequest request, namedData(o));
    if (o.limit && *o.limit < 1)
        return badUse("--limit must be at least 1", "give the number of samples to use");
    if (o.limit)
        request.limit = static_cast<size_t>(*o.limit);
    if (common.seedGiven)
        request.seed = common.seed;
    QS_TRY(request.mostBytes, memoryLimit(common));
    for (const std::string& text : o.shapes) {
        QS_TRY(const auto pair, splitPair(text, "--shape", "NAME=2x3x4"));
        Shape shape;
        for (size_t begin = 0; begin <= pair.second.size();) {
            const size_t end = std::min(pair.second.find('x', begin), pair.second.size());
            const auto size = parseInteger(pair.second.substr(begin, end - begin));
            if (!size || *size < 0)
                return badUse("--shape '" + text + "' is not NAME=2x3x4", "write sizes with x between them");
            shape.push_back(*size);
            begin = end + 1;
        }
        request.shapes[pair.first] = shape;
    }
    return request;
}

Result<size_t> threadCount(const CommonOptions& common)
{
    if (!common.threads)
        return size_t(0);
    if (*common.threads < 1 || *common.threads > 4096)
        return badUse("--threads must be between 1 and 4096", "leave it out to use all cores");
    return static_cast<size_t>(*common.threads);
}

Result<ArithmeticProfile> arithmeticProfile(const std::string& name)
{
    if (const auto profile = profileOfName(name))
        return *profile;
    return badUse("--arithmetic '" + name + "' is not known", "use simulated, integer or integer-avx2");
}

Result<uint64_t> memoryLimit(const CommonOptions& common)
{
    if (common.memoryLimit.empty())
        return uint64_t(0);
    const auto value = parseInteger(common.memoryLimit);
    if (!value || *value <= 0)
        return badUse("--memory-limit '" + common.memoryLimit + "' is no number of bytes",
            "give a whole number of bytes above 0");
    return static_cast<uint64_t>(*value);
}

Result<Shard> shardNumber(const std::string& text)
{
    constexpr size_t kMostShards = 1000000;
    const Issue wrong = badUse("--shard '" + text + "' is not I/N with I from 1 to N", "write 1/4, 2/4, 3/4, 4/4");
    Shard shard;
    const char* const end = text.data() + text.size();
    const auto [slash, first] = std::from_chars(text.data(), end, shard.index);
    if (first != std::errc() || slash == end || *slash != '/')
        return wrong;
    const auto [last, second] = std::from_chars(slash + 1, end, shard.count);
    if (second != std::errc() || last != end || shard.index < 1 || shard.index > shard.count
        || shard.count > kMostShards)
        return wrong;
    return shard;
}

Result<CarryNames> carryPairs(const CommonOptions& common)
{
    CarryNames pairs;
    for (const std::string& text : common.carry) {
        QS_TRY(auto pair, splitPair(text, "--carry", "OUTPUT=INPUT"));
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

ProgressFn progressBar(const CommonOptions& common)
{
    if (common.quiet || !isatty(STDERR_FILENO))
        return {};
    return [mutex = std::make_shared<std::mutex>()](std::string_view phase, size_t done, size_t total) {
        const std::lock_guard lock(*mutex);
        if (total)
            std::fprintf(stderr, "\r\033[K%.*s %zu of %zu", int(phase.size()), phase.data(), done, total);
        else
            std::fprintf(stderr, "\r\033[K%.*s", int(phase.size()), phase.data());
        std::fflush(stderr);
    };
}

Result<WorkContext> workContext(const Context& context)
{
    QS_TRY(const size_t threads, threadCount(context.common));
    QS_TRY(const uint64_t limit, memoryLimit(context.common));
    return WorkContext { progressBar(context.common), context.cancel, threads, limit };
}

void clearProgress(const CommonOptions& common)
{
    if (!common.quiet && isatty(STDERR_FILENO))
        std::fputs("\r\033[K", stderr);
}

void printWarnings(const std::vector<std::string>& warnings, const CommonOptions& common)
{
    if (common.quiet)
        return;
    for (const std::string& w : warnings)
        std::cerr << "warning: " << w << '\n';
}

void addFilesOf(FileRoles& files, const DataOptions& data)
{
    if (const auto request = namedData(data); request.ok())
        addFilesOf(files, *request, "the data");
}

void addFilesOf(FileRoles& files, const CommonOptions& common) { files.writes(common.json, "the JSON result"); }

Status checkFiles(const FileRoles& files)
{
    QS_CHECK(files.check());
    for (const std::string& path : files.results())
        QS_CHECK(canBeWritten(path));
    return {};
}

Status writeOutput(const std::string& path, const std::string& given)
{
    const std::string text = visible(given);
    if (path != "-")
        return writeFile(path, text);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return stdoutWritten();
}

Status stage(std::vector<AtomicFile>& files, const std::string& path, const std::string& text)
{
    return stageBytes(files, path, visible(text));
}

Status stageBytes(std::vector<AtomicFile>& files, const std::string& path, std::string_view bytes)
{
    if (path.empty())
        return {};
    QS_TRY(AtomicFile file, AtomicFile::create(path));
    QS_CHECK(file.write(bytes));
    files.push_back(std::move(file));
    return {};
}

Status stdoutWritten()
{
    static int error = 0; // of the first time that it failed
    errno = 0;
    if ((!std::cout.flush() || std::fflush(stdout) != 0 || std::ferror(stdout)) && error == 0)
        error = errno != 0 ? errno : EIO;
    if (error == 0)
        return {};
    return badInput(std::string("the standard output cannot be written: ") + std::strerror(error), {},
        "look at the disk or the program that it leads to");
}

} // namespace qs::cli
