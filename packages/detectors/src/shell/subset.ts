import { UNKNOWN, type Word } from '../../../shell-reader/src/index.js';
import { isReservedVariable } from './assignments.js';
import type { Reading } from './launchers/read-arguments.js';
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
  { unsure, grammar, pieces, command }: Reading,
  args: readonly Word[],
): Word | undefined {
  if (name === 'getopts')
    return args.slice(1, 2).find(({ value }) => !NAME.test(value) || isReservedVariable(value));
  const names = pieces.name;
  if (grammar.rest.has('names') || names.length > 0) {
    const declares = /^(?:declare|typeset|local)$/.test(name);
    for (const { word, text } of names) {
      const [variable = ''] = text.split('=', 1);
      const begin = text.charAt(variable.length + 1);
      if (!NAME.test(variable.replace(/\+$/, '')) || isReservedVariable(variable)) return word;
      if (declares && (begin === UNKNOWN || begin === '(')) return word;
    }
    return names.some(({ word }) => word === unsure) ? undefined : unsure;
  }
  if (name === 'git') {
    const [own, setting] = command;
    const isSet = command.length > 2 && own?.value === 'config';
    if (isSet && setting !== undefined && !isSafeSetting('git', setting.value)) return setting;
    const remote = args.find(({ value }) => value.startsWith('ext::'));
    if (remote !== undefined) return remote;
  }
  if (isLauncher(name)) return undefined;
  // Of most builtins, only the first argument may be an option.
  if (grammar.rest.has('builtin')) {
    const isFirst = unsure === args[0] && /^(?:printf|wait)$/.test(name);
    return name === 'set' || isFirst ? unsure : undefined;
  }
  if (unsure !== undefined) return unsure;
  // A pattern of file names may match one that is an option.
  const mayMatch = args.find(
    ({ pattern, quoted, value }) => value === '--' || (pattern && !quoted && /^[*?[]/.test(value)),
  );
  return mayMatch?.value === '--' ? undefined : mayMatch;
}

/** Builtins that are outside the subset with any argument, and with one that fits. */
const OUTSIDE =
  /^(?:enable|bind|complete|compgen|compopt|fc|zmodload|autoload|emulate|zle|bindkey|sched|zstyle)$/;
const OUTSIDE_WITH = new Map([
  ['alias', /=|\0/],
  ['history', /^[^\d]/],
  ['hash', /^-[^r]|\0/],
  ['builtin', /^(?:eval|source|\.)$/],
]);

/** The word because of which the call of a builtin is outside the subset, whatever its grammar. */
export function isOutside(name: string, args: readonly Word[]): Word | undefined {
  if (name === 'test' || name === '[') return testOutside(args);
  if (name === 'let') return args.find(({ value }) => !NUMBER_EXPRESSION.test(value));
  if (OUTSIDE.test(name)) return args.find(({ value }) => value !== '');
  return args.find(({ value }) => OUTSIDE_WITH.get(name)?.test(value));
}

/** Operators of `test` that take the name of a variable may be known only at run time. */
function testOutside(args: readonly Word[]): Word | undefined {
  for (const [at, word] of args.entries()) {
    if (word.splits) return word;
    const next = args[at + 1];
    if (next === undefined || next.value === ']') continue;
    const mayName = next.dynamic || next.value.includes('[');
    if (/^-[vR]$/.test(word.value) && mayName) return next;
    if (word.value.startsWith(UNKNOWN) && mayName && !TEST_OPERATOR.test(args[at - 1]?.value ?? ''))
      return word;
  }
  return undefined;
}
