import { randomBytes } from 'node:crypto';
import { demandExchangeable, shownLabel } from '../../../src/decide/memory/store/exchange-rules.js';
import {
  type ExchangeReply,
  type ExchangeRequest,
  type MemoryStore,
  MemoryStoreError,
  type StoreClock,
  type StoredCell,
  type SweepLimits,
  type SweepReport,
} from '../../../src/decide/memory/store/memory-store.js';
import { entryText, exchangeCall, newsOf, type PartReply, partsOf } from './exchange-parts.js';
import { CLOCK_KEY, cellKeys, NAMESPACES_KEY, namespaceKey, rulesKey, scriptKeys } from './namespace-keys.js';
import { type Commands, removeKeys, sweepNamespace } from './namespace-sweep.js';
import { redisAddress } from './redis-address.js';
import { lateReply, openLink, type RedisLink, runScript, storeError } from './redis-link.js';
import { CLOCK, READ, REPAIR, SET_OFFSET } from './scripts.js';

export interface RedisMemoryStoreOptions {
  /** `redis://` or `rediss://`, see `SERVICE_MEMORY_STORE`. */
  readonly url: string;
  /** Whether a server that may forget what it acknowledged is used. */
  readonly volatile: 'refuse' | 'accept';
  /** Longest time for a connection and for a reply, in milliseconds. */
  readonly timeoutMs: number;
  /** Told with each connection why the server may forget what it acknowledged; null if it does not. */
  readonly onVolatile: (reason: string | null) => void;
}

const LAYOUT = '1';
const HASH_KEY_BYTES = 32;
/** Waiting time before a further attempt to connect, doubled with each one that fails. */
const BACKOFF_MS = { first: 50, last: 2_000 };

/** What a server said of the clock, and of the memory as a whole. */
interface Heading {
  readonly clock: StoreClock;
  readonly hashKey: string;
  /** Of the rules that were named. */
  readonly sinceUs: readonly number[];
}

/** A connection, and what is known since it was opened. */
interface Session {
  readonly link: RedisLink;
  heading: Heading;
}

/**
 * Cells in Redis or Valkey. An exchange is one script for each namespace and one for the clock, which are sent together. After any
 * change of the servers, such as a start after a crash, the epoch is another one: what was written last may be gone.
 */
export function createRedisMemoryStore(options: RedisMemoryStoreOptions): MemoryStore {
  return new RedisMemoryStore(options);
}

class RedisMemoryStore implements MemoryStore {
  readonly kind = 'redis';
  readonly #options: RedisMemoryStoreOptions;
  readonly #address;
  #session: Promise<Session> | undefined;
  #link: RedisLink | undefined;
  #hashKey: string | undefined;
  #failures = 0;
  #notBeforeMs = 0;
  #failure: MemoryStoreError | undefined;
  #isClosed = false;

  constructor(options: RedisMemoryStoreOptions) {
    this.#options = options;
    this.#address = redisAddress(options.url);
  }

