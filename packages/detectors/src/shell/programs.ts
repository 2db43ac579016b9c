const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Shells: programs that read commands of a shell from an argument, a file or their input. */
export const SHELLS = wordSet(
  'sh bash dash zsh ksh mksh ash rbash fish yash csh tcsh posh hush lksh pdksh oksh rzsh rksh ksh93 elvish xonsh nu rc',
);

/** Interpreters that run what they read from their input when they are given neither a file nor code. */
export const INTERPRETERS =
  /^(?:python[\d.]*|perl[\d.]*|ruby[\d.]*|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*|osascript|tclsh[\d.]*|wish|guile|julia|rscript|r|scala|groovy|irb|ipython[\d.]*|pypy[\d.]*|ts-node|tsx|jshell|elixir|iex|erl|ghci|runghc|sbcl|clisp|scsh)$/;

/** Programs that run another with the rights of another user. */
export const ELEVATING = wordSet('sudo doas su pkexec run0 sudoedit dzdo gosu su-exec runuser');

/** Programs that fetch what others have written. */
export const DOWNLOADERS = wordSet('curl wget fetch aria2c http https lynx nc ncat netcat scp sftp ftp tftp');

/** Programs of which an argument names a device that they write. */
export const DEVICE_WRITERS =
  /^(?:tee|cp|mv|shred|wipefs|blkdiscard|sgdisk|fdisk|sfdisk|cfdisk|gdisk|parted|mkswap|badblocks|ddrescue|mke2fs|mkfs(?:\..+)?)$/;

/** Block devices and memory. */
export const DEVICE =
  /^\/dev\/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|disk\d?|rdisk\d|mapper\/|md\d|dm-\d|loop\d|mem$|kmem$|port$)/;

/** Targets of redirections that are no files. */
export const HARMLESS_TARGET = /^\/dev\/(?:null|stdin|stdout|stderr|tty|fd\/\d+)$/;

/** Folders whose programs a plain name in `allow_programs` stands for. */
export const SYSTEM_FOLDER = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/;

/** Files from which shells, cron and git read commands when they begin. */
const STARTUP_FILE =
  /(?:^|\/)(?:\.?(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|inputrc|xprofile|xinitrc|envrc)|bash\.bashrc|rc\.local|crontab)$|\/(?:profile\.d|cron\.\w+|init\.d|git\/hooks|\.git\/hooks|spool\/cron(?:\/crontabs)?|conf\.d\/fish)\/[^/]+$/;

export const isStartupFile = (path: string): boolean => path.length < 4_096 && STARTUP_FILE.test(path);

/** Flags with the same meaning, short ones first, of programs that are often named in controls. */
const SAME_FLAGS: Readonly<Record<string, string>> = {
  rm: 'r R recursive, f force, d dir, i interactive',
  cp: 'r R recursive, f force, a archive',
  mv: 'f force',
  ln: 's symbolic, f force',
  chmod: 'R recursive',
  chown: 'R recursive',
  chgrp: 'R recursive',
  sed: 'i in-place, n quiet silent, e expression',
  grep: 'r recursive, i ignore-case',
  tar: 'x extract get, c create, f file, P absolute-names',
  curl: 'o output, O remote-name, d data, F form, T upload-file, k insecure, X request, L location, u user, x proxy',
  wget: 'O output-document, P directory-prefix, r recursive',
  git: 'f force',
  docker: 'f force, v volume, e env',
  rsync: 'a archive, r recursive, e rsh',
  kill: 's signal',
  crontab: 'r, e, l',
  useradd: 'G groups, g gid, u uid',
  usermod: 'a append, G groups',
  npm: 'g global, f force',
  pip: 'r requirement, U upgrade',
};

const canonical = new Map<string, ReadonlyMap<string, string>>();
for (const [program, groups] of Object.entries(SAME_FLAGS)) {
  const names = new Map<string, string>();
  for (const group of groups.split(', ')) {
    const [first = '', ...others] = group.split(' ');
    names.set(first, first);
    for (const other of others) {
      names.set(other, first);
      // Programs of GNU accept the begin of a long flag.
      for (let length = 2; length < other.length; length += 1) {
        if (!names.has(other.slice(0, length))) names.set(other.slice(0, length), first);
      }
    }
  }
  canonical.set(program, names);
}

/** One name for all spellings of a flag of the program, without dashes. */
export const canonicalFlag = (program: string, flag: string): string =>
  canonical.get(program)?.get(flag) ?? flag;

/** The name of a program in a path. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Systems whose names of programs are meant; `any` of them, where not knowing must not let something pass. */
export const PLATFORMS = ['posix', 'darwin', 'windows', 'any'] as const;
type Platform = (typeof PLATFORMS)[number];

const SUFFIX = /\.(?:exe|com|cmd|bat)$/i;
/** A path of Windows as it is written: with a drive, a variable or a folder, and backslashes. */
const WINDOWS_PATH = /^(?:[A-Za-z]:|%\w+%|\.{1,2}|[\w.-]+)?(?:\\[\w.~ ()-]+)+$/;
const EXECUTABLE_PATH = /\\[\w.-]+\.(?:exe|com|cmd|bat)$/i;
const ROOTED = /^(?:[A-Za-z]:|%\w+%|\.{1,2})\\/;

/** How names of programs are compared on a system. */
interface ProgramNames {
  /** The name by which a program is compared. */
  readonly normal: (name: string) => string;
  /** The value of a word that names a program, or the path of Windows that its text is before a shell removes backslashes. */
  readonly path: (value: string, written: string) => string;
}

export function programNames(platform: Platform): ProgramNames {
  const isWindows = platform === 'windows' || platform === 'any';
  if (platform === 'posix') return { normal: (name) => name, path: (value) => value };
  if (!isWindows) return { normal: (name) => name.toLowerCase(), path: (value) => value };
  return {
    normal: (name) => name.replace(SUFFIX, '').toLowerCase(),
    path(value, written) {
      if (!value.includes('\\') && !written.includes('\\')) return value;
      const path = WINDOWS_PATH.test(value) ? value : written;
      const isPath = WINDOWS_PATH.test(path) && (ROOTED.test(path) || EXECUTABLE_PATH.test(path));
      return isPath ? path.replaceAll('\\', '/') : value;
    },
  };
}
