import type { Config } from '../../contract/config/config.js';
import { parseDatabaseUrl } from '../../storage/database/database-url.js';
import { inspectDatabase } from '../../storage/database/inspect-database.js';

/** A database command, selected by the first argument and run instead of serving. */
export interface Command {
  /** Printed before the reason on failure. */
  readonly failure: string;
  /** Resolves with the message to print, and the exit code if it is not 0. */
  run(config: Config): Promise<string | { readonly text: string; readonly exitCode: number }>;
}

/** Checks first, because opening and migrating would create a missing database. */
export async function demandExisting({ databaseUrl, databaseExpected }: Config): Promise<void> {
  if (databaseExpected === 'any' || (await inspectDatabase(parseDatabaseUrl(databaseUrl))) !== 'nothing')
    return;
  throw new Error('there is no database, and SERVICE_DATABASE_EXPECTED=existing does not let one be created');
}
