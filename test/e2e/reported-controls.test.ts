import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { describeAboveStores } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { createKeysFile } from '../support/keys-file.js';
import { BIDI_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { suiteService } from '../support/service-suite.js';
import { messagesOf } from './event-messages.support.js';
import { event, eventRoutes } from './events.support.js';

const OWN = 'own-bot-0001';
const OTHER = 'other-bot-0001';
const key = (value: string) => ({ 'x-api-key': value });

describeAboveStores('events of a key that is limited to some agents', (freshDatabaseUrl) => {
  let limited: RestClient;
  const keys = createKeysFile([
    { name: 'admin', key: 'the-admin-key-of-1', role: 'admin' },
    { name: 'limited', key: 'the-limited-key-1', role: 'regular', agents: ['own-*'] },
  ]);
  /** Ids of controls: of the agent itself, of its policy, deleted, of another agent, and never made. */
  const ids = { linked: 0, policy: 0, deleted: 0, foreign: 0, unknown: 999_999 };
  const service = suiteService(
    async () => ({ ...keys.environment, DATABASE_URL: await freshDatabaseUrl() }),
    { headers: key('the-admin-key-of-1') },
  );
  const { call: admin, seed } = service;
  beforeAll(async () => {
    limited = restClient(service.url, key('the-limited-key-1'));
    for (const name of [OWN, OTHER]) await seed.agent(name);
    for (const name of ['linked', 'policy', 'deleted', 'foreign'] as const) {
      ids[name] = await seed.control(`${name}-control`);
    }
    for (const name of ['linked', 'deleted'] as const) await seed.link(OWN, ids[name]);
    await seed.link(OTHER, ids.foreign);
    const { body: policy } = await admin('PUT', '/api/v1/policies', { name: 'own-policy' });
    await admin('POST', `/api/v1/policies/${policy.policy_id}/controls/${ids.policy}`);
    await admin('POST', `/api/v1/agents/${OWN}/policies/${policy.policy_id}`);
    await admin('DELETE', `/api/v1/controls/${ids.deleted}?force=true`);
  });
  afterAll(() => keys.remove());

  const ofControl = (control: keyof typeof ids, more: object = {}) =>
    event({ agent_name: OWN, control_id: ids[control], control_name: 'forged', ...more });
  const storedNames = async () => {
    const { body } = await eventRoutes(admin).query({ agent_name: OWN });
    return body.events.map((one: { control_name: string }) => one.control_name).sort();
  };

  it('are kept with the stored names of controls that apply to the agent, and dropped otherwise', async () => {
    const all = (Object.keys(ids) as (keyof typeof ids)[]).map((name) => ofControl(name));
    const reply = await eventRoutes(limited).send(...all);
    expect([reply.status, reply.body]).toEqual([
      202,
      { received: 5, enqueued: 3, dropped: 2, status: 'partial' },
    ]);
    expect(await storedNames()).toEqual(['deleted-control', 'linked-control', 'policy-control']);
    const none = await eventRoutes(limited).send(ofControl('foreign'));
    expect(none.body).toEqual({ received: 1, enqueued: 0, dropped: 1, status: 'failed' });
    // Large messages are read by another thread.
    const many = Array.from({ length: 50 }, () =>
      ofControl('foreign', { metadata: { text: 'x'.repeat(200) } }),
    );
    const large = await eventRoutes(limited).send(ofControl('linked'), ...many);
    expect(large.body).toEqual({ received: 51, enqueued: 1, dropped: 50, status: 'partial' });
    expect(service.logLines.filter((line) => line.includes('controls of other agents'))).not.toEqual([]);
  });

  it.each(BIDI_PROTOCOLS)('are counted as dropped in the streams of %s', async (protocol) => {
    const client = createClient(ObservabilityService, rpcTransport(protocol, service.url));
    const sent = messagesOf(OWN);
    async function* messages() {
      for (const name of ['linked', 'foreign'] as const) {
        yield { events: [sent(crypto.randomUUID(), { controlId: ids[name] })] };
      }
    }
    const headers = key('the-limited-key-1');
    expect(await client.ingestEvents(messages(), { headers })).toMatchObject({
      received: 2n,
      stored: 1n,
      dropped: 1n,
    });
    const acknowledged = [];
    for await (const reply of client.publishEvents(messages(), { headers })) acknowledged.push(reply);
    expect(acknowledged.at(-1)).toMatchObject({ dropped: 1n });
  });

  it('of other keys are kept as they are', async () => {
    const reply = await eventRoutes(admin).send(ofControl('foreign'), ofControl('unknown'));
    expect(reply.body).toMatchObject({ enqueued: 2, status: 'queued' });
    expect(await storedNames()).toContain('forged');
  });
});
