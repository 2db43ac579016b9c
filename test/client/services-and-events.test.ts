import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { Decision, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { AppliesTo } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { type Client, createClient, type NewEvent } from '../../packages/client/src/node.js';
import { createClient as createWebClient } from '../../packages/client/src/web.js';
import { restClient } from '../support/http.js';
import { openedInTest } from '../support/opened.js';
import { denyWord, seeder } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { PATIENT_MS } from './client-harness.js';

const clients = openedInTest<Client>((one) => one.close());
const service = suiteService();

const PROTOCOLS = {
  gRPC: (baseUrl: string) => createClient({ baseUrl, timeoutMs: PATIENT_MS }),
  'gRPC-Web with fetch': (baseUrl: string) => createWebClient({ baseUrl, timeoutMs: PATIENT_MS }),
};
type Protocol = keyof typeof PROTOCOLS;
function connect(protocol: Protocol = 'gRPC', baseUrl = service.url): Client {
  const client = PROTOCOLS[protocol](baseUrl);
  clients.push(client);
  return client;
}

describe.each(Object.keys(PROTOCOLS) as Protocol[])('a client over %s', (protocol) => {
  const agentName = `agent-of-${protocol.toLowerCase().replaceAll(' ', '-')}`;

  it('calls the other services, typed, and rejects with their errors', async () => {
    const client = connect(protocol);
    await client.agents.initAgent({ agent: { agentName } });
    const { agents } = await client.agents.listAgents({ name: agentName });
    expect(agents.map((one) => one.agentName)).toEqual([agentName]);
    const failures = [
      client.controls.getControl({ controlId: 2 ** 31 - 1 }),
      client.policies.addPolicyControl({ policyId: 1, controlId: 1 }),
      client.agents.getAgent({ agentName: 'an-unknown-agent' }),
    ];
    for (const failure of failures) {
      const error = await failure.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ConnectError);
      expect(error).toMatchObject({ code: Code.NotFound });
    }
    // With the advice that a JSON route has in `hint`.
    const { body } = await restClient(service.url)('GET', `/api/v1/controls/${2 ** 31 - 1}`);
    const missing = await failures[0]?.catch((reason: unknown) => ConnectError.from(reason));
    expect(missing).toMatchObject({ rawMessage: `${body.detail} Hint: ${body.hint}` });
    const unknown = await client
      .evaluate({ agent: 'an-unknown-agent', stage: 'pre', step: { name: 'x', input: {} } })
      .catch((reason: unknown) => ConnectError.from(reason).rawMessage);
    expect(unknown).toMatch(/ Hint: \S/);
    expect((await client.evaluators.listEvaluators({})).evaluators).not.toEqual([]);
    expect((await client.server.getServerInfo({})).version).toMatch(/^\d/);
  });

  it('knows what the service can do', async () => {
    const { version, features, maxMessageBytes } = await connect(protocol).serverInfo();
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(features.has('outcome')).toBe(true);
    expect(maxMessageBytes).toBeGreaterThan(1_000_000);
  });

  it('watches the controls of an agent, through broken connections', async () => {
    const proxy = await startTcpProxy(service.url);
    const seed = seeder(restClient(service.url));
    await seed.agent(agentName);
    const watching = connect(protocol, proxy.url).watchControls(agentName);
    const next = async () => {
      for (;;) {
        const { value, done } = await watching.next();
        if (done) throw new Error('the watch ended');
        if (value.changed) return [...value.controls.values()].map(({ name }) => name);
      }
    };
    expect(await next()).toEqual([]);
    const ids: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const id = await seed.control(`${agentName}-${round}`, denyWord('bad', { execution: 'sdk' }));
      await seed.link(agentName, id);
      ids.unshift(id);
      expect(await next()).toEqual(ids.map((_, index) => `${agentName}-${round - index}`));
      proxy.cut();
    }
    await restClient(service.url)('DELETE', `/api/v1/agents/${agentName}/controls/${ids[0]}`);
    expect(await next()).toHaveLength(3);
    await watching.return();
    await proxy.close();
  });

  it('ends a watch when it is aborted or the client is closed, and rejects it for an unknown agent', async () => {
    const client = connect(protocol);
    await client.agents.initAgent({ agent: { agentName } });
    const leaving = new AbortController();
    const watching = client.watchControls(agentName, { signal: leaving.signal });
    expect(await watching.next()).toMatchObject({ done: false, value: { changed: true } });
    const waiting = watching.next();
    leaving.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
    await expect(client.watchControls('an-unknown-agent').next()).rejects.toMatchObject({
      code: Code.NotFound,
    });
    const another = client.watchControls(agentName);
    await another.next();
    const open = another.next();
    client.close();
    expect(await open).toEqual({ done: true, value: undefined });
  });
});

