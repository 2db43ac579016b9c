import { createAgentControlStore } from '../../../src/decide/agent-state/agent-control-store.js';
import { createApprovalStore, type NewApproval } from '../../../src/decide/approvals/approval-store.js';
import { createHaltStore, type NewHalt } from '../../../src/decide/halts/halt-store.js';
import { createAgentLabelStore } from '../../../src/manage/agents/agent-label-store.js';
import { createAgentPolicyStore } from '../../../src/manage/agents/agent-policy-store.js';
import { createAgentStore } from '../../../src/manage/agents/agent-store.js';
import { createBulkStore } from '../../../src/manage/configuration/bulk-store.js';
import { createAppliedStore } from '../../../src/manage/controls/applied-store.js';
import { createControlBindingStore } from '../../../src/manage/controls/control-binding-store.js';
import { createControlStore } from '../../../src/manage/controls/control-store.js';
import { createControlUsersStore } from '../../../src/manage/controls/control-users-store.js';
import { createControlVersionStore } from '../../../src/manage/controls/control-version-store.js';
import { createHiddenControlStore } from '../../../src/manage/controls/hidden-control-store.js';
import { createPolicyControlStore } from '../../../src/manage/controls/policy-control-store.js';
import { createKeyStore, type KeyRow } from '../../../src/manage/keys/key-store.js';
import { createLimitStore } from '../../../src/manage/limits/limit-store.js';
import { createPackStore } from '../../../src/manage/packs/pack-store.js';
import { createPolicyLabelStore } from '../../../src/manage/policies/policy-label-store.js';
import { createPolicyStore } from '../../../src/manage/policies/policy-store.js';
import { createExpectationStore } from '../../../src/observe/coverage/expectation-store.js';
import { createDeliveryStore } from '../../../src/observe/notifications/delivery-store.js';
import {
  createDestinationStore,
  type NewDestination,
} from '../../../src/observe/notifications/destination-store.js';
import { UNSEALED } from '../../../src/observe/notifications/sealer.js';
import { createSampleStore, type NewSamplingRule } from '../../../src/observe/samples/sample-store.js';
import { createShadowStore, type NewShadow } from '../../../src/observe/shadows/shadow-store.js';
import type { Scoped } from '../../../src/storage/database/scoped.js';
import { newControl } from './support.js';

/** Names and ids of one agent with a control and a policy, of a control and a policy without an agent, or of nothing. */
export interface Things {
  readonly agentName: string;
  readonly agentId: number;
  readonly controlName: string;
  readonly controlId: number;
  readonly policyName: string;
  readonly policyId: number;
  readonly spareControlId: number;
  readonly sparePolicyId: number;
  readonly bindingId: number;
  readonly keyId: number;
  readonly installationId: number;
  readonly haltId: number;
  readonly ruleId: number;
  readonly decisionId: string;
  readonly approvalId: number;
  readonly destinationId: number;
  readonly deliveryId: number;
}

/** Calls a method with what `of` names, and where it takes two things, also with one of the namespace of the store. */
type Case<Store> = (store: Store, of: Things, own: Things) => Promise<unknown>;

type CasesOf<Store> = { readonly [Method in keyof Store]: Case<Store> };

/** A factory of stores, and a case for each of their methods. */
export interface StoreCases {
  readonly create: (scope: Scoped) => object;
  readonly cases: Readonly<Record<string, Case<never>>>;
}

function casesOf<Store extends object>(create: (scope: Scoped) => Store, cases: CasesOf<Store>): StoreCases {
  return { create, cases };
}

