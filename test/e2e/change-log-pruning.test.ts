import { expect, it } from 'vitest';
import { KEPT_REVISIONS, PRUNING_INTERVAL } from '../../src/storage/database/change-log.js';
import { describeAboveStores } from '../support/databases.js';
import { type RestReply, restClient } from '../support/http.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService } from '../support/service.js';
import { executeSql } from '../support/sql.js';
import { until } from '../support/until.js';
import { type Watcher, watchControls } from './watch-controls.support.js';

const AGENT = 'kept-agent';
const PRUNES = /^DELETE FROM "changes"/;
/** Changes that both processes make at the same time, so that either may commit the one that prunes. */
const CHANGES = 20;

describeAboveStores('the log of changes', (freshDatabaseUrl, kind) => {
  /** Fills the log with changes that concern no agent, up to a revision, in one transaction. */
  function fillLog(url: string, after: number, upTo: number): Promise<void> {
    const revisions =
      kind === 'postgresql'
        ? `SELECT "n" FROM generate_series(${after + 1}, ${upTo}) AS "s"("n")`
        : `WITH RECURSIVE "s"("n") AS (SELECT ${after + 1} UNION ALL SELECT "n" + 1 FROM "s" WHERE "n" < ${upTo})
           SELECT "n" FROM "s"`;
    return executeSql(
      url,
      `BEGIN;
       INSERT INTO "changes" ("revision", "agents", "controls", "policies")
         SELECT "n", '[]', '[]', '[]' FROM (${revisions}) AS "t";
       UPDATE "service_state" SET "revision" = ${upTo};
       COMMIT`,
    );
  }

  it('is pruned once, by one of the processes, and processes that missed what is gone reload everything', async () => {
    const url = await freshDatabaseUrl();
    const services = [await startService({ DATABASE_URL: url }), await startService({ DATABASE_URL: url })];
    const calls = services.map((service) => restClient(service.url));
    const [call] = calls;
    const watchers: Watcher[] = [];
    try {
      if (call === undefined) throw new Error('there is no service');
      const seed = seeder(call);
      await seed.agent(AGENT);
      const control = await seed.control('old-name');
      await seed.link(AGENT, control);
      const revisionOf = (reply: RestReply) => Number(reply.headers.get('x-service-revision'));
      const evaluate = (at: number, minRevision: number) =>
        calls[at]?.(
          'POST',
          '/api/v1/evaluation',
          { agent_name: AGENT, stage: 'pre', step: { type: 'llm', name: 'answer', input: 'other' } },
          { 'x-service-min-revision': String(minRevision) },
        );
      const renamed = await call('PATCH', `/api/v1/controls/${control}`, { name: 'new-name' });
      const missed = revisionOf(renamed);
      for (const at of [0, 1]) {
        expect(await evaluate(at, missed)).toMatchObject({ status: 200, body: { is_safe: true } });
      }

      const before = KEPT_REVISIONS + 2 * PRUNING_INTERVAL - CHANGES / 2;
      await fillLog(url, missed, before);
      const changes = Array.from({ length: CHANGES }, (_, index) =>
        calls[index % 2]?.('PUT', '/api/v1/controls', { name: `control-${index}`, data: denyWord('bad') }),
      );
      for (const reply of await Promise.all(changes)) expect(reply).toMatchObject({ status: 200 });
      const last = await call('PUT', `/api/v1/controls/${control}/data`, { data: denyWord('other') });
      expect(last).toMatchObject({ status: 200 });
      expect(revisionOf(last)).toBe(before + CHANGES + 1);

      const prunings = () => services.flatMap(({ queries }) => queries.filter((sql) => PRUNES.test(sql)));
      await until(prunings, (statements) => statements.length > 0);
      for (const at of [0, 1]) {
        expect(await evaluate(at, revisionOf(last))).toMatchObject({ status: 200, body: { is_safe: false } });
      }
      for (const service of services) {
        const transport = rpcTransport('gRPC', service.url);
        const resumed = watchControls(transport, AGENT, { fromRevision: missed });
        watchers.push(resumed);
        await resumed.reached(revisionOf(last));
        expect(resumed.kinds[0]).toBe('full');
        expect(resumed.names()).toEqual(['new-name']);
        // A process that missed nothing does not reload everything.
        const current = watchControls(transport, AGENT, { fromRevision: revisionOf(last) });
        watchers.push(current);
        await until(
          () => current.kinds,
          (kinds) => kinds.length > 0,
        );
        expect(current.kinds).toEqual(['current']);
      }
      expect(prunings()).toHaveLength(1);
    } finally {
      for (const watcher of watchers) watcher.stop();
      for (const service of services) await service.stop();
    }
  });
});
