import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { DEFAULT_NAMESPACE } from '../../src/contract/call/namespace.js';
import { createAgentUseStore } from '../../src/decide/agent-state/agent-use-store.js';
import { openDatabase } from '../../src/storage/database/database.js';
import { DATABASE_KINDS } from '../support/databases.js';
import { type RestClient, type RestReply, restClient } from '../support/http.js';
import { openedInTest } from '../support/opened.js';
import { problem } from '../support/refusals.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { describeService, suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';
import { askEverywhere, kept, removableDatabase } from './last-known-good.support.js';
import { watchControls } from './watch-controls.support.js';

const AGENTS = '/api/v1/agents';
const revisionOf = (reply: RestReply) => Number(reply.headers.get('x-service-revision'));

describeService('a deleted agent', ({ call, seed, service }) => {
  const other = suiteService(() => ({ DATABASE_URL: service.databaseUrl }));
  const { call: otherCall } = other;

  /** An agent with a control of its own and one by a policy. */
  const newAgent = async (name: string): Promise<{ control: number; policy: number }> => {
    await seed.agent(name);
    const control = await seed.control(`${name}-linked`, denyWord('bad'));
    const byPolicy = await seed.control(`${name}-by-policy`, denyWord('worse'));
    await seed.link(name, control);
    const policy = (await call('PUT', '/api/v1/policies', { name: `${name}-policy` })).body
      .policy_id as number;
    await call('POST', `/api/v1/policies/${policy}/controls/${byPolicy}`);
    await call('POST', `${AGENTS}/${name}/policies/${policy}`);
    return { control, policy };
  };

  it('is not found by evaluations, at once here and at its revision in other processes', async () => {
    const name = 'deleted-agent-01';
    await newAgent(name);
    for (const by of [call, otherCall]) {
      await until(
        () => evaluate(by, name, 'bad'),
        ({ body }) => body.is_safe === false,
      );
    }
    const deleted = await call('DELETE', `${AGENTS}/${name}`);
    expect([deleted.status, deleted.body]).toEqual([
      200,
      { success: true, removed_controls_count: 1, removed_policies_count: 1 },
    ]);
    expect((await evaluate(call, name, 'bad')).body.error_code).toBe('AGENT_NOT_FOUND');
    const step = { type: 'llm', name: 'answer', input: 'bad' };
    const body = { agent_name: name, stage: 'pre', step };
    const headers = { 'x-service-min-revision': String(revisionOf(deleted)) };
    const elsewhere = await otherCall('POST', '/api/v1/evaluation', body, headers);
    expect(elsewhere).toMatchObject(problem(404, 'AGENT_NOT_FOUND'));
    for (const [protocol, said] of await askEverywhere(other.url, name, 'bad')) {
      expect({ protocol, isSafe: said.isSafe }).toEqual({ protocol, isSafe: null });
    }
  });

  it('ends the streams of its controls in every process, over every protocol', async () => {
    const name = 'deleted-agent-02';
    await newAgent(name);
    const watchers = [service.url, other.url].flatMap((url) =>
      RPC_PROTOCOLS.map((protocol) => watchControls(rpcTransport(protocol, url), name)),
    );
    for (const watcher of watchers) await until(watcher.names, (names) => names.length === 2);
    await call('DELETE', `${AGENTS}/${name}`);
    for (const watcher of watchers) {
      const end = await watcher.ended;
      expect(end).toBeInstanceOf(ConnectError);
      expect((end as ConnectError).code).toBe(Code.NotFound);
    }
  });

  it('can be registered again, without controls and with a version of 1', async () => {
    const name = 'deleted-agent-03';
    const { control } = await newAgent(name);
    const watcher = watchControls(rpcTransport('gRPC', other.url), name);
    await until(watcher.names, (names) => names.length === 2);
    await call('DELETE', `${AGENTS}/${name}`);
    expect((await watcher.ended) as ConnectError).toMatchObject({ code: Code.NotFound });
    const again = await call('POST', `${AGENTS}/initAgent`, { agent: { agent_name: name } });
    expect([again.body.created, again.headers.get('etag')]).toEqual([true, '"1"']);
    // A stream that goes on from before the deletion receives everything.
    const resumed = watchControls(rpcTransport('gRPC', other.url), name, { after: watcher });
    await until(
      () => resumed.kinds,
      (kinds) => kinds.length > 0,
    );
    expect([resumed.kinds[0], resumed.names()]).toEqual(['full', []]);
    await seed.link(name, control);
    await until(resumed.names, (names) => names.length === 1);
    resumed.stop();
    await until(
      () => evaluate(otherCall, name, 'bad'),
      ({ body }) => body.is_safe === false,
    );
    expect((await evaluate(call, name, 'worse')).body.is_safe).toBe(true);
  });

  it('keeps its events, and the controls and policies that it had', async () => {
    const name = 'deleted-agent-04';
    const { control, policy } = await newAgent(name);
    const event = {
      trace_id: 'trace-of-a-deleted-agent',
      span_id: 'span',
      agent_name: name,
      control_id: control,
      control_name: 'one',
      check_stage: 'pre',
      applies_to: 'llm_call',
      action: 'deny',
      matched: true,
      confidence: 1,
    };
    await call('POST', '/api/v1/observability/events', { events: [event] });
    await call('DELETE', `${AGENTS}/${name}`);
    const found = await call('POST', '/api/v1/observability/events/query', { agent_name: name });
    expect(found.body.events).toMatchObject([{ agent_name: name, control_id: control }]);
    expect((await call('GET', `/api/v1/controls/${control}`)).status).toBe(200);
    expect((await call('GET', `/api/v1/policies/${policy}`)).body.policy).toMatchObject({ agent_count: 0 });
    expect((await call('GET', `/api/v1/controls/${control}/agents`)).body.agents).toEqual([]);
    const listed = await call('GET', `${AGENTS}?name=${name}`);
    expect(listed.body.agents).toEqual([]);
  });

  it('is not loaded first by the next start', async () => {
    const name = 'deleted-agent-05';
    await newAgent(name);
    await seed.agent('remaining-agent-05');
    const database = await openDatabase({ url: service.databaseUrl });
    const uses = createAgentUseStore(database.bulk);
    await uses.record(
      [name, 'remaining-agent-05'].map((one) => DEFAULT_NAMESPACE.agentKey(one)),
      Date.now(),
    );
    expect(await uses.lastUsed(100)).toContain(name);
    await call('DELETE', `${AGENTS}/${name}`);
    expect(await uses.lastUsed(100)).not.toContain(name);
    // A process that used it last may record that later.
    await uses.record([DEFAULT_NAMESPACE.agentKey(name)], Date.now());
    expect(await uses.lastUsed(100)).toEqual(['remaining-agent-05']);
    await database.close();
  });

  it('is noted again when its client requests controls after another registration', async () => {
    const name = 'deleted-agent-06';
    const { control } = await newAgent(name);
    await call('PUT', `/api/v1/controls/${control}/data`, { data: denyWord('bad', { execution: 'sdk' }) });
    const path = `${AGENTS}/${name}/controls/${control}`;
    const requested = () => call('GET', `${AGENTS}/${name}/controls?enabled_state=enabled`);
    const warned = async () => ((await call('POST', path)).body.warnings ?? []).length > 0;
    await requested();
    await until(warned, (isWarned) => !isWarned);
    await call('DELETE', `${AGENTS}/${name}`);
    await seed.agent(name);
    expect(await warned()).toBe(true);
    await requested();
    await until(warned, (isWarned) => !isWarned);
  });

  it('is one of many that are deleted and registered at the same time', async () => {
    const name = 'deleted-agent-07';
    const { control } = await newAgent(name);
    const replies = await Promise.all(
      Array.from({ length: 24 }, (_, index) => {
        const by = index % 2 === 0 ? call : otherCall;
        if (index % 3 === 0) return by('DELETE', `${AGENTS}/${name}`);
        if (index % 3 === 1) return by('POST', `${AGENTS}/${name}/controls/${control}`);
        return by('POST', `${AGENTS}/initAgent`, { agent: { agent_name: name } });
      }),
    );
    for (const { status } of replies) expect([200, 404]).toContain(status);
    await seed.agent(name);
    const { body } = await call('GET', `${AGENTS}/${name}/controls`);
    const ids = (body.controls as { id: number }[]).map(({ id }) => id);
    // Both processes decide by what is stored in the end.
    const expected = !ids.includes(control);
    for (const by of [call, otherCall]) {
      await until(
        () => evaluate(by, name, 'bad'),
        (reply) => reply.status === 200 && reply.body.is_safe === expected,
      );
    }
  });
});

