"""What can be wrong with a workflow file, sentence by sentence: as the agent says it, and as here.

The more particular ones come first. A test reads the table of wrong files, by which the agent's
sentences are held, and holds that each is found here.
"""

from __future__ import annotations

from gui.model.agent_sentences import Table
from gui.words import tr

FAULTS: Table = (
    (r"no machine has the program (?P<name>.+)", lambda: tr("no machine has the program {name}")),
    (r"there is no task (?P<name>.+)", lambda: tr("there is no task {name}")),
    (r"there is no variable (?P<name>.+)", lambda: tr("there is no variable {name}")),
    (r"a workflow has no (?P<name>.+)", lambda: tr("a workflow has no {name}")),
    (
        r"there is nothing under (?P<name>.+): remove it",
        lambda: tr("there is nothing under {name}: remove it"),
    ),
    (
        r"a workflow needs tasks: there are none",
        lambda: tr("a workflow needs tasks: there are none"),
    ),
    (r"two tasks are called (?P<name>.+)", lambda: tr("two tasks are called {name}")),
    (r"(?P<task>.+) needs itself", lambda: tr("{task} needs itself")),
    (
        r"tasks need each other in a circle: (?P<way>.+)",
        lambda: tr("tasks need each other in a circle: {way}"),
    ),
    (
        r"the variable (?P<name>.+?) is never used: write (?P<how>.+) or remove it",
        lambda: tr("the variable {name} is never used: write {how} or remove it"),
    ),
    (r"(?P<task>.+) has no output (?P<name>.+)", lambda: tr("{task} has no output {name}")),
    (r"there is nothing in this file", lambda: tr("there is nothing in this file")),
    (r"cannot be read: it is not there", lambda: tr("cannot be read: it is not there")),
    (r"cannot be read: (?P<why>.+)", lambda: tr("cannot be read: {why}")),
    (
        r"is not UTF-8 text from here on: save it as UTF-8",
        lambda: tr("is not UTF-8 text from here on: save it as UTF-8"),
    ),
    (r"(?P<name>.+) is given twice, (?P<where>.+)", lambda: tr("{name} is given twice")),
    (
        r"a workflow is a mapping with tasks, not (?P<given>.+)",
        lambda: tr("a workflow is a mapping with tasks, not {given}"),
    ),
    (r"a tab cannot indent here: use spaces", lambda: tr("a tab cannot indent here: use spaces")),
    (
        r"a ':' has no place here: quote the text or indent the key",
        lambda: tr("a ':' has no place here: quote the text or indent the key"),
    ),
    (
        r"a ',' or '\]' is missing in the list that begins in line (?P<line>\d+)",
        lambda: tr("a ',' or ']' is missing in the list that begins in line {line}"),
    ),
    (
        r"a ',' or '\}' is missing in the mapping that begins in line (?P<line>\d+)",
        lambda: tr("a ',' or '}}' is missing in the mapping that begins in line {line}"),
    ),
    (
        r"the quote that opens in line (?P<line>\d+) is never closed",
        lambda: tr("the quote that opens in line {line} is never closed"),
    ),
    (
        r"the indentation does not fit the lines above",
        lambda: tr("the indentation does not fit the lines above"),
    ),
    (
        r"a text cannot begin with this character: put quotes around it",
        lambda: tr("a text cannot begin with this character: put quotes around it"),
    ),
    (
        r"there is no such escape: use single quotes or a double \\",
        lambda: tr("there is no such escape: use single quotes or a double \\"),
    ),
    (r"\*(?P<name>.+) is defined nowhere above", lambda: tr("*{name} is defined nowhere above")),
    (r"\*(?P<name>.+) contains itself", lambda: tr("*{name} contains itself")),
    (
        r"the tag (?P<name>.+) means nothing here: leave it away",
        lambda: tr("the tag {name} means nothing here: leave it away"),
    ),
    (
        r"a second document starts here: make it a file",
        lambda: tr("a second document starts here: make it a file"),
    ),
    (
        r"a key must be a single word, not (?P<given>.+)",
        lambda: tr("a key must be a single word, not {given}"),
    ),
    (r"<< takes a mapping, not (?P<given>.+)", lambda: tr("<< takes a mapping, not {given}")),
    (
        r"between \{ and \} a variable needs quotes, like (?P<name>.+)",
        lambda: tr("between {{ and }} a variable needs quotes, like {name}"),
    ),
    (
        r"(?P<name>.+) must be a mapping of names, not (?P<given>.+)",
        lambda: tr("{name} must be a mapping of names, not {given}"),
    ),
    (
        r"(?P<name>.+) must be (?P<wanted>.+), and there is nothing",
        lambda: tr("{name} must be {wanted}, and there is nothing"),
    ),
    (
        r"(?P<owner>.+) must be (?P<wanted>.+), not (?P<given>.+)",
        lambda: tr("{owner} must be {wanted}, not {given}"),
    ),
    (
        r"(?P<name>.+) is empty: give it (?P<wanted>.+)",
        lambda: tr("{name} is empty: give it {wanted}"),
    ),
    (
        r"(?P<name>.+) has at most (?P<most>[\d,]+) characters, and this has (?P<given>[\d,]+)",
        lambda: tr("{name} has at most {most} characters, and this has {given}"),
    ),
    (
        r"(?P<name>.+) has at most (?P<most>[\d,]+) entries, and this has (?P<given>[\d,]+)",
        lambda: tr("{name} has at most {most} entries, and this has {given}"),
    ),
    (
        r"(?P<name>.+) is no name here: (?P<wanted>.+)",
        lambda: tr("{name} is no name here: {wanted}"),
    ),
    (
        r"(?P<name>.+) is the name of (?P<other>.+) in line (?P<line>\d+) already",
        lambda: tr("{name} is the name of {other} in line {line} already"),
    ),
    (
        r"(?P<name>.+) is octal to some readers: write (?P<how>.+)",
        lambda: tr("{name} is octal to some readers: write {how}"),
    ),
    (
        r"(?P<name>.+): write (?P<how>.+) instead of (?P<given>.+)",
        lambda: tr("{name}: write {how} instead of {given}"),
    ),
    (
        r"(?P<name>.+) is no text to some readers: write (?P<one>.+) or (?P<how>.+)",
        lambda: tr("{name} is no text to some readers: write {one} or {how}"),
    ),
    (r"(?P<name>.+) is no name that XML allows", lambda: tr("{name} is no name that XML allows")),
    (
        r"there are parameters already: remove one of the two",
        lambda: tr("there are parameters already: remove one of the two"),
    ),
    (r"this is not XML: (?P<why>.+)", lambda: tr("this is not XML: {why}")),
    (
        r"there is no file (?P<name>.+) in (?P<folder>.+)",
        lambda: tr("there is no file {name} in {folder}"),
    ),
    (r"(?P<name>.+) fits no file in (?P<folder>.+)", lambda: tr("{name} fits no file in {folder}")),
    (
        r"there is no file in the folder (?P<name>.+)",
        lambda: tr("there is no file in the folder {name}"),
    ),
    (
        r"(?P<name>.+) cannot be looked at: (?P<why>.+)",
        lambda: tr("{name} cannot be looked at: {why}"),
    ),
    (
        r"(?P<name>.+) is no name that a file can have",
        lambda: tr("{name} is no name that a file can have"),
    ),
    (
        r"(?P<name>.+) is a link to something that is not there",
        lambda: tr("{name} is a link to something that is not there"),
    ),
    (
        r"(?P<name>.+) is a link that leads out of the folder, to (?P<path>.+): name it by itself, or put the file there",
        lambda: tr(
            "{name} is a link that leads out of the folder, to {path}: name it by itself, or put the "
            "file there"
        ),
    ),
    (
        r"the default of (?P<name>.+?) must be a list",
        lambda: tr("the default of {name} must be a list"),
    ),
    (
        r"the default of (?P<name>.+?) must be a single (?P<kind>.+)",
        lambda: tr("the default of {name} must be a single {kind}"),
    ),
    (r"the identifier after id: is missing", lambda: tr("the identifier after id: is missing")),
    (
        r"is not there: it describes the program \(`(?P<how>.+)` writes one\)",
        lambda: tr("is not there: it describes the program (`{how}` writes one)"),
    ),
    (
        r"(?P<name>.+) has the line ends of Windows, which the shells of other systems cannot read: save it with those of Unix",
        lambda: tr(
            "{name} has the line ends of Windows, which the shells of other systems cannot read: save it with those of Unix"
        ),
    ),
    (
        r"no task runs the program (?P<name>.+): remove it",
        lambda: tr("no task runs the program {name}: remove it"),
    ),
    (
        r"(?P<task>.+) has (?P<count>\d+) outputs: write (?P<ways>.+)",
        lambda: tr("{task} has {count} outputs: write {ways}"),
    ),
    (
        r"which outputs (?P<task>.+) has is not known: write a number from 0, not (?P<given>.+)",
        lambda: tr("which outputs {task} has is not known: write a number from 0, not {given}"),
    ),
    (
        r"(?P<task>.+) is no fan-out, and how many outputs it has is not known: write (?P<how>.+) for the first",
        lambda: tr(
            "{task} is no fan-out, and how many outputs it has is not known: write {how} for the first"
        ),
    ),
    (
        r"after takes the name of a task, not (?P<given>.+)",
        lambda: tr("after takes the name of a task, not {given}"),
    ),
    (
        r"(?P<task>.+) has nothing to attach: use after instead",
        lambda: tr("{task} has nothing to attach: use after instead"),
    ),
    (
        r"(?P<task>.+) has no outputs: use after instead",
        lambda: tr("{task} has no outputs: use after instead"),
    ),
    (
        r"an output of another workflow is a number, not (?P<given>.+)",
        lambda: tr("an output of another workflow is a number, not {given}"),
    ),
    (
        r"(?P<owner>.+) needs program: what it runs",
        lambda: tr("{owner} needs program: what it runs"),
    ),
    (
        r"(?P<owner>.+) needs asks: what a person is asked to do",
        lambda: tr("{owner} needs asks: what a person is asked to do"),
    ),
    (
        r"(?P<owner>.+) needs task: the task whose output it is",
        lambda: tr("{owner} needs task: the task whose output it is"),
    ),
    (
        r"(?P<owner>.+) needs run: the script or the program's folder, beside this file",
        lambda: tr("{owner} needs run: the script or the program's folder, beside this file"),
    ),
    (
        r"(?P<task>.+) is run (?P<count>.+) times: write (?P<how>.+) for all of them",
        lambda: tr("{task} is run {count} times: write {how} for all of them"),
    ),
    (
        r"the variable (?P<name>.+) has no default, so a value must be given",
        lambda: tr("the variable {name} has no default, so a value must be given"),
    ),
    (
        r"(?P<name>.+) names no variable; write \$\$\{ for \$\{ itself",
        lambda: tr("{name} names no variable; write $${{ for ${{ itself"),
    ),
    (
        r"(?P<name>.+) is a list, which cannot stand inside a text",
        lambda: tr("{name} is a list, which cannot stand inside a text"),
    ),
    (
        r"for_each: the list of (?P<name>.+) is empty",
        lambda: tr("for_each: the list of {name} is empty"),
    ),
    (
        r"for_each: there is no task (?P<name>.+); to run over files write for_each: (?P<how>.+)",
        lambda: tr("for_each: there is no task {name}; to run over files write for_each: {how}"),
    ),
    (r"for_each: there is no task (?P<name>.+)", lambda: tr("for_each: there is no task {name}")),
    (
        r"for_each: (?P<task>.+) is run once only, so it has no values",
        lambda: tr("for_each: {task} is run once only, so it has no values"),
    ),
    (
        r"for_each goes round in a circle: (?P<way>.+)",
        lambda: tr("for_each goes round in a circle: {way}"),
    ),
    (
        r"for_each: to must be at least from, and at most (?P<most>[\d,]+) more",
        lambda: tr("for_each: to must be at least from, and at most {most} more"),
    ),
    (
        r"for_each: (?P<name>.+) takes either lines or from and to",
        lambda: tr("for_each: {name} takes either lines or from and to"),
    ),
    (
        r"for_each makes (?P<count>[\d,]+) tasks; a workflow has at most (?P<most>[\d,]+)",
        lambda: tr("for_each makes {count} tasks; a workflow has at most {most}"),
    ),
    (
        r"a workflow has at most (?P<most>[\d,]+) tasks: this one makes it more",
        lambda: tr("a workflow has at most {most} tasks: this one makes it more"),
    ),
    (r"(?P<owner>.+) has no (?P<name>.+)", lambda: tr("{owner} has no {name}")),
)