/** A label that the agents and the policies of all namespaces have. */
export const LABEL = { name: 'team', value: 'payments' } as const;
/** A target that controls of all namespaces are bound to. */
export const TARGET = { type: 'log_stream', id: 'stream-1' } as const;
const VERSION = {
  eventType: 'updated',
  note: 'note',
  createdAtMs: 3,
  keyFingerprint: null,
  author: 'author',
  changedMembers: [],
  data: '{}',
} as const;
const PAGE = { cursor: null, limit: 100 } as const;
const CONTROL_FILTERS = {
  ...PAGE,
  nameContains: null,
  enabled: null,
  templateBacked: null,
  cloned: null,
  stepType: null,
  stage: null,
  execution: null,
  tag: null,
  hasAgents: null,
  decisions: [],
  agentName: null,
  stepName: null,
  orderBy: 'newest',
  reverse: false,
} as const;
const AGENT_FILTERS = {
  ...PAGE,
  nameContains: null,
  hasActiveControls: null,
  labels: [],
  controlId: null,
  policyId: null,
  orderBy: 'newest',
  reverse: false,
} as const;

/** Results of several calls, one after another: all are in one transaction. */
async function each(...calls: (() => Promise<unknown>)[]): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const call of calls) results.push(await call());
  return results;
}

/** Revisions count the changes of all namespaces. */
async function withoutRevision(reply: Promise<{ readonly revision: number }>): Promise<object> {
  const { revision: _revision, ...others } = await reply;
  return others;
}

/** A call whose result has a new id: its effect is looked at, not its result. */
async function effectOf(call: Promise<unknown>): Promise<void> {
  await call;
}

const agents = casesOf(createAgentStore, {
  find: (store, { agentName }) => store.find(agentName),
  findAll: (store, { agentName }, own) => store.findAll([agentName, own.agentName]),
  insert: (store, { agentName }) =>
    effectOf(store.insert({ name: `new-${agentName}`, data: '{}', createdAtMs: 1 })),
  update: (store, { agentId }) => store.update(agentId, { data: '{"changed":true}' }),
  setStepSchemas: (store, { agentId }) => store.setStepSchemas(agentId, 'enforce'),
  remove: (store, { agentId, agentName }) => store.remove({ id: agentId, name: agentName }),
  newestBefore: (store) => store.newestBefore(null, 100, 1_000),
  list: (store, of) =>
    each(
      () => store.list(AGENT_FILTERS),
      () => store.list({ ...AGENT_FILTERS, orderBy: 'name' }),
      () => store.list({ ...AGENT_FILTERS, cursor: of.agentName, orderBy: 'name', reverse: true }),
      () => store.list({ ...AGENT_FILTERS, cursor: of.agentName, orderBy: 'last_denied' }),
      () => store.list({ ...AGENT_FILTERS, cursor: of.agentName, reverse: true }),
      () => store.list({ ...AGENT_FILTERS, nameContains: of.agentName }),
      // The start of the keys of the namespace.
      () => store.list({ ...AGENT_FILTERS, nameContains: 'team-' }),
      () => store.list({ ...AGENT_FILTERS, nameContains: '/' }),
      () => store.list({ ...AGENT_FILTERS, labels: [LABEL] }),
      () => store.list({ ...AGENT_FILTERS, hasActiveControls: true }),
      () => store.list({ ...AGENT_FILTERS, hasActiveControls: false }),
      () => store.list({ ...AGENT_FILTERS, controlId: of.controlId }),
      () => store.list({ ...AGENT_FILTERS, policyId: of.policyId }),
    ),
  activity: (store, { agentName }) => store.activity([agentName]),
  lastUses: (store, { agentName }) => store.lastUses([agentName]),
  activeControlCounts: (store, { agentId }, own) => store.activeControlCounts([agentId, own.agentId]),
});

