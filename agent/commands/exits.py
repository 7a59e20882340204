"""What the exit code of a command says."""

DONE = 0
FAILED = 1
MISUSED = 2
NO_AGENT = 3
WORK_FAILED = 4
INTERRUPTED = 130

DESCRIPTION = """exit codes:
  0    done
  1    refused or failed; a sentence on standard error says why
  2    the command was told something that makes no sense
  3    no agent runs here
  4    the work that was waited for failed or was cancelled
  130  interrupted (Ctrl-C)"""
