// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "core/base/text/one_line.h"

#include <algorithm>
#include <memory>

namespace qs::cli {

namespace {

constexpr size_t kLongestHelp = 100;
constexpr const char* kProgram = "quantscope-cli";

/// An option as shells offer it.
struct Offered {
    std::vector<std::string> longNames, shortNames;
    std::string help;
    bool takesValue = false;
    std::vector<std::string> words; ///< that its value is one of; empty: files, numbers, anything
};

std::vector<Offered> optionsOf(CLI::App& app)
{
    std::vector<Offered> all;
    for (CLI::Option* option : app.get_options())
        if (!option->get_positional() && !(option->get_lnames().empty() && option->get_snames().empty()))
            all.push_back(
                { option->get_lnames(), option->get_snames(), oneLine(option->get_description(), kLongestHelp),
                    option->get_items_expected_max() > 0, wordsOf(*option) });
    return all;
}

/// "--json --help -h"
std::string names(CLI::App& app)
{
    std::string text;
    for (const Offered& option : optionsOf(app)) {
        for (const std::string& name : option.longNames)
            text += (text.empty() ? "--" : " --") + name;
        for (const std::string& name : option.shortNames)
            text += (text.empty() ? "-" : " -") + name;
    }
    return text;
}

std::vector<CLI::App*> commandsOf(CLI::App& app)
{
    return app.get_subcommands([](CLI::App*) { return true; });
}

/// With a backslash before each of these characters.
std::string escaped(const std::string& text, std::string_view characters)
{
    std::string out;
    for (const char c : text) {
        if (characters.find(c) != std::string_view::npos)
            out += '\\';
        out += c;
    }
    return out;
}

/// In single quotes, as zsh reads them.
std::string quoted(const std::string& text)
{
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

std::string spaced(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

/// "            compare:--by) words='node type' ;;", a line for each option that takes words.
std::string bashValues(CLI::App& app)
{
    std::string cases;
    for (CLI::App* command : commandsOf(app))
        for (const Offered& option : optionsOf(*command)) {
            if (option.words.empty())
                continue;
            std::string names;
            for (const std::string& name : option.longNames)
                names += (names.empty() ? "" : "|") + command->get_name() + ":--" + name;
            cases += "        " + names + ") words=" + quoted(spaced(option.words)) + " ;;\n";
        }
    return cases;
}

std::string bashScript(CLI::App& app)
{
    std::string list, cases;
    for (CLI::App* command : commandsOf(app)) {
        list += command->get_name() + " ";
        cases += "        " + command->get_name() + ") words=" + quoted(names(*command)) + " ;;\n";
    }
    // Bash takes --by=node apart into three words.
    return std::string("# bash completion of ") + kProgram + R"(
_quantscope_cli() {
    local cur=${COMP_WORDS[COMP_CWORD]} option= words=
    COMPREPLY=()
    [ "$COMP_CWORD" -gt 1 ] && option=${COMP_WORDS[COMP_CWORD - 1]}
    [ "$option" = = ] && option=${COMP_WORDS[COMP_CWORD - 2]}
    [ "$cur" = = ] && cur=
    case ${COMP_WORDS[1]}:$option in
)" + bashValues(app)
        + "    esac\n    if [ -n \"$words\" ]; then\n        :\n    elif [ \"$COMP_CWORD\" -eq 1 ]; then\n        "
          "words="
        + quoted(list + names(app)) + "\n    elif [[ $cur == -* ]]; then\n        case ${COMP_WORDS[1]} in\n" + cases
        + "        esac\n    else\n        compopt -o default\n        return\n    fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -F _quantscope_cli "
        + kProgram + "\n";
}

/// Each name of an option as an argument of _arguments.
std::string zshOptions(CLI::App& app)
{
    std::string text;
    for (const Offered& option : optionsOf(app)) {
        const std::string rest = "[" + escaped(option.help, "\\[]:") + "]"
            + (!option.takesValue          ? ""
                    : option.words.empty() ? ":value:_files"
                                           : ":value:(" + spaced(option.words) + ")");
        for (const std::string& name : option.longNames)
            text += " \\\n                " + quoted("*--" + name + rest);
        for (const std::string& name : option.shortNames)
            text += " \\\n                " + quoted("*-" + name + rest);
    }
    return text;
}

std::string zshScript(CLI::App& app)
{
    std::string list, cases;
    for (CLI::App* command : commandsOf(app)) {
        list += "\n        " + quoted(command->get_name() + ":" + escaped(command->get_description(), "\\:"));
        cases += "        " + command->get_name() + ")\n            _arguments" + zshOptions(*command)
            + " \\\n                '*:file:_files' ;;\n";
    }
    return std::string("#compdef ") + kProgram + "\n_quantscope_cli() {\n    local -a commands\n    commands=(" + list
        + "\n    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        _arguments"
        + zshOptions(app) + "\n        return\n    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n"
        + cases + "    esac\n}\n_quantscope_cli \"$@\"\n";
}

/// In single quotes, as fish reads them.
std::string fishQuoted(const std::string& text) { return "'" + escaped(text, "\\'") + "'"; }

std::string fishOptions(CLI::App& app, const std::string& when)
{
    std::string text;
    for (const Offered& option : optionsOf(app)) {
        const std::string head = std::string("complete -c ") + kProgram + " -n " + fishQuoted(when);
        std::string rest = option.takesValue ? " -r" : "";
        if (!option.words.empty())
            rest += " -f -a " + fishQuoted(spaced(option.words));
        rest += " -d " + fishQuoted(option.help) + "\n";
        for (const std::string& name : option.longNames)
            text += head + " -l " + name + rest;
        for (const std::string& name : option.shortNames)
            text += head + " -s " + name + rest;
    }
    return text;
}

std::string fishScript(CLI::App& app)
{
    std::string text
        = std::string("# fish completion of ") + kProgram + "\n" + fishOptions(app, "__fish_use_subcommand");
    for (CLI::App* command : commandsOf(app)) {
        text += std::string("complete -c ") + kProgram + " -n '__fish_use_subcommand' -f -a " + command->get_name()
            + " -d " + fishQuoted(command->get_description()) + "\n";
        text += fishOptions(*command, "__fish_seen_subcommand_from " + command->get_name());
    }
    return text;
}

} // namespace

Command addCompletion(CLI::App& app, Context&)
{
    auto shell = std::make_shared<std::string>();
    app.add_option("SHELL", *shell, "bash, zsh or fish")->required();
    app.footer(
        "For example `quantscope-cli completion bash > ~/.local/share/bash-completion/completions/quantscope-cli`.");
    return [shell, root = app.get_parent()](Context&) -> Result<int> {
        if (*shell != "bash" && *shell != "zsh" && *shell != "fish")
            return badUse("there is no completion for '" + oneLine(*shell, 80) + "'", "give bash, zsh or fish");
        const std::string text = *shell == "bash" ? bashScript(*root)
            : *shell == "zsh"                     ? zshScript(*root)
                                                  : fishScript(*root);
        QS_CHECK(writeOutput("-", text));
        return int(kDone);
    };
}

} // namespace qs::cli
