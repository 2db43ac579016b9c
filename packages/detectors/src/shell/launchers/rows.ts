import { type Grammar, readGrammar } from './grammar.js';
import { SYSTEM_ROWS } from './system-rows.js';
import { TOOL_ROWS } from './tool-rows.js';

/**
 * Builtins of bash and POSIX shells that run texts, or take names of variables, whose subscripts are evaluated: see
 * `readGrammar` for the rows. Options that are not listed are outside what is understood.
 */
const BUILTIN_ROWS = `
trap: [lpP] :: text builtin
eval: :: sh builtin
alias: [p] :: texts builtin
hash: [rlt] p$ d= :: lax builtin
complete|compgen: [pr] C$ W% F% [AoGXPS]= :: lax builtin
bind: x$ f~ [lpsPSvVX] [mqru]= :: lax builtin
mapfile|readarray: [t] [dnOsuc]= C$ :: names builtin
fc: [lnrs] e$ :: lax builtin
history: [cdanrwp]? s> :: lax builtin
read: [ersE] [dinNptu]= a& :: names builtin
printf: v& :: lax builtin
wait: [fn] p& :: lax builtin
unset: [fv] :: names builtin
getopts: :: 1 names builtin
export|readonly: [fpn] :: names builtin
declare|typeset|local: [xrgpfFtlu] :: names builtin
set: [euxfvnCbhamETBP] o@ :: builtin
shopt: [supqo] :: settings builtin
cd|pushd|popd|umask|ulimit|exit|return|shift|type|jobs|fg|bg|kill|disown|times|true|false|pwd|dirs|break|continue|echo: :: lax builtin
`;

/** Loaders of dynamic programs, which run the program that they are given. */
const LOADER = /^ld(?:-linux|-musl|64|32)?[\w.-]*\.so(?:\.\d+)*$/;
const LOADER_NAME = 'ld.so';
const LOADER_ROW = `${LOADER_NAME}: library-path= preload= audit= argv0= inhibit-cache inhibit-rpath= glibc-hwcaps-prepend= glibc-hwcaps-mask= list! verify! list-tunables! list-diagnostics! help! :: cmd`;

const rows = new Map<string, string>();
for (const line of `${SYSTEM_ROWS}${TOOL_ROWS}${BUILTIN_ROWS}${LOADER_ROW}`.split('\n')) {
  const colon = line.indexOf(':');
  if (colon < 0) continue;
  const [programs = '', ...rest] = line.slice(0, colon).split(' ');
  const [options = '', after = ''] = line.slice(colon + 1).split('::');
  for (const program of programs.split('|')) {
    for (const command of rest.join(' ').split('|')) {
      const key = `${program} ${command}`.trim();
      // Two rows of one command add to each other.
      const [otherOptions = '', otherAfter = ''] = rows.get(key)?.split('::') ?? [];
      rows.set(key, `${otherOptions} ${options} :: ${otherAfter} ${after}`);
    }
  }
}

const grammars = new Map<string, Grammar>();

/** How the program, or its command `git rebase`, reads its arguments; undefined for one that is not in the tables. */
export function grammarOf(key: string): Grammar | undefined {
  const known = LOADER.test(key) ? LOADER_NAME : key;
  const read = grammars.get(known);
  if (read !== undefined) return read;
  const row = rows.get(known);
  if (row === undefined) return undefined;
  const grammar = readGrammar(row);
  grammars.set(known, grammar);
  return grammar;
}

/** Whether the program is there to run another. */
export function isLauncher(program: string): boolean {
  const rest = grammarOf(program)?.rest;
  if (rest === undefined || rest.has('builtin')) return false;
  return ['cmd', 'env', 'sh', 'text', 'texts', 'dashes', 'input'].some((kind) => rest.has(kind));
}
