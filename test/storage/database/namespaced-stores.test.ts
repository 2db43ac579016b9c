import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_NAMESPACE, type Namespace, namespaceNamed } from '../../../src/contract/call/namespace.js';
import { createAgentControlStore } from '../../../src/decide/agent-state/agent-control-store.js';
import { createApprovalStore } from '../../../src/decide/approvals/approval-store.js';
import { createHaltStore } from '../../../src/decide/halts/halt-store.js';
import { countedLabels, createAgentLabelStore } from '../../../src/manage/agents/agent-label-store.js';
import { createAgentPolicyStore } from '../../../src/manage/agents/agent-policy-store.js';
import { createAgentStore } from '../../../src/manage/agents/agent-store.js';
import { agentCounts } from '../../../src/manage/controls/agent-counts.js';
import { createAppliedStore } from '../../../src/manage/controls/applied-store.js';
import { createControlBindingStore } from '../../../src/manage/controls/control-binding-store.js';
import { createControlStore } from '../../../src/manage/controls/control-store.js';
import { createControlVersionStore } from '../../../src/manage/controls/control-version-store.js';
import { createPolicyControlStore } from '../../../src/manage/controls/policy-control-store.js';
import { patternsOf } from '../../../src/manage/controls/step-name-patterns.js';
import { createKeyStore } from '../../../src/manage/keys/key-store.js';
import { createPackStore } from '../../../src/manage/packs/pack-store.js';
import { createPolicyLabelStore } from '../../../src/manage/policies/policy-label-store.js';
import { createPolicyStore } from '../../../src/manage/policies/policy-store.js';
import { createExpectationStore } from '../../../src/observe/coverage/expectation-store.js';
import { createDestinationStore } from '../../../src/observe/notifications/destination-store.js';
import { UNSEALED } from '../../../src/observe/notifications/sealer.js';
import { createSampleStore } from '../../../src/observe/samples/sample-store.js';
import { createShadowStore } from '../../../src/observe/shadows/shadow-store.js';
import { type Database, type DbClient, openDatabase } from '../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { scoped } from '../../support/scoped.js';
import {
  LABEL,
  newApproval,
  newDestination,
  newHalt,
  newKey,
  newRule,
  newShadow,
  STORES,
  type StoreCases,
  TARGET,
  type Things,
} from './namespaced-stores.cases.js';
import { newControl } from './support.js';

const SOURCES = path.join(import.meta.dirname, '../../../src');
const A = namespaceNamed('team-a');
const B = namespaceNamed('team-b');
const EMPTY = namespaceNamed('team-c');
const NOTHING: Things = {
  agentName: 'agent-of-nobody',
  agentId: 999_999,
  controlName: 'control-of-nobody',
  controlId: 999_999,
  policyName: 'policy-of-nobody',
  policyId: 999_999,
  spareControlId: 999_999,
  sparePolicyId: 999_999,
  bindingId: 999_999,
  keyId: 999_999,
  haltId: 999_999,
  ruleId: 999_999,
  decisionId: 'decision-of-nobody',
  approvalId: 999_999,
  destinationId: 999_999,
  deliveryId: 999_999,
  installationId: 999_999,
};

/** Ends the transaction of a call, so that the next one finds the same rows. */
class Undo extends Error {}

