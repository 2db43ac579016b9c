import { resolve } from 'node:path';
import type { Config } from '../../contract/config/config.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { FactsLog } from '../../contract/runtime/repeat-log.js';
import { type Database, type DatabaseOptions, openDatabase } from '../../storage/database/database.js';
import { parseDatabaseUrl } from '../../storage/database/database-url.js';
import { createLateDatabase } from '../../storage/database/late-database.js';
import { type DatabaseWait, waitForDatabase } from './database-wait.js';
import type { StateHeader } from './file-format.js';
import { nodeFileSystem } from './file-system.js';
import { ageMs } from './kept-agents.js';
import type { KeptState } from './kept-state.js';
import { fileLocation } from './location.js';
import { type Attempt, createOpening, type DatabaseProblem, storageReportOf } from './opening.js';
import { StateFile } from './state-file.js';

/** The database of a starting service, and its replacement if it is unavailable. */
export interface StartedDatabase {
  /** Refuses everything until the database can be used. */
  readonly database: Database;
  /** The last known good file; null if disabled. */
  readonly file: StateFile | null;
  /** The header of the file, if the database cannot be used but the file can. */
  readonly header: StateHeader | null;
  /** Hands over the state of the file, so that it can be freed when the database is back. */
  takeState(): KeptState | null;
  /** Null if the database can be used. */
  readonly wait: DatabaseWait | null;
}

export interface StartDatabaseOptions {
  readonly config: Pick<
    Config,
    'databaseUrl' | 'databaseVariable' | 'databaseExpected' | 'migration' | 'lastKnownGood'
  >;
  readonly log: FactsLog;
  /** See `DatabaseOptions.failures`. */
  readonly failures?: DatabaseOptions['failures'];
  readonly onQuery?: DatabaseOptions['onQuery'];
  readonly beforeCommit?: DatabaseOptions['beforeCommit'];
  readonly onAudit?: DatabaseOptions['onAudit'];
  /** Whether another process has applied the migrations. */
  readonly isMigrated: boolean;
  /** Whether another process has already logged the problem. */
  readonly isTold: boolean;
  /** See `DatabaseOptions.serves`. */
  readonly serves?: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Opens the database. If it cannot be used, the service starts with the last known good file, or, if it must
 * not create a database, with nothing; otherwise this rejects.
 */
export async function startDatabase(options: StartDatabaseOptions): Promise<StartedDatabase> {
  const { log, isTold, now } = options;
  const level = isTold ? 'debug' : 'warn';
  const { attempt, file, kind } = await prepare(options);
  const { database, problem } = await attempt();
  if (problem === null) return { database, file, header: null, takeState: () => null, wait: null };
  let state = await stateIn(file);
  const header = state?.header ?? null;
  if (header === null && problem.state !== 'MISSING') throw problem.cause;
  const facts =
    header === null
      ? {}
      : {
          file: file?.path,
          revision: header.revision,
          age_seconds: Math.round(ageMs(header, now()) / 1000),
        };
  log[level]({ ...facts, database: problem.state }, startLine(problem, header !== null));
  let wait: DatabaseWait | null = null;
  const problemNow = (): DatabaseProblem => wait?.problem ?? problem;
  const late = createLateDatabase({
    kind,
    instanceId: header?.instanceId ?? '',
    refusal: () => refusal(problemNow(), header !== null),
    problem: () => storageReportOf(problemNow()),
  });
  wait = waitForDatabase({ attempt, late, problem, log, expected: header });
  const takeState = (): KeptState | null => {
    const taken = state;
    state = null;
    return taken;
  };
  return { database: late, file, header, takeState, wait };
}

/**
 * For a process that starts others: opens the database, applies migrations and closes it. Returns false if it
 * cannot be used but the others can start without it; rejects if they cannot.
 */
export async function migrateDatabase(
  options: Pick<StartDatabaseOptions, 'config' | 'log'>,
): Promise<boolean> {
  const { log } = options;
  const { attempt, file } = await prepare({ ...options, isMigrated: false, isTold: false });
  const { database, problem } = await attempt();
  if (problem === null) {
    await database.close();
    return true;
  }
  const isKept = (await file?.check())?.kind === 'usable';
  if (!isKept && problem.state !== 'MISSING') throw problem.cause;
  log.warn({ ...(isKept ? { file: file?.path } : {}), database: problem.state }, startLine(problem, isKept));
  return false;
}

/** Prepares opening the database, and its file. Logs a file that cannot be used. */
async function prepare(
  options: Omit<StartDatabaseOptions, 'now'>,
): Promise<{ attempt: () => Promise<Attempt>; file: StateFile | null; kind: Database['kind'] }> {
  const {
    config,
    log,
    failures,
    onQuery,
    beforeCommit,
    onAudit,
    isMigrated,
    isTold,
    serves = false,
  } = options;
  const parsed = parseDatabaseUrl(config.databaseUrl);
  const location = parsed.kind === 'sqlite' ? { ...parsed, path: resolve(parsed.path) } : parsed;
  const place = fileLocation(config.lastKnownGood, location);
  const content = place === null ? null : new StateFile(place.path, nodeFileSystem);
  const found = await content?.check();
  if (found?.kind === 'damaged') {
    const text = `the last known good file cannot be used and is ignored: ${found.problem}`;
    log[isTold || isMigrated ? 'debug' : 'warn']({ file: content?.path }, text);
  }
  const attempt = createOpening({
    location,
    expected: config.databaseExpected,
    file: place === null || content === null ? null : { ...place, content },
    open: () =>
      openDatabase({
        url: config.databaseUrl,
        variable: config.databaseVariable,
        logger: log,
        migrate: !isMigrated,
        serves,
        structure: config.migration,
        ...(failures === undefined ? {} : { failures }),
        ...(onQuery === undefined ? {} : { onQuery }),
        ...(beforeCommit === undefined ? {} : { beforeCommit }),
        ...(onAudit === undefined ? {} : { onAudit }),
      }),
    log,
  });
  return { attempt, file: content, kind: location.kind };
}

async function stateIn(file: StateFile | null): Promise<KeptState | null> {
  const read = await file?.read();
  return read?.kind === 'usable' ? read.value : null;
}

function startLine({ explanation }: DatabaseProblem, isKept: boolean): string {
  const goesOn = isKept
    ? 'evaluating by the last known good controls'
    : 'no evaluation is answered, because there is no last known good file';
  return `${explanation}; ${goesOn}; everything that needs the database is refused`;
}

function refusal({ detail }: DatabaseProblem, isKept: boolean): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', {
    detail: isKept ? `${detail} Only evaluations are answered, by the last known good controls.` : detail,
    hint: 'Try again when the database is back.',
    retryAfterSeconds: 1,
  });
}
