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

const STORAGE = ['prisma/', 'src/storage/database/'];
const PROCESS = [
  'src/app/wiring/',
  'src/app/process/',
  'src/contract/config/',
  'src/contract/runtime/',
  'src/main.ts',
];
const PROTO = ['gen/', 'proto/'];
const DASHBOARD = ['packages/dashboard/', 'src/serve/dashboard/', 'src/serve/session/'];
const DECISIONS = ['src/decide/decisions/', 'src/decide/agent-state/'];
const MEMORY = ['src/decide/memory/', 'src/kernel/evaluators/memory/', 'packages/shell-reader/'];

const ENGINES = ['exact-json', 'json-schema', 'linear-text', 'cel'].map((name) => `packages/${name}/`);
const ISSUER = ['src/serve/auth/', 'src/serve/session/', 'src/contract/config/'];
const READING = ['src/serve/event-reading/', 'src/observe/events/', 'packages/supervised-worker/'];

/** @type {Readonly<Record<string, readonly string[]>>} */
export const TRIGGERS = {
  'packages/detectors/test/shell/': ['packages/shell-reader/', 'packages/detectors/', 'test/corpora/'],
  'packages/detectors/test/url/': ['packages/detectors/'],
  'test/main-job.': ['src/', ...STORAGE, ...PROTO],
  'test/app/wiring/': [...PROCESS, 'src/serve/listener/', 'src/serve/routing/'],
  'test/decide/approvals/': ['src/decide/approvals/', ...DECISIONS, ...STORAGE],
  'test/attack/': [
    'packages/adapters/',
    'src/serve/',
    'src/kernel/core/',
    ...DECISIONS,
    'packages/json-schema/',
    'packages/linear-text/',
  ],
  'test/observe/audit/': ['src/observe/audit/', ...STORAGE],
  'test/cli/': ['packages/cli/', 'packages/documents/', 'src/manage/configuration/', 'src/manage/lint/'],
  'test/client/': ['packages/client/', 'packages/exact-json/', 'src/serve/lane/', ...PROTO],
  'test/clients/': ['clients/', 'packages/client/', ...PROTO],
  'test/app/cluster/': ['src/app/cluster/', ...PROCESS, ...DECISIONS, ...STORAGE],
  'test/compatibility/': [
    ...PROTO,
    'src/decide/agent-state/',
    'src/manage/agents/',
    'src/manage/controls/',
    'src/manage/policies/',
    'src/serve/',
  ],
  'test/manage/configuration/': [
    'src/decide/agent-state/',
    'src/manage/configuration/',
    'src/manage/controls/',
    'src/manage/policies/',
    'src/manage/templates/',
    ...STORAGE,
  ],
  'test/contract/': ['src/contract/', ...PROTO, 'scripts/'],
  'test/dashboard/streams.': [...DASHBOARD, 'src/observe/events/', 'src/decide/approvals/'],
  'test/dashboard/truth/': [...DASHBOARD, 'src/observe/events/', 'src/observe/coverage/'],
  'test/dashboard/': [
    ...DASHBOARD,
    'src/contract/secrets/',
    'src/observe/explain/',
    'src/observe/replay/',
    'src/manage/pack-installations/',
    'src/manage/packs/',
    'packs/',
    'src/observe/problems/',
    'src/observe/notifications/',
  ],
  'test/storage/database/': STORAGE,
  'test/e2e/backup.': [...STORAGE, 'src/app/wiring/'],
  'test/e2e/bearer-tokens.': ISSUER,
  'test/e2e/dashboard.': ['src/app/operations/', 'deploy/grafana/'],
  'test/e2e/database-faults.': STORAGE,
  'test/e2e/database-outage.': [...STORAGE, 'src/app/operations/', ...DECISIONS, 'src/serve/sessions/'],
  'test/e2e/evaluator-processes.': [
    'src/kernel/evaluators/custom/',
    'packages/evaluator-sdk/',
    'src/contract/runtime/',
    'src/app/process/',
  ],
  'test/e2e/event-durability.': ['src/observe/events/', ...STORAGE],
  'test/e2e/event-threads.': READING,
  'test/e2e/halts-without-database.': ['src/decide/halts/', 'src/app/last-known-good/'],
  'test/e2e/installed-evaluators.': [
    'src/kernel/evaluators/',
    'packages/evaluator-sdk/',
    'packages/evaluator-vendor-model/',
  ],
  'test/e2e/issuer-login.': ISSUER,
  'test/e2e/last-known-good.': ['src/app/last-known-good/', ...DECISIONS, 'src/manage/keys/', ...STORAGE],
  'test/e2e/log-secrecy.': [...PROCESS, 'src/serve/auth/', 'src/manage/keys/', 'src/serve/runtime-tokens/'],
  'test/e2e/memory/': [...MEMORY, 'src/manage/limits/', ...DECISIONS, ...STORAGE],
  'test/e2e/migrate-command.': [...STORAGE, 'src/app/wiring/'],
  'test/e2e/prune-events.': ['src/observe/events/', ...STORAGE],
  'test/e2e/publish-events-killed.': ['src/observe/events/', ...STORAGE],
  'test/e2e/python-grpc.': PROTO,
  'test/e2e/rebuild-statistics.': ['src/observe/events/', ...STORAGE],
  'test/e2e/restored-database.': [...STORAGE, 'src/observe/events/', ...DECISIONS],
  'test/e2e/server-state.': [
    'src/observe/server-info/',
    'src/app/operations/',
    'src/decide/agent-state/',
    'src/manage/agents/',
    ...STORAGE,
  ],
  'test/e2e/service-config.': [...PROTO, 'scripts/'],
  'test/e2e/storage-faults': [
    ...STORAGE,
    'src/observe/events/',
    'src/decide/memory/',
    'src/decide/approvals/',
  ],
  'test/e2e/stream-ends.': ['src/serve/', 'src/observe/events/', 'src/decide/approvals/', ...DECISIONS],
  'test/e2e/without-detectors.': [
    'packages/detectors/',
    'src/contract/runtime/',
    'src/kernel/evaluators/',
    'src/manage/controls/',
    'src/observe/samples/',
  ],
  'test/e2e/watch-large-controls.': [...DECISIONS, 'src/serve/connect/', 'packages/client/'],
  'test/kernel/evaluators/custom/': [
    'src/kernel/evaluators/custom/',
    'packages/evaluator-sdk/',
    'docs/custom-evaluators.md',
  ],
  'test/kernel/evaluators/onnx/': ['packages/evaluator-onnx/'],
  'test/kernel/evaluators/optional-evaluators.': [
    'packages/evaluator-onnx/',
    'packages/evaluator-vendor-model/',
    'src/kernel/evaluators/optional-evaluators.ts',
    'src/kernel/evaluators/custom/',
  ],
  'test/kernel/evaluators/sql/': ['packages/sql-reader/', 'src/kernel/evaluators/sql/', 'test/sql-cases/'],
  'test/observe/events/sinks/': [
    'src/observe/events/sinks/',
    'packages/kafka-producer/',
    'packages/parquet-log/',
    'packages/s3-files/',
    'packages/supervised-worker/',
    'packages/versioned-files/',
  ],
  'test/observe/events/': ['src/observe/events/', 'packages/events-clickhouse/', ...STORAGE],
  'test/fleet/': [
    'src/manage/agents/',
    'src/manage/controls/',
    'src/manage/policies/',
    ...DECISIONS,
    'src/manage/bindings/',
    ...STORAGE,
  ],
  'test/hostile/': [
    'src/kernel/core/',
    'src/kernel/evaluators/',
    'packages/detectors/',
    'src/serve/',
    ...ENGINES,
  ],
  'test/image/': ['Containerfile', 'deploy/', 'scripts/image.mjs', ...PROCESS],
  'test/app/last-known-good/': ['src/app/last-known-good/'],
  'test/mcp-gateway/': ['packages/mcp-gateway/', 'packages/client/', 'packages/cli/'],
  'test/decide/memory/redis-': ['packages/memory-redis/', 'src/decide/memory/', 'scripts/redis-server.mjs'],
  'test/decide/memory/': ['src/decide/memory/', ...STORAGE],
  'test/app/operations/drill.': ['scripts/drill', ...STORAGE, 'docs/backup.md'],
  'test/app/operations/rolling-upgrade.': [...STORAGE, 'src/app/cluster/', ...PROTO],
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
    'packages/detectors/',
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
  'test/manage/packs/': ['src/manage/packs/', 'packs/', 'packages/detectors/'],
  'test/app/process/': PROCESS,
  'test/observe/replay/': ['src/observe/replay/', 'src/observe/samples/'],
  'test/observe/samples/': ['src/observe/samples/', 'src/observe/replay/', 'packages/detectors/', ...STORAGE],
  'test/observe/shadows/': ['src/observe/shadows/', ...STORAGE],
  'test/app/telemetry/': ['src/app/telemetry/', 'src/app/operations/'],
  'test/serve/admission/': [
    'src/serve/admission/',
    'src/serve/listener/',
    'src/app/operations/',
    'src/app/cluster/',
  ],
  'test/serve/auth/': ['src/serve/auth/', 'src/serve/http/', 'src/manage/namespaces/'],
  'test/serve/event-reading/': READING,
  'test/serve/heavy-steps/': [
    'src/serve/heavy-steps/',
    'src/kernel/core/',
    ...DECISIONS,
    'packages/exact-json/',
  ],
  'test/serve/http/base-path.': [
    ...DASHBOARD,
    'src/serve/http/',
    'src/serve/listener/',
    'src/contract/config/',
  ],
  'test/serve/http/': ['src/serve/http/', 'src/serve/rest/', 'src/serve/listener/'],
  'test/serve/openapi/': ['scripts/openapi/', 'src/serve/openapi/', 'src/serve/descriptors/', ...PROTO],
  'test/walks/': ['src/', 'docs/architecture.md'],
};