describe('a watch', () => {
  it.each([
    [{ maxMessageBytes: 65_535 }, 'maxMessageBytes must be a whole number from 65536 to 2147483647'],
    [{ silenceMs: 0 }, 'silenceMs must be from 1 to 2147483647'],
  ])('refuses the options %j', async (options, message) => {
    await expect(connect().watchControls('some-agent-1', options).next()).rejects.toThrow(message);
  });

  it('needs an agent', () => {
    expect(() => connect().watchControls()).toThrow(
      'agent is missing: give it to watchControls or to the client',
    );
  });
});

describe('published events', () => {
  const agentName = 'publishing-agent';
  const event = (more: Partial<NewEvent> = {}) =>
    ({
      traceId: 'a-trace',
      spanId: 'a-span',
      agentName,
      controlId: 7,
      controlName: 'a control',
      checkStage: Stage.PRE,
      appliesTo: AppliesTo.TOOL_CALL,
      action: Decision.OBSERVE,
      matched: true,
      confidence: 1,
      ...more,
    }) as NewEvent;
  const stored = async (traceId: string) =>
    (await connect().observability.queryEvents({ traceId, limit: 1_000 })).events.map(
      ({ controlId }) => controlId,
    );

  it('are stored once each, in batches, through an outage', async () => {
    const proxy = await startTcpProxy(service.url);
    const publisher = connect('gRPC', proxy.url).publishEvents({ maxBatch: 10, intervalMs: 1 });
    await proxy.set('refuse');
    const ids = Array.from({ length: 95 }, (_, index) => index + 1);
    for (const controlId of ids) expect(publisher.add(event({ traceId: 'outage', controlId }))).toBe(true);
    expect(publisher.waiting).toBe(95);
    await proxy.set('clear');
    const flushed = publisher.flush();
    await until(
      () => publisher.waiting,
      (waiting) => waiting < 50,
    );
    // Replies of stored batches are lost.
    proxy.cut();
    await flushed;
    expect(publisher.waiting).toBe(0);
    expect((await stored('outage')).sort((one, other) => (one ?? 0) - (other ?? 0))).toEqual(ids);
    await proxy.close();
  });

  it('that the service refuses are told with the reason, and the others are stored', async () => {
    const refused: [number | undefined, Code][] = [];
    const publisher = connect().publishEvents({
      onRefused: ({ controlId }, { code }) => {
        refused.push([controlId, code]);
        throw new Error('what the caller does with it does not matter');
      },
    });
    for (let controlId = 1; controlId <= 20; controlId += 1) {
      publisher.add(event({ traceId: 'refused', controlId, confidence: controlId % 7 === 0 ? 9 : 1 }));
    }
    await publisher.close();
    expect(refused).toEqual([
      [7, Code.InvalidArgument],
      [14, Code.InvalidArgument],
    ]);
    expect(await stored('refused')).toHaveLength(18);
    expect(publisher.add(event())).toBe(false);
  });

  it('are not accepted while too many wait, and wait no longer when the client is closed', async () => {
    const client = connect('gRPC', 'http://127.0.0.1:1');
    const publisher = client.publishEvents({ maxWaiting: 3 });
    expect([1, 2, 3, 4].map((controlId) => publisher.add(event({ controlId })))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const flushed = publisher.flush();
    client.close();
    await expect(flushed).rejects.toThrow('the client is closed');
    expect(publisher.add(event())).toBe(false);
  });

  it('refuse settings out of range', () => {
    expect(() => connect().publishEvents({ maxBatch: 1_001 })).toThrow(
      'maxBatch must be a whole number from 1 to 1000',
    );
    expect(() => connect().publishEvents({ maxWaiting: 0 })).toThrow(
      'maxWaiting must be a whole number from 1',
    );
  });
});
