import { expect, it, onTestFinished } from 'vitest';
import { FellBehindReason } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { createEventTail } from '../../src/observe/events/sql/event-tail.js';
import { openDatabase } from '../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { type RestReply, restClient } from '../support/http.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { evaluate, seeder } from '../support/seed.js';
import { startService } from '../support/service.js';
import { compiled, spawnService } from '../support/service-process.js';
import { testService } from '../support/service-suite.js';
import { executeSql } from '../support/sql.js';
import { until } from '../support/until.js';
import { watchEvents } from './event-streams.support.js';
import { event, eventRoutes } from './events.support.js';
import { type Watcher, watchControls } from './watch-controls.support.js';

const AGENT = 'restored-agent';

const revisionOf = (reply: RestReply) => Number(reply.headers.get('x-service-revision'));

describeOnEachDatabase('a database that is restored to an earlier state', (freshDatabaseUrl) => {
  /** What is in the backup, and what is told of the agent after it was made. */
  async function seeded(databaseUrl: string, url: string) {
    const call = restClient(url);
    const seed = seeder(call);
    await seed.agent(AGENT);
    const control = await seed.control('old-name');
    await seed.link(AGENT, control);
    const saved = revisionOf(await call('PUT', '/api/v1/policies', { name: 'last-in-the-backup' }));
    const lost = revisionOf(await call('PATCH', `/api/v1/controls/${control}`, { name: 'new-name' }));
    expect(lost).toBe(saved + 1);
    return {
      lost,
      restore: () =>
        executeSql(
          databaseUrl,
          `BEGIN;
           UPDATE "controls" SET "name" = 'old-name' WHERE "id" = ${control};
           DELETE FROM "changes" WHERE "revision" > ${saved};
           UPDATE "service_state" SET "revision" = ${saved};
           COMMIT`,
        ),
    };
  }

  /** Who goes on with a revision of before the restore is told everything. */
  async function expectAllAnew(url: string, lost: number): Promise<void> {
    const resumed = watchControls(rpcTransport('gRPC', url), AGENT, { fromRevision: lost });
    try {
      await resumed.reached(lost + 1);
      expect(resumed.kinds[0]).toBe('full');
      expect(resumed.names()).toEqual(['old-name']);
    } finally {
      resumed.stop();
    }
  }

  it('gets a revision above all that its processes reported, and they load everything anew', async () => {
    const databaseUrl = await freshDatabaseUrl();
    const services = [
      await startService({ DATABASE_URL: databaseUrl }),
      await startService({ DATABASE_URL: databaseUrl }),
    ];
    const watchers: Watcher[] = [];
    try {
      const { lost, restore } = await seeded(databaseUrl, services[0]?.url ?? '');
      for (const { url } of services) {
        const watcher = watchControls(rpcTransport('gRPC', url), AGENT);
        watchers.push(watcher);
        await watcher.reached(lost);
        expect(watcher.names()).toEqual(['new-name']);
        await evaluate(restClient(url), AGENT, 'bad');
      }
      await restore();
      for (const { url } of services) {
        const call = restClient(url);
        const reply = await until(
          () => evaluate(call, AGENT, 'bad'),
          (answer) => revisionOf(answer) > lost,
        );
        expect(reply.body.matches).toMatchObject([{ control_name: 'old-name' }]);
      }
      for (const watcher of watchers) {
        await until(watcher.names, ([name]) => name === 'old-name');
      }
      for (const { url } of services) await expectAllAnew(url, lost);
      const next = await restClient(services[1]?.url ?? '')('PUT', '/api/v1/policies', { name: 'next' });
      expect(next.status).toBe(200);
      expect(revisionOf(next)).toBeGreaterThan(lost + 1);
    } finally {
      for (const watcher of watchers) watcher.stop();
      for (const service of services) await service.stop();
    }
  });

  it('gets such a revision by a command when no process ran', async () => {
    const databaseUrl = await freshDatabaseUrl();
    const before = await startService({ DATABASE_URL: databaseUrl });
    const { lost, restore } = await seeded(databaseUrl, before.url);
    await before.stop();
    await restore();
    const environment = { DATABASE_URL: databaseUrl };
    const command = await spawnService(compiled, { environment, arguments: ['after-restore'] });
    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(command.stderr()).toBe('');
    const [, revision] = /^The revision is (\d+);/.exec(command.stdout()) ?? [];
    expect(Number(revision)).toBeGreaterThan(lost + 1_000_000);
    await command.dispose();
    const after = await testService({ DATABASE_URL: databaseUrl });
    const reply = await evaluate(restClient(after.url), AGENT, 'bad');
    expect(reply.body.matches).toMatchObject([{ control_name: 'old-name' }]);
    expect(revisionOf(reply)).toBe(Number(revision));
    await expectAllAnew(after.url, lost);
  });

  it('gets such positions of events by the command, so that streams go on with everything stored since', async () => {
    const databaseUrl = await freshDatabaseUrl();
    const before = await startService({ DATABASE_URL: databaseUrl });
    const { send } = eventRoutes(restClient(before.url));
    for (const id of ['kept', 'lost-1', 'lost-2']) await send(event({ control_execution_id: id }));
    const first = watchEvents(rpcTransport('gRPC', before.url), { afterPosition: 0n });
    await first.reached('lost-2');
    const known = first.position();
    await first.stop();
    await before.stop();
    const environment = { DATABASE_URL: databaseUrl };
    const run = async (word: string): Promise<string> => {
      const command = await spawnService(compiled, { environment, arguments: [word] });
      expect(await command.ended).toEqual({ code: 0, signal: null });
      await command.dispose();
      return command.stdout();
    };
    const restored = async (): Promise<[revision: number, position: bigint]> => {
      await executeSql(
        databaseUrl,
        `BEGIN;
         DELETE FROM "events" WHERE "position" > 1;
         DELETE FROM "event_rollups";
         UPDATE "event_log" SET "position" = 1, "events" = 1, "restored_from" = 0, "restored_to" = 0;
         UPDATE "service_state" SET "revision" = 0;
         DELETE FROM "changes";
         COMMIT`,
      );
      const [, revision] = /^The revision is (\d+);/.exec(await run('after-restore')) ?? [];
      const database = await openDatabase({ url: databaseUrl });
      const { head } = await createEventTail(database.bulk).state();
      await database.close();
      return [Number(revision), head];
    };
    const [revision, position] = await restored();
    // The same backup once more: what was given away in between may be known, too.
    const [nextRevision, nextPosition] = await restored();
    expect(nextRevision).toBeGreaterThan(revision);
    expect(nextPosition).toBeGreaterThan(position);
    await run('rebuild-statistics');
    const after = await testService({ DATABASE_URL: databaseUrl });
    const routes = eventRoutes(restClient(after.url));
    const ids = ['new-1', 'new-2', 'new-3', 'new-4'];
    for (const id of ids) await routes.send(event({ control_execution_id: id }));
    const again = watchEvents(rpcTransport('gRPC', after.url), { afterPosition: known });
    await again.reached('new-4');
    expect(again.ids()).toEqual(ids);
    expect(again.kinds()[0]).toBe(`fellBehind ${FellBehindReason.DATABASE_RESTORED}`);
    await again.stop();
    expect((await routes.query({})).body).toMatchObject({ total: 5 });
  });

  it('sends all controls to a watcher with a revision that was never reached', async () => {
    const service = await startService({ DATABASE_URL: await freshDatabaseUrl() });
    const seed = seeder(restClient(service.url));
    await seed.linked(AGENT, 'only');
    const watcher = watchControls(rpcTransport('gRPC', service.url), AGENT, { fromRevision: 1_000_000 });
    onTestFinished(() => service.stop());
    onTestFinished(() => watcher.stop());
    await until(
      () => watcher.kinds,
      (kinds) => kinds.length > 0,
    );
    expect(watcher.kinds).toEqual(['full']);
    expect(watcher.names()).toEqual(['only']);
    expect(watcher.revision()).toBeLessThan(1_000_000);
  });
});

it('the command after-restore reports why it failed', async () => {
  const environment = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' };
  const command = await spawnService(compiled, { environment, arguments: ['after-restore'] });
  expect((await command.ended).code).toBe(1);
  expect(command.stderr()).toMatch(/^Revision and positions cannot be advanced: /);
  await command.dispose();
});