/** Writes an agent with labels, activity, a control and a policy, linked with each other in every way. */
async function fill(database: Database, namespace: Namespace): Promise<Things> {
  const { value } = await database.mutate(async (tx) => ({ value: await things(tx), changed: true }));
  return value;

  async function things(tx: DbClient): Promise<Things> {
    const scope = scoped(tx, namespace);
    const of = namespace.name;
    const [agentName, controlName, policyName] = [`agent-of-${of}`, `control-of-${of}`, `policy-of-${of}`];
    const control = await createControlStore(scope).insert(
      newControl(controlName, {
        // The namespace that must not see it has no such control itself.
        ...(namespace === B ? {} : { data: '{"evaluator":{"name":"rate"}}' }),
        stepNamePattern: '"a-step"',
        facets: [
          { kind: 'tag', value: 'a-tag' },
          { kind: 'step_name', value: 'a-step' },
        ],
      }),
    );
    await createControlVersionStore(scope).append({
      controlId: control.id,
      eventType: 'created',
      note: 'Created',
      createdAtMs: 1,
      keyFingerprint: null,
      author: `author-of-${of}`,
      changedMembers: [],
      name: controlName,
      data: control.data,
    });
    const policies = createPolicyStore(scope);
    const policy = await policies.insert({ name: policyName, createdAtMs: 1 });
    await createPolicyLabelStore(scope).write(policy.id, [LABEL]);
    await createPolicyControlStore(scope).add(policy.id, control.id);
    const agents = createAgentStore(scope);
    const agent = await agents.insert({ name: agentName, data: '{}', createdAtMs: 1 });
    await createAgentLabelStore(scope).write(agent.id, agent.version, new Map([[LABEL.name, LABEL.value]]));
    await createAgentLabelStore(scope).give(agent.id, [policy]);
    await createAgentControlStore(scope).add(agent.id, control.id);
    await createAgentPolicyStore(scope).add(agent.id, policy.id);
    // A registration of an earlier version, whose labels are not read.
    await agents.insert({ name: `unread-of-${of}`, data: '{}', createdAtMs: 2 });
    const { key } = agent;
    await tx.agentUse.create({ data: { agentName: key, usedAtMs: 5n } });
    await tx.agentActivity.create({ data: { agentName: key, lastEvaluatedS: 5n, lastDeniedS: 4n } });
    await tx.controlActivity.create({ data: { controlId: control.id, lastDeniedS: 4n } });
    const spare = await createControlStore(scope).insert(newControl(`spare-${controlName}`));
    const { id: sparePolicyId } = await policies.insert({ name: `spare-${policyName}`, createdAtMs: 1 });
    const names = { agentName, controlName, policyName };
    const ids = { agentId: agent.id, controlId: control.id, policyId: policy.id };
    const binding = await createControlBindingStore(scope).insert(TARGET, control.id, true, 1);
    const { id: keyId } = await createKeyStore(scope).insert(newKey(`key-of-${of}`));
    const { id: haltId } = await createHaltStore(scope).insert(newHalt(`step-of-${of}`));
    const { id: ruleId } = await createSampleStore(scope).insertRule(newRule(agentName));
    const { decisionId } = await tx.stepSample.create({
      data: {
        namespace: of,
        decisionId: `decision-of-${of}`,
        ruleId,
        agentName,
        stage: 'pre',
        stepType: 'tool',
        stepName: `step-of-${of}`,
        outcome: 'allow',
        takenAtMs: 1n,
        expiresAtMs: 9n,
        maskedValues: 0,
        content: '{}',
      },
    });
    await createShadowStore(scope).set(newShadow(control.id));
    await createExpectationStore(scope).set(agent.id, { point: 'rest', intervalS: 60 }, 1);
    const approvalId = await createApprovalStore(scope).insert(newApproval(agentName, control.id));
    const { id: destinationId } = await createDestinationStore(scope, UNSEALED).insert(
      newDestination(`destination-of-${of}`),
    );
    const { id: deliveryId } = await tx.notificationDelivery.create({
      data: {
        namespace: of,
        destinationId,
        messageId: `message-of-${of}`,
        kind: 'halt.set',
        object: 'halt:1',
        summary: `summary-of-${of}`,
        payload: '{}',
        createdAtMs: 1n,
        sinceMs: 1n,
        nextAtMs: 1n,
      },
    });
    await createAppliedStore(scope).remember(
      'owner',
      [{ key: `control/${controlName}`, digest: 'a', base: null }],
      1,
    );
    const packs = createPackStore(scope);
    const { id: installationId } = await packs.insert('a-pack', '1.0.0', policy.id, 1);
    const known = { key: 'a-key', controlId: control.id, base: '{}' };
    await packs.write(installationId, '1.0.0', [known, { key: 'b-key', controlId: null, base: '{}' }], 2);
    return {
      ...names,
      ...ids,
      spareControlId: spare.id,
      sparePolicyId,
      bindingId: binding.id,
      keyId,
      haltId,
      ruleId,
      decisionId,
      approvalId,
      destinationId,
      deliveryId,
      installationId,
    };
  }
}

