/**
 * Tools of developers and files that run another program, always or with some options: see `readGrammar` for the rows. From
 * the manuals of git 2.44, Docker 26, kubectl 1.30, npm 10, GNU tar 1.35, sed 4.9, gawk 5.2, curl 8, rsync 3.3 and others.
 */
export const TOOL_ROWS = `
git: [pPhv] C= c@ config-env@ exec-path~ git-dir= work-tree= namespace= super-prefix= attr-source= paginate no-pager bare no-replace-objects literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks html-path man-path info-path version help :: sub lax
git clone|fetch|pull|push|ls-remote|archive|fetch-pack|send-pack|submodule: upload-pack$ receive-pack$ exec$ u$ template~ c@ config@ [bjo]= depth= branch= origin= jobs= reference= push-option= remote= output= format= prefix= filter= shallow-since= shallow-exclude= server-option= signed? recurse-submodules? :: lax
git push|pull|fetch: receive-pack$ upload-pack$ exec$ [uoj]= set-upstream repo= push-option= depth= :: lax
git rebase: x|exec$ [X]= s~ strategy~ strategy-option= onto= C= whitespace= :: lax
git merge|cherry-pick|revert: s~ strategy~ X= m= F= message= file= strategy-option= S? :: lax
git bisect: :: sub lax
git bisect run: :: cmd
git submodule: quiet q :: sub lax
git submodule foreach: recursive quiet q :: sh
git for-each-repo: config= :: lax
git filter-branch: env-filter$ tree-filter$ index-filter$ parent-filter$ msg-filter$ commit-filter$ tag-name-filter$ setup$ subdirectory-filter= original= d= :: lax
git difftool|mergetool: x|extcmd$ t|tool~ gui :: lax
git grep: O|open-files-in-pager^ [eABCmf]= max-depth= threads= :: lax
git config: file= f= blob= type= get get-all get-regexp list l unset remove-section rename-section global local system worktree add e edit :: lax
git send-email: sendmail-cmd$ to-cmd$ cc-cmd$ header-cmd$ smtp-server= :: lax
git instaweb: d|httpd$ b|browser$ :: lax
git hook: :: sub
git hook run: to-stdin= ignore-missing :: lax
git commit|tag|stash|notes|am|format-patch: [mFCctAS]= message= file= author= date= reuse-message= reedit-message= template= fixup= squash= cleanup= trailer= :: lax
git log|show|diff|blame|shortlog: [GSLnOU]= author= grep= since= until= format= pretty= max-count= output= :: lax
git checkout|switch|branch|reset|restore|worktree|remote: [bBcu]= source= orphan= set-upstream-to= :: lax
docker|podman|nerdctl: [Dv] [cHl]= config= context= host= log-level= tls tlsverify tlscacert= tlscert= tlskey= debug url= connection= identity= root= runroot= namespace= storage-driver= address= snapshotter= :: sub lax
docker|podman|nerdctl run|create|container run|container create: [dDiPtqT] [aceEhlmpuvw]= add-host= annotation= attach= blkio-weight= cap-add= cap-drop= cgroup-parent= cgroupns= cidfile= cpu-period= cpu-quota= cpu-shares= cpus= cpuset-cpus= cpuset-mems= device= device-cgroup-rule= dns= dns-option= dns-search= domainname= entrypoint$ env= env-file= expose= gpus= group-add= health-cmd$ health-interval= health-retries= health-timeout= hostname= ip= ip6= ipc= isolation= label= label-file= link= log-driver= log-opt= mac-address= memory= memory-reservation= memory-swap= mount= name= net= network= network-alias= oom-score-adj= pid= pids-limit= platform= pod= publish= pull= restart= runtime= secret= security-opt= shm-size= stop-signal= stop-timeout= storage-opt= sysctl= tmpfs= tz= ulimit= user= userns= uts= volume= volumes-from= workdir= detach interactive tty rm init privileged read-only publish-all no-healthcheck quiet replace detach-keys= :: 1 cmd lax
docker|podman|nerdctl exec|container exec: [ditl] [euw]= detach interactive tty privileged env= user= workdir= env-file= detach-keys= latest :: 1 cmd lax
docker|podman|nerdctl container: :: sub lax
docker|podman|nerdctl compose: [fp]= file= project-name= profile= env-file= project-directory= progress= ansi= parallel= :: sub lax
docker|podman|nerdctl compose run|compose exec: [dTiP] [euvwpl]= entrypoint$ name= env= user= volume= workdir= publish= label= index= :: 1 cmd lax
docker|podman|nerdctl image|volume|network|system|builder|buildx|context|manifest|plugin|stack|service|swarm|node|secret: :: lax
docker-compose|podman-compose: [fp]= file= project-name= profile= env-file= project-directory= progress= ansi= parallel= :: sub lax
docker-compose|podman-compose run|exec: [dTiP] [euvwpl]= entrypoint$ name= env= user= volume= workdir= publish= label= index= :: 1 cmd lax
kubectl|oc|k|microk8s.kubectl: [nsv]= namespace= context= kubeconfig= cluster= user= server= token= as= as-group= request-timeout= certificate-authority= client-key= client-certificate= cache-dir= profile= tls-server-name= :: sub lax
kubectl|oc|k|microk8s.kubectl exec|debug|run|attach: [itqR] [cfnsle]= container= filename= namespace= context= image= env= labels= port= overrides= restart= target= profile= copy-to= command stdin tty rm quiet :: 1 dashes lax
lxc|incus: project= :: sub lax
lxc|incus exec: [nTt] env= mode= user= group= cwd= project= :: 1 dashes
lxc-attach|lxc-execute: [nPsufvLR]= name= lxcpath= elevated-privileges? clear-env keep-env set-var= :: dashes cmd
machinectl: [qaHM]? uid= setenv= host= machine= :: sub lax
machinectl shell: uid= setenv= quiet q E= :: 1 cmd
apptainer|singularity: [dqsv] debug quiet silent verbose c= config= :: sub lax
apptainer|singularity exec|run: [Ceipufwc]? [BHWSo]= bind= home= workdir= env= pwd= overlay= app= :: 1 cmd lax
vagrant: :: sub
vagrant ssh: c|command$ p plain tty :: lax dashes
multipass|limactl|colima|minikube|lima: :: sub lax
multipass exec: [n]? [d]= working-directory= map-working-directory no-map-working-directory :: 1 dashes cmd
limactl shell: workdir= shell= :: 1 cmd
colima|minikube ssh: p= profile= n= node= native-ssh :: dashes sh
toolbox|distrobox: :: sub lax
toolbox|distrobox run|enter: [crdnaY]= container= name= distro= release= :: dashes cmd
wsl: [duts]= distribution= user= cd= e> exec> shell-type= list! l! shutdown! status! -- :: cmd
adb: [deHPLst]? s= t= H= P= L= :: sub lax
adb shell: [Tttxn] e= :: sh
kubectl|oc rsh: [cn]= container= namespace= shell= timeout= T no-tty :: 1 cmd lax
crictl: [cirt]= config= runtime-endpoint= image-endpoint= timeout= D debug :: sub lax
crictl exec: [its] [re]= timeout= transport= :: 1 cmd lax
ctr: [an]= address= namespace= timeout= connect-timeout= debug :: sub lax
ctr task|tasks|t|container|containers|c: :: sub lax
ctr task exec|tasks exec|t exec: exec-id= cwd= user= fifo-dir= log-uri= [td] tty detach :: 1 cmd lax
ctr run: [td]? env= mount= label= runtime= snapshotter= cwd= user= net-host privileged rm tty detach :: 2 cmd lax
nomad: :: sub lax
nomad alloc: :: sub lax
nomad exec|alloc exec: -task= -namespace= -region= -address= -job -i -t -e= :: 1 cmd lax
fly|flyctl: [ac]= app= config= :: sub lax
fly|flyctl ssh|machine|machines|m: :: sub lax
fly|flyctl ssh console: C|command$ [aru]= app= region= user= org= :: lax
fly|flyctl machine exec|m exec: :: 1 text lax
flatpak: :: sub lax
flatpak run: command$ [bdpuv]? branch= arch= cwd= env= :: 1 cmd lax
snap: :: sub lax
snap run: shell command= hook= r= strace~ gdbserver :: cmd lax
launchctl: :: sub lax
launchctl submit: [lpoe]= :: dashes cmd lax
launchctl asuser|bsexec: :: 1 cmd lax
xcrun: sdk= toolchain= [lvnrk] log verbose no-cache kill-cache run f! find! show-sdk-path! show-sdk-version! :: cmd
aws: profile= region= output= endpoint-url= query= ca-bundle= color= :: sub verbs lax
aws ssm: :: sub verbs lax
aws ssm send-command: parameters@ document-name= targets= instance-ids= comment= :: lax
helm: [n]= namespace= kube-context= kubeconfig= values= f= set= version= post-renderer$ :: verbs lax
gh: [R]= repo= :: sub lax
gh codespace|cs: :: sub lax
gh codespace ssh|cs ssh: [cR]= codespace= repo= server-port= profile= debug :: sh lax
terraform|tofu: -chdir= -var= -var-file= :: verbs lax
az: subscription= resource-group= g= n= name= output= o= query= scripts$ :: verbs lax
svn|hg: [R]= config-option@ config@ username= password= repository= cwd= ssh$ e|editor-cmd$ diff-cmd$ :: verbs lax
git init: template~ separate-git-dir= b= initial-branch= :: lax
gcloud: project= account= configuration= format= zone= :: sub lax
gcloud compute: project= zone= :: sub lax
gcloud compute ssh: command$ zone= project= ssh-flag= ssh-key-file= container= :: lax dashes
ansible: [m]= module-name= a|args$ i= inventory= [uelfBPTtCDM]? user= limit= extra-vars= :: lax
npx|pnpx|bunx: [qy] c|call$ p|package= w= workspace= yes no no-install quiet ignore-existing shell-auto-fallback node-arg= n= bun silent ws workspaces include-workspace-root :: cmd lax
npm|pnpm|bun: [sgqd] [wCF]= prefix= workspace= filter= dir= cwd= loglevel= userconfig= registry= script-shell$ silent quiet :: sub lax
npm|pnpm|bun exec|x|dlx: [y] c|call$ p|package= w= workspace= parallel recursive r yes no workspaces shell-mode bun :: cmd lax
npm config: :: lax
yarn: cwd= use-yarnrc= silent s :: sub lax
yarn exec|dlx: p|package= quiet q :: cmd
yarn workspace: :: 1 sub
uvx: [qvn]? from= with= python= p= index-url= cache-dir= with-editable= with-requirements= :: cmd lax
uv: directory= project= cache-dir= config-file= color= q v :: sub lax
uv run: [qvmns]? p|python= with= with-editable= with-requirements= extra= group= env-file= package= directory= project= index-url= no-sync frozen locked isolated :: cmd lax
uv tool: :: sub
uv tool run: from= with= python= p= :: cmd lax
pipx: [qv] :: sub
pipx run: spec= python= pip-args= index-url= no-cache verbose path pypackages :: cmd
poetry|pipenv|pdm|hatch|rye: [qvn]? C= P= p= e= env= directory= project= ansi no-ansi :: sub lax
poetry|pipenv|pdm|hatch|rye run: [s]? env-file= site-packages :: cmd
pipenv shell: :: lax
conda|mamba|micromamba: :: sub lax
conda|mamba|micromamba run: [np]= name= prefix= cwd= no-capture-output live-stream v verbose dev debug-wrapper-scripts a= attach= e= env= :: cmd lax
bundle: :: sub lax
bundle exec: keep-file-descriptors gemfile= :: cmd
rbenv|pyenv|nodenv|goenv|jenv|asdf: :: sub
rbenv|pyenv|nodenv|goenv|jenv|asdf exec: :: cmd
asdf env: :: 1 cmd
nvm|fnm|volta|n|nodist: :: sub lax
nvm|n exec|run: silent :: 1 cmd
fnm exec: using= :: lax dashes cmd
volta run: node= npm= yarn= pnpm= bundled-npm no-npm :: env cmd
rustup|cargo: [qv] [ZC]= config= color= manifest-path= :: sub lax
rustup run: install :: 1 cmd
cargo watch: s|shell$ [xwid]= exec= watch= ignore= delay= :: dashes lax
go: [C]= :: sub lax
go run|build|test|vet|install: -exec$ -toolexec$ :: lax
mise|rtx: [Cjq]= cd= env= E= yes quiet verbose :: sub lax
mise|rtx exec|x: c|command$ [jC]= jobs= raw :: dashes
direnv: :: sub
direnv exec: :: 1 cmd
nix: [vL]? extra-experimental-features= option=2 :: sub lax
nix shell|develop|env: c|command> f= file= expr= impure option=2 override-input=2 :: lax dashes
nix run: f= file= expr= impure option=2 override-input=2 :: cmd lax
nix-shell: run$ command$ [pAIE]? packages arg=2 argstr=2 pure attr= keep= i= :: lax
guix: :: sub lax
guix shell|environment: pure container C m= manifest= D= e= ad-hoc :: lax dashes
spack|module|flox|devbox: :: sub lax
devbox run: [ce]= config= env= :: cmd
dotenv|dotenvx|env-cmd|dotenv-cli: f= e= file= c= o v p= environments= quote= no-override override silent fallback use-shell :: sub cmd
dotenv|dotenvx run: f= env-file= overload quiet :: dashes cmd
cross-env|cross-env-shell: :: env cmd
foreman|honcho|heroku: [dfetp]= procfile= env= root= :: sub lax
foreman|honcho|heroku run: [efas]= env= app= size= type= remote= exit-code no-tty no-notify :: cmd lax
aws-vault|op|doppler|chamber|envchain|infisical|teller|sops|summon|envconsul|berglas: [np]= :: sub dashes lax
sops exec-env|exec-file: user= filename= no-fifo background pristine :: 1 text
aws-vault|op|doppler|chamber|infisical|teller exec|run: command$ [dnt]? [pc]= env-file= project= config= path= duration= region= :: 1 dashes
summon|envchain: f= p= :: cmd
make|gmake|bmake|mingw32-make|nmake: [BdeikLnpqrRsStvw] f|file|makefile~ [CIoW]= eval% E% [jl]? directory= include-dir= jobs? load-average? old-file= what-if= assume-new= always-make keep-going silent dry-run :: lax
just|task|rake|invoke|nox|tox|ninja: f|justfile= shell$ shell-arg= C= d= command> c> :: lax
concurrently: [krns]? [cnptimP]? names= prefix-colors= prefix= max-processes= kill-others success= kill-others-on-fail :: texts
nodemon|onchange|chokidar|when-changed|gow|air|cargo-watch: x|exec$ c|command$ s|shell$ [ewird]= ext= watch= ignore= delay= on-change= :: dashes lax
watchexec|reflex: [ewirgRGsdtS]= exts= watch= ignore= filter= signal= regex= glob= shell= delay-run= :: cmd lax
npm-run-all|run-s|run-p|wireit|lerna|nx|turbo|rush|lage: :: sub lax
lerna exec|nx exec: scope= concurrency= parallel :: dashes lax
start-server-and-test|wait-on|wait-for-it|dockerize: t= timeout= wait= :: dashes lax
find|gfind|bfs: -exec; -execdir; -ok; -okdir; -fprint= -fprintf=2 -fprint0= -fls= -name= -iname= -path= -ipath= -regex= -iregex= -type= -newer= -size= -mtime= -atime= -ctime= -mmin= -perm= -user= -group= -maxdepth= -mindepth= -printf= -lname= -samefile= -inum= -links= -fstype= -files0-from= :: lax
fd|fdfind: x|exec; X|exec-batch; [deEtSjcog]= max-depth= min-depth= extension= exclude= type= size= owner= threads= color= changed-within= changed-before= max-results= base-directory= search-path= path-separator= batch-size= ignore-file= :: lax
rg: pre$ hostname-bin$ [ABCEefgMmrTtjd]= pre-glob= glob= regexp= file= type= type-not= max-count= context= replace= sort= encoding= :: lax
ag|ack|grep|egrep|fgrep|zgrep|ugrep: pager$ filter$ [ABCefmGg]= include= exclude= exclude-dir= regexp= file= color? colour? :: lax
bat|batcat|delta|less|more|most|lesspipe: +% pager$ [bDhjkoOpPtTxyz]? lesskey-src~ k~ :: lax
man: P|pager$ H|html$ T= p= [CLMSseRrE]= preprocessor= :: lax
sort|gsort: compress-program$ [koStT]= key= output= buffer-size= temporary-directory= field-separator= batch-size= parallel= random-source= files0-from= :: lax
split|gsplit|csplit: filter$ [abClnt]= bytes= lines= number= suffix-length= line-bytes= additional-suffix= separator= :: lax
tar|gtar|bsdtar|star: I|use-compress-program$ to-command$ checkpoint-action@ F|info-script|new-volume-script$ rsh-command$ rmt-command$ [CfbTXgKLNHV]= file= directory= exclude= transform= xform= strip-components= owner= group= mode= files-from= exclude-from= newer= checkpoint? blocking-factor= sort= mtime= format= listed-incremental= use-mmap? :: lax
cpio|pax: rsh-command$ [CDEFHIMORPW]= :: lax
zip: -TT$ unzip-command$ [bintx]? :: lax
7z|7za|7zr|unzip|unrar|rar: :: lax
rsync: e|rsh$ rsync-path$ [BTfM]= exclude= include= filter= files-from= exclude-from= include-from= backup-dir= bwlimit= log-file= chmod= chown= partial-dir= temp-dir= timeout= port= compare-dest= copy-dest= link-dest= password-file= daemon config~ :: lax
scp|sftp: S$ o@ F~ b~ D~ [cDiJlPRXBs]? :: lax
wget: use-askpass$ e|execute@ config~ [OoPaitTwQDARIXlUB]= output-document= output-file= directory-prefix= user= password= header= tries= timeout= post-data= post-file= user-agent= input-file= :: lax
curl: K|config~ [oHdFTXuAbcemrxyzYQtwCEPU]= output= header= data= data-raw= data-binary= data-urlencode= json= form= upload-file= request= user= user-agent= cookie= cookie-jar= referer= proxy= write-out= max-time= connect-timeout= retry= cert= key= cacert= url= range= resolve= engine~ :: lax
apt|apt-get|apt-cache|aptitude|apt-key: o|option@ c|config-file~ [tq]= target-release= :: verbs lax
dpkg|dpkg-deb|dpkg-buildpackage: pre-invoke$ post-invoke$ status-logger$ root= admindir= instdir= hook-install$ i install :: lax
dnf|yum|zypper|microdnf: setopt@ c|config~ :: verbs lax
rpm|rpmbuild: eval% E% pipe$ D|define% rcfile~ macros~ load~ :: lax
sed|gsed: e|expression% f|file~ [il]? n r E s u z b posix in-place? quiet silent regexp-extended separate null-data sandbox debug line-length= :: code lax
awk|gawk|mawk|nawk|original-awk|busybox-awk: f|file~ i|include~ l|load~ e|source% E|exec~ D? [Fv]= field-separator= assign= dump-variables? profile? pretty-print? csv posix traditional re-interval sandbox :: code
nc|ncat|netcat|nc.traditional|nc.openbsd: e|exec$ c|sh-exec$ lua-exec~ [pwsxXqiIbdmMOPT]= :: lax
socat: :: codes lax
vi|vim|nvim|gvim|vimdiff|view|ex|rvim|evim: -es -Es c% +% S~ s~ u~ cmd% [twWT]= headless clean i= l? startuptime= listen= server= :: lax
emacs|emacsclient: eval% e% execute% l|load~ f|funcall% batch q Q script~ a$ alternate-editor$ :: lax
nano|pico: f|rcfile~ s|speller$ o= Y= T= r= :: lax
sqlite3: cmd% init~ :: lax
psql|mysql|mariadb: c% e% execute% command% f~ init-command% pager$ [dhpUPFuv]= file~ :: lax
openssl: engine~ provider~ config~ :: lax
gcc|g++|cc|clang|c++: -wrapper$ -fplugin~ -specs~ -B~ B~ specs~ :: lax
tcpdump|tshark: z$ [cCFGirswWyVZ]= :: lax
logrotate|newsyslog: :: lax
php|perl|ruby|python|node: :: lax
pip|pip3: [erct]= requirement= index-url= target= constraint= editable= :: verbs lax
sftp-server|sshd: o@ f~ :: lax
systemctl|service|launchctl: [HMtPpsno]= host= machine= type= property= signal= :: verbs lax
psexec|psexec64: [dehlcsxfvi]? [upnrwa]= :: 1 cmd
start: [bwi] :: cmd
runas: user= :: text
`;
