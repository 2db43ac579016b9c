/** Makes the archives of all packages for users in `archives/`, and says how to install and publish them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const FOLDER = join(ROOT, 'archives');
const FOR_USERS = ['client', 'cli', 'proto', 'evaluator-sdk'];
const ENGINES = [
  'cel',
  'documents',
  'exact-json',
  'json-schema',
  'linear-text',
  'shell-reader',
  'sql-reader',
];
const AROUND_SINKS = ['kafka-producer', 'parquet-log', 's3-files', 'supervised-worker', 'versioned-files'];
const FRAMEWORKS = ['ai-sdk', 'openai-agents', 'langchain', 'mcp-middleware'];
const NAMES = [...FOR_USERS, ...FRAMEWORKS, ...ENGINES, ...AROUND_SINKS, 'clickhouse-tables'];

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
const workspaces = NAMES.flatMap((name) => ['--workspace', `packages/${name}`]);
const words = ['pack', '--silent', '--pack-destination', FOLDER, ...workspaces];
const { status } = spawnSync('npm', words, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
if (status !== 0) process.exit(status ?? 1);
for (const name of readdirSync(FOLDER).sort()) process.stdout.write(`archives/${name}\n`);
process.stdout.write(
  `install: npm install archives/control-enforcement-client-${VERSION}.tgz\n` +
    `publish to a registry of your own: npm publish archives/control-enforcement-client-${VERSION}.tgz\n`,
);
