<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name></name>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n core</numerusform>
            <numerusform>%n cores</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n task(s)</source>
        <translation>
            <numerusform>%n task</numerusform>
            <numerusform>%n tasks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n attempt(s)</source>
        <translation>
            <numerusform>%n attempt</numerusform>
            <numerusform>%n attempts</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n workflow(s)</source>
        <translation>
            <numerusform>%n workflow</numerusform>
            <numerusform>%n workflows</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n failed</source>
        <comment>workflows</comment>
        <translation>
            <numerusform>%n failed</numerusform>
            <numerusform>%n failed</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) for a person</source>
        <translation>
            <numerusform>%n step for a person</numerusform>
            <numerusform>%n steps for a person</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n day(s)</source>
        <translation>
            <numerusform>%n day</numerusform>
            <numerusform>%n days</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n machine(s) want to join the flock</source>
        <translation>
            <numerusform>%n machine wants to join the flock</numerusform>
            <numerusform>%n machines want to join the flock</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) wait for you</source>
        <comment>gates</comment>
        <translation>
            <numerusform>%n step waits for you</numerusform>
            <numerusform>%n steps wait for you</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n workflow(s) wait for your permission</source>
        <translation>
            <numerusform>%n workflow waits for your permission</numerusform>
            <numerusform>%n workflows wait for your permission</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <comment>running tasks</comment>
        <translation>
            <numerusform>and %n more</numerusform>
            <numerusform>and %n more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Running %n task(s) for the flock</source>
        <translation>
            <numerusform>Running %n task for the flock</numerusform>
            <numerusform>Running %n tasks for the flock</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n machine(s) cannot be reached; work there may run twice.</source>
        <comment>machines of the flock without a link</comment>
        <translation>
            <numerusform>%n machine cannot be reached; work there may run twice.</numerusform>
            <numerusform>%n machines cannot be reached; work there may run twice.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n workflow(s) of others wait for your permission to run here.</source>
        <translation>
            <numerusform>%n workflow of others waits for your permission to run here.</numerusform>
            <numerusform>%n workflows of others wait for your permission to run here.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Good for %n machine(s), for {length}.</source>
        <translation>
            <numerusform>Good for %n machine, for {length}.</numerusform>
            <numerusform>Good for %n machines, for {length}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n task(s) run here for the flock. Handed back, they begin anew on another machine, or from where they last saved.</source>
        <translation>
            <numerusform>%n task runs here for the flock. Handed back, it begins anew on another machine, or from where it last saved.</numerusform>
            <numerusform>%n tasks run here for the flock. Handed back, they begin anew on another machine, or from where they last saved.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n task(s) run</source>
        <translation>
            <numerusform>%n task runs</numerusform>
            <numerusform>%n tasks run</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n to be done</source>
        <comment>tasks</comment>
        <translation>
            <numerusform>%n to be done</numerusform>
            <numerusform>%n to be done</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n wait(s) for you</source>
        <comment>gates</comment>
        <translation>
            <numerusform>%n waits for you</numerusform>
            <numerusform>%n wait for you</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Cancel all %n</source>
        <comment>tasks</comment>
        <translation>
            <numerusform>Cancel %n</numerusform>
            <numerusform>Cancel all %n</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Submit %n workflow(s)</source>
        <translation>
            <numerusform>Submit %n workflow</numerusform>
            <numerusform>Submit %n workflows</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n thing(s) to mend before it can run:</source>
        <translation>
            <numerusform>%n thing to mend before it can run:</numerusform>
            <numerusform>%n things to mend before it can run:</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n runs</numerusform>
            <numerusform>%n run</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n machine(s) want to join</source>
        <translation>
            <numerusform>%n machine wants to join</numerusform>
            <numerusform>%n machines want to join</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n machine(s) up</source>
        <translation>
            <numerusform>%n machine up</numerusform>
            <numerusform>%n machines up</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more file(s) are left out: submit them next.</source>
        <translation>
            <numerusform>%n more file is left out: submit it next.</numerusform>
            <numerusform>%n more files are left out: submit them next.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Drop to submit %n file(s)</source>
        <translation>
            <numerusform>Drop to submit %n file</numerusform>
            <numerusform>Drop to submit %n files</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>failed %n time(s){last}</source>
        <translation>
            <numerusform>failed %n time{last}</numerusform>
            <numerusform>failed %n times{last}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>waits for %n task(s)</source>
        <translation>
            <numerusform>waits for %n task</numerusform>
            <numerusform>waits for %n tasks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n other(s)</source>
        <translation>
            <numerusform>%n other</numerusform>
            <numerusform>%n others</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n earlier run(s)</source>
        <translation>
            <numerusform>%n earlier run</numerusform>
            <numerusform>%n earlier runs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n earlier run(s) ({low} to {high})</source>
        <translation>
            <numerusform>%n earlier run ({low} to {high})</numerusform>
            <numerusform>%n earlier runs ({low} to {high})</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n machine(s)</source>
        <comment>of a flock</comment>
        <translation>
            <numerusform>%n machine</numerusform>
            <numerusform>%n machines</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n will be cancelled</source>
        <comment>workflows or tasks</comment>
        <translation>
            <numerusform>%n will be cancelled</numerusform>
            <numerusform>%n will be cancelled</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n workflow(s) were not submitted. {first}</source>
        <translation>
            <numerusform>%n workflow was not submitted. {first}</numerusform>
            <numerusform>%n workflows were not submitted. {first}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n thing(s) to mend</source>
        <translation>
            <numerusform>%n thing to mend</numerusform>
            <numerusform>%n things to mend</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n thing(s) to confirm</source>
        <translation>
            <numerusform>%n thing to confirm</numerusform>
            <numerusform>%n things to confirm</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{names} and %n more</source>
        <comment>files</comment>
        <translation>
            <numerusform>{names} and %n more</numerusform>
            <numerusform>{names} and %n more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n dataset(s) are on this computer only, {size}: they are being handed over.</source>
        <translation>
            <numerusform>%n dataset is on this computer only, {size}: it is being handed over.</numerusform>
            <numerusform>%n datasets are on this computer only, {size}: they are being handed over.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>No machine takes %n dataset(s) that only this computer keeps: switch another one on, or save the results first.</source>
        <translation>
            <numerusform>No machine takes %n dataset that only this computer keeps: switch another one on, or save the results first.</numerusform>
            <numerusform>No machine takes %n datasets that only this computer keeps: switch another one on, or save the results first.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hidden</source>
        <comment>workflows</comment>
        <translation>
            <numerusform>%n hidden</numerusform>
            <numerusform>%n hidden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) will run</source>
        <translation>
            <numerusform>%n step will run</numerusform>
            <numerusform>%n steps will run</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n unchanged and kept</source>
        <comment>steps</comment>
        <translation>
            <numerusform>%n unchanged and kept</numerusform>
            <numerusform>%n unchanged and kept</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <comment>steps</comment>
        <translation>
            <numerusform>%n more</numerusform>
            <numerusform>%n more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n machine(s) are free but their owners have not allowed {program}.</source>
        <translation>
            <numerusform>%n machine is free but its owner has not allowed {program}.</numerusform>
            <numerusform>%n machines are free but their owners have not allowed {program}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n task(s) ended well.</source>
        <translation>
            <numerusform>%n task ended well.</numerusform>
            <numerusform>%n tasks ended well.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n thing(s) from outside of its folder would be sent. May they?</source>
        <translation>
            <numerusform>%n thing from outside of its folder would be sent. May they?</numerusform>
            <numerusform>%n things from outside of its folder would be sent. May they?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s), {size}, leave this computer</source>
        <translation>
            <numerusform>%n file, {size}, leave this computer</numerusform>
            <numerusform>%n files, {size}, leave this computer</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n tile(s)</source>
        <translation>
            <numerusform>%n tile</numerusform>
            <numerusform>%n tiles</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n act(s)</source>
        <translation>
            <numerusform>%n act</numerusform>
            <numerusform>%n acts</numerusform>
        </translation>
    </message>
</context>
</TS>
