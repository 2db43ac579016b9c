import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteConnection } from '../../src/storage/database/sqlite-connection.js';
import { restClient } from '../support/http.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';
import { event } from './events.support.js';

const AGENT = 'backed-up-agent';
/** `npm run drill` backs up under more load. */
const BACKUPS = 2;
const WRITERS = 3;

describe('a backup while the service runs', () => {
  let folder: string;
  const running: ServiceProcess[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'backup-'));
  });
  afterEach(async () => {
    for (const one of running.splice(0)) await one.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  async function spawn(file: string, ...words: string[]): Promise<ServiceProcess> {
    const environment = { DATABASE_URL: `file:${file}` };
    const one = await spawnService(compiled, { environment, arguments: words });
    running.push(one);
    return one;
  }

  function namesIn(file: string): Set<string> {
    const connection = openSqliteConnection(file, 'reader');
    try {
      const { rows } = connection.execute(
        'SELECT "control_execution_id" FROM "all_events" UNION ALL SELECT "name" FROM "controls"',
      );
      return new Set(rows.map(([name]) => String(name)));
    } finally {
      connection.close();
    }
  }

  it('has everything that was acknowledged before it, and can be restored', async () => {
    const file = path.join(folder, 'service.db');
    const service = await spawn(file);
    const call = restClient(await service.listening());
    const seed = seeder(call);
    await seed.linked(AGENT, 'denies');
    const acknowledged: string[] = [];
    let isOver = false;
    let last = 0;
    const write = async (kind: 'event' | 'control'): Promise<void> => {
      while (!isOver) {
        last += 1;
        const name = `${kind}-${last}`;
        const reply =
          kind === 'event'
            ? await call('POST', '/api/v1/observability/events', {
                events: [event({ control_execution_id: name })],
              })
            : await call('PUT', '/api/v1/controls', { name, data: denyWord('bad') });
        if (reply.status === 200 || reply.body.enqueued === 1) acknowledged.push(name);
      }
    };
    const writing = Promise.all(
      Array.from({ length: WRITERS }, (_, index) => write(index % 3 === 0 ? 'control' : 'event')),
    );
    const copies: string[] = [];
    for (let count = 0; count < BACKUPS; count += 1) {
      const { length } = acknowledged;
      await until(
        () => acknowledged.length,
        (now) => now > length + 20,
      );
      const before = [...acknowledged];
      const copy = path.join(folder, `copy-${count}.db`);
      const command = await spawn(file, 'backup', copy);
      expect({ ...(await command.ended), stderr: command.stderr() }).toEqual({
        code: 0,
        signal: null,
        stderr: '',
      });
      expect(command.stdout()).toMatch(
        /^Backed up revision \d+ \(1 agents, \d+ controls, \d+ events\) to .*: \d+ bytes, checked\.\n$/,
      );
      const stored = namesIn(copy);
      expect(before.filter((name) => !stored.has(name))).toEqual([]);
      copies.push(copy);
    }
    isOver = true;
    await writing;
    const { body: health } = await call('GET', '/health');
    service.process.kill('SIGTERM');
    await service.ended;

    const restored = copies[0] ?? '';
    const advance = await spawn(restored, 'after-restore');
    expect(await advance.ended).toMatchObject({ code: 0 });
    const again = await spawn(restored);
    const callAgain = restClient(await again.listening());
    expect((await callAgain('GET', '/health')).body).toMatchObject({
      instance_id: health.instance_id,
      storage: 'OK',
    });
    expect((await evaluate(callAgain, AGENT, 'bad')).body.is_safe).toBe(false);
    const check = await spawn(restored, 'rebuild-statistics');
    expect(await check.ended).toMatchObject({ code: 0 });
    expect(check.stdout()).toMatch(/corrected 0 sums/);
  });
});
