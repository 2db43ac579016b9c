import { expect, it } from 'vitest';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { describeOnSqlite } from '../../support/databases.js';
import { restClient } from '../../support/http.js';
import { PROTOCOLS } from '../../support/protocol-clients.js';
import { seeder } from '../../support/seed.js';
import { testService } from '../../support/service-suite.js';
import { executeSql } from '../../support/sql.js';
import { until } from '../../support/until.js';

const AGENT = 'covered-agent-01';
const step = (name: string) => ({ type: 'tool', name, input: {} });
const seen = (point: string, stage: string, evaluated: number) => ({
  point,
  stage,
  evaluated,
  step_count: 1,
});

describeOnSqlite('a service that evaluates', (freshDatabaseUrl) => {
  it('tells which steps of which agents were evaluated where, also after a restart', async () => {
    const databaseUrl = await freshDatabaseUrl();
    const settings = {
      DATABASE_URL: databaseUrl,
      SERVICE_ADAPTERS: 'authzen',
      SERVICE_METRICS_PREFIX: 'test',
    };
    const service = await testService(settings);
    const call = restClient(service.url);
    const seed = seeder(call);
    const steps = ['read', 'send', 'idle'].map((name) => ({ type: 'tool', name }));
    await seed.agent(AGENT, { steps });
    await seed.agent('silent-agent-01');
    const evaluated = { agent_name: AGENT, stage: 'pre', step: step('send') };
    const batch = [evaluated, { ...evaluated, options: { timeout_ms: 5_000 } }];
    await call('POST', '/api/v1/evaluation/batch', { evaluations: batch });
    await call('POST', '/api/v1/evaluation', {
      ...evaluated,
      stage: 'post',
      step: { ...step('send'), output: 1 },
    });
    const halt = { scope: 'step_name', step_name: 'read', reason: 'to test' };
    await call('POST', '/api/v1/halts', halt);
    const grpc = PROTOCOLS['gRPC (grpc-js)'](service.url);
    await grpc.call(EvaluationService.method.evaluate, { ...evaluated, step: step('read') });
    await grpc.close();
    const { body } = await call('POST', '/access/v1/evaluation', {
      subject: { type: 'agent', id: AGENT },
      action: { name: 'unknown' },
      resource: { type: 'tool', id: 'unknown' },
      context: { agent: AGENT },
    });
    expect(body).toHaveProperty('decision');
    const points = [
      { ...seen('authzen', 'pre', 1) },
      { ...seen('grpc', 'pre', 1) },
      { ...seen('rest', 'pre', 2) },
      { ...seen('rest', 'post', 1) },
    ];
    const coverage = async (url: string) => (await restClient(url)('GET', `/api/v1/coverage/${AGENT}`)).body;
    const told = await until(
      () => coverage(service.url),
      (reply) => reply.coverage.evaluated === 5,
    );
    expect(told.coverage).toMatchObject({
      points,
      registered_steps: 3,
      unchecked_step_count: 2,
      unchecked_steps: [
        { type: 'tool', name: 'read', stages: ['post'] },
        { type: 'tool', name: 'idle', stages: ['pre', 'post'] },
      ],
      unnamed_evaluations: 0,
    });
    expect(told.steps.map((one: Record<string, unknown>) => [one.step_name, one.registered])).toContainEqual([
      'read',
      true,
    ]);
    const list = (await call('GET', '/api/v1/coverage?state=never_seen')).body;
    expect(list.agents.map((one: Record<string, unknown>) => one.agent_name)).toEqual(['silent-agent-01']);
    expect(list.summary).toEqual({ agents: 2, never_seen: 1, overdue: 0 });
    const metrics = await until(
      async () => (await fetch(`${service.url}/metrics`)).text(),
      (text) => /_registered_steps_unchecked\{.*stage="post".*\} 2/.test(text),
    );
    expect(metrics).toMatch(/_registered_steps_unchecked\{.*stage="pre".*\} 1/);
    expect(metrics).toMatch(/_point_last_seen_timestamp_seconds\{.*point="grpc".*\} 1\d{9}/);
    expect(metrics).toMatch(/_coverage_lost_total\{.*\} 0/);
    // What was counted and not written yet is written when the service stops.
    await call('POST', '/api/v1/evaluation', evaluated);
    await service.stop();
    const restarted = await testService(settings);
    expect((await coverage(restarted.url)).coverage).toMatchObject({ evaluated: 6, points: { length: 4 } });
    // A gateway that is silent since before the restart is still found by its time.
    await until(
      async () => (await fetch(`${restarted.url}/metrics`)).text(),
      (text) => /_point_last_seen_timestamp_seconds\{.*point="grpc".*\} 1\d{9}/.test(text),
    );
  });

  it('tells of overdue agents among its problems and in its list', async () => {
    const service = await testService({ DATABASE_URL: await freshDatabaseUrl() });
    const call = restClient(service.url);
    await seeder(call).agent('overdue-agent-01');
    const expectations = [{ point: 'coding-hooks', interval_seconds: 900 }];
    const path = '/api/v1/coverage/overdue-agent-01/expectations';
    expect((await call('PUT', path, { expectations })).status).toBe(200);
    await executeSql(service.databaseUrl, 'UPDATE "agent_expectations" SET "overdue_s" = 1800000000');
    const { body } = await call('GET', '/api/v1/coverage?state=overdue');
    const expectation = {
      point: 'coding-hooks',
      interval_seconds: 900,
      overdue_since: '2027-01-15T08:00:00Z',
    };
    expect(body.agents).toMatchObject([{ agent_name: 'overdue-agent-01', expectations: [expectation] }]);
    const problems = (await call('GET', '/api/v1/problems')).body.problems;
    expect(problems).toContainEqual(
      expect.objectContaining({
        kind: 'agents_overdue',
        severity: 'warning',
        title: 'Agent "overdue-agent-01" is not heard as expected',
      }),
    );
    // The same again changes nothing, and another interval begins anew.
    expect((await call('PUT', path, { expectations })).body.expectations).toEqual([expectation]);
    const longer = [{ point: 'coding-hooks', interval_seconds: 1_800 }];
    expect((await call('PUT', path, { expectations: longer })).body.expectations).toMatchObject([
      { overdue_since: null },
    ]);
    const audit = (await call('GET', '/api/v1/audit?action=agent.expect')).body;
    expect(audit.entries).toHaveLength(2);
    expect((await call('PUT', path, { expectations: [] })).body.expectations).toEqual([]);
  });
});
