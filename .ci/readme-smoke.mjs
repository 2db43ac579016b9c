/**
 * Runs the commands of the README's `sh run` blocks against a running service, in order, and holds what they print
 * against the block that follows each of them. Ids that differ from run to run are ignored.
 * Usage: node .ci/readme-smoke.mjs http://localhost:8000
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [url = 'http://localhost:8000'] = process.argv.slice(2);
const { host } = new URL(url);
const readme = readFileSync('README.md', 'utf8');
const blocks = [...readme.matchAll(/^```sh run\n([\s\S]*?)^```\n\n```json\n([\s\S]*?)^```$/gm)];
if (blocks.length === 0) throw new Error('the README has no commands to run');

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const comparable = (text) => text.replace(UUID, 'UUID').replace(/\s+/g, '');

let failed = 0;
for (const [, command, expected] of blocks) {
  const run = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', command.replaceAll('localhost:8000', host)], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const right = run.status === 0 && comparable(run.stdout) === comparable(expected);
  if (!right) failed += 1;
  console.log(`${right ? 'ok   ' : 'WRONG'} ${command.trim().split('\n')[0]}`);
  if (!right) console.log(`printed:\n${run.stdout}${run.stderr}\nthe README says:\n${expected}`);
}
console.log(`README: ${blocks.length - failed} of ${blocks.length} commands print what it says`);
process.exitCode = failed === 0 ? 0 : 1;
