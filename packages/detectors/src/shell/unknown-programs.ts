import { type ProgramCall, plainPath } from './denied-calls.js';
import type { Certainty } from './findings.js';
import type { TextScope } from './text-scope.js';

/**
 * Programs that run none of their arguments: names of programs among them say nothing. Others may be launchers that are
 * not known here.
 */
const PLAIN = new Set(
  `
echo printf print cat tac ls dir vdir cp mv rm ln mkdir rmdir touch chmod chown chgrp stat file du df dd sync head tail wc
cut tr sort uniq paste join comm diff cmp sdiff diff3 patch tee sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum
b2sum cksum base64 base32 basenc od xxd hexdump strings nl fold fmt pr expand unexpand column colrm rev shuf seq yes factor
expr test [ true false sleep date cal basename dirname realpath readlink mktemp pwd cd pushd popd dirs which whereis whatis
apropos man info help type hash command-not-found locate updatedb mlocate plocate tree exa eza lsd less more most pg bat
grep egrep fgrep zgrep rgrep rg ag ack git hg svn bzr fossil gh glab hub tig lazygit jj sl darcs cvs
set unset export readonly declare typeset local let read mapfile readarray shift return exit break continue wait jobs fg bg
disown umask ulimit times getopts alias unalias shopt enable complete compgen compopt bind history fc logout suspend caller
kill pkill pgrep killall ps top htop free uptime w who whoami id groups users last lsof fuser netstat ss ip ifconfig route
ping ping6 traceroute tracepath mtr dig nslookup host getent hostname hostnamectl uname arch nproc lscpu lsblk lsusb lspci
lsmod modprobe insmod rmmod dmesg journalctl systemctl service chkconfig update-rc.d update-alternatives loginctl timedatectl
localectl resolvectl networkctl nmcli iptables ip6tables nft ufw firewall-cmd tcpdump tshark nmap sysctl mount umount swapon
swapoff mkfs mkswap fsck fdisk parted blkid losetup tune2fs e2fsck resize2fs lvs vgs pvs useradd usermod userdel groupadd
groupdel groupmod passwd chpasswd adduser deluser addgroup visudo chage gpasswd getfacl setfacl chattr lsattr setcap getcap
tar gtar bsdtar zip unzip gzip gunzip zcat bzip2 bunzip2 xz unxz zstd unzstd lz4 7z 7za unrar ar cpio rar pigz pbzip2 brotli
curl wget http https aria2c ftp sftp scp rsync nc ncat netcat socat telnet openssl gpg gpg2 ssh-keygen ssh-add ssh-copy-id
ssh-keyscan age keytool certbot mkcert sed gsed jq yq xq dasel xmllint xsltproc csvcut csvgrep mlr awk gawk mawk nawk
apt apt-get apt-cache apt-mark apt-key apt-file add-apt-repository aptitude dpkg dpkg-query dpkg-reconfigure snap flatpak
yum dnf rpm zypper pacman yay paru apk emerge brew port nix nix-env nix-channel guix opkg xbps-install winget choco scoop
npm pnpm yarn bun npx deno node corepack lerna nx turbo pip pip3 pipx poetry pipenv pdm uv conda mamba easy_install twine gem
bundle bundler rake cargo rustc rustup go gofmt mvn mvnw gradle gradlew ant sbt lein mix rebar3 composer stack cabal ghc opam
dotnet nuget msbuild swift swiftc xcodebuild xcrun pod flutter dart zig nim crystal luarocks cpan cpanm
make gmake cmake ctest cpack ninja meson bazel bazelisk buck scons autoconf automake configure gcc g++ cc c++ clang clang++ ld
as ar nm objdump objcopy strip ranlib readelf ldd ldconfig pkg-config gdb lldb javac java jar javap kotlin kotlinc scalac
tsc eslint prettier biome jest vitest mocha ava nyc c8 playwright cypress webpack vite rollup esbuild swc babel parcel tsup
next nuxt astro remix gatsby ng vue react-scripts storybook stylelint husky lint-staged commitlint changeset semantic-release
release-it standard xo tslint rimraf shx del-cli mkdirp cpx copyfiles cpy ncp serve http-server live-server json-server
python python2 python3 ruby perl php lua pytest tox nox black ruff flake8 isort mypy pylint pyright coverage sphinx-build
mkdocs jupyter django-admin flask gunicorn uvicorn celery alembic streamlit pre-commit rspec rubocop rails jekyll hugo
shellcheck shfmt hadolint yamllint markdownlint actionlint terraform tofu terragrunt tflint packer vault consul nomad
ansible ansible-playbook ansible-galaxy ansible-vault helm helmfile kustomize kubectl oc minikube kind k3d k9s skaffold argocd
flux istioctl docker podman nerdctl buildah skopeo docker-compose podman-compose crictl ctr colima aws gcloud gsutil bq az
doctl flyctl fly heroku vercel netlify wrangler firebase supabase pulumi cdk sam serverless sls eksctl
sqlite3 psql mysql mysqldump mysqladmin pg_dump pg_restore pg_dumpall createdb dropdb createuser dropuser redis-cli mongo
mongosh mongodump mongorestore mongoimport cqlsh influx clickhouse-client prisma sequelize knex typeorm drizzle-kit
ffmpeg ffprobe convert magick identify mogrify pandoc pdflatex latexmk tex xelatex gs pdftotext exiftool optipng jpegoptim
vim vi nvim nano emacs code subl ed ex open xdg-open start explorer pbcopy pbpaste xclip xsel wl-copy wl-paste notify-send
osascript say logger mail mailx sendmail mutt wall write mesg tput clear reset stty tty setterm infocmp dialog whiptail zenity
fzf gum crontab protoc buf grpcurl thrift swagger openapi-generator ab wrk hey k6 locust vegeta siege mkfifo mknod truncate
fallocate split csplit shred wipe srm wipefs install cloc tokei scc ctags cscope doxygen diffstat colordiff delta difft
dos2unix unix2dos iconv uconv envsubst m4 gettext msgfmt xgettext bc dc units numfmt getconf locale localedef ldapsearch
kinit klist crond at atq atrm batch init shutdown reboot halt poweroff mdadm hdparm smartctl zpool zfs btrfs cryptsetup
launchctl defaults diskutil hdiutil codesign spctl plutil sw_vers scutil dscl security pkgutil softwareupdate mdfind mdls
trash gio gsettings dconf xrandr xset xdotool pactl amixer playerctl : eval exec source .
claude aider codex cursor gemini ollama llm
del erase rd md copy xcopy robocopy move ren attrib icacls takeown reg schtasks sc net netsh tasklist taskkill wmic findstr
where ver vol title color cls set rem pause format diskpart bcdedit vssadmin cipher certutil bitsadmin
`
    .trim()
    .split(/\s+/),
);

