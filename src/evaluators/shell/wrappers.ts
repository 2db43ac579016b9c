import type { Word } from '../../../packages/shell-reader/src/index.js';

/** How a program that runs another reads its own arguments. */
interface Wrapper {
  /** Short flags without a value, and those with one. */
  readonly flags: string;
  readonly values: string;
  readonly longFlags?: readonly string[];
  readonly longValues?: readonly string[];
  /** Arguments before the name of the other program. */
  readonly before?: number;
  /** Whether assignments may stand before it. */
  readonly assigns?: true;
  /** The flags whose value is a text for a shell. */
  readonly texts?: readonly string[];
  /** Flags with which nothing runs. */
  readonly queries?: string;
  /** Whether all words after its own are one text for a shell. */
  readonly joins?: true;
}

/** From the manuals of sudo 1.9, GNU coreutils 9 and findutils 4.9, util-linux 2.39, procps 4, OpenSSH 9 and bash 5.2. */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    flags: 'ABbEeHiKklNnPSsVv',
    values: 'CDghprRtTuU',
    longFlags: [
      'background',
      'preserve-env',
      'edit',
      'set-home',
      'login',
      'non-interactive',
      'stdin',
      'shell',
      'askpass',
    ],
    longValues: [
      'user',
      'group',
      'chdir',
      'chroot',
      'host',
      'prompt',
      'role',
      'type',
      'command-timeout',
      'close-from',
    ],
    assigns: true,
  },
  doas: { flags: 'Lns', values: 'aCu' },
  pkexec: { flags: '', values: '', longFlags: ['disable-internal-agent', 'keep-cwd'], longValues: ['user'] },
  run0: { flags: '', values: 'ugD', longValues: ['user', 'group', 'chdir', 'nice', 'unit'] },
  runuser: {
    flags: 'flmp',
    values: 'ugGs',
    texts: ['c', 'command'],
    longFlags: ['login'],
    longValues: ['user', 'group'],
  },
  su: {
    flags: 'flmpP',
    values: 'gGswT',
    texts: ['c', 'command'],
    longFlags: ['login'],
    longValues: ['group', 'shell'],
    before: 1,
  },
  env: {
    flags: 'i0v',
    values: 'uC',
    longFlags: ['ignore-environment', 'null', 'debug'],
    longValues: ['unset', 'chdir'],
    texts: ['S', 'split-string'],
    assigns: true,
  },
  nohup: { flags: '', values: '' },
  setsid: { flags: 'cfw', values: '', longFlags: ['ctty', 'fork', 'wait'] },
  nice: { flags: '0123456789', values: 'n', longValues: ['adjustment'] },
  ionice: { flags: 't', values: 'cnpPu', longFlags: ['ignore'], longValues: ['class', 'classdata'] },
  chrt: { flags: 'abdfior', values: 'TPD', before: 1 },
  taskset: { flags: 'ac', values: 'p', before: 1, longFlags: ['cpu-list', 'all-tasks'] },
  time: {
    flags: 'apqv',
    values: 'fo',
    longFlags: ['portability', 'verbose', 'append'],
    longValues: ['format', 'output'],
  },
  timeout: {
    flags: 'v',
    values: 'ks',
    before: 1,
    longFlags: ['foreground', 'preserve-status', 'verbose'],
    longValues: ['kill-after', 'signal'],
  },
  stdbuf: { flags: '', values: 'ioe', longValues: ['input', 'output', 'error'] },
  xargs: {
    flags: '0ortxp',
    values: 'aEIJLnPRsd',
    longFlags: ['null', 'open-tty', 'no-run-if-empty', 'verbose', 'exit', 'interactive'],
    longValues: [
      'arg-file',
      'delimiter',
      'max-lines',
      'max-args',
      'max-procs',
      'max-chars',
      'replace',
      'process-slot-var',
    ],
  },
  command: { flags: 'p', values: '', queries: 'vV' },
  builtin: { flags: '', values: '' },
  exec: { flags: 'cl', values: 'a' },
  busybox: { flags: '', values: '', longFlags: ['list', 'help'] },
  toybox: { flags: '', values: '' },
  chroot: { flags: '', values: '', before: 1, longFlags: ['skip-chdir'], longValues: ['groups', 'userspec'] },
  unshare: {
    flags: 'imnpuUCTfrc',
    values: 'RwSG',
    longFlags: ['fork', 'pid', 'net', 'mount', 'user', 'ipc', 'uts', 'map-root-user'],
  },
  nsenter: {
    flags: 'amuinpCUTFrwZ',
    values: 'tSG',
    longFlags: ['all', 'mount', 'uts', 'ipc', 'net', 'pid'],
    longValues: ['target'],
  },
  flock: {
    flags: 'eFnosux',
    values: 'wE',
    before: 1,
    texts: ['c', 'command'],
    longFlags: ['nonblock', 'exclusive', 'shared', 'close'],
  },
  strace: { flags: 'cCdfFhiknqrtTvVwxyYzZ', values: 'abeEIoOpPsSuUX' },
  ltrace: { flags: 'bcCfhiLrStTV', values: 'aADelnopsuwxX' },
  setpriv: {
    flags: 'd',
    values: '',
    longFlags: ['no-new-privs', 'clear-groups', 'init-groups', 'reset-env'],
  },
  caffeinate: { flags: 'dimsu', values: 'tw' },
  watch: {
    flags: 'bcCdeghprtvwx',
    values: 'nq',
    joins: true,
    longFlags: ['differences', 'no-title', 'exec', 'color', 'chgexit'],
    longValues: ['interval'],
  },
  ssh: { flags: '46AaCfGgKkMNnqsTtVvXxYy', values: 'BbcDEeFIiJLlmOoPpQRSWw', before: 1, joins: true },
  script: {
    flags: 'aefq',
    values: 'EIOoTBm',
    texts: ['c', 'command'],
    before: 1,
    longFlags: ['append', 'flush', 'quiet', 'return'],
  },
};

