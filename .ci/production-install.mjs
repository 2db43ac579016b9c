/**
 * Runs the commands of a production installation, those of docs/operations.md and of the README, in a clone that was built:
 * without the development packages, on PostgreSQL, once open and once with keys.
 * Usage: node .ci/production-install.mjs CLONE
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createCaller } from '../scripts/demo-data/load.mjs';
import { freePort, startPostgresServer } from '../scripts/postgres-server.mjs';

const [clone = ''] = process.argv.slice(2);
const DATABASE = 'postgresql://user:password@localhost:5432/controls';
const AGENT_KEY = 'agent-key-of-the-production-install';
const ADMIN_KEY = 'admin-key-of-the-production-install';
const START_LIMIT_MS = 300_000;

/** The commands of the first `sh` block below a heading; a line that ends with a backslash goes on. */
function commandsOf(page, heading) {
  const after = readFileSync(page, 'utf8').split(`\n## ${heading}\n`)[1] ?? '';
  const block = /```sh\n([\s\S]*?)```/.exec(after)?.[1];
  if (block === undefined) throw new Error(`${page} has no commands below "${heading}"`);
  return block.trim().split(/(?<!\\)\n/);
}

function demand(holds, problem) {
  if (!holds) throw new Error(problem);
}

const [build, install, start, ...others] = commandsOf('docs/operations.md', 'Production without an image');
const [startWithKeys, ...more] = commandsOf('README.md', 'In production');
demand(build === 'npm ci && npm run build', `the clone was built with other commands than ${build}`);
demand(others.length === 0 && more.length === 0, `commands are not run: ${[...others, ...more]}`);

// What `npm ci` has just fetched is not fetched again.
const quickly = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
const { status } = spawnSync('bash', ['-ec', install], {
  cwd: clone,
  stdio: 'inherit',
  env: { ...process.env, ...quickly },
});
demand(status === 0, `${install} failed`);
demand(!existsSync(join(clone, 'node_modules', 'vitest')), `${install} left development packages`);

/** Runs a start command until `check` is done, and stops it in order. */
async function runStart(command, databaseUrl, check) {
  demand(command.includes(DATABASE), `the command names no database ${DATABASE}: ${command}`);
  const port = String(await freePort());
  const url = `http://localhost:${port}`;
  const child = spawn('bash', ['-c', command.replace(DATABASE, databaseUrl)], {
    cwd: clone,
    env: { ...process.env, PORT: port, AGENT_KEY, ADMIN_KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const closed = once(child, 'close');
  try {
    const end = performance.now() + START_LIMIT_MS;
    const isReady = () =>
      fetch(`${url}/ready`)
        .then(({ ok }) => ok)
        .catch(() => false);
    while (!(await isReady())) {
      demand(child.exitCode === null && performance.now() < end, `the service does not start:\n${output}`);
      await pause(100);
    }
    await check(url);
    // The service is the child of npm, which passes the signal on.
    child.kill('SIGTERM');
    await closed;
    demand(output.includes('INFO: stopped'), `the service did not stop in order:\n${output}`);
  } finally {
    child.kill('SIGKILL');
  }
  console.log(`ok    ${command.replaceAll('\\\n', '')}`);
}

const agent = { agent_name: 'installed-agent-1' };
const evaluation = { ...agent, stage: 'pre', step: { type: 'llm', name: 'answer', input: 'hello' } };

const server = await startPostgresServer();
try {
  await runStart(start, server.url, async (url) => {
    const call = createCaller(url, undefined);
    await call('POST', '/agents/initAgent', { agent });
    demand((await call('POST', '/evaluation', evaluation)).is_safe, 'a step without controls is not allowed');
  });
  await runStart(startWithKeys, server.url, async (url) => {
    const body = JSON.stringify(evaluation);
    const headers = { 'content-type': 'application/json' };
    const open = await fetch(`${url}/api/v1/evaluation`, { method: 'POST', headers, body });
    demand(open.status === 401, `a call without a key is answered with ${open.status}`);
    // The agent of the first start: the database is the same.
    const found = await createCaller(url, AGENT_KEY)('POST', '/evaluation', evaluation);
    demand(found.is_safe, 'an agent with its key is not answered');
    await createCaller(url, ADMIN_KEY)('GET', '/controls');
  });
} finally {
  await server.stop();
}
