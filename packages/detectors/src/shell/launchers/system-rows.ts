/**
 * Programs of systems and shells that run another: see `readGrammar` for the rows. From the manuals of sudo 1.9, GNU
 * coreutils 9, findutils 4.9, util-linux 2.39, procps 4, OpenSSH 9, bash 5.2, zsh 5.9, systemd 255 and others.
 */
export const SYSTEM_ROWS = `
sudo: [ABbEeHiKklNnPSsVv] [CDghpRrTtUu]= background preserve-env? edit set-home login non-interactive stdin shell askpass user= group= chdir= chroot= host= prompt= role= type= command-timeout= close-from= other-user= preserve-groups bell reset-timestamp remove-timestamp validate list version! help! no-update :: env cmd
doas: [Lns] a= C~ u= :: env cmd
pkexec: disable-internal-agent keep-cwd user= version! help! :: cmd
run0: [ugD]= user= group= chdir= nice= unit= property= description= slice= setenv= background= pty pipe :: cmd
runuser: [flmpP] [ugGsw]= c|command|session-command$ login preserve-environment pty user= group= supp-group= shell= :: cmd
su: [flmpP] [gGswT]= c|command|session-command$ login preserve-environment pty group= supp-group= shell= whitelist-environment= :: 1 cmd
dzdo: [bEHiknPSsV] [Cghpru]= :: env cmd
sg: c|command$ [l] :: 1 text
newgrp: :: 
gosu|su-exec|setuidgid|envuidgid|s6-setuidgid|chronos: :: 1 cmd
chpst: [vVP01246] [uUbe/nmdopfcrtC]= :: cmd
softlimit: [adfclmoprst]= :: cmd
envdir|s6-envdir: :: 1 cmd
capsh: print decode= supports= drop= caps= uid= gid= groups= user= keep= inh= secbits= chroot= mode= noamb addamb= delamb= iab= has-p= shell= c|command$ -- :: cmd
setpriv: [d] dump no-new-privs clear-groups init-groups keep-groups reset-env ambient-caps= inh-caps= bounding-set= ruid= euid= rgid= egid= reuid= regid= groups= securebits= pdeathsig= selinux-label= apparmor-profile= ptracer= list-caps! :: cmd
runcon: [c] [turl]= compute type= user= role= range= :: 1 cmd
newrole: [rtl]= role= type= level= :: dashes
env|genv: [i0v] [uC]= ignore-environment null debug list-signal-handling unset= chdir= argv0= a= S|split-string$ block-signal? default-signal? ignore-signal? help! version! :: env cmd
nohup|setsid|gnohup: [cfw] ctty fork wait help! version! :: cmd
nice|gnice: [0123456789] n|adjustment= help! version! :: cmd
ionice: [t] [cnpPu]= ignore class= classdata= pid= pgid= uid= :: cmd
chrt: [abdfiormpevGR] [TPD]= all-tasks batch deadline fifo idle other rr max! pid reset-on-fork sched-runtime= sched-period= sched-deadline= verbose :: 1 cmd
taskset: [ac] p= cpu-list all-tasks pid= :: 1 cmd
schedtool: [BFRNIDv] [napm]= e> :: 
cpulimit: [zibfvm] [lpPec]= limit= pid= exe= path= cpu= lazy include-children background foreground verbose :: cmd
numactl|numademo: [sHal] [pPNmCiIwaLtST]= show hardware localalloc all preferred= preferred-many= physcpubind= cpunodebind= membind= interleave= weighted-interleave= balancing= :: cmd
prlimit: [cdefilmnqrstuvxy]? p|pid= o|output= noheadings raw verbose core? data? nice? fsize? sigpending? memlock? rss? nofile? msgqueue? rtprio? stack? cpu? nproc? as? locks? rttime? :: cmd
setarch: [BFILRSTXZv3] 32bit fdpic-funcptrs short-inode addr-compat-layout addr-no-randomize whole-seconds sticky-timeouts read-implies-exec mmap-page-zero 3gb 4gb uname-2.6 verbose list! p|pid= :: 1 cmd
linux32|linux64|i386|i486|i586|i686|x86_64|ppc|ppc32|ppc64|s390|s390x|sparc|sparc64|mips|mips64|ia64|parisc|parisc64|alpha|arm|armv7l|aarch64|uname26: [BFILRSTXZv3] 32bit addr-compat-layout addr-no-randomize whole-seconds sticky-timeouts read-implies-exec mmap-page-zero 3gb 4gb uname-2.6 verbose :: cmd
arch: [ch0123456789] e= d= :: cmd
time|gtime: [apqvlh] [fo]= portability quiet verbose append format= output= :: cmd
timeout|gtimeout: [v] k|kill-after= s|signal= foreground preserve-status verbose help! version! :: 1 cmd
stdbuf|gstdbuf: i|input= o|output= e|error= help! version! :: cmd
unbuffer|unbuffer-expect: p :: cmd
rlwrap: [aAcimnNorRsuwX]? [bCDefgHIlMOPqSstz]= :: cmd
winpty|winpty-agent: -Xallow-non-tty -Xplain -Xshowkey :: cmd
xargs|gxargs: [0ortxp] [aEIJLnPRsdS]= null open-tty no-run-if-empty verbose exit interactive show-limits i? e? l? eof? replace? max-lines? arg-file= delimiter= max-args= max-procs= max-chars= process-slot-var= :: cmd joins
parallel|sem|rush|xe: [0kmqtuXlvV] [aIjJLnNPSsdc]= jobs= max-procs= arg-file= colsep= delay= delimiter= env= halt= joblog= load= max-args= max-replace-args= memfree= nice= results= retries= sshlogin= sshloginfile= tagstring= timeout= tmpdir= workdir= basefile= basenice= return= transferfile= trim= verbose keep-order bar progress eta tag group ungroup line-buffer dry-run will-cite no-notice null pipe pipepart xapply link quote semaphore fg bg wait id= citation! version! :: sh joins
watch|gwatch: [bcCdeghprtvwxf] n|interval= q|equexit= s|shotsdir= differences? beep errexit chgexit color no-color no-title no-rerun no-wrap precise exec :: sh
entr: [acdnprxz] s$ :: cmd
inotifywait|inotifywatch|fswatch: :: lax
hyperfine: [iNuh] [wmMrspcnLPDS]= p|prepare$ c|cleanup$ s|setup$ conclude$ warmup= min-runs= max-runs= runs= parameter-list= parameter-scan= parameter-step-size= shell= export-json= export-csv= export-markdown= export-asciidoc= export-orgmode= style= sort= time-unit= output= input= command-name= reference= ignore-failure show-output :: texts
command: p [vV]! :: cmd
builtin: :: cmd
exec: [cl] a= :: cmd
noglob|nocorrect|-: :: cmd
coproc: :: cmd
busybox|toybox: list! help! install list-full! :: cmd
chroot|gchroot: skip-chdir groups= userspec= :: 1 cmd
fakechroot|fakeroot|fakeroot-ng|eatmydata|catchsegv: [hvui] [lfsib]= lib= faked= unknown-is-real c= e= :: cmd
faketime: [fm] p= e= :: 1 cmd
unshare: [imnpuUCTfrcdkV] [RwSG]= mount? uts? ipc? net? pid? user? cgroup? time? mount-proc? fork map-root-user map-current-user map-auto map-user= map-group= map-users= map-groups= kill-child? propagation= setgroups= setuid= setgid= root= wd= keep-caps monotonic= boottime= :: cmd
nsenter: [amuinpCUTFrwZe]? [tSG]= all mount? uts? ipc? net? pid? user? cgroup? time? root? wd? wdns= target= setuid= setgid= preserve-credentials no-fork follow-context env join-cgroup :: cmd
flock: [eFnosuxv] [wE]= c|command$ nonblock nb exclusive shared unlock close no-fork timeout= wait= conflict-exit-code= verbose :: 1 cmd
strace: [cCdDfFhiknNqrtTvVwxyYzZ]? [abeEIoOpPsSuUX]= attach= output= string-limit= trace= env= user= columns= detach-on= follow-forks seccomp-bpf summary-only summary quiet? debug timestamps? decode-fds? status= trace-path= :: env cmd
ltrace: [bcCfhiLrStTV] [aADelnopsuwxXF]= output= :: cmd
dtrace|dtruss: [abdefhlLsotW] c$ n= p= :: cmd
gdb: [qnbx] ex%  x|command~ ix|init-command~ iex|init-eval-command% eval-command% -ex% -iex% -x~ args> -args> batch nx nh quiet silent tty= cd= core= pid= symbols= se= directory= interpreter= tui return-child-result d= c= p= s= :: lax
lldb: o|one-line% O|one-line-before-file% s|source~ S|source-before-file~ k=  b n= p= -- :: lax cmd
valgrind: [qdhv] tool= log-file= xml-file= suppressions= leak-check= track-origins= trace-children= error-exitcode= num-callers= :: lax cmd
perf: :: sub lax
perf stat|record|trace|mem|kvm|lock|sched|c2c: [adfgqrvVSsTxkYhnADRB]? [epoCFGItjmMcZ]= event= output= pid= freq= call-graph= repeat= delay= cpu= pre$ post$ :: lax cmd
rr|uftrace|heaptrack|samply|hotspot|coz: :: cmd lax
script: [aefqcr]? [EIOoTBmt]= c|command$ append flush quiet return echo= log-in= log-out= log-io= log-timing= logging-format= output-limit= force :: 1 cmd
asciinema: :: sub
asciinema rec: c|command$ t= i= title= idle-time-limit= overwrite stdin quiet :: 
screen: [aAdDfhilmnOqrRUvwxL]? [cehpsStTXX]= X> :: cmd
tmux: [2CDluvVN] [LST]= c$ f~ :: sub
tmux new-session|new|new-window|neww|split-window|splitw|respawn-pane|respawnp|respawn-window|respawnw|popup|display-popup: [AbdDEhkPvZfBC] [cefFlnstxyTS]= :: sh
tmux run-shell|run|pipe-pane|pipep|if-shell|if|confirm-before: [bCIO] [cdt]= F= :: texts
tmux send-keys|send|set-hook|bind-key|bind|set-buffer|command-prompt: [FHlMRXgnraw] [cNtbT]= :: texts
zellij: :: sub lax
zellij run|action: [fic] [dn]= direction= name= cwd= :: dashes
dtach|abduco: [zEflpqrv] [cnAaNe]= :: cmd
xterm|uxterm|urxvt|rxvt|mlterm|lxterm|konsole|xfce4-terminal|terminator|lxterminal|mate-terminal|tilix|sakura|st: -e> x> e> execute> command$ -T= -title= -geometry= -fn= -fa= -fs= -bg= -fg= -hold :: lax
gnome-terminal|kgx|ptyxis: -e$ e$ command$ x> execute> -- tab window :: lax dashes
alacritty|kitty|foot|wezterm|ghostty: -e> e> command> hold title= class= :: lax cmd
expect: [bdinDv] c% f~ :: lax
xvfb-run: [aln] [efnpsw]= auto-servernum auto-display listen-tcp server-args= error-file= auth-file= server-num= xauth-protocol= wait= :: cmd
xinit|startx: :: cmd
dbus-run-session|dbus-launch|ssh-agent|gpg-agent: [acDdEktsP] config-file= daemon exit-with-session sh-syntax csh-syntax t= a= dbus-daemon= :: cmd
start-stop-daemon: [SKTHVbmvqtoCO]? [asnxpucgrdNPIkR]= start stop status background make-pidfile oknodo quiet test verbose remove-pidfile no-close notify-await exec$ a|startas$ x$ name= pidfile= user= chuid= group= chroot= chdir= nicelevel= procsched= iosched= umask= signal= retry= output= pid= ppid= :: lax cmd
daemonize|daemon: [acvrfUBNi]? [ceEloOpunDFAXMLdC]= name= user= chdir= output= errlog= command$ :: cmd
systemd-run: [GdPqrtS] [EpMHu]= scope user system shell pty pipe wait collect no-block quiet remain-after-exit send-sighup same-dir service-type= uid= gid= nice= unit= property= description= slice= setenv= working-directory= on-active= on-boot= on-startup= on-unit-active= on-calendar= timer-property= path-property= socket-property= machine= host= expand-environment= background= :: cmd
systemd-nspawn: [abxqnUPtG]? [DiMuSLEphZlN]= directory= image= machine= user= bind= bind-ro= setenv= chdir= boot as-pid2 ephemeral quiet private-network private-users= network-veth register= capability= drop-capability= :: cmd
systemd-inhibit: what= who= why= mode= list! no-pager :: cmd
systemd-cat: [tp]= identifier= priority= stderr-priority= level-prefix= :: cmd
cgexec: g= sticky :: cmd
caffeinate: [dimsu] [tw]= :: cmd
sandbox-exec: f= n= p= D= :: cmd
firejail: quiet noprofile private? net= profile= seccomp? caps? env= name= whitelist= read-only= x11? :: lax cmd
bwrap: unshare-all unshare-user unshare-pid unshare-net unshare-ipc unshare-uts share-net die-with-parent new-session clearenv proc= dev= tmpfs= dir= chdir= uid= gid= hostname= unsetenv= perms= lock-file= cap-add= cap-drop= args= bind=2 ro-bind=2 dev-bind=2 bind-try=2 ro-bind-try=2 setenv=2 symlink=2 file=2 bind-data=2 chmod=2 overlay-src= as-pid-1 :: cmd
proot|proot-distro: [0SR]? [rbqwvkmip]= rootfs= bind= qemu= pwd= cwd= kill-on-exit root-id link2symlink :: cmd
minijail0|nsjail: :: lax dashes cmd
flatpak-spawn: host clear-env watch-bus sandbox no-network latest-version forward-fd= env= directory= unset-env= v :: cmd
flatpak: :: sub
flatpak run: command$ branch= arch= env= share= filesystem= socket= device= cwd= :: lax
at|batch|atq: [mMlrdvbV] [fqt]= f~ :: input
crontab: u= [leri] :: cron
anacron: :: lax
run-parts: test! list! :: lax 
ssh|slogin|autossh: [46AaCfGgKkMNnqsTtVvXxYy] [BbcDEeJLliImOPpQRSwW]= F~ I~ o@ M= :: 1 sh
mosh|et: ssh$ server$ client= predict= family= port= p= 4 6 a n no-init :: 1 cmd
rsh|remsh|rlogin|dbclient|plink: [nKxdT] [lpiPbJ]= :: 1 sh
sshpass: [ev]? [fdpP]= :: cmd
pssh|parallel-ssh|pdsh|clush|dsh: [iIPAv]? [hHlptoexwgabNSRf]= :: sh
tsp|ts|nq: [nfgmdBEcw]? [LDNWS]= :: cmd
tini|dumb-init|catatonit|docker-init: [sgvpchrw]? [r]= single-child rewrite= :: cmd
torsocks|torify|tsocks|proxychains|proxychains4|proxychains-ng: [iqu]? [fad]= quiet :: cmd
chronic|ifne: [vne] :: cmd
pee: :: texts
with-contenv|with: :: cmd
trace-cmd: :: sub
trace-cmd record: [epofvliO]= :: cmd lax
ccache|sccache|distcc|icecc: :: cmd
nsupdate|ftp|ed: :: lax
`;