const agentControls = casesOf(createAgentControlStore, {
  add: (store, { agentId, controlId }, own) =>
    each(
      () => store.add(agentId, controlId),
      () => store.add(agentId, own.controlId),
      () => store.add(own.agentId, controlId),
      () => store.add(own.agentId, own.spareControlId),
    ),
  remove: (store, { agentId, controlId }) => store.remove(agentId, controlId),
  linkedIds: (store, { agentId }) => store.linkedIds(agentId),
  controlsOf: (store, { agentId }, own) =>
    each(
      () => store.controlsOf(agentId),
      () => store.controlsOf(agentId, TARGET),
      () => store.controlsOf(own.agentId, TARGET),
    ),
  revisionFor: (store, { agentName }) => withoutRevision(store.revisionFor(agentName)),
  stateOf: (store, { agentName }, own) =>
    each(
      () => withoutRevision(store.stateOf(agentName)),
      () => withoutRevision(store.stateOf(agentName, TARGET)),
      () => withoutRevision(store.stateOf(own.agentName, TARGET)),
    ),
  agentsOf: (store, { controlId }) => store.agentsOf(controlId),
  usage: (store, { controlId }, own) => store.usage([controlId, own.controlId]),
});

const agentPolicies = casesOf(createAgentPolicyStore, {
  add: (store, { agentId, policyId }, own) =>
    each(
      () => store.add(agentId, policyId),
      () => store.add(agentId, own.policyId),
      () => store.add(own.agentId, policyId),
      () => store.add(own.agentId, own.sparePolicyId),
    ),
  remove: (store, { agentId, policyId }) => store.remove(agentId, policyId),
  withdrawFromAll: (store, { policyId }) => store.withdrawFromAll(policyId),
  owners: (store, { agentId, policyId }) =>
    each(
      () => store.owners([{ id: agentId }], policyId, 'anyhow'),
      () => store.owners([{ id: agentId }], policyId, 'directly'),
    ),
  addAll: (store, { agentId, policyId }, own) =>
    each(
      () => store.addAll([{ id: agentId }, { id: own.agentId }], policyId),
      () => store.addAll([{ id: agentId }], own.policyId),
      () => store.addAll([{ id: agentId }, { id: own.agentId }], own.sparePolicyId),
    ),
  removeFrom: (store, { agentId, policyId }) => store.removeFrom([{ id: agentId }], policyId),
  removeAll: (store, { agentId }, own) =>
    each(
      () => store.add(own.agentId, own.sparePolicyId),
      () => store.removeAll(agentId),
    ),
  policyIdsOf: (store, { agentId }, own) => store.policyIdsOf([agentId, own.agentId]),
  agentsThatNeverAsked: (store, { policyId }) => store.agentsThatNeverAsked(policyId),
});

const agentLabels = casesOf(createAgentLabelStore, {
  write: (store, { agentId }) => store.write(agentId, 7, new Map([['other', 'label']])),
  policiesByLabels: async (store, { agentId }, own) => {
    // The agent has a policy by labels that it has no longer.
    await store.write(own.agentId, 1, new Map());
    return each(
      () => store.policiesByLabels(agentId),
      () => store.policiesByLabels(own.agentId),
    );
  },
  give: (store, { agentId, policyId, policyName }, own) =>
    each(
      () => store.give(own.agentId, [{ id: policyId, name: policyName }]),
      () => store.give(agentId, [{ id: own.policyId, name: own.policyName }]),
      () => store.give(agentId, [{ id: policyId, name: policyName }]),
      () => store.give(own.agentId, [{ id: own.sparePolicyId, name: own.policyName }]),
    ),
  take: (store, { agentId, policyId, policyName }) =>
    store.take(agentId, [{ id: policyId, name: policyName }]),
  unread: (store) => store.unread(100),
});

