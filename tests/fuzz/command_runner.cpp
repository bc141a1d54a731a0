// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/command_runner.h"

#include "app/cli/cli.h"
#include "core/base/issue_text.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

namespace qs::test {

namespace {

class Silence {
public:
    Silence()
        : m_out(std::cout.rdbuf(m_taken.rdbuf()))
        , m_err(std::cerr.rdbuf(m_taken.rdbuf()))
    {
    }
    ~Silence()
    {
        std::cout.rdbuf(m_out);
        std::cerr.rdbuf(m_err);
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

private:
    std::ostringstream m_taken;
    std::streambuf *m_out, *m_err;
};

[[noreturn]] void giveUp(const std::string& why)
{
    std::fprintf(stderr, "%s\n", why.c_str());
    std::abort();
}

} // namespace

Result<int> carriedOut(const Arguments& arguments, const CancelToken& cancel)
{
    const Silence silence;
    CLI::App app;
    cli::Context context;
    context.cancel = cancel;
    const auto commands = cli::addCommands(app, context);
    try {
        app.parse(Arguments(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::ParseError& e) {
        return badUse(e.what());
    }
    try {
        for (const auto& [command, execute] : commands)
            if (command->parsed())
                return execute(context);
    } catch (const std::bad_alloc&) {
        return badInput("there is not enough memory");
    } catch (const std::exception& e) {
        return internalError(e.what());
    }
    return internalError("no command");
}

Arguments operator+(Arguments command, const Arguments& more)
{
    command.insert(command.end(), more.begin(), more.end());
    return command;
}

void prepare(const Arguments& arguments)
{
    if (const auto result = carriedOut(arguments, {}); !result.ok())
        giveUp(commandLine(arguments) + ": " + issueText(result.issue()));
}

std::string commandLine(const Arguments& arguments)
{
    std::string line;
    for (const std::string& argument : arguments)
        line += (line.empty() ? "" : " ") + argument;
    return line;
}

std::string bytesOf(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), {} };
}

void writeBytes(const std::string& path, const std::string& bytes)
{
    std::ofstream file(path, std::ios::binary);
    if (!file.write(bytes.data(), std::streamsize(bytes.size())).flush())
        giveUp("cannot write " + path);
}

FuzzFolder::FuzzFolder()
{
    std::string name = (std::filesystem::temp_directory_path() / "qs-fuzz-XXXXXX").string();
    if (!mkdtemp(name.data()))
        giveUp("cannot make " + name);
    m_path = name;
}

FuzzFolder::~FuzzFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

std::string FuzzFolder::written(const std::string& name, const std::string& bytes) const
{
    const std::filesystem::path file = m_path / name;
    std::filesystem::create_directories(file.parent_path());
    writeBytes(file.string(), bytes);
    return file.string();
}

} // namespace qs::test
