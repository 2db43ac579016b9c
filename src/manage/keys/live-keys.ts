import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { Database } from '../../storage/database/database.js';
import { FollowedState } from '../../storage/database/followed-state.js';
import { loadedInTime } from '../../storage/database/in-time.js';

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

/** The columns of `LiveKey`, in this order. */
const COLUMNS = Prisma.sql`
  "id", "namespace", "name", "role", "scopes", "agents", "hash", "previous_hash", "previous_until_ms", "expires_at_ms"`;

/** A query for the keys that are valid at a time or later; with ids after `afterId`, at most `limit`. */
export function liveKeysQuery(nowMs: number, afterId = 0, limit?: number): Prisma.Sql {
  const most = limit === undefined ? Prisma.empty : Prisma.sql`LIMIT ${limit}`;
  return Prisma.sql`
    SELECT ${COLUMNS} FROM "api_keys"
    WHERE "id" > ${afterId} AND "revoked_at_ms" IS NULL
      AND ("expires_at_ms" IS NULL OR "expires_at_ms" > ${BigInt(nowMs)})
    ORDER BY "id" ${most}`;
}

async function readLiveKeys({ bulk }: Pick<Database, 'bulk'>, nowMs: number): Promise<LiveKey[]> {
  const rows = await bulk.read('search', liveKeysQuery(nowMs));
  return rows.map(liveKeyOf);
}

/** A key of a row of `liveKeysQuery`. */
export function liveKeyOf(row: readonly unknown[]): LiveKey {
  const [id, namespace, name, role, scopes, agents, hash, previousHash, previousUntilMs, expiresAtMs] = row;
  return {
    id: Number(id),
    namespace: String(namespace),
    name: String(name),
    role: textOf(role),
    scopes: listOf(scopes),
    agents: listOf(agents),
    hash: String(hash),
    previousHash: textOf(previousHash),
    previousUntilMs: numberOf(previousUntilMs),
    expiresAtMs: numberOf(expiresAtMs),
  };
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

function numberOf(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

function listOf(value: unknown): readonly string[] | null {
  const text = textOf(value);
  return text === null ? null : (JSON.parse(text) as string[]);
}
