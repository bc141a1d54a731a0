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
    bool afterEquals = false; ///< the words stand behind NAME= in its value
};

std::vector<CLI::App*> commandsOf(CLI::App& app)
{
    return app.get_subcommands([](CLI::App*) { return true; });
}

void addOptions(CLI::App& app, std::vector<Offered>& all)
{
    for (CLI::Option* option : app.get_options()) {
        if (option->get_positional() || (option->get_lnames().empty() && option->get_snames().empty()))
            continue;
        Offered offered { option->get_lnames(), option->get_snames(), oneLine(option->get_description(), kLongestHelp),
            option->get_items_expected_max() > 0, wordsOf(*option) };
        const bool known = std::ranges::any_of(all, [&](const Offered& other) {
            return other.longNames == offered.longNames && other.shortNames == offered.shortNames;
        });
        if (known)
            continue;
        for (std::string& word : offered.words)
            if (word.starts_with('=')) {
                offered.afterEquals = true;
                word.erase(0, 1);
            }
        all.push_back(std::move(offered));
    }
}

/// Of a command, and of those that it has itself.
std::vector<Offered> optionsOf(CLI::App& command)
{
    std::vector<Offered> all;
    addOptions(command, all);
    if (command.get_parent()) // the program's commands have their own
        for (CLI::App* nested : commandsOf(command))
            addOptions(*nested, all);
    return all;
}

/// What may stand behind the command: its own commands, or the words of its first argument.
std::vector<std::string> firstWords(CLI::App& command)
{
    std::vector<std::string> words;
    for (const CLI::App* nested : commandsOf(command))
        words.push_back(nested->get_name());
    for (CLI::Option* option : command.get_options())
        if (words.empty() && option->get_positional())
            return wordsOf(*option);
    return words;
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

/// "            compare:--by) words='node type' ;;", a line for each option that takes words, and for each command.
std::string bashValues(CLI::App& app)
{
    std::string cases;
    for (CLI::App* command : commandsOf(app)) {
        if (const auto words = firstWords(*command); !words.empty())
            cases += "        " + command->get_name() + ":" + command->get_name() + ") words=" + quoted(spaced(words))
                + " ;;\n";
        for (const Offered& option : optionsOf(*command)) {
            if (option.words.empty())
                continue;
            std::string names;
            for (const std::string& name : option.longNames)
                names += (names.empty() ? "" : "|") + command->get_name() + ":--" + name
                    + (option.afterEquals ? "=" : "");
            cases += "        " + names + ") words=" + quoted(spaced(option.words)) + " ;;\n";
        }
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
    // Bash takes --by=node apart into three words, and --task y=classes into four: its words are those of "--task=".
    return std::string("# bash completion of ") + kProgram + R"(
_quantscope_cli() {
    local cur=${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1)) option= equals= words=
    COMPREPLY=()
    [ "$cur" = = ] && equals=1 && cur=
    [ "$at" -gt 0 ] && [ "${COMP_WORDS[at]}" = = ] && equals=1 && at=$((at - 1))
    [ "$at" -gt 0 ] && option=${COMP_WORDS[at]}
    if [ -n "$equals" ] && [ "$at" -gt 1 ] && [[ $option != -* ]]; then
        at=$((at - 1))
        [ "${COMP_WORDS[at]}" = = ] && at=$((at - 1))
        option=${COMP_WORDS[at]}=
    fi
    [[ $cur != -* ]] && case ${COMP_WORDS[1]}:$option in
)" + bashValues(app)
        + "    esac\n    if [ -n \"$words\" ]; then\n        :\n    elif [ \"$COMP_CWORD\" -eq 1 ]; then\n        "
          "words="
        + quoted(list + names(app)) + "\n    elif [[ $cur == -* ]]; then\n        case ${COMP_WORDS[1]} in\n" + cases
        + "        esac\n    else\n        compopt -o default\n        return\n    fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -F _quantscope_cli "
        + kProgram + "\n";
}

/// What _arguments offers as its value.
std::string zshValue(const Offered& option)
{
    if (!option.takesValue)
        return {};
    if (option.words.empty())
        return ":value:_files";
    const std::string words = escaped(spaced(option.words), ":");
    return option.afterEquals ? ":value:{compset -P \"*=\" && compadd " + words + "}" : ":value:(" + words + ")";
}

/// Each name of an option as an argument of _arguments.
std::string zshOptions(CLI::App& app)
{
    std::string text;
    for (const Offered& option : optionsOf(app)) {
        const std::string rest = "[" + escaped(option.help, "\\[]:") + "]" + zshValue(option);
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
        const auto words = firstWords(*command);
        cases += "        " + command->get_name() + ")\n            _arguments" + zshOptions(*command)
            + (words.empty() ? "" : " \\\n                " + quoted("1:word:(" + spaced(words) + ")"))
            + " \\\n                '*:file:_files' ;;\n";
    }
    return std::string("#compdef ") + kProgram + "\n_quantscope_cli() {\n    local -a commands\n    commands=(" + list
        + "\n    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        _arguments"
        + zshOptions(app) + "\n        return\n    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n"
        + cases + "    esac\n}\n_quantscope_cli \"$@\"\n";
}

/// In single quotes, as fish reads them.
std::string fishQuoted(const std::string& text) { return "'" + escaped(text, "\\'") + "'"; }

/// Whole words with the NAME= that was typed.
std::string fishValues(const std::vector<std::string>& words)
{
    std::string list;
    for (const std::string& word : words)
        list += (list.empty() ? "" : ",") + word;
    return "(string match -r '^[^=]+=' -- (commandline -ct)){" + list + "}";
}

std::string fishOptions(CLI::App& app, const std::string& when)
{
    std::string text;
    for (const Offered& option : optionsOf(app)) {
        const std::string head = std::string("complete -c ") + kProgram + " -n " + fishQuoted(when);
        std::string rest = option.takesValue ? " -r" : "";
        if (!option.words.empty())
            rest += " -f -a " + fishQuoted(option.afterEquals ? fishValues(option.words) : spaced(option.words));
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
        const std::string inside = "__fish_seen_subcommand_from " + command->get_name();
        if (const auto words = firstWords(*command); !words.empty())
            text += std::string("complete -c ") + kProgram + " -n "
                + fishQuoted(inside + "; and not __fish_seen_subcommand_from " + spaced(words)) + " -f -a "
                + fishQuoted(spaced(words)) + "\n";
        text += fishOptions(*command, inside);
    }
    return text;
}

} // namespace

Command addCompletion(CLI::App& app, Context&)
{
    auto shell = std::make_shared<std::string>();
    takesWords(app.add_option("SHELL", *shell, "bash, zsh or fish"), { "bash", "zsh", "fish" })->required();
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
