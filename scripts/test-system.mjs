/**
 * Runs the system lane: tests that start processes, browsers or other programs.
 *
 *     npm run test:system -- [--all | --changed [--base REVISION]] [--list] [FILES…]
 *
 * `--all`, the default, runs every file; `--changed` those that the changes since the last landed revision trigger, see
 * `system-lane.mjs`. That revision is `--base`, else the variable LANDED, else the one that `.ci/landed` names; where it
 * is unknown, everything is run. `--list` only names them. Other arguments are parts of paths, as vitest takes them.
 * With TEST_RESULTS_FOLDER, the results are written there as JSON.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { LANDED_FILE, PARTS, triggeredFiles, triggeredParts } from './system-lane.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
/** In every run of CI, whatever has changed: the main job on both databases over every protocol, kills, and a page. */
const CORE = ['test/main-job.system.test.ts'];
const ABOVE_STORES = /\bdescribe(?:AboveStores|Service)\(/;

function given() {
  const options = {
    all: { type: /** @type {const} */ ('boolean') },
    changed: { type: /** @type {const} */ ('boolean') },
    base: { type: /** @type {const} */ ('string') },
    list: { type: /** @type {const} */ ('boolean') },
  };
  try {
    const words = parseArgs({ options, allowPositionals: true });
    const { all, changed, base } = words.values;
    if (all && changed) throw new Error('--all and --changed exclude each other: name one of them');
    if (base !== undefined && !changed) throw new Error('--base is for --changed: name both');
    return words;
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exit(2);
  }
}
const { values, positionals } = given();

/** @param {...string} words */
const git = (...words) => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim();

/** @param {string} text */
const lines = (text) => text.split('\n').filter((line) => line !== '');

/** @param {...string} patterns */
const filesNamed = (...patterns) =>
  lines(git('ls-files', '--cached', '--others', '--exclude-standard', ...patterns)).filter((file) =>
    existsSync(path.join(ROOT, file)),
  );

/** Paths that differ from the landed revision; undefined where it is not known. */
function changedPaths() {
  const landed = path.join(ROOT, LANDED_FILE);
  const base =
    values.base ?? process.env.LANDED ?? (existsSync(landed) ? readFileSync(landed, 'utf8').trim() : '');
  try {
    git('merge-base', '--is-ancestor', base, 'HEAD');
  } catch {
    console.log(`the landed revision "${base}" is not part of this history: everything is run`);
    return undefined;
  }
  const changed = lines(git('diff', '--name-only', '--no-renames', base));
  console.log(`${changed.length} files differ from the landed revision ${base.slice(0, 8)}`);
  return [...changed, ...lines(git('ls-files', '--others', '--exclude-standard'))];
}

function selection() {
  const files = filesNamed('*.system.test.ts');
  if (positionals.length > 0) {
    const named = files.filter((file) => positionals.some((part) => file.includes(part)));
    if (named.length > 0) return { files: named, parts: [] };
    console.error(`no file of the lane has ${positionals.join(' or ')} in its path: --list names them`);
    process.exit(2);
  }
  const changed = values.changed ? changedPaths() : undefined;
  if (changed === undefined) return { files, parts: Object.keys(PARTS) };
  const triggered = new Set([...CORE, ...triggeredFiles(ROOT, files, changed)]);
  return { files: files.filter((file) => triggered.has(file)), parts: triggeredParts(changed) };
}

/** Whether a command ended well. @param {string} command @param {string[]} words @param {NodeJS.ProcessEnv} more */
async function run(command, words, more = {}) {
  const child = spawn(command, words, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...more } });
  const [code] = await once(child, 'close');
  return code === 0;
}

/** @param {string} name @param {string[]} words @param {NodeJS.ProcessEnv} more */
const vitest = (name, words, more = {}) =>
  run(process.execPath, [path.join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...words], {
    TEST_RUN: name,
    ...more,
  });

const { files, parts } = selection();
console.log(`system lane: ${files.length} files${parts.map((part) => `, ${part}`).join('')}`);
if (values.list) {
  for (const file of files) console.log(file);
} else {
  // Before anything that would take the processor from them.
  const benchmarks = parts.includes('benchmarks')
    ? await run(process.execPath, [path.join(ROOT, 'bench/smoke.mjs')])
    : true;
  const ended = [benchmarks, await vitest('system', ['--project', 'system*', ...files])];
  if (parts.includes('postgresql')) {
    const above = filesNamed('test/*.test.ts').filter(
      (file) => !file.includes('.system.') && ABOVE_STORES.test(readFileSync(path.join(ROOT, file), 'utf8')),
    );
    const only = ['--project', 'fast*', '-t', 'on postgresql', ...above];
    ended.push(await vitest('above-stores', only, { TEST_DATABASE_ABOVE_STORES: 'postgresql' }));
  }
  // By itself: what a server on busy cores takes too long to store is kept in the spool, and is not found yet.
  if (parts.includes('clickhouse')) {
    ended.push(await run(process.execPath, [path.join(ROOT, 'scripts/test-clickhouse.mjs')]));
  }
  process.exitCode = ended.every(Boolean) ? 0 : 1;
}
