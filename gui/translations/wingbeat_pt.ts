<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="pt" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <source>This computer belongs to {flock} already: leave it before you join another.</source>
        <translation>Este computador já pertence a {flock}: saia dele antes de entrar noutro.</translation>
    </message>
    <message>
        <source>{name} is no invitation.</source>
        <translation>{name} não é um convite.</translation>
    </message>
    <message>
        <source>The agent hangs in this process: quit Wingbeat and start it again.</source>
        <translation>O agente bloqueou neste processo: feche o Wingbeat e abra-o de novo.</translation>
    </message>
    <message>
        <source>Nothing is wrong as far as this computer sees.</source>
        <translation>Nada de errado, até onde este computador vê.</translation>
    </message>
    <message>
        <source>Helps always</source>
        <translation>Ajuda sempre</translation>
    </message>
    <message>
        <source>paused by its owner</source>
        <translation>em pausa pelo dono</translation>
    </message>
    <message>
        <source>nobody uses it</source>
        <translation>ninguém o usa</translation>
    </message>
    <message>
        <source>finishes what runs, then pauses</source>
        <translation>termina o que corre, depois pausa</translation>
    </message>
    <message>
        <source>somebody uses it</source>
        <translation>alguém o usa</translation>
    </message>
    <message>
        <source>outside its hours</source>
        <translation>fora do horário</translation>
    </message>
    <message>
        <source>Starting …</source>
        <translation>A iniciar …</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>cancelado</translation>
    </message>
    <message>
        <source>{task} failed: {error}</source>
        <translation>{task} falhou: {error}</translation>
    </message>
    <message>
        <source>{task} was cancelled</source>
        <translation>{task} foi cancelada</translation>
    </message>
    <message>
        <source>one thing</source>
        <translation>uma coisa</translation>
    </message>
    <message>
        <source>{count} things</source>
        <translation>{count} coisas</translation>
    </message>
    <message>
        <source>{gate} takes {only} ({names}), and {count} are attached</source>
        <translation>{gate} recebe {only} ({names}), e {count} estão anexadas</translation>
    </message>
    <message>
        <source>{task} needs {what} of {gate}: attach it</source>
        <translation>{task} precisa de {what} de {gate}: anexe</translation>
    </message>
    <message>
        <source>something</source>
        <translation>algo</translation>
    </message>
    <message>
        <source>Paused until {when}</source>
        <translation>Em pausa até {when}</translation>
    </message>
    <message>
        <source>Paused: you moved the mouse {ago} ago</source>
        <translation>Em pausa: mexeu no rato há {ago}</translation>
    </message>
    <message>
        <source>Paused: outside its hours until {when}</source>
        <translation>Em pausa: fora do horário até {when}</translation>
    </message>
    <message>
        <source>Paused: outside its hours</source>
        <translation>Em pausa: fora do horário</translation>
    </message>
    <message>
        <source>Paused: other programs use {percent} % of the processor, more than {limit} %</source>
        <translation>Em pausa: outros programas usam {percent} % do processador, mais que {limit} %</translation>
    </message>
    <message>
        <source>Paused: other programs used more than {limit} % of the processor a moment ago</source>
        <translation>Em pausa: outros programas usaram há pouco mais que {limit} % do processador</translation>
    </message>
    <message>
        <source>Paused: {names} runs</source>
        <translation>Em pausa: {names} está aberto</translation>
    </message>
    <message>
        <source>nobody has said yet when it may help</source>
        <translation>ainda ninguém disse quando pode ajudar</translation>
    </message>
    <message>
        <source>it runs only what is submitted on it</source>
        <translation>executa só o que é enviado nele</translation>
    </message>
    <message>
        <source>the agent stops</source>
        <translation>o agente vai parar</translation>
    </message>
    <message>
        <source>delivered an output that cannot be named: {error}</source>
        <translation>entregou um resultado que não se pode nomear: {error}</translation>
    </message>
    <message>
        <source>{program} cannot be run: {error}</source>
        <translation>{program} não pode ser executado: {error}</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <translation>o disco está cheio</translation>
    </message>
    <message>
        <source>{program} was ended, because the disk has only {took} left</source>
        <translation>{program} foi terminado, porque o disco só tem {took} livres</translation>
    </message>
    <message>
        <source>{program} ended itself as cancelled{scarce}{said}</source>
        <translation>{program} deu-se por cancelado{scarce}{said}</translation>
    </message>
    <message>
        <source>{program} exited with code {count}{scarce}{said}</source>
        <translation>{program} saiu com o código {count}{scarce}{said}</translation>
    </message>
    <message>
        <source>{host} has finished it</source>
        <translation>{host} já a terminou</translation>
    </message>
    <message>
        <source>input {dataset} could not be fetched</source>
        <translation>não foi possível obter a entrada {dataset}</translation>
    </message>
    <message>
        <source>this agent goes by a new incarnation</source>
        <translation>este agente começou de novo</translation>
    </message>
    <message>
        <source>{program} ended well but left no {error}, which its description declares</source>
        <translation>{program} terminou bem, mas não deixou {error}, como a sua descrição declara</translation>
    </message>
    <message>
        <source>could not be started: the disk has {took} free, it needs {bound}</source>
        <translation>não pôde começar: o disco tem {took} livres e são precisos {bound}</translation>
    </message>
    <message>
        <source>its outcome could not be committed: {error}</source>
        <translation>não foi possível registar o resultado: {error}</translation>
    </message>
    <message>
        <source>something was laid down for this computer that this version does not know. Tell whoever looks after it: {error}</source>
        <translation>foi deixada para este computador uma definição que esta versão não conhece. Avise quem cuida dele: {error}</translation>
    </message>
    <message>
        <source>could not be followed: {error}</source>
        <translation>não pôde ser seguido: {error}</translation>
    </message>
    <message>
        <source>nobody uses it, likely free until {when}</source>
        <translation>ninguém o usa, provavelmente livre até {when}</translation>
    </message>
    <message>
        <source>nobody uses it, likely free for two hours or more</source>
        <translation>ninguém o usa, provavelmente livre por duas horas ou mais</translation>
    </message>
    <message>
        <source>it is about to help, and lets its owner say no first</source>
        <translation>está prestes a ajudar, e antes deixa o dono dizer que não</translation>
    </message>
    <message>
        <source>it cannot confine programs</source>
        <translation>não consegue confinar programas</translation>
    </message>
    <message>
        <source>it was a copy, and gave its place to other work</source>
        <translation>era uma cópia e deu o lugar a outro trabalho</translation>
    </message>
    <message>
        <source>it does not help now</source>
        <translation>agora não ajuda</translation>
    </message>
    <message>
        <source>could not be started: {program} asks for more than it is allowed here</source>
        <translation>não pôde ser iniciado: {program} pede mais do que lhe é permitido aqui</translation>
    </message>
    <message>
        <source>could not be started: {error}</source>
        <translation>não pôde começar: {error}</translation>
    </message>
    <message>
        <source>the owner is back</source>
        <translation>o dono voltou</translation>
    </message>
    <message>
        <source>the owner takes no such work</source>
        <translation>o dono não aceita este trabalho</translation>
    </message>
    <message>
        <source>could not be started: the program {program} is not here any more</source>
        <translation>não pôde começar: o programa {program} já não está aqui</translation>
    </message>
    <message>
        <source>{program} is not ready here: {error}</source>
        <translation>{program} não está pronto aqui: {error}</translation>
    </message>
    <message>
        <source>the workflow was pruned</source>
        <translation>o fluxo foi limpo</translation>
    </message>
    <message>
        <source>{program} ran for longer than {limit} s, which is its limit{scarce}{said}</source>
        <translation>{program} correu mais de {limit} s, que é o seu limite{scarce}{said}</translation>
    </message>
    <message>
        <source>what runs before it takes long</source>
        <translation>o que corre antes demora</translation>
    </message>
    <message>
        <source>{program} says ERROR, not which{scarce}{said}</source>
        <translation>{program} diz ERROR, mas não qual{scarce}{said}</translation>
    </message>
    <message>
        <source>{program} was ended by signal {count}{scarce}{said}</source>
        <translation>{program} foi terminado pelo sinal {count}{scarce}{said}</translation>
    </message>
    <message>
        <source>superseded by {host}</source>
        <translation>{host} ficou com ela</translation>
    </message>
    <message>
        <source>a machine that suits it better had become free</source>
        <translation>uma máquina que lhe serve melhor ficou livre</translation>
    </message>
    <message>
        <source>{program} took {took} of memory, its limit is {bound}{scarce}</source>
        <translation>{program} ocupou {took} de memória; o seu limite é {bound}{scarce}</translation>
    </message>
    <message>
        <source>{program} started {count} processes, its limit is {limit}</source>
        <translation>{program} iniciou {count} processos, o seu limite é {limit}</translation>
    </message>
    <message>
        <source>{program} names {count} outputs, it has {limit}</source>
        <translation>{program} nomeia {count} resultados, mas tem {limit}</translation>
    </message>
    <message>
        <source>{program} made {count} files and folders and names none of them as outputs, of which at most {limit} are kept: put them into one folder, or name its outputs</source>
        <translation>{program} fez {count} ficheiros e pastas e não indica nenhum como resultado, dos quais se guardam no máximo {limit}: ponha-os numa só pasta, ou indique os resultados</translation>
    </message>
    <message>
        <source>{program} could not be started: programs cannot be confined on this machine</source>
        <translation>{program} não pôde ser iniciado: não é possível confinar programas nesta máquina</translation>
    </message>
    <message>
        <source>{program} neither progressed nor printed anything for {limit} s, which is its limit{scarce}{said}</source>
        <translation>{program} não avançou nem escreveu nada durante {limit} s, que é o seu limite{scarce}{said}</translation>
    </message>
    <message>
        <source>{program} wrote {took}, its limit is {bound}{scarce}</source>
        <translation>{program} escreveu {took}; o seu limite é {bound}{scarce}</translation>
    </message>
    <message>
        <source>on {host}{because}</source>
        <translation>em {host}{because}</translation>
    </message>
    <message>
        <source>{host} gave it back{because}</source>
        <translation>{host} devolveu-a{because}</translation>
    </message>
    <message>
        <source>{host} left off{because}</source>
        <translation>{host} deixou-a{because}</translation>
    </message>
    <message>
        <source>{host} went away while it ran</source>
        <translation>{host} desapareceu enquanto ela corria</translation>
    </message>
    <message>
        <source>{host} went away before it began</source>
        <translation>{host} desapareceu antes de ela começar</translation>
    </message>
    <message>
        <source>waits for {tasks}</source>
        <translation>espera por {tasks}</translation>
    </message>
    <message numerus="yes">
        <source>waits for %n task(s)</source>
        <translation>
            <numerusform>espera por %n tarefa</numerusform>
            <numerusform>espera por %n tarefas</numerusform>
        </translation>
    </message>
    <message>
        <source>outcome changed from {before} to {host}</source>
        <translation>o resultado passou de {before} para {host}</translation>
    </message>
    <message>
        <source>outputs lost, runs again in generation {generation}</source>
        <translation>resultados perdidos, corre de novo na geração {generation}</translation>
    </message>
    <message>
        <source>taken by {host}</source>
        <translation>tomada por {host}</translation>
    </message>
    <message>
        <source>claim withdrawn: {text}</source>
        <translation>desistência: {text}</translation>
    </message>
    <message>
        <source>{host} is asleep, and is woken for it</source>
        <translation>{host} está a dormir e é acordada para isso</translation>
    </message>
    <message>
        <source>{host} begins a copy of it</source>
        <translation>{host} começa uma cópia</translation>
    </message>
    <message>
        <source>its own priority is {priority} now</source>
        <translation>a sua própria prioridade é agora {priority}</translation>
    </message>
    <message>
        <source>something that is not wingbeat called from there</source>
        <translation>algo que não é o Wingbeat ligou de lá</translation>
    </message>
    <message>
        <source>its message could not be handled here</source>
        <translation>a mensagem dela não pôde ser tratada aqui</translation>
    </message>
    <message>
        <source>its certificate is not valid yet: compare the clocks</source>
        <translation>o certificado dela ainda não é válido: compare os relógios</translation>
    </message>
    <message>
        <source>its certificate has expired, or the clock here is ahead</source>
        <translation>o certificado dela expirou, ou o relógio daqui está adiantado</translation>
    </message>
    <message>
        <source>its certificate is valid from {date} only: compare the clocks of both machines</source>
        <translation>o certificado dela só é válido a partir de {date}: compare os relógios das duas máquinas</translation>
    </message>
    <message>
        <source>its certificate is not of the flock {name}</source>
        <translation>o certificado dela não é do bando {name}</translation>
    </message>
    <message>
        <source>its certificate is revoked</source>
        <translation>o certificado dela foi revogado</translation>
    </message>
    <message>
        <source>its certificate ended on {date}: it has to join with a new invitation</source>
        <translation>o certificado dela expirou em {date}: ela precisa de entrar com um novo convite</translation>
    </message>
    <message>
        <source>{host} was expelled from {name}</source>
        <translation>{host} foi expulsa de {name}</translation>
    </message>
    <message>
        <source>it left the flock on {date}</source>
        <translation>saiu do bando em {date}</translation>
    </message>
    <message>
        <source>an agent with the same identity is linked, from {address}: a copied disk?</source>
        <translation>um agente com a mesma identidade está ligado, de {address}: um disco copiado?</translation>
    </message>
    <message>
        <source>another agent has the identity of this one</source>
        <translation>outro agente tem a identidade deste</translation>
    </message>
    <message>
        <source>that is this node itself</source>
        <translation>é esta própria máquina</translation>
    </message>
    <message>
        <source>{host} left {name}</source>
        <translation>{host} saiu de {name}</translation>
    </message>
    <message>
        <source>the other side closed the link</source>
        <translation>o outro lado fechou a ligação</translation>
    </message>
    <message>
        <source>there is a link already</source>
        <translation>já existe uma ligação</translation>
    </message>
    <message>
        <source>a newer connection takes its place</source>
        <translation>uma ligação mais nova toma o lugar dela</translation>
    </message>
    <message>
        <source>it speaks no protocol that this version of Wingbeat knows</source>
        <translation>não fala nenhum protocolo que esta versão do Wingbeat conheça</translation>
    </message>
    <message>
        <source>it does not speak TLS</source>
        <translation>não fala TLS</translation>
    </message>
    <message>
        <source>nothing answers: it is off, elsewhere, or behind a firewall</source>
        <translation>nada responde: está desligada, noutro lugar ou atrás de uma firewall</translation>
    </message>
    <message>
        <source>no keeper whose word counts has let it in: it has to join with a new invitation</source>
        <translation>nenhuma guardiã cuja palavra vale a admitiu: ela precisa de entrar com um novo convite</translation>
    </message>
    <message>
        <source>not a member of this flock</source>
        <translation>não é deste bando</translation>
    </message>
    <message>
        <source>it is not wanted any more</source>
        <translation>já não é necessária</translation>
    </message>
    <message>
        <source>something that is not wingbeat answers there</source>
        <translation>algo que não é o Wingbeat responde lá</translation>
    </message>
    <message>
        <source>it belongs to another flock</source>
        <translation>pertence a outro bando</translation>
    </message>
    <message>
        <source>another node, {name}, answers there now</source>
        <translation>outra máquina, {name}, responde lá agora</translation>
    </message>
    <message>
        <source>it speaks another version of TLS</source>
        <translation>fala outra versão de TLS</translation>
    </message>
    <message>
        <source>it speaks another version of wingbeat</source>
        <translation>fala outra versão do Wingbeat</translation>
    </message>
    <message>
        <source>it lost its link for what it sent, a moment ago</source>
        <translation>perdeu a ligação há pouco pelo que enviou</translation>
    </message>
    <message>
        <source>said goodbye: {error}</source>
        <translation>despediu-se: {error}</translation>
    </message>
    <message>
        <source>it sends more than {count} frames or {limit} bytes/s</source>
        <translation>envia mais de {count} quadros ou {limit} bytes/s</translation>
    </message>
    <message>
        <source>it sent what no agent sends: {error}</source>
        <translation>enviou o que nenhum agente envia: {error}</translation>
    </message>
    <message>
        <source>it shows no certificate: it has to join the flock first</source>
        <translation>não mostra nenhum certificado: precisa de entrar no bando primeiro</translation>
    </message>
    <message>
        <source>it showed no certificate</source>
        <translation>não mostrou nenhum certificado</translation>
    </message>
    <message>
        <source>silent for {length}</source>
        <translation>em silêncio há {length}</translation>
    </message>
    <message>
        <source>the agent there is stopping</source>
        <translation>o agente de lá está a parar</translation>
    </message>
    <message>
        <source>what it tells is not taken: {error}</source>
        <translation>o que ela diz não é aceite: {error}</translation>
    </message>
    <message>
        <source>TLS failed: {error}</source>
        <translation>o TLS falhou: {error}</translation>
    </message>
    <message>
        <source>too many connections at once</source>
        <translation>demasiadas ligações ao mesmo tempo</translation>
    </message>
    <message>
        <source>too many connections from there are greeting at once</source>
        <translation>apresentam-se de lá demasiadas ligações ao mesmo tempo</translation>
    </message>
    <message>
        <source>too many transfers with this peer at once</source>
        <translation>demasiadas transferências com esta máquina ao mesmo tempo</translation>
    </message>
    <message>
        <source>it did not finish greeting within {length}</source>
        <translation>não terminou de se apresentar em {length}</translation>
    </message>
    <message>
        <source>it cannot be reached: {error}</source>
        <translation>não pode ser alcançada: {error}</translation>
    </message>
    <message>
        <source>it was expelled from the flock on {date}</source>
        <translation>foi expulsa do bando em {date}</translation>
    </message>
    <message>
        <source>its link is gone: {why}</source>
        <translation>a ligação perdeu-se: {why}</translation>
    </message>
    <message>
        <source>the network refuses it ({error})</source>
        <translation>a rede recusa ({error})</translation>
    </message>
    <message>
        <source>no network is up</source>
        <translation>nenhuma rede está ativa</translation>
    </message>
    <message>
        <source>this system does not allow it</source>
        <translation>este sistema não permite</translation>
    </message>
    <message>
        <source>another program keeps UDP port 5353 to itself</source>
        <translation>outro programa guarda a porta UDP 5353 para si</translation>
    </message>
    <message>
        <source>the owner of {host} lets {program} never run there</source>
        <translation>quem é dono de {host} nunca deixa {program} ser executado lá</translation>
    </message>
    <message>
        <source>{host} does not allow network to {program}</source>
        <translation>{host} não permite rede a {program}</translation>
    </message>
    <message>
        <source>{host} does not let {program} read {name}</source>
        <translation>{host} não deixa {program} ler {name}</translation>
    </message>
    <message>
        <source>{host} does not let {program} use the device {name}</source>
        <translation>{host} não deixa {program} usar o dispositivo {name}</translation>
    </message>
    <message>
        <source>{host} does not give the secret {name} to {program}</source>
        <translation>{host} não dá o segredo {name} a {program}</translation>
    </message>
    <message>
        <source>{host} does not have the secret {name}, which {program} needs</source>
        <translation>{host} não tem o segredo {name}, de que {program} precisa</translation>
    </message>
    <message>
        <source>{host} does not have {name}, which {program} reads: its settings name no such share</source>
        <translation>{host} não tem {name}, que {program} lê: suas configurações não nomeiam esse compartilhamento</translation>
    </message>
    <message>
        <source>{host} has no {extra}; the command that brings it is pip install &apos;{extra}&apos;</source>
        <translation>{host} não tem {extra}; o comando que o traz é pip install &apos;{extra}&apos;</translation>
    </message>
    <message>
        <source>{host} helps only {people}</source>
        <translation>{host} só ajuda {people}</translation>
    </message>
    <message>
        <source>{host} takes no work of {banned}</source>
        <translation>{host} não aceita trabalho de {banned}</translation>
    </message>
    <message>
        <source>{host} kept it waiting without a reason, and is not waited for any more</source>
        <translation>{host} fê-la esperar sem motivo, e já não se espera por essa máquina</translation>
    </message>
    <message>
        <source>{host} and {other} finished it with different results: the program may give something else each time, or one of the two machines is not to be relied on</source>
        <translation>{host} e {other} terminaram-na com resultados diferentes: o programa pode dar outra coisa de cada vez, ou uma das duas máquinas não é de fiar</translation>
    </message>
    <message>
        <source>waits for a seat of {seat} ({most} of {most} taken: by {hosts})</source>
        <translation>espera por um lugar de {seat} ({most} de {most} ocupados: por {hosts})</translation>
    </message>
    <message>
        <source>Windows does not tell of the session in which this runs</source>
        <translation>o Windows não fala da sessão em que isto corre</translation>
    </message>
    <message>
        <source>the list of programs cannot be read ({error})</source>
        <translation>a lista de programas não pode ser lida ({error})</translation>
    </message>
    <message>
        <source>it runs as a service, which sees no keyboard: start it with the desktop</source>
        <translation>corre como serviço, que não vê o teclado: inicie-o com o ambiente de trabalho</translation>
    </message>
    <message>
        <source>its source failed: {error}</source>
        <translation>a fonte falhou: {error}</translation>
    </message>
    <message>
        <source>a program fills the screen</source>
        <translation>um programa ocupa o ecrã</translation>
    </message>
    <message>
        <source>{app} uses the microphone</source>
        <translation>{app} usa o microfone</translation>
    </message>
    <message>
        <source>{app} uses the camera</source>
        <translation>{app} usa a câmara</translation>
    </message>
    <message>
        <source>a game fills the screen</source>
        <translation>um jogo ocupa o ecrã</translation>
    </message>
    <message>
        <source>a presentation is on</source>
        <translation>há uma apresentação em curso</translation>
    </message>
    <message>
        <source>a program keeps the screen on</source>
        <translation>um programa mantém o ecrã ligado</translation>
    </message>
    <message>
        <source>Paused: {why}</source>
        <translation>Em pausa: {why}</translation>
    </message>
    <message>
        <source>Paused: a call ended only {ago} ago</source>
        <translation>Em pausa: uma chamada terminou há apenas {ago}</translation>
    </message>
    <message>
        <source>Paused: {what} cannot be seen ({why})</source>
        <translation>Em pausa: não se vê {what} ({why})</translation>
    </message>
    <message>
        <source>Not helping: programs cannot be confined on this machine</source>
        <translation>Não ajuda: não é possível confinar programas nesta máquina</translation>
    </message>
    <message>
        <source>Works for others in {soon}</source>
        <translation>Trabalha para outros daqui a {soon}</translation>
    </message>
    <message>
        <source>Helps nobody until you say when it may</source>
        <translation>Não ajuda ninguém até dizer quando pode</translation>
    </message>
    <message>
        <source>Helps nobody: you said not now</source>
        <translation>Não ajuda ninguém: disse que agora não</translation>
    </message>
    <message>
        <source>Runs only what is submitted on this computer</source>
        <translation>Executa só o que é enviado neste computador</translation>
    </message>
    <message>
        <source>Helps: the screen is locked</source>
        <translation>Ajuda: o ecrã está bloqueado</translation>
    </message>
    <message>
        <source>Helps: nobody is logged in</source>
        <translation>Ajuda: ninguém está no sistema</translation>
    </message>
    <message>
        <source>Helps: no input for {time}</source>
        <translation>Ajuda: nenhuma entrada há {time}</translation>
    </message>
    <message>
        <source>Last input seen {ago} ago{by}</source>
        <translation>Última entrada vista há {ago}{by}</translation>
    </message>
    <message>
        <source>No program uses a microphone or camera</source>
        <translation>Nenhum programa usa um microfone ou uma câmara</translation>
    </message>
    <message>
        <source>owners say whom they help, and on {hosts} {person} is not among them</source>
        <translation>os donos dizem quem ajudam, e em {hosts} {person} não está entre eles</translation>
    </message>
    <message>
        <source>machines that help now: 1 of 1; none has taken it yet</source>
        <translation>máquinas que ajudam agora: 1 de 1; nenhuma a tomou ainda</translation>
    </message>
    <message>
        <source>no machine allows network to {program}</source>
        <translation>nenhuma máquina permite rede a {program}</translation>
    </message>
    <message>
        <source>no machine lets {program} read {name}</source>
        <translation>nenhuma máquina deixa {program} ler {name}</translation>
    </message>
    <message>
        <source>no machine lets {program} use the device {name}</source>
        <translation>nenhuma máquina deixa {program} usar o dispositivo {name}</translation>
    </message>
    <message>
        <source>no machine gives the secret {name} to {program}</source>
        <translation>nenhuma máquina dá o segredo {name} a {program}</translation>
    </message>
    <message>
        <source>no machine has the secret {name}</source>
        <translation>nenhuma máquina tem o segredo {name}</translation>
    </message>
    <message>
        <source>no machine has {name}: its owner names a folder for it in the settings</source>
        <translation>nenhuma máquina tem {name}: o dono dá uma pasta a ele nas configurações</translation>
    </message>
    <message>
        <source>{hosts} could run it, but nobody there has allowed {program} yet</source>
        <translation>podem executá-la: {hosts}; mas ninguém lá permitiu {program} ainda</translation>
    </message>
    <message>
        <source>{busy} may run {program} and has other work, and on {hosts} nobody has allowed it yet</source>
        <translation>{busy} pode executar {program} e tem outro trabalho, e em {hosts} ninguém o permitiu ainda</translation>
    </message>
    <message>
        <source>{host} has taken {task} and fetches its inputs{merits}</source>
        <translation>{host} tomou {task} e obtém as suas entradas{merits}</translation>
    </message>
    <message>
        <source>{task} runs on {host}{merits}</source>
        <translation>{task} corre em {host}{merits}</translation>
    </message>
    <message>
        <source>{times} times as fast as usual</source>
        <translation>{times} vezes mais rápida que o normal</translation>
    </message>
    <message>
        <source>likely free until {when}</source>
        <translation>provavelmente livre até {when}</translation>
    </message>
    <message>
        <source>likely free for two hours or more</source>
        <translation>provavelmente livre por duas horas ou mais</translation>
    </message>
    <message>
        <source>a second run of it goes on on {hosts}</source>
        <translation>uma segunda execução continua em {hosts}</translation>
    </message>
    <message>
        <source>it waits for {host}, where it ends sooner than on a machine that is free now</source>
        <translation>espera por {host}, onde termina antes do que em uma máquina livre agora</translation>
    </message>
    <message>
        <source>no word of {host} for {time}</source>
        <translation>sem notícias de {host} há {time}</translation>
    </message>
    <message>
        <source>{task} was in hand on {host}, of which there is no word for {time}: it begins anew as soon as another machine takes it</source>
        <translation>{task} estava em {host}, de que não há notícias há {time}: recomeça assim que outra máquina a assuma</translation>
    </message>
    <message>
        <source>{task} is suspended on {host}, whose owner needs the machine; others may take it if that lasts</source>
        <translation>{task} está suspensa em {host}, cujo dono precisa da máquina; se isso durar, outras podem assumi-la</translation>
    </message>
    <message>
        <source>{task} is suspended on {host}, whose owner needs the machine, and others may take it; {why}</source>
        <translation>{task} está suspensa em {host}, cujo dono precisa da máquina, e outras podem assumi-la; {why}</translation>
    </message>
    <message>
        <source>{host} could run it, and is likely free until {when}</source>
        <translation>{host} poderia executá-la, e está provavelmente livre até {when}</translation>
    </message>
    <message>
        <source>the newest of {count} called {name} is meant: {workflow}, submitted {submitted}</source>
        <translation>vale o mais novo dos {count} chamados {name}: {workflow}, enviado {submitted}</translation>
    </message>
    <message>
        <source>told by {host}</source>
        <translation>dito por {host}</translation>
    </message>
    <message>
        <source>Nobody has said yet when this computer may help.</source>
        <translation>Ninguém disse ainda quando este computador pode ajudar.</translation>
    </message>
    <message>
        <source>{name}{by_user} asks to be let in: `wingbeat flock requests` tells more</source>
        <translation>{name}{by_user} pede para entrar: `wingbeat flock requests` diz mais</translation>
    </message>
    <message>
        <source>Wingbeat {version} is installed: it starts when what runs here has ended, at once with `wingbeat restart --now`</source>
        <translation>O Wingbeat {version} está instalado: começa quando terminar o que corre aqui, ou já com `wingbeat restart --now`</translation>
    </message>
    <message>
        <source>Wingbeat {version} is installed: `wingbeat restart` starts it when what runs here has ended</source>
        <translation>O Wingbeat {version} está instalado: `wingbeat restart` inicia-o quando terminar o que corre aqui</translation>
    </message>
    <message>
        <source>Wingbeat {version} is installed, which is older than what runs: it starts with `wingbeat restart`, and refuses data and settings whose format it does not know</source>
        <translation>O Wingbeat {version} está instalado, mais antigo que o que corre: começa com `wingbeat restart` e recusa dados e definições cujo formato não conhece</translation>
    </message>
    <message>
        <source>Wingbeat {version} runs on {hosts}, and {own} on this machine: install the same version here when you can</source>
        <translation>O Wingbeat {version} corre em {hosts}, e o {own} nesta máquina: instale aqui a mesma versão quando puder</translation>
    </message>
    <message>
        <source>the machine at {address}</source>
        <translation>a máquina em {address}</translation>
    </message>
    <message>
        <source>the audit of {name} is not what it was: it had {count} entries, and some were cut off or written anew. Somebody with that computer&apos;s account did so, or it was set back</source>
        <translation>a auditoria de {name} já não é o que era: tinha {count} entradas, e algumas foram cortadas ou escritas de novo. Fê-lo alguém com a conta desse computador, ou ele foi reposto num estado anterior</translation>
    </message>
    <message>
        <source>the key of the flock is in the key store of this account, which does not give it ({error}): unlock it, until then this machine lets nobody in</source>
        <translation>a chave do bando está no repositório de chaves desta conta, que não a dá ({error}): desbloqueie-o; até lá esta máquina não deixa entrar ninguém</translation>
    </message>
    <message>
        <source>the clock of {peer} is {length} ahead of the one here: set all by the same time server</source>
        <translation>o relógio de {peer} está {length} adiantado em relação ao daqui: acerte todos pelo mesmo servidor de hora</translation>
    </message>
    <message>
        <source>the clock of {peer} is {length} behind the one here: set all by the same time server</source>
        <translation>o relógio de {peer} está {length} atrasado em relação ao daqui: acerte todos pelo mesmo servidor de hora</translation>
    </message>
    <message>
        <source>what was laid down for all users of this computer is wrong; the rest of it holds. Tell whoever looks after it: {error}</source>
        <translation>o que foi definido para todos os utilizadores deste computador está errado; o resto vale. Avise quem cuida dele: {error}</translation>
    </message>
    <message>
        <source>programs cannot be kept apart on this computer, so it takes no work of others: {error}</source>
        <translation>não é possível isolar programas neste computador, por isso ele não aceita trabalho de outros: {error}</translation>
    </message>
    <message>
        <source>this computer was to join a flock by an invitation that was laid down for it ({folder}), and cannot: {error}</source>
        <translation>este computador devia entrar num bando por um convite deixado para ele ({folder}), e não consegue: {error}</translation>
    </message>
    <message>
        <source>this computer joins a flock by an invitation that was laid down for it, as soon as {places} can be reached{last}</source>
        <translation>este computador entra num bando por um convite deixado para ele assim que {places} puder ser alcançado{last}</translation>
    </message>
    <message>
        <source>the certificate of this machine ends on {date} and could not be renewed ({error}): switch on a keeper of the flock</source>
        <translation>o certificado desta máquina expira em {date} e não pôde ser renovado ({error}): ligue uma guardiã do bando</translation>
    </message>
    <message>
        <source>the certificate of this machine begins only on {date}, so nobody lets it in: if the clock here is right, one was wrong before, so this machine, a keeper, makes itself a new one within an hour, or at once when you start its agent anew</source>
        <translation>o certificado desta máquina só começa em {date}, por isso ninguém a admite: se o relógio daqui está certo, antes algum estava errado; esta máquina, uma guardiã, faz um novo para si numa hora, ou logo que iniciar o agente de novo</translation>
    </message>
    <message>
        <source>the clock of this machine is {length} ahead of those of all others: set all by the same time server</source>
        <translation>o relógio desta máquina está {length} adiantado em relação aos de todas as outras: acerte todos pelo mesmo servidor de hora</translation>
    </message>
    <message>
        <source>the clock of this machine is {length} behind those of all others: set all by the same time server</source>
        <translation>o relógio desta máquina está {length} atrasado em relação aos de todas as outras: acerte todos pelo mesmo servidor de hora</translation>
    </message>
    <message>
        <source>your own setting of {name} does nothing, for an administrator has fixed it in {folder}</source>
        <translation>a sua própria definição de {name} não tem efeito, pois um administrador a fixou em {folder}</translation>
    </message>
    <message>
        <source>the certificate of {peer} has ended, or a clock is wrong: compare the clocks of both; if they are right, leave the flock on {peer} and join again with a new invitation</source>
        <translation>o certificado de {peer} expirou, ou algum relógio está errado: compare os relógios das duas; se estiverem certos, saia do bando em {peer} e entre de novo com um novo convite</translation>
    </message>
    <message>
        <source>the certificate of {peer} is not valid yet by the clock of this machine: set both clocks by the same time server</source>
        <translation>o certificado de {peer} ainda não é válido pelo relógio desta máquina: acerte os dois relógios pelo mesmo servidor de hora</translation>
    </message>
    <message>
        <source>{peer} kept tasks from beginning and gave no reason that holds, so nobody waits for it any more: update or restart Wingbeat there, or have the machine sent away</source>
        <translation>{peer} impediu tarefas de começar sem dar um motivo válido, por isso já ninguém espera por essa máquina: atualize ou reinicie lá o Wingbeat, ou mande afastar a máquina</translation>
    </message>
    <message>
        <source>{peer} runs a version of Wingbeat that this one cannot talk to: update the older of both</source>
        <translation>{peer} tem uma versão do Wingbeat com a qual esta não se entende: atualize a mais antiga das duas</translation>
    </message>
    <message>
        <source>the policy of this computer is wrong, and until it is mended this computer helps nobody. Tell whoever looks after it: {error}</source>
        <translation>a política deste computador está errada e, até que seja corrigida, este computador não ajuda ninguém. Avise quem cuida dele: {error}</translation>
    </message>
    <message>
        <source>this computer decides by the rules {name} who runs what, and by others do {places}: they may run another version of Wingbeat, so install the same one on all</source>
        <translation>este computador decide pelas regras {name} quem executa o quê, e por outras {places}: podem ter outra versão do Wingbeat, por isso instale a mesma em todos</translation>
    </message>
    <message>
        <source>records in the name of {peer} were refused ({count} times), as it has not signed them: somebody in the flock forges them, or the identity of {peer} is used twice</source>
        <translation>foram recusados registos em nome de {peer} ({count} vezes), porque não os assinou: alguém no bando os falsifica, ou a identidade de {peer} é usada duas vezes</translation>
    </message>
    <message>
        <source>records of {peer} without a signature were refused ({count} times): update Wingbeat there</source>
        <translation>foram recusados registos de {peer} sem assinatura ({count} vezes): atualize aí o Wingbeat</translation>
    </message>
    <message>
        <source>{name} was finished with different results by {places}: run it again on another machine and compare, as its program may also give something else each time</source>
        <translation>{name} foi terminada com resultados diferentes por {places}: execute-a outra vez noutra máquina e compare, pois o programa também pode dar outra coisa de cada vez</translation>
    </message>
    <message>
        <source>this computer was sent away from {name}: leave the flock, and join again with a new invitation</source>
        <translation>este computador foi expulso de {name}: saia do bando e entre de novo com um novo convite</translation>
    </message>
    <message>
        <source>{places} wants to change who may do what in the flock, which takes two administrators: another one has to say the same</source>
        <translation>{places} quer mudar quem pode fazer o quê no bando, o que requer dois administradores: outro tem de dizer o mesmo</translation>
    </message>
    <message>
        <source>the flock {name} has no administrators yet, so {places} may do everything in it: whoever looks after it can change that</source>
        <translation>o bando {name} ainda não tem administradores, por isso {places} pode fazer tudo nele: quem cuida dele pode mudar isso</translation>
    </message>
    <message>
        <source>the key of the flock lies on this computer as it is, for the key store of your account is not open</source>
        <translation>a chave do bando está neste computador tal como é, pois o repositório de chaves da sua conta não está aberto</translation>
    </message>
    <message>
        <source>{peer} asked {count} times for data of work that it neither runs nor shares, and got none: its person may ask the submitter to share it</source>
        <translation>{peer} pediu {count} vezes dados de trabalho que não executa nem partilha, e não recebeu nenhuns: a sua pessoa pode pedir a quem o submeteu que o partilhe</translation>
    </message>
    <message>
        <source>wishes of {peer} for the work of others were refused ({count} times): who submitted the work decides, or an administrator of the flock</source>
        <translation>foram recusados pedidos de {peer} sobre trabalho de outros ({count} vezes): decide quem submeteu o trabalho, ou um administrador do bando</translation>
    </message>
    <message>
        <source>{peer} fills the table of the flock, and {count} of its records were left out: remove work of {peer} that nobody needs, or see what its machine does</source>
        <translation>{peer} enche a tabela do bando, e {count} dos seus registos ficaram de fora: remova trabalho de {peer} de que ninguém precisa, ou veja o que a máquina faz</translation>
    </message>
    <message>
        <source>whether somebody is in a call</source>
        <translation>se alguém está numa chamada</translation>
    </message>
    <message>
        <source>, by {way}</source>
        <translation>, por {way}</translation>
    </message>
    <message>
        <source>, other programs use {load_percent} % of the processor</source>
        <translation>, outros programas usam {load_percent} % do processador</translation>
    </message>
    <message>
        <source> until you resume</source>
        <translation> até retomar</translation>
    </message>
    <message>
        <source>, last: {error}</source>
        <translation>, por último: {error}</translation>
    </message>
    <message>
        <source>, while the disk has only {left} left</source>
        <translation>, quando o disco só tem {left} livres</translation>
    </message>
    <message>
        <source> on {host}</source>
        <translation> em {host}</translation>
    </message>
    <message>
        <source>, no longer on {host}</source>
        <translation>, não mais em {host}</translation>
    </message>
    <message>
        <source>; what speaks for that machine: {what}</source>
        <translation>; o que fala a favor dessa máquina: {what}</translation>
    </message>
    <message numerus="yes">
        <source>%n other(s)</source>
        <translation>
            <numerusform>%n outra</numerusform>
            <numerusform>%n outras</numerusform>
        </translation>
    </message>
    <message>
        <source>from {what}</source>
        <translation>com base em {what}</translation>
    </message>
    <message numerus="yes">
        <source>%n earlier run(s)</source>
        <translation>
            <numerusform>%n execução anterior</numerusform>
            <numerusform>%n execuções anteriores</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n earlier run(s) ({low} to {high})</source>
        <translation>
            <numerusform>%n execução anterior ({low} a {high})</numerusform>
            <numerusform>%n execuções anteriores ({low} a {high})</numerusform>
        </translation>
    </message>
    <message>
        <source>the lengths that were told</source>
        <translation>durações indicadas</translation>
    </message>
    <message>
        <source>its own progress</source>
        <translation>progresso próprio</translation>
    </message>
    <message>
        <source> (user {user})</source>
        <translation> (utilizador {user})</translation>
    </message>
    <message>
        <source>an unknown system</source>
        <translation>um sistema desconhecido</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>desconhecida</translation>
    </message>
    <message>
        <source>an unknown address</source>
        <translation>um endereço desconhecido</translation>
    </message>
    <message>
        <source>no reason given</source>
        <translation>sem motivo dado</translation>
    </message>
    <message>
        <source>other rules were chosen for the flock</source>
        <translation>foram escolhidas outras regras para o bando</translation>
    </message>
    <message>
        <source>each task goes to the machine on which it ends first, in an order that looks ahead so that workflows end early</source>
        <translation>cada tarefa vai para a máquina em que acaba primeiro, na ordem que acaba os fluxos mais cedo</translation>
    </message>
    <message>
        <source>machines that stay free longest take the longest tasks, and those that are soon needed take the short ones</source>
        <translation>as máquinas que ficam livres mais tempo recebem as tarefas mais longas, e as que em breve são precisas recebem as curtas</translation>
    </message>
    <message>
        <source>each task goes to any free machine, and what runs goes on a second time on machines that nothing waits for</source>
        <translation>cada tarefa vai para qualquer máquina livre, e o que está em execução corre uma segunda vez em máquinas pelas quais nada espera</translation>
    </message>
    <message>
        <source>each task goes to any free machine, and what runs goes on up to four times on machines that nothing waits for</source>
        <translation>cada tarefa vai para qualquer máquina livre, e o que está em execução corre até quatro vezes em máquinas pelas quais nada espera</translation>
    </message>
    <message>
        <source>each task goes to the free machine that surely stays free longest, and what runs goes on a second time on machines that nothing waits for</source>
        <translation>cada tarefa vai para a máquina livre que com certeza fica livre mais tempo, e o que está em execução corre uma segunda vez em máquinas pelas quais nada espera</translation>
    </message>
    <message>
        <source>each task goes to the free machine that surely stays free longest, and what runs goes on up to four times on machines that nothing waits for</source>
        <translation>cada tarefa vai para a máquina livre que com certeza fica livre mais tempo, e o que está em execução corre até quatro vezes em máquinas pelas quais nada espera</translation>
    </message>
    <message>
        <source>what was submitted first is started first, on whichever machine is free</source>
        <translation>o que foi submetido primeiro começa primeiro, em qualquer máquina livre</translation>
    </message>
    <message>
        <source>the task that was submitted first goes to the free machine that most likely stays free until it has ended</source>
        <translation>a tarefa submetida primeiro vai para a máquina livre que mais provavelmente continua livre até ela acabar</translation>
    </message>
    <message>
        <source>each free machine takes, of the first ten tasks, the one until whose end it most likely stays free</source>
        <translation>cada máquina livre recebe, das primeiras dez tarefas, aquela até cujo fim mais provavelmente continua livre</translation>
    </message>
    <message>
        <source>the task that was submitted first goes to the free machine that it fits best, by how long that usually stays free</source>
        <translation>a tarefa submetida primeiro vai para a máquina livre a que melhor se ajusta, pelo tempo que esta costuma ficar livre</translation>
    </message>
    <message>
        <source>each free machine takes, of the first ten tasks, the one that fits best how long it usually stays free</source>
        <translation>cada máquina livre recebe, das primeiras dez tarefas, a que melhor se ajusta ao tempo que costuma ficar livre</translation>
    </message>
    <message>
        <source>each free machine takes, of the first ten tasks, the one that fits best how long it usually stays free; a task counts as a tenth longer each time that it was broken off</source>
        <translation>cada máquina livre recebe, das primeiras dez tarefas, a que melhor se ajusta ao tempo que costuma ficar livre; uma tarefa conta como um décimo mais longa de cada vez que foi interrompida</translation>
    </message>
    <message>
        <source>the task that was submitted first goes to the free machine that most likely stays free until it has ended, and what has just begun or saves its state moves once to a better one that becomes free</source>
        <translation>a tarefa que foi submetida primeiro vai para a máquina livre que mais provavelmente fica livre até ao seu fim, e o que acabou de começar ou guarda o seu estado muda uma vez para uma melhor que fique livre</translation>
    </message>
    <message>
        <source>the same as late-claims; a machine asks for work of which it has only heard where it sees at least two others</source>
        <translation>o mesmo que late-claims; uma máquina pede o trabalho de que só ouviu falar quando vê pelo menos outras duas</translation>
    </message>
    <message>
        <source>the same as late-claims; a machine never asks for work of which it has only heard, and waits until it is told</source>
        <translation>o mesmo que late-claims; uma máquina nunca pede o trabalho de que só ouviu falar e espera até que lho digam</translation>
    </message>
    <message>
        <source>how long machines are up is not known well enough yet to say how many copies results need</source>
        <translation>ainda não se sabe bem quanto tempo as máquinas estão ligadas para dizer de quantas cópias os resultados precisam</translation>
    </message>
    <message>
        <source>{count} copies keep a result available {share} of the working week</source>
        <translation>{count} cópias mantêm um resultado disponível {share} da semana de trabalho</translation>
    </message>
    <message>
        <source>{count} copies keep a result available {share} of the working week; {more} would {better}</source>
        <translation>{count} cópias mantêm um resultado disponível {share} da semana de trabalho; {more} mantê-lo-iam {better}</translation>
    </message>
    <message>
        <source>Cannot be seen: {why}</source>
        <translation>Não se vê: {why}</translation>
    </message>
    <message>
        <source>On mains</source>
        <translation>Na tomada</translation>
    </message>
    <message>
        <source>On battery</source>
        <translation>Com bateria</translation>
    </message>
    <message>
        <source>Nothing fills the screen</source>
        <translation>Nada ocupa o ecrã inteiro</translation>
    </message>
    <message>
        <source>Other programs use {percent} % of the processor: busy</source>
        <translation>Outros programas usam {percent} % do processador: ocupado</translation>
    </message>
    <message>
        <source>Other programs use {percent} % of the processor</source>
        <translation>Outros programas usam {percent} % do processador</translation>
    </message>
    <message>
        <source>The screen is locked</source>
        <translation>O ecrã está bloqueado</translation>
    </message>
    <message>
        <source>The screen is not locked</source>
        <translation>O ecrã não está bloqueado</translation>
    </message>
    <message>
        <source>Nobody is logged in at a screen</source>
        <translation>Ninguém tem sessão num ecrã</translation>
    </message>
    <message>
        <source>{size} of memory are free</source>
        <translation>{size} de memória livres</translation>
    </message>
    <message>
        <source>No exclusive program runs</source>
        <translation>Nenhum programa exclusivo aberto</translation>
    </message>
    <message>
        <source>{names} runs</source>
        <translation>{names} está aberto</translation>
    </message>
    <message>
        <source>cancelled; still being stopped on {hosts}</source>
        <translation>cancelado; ainda a ser parado em {hosts}</translation>
    </message>
    <message>
        <source>{task} was cancelled, and is still being stopped on {hosts}</source>
        <translation>{task} foi cancelada e ainda está a ser parada em {hosts}</translation>
    </message>
    <message>
        <source>an agent died running it</source>
        <translation>um agente caiu ao executá-la</translation>
    </message>
    <message>
        <source>{count} agents died running it</source>
        <translation>{count} agentes caíram ao executá-la</translation>
    </message>
    <message>
        <source>needs output {place} of {task}, which delivered {count}</source>
        <translation>precisa da saída {place} de {task}, que entregou {count}</translation>
    </message>
    <message>
        <source>waits for {task}, not known here yet</source>
        <translation>espera por {task}, ainda desconhecida aqui</translation>
    </message>
    <message>
        <source>waits for what it needs</source>
        <translation>espera o que precisa</translation>
    </message>
    <message>
        <source>needs {task}, which was given up</source>
        <translation>precisa de {task}, da qual se desistiu</translation>
    </message>
    <message>
        <source>needs {task}, which was cancelled</source>
        <translation>precisa de {task}, que foi cancelada</translation>
    </message>
    <message>
        <source>waits for {task}</source>
        <translation>espera por {task}</translation>
    </message>
    <message>
        <source>{task} has all that it needs; {why}</source>
        <translation>{task} tem tudo o que precisa; {why}</translation>
    </message>
    <message>
        <source>no machine helps now (this one: {why})</source>
        <translation>nenhuma máquina ajuda agora (esta: {why})</translation>
    </message>
    <message>
        <source>machines that help now: {count} of {every}; none has taken it yet</source>
        <translation>máquinas que ajudam agora: {count} de {every}; nenhuma a tomou ainda</translation>
    </message>
    <message>
        <source>none of the machines that could run it has taken it yet</source>
        <translation>nenhuma das máquinas que poderiam executá-la a tomou ainda</translation>
    </message>
    <message>
        <source>no machine that helps now can run it</source>
        <translation>nenhuma máquina que ajuda agora pode executá-la</translation>
    </message>
    <message>
        <source>Somebody on {hosts} has to allow {programs} first</source>
        <translation>Alguém em {hosts} precisa de permitir antes: {programs}</translation>
    </message>
    <message>
        <source>{host} has no program {program}</source>
        <translation>{host} não tem o programa {program}</translation>
    </message>
    <message>
        <source>it broke the connection off</source>
        <translation>interrompeu a ligação</translation>
    </message>
    <message>
        <source>it says that this machine&apos;s certificate has ended, or its clock differs</source>
        <translation>diz que o certificado desta máquina expirou, ou o relógio dela é outro</translation>
    </message>
    <message>
        <source>it takes members only, and this machine showed no certificate</source>
        <translation>só aceita membros, e esta máquina não mostrou nenhum certificado</translation>
    </message>
    <message>
        <source>it does not accept this machine&apos;s certificate</source>
        <translation>não aceita o certificado desta máquina</translation>
    </message>
    <message>
        <source>it says that this machine&apos;s certificate is revoked</source>
        <translation>diz que o certificado desta máquina foi revogado</translation>
    </message>
    <message>
        <source>it closed the connection</source>
        <translation>fechou a ligação</translation>
    </message>
    <message>
        <source>no Wingbeat listens there: it may not be running, or on another port</source>
        <translation>nenhum Wingbeat escuta lá: pode não estar em execução, ou estar noutra porta</translation>
    </message>
    <message>
        <source>it refuses this machine: {why}</source>
        <translation>recusa esta máquina: {why}</translation>
    </message>
    <message>
        <source>{host} does not take the published program {program} until it is allowed there</source>
        <translation>{host} não aceita o programa publicado {program} até que seja permitido lá</translation>
    </message>
    <message>
        <source>{host} runs {system}, needed is {needed}</source>
        <translation>{host} usa {system}; é preciso {needed}</translation>
    </message>
    <message>
        <source>{host} is {architecture}, needed is {needed}</source>
        <translation>{host} é {architecture}; é preciso {needed}</translation>
    </message>
    <message>
        <source>{host} has {given} MB of memory, needed are {needed}</source>
        <translation>{host} tem {given} MB de memória; são precisos {needed}</translation>
    </message>
    <message>
        <source>{host} has {given} MB of disk, needed are {needed}</source>
        <translation>{host} tem {given} MB de disco; são precisos {needed}</translation>
    </message>
    <message>
        <source>{host} has {given} cores, needed are {needed}</source>
        <translation>{host} tem {given} núcleos; são precisos {needed}</translation>
    </message>
    <message>
        <source>{host} has no tag {tag}</source>
        <translation>{host} não tem a etiqueta {tag}</translation>
    </message>
    <message>
        <source>{host} could run it and does not help: {why}</source>
        <translation>{host} poderia executá-la e não ajuda: {why}</translation>
    </message>
    <message>
        <source>it says no reason</source>
        <translation>não diz o motivo</translation>
    </message>
    <message>
        <source>{host} could run it, and failed at it before</source>
        <translation>{host} poderia executá-la, mas já falhou nela</translation>
    </message>
    <message>
        <source>{host} could run it, and is busy</source>
        <translation>{host} poderia executá-la e está ocupada</translation>
    </message>
    <message>
        <source>{host} could run it, and is busy with {slots} tasks</source>
        <translation>{host} poderia executá-la e está ocupada com {slots} tarefas</translation>
    </message>
    <message>
        <source>{host} could run it</source>
        <translation>{host} poderia executá-la</translation>
    </message>
    <message>
        <source>Finishes this task, then pauses</source>
        <translation>Termina esta tarefa e depois pausa</translation>
    </message>
    <message>
        <source>Finishes {count} tasks, then pauses</source>
        <translation>Termina {count} tarefas e depois pausa</translation>
    </message>
    <message>
        <source>Paused: you used the keyboard or mouse {ago} ago</source>
        <translation>Em pausa: usou o teclado ou o rato há {ago}</translation>
    </message>
    <message>
        <source>Paused: somebody typed in {where} {ago} ago</source>
        <translation>Em pausa: alguém escreveu em {where} há {ago}</translation>
    </message>
    <message>
        <source>Paused: somebody touched the locked screen {ago} ago</source>
        <translation>Em pausa: alguém tocou no ecrã bloqueado há {ago}</translation>
    </message>
    <message>
        <source>Paused: {names} uses this computer</source>
        <translation>Em pausa: {names} usa este computador</translation>
    </message>
    <message>
        <source>Paused: this computer runs on battery</source>
        <translation>Em pausa: este computador usa a bateria</translation>
    </message>
    <message>
        <source>Paused: an exclusive program has ended only {ago} ago</source>
        <translation>Em pausa: um programa exclusivo terminou há só {ago}</translation>
    </message>
    <message>
        <source>Paused: this computer was plugged in only {ago} ago</source>
        <translation>Em pausa: este computador foi ligado à tomada há só {ago}</translation>
    </message>
    <message>
        <source>Paused: a program filled the screen until {ago} ago</source>
        <translation>Em pausa: um programa ocupava o ecrã até há {ago}</translation>
    </message>
    <message>
        <source>Paused: memory came free only {ago} ago</source>
        <translation>Em pausa: a memória ficou livre há só {ago}</translation>
    </message>
    <message>
        <source>Paused: only {size} of memory are free, {kept_size} are kept for you</source>
        <translation>Em pausa: só há {size} de memória livres, {kept_size} ficam para si</translation>
    </message>
    <message>
        <source>Paused: what was last asked for, in {file}, cannot be read; resume to go on</source>
        <translation>Em pausa: o último pedido, em {file}, não pode ser lido; retome para continuar</translation>
    </message>
    <message>
        <source>{name} fills the screen</source>
        <translation>{name} ocupa o ecrã</translation>
    </message>
    <message>
        <source>Last input seen {ago} ago in {where}</source>
        <translation>Última entrada vista há {ago} em {where}</translation>
    </message>
    <message>
        <source>The screen is locked; {names} uses another</source>
        <translation>O ecrã está bloqueado; {names} usa outro</translation>
    </message>
    <message>
        <source>The screen is not locked; {names} uses another</source>
        <translation>O ecrã não está bloqueado; {names} usa outro</translation>
    </message>
    <message>
        <source>Helps: the rules allow it</source>
        <translation>Ajuda: as regras permitem</translation>
    </message>
    <message>
        <source>its owner uses it</source>
        <translation>o dono a usa</translation>
    </message>
    <message>
        <source>it cannot be seen whether somebody uses it</source>
        <translation>não se vê se alguém a usa</translation>
    </message>
    <message>
        <source>other programs are busy on it</source>
        <translation>outros programas a ocupam</translation>
    </message>
    <message>
        <source>it runs on battery</source>
        <translation>usa a bateria</translation>
    </message>
    <message>
        <source>it is short of memory</source>
        <translation>está com pouca memória</translation>
    </message>
    <message>
        <source>older entries were let go</source>
        <translation>as entradas mais antigas foram largadas</translation>
    </message>
    <message>
        <source>too many at a time to be noted</source>
        <translation>demasiados de uma vez para serem anotados</translation>
    </message>
    <message>
        <source>stopped Wingbeat</source>
        <translation>parou o Wingbeat</translation>
    </message>
    <message>
        <source>submitted a workflow</source>
        <translation>enviou um fluxo</translation>
    </message>
    <message>
        <source>submitted a task</source>
        <translation>enviou uma tarefa</translation>
    </message>
    <message>
        <source>tried again</source>
        <translation>tentou de novo</translation>
    </message>
    <message>
        <source>changed the priority</source>
        <translation>mudou a prioridade</translation>
    </message>
    <message>
        <source>marked a step done</source>
        <translation>marcou um passo como feito</translation>
    </message>
    <message>
        <source>ran again</source>
        <translation>executou de novo</translation>
    </message>
    <message>
        <source>removed</source>
        <translation>removeu</translation>
    </message>
    <message>
        <source>added a file</source>
        <translation>juntou um ficheiro</translation>
    </message>
    <message>
        <source>made a flock</source>
        <translation>criou um bando</translation>
    </message>
    <message>
        <source>made an invitation</source>
        <translation>fez um convite</translation>
    </message>
    <message>
        <source>joined by an invitation</source>
        <translation>entrou por um convite</translation>
    </message>
    <message>
        <source>asked to be let in</source>
        <translation>pediu para entrar</translation>
    </message>
    <message>
        <source>confirmed the code</source>
        <translation>confirmou o código</translation>
    </message>
    <message>
        <source>asked no more to be let in</source>
        <translation>desistiu de pedir para entrar</translation>
    </message>
    <message>
        <source>let in</source>
        <translation>admitiu</translation>
    </message>
    <message>
        <source>did not let in</source>
        <translation>não admitiu</translation>
    </message>
    <message>
        <source>expelled</source>
        <translation>expulsou</translation>
    </message>
    <message>
        <source>handed over what only it kept</source>
        <translation>entregou o que só ela guardava</translation>
    </message>
    <message>
        <source>left the flock</source>
        <translation>deixou o bando</translation>
    </message>
    <message>
        <source>appointed, or took that back</source>
        <translation>nomeou, ou retirou a nomeação</translation>
    </message>
    <message>
        <source>changed the role</source>
        <translation>mudou o papel</translation>
    </message>
    <message>
        <source>used the recovery phrase</source>
        <translation>usou a frase de recuperação</translation>
    </message>
    <message>
        <source>asked to be one person&apos;s machine</source>
        <translation>pediu para ser máquina de uma pessoa</translation>
    </message>
    <message>
        <source>said that a machine is one&apos;s own</source>
        <translation>disse que uma máquina é sua</translation>
    </message>
    <message>
        <source>took a machine away from its person</source>
        <translation>retirou uma máquina à sua pessoa</translation>
    </message>
    <message>
        <source>gave the flock administrators</source>
        <translation>deu administradores ao bando</translation>
    </message>
    <message>
        <source>changed the recovery phrase</source>
        <translation>mudou a frase de recuperação</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>em pausa</translation>
    </message>
    <message>
        <source>resumed</source>
        <translation>retomou</translation>
    </message>
    <message>
        <source>changed when it helps</source>
        <translation>mudou quando ajuda</translation>
    </message>
    <message>
        <source>changed settings</source>
        <translation>mudou definições</translation>
    </message>
    <message>
        <source>started Wingbeat anew</source>
        <translation>reiniciou o Wingbeat</translation>
    </message>
    <message>
        <source>published a program</source>
        <translation>publicou um programa</translation>
    </message>
    <message>
        <source>allowed a program</source>
        <translation>permitiu um programa</translation>
    </message>
    <message>
        <source>forgot a program</source>
        <translation>esqueceu um programa</translation>
    </message>
    <message>
        <source>refused a program</source>
        <translation>recusou um programa</translation>
    </message>
    <message>
        <source>answered about programs</source>
        <translation>respondeu sobre programas</translation>
    </message>
    <message>
        <source>allowed a program more</source>
        <translation>permitiu mais a um programa</translation>
    </message>
    <message>
        <source>took leave of a program back</source>
        <translation>retirou a permissão a um programa</translation>
    </message>
    <message>
        <source>trusted somebody&apos;s programs no more</source>
        <translation>deixou de confiar nos programas de alguém</translation>
    </message>
    <message>
        <source>asked owners for leave</source>
        <translation>pediu permissão aos donos</translation>
    </message>
    <message>
        <source>reminded an owner</source>
        <translation>lembrou um dono</translation>
    </message>
    <message>
        <source>kept a secret</source>
        <translation>guardou um segredo</translation>
    </message>
    <message>
        <source>forgot a secret</source>
        <translation>esqueceu um segredo</translation>
    </message>
    <message>
        <source>read the settings</source>
        <translation>leu as definições</translation>
    </message>
    <message>
        <source>read the log</source>
        <translation>leu o registo</translation>
    </message>
    <message>
        <source>read this audit</source>
        <translation>leu esta auditoria</translation>
    </message>
    <message>
        <source>let into the flock</source>
        <translation>admitiu no bando</translation>
    </message>
    <message>
        <source>made the flock</source>
        <translation>criou o bando</translation>
    </message>
    <message>
        <source>made an administrator</source>
        <translation>tornou administrador</translation>
    </message>
    <message>
        <source>made an operator</source>
        <translation>tornou operador</translation>
    </message>
    <message>
        <source>made a helper</source>
        <translation>tornou ajudante</translation>
    </message>
    <message>
        <source>made a keeper</source>
        <translation>tornou guardiã</translation>
    </message>
    <message>
        <source>made no keeper any more</source>
        <translation>retirou de guardiã</translation>
    </message>
    <message>
        <source>recovered the flock by its phrase</source>
        <translation>recuperou o bando pela frase</translation>
    </message>
    <message>
        <source>its owner</source>
        <translation>o dono</translation>
    </message>
    <message>
        <source>{names} and {count} more</source>
        <translation>{names} e mais {count}</translation>
    </message>
    <message>
        <source>the computer itself</source>
        <translation>o próprio computador</translation>
    </message>
    <message>
        <source>the computer itself, typed</source>
        <translation>o próprio computador, à mão</translation>
    </message>
    <message>
        <source>another computer</source>
        <translation>outro computador</translation>
    </message>
    <message>
        <source>the flock</source>
        <translation>o bando</translation>
    </message>
    <message>
        <source>{count} of them</source>
        <translation>{count} deles</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>recusado</translation>
    </message>
    <message>
        <source>Entry {number} of the audit of {name} is wrong: {why}.</source>
        <translation>A entrada {number} da auditoria de {name} está errada: {why}.</translation>
    </message>
    <message>
        <source>The audit of {name} is whole, from entry {first} to {last}, and as this computer was told of entry {witnessed} before.</source>
        <translation>A auditoria de {name} está inteira, da entrada {first} à {last}, e tal como este computador soube antes da entrada {witnessed}.</translation>
    </message>
    <message>
        <source>The audit of {name} is whole, from entry {first} to {last}.</source>
        <translation>A auditoria de {name} está inteira, da entrada {first} à {last}.</translation>
    </message>
    <message>
        <source>keyboard and mouse</source>
        <translation>o teclado e o rato</translation>
    </message>
    <message>
        <source>which programs run</source>
        <translation>os programas que correm</translation>
    </message>
    <message>
        <source>whether this computer is on mains</source>
        <translation>se este computador está na tomada</translation>
    </message>
    <message>
        <source>whether a program fills the screen</source>
        <translation>se um programa ocupa o ecrã</translation>
    </message>
    <message>
        <source>how much memory is free</source>
        <translation>quanta memória está livre</translation>
    </message>
    <message>
        <source>how busy the processor is</source>
        <translation>o uso do processador</translation>
    </message>
    <message>
        <source>the agent was not started in a graphical session; start it from the desktop, or let it help always</source>
        <translation>o agente não foi iniciado numa sessão gráfica; inicie-o a partir do ambiente de trabalho ou deixe-o ajudar sempre</translation>
    </message>
    <message>
        <source>the agent was not started in a graphical session</source>
        <translation>o agente não foi iniciado numa sessão gráfica</translation>
    </message>
    <message>
        <source>it has not been looked at yet</source>
        <translation>ainda não se olhou</translation>
    </message>
    <message>
        <source>does not belong to {flock} any more</source>
        <translation>já não pertence a {flock}</translation>
    </message>
    <message>
        <source>it has to be measured for a few seconds</source>
        <translation>é preciso medir por alguns segundos</translation>
    </message>
    <message>
        <source>nothing on this system shows it</source>
        <translation>nada neste sistema o mostra</translation>
    </message>
    <message>
        <source>X11 sees only part of what happens in a Wayland session</source>
        <translation>o X11 vê só parte do que acontece numa sessão Wayland</translation>
    </message>
    <message>
        <source>the X server has gone</source>
        <translation>o servidor X desapareceu</translation>
    </message>
    <message>
        <source>display {display} cannot be reached ({error})</source>
        <translation>o ecrã {display} não é alcançado ({error})</translation>
    </message>
    <message>
        <source>there is no {name} bus</source>
        <translation>não há barramento {name}</translation>
    </message>
    <message>
        <source>the compositor has gone</source>
        <translation>o compositor desapareceu</translation>
    </message>
    <message>
        <source>Windows does not tell ({error})</source>
        <translation>o Windows não diz ({error})</translation>
    </message>
    <message>
        <source>Windows does not know it either</source>
        <translation>o Windows também não sabe</translation>
    </message>
    <message>
        <source>two machines have the identity of {name} (at {places}); `wingbeat doctor` tells what to do</source>
        <translation>duas máquinas têm a identidade de {name} (em {places}); `wingbeat doctor` diz o que fazer</translation>
    </message>
    <message>
        <source>{host} is stopping; ask another machine</source>
        <translation>{host} está a parar; peça a outra máquina</translation>
    </message>
    <message>
        <source>{host} has a full disk; ask another machine</source>
        <translation>{host} está com o disco cheio; peça a outra máquina</translation>
    </message>
    <message>
        <source>workflow {workflow} is finished and was cleaned up</source>
        <translation>{workflow} terminou e foi removido</translation>
    </message>
    <message>
        <source>{host} has a full disk; submit on another machine</source>
        <translation>{host} está com o disco cheio; peça a outra máquina</translation>
    </message>
    <message>
        <source>no workflow {workflow} is known on {host}</source>
        <translation>Nenhum fluxo {workflow} é conhecido em {host}</translation>
    </message>
    <message>
        <source>{workflow} was submitted on {host}: ask there, or an administrator of the flock</source>
        <translation>{workflow} foi submetido em {host}: peça aí, ou a um administrador do bando</translation>
    </message>
    <message>
        <source>workflow {workflow} has no task {task}</source>
        <translation>{workflow} não tem a tarefa {task}</translation>
    </message>
    <message>
        <source>nothing to cancel in {workflow}: all of it has ended</source>
        <translation>Nada a cancelar em {workflow}: tudo já terminou</translation>
    </message>
    <message>
        <source>nothing to retry in {workflow}: no task of it failed or was cancelled</source>
        <translation>Nada a repetir em {workflow}: nenhuma tarefa falhou ou foi cancelada</translation>
    </message>
    <message>
        <source>workflow {workflow} has ended; its priority moves nothing</source>
        <translation>{workflow} terminou; a prioridade não muda nada</translation>
    </message>
    <message>
        <source>{task} has ended; its priority moves nothing</source>
        <translation>{task} terminou; a prioridade não muda nada</translation>
    </message>
    <message>
        <source>{workflow} still goes on: cancel it first</source>
        <translation>{workflow} ainda continua: cancele-o primeiro</translation>
    </message>
    <message>
        <source>{workflow} is still being stopped: remove it in a moment</source>
        <translation>{workflow} ainda está a ser parado: remova-o daqui a pouco</translation>
    </message>
    <message>
        <source>{workflow} cannot be removed: unfinished work needs it</source>
        <translation>{workflow} não pode ser removido: trabalho inacabado precisa dele</translation>
    </message>
    <message>
        <source>{task} is no manual step known on {host}</source>
        <translation>{task} não é um passo manual conhecido em {host}</translation>
    </message>
    <message>
        <source>{task} is marked done already</source>
        <translation>{task} já está marcado como feito</translation>
    </message>
    <message>
        <source>{task} cannot be marked done yet: it is {state}</source>
        <translation>{task} ainda não pode ser marcado como feito: está {state}</translation>
    </message>
    <message>
        <source>another machine told it</source>
        <translation>outra máquina avisou</translation>
    </message>
    <message>
        <source>a message was lost on its way</source>
        <translation>uma mensagem se perdeu no caminho</translation>
    </message>
    <message>
        <source>it was time</source>
        <translation>chegou a hora</translation>
    </message>
    <message>
        <source>the disk does not take data</source>
        <translation>o disco não aceita dados</translation>
    </message>
    <message>
        <source>the disk takes data again</source>
        <translation>o disco aceita dados de novo</translation>
    </message>
    <message>
        <source>the programs of a machine changed</source>
        <translation>os programas de uma máquina mudaram</translation>
    </message>
    <message>
        <source>the members of the flock changed</source>
        <translation>os membros do bando mudaram</translation>
    </message>
    <message>
        <source>an input could not be fetched</source>
        <translation>não foi possível obter uma entrada</translation>
    </message>
    <message>
        <source>the program could not be started</source>
        <translation>o programa não pôde ser iniciado</translation>
    </message>
    <message>
        <source>the program told how far it is</source>
        <translation>o programa disse até onde chegou</translation>
    </message>
    <message>
        <source>the program saved its state</source>
        <translation>o programa guardou o seu estado</translation>
    </message>
    <message>
        <source>datasets came or went</source>
        <translation>dados chegaram ou saíram</translation>
    </message>
    <message>
        <source>what earlier runs took was read</source>
        <translation>foi lido quanto demoraram execuções anteriores</translation>
    </message>
    <message>
        <source>a person removed it</source>
        <translation>uma pessoa o removeu</translation>
    </message>
    <message>
        <source>an agent was stopped</source>
        <translation>um agente foi parado</translation>
    </message>
    <message>
        <source>{task} finished on {host}</source>
        <translation>{task} terminou em {host}</translation>
    </message>
    <message>
        <source>{task} waits until a person marks it done: {asks}</source>
        <translation>{task} espera até alguém marcá-la como feita: {asks}</translation>
    </message>
    <message>
        <source>none, or does not say which</source>
        <translation>nenhuma, ou não diz qual</translation>
    </message>
    <message>
        <source>a machine came</source>
        <translation>uma máquina chegou</translation>
    </message>
    <message>
        <source>a machine went away</source>
        <translation>uma máquina saiu</translation>
    </message>
    <message>
        <source>the agent started</source>
        <translation>o agente iniciou</translation>
    </message>
    <message>
        <source>{host} has {installed}, needed is {needed}</source>
        <translation>{host} tem {installed}, é precisa {needed}</translation>
    </message>
    <message>
        <source>programs have all rights of this account here</source>
        <translation>os programas têm aqui todos os direitos desta conta</translation>
    </message>
    <message>
        <source>looking for machines is switched off here: type their addresses in Settings, under This computer</source>
        <translation>a procura de máquinas está desligada aqui: escreva os endereços delas em Definições, em Este computador</translation>
    </message>
    <message>
        <source>the disk with {folder} is full: make room there; until then no new work is taken</source>
        <translation>o disco com {folder} está cheio: arranje espaço; até lá nenhum trabalho novo é aceite</translation>
    </message>
    <message>
        <source>two machines call themselves {peer} and cannot be told apart (at {places}), as one was set up as a copy of the other: on the copy, quit Wingbeat, delete its data (here that is {folder}) and join again with a new invitation</source>
        <translation>duas máquinas se dizem {peer} e não se distinguem (em {places}), pois uma foi instalada como cópia da outra: na cópia, feche o Wingbeat, apague os dados dela (aqui é {folder}) e entre de novo com um novo convite</translation>
    </message>
    <message>
        <source>something on the disk of this computer was damaged and has been mended; what is missing comes from the other machines by itself</source>
        <translation>algo no disco deste computador estava danificado e foi reparado; o que falta vem sozinho das outras máquinas</translation>
    </message>
    <message>
        <source>other machines cannot reach this computer: quit Wingbeat here and start it again</source>
        <translation>as outras máquinas não alcançam este computador: feche o Wingbeat aqui e inicie-o de novo</translation>
    </message>
    <message>
        <source>machines do not find each other on this network ({why}): type their addresses in Settings, under This computer</source>
        <translation>as máquinas não se encontram nesta rede ({why}): escreva os endereços delas em Definições, em Este computador</translation>
    </message>
    <message>
        <source>this computer belongs to no flock yet: join one, or create one, under Flock</source>
        <translation>este computador ainda não pertence a um bando: entre num, ou crie um, em Bando</translation>
    </message>
    <message>
        <source>no other machine is found on this network: a firewall may be in between, or the network keeps its machines apart (Wi-Fi for guests does); whoever looks after it can let UDP 5353 and TCP {port} pass, or you type the addresses of machines in Settings, under This computer</source>
        <translation>nenhuma outra máquina é encontrada nesta rede: pode haver uma firewall no meio, ou a rede isola as máquinas (como o Wi-Fi para visitantes); quem cuida dela pode deixar passar UDP 5353 e TCP {port}, ou escreva os endereços das máquinas em Definições, em Este computador</translation>
    </message>
    <message>
        <source>another flock is on this network too: if the machine that you miss belongs there, let it leave that one and join yours</source>
        <translation>há outro bando nesta rede: se a máquina que falta pertence a ele, faça-a sair dele e entrar no seu</translation>
    </message>
    <message>
        <source>{count} other flocks are on this network too: if the machine that you miss belongs to one of them, let it leave that and join yours</source>
        <translation>há {count} outros bandos nesta rede: se a máquina que falta pertence a um deles, faça-a sair dele e entrar no seu</translation>
    </message>
    <message>
        <source>another program was there first, so this computer is reached at port {port}: a firewall may have to let that pass</source>
        <translation>outro programa já ocupava a porta, por isso este computador é alcançado na porta {port}: talvez uma firewall tenha de a deixar passar</translation>
    </message>
    <message>
        <source>by the clock here this computer belongs to its flock only from {date} on, so nobody lets it in: if the clock is right, leave the flock and join again with a new invitation</source>
        <translation>pelo relógio daqui, este computador só pertence ao bando a partir de {date}, então ninguém o deixa entrar: se o relógio está certo, saia do bando e entre de novo com um novo convite</translation>
    </message>
    <message>
        <source>this computer belonged to its flock until {date}, so nobody lets it in any more: if the clock here is right, leave the flock and join again with a new invitation</source>
        <translation>este computador pertenceu ao bando até {date}, por isso já ninguém o deixa entrar: se o relógio daqui está certo, saia do bando e entre de novo com um novo convite</translation>
    </message>
    <message>
        <source>another machine was set up as a copy of this one, so the two cannot be told apart: on the copy, quit Wingbeat, delete {folder} and join again with a new invitation</source>
        <translation>outra máquina foi instalada como cópia desta, e as duas não se distinguem: na cópia, feche o Wingbeat, apague {folder} e entre de novo com um novo convite</translation>
    </message>
    <message>
        <source>{peer} has too much to answer just now: wait a minute</source>
        <translation>{peer} tem muito a responder agora: espere um minuto</translation>
    </message>
    <message>
        <source>another machine answers where {peer} was ({address}): if its address was typed here, correct it in Settings, under This computer</source>
        <translation>outra máquina responde onde estava {peer} ({address}): se o endereço foi escrito aqui, corrija-o em Definições, em Este computador</translation>
    </message>
    <message>
        <source>{peer} was here and is gone: it may be switched off or asleep, or its network is down</source>
        <translation>{peer} estava aqui e desapareceu: pode estar desligada ou suspensa, ou sem rede</translation>
    </message>
    <message>
        <source>another program answers where {peer} should ({address}): if the address was typed here, correct it in Settings, under This computer</source>
        <translation>outro programa responde onde deveria estar {peer} ({address}): se o endereço foi escrito aqui, corrija-o em Definições, em Este computador</translation>
    </message>
    <message>
        <source>{peer} belongs to another flock: let it leave that one, and join this one again with a new invitation</source>
        <translation>{peer} pertence a outro bando: faça-a sair dele e entrar neste de novo com um novo convite</translation>
    </message>
    <message>
        <source>{peer} and this computer do not accept each other ({why}): compare the clocks of both; if one of them was sent away, let it join again with a new invitation</source>
        <translation>{peer} e este computador não se aceitam ({why}): compare os relógios de ambos; se um deles foi expulso, faça-o entrar de novo com um novo convite</translation>
    </message>
    <message>
        <source>{peer} answers too slowly: it or its network is very busy</source>
        <translation>{peer} responde devagar demais: ela ou a rede está muito ocupada</translation>
    </message>
    <message>
        <source>{peer} does not answer: it may be switched off or asleep, on another network, or its firewall keeps Wingbeat out</source>
        <translation>{peer} não responde: pode estar desligada ou suspensa, noutra rede, ou a firewall dela bloqueia o Wingbeat</translation>
    </message>
    <message>
        <source>{peer} and this computer do not understand each other: update Wingbeat on both</source>
        <translation>{peer} e este computador não se entendem: atualize o Wingbeat em ambos</translation>
    </message>
    <message>
        <source>nothing was heard of {name} and {count} more since this computer started Wingbeat: they may be switched off, on another network, or Wingbeat does not run there</source>
        <translation>nada se soube de {name} e de mais {count} desde que o Wingbeat iniciou neste computador: podem estar desligadas, noutra rede, ou o Wingbeat não está aberto nelas</translation>
    </message>
    <message>
        <source>nothing was heard of {peer} since this computer started Wingbeat: it may be switched off, on another network, or Wingbeat does not run there</source>
        <translation>nada se soube de {peer} desde que o Wingbeat iniciou neste computador: pode estar desligada, noutra rede, ou o Wingbeat não está aberto nela</translation>
    </message>
    <message>
        <source>the inputs are there</source>
        <translation>as entradas estão lá</translation>
    </message>
    <message>
        <source>the program started</source>
        <translation>o programa iniciou</translation>
    </message>
    <message>
        <source>the program ended well</source>
        <translation>o programa terminou bem</translation>
    </message>
    <message>
        <source>the program failed</source>
        <translation>o programa falhou</translation>
    </message>
    <message>
        <source>the program was stopped</source>
        <translation>o programa foi parado</translation>
    </message>
    <message>
        <source>the outputs are kept safe</source>
        <translation>os resultados estão guardados</translation>
    </message>
    <message>
        <source>a machine began or stopped to help</source>
        <translation>uma máquina começou ou deixou de ajudar</translation>
    </message>
    <message>
        <source>submitted</source>
        <translation>enviado</translation>
    </message>
    <message>
        <source>known already</source>
        <translation>já conhecido</translation>
    </message>
    <message>
        <source>not submitted</source>
        <translation>não enviado</translation>
    </message>
    <message>
        <source>not read</source>
        <translation>não lido</translation>
    </message>
    <message numerus="yes">
        <source>%n thing(s) to mend</source>
        <translation>
            <numerusform>%n coisa a corrigir</numerusform>
            <numerusform>%n coisas a corrigir</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n thing(s) to confirm</source>
        <translation>
            <numerusform>%n coisa a confirmar</numerusform>
            <numerusform>%n coisas a confirmar</numerusform>
        </translation>
    </message>
    <message>
        <source>waits its turn</source>
        <translation>espera a sua vez</translation>
    </message>
    <message>
        <source>a person cancelled</source>
        <translation>uma pessoa cancelou</translation>
    </message>
    <message>
        <source>a person had it tried again</source>
        <translation>uma pessoa mandou tentar de novo</translation>
    </message>
    <message>
        <source>a person marked a gate done</source>
        <translation>uma pessoa marcou um passo como feito</translation>
    </message>
    <message>
        <source>a person changed the priority</source>
        <translation>uma pessoa mudou a prioridade</translation>
    </message>
    <message>
        <source>what it needs is there</source>
        <translation>o que ela precisa está aí</translation>
    </message>
    <message>
        <source>{first} and {last}</source>
        <translation>{first} e {last}</translation>
    </message>
    <message numerus="yes">
        <source>failed %n time(s){last}</source>
        <translation>
            <numerusform>falhou %n vez{last}</numerusform>
            <numerusform>falhou %n vezes{last}</numerusform>
        </translation>
    </message>
    <message>
        <source>running</source>
        <translation>em execução</translation>
    </message>
    <message>
        <source>ready to help</source>
        <translation>pronto para ajudar</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>em uso</translation>
    </message>
    <message>
        <source>does not help</source>
        <translation>não ajuda</translation>
    </message>
    <message>
        <source>cannot be reached</source>
        <translation>inacessível</translation>
    </message>
    <message>
        <source>{task} for {workflow}</source>
        <translation>{task} para {workflow}</translation>
    </message>
    <message>
        <source>{work}, suspended</source>
        <translation>{work}, suspensa</translation>
    </message>
    <message>
        <source>right</source>
        <translation>certo</translation>
    </message>
    <message>
        <source>{seconds} s ahead</source>
        <translation>{seconds} s adiantado</translation>
    </message>
    <message>
        <source>{seconds} s behind</source>
        <translation>{seconds} s atrasado</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n núcleo</numerusform>
            <numerusform>%n núcleos</numerusform>
        </translation>
    </message>
    <message>
        <source>{memory} GB memory</source>
        <translation>{memory} GB de memória</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>em espera</translation>
    </message>
    <message>
        <source>ready</source>
        <translation>pronta</translation>
    </message>
    <message>
        <source>suspended</source>
        <translation>suspensa</translation>
    </message>
    <message>
        <source>waits for you</source>
        <translation>espera por si</translation>
    </message>
    <message>
        <source>done</source>
        <translation>concluído</translation>
    </message>
    <message>
        <source>its machine is gone</source>
        <translation>a sua máquina desapareceu</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>falhou</translation>
    </message>
    <message>
        <source>did not run</source>
        <translation>não correu</translation>
    </message>
    <message>
        <source>fetching inputs</source>
        <translation>a obter entradas</translation>
    </message>
    <message>
        <source>A workflow is done</source>
        <translation>Um fluxo terminou</translation>
    </message>
    <message>
        <source>A workflow failed</source>
        <translation>Um fluxo falhou</translation>
    </message>
    <message>
        <source>A step waits for you</source>
        <translation>Um passo espera por si</translation>
    </message>
    <message>
        <source>A machine joined or left the flock</source>
        <translation>Uma máquina entrou no bando ou saiu dele</translation>
    </message>
    <message>
        <source>A machine wants to join the flock</source>
        <translation>Uma máquina quer entrar no bando</translation>
    </message>
    <message>
        <source>A program waits for your permission</source>
        <translation>Um programa espera pela sua permissão</translation>
    </message>
    <message>
        <source>This computer is about to work for others</source>
        <translation>Este computador está prestes a trabalhar para outros</translation>
    </message>
    <message>
        <source>{workflow} waits for you</source>
        <translation>{workflow} espera por si</translation>
    </message>
    <message>
        <source>May {program} run here?</source>
        <translation>{program} pode correr aqui?</translation>
    </message>
    <message>
        <source>{publisher} published it. Nothing of it runs here until you allow it.</source>
        <translation>{publisher} publicou-o. Nada dele corre aqui até o permitir.</translation>
    </message>
    <message>
        <source>Somebody</source>
        <translation>Alguém</translation>
    </message>
    <message>
        <source>{flock} lets this computer in</source>
        <translation>{flock} admite este computador</translation>
    </message>
    <message>
        <source>Open the flock, and confirm that the code is the same.</source>
        <translation>Abra o bando e confirme que o código é o mesmo.</translation>
    </message>
    <message>
        <source>The flock {flock} has changed</source>
        <translation>O bando {flock} mudou</translation>
    </message>
    <message>
        <source>A machine joined it or left it. Open the flock to see which.</source>
        <translation>Uma máquina entrou ou saiu. Abra o bando para ver qual.</translation>
    </message>
    <message>
        <source>Use it, or choose Not now in Wingbeat&apos;s menu, and it waits.</source>
        <translation>Use-o, ou escolha Agora não no menu do Wingbeat, e ele espera.</translation>
    </message>
    <message>
        <source>{user} at {name}</source>
        <translation>{user} em {name}</translation>
    </message>
    <message>
        <source>{name} wants to join the flock</source>
        <translation>{name} quer entrar no bando</translation>
    </message>
    <message>
        <source>{who} asks {keeper}, with the code {code}.</source>
        <translation>{who} pede a {keeper}, com o código {code}.</translation>
    </message>
    <message>
        <source>{workflow} failed</source>
        <translation>{workflow} falhou</translation>
    </message>
    <message>
        <source>Open it to see which step, and to try it again.</source>
        <translation>Abra-o para ver em que passo, e para tentar de novo.</translation>
    </message>
    <message>
        <source>{workflow} is done</source>
        <translation>{workflow} terminou</translation>
    </message>
    <message numerus="yes">
        <source>%n task(s) ended well.</source>
        <translation>
            <numerusform>%n tarefa terminou bem.</numerusform>
            <numerusform>%n tarefas terminaram bem.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n task(s)</source>
        <translation>
            <numerusform>%n tarefa</numerusform>
            <numerusform>%n tarefas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) for a person</source>
        <translation>
            <numerusform>%n passo para uma pessoa</numerusform>
            <numerusform>%n passos para uma pessoa</numerusform>
        </translation>
    </message>
    <message>
        <source>about {span} besides</source>
        <translation>fora isso cerca de {span}</translation>
    </message>
    <message>
        <source>done about {clock}, in {span}</source>
        <translation>pronto por volta de {clock}, em {span}</translation>
    </message>
    <message>
        <source>how long it takes is not known yet</source>
        <translation>ainda não se sabe quanto demora</translation>
    </message>
    <message>
        <source>when machines are idle</source>
        <translation>quando houver máquinas livres</translation>
    </message>
    <message>
        <source>now, on this computer</source>
        <translation>agora, neste computador</translation>
    </message>
    <message>
        <source>with priority {number}</source>
        <translation>com prioridade {number}</translation>
    </message>
    <message>
        <source>Can run on {machines}.</source>
        <translation>Pode correr em {machines}.</translation>
    </message>
    <message>
        <source>No machine has {extra}; the command that brings it is {command}.</source>
        <translation>Nenhuma máquina tem {extra}; o comando que o traz é {command}.</translation>
    </message>
    <message>
        <source>No machine fits {task}: {why}.</source>
        <translation>Nenhuma máquina serve para {task}: {why}.</translation>
    </message>
    <message>
        <source>Runs on this computer at once, also while you use it.</source>
        <translation>Corre já neste computador, mesmo enquanto o usa.</translation>
    </message>
    <message>
        <source>No machine helps at the moment; it starts as soon as one does.</source>
        <translation>De momento nenhuma máquina ajuda; começa assim que uma ajudar.</translation>
    </message>
    <message>
        <source>step for a person</source>
        <translation>passo de uma pessoa</translation>
    </message>
    <message>
        <source>{task} of {workflow} on {host}</source>
        <translation>{task} de {workflow} em {host}</translation>
    </message>
    <message>
        <source>{begin} to {end}, {length}</source>
        <translation>{begin} a {end}, {length}</translation>
    </message>
    <message>
        <source>now</source>
        <translation>agora</translation>
    </message>
    <message>
        <source>suspended for {length}</source>
        <translation>suspensa por {length}</translation>
    </message>
    <message>
        <source>ended well</source>
        <translation>terminou bem</translation>
    </message>
    <message>
        <source>given back: its machine was needed</source>
        <translation>devolvida: o dono precisou da máquina</translation>
    </message>
    <message>
        <source>not needed any more</source>
        <translation>já não é necessária</translation>
    </message>
    <message>
        <source>lost with its machine</source>
        <translation>perdida com a sua máquina</translation>
    </message>
    <message>
        <source>yesterday {clock}</source>
        <translation>ontem {clock}</translation>
    </message>
    <message>
        <source>{seconds} s ago</source>
        <translation>há {seconds} s</translation>
    </message>
    <message>
        <source>{minutes} min ago</source>
        <translation>há {minutes} min</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} s</translation>
    </message>
    <message>
        <source>{minutes} min</source>
        <translation>{minutes} min</translation>
    </message>
    <message>
        <source>{hours} h {minutes} min</source>
        <translation>{hours} h {minutes} min</translation>
    </message>
    <message>
        <source>{hours} h</source>
        <translation>{hours} h</translation>
    </message>
    <message numerus="yes">
        <source>%n day(s)</source>
        <translation>
            <numerusform>%n dia</numerusform>
            <numerusform>%n dias</numerusform>
        </translation>
    </message>
    <message>
        <source>any moment</source>
        <translation>a qualquer momento</translation>
    </message>
    <message>
        <source>{seconds} s left</source>
        <translation>faltam {seconds} s</translation>
    </message>
    <message>
        <source>{span} left</source>
        <translation>faltam {span}</translation>
    </message>
    <message>
        <source>running for {span}</source>
        <translation>em execução há {span}</translation>
    </message>
    <message>
        <source>Starting …; pauses as soon as it is up</source>
        <translation>A iniciar …; faz pausa assim que estiver pronto</translation>
    </message>
    <message>
        <source>Does not help at the moment</source>
        <translation>De momento não ajuda</translation>
    </message>
    <message>
        <source>Ready to help; nothing to do at the moment</source>
        <translation>Pronto para ajudar; de momento nada a fazer</translation>
    </message>
    <message>
        <source>For 15 minutes</source>
        <translation>Por 15 minutos</translation>
    </message>
    <message>
        <source>For 1 hour</source>
        <translation>Por 1 hora</translation>
    </message>
    <message>
        <source>For 4 hours</source>
        <translation>Por 4 horas</translation>
    </message>
    <message>
        <source>Until tomorrow</source>
        <translation>Até amanhã</translation>
    </message>
    <message>
        <source>Until I resume</source>
        <translation>Até eu retomar</translation>
    </message>
    <message>
        <source>Finish what runs, then pause</source>
        <translation>Terminar o que corre, depois pausar</translation>
    </message>
    <message numerus="yes">
        <source>%n machine(s) want to join the flock</source>
        <translation>
            <numerusform>%n máquina quer entrar no bando</numerusform>
            <numerusform>%n máquinas querem entrar no bando</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) wait for you</source>
        <comment>gates</comment>
        <translation>
            <numerusform>%n passo espera por si</numerusform>
            <numerusform>%n passos esperam por si</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n workflow(s) wait for your permission</source>
        <translation>
            <numerusform>%n fluxo espera pela sua permissão</numerusform>
            <numerusform>%n fluxos esperam pela sua permissão</numerusform>
        </translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausar</translation>
    </message>
    <message>
        <source>Open Wingbeat</source>
        <translation>Abrir o Wingbeat</translation>
    </message>
    <message>
        <source>Submit a workflow …</source>
        <translation>Enviar um fluxo …</translation>
    </message>
    <message>
        <source>Quit …</source>
        <translation>Sair …</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <comment>running tasks</comment>
        <translation>
            <numerusform>e mais %n</numerusform>
            <numerusform>e mais %n</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Running %n task(s) for the flock</source>
        <translation>
            <numerusform>A correr %n tarefa para o bando</numerusform>
            <numerusform>A correr %n tarefas para o bando</numerusform>
        </translation>
    </message>
    <message>
        <source>Running {task} for {workflow}</source>
        <translation>A correr {task} para {workflow}</translation>
    </message>
    <message>
        <source>Holding {task}: you need this computer</source>
        <translation>{task} suspensa: precisa deste computador</translation>
    </message>
    <message>
        <source>{sentence}; quits after that</source>
        <translation>{sentence}; depois fecha</translation>
    </message>
    <message>
        <source>{sentence}; pauses after that</source>
        <translation>{sentence}; depois, pausa</translation>
    </message>
    <message>
        <source>Paused until you resume</source>
        <translation>Em pausa até retomar</translation>
    </message>
    <message>
        <source>Paused, {countdown} left</source>
        <translation>Em pausa, faltam {countdown}</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Retomar</translation>
    </message>
    <message>
        <source>Resume ({countdown} left)</source>
        <translation>Retomar (faltam {countdown})</translation>
    </message>
    <message>
        <source>The agent of this computer does not run, so what you see is from before.</source>
        <translation>O agente deste computador não está a correr; o que vê é de antes.</translation>
    </message>
    <message>
        <source>Start it</source>
        <translation>Iniciar</translation>
    </message>
    <message>
        <source>The agent does not answer. It may be busy and come back by itself; if it does not, start it anew.</source>
        <translation>O agente não responde. Pode estar ocupado e voltar sozinho; se não voltar, reinicie-o.</translation>
    </message>
    <message>
        <source>Start it anew</source>
        <translation>Reiniciar</translation>
    </message>
    <message>
        <source>The agent refuses this window.</source>
        <translation>O agente recusa esta janela.</translation>
    </message>
    <message>
        <source>This computer belongs to no flock yet, so it works alone.</source>
        <translation>Este computador ainda não pertence a um bando; trabalha sozinho.</translation>
    </message>
    <message>
        <source>Join or create a flock</source>
        <translation>Entrar num bando ou criar um</translation>
    </message>
    <message numerus="yes">
        <source>%n machine(s) cannot be reached; work there may run twice.</source>
        <comment>machines of the flock without a link</comment>
        <translation>
            <numerusform>%n máquina está inacessível; o trabalho de lá pode correr duas vezes.</numerusform>
            <numerusform>%n máquinas estão inacessíveis; o trabalho de lá pode correr duas vezes.</numerusform>
        </translation>
    </message>
    <message>
        <source>Find out why</source>
        <translation>Descobrir porquê</translation>
    </message>
    <message numerus="yes">
        <source>%n workflow(s) of others wait for your permission to run here.</source>
        <translation>
            <numerusform>%n fluxo de outros espera pela sua permissão para ser executado aqui.</numerusform>
            <numerusform>%n fluxos de outros esperam pela sua permissão para serem executados aqui.</numerusform>
        </translation>
    </message>
    <message>
        <source>Decide</source>
        <translation>Decidir</translation>
    </message>
    <message>
        <source>The agent is of version {version} and this window of {own}: start the window anew.</source>
        <translation>O agente é da versão {version} e esta janela da {own}: reinicie a janela.</translation>
    </message>
    <message>
        <source>Other machines run Wingbeat {version}, this one runs {own}: install the same version here when you can.</source>
        <translation>Outras máquinas correm o Wingbeat {version}, esta corre o {own}: instale aqui a mesma versão quando puder.</translation>
    </message>
    <message>
        <source>Wingbeat {version} is installed, which is older than what runs. It starts when you say so, and refuses data whose format it does not know.</source>
        <translation>O Wingbeat {version} está instalado, mais antigo que o que corre. Ele começa quando disser, e recusa dados cujo formato não conhece.</translation>
    </message>
    <message>
        <source>Wingbeat {version} is installed; it starts anew when the running task ends.</source>
        <translation>O Wingbeat {version} está instalado; ele recomeça quando a tarefa em execução terminar.</translation>
    </message>
    <message>
        <source>Wingbeat {version} is installed; it starts anew when this window is closed and no task runs here.</source>
        <translation>O Wingbeat {version} está instalado; ele recomeça quando esta janela for fechada e nenhuma tarefa correr aqui.</translation>
    </message>
    <message>
        <source>Wingbeat {version} is installed; it starts anew when you say so.</source>
        <translation>O Wingbeat {version} está instalado; recomeça quando disser.</translation>
    </message>
    <message>
        <source>done {when}</source>
        <translation>concluído {when}</translation>
    </message>
    <message>
        <source>{who} on {host}</source>
        <translation>{who} em {host}</translation>
    </message>
    <message>
        <source>Submitted {when}</source>
        <translation>Enviado {when}</translation>
    </message>
    <message>
        <source>by {who}</source>
        <translation>por {who}</translation>
    </message>
    <message>
        <source>Waited {waited}, ran {ran}, {makespan} from submission to end</source>
        <translation>Esperou {waited}, correu {ran}, {makespan} do envio ao fim</translation>
    </message>
    <message numerus="yes">
        <source>%n attempt(s)</source>
        <translation>
            <numerusform>%n tentativa</numerusform>
            <numerusform>%n tentativas</numerusform>
        </translation>
    </message>
    <message>
        <source>Waited</source>
        <translation>Esperou</translation>
    </message>
    <message>
        <source>Ran</source>
        <translation>Correu</translation>
    </message>
    <message>
        <source>In all</source>
        <translation>Ao todo</translation>
    </message>
    <message>
        <source>Attempts</source>
        <translation>Tentativas</translation>
    </message>
    <message numerus="yes">
        <source>%n workflow(s)</source>
        <translation>
            <numerusform>%n fluxo</numerusform>
            <numerusform>%n fluxos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n failed</source>
        <comment>workflows</comment>
        <translation>
            <numerusform>%n falhou</numerusform>
            <numerusform>%n falharam</numerusform>
        </translation>
    </message>
    <message>
        <source>used {length}</source>
        <translation>usadas {length}</translation>
    </message>
    <message>
        <source>waited {length}</source>
        <translation>espera de {length}</translation>
    </message>
    <message>
        <source>given by this computer {length}</source>
        <translation>{length} dadas por este computador</translation>
    </message>
    <message>
        <source>by {who} on {host}</source>
        <translation>por {who} em {host}</translation>
    </message>
    <message>
        <source>Expected end {when}</source>
        <translation>Fim esperado {when}</translation>
    </message>
    <message>
        <source>Ended {when}</source>
        <translation>Terminou {when}</translation>
    </message>
    <message>
        <source>interactive</source>
        <translation>interativa</translation>
    </message>
    <message>
        <source>low</source>
        <translation>baixa</translation>
    </message>
    <message>
        <source>failed: {steps}</source>
        <translation>falhou: {steps}</translation>
    </message>
    <message>
        <source>nobody else</source>
        <translation>mais ninguém</translation>
    </message>
    <message>
        <source>all who may submit</source>
        <translation>todos os que podem enviar</translation>
    </message>
    <message>
        <source>kept from before</source>
        <translation>fica do que já foi feito</translation>
    </message>
    <message>
        <source>waits for you: {steps}</source>
        <translation>espera por si: {steps}</translation>
    </message>
    <message>
        <source>suspended: its machine is needed</source>
        <translation>suspenso: o dono precisa da máquina</translation>
    </message>
    <message>
        <source>waits for a free machine</source>
        <translation>espera por uma máquina livre</translation>
    </message>
    <message>
        <source>Process {process} cannot be ended: end it yourself, then start Wingbeat.</source>
        <translation>O processo {process} não pode ser terminado: termine-o e inicie o Wingbeat.</translation>
    </message>
    <message>
        <source>Put away</source>
        <translation>Dispensar</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Desfazer</translation>
    </message>
    <message>
        <source>{sentence} ({seconds} s)</source>
        <translation>{sentence} ({seconds} s)</translation>
    </message>
    <message>
        <source>waits: no machine helps now</source>
        <translation>espera: nenhuma máquina ajuda agora</translation>
    </message>
    <message>
        <source>waits: no free machine may run {program}</source>
        <translation>espera: nenhuma máquina livre pode executar {program}</translation>
    </message>
    <message>
        <source>Workflow</source>
        <translation>Fluxo</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Progresso</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Concluído</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Estado</translation>
    </message>
    <message>
        <source>Priority</source>
        <translation>Prioridade</translation>
    </message>
    <message>
        <source>Owner</source>
        <translation>Dono</translation>
    </message>
    <message>
        <source>Submitted</source>
        <translation>Enviado</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>Tarefa</translation>
    </message>
    <message>
        <source>Machine</source>
        <translation>Máquina</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Nota</translation>
    </message>
    <message>
        <source>Took</source>
        <translation>Demorou</translation>
    </message>
    <message>
        <source>Program</source>
        <translation>Programa</translation>
    </message>
    <message>
        <source>No.</source>
        <translation>Nº</translation>
    </message>
    <message>
        <source>Why, or how long</source>
        <translation>Porquê, ou quanto falta</translation>
    </message>
    <message>
        <source>each waits for what is before it</source>
        <translation>cada uma espera pela anterior</translation>
    </message>
    <message>
        <source>held: its machine is needed</source>
        <translation>retida: a máquina é necessária</translation>
    </message>
    <message>
        <source>next for a free machine</source>
        <translation>próxima para uma máquina livre</translation>
    </message>
    <message>
        <source>Since {when}</source>
        <translation>Desde {when}</translation>
    </message>
    <message>
        <source>{name} (this one)</source>
        <translation>{name} (esta)</translation>
    </message>
    <message>
        <source>Work, or why not</source>
        <translation>Trabalho, ou porque não</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Carga</translation>
    </message>
    <message>
        <source>Tasks</source>
        <translation>Tarefas</translation>
    </message>
    <message>
        <source>Round trip</source>
        <translation>Ida e volta</translation>
    </message>
    <message>
        <source>Clock</source>
        <translation>Relógio</translation>
    </message>
    <message>
        <source>Version</source>
        <translation>Versão</translation>
    </message>
    <message>
        <source>Programs: {programs}</source>
        <translation>Programas: {programs}</translation>
    </message>
    <message>
        <source>Last input</source>
        <translation>Última entrada</translation>
    </message>
    <message>
        <source>Sessions</source>
        <translation>Sessões</translation>
    </message>
    <message>
        <source>Power supply</source>
        <translation>Energia</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>Ecrã inteiro</translation>
    </message>
    <message>
        <source>Calls</source>
        <translation>Chamadas</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Processador</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Memória</translation>
    </message>
    <message>
        <source>Exclusive programs</source>
        <translation>Programas exclusivos</translation>
    </message>
    <message>
        <source>When nobody uses it</source>
        <translation>Quando ninguém o usa</translation>
    </message>
    <message>
        <source>When nobody uses it, and only in these hours</source>
        <translation>Quando ninguém o usa, e só nestas horas</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>Sempre</translation>
    </message>
    <message>
        <source>Not now; only what I submit here runs</source>
        <translation>Agora não; só executa o que eu envio aqui</translation>
    </message>
    <message>
        <source> min</source>
        <translation> min</translation>
    </message>
    <message>
        <source> s</source>
        <translation> s</translation>
    </message>
    <message>
        <source>no warning</source>
        <translation>sem aviso</translation>
    </message>
    <message>
        <source>everybody</source>
        <translation>todos</translation>
    </message>
    <message>
        <source>Names as they stand with workflows, such as ana, bia</source>
        <translation>Nomes como aparecem junto dos fluxos, como ana, bia</translation>
    </message>
    <message>
        <source>It takes no work of</source>
        <translation>Não aceita trabalho de</translation>
    </message>
    <message>
        <source>Only on mains, not on battery</source>
        <translation>Só na tomada, não com bateria</translation>
    </message>
    <message>
        <source>Not while a program fills the screen</source>
        <translation>Não enquanto um programa ocupa o ecrã inteiro</translation>
    </message>
    <message>
        <source>Not while a microphone or camera is in use</source>
        <translation>Não enquanto um microfone ou uma câmara está em uso</translation>
    </message>
    <message>
        <source>Only workflows submitted on this computer</source>
        <translation>Só fluxos enviados neste computador</translation>
    </message>
    <message>
        <source>nobody</source>
        <translation>ninguém</translation>
    </message>
    <message>
        <source>Names of people, computers and programs; nothing proves a person&apos;s name</source>
        <translation>Nomes de pessoas, computadores e programas; nada prova o nome de uma pessoa</translation>
    </message>
    <message>
        <source>such as blender, zoom</source>
        <translation>como blender, zoom</translation>
    </message>
    <message>
        <source>Each act on this computer is noted and signed: what you, its programs and other machines had it do.</source>
        <translation>Cada ato neste computador é anotado e assinado: o que a pessoa, os programas e outras máquinas o mandaram fazer.</translation>
    </message>
    <message>
        <source>Show …</source>
        <translation>Mostrar …</translation>
    </message>
    <message>
        <source>Free memory at least</source>
        <translation>Memória livre de pelo menos</translation>
    </message>
    <message>
        <source>Before it works for others, say so for</source>
        <translation>Antes de trabalhar para outros, avisar durante</translation>
    </message>
    <message>
        <source>Not while one of these programs runs</source>
        <translation>Não enquanto um destes programas corre</translation>
    </message>
    <message>
        <source>Who may use it</source>
        <translation>Quem o pode usar</translation>
    </message>
    <message>
        <source>This computer helps always, so nothing is watched.</source>
        <translation>Este computador ajuda sempre; nada é observado.</translation>
    </message>
    <message>
        <source>When keyboard and mouse rest for</source>
        <translation>Com teclado e rato parados por</translation>
    </message>
    <message>
        <source>When I come back, let a task end that needs at most</source>
        <translation>Quando eu voltar, deixar acabar o que precisa de até</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Este computador</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>Agora</translation>
    </message>
    <message>
        <source>What it sees of you</source>
        <translation>O que vê de si</translation>
    </message>
    <message>
        <source>When it helps</source>
        <translation>Quando ele ajuda</translation>
    </message>
    <message>
        <source>While other programs use at most</source>
        <translation>Enquanto outros programas usam no máximo</translation>
    </message>
    <message>
        <source>Welcome to Wingbeat</source>
        <translation>Bem-vindo ao Wingbeat</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Voltar</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Avançar</translation>
    </message>
    <message>
        <source>Which flock does this computer belong to?</source>
        <translation>A que bando pertence este computador?</translation>
    </message>
    <message>
        <source>A flock is the machines that work together. Somebody who belongs to it lets you in, or makes you an invitation.</source>
        <translation>Um bando são as máquinas que trabalham juntas. Alguém que lhe pertence admite-o, ou faz-lhe um convite.</translation>
    </message>
    <message>
        <source>Ask a flock nearby</source>
        <translation>Pedir a um bando por perto</translation>
    </message>
    <message>
        <source>Join with an invitation</source>
        <translation>Entrar com um convite</translation>
    </message>
    <message>
        <source>Create a new flock</source>
        <translation>Criar um novo bando</translation>
    </message>
    <message>
        <source>Decide later</source>
        <translation>Decidir depois</translation>
    </message>
    <message>
        <source>Invitation</source>
        <translation>Convite</translation>
    </message>
    <message>
        <source>Paste the invitation here</source>
        <translation>Cole o convite aqui</translation>
    </message>
    <message>
        <source>Open an invitation file …</source>
        <translation>Abrir um ficheiro de convite …</translation>
    </message>
    <message>
        <source>Name of the flock</source>
        <translation>Nome do bando</translation>
    </message>
    <message>
        <source>Name of the flock, such as survey office</source>
        <translation>Nome do bando, como escritório de campo</translation>
    </message>
    <message>
        <source>When may this computer help?</source>
        <translation>Quando este computador pode ajudar?</translation>
    </message>
    <message>
        <source>Always; nobody sits at it</source>
        <translation>Sempre; ninguém o usa</translation>
    </message>
    <message>
        <source>Wingbeat then waits in the tray from when you log in. You can pause it from there at any time.</source>
        <translation>O Wingbeat fica então na área de notificação desde que inicia sessão. Daí pode pô-lo em pausa a qualquer hora.</translation>
    </message>
    <message>
        <source>Start when I log in</source>
        <translation>Abrir quando eu iniciar sessão</translation>
    </message>
    <message>
        <source>Only with my own work</source>
        <translation>Só com o meu próprio trabalho</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Agora não</translation>
    </message>
    <message>
        <source>When you touch it, it is yours at once: what runs for others is held within a second, and handed on if you stay. What you submit here runs here, whatever you choose.</source>
        <translation>Quando lhe toca, é logo seu: o que corre para outros é suspenso num segundo, e entregue a outra máquina se ficar. O que envia aqui é executado aqui, seja qual for a escolha.</translation>
    </message>
    <message>
        <source>Start at login</source>
        <translation>Abrir ao iniciar sessão</translation>
    </message>
    <message>
        <source>Step {number} of {count}</source>
        <translation>Passo {number} de {count}</translation>
    </message>
    <message>
        <source>Open an invitation</source>
        <translation>Abrir um convite</translation>
    </message>
    <message>
        <source>Paste an invitation first, or choose one of the others.</source>
        <translation>Cole primeiro um convite, ou escolha outra opção.</translation>
    </message>
    <message>
        <source>flock of {name}</source>
        <translation>bando de {name}</translation>
    </message>
    <message>
        <source>Choose the flock to ask first.</source>
        <translation>Escolha primeiro o bando a pedir.</translation>
    </message>
    <message>
        <source>Choose one of these; Not now is one too.</source>
        <translation>Escolha uma destas; Agora não também é uma.</translation>
    </message>
    <message>
        <source>Whoever looks after this computer has chosen this; it is for you to say otherwise.</source>
        <translation>Quem cuida deste computador escolheu isto; pode escolher outra coisa.</translation>
    </message>
    <message>
        <source>Machines</source>
        <translation>Máquinas</translation>
    </message>
    <message>
        <source>Invite …</source>
        <translation>Convidar …</translation>
    </message>
    <message>
        <source>Who may …</source>
        <translation>Quem pode …</translation>
    </message>
    <message>
        <source>Expel …</source>
        <translation>Expulsar …</translation>
    </message>
    <message>
        <source>Views of the flock</source>
        <translation>Vistas do bando</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>Linha do tempo</translation>
    </message>
    <message>
        <source>This week</source>
        <translation>Esta semana</translation>
    </message>
    <message>
        <source>Flock</source>
        <translation>Bando</translation>
    </message>
    <message>
        <source>Expel {name} from the flock?</source>
        <translation>Expulsar {name} do bando?</translation>
    </message>
    <message>
        <source>Its certificate is void on all machines at once. To come back it has to be invited anew.</source>
        <translation>O seu certificado deixa logo de valer em todas as máquinas. Para voltar, precisa de um novo convite.</translation>
    </message>
    <message>
        <source>Expel</source>
        <translation>Expulsar</translation>
    </message>
    <message>
        <source>Keep it</source>
        <translation>Manter</translation>
    </message>
    <message>
        <source>Who did what there …</source>
        <translation>Quem fez o quê lá …</translation>
    </message>
    <message>
        <source>{name} does not belong to the flock any more</source>
        <translation>{name} já não pertence ao bando</translation>
    </message>
    <message>
        <source>{name} is an administrator&apos;s or a keeper: another administrator has to expel it too</source>
        <translation>{name} é de um administrador ou guardiã: outro administrador tem de o expulsar também</translation>
    </message>
    <message>
        <source>Invite machines</source>
        <translation>Convidar máquinas</translation>
    </message>
    <message>
        <source>How many machines</source>
        <translation>Quantas máquinas</translation>
    </message>
    <message>
        <source>may submit</source>
        <translation>podem enviar</translation>
    </message>
    <message>
        <source>only run what others submit</source>
        <translation>só executam o que outros enviam</translation>
    </message>
    <message>
        <source>Make an invitation</source>
        <translation>Fazer um convite</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copiar</translation>
    </message>
    <message>
        <source>Save as a file …</source>
        <translation>Guardar em ficheiro …</translation>
    </message>
    <message>
        <source>Whoever gets this text can join your flock with it. It works for so many machines, and for a day.</source>
        <translation>Quem recebe este texto pode entrar no seu bando com ele. Vale para este número de máquinas, e por um dia.</translation>
    </message>
    <message>
        <source>They</source>
        <translation>Elas</translation>
    </message>
    <message>
        <source>This command lets other computers reach this one:</source>
        <translation>Este comando deixa outros computadores alcançar este:</translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation>Copiar o comando</translation>
    </message>
    <message>
        <source>Run it as administrator</source>
        <translation>Executar como administrador</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fechar</translation>
    </message>
    <message>
        <source>The firewall could not be opened: {why}</source>
        <translation>Não foi possível abrir a firewall: {why}</translation>
    </message>
    <message>
        <source>Nobody allowed it, so the firewall is as it was.</source>
        <translation>Ninguém o permitiu, por isso a firewall está como estava.</translation>
    </message>
    <message>
        <source>The firewall lets Wingbeat pass now.</source>
        <translation>A firewall já deixa passar o Wingbeat.</translation>
    </message>
    <message numerus="yes">
        <source>Good for %n machine(s), for {length}.</source>
        <translation>
            <numerusform>Vale para %n máquina, por {length}.</numerusform>
            <numerusform>Vale para %n máquinas, por {length}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Save the invitation</source>
        <translation>Guardar o convite</translation>
    </message>
    <message>
        <source>Graph of the workflow</source>
        <translation>Grafo do fluxo</translation>
    </message>
    <message>
        <source>Show all (0)</source>
        <translation>Mostrar tudo (0)</translation>
    </message>
    <message>
        <source>Larger (+)</source>
        <translation>Aumentar (+)</translation>
    </message>
    <message>
        <source>Smaller (-)</source>
        <translation>Diminuir (-)</translation>
    </message>
    <message>
        <source>Map of the graph</source>
        <translation>Mapa do grafo</translation>
    </message>
    <message>
        <source>Least severity</source>
        <translation>Gravidade mínima</translation>
    </message>
    <message>
        <source>Whose log</source>
        <translation>Registo de quem</translation>
    </message>
    <message>
        <source>Task, machine or text …</source>
        <translation>Tarefa, máquina ou texto …</translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>Seguir</translation>
    </message>
    <message>
        <source>Log of the agent</source>
        <translation>Registo do agente</translation>
    </message>
    <message>
        <source>Who did what</source>
        <translation>Quem fez o quê</translation>
    </message>
    <message>
        <source>Whose audit</source>
        <translation>Auditoria de quem</translation>
    </message>
    <message>
        <source>Person, machine or act …</source>
        <translation>Pessoa, máquina ou ato …</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Verificar</translation>
    </message>
    <message>
        <source>Export …</source>
        <translation>Exportar …</translation>
    </message>
    <message>
        <source>What people, programs and other machines change here stands in this list: signed, and so that nobody takes something out unseen.</source>
        <translation>O que pessoas, programas e outras máquinas mudam aqui fica nesta lista: assinado, e de modo que ninguém retire nada sem se ver.</translation>
    </message>
    <message>
        <source>Nothing was done here yet</source>
        <translation>Ainda nada foi feito aqui</translation>
    </message>
    <message>
        <source>No entry has all these words.</source>
        <translation>Nenhuma entrada tem todas estas palavras.</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>Mostrar todas</translation>
    </message>
    <message>
        <source>It cannot be read</source>
        <translation>Não se consegue ler</translation>
    </message>
    <message numerus="yes">
        <source>%n act(s)</source>
        <translation>
            <numerusform>%n ato</numerusform>
            <numerusform>%n atos</numerusform>
        </translation>
    </message>
    <message>
        <source>Export the audit</source>
        <translation>Exportar a auditoria</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Quando</translation>
    </message>
    <message>
        <source>Who</source>
        <translation>Quem</translation>
    </message>
    <message>
        <source>What</source>
        <translation>O quê</translation>
    </message>
    <message>
        <source>On what</source>
        <translation>Em quê</translation>
    </message>
    <message>
        <source>From where</source>
        <translation>De onde</translation>
    </message>
    <message>
        <source>How it ended</source>
        <translation>Como acabou</translation>
    </message>
    <message>
        <source>Entry {number}, {moment}</source>
        <translation>Entrada {number}, {moment}</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Registo</translation>
    </message>
    <message>
        <source>No line is like that</source>
        <translation>Nenhuma linha é assim</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>Tudo</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Eventos</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>Avisos</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Erros</translation>
    </message>
    <message>
        <source>Export the log</source>
        <translation>Exportar o registo</translation>
    </message>
    <message>
        <source>{task} of {workflow}</source>
        <translation>{task} de {workflow}</translation>
    </message>
    <message>
        <source>Output of {task}</source>
        <translation>Saída de {task}</translation>
    </message>
    <message>
        <source>Search …</source>
        <translation>Procurar …</translation>
    </message>
    <message>
        <source>However it ended</source>
        <translation>Qualquer fim</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Falhou</translation>
    </message>
    <message>
        <source>Cancelled</source>
        <translation>Cancelado</translation>
    </message>
    <message>
        <source>Any program</source>
        <translation>Qualquer programa</translation>
    </message>
    <message>
        <source>Any machine</source>
        <translation>Qualquer máquina</translation>
    </message>
    <message>
        <source>History</source>
        <translation>Histórico</translation>
    </message>
    <message>
        <source>Workflows stand here from when they have ended, whoever ran them, for as long as the settings say: with how long they waited and ran, where, and why they failed.</source>
        <translation>Os fluxos ficam aqui desde que terminam, seja quem for que os tenha executado, pelo tempo que as definições dizem: com quanto esperaram e correram, onde, e porque falharam.</translation>
    </message>
    <message>
        <source>Nothing has ended yet</source>
        <translation>Nada terminou ainda</translation>
    </message>
    <message>
        <source>Nothing fits</source>
        <translation>Nada corresponde</translation>
    </message>
    <message>
        <source>No workflow of the past is like that.</source>
        <translation>Nenhum fluxo do passado é assim.</translation>
    </message>
    <message>
        <source>Show all of the past</source>
        <translation>Mostrar todo o passado</translation>
    </message>
    <message>
        <source>The history cannot be read</source>
        <translation>O histórico não pode ser lido</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Tentar de novo</translation>
    </message>
    <message>
        <source>The history takes {size}, with all that is kept.</source>
        <translation>O histórico ocupa {size}, com tudo o que é guardado.</translation>
    </message>
    <message>
        <source>All days instead of {days}</source>
        <translation>Todos os dias em vez de {days}</translation>
    </message>
    <message>
        <source>Show all days again</source>
        <translation>Mostrar todos os dias de novo</translation>
    </message>
    <message>
        <source>Remove …</source>
        <translation>Remover …</translation>
    </message>
    <message>
        <source>Not found: clear the search</source>
        <translation>Não encontrado: limpar a procura</translation>
    </message>
    <message>
        <source>{number}: {host}, {moment}</source>
        <translation>{number}: {host}, {moment}</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>terminou</translation>
    </message>
    <message>
        <source>live</source>
        <translation>ao vivo</translation>
    </message>
    <message>
        <source>on {host}</source>
        <translation>em {host}</translation>
    </message>
    <message>
        <source>It has said nothing.</source>
        <translation>Não disse nada.</translation>
    </message>
    <message>
        <source>Its machine is off: copy on {host}, {moment}</source>
        <translation>A sua máquina está desligada: cópia em {host}, {moment}</translation>
    </message>
    <message>
        <source>without its first {size}</source>
        <translation>sem os primeiros {size}</translation>
    </message>
    <message>
        <source>Results</source>
        <translation>Resultados</translation>
    </message>
    <message>
        <source>and {number} more</source>
        <translation>e mais {number}</translation>
    </message>
    <message>
        <source>{name} wants to join</source>
        <translation>{name} quer entrar</translation>
    </message>
    <message>
        <source>{sentence}, code {code}</source>
        <translation>{sentence}, código {code}</translation>
    </message>
    <message>
        <source>Admit</source>
        <translation>Admitir</translation>
    </message>
    <message>
        <source>Refuse</source>
        <translation>Recusar</translation>
    </message>
    <message>
        <source>Admit {name}</source>
        <translation>Admitir {name}</translation>
    </message>
    <message>
        <source>Refuse {name}</source>
        <translation>Recusar {name}</translation>
    </message>
    <message>
        <source>{name} is not let in.</source>
        <translation>{name} não foi admitida.</translation>
    </message>
    <message>
        <source>{user} sits at it</source>
        <translation>{user} está nela</translation>
    </message>
    <message>
        <source>asked {when}</source>
        <translation>pediu {when}</translation>
    </message>
    <message>
        <source>Let in. It joins as soon as its person has confirmed the code.</source>
        <translation>Admitida. Entra assim que a pessoa de lá confirmar o código.</translation>
    </message>
    <message>
        <source>Admit it only if the same code stands on its screen: ask its person.</source>
        <translation>Admita só se o mesmo código estiver no ecrã dela: pergunte à pessoa.</translation>
    </message>
    <message>
        <source>It can be answered at {keepers}.</source>
        <translation>A resposta pode ser dada em {keepers}.</translation>
    </message>
    <message>
        <source>result {number}</source>
        <translation>resultado {number}</translation>
    </message>
    <message>
        <source>To look at</source>
        <translation>Para conferir</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Abrir</translation>
    </message>
    <message>
        <source>Save …</source>
        <translation>Guardar …</translation>
    </message>
    <message>
        <source>{name} cannot be shown: {why}</source>
        <translation>Não é possível mostrar {name}: {why}</translation>
    </message>
    <message>
        <source>Where shall it be kept?</source>
        <translation>Onde deve ser guardado?</translation>
    </message>
    <message>
        <source>Kept as {path}</source>
        <translation>Guardado em {path}</translation>
    </message>
    <message>
        <source>Only a part of {name} came: try again.</source>
        <translation>Só veio uma parte de {name}: tente de novo.</translation>
    </message>
    <message>
        <source>Filter …</source>
        <translation>Filtrar …</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>Limpar</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>Filtrar</translation>
    </message>
    <message>
        <source>not here</source>
        <translation>não aqui</translation>
    </message>
    <message>
        <source>runs here</source>
        <translation>corre aqui</translation>
    </message>
    <message>
        <source>runs here, by your permission</source>
        <translation>corre aqui, com a sua permissão</translation>
    </message>
    <message>
        <source>waits for your permission</source>
        <translation>espera a sua permissão</translation>
    </message>
    <message>
        <source>never here</source>
        <translation>nunca aqui</translation>
    </message>
    <message>
        <source>Programs are not confined here, as the settings say.</source>
        <translation>Os programas não são confinados aqui, conforme as definições.</translation>
    </message>
    <message>
        <source>files</source>
        <translation>ficheiros</translation>
    </message>
    <message>
        <source>network</source>
        <translation>rede</translation>
    </message>
    <message>
        <source>signals</source>
        <translation>sinais</translation>
    </message>
    <message>
        <source>tracing</source>
        <translation>rastreio</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>sim</translation>
    </message>
    <message>
        <source>no</source>
        <translation>não</translation>
    </message>
    <message>
        <source>Programs are confined, as was tried here: {held} ({means}).</source>
        <translation>Os programas são confinados, conforme testado aqui: {held} ({means}).</translation>
    </message>
    <message>
        <source>Programs cannot be confined here: {held}. {error}</source>
        <translation>Não é possível confinar programas aqui: {held}. {error}</translation>
    </message>
    <message>
        <source>Here</source>
        <translation>Aqui</translation>
    </message>
    <message>
        <source>What it does</source>
        <translation>O que faz</translation>
    </message>
    <message>
        <source>May {workflow} of {person} run here? It brings {programs}.</source>
        <translation>{workflow}, de {person}, pode ser executado aqui? Traz {programs}.</translation>
    </message>
    <message>
        <source>Decide …</source>
        <translation>Decidir …</translation>
    </message>
    <message>
        <source>Take back</source>
        <translation>Retirar</translation>
    </message>
    <message>
        <source>{program} is allowed {wants}.</source>
        <translation>{program} tem permissão para: {wants}.</translation>
    </message>
    <message>
        <source>Allow</source>
        <translation>Permitir</translation>
    </message>
    <message>
        <source>Give {name} …</source>
        <translation>Indicar {name} …</translation>
    </message>
    <message>
        <source>All that is submitted on {machine} may run here.</source>
        <translation>Tudo o que é enviado em {machine} pode ser executado aqui.</translation>
    </message>
    <message>
        <source>Ask again</source>
        <translation>Perguntar de novo</translation>
    </message>
    <message>
        <source>Forget …</source>
        <translation>Esquecer …</translation>
    </message>
    <message>
        <source>Programs</source>
        <translation>Programas</translation>
    </message>
    <message>
        <source>No program is installed yet. Each is a folder with a program.yaml in the folder of programs; workflows may also bring their own.</source>
        <translation>Nenhum programa instalado ainda. Cada um é uma pasta com um program.yaml na pasta de programas; fluxos também podem trazer os seus.</translation>
    </message>
    <message>
        <source>new here</source>
        <translation>novo aqui</translation>
    </message>
    <message>
        <source>changed since you allowed it</source>
        <translation>mudou desde que o permitiu</translation>
    </message>
    <message>
        <source>as you allowed it</source>
        <translation>como o permitiu</translation>
    </message>
    <message>
        <source>not part of it any more</source>
        <translation>já não faz parte dele</translation>
    </message>
    <message>
        <source>allowed before</source>
        <translation>permitido antes</translation>
    </message>
    <message>
        <source>as it is now</source>
        <translation>como está agora</translation>
    </message>
    <message>
        <source>This is no text, or too long to be shown here.</source>
        <translation>Isto não é texto, ou é longo demais para ser mostrado aqui.</translation>
    </message>
    <message>
        <source>May this run here?</source>
        <translation>Isto pode ser executado aqui?</translation>
    </message>
    <message>
        <source>Scripts</source>
        <translation>Scripts</translation>
    </message>
    <message>
        <source>What is in it</source>
        <translation>O que há nele</translation>
    </message>
    <message>
        <source>Never</source>
        <translation>Nunca</translation>
    </message>
    <message>
        <source>Allow these programs</source>
        <translation>Permitir estes programas</translation>
    </message>
    <message>
        <source>Allow this once</source>
        <translation>Permitir desta vez</translation>
    </message>
    <message>
        <source>These programs never run here, whoever brings them.</source>
        <translation>Estes programas nunca são executados aqui, seja quem for que os traga.</translation>
    </message>
    <message>
        <source>These very programs run here, whoever brings them.</source>
        <translation>Estes mesmos programas são executados aqui, seja quem for que os traga.</translation>
    </message>
    <message>
        <source>They run here until this workflow has ended.</source>
        <translation>São executados aqui até este fluxo acabar.</translation>
    </message>
    <message>
        <source>Nobody asks to run anything here.</source>
        <translation>Ninguém pede para executar nada aqui.</translation>
    </message>
    <message>
        <source>{who} submitted it on {machine}, {when}, with programs of its own.</source>
        <translation>{who} enviou-o em {machine}, {when}, com programas próprios.</translation>
    </message>
    <message>
        <source>{who} submitted it from another machine, {when}, with programs of its own.</source>
        <translation>{who} enviou-o de outra máquina, {when}, com programas próprios.</translation>
    </message>
    <message>
        <source>Other questions: {count}</source>
        <translation>Outras perguntas: {count}</translation>
    </message>
    <message>
        <source>Allow all from {machine}</source>
        <translation>Permitir tudo de {machine}</translation>
    </message>
    <message>
        <source>All that is submitted on {machine} runs here from now on.</source>
        <translation>Tudo o que é enviado em {machine} é executado aqui a partir de agora.</translation>
    </message>
    <message>
        <source>Leave the flock?</source>
        <translation>Sair do bando?</translation>
    </message>
    <message>
        <source>This computer forgets its key and works alone. To come back it has to be invited.</source>
        <translation>Este computador esquece a sua chave e trabalha sozinho. Para voltar, precisa de ser convidado.</translation>
    </message>
    <message>
        <source>Leave</source>
        <translation>Sair</translation>
    </message>
    <message>
        <source>Stay</source>
        <translation>Ficar</translation>
    </message>
    <message>
        <source>What only this computer keeps is given to other machines, what runs here is handed back, and it leaves the flock. Wingbeat then ends and starts at login no more; the program itself is removed by whatever has installed it.</source>
        <translation>O que só este computador guarda é entregue a outras máquinas, o que corre aqui é devolvido, e ele deixa o bando. O Wingbeat fecha então e já não abre ao iniciar sessão; o programa em si é removido por quem o instalou.</translation>
    </message>
    <message>
        <source>Remove, and keep its data</source>
        <translation>Remover e manter os dados</translation>
    </message>
    <message>
        <source>Remove, and delete its data</source>
        <translation>Remover e apagar os dados</translation>
    </message>
    <message>
        <source>Remove Wingbeat from this computer?</source>
        <translation>Remover o Wingbeat deste computador?</translation>
    </message>
    <message>
        <source>Remove all the same</source>
        <translation>Remover mesmo assim</translation>
    </message>
    <message>
        <source>It cannot go yet</source>
        <translation>Ele ainda não pode sair</translation>
    </message>
    <message>
        <source>Write it down and keep it apart from this computer: it is shown only now. It is the missing voice where there are not two administrators, and the way back when they are lost; whoever has it can take the flock.</source>
        <translation>Escreva-a e guarde-a longe deste computador: só é mostrada agora. É a voz que falta onde não há dois administradores, e o caminho de volta quando se perdem; quem a tiver pode tomar o bando.</translation>
    </message>
    <message>
        <source>The recovery phrase of your flock: {phrase}</source>
        <translation>A frase de recuperação do seu bando: {phrase}</translation>
    </message>
    <message>
        <source>I have written it down</source>
        <translation>Escrevi-a</translation>
    </message>
    <message>
        <source>Both can be kept: the new one is then called {name}.</source>
        <translation>Podem guardar-se ambos: o novo passa a chamar-se {name}.</translation>
    </message>
    <message>
        <source>Of the folder that is there, files of the same name are replaced and others stay. Both can be kept: the new one is then called {name}.</source>
        <translation>Na pasta que já lá está, os ficheiros do mesmo nome são substituídos e os outros ficam. Podem guardar-se ambas: a nova passa a chamar-se {name}.</translation>
    </message>
    <message>
        <source>{name} is there already.</source>
        <translation>{name} já lá está.</translation>
    </message>
    <message>
        <source>Keep both</source>
        <translation>Guardar ambos</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>Substituir</translation>
    </message>
    <message>
        <source>Quit Wingbeat?</source>
        <translation>Sair do Wingbeat?</translation>
    </message>
    <message>
        <source>The agent runs as a service of its own and goes on; only the window and the tray icon end.</source>
        <translation>O agente corre como serviço próprio e continua; só a janela e o ícone da área de notificação terminam.</translation>
    </message>
    <message numerus="yes">
        <source>%n task(s) run here for the flock. Handed back, they begin anew on another machine, or from where they last saved.</source>
        <translation>
            <numerusform>%n tarefa corre aqui para o bando. Devolvida, recomeça noutra máquina, ou de onde guardou por último.</numerusform>
            <numerusform>%n tarefas correm aqui para o bando. Devolvidas, recomeçam noutra máquina, ou de onde guardaram por último.</numerusform>
        </translation>
    </message>
    <message>
        <source>This computer then does not help the flock any more.</source>
        <translation>Este computador deixa então de ajudar o bando.</translation>
    </message>
    <message>
        <source>Hand back and quit</source>
        <translation>Devolver e sair</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Sair</translation>
    </message>
    <message>
        <source>Finish, then quit</source>
        <translation>Terminar, depois sair</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Fila</translation>
    </message>
    <message>
        <source>Nothing is to be done</source>
        <translation>Nada a fazer</translation>
    </message>
    <message>
        <source>Tasks stand here from when they are submitted until they have ended: first those that run, then those that wait, in the order in which the flock takes them.</source>
        <translation>As tarefas ficam aqui desde o envio até terminarem: primeiro as que correm, depois as que esperam, pela ordem em que o bando as toma.</translation>
    </message>
    <message numerus="yes">
        <source>%n task(s) run</source>
        <translation>
            <numerusform>%n tarefa corre</numerusform>
            <numerusform>%n tarefas correm</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n to be done</source>
        <comment>tasks</comment>
        <translation>
            <numerusform>%n a fazer</numerusform>
            <numerusform>%n a fazer</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n wait(s) for you</source>
        <comment>gates</comment>
        <translation>
            <numerusform>%n espera por si</numerusform>
            <numerusform>%n esperam por si</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Cancel all %n</source>
        <comment>tasks</comment>
        <translation>
            <numerusform>Cancelar %n</numerusform>
            <numerusform>Cancelar todas as %n</numerusform>
        </translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Definições</translation>
    </message>
    <message>
        <source>General</source>
        <translation>Geral</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>Notificações</translation>
    </message>
    <message>
        <source>Shortcuts</source>
        <translation>Atalhos</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>Como o sistema</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Idioma</translation>
    </message>
    <message>
        <source>Tell me when</source>
        <translation>Avise-me quando</translation>
    </message>
    <message>
        <source>While a program fills the screen, nothing is told.</source>
        <translation>Enquanto um programa ocupa o ecrã inteiro, nada é avisado.</translation>
    </message>
    <message>
        <source>Also about workflows of others</source>
        <translation>Também sobre os fluxos dos outros</translation>
    </message>
    <message>
        <source>The agent has not told its settings yet.</source>
        <translation>O agente ainda não disse as suas definições.</translation>
    </message>
    <message>
        <source>any</source>
        <translation>qualquer uma</translation>
    </message>
    <message>
        <source>{port} now, for it is used</source>
        <translation>{port} agora, pois está em uso</translation>
    </message>
    <message>
        <source>Name of this computer</source>
        <translation>Nome deste computador</translation>
    </message>
    <message>
        <source>Port for the other machines</source>
        <translation>Porta para as outras máquinas</translation>
    </message>
    <message>
        <source>Remove from this computer …</source>
        <translation>Remover deste computador …</translation>
    </message>
    <message>
        <source>Start anew now</source>
        <translation>Reiniciar agora</translation>
    </message>
    <message>
        <source>Processor for programs</source>
        <translation>Processador para programas</translation>
    </message>
    <message>
        <source>Memory for one program</source>
        <translation>Memória para um programa</translation>
    </message>
    <message>
        <source>Finished work is remembered for</source>
        <translation>O trabalho terminado é lembrado durante</translation>
    </message>
    <message>
        <source>Copies of each result</source>
        <translation>Cópias de cada resultado</translation>
    </message>
    <message>
        <source>What I submit is shared with</source>
        <translation>O que envio é partilhado com</translation>
    </message>
    <message>
        <source>Machines that ask to be let in</source>
        <translation>Máquinas que pedem para entrar</translation>
    </message>
    <message>
        <source>A version that was installed starts</source>
        <translation>Uma versão instalada começa</translation>
    </message>
    <message>
        <source>While a task runs here</source>
        <translation>Enquanto uma tarefa corre aqui</translation>
    </message>
    <message>
        <source>While it sleeps</source>
        <translation>Enquanto dorme</translation>
    </message>
    <message>
        <source>Ask me for each</source>
        <translation>Perguntar a cada um</translation>
    </message>
    <message>
        <source>Run them</source>
        <translation>Executar</translation>
    </message>
    <message>
        <source>Never run them</source>
        <translation>Nunca executar</translation>
    </message>
    <message>
        <source>Only what nobody else wants</source>
        <translation>Só o que ninguém mais quer</translation>
    </message>
    <message>
        <source>A little in any case</source>
        <translation>Um pouco em todo o caso</translation>
    </message>
    <message>
        <source>for ever</source>
        <translation>para sempre</translation>
    </message>
    <message>
        <source>days</source>
        <translation>dias</translation>
    </message>
    <message>
        <source>takes {size} now</source>
        <translation>ocupa {size} agora</translation>
    </message>
    <message>
        <source>those of others take {size} here now</source>
        <translation>os das outras ocupam {size} aqui agora</translation>
    </message>
    <message>
        <source>as many as advised</source>
        <translation>tantas quantas se aconselham</translation>
    </message>
    <message>
        <source>May ask without an invitation</source>
        <translation>Podem pedir sem convite</translation>
    </message>
    <message>
        <source>Only with an invitation</source>
        <translation>Só com um convite</translation>
    </message>
    <message>
        <source>It stays awake on mains</source>
        <translation>Fica acordado na tomada</translation>
    </message>
    <message>
        <source>It may fall asleep</source>
        <translation>Pode adormecer</translation>
    </message>
    <message>
        <source>It is left asleep</source>
        <translation>Fica a dormir</translation>
    </message>
    <message>
        <source>Holds when Wingbeat has started anew: {names}</source>
        <translation>Vale depois de o Wingbeat reiniciar: {names}</translation>
    </message>
    <message>
        <source>Tasks at a time</source>
        <translation>Tarefas ao mesmo tempo</translation>
    </message>
    <message>
        <source>Programs that others publish</source>
        <translation>Programas que outros publicam</translation>
    </message>
    <message>
        <source>Space for datasets</source>
        <translation>Espaço para dados</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>Etiquetas</translation>
    </message>
    <message>
        <source>Addresses of machines that are not found</source>
        <translation>Endereços de máquinas não encontradas</translation>
    </message>
    <message>
        <source>Kept in {file}</source>
        <translation>Guardado em {file}</translation>
    </message>
    <message>
        <source>Leave the flock …</source>
        <translation>Sair do bando …</translation>
    </message>
    <message>
        <source>a part of what there is</source>
        <translation>uma parte do que há</translation>
    </message>
    <message>
        <source>half of what is free</source>
        <translation>metade do que está livre</translation>
    </message>
    <message>
        <source>End of each log, kept on another machine</source>
        <translation>Fim de cada registo, noutra máquina</translation>
    </message>
    <message>
        <source>Others may wake it for what only it can do</source>
        <translation>Outras podem acordá-la para o que só ela pode fazer</translation>
    </message>
    <message>
        <source>When no task runs here</source>
        <translation>Quando nada corre aqui</translation>
    </message>
    <message>
        <source>When I say so</source>
        <translation>Quando eu disser</translation>
    </message>
    <message>
        <source>Shown in this language from the next start on.</source>
        <translation>Neste idioma a partir do próximo início.</translation>
    </message>
    <message>
        <source>This computer has left {flock}.</source>
        <translation>Este computador saiu de {flock}.</translation>
    </message>
    <message>
        <source>Workflows</source>
        <translation>Fluxos</translation>
    </message>
    <message>
        <source>Submit a workflow</source>
        <translation>Enviar um fluxo</translation>
    </message>
    <message>
        <source>Submit the file whose path was copied</source>
        <translation>Enviar o ficheiro cujo caminho foi copiado</translation>
    </message>
    <message>
        <source>Cancel what is chosen</source>
        <translation>Cancelar o escolhido</translation>
    </message>
    <message>
        <source>Undo, while the bar counts down</source>
        <translation>Desfazer, enquanto a barra conta</translation>
    </message>
    <message>
        <source>Try again what failed</source>
        <translation>Tentar de novo o que falhou</translation>
    </message>
    <message>
        <source>Log of the chosen task</source>
        <translation>Registo da tarefa escolhida</translation>
    </message>
    <message>
        <source>Pause or resume this computer</source>
        <translation>Pausar ou retomar este computador</translation>
    </message>
    <message>
        <source>This list</source>
        <translation>Esta lista</translation>
    </message>
    <message>
        <source>Close what was opened last</source>
        <translation>Fechar o que foi aberto por último</translation>
    </message>
    <message>
        <source>Close the window; Wingbeat goes on</source>
        <translation>Fechar a janela; o Wingbeat continua</translation>
    </message>
    <message>
        <source>In a graph: arrows walk, + and - zoom, 0 shows all.</source>
        <translation>Num grafo: setas andam, + e - ampliam, 0 mostra tudo.</translation>
    </message>
    <message>
        <source>{place} (Ctrl+{number})</source>
        <translation>{place} (Ctrl+{number})</translation>
    </message>
    <message>
        <source>Say when …</source>
        <translation>Dizer quando …</translation>
    </message>
    <message>
        <source>Hours given by this computer</source>
        <translation>Horas dadas por este computador</translation>
    </message>
    <message>
        <source>Tasks done by the flock</source>
        <translation>Tarefas feitas pelo bando</translation>
    </message>
    <message>
        <source>given this week</source>
        <translation>de ajuda nesta semana</translation>
    </message>
    <message>
        <source>tasks done here</source>
        <translation>tarefas feitas aqui</translation>
    </message>
    <message>
        <source>tasks done by the flock</source>
        <translation>tarefas feitas pelo bando</translation>
    </message>
    <message>
        <source>usual wait</source>
        <translation>espera usual</translation>
    </message>
    <message>
        <source>longest wait</source>
        <translation>maior espera</translation>
    </message>
    <message>
        <source>Last {days} days: gave {gave} to others, took {took}</source>
        <translation>Últimos {days} dias: deu {gave} a outros, recebeu {took}</translation>
    </message>
    <message>
        <source>Last {days} days: gave {gave} to others ({thrown} of it thrown away), took {took}</source>
        <translation>Últimos {days} dias: deu {gave} a outros (dos quais {thrown} em vão), recebeu {took}</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Ficheiros</translation>
    </message>
    <message>
        <source>It runs</source>
        <translation>Corre</translation>
    </message>
    <message>
        <source>Run it here now</source>
        <translation>Executar aqui agora</translation>
    </message>
    <message>
        <source>Faults</source>
        <translation>Erros</translation>
    </message>
    <message>
        <source>Open in editor</source>
        <translation>Abrir no editor</translation>
    </message>
    <message>
        <source>Submit</source>
        <translation>Enviar</translation>
    </message>
    <message>
        <source>Submitted so far</source>
        <translation>Enviados até agora</translation>
    </message>
    <message numerus="yes">
        <source>Submit %n workflow(s)</source>
        <translation>
            <numerusform>Enviar %n fluxo</numerusform>
            <numerusform>Enviar %n fluxos</numerusform>
        </translation>
    </message>
    <message>
        <source>Submitting …</source>
        <translation>A enviar …</translation>
    </message>
    <message>
        <source>Its last results go to {folder}</source>
        <translation>Os últimos resultados vão para {folder}</translation>
    </message>
    <message>
        <source>{sent} of {whole} submitted</source>
        <translation>{sent} de {whole} enviados</translation>
    </message>
    <message>
        <source>Reading …</source>
        <translation>A ler …</translation>
    </message>
    <message numerus="yes">
        <source>%n thing(s) to mend before it can run:</source>
        <translation>
            <numerusform>%n coisa a corrigir antes de correr:</numerusform>
            <numerusform>%n coisas a corrigir antes de correr:</numerusform>
        </translation>
    </message>
    <message>
        <source>Line {line}: {text}</source>
        <translation>Linha {line}: {text}</translation>
    </message>
    <message>
        <source>No editor opens {name} here.</source>
        <translation>Nenhum editor abre {name} aqui.</translation>
    </message>
    <message>
        <source>Look at line {line} of {name}.</source>
        <translation>Veja a linha {line} de {name}.</translation>
    </message>
    <message>
        <source>{name} is known already and not run twice.</source>
        <translation>{name} já existe e não corre duas vezes.</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Detalhes</translation>
    </message>
    <message>
        <source>{step} of {workflow}</source>
        <translation>{step} de {workflow}</translation>
    </message>
    <message>
        <source>Nothing is written about what is to be done.</source>
        <translation>Não está escrito o que há a fazer.</translation>
    </message>
    <message>
        <source>Sent so far</source>
        <translation>Enviado até agora</translation>
    </message>
    <message>
        <source>Add files …</source>
        <translation>Adicionar ficheiros …</translation>
    </message>
    <message>
        <source>Mark done</source>
        <translation>Marcar como feito</translation>
    </message>
    <message>
        <source>Files can also be dropped here.</source>
        <translation>Os ficheiros também podem ser soltos aqui.</translation>
    </message>
    <message>
        <source>There is no file {name} any more.</source>
        <translation>O ficheiro {name} já não existe.</translation>
    </message>
    <message>
        <source>{name} has no place: all names have their file. Choose it at the one that it is to replace.</source>
        <translation>{name} não tem lugar: todos os nomes já têm o seu ficheiro. Escolha-o no nome que ele deve substituir.</translation>
    </message>
    <message>
        <source>Files to attach</source>
        <translation>Ficheiros a anexar</translation>
    </message>
    <message>
        <source>File for {name}</source>
        <translation>Ficheiro para {name}</translation>
    </message>
    <message>
        <source>nothing chosen yet</source>
        <translation>nada escolhido ainda</translation>
    </message>
    <message>
        <source>nothing, which is possible too</source>
        <translation>nada, o que também é possível</translation>
    </message>
    <message>
        <source>Choose …</source>
        <translation>Escolher …</translation>
    </message>
    <message>
        <source>Choose a file for {name}</source>
        <translation>Escolher um ficheiro para {name}</translation>
    </message>
    <message>
        <source>Do not attach {name}</source>
        <translation>Não anexar {name}</translation>
    </message>
    <message>
        <source>Stop sending</source>
        <translation>Parar o envio</translation>
    </message>
    <message>
        <source>{sent} of {whole} sent</source>
        <translation>{sent} de {whole} enviados</translation>
    </message>
    <message>
        <source>This step does not wait any more.</source>
        <translation>Este passo já não espera.</translation>
    </message>
    <message>
        <source>{name} (folder)</source>
        <translation>{name} (pasta)</translation>
    </message>
    <message>
        <source>Retry from here</source>
        <translation>Tentar daqui</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>Copy id</source>
        <translation>Copiar id</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Porquê</translation>
    </message>
    <message>
        <source>Ask them</source>
        <translation>Perguntar a eles</translation>
    </message>
    <message>
        <source>The question comes up on the machines whose owners it waits for.</source>
        <translation>A pergunta aparece nas máquinas cujos donos ela espera.</translation>
    </message>
    <message>
        <source>To do</source>
        <translation>A fazer</translation>
    </message>
    <message>
        <source>Second run</source>
        <translation>Segunda execução</translation>
    </message>
    <message>
        <source>So far</source>
        <translation>Até agora</translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation>Tentativa</translation>
    </message>
    <message>
        <source>Open {name}</source>
        <translation>Abrir {name}</translation>
    </message>
    <message>
        <source>The question is up on {machines}.</source>
        <translation>A pergunta aparece em {machines}.</translation>
    </message>
    <message>
        <source>No answer, or a no, on {machines}.</source>
        <translation>Sem resposta, ou um não, em {machines}.</translation>
    </message>
    <message>
        <source>Nobody has to be asked any more.</source>
        <translation>Já não é preciso perguntar a ninguém.</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminou</translation>
    </message>
    <message>
        <source>Its inputs have changed since: mixed inputs</source>
        <translation>As suas entradas mudaram desde então: entradas misturadas</translation>
    </message>
    <message numerus="yes">
        <source>%n machine(s) are free but their owners have not allowed {program}.</source>
        <translation>
            <numerusform>%n máquina está livre, mas o dono não permitiu {program}.</numerusform>
            <numerusform>%n máquinas estão livres, mas os donos não permitiram {program}.</numerusform>
        </translation>
    </message>
    <message>
        <source>No machine helps at the moment; it starts as soon as one does. It can also run here now, while you use this computer.</source>
        <translation>De momento nenhuma máquina ajuda; começa assim que uma ajudar. Também pode correr aqui agora, enquanto usa este computador.</translation>
    </message>
    <message>
        <source>Timeline: who ran what when</source>
        <translation>Linha do tempo: quem correu o quê e quando</translation>
    </message>
    <message>
        <source>Nothing has run yet.</source>
        <translation>Nada correu ainda.</translation>
    </message>
    <message>
        <source>Mon</source>
        <translation>Seg</translation>
    </message>
    <message>
        <source>Tue</source>
        <translation>Ter</translation>
    </message>
    <message>
        <source>Wed</source>
        <translation>Qua</translation>
    </message>
    <message>
        <source>Thu</source>
        <translation>Qui</translation>
    </message>
    <message>
        <source>Fri</source>
        <translation>Sex</translation>
    </message>
    <message>
        <source>Sat</source>
        <translation>Sáb</translation>
    </message>
    <message>
        <source>Sun</source>
        <translation>Dom</translation>
    </message>
    <message>
        <source>helps</source>
        <translation>ajuda</translation>
    </message>
    <message>
        <source>Hours of the week; {day} {hour}:00, {state}</source>
        <translation>Horas da semana; {day} {hour}:00, {state}</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n em execução</numerusform>
            <numerusform>%n em execução</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n machine(s) want to join</source>
        <translation>
            <numerusform>%n máquina quer entrar</numerusform>
            <numerusform>%n máquinas querem entrar</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n machine(s) up</source>
        <translation>
            <numerusform>%n máquina ativa</numerusform>
            <numerusform>%n máquinas ativas</numerusform>
        </translation>
    </message>
    <message>
        <source>Workflows ({patterns})</source>
        <translation>Fluxos ({patterns})</translation>
    </message>
    <message>
        <source>Scripts and all other files ({patterns})</source>
        <translation>Scripts e todos os outros ficheiros ({patterns})</translation>
    </message>
    <message>
        <source>There is no workflow in {folder}: their files end in {suffix}.</source>
        <translation>Não há fluxo em {folder}: os seus ficheiros terminam em {suffix}.</translation>
    </message>
    <message numerus="yes">
        <source>%n more file(s) are left out: submit them next.</source>
        <translation>
            <numerusform>%n ficheiro ficou de fora: envie-o depois.</numerusform>
            <numerusform>%n ficheiros ficaram de fora: envie-os depois.</numerusform>
        </translation>
    </message>
    <message>
        <source>Drop to inspect the flight {name}</source>
        <translation>Solte para inspecionar o voo {name}</translation>
    </message>
    <message>
        <source>Drop to submit {name}</source>
        <translation>Solte para enviar {name}</translation>
    </message>
    <message numerus="yes">
        <source>Drop to submit %n file(s)</source>
        <translation>
            <numerusform>Solte para enviar %n ficheiro</numerusform>
            <numerusform>Solte para enviar %n ficheiros</numerusform>
        </translation>
    </message>
    <message>
        <source>Submit a workflow (Ctrl+O)</source>
        <translation>Enviar um fluxo (Ctrl+O)</translation>
    </message>
    <message>
        <source>No workflows yet</source>
        <translation>Nenhum fluxo ainda</translation>
    </message>
    <message>
        <source>Drop a workflow file or a script here, or choose one. The flock then runs its tasks on the machines that nobody uses.</source>
        <translation>Solte aqui um ficheiro de fluxo ou um script, ou escolha um. O bando executa então as tarefas nas máquinas que ninguém usa.</translation>
    </message>
    <message>
        <source>Try the example</source>
        <translation>Experimentar o exemplo</translation>
    </message>
    <message>
        <source>Nothing of yours</source>
        <translation>Nada seu</translation>
    </message>
    <message>
        <source>What you submit from this computer stands here.</source>
        <translation>O que enviar deste computador aparece aqui.</translation>
    </message>
    <message>
        <source>Show everybody&apos;s</source>
        <translation>Mostrar os de todos</translation>
    </message>
    <message>
        <source>Run again …</source>
        <translation>Executar de novo …</translation>
    </message>
    <message>
        <source>Show again</source>
        <translation>Mostrar de novo</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>Ocultar</translation>
    </message>
    <message>
        <source>Hide all that has ended</source>
        <translation>Ocultar tudo o que terminou</translation>
    </message>
    <message>
        <source>Views of the workflow</source>
        <translation>Vistas do fluxo</translation>
    </message>
    <message>
        <source>Graph</source>
        <translation>Grafo</translation>
    </message>
    <message>
        <source>{name} will be cancelled</source>
        <translation>{name} será cancelado</translation>
    </message>
    <message numerus="yes">
        <source>%n will be cancelled</source>
        <comment>workflows or tasks</comment>
        <translation>
            <numerusform>%n será cancelado</numerusform>
            <numerusform>%n serão cancelados</numerusform>
        </translation>
    </message>
    <message>
        <source>Retry</source>
        <translation>Tentar de novo</translation>
    </message>
    <message>
        <source>Open result</source>
        <translation>Abrir resultado</translation>
    </message>
    <message>
        <source>Do this step once more …</source>
        <translation>Fazer esta etapa mais uma vez …</translation>
    </message>
    <message>
        <source>Interactive</source>
        <translation>Interativa</translation>
    </message>
    <message>
        <source>Between</source>
        <translation>Intermediária</translation>
    </message>
    <message>
        <source>Low</source>
        <translation>Baixa</translation>
    </message>
    <message>
        <source>{name} comes before what you chose: choose a file for it too.</source>
        <translation>{name} vem antes do que escolheu: escolha também um ficheiro para ele.</translation>
    </message>
    <message>
        <source>Still missing: {names}. The tasks behind this step may need it.</source>
        <translation>Ainda falta: {names}. As tarefas depois deste passo podem precisar disso.</translation>
    </message>
    <message>
        <source>Wingbeat runs already, as process {process}, and does not answer: wait a little, or end that process, then start it again.</source>
        <translation>O Wingbeat já corre, como processo {process}, e não responde: espere um pouco, ou termine esse processo, e inicie de novo.</translation>
    </message>
    <message>
        <source>Flocks nearby</source>
        <translation>Bandos por perto</translation>
    </message>
    <message>
        <source>Look again</source>
        <translation>Procurar de novo</translation>
    </message>
    <message>
        <source>Listening to the network …</source>
        <translation>A escutar a rede …</translation>
    </message>
    <message>
        <source>The same code stands there</source>
        <translation>Lá está o mesmo código</translation>
    </message>
    <message>
        <source>Do not join</source>
        <translation>Não entrar</translation>
    </message>
    <message>
        <source>Asking {flock} to let this computer in</source>
        <translation>A pedir a {flock} para entrar</translation>
    </message>
    <message>
        <source>Ask somebody at {keeper} to open the flock there and to admit this computer. There the same code must stand; if it is another one, do not join.</source>
        <translation>Peça a alguém em {keeper} para abrir o bando lá e admitir este computador. Lá deve estar o mesmo código; se for outro, não entre.</translation>
    </message>
    <message>
        <source>Code {code}</source>
        <translation>Código {code}</translation>
    </message>
    <message>
        <source>a flock that has not told its name</source>
        <translation>um bando que não disse o seu nome</translation>
    </message>
    <message numerus="yes">
        <source>%n machine(s)</source>
        <comment>of a flock</comment>
        <translation>
            <numerusform>%n máquina</numerusform>
            <numerusform>%n máquinas</numerusform>
        </translation>
    </message>
    <message>
        <source>nobody there can be asked</source>
        <translation>ninguém lá pode ser perguntado</translation>
    </message>
    <message>
        <source>Ask one of them; somebody there has to let this computer in.</source>
        <translation>Peça a um deles; alguém lá precisa de admitir este computador.</translation>
    </message>
    <message>
        <source>No flock is heard on this network. Ask for an invitation instead.</source>
        <translation>Nenhum bando é ouvido nesta rede. Peça um convite.</translation>
    </message>
    <message>
        <source>You have confirmed the code; now somebody at {keeper} has to admit.</source>
        <translation>Confirmou o código; agora alguém em {keeper} precisa de admitir.</translation>
    </message>
    <message>
        <source>Waiting for somebody at {keeper} …</source>
        <translation>À espera de alguém em {keeper} …</translation>
    </message>
    <message>
        <source>Somebody at {keeper} lets this computer in. Is the code the same?</source>
        <translation>Alguém em {keeper} admite este computador. O código é o mesmo?</translation>
    </message>
    <message>
        <source>Joining …</source>
        <translation>A entrar …</translation>
    </message>
    <message>
        <source>Somebody at {keeper} does not let this computer in.</source>
        <translation>Alguém em {keeper} não admite este computador.</translation>
    </message>
    <message>
        <source>The request has ended; ask again.</source>
        <translation>O pedido terminou; peça de novo.</translation>
    </message>
    <message>
        <source>Keeps this computer from helping</source>
        <translation>Impede este computador de ajudar</translation>
    </message>
    <message>
        <source>Lets this computer help</source>
        <translation>Deixa este computador ajudar</translation>
    </message>
    <message>
        <source>Is not asked by these rules</source>
        <translation>Não é consultado por estas regras</translation>
    </message>
    <message>
        <source>Cannot see</source>
        <translation>Não consegue ver</translation>
    </message>
    <message>
        <source>The agent does not start: {why}</source>
        <translation>O agente não inicia: {why}</translation>
    </message>
    <message>
        <source>no machine has the program {name}</source>
        <translation>nenhuma máquina tem o programa {name}</translation>
    </message>
    <message>
        <source>there is no task {name}</source>
        <translation>não há a tarefa {name}</translation>
    </message>
    <message>
        <source>there is no variable {name}</source>
        <translation>não há a variável {name}</translation>
    </message>
    <message>
        <source>a workflow has no {name}</source>
        <translation>um fluxo não tem {name}</translation>
    </message>
    <message>
        <source>there is nothing under {name}: remove it</source>
        <translation>não há nada em {name}: remova</translation>
    </message>
    <message>
        <source>a workflow needs tasks: there are none</source>
        <translation>um fluxo precisa de tarefas: não há nenhuma</translation>
    </message>
    <message>
        <source>deliver: there is no home folder {path}</source>
        <translation>deliver: não existe a pasta pessoal {path}</translation>
    </message>
    <message>
        <source>list a script of your own under programs</source>
        <translation>liste um script seu em programs</translation>
    </message>
    <message>
        <source>two tasks are called {name}</source>
        <translation>duas tarefas se chamam {name}</translation>
    </message>
    <message>
        <source>all tasks together have more than {most} inputs: gather them in steps</source>
        <translation>todas as tarefas juntas têm mais de {most} entradas: reúna-as por passos</translation>
    </message>
    <message>
        <source>parameters have at most {most} characters as text, and these {given}</source>
        <translation>parâmetros têm no máximo {most} caracteres como texto, e estes têm {given}</translation>
    </message>
    <message>
        <source>{task} needs itself</source>
        <translation>{task} precisa de si mesma</translation>
    </message>
    <message>
        <source>tasks need each other in a circle: {way}</source>
        <translation>as tarefas precisam umas das outras em círculo: {way}</translation>
    </message>
    <message>
        <source>the variable {name} is never used: write {how} or remove it</source>
        <translation>a variável {name} nunca é usada: escreva {how} ou remova-a</translation>
    </message>
    <message>
        <source>{task} has no output {name}</source>
        <translation>{task} não tem a saída {name}</translation>
    </message>
    <message>
        <source>there is nothing in this file</source>
        <translation>não há nada neste ficheiro</translation>
    </message>
    <message>
        <source>cannot be read: it is not there</source>
        <translation>não pode ser lido: não está lá</translation>
    </message>
    <message>
        <source>cannot be read: {why}</source>
        <translation>não pode ser lido: {why}</translation>
    </message>
    <message>
        <source>is not UTF-8 text from here on: save it as UTF-8</source>
        <translation>a partir daqui não é texto UTF-8: guarde-o como UTF-8</translation>
    </message>
    <message>
        <source>a workflow is a mapping with tasks, not {given}</source>
        <translation>um fluxo é um mapa com tarefas, não {given}</translation>
    </message>
    <message>
        <source>a tab cannot indent here: use spaces</source>
        <translation>uma tabulação não pode recuar aqui: use espaços</translation>
    </message>
    <message>
        <source>a &apos;:&apos; has no place here: quote the text or indent the key</source>
        <translation>não cabe &apos;:&apos; aqui: ponha o texto entre aspas ou recue a chave</translation>
    </message>
    <message>
        <source>&apos;:&apos; is missing after the key, or a line is not indented</source>
        <translation>falta &apos;:&apos; depois da chave, ou uma linha não está recuada</translation>
    </message>
    <message>
        <source>the indentation or a quote does not fit the lines above</source>
        <translation>o recuo ou as aspas não combinam com as linhas acima</translation>
    </message>
    <message>
        <source>a &apos;,&apos; or &apos;]&apos; is missing in the list that begins in line {line}</source>
        <translation>falta &apos;,&apos; ou &apos;]&apos; na lista que começa na linha {line}</translation>
    </message>
    <message>
        <source>a &apos;,&apos; or &apos;}}&apos; is missing in the mapping that begins in line {line}</source>
        <translation>falta &apos;,&apos; ou &apos;}}&apos; no mapa que começa na linha {line}</translation>
    </message>
    <message>
        <source>the quote that opens in line {line} is never closed</source>
        <translation>as aspas que se abrem na linha {line} nunca se fecham</translation>
    </message>
    <message>
        <source>after &apos;&amp;&apos; or &apos;*&apos; comes a name: quote a text that has one</source>
        <translation>depois de &apos;&amp;&apos; ou &apos;*&apos; vem um nome: ponha entre aspas um texto que tenha um deles</translation>
    </message>
    <message>
        <source>a &apos;!&apos; begins a tag: quote a text that has one</source>
        <translation>um &apos;!&apos; começa uma marca: ponha entre aspas um texto que tenha um</translation>
    </message>
    <message>
        <source>this is not YAML: {why}</source>
        <translation>isto não é YAML: {why}</translation>
    </message>
    <message>
        <source>the indentation does not fit the lines above</source>
        <translation>o recuo não combina com as linhas acima</translation>
    </message>
    <message>
        <source>a text cannot begin with this character: put quotes around it</source>
        <translation>um texto não pode começar com este carácter: ponha-o entre aspas</translation>
    </message>
    <message>
        <source>there is no such escape: use single quotes or a double \</source>
        <translation>não existe esse escape: use aspas simples ou \ dobrada</translation>
    </message>
    <message>
        <source>*{name} is defined nowhere above</source>
        <translation>*{name} não foi definido acima</translation>
    </message>
    <message>
        <source>*{name} contains itself</source>
        <translation>*{name} contém a si mesmo</translation>
    </message>
    <message>
        <source>the tag {name} means nothing here: leave it away</source>
        <translation>a etiqueta {name} não significa nada aqui: tire-a</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nada</translation>
    </message>
    <message>
        <source>cannot be read: its name is none that a file can have</source>
        <translation>não pode ser lido: o seu nome não é um que um ficheiro possa ter</translation>
    </message>
    <message>
        <source>the character U+{code} has no place here</source>
        <translation>o carácter U+{code} não tem lugar aqui</translation>
    </message>
    <message>
        <source>a second document starts here: make it a file</source>
        <translation>um segundo documento começa aqui: faça dele um ficheiro</translation>
    </message>
    <message>
        <source>more than {most} values, all aliases counted</source>
        <translation>mais de {most} valores, contando todas as referências</translation>
    </message>
    <message>
        <source>a key must be a single word, not {given}</source>
        <translation>uma chave deve ser uma só palavra, não {given}</translation>
    </message>
    <message>
        <source>{name} is given twice, the first time in line {line}</source>
        <translation>{name} aparece duas vezes, a primeira na linha {line}</translation>
    </message>
    <message>
        <source>&lt;&lt; takes a mapping, not {given}</source>
        <translation>&lt;&lt; recebe um mapa, não {given}</translation>
    </message>
    <message>
        <source>between {{ and }} a variable needs quotes, like {name}</source>
        <translation>entre {{ e }} uma variável precisa de aspas, como {name}</translation>
    </message>
    <message>
        <source>{name} must be a mapping of names, not {given}</source>
        <translation>{name} deve ser um mapa de nomes, não {given}</translation>
    </message>
    <message>
        <source>{name} must be {wanted}, and there is nothing</source>
        <translation>{name} deve ser {wanted}, e não há nada</translation>
    </message>
    <message>
        <source>{owner} must be {wanted}, not {given}</source>
        <translation>{owner} deve ser {wanted}, não {given}</translation>
    </message>
    <message>
        <source>{name} is empty: give it {wanted}</source>
        <translation>{name} está vazio: dê-lhe {wanted}</translation>
    </message>
    <message>
        <source>{name} has at most {most} characters, and this has {given}</source>
        <translation>{name} tem no máximo {most} caracteres, e este tem {given}</translation>
    </message>
    <message>
        <source>{name} has at most {most} entries, and this has {given}</source>
        <translation>{name} tem no máximo {most} itens, e este tem {given}</translation>
    </message>
    <message>
        <source>{name} is no name here: {wanted}</source>
        <translation>{name} não serve de nome aqui: {wanted}</translation>
    </message>
    <message>
        <source>{name} is the name of {other} in line {line} already</source>
        <translation>{name} já é o nome de {other} na linha {line}</translation>
    </message>
    <message>
        <source>{name} is octal to some readers: write {how}</source>
        <translation>{name} é octal para alguns leitores: escreva {how}</translation>
    </message>
    <message>
        <source>{name} is no text to some readers: write {one} or {how}</source>
        <translation>{name} não é texto para alguns leitores: escreva {one} ou {how}</translation>
    </message>
    <message>
        <source>{name} cannot have a mapping as its argument</source>
        <translation>{name} não pode ter um mapa como argumento</translation>
    </message>
    <message>
        <source>{name} is no name that XML allows</source>
        <translation>{name} não é um nome que XML permita</translation>
    </message>
    <message>
        <source>there are parameters already: remove one of the two</source>
        <translation>já há parâmetros: tire um dos dois</translation>
    </message>
    <message>
        <source>is larger than {kB} kB, so it is not read</source>
        <translation>é maior que {kB} kB, então não é lido</translation>
    </message>
    <message>
        <source>&lt;name&gt; is missing: the program&apos;s name, which its file has too</source>
        <translation>falta &lt;name&gt;: o nome do programa, que o seu ficheiro também tem</translation>
    </message>
    <message>
        <source>this is not XML: {why}</source>
        <translation>isto não é XML: {why}</translation>
    </message>
    <message>
        <source>&lt;{name}&gt; is given twice</source>
        <translation>&lt;{name}&gt; aparece duas vezes</translation>
    </message>
    <message>
        <source>&lt;{name}&gt; has no place inside &lt;{other}&gt;</source>
        <translation>&lt;{name}&gt; não tem lugar dentro de &lt;{other}&gt;</translation>
    </message>
    <message>
        <source>&lt;{name}&gt; has no place at the top</source>
        <translation>&lt;{name}&gt; não tem lugar no topo</translation>
    </message>
    <message>
        <source>{names} can stand there</source>
        <translation>ali pode ficar {names}</translation>
    </message>
    <message>
        <source>the text {given} has no place here</source>
        <translation>o texto {given} não tem lugar aqui</translation>
    </message>
    <message>
        <source>an input needs &lt;other_task_type&gt; and &lt;other_nth_output&gt;</source>
        <translation>uma entrada precisa de &lt;other_task_type&gt; e &lt;other_nth_output&gt;</translation>
    </message>
    <message>
        <source>which output it is has to be a number from 1, not {given}</source>
        <translation>qual é a saída deve ser um número a partir de 1, não {given}</translation>
    </message>
    <message>
        <source>there is no file {name} in {folder}</source>
        <translation>não há o ficheiro {name} em {folder}</translation>
    </message>
    <message>
        <source>{name} fits no file in {folder}</source>
        <translation>{name} não corresponde a nenhum ficheiro em {folder}</translation>
    </message>
    <message>
        <source>{name} fits more than {most} files</source>
        <translation>{name} serve para mais de {most} ficheiros</translation>
    </message>
    <message>
        <source>{name} is no file but a device, a pipe or a socket</source>
        <translation>{name} não é um ficheiro, mas um dispositivo, um pipe ou um socket</translation>
    </message>
    <message>
        <source>{name} is or holds a folder of Wingbeat itself ({folder}): its keys are never sent</source>
        <translation>{name} é ou contém uma pasta do próprio Wingbeat ({folder}): as suas chaves nunca são enviadas</translation>
    </message>
    <message>
        <source>{name} looks through more files than a workflow may: name a folder nearer to them</source>
        <translation>{name} percorre mais ficheiros do que um fluxo de trabalho pode: indique uma pasta mais próxima deles</translation>
    </message>
    <message>
        <source>there is no file in the folder {name}</source>
        <translation>não há nenhum ficheiro na pasta {name}</translation>
    </message>
    <message>
        <source>there is no file {name}</source>
        <translation>não há o ficheiro {name}</translation>
    </message>
    <message>
        <source>{name} cannot be read: {why}</source>
        <translation>{name} não pode ser lido: {why}</translation>
    </message>
    <message>
        <source>{name} is no text in UTF-8</source>
        <translation>{name} não é texto em UTF-8</translation>
    </message>
    <message>
        <source>{name} is too long: at most {most} characters fit</source>
        <translation>{name} é longo demais: cabem no máximo {most} caracteres</translation>
    </message>
    <message>
        <source>{name} cannot be looked at: {why}</source>
        <translation>{name} não pode ser consultado: {why}</translation>
    </message>
    <message>
        <source>{name} is no name that a file can have</source>
        <translation>{name} não é um nome que um ficheiro possa ter</translation>
    </message>
    <message>
        <source>{name} is a link to something that is not there</source>
        <translation>{name} é um link para algo que não existe</translation>
    </message>
    <message>
        <source>{name} is a link that leads out of the folder, to {path}: name it by itself, or put the file there</source>
        <translation>{name} é um link que leva para fora da pasta, a {path}: indique-o por si só, ou ponha o ficheiro ali</translation>
    </message>
    <message>
        <source>the identifier after id: is missing</source>
        <translation>falta o identificador depois de id:</translation>
    </message>
    <message>
        <source>{name} is beside it: remove the one that does not hold</source>
        <translation>{name} está ao lado: remova o que não vale</translation>
    </message>
    <message>
        <source>there is no such folder</source>
        <translation>essa pasta não existe</translation>
    </message>
    <message>
        <source>is not there, but {name} is: describe the program in {right}</source>
        <translation>não está lá, mas {name} está: descreva o programa em {right}</translation>
    </message>
    <message>
        <source>is not there: it describes the program (`{how}` writes one)</source>
        <translation>não está aí: descreve o programa (`{how}` escreve um)</translation>
    </message>
    <message>
        <source>the folder&apos;s own description says the {name}: remove it here</source>
        <translation>a descrição da própria pasta já diz {name}: remova daqui</translation>
    </message>
    <message>
        <source>{name} is empty: write what it is to do</source>
        <translation>{name} está vazio: escreva o que deve fazer</translation>
    </message>
    <message>
        <source>a script has at most {most} MB: make it a folder</source>
        <translation>um script tem no máximo {most} MB: faça dele uma pasta</translation>
    </message>
    <message>
        <source>{name} has the line ends of Windows, which the shells of other systems cannot read: save it with those of Unix</source>
        <translation>{name} tem os fins de linha do Windows, que as shells de outros sistemas não leem: guarde-o com os do Unix</translation>
    </message>
    <message>
        <source>no task runs the program {name}: remove it</source>
        <translation>nenhuma tarefa executa o programa {name}: tire-o</translation>
    </message>
    <message>
        <source>{task} has {count} outputs: write {ways}</source>
        <translation>{task} tem {count} saídas: escreva {ways}</translation>
    </message>
    <message>
        <source>which outputs {task} has is not known: write a number from 0, not {given}</source>
        <translation>não se sabe que saídas {task} tem: escreva um número a partir de 0, não {given}</translation>
    </message>
    <message>
        <source>{task} is run for each value: write {how} for all of them</source>
        <translation>{task} corre para cada valor: escreva {how} para todas</translation>
    </message>
    <message>
        <source>{task} is no fan-out, and how many outputs it has is not known: write {how} for the first</source>
        <translation>{task} não se repete, e não se sabe quantas saídas tem: escreva {how} para a primeira</translation>
    </message>
    <message>
        <source>it has {names}</source>
        <translation>tem {names}</translation>
    </message>
    <message>
        <source>after takes the name of a task, not {given}</source>
        <translation>after recebe o nome de uma tarefa, não {given}</translation>
    </message>
    <message>
        <source>{task} has nothing to attach: use after instead</source>
        <translation>{task} não tem nada a anexar: use after</translation>
    </message>
    <message>
        <source>{task} has no outputs: use after instead</source>
        <translation>{task} não tem saídas: use after</translation>
    </message>
    <message>
        <source>an output of another workflow is a number, not {given}</source>
        <translation>uma saída de outro fluxo é um número, não {given}</translation>
    </message>
    <message>
        <source>{owner} needs program: what it runs</source>
        <translation>{owner} precisa de program: o que executar</translation>
    </message>
    <message>
        <source>{owner} needs asks: what a person is asked to do</source>
        <translation>{owner} precisa de asks: o que se pede a uma pessoa</translation>
    </message>
    <message>
        <source>{owner} needs task: the task whose output it is</source>
        <translation>{owner} precisa de task: a tarefa de quem é a saída</translation>
    </message>
    <message>
        <source>a program and its version, like acme &gt;= 3</source>
        <translation>um programa e a sua versão, como acme &gt;= 3</translation>
    </message>
    <message>
        <source>a name without any of {signs}</source>
        <translation>um nome sem nenhum de {signs}</translation>
    </message>
    <message>
        <source>an input</source>
        <translation>uma entrada</translation>
    </message>
    <message>
        <source>{owner} needs run: the script or the program&apos;s folder, beside this file</source>
        <translation>{owner} precisa de run: o script ou a pasta do programa, ao lado deste ficheiro</translation>
    </message>
    <message>
        <source>{task} is run {count} times: write {how} for all of them</source>
        <translation>{task} corre {count} vezes: escreva {how} para todas</translation>
    </message>
    <message>
        <source>the variable {name} has no default, so a value must be given</source>
        <translation>a variável {name} não tem valor próprio, então é preciso dar um</translation>
    </message>
    <message>
        <source>a single {kind}</source>
        <translation>um só valor do tipo {kind}</translation>
    </message>
    <message>
        <source>{owner} must be {wanted}</source>
        <translation>{owner} deve ser {wanted}</translation>
    </message>
    <message>
        <source>{name} names no variable; write $${{ for ${{ itself</source>
        <translation>{name} não nomeia variável; escreva $${{ para o próprio ${{</translation>
    </message>
    <message>
        <source>declare it under variables</source>
        <translation>declare-a em variables</translation>
    </message>
    <message>
        <source>{name} is a list, which cannot stand inside a text</source>
        <translation>{name} é uma lista, que não cabe dentro de um texto</translation>
    </message>
    <message>
        <source>for_each: the list of {name} is empty</source>
        <translation>for_each: a lista de {name} está vazia</translation>
    </message>
    <message>
        <source>what it asks</source>
        <translation>o que pede</translation>
    </message>
    <message>
        <source>to run over files write for_each: {how}</source>
        <translation>para percorrer ficheiros escreva for_each: {how}</translation>
    </message>
    <message>
        <source>for_each: there is no task {name}</source>
        <translation>for_each: não há a tarefa {name}</translation>
    </message>
    <message>
        <source>for_each: {task} is run once only, so it has no values</source>
        <translation>for_each: {task} corre uma só vez, então não tem valores</translation>
    </message>
    <message>
        <source>for_each goes round in a circle: {way}</source>
        <translation>for_each anda em círculo: {way}</translation>
    </message>
    <message>
        <source>for_each: to must be at least from, and at most {most} more</source>
        <translation>for_each: to deve ser pelo menos from, e no máximo {most} a mais</translation>
    </message>
    <message>
        <source>for_each: {name} takes either lines or from and to</source>
        <translation>for_each: {name} recebe lines, ou então from e to</translation>
    </message>
    <message>
        <source>for_each makes {count} tasks; a workflow has at most {most}</source>
        <translation>for_each faz {count} tarefas; um fluxo tem no máximo {most}</translation>
    </message>
    <message>
        <source>for_each: {count} lines are more than {most}</source>
        <translation>for_each: {count} linhas são mais que {most}</translation>
    </message>
    <message>
        <source>for_each: {name} has no {missing}</source>
        <translation>for_each: {name} não tem {missing}</translation>
    </message>
    <message>
        <source>a workflow has at most {most} tasks: this one makes it more</source>
        <translation>um fluxo tem no máximo {most} tarefas: esta passa disso</translation>
    </message>
    <message>
        <source>{owner} has no {name}</source>
        <translation>{owner} não tem {name}</translation>
    </message>
    <message>
        <source>a list</source>
        <translation>uma lista</translation>
    </message>
    <message>
        <source>a text</source>
        <translation>um texto</translation>
    </message>
    <message>
        <source>{name} is in {list} twice</source>
        <translation>{name} está duas vezes em {list}</translation>
    </message>
    <message>
        <source>a mapping</source>
        <translation>um mapa</translation>
    </message>
    <message>
        <source>a single value</source>
        <translation>um só valor</translation>
    </message>
    <message>
        <source>write {how} instead of {given}</source>
        <translation>escreva {how} em vez de {given}</translation>
    </message>
    <message>
        <source>{owner}: {fault}</source>
        <translation>{owner}: {fault}</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>um número</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>um número inteiro</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>true ou false</translation>
    </message>
    <message>
        <source>a whole number from {least} to {most}</source>
        <translation>um número inteiro de {least} a {most}</translation>
    </message>
    <message>
        <source>a number with a unit, like {ways}</source>
        <translation>um número com unidade, como {ways}</translation>
    </message>
    <message>
        <source>more than 0 and at most {most}</source>
        <translation>mais que 0 e no máximo {most}</translation>
    </message>
    <message>
        <source>low, interactive or 0 to 100</source>
        <translation>low, interactive ou de 0 a 100</translation>
    </message>
    <message>
        <source>at most {most} characters, none of them {signs}</source>
        <translation>no máximo {most} caracteres, nenhum deles {signs}</translation>
    </message>
    <message>
        <source>letters, digits and _, and no digit first</source>
        <translation>letras, dígitos e _, e nenhum dígito no começo</translation>
    </message>
    <message>
        <source>a task</source>
        <translation>uma tarefa</translation>
    </message>
    <message>
        <source>a gate</source>
        <translation>um passo manual</translation>
    </message>
    <message>
        <source>a name of letters, digits, dots and dashes</source>
        <translation>um nome de letras, algarismos, pontos e hifens</translation>
    </message>
    <message>
        <source>a program</source>
        <translation>um programa</translation>
    </message>
    <message>
        <source>{owner} needs command: what to execute, like [run.sh, --fast]</source>
        <translation>{owner} precisa de command: o que executar, como [run.sh, --fast]</translation>
    </message>
    <message>
        <source>command is empty: name a file of this folder, like [run.sh]</source>
        <translation>command está vazio: cite um ficheiro desta pasta, como [run.sh]</translation>
    </message>
    <message>
        <source>a name has 1 to {most} characters</source>
        <translation>um nome tem de 1 a {most} caracteres</translation>
    </message>
    <message>
        <source>{name} cannot be a name: blanks, @, / and \ have no place in one</source>
        <translation>{name} não pode ser um nome: espaços, @, / e \ não têm lugar nele</translation>
    </message>
    <message>
        <source>the folder has this name, so give another one as &apos;name&apos;</source>
        <translation>a pasta tem este nome, então dê outro em &apos;name&apos;</translation>
    </message>
    <message>
        <source>{name} is not inside the working folder: name a file like points.las</source>
        <translation>{name} não fica dentro da pasta de trabalho: cite um ficheiro como points.las</translation>
    </message>
    <message>
        <source>{name} is no whole path: write one like /srv/maps or ~/maps</source>
        <translation>{name} não é um caminho completo: escreva um como /srv/maps ou ~/maps</translation>
    </message>
    <message>
        <source>a workflow</source>
        <translation>um fluxo</translation>
    </message>
    <message>
        <source>a variable</source>
        <translation>uma variável</translation>
    </message>
    <message>
        <source>choice {name}</source>
        <translation>a opção {name}</translation>
    </message>
    <message>
        <source>the default of {name}</source>
        <translation>o valor próprio de {name}</translation>
    </message>
    <message>
        <source>there are {names}</source>
        <translation>há {names}</translation>
    </message>
    <message>
        <source>it has none</source>
        <translation>não tem nenhuma</translation>
    </message>
    <message>
        <source>the value given for {name}</source>
        <translation>o valor dado a {name}</translation>
    </message>
    <message>
        <source>and {count} more faults</source>
        <translation>e mais {count} falhas</translation>
    </message>
    <message>
        <source>known: {names}</source>
        <translation>conhecidos: {names}</translation>
    </message>
    <message>
        <source>cannot be sent as it is: {why}</source>
        <translation>não pode ser enviado assim: {why}</translation>
    </message>
    <message>
        <source>{first} or {last}</source>
        <translation>{first} ou {last}</translation>
    </message>
    <message>
        <source>did you mean {names}?</source>
        <translation>queria dizer {names}?</translation>
    </message>
    <message>
        <source>is not empty: nothing is written over what is there</source>
        <translation>não está vazia: nada é escrito por cima do que está lá</translation>
    </message>
    <message>
        <source>&lt;{name}&gt; holds no text, so {given} means nothing</source>
        <translation>&lt;{name}&gt; não contém texto, então {given} não significa nada</translation>
    </message>
    <message>
        <source>&lt;{name}&gt; holds no &lt;{other}&gt;</source>
        <translation>&lt;{name}&gt; não contém &lt;{other}&gt;</translation>
    </message>
    <message>
        <source>{owner} has no attribute {name}</source>
        <translation>{owner} não tem o atributo {name}</translation>
    </message>
    <message>
        <source>{name} cannot be {value}</source>
        <translation>{name} não pode ser {value}</translation>
    </message>
    <message>
        <source>{owner} needs the attribute {name}</source>
        <translation>{owner} precisa do atributo {name}</translation>
    </message>
    <message>
        <source>&lt;{name}&gt; needs a &lt;{other}&gt;</source>
        <translation>&lt;{name}&gt; precisa de um &lt;{other}&gt;</translation>
    </message>
    <message>
        <source>&lt;{name}&gt; holds &lt;{other}&gt; only once</source>
        <translation>&lt;{name}&gt; contém &lt;{other}&gt; uma só vez</translation>
    </message>
    <message>
        <source>the id {name} is taken in line {line}</source>
        <translation>o id {name} já é usado na linha {line}</translation>
    </message>
    <message>
        <source>{name}: a value has either value or src</source>
        <translation>{name}: um valor tem value ou src, um dos dois</translation>
    </message>
    <message>
        <source>there are two ports {name}</source>
        <translation>há duas portas {name}</translation>
    </message>
    <message>
        <source>{name}: no machine runs WebCL, which no browser has any more: make it javascript</source>
        <translation>{name}: nenhuma máquina executa WebCL, que já nenhum navegador tem: use javascript</translation>
    </message>
    <message>
        <source>{name} returns {kind}, but its reducer returns {given}</source>
        <translation>{name} devolve {kind}, mas o seu reducer devolve {given}</translation>
    </message>
    <message>
        <source>a {kind} has exactly one parameter, and {name} has {count}</source>
        <translation>um {kind} tem exatamente um parâmetro, e {name} tem {count}</translation>
    </message>
    <message>
        <source>the parameter of a {kind} must be of the type {wanted}, not {given}</source>
        <translation>o parâmetro de um {kind} deve ser do tipo {wanted}, não {given}</translation>
    </message>
    <message>
        <source>the edge {name} is there in line {line} already</source>
        <translation>a aresta {name} já está na linha {line}</translation>
    </message>
    <message>
        <source>it is inside the pool {name}, so write that</source>
        <translation>está dentro do pool {name}, então escreva esse</translation>
    </message>
    <message>
        <source>{end}: there is no node {name}</source>
        <translation>{end}: não há o nó {name}</translation>
    </message>
    <message>
        <source>{name} is a value: nothing flows into it</source>
        <translation>{name} é um valor: nada flui para ele</translation>
    </message>
    <message>
        <source>{name} has no parameters for anything to flow into</source>
        <translation>{name} não tem parâmetros para onde algo possa fluir</translation>
    </message>
    <message>
        <source>which port of {name} is meant is not said: write paramdest with {ports}</source>
        <translation>não se diz qual porta de {name}: escreva paramdest com {ports}</translation>
    </message>
    <message>
        <source>{owner} has no port {name}</source>
        <translation>{owner} não tem a porta {name}</translation>
    </message>
    <message>
        <source>the port {port} of {name} gets {other} already</source>
        <translation>a porta {port} de {name} já recebe {other}</translation>
    </message>
    <message>
        <source>{source} returns {given}, but the port {port} of {name} takes {wanted}</source>
        <translation>{source} devolve {given}, mas a porta {port} de {name} recebe {wanted}</translation>
    </message>
    <message>
        <source>nothing flows into the port {port} of {name}</source>
        <translation>nada flui para a porta {port} de {name}</translation>
    </message>
    <message>
        <source>the final node cannot be {name}, which is inside a pool: write {how}</source>
        <translation>o nó final não pode ser {name}, que está dentro de um pool: escreva {how}</translation>
    </message>
    <message>
        <source>nodes need each other in a circle: {way}</source>
        <translation>nós precisam uns dos outros em círculo: {way}</translation>
    </message>
    <message>
        <source>{name} is no {kind}: {given}</source>
        <translation>{name} não é {kind}: {given}</translation>
    </message>
    <message>
        <source>there are more than {most} elements</source>
        <translation>há mais de {most} elementos</translation>
    </message>
    <message>
        <source>is nested more than {most} levels deep</source>
        <translation>tem mais de {most} níveis de profundidade</translation>
    </message>
    <message>
        <source>a document type is not allowed here: remove &lt;!DOCTYPE …&gt;</source>
        <translation>um tipo de documento não é permitido aqui: remova &lt;!DOCTYPE …&gt;</translation>
    </message>
    <message>
        <source>entities are not allowed here: write their text</source>
        <translation>entidades não são permitidas aqui: escreva o texto delas</translation>
    </message>
    <message>
        <source>a program is described by &lt;task&gt;</source>
        <translation>um programa é descrito por &lt;task&gt;</translation>
    </message>
    <message>
        <source>the document must be a &lt;workflow&gt;, not a &lt;{name}&gt;</source>
        <translation>o documento deve ser um &lt;workflow&gt;, não um &lt;{name}&gt;</translation>
    </message>
    <message>
        <source>{name} is no name for a node: {wanted}</source>
        <translation>{name} não serve de nome para um nó: {wanted}</translation>
    </message>
    <message>
        <source>a workflow has at most {most} tasks: this one makes it {count}</source>
        <translation>um fluxo tem no máximo {most} tarefas: com esta são {count}</translation>
    </message>
    <message>
        <source>entry {number} of what flows into {name} is {given}, but {other} takes {wanted}</source>
        <translation>o item {number} do que flui para {name} é {given}, mas {other} recebe {wanted}</translation>
    </message>
    <message>
        <source>the values that flow into {name} may have at most {most} characters as JSON</source>
        <translation>os valores que fluem para {name} podem ter no máximo {most} caracteres como JSON</translation>
    </message>
    <message>
        <source>{file} has no function {name}, which is what a job runs</source>
        <translation>{file} não tem a função {name}, que é o que um job executa</translation>
    </message>
    <message>
        <source>it takes {names}</source>
        <translation>recebe {names}</translation>
    </message>
    <message>
        <source>it takes none</source>
        <translation>não recebe nenhum</translation>
    </message>
    <message>
        <source>{function} in {file} has no parameter {name}</source>
        <translation>{function} em {file} não tem o parâmetro {name}</translation>
    </message>
    <message>
        <source>Monday</source>
        <translation>segunda-feira</translation>
    </message>
    <message>
        <source>Tuesday</source>
        <translation>terça-feira</translation>
    </message>
    <message>
        <source>Wednesday</source>
        <translation>quarta-feira</translation>
    </message>
    <message>
        <source>Thursday</source>
        <translation>quinta-feira</translation>
    </message>
    <message>
        <source>Friday</source>
        <translation>sexta-feira</translation>
    </message>
    <message>
        <source>Saturday</source>
        <translation>sábado</translation>
    </message>
    <message>
        <source>Sunday</source>
        <translation>domingo</translation>
    </message>
    <message>
        <source>deliver: results go to folders of the machine that you sit at; submit it there</source>
        <translation>deliver: os resultados vão para pastas do computador em que está; envie-o aí</translation>
    </message>
    <message>
        <source>deliver: {folder} is no whole path of a folder</source>
        <translation>deliver: {folder} não é o caminho completo de uma pasta</translation>
    </message>
    <message>
        <source>deliver: {folder} is hidden, or lies in a hidden folder</source>
        <translation>deliver: {folder} está oculta, ou fica numa pasta oculta</translation>
    </message>
    <message>
        <source>task {task} is no gate, and nobody can attach anything to it</source>
        <translation>a tarefa {task} não é um passo de uma pessoa, e ninguém pode anexar nada a ela</translation>
    </message>
    <message>
        <source>task {task} needs {other}, which this workflow does not have</source>
        <translation>a tarefa {task} precisa de {other}, que este fluxo não tem</translation>
    </message>
    <message>
        <source>workflow {workflow} was finished and cleaned up; submit it anew</source>
        <translation>o fluxo {workflow} terminou e foi limpo; envie-o de novo</translation>
    </message>
    <message>
        <source>workflow {workflow} has no tasks; give it at least one</source>
        <translation>o fluxo {workflow} não tem tarefas; dê pelo menos uma</translation>
    </message>
    <message>
        <source>priority {priority} of {workflow} is not between 0 and {most}</source>
        <translation>a prioridade {priority} de {workflow} não está entre 0 e {most}</translation>
    </message>
    <message>
        <source>workflow {workflow} cannot be kept: {why}</source>
        <translation>o fluxo {workflow} não pode ser guardado: {why}</translation>
    </message>
    <message>
        <source>workflow {workflow} takes {bytes} bytes, at most {most} fit; split it</source>
        <translation>o fluxo {workflow} ocupa {bytes} bytes, cabem no máximo {most}; divida-o</translation>
    </message>
    <message>
        <source>task {task} is a gate and cannot have a program</source>
        <translation>a tarefa {task} é um passo de uma pessoa e não pode ter programa</translation>
    </message>
    <message>
        <source>task {task} names no program</source>
        <translation>a tarefa {task} não diz o programa</translation>
    </message>
    <message>
        <source>task {task} is already in {workflow}</source>
        <translation>a tarefa {task} já está em {workflow}</translation>
    </message>
    <message>
        <source>task {task} needs {other}, which is not known here</source>
        <translation>a tarefa {task} precisa de {other}, que não se conhece aqui</translation>
    </message>
    <message>
        <source>{task} is no gate: a program does it, and says itself when it is done</source>
        <translation>{task} não é um passo manual: um programa a faz e diz ele mesmo quando terminou</translation>
    </message>
    <message>
        <source>a machine passes on what its own clients say, and nobody else&apos;s</source>
        <translation>uma máquina só passa adiante o que dizem os seus próprios clientes</translation>
    </message>
    <message>
        <source>the history on this disk cannot be read: {error}</source>
        <translation>o histórico neste disco não pode ser lido: {error}</translation>
    </message>
    <message>
        <source>the system refuses what {name} needs here: {error}</source>
        <translation>o sistema recusa aqui o que {name} precisa: {error}</translation>
    </message>
    <message>
        <source>the agent was started anew since then and its events are numbered anew: read what you show again and subscribe from there</source>
        <translation>entretanto o agente começou de novo e numera os eventos do princípio: leia de novo o que mostra e subscreva a partir daí</translation>
    </message>
    <message>
        <source>there is no event {sequence} yet</source>
        <translation>ainda não há evento {sequence}</translation>
    </message>
    <message>
        <source>the events after {sequence} are remembered only from {first} on: read what you show again and subscribe from there</source>
        <translation>dos eventos depois de {sequence} só se guardam os de {first} em diante: leia de novo o que mostra e subscreva a partir daí</translation>
    </message>
    <message>
        <source>{name} cannot be asked: {reason}</source>
        <translation>não se consegue perguntar a {name}: {reason}</translation>
    </message>
    <message>
        <source>{name}: {message}</source>
        <translation>{name}: {message}</translation>
    </message>
    <message>
        <source>{name} left the flock on {when}: it is not asked</source>
        <translation>{name} saiu do bando em {when}: não lhe é perguntado</translation>
    </message>
    <message>
        <source>{name} was sent away from the flock on {when}: it is not asked</source>
        <translation>{name} foi expulsa do bando em {when}: não lhe é perguntado</translation>
    </message>
    <message>
        <source>these ask: {names}</source>
        <translation>pedem estas: {names}</translation>
    </message>
    <message>
        <source>none asks at present</source>
        <translation>de momento nenhuma pede</translation>
    </message>
    <message>
        <source>no machine that asks has the name or code &quot;{reference}&quot;: {asking}</source>
        <translation>nenhuma máquina que pede tem o nome ou código &quot;{reference}&quot;: {asking}</translation>
    </message>
    <message>
        <source>several machines that ask call themselves {reference}: give the code ({codes})</source>
        <translation>várias máquinas que pedem chamam-se {reference}: indique o código ({codes})</translation>
    </message>
    <message>
        <source>give the code that {reference} shows, so that it is the one you mean</source>
        <translation>indique o código que {reference} mostra, para que seja a que quer</translation>
    </message>
    <message>
        <source>no workflow</source>
        <translation>nenhum fluxo</translation>
    </message>
    <message>
        <source>the workflows</source>
        <translation>os fluxos</translation>
    </message>
    <message>
        <source>no task of {workflow}</source>
        <translation>nenhuma tarefa de {workflow}</translation>
    </message>
    <message>
        <source>no task</source>
        <translation>nenhuma tarefa</translation>
    </message>
    <message>
        <source>the tasks</source>
        <translation>as tarefas</translation>
    </message>
    <message>
        <source>no member</source>
        <translation>nenhum membro</translation>
    </message>
    <message>
        <source>the members</source>
        <translation>os membros</translation>
    </message>
    <message>
        <source>{name} is a workflow: name one of its tasks</source>
        <translation>{name} é um fluxo: indique uma das suas tarefas</translation>
    </message>
    <message>
        <source>{name} is a workflow: name one of its tasks, like {like}</source>
        <translation>{name} é um fluxo: indique uma das suas tarefas, como {like}</translation>
    </message>
    <message>
        <source>{none} is called &quot;{reference}&quot;</source>
        <translation>{none} se chama &quot;{reference}&quot;</translation>
    </message>
    <message>
        <source>&quot;{reference}&quot; may mean {several} {names}: write more of it</source>
        <translation>&quot;{reference}&quot; pode ser {several} {names}: escreva mais</translation>
    </message>
    <message>
        <source>&quot;{reference}&quot; may mean {several} {names} or others: write more of it</source>
        <translation>&quot;{reference}&quot; pode ser {several} {names} ou outros: escreva mais</translation>
    </message>
    <message>
        <source>&quot;{reference}&quot; may mean {count} datasets: write more of it</source>
        <translation>&quot;{reference}&quot; pode ser {count} conjuntos de dados: escreva mais</translation>
    </message>
    <message>
        <source>no dataset is called &quot;{reference}&quot;</source>
        <translation>nenhum conjunto de dados se chama &quot;{reference}&quot;</translation>
    </message>
    <message>
        <source>{name} has no output {number}: {made}</source>
        <translation>{name} não tem o resultado {number}: {made}</translation>
    </message>
    <message>
        <source>{dataset} is not kept by the flock: only its identifier is known</source>
        <translation>{dataset} não está guardado no bando: só se conhece o identificador</translation>
    </message>
    <message>
        <source>{dataset} cannot be had: {error}</source>
        <translation>não se consegue obter {dataset}: {error}</translation>
    </message>
    <message>
        <source>&quot;{reference}&quot; may mean the programs {names}: write more of it</source>
        <translation>&quot;{reference}&quot; pode ser os programas {names}: escreva mais</translation>
    </message>
    <message>
        <source>{name}: params are nested too deeply</source>
        <translation>{name}: os parâmetros têm níveis a mais</translation>
    </message>
    <message>
        <source>{most} uploads are open: end one of them</source>
        <translation>há {most} envios abertos: termine um deles</translation>
    </message>
    <message>
        <source>begin_upload: &quot;{name}&quot; is no name of a file</source>
        <translation>begin_upload: &quot;{name}&quot; não é nome de ficheiro</translation>
    </message>
    <message>
        <source>the disk of this machine is almost full</source>
        <translation>o disco desta máquina está quase cheio</translation>
    </message>
    <message>
        <source>end_upload: nothing of {name} was sent</source>
        <translation>end_upload: não foi enviado nada de {name}</translation>
    </message>
    <message>
        <source>no upload of this connection is called &quot;{number}&quot;</source>
        <translation>nenhum envio desta ligação se chama &quot;{number}&quot;</translation>
    </message>
    <message>
        <source>upload_chunk: a single file has no path</source>
        <translation>upload_chunk: um só ficheiro não tem caminho</translation>
    </message>
    <message>
        <source>upload_chunk: &quot;{path}&quot; is no path within the folder</source>
        <translation>upload_chunk: &quot;{path}&quot; não é um caminho dentro da pasta</translation>
    </message>
    <message>
        <source>{path} is no whole path, and the agent is elsewhere</source>
        <translation>{path} não é um caminho completo, e o agente está noutra pasta</translation>
    </message>
    <message>
        <source>there is no {path}</source>
        <translation>não há {path}</translation>
    </message>
    <message>
        <source>it cannot be kept: {error}</source>
        <translation>não se pode guardar: {error}</translation>
    </message>
    <message>
        <source>upload_chunk: a folder has no data of its own</source>
        <translation>upload_chunk: uma pasta não tem dados seus</translation>
    </message>
    <message>
        <source>end_upload: {error}</source>
        <translation>end_upload: {error}</translation>
    </message>
    <message>
        <source>the dataset {name} has {what}</source>
        <translation>o conjunto de dados {name} tem {what}</translation>
    </message>
    <message>
        <source>read_dataset: {error}</source>
        <translation>read_dataset: {error}</translation>
    </message>
    <message>
        <source>runs: name a workflow or a task</source>
        <translation>runs: indique um fluxo ou uma tarefa</translation>
    </message>
    <message>
        <source>{name} has no run &quot;{wanted}&quot;; its runs: {known}</source>
        <translation>{name} não tem a tentativa &quot;{wanted}&quot;; as suas tentativas: {known}</translation>
    </message>
    <message>
        <source>{name} ran on {host}, not on {here}</source>
        <translation>{name} correu em {host}, não em {here}</translation>
    </message>
    <message>
        <source>publish: {folder} is no whole path, and the agent is elsewhere</source>
        <translation>publish: {folder} não é um caminho completo, e o agente está noutra pasta</translation>
    </message>
    <message>
        <source>publish: there is no folder {folder}</source>
        <translation>publish: não há a pasta {folder}</translation>
    </message>
    <message>
        <source>pause: either for_s or until_tomorrow, not both</source>
        <translation>pause: ou for_s ou until_tomorrow, não ambos</translation>
    </message>
    <message>
        <source>change_settings: name at least one setting to change</source>
        <translation>change_settings: indique pelo menos uma definição a mudar</translation>
    </message>
    <message>
        <source>Mine</source>
        <translation>Meus</translation>
    </message>
    <message>
        <source>Only what I have submitted from this computer</source>
        <translation>Só o que eu enviei deste computador</translation>
    </message>
    <message>
        <source>Everybody&apos;s</source>
        <translation>De todos</translation>
    </message>
    <message>
        <source>What anybody in the flock has submitted</source>
        <translation>O que qualquer pessoa do bando enviou</translation>
    </message>
    <message numerus="yes">
        <source>%n workflow(s) were not submitted. {first}</source>
        <translation>
            <numerusform>%n fluxo não foi enviado. {first}</numerusform>
            <numerusform>%n fluxos não foram enviados. {first}</numerusform>
        </translation>
    </message>
    <message>
        <source>{given} is for scripts and programs: a workflow says itself how each of its steps runs</source>
        <translation>{given} é para scripts e programas: um fluxo diz ele mesmo como corre cada passo</translation>
    </message>
    <message>
        <source>choose the files for each of which it is to run</source>
        <translation>escolha os ficheiros para cada um dos quais ele deve correr</translation>
    </message>
    <message>
        <source>{name} is neither a workflow nor a program: a workflow ends in {suffix}, a script in .py, .sh and the like, and other programs may be executed</source>
        <translation>{name} não é um fluxo nem um programa: um fluxo termina em {suffix}, um script em .py, .sh e similares, e outros programas podem ser executados</translation>
    </message>
    <message>
        <source>Without files</source>
        <translation>Sem ficheiros</translation>
    </message>
    <message>
        <source>Once</source>
        <translation>Uma vez</translation>
    </message>
    <message>
        <source>Once for each file</source>
        <translation>Uma vez por ficheiro</translation>
    </message>
    <message>
        <source>Several times</source>
        <translation>Várias vezes</translation>
    </message>
    <message>
        <source>How many times</source>
        <translation>Quantas vezes</translation>
    </message>
    <message>
        <source>With which files</source>
        <translation>Com que ficheiros</translation>
    </message>
    <message>
        <source>How often</source>
        <translation>Quantas vezes corre</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parâmetros</translation>
    </message>
    <message>
        <source>Files for the program</source>
        <translation>Ficheiros para o programa</translation>
    </message>
    <message numerus="yes">
        <source>{names} and %n more</source>
        <comment>files</comment>
        <translation>
            <numerusform>{names} e mais %n</numerusform>
            <numerusform>{names} e mais %n</numerusform>
        </translation>
    </message>
    <message>
        <source>None; files can be dropped here</source>
        <translation>Nenhum; ficheiros podem ser soltos aqui</translation>
    </message>
    <message>
        <source>It is told: {words}</source>
        <translation>Recebe: {words}</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportar</translation>
    </message>
    <message>
        <source>As CSV, for spreadsheets …</source>
        <translation>Como CSV, para folhas de cálculo …</translation>
    </message>
    <message>
        <source>As JSON, for programs …</source>
        <translation>Como JSON, para programas …</translation>
    </message>
    <message>
        <source>Export the history</source>
        <translation>Exportar o histórico</translation>
    </message>
    <message>
        <source>Hours per day: used, waiting, given</source>
        <translation>Horas por dia: usadas, em espera, dadas</translation>
    </message>
    <message>
        <source>given by this computer</source>
        <translation>dadas por este computador</translation>
    </message>
    <message>
        <source>hours used</source>
        <translation>horas usadas</translation>
    </message>
    <message>
        <source>{first} to {last}</source>
        <translation>{first} a {last}</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Ontem</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Hoje</translation>
    </message>
    <message>
        <source>{weekday} {day} {month}</source>
        <translation>{weekday}, {day} de {month}</translation>
    </message>
    <message>
        <source>no program of this computer opens it</source>
        <translation>nenhum programa deste computador o abre</translation>
    </message>
    <message>
        <source>Show in its folder</source>
        <translation>Mostrar na pasta</translation>
    </message>
    <message>
        <source>Only its beginning is shown</source>
        <translation>Só é mostrado o início</translation>
    </message>
    <message>
        <source>There is nothing in it.</source>
        <translation>Não tem nada dentro.</translation>
    </message>
    <message>
        <source>{number} rows</source>
        <translation>{number} linhas</translation>
    </message>
    <message>
        <source>This picture cannot be read: {why}</source>
        <translation>Não é possível ler esta imagem: {why}</translation>
    </message>
    <message>
        <source>This is no map that can be drawn; here is its text</source>
        <translation>Isto não é um mapa que se possa desenhar; eis o texto</translation>
    </message>
    <message>
        <source>{number} things</source>
        <translation>{number} elementos</translation>
    </message>
    <message>
        <source>{workflow} was submitted on {host}: remove it there</source>
        <translation>{workflow} foi enviado em {host}: remova-o lá</translation>
    </message>
    <message>
        <source>Handing over what only this computer keeps …</source>
        <translation>A entregar o que só este computador guarda …</translation>
    </message>
    <message numerus="yes">
        <source>%n dataset(s) are on this computer only, {size}: they are being handed over.</source>
        <translation>
            <numerusform>%n conjunto de dados está só neste computador, {size}: está a ser entregue.</numerusform>
            <numerusform>%n conjuntos de dados estão só neste computador, {size}: estão a ser entregues.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>No machine takes %n dataset(s) that only this computer keeps: switch another one on, or save the results first.</source>
        <translation>
            <numerusform>Nenhuma máquina recebe %n conjunto de dados que só este computador guarda: ligue outra, ou guarde antes os resultados.</numerusform>
            <numerusform>Nenhuma máquina recebe %n conjuntos de dados que só este computador guarda: ligue outra, ou guarde antes os resultados.</numerusform>
        </translation>
    </message>
    <message>
        <source>Another name</source>
        <translation>Outro nome</translation>
    </message>
    <message>
        <source>Show it</source>
        <translation>Mostrar</translation>
    </message>
    <message>
        <source>Run again</source>
        <translation>Executar de novo</translation>
    </message>
    <message>
        <source>with its scripts and files as they are now</source>
        <translation>com os scripts e ficheiros como estão agora</translation>
    </message>
    <message>
        <source>as it was</source>
        <translation>como foi</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Nome</translation>
    </message>
    <message>
        <source>Run the unchanged steps too</source>
        <translation>Executar também os passos que não mudaram</translation>
    </message>
    <message>
        <source>It cannot be read as it is now ({why}), and runs as it was.</source>
        <translation>Não pode ser lido como está agora ({why}), e corre como foi.</translation>
    </message>
    <message>
        <source>It runs under another name.</source>
        <translation>Corre com outro nome.</translation>
    </message>
    <message>
        <source>The same was submitted {when} ({how}), and is not run twice.</source>
        <translation>O mesmo foi enviado {when} ({how}), e não corre duas vezes.</translation>
    </message>
    <message>
        <source>{name} was submitted before, {when} ({how}). If nothing has changed since, it is not run twice.</source>
        <translation>{name} já foi enviado antes, {when} ({how}). Se nada mudou desde então, não corre duas vezes.</translation>
    </message>
    <message>
        <source>Call it {name}</source>
        <translation>Chamar-lhe {name}</translation>
    </message>
    <message>
        <source>Show what was hidden, or leave it out again</source>
        <translation>Mostrar o que foi ocultado, ou deixá-lo de fora de novo</translation>
    </message>
    <message numerus="yes">
        <source>%n hidden</source>
        <comment>workflows</comment>
        <translation>
            <numerusform>%n oculto</numerusform>
            <numerusform>%n ocultos</numerusform>
        </translation>
    </message>
    <message>
        <source>That frees {size} on this computer now; copies on other machines go when room is wanted there.</source>
        <translation>Isso liberta {size} neste computador agora; as cópias noutras máquinas desaparecem quando lá faltar espaço.</translation>
    </message>
    <message>
        <source>This computer forgets what became of it, and the flock what it still has of it.</source>
        <translation>Este computador esquece o que foi feito dele, e o bando o que ainda tem dele.</translation>
    </message>
    <message>
        <source>Its results and logs are deleted. The history keeps what became of it.</source>
        <translation>Os resultados e os registos são apagados. O histórico guarda o que foi feito dele.</translation>
    </message>
    <message>
        <source>That frees {size} on this computer.</source>
        <translation>Isso liberta {size} neste computador.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Remover</translation>
    </message>
    <message>
        <source>Remove {names}?</source>
        <translation>Remover {names}?</translation>
    </message>
    <message>
        <source>{names} removed; that freed {size} here.</source>
        <translation>{names} removido; isso libertou {size} aqui.</translation>
    </message>
    <message>
        <source>It is deleted here, with what was decided about it. Work that brings it asks anew.</source>
        <translation>Ele é apagado aqui, com o que foi decidido sobre ele. Trabalho que o traga pergunta de novo.</translation>
    </message>
    <message>
        <source>Forget</source>
        <translation>Esquecer</translation>
    </message>
    <message>
        <source>Forget the program {program}?</source>
        <translation>Esquecer o programa {program}?</translation>
    </message>
    <message>
        <source>no machine &quot;{machine}&quot; is trusted here</source>
        <translation>nenhuma máquina &quot;{machine}&quot; é de confiança aqui</translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) will run</source>
        <translation>
            <numerusform>%n passo vai correr</numerusform>
            <numerusform>%n passos vão correr</numerusform>
        </translation>
    </message>
    <message>
        <source>{said}, {kept}</source>
        <translation>{said}, {kept}</translation>
    </message>
    <message numerus="yes">
        <source>%n unchanged and kept</source>
        <comment>steps</comment>
        <translation>
            <numerusform>%n não mudou e fica</numerusform>
            <numerusform>%n não mudaram e ficam</numerusform>
        </translation>
    </message>
    <message>
        <source>about {span}</source>
        <translation>cerca de {span}</translation>
    </message>
    <message>
        <source>{step}: {what}</source>
        <translation>{step}: {what}</translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <comment>steps</comment>
        <translation>
            <numerusform>mais %n</numerusform>
            <numerusform>mais %n</numerusform>
        </translation>
    </message>
    <message>
        <source>new</source>
        <translation>novo</translation>
    </message>
    <message>
        <source>another script</source>
        <translation>outro script</translation>
    </message>
    <message>
        <source>other data</source>
        <translation>outros dados</translation>
    </message>
    <message>
        <source>other parameters</source>
        <translation>outros parâmetros</translation>
    </message>
    <message>
        <source>needs something else</source>
        <translation>precisa de outra coisa</translation>
    </message>
    <message>
        <source>asks something else</source>
        <translation>pede outra coisa</translation>
    </message>
    <message>
        <source>runs</source>
        <translation>corre</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>fica</translation>
    </message>
    <message>
        <source>adding {name} ({number} of {count})</source>
        <translation>a adicionar {name} ({number} de {count})</translation>
    </message>
    <message>
        <source>publishing {name}</source>
        <translation>a publicar {name}</translation>
    </message>
    <message>
        <source>takes {path} along, which lies outside of its folder: look whether that may leave this computer, and confirm it</source>
        <translation>leva consigo {path}, que está fora da sua pasta: veja se isso pode sair deste computador e confirme</translation>
    </message>
    <message>
        <source>there is no step {name}</source>
        <translation>não há nenhum passo {name}</translation>
    </message>
    <message>
        <source>The programs that run here cannot be listed ({why}): write their names yourself.</source>
        <translation>Os programas em execução aqui não podem ser listados ({why}): escreva os nomes no campo.</translation>
    </message>
    <message>
        <source>From running programs …</source>
        <translation>Dos programas em execução …</translation>
    </message>
    <message>
        <source>No program of yours runs at the moment</source>
        <translation>De momento nenhum programa seu está em execução</translation>
    </message>
    <message>
        <source>{name} is fixed by {file}, which only an administrator of this machine changes</source>
        <translation>{name} está fixado em {file}, que só um administrador desta máquina pode mudar</translation>
    </message>
    <message>
        <source>Fixed for this computer by {file}; only an administrator can change it.</source>
        <translation>Fixado para este computador em {file}; só um administrador pode mudar isto.</translation>
    </message>
    <message>
        <source>Wingbeat {version} runs, and no other version is installed here</source>
        <translation>O Wingbeat {version} corre, e nenhuma outra versão está instalada aqui</translation>
    </message>
    <message>
        <source>deliver: an agent that is a service writes into no folders of people; fetch results</source>
        <translation>deliver: um agente que é um serviço não escreve em pastas de pessoas; vá buscar os resultados</translation>
    </message>
    <message>
        <source>{workflow} is work of {submitter}: they decide, or an administrator of this machine</source>
        <translation>{workflow} é trabalho de {submitter}: quem decide é essa pessoa ou um administrador desta máquina</translation>
    </message>
    <message>
        <source>{name} is a helper: it runs what others submit and asks for nothing</source>
        <translation>{name} é ajudante: executa o que outros submetem e não pede nada</translation>
    </message>
    <message>
        <source>these data are for whose work it is, and whom they share that with</source>
        <translation>estes dados são para quem é dono do trabalho, e para aqueles com quem o partilha</translation>
    </message>
    <message>
        <source>{verb} is for the owner of {name} and the administrators of the flock</source>
        <translation>{verb} é para o dono de {name} e os administradores do bando</translation>
    </message>
    <message>
        <source>{workflow} is work of {submitter} on {host}: they decide, or whom they share it with</source>
        <translation>{workflow} é trabalho de {submitter} em {host}: decide quem o submeteu, ou com quem o partilha</translation>
    </message>
    <message>
        <source>the name {name} has more than {most} characters</source>
        <translation>o nome {name} tem mais de {most} caracteres</translation>
    </message>
    <message>
        <source>the name {name} has a character that cannot be seen (U+{code}): leave it out</source>
        <translation>o nome {name} tem um carácter que não se vê (U+{code}): retire-o</translation>
    </message>
    <message>
        <source>the name {name} is written in parts of letters: write it in whole letters (NFC)</source>
        <translation>o nome {name} está escrito em partes de letras: escreva-o em letras inteiras (NFC)</translation>
    </message>
    <message>
        <source>From outside of its folder</source>
        <translation>De fora da sua pasta</translation>
    </message>
    <message numerus="yes">
        <source>%n thing(s) from outside of its folder would be sent. May they?</source>
        <translation>
            <numerusform>%n coisa de fora da sua pasta seria enviada. Pode ser?</numerusform>
            <numerusform>%n coisas de fora da sua pasta seriam enviadas. Podem ser?</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s), {size}, leave this computer</source>
        <translation>
            <numerusform>%n ficheiro, {size}, sai deste computador</numerusform>
            <numerusform>%n ficheiros, {size}, saem deste computador</numerusform>
        </translation>
    </message>
    <message>
        <source>{path} is or holds a folder of Wingbeat itself ({folder}): its keys are never sent</source>
        <translation>{path} é ou contém uma pasta do próprio Wingbeat ({folder}): as suas chaves nunca são enviadas</translation>
    </message>
    <message>
        <source>{path} is a folder of Wingbeat itself ({folder}): nothing else is written there</source>
        <translation>{path} é uma pasta do próprio Wingbeat ({folder}): nada mais é lá escrito</translation>
    </message>
    <message>
        <source>{name} lies in the key store of this computer.</source>
        <translation>{name} fica no cofre de chaves deste computador.</translation>
    </message>
    <message>
        <source>{name} lies in a file that only your account can read, for no key store is open here.</source>
        <translation>{name} fica num ficheiro que só a sua conta pode ler, pois nenhum cofre de chaves está aberto aqui.</translation>
    </message>
    <message>
        <source>{name} is laid down for all by an administrator.</source>
        <translation>{name} foi definido para todos por um administrador.</translation>
    </message>
    <message>
        <source>The secret {name}</source>
        <translation>O segredo {name}</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Guardar</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Valor</translation>
    </message>
    <message>
        <source>Programs that ask for it and that you have allowed that can read it.</source>
        <translation>Os programas que o pedem e têm a sua permissão podem lê-lo.</translation>
    </message>
    <message>
        <source>network (all of it, for no computer can keep a program to the local one)</source>
        <translation>rede (toda ela, pois nenhum computador consegue limitar um programa à rede local)</translation>
    </message>
    <message>
        <source>reading {path}</source>
        <translation>ler {path}</translation>
    </message>
    <message>
        <source>the device {name}</source>
        <translation>o dispositivo {name}</translation>
    </message>
    <message>
        <source>the secret {name}</source>
        <translation>o segredo {name}</translation>
    </message>
    <message>
        <source>{program} asks for {wants}.</source>
        <translation>{program} pede: {wants}.</translation>
    </message>
    <message>
        <source>No program may read {paths}: keys, settings or somebody&apos;s own things lie there.</source>
        <translation>Nenhum programa pode ler {paths}: lá ficam chaves, definições ou coisas pessoais de alguém.</translation>
    </message>
    <message>
        <source>{name} has no step {step}</source>
        <translation>{name} não tem a etapa {step}</translation>
    </message>
    <message>
        <source>Reference system of the scans</source>
        <translation>Sistema de referência das varreduras</translation>
    </message>
    <message>
        <source>What their heights are</source>
        <translation>O que são as altitudes delas</translation>
    </message>
    <message>
        <source>Reference system to work in</source>
        <translation>Sistema de referência em que se trabalha</translation>
    </message>
    <message>
        <source>Map of the line</source>
        <translation>Mapa da linha</translation>
    </message>
    <message>
        <source>Reference system of the map</source>
        <translation>Sistema de referência do mapa</translation>
    </message>
    <message>
        <source>Name of the line</source>
        <translation>Nome da linha</translation>
    </message>
    <message>
        <source>Day of the flight</source>
        <translation>Dia do voo</translation>
    </message>
    <message>
        <source>Length of a tile in metres</source>
        <translation>Comprimento de um trecho em metros</translation>
    </message>
    <message>
        <source>Where the points are</source>
        <translation>Onde estão os pontos</translation>
    </message>
    <message>
        <source>From the antenna to the scanner: x y z in metres</source>
        <translation>Da antena ao scanner: x y z em metros</translation>
    </message>
    <message>
        <source>Boresight: roll pitch heading in degrees</source>
        <translation>Alinhamento: rolamento, arfagem e rumo em graus</translation>
    </message>
    <message>
        <source>In their place on the ground</source>
        <translation>No seu lugar no terreno</translation>
    </message>
    <message>
        <source>In the scanner&apos;s frame</source>
        <translation>No referencial do scanner</translation>
    </message>
    <message>
        <source>Inspect this flight</source>
        <translation>Inspecionar este voo</translation>
    </message>
    <message>
        <source>More about the flight …</source>
        <translation>Mais sobre o voo …</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Continuar</translation>
    </message>
    <message>
        <source>Where plan and workflow go</source>
        <translation>Para onde vão o plano e o fluxo</translation>
    </message>
    <message>
        <source>Plan and workflow go to {folder}</source>
        <translation>O plano e o fluxo vão para {folder}</translation>
    </message>
    <message>
        <source>Looking at the flight …</source>
        <translation>Olhando o voo …</translation>
    </message>
    <message>
        <source>{files} in {folder}</source>
        <translation>{files} em {folder}</translation>
    </message>
    <message>
        <source>Nothing is guessed and nothing is left out in silence.</source>
        <translation>Nada é adivinhado e nada é deixado de fora em silêncio.</translation>
    </message>
    <message numerus="yes">
        <source>%n tile(s)</source>
        <translation>
            <numerusform>%n trecho</numerusform>
            <numerusform>%n trechos</numerusform>
        </translation>
    </message>
    <message>
        <source>{tiles} along {metres} m of line, {points} points. Steps: {steps}.</source>
        <translation>{tiles} ao longo de {metres} m de linha, {points} pontos. Etapas: {steps}.</translation>
    </message>
    <message>
        <source>It lies in the share {name}: only tiles travel.</source>
        <translation>Fica no compartilhamento {name}: só os trechos viajam.</translation>
    </message>
    <message>
        <source>The whole folder, {size}, is brought into the flock.</source>
        <translation>A pasta inteira, {size}, é trazida para o bando.</translation>
    </message>
    <message>
        <source>scans</source>
        <translation>varreduras</translation>
    </message>
    <message>
        <source>trajectories</source>
        <translation>trajetórias</translation>
    </message>
    <message>
        <source>videos</source>
        <translation>vídeos</translation>
    </message>
    <message>
        <source>photographs</source>
        <translation>fotografias</translation>
    </message>
    <message>
        <source>lists of marks</source>
        <translation>listas de marcas</translation>
    </message>
    <message>
        <source>terrain maps</source>
        <translation>mapas do terreno</translation>
    </message>
    <message>
        <source>maps of the route</source>
        <translation>mapas da rota</translation>
    </message>
    <message>
        <source>“{text}” has to be three numbers, as 0.1 -0.2 0.35</source>
        <translation>“{text}” tem de ser três números, como 0.1 -0.2 0.35</translation>
    </message>
    <message>
        <source>Who runs what is decided by</source>
        <translation>Quem executa o quê é decidido por</translation>
    </message>
    <message>
        <source>Rules</source>
        <translation>Regras</translation>
    </message>
    <message>
        <source>Who may do what</source>
        <translation>Quem pode fazer o quê</translation>
    </message>
    <message>
        <source>Members</source>
        <translation>Membros</translation>
    </message>
    <message>
        <source>Recovery phrase</source>
        <translation>Frase de recuperação</translation>
    </message>
    <message>
        <source>only where there are not two administrators</source>
        <translation>só onde não há dois administradores</translation>
    </message>
    <message>
        <source>Only helps</source>
        <translation>Só ajuda</translation>
    </message>
    <message>
        <source>May submit</source>
        <translation>Pode enviar</translation>
    </message>
    <message>
        <source>Administrator …</source>
        <translation>Administrador …</translation>
    </message>
    <message>
        <source>Keeper …</source>
        <translation>Guardiã …</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Código</translation>
    </message>
    <message>
        <source>Pair</source>
        <translation>Emparelhar</translation>
    </message>
    <message>
        <source>Not my machine any more …</source>
        <translation>Já não é máquina minha …</translation>
    </message>
    <message>
        <source>My other computer</source>
        <translation>O meu outro computador</translation>
    </message>
    <message>
        <source>It can invite, expel and appoint others. To take that back takes two other administrators, or one and the recovery phrase.</source>
        <translation>Pode convidar, expulsar e nomear outros. Para o retirar são precisos outros dois administradores, ou um e a frase de recuperação.</translation>
    </message>
    <message>
        <source>It gets the flock&apos;s key, and a key that was seen cannot be taken back: what it lets in counts until it is no keeper any more.</source>
        <translation>Recebe a chave do bando, e uma chave que foi vista não pode ser retirada: quem ela deixa entrar conta até deixar de ser guardiã.</translation>
    </message>
    <message>
        <source>Make {name} an administrator?</source>
        <translation>Tornar {name} administrador?</translation>
    </message>
    <message>
        <source>What is changed here is signed with this computer&apos;s key, and all machines check it. What concerns an administrator or keeper takes two others, who do the same.</source>
        <translation>O que se muda aqui é assinado com a chave deste computador, e todas as máquinas o verificam. O que toca a um administrador ou guardiã requer dois outros, que fazem o mesmo.</translation>
    </message>
    <message>
        <source>the code that it shows</source>
        <translation>o código que ele mostra</translation>
    </message>
    <message>
        <source>Show a code</source>
        <translation>Mostrar um código</translation>
    </message>
    <message>
        <source>Let {name} administer the flock no more?</source>
        <translation>Retirar a {name} a administração do bando?</translation>
    </message>
    <message>
        <source>Make {name} a keeper?</source>
        <translation>Tornar {name} guardiã?</translation>
    </message>
    <message>
        <source>Let {name} be a keeper no more?</source>
        <translation>Retirar {name} de guardiã?</translation>
    </message>
    <message>
        <source>Appoint</source>
        <translation>Nomear</translation>
    </message>
    <message>
        <source>Take it back</source>
        <translation>Retirar</translation>
    </message>
    <message>
        <source>Leave it</source>
        <translation>Deixar como está</translation>
    </message>
    <message>
        <source>Yours in this flock: {machines}</source>
        <translation>Suas neste bando: {machines}</translation>
    </message>
    <message>
        <source>Type this on your other computer, within ten minutes: {code}</source>
        <translation>Escreva isto no seu outro computador, dentro de dez minutos: {code}</translation>
    </message>
    <message>
        <source>Take {name} away from its person?</source>
        <translation>Retirar {name} à sua pessoa?</translation>
    </message>
    <message>
        <source>It speaks for that person no more, for ever under its key. What was submitted there stays that person&apos;s.</source>
        <translation>Deixa de falar por essa pessoa, para sempre com a sua chave. O que lá foi submetido continua a ser dessa pessoa.</translation>
    </message>
    <message>
        <source>Take away</source>
        <translation>Retirar</translation>
    </message>
    <message>
        <source>{name}: done</source>
        <translation>{name}: feito</translation>
    </message>
    <message>
        <source>{name}: {who} said so; another administrator has to do the same</source>
        <translation>{name}: {who} disse-o; outro administrador tem de fazer o mesmo</translation>
    </message>
    <message>
        <source>Person</source>
        <translation>Pessoa</translation>
    </message>
    <message>
        <source>May</source>
        <translation>Pode</translation>
    </message>
    <message>
        <source>may submit, invite, expel and appoint others</source>
        <translation>pode enviar, convidar, expulsar e nomear outros</translation>
    </message>
    <message>
        <source>only runs what others submit</source>
        <translation>só executa o que outros enviam</translation>
    </message>
    <message>
        <source>may submit and read own work</source>
        <translation>pode enviar trabalho, e ler o seu</translation>
    </message>
    <message>
        <source>{may}; holds the flock&apos;s key</source>
        <translation>{may}; tem a chave do bando</translation>
    </message>
    <message>
        <source>No administrator …</source>
        <translation>Retirar administrador …</translation>
    </message>
    <message>
        <source>No keeper …</source>
        <translation>Retirar guardiã …</translation>
    </message>
    <message>
        <source>It can then change nothing in the flock any more, and only other administrators can give that back. It keeps its work.</source>
        <translation>Deixa de poder mudar o que quer que seja no bando, e só outros administradores lho podem devolver. O seu trabalho mantém-se.</translation>
    </message>
    <message>
        <source>Whom it lets in from then on does not belong. The flock&apos;s key that it has seen cannot be taken back.</source>
        <translation>Quem ela admitir a partir daí não pertence ao bando. A chave do bando, que já viu, não pode ser retirada.</translation>
    </message>
    <message>
        <source>This computer may submit, and act on its own work.</source>
        <translation>Este computador pode enviar, e agir sobre o seu próprio trabalho.</translation>
    </message>
    <message>
        <source>This computer administers the flock: whoever sits here can invite, expel and appoint others, read what is noted on all machines, and stop any work.</source>
        <translation>Este computador administra o bando: quem aqui se senta pode convidar, expulsar e nomear outros, ler o que está anotado em todas as máquinas e parar qualquer trabalho.</translation>
    </message>
    <message>
        <source>This computer only runs what others submit.</source>
        <translation>Este computador só executa o que outros enviam.</translation>
    </message>
    <message>
        <source>It holds the flock&apos;s key, by which machines are let in.</source>
        <translation>Guarda a chave do bando, com a qual se admitem máquinas.</translation>
    </message>
    <message>
        <source>The flock has no administrators yet, so each keeper may do everything in it.</source>
        <translation>O bando ainda não tem administradores, por isso cada guardiã pode fazer tudo nele.</translation>
    </message>
    <message>
        <source>Only administrators can change something here: {names}.</source>
        <translation>Só administradores podem mudar algo aqui: {names}.</translation>
    </message>
    <message>
        <source>this machine is a helper in its flock: it runs what others submit, and submits nothing</source>
        <translation>esta máquina é ajudante no seu bando: executa o que outros submetem e não submete nada</translation>
    </message>
    <message>
        <source>it is cut off: others know of entries up to {number}</source>
        <translation>está cortada: outras máquinas sabem de entradas até {number}</translation>
    </message>
    <message>
        <source>the entries before it are missing</source>
        <translation>faltam as entradas antes dela</translation>
    </message>
    <message>
        <source>it does not follow the entry before</source>
        <translation>não se segue à entrada anterior</translation>
    </message>
    <message>
        <source>others know it otherwise: it was written anew</source>
        <translation>outras máquinas conhecem-na de outra forma: foi escrita de novo</translation>
    </message>
    <message>
        <source>it is not signed with the key that it names</source>
        <translation>não está assinada com a chave que indica</translation>
    </message>
    <message>
        <source>Shared with</source>
        <translation>Partilhado com</translation>
    </message>
    <message>
        <source>named machines …</source>
        <translation>certas máquinas …</translation>
    </message>
    <message>
        <source>They may read it, cancel it, try it again, change how urgent it is and mark its steps done, as its submitter may.</source>
        <translation>Podem lê-lo, cancelá-lo, tentar de novo, mudar a urgência e marcar passos como feitos, tal como quem o enviou.</translation>
    </message>
    <message>
        <source>There is no other machine yet</source>
        <translation>Ainda não há outra máquina</translation>
    </message>
    <message>
        <source>the header&apos;s count by number of return is not that of its points</source>
        <translation>a contagem do cabeçalho por número de retorno não é a dos pontos</translation>
    </message>
    <message>
        <source>points of nothing but zeros; they are left out</source>
        <translation>pontos só com zeros; ficam de fora</translation>
    </message>
    <message>
        <source>points that somebody withheld; they are left out</source>
        <translation>pontos que alguém reteve; ficam de fora</translation>
    </message>
    <message>
        <source>points without a time that is a number</source>
        <translation>pontos sem um tempo que seja um número</translation>
    </message>
    <message>
        <source>points outside the box of the header</source>
        <translation>pontos fora da caixa do cabeçalho</translation>
    </message>
    <message>
        <source>it has {count} points</source>
        <translation>tem {count} pontos</translation>
    </message>
    <message>
        <source>at most {most}</source>
        <translation>no máximo {most}</translation>
    </message>
    <message>
        <source>cut it into tiles</source>
        <translation>corte-o em blocos</translation>
    </message>
    <message>
        <source>{points} points</source>
        <translation>{points} pontos</translation>
    </message>
    <message>
        <source>what it says cannot be read ({why})</source>
        <translation>o que ele diz não se consegue ler ({why})</translation>
    </message>
    <message>
        <source>its horizontal reference system is not known: {why}; name it with --crs EPSG:…</source>
        <translation>o seu sistema de referência horizontal não é conhecido: {why}; indique-o, como EPSG:28992</translation>
    </message>
    <message>
        <source>the file says none</source>
        <translation>o ficheiro não diz nenhum</translation>
    </message>
    <message>
        <source>it does not say what its heights are; name it with --heights EPSG:…, --heights ellipsoid, or --heights metres where only differences matter</source>
        <translation>não diz o que são as suas altitudes; indique-o, como EPSG:5709, ellipsoid, ou metres onde só contam diferenças</translation>
    </message>
    <message>
        <source>its places are in degrees ({name}), in which no distance can be measured; name a projected system with --target EPSG:…</source>
        <translation>os seus lugares estão em graus ({name}), em que não se mede distância nenhuma; indique um sistema projetado em que trabalhar, como EPSG:28992</translation>
    </message>
    <message>
        <source>--heights {heights} is no vertical reference system: {vertical}</source>
        <translation>{heights} não é um sistema de referência vertical: {vertical}</translation>
    </message>
    <message>
        <source>heights are {one} in one place and {other} in another: name one vertical system for both</source>
        <translation>as altitudes são {one} num lugar e {other} noutro: indique um sistema vertical para ambos</translation>
    </message>
    <message>
        <source>there is no way from {source} to {target}: {error}</source>
        <translation>não há caminho de {source} para {target}: {error}</translation>
    </message>
    <message>
        <source>from {source} with heights {heights} to {target} with heights {other} needs the grid {grid}, which is not on this machine; put it into {folder} (nothing is fetched)</source>
        <translation>de {source} com altitudes {heights} para {target} com altitudes {other} é precisa a grelha {grid}, que não está nesta máquina; ponha-a em {folder} (nada se descarrega)</translation>
    </message>
    <message>
        <source>there is no way from {source} to {target}</source>
        <translation>não há caminho de {source} para {target}</translation>
    </message>
    <message>
        <source>its WKT is empty</source>
        <translation>o seu WKT está vazio</translation>
    </message>
    <message>
        <source>its WKT begins with {text}</source>
        <translation>o seu WKT começa por {text}</translation>
    </message>
    <message>
        <source>its GeoKeys are empty</source>
        <translation>as suas GeoKeys estão vazias</translation>
    </message>
    <message>
        <source>its GeoKeys define a system of their own</source>
        <translation>as suas GeoKeys definem um sistema próprio</translation>
    </message>
    <message>
        <source>its GeoKeys name EPSG:{code}</source>
        <translation>as suas GeoKeys indicam EPSG:{code}</translation>
    </message>
    <message>
        <source>its GeoKeys name EPSG:{code} and another unit of length</source>
        <translation>as suas GeoKeys indicam EPSG:{code} e outra unidade de comprimento</translation>
    </message>
    <message>
        <source>--{parameter} {name} is no reference system: name one such as EPSG:28992</source>
        <translation>{name} não é um sistema de referência ({parameter}): indique um, como EPSG:28992</translation>
    </message>
    <message>
        <source>copy it again from where it came</source>
        <translation>copie-o de novo de onde veio</translation>
    </message>
    <message>
        <source>write it anew with the program that made it</source>
        <translation>escreva-o de novo com o programa que o fez</translation>
    </message>
    <message>
        <source>{file}: {found}; expected {expected}; {to_do}</source>
        <translation>{file}: {found}; esperava-se {expected}; {to_do}</translation>
    </message>
    <message>
        <source>its header says 0 points and {bytes} bytes of points follow</source>
        <translation>o cabeçalho diz 0 pontos e seguem-se {bytes} bytes de pontos</translation>
    </message>
    <message>
        <source>a count of them</source>
        <translation>uma contagem deles</translation>
    </message>
    <message>
        <source>it is empty</source>
        <translation>está vazio</translation>
    </message>
    <message>
        <source>a LAS or LAZ file</source>
        <translation>um ficheiro LAS ou LAZ</translation>
    </message>
    <message>
        <source>it begins with {head}</source>
        <translation>começa por {head}</translation>
    </message>
    <message>
        <source>it is no LAS or LAZ file</source>
        <translation>não é um ficheiro LAS nem LAZ</translation>
    </message>
    <message>
        <source>it has {size} bytes</source>
        <translation>tem {size} bytes</translation>
    </message>
    <message>
        <source>a header of {least}</source>
        <translation>um cabeçalho de {least}</translation>
    </message>
    <message>
        <source>it is LAS {major}.{minor}</source>
        <translation>é LAS {major}.{minor}</translation>
    </message>
    <message>
        <source>1.0 to 1.5</source>
        <translation>1.0 a 1.5</translation>
    </message>
    <message>
        <source>write it anew as LAS 1.4</source>
        <translation>escreva-o de novo como LAS 1.4</translation>
    </message>
    <message>
        <source>its header says that it has {size} bytes and points begin at {points_at}</source>
        <translation>o cabeçalho diz que tem {size} bytes e que os pontos começam em {points_at}</translation>
    </message>
    <message>
        <source>at least {least} bytes, and points behind them</source>
        <translation>pelo menos {least} bytes, e os pontos depois deles</translation>
    </message>
    <message>
        <source>its points begin at byte {points_at} of {size}</source>
        <translation>os pontos começam no byte {points_at} de {size}</translation>
    </message>
    <message>
        <source>a place within the file, below {most}</source>
        <translation>um lugar dentro do ficheiro, abaixo de {most}</translation>
    </message>
    <message>
        <source>the header of LAS 1.4 has its count only where older versions have it</source>
        <translation>o cabeçalho de LAS 1.4 só tem a contagem onde as versões antigas a têm</translation>
    </message>
    <message>
        <source>the header has two counts that differ</source>
        <translation>o cabeçalho tem duas contagens que diferem</translation>
    </message>
    <message>
        <source>its points are of format {point_format} with {record_bytes} bytes each</source>
        <translation>os pontos são do formato {point_format} com {record_bytes} bytes cada</translation>
    </message>
    <message>
        <source>its scale factors are {listed}</source>
        <translation>os fatores de escala são {listed}</translation>
    </message>
    <message>
        <source>three numbers above 0, without which all points fall on one place</source>
        <translation>três números acima de 0, sem os quais todos os pontos caem num só lugar</translation>
    </message>
    <message>
        <source>its scale factors and offsets lead beyond every place</source>
        <translation>os fatores de escala e deslocamentos levam para além de qualquer lugar</translation>
    </message>
    <message>
        <source>coordinates below {most}</source>
        <translation>coordenadas abaixo de {most}</translation>
    </message>
    <message>
        <source>variable length records that the header counts and the file lacks</source>
        <translation>registos de comprimento variável que o cabeçalho conta e faltam no ficheiro</translation>
    </message>
    <message>
        <source>extended records that the header counts and the file lacks</source>
        <translation>registos estendidos que o cabeçalho conta e faltam no ficheiro</translation>
    </message>
    <message>
        <source>its header says {points} points and the file has room for {room}</source>
        <translation>o cabeçalho diz {points} pontos e no ficheiro cabem {room}</translation>
    </message>
    <message>
        <source>{wanted} bytes instead of {size}</source>
        <translation>{wanted} bytes em vez de {size}</translation>
    </message>
    <message>
        <source>records behind the last point that the header counts</source>
        <translation>registos depois do último ponto que o cabeçalho conta</translation>
    </message>
    <message>
        <source>its table of chunks cannot be read</source>
        <translation>a tabela de pedaços não se consegue ler</translation>
    </message>
    <message>
        <source>it does not say how it is compressed</source>
        <translation>não diz como está comprimido</translation>
    </message>
    <message>
        <source>the record of LASzip</source>
        <translation>o registo de LASzip</translation>
    </message>
    <message>
        <source>it has {items} compressed parts</source>
        <translation>tem {items} partes comprimidas</translation>
    </message>
    <message>
        <source>what each of them is</source>
        <translation>o que é cada uma delas</translation>
    </message>
    <message>
        <source>its points are compressed by LAZ v{newest}</source>
        <translation>os pontos estão comprimidos por LAZ v{newest}</translation>
    </message>
    <message>
        <source>v1 to v{most}</source>
        <translation>v1 a v{most}</translation>
    </message>
    <message>
        <source>write it anew as LAZ of LAS 1.4, or as LAS</source>
        <translation>escreva-o de novo como LAZ de LAS 1.4, ou como LAS</translation>
    </message>
    <message>
        <source>it is LAZ of LAS {version}</source>
        <translation>é LAZ de LAS {version}</translation>
    </message>
    <message>
        <source>LAZ to 1.4</source>
        <translation>LAZ até 1.4</translation>
    </message>
    <message>
        <source>write it anew as LAS</source>
        <translation>escreva-o de novo como LAS</translation>
    </message>
    <message>
        <source>it is compressed by way {way} with coder {coder}</source>
        <translation>está comprimido do modo {way} com o codificador {coder}</translation>
    </message>
    <message>
        <source>way {way} with coder 0 for points of format {point_format}</source>
        <translation>o modo {way} com o codificador 0 para pontos do formato {point_format}</translation>
    </message>
    <message>
        <source>its compressed parts have {bytes_told} bytes together</source>
        <translation>as partes comprimidas têm juntas {bytes_told} bytes</translation>
    </message>
    <message>
        <source>{record_bytes}, as its header says of a point</source>
        <translation>{record_bytes}, como o cabeçalho diz de um ponto</translation>
    </message>
    <message>
        <source>its chunks have {chunk_points} points</source>
        <translation>os pedaços têm {chunk_points} pontos</translation>
    </message>
    <message>
        <source>one to {most}</source>
        <translation>de um a {most}</translation>
    </message>
    <message>
        <source>its table of chunks lies at byte {at} of {size}</source>
        <translation>a tabela de pedaços fica no byte {at} de {size}</translation>
    </message>
    <message>
        <source>a place between {first} and {size}</source>
        <translation>um lugar entre {first} e {size}</translation>
    </message>
    <message>
        <source>it has {chunks} chunks of compressed points</source>
        <translation>tem {chunks} pedaços de pontos comprimidos</translation>
    </message>
    <message>
        <source>{wanted} for the {points} points that its header says</source>
        <translation>{wanted} para os {points} pontos que o cabeçalho diz</translation>
    </message>
    <message>
        <source>its chunk {number} ends at byte {at}</source>
        <translation>o pedaço {number} acaba no byte {at}</translation>
    </message>
    <message>
        <source>at most {size}</source>
        <translation>no máximo {size}</translation>
    </message>
    <message>
        <source>its chunks have {points} points</source>
        <translation>os pedaços têm {points} pontos</translation>
    </message>
    <message>
        <source>{points}, as its header says</source>
        <translation>{points}, como diz o cabeçalho</translation>
    </message>
    <message>
        <source>{wanted} points within {length} bytes</source>
        <translation>{wanted} pontos em {length} bytes</translation>
    </message>
    <message>
        <source>its table of chunks cannot be read ({error})</source>
        <translation>a tabela de pedaços não se consegue ler ({error})</translation>
    </message>
    <message>
        <source>one that LASzip wrote</source>
        <translation>uma que LASzip tenha escrito</translation>
    </message>
    <message>
        <source>marks without a place and without a time</source>
        <translation>marcas sem lugar e sem tempo</translation>
    </message>
    <message>
        <source>it is large</source>
        <translation>é grande</translation>
    </message>
    <message>
        <source>at most {most} bytes</source>
        <translation>no máximo {most} bytes</translation>
    </message>
    <message>
        <source>cut it</source>
        <translation>corte-o</translation>
    </message>
    <message>
        <source>its first line is {heading}</source>
        <translation>a primeira linha é {heading}</translation>
    </message>
    <message>
        <source>columns named latitude and longitude, or time, and text</source>
        <translation>colunas chamadas latitude e longitude, ou time, e text</translation>
    </message>
    <message>
        <source>name them</source>
        <translation>dê-lhes nome</translation>
    </message>
    <message>
        <source>it defines words of its own (&lt;!…&gt;)</source>
        <translation>define palavras próprias (&lt;!…&gt;)</translation>
    </message>
    <message>
        <source>plain GPX</source>
        <translation>GPX simples</translation>
    </message>
    <message>
        <source>it is no GPX ({error})</source>
        <translation>não é GPX ({error})</translation>
    </message>
    <message>
        <source>waypoints</source>
        <translation>pontos de passagem</translation>
    </message>
    <message>
        <source>it cannot be shown ({error})</source>
        <translation>não se consegue mostrar ({error})</translation>
    </message>
    <message>
        <source>a photograph</source>
        <translation>uma fotografia</translation>
    </message>
    <message>
        <source>it is no photograph</source>
        <translation>não é uma fotografia</translation>
    </message>
    <message>
        <source>a JPEG</source>
        <translation>um JPEG</translation>
    </message>
    <message>
        <source>it cannot be opened ({error})</source>
        <translation>não se consegue abrir ({error})</translation>
    </message>
    <message>
        <source>{file}: there is no scan, no file named .las or .laz</source>
        <translation>{file}: não há varrimento, nenhum ficheiro .las ou .laz</translation>
    </message>
    <message>
        <source>there are {count} maps: name the one with --route</source>
        <translation>há {count} mapas: indique qual é o da linha</translation>
    </message>
    <message>
        <source>no route was named: tiles lie along the principal axis</source>
        <translation>não foi indicado percurso: os blocos seguem o eixo principal</translation>
    </message>
    <message>
        <source>{folder} is no folder</source>
        <translation>{folder} não é uma pasta</translation>
    </message>
    <message>
        <source>{folder} has more than {most} files: name one flight</source>
        <translation>{folder} tem mais de {most} ficheiros: indique um só voo</translation>
    </message>
    <message>
        <source>{file}: {why}</source>
        <translation>{file}: {why}</translation>
    </message>
    <message>
        <source>photographs that do not say where they were taken</source>
        <translation>fotografias que não dizem onde foram tiradas</translation>
    </message>
    <message>
        <source>points in the scanner&apos;s frame have to go somewhere: --target EPSG:…</source>
        <translation>os pontos no referencial do scanner têm de ir para algum lado: indique o sistema em que trabalhar, como EPSG:28992</translation>
    </message>
    <message>
        <source>points in the scanner&apos;s frame need a route: name it with --route</source>
        <translation>os pontos no referencial do scanner precisam de um percurso: indique o mapa da linha</translation>
    </message>
    <message>
        <source>{file} cannot be written: {error}</source>
        <translation>não se consegue escrever {file}: {error}</translation>
    </message>
    <message>
        <source>{date} is no day: say it as 2026-05-04</source>
        <translation>{date} não é um dia: escreva-o como 2026-05-04</translation>
    </message>
    <message>
        <source>{name} is {length} m and has to be {least} to {most} m</source>
        <translation>{name} tem {length} m e tem de ter de {least} a {most} m</translation>
    </message>
    <message>
        <source>lever arm and boresight have to be numbers</source>
        <translation>braço de alavanca e boresight têm de ser números</translation>
    </message>
    <message>
        <source>it has no line</source>
        <translation>não tem nenhuma linha</translation>
    </message>
    <message>
        <source>the route as lines</source>
        <translation>o percurso em linhas</translation>
    </message>
    <message>
        <source>export the route</source>
        <translation>exporte o percurso</translation>
    </message>
    <message>
        <source>it has too many places</source>
        <translation>tem lugares a mais</translation>
    </message>
    <message>
        <source>thin it</source>
        <translation>reduza-o</translation>
    </message>
    <message>
        <source>its line has no length</source>
        <translation>a sua linha não tem comprimento</translation>
    </message>
    <message>
        <source>at least {least} m</source>
        <translation>pelo menos {least} m</translation>
    </message>
    <message>
        <source>there are too few points to see along what they lie: name a route</source>
        <translation>há poucos pontos para ver ao longo de que ficam: indique um percurso</translation>
    </message>
    <message>
        <source>all points lie on one place: name a route</source>
        <translation>todos os pontos estão num só lugar: indique um percurso</translation>
    </message>
    <message>
        <source>it has {count} shapes</source>
        <translation>tem {count} formas</translation>
    </message>
    <message>
        <source>it cannot be read ({error})</source>
        <translation>não se consegue ler ({error})</translation>
    </message>
    <message>
        <source>a map with the route</source>
        <translation>um mapa com o percurso</translation>
    </message>
    <message>
        <source>shapes of the route&apos;s map that are no lines</source>
        <translation>formas do mapa do percurso que não são linhas</translation>
    </message>
    <message>
        <source>{file}: it does not say its reference system; name it with --route-crs EPSG:…</source>
        <translation>{file}: não diz o seu sistema de referência; indique-o, como EPSG:4326</translation>
    </message>
    <message>
        <source>places of it lie nowhere in the target system</source>
        <translation>há lugares dele que não existem no sistema de destino</translation>
    </message>
    <message>
        <source>the route</source>
        <translation>o percurso</translation>
    </message>
    <message>
        <source>it lies nowhere</source>
        <translation>não diz onde fica</translation>
    </message>
    <message>
        <source>a map that says where</source>
        <translation>um mapa que diga onde fica</translation>
    </message>
    <message>
        <source>export it</source>
        <translation>exporte-o</translation>
    </message>
    <message>
        <source>it has {count} bands and the reference system {name}</source>
        <translation>tem {count} bandas e o sistema de referência {name}</translation>
    </message>
    <message>
        <source>none</source>
        <translation>nenhum</translation>
    </message>
    <message>
        <source>one band of heights and a reference system</source>
        <translation>uma banda de altitudes e um sistema de referência</translation>
    </message>
    <message>
        <source>leave it out or export the terrain anew</source>
        <translation>deixe-o de fora ou exporte o terreno de novo</translation>
    </message>
    <message>
        <source>{file}: a tile has more than {cells_max} cells; thin it</source>
        <translation>{file}: um bloco tem mais de {cells_max} células; reduza-o</translation>
    </message>
    <message>
        <source>a GeoTIFF of heights</source>
        <translation>um GeoTIFF de altitudes</translation>
    </message>
    <message>
        <source>records of the way without a time or a place</source>
        <translation>registos do caminho sem tempo ou sem lugar</translation>
    </message>
    <message>
        <source>records of the way whose time goes back</source>
        <translation>registos do caminho cujo tempo anda para trás</translation>
    </message>
    <message>
        <source>a trajectory</source>
        <translation>uma trajetória</translation>
    </message>
    <message>
        <source>it has RINEX observations</source>
        <translation>tem observações RINEX</translation>
    </message>
    <message>
        <source>places</source>
        <translation>lugares</translation>
    </message>
    <message>
        <source>let RTKLIB make a .pos of it, and import that</source>
        <translation>faça dele um .pos com o RTKLIB, e importe esse</translation>
    </message>
    <message>
        <source>SBET, RTKLIB .pos, NMEA or GPX</source>
        <translation>SBET, .pos de RTKLIB, NMEA ou GPX</translation>
    </message>
    <message>
        <source>export it as one</source>
        <translation>exporte-o como um deles</translation>
    </message>
    <message>
        <source>it is no table of a way</source>
        <translation>não é uma tabela de um caminho</translation>
    </message>
    <message>
        <source>its times have no date; name it with date=2026-05-31</source>
        <translation>os seus tempos não têm data; indique o dia do voo</translation>
    </message>
    <message>
        <source>seconds of an unknown {clock} cannot be told as {wanted}</source>
        <translation>segundos de um {clock} desconhecido não se podem dizer como {wanted}</translation>
    </message>
    <message>
        <source>it has {size} bytes, {more} more than whole records</source>
        <translation>tem {size} bytes, mais {more} do que registos inteiros</translation>
    </message>
    <message>
        <source>records of {size} bytes</source>
        <translation>registos de {size} bytes</translation>
    </message>
    <message>
        <source>its places are no degrees with fractions</source>
        <translation>os seus lugares não são graus com frações</translation>
    </message>
    <message>
        <source>latitude(deg)</source>
        <translation>latitude(deg)</translation>
    </message>
    <message>
        <source>let RTKLIB write degrees</source>
        <translation>faça o RTKLIB escrever graus</translation>
    </message>
    <message>
        <source>lines that cannot be read</source>
        <translation>linhas que não se conseguem ler</translation>
    </message>
    <message>
        <source>half of its {lines} lines cannot be read</source>
        <translation>metade das suas {lines} linhas não se consegue ler</translation>
    </message>
    <message>
        <source>NMEA sentences</source>
        <translation>frases NMEA</translation>
    </message>
    <message>
        <source>places before the first date</source>
        <translation>lugares antes da primeira data</translation>
    </message>
    <message>
        <source>a track</source>
        <translation>um trajeto</translation>
    </message>
    <message>
        <source>places without a height</source>
        <translation>lugares sem altitude</translation>
    </message>
    <message>
        <source>its track has no times</source>
        <translation>o seu trajeto não tem tempos</translation>
    </message>
    <message>
        <source>a track that was recorded</source>
        <translation>um trajeto que foi gravado</translation>
    </message>
    <message>
        <source>it has no place with a time</source>
        <translation>não tem nenhum lugar com tempo</translation>
    </message>
    <message>
        <source>of {count} records {unusable} have no time or place and {back} go back in time</source>
        <translation>de {count} registos {unusable} não têm tempo ou lugar e {back} andam para trás no tempo</translation>
    </message>
    <message>
        <source>a trajectory in the order of time</source>
        <translation>uma trajetória pela ordem do tempo</translation>
    </message>
    <message>
        <source>tracks beside a video of which the start is not known</source>
        <translation>trajetos ao lado de um vídeo cujo início não é conhecido</translation>
    </message>
    <message>
        <source>videos of which nobody says where they were taken</source>
        <translation>vídeos de que ninguém diz onde foram feitos</translation>
    </message>
    <message>
        <source>it has no pictures</source>
        <translation>não tem imagens</translation>
    </message>
    <message>
        <source>a video</source>
        <translation>um vídeo</translation>
    </message>
    <message>
        <source>leave it out</source>
        <translation>deixe-o de fora</translation>
    </message>
    <message>
        <source>{file}: it has more than {rows_max} places; cut it</source>
        <translation>{file}: tem mais de {rows_max} lugares; corte-o</translation>
    </message>
    <message>
        <source>it has no place</source>
        <translation>não tem nenhum lugar</translation>
    </message>
    <message>
        <source>[latitude: …] [longitude: …]</source>
        <translation>[latitude: …] [longitude: …]</translation>
    </message>
    <message>
        <source>no machine that is linked shows this code: they are good for ten minutes and once; show another one there (`wingbeat me pair`)</source>
        <translation>nenhuma máquina ligada mostra este código: valem dez minutos e uma vez; mostre lá outro (`wingbeat me pair`)</translation>
    </message>
    <message>
        <source>it takes data of {workflow}, which are for {submitter} on {host} and whom they share it with: ask there</source>
        <translation>usa dados de {workflow}, que são para {submitter} em {host} e para aqueles com quem o partilha: pergunte lá</translation>
    </message>
    <message>
        <source>the data cannot be read here: {error}</source>
        <translation>os dados não podem ser lidos aqui: {error}</translation>
    </message>
    <message>
        <source>{host} has {taken} MB of work in the table, and one machine may have {most} MB: remove work that has ended (wingbeat remove), or submit on another machine</source>
        <translation>{host} tem {taken} MB de trabalho na tabela, e uma máquina pode ter {most} MB: remova trabalho que terminou (wingbeat remove), ou submeta noutra máquina</translation>
    </message>
</context>
</TS>
