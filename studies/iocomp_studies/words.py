# SPDX-License-Identifier: BSD-3-Clause
"""The words of the commands in Python, for the completion of shells and the manual page.

The command `iocomp` asks for them with --tell-words (tools/iocomp/python_program.h).
"""

from __future__ import annotations

from typing import Any


def _option(parameter: Any) -> dict[str, Any]:
    is_word = parameter.param_type_name == "argument"
    is_flag = not is_word and parameter.is_flag
    names = [parameter.name.upper().rstrip("_")] if is_word else parameter.opts
    shows_default = not is_flag and getattr(parameter, "show_default", False)
    default = parameter.default if shows_default and parameter.default else ""
    texts = map(str, default) if isinstance(default, (list, tuple)) else [str(default)]
    return {
        "names": ",".join([*names, *parameter.secondary_opts]),
        "about": parameter.help or "",
        "values": list(getattr(parameter.type, "choices", None) or ()),
        "default": ", ".join(texts),
        "is_flag": is_flag,
    }


def words_of(command: Any) -> dict[str, Any]:
    """Return the options and subcommands of a command of click, which typer makes."""
    return {
        "name": command.name,
        "about": (command.help or "").strip(),
        "options": [
            _option(parameter)
            for parameter in command.params
            if not getattr(parameter, "hidden", False)
        ],
        "commands": [
            words_of(one) for one in getattr(command, "commands", {}).values() if not one.hidden
        ],
    }