/** What a wrapper runs. */
export interface Wrapped {
  /** Index of the word that names the other program; -1 when none follows. */
  readonly at: number;
  /** Words that are texts for a shell. */
  readonly texts: readonly Word[];
  /** Whether the words from `at` on are one text for a shell. */
  readonly joins: boolean;
  /** Whether all its arguments are known: otherwise another word may name the program. */
  readonly certain: boolean;
}

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;

export const isWrapper = (program: string): boolean => Object.hasOwn(WRAPPERS, program);

/** Reads the arguments of the wrapper at `from`: what it runs. Null with flags with which it runs nothing. */
export function unwrap(program: string, words: readonly Word[], from: number, to: number): Wrapped | null {
  const wrapper = WRAPPERS[program] as Wrapper;
  const texts: Word[] = [];
  let certain = true;
  let before = wrapper.before ?? 0;
  let at = from + 1;
  for (; at < to; at += 1) {
    const word = words[at] as Word;
    const { value } = word;
    if (value === '--') {
      at += 1;
      break;
    }
    // A login shell for su, an empty environment for env.
    if (value === '-') continue;
    if (value.startsWith('-')) {
      const flag = readFlag(wrapper, value);
      if (flag === 'query') return null;
      if (flag === 'unknown' || word.dynamic) certain = false;
      else if (flag === 'value') at += 1;
      else if (flag === 'text' && at + 1 < to) {
        at += 1;
        texts.push(words[at] as Word);
      } else if (flag === 'text here') texts.push(word);
    } else if (wrapper.assigns && ASSIGNMENT.test(value)) continue;
    else if (before > 0) {
      before -= 1;
      if (word.splits || word.pattern) certain = false;
    } else break;
  }
  while (at < to && wrapper.assigns && ASSIGNMENT.test((words[at] as Word).value)) at += 1;
  if (at < to && before > 0) at = Math.min(at + before, to);
  return { at: at < to ? at : -1, texts, joins: wrapper.joins === true, certain };
}

type Flag = 'flag' | 'value' | 'text' | 'text here' | 'query' | 'unknown';

/** What the word is, and whether the next one is its value. */
function readFlag({ flags, values, longFlags, longValues, texts, queries }: Wrapper, word: string): Flag {
  if (word.startsWith('--')) {
    const [name = ''] = word.slice(2).split('=', 1);
    const hasValue = word.includes('=');
    if (texts?.includes(name)) return hasValue ? 'text here' : 'text';
    if (longValues?.includes(name)) return hasValue ? 'flag' : 'value';
    return longFlags?.includes(name) ? 'flag' : 'unknown';
  }
  for (let index = 1; index < word.length; index += 1) {
    const letter = word[index] as string;
    const isLast = index === word.length - 1;
    if (texts?.includes(letter)) return isLast ? 'text' : 'text here';
    if (values.includes(letter)) return isLast ? 'value' : 'flag';
    if (queries?.includes(letter)) return 'query';
    if (!flags.includes(letter)) return 'unknown';
  }
  return 'flag';
}
