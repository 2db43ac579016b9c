import { getOption } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scopes } from '../../../gen/proto/enforcement/v1/options_pb.js';
import type { AuditStore } from '../../../src/observe/audit/audit-store.js';
import { verifyPart } from '../../../src/observe/audit/verify-chain.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { STEPS } from '../../e2e/every-rpc.steps.js';
import { ADMIN_KEY, OPERATOR_KEY, READER_KEY, TOKEN_SETTINGS } from '../../e2e/every-rpc.support.js';
import { describeAboveStores } from '../../support/databases.js';
import { methodNamed, PROTOCOLS, type ProtocolClient, SERVICES } from '../../support/protocol-clients.js';
import { denyWord } from '../../support/seed.js';
import { startService } from '../../support/service.js';
import { suiteService } from '../../support/service-suite.js';
import { allEntries, storeOf } from './audit.support.js';

/** The first 12 hex digits of the SHA-256 of the key of an admin. */
const FINGERPRINT = '69a5265506c9';
const AGENT = 'audited-agent-1';
const OTHER = 'audited-agent-2';

/** Scopes of what may have an effect, but changes nothing that is audited: evaluations, what happens to events, and tokens, which are not stored. */
const NOT_AUDITED = ['evaluate', 'explain', 'events.write', 'events.flush', 'tokens.exchange'];
/** RPCs with one of these scopes may have entries all the same: about approvals, which agents ask for and cancel. */
const METHODS = SERVICES.flatMap(({ methods }) => methods);
const isAudited = (method: (typeof METHODS)[number]): boolean =>
  !getOption(method, scopes).some((scope) => NOT_AUDITED.includes(scope));
const rpcOf = ({ parent, name }: (typeof METHODS)[number]): string => `${parent.name}.${name}`;
const AUDITED = METHODS.filter(
  ({ idempotency }) => idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS,
)
  .filter(isAudited)
  .map(rpcOf);
const OF_AGENTS = METHODS.filter((method) => !isAudited(method)).map(rpcOf);

type Input = Parameters<ProtocolClient['call']>[1];
type Call = readonly [rpc: string, input: Input, action: string];

const registration = (name: string, steps: string[]) => ({
  agent: { agent_name: name },
  steps: steps.map((step) => ({ type: 'tool', name: step, input_schema: {}, output_schema: {} })),
  evaluators: [],
  conflict_mode: 'overwrite',
});

/** One call after the other, each of which changes something, with its action. */
const CALLS: readonly Call[] = [
  ['AgentService.InitAgent', registration(AGENT, ['a', 'b']), 'agent.create'],
  ['AgentService.InitAgent', registration(AGENT, ['a', 'c']), 'agent.update'],
  ['AgentService.InitAgent', registration(OTHER, []), 'agent.create'],
  [
    'AgentService.UpdateAgent',
    { agent_name: AGENT, remove_steps: [{ type: 'tool', name: 'a' }] },
    'agent.update',
  ],
  ['AgentService.UpdateAgent', { agent_name: AGENT, step_schemas: 'enforce' }, 'agent.update'],
  ['ControlService.CreateControl', { name: 'first', data: denyWord('bad') }, 'control.create'],
  ['ControlService.CreateControl', { name: 'second', data: denyWord('worse') }, 'control.create'],
  ['ControlService.UpdateControl', { control_id: 1, name: 'renamed', enabled: false }, 'control.update'],
  ['ControlService.SetControlData', { control_id: 1, data: denyWord('evil') }, 'control.set_data'],
  ['ControlService.RestoreControlVersion', { control_id: 1, version_num: 1 }, 'control.restore_version'],
  ['AgentService.AddAgentControl', { agent_name: AGENT, control_id: 1 }, 'agent.add_control'],
  ['AgentService.RemoveAgentControl', { agent_name: AGENT, control_id: 1 }, 'agent.remove_control'],
  ['PolicyService.CreatePolicy', { name: 'one' }, 'policy.create'],
  ['PolicyService.CreatePolicy', { name: 'two' }, 'policy.create'],
  ['PolicyService.UpdatePolicy', { policy_id: 1, name: 'uno' }, 'policy.rename'],
  ['PolicyService.AddPolicyControl', { policy_id: 1, control_id: 1 }, 'policy.add_control'],
  ['PolicyService.RemovePolicyControl', { policy_id: 1, control_id: 1 }, 'policy.remove_control'],
  ['PolicyService.AddPolicyAgents', { policy_id: 1, agent_names: [AGENT, OTHER] }, 'policy.add_agents'],
  ['PolicyService.RemovePolicyAgents', { policy_id: 1, agent_names: [AGENT, OTHER] }, 'policy.remove_agents'],
  ['PolicyService.AddAgentPolicy', { agent_name: AGENT, policy_id: 1 }, 'agent.add_policy'],
  ['PolicyService.RemoveAgentPolicy', { agent_name: AGENT, policy_id: 1 }, 'agent.remove_policy'],
  ['PolicyService.SetAgentPolicy', { agent_name: AGENT, policy_id: 2 }, 'agent.set_policy'],
  ['PolicyService.RemoveAllAgentPolicies', { agent_name: AGENT }, 'agent.remove_policies'],
  ['PolicyService.SetAgentPolicy', { agent_name: AGENT, policy_id: 1 }, 'agent.set_policy'],
  ['PolicyService.DeleteAgentPolicy', { agent_name: AGENT }, 'agent.remove_policies'],
  ['PolicyService.DeletePolicy', { policy_id: 1 }, 'policy.delete'],
  ['ControlService.DeleteControl', { control_id: 1 }, 'control.delete'],
  ['AgentService.DeleteAgent', { agent_name: AGENT }, 'agent.delete'],
];

