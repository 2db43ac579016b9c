import { describe, expect, it } from 'vitest';
import { createTestDatabase, type DatabaseKind } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { compiled, spawnService } from '../support/service-process.js';
import { startTcpProxy } from '../support/tcp-proxy.js';

const AGENT = 'followed-agent';
/** Changes that are measured; those that polling finds take up to a second each. */
const CHANGES = 100;
const CHANGES_BY_POLLING = 30;

const quantile = (sorted: readonly number[], part: number) =>
  sorted[Math.floor(sorted.length * part)] ?? Number.NaN;

/**
 * How long it takes, after a change was acknowledged by one process, until another process decides by it. Figures only:
 * nothing fails because of them.
 */
describe('from an acknowledged change in one process to verdicts by it in another', () => {
  async function measure(kind: DatabaseKind, copies: number, changes: number): Promise<number[]> {
    const database = await createTestDatabase(kind);
    const proxy = kind === 'postgresql' ? await startTcpProxy(database.url) : undefined;
    proxy?.notifications(copies);
    const spawn = (url: string) =>
      spawnService(compiled, {
        environment: { DATABASE_URL: url, SERVICE_LOG_JSON: 'true' },
      });
    const writer = await spawn(database.url);
    const processes = [writer];
    try {
      const write = restClient(await writer.listening());
      const reader = await spawn(proxy?.url ?? database.url);
      processes.push(reader);
      const read = restClient(await reader.listening());
      const seed = seeder(write);
      await seed.agent(AGENT);
      const id = await seed.control('followed', denyWord('none'));
      await seed.link(AGENT, id);
      const times: number[] = [];
      for (let count = 0; count < changes; count += 1) {
        const word = `word-${count}.`;
        await evaluate(read, AGENT, word);
        const { status } = await write('PUT', `/api/v1/controls/${id}/data`, { data: denyWord(word) });
        const acknowledged = performance.now();
        expect(status).toBe(200);
        while ((await evaluate(read, AGENT, word)).body.is_safe !== false);
        times.push(performance.now() - acknowledged);
      }
      return times.sort((left, right) => left - right);
    } finally {
      for (const one of processes) await one.dispose();
      await proxy?.close();
      await database.drop();
    }
  }

  it.each<[string, DatabaseKind, number, number]>([
    ['SQLite', 'sqlite', 1, CHANGES],
    ['PostgreSQL', 'postgresql', 1, CHANGES],
    ['PostgreSQL, notifications suppressed', 'postgresql', 0, CHANGES_BY_POLLING],
  ])('on %s', { timeout: 300_000 }, async (name, kind, copies, changes) => {
    const times = await measure(kind, copies, changes);
    const [median, late] = [quantile(times, 0.5), quantile(times, 0.95)].map((time) => time.toFixed(1));
    console.log(
      `change in another process, ${name}: median ${median} ms, 95 % ${late} ms (${changes} changes)`,
    );
    expect(times).toHaveLength(changes);
  });
});
