"""The scripts that shells read for completion; each asks `wingbeat completion words` for words.

Names may have spaces and whatever else shells take for their own signs. zsh, fish and PowerShell
say which words were typed and put their own quotation marks around what is offered; bash cuts words
at colons too and quotes nothing, so it hands over the whole line and is told what to write.

Where nothing is offered, the shell goes on to file names, as it does by itself: workflow files and
paths are what stands there then.
"""

from __future__ import annotations

BASH = """\
# Completion of wingbeat for bash; made by `wingbeat completion bash`.
_wingbeat() {
    mapfile -t COMPREPLY < <(
        "${COMP_WORDS[0]}" completion line "${COMP_LINE:0:COMP_POINT}" 2>/dev/null
    )
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace
    fi
}
complete -o default -F _wingbeat wingbeat
"""

ZSH = """\
#compdef wingbeat
# Completion of wingbeat for zsh; made by `wingbeat completion zsh`.
_wingbeat() {
    local -a found
    found=("${(@f)$("${words[1]}" completion words "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    found=("${(@)found:#}")
    if (( ${#found} )); then
        compadd -S '' -- "${(@M)found:#*/}"
        compadd -- "${(@)found:#*/}"
    else
        _files
    fi
}
if [[ "${funcstack[1]}" == "_wingbeat" ]]; then
    _wingbeat "$@"
else
    compdef _wingbeat wingbeat
fi
"""

FISH = """\
# Completion of wingbeat for fish; made by `wingbeat completion fish`.
function __wingbeat_words
    set -l line (commandline -opc | string unescape) (commandline -ct | string unescape)
    wingbeat completion words $line[2..-1] 2>/dev/null
end
complete -c wingbeat -f -n '__wingbeat_words | count >/dev/null' -a '(__wingbeat_words)'
"""

POWERSHELL = """\
# Completion of wingbeat for PowerShell; made by `wingbeat completion powershell`.
Register-ArgumentCompleter -Native -CommandName wingbeat -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $line = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
    if (-not $wordToComplete) { $line += '""' }
    & wingbeat completion words @line 2>$null | ForEach-Object {
        $text = if ($_ -match "[^\\w./@:+=-]") { "'" + $_.Replace("'", "''") + "'" } else { $_ }
        [System.Management.Automation.CompletionResult]::new($text, $_, 'ParameterValue', $_)
    }
}
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH, "powershell": POWERSHELL}