const controls = casesOf(createControlStore, {
  find: (store, { controlId }) => store.find(controlId),
  findByName: (store, { controlName }) => store.findByName(controlName),
  namesOf: (store, { controlId }) => store.namesOf([controlId]),
  insert: (store, { controlName }) => effectOf(store.insert(newControl(`new-${controlName}`))),
  insertAll: (store, { controlName }) =>
    effectOf(store.insertAll([newControl(`new-${controlName}`), newControl(`newer-${controlName}`)])),
  update: (store, { controlId }) =>
    store.update(controlId, { name: 'renamed', data: '{}', facets: [], updatedAtMs: 9 }),
  updateAll: (store, { controlId }) =>
    store.updateAll([{ ...newControl('a'), id: controlId, updatedAtMs: 9 }]),
  remove: (store, { controlId }) => store.remove(controlId, 9),
  removeAll: (store, { controlId }) => store.removeAll([controlId], 9),
  list: (store, of) =>
    each(
      () => store.list(CONTROL_FILTERS),
      ...(['name', 'updated', 'last_denied', 'agents'] as const).flatMap((orderBy) => [
        () => store.list({ ...CONTROL_FILTERS, orderBy }),
        () => store.list({ ...CONTROL_FILTERS, orderBy, reverse: true }),
      ]),
      ...(['name', 'updated', 'last_denied'] as const).map(
        (orderBy) => () => store.list({ ...CONTROL_FILTERS, orderBy, cursor: of.controlId }),
      ),
      () => store.list({ ...CONTROL_FILTERS, nameContains: of.controlName }),
      () => store.list({ ...CONTROL_FILTERS, nameContains: '/' }),
      () => store.list({ ...CONTROL_FILTERS, hasAgents: true }),
      () => store.list({ ...CONTROL_FILTERS, hasAgents: false }),
      () => store.list({ ...CONTROL_FILTERS, agentName: of.agentName }),
      () => store.list({ ...CONTROL_FILTERS, stepName: 'a-step' }),
      () => store.list({ ...CONTROL_FILTERS, tag: 'a-tag' }),
    ),
  activity: (store, { controlId }) => store.activity([controlId]),
});

const versions = casesOf(createControlVersionStore, {
  append: (store, { controlId, controlName }) => store.append({ ...VERSION, controlId, name: controlName }),
  appendAll: (store, { controlId, controlName }, own) =>
    each(
      () => store.appendAll([{ ...VERSION, controlId: own.controlId, name: controlName }]),
      () => store.appendAll([{ ...VERSION, controlId, name: controlName }]),
    ),
  lastNumber: (store, { controlId }) => store.lastNumber(controlId),
  ends: (store, { controlId }, own) => store.ends([controlId, own.controlId]),
  texts: (store, { controlId }) => store.texts(controlId, 10),
  find: (store, { controlId }) => store.find(controlId, 1),
  list: (store, { controlId }) => store.list(controlId, PAGE),
});

const controlUsers = casesOf(createControlUsersStore, {
  agents: (store, { controlId, agentName }, own) =>
    each(
      () => store.agents(controlId, PAGE),
      () => store.agents(own.controlId, { ...PAGE, cursor: agentName }),
    ),
  policies: (store, { controlId }) => store.policies(controlId, PAGE),
});

const policies = casesOf(createPolicyStore, {
  find: (store, { policyId }) => store.find(policyId),
  findWhole: (store, { policyId }) => store.findWhole(policyId),
  findByName: (store, { policyName }) => store.findByName(policyName),
  list: (store, { policyName }) =>
    each(
      () => store.list({ ...PAGE, nameContains: null }),
      () => store.list({ ...PAGE, nameContains: policyName }),
      () => store.list({ ...PAGE, nameContains: '/' }),
    ),
  ofAgent: (store, { agentId }) => store.ofAgent(agentId),
  agents: (store, { policyId, agentName }, own) =>
    each(
      () => store.agents(policyId, PAGE),
      () => store.agents(own.policyId, { ...PAGE, cursor: agentName }),
    ),
  firstAgents: (store, { policyId }) => store.firstAgents(policyId, 100),
  insert: (store, { policyName }) => effectOf(store.insert({ name: `new-${policyName}`, createdAtMs: 1 })),
  rename: (store, { policyId }) => store.rename(policyId, { name: 'renamed', updatedAtMs: 9 }),
  setEveryAgent: (store, { policyId }, own) =>
    each(
      () => store.setEveryAgent(own.policyId, true),
      () => store.setEveryAgent(policyId, true),
    ),
  remove: (store, { policyId }) => store.remove(policyId),
});