  async open(): Promise<{ readonly hashKey: Uint8Array }> {
    this.#hashKey = undefined;
    return this.#attempt(async ({ heading: { hashKey } }) => {
      this.#hashKey = hashKey;
      return { hashKey: Buffer.from(hashKey, 'base64url') };
    });
  }

  async exchange(request: ExchangeRequest): Promise<ExchangeReply> {
    demandExchangeable(request);
    return this.#attempt(async (session) => {
      const { link, heading } = session;
      const parts = partsOf(request);
      const isKnown = request.epoch === heading.clock.epoch;
      const namespaces = [...parts, ...request.rules].map(({ namespace }) => namespace);
      const calls = parts.map((part) => exchangeCall(part, request, heading.clock.offsetUs, isKnown));
      // In one turn, so that they take one round trip.
      const [now, ...replies] = await Promise.all([
        this.#readHeading(link, namespaces, request.rules),
        ...calls.map(async (call) => (await runScript(link, call)) as PartReply),
      ]);
      if (now.clock.epoch !== heading.clock.epoch) {
        this.#leave(link);
        throw new MemoryStoreError(`${this.#address.place} was emptied; what it kept is lost`);
      }
      session.heading = now;
      const applied = request.groups.map(({ cells }) => cells.length === 0);
      const news = parts.flatMap((part, index) => {
        const reply = replies[index] as PartReply;
        part.groups.forEach((group, position) => {
          applied[group] = reply[1][position] === 1;
        });
        return newsOf(part, reply);
      });
      news.sort((one, other) => one.cell - other.cell);
      return { clock: now.clock, news, applied, sinceUs: now.sinceUs };
    });
  }

  setOffset(offsetUs: number, version: number): Promise<StoreClock> {
    return this.#attempt(async (session) => {
      const { link } = session;
      const args = [String(offsetUs), String(version)];
      await runScript(link, { source: SET_OFFSET, keys: [CLOCK_KEY], args });
      const heading = await this.#readHeading(link);
      session.heading = heading;
      return heading.clock;
    });
  }

  mostUsed(namespace: string, minUsed: number, limit: number): Promise<readonly StoredCell[]> {
    return this.#attempt(async ({ link }) => {
      const key = namespaceKey(namespace, 's');
      const range = ['+inf', String(minUsed), 'LIMIT', '0', String(limit)];
      const ids = (await link.send(key, ['ZREVRANGEBYSCORE', key, ...range])) as string[];
      const cells = await Promise.all(ids.map((id) => readCell(link, namespace, id)));
      return cells.filter((cell) => cell !== null);
    });
  }

  read(namespace: string, id: string): Promise<StoredCell | null> {
    return this.#attempt(({ link }) => readCell(link, namespace, id));
  }

  ledger(namespace: string, id: string): Promise<{ firstVersion: number; entries: readonly string[] }> {
    return this.#attempt(async ({ link }) => {
      const found = await readRaw(link, namespace, id, 'all');
      return { firstVersion: (found?.trimmed ?? 0) + 1, entries: found?.entries ?? [] };
    });
  }

  repair(namespace: string, id: string, version: number, checkpoint: string): Promise<boolean> {
    return this.#attempt(async ({ link }) => {
      const args = [id, String(version), checkpoint];
      return (await runScript(link, { source: REPAIR, keys: scriptKeys(namespace, [id]), args })) === 1;
    });
  }

  sweep(limits: SweepLimits): Promise<SweepReport> {
    return this.#attempt(async ({ link }) => {
      const commands = this.#commands(link);
      const namespaces = (await commands.send(NAMESPACES_KEY, 'SMEMBERS', NAMESPACES_KEY)) as string[];
      const report = { expired: 0, uses: [] as SweepReport['uses'][number][] };
      for (const namespace of namespaces.sort()) {
        const { expired, use, isEmpty } = await sweepNamespace(commands, namespace, limits);
        report.expired += expired;
        report.uses.push(use);
        // The next exchange adds it again.
        if (isEmpty) await commands.send(NAMESPACES_KEY, 'SREM', NAMESPACES_KEY, namespace);
      }
      return report;
    }, null);
  }

  removeNamespace(namespace: string): Promise<void> {
    return this.#attempt(async ({ link }) => {
      const commands = this.#commands(link);
      await removeKeys(commands, namespace);
      await commands.send(NAMESPACES_KEY, 'SREM', NAMESPACES_KEY, namespace);
    }, null);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#session?.catch(() => undefined);
    this.#link?.close();
  }

  /** Runs something with the connection. A time limit of null is for work in many steps, which has one for each. */
  async #attempt<T>(
    work: (session: Session) => Promise<T>,
    timeoutMs: number | null = this.#options.timeoutMs,
  ): Promise<T> {
    const session = await this.#connected();
    try {
      return await (timeoutMs === null
        ? work(session)
        : this.#within(timeoutMs, session.link, work(session)));
    } catch (error) {
      throw storeError(this.#address.place, error);
    }
  }

  /** Leaves a server that does not answer: whether it carries out what it was sent is unknown. */
  async #within<T>(timeoutMs: number, link: RedisLink, work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#leave(link);
        reject(lateReply(this.#address.place, timeoutMs));
      }, timeoutMs);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #commands(link: RedisLink): Commands {
    const within = <T>(work: Promise<T>) => this.#within(this.#options.timeoutMs, link, work);
    return {
      run: (call) => within(runScript(link, call)),
      send: (key, ...command) => within(link.send(key, command)),
    };
  }

  async #connected(): Promise<Session> {
    if (this.#isClosed) throw new MemoryStoreError(`${this.#address.place}: the store is closed`);
    if (this.#session !== undefined && this.#link?.isOpen === false) this.#session = undefined;
    if (this.#session === undefined) {
      if (this.#failure !== undefined && performance.now() < this.#notBeforeMs) throw this.#failure;
      this.#link = undefined;
      this.#session = this.#connect();
    }
    return this.#session;
  }

  async #connect(): Promise<Session> {
    const { volatile, timeoutMs, onVolatile } = this.#options;
    const { place } = this.#address;
    try {
      const link = await openLink(this.#address, { timeoutMs, isVolatileAccepted: volatile === 'accept' });
      this.#link = link;
      const heading = await this.#within(timeoutMs, link, this.#readHeading(link));
      onVolatile(
        link.volatile === null
          ? null
          : `${place} may forget what controls with memory keep: ${link.volatile}`,
      );
      this.#failures = 0;
      this.#failure = undefined;
      return { link, heading };
    } catch (error) {
      this.#link?.close();
      this.#session = undefined;
      this.#failure = storeError(place, error);
      this.#notBeforeMs =
        performance.now() + Math.min(BACKOFF_MS.first * 2 ** this.#failures, BACKOFF_MS.last);
      this.#failures += 1;
      throw this.#failure;
    }
  }

  #leave(link: RedisLink): void {
    link.close();
    if (this.#link === link) this.#session = undefined;
  }

  async #readHeading(
    link: RedisLink,
    namespaces: readonly string[] = [],
    rules: ExchangeRequest['rules'] = [],
  ): Promise<Heading> {
    const random = randomBytes(HASH_KEY_BYTES + 12).toString('base64url');
    const used = [...new Set(namespaces)];
    const keys = [CLOCK_KEY, NAMESPACES_KEY, ...used.map(rulesKey)];
    const named = rules.flatMap(({ namespace, rule }) => [String(used.indexOf(namespace) + 3), rule]);
    const args = [
      random.slice(0, 16),
      this.#hashKey ?? random.slice(16),
      String(used.length),
      ...used,
      ...named,
    ];
    const reply = (await runScript(link, { source: CLOCK, keys, args })) as string[];
    const [seconds, micros, offset, version, epoch = '', hashKey = '', layout, ...since] = reply;
    if (layout !== LAYOUT) {
      throw new MemoryStoreError(
        `${this.#address.place} was written by another version of the service (layout ${layout ?? 'unknown'})`,
      );
    }
    const clock = {
      storeUs: Number(seconds) * 1_000_000 + Number(micros),
      offsetUs: Number(offset),
      version: Number(version),
      epoch: `${epoch}.${link.servers}`,
    };
    return { clock, hashKey, sinceUs: since.map(Number) };
  }
}

/** A cell as it is kept. */
async function readRaw(link: RedisLink, namespace: string, id: string, which: 'all' | 'latest') {
  const reply = await runScript(link, { source: READ, keys: cellKeys(namespace, id), args: [which] });
  if (reply === null) return null;
  const [version, label, usedAtUs, text, checkpointVersion, trimmed, entries] = reply as [
    version: string,
    label: string,
    usedAtUs: string,
    checkpoint: string | null,
    checkpointVersion: string,
    trimmed: string,
    entries: string[],
  ];
  return {
    cell: { id, label: shownLabel(label), version: Number(version), usedAtUs: Number(usedAtUs) },
    checkpoint: text === null ? null : { text, version: Number(checkpointVersion) },
    trimmed: Number(trimmed),
    entries: entries.map(entryText),
  };
}

async function readCell(link: RedisLink, namespace: string, id: string): Promise<StoredCell | null> {
  const found = await readRaw(link, namespace, id, 'latest');
  return found === null ? null : { ...found.cell, checkpoint: found.checkpoint, entries: found.entries };
}
