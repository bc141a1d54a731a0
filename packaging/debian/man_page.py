#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the manual page of a program, made of what its --help says.

  packaging/debian/man_page.py PROGRAM > PROGRAM.1

Commands of a program that has some are sections of its page, so that page and program cannot differ."""
import os
import re
import subprocess
import sys
import time


def told(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip()


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def parts(help_text):
    """(head, text) of each option or command, and lines of text, as (None, line), in their order."""
    for line in help_text.splitlines():
        match = re.match(r"^ {1,4}(-{1,2}[^ ].*?|[A-Z][A-Z_ .]*|[a-z]+)(?: {2,}(.*))?$", line)
        if match and line.startswith("  "):
            yield match.group(1), match.group(2) or ""
        else:
            yield None, line


def body(help_text):
    lines, after_item = [], False
    for head, text in parts(help_text):
        if head:
            lines += [".TP", f".B {roff(head)}", roff(text)]
            after_item = True
        elif after_item and text.startswith("   "):
            lines.append(roff(text.strip()))
        elif not text.strip():
            after_item = False
            lines.append(".PP")
        elif re.match(r"^[A-Z][A-Za-z ]*:$", text):
            lines += [".PP", f".B {roff(text)}"]
        else:
            lines += [".br", roff(text)]
    return "\n".join(line for line in lines if line)


def commands(help_text):
    listed = help_text.partition("Subcommands:")[2]
    return re.findall(r"^  ([a-z]+) +\S", listed, flags=re.MULTILINE)


def page(program):
    name = os.path.basename(program)
    version = told(program, "--version").split()[-1]
    day = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    help_text = told(program, "--help")
    names = commands(help_text)
    purpose = "debug quantized ONNX models" + (", without a window" if names else "")
    yield f'.TH {name.upper()} 1 {day} "Quantscope {version}" "User Commands"'
    yield f".SH NAME\n{roff(name)} \\- {roff(purpose)}"
    yield ".SH SYNOPSIS\n.B " + roff(name) + ("\n.I COMMAND\n[\\fIOPTIONS\\fR]" if names else "\n[\\fIOPTIONS\\fR] [\\fIFILE\\fR ...]")
    yield ".SH DESCRIPTION\n" + body(help_text)
    if names:
        yield ".SH COMMANDS"
    for command in names:
        yield f".SS {roff(name)} {command}\n" + body(told(program, command, "--help"))
    yield (".SH EXIT STATUS\n0 done, 1 a threshold that was set was missed, 2 bad use, 3 bad input, 4 cancelled, 5 internal "
           "error.")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("error: give the program")
    print("\n".join(page(sys.argv[1])))
