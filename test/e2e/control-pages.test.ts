import { toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type AgentControl,
  AgentService,
  ListAgentControlsResponseSchema,
} from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { exchange } from '../support/http.js';
import { methodNamed, PROTOCOLS } from '../support/protocol-clients.js';
import { problem } from '../support/refusals.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { denyWord } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';

const AGENT = 'paging-agent-01';
const LARGE = 'paging-agent-02';
const SIZES = [4_096, 10_000, 100_000];

/** A control with a list of many short values: in protobuf, those take more bytes than in JSON. */
const listing = (values: readonly unknown[]) =>
  denyWord('x', {
    condition: { selector: { path: 'input' }, evaluator: { name: 'list', config: { values } } },
  });

describeService('pages of the controls of an agent', ({ call, seed, service }) => {
  let all: number[];
  beforeAll(async () => {
    await seed.agent(AGENT);
    for (let index = 0; index < 12; index += 1) {
      const values = Array.from({ length: index * 20 }, (_, item) => (index % 2 === 0 ? item : `é${item}"`));
      const data = index === 5 ? denyWord('x', { enabled: false }) : listing([...values, 'last']);
      await seed.link(AGENT, await seed.control(`paged-${index}`, data));
    }
    const { body } = await call('GET', `/api/v1/agents/${AGENT}/controls`);
    all = (body.controls as { id: number }[]).map(({ id }) => id);
    await seed.agent(LARGE);
    // Together more than the 4 MiB that clients of gRPC accept by default.
    for (let index = 0; index < 4; index += 1) {
      const values = Array.from({ length: 20_000 }, (_, item) => `value-${index}-${item}-${'x'.repeat(60)}`);
      await seed.link(LARGE, await seed.control(`large-${index}`, listing(values)));
    }
  });

  describe.each(RPC_PROTOCOLS)('over %s', (protocol) => {
    const client = () => createClient(AgentService, rpcTransport(protocol, service.url));

    it('hold each control once, in order, and are no larger than requested', async () => {
      for (const maxMessageBytes of SIZES) {
        const seen: AgentControl[] = [];
        let pageToken: string | undefined;
        let pages = 0;
        do {
          const request = {
            agentName: AGENT,
            maxMessageBytes,
            ...(pageToken === undefined ? {} : { pageToken }),
          };
          const reply = await client().listAgentControls(request);
          expect(toBinary(ListAgentControlsResponseSchema, reply).length).toBeLessThanOrEqual(
            maxMessageBytes,
          );
          expect(reply.controls.length).toBeGreaterThan(0);
          seen.push(...reply.controls);
          pageToken = reply.nextPageToken;
          pages += 1;
        } while (pageToken !== undefined);
        expect(seen.map(({ id }) => id)).toEqual(all);
        expect(pages > 1).toBe(maxMessageBytes < 100_000);
      }
    });

    it('hold as many controls as requested, of those that pass the filters', async () => {
      const enabledState = 'enabled';
      const first = await client().listAgentControls({ agentName: AGENT, pageSize: 7, enabledState });
      const pageToken = first.nextPageToken ?? '';
      const second = await client().listAgentControls({
        agentName: AGENT,
        pageSize: 7,
        enabledState,
        pageToken,
      });
      expect([first.controls.length, second.controls.length, second.nextPageToken]).toEqual([
        7,
        4,
        undefined,
      ]);
    });

    it('end without a token when the last control is on them', async () => {
      const whole = await client().listAgentControls({ agentName: AGENT, pageSize: 12 });
      expect([whole.controls.length, whole.nextPageToken]).toEqual([12, undefined]);
      const unlimited = await client().listAgentControls({ agentName: AGENT });
      expect([unlimited.controls.length, unlimited.nextPageToken]).toEqual([12, undefined]);
    });

    it('are refused when a single control is larger', async () => {
      const request = { agentName: LARGE, maxMessageBytes: 100_000 };
      const error = await client()
        .listAgentControls(request)
        .then(
          () => null,
          (reason: unknown) => ConnectError.from(reason),
        );
      expect(error?.code).toBe(Code.ResourceExhausted);
      expect(error?.rawMessage).toContain('max_message_bytes');
    });
  });

  it('are no larger than requested in JSON', async () => {
    for (const size of SIZES) {
      let token: string | undefined;
      const seen: number[] = [];
      do {
        const query = `max_message_bytes=${size}${token === undefined ? '' : `&page_token=${token}`}`;
        const reply = await exchange(service.url, { path: `/api/v1/agents/${AGENT}/controls?${query}` });
        expect(reply.body.length).toBeLessThanOrEqual(size);
        expect(Object.keys(reply.json)).toEqual(['controls']);
        seen.push(...(reply.json.controls as { id: number }[]).map(({ id }) => id));
        token = reply.headers['x-service-next-page-token'] as string | undefined;
        const body = JSON.stringify({ agentName: AGENT, maxMessageBytes: size });
        const headers = { 'content-type': 'application/json' };
        const path = '/enforcement.v1.AgentService/ListAgentControls';
        const rpc = await exchange(service.url, { method: 'POST', path, headers, body });
        expect(rpc.status).toBe(200);
        expect(rpc.body.length).toBeLessThanOrEqual(size);
      } while (token !== undefined);
      expect(seen).toEqual(all);
    }
  });

  it('let a gRPC client with default limits read more than it accepts in one message', async () => {
    const client = PROTOCOLS['gRPC (grpc-js)'](service.url);
    const method = methodNamed('AgentService.ListAgentControls');
    const limited = { agent_name: LARGE, max_message_bytes: 4 * 1024 * 1024 };
    const first = await client.call(method, limited);
    const ids = first.ok ? (first.reply.controls as { id: number }[]).map(({ id }) => id) : [];
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.length).toBeLessThan(4);
    const second = await client.call(method, { ...limited, page_token: String(ids.at(-1)) });
    const rest = second.ok ? (second.reply.controls as { id: number }[]).map(({ id }) => id) : [];
    expect(ids.length + rest.length).toBe(4);
    client.close();
  });

  it('are left out of a registration that does not want them', async () => {
    const body = { agent: { agent_name: LARGE } };
    const whole = await call('POST', '/api/v1/agents/initAgent', body);
    expect(whole.body.controls).toHaveLength(4);
    const without = await call('POST', '/api/v1/agents/initAgent', { ...body, omit_controls: true });
    expect([without.status, without.body.controls]).toEqual([200, []]);
    for (const protocol of RPC_PROTOCOLS) {
      const client = createClient(AgentService, rpcTransport(protocol, service.url));
      const reply = await client.initAgent({ agent: { agentName: LARGE }, omitControls: true });
      expect([reply.created, reply.controls]).toEqual([false, []]);
    }
  });

  it('have a size that is told when a single control is larger', async () => {
    const path = `/api/v1/agents/${LARGE}/controls`;
    const refused = await call('GET', `${path}?max_message_bytes=100000`);
    expect(refused).toMatchObject(problem(413, 'PAYLOAD_TOO_LARGE'));
    const needed = /at least (\d+)/.exec(refused.body.hint as string)?.[1];
    const reply = await call('GET', `${path}?max_message_bytes=${needed}`);
    expect([reply.status, reply.body.controls.length]).toEqual([200, 1]);
  });
});