const policyControls = casesOf(createPolicyControlStore, {
  add: (store, { policyId, controlId }, own) =>
    each(
      () => store.add(policyId, controlId),
      () => store.add(policyId, own.controlId),
      () => store.add(own.policyId, controlId),
      () => store.add(own.policyId, own.spareControlId),
    ),
  remove: (store, { policyId, controlId }) => store.remove(policyId, controlId),
  touch: (store, { policyId }) => store.touch([policyId], 9),
  controlIdsOf: (store, { policyId }) => store.controlIdsOf(policyId),
  controlsOf: (store, { policyId }) => store.controlsOf(policyId),
  policyIdsOf: (store, { controlId }) => store.policyIdsOf(controlId),
  bringsTo: (store, { agentId, controlId }) => store.bringsTo(agentId, controlId),
});

const policyLabels = casesOf(createPolicyLabelStore, {
  write: (store, { policyId }) => store.write(policyId, [{ name: 'other', value: 'label' }]),
  agentsByLabels: (store, { policyId }, own) =>
    each(
      () => store.write(own.sparePolicyId, [LABEL]),
      () => store.agentsByLabels(own.sparePolicyId),
      () => store.agentsByLabels(policyId),
    ),
  give: (store, { policyId }, own) =>
    each(
      () => store.write(own.sparePolicyId, [LABEL]),
      () => store.give(own.sparePolicyId),
      () => store.give(policyId),
    ),
  take: (store, { policyId }, own) =>
    each(
      () => store.write(own.policyId, [{ name: 'no', value: 'agent' }]),
      () => store.take(own.policyId),
      () => store.take(policyId),
    ),
  matching: (store, { policyId, agentId }, own) =>
    each(
      () => store.matching(own.policyId, [{ id: agentId }, { id: own.agentId }]),
      () => store.matching(policyId, [{ id: agentId }]),
    ),
});

const bindings = casesOf(createControlBindingStore, {
  find: (store, { bindingId }) => store.find(bindingId),
  findByKey: (store, { controlId }) => store.findByKey(TARGET, controlId),
  insert: (store, { spareControlId }) => effectOf(store.insert(TARGET, spareControlId, true, 1)),
  setEnabled: (store, { bindingId }) => store.setEnabled(bindingId, false, 9),
  remove: (store, { bindingId }) => store.remove(bindingId),
  idsOf: (store, { controlId }) => store.idsOf(controlId),
  removeOf: (store, { controlId }) => store.removeOf(controlId),
  removeOfAll: (store, { controlId }) => store.removeOfAll([controlId]),
  list: (store, { controlId }) =>
    each(
      () => store.list({ ...PAGE, targetType: null, targetId: null, controlId: null }),
      () => store.list({ ...PAGE, targetType: TARGET.type, targetId: TARGET.id, controlId: null }),
      () => store.list({ ...PAGE, targetType: null, targetId: null, controlId }),
    ),
});

const bulk = casesOf(createBulkStore, {
  insertPolicies: (store, { policyName }) => effectOf(store.insertPolicies([`new-${policyName}`], 1)),
  removePolicies: (store, { policyId }) => store.removePolicies([policyId]),
  insertAgents: (store, { agentName }) =>
    effectOf(store.insertAgents([{ name: `new-${agentName}`, data: '{}' }], 1)),
  addMembers: (store, { policyId, controlId, spareControlId }, own) =>
    store.addMembers([
      [policyId, spareControlId],
      [own.policyId, controlId],
    ]),
  removeMembers: (store, { policyId, controlId }) => store.removeMembers([[policyId, controlId]]),
  addLinks: (store, { agentId, controlId, spareControlId }, own) =>
    store.addLinks([
      [agentId, spareControlId],
      [own.agentId, controlId],
    ]),
  removeLinks: (store, { agentId, controlId }) => store.removeLinks([[agentId, controlId]]),
  givePolicies: (store, { agentId, policyId, sparePolicyId }, own) =>
    store.givePolicies([
      [agentId, sparePolicyId],
      [own.agentId, policyId],
    ]),
  withdrawPolicies: (store, { agentId, policyId }) => store.withdrawPolicies([[agentId, policyId]]),
});