describe.each(DATABASE_KINDS)('without the database, on %s', (kind) => {
  const running = openedInTest<TestService>((one) => one.stop());
  const run = async (environment: Record<string, string>) => {
    const service = await startService(environment);
    running.push(service);
    return { service, call: restClient(service.url) };
  };

  it('a deleted agent is not evaluated, neither by the process that deleted it nor by one that starts', async () => {
    const database = await removableDatabase(kind);
    try {
      const { call } = await run(database.environment);
      const seed = seeder(call);
      for (const name of ['deleted-agent-11', 'remaining-agent-11']) {
        await seed.linked(name, `${name}-control`);
        expect((await evaluate(call, name, 'bad')).body.is_safe).toBe(false);
      }
      const deleted = await call('DELETE', `${AGENTS}/deleted-agent-11`);
      await kept(database.file, revisionOf(deleted));
      await database.takeAway();
      const refused = (by: RestClient) =>
        until(
          () => evaluate(by, 'deleted-agent-11', 'bad'),
          ({ status }) => status === 503 || status === 404,
        );
      await refused(call);
      const { call: started } = await run(database.environment);
      expect((await evaluate(started, 'remaining-agent-11', 'bad')).body.is_safe).toBe(false);
      await refused(started);
      await database.bringBack();
    } finally {
      for (const one of running.splice(0)) await one.stop();
      await database.drop();
    }
  });
});
