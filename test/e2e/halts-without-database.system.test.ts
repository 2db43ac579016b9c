import { describe, expect, it } from 'vitest';
import { DATABASE_KINDS } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { openedInTest } from '../support/opened.js';
import { evaluate, seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';
import { kept, removableDatabase } from './last-known-good.support.js';

const AGENT = 'known-agent-1';
const services = openedInTest<ServiceProcess>((one) => one.dispose());

async function run(environment: Record<string, string>) {
  const service = await spawnService(compiled, { environment });
  services.push(service);
  return { service, call: restClient(await service.listening()) };
}

describe.each(DATABASE_KINDS)('a halt, after kill -9 and a start without the database, %s', (kind) => {
  it('denies by the last known good file, and can be lifted when the database is back', async () => {
    const database = await removableDatabase(kind);
    const first = await run(database.environment);
    await seeder(first.call).linked(AGENT, 'no-bad');
    const made = await first.call('POST', '/api/v1/halts', {
      scope: 'agent',
      agent_name: AGENT,
      reason: 'stop',
    });
    await kept(database.file, Number(made.headers.get('x-service-revision')));
    first.service.process.kill('SIGKILL');
    await first.service.ended;
    await database.takeAway();

    const { call } = await run(database.environment);
    const { id } = made.body.halt;
    expect((await evaluate(call, AGENT, 'good')).body).toMatchObject({
      is_safe: false,
      reason: `halt ${id} of agent "${AGENT}": stop`,
    });
    await database.bringBack();
    await until(
      () => call('POST', `/api/v1/halts/${id}/lift`, {}),
      ({ status }) => status === 200,
    );
    expect((await evaluate(call, AGENT, 'good')).body.is_safe).toBe(true);
    await database.drop();
  });
});
