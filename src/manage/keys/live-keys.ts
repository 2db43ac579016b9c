import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { Database } from '../../storage/database/database.js';
import { FollowedState } from '../../storage/database/followed-state.js';
import { loadedInTime } from '../../storage/database/in-time.js';
import { columns, json, nullable, number, select, text } from '../../storage/database/rows.js';

/** What decides about a call with a key: all of it but names for people and times of the past. */
export interface LiveKey {
  readonly id: number;
  readonly namespace: string;
  readonly name: string;
  /** Null if it lists its scopes itself. */
  readonly role: string | null;
  readonly scopes: readonly string[] | null;
  /** Null for all agents. */
  readonly agents: readonly string[] | null;
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
  readonly previousHash: string | null;
  /** Milliseconds since 1970. */
  readonly previousUntilMs: number | null;
  readonly expiresAtMs: number | null;
}

export interface LiveKeysOptions {
  readonly database: Pick<Database, 'bulk'>;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const FAILURE = 'the keys cannot be read: those known so far count';

/**
 * The keys of the database that are valid in this process. All of them are read in one query, in a thread that serves no
 * requests, at the start and after every change of keys.
 */
export class LiveKeys extends FollowedState<readonly LiveKey[]> {
  #keys: readonly LiveKey[] = [];

  constructor({ database, failures, now }: LiveKeysOptions) {
    super({
      read: () => loadedInTime(readLiveKeys(database, now())),
      onFailure: (error) => failures.failed('keys', FAILURE, error),
      now,
    });
  }

  get keys(): readonly LiveKey[] {
    return this.#keys;
  }

  protected override take(keys: readonly LiveKey[]): void {
    this.#keys = keys;
  }
}

/** The columns of `LiveKey`. */
export const LIVE_KEY = columns({
  id: number,
  namespace: text,
  name: text,
  role: nullable(text),
  scopes: nullable(json<readonly string[]>()),
  agents: nullable(json<readonly string[]>()),
  hash: text,
  previousHash: nullable(text),
  previousUntilMs: nullable(number),
  expiresAtMs: nullable(number),
});

/** From FROM on, a query for the keys that are valid at a time or later, with ids after `afterId`. */
export function liveKeys(nowMs: number, afterId = 0): Prisma.Sql {
  return Prisma.sql`
    FROM "api_keys" WHERE "id" > ${afterId} AND "revoked_at_ms" IS NULL
      AND ("expires_at_ms" IS NULL OR "expires_at_ms" > ${BigInt(nowMs)})
    ORDER BY "id"`;
}

function readLiveKeys({ bulk }: Pick<Database, 'bulk'>, nowMs: number): Promise<LiveKey[]> {
  return select(LIVE_KEY, bulk)`${liveKeys(nowMs)}`;
}
