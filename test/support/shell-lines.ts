import { spawnSync } from 'node:child_process';

/** Numbers below a limit, the same ones for the same seed (mulberry32). */
export function numbersFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below) | 0;
  };
}

const PROGRAMS = [
  'ls',
  'rm',
  'git',
  'echo',
  'curl',
  '/bin/cat',
  'r\\m',
  "'gr'ep",
  '"sed"',
  '$EDITOR',
  'x-y',
  '[',
  ':',
];
const WORDS = [
  'a',
  '-rf',
  '--force',
  '/tmp/x',
  '*.ts',
  '"a b"',
  "'c d'",
  '$HOME',
  '"$x"',
  '${y:-z}',
  '"${y%.*}"',
  'a\\ b',
  "$'n\\n'",
  '{a,b}',
  '~',
  '#no',
  'a#b',
  '-',
  '--',
  '1',
  'é',
  '$((1+2))',
  '"$((n * (2 + 3)))"',
  '!',
  'in',
  'if',
  'done',
  '}',
  '%',
  '=',
  'k=v',
  '$#',
  '$?',
  '"\\""',
  '${#a}',
  '${a/b/c}',
  '@',
  '$',
  '\\$',
  '${a[1]}',
  '+x',
  '[a-z]*',
  '?',
];
const REDIRECTS = [
  '> f',
  '>> f',
  '2>&1',
  '< f',
  '&> f',
  '2> /dev/null',
  '>| f',
  '<> f',
  '<<< w',
  '{fd}> f',
  '>&2',
  '3<&-',
];
const MUTATIONS = [
  ' ',
  ';',
  '|',
  '&',
  '(',
  ')',
  '{',
  '}',
  '"',
  "'",
  '`',
  '$',
  '\\',
  '<',
  '>',
  '\n',
  '#',
  '[[',
  'fi',
  'do',
  'a',
  '=',
  '!',
  ';;',
  '$(',
];

/** Command lines: from a grammar, some of them damaged. The same ones for the same seed. */
export function shellLines(seed: number, count: number): string[] {
  const below = numbersFrom(seed);
  const one = (options: readonly string[]): string => options[below(options.length)] as string;
  const many = (most: number, make: () => string, between: string): string =>
    Array.from({ length: 1 + below(most) }, make).join(between);

  const word = (depth: number): string => {
    const kind = depth > 0 ? below(12) : 11;
    if (kind === 0) return `$(${list(depth - 1)})`;
    if (kind === 1) return `"$(${list(depth - 1)})"`;
    if (kind === 2) return `<(${list(depth - 1)})`;
    if (kind === 3) return `\`${simple(0)}\``;
    if (kind === 4) return `\${v:-${word(depth - 1)}}`;
    return one(WORDS);
  };
  const simple = (depth: number): string => {
    const parts = below(5) === 0 ? [`A=${word(depth)}`] : [];
    parts.push(one(PROGRAMS));
    for (let left = below(4); left > 0; left -= 1) parts.push(word(depth));
    if (below(4) === 0) parts.push(one(REDIRECTS));
    return parts.join(below(8) === 0 ? '  ' : ' ');
  };
  const command = (depth: number): string => {
    switch (depth > 0 ? below(16) : 15) {
      case 0:
        return `if ${list(depth - 1)}; then ${list(depth - 1)}; fi`;
      case 1:
        return `for i in ${many(3, () => word(0), ' ')}; do ${list(depth - 1)}; done`;
      case 2:
        return `while ${list(depth - 1)}; do ${list(depth - 1)}; done`;
      case 3:
        return `case ${word(0)} in a|b) ${list(depth - 1)};; *) ${simple(0)};; esac`;
      case 4:
        return `{ ${list(depth - 1)}; }`;
      case 5:
        return `(${list(depth - 1)})`;
      case 6:
        return `f() { ${list(depth - 1)}; }`;
      case 7:
        return `[[ -f ${word(0)} && x == y ]]`;
      case 8:
        return `((i++ < ${below(9)}))`;
      case 9:
        return `! ${simple(depth - 1)}`;
      case 10:
        return `cat <<E\n${many(2, () => one(WORDS.slice(0, 8)), '\n')}\nE\n${simple(0)}`;
      case 11:
        return `a=(${many(3, () => word(0), ' ')})`;
      case 12:
        return `if ${simple(0)}; then ${simple(0)}; elif ${simple(0)}; then ${simple(0)}; else ${simple(0)}; fi > f`;
      default:
        return simple(depth);
    }
  };
  const pipeline = (depth: number): string =>
    many(below(3) === 0 ? 3 : 1, () => command(depth), one([' | ', '|', ' |& ']));
  const list = (depth: number): string =>
    many(below(3) === 0 ? 3 : 1, () => pipeline(depth), one([' && ', ' || ', '; ', ' & ', '\n', ';\\\n']));
  const damaged = (line: string): string => {
    const at = below(line.length + 1);
    const kind = below(3);
    if (kind === 0) return line.slice(0, at) + one(MUTATIONS) + line.slice(at);
    if (kind === 1) return line.slice(0, at) + line.slice(at + 1 + below(3));
    return line.slice(0, at);
  };
  return Array.from({ length: count }, () => {
    const line = list(2);
    return below(2) === 0 ? line : damaged(below(3) === 0 ? damaged(line) : line);
  });
}

/**
 * Whether `bash -n` accepts each line, of which it runs none: whether it prints no error, for it ends with 0 after some of
 * them. Here-documents without an end are warnings.
 */
export function acceptedByBash(lines: readonly string[]): boolean[] {
  const script =
    'while IFS= read -r -d "" line; do printf "%s\\n" "$(printf %s "$line" | bash -n 2>&1 | grep -vc warning:)"; done';
  const { status, stdout } = spawnSync('bash', ['-c', script], {
    input: lines.map((line) => `${line}\0`).join(''),
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
    maxBuffer: 100_000_000,
  });
  if (status !== 0) throw new Error(`bash ended with ${status}`);
  return stdout
    .toString()
    .trimEnd()
    .split('\n')
    .map((errors) => errors === '0');
}

/** The version of bash that is installed, such as 5.2; undefined without one. */
export function bashVersion(): string | undefined {
  const { stdout } = spawnSync('bash', ['-c', 'echo "$BASH_VERSION"'], { encoding: 'utf8' });
  return /^\d+\.\d+/.exec(stdout ?? '')?.[0];
}
