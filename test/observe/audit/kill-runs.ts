import { verifyPart } from '../../../src/observe/audit/verify-chain.js';
import { openDatabase } from '../../../src/storage/database/database.js';
import { Random } from '../../serve/wire/random.js';
import { type RestClient, restClient } from '../../support/http.js';
import { denyWord } from '../../support/seed.js';
import { type CompiledService, spawnService } from '../../support/service-process.js';
import { allEntries, storeOf } from './audit.support.js';

/** What the runs found. The last four have to be empty. */
export interface KillReport {
  readonly kills: number;
  readonly acknowledged: number;
  /** Why the chain is broken. */
  readonly problems: string[];
  /** Revisions without exactly one entry. */
  readonly revisions: number[];
  /** Controls without exactly one entry that created them. */
  readonly controls: string[];
  /** Acknowledged controls that do not exist. */
  readonly lost: string[];
}

export interface KillOptions {
  readonly compiled: CompiledService;
  /** A database without data. */
  readonly url: string;
  readonly kills: number;
  readonly seed: number;
}

const WRITERS = 4;
/** Most controls that are acknowledged before a kill. */
const LONGEST_RUN = 40;

/** Kills the service again and again while it creates controls, and then compares the audit log with what is stored. */
export async function killRuns({ compiled, url, kills, seed }: KillOptions): Promise<KillReport> {
  const random = new Random(seed);
  const acknowledged: string[] = [];

  async function createUntilDeath(call: RestClient, prefix: string, onCreated: () => void): Promise<void> {
    for (let count = 0; ; count += 1) {
      const name = `${prefix}-${count}`;
      const reply = await call('PUT', '/api/v1/controls', { name, data: denyWord('bad') }).catch(() => null);
      if (reply === null) return;
      if (reply.status !== 200) continue;
      acknowledged.push(name);
      onCreated();
    }
  }

  for (let run = 0; run < kills; run += 1) {
    const service = await spawnService(compiled, { environment: { DATABASE_URL: url } });
    try {
      const call = restClient(await service.listening());
      // The other writers are in the middle of something then.
      let left = 1 + random.below(LONGEST_RUN);
      const onCreated = () => {
        left -= 1;
        if (left === 0) service.process.kill('SIGKILL');
      };
      const writers = Array.from({ length: WRITERS }, (_, writer) =>
        createUntilDeath(call, `run-${run}-${writer}`, onCreated),
      );
      await service.ended;
      await Promise.all(writers);
    } finally {
      await service.dispose();
    }
  }
  return { kills, acknowledged: acknowledged.length, ...(await compare(url, acknowledged)) };
}

async function compare(url: string, acknowledged: readonly string[]) {
  const database = await openDatabase({ url });
  try {
    const store = storeOf(database);
    const problems: string[] = [];
    for (let after: number | undefined; ; ) {
      const part = await verifyPart(store, after);
      if (part.problem !== null) problems.push(part.problem.message);
      if (!part.hasMore) break;
      after = part.last.position;
    }
    const entries = await allEntries(store);
    const ofRevision = countOf(entries.map(({ revision }) => revision));
    const last = await database.revision();
    const revisions = Array.from({ length: last }, (_, index) => index + 1);
    const created = countOf(entries.map(({ resourceName }) => resourceName));
    const stored = await database.client.control.findMany({ select: { name: true } });
    const names = stored.map(({ name }) => name);
    const isStored = new Set(names);
    return {
      problems,
      revisions: revisions.filter((revision) => ofRevision.get(revision) !== 1),
      controls: [...new Set([...names, ...(created.keys() as Iterable<string>)])].filter(
        (name) => created.get(name) !== 1 || !isStored.has(name),
      ),
      lost: acknowledged.filter((name) => !isStored.has(name)),
    };
  } finally {
    await database.close();
  }
}

function countOf<T>(items: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}