const applied = casesOf(createAppliedStore, {
  find: (store, { controlName }) => store.find([`control/${controlName}`]),
  ofOwner: (store) => store.ofOwner('owner'),
  remember: (store, { controlName }) =>
    store.remember('other', [{ key: `control/${controlName}`, digest: 'b', base: null }], 2),
  forget: (store, { controlName }) => store.forget([`control/${controlName}`]),
});

const halts = casesOf(createHaltStore, {
  find: (store, { haltId }) => store.find(haltId),
  list: (store) =>
    each(
      () => store.list({ ...PAGE, state: null, nowMs: 1 }),
      () => store.list({ ...PAGE, state: 'active', nowMs: 1 }),
    ),
  countActive: (store) => store.countActive(false, 1),
  insert: (store) => effectOf(store.insert(newHalt('another'))),
  lift: (store, { haltId }) => effectOf(store.lift(haltId, 9, 'me', null)),
});

const samples = casesOf(createSampleStore, {
  rules: (store) => store.rules(),
  rule: (store, { ruleId }) => store.rule(ruleId),
  insertRule: (store) => effectOf(store.insertRule(newRule('another'))),
  removeRule: (store, { ruleId }) => store.removeRule(ruleId),
  counts: (store) => store.counts(1),
  list: (store, { ruleId }) =>
    each(
      () => store.list({ ...PAGE, agentName: null, ruleId: null, nowMs: 1 }),
      () => store.list({ ...PAGE, agentName: null, ruleId, nowMs: 1 }),
    ),
  find: (store, { decisionId }) => store.find(decisionId, 1),
});

const expectations = casesOf(createExpectationStore, {
  find: (store, { agentId }) => store.find([agentId]),
  set: (store, { agentId }) => store.set(agentId, { point: 'another', intervalS: 60 }, 1),
  remove: (store, { agentId }) => store.remove(agentId, ['rest']),
});

const shadows = casesOf(createShadowStore, {
  find: (store, { controlId }) => store.find(controlId),
  list: (store) => store.list(),
  countOthers: (store) => store.countOthers(0),
  set: (store, _of, own) => effectOf(store.set(newShadow(own.controlId))),
  remove: (store, { controlId }) => store.remove(controlId),
});

const destinations = casesOf((scope: Scoped) => createDestinationStore(scope, UNSEALED), {
  find: (store, { destinationId }) => store.find(destinationId),
  count: (store) => store.count(),
  list: (store) => store.list(PAGE),
  openDeliveries: (store, { destinationId }) => store.openDeliveries([destinationId]),
  insert: (store) => effectOf(store.insert(newDestination('another'))),
  update: (store, { destinationId }) => effectOf(store.update(destinationId, { name: 'renamed' })),
  remove: (store, { destinationId }) => store.remove(destinationId),
});

const deliveries = casesOf(createDeliveryStore, {
  find: (store, { deliveryId }) => store.find(deliveryId),
  list: (store, { destinationId }) =>
    each(
      () => store.list({ ...PAGE, destinationId: null, state: null }),
      () => store.list({ ...PAGE, destinationId, state: 'waiting' }),
    ),
  resend: (store, { deliveryId }) => effectOf(store.resend(deliveryId, 9)),
  hurry: (store, { destinationId }) => store.hurry(destinationId, 9),
});

const limits = casesOf(createLimitStore, {
  mayRemember: (store) => store.mayRemember(),
  controls: (store, { controlId }, own) => store.controls([controlId, own.controlId]),
});