describeAboveStores('a mutation', (freshDatabaseUrl) => {
  let database: Database;
  let store: AuditStore;
  let clients: ProtocolClient[];
  const service = suiteService(async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
    ...TOKEN_SETTINGS,
  }));
  beforeAll(async () => {
    database = await openDatabase({ url: service.databaseUrl, migrate: false });
    store = storeOf(database);
    clients = [PROTOCOLS['REST over h1'](service.url), PROTOCOLS['gRPC (grpc-js)'](service.url)];
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await database.close();
  });

  /** Calls an RPC; returns what it ended with, by how much the revision grew, and the entries that it has added. */
  async function observed(rpc: string, input: Input, client = clients[0] as ProtocolClient) {
    const revision = await database.revision();
    const { head } = await store.chain();
    const outcome = await client.call(methodNamed(rpc), input, ADMIN_KEY);
    const entries = await allEntries(store, head.position);
    return { outcome, revisions: (await database.revision()) - revision, entries };
  }

  it('has one entry with its revision and its caller; without an effect it has none', async () => {
    for (const [rpc, input, action] of CALLS) {
      const { outcome, revisions, entries } = await observed(rpc, input);
      expect({ rpc, ok: outcome.ok, revisions }).toEqual({ rpc, ok: true, revisions: 1 });
      const [entry] = entries;
      expect(entries).toHaveLength(1);
      expect(entry).toMatchObject({
        action,
        revision: await database.revision(),
        actor: { kind: 'admin', name: null, keyFingerprint: FINGERPRINT },
        address: '127.0.0.1',
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      expect(Math.abs((entry?.timeMs ?? 0) - Date.now())).toBeLessThan(600_000);
      expect(entry?.before).not.toBe(entry?.after);
    }
    const again = CALLS.filter(([rpc]) => /Remove|Delete|Restore/.test(rpc));
    for (const [rpc, input] of again) {
      expect(await observed(rpc, input)).toMatchObject({ outcome: { ok: false }, revisions: 0, entries: [] });
    }
    expect(await observed('PolicyService.UpdatePolicy', { policy_id: 2, name: 'two' })).toMatchObject({
      outcome: { ok: true },
      revisions: 0,
      entries: [],
    });
  });

  it('is declared as one, and every RPC that is declared as one has an entry for each of its revisions', async () => {
    const url = await freshDatabaseUrl();
    const other = await startService({
      DATABASE_URL: url,
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: READER_KEY,
      SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
      SERVICE_OPERATOR_API_KEYS: OPERATOR_KEY,
      ...TOKEN_SETTINGS,
    });
    const opened = await openDatabase({ url, migrate: false });
    const client = PROTOCOLS['REST over h1'](other.url);
    const audited = new Set<string>();
    for (const { rpc, what, input, key } of STEPS) {
      const revision = await opened.revision();
      const { head } = await storeOf(opened).chain();
      await client.call(methodNamed(rpc), input, key ?? undefined);
      const made = (await opened.revision()) - revision;
      const entries = await allEntries(storeOf(opened), head.position);
      // What no program depends on, such as an approval, has an entry without a revision.
      const revisions = entries.flatMap((entry) => entry.revision ?? []);
      expect({ rpc, what, revisions }).toEqual({
        rpc,
        what,
        revisions: Array.from({ length: made }, (_, index) => revision + index + 1),
      });
      if (entries.length > 0 && !OF_AGENTS.includes(rpc)) audited.add(rpc);
    }
    client.close();
    await opened.close();
    await other.stop();
    expect([...audited].sort()).toEqual(AUDITED.sort());
  });

  it('of any kind, in any order, over any protocol, has an entry exactly if it made a revision', async () => {
    let count = 0;
    const call = fc.tuple(fc.nat(CALLS.length - 1), fc.integer({ min: 1, max: 6 }), fc.nat(1));
    const law = fc.asyncProperty(fc.array(call, { minLength: 8, maxLength: 12 }), async (calls) => {
      for (const [index, id, protocol] of calls) {
        const [rpc = '', input = {}] = CALLS[index] ?? [];
        count += 1;
        const varied = Object.fromEntries(
          Object.entries(input).map(([member, value]) => {
            if (member.endsWith('_id')) return [member, id];
            return [member, member === 'name' && rpc.includes('.Create') ? `random-${count}` : value];
          }),
        );
        const { revisions, entries } = await observed(rpc, varied, clients[protocol]);
        expect(entries.map(({ revision }) => revision)).toEqual(
          revisions === 0 ? [] : [await database.revision()],
        );
      }
    });
    await fc.assert(law, { numRuns: 5 });
    expect(await verifyPart(store, undefined)).toMatchObject({ problem: null, unrecordedRevisions: 0 });
  });
});
