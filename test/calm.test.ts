import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
/** The shortest time limit that no busy machine reaches, in milliseconds. */
const PATIENT_MS = 60_000;

/** A form that makes a test fail by chance, and what to write instead. */
interface Form {
  readonly instead: string;
  readonly pattern: RegExp;
  /** Whether a match is meant; every one by default. */
  readonly isMeant?: (match: RegExpMatchArray) => boolean;
  /** Files that may have it, with the reason. */
  readonly allowed?: Readonly<Record<string, string>>;
}

const isShort = ([, ms = '']: RegExpMatchArray) => Number(ms.replaceAll('_', '')) < PATIENT_MS;
const SLEEP = String.raw`await (?:pause|sleep|delay|wait|setTimeout)\(|await new Promise\(.*setTimeout\(`;

const FORMS: Readonly<Record<string, Form>> = {
  'a pause, and then an expectation': {
    instead: 'wait for the event with test/support/until.ts',
    pattern: new RegExp(String.raw`^ *(?:${SLEEP}).*;\n(?: *//.*\n)* *(?:await )?expect[(.]`, 'gm'),
  },
  'a wait with the short limit of vitest': {
    instead: 'use test/support/until.ts or expect.poll',
    pattern: /\bvi\.(?:waitFor|waitUntil)\(/g,
    allowed: { 'test/e2e/every-rpc.support.ts': 'it states a limit of minutes' },
  },
  'a wait with a limit of less than a minute': {
    instead: 'leave the limit out, or state one of minutes',
    pattern: /(?:\bAbortSignal\.timeout\(|\bpoll\(.*\{ timeout: )(\d[\d_]*)\b/g,
    isMeant: isShort,
  },
  'an upper bound of elapsed time': {
    instead: 'compare counts, ratios or time of the processor; speed belongs to bench/',
    pattern: /expect\((?:performance\.now|Date\.now)\(\) - \w+\)\.toBeLessThan/g,
    allowed: {
      'test/decide/memory/redis-server.system.test.ts': 'minutes, where the opposite takes half an hour',
    },
  },
  'cases that are others in each run': {
    instead: 'use test/support/property-seed.ts, or caseSeed of test/serve/wire/random.ts',
    pattern: /\bMath\.random\(\)|\brandomInt\(/g,
    allowed: {
      'test/serve/wire/random.ts': 'it is for long runs, which print their seed',
      'test/app/last-known-good/read-database.test.ts': 'names of files that are not there yet',
    },
  },
  'a number of all statements of a service': {
    instead: 'use test/support/fewest-queries.ts, or filter them',
    pattern: /expect\(\w+\.queries\.(?:length|slice\(.*\))\)\.(?:toBe|toEqual|toHaveLength)\(/g,
  },
};

function filesIn(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => path.posix.join(folder, name.replaceAll(path.sep, '/')))
    .filter(
      (file) => /\.(?:ts|tsx|mjs)$/.test(file) && !/node_modules|\.long\.ts$|calm\.test\.ts$/.test(file),
    );
}

const TESTS = readdirSync(path.join(ROOT, 'packages'))
  .map((name) => `packages/${name}/test`)
  .filter((folder) => readdirSync(path.join(ROOT, folder, '..')).includes('test'));
const SOURCES = ['test', ...TESTS]
  .flatMap(filesIn)
  .map((file): [string, string] => [file, readFileSync(path.join(ROOT, file), 'utf8')]);

describe('no test has', () => {
  it.each(Object.entries(FORMS))('%s', (_name, { instead, pattern, isMeant = () => true, allowed = {} }) => {
    const found = SOURCES.flatMap(([file, source]) =>
      [...source.matchAll(pattern)]
        .filter(isMeant)
        .map(({ index }) => [file, source.slice(0, index).split('\n').length] as const),
    );
    const others = found.filter(([file]) => !(file in allowed)).map(([file, line]) => `${file}:${line}`);
    expect(others, instead).toEqual([]);
    // What is allowed and not there any more is taken from the list.
    const files = new Set(found.map(([file]) => file));
    expect(Object.keys(allowed).filter((file) => !files.has(file))).toEqual([]);
  });
});
