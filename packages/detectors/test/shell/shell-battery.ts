import { numbersFrom } from '../../../../test/support/shell-lines.js';

/**
 * Texts for shells in which programs run in every way that the manual of bash has. Their alphabet is fixed: the programs
 * `ok`, `m1` and `m2`, which do nothing but say that they ran, builtins without effect outside of the shell, names of
 * variables and of files in the current folder. A text with a path is never generated.
 */
export const ALLOWED_MARKER = 'ok';
export const MARKERS = ['m1', 'm2'] as const;

/** Builtins that the texts use; a strict list allows them all. */
export const BUILTINS = (
  '[ test : . alias bind break builtin command compgen complete continue coproc declare echo enable eval exec exit export ' +
  'false fc getopts hash history let local mapfile printf read readarray readonly return set shift shopt source times trap ' +
  'true type typeset unset wait'
).split(' ');

const MUTATIONS = [
  ...[
    ' ',
    ';',
    '|',
    '&&',
    '(',
    ')',
    '{',
    '}',
    '"',
    "'",
    '`',
    '$',
    '\\',
    '<<<',
    '\n',
    '#',
    '[',
    ']',
    '[[',
    ']]',
    '((',
    '))',
  ],
  ...[
    '=',
    '!',
    '+',
    ',',
    '@',
    '%',
    ':',
    '-',
    '*',
    '?',
    '~',
    '^',
    '$(',
    '${',
    "$'",
    'x',
    'a',
    '1',
    ' m1 ',
    ';m1;',
    '$(m1)',
  ],
];

