# SPDX-License-Identifier: BSD-3-Clause
# Completion for fish: the command says what may come next, fish adds files.
complete -c iocomp -a '(iocomp complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
