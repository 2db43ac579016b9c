import type { Logger } from 'pino';
import type { Config } from '../../contract/config/config.js';
import { VERSION } from '../../contract/runtime/package-root.js';
import { createRepeatLog, type RepeatLog } from '../../contract/runtime/repeat-log.js';
import { createApprovalEnds } from '../../decide/approvals/lost-approvals.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { type Evaluators, loadEvaluators } from '../../kernel/evaluators/load-evaluators.js';
import { type EvaluatorMeter, meteredRegistry } from '../../kernel/evaluators/metered.js';
import type { CallPolicy } from '../../serve/call/call-host.js';
import { createChangeNotifier } from '../../storage/database/change-notifications.js';
import type { Database } from '../../storage/database/database.js';
import { meteredDatabase } from '../../storage/database/metered-database.js';
import { type StartedDatabase, startDatabase } from '../last-known-good/start-database.js';
import { createMetrics, type Metrics } from '../operations/metrics.js';
import type { Parts } from '../process/parts.js';
import { openTelemetry } from '../telemetry/open-telemetry.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { PACKAGE_LOADERS, type PackageLoaders } from './package-loaders.js';
import type { DescribeApi } from './server.js';

/** Inputs of the service. */
export interface AppOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Called with every SQL statement; for tests that count queries. */
  readonly onQuery?: (sql: string) => void;
  /** Rules for the calls of every protocol; none by default. */
  readonly policies?: readonly CallPolicy[];
  /** The packages that the service can run without; for tests, which run without some of them. */
  readonly packages?: Partial<PackageLoaders>;
  /** The modules of threads; for tests, which run from sources that no thread can load. */
  readonly threadEntries?: ThreadEntries;
  /** Milliseconds between two looks for expired approvals while nothing waits for them; for tests that count queries. */
  readonly approvalsIdleMs?: number;
  /** Makes the OpenAPI document, for its build; the built one is served by default. */
  readonly describe?: DescribeApi;
  /** Set when this is one of several processes that serve one port. */
  readonly shared?: {
    /** Whether the parent process has migrated the database; if not, it could not be used. */
    readonly isMigrated: boolean;
    /** The metrics of all processes as text. */
    allMetrics(): Promise<string>;
  };
}

/** The modules of threads; those beside the code that starts them by default. */
export interface ThreadEntries {
  readonly eventReader?: URL | undefined;
  readonly heavySteps?: URL | undefined;
}

/** The base of all other parts. */
export interface Foundations extends Pick<AppOptions, 'config' | 'log'> {
  readonly policies: readonly CallPolicy[];
  readonly shared: AppOptions['shared'] | undefined;
  readonly packages: PackageLoaders;
  readonly failures: RepeatLog;
  /** Receives all parts that start, end streams or have to be closed. */
  readonly parts: Parts;
  readonly started: StartedDatabase;
  /** The database of `started`, with metrics. */
  readonly database: Database;
  readonly registry: EvaluatorRegistry;
  readonly findSensitive: Evaluators['findSensitive'];
  /** The meters of the evaluators, by name. */
  readonly meters: ReadonlyMap<string, EvaluatorMeter>;
  readonly threadEntries: ThreadEntries;
  readonly approvalsIdleMs: number | undefined;
  readonly describe: DescribeApi | undefined;
  readonly metrics: Metrics;
  readonly telemetry: Telemetry;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock, for durations. */
  readonly monotonic: () => number;
}

/** Time limit at shutdown for telemetry that waits to be sent, in milliseconds; at most the time of the drain. */
const TELEMETRY_LIMIT_MS = 3_000;

/** Opens the database, applies migrations, and loads the evaluators. */
export async function openFoundations(options: AppOptions, parts: Parts): Promise<Foundations> {
  const {
    config,
    log,
    onQuery,
    shared,
    policies = [],
    threadEntries = {},
    approvalsIdleMs,
    describe,
  } = options;
  const now = () => Date.now();
  const failures = createRepeatLog({ log });
  parts.add({ close: () => failures.close() });
  const started = await startDatabase({
    config,
    log,
    failures,
    isMigrated: shared?.isMigrated === true,
    isTold: shared?.isMigrated === false,
    serves: true,
    now,
    beforeCommit: createApprovalEnds(now),
    onAudit: createChangeNotifier({
      maxWaiting: config.notifications.maxWaiting,
      publicUrl: config.publicUrl,
    }),
    ...(onQuery === undefined ? {} : { onQuery }),
  });
  parts.add({ close: () => started.database.close() });
  parts.add({ close: () => started.wait?.stop() });
  const evaluators = await loadEvaluators({
    modules: config.evaluators.modules,
    custom: {
      directory: process.cwd(),
      environment: config.evaluators.environment,
      timeoutMs: config.evaluators.timeoutMs,
      workers: config.evaluators.workers,
      log,
    },
    optional: {
      apiKey: config.evaluators.vendorApiKey,
      apiUrl: config.evaluators.vendorApiUrl,
      onnxModels: config.evaluators.onnxModels,
      log,
    },
    memory: config.memory,
  });
  parts.add({ close: () => evaluators.close() });
  const metrics = createMetrics(config.metricsPrefix);
  const meters = new Map<string, EvaluatorMeter>();
  const telemetry = await openTelemetry({
    config: config.telemetry,
    version: VERSION,
    measure: () => metrics.measure(),
    meter: metrics.telemetry,
    log,
    failures,
    now,
  });
  parts.add({ close: () => telemetry.close(Math.min(TELEMETRY_LIMIT_MS, config.limits.drainMs)) });
  return {
    config,
    log,
    shared,
    packages: { ...PACKAGE_LOADERS, ...options.packages },
    policies,
    failures,
    parts,
    started,
    database: meteredDatabase(started.database, metrics.databaseTimed),
    registry: meteredRegistry(evaluators.registry, (evaluator) => {
      const meter = metrics.meterOf(evaluator);
      meters.set(evaluator.name, meter);
      return meter;
    }),
    findSensitive: evaluators.findSensitive,
    meters,
    metrics,
    threadEntries,
    approvalsIdleMs,
    describe,
    telemetry,
    now,
    monotonic: () => performance.now(),
  };
}
