/**
 * Runs the `sh run` blocks of the README and of the pages in docs/ against a running service, in order, and compares
 * their output with the block that follows each of them. Ids and times, which differ from run to run, are ignored.
 * Usage: node .ci/readme-smoke.mjs http://localhost:8000
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [url = 'http://localhost:8000'] = process.argv.slice(2);
const { host } = new URL(url);
/** In this order: the later pages go on from what the README has created. */
const PAGES = ['README.md', 'docs/protocols.md', 'docs/warnings.md', 'docs/events.md'];
const BLOCK = /^```sh run\n([\s\S]*?)^```\n\n```json\n([\s\S]*?)^```$/gm;
const blocks = PAGES.flatMap((page) => {
  const found = [...readFileSync(page, 'utf8').matchAll(BLOCK)];
  if (found.length === 0) throw new Error(`${page} has no commands to run`);
  return found;
});

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
const comparable = (text) => text.replace(UUID, 'UUID').replace(TIME, 'TIME').replace(/\s+/g, '');

let failed = 0;
for (const [, command, expected] of blocks) {
  const run = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', command.replaceAll('localhost:8000', host)], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const right = run.status === 0 && comparable(run.stdout) === comparable(expected);
  if (!right) failed += 1;
  console.log(`${right ? 'ok   ' : 'WRONG'} ${command.trim().split('\n')[0]}`);
  if (!right) console.log(`printed:\n${run.stdout}${run.stderr}\nthe page says:\n${expected}`);
}
console.log(`README and docs: ${blocks.length - failed} of ${blocks.length} commands print what they say`);
process.exitCode = failed === 0 ? 0 : 1;
