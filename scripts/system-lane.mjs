/**
 * The system lane: which of its files a change triggers. The table names, for the files of tests whose paths begin with
 * a text, the folders and files whose changes they are run for; a row with a longer text comes first. A file is also run when
 * it or a module of the tests that it imports has changed, and every file when what they all share has.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Changes of these concern every test. */
export const SHARED = [
  '.ci/',
  'package.json',
  'package-lock.json',
  'prisma.config.ts',
  'scripts/system-lane.mjs',
  'scripts/test-system.mjs',
  'test/support/',
  'tsconfig',
  'vitest.',
];

/** Names the last landed revision: the base of a comparison, and no reason to run anything. */
export const LANDED_FILE = '.ci/landed';

const STORAGE = ['prisma/', 'src/database/'];
const PROCESS = ['src/app/', 'src/main.ts', 'src/process/', 'src/config/'];
const PROTO = ['gen/', 'proto/'];
const DASHBOARD = ['packages/dashboard/', 'src/transport/dashboard/', 'src/transport/session/'];
const MEMORY = ['src/memory/', 'src/evaluators/memory/', 'packages/shell-reader/'];

const ENGINES = ['exact-json', 'json-schema', 'linear-text', 'cel'].map((name) => `packages/${name}/`);
const ISSUER = ['src/transport/auth/', 'src/transport/session/', 'src/config/'];
const READING = ['src/transport/event-reading/', 'src/events/', 'packages/supervised-worker/'];