/** All rows that belong to a namespace, or have one end in it. */
async function rowsOf(tx: DbClient, { name, prefix }: Namespace): Promise<unknown> {
  const where = { namespace: name };
  const either = (one: object, other: object) => ({ where: { OR: [one, other] } });
  const agentNames = (await tx.agent.findMany({ where })).map((agent) => agent.name);
  const ofAgents = { where: { agentName: { in: agentNames } } };
  const controls = await tx.control.findMany({ where });
  return {
    prefix,
    agents: await tx.agent.findMany({ where }),
    labels: await tx.agentLabel.findMany({ where: { agent: where } }),
    links: await tx.agentControl.findMany(either({ agent: where }, { control: where })),
    given: await tx.agentPolicy.findMany(either({ agent: where }, { policy: where })),
    uses: await tx.agentUse.findMany(ofAgents),
    activity: await tx.agentActivity.findMany(ofAgents),
    controls,
    facets: await tx.controlFacet.findMany({ where: { control: where } }),
    versions: await tx.controlVersion.findMany({ where: { control: where } }),
    denied: await tx.controlActivity.findMany({ where: { controlId: { in: controls.map(({ id }) => id) } } }),
    policies: await tx.policy.findMany({ where }),
    members: await tx.policyControl.findMany(either({ policy: where }, { control: where })),
    bindings: await tx.controlBinding.findMany(either(where, { control: where })),
    keys: await tx.apiKey.findMany({ where }),
    halts: await tx.halt.findMany({ where }),
    rules: await tx.samplingRule.findMany({ where }),
    samples: await tx.stepSample.findMany({ where }),
    shadows: await tx.controlShadow.findMany({ where }),
    expectations: await tx.agentExpectation.findMany({ where: { agent: where } }),
    approvals: await tx.approval.findMany({ where, include: { votes: true, asking: true } }),
    destinations: await tx.notificationDestination.findMany({ where }),
    deliveries: await tx.notificationDelivery.findMany({ where }),
    applied: await tx.appliedObject.findMany({ where }),
    installations: await tx.packInstallation.findMany(either(where, { policy: where })),
    installed: await tx.packControl.findMany(either({ installation: where }, { control: where })),
    wanted: await tx.policyLabel.findMany({ where: { policy: where } }),
  };
}

/** A value as text: maps and sets with their entries, and numbers of any kind. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (member instanceof Map || member instanceof Set) return [...member];
    return typeof member === 'bigint' ? Number(member) : member;
  });
}

type Call = (tx: DbClient) => Promise<unknown>;

/** The result of work in a transaction that is undone. */
async function undone<T>(database: Database, work: (tx: DbClient) => Promise<T>): Promise<T> {
  let made: { readonly value: T } | undefined;
  const ended = database.mutate(async (tx) => {
    made = { value: await work(tx) };
    throw new Undo();
  });
  await ended.catch((error: unknown) => {
    if (made === undefined) throw error;
  });
  if (made === undefined) throw new Error('nothing was done');
  return made.value;
}

/** The result of a call, or the code of its error. */
async function replyOf(tx: DbClient, call: Call): Promise<string> {
  const reply = await call(tx).then(textOf, (error: { code?: string }) => `error ${error.code}`);
  return reply ?? 'nothing';
}

function call(
  { create, cases }: StoreCases,
  method: string,
  namespace: Namespace,
  of: Things,
  own: Things,
): Call {
  return (tx) => {
    const run = cases[method];
    if (run === undefined) throw new Error(`no case for ${method}`);
    return run(create(scoped(tx, namespace)) as never, of, own);
  };
}

describe('The cases of namespaced stores', () => {
  it('are there for every store that is made for a namespace, and for each of its methods', () => {
    const factory = /export function (create\w+Store)\((?:scope|\{[^}]*\}): Scoped\b/g;
    const found = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...readFileSync(path.join(SOURCES, file), 'utf8').matchAll(factory)])
      .map(([, name]) => name);
    expect(found.sort()).toEqual(Object.keys(STORES).sort());
    for (const { create, cases } of Object.values(STORES)) {
      const methods = Object.keys(create(scoped(undefined as never)));
      expect(Object.keys(cases).sort()).toEqual(methods.sort());
    }
  });
});