const keys = casesOf(createKeyStore, {
  find: (store, { keyId }) => store.find(keyId),
  list: (store) =>
    each(
      () => store.list({ ...PAGE, includeEnded: true, nameContains: null, nowMs: 1 }),
      () => store.list({ ...PAGE, includeEnded: false, nameContains: 'key', nowMs: 1 }),
    ),
  insert: (store) => effectOf(store.insert(newKey('another'))),
  rotate: (store, { keyId }) =>
    effectOf(
      store.rotate({ ...newKey('before'), id: keyId } as KeyRow, newKey('rotated'), {
        nowMs: 2,
        previousUntilMs: 3,
      }),
    ),
  revoke: (store, { keyId }) => effectOf(store.revoke(keyId, 9)),
});

const hiddenControls = casesOf(createHiddenControlStore, {
  deniesBeside: (store, { controlId }) => store.deniesBeside(controlId),
  allHave: (store, { controlId, spareControlId }, own) =>
    each(
      () => store.allHave(controlId, spareControlId),
      () => store.allHave(own.controlId, controlId),
    ),
});

const packs = casesOf(createPackStore, {
  find: (store, { installationId }) => store.find(installationId),
  findIn: (store, { policyId }) => store.findIn(policyId, 'a-pack'),
  list: (store, { policyId }) =>
    each(
      () => store.list({ pack: null, policyId: null }),
      () => store.list({ pack: 'a-pack', policyId: null }),
      () => store.list({ pack: null, policyId }),
    ),
  listed: (store, { installationId }, own) => store.listed([installationId, own.installationId]),
  controls: (store, { installationId }) =>
    each(
      () => store.controls(installationId, null),
      () => store.controls(installationId, ['a-key']),
    ),
  insert: (store, { sparePolicyId }) => effectOf(store.insert('a-pack', '1.0.0', sparePolicyId, 1)),
  write: (store, { installationId, controlId }) =>
    store.write(installationId, '2.0.0', [{ key: 'other', controlId, base: '{}' }], 9),
  remove: (store, { installationId }) => store.remove(installationId),
});

const VOTE = {
  person: 'me',
  name: 'me',
  role: 'approver',
  keyFingerprint: null,
  decision: 'approve',
  atMs: 2,
  address: null,
  comment: null,
  stepSha256: 'step',
} as const;
const EVERY_APPROVAL = {
  ...PAGE,
  state: null,
  agentName: null,
  sessionId: null,
  controlId: null,
  decidedBy: null,
  approver: null,
  nowMs: 1,
};

const approvals = casesOf(createApprovalStore, {
  find: (store, { approvalId }) => store.find(approvalId),
  evidence: (store, { approvalId }) => store.evidence(approvalId),
  candidates: (store, { agentName }) => store.candidates(`binding-of-${agentName}`, null, 1),
  list: (store, { controlId, agentName }) =>
    each(
      () => store.list({ ...EVERY_APPROVAL }),
      () => store.list({ ...EVERY_APPROVAL, state: 'pending', agentName }),
      () => store.list({ ...EVERY_APPROVAL, controlId }),
    ),
  // The bound of the installation counts the open ones of all namespaces.
  counts: async (store, { agentName }) => {
    const { ofAgent, asked } = await store.counts(agentName, 'group', 0, 1);
    return { ofAgent, asked };
  },
  displace: (store, { agentName }) => store.displace(`binding-of-${agentName}`),
  insert: (store, { controlId }) => effectOf(store.insert(newApproval('another', controlId))),
  async isLost(store, { approvalId }, own) {
    // Of a control that does not exist.
    const id = await store.insert(newApproval('lost', own.controlId + 1_000_000));
    return [await store.isLost(id, 1), await store.isLost(approvalId, 1)];
  },
  async use(store, { approvalId }) {
    await effectOf(store.update(approvalId, { state: 'approved', changeNo: 9 })).catch(() => {});
    return store.use(approvalId, 'once', null, 1, 9);
  },
  async giveBack(store, { approvalId }) {
    await effectOf(store.update(approvalId, { state: 'approved', changeNo: 9 })).catch(() => {});
    await store.use(approvalId, 'once', null, 1, 9);
    return store.giveBack(approvalId, 'once', 9);
  },
  addVote: (store, { approvalId }) => effectOf(store.addVote(approvalId, VOTE)),
  update: (store, { approvalId }) => effectOf(store.update(approvalId, { state: 'denied', changeNo: 9 })),
});

