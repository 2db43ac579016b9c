/** Shells: programs that read commands of a shell from an argument, a file or their input. */
export const SHELLS: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'ksh',
  'mksh',
  'ash',
  'rbash',
  'fish',
]);

/** Interpreters that run what they read from their input when they are given neither a file nor code. */
export const INTERPRETERS =
  /^(?:python[\d.]*|perl[\d.]*|ruby[\d.]*|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*|osascript|pwsh)$/;

/** Programs that run another with the rights of another user. */
export const ELEVATING: ReadonlySet<string> = new Set([
  'sudo',
  'doas',
  'su',
  'pkexec',
  'run0',
  'sudoedit',
  'runuser',
]);

/** Programs that fetch what others have written. */
export const DOWNLOADERS: ReadonlySet<string> = new Set([
  'curl',
  'wget',
  'fetch',
  'aria2c',
  'http',
  'https',
  'lynx',
  'nc',
  'ncat',
  'netcat',
  'scp',
  'sftp',
  'ftp',
  'tftp',
]);

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

/** Variables that change which programs run. */
export const CHANGES_PROGRAMS =
  /^(?:PATH|LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|DYLD_[A-Z_]+|BASH_ENV|ENV|IFS|PROMPT_COMMAND|SHELLOPTS|GIT_SSH_COMMAND|GIT_SSH|GIT_EXTERNAL_DIFF|GIT_PAGER|PAGER|EDITOR|VISUAL|PYTHONPATH|PYTHONSTARTUP|PERL5OPT|PERL5LIB|RUBYOPT|NODE_OPTIONS)\+?=/;

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
