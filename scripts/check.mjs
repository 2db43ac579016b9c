/**
 * Checks what changed, in less than a minute: format and lint of the changed files, the types of everything, and the
 * tests that are near: changed ones, and those that import a changed source directly. Changed is what differs from
 * `main`, committed or not; an argument names another revision. `.ci/run` checks everything.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** More tests than these take longer than is useful here. */
const MOST_TESTS = 12;
const ROOT = path.resolve(import.meta.dirname, '..');
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'check');

/** @param {...string} words */
const git = (...words) => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();

/** @param {string} text */
const lines = (text) => text.split('\n').filter((line) => line !== '');

const base = git('merge-base', 'HEAD', process.argv[2] ?? 'main');
const changed = [
  ...new Set([
    ...lines(git('diff', '--name-only', base)),
    ...lines(git('ls-files', '--others', '--exclude-standard')),
  ]),
].filter((file) => existsSync(path.join(ROOT, file)));

/** The changed tests, and the tests that import a changed file. */
function testsNear() {
  const isTest = (/** @type {string} */ file) => file.endsWith('.test.ts');
  const sources = new Set(changed.filter((file) => /\.m?ts$/.test(file) && !isTest(file)));
  const near = lines(git('ls-files', '*.test.ts')).filter((test) =>
    [...readFileSync(path.join(ROOT, test), 'utf8').matchAll(/from '(\.[^']+)'/g)].some(([, target = '']) =>
      sources.has(path.join(path.dirname(test), target).replace(/\.js$/, '.ts')),
    ),
  );
  return [...new Set([...changed.filter(isTest), ...near])];
}

/**
 * @param {string} name
 * @param {string} command
 * @param {readonly string[]} words
 */
async function run(name, command, words) {
  const begun = performance.now();
  const child = spawn(path.join(ROOT, 'node_modules', '.bin', command), words, { cwd: ROOT, stdio: 'pipe' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  console.log(
    `${code === 0 ? 'ok   ' : 'WRONG'} ${name}, ${Math.round((performance.now() - begun) / 1_000)} s`,
  );
  if (code === 0) return;
  console.error(output);
  process.exitCode = 1;
}

if (changed.length === 0) {
  console.log(`nothing differs from ${base.slice(0, 8)}`);
  process.exit();
}
mkdirSync(CACHE, { recursive: true });
const tests = testsNear();
await Promise.all([
  run(`lint of ${changed.length} changed files`, 'biome', ['check', '--no-errors-on-unmatched', ...changed]),
  run('types', 'tsc', [
    '-p',
    'tsconfig.json',
    '--incremental',
    '--tsBuildInfoFile',
    path.join(CACHE, 'types'),
  ]),
]);
if (tests.length > 0) {
  await run(`${Math.min(tests.length, MOST_TESTS)} files of tests`, 'vitest', [
    'run',
    ...tests.slice(0, MOST_TESTS),
  ]);
}
if (tests.length > MOST_TESTS) {
  console.log(`not run, as they are more than ${MOST_TESTS}: ${tests.slice(MOST_TESTS).join(' ')}`);
}