KINDS: Table = (
    (r"a list", lambda: tr("a list")),
    (r"a text", lambda: tr("a text")),
    (r"a mapping", lambda: tr("a mapping")),
    (r"a single value", lambda: tr("a single value")),
    (r"a number", lambda: tr("a number")),
    (r"a whole number", lambda: tr("a whole number")),
    (r"true or false", lambda: tr("true or false")),
    (
        r"a whole number from (?P<least>[\d,]+) to (?P<most>[\d,]+)",
        lambda: tr("a whole number from {least} to {most}"),
    ),
    (r"a number with a unit, like (?P<ways>.+)", lambda: tr("a number with a unit, like {ways}")),
    (r"more than 0 and at most (?P<most>.+)", lambda: tr("more than 0 and at most {most}")),
    (r"low, interactive or 0 to 100", lambda: tr("low, interactive or 0 to 100")),
    (
        r"at most (?P<most>\d+) characters, none of them (?P<signs>.+)",
        lambda: tr("at most {most} characters, none of them {signs}"),
    ),
    (
        r"letters, digits and _, and no digit first",
        lambda: tr("letters, digits and _, and no digit first"),
    ),
    (r"a task", lambda: tr("a task")),
    (r"a gate", lambda: tr("a gate")),
    (r"a program", lambda: tr("a program")),
    (r"a workflow", lambda: tr("a workflow")),
    (r"a variable", lambda: tr("a variable")),
    (r"the default of (?P<name>.+)", lambda: tr("the default of {name}")),
    (r"the value given for (?P<name>.+)", lambda: tr("the value given for {name}")),
)
"""What a value is or should be, and whose it is, within those sentences."""
