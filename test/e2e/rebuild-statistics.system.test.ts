import { expect, it } from 'vitest';
import { describeOnEachDatabase } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { testService } from '../support/service-suite.js';
import { executeSql } from '../support/sql.js';
import { serviceCommands } from './commands.support.js';
import { event, eventRoutes } from './events.support.js';

const run = serviceCommands();

describeOnEachDatabase('the built service', (freshDatabaseUrl) => {
  it('rebuilds wrong statistics beside itself', async () => {
    const environment = { DATABASE_URL: await freshDatabaseUrl() };
    const routes = eventRoutes(restClient((await testService(environment)).url));
    const agent_name = 'rebuilt-bot-1';
    await routes.send(event({ agent_name }), event({ agent_name, action: 'steer' }));
    await executeSql(environment.DATABASE_URL, 'UPDATE "event_rollups" SET "denies" = 7, "executions" = 9');
    const counted = async () => (await routes.stats({ agent_name })).body.totals;
    expect(await counted()).toMatchObject({ execution_count: 9, action_counts: { deny: 7, steer: 1 } });

    const rebuild = await run(environment, 'rebuild-statistics');
    expect(await rebuild.ended).toEqual({ code: 0, signal: null });
    expect([rebuild.stdout(), rebuild.stderr()]).toEqual([
      expect.stringMatching(/^Compared [12] hours with the stored events; corrected \d+ sums\.\n$/),
      '',
    ]);
    expect(await counted()).toMatchObject({ execution_count: 2, action_counts: { deny: 1, steer: 1 } });
    const again = await run(environment, 'rebuild-statistics');
    expect([(await again.ended).code, again.stdout()]).toEqual([
      0,
      expect.stringContaining('corrected 0 sums'),
    ]);
  });
});

it('the command rebuild-statistics reports why it cannot', async () => {
  const failed = await run({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }, 'rebuild-statistics');
  expect((await failed.ended).code).toBe(1);
  expect(failed.stderr()).toMatch(/^The statistics cannot be rebuilt: /);
});