describeOnEachDatabase('What one namespace has written', (freshDatabaseUrl) => {
  let database: Database;
  /** The reply to each call in B with names of nothing, before there was anything else. */
  const alone = new Map<string, string>();
  /** The rows of a namespace: every call is undone, so they stay as they are. */
  const kept = new Map<Namespace, string>();
  let own: Things;
  const others = new Map<Namespace, Things>();

  const methods = Object.entries(STORES).flatMap(([name, store]) =>
    Object.keys(store.cases).map((method) => ({ name: `${name}.${method}`, store, method })),
  );

  beforeAll(async () => {
    database = await openDatabase({ url: await freshDatabaseUrl() });
    own = await fill(database, B);
    for (const { name, store, method } of methods) {
      alone.set(name, await reply(call(store, method, B, NOTHING, own)));
    }
    for (const namespace of [A, DEFAULT_NAMESPACE]) others.set(namespace, await fill(database, namespace));
    for (const namespace of [A, DEFAULT_NAMESPACE]) {
      kept.set(namespace, textOf(await rowsOf(database.client, namespace)));
    }
  });
  afterAll(() => database.close());

  const thingsOf = (namespace: Namespace): Things => others.get(namespace) ?? NOTHING;
  const reply = (made: Call) => undone(database, (tx) => replyOf(tx, made));
  /** Whether rows of a namespace are other ones behind what was done in a transaction. */
  const hasChanged = async (tx: DbClient, namespace: Namespace) =>
    textOf(await rowsOf(tx, namespace)) !== kept.get(namespace);

  it.each(methods)('is nothing to another one: $name', async ({ name, store, method }) => {
    for (const namespace of [A, DEFAULT_NAMESPACE]) {
      const outcome = await undone(database, async (tx) => ({
        reply: await replyOf(tx, call(store, method, B, thingsOf(namespace), own)),
        changed: await hasChanged(tx, namespace),
      }));
      expect(outcome).toEqual({ reply: alone.get(name), changed: false });
    }
  });

  it.each(methods)('is something to itself: $name', async ({ store, method }) => {
    for (const namespace of [A, DEFAULT_NAMESPACE]) {
      const things = thingsOf(namespace);
      const missed = await reply(call(store, method, EMPTY, NOTHING, NOTHING));
      const found = await undone(database, async (tx) => {
        const text = await replyOf(tx, call(store, method, namespace, things, things));
        // What replies nothing else has done something.
        return { text, isOther: text !== missed || (await hasChanged(tx, namespace)) };
      });
      expect(found.isOther).toBe(true);
      expect(found.text).not.toMatch(/^error/);
      // Plain names; only members that are called so are keys.
      expect(found.text.replaceAll(/"key":"[^"]*"/g, '')).not.toContain(`${namespace.name}/`);
    }
  });

  it('does not give policies for every agent to agents of another one', async () => {
    const { policyId } = thingsOf(A);
    const given = await undone(database, async (tx) => {
      await createPolicyStore(scoped(tx, A)).setEveryAgent(policyId, true);
      const found: (number[] | undefined)[] = [];
      for (const namespace of [A, B, DEFAULT_NAMESPACE]) {
        const scope = scoped(tx, namespace);
        const agent = await createAgentStore(scope).insert({ name: 'later', data: '{}', createdAtMs: 9 });
        found.push((await createAgentPolicyStore(scope).policyIdsOf([agent.id])).get(agent.id));
      }
      return found;
    });
    expect(given).toEqual([[policyId], undefined, undefined]);
  });

  it('leaves its names free in every other one', async () => {
    const { agentName, controlName, policyName } = thingsOf(A);
    for (const namespace of [B, DEFAULT_NAMESPACE]) {
      const { made, found } = await undone(database, async (tx) => {
        const scope = scoped(tx, namespace);
        const control = await createControlStore(scope).insert(newControl(controlName));
        const policy = await createPolicyStore(scope).insert({ name: policyName, createdAtMs: 1 });
        const agent = await createAgentStore(scope).insert({ name: agentName, data: '{}', createdAtMs: 1 });
        return {
          made: [control, policy, agent],
          found: [
            await createControlStore(scope).findByName(controlName),
            await createPolicyStore(scope).findByName(policyName),
            await createAgentStore(scope).find(agentName),
          ],
        };
      });
      expect(found).toEqual(made);
      expect(made.map(({ name }) => name)).toEqual([controlName, policyName, agentName]);
    }
  });

  it('is not counted for another one: labels, numbers of agents and patterns of step names', async () => {
    for (const namespace of [A, B, DEFAULT_NAMESPACE]) {
      const { controlId } = namespace === B ? own : thingsOf(namespace);
      const labels = await countedLabels(database.bulk, namespace, { names: 10, values: 10 });
      expect(labels).toEqual([{ ...LABEL, agents: 1 }]);
      const scope = scoped(database.client, namespace);
      expect(await agentCounts(scope)).toEqual(new Map([[controlId, 1]]));
      expect(await patternsOf(scope, 'a-step')).toEqual(['"a-step"']);
    }
    const empty = scoped(database.client, EMPTY);
    expect(await countedLabels(database.bulk, empty.namespace, { names: 10, values: 10 })).toEqual([]);
    expect(await agentCounts(empty)).toEqual(new Map());
    expect(await patternsOf(empty, 'a-step')).toEqual([]);
  });
});