/** Whether the program runs none of its arguments. */
const isPlain = (name: string): boolean => PLAIN.has(name);

/** Score of a denied call among the arguments of a program that is not known. */
const AMONG_ARGUMENTS: Certainty = 0.5;
/** Most words of a call that are looked at as programs, and as texts. */
const MAX_PROGRAMS = 8;
const MAX_TEXTS = 4;
const MAX_TEXT_LENGTH = 10_000;

/** Denied programs and calls among the arguments of a program that may be a launcher, as words or as one text. */
export function checkUnknownProgram(text: TextScope, call: ProgramCall): void {
  const { rules, findings } = text;
  const { args } = call;
  if (!rules.denies || isPlain(call.name) || text.check.certainty < 1) return;
  let programs = 0;
  let texts = 0;
  for (const [at, word] of args.entries()) {
    if (word.dynamic || word.value === '') continue;
    if (programs >= MAX_PROGRAMS) return;
    const path = plainPath(word.value);
    const name = rules.nameOf(path);
    const isDenied = rules.isDenied(path);
    if (isDenied || rules.calls.isNamed(name)) {
      programs += 1;
      if (isDenied) findings.add('program_denied', word, AMONG_ARGUMENTS);
      const inner = { name, program: word, args: args.slice(at + 1), fromInput: false };
      const score = Math.min(rules.calls.score(inner), AMONG_ARGUMENTS);
      if (score > 0)
        findings.add('call_denied', { start: word.start, end: (args.at(-1) ?? word).end }, score);
    } else if (/\s/.test(word.value) && word.value.length < MAX_TEXT_LENGTH && texts < MAX_TEXTS) {
      texts += 1;
      text.guess(word.value.replace(/^-[^\s=]*=/, ''), word, AMONG_ARGUMENTS);
    }
  }
}
