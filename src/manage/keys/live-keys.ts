import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { ChangeFollower } from '../../decide/decisions/revision-watch.js';
import type { RecordedChange } from '../../storage/database/change-log.js';
import type { Database } from '../../storage/database/database.js';
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

/** Least time between two attempts after a failure, in milliseconds; `catchUp` is called about as often. */
const RETRY_MS = 500;
const FAILURE = 'keys';

/**
 * The keys of the database that are valid in this process. All of them are read in one query, in a thread that serves no
 * requests, at the start and after every change of keys. While the database does not answer, the last ones stay.
 */
export class LiveKeys {
  readonly #options: LiveKeysOptions;
  readonly #listeners = new Set<(keys: readonly LiveKey[]) => void>();
  #keys: readonly LiveKey[] = [];
  #reading: Promise<void> | undefined;
  /** Whether keys have changed since the last reading that succeeded began. */
  #isDue = true;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: LiveKeysOptions) {
    this.#options = options;
  }

  get keys(): readonly LiveKey[] {
    return this.#keys;
  }

  /** Calls back with the keys now, and whenever they were read. */
  onRead(listener: (keys: readonly LiveKey[]) => void): void {
    this.#listeners.add(listener);
    listener(this.#keys);
  }

  /** Reads the keys at the start. Rejects if the database does not answer: no key may be refused or taken by chance. */
  async start(): Promise<void> {
    await this.#read();
  }

  /** Continues with keys that are known without the database, until it answers. */
  startWith(keys: readonly LiveKey[]): void {
    this.#use(keys);
  }

  /** Resolves when the keys are as they were stored at the time of the call, or cannot be read. Never rejects. */
  async refreshed(): Promise<void> {
    this.#isDue = true;
    // One that runs may have read too early.
    await this.#reading;
    await this.#readSoon();
  }

  get follower(): ChangeFollower {
    return {
      changed: (changes: readonly RecordedChange[]) => {
        if (changes.some(({ access }) => access)) this.#becameDue();
      },
      startOver: () => this.#becameDue(),
      catchUp: () => {
        if (this.#isDue && this.#options.now() - this.#failedAtMs >= RETRY_MS) void this.#readSoon();
      },
    };
  }

  #becameDue(): void {
    this.#isDue = true;
    void this.#readSoon();
  }

  /** Reads until nothing has changed since. */
  #readSoon(): Promise<void> {
    this.#reading ??= this.#readWhileDue().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readWhileDue(): Promise<void> {
    try {
      while (this.#isDue) await this.#read();
    } catch (error) {
      this.#isDue = true;
      this.#failedAtMs = this.#options.now();
      this.#options.failures.failed(FAILURE, 'the keys cannot be read: those known so far count', error);
    }
  }

  async #read(): Promise<void> {
    this.#isDue = false;
    this.#use(await loadedInTime(readLiveKeys(this.#options.database, this.#options.now())));
  }

  #use(keys: readonly LiveKey[]): void {
    this.#keys = keys;
    for (const listener of this.#listeners) listener(keys);
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