/** An approval for an agent by one control. */
export function newApproval(agentName: string, controlId: number): NewApproval {
  const rule = {
    approvers: ['role:approver'],
    quorum: 1,
    separate: false,
    bind: 'step',
    reuse: 'once',
  } as const;
  const control = {
    id: controlId,
    name: 'a-control',
    version: 1,
    definitionHash: 'hash',
    authors: [],
    ...rule,
  };
  return {
    namespace: '',
    agentName,
    sessionId: null,
    stepId: null,
    target: null,
    stepType: 'tool',
    stepName: 'a-step',
    binding: `binding-of-${agentName}`,
    stepSha256: 'step',
    question: `question-of-${agentName}`,
    controls: [control],
    reuse: 'once',
    askedBy: 'me',
    askedByKey: null,
    askedAtMs: 1,
    expiresAtMs: 1_000,
    changeNo: 1,
    approverGroup: 'group',
    step: `step-of-${agentName}`,
    explanations: null,
  };
}

/** A key; its name stands for its secret, too. */
export function newKey(name: string) {
  const rights = { role: 'viewer', scopes: null, agents: null };
  return {
    name,
    owner: null,
    ...rights,
    hash: name,
    prefix: name,
    createdAtMs: 1,
    createdBy: null,
    expiresAtMs: null,
  };
}

/** Every store that is made for a namespace, by the name of its factory. */
export const STORES: Readonly<Record<string, StoreCases>> = {
  createAgentStore: agents,
  createAgentControlStore: agentControls,
  createAgentPolicyStore: agentPolicies,
  createAgentLabelStore: agentLabels,
  createControlStore: controls,
  createControlVersionStore: versions,
  createControlUsersStore: controlUsers,
  createPolicyStore: policies,
  createPolicyControlStore: policyControls,
  createPolicyLabelStore: policyLabels,
  createControlBindingStore: bindings,
  createKeyStore: keys,
  createBulkStore: bulk,
  createAppliedStore: applied,
  createHaltStore: halts,
  createSampleStore: samples,
  createExpectationStore: expectations,
  createShadowStore: shadows,
  createApprovalStore: approvals,
  createDestinationStore: destinations,
  createDeliveryStore: deliveries,
  createLimitStore: limits,
  createHiddenControlStore: hiddenControls,
  createPackStore: packs,
};

/** A shadow of a control. */
export function newShadow(controlId: number): NewShadow {
  return {
    controlId,
    data: '{}',
    share: 1,
    shareBy: 'agent',
    setAtMs: 1,
    setBy: 'me',
    baseVersion: 1,
  };
}

/** A sampling rule of an agent. */
export function newRule(agentName: string): NewSamplingRule {
  return {
    agentName,
    controlId: null,
    share: 1,
    maskedPaths: [],
    maskedPatterns: [],
    maxBytes: 1_000,
    retentionHours: 1,
    endsAtMs: null,
    createdAtMs: 1,
    createdBy: 'me',
  };
}

/** A halt of a step name. */
export function newHalt(stepName: string): NewHalt {
  return {
    scope: 'step_name',
    agentName: null,
    sessionId: null,
    stepName,
    reason: 'reason',
    expiresAtMs: null,
    createdAtMs: 1,
    createdBy: 'me',
  };
}

/** A webhook. */
export function newDestination(name: string): NewDestination {
  return {
    name,
    type: 'webhook',
    url: 'https://hooks.invalid/',
    recipients: [],
    kinds: ['halt.set'],
    enabled: true,
    createdAtMs: 1,
    createdBy: 'me',
    secret: 'whsec_x',
  };
}
