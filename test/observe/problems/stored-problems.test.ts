import { afterAll, beforeAll, expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { namespaceNamed } from '../../../src/contract/call/namespace.js';
import {
  inOrder,
  PROBLEM_KINDS,
  type Problem,
  type ProblemKind,
} from '../../../src/observe/problems/problem.js';
import { createProblemStore } from '../../../src/observe/problems/problem-store.js';
import { createStoredProblems } from '../../../src/observe/problems/stored-problems.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { serviceRegistry } from '../../support/evaluators.js';
import { metric, parseMetrics } from '../../support/prometheus.js';
import { denyWord } from '../../support/seed.js';
import { describeService } from '../../support/service-suite.js';
import { sqlText } from '../../support/sql.js';
import { until } from '../../support/until.js';
import { problemsOf, settled } from './problems.support.js';

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
const nowS = () => Math.floor(Date.now() / 1_000);

describeService('what the database tells', ({ call, seed, service }) => {
  let database: Database | undefined;
  let determine: (() => Promise<Problem[]>) | undefined;
  beforeAll(async () => {
    database = await openDatabase({ url: service.databaseUrl, migrate: false });
    determine = createStoredProblems({
      store: createProblemStore(database.bulk, 'all'),
      registry: serviceRegistry,
      emptyDenies: false,
      now: () => Date.now(),
      monotonic: () => performance.now(),
    });
  });
  afterAll(() => database?.close());
  const sql = (text: string) => database?.bulk.transaction((tx) => tx.run(Prisma.raw(text)));
  const problems = async () => inOrder((await determine?.()) ?? []);
  /** The worst problem of a kind, as any process would determine it now. */
  const found = async (kind: ProblemKind) => (await problems()).find((problem) => problem.kind === kind);

  /** Adds evaluations of an agent in the unit of time that began this many seconds ago. */
  const counts = (
    agent: string,
    unit: number,
    agoS: number,
    { evaluated = 0, denied = 0, byError = 0 }: { evaluated?: number; denied?: number; byError?: number },
  ) => {
    const at = nowS() - agoS;
    return sql(`
      INSERT INTO "evaluation_counts" ("agent_name", "unit_s", "start_s", "evaluated", "denied", "steered",
        "denied_by_error", "observed", "failed")
      VALUES (${sqlText(agent)}, ${unit}, ${at - (at % unit)}, ${evaluated}, ${denied}, 0, ${byError}, 0, ${byError})`);
  };
  const controlled = async (agent: string, control = 'shared-rule') => {
    await seed.agent(agent);
    const ids = (await call('GET', `/api/v1/controls?name=${control}`)).body.controls as { id: number }[];
    await seed.link(agent, ids[0]?.id ?? (await seed.control(control)));
  };

  it('is nothing at first', async () => {
    const { status, body } = await call('GET', '/api/v1/problems');
    expect({ status, body }).toEqual({
      status: 200,
      body: { working: true, problems: [], checked_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
  });

  it('names agents without an enabled control', async () => {
    await controlled('bare-agent-00');
    const names = Array.from(
      { length: 21 },
      (_, index) => `bare-agent-${String(index + 1).padStart(2, '0')}`,
    );
    await sql(`INSERT INTO "agents" ("name", "data", "created_at_ms")
      VALUES ${names.map((name) => `('${name}', '{}', 1)`).join()}`);
    const problem = await found('agents_without_controls');
    expect(problem).toMatchObject({
      severity: 'warning',
      title: '21 agents have no enabled control',
      detail: expect.stringContaining('steps is allowed'),
    });
    expect(problem?.subjects).toHaveLength(20);
    expect(problem?.subjects[0]).toEqual({
      type: 'agent',
      id: 'bare-agent-01',
      name: 'bare-agent-01',
    });
    await sql(`DELETE FROM "agents" WHERE "name" IN (${names.map((name) => `'${name}'`).join()})`);
    expect(await found('agents_without_controls')).toBeUndefined();
  });

  it('names controls whose evaluator the service lacks or only a client has, the worse ones apart', async () => {
    await controlled('gap-agent-01');
    await seed.agent('gap-agent-01', { evaluators: [{ name: 'tone' }] });
    const evaluator = (name: string) => ({ condition: { selector: {}, evaluator: { name, config: {} } } });
    const model = await seed.control('asks-model', denyWord('', evaluator('acme.model')));
    expect(await found('evaluator_not_configured')).toMatchObject({
      severity: 'warning',
      title: 'An evaluator of control "asks-model" is not configured',
      subjects: [{ id: String(model), detail: 'the service has no evaluator "acme.model"; no agent has it' }],
    });
    await seed.link('gap-agent-01', model);
    expect(await found('evaluator_not_configured')).toMatchObject({
      count: 1,
      subjects: [{ detail: expect.stringContaining('1 agent denied by it') }],
    });
    // The client of the agent could evaluate this one.
    const own = await call('PUT', '/api/v1/controls', {
      name: 'asks-client',
      data: denyWord('', evaluator('gap-agent-01:tone')),
    });
    expect(own.body.warnings).toEqual([
      {
        code: 'unconfigured_evaluator',
        field: 'data.condition.evaluator.name',
        message: expect.stringContaining('which only its client has'),
      },
    ]);
    const linked = await call('POST', `/api/v1/agents/gap-agent-01/controls/${own.body.control_id}`);
    expect(linked.body.warnings).toMatchObject([{ code: 'unconfigured_evaluator' }]);
    const two = await found('evaluator_not_configured');
    expect(two?.title).toBe('Evaluators of 2 controls are not configured');
    for (const [id, change] of [
      [model, { enabled: false }],
      [own.body.control_id, { enabled: false }],
    ] as const) {
      await call('PATCH', `/api/v1/controls/${id}`, change);
    }
    expect(await found('evaluator_not_configured')).toBeUndefined();
  });

  it('names controls that cannot be read', async () => {
    const id = await seed.control('damaged-rule');
    await sql(`UPDATE "controls" SET "data" = '{"condition":', "updated_at_ms" = 5 WHERE "id" = ${id}`);
    expect(await found('control_unreadable')).toMatchObject({
      severity: 'warning',
      title: 'The stored definition of control "damaged-rule" cannot be read',
      subjects: [{ type: 'control', id: String(id), detail: 'not JSON; no agent has it' }],
    });
    await call('DELETE', `/api/v1/controls/${id}`);
    expect(await found('control_unreadable')).toBeUndefined();
  });

  it('names controls that ended in an error in the last 15 minutes', async () => {
    const late = await seed.control('late-rule');
    const past = await seed.control('past-rule');
    await sql(`INSERT INTO "control_activity" ("control_id", "last_failed_s")
      VALUES (${late}, ${nowS() - 2 * MINUTE}), (${past}, ${nowS() - HOUR})`);
    const problem = await found('control_failing');
    expect(problem).toMatchObject({
      severity: 'warning',
      title: 'Control "late-rule" ends in errors',
      count: 1,
      subjects: [
        { id: String(late), detail: expect.stringMatching(/^last error at \d{4}-\d\d-\d\d \d\d:\d\d UTC$/) },
      ],
    });
    await sql('DELETE FROM "control_activity"');
  });

  it('names agents that are denied by error or fully, or much more often than before', async () => {
    for (const name of ['broken', 'failing', 'full', 'spiking', 'steady', 'rare'])
      await controlled(`${name}-agent-1`);
    await counts('broken-agent-1', MINUTE, 5 * MINUTE, { evaluated: 140, denied: 140, byError: 140 });
    await counts('broken-agent-1', MINUTE, 3 * MINUTE, { evaluated: 2, denied: 2, byError: 2 });
    await counts('failing-agent-1', MINUTE, MINUTE, { evaluated: 1_000, denied: 12, byError: 3 });
    await counts('full-agent-1', MINUTE, 10 * MINUTE, { evaluated: 20, denied: 20 });
    await counts('rare-agent-1', MINUTE, 10 * MINUTE, { evaluated: 19, denied: 19 });
    for (const [name, denied] of [
      ['spiking-agent-1', 30],
      ['steady-agent-1', 29],
    ] as const) {
      await counts(name, MINUTE, MINUTE, { evaluated: 100, denied });
      await counts(name, HOUR, 2 * HOUR, { evaluated: 900, denied: 90 });
      await counts(name, HOUR, 20 * HOUR, { evaluated: 100, denied: 10 });
      // Neither the last minutes nor the day before.
      await counts(name, MINUTE, 17 * MINUTE, { evaluated: 500, denied: 500 });
      await counts(name, HOUR, 27 * HOUR, { evaluated: 5_000, denied: 5_000 });
    }
    // An agent that was deleted is not told any more.
    await counts('gone-agent-1', MINUTE, MINUTE, { evaluated: 50, denied: 50 });
    expect(
      (await problems()).map(({ kind, severity, title, subjects }) => [
        severity,
        kind,
        title,
        subjects[0]?.detail,
      ]),
    ).toEqual([
      [
        'critical',
        'agent_denied_by_error',
        'Steps of agent "broken-agent-1" are denied by errors',
        '142 of 142 denied, all by error',
      ],
      [
        'warning',
        'agent_denied_by_error',
        'Steps of agent "failing-agent-1" are denied by errors',
        '12 of 1,000 denied, 3 by error',
      ],
      ['warning', 'agent_denied_fully', 'Every step of agent "full-agent-1" is denied', '20 of 20 denied'],
      [
        'warning',
        'denial_spike',
        'Steps of agent "spiking-agent-1" are denied much more often than before',
        '30 of 100 denied: 30.0 %, and 10.0 % in the 24 hours before',
      ],
    ]);
    await sql('DELETE FROM "evaluation_counts"');
    expect(await found('agent_denied_by_error')).toBeUndefined();
  });

  it('names agents that were evaluated regularly and are not any more', async () => {
    for (const [name, lastAgo, days] of [
      ['silent-agent-1', 2 * DAY, 3],
      ['seldom-agent-1', 2 * DAY, 2],
      ['forgotten-agent-1', 8 * DAY, 7],
      ['lively-agent-1', HOUR, 7],
    ] as const) {
      await controlled(name);
      await sql(
        `INSERT INTO "agent_activity" ("agent_name", "last_evaluated_s") VALUES ('${name}', ${nowS() - lastAgo})`,
      );
      for (let day = 0; day < days; day += 1) await counts(name, DAY, lastAgo + day * DAY, { evaluated: 5 });
    }
    expect(await found('agents_silent')).toMatchObject({
      severity: 'notice',
      title: 'Agent "silent-agent-1" has gone silent',
      subjects: [{ detail: 'last evaluated 2 days ago' }],
    });
    await sql('DELETE FROM "agent_activity"');
  });

  it('is told to the namespace of the agents and controls alone, by their plain names', async () => {
    const lately = nowS() - 60;
    await sql(`INSERT INTO "agents" ("name", "namespace", "data", "created_at_ms") VALUES
      ('team-a/hidden-agent-1', 'team-a', '{}', 1), ('team-a/hidden-agent-2', 'team-a', '{}', 1)`);
    await sql(`INSERT INTO "controls" ("name", "live_name", "namespace", "data", "enabled", "template_backed", "restricts_step_types", "restricts_stages", "created_at_ms", "updated_at_ms")
      VALUES ('hidden-rule', 'team-a/hidden-rule', 'team-a', '{"broken"', ${database?.kind === 'sqlite' ? '1, 0, 0, 0' : 'TRUE, FALSE, FALSE, FALSE'}, 1, 1)`);
    await counts('team-a/hidden-agent-1', MINUTE, MINUTE, { evaluated: 30, denied: 30 });
    await counts('team-a/hidden-agent-2', DAY, 3 * DAY, { evaluated: 1 });
    await counts('team-a/hidden-agent-2', DAY, 4 * DAY, { evaluated: 1 });
    await counts('team-a/hidden-agent-2', DAY, 5 * DAY, { evaluated: 1 });
    await sql(`INSERT INTO "agent_activity" ("agent_name", "last_evaluated_s")
      VALUES ('team-a/hidden-agent-2', ${nowS() - 3 * DAY})`);
    await sql(`INSERT INTO "control_activity" ("control_id", "last_failed_s")
      SELECT "id", ${lately} FROM "controls" WHERE "name" = 'hidden-rule'`);
    const of = async (name: string) => {
      if (database === undefined) throw new Error('there is no database');
      const told = createStoredProblems({
        store: createProblemStore(database.bulk, namespaceNamed(name)),
        registry: serviceRegistry,
        emptyDenies: false,
        now: () => Date.now(),
        monotonic: () => performance.now(),
      });
      const named = (await told()).map(
        ({ kind, subjects }) => [kind, subjects.map((one) => one.name)] as const,
      );
      return Object.fromEntries(named);
    };
    expect(await of('team-a')).toEqual({
      control_unreadable: ['hidden-rule'],
      agent_denied_fully: ['hidden-agent-1'],
      agents_without_controls: ['hidden-agent-1', 'hidden-agent-2'],
      agents_silent: ['hidden-agent-2'],
    });
    for (const name of ['team-b', 'default', 'team'])
      expect(JSON.stringify(await of(name)).includes('hidden')).toBe(false);
    expect(JSON.stringify(await problemsOf(call)).includes('hidden')).toBe(false);
    // Metrics count the installation.
    expect(JSON.stringify(await problems()).includes('hidden-rule')).toBe(true);
    if (database === undefined) throw new Error('there is no database');
    expect(await createProblemStore(database.bulk, namespaceNamed('team-a')).activity(nowS())).toEqual({
      quarterHour: 0,
      day: 0,
      week: 1,
      older: 0,
      never: 1,
    });
    for (const table of ['agent_activity', 'control_activity', 'evaluation_counts'])
      await sql(`DELETE FROM "${table}"`);
    for (const table of ['agents', 'controls'])
      await sql(`DELETE FROM "${table}" WHERE "namespace" = 'team-a'`);
  });

  it('counts agents by when they were last evaluated', async () => {
    if (database === undefined) throw new Error('there is no database');
    const store = createProblemStore(database.bulk, 'all');
    const before = await store.activity(nowS());
    const ages = [60, HOUR, 2 * DAY, 8 * DAY, null];
    for (const [index, age] of ages.entries()) {
      const name = `active-agent-${index}`;
      await controlled(name);
      if (age === null) continue;
      await sql(
        `INSERT INTO "agent_activity" ("agent_name", "last_evaluated_s") VALUES ('${name}', ${nowS() - age})`,
      );
    }
    const after = await store.activity(nowS());
    for (const figure of ['quarterHour', 'day', 'week', 'older', 'never'] as const)
      expect(after[figure] - before[figure]).toBe(1);
    await sql('DELETE FROM "agent_activity"');
    const samples = await until(
      async () => parseMetrics(String((await call('GET', '/metrics')).body)),
      (all) => metric(all, 'control_enforcement_server_agents', { last_evaluated: 'never' }) !== undefined,
    );
    for (const label of ['15m', '24h', '7d', 'older', 'never'])
      expect(
        metric(samples, 'control_enforcement_server_agents', { last_evaluated: label }),
      ).toBeGreaterThanOrEqual(0);
  });

  it('is in the metrics, zeros as well', async () => {
    await seed.agent('bare-agent-99');
    const problem = await settled(call, 'agents_without_controls', (one) => one !== undefined);
    const subject = { type: 'agent', id: 'bare-agent-99', name: 'bare-agent-99', detail: null };
    expect(problem).toMatchObject({
      title: 'Agent "bare-agent-99" has no enabled control',
      subjects: [subject],
    });
    expect((await problemsOf(call)).working).toBe(false);
    const samples = await until(
      async () => parseMetrics(String((await call('GET', '/metrics')).body)),
      (all) => metric(all, 'control_enforcement_server_problems', { kind: 'agents_without_controls' }) === 1,
    );
    for (const [kind, severities] of Object.entries(PROBLEM_KINDS)) {
      for (const severity of severities) {
        expect(metric(samples, 'control_enforcement_server_problems', { kind, severity })).toBe(
          kind === 'agents_without_controls' ? 1 : 0,
        );
      }
    }
  });
});