/** @type {Readonly<Record<string, readonly string[]>>} */
export const TRIGGERS = {
  'test/main-job.': ['src/', ...STORAGE, ...PROTO],
  'test/app/': [...PROCESS, 'src/transport/listener/', 'src/transport/routing/'],
  'test/approvals/': ['src/approvals/', 'src/decisions/', ...STORAGE],
  'test/attack/': [
    'src/transport/',
    'src/core/',
    'src/adapters/',
    'src/decisions/',
    'packages/json-schema/',
    'packages/linear-text/',
  ],
  'test/audit/': ['src/audit/', ...STORAGE],
  'test/cli/': ['packages/cli/', 'packages/documents/', 'src/configuration/', 'src/lint/'],
  'test/client/': ['packages/client/', 'packages/exact-json/', 'src/transport/lane/', ...PROTO],
  'test/clients/': ['clients/', 'packages/client/', ...PROTO],
  'test/cluster/': ['src/cluster/', ...PROCESS, 'src/decisions/', ...STORAGE],
  'test/compatibility/': [
    ...PROTO,
    ...['agents', 'controls', 'policies', 'transport'].map((name) => `src/${name}/`),
  ],
  'test/configuration/': [
    'src/configuration/',
    'src/controls/',
    'src/policies/',
    'src/templates/',
    ...STORAGE,
  ],
  'test/contract/': ['src/contract/', ...PROTO, 'scripts/'],
  'test/dashboard/streams.': [...DASHBOARD, 'src/events/', 'src/approvals/'],
  'test/dashboard/truth/': [...DASHBOARD, 'src/events/', 'src/coverage/'],
  'test/dashboard/': [...DASHBOARD, 'src/explain/', 'src/packs/', 'packs/', 'src/problems/'],
  'test/database/': STORAGE,
  'test/e2e/backup.': [...STORAGE, 'src/app/'],
  'test/e2e/bearer-tokens.': ISSUER,
  'test/e2e/dashboard.': ['src/operations/', 'deploy/grafana/'],
  'test/e2e/database-faults.': STORAGE,
  'test/e2e/database-outage.': [...STORAGE, 'src/operations/', 'src/decisions/', 'src/sessions/'],
  'test/e2e/evaluator-processes.': ['src/evaluators/custom/', 'packages/evaluator-sdk/', 'src/process/'],
  'test/e2e/event-durability.': ['src/events/', ...STORAGE],
  'test/e2e/event-threads.': READING,
  'test/e2e/halts-without-database.': ['src/halts/', 'src/last-known-good/'],
  'test/e2e/installed-evaluators.': [
    'src/evaluators/',
    'packages/evaluator-sdk/',
    'packages/evaluator-vendor-model/',
  ],
  'test/e2e/issuer-login.': ISSUER,
  'test/e2e/last-known-good.': ['src/last-known-good/', 'src/decisions/', 'src/keys/', ...STORAGE],
  'test/e2e/log-secrecy.': [...PROCESS, 'src/transport/auth/', 'src/keys/', 'src/runtime-tokens/'],
  'test/e2e/memory/': [...MEMORY, 'src/limits/', 'src/decisions/', ...STORAGE],
  'test/e2e/migrate-command.': [...STORAGE, 'src/app/'],
  'test/e2e/prune-events.': ['src/events/', ...STORAGE],
  'test/e2e/publish-events-killed.': ['src/events/', ...STORAGE],
  'test/e2e/python-grpc.': PROTO,
  'test/e2e/rebuild-statistics.': ['src/events/', ...STORAGE],
  'test/e2e/restored-database.': [...STORAGE, 'src/events/', 'src/decisions/'],
  'test/e2e/server-state.': ['src/server-info/', 'src/operations/', 'src/agents/', ...STORAGE],
  'test/e2e/service-config.': [...PROTO, 'scripts/'],
  'test/e2e/storage-faults': [...STORAGE, 'src/events/', 'src/memory/', 'src/approvals/'],
  'test/e2e/stream-ends.': ['src/transport/', 'src/events/', 'src/approvals/', 'src/decisions/'],
  'test/e2e/watch-large-controls.': ['src/decisions/', 'src/transport/connect/', 'packages/client/'],
  'test/evaluators/custom/': [
    'src/evaluators/custom/',
    'packages/evaluator-sdk/',
    'docs/custom-evaluators.md',
  ],
  'test/evaluators/onnx/': ['packages/evaluator-onnx/'],
  'test/evaluators/optional-evaluators.': [
    'packages/evaluator-onnx/',
    'packages/evaluator-vendor-model/',
    'src/evaluators/optional-evaluators.ts',
    'src/evaluators/custom/',
  ],
  'test/evaluators/shell/': ['packages/shell-reader/', 'src/evaluators/shell/', 'test/corpora/'],
  'test/evaluators/sql/': ['packages/sql-reader/', 'src/evaluators/sql/', 'test/sql-cases/'],
  'test/evaluators/url-clients.': ['src/evaluators/url/'],
  'test/events/sinks/': [
    'src/events/sinks/',
    'packages/kafka-producer/',
    'packages/parquet-log/',
    'packages/s3-files/',
    'packages/supervised-worker/',
    'packages/versioned-files/',
  ],
  'test/events/': ['src/events/', ...STORAGE],
  'test/fleet/': [
    'src/agents/',
    'src/controls/',
    'src/policies/',
    'src/decisions/',
    'src/bindings/',
    ...STORAGE,
  ],
  'test/hostile/': ['src/core/', 'src/evaluators/', 'src/transport/', ...ENGINES],
  'test/image/': ['Containerfile', 'deploy/', 'scripts/image.mjs', ...PROCESS],
  'test/last-known-good/': ['src/last-known-good/'],
  'test/mcp-gateway/': ['packages/mcp-gateway/', 'packages/client/', 'packages/cli/'],
  'test/memory/redis-': ['src/memory/', 'scripts/redis-server.mjs'],
  'test/memory/': ['src/memory/', ...STORAGE],
  'test/operations/drill.': ['scripts/drill', ...STORAGE, 'docs/backup.md'],
  'test/operations/rolling-upgrade.': [...STORAGE, 'src/cluster/', ...PROTO],
  'test/packages/frameworks.': [
    'packages/ai-sdk/',
    'packages/langchain/',
    'packages/mcp-middleware/',
    'packages/openai-agents/',
    'packages/client/',
  ],
  'test/packages/': [
    'packages/cel/',
    'packages/cli/',
    'packages/client/',
    'packages/documents/',
    'packages/evaluator-sdk/',
    'packages/exact-json/',
    'packages/json-schema/',
    'packages/linear-text/',
    'packages/mcp-gateway/',
    'packages/proto/',
    'packages/sql-reader/',
    'packages/clickhouse-tables/',
  ],
  'test/packs/': ['src/packs/', 'packs/'],
  'test/problems/': ['src/problems/', 'src/notifications/', ...STORAGE],
  'test/process/': PROCESS,
  'test/replay/': ['src/replay/', 'src/samples/'],
  'test/samples/': ['src/samples/', 'src/replay/', ...STORAGE],
  'test/shadows/': ['src/shadows/', ...STORAGE],
  'test/telemetry/': ['src/telemetry/', 'src/operations/'],
  'test/transport/admission/': [
    'src/transport/admission/',
    'src/transport/listener/',
    'src/operations/',
    'src/cluster/',
  ],
  'test/transport/auth/': ['src/transport/auth/', 'src/transport/http/', 'src/namespaces/'],
  'test/transport/event-reading/': READING,
  'test/transport/heavy-steps/': [
    'src/transport/heavy-steps/',
    'src/core/',
    'src/decisions/',
    'packages/exact-json/',
  ],
  'test/transport/http/base-path.': [
    ...DASHBOARD,
    'src/transport/http/',
    'src/transport/listener/',
    'src/config/',
  ],
  'test/transport/http/': ['src/transport/http/', 'src/transport/rest/', 'src/transport/listener/'],
  'test/transport/openapi/': ['src/transport/openapi/', 'src/transport/descriptors/', ...PROTO],
  'test/walks/': ['src/', 'docs/architecture.md'],
};

