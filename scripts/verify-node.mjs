/**
 * Runs the fast lane of tests on each supported release line of Node.js: `npm run verify:node -- [MAJOR...] [TEST FILES...]`. The
 * lines that are not running this script are fetched from npm, as the package of the platform's binary.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const LINES = ['20', '24', '26'];
const ROOT = path.resolve(import.meta.dirname, '..');

const given = process.argv.slice(2);
const wanted = given.filter((argument) => /^\d+$/.test(argument));
const files = given.filter((argument) => !/^\d+$/.test(argument));
const lines = wanted.length > 0 ? wanted : LINES;

/** @param {string} command @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
function run(command, args, env = process.env) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, env, stdio: 'inherit' });
  if (error !== undefined) throw error;
  return status === 0;
}

const folder = mkdtempSync(path.join(tmpdir(), 'verify-node-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

/** The binary of a release line. @param {string} line */
function binaryOf(line) {
  if (process.versions.node.startsWith(`${line}.`)) return process.execPath;
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const home = path.join(folder, line);
  const options = ['install', '--prefix', home, '--no-save', '--no-audit', '--no-fund', '--silent'];
  if (!run('npm', [...options, `${name}@${line}`])) throw new Error(`${name}@${line} cannot be fetched`);
  return path.join(home, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

const failed = lines.filter((line) => {
  const binary = binaryOf(line);
  const env = { ...process.env, PATH: `${path.dirname(binary)}${path.delimiter}${process.env.PATH}` };
  console.log(`\n=== Node.js ${spawnSync(binary, ['--version']).stdout.toString().trim()}`);
  const words = files.length > 0 ? files : ['--project', 'fast*'];
  return !run(binary, [path.join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...words], env);
});
console.log(failed.length === 0 ? `passed on ${lines.join(', ')}` : `failed on ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