/** What is run besides files of the lane, with what triggers it: not what is shared, for they take long. */
export const PARTS = {
  /** A moment of every benchmark. */
  benchmarks: [
    'package.json',
    'bench/',
    'src/serve/',
    'src/kernel/core/',
    ...DECISIONS,
    'src/observe/events/',
    'src/decide/memory/',
    'packages/',
  ],
  /** The tests of the event store with ClickHouse. */
  clickhouse: [
    'package.json',
    'src/observe/events/',
    'packages/clickhouse-tables/',
    'packages/events-clickhouse/',
    'src/manage/namespaces/',
    'scripts/clickhouse-server.mjs',
  ],
  /** What lies above the stores, once more with PostgreSQL. */
  postgresql: [
    ...STORAGE,
    'src/decide/agent-state/',
    'src/manage/agents/',
    'src/manage/controls/',
    'src/manage/policies/',
    'src/observe/events/',
  ],
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

/** A file of tests and the modules of tests that it imports. @param {string} root @param {string} file */
function modulesOf(root, file, found = new Set()) {
  // Texts of tests name modules that are not there.
  if (found.has(file) || !existsSync(path.join(root, file))) return found;
  found.add(file);
  const text = readFileSync(path.join(root, file), 'utf8');
  for (const [, target = ''] of text.matchAll(/(?:from|import)\s*\(?'(\.[^']+)'/g)) {
    const module = path.posix.join(path.posix.dirname(file), target).replace(/\.js$/, '.ts');
    if (/^(?:packages\/[^/]+\/)?test\/.*\.ts$/.test(module)) modulesOf(root, module, found);
  }
  return found;
}