/** The same texts for the same seed. */
export function batteryTexts(seed: number, count: number): string[] {
  const below = numbersFrom(seed);
  const one = <T>(options: readonly T[]): T => options[below(options.length)] as T;
  const marker = (): string => one(MARKERS);
  const program = (): string =>
    one([
      ...[
        'ok',
        'ok',
        'ok',
        'm1',
        'm2',
        "'m1'",
        'm"1"',
        '\\m1',
        "$'m1'",
        "$'\\x6d1'",
        '"m"1',
        'm$e1',
        'm${e}1',
        "m''1",
      ],
      ...[
        '${e:-m1}',
        '"${e:-m1}"',
        '${e-m1}',
        '{m1,ok}',
        '$v',
        '"$v"',
        '${v}',
        '$(echo m1)',
        '`echo m1`',
        '?1',
        '[m]1',
      ],
    ]);
  /** A text that, evaluated as arithmetic or a name, runs a program. */
  const evaluates = (): string =>
    one([
      "'a[$(M)]'",
      '"a[\\$(M)]"',
      'a[\\$\\(M\\)]',
      "'a[`M`]'",
      "'a['\\$'(M)]'",
      "$'a[$(M)]'",
      "'$(M)'",
      "'M'",
    ]).replaceAll('M', marker());
  const operand = (): string =>
    one([evaluates(), evaluates(), 'v', '$v', '"$v"', 'a[v]', 'a[$v]', '1', '"1"', 'v+1', '1+1']);
  const text = (depth: number): string => {
    const inner = depth > 0 ? list(depth - 1) : marker();
    return one([
      `'${inner.replaceAll("'", "'\\''")}'`,
      `"${inner.replaceAll(/([\\"$`])/g, '\\$1')}"`,
      marker(),
      '$v',
    ]);
  };
  const word = (depth: number): string => {
    switch (below(depth > 0 ? 22 : 8)) {
      case 0:
        return 'x';
      case 1:
        return `'$(${marker()})'`;
      case 2:
        return '"a b"';
      case 3:
        return '$x';
      case 4:
        return '{a,b}';
      case 5:
        return '\\$x';
      case 6:
        return `"\${x}"`;
      case 7:
        return `${below(9)}`;
      case 8:
        return `$(${list(depth - 1)})`;
      case 9:
        return `"$(${list(depth - 1)})"`;
      case 10:
        return `\`${marker()}\``;
      case 11:
        return `\${x${one([':-', '-', ':=', '=', ':+', '#', '%%', '/', '//', '^', ',', ':?'])}${word(depth - 1)}}`;
      case 12:
        return `"\${x${one([':-', '#', '%', '/a/', '/#/'])}${one([`'$(${marker()})'`, `$(${marker()})`, `\\$(${marker()})`])}}"`;
      case 13:
        return `$((${operand()}))`;
      case 14:
        return `$[${operand()}]`;
      case 15:
        return `\${a[${operand()}]}`;
      case 16:
        return `"\${x:${operand()}}"`;
      case 17:
        return `\${x:0:${operand()}}`;
      case 18:
        return one([
          '${v@P}',
          '"${v@P}"',
          '${!v}',
          '"${!v}"',
          '${!v@}',
          '${a[@]}',
          '${#a[v]}',
          '${x@Q}',
          '${v@A}',
          '${!a[@]}',
        ]);
      case 19:
        return `<(${marker()})`;
      case 20:
        return `"\`${marker()}\`"`;
      default:
        return `${word(0)}$(${marker()})${word(0)}`;
    }
  };
  const assignment = (depth: number): string =>
    one([
      () => `v=${one([evaluates(), marker(), "'$(m1)'", text(depth)])}`,
      () => `x=${word(depth)}`,
      () => `a[${operand()}]=1`,
      () => `a=(${word(0)} [${operand()}]=1)`,
      () =>
        `${one(['RANDOM', 'SECONDS', 'OPTIND', 'PS4', 'IFS', 'PROMPT_COMMAND', 'HISTCMD', 'x'])}=${operand()}`,
      () => `x+=${word(0)}`,
    ])();
  const builtin = (depth: number): string =>
    one<() => string>([
      () => `((${operand()}))`,
      () => `[[ ${operand()} -${one(['eq', 'ne', 'lt', 'ge'])} ${operand()} ]]`,
      () => `[[ -${one(['v', 'R', 'n', 'z', 't'])} ${operand()} ]]`,
      () => `[[ ${word(depth)} ${one(['==', '=', '=~', '<', '!='])} ${word(0)} ]]`,
      () => `${one(['test', '['])} -${one(['v', 'R', 'n'])} ${operand()}`,
      () => `[ ${one(['-v', '"$o"', '$o'])} ${operand()} ]`,
      () => `[ ${operand()} -eq ${operand()} ]`,
      () => `let ${operand()}`,
      () => `printf -v ${operand()} x`,
      () => `printf -v${evaluates()} x`,
      () => `printf ${one(['%d', '%s', '%q'])} ${operand()}`,
      () => `read ${one(['', '-r ', '-a '])}${operand()} <<< y`,
      () =>
        `${one(['mapfile', 'readarray'])} ${one(['', '-t ', `-C ${text(depth)} -c 1 `])}${one(['q', operand()])} <<< y`,
      () => `unset ${operand()}`,
      () =>
        `${one(['declare', 'typeset', 'export', 'readonly'])} ${one(['', '-i ', '-a ', '-x '])}${one(['n', operand()])}=${operand()}`,
      () => `declare -a q='($(${marker()}))'`,
      () => `declare -n r=${operand()}; echo $r`,
      () => `f() { local ${one(['', '-i '])}n=${operand()}; }; f`,
      () => `wait -p ${operand()}`,
      () => `getopts x ${operand()} -x`,
      () => `for ((i = ${operand()}; i < 0; i++)); do ok; done`,
      () => `trap ${one(['', '-- '])}${text(depth)} EXIT`,
      () => `eval ${one(['', '-- '])}${text(depth)}`,
      () => `alias k=${text(depth)}\nk`,
      () => `shopt -s expand_aliases\nalias k=${marker()}\nk`,
      () => `PS4=${one(["'$(m1)'", operand()])}; set -x; ok`,
      () => `command_not_found_handle() { ${marker()}; }; nosuch`,
      () => `compgen -${one(['C', 'F'])} ${marker()} x`,
      () => `compgen -W '$(${marker()})' x`,
      () => `complete -C ${marker()} x`,
      () =>
        `${one(['command', 'exec', 'builtin eval', 'command eval', 'coproc', 'time', '!', 'command -p', 'exec -a x'])} ${program()}`,
      () => `echo ${marker()} > file; ${one(['. ./file', 'source ./file', 'source file'])}`,
      () => `ok() { ${marker()}; }; ok`,
      () => `function g { ${list(0)}; }; g`,
      () =>
        `set -- ${one([marker(), evaluates()])}; ${one(['$1', '"$@"', '$*', 'ok $1', 'test -v "$1"', 'let "$1"', '((  $1 ))'])}`,
      () => `v=${marker()}; hash -p ./x ok; ok`,
      () => `BASH_ENV=${marker()} ok`,
      () => `env=${marker()}; enable -n test; test`,
      () => `history -s ${marker()}; fc -s`,
      () => `shift ${operand()}`,
      () => `exit ${operand()}`,
      () => `echo {${marker()},x}`,
      () => `for v in ${evaluates()}; do ${builtinOf('v')}; done`,
      () => `select PS3 in x; do ok; done <<< 1`,
    ])();
  const builtinOf = (name: string): string =>
    one([
      `((${name}))`,
      `[[ ${name} -eq 1 ]]`,
      `echo \${a[${name}]}`,
      `let ${name}`,
      `test -v "$${name}"`,
      `echo \${${name}@P}`,
    ]);
  const redirect = (depth: number): string =>
    one([
      `> f`,
      `2>&1`,
      `< f`,
      `<<< ${word(depth)}`,
      `>> "f$(${marker()})"`,
      `{d}> f`,
      `{a[${operand()}]}> f`,
      `3>&-`,
    ]);
  const simple = (depth: number): string => {
    const parts = below(3) === 0 ? [assignment(depth)] : [];
    if (below(6) > 0) parts.push(below(3) > 0 ? 'ok' : program());
    for (let left = below(3); left > 0; left -= 1) parts.push(word(depth));
    if (below(5) === 0) parts.push(redirect(depth));
    return parts.join(' ') || 'ok';
  };
  const command = (depth: number): string => {
    switch (below(depth > 0 ? 22 : 12)) {
      case 12:
        return `if ${list(depth - 1)}; then ${list(depth - 1)}; else ${list(depth - 1)}; fi`;
      case 13:
        return `for i in ${word(depth - 1)} ${word(0)}; do ${list(depth - 1)}; done`;
      case 14:
        return `case ${word(depth - 1)} in ${word(0)}|x) ${list(depth - 1)};; *) ${simple(0)};; esac`;
      case 15:
        return `{ ${list(depth - 1)}; }`;
      case 16:
        return `(${list(depth - 1)})`;
      case 17:
        return `f() { ${list(depth - 1)}; }; f`;
      case 18:
        return `ok <<E\n${word(depth - 1)} ${word(depth - 1)}\nE\n${simple(0)}`;
      case 19:
        return `ok <<'E'\n$(${marker()})\nE`;
      case 20:
        return `until ${simple(0)}; do ${list(depth - 1)}; break; done`;
      case 21:
        return `${simple(depth - 1)} | { ${list(depth - 1)}; }`;
      default:
        return below(2) === 0 ? builtin(depth) : simple(depth);
    }
  };
  const list = (depth: number): string => {
    const commands = [command(depth)];
    while (below(3) === 0 && commands.length < 3) commands.push(command(depth));
    return commands.join(one([' && ', ' || ', '; ', '\n', ' | ']));
  };
  const damaged = (line: string): string => {
    const at = below(line.length + 1);
    const kind = below(3);
    if (kind < 2) return line.slice(0, at) + one(MUTATIONS) + line.slice(at);
    return line.slice(0, at) + line.slice(at + 1 + below(2));
  };
  return Array.from({ length: count }, () => {
    const line = `${below(2) === 0 ? `${assignment(1)}; ` : ''}${list(below(3))}`;
    return below(3) > 0 ? line : damaged(below(3) === 0 ? damaged(line) : line);
  });
}
