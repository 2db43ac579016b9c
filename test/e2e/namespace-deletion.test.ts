import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createWritableIterable } from '@connectrpc/connect/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateRequestSchema,
  type EvaluateStreamRequest,
  EvaluateStreamRequestSchema,
  EvaluationService,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { sendJson } from '../support/browser.js';
import { describeAboveStores } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { createKeysFile, type KeyEntry } from '../support/keys-file.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';

const OPERATOR: KeyEntry = { name: 'operator', key: 'the-operator-key-1', role: 'operator' };
const DOOMED: KeyEntry = { name: 'doomed', key: 'the-doomed-key-01', role: 'admin', namespace: 'doomed' };
const OTHER: KeyEntry = { name: 'other', key: 'the-other-key-001', role: 'admin', namespace: 'other' };
const AGENT = 'support-bot-1';
const NAMED = /namespace "?doomed"?/;

const headersOf = ({ key = '' }: KeyEntry) => ({ 'x-api-key': key });
const evaluation = create(EvaluateRequestSchema, {
  agentName: AGENT,
  stage: Stage.PRE,
  stepForm: { case: 'stepJson', value: Buffer.from('{"type":"llm","name":"answer","input":"bad"}') },
});
const message = (id: string) => create(EvaluateStreamRequestSchema, { id, evaluations: [evaluation] });

/** How a stream ended: the code and the text of its status. */
async function endOf(replies: AsyncIterator<unknown>): Promise<string> {
  try {
    for await (const _reply of { [Symbol.asyncIterator]: () => replies });
    return 'ended';
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    return `${Code[code]}: ${rawMessage}`;
  }
}

/** Two processes on one database: what one deletes, the other refuses. */
describeAboveStores('a namespace that is deleted while its agents stream', (freshDatabaseUrl) => {
  const keys = createKeysFile([OPERATOR, DOOMED, OTHER]);
  const services: TestService[] = [];
  const rest = (key: KeyEntry, at = 0) => restClient(services[at]?.url ?? '', headersOf(key));
  const evaluate = (key: KeyEntry, at = 0) =>
    sendJson(
      services[at]?.url ?? '',
      'POST',
      '/api/v1/evaluation',
      { agent_name: AGENT, stage: 'pre', step: { type: 'llm', name: 'answer', input: 'bad' } },
      headersOf(key),
    );
  beforeAll(async () => {
    const DATABASE_URL = await freshDatabaseUrl();
    for (let count = 0; count < 2; count += 1) {
      services.push(await startService({ ...keys.environment, DATABASE_URL }));
    }
  });
  afterAll(async () => {
    for (const service of services) await service.stop();
    keys.remove();
  });

  it('has no callers before it exists', async () => {
    const reply = await evaluate(DOOMED);
    expect(reply.status).toBe(403);
    expect(reply.json).toMatchObject({
      error_code: 'AUTH_INSUFFICIENT_PRIVILEGES',
      detail: expect.stringMatching(NAMED),
    });
    for (const name of ['doomed', 'other']) {
      expect((await rest(OPERATOR)('POST', '/api/v1/namespaces', { name })).status).toBe(200);
    }
    for (const key of [DOOMED, OTHER]) {
      // The process that created it knows it at once; the other one within a second.
      await seeder(rest(key)).linked(AGENT, 'no-bad-words');
      await expect.poll(async () => (await evaluate(key, 1)).status).toBe(200);
    }
  });

  it('ends its streams in every process, refuses its evaluations, and leaves others alone', async () => {
    const ends: Promise<string>[] = [];
    const alive: AsyncIterator<unknown>[] = [];
    for (const { url } of services) {
      for (const protocol of BIDI_PROTOCOLS) {
        const client = createClient(EvaluationService, rpcTransport(protocol, url));
        for (const key of [DOOMED, OTHER]) {
          const requests = createWritableIterable<EvaluateStreamRequest>();
          void requests.write(message('1'));
          const stream = client.evaluateStream(requests, { headers: headersOf(key) });
          const replies = stream[Symbol.asyncIterator]();
          expect((await replies.next()).value).toMatchObject({
            id: '1',
            results: [{ outcome: { case: 'verdict', value: { isSafe: false } } }],
          });
          if (key === DOOMED) ends.push(endOf(replies));
          else {
            void requests.write(message('2'));
            alive.push(replies);
          }
        }
      }
      for (const protocol of RPC_PROTOCOLS) {
        const transport = rpcTransport(protocol, url);
        const headers = headersOf(DOOMED);
        const watched = createClient(AgentService, transport).watchControls(
          { agentName: AGENT },
          { headers },
        );
        const replies = watched[Symbol.asyncIterator]();
        await replies.next();
        ends.push(endOf(replies));
        const events = createClient(ObservabilityService, transport).watchEvents({}, { headers });
        ends.push(endOf(events[Symbol.asyncIterator]()));
      }
    }
    /** Evaluates over REST, one after the other, until it is refused; returns all statuses and the last text. */
    const load = async (at: number) => {
      const statuses = new Set<number>();
      for (;;) {
        const reply = await evaluate(DOOMED, at);
        const body = reply.json as { is_safe?: boolean; detail?: string };
        statuses.add(reply.status);
        if (reply.status !== 200) return { statuses: [...statuses], detail: body.detail };
        expect(body.is_safe).toBe(false);
      }
    };
    const loads = [load(0), load(1)];

    const deleted = await rest(OPERATOR)('DELETE', '/api/v1/namespaces/doomed?force=true');
    expect(deleted.body).toEqual({
      success: true,
      removed_agents_count: 1,
      removed_controls_count: 1,
      removed_policies_count: 0,
      revoked_keys_count: 0,
    });
    for (const { statuses, detail } of await Promise.all(loads)) {
      expect(statuses.filter((status) => status !== 200)).toEqual([403]);
      expect(detail).toMatch(NAMED);
    }
    for (const end of await Promise.all(ends)) {
      expect(end).toMatch(/^PermissionDenied: /);
      expect(end).toMatch(NAMED);
    }
    for (const replies of alive) {
      expect((await replies.next()).value).toMatchObject({ id: '2' });
      await replies.return?.();
    }
    for (const at of [0, 1]) {
      expect((await evaluate(OTHER, at)).json).toMatchObject({ is_safe: false });
    }
  });

  it('is not there for its keys, whatever they call', async () => {
    for (const [method, path] of [
      ['GET', '/agents'],
      ['GET', '/controls'],
      ['GET', '/audit'],
      ['GET', `/agents/${AGENT}`],
    ] as const) {
      expect((await rest(DOOMED)(method, `/api/v1${path}`)).status, path).toBe(403);
    }
    const init = { agent: { agent_name: AGENT } };
    expect((await rest(DOOMED)('POST', '/api/v1/agents/initAgent', init)).status).toBe(403);
  });

  it('is told in the audit log of the operator, and never exists again', async () => {
    const reply = await rest(OPERATOR)('GET', '/api/v1/audit?resource=namespace&limit=10');
    const { entries } = reply.body as { entries: { action: string; resource_id: string; before: string }[] };
    expect(entries.filter(({ resource_id: id }) => id === 'doomed').map(({ action }) => action)).toContain(
      'namespace.delete',
    );
    const again = await rest(OPERATOR)('POST', '/api/v1/namespaces', { name: 'doomed' });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ error_code: 'NAMESPACE_CONFLICT' });
    expect((await evaluate(DOOMED)).status).toBe(403);
  });
});
