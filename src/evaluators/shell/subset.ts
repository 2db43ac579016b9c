import { UNKNOWN, type Word } from '../../../packages/shell-reader/src/index.js';
import { isReservedVariable } from './assignments.js';
import { pieceText, type Reading } from './launchers/read-arguments.js';
import { isLauncher } from './launchers/rows.js';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const NUMBER_EXPRESSION = /^[-+*/%<>=!&|^~?:,()\s\d]*$/;
const TEST_OPERATOR = /^(?:=|==|!=|=~|<|>|-eq|-ne|-lt|-le|-gt|-ge|-nt|-ot|-ef|-a|-o)$/;

/** Settings that run nothing, by program. */
const SAFE_SETTINGS: Readonly<Record<string, RegExp>> = {
  git: /^(?:user\.(?:name|email)|color\.[\w.]+|core\.(?:quotepath|autocrlf|eol|filemode|safecrlf|abbrev)|advice\.\w+|init\.defaultbranch|commit\.gpgsign=false|pull\.rebase|push\.default|http\.extraheader|log\.\w+|rerere\.\w+|gc\.auto|protocol\.version|safe\.directory)(?:=|$)/i,
  set: /^(?:pipefail|errexit|nounset|xtrace|noglob|noclobber|verbose|noexec|notify|errtrace|functrace|braceexpand|hashall|physical)$/,
  shopt:
    /^(?:nullglob|globstar|failglob|dotglob|nocaseglob|nocasematch|inherit_errexit|lastpipe|extglob|checkwinsize)$/,
  ssh: /^(?:StrictHostKeyChecking|ConnectTimeout|BatchMode|ServerAlive\w+|UserKnownHostsFile|LogLevel|Port|User|IdentitiesOnly)[=\s]/i,
};

/** Whether a setting `name=value` of the program certainly names no command. */
export const isSafeSetting = (program: string, setting: string): boolean =>
  !setting.includes(UNKNOWN) &&
  (SAFE_SETTINGS[/^s(?:cp|ftp)$/.test(program) ? 'ssh' : program]?.test(setting) ?? false);

/** The argument because of which the call of a builtin, or of a program in the tables, is outside the subset. */
export function outsideArgument(
  name: string,
  { unsure, grammar, names, command }: Reading,
  words: readonly Word[],
  from: number,
  to: number,
): Word | undefined {
  if (name === 'getopts') return namesOutside(words.slice(from + 2, Math.min(from + 3, to)));
  if (grammar.rest.has('names') || names.length > 0) {
    const declares = /^(?:declare|typeset|local)$/.test(name);
    for (const piece of names) {
      const [variable = '', ...value] = pieceText(piece).split('=');
      const begin = value.join('=').charAt(0);
      if (!NAME.test(variable.replace(/\+$/, '')) || isReservedVariable(variable)) return piece.word;
      if (declares && (begin === UNKNOWN || begin === '(')) return piece.word;
    }
    return unsure !== undefined && names.some(({ word }) => word === unsure) ? undefined : unsure;
  }
  if (name === 'git') {
    const own = words[command[0] ?? -1];
    const setting = command.length > 2 && own?.value === 'config' ? words[command[1] as number] : undefined;
    if (setting !== undefined && !isSafeSetting('git', setting.value)) return setting;
    const remote = words.slice(from + 1, to).find(({ value }) => value.startsWith('ext::'));
    if (remote !== undefined) return remote;
  }
  if (isLauncher(name)) return undefined;
  // Of most builtins, only the first argument may be an option.
  if (grammar.rest.has('builtin')) {
    const isFirst = unsure === words[from + 1] && /^(?:printf|wait)$/.test(name);
    return name === 'set' || isFirst ? unsure : undefined;
  }
  return unsure ?? fileLikeOption(words, from, to);
}

/** A pattern of file names that may match one that is an option. */
function fileLikeOption(words: readonly Word[], from: number, to: number): Word | undefined {
  for (let at = from + 1; at < to && words[at]?.value !== '--'; at += 1) {
    const word = words[at] as Word;
    if (word.pattern && !word.quoted && /^[*?[]/.test(word.value)) return word;
  }
  return undefined;
}

function namesOutside(words: readonly Word[]): Word | undefined {
  return words.find(({ value }) => !NAME.test(value) || isReservedVariable(value));
}

/** Builtins that are outside the subset with any argument that fits. */
const OUTSIDE: Readonly<Record<string, RegExp>> = {
  alias: /=|\0/,
  enable: /./s,
  bind: /./s,
  complete: /./s,
  compgen: /./s,
  compopt: /./s,
  fc: /./s,
  history: /^[^\d]/,
  hash: /^-[^r]|\0/,
  builtin: /^(?:eval|source|\.)$/,
  zmodload: /./s,
  autoload: /./s,
  emulate: /./s,
  zle: /./s,
  bindkey: /./s,
  sched: /./s,
  zstyle: /./s,
};

/** The word because of which the call of a builtin is outside the subset, whatever its grammar. */
export function isOutside(name: string, words: readonly Word[], from: number, to: number): Word | undefined {
  if (name === 'test' || name === '[') return testOutside(words, from + 1, to);
  const all = words.slice(from + 1, to);
  if (name === 'let') return all.find(({ value }) => !NUMBER_EXPRESSION.test(value));
  const outside = Object.hasOwn(OUTSIDE, name) ? OUTSIDE[name] : undefined;
  return outside === undefined ? undefined : all.find(({ value }) => outside.test(value));
}

/** Operators of `test` that take the name of a variable may be known only at run time. */
function testOutside(words: readonly Word[], from: number, to: number): Word | undefined {
  for (let at = from; at < to; at += 1) {
    const word = words[at] as Word;
    if (word.splits) return word;
    const next = at + 1 < to ? (words[at + 1] as Word) : undefined;
    if (next === undefined || next.value === ']') continue;
    const mayName = next.dynamic || next.value.includes('[');
    if (/^-[vR]$/.test(word.value) && mayName) return next;
    if (word.value.startsWith(UNKNOWN) && mayName && !TEST_OPERATOR.test((words[at - 1] as Word).value)) {
      return word;
    }
  }
  return undefined;
}
