import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { restClient } from '../support/http.js';
import { openedInTest } from '../support/opened.js';
import { evaluate, seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';
import { event, eventRoutes } from './events.support.js';

describe('an event that was acknowledged with 202', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'durable-'));
  const processes = openedInTest<ServiceProcess>((one) => one.dispose());
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true });
  });
  async function start() {
    const environment = { DATABASE_URL: `file:${path.join(directory, 'service.db')}` };
    const one = await spawnService(compiled, { environment });
    processes.push(one);
    const call = restClient(await one.listening());
    return { one, call, routes: eventRoutes(call) };
  }

  it('survives the sudden death of the process, even with others on their way', async () => {
    const first = await start();
    await seeder(first.call).linked('counted-bot-1', 'denies');
    for (const word of ['bad', 'fine', 'bad']) await evaluate(first.call, 'counted-bot-1', word);
    expect((await first.call('POST', '/api/v1/observability/flush')).status).toBe(200);
    const acknowledged: string[] = [];
    const kill = async (batch: number) => {
      const ids = Array.from({ length: 20 }, (_, index) => `${batch}-${index}`);
      const sent = ids.map((id) => event({ control_execution_id: id }));
      const reply = await first.routes.send(...sent).catch(() => undefined);
      // A reply that was on its way at the death of the process may be cut off; then it acknowledged nothing.
      if (reply?.status !== 202) return;
      expect(reply.body.status).toBe('queued');
      acknowledged.push(...ids);
      if (batch === 10) first.one.process.kill('SIGKILL');
    };
    await Promise.all(Array.from({ length: 30 }, (_, batch) => kill(batch)));
    expect(await first.one.ended).toMatchObject({ signal: 'SIGKILL' });
    expect(acknowledged.length).toBeGreaterThanOrEqual(20);

    const second = await start();
    const { body } = await second.routes.query({ limit: 1_000 });
    const found = new Set(body.events.map((one: Record<string, unknown>) => one.control_execution_id));
    expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
    // So do counts of evaluations that were stored.
    const { counts } = (await second.call('GET', '/api/v1/observability/evaluations?time_range=1h')).body;
    expect(counts).toMatchObject({ evaluated: 3, denied: 2 });
  });
});