/** What is run besides files of the lane, with what triggers it: not what is shared, for they take long. */
export const PARTS = {
  /** A moment of every benchmark. */
  benchmarks: [
    'package.json',
    'bench/',
    'src/transport/',
    'src/core/',
    'src/decisions/',
    'src/events/',
    'src/memory/',
    'packages/',
  ],
  /** The tests of the event store with ClickHouse. */
  clickhouse: [
    'package.json',
    'src/events/',
    'packages/clickhouse-tables/',
    'src/namespaces/',
    'scripts/clickhouse-server.mjs',
  ],
  /** What lies above the stores, once more with PostgreSQL. */
  postgresql: [...STORAGE, ...['agents', 'controls', 'policies', 'events'].map((name) => `src/${name}/`)],
};

/** The row of a file of the lane; undefined without one. @param {string} file */
export function triggersOf(file) {
  const [row] = Object.keys(TRIGGERS)
    .filter((start) => file.startsWith(start))
    .sort((a, b) => b.length - a.length);
  return row === undefined ? undefined : TRIGGERS[row];
}

/** Whether one of the files is, or is below, one of the paths. @param {readonly string[]} files @param {readonly string[]} paths */
function concerns(files, paths) {
  return files.some((file) => file !== LANDED_FILE && paths.some((start) => file.startsWith(start)));
}

/** Whether every file and every part is run. @param {readonly string[]} changed paths below the repository */
export function triggersAll(changed) {
  return concerns(changed, SHARED);
}

/** @param {string} root @param {readonly string[]} files @param {readonly string[]} changed */
export function triggeredFiles(root, files, changed) {
  if (triggersAll(changed)) return [...files];
  return files.filter(
    (file) =>
      // Without a row, in doubt, it is run.
      concerns(changed, triggersOf(file) ?? ['']) || concerns(changed, [...modulesOf(root, file)]),
  );
}

/** @param {readonly string[]} changed */
export function triggeredParts(changed) {
  return Object.entries(PARTS).flatMap(([name, paths]) => (concerns(changed, paths) ? [name] : []));
}

/** A file of tests and the modules below `test` that it imports. @param {string} root @param {string} file */
function modulesOf(root, file, found = new Set()) {
  // Texts of tests name modules that are not there.
  if (found.has(file) || !existsSync(path.join(root, file))) return found;
  found.add(file);
  const text = readFileSync(path.join(root, file), 'utf8');
  for (const [, target = ''] of text.matchAll(/(?:from|import)\s*\(?'(\.[^']+)'/g)) {
    const module = path.posix.join(path.posix.dirname(file), target).replace(/\.js$/, '.ts');
    if (module.startsWith('test/') && module.endsWith('.ts')) modulesOf(root, module, found);
  }
  return found;
}
