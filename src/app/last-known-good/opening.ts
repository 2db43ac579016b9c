import { ServiceError } from '../../contract/errors/service-error.js';
import { explanation } from '../../contract/runtime/start-error.js';
import type { Database } from '../../storage/database/database.js';
import type { DatabaseLocation } from '../../storage/database/database-url.js';
import { type DatabaseContent, inspectDatabase } from '../../storage/database/inspect-database.js';
import { storageStateOf } from '../../storage/database/storage-health/storage-failure.js';
import { adviceOn, type StorageReport } from '../../storage/database/storage-health/storage-state.js';
import type { StateHeader } from './file-format.js';
import type { FileLocation } from './location.js';
import type { StateFile } from './state-file.js';

/** Why the database is not in use. */
export type DatabaseState =
  /** It cannot be reached, or refuses the service. */
  | 'DOWN'
  /** It can be reached, but not read. */
  | 'CORRUPT'
  /** It does not exist and must not be created. */
  | 'MISSING'
  /** It is not the database that the last known good file comes from. */
  | 'REPLACED';

export interface DatabaseProblem {
  readonly state: DatabaseState;
  /** Public text without addresses and paths. */
  readonly detail: string;
  /** For the operator: the problem, and what to do. */
  readonly explanation: string;
  readonly cause: ServiceError;
}

export type Attempt =
  | { readonly database: Database; readonly problem: null }
  | { readonly database: null; readonly problem: DatabaseProblem };

export interface OpeningOptions {
  readonly location: DatabaseLocation;
  /** `existing` if the database must not be created. */
  readonly expected: 'any' | 'existing';
  /** The last known good file, if enabled. */
  readonly file: (FileLocation & { readonly content: StateFile }) | null;
  /** Opens the database, creates it if missing, and applies migrations. */
  readonly open: () => Promise<Database>;
  readonly log: Record<'error', (facts: object, message: string) => void>;
}

/**
 * Creates a function that attempts to open the database, if it is the expected one. It rejects with errors
 * that waiting cannot fix, such as a database migrated by a newer version.
 */
export function createOpening(options: OpeningOptions): () => Promise<Attempt> {
  const { location, expected, file, open, log } = options;
  /** Replaced databases that were already reported. */
  const announced = new Set<string>();

  async function attempt(): Promise<Attempt> {
    const kept = (await file?.content.header()) ?? null;
    if (expected === 'existing' || kept !== null) {
      const content = await inspectDatabase(location);
      if (content === 'nothing' && expected === 'existing') return { database: null, problem: missing() };
      if (file !== null && kept !== null && isAnother(content, kept)) {
        const problem = await another(file, kept, content);
        if (problem !== null) return { database: null, problem };
      }
    }
    const database = await open();
    if (!database.created || expected === 'any') return { database, problem: null };
    await database.close();
    return { database: null, problem: missing() };
  }

  /** Handles a file of another database. Returns null if the database may be used anyway. */
  async function another(
    { content, path, isCertain }: NonNullable<OpeningOptions['file']>,
    kept: StateHeader,
    found: DatabaseContent,
  ): Promise<DatabaseProblem | null> {
    if ((await content.check()).kind !== 'usable') return null;
    const what = found === 'nothing' ? 'there is none, or an empty one' : 'it has another instance id';
    if (isCertain) {
      return problemOf(
        'REPLACED',
        'The database is not the one that this service has used before.',
        `the database is not the one that ${path} is from (${kept.instanceId}): ${what}; ` +
          'restore the database, or delete that file to accept this one',
      );
    }
    if (announced.has(kept.instanceId)) return null;
    announced.add(kept.instanceId);
    const aside = `${path}.${kept.instanceId.slice(0, 8)}`;
    await content.putAside(aside).catch(() => {});
    log.error(
      { file: aside, instance_id: kept.instanceId, revision: kept.revision },
      `the database is not the one that this service has used before at the same place: ${what}. ` +
        'The last known good file of the other one is kept',
    );
    return null;
  }

  return async () => {
    try {
      return await attempt();
    } catch (error) {
      return { database: null, problem: problemOfError(error) };
    }
  };
}

function isAnother(content: DatabaseContent, kept: StateHeader): boolean {
  return kept.controls > 0 && (content === 'nothing' || content.instanceId !== kept.instanceId);
}

function missing(): DatabaseProblem {
  return problemOf(
    'MISSING',
    'There is no database, and SERVICE_DATABASE_EXPECTED does not let the service create one.',
    'there is no database of the service at its place, and SERVICE_DATABASE_EXPECTED=existing does not let the service ' +
      'create one. Mount or restore the data; the service takes over when they are there',
  );
}

/** Throws errors that waiting cannot fix. */
function problemOfError(error: unknown): DatabaseProblem {
  if (error instanceof ServiceError && storageStateOf(error) === 'CORRUPT') {
    return {
      state: 'CORRUPT',
      detail: 'The database is damaged.',
      explanation: `the database is damaged and has to be restored (${explanation(error)})`,
      cause: error,
    };
  }
  if (error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE') {
    return {
      state: 'DOWN',
      detail: 'The database cannot be reached.',
      explanation: `the database cannot be reached (${explanation(error)})`,
      cause: error,
    };
  }
  throw error;
}

function problemOf(state: DatabaseState, detail: string, text: string): DatabaseProblem {
  const cause = new ServiceError('SERVICE_UNAVAILABLE', { detail: text });
  return { state, detail, explanation: text, cause };
}

/** Converts a problem to a state of the storage. */
export function storageReportOf({ state, detail }: DatabaseProblem): StorageReport {
  // A missing database counts as replaced, because data are expected there.
  const storage = state === 'MISSING' ? 'REPLACED' : state;
  return { state: storage, meaning: detail, advice: adviceOn(storage) };
}
