import { expect, it, onTestFinished } from 'vitest';
import { addDropped, countSamples, insertSamples } from '../../../src/observe/samples/sample-store.js';
import { createSampleUpkeep } from '../../../src/observe/samples/sample-upkeep.js';
import type { SampleRow } from '../../../src/observe/samples/sampling-rule.js';
import { openDatabase } from '../../../src/storage/database/database.js';
import { describeAboveStores } from '../../support/databases.js';
import { keptFailures, type LoggedFailure } from '../../support/failures.js';
import { restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { testService } from '../../support/service-suite.js';
import { until } from '../../support/until.js';

const AGENT = 'sampled-bot-01';
const RULES = '/api/v1/sampling-rules';

describeAboveStores('samples of several processes on a database', (freshDatabaseUrl) => {
  it('follow the rules of each other, whose drops are counted together, and are removed once', async () => {
    const DATABASE_URL = await freshDatabaseUrl();
    const services = [await testService({ DATABASE_URL }), await testService({ DATABASE_URL })] as const;
    const [one, two] = [restClient(services[0].url), restClient(services[1].url)];
    await seeder(one).agent(AGENT);
    const evaluate = (call: typeof one, text: string, more: object = {}) =>
      call('POST', '/api/v1/evaluation', {
        agent_name: AGENT,
        stage: 'pre',
        step: { type: 'llm', name: 'answer', input: text },
        ...more,
      });
    const total = async () => (await one('GET', '/api/v1/samples')).body.pagination.total as number;
    const made = await one('POST', RULES, { share: 1, max_bytes: 200 });
    const id = made.body.rule.rule_id as number;
    // Of the second, from when it has learned of the rule.
    await until(
      async () => {
        await evaluate(two, 'short', { min_revision: Number(made.headers.get('x-service-revision')) });
        return total();
      },
      (count) => count > 0,
    );
    for (const call of [one, two, two]) await evaluate(call, 'long '.repeat(60));
    for (const call of [one, two]) {
      const { rules } = await until(
        async () => (await call('GET', RULES)).body,
        ({ rules }) => rules[0].dropped_samples === 3,
      );
      expect(rules).toMatchObject([{ rule_id: id }]);
    }

    const database = await openDatabase({ url: DATABASE_URL });
    const other = await openDatabase({ url: DATABASE_URL });
    onTestFinished(async () => {
      await database.close();
      await other.close();
    });
    const before = await countSamples(database);
    const nowMs = Date.now();
    const rowOf = (index: number): SampleRow => ({
      namespace: 'default',
      decisionId: `decision-${index}`,
      ruleId: id,
      agentName: AGENT,
      stage: 'pre',
      stepType: 'llm',
      stepName: 'answer',
      outcome: 'allow',
      takenAtMs: nowMs - 10_000,
      // The last five live longer than the test.
      expiresAtMs: index < 1_495 ? nowMs + 100_000 : nowMs + 3_600_000,
      maskedValues: 0,
      content: 'plain:{}',
    });
    for (const from of [0, 500, 1_000]) {
      await insertSamples(
        database,
        Array.from({ length: 500 }, (_, at) => rowOf(from + at)),
      );
    }
    const logged: LoggedFailure[] = [];
    const counted: number[] = [];
    const upkeeps = [database, other].map((each) =>
      createSampleUpkeep({
        database: each,
        rules: { isEmpty: false, readings: 1 },
        meter: { stored: () => {}, lost: () => {}, counted: (count) => void counted.push(count) },
        failures: keptFailures(logged),
        now: () => nowMs + 200_000,
        intervalMs: 20,
      }),
    );
    for (const upkeep of upkeeps) upkeep.start();
    await until(
      () => counted.length,
      (times) => times >= 4,
    );
    for (const upkeep of upkeeps) await upkeep.close();
    expect(logged).toEqual([]);
    expect(new Set(counted)).toEqual(new Set([before.count + 5]));
    expect((await countSamples(database)).count).toBe(before.count + 5);

    // Both delete the rule with its samples: one of them has done it.
    await addDropped(database, new Map([[id, 2]]));
    await insertSamples(
      database,
      Array.from({ length: 500 }, (_, at) => rowOf(at)),
    );
    const removed = await Promise.all(
      [one, two].map((call) => call('DELETE', `${RULES}/${id}?delete_samples=true`)),
    );
    expect(removed.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect(await total()).toBe(0);
    await until(
      async () => {
        const { body } = await evaluate(two, 'short');
        return (await two('GET', `/api/v1/samples/${body.decision_id}`)).status;
      },
      (status) => status === 404,
    );
    expect((await countSamples(database)).count).toBe(0);
  });
});
