import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { observability } from '../e2e/event-streams.support.js';
import { event } from '../e2e/events.support.js';
import { createTestDatabase, DATABASE_KINDS } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';

const EVENTS = 30_000;
const BATCH = 200;
const WATCHERS = 20;
const KILLS = 10;
const KILL_INTERVAL_MS = 1_500;
const END = 'the-end';

describe.each(DATABASE_KINDS)('WatchEvents at full speed on %s', (kind) => {
  it('sends every watcher every event once and in order while processes are killed', {
    timeout: 600_000,
  }, async () => {
    const database = await createTestDatabase(kind);
    const start = () => spawnService(compiled, { environment: { DATABASE_URL: database.url } });
    const running: ServiceProcess[] = [await start(), await start()];
    const urls = await Promise.all(running.map((one) => one.listening()));
    const urlOf = (index: number) => urls[index % urls.length] as string;
    const failures = { sends: 0, streams: 0, behind: 0 };

    /** Sends a batch until a process has committed it. */
    async function send(ids: readonly string[], at: number): Promise<void> {
      const events = ids.map((id) => event({ control_execution_id: id }));
      for (let attempt = 0; ; attempt += 1) {
        const call = restClient(urlOf(at + attempt));
        const reply = await call('POST', '/api/v1/observability/events', { events }).catch(() => undefined);
        if (reply?.body.status === 'queued') return;
        failures.sends += 1;
        await pause(50);
      }
    }

    /** Watches until the end, over as many connections as it takes. Every third one reads slowly. */
    async function watch(index: number) {
      const told = { ids: [] as string[], positions: [] as bigint[] };
      let afterPosition = 0n;
      for (let connection = index; ; connection += 1) {
        const protocol = RPC_PROTOCOLS[index % RPC_PROTOCOLS.length] as (typeof RPC_PROTOCOLS)[number];
        const stream = observability(rpcTransport(protocol, urlOf(connection))).watchEvents({
          afterPosition,
        });
        try {
          for await (const { position, news } of stream) {
            afterPosition = position;
            if (news.case === 'fellBehind') failures.behind += 1;
            if (news.case !== 'events') continue;
            for (const one of news.value.events) {
              told.ids.push(one.event?.controlExecutionId ?? '');
              told.positions.push(one.position);
            }
            if (told.ids.at(-1) === END) return told;
            if (index % 3 === 0) await pause(50);
          }
        } catch {
          failures.streams += 1;
          await pause(100);
        }
      }
    }

    try {
      const startedAt = performance.now();
      const watching = Array.from({ length: WATCHERS }, (_, index) => watch(index));
      const ids = Array.from({ length: EVENTS }, (_, index) => `watched-${index}`);
      let killing = true;
      const kills = (async () => {
        for (let kill = 0; kill < KILLS && killing; kill += 1) {
          await pause(KILL_INTERVAL_MS);
          const index = kill % running.length;
          await running[index]?.dispose();
          const fresh = await start();
          running[index] = fresh;
          urls[index] = await fresh.listening();
        }
      })();
      let next = 0;
      const sender = async () => {
        while (next < EVENTS) {
          const from = next;
          next += BATCH;
          await send(ids.slice(from, from + BATCH), from / BATCH);
        }
      };
      await Promise.all(Array.from({ length: 8 }, sender));
      const storedMs = performance.now() - startedAt;
      killing = false;
      await kills;
      await send([END], 0);
      const told = await Promise.all(watching);
      const toldMs = performance.now() - startedAt;
      const [first] = told;
      expect(first?.ids.toSorted()).toEqual([...ids, END].toSorted());
      expect(first?.positions).toEqual(first?.positions.toSorted((one, other) => Number(one - other)));
      for (const other of told) expect(other).toEqual(first);
      const summary = { kind, events: EVENTS, storedMs: Math.round(storedMs), toldMs: Math.round(toldMs) };
      console.log(JSON.stringify({ ...summary, ...failures }));
    } finally {
      for (const one of running) await one.dispose();
      await database.drop();
    }
  });
});
