import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { createApp } from '../../src/app/wiring/app.js';
import type { PackageLoaders } from '../../src/app/wiring/package-loaders.js';
import type { DescribeApi } from '../../src/app/wiring/server.js';
import { readConfig } from '../../src/contract/config/config.js';
import type { CallPolicy } from '../../src/serve/call/call-host.js';
import { eventStoreOf } from './clickhouse.js';
import { copySqliteTemplate } from './database-templates.js';
import { PATIENT_SETTINGS } from './patient-settings.js';
import { COMPILED_FOLDER } from './service-process.js';

/** A running service of a test. */
export interface TestService {
  readonly databaseUrl: string;
  /** Base address, for example `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Address of the operations port; null without one. */
  readonly operationsUrl: string | null;
  readonly host: string;
  readonly port: number;
  /** SQL statements so far, if they are kept. */
  readonly queries: string[];
  /** Log lines so far, if they are kept. */
  readonly logLines: string[];
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Whether SQL statements and log lines are kept, true by default: in runs of hours they fill the memory. */
  readonly keepsLines?: boolean;
  /** Rules for the calls of every protocol. */
  readonly policies?: readonly CallPolicy[];
  /** Packages that are not there. */
  readonly packages?: Partial<PackageLoaders>;
  /** The module of the threads that read events. */
  readonly eventReaderEntry?: URL;
  /** The module of the thread for large steps. */
  readonly heavyStepsEntry?: URL;
  /** Makes the OpenAPI document. */
  readonly describe?: DescribeApi;
}

const START_ATTEMPTS = 20;
const EVENT_READER = 'serve/event-reading/event-reader-thread.js';
const STEP_THREAD = 'serve/heavy-steps/step-thread.js';

/** A module for threads, which cannot load the sources: of the service that the test run has compiled. */
function compiledEntry(file: string): URL | undefined {
  const folder = process.env[COMPILED_FOLDER];
  return folder === undefined ? undefined : pathToFileURL(path.join(folder, 'src', file));
}

/** Starts again what a busy machine was too slow for: custom evaluators have ten seconds to load. */
async function evaluatorsLoaded<T>(start: () => Promise<T>): Promise<T> {
  for (let attemptsLeft = START_ATTEMPTS; ; attemptsLeft -= 1) {
    try {
      return await start();
    } catch (error) {
      if (attemptsLeft <= 1 || !String(error).includes('did not load within')) throw error;
    }
  }
}

/** Starts the whole service in this process, on a free port; on a fresh SQLite file unless told otherwise. */
export async function startService(
  environment: Record<string, string> = {},
  {
    keepsLines = true,
    policies = [],
    packages = {},
    eventReaderEntry = compiledEntry(EVENT_READER),
    heavyStepsEntry = compiledEntry(STEP_THREAD),
    describe,
  }: StartOptions = {},
): Promise<TestService> {
  const directory = mkdtempSync(path.join(tmpdir(), 'service-'));
  const ownFile = path.join(directory, 'service.db');
  if (environment.DATABASE_URL === undefined) copySqliteTemplate(ownFile);
  const databaseUrl = environment.DATABASE_URL ?? `file:${ownFile}`;
  const config = readConfig({
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: '0',
    DATABASE_URL: databaseUrl,
    ...eventStoreOf(databaseUrl),
    // No later service of a test has this folder, unless it says so.
    SERVICE_LAST_KNOWN_GOOD: 'off',
    SERVICE_DRAIN_SECONDS: '2',
    SERVICE_LOG_LEVEL: 'debug',
    // Events of the service itself must not come into a test that takes long, unless it wants them.
    OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '3600',
    // Nor must events of any year go from it.
    SERVICE_EVENT_RETENTION_DAYS: '0',
    ...PATIENT_SETTINGS,
    ...environment,
  });
  const queries: string[] = [];
  const logLines: string[] = [];
  const keepIn = (lines: string[]) => (line: string) => {
    if (keepsLines) lines.push(line);
  };
  const log = pino({ level: config.log.level }, { write: keepIn(logLines) });
  const app = await evaluatorsLoaded(() =>
    createApp({
      config,
      log,
      policies,
      packages,
      threadEntries: { eventReader: eventReaderEntry, heavySteps: heavyStepsEntry },
      // Tests that count queries count only those of their calls.
      approvalsIdleMs: 3_600_000,
      ...(keepsLines ? { onQuery: keepIn(queries) } : {}),
      ...(describe === undefined ? {} : { describe }),
    }),
  );
  const { address: url, operations } = await app.listen();
  const { hostname, port } = new URL(url);
  return {
    url,
    databaseUrl,
    operationsUrl: operations ?? null,
    host: hostname,
    port: Number(port),
    queries,
    logLines,
    async stop() {
      await app.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
