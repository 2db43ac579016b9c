import type { AuditEntry } from '@gen/enforcement/v1/audit_service_pb.js';
import { memberChanges } from '../control-parts/definition-changes.js';
import { numberOf } from '../ui/numbers.js';
import { actorText, stateValue } from './entry-texts.js';

/** A part of a sentence: its own words, or a name chosen by a user. */
export type SentencePart = string | { readonly name: string };

interface State {
  readonly [member: string]: unknown;
}

/** What is known of a change. */
interface Change {
  readonly entry: AuditEntry;
  readonly before: State;
  readonly after: State;
  /** The resource with its name. */
  readonly resource: readonly SentencePart[];
}

const MAX_MEMBERS = 3;
const MAX_AGENTS = 3;

/** The sentences of the actions, each without its subject. */
const SENTENCES: Readonly<Record<string, (change: Change) => readonly SentencePart[]>> = {
  'agent.create': ({ resource }) => ['registered ', ...resource],
  'agent.update': (change) => changed(change, 'registration'),
  'agent.delete': ({ resource }) => ['deleted ', ...resource],
  'agent.add_control': ({ resource, after }) => [
    'linked the control ',
    named(after.control_name),
    ' to ',
    ...resource,
  ],
  'agent.remove_control': ({ resource, before }) => [
    'unlinked the control ',
    named(before.control_name),
    ' from ',
    ...resource,
  ],
  'agent.add_policy': ({ resource, after }) => [
    'gave the policy ',
    named(after.policy_name),
    ' to ',
    ...resource,
  ],
  'agent.remove_policy': ({ resource, before }) => [
    'took the policy ',
    named(before.policy_name),
    ' from ',
    ...resource,
  ],
  'agent.set_policy': ({ resource }) => ['set the policy of ', ...resource],
  'agent.remove_policies': ({ resource }) => ['took all policies from ', ...resource],
  'control.create': ({ resource }) => ['created ', ...resource],
  'control.set_data': (change) => changed(change, 'definition'),
  'control.update': (change) => switched(change) ?? renamed(change) ?? changed(change, 'definition'),
  'control.restore_version': ({ resource }) => ['restored an earlier version of ', ...resource],
  'control.delete': ({ resource }) => ['deleted ', ...resource],
  'policy.create': ({ resource }) => ['created ', ...resource],
  'policy.rename': (change) => renamed(change) ?? ['renamed ', ...change.resource],
  'policy.update': (change) => everyAgent(change) ?? renamed(change) ?? changed(change, 'members'),
  'policy.delete': ({ resource }) => ['deleted ', ...resource],
  'policy.add_control': ({ resource, after }) => [
    'added the control ',
    named(after.control_name),
    ' to ',
    ...resource,
  ],
  'policy.remove_control': ({ resource, before }) => [
    'removed the control ',
    named(before.control_name),
    ' from ',
    ...resource,
  ],
  'policy.add_agents': ({ resource, after }) => ['added ', ...agents(after), ' to ', ...resource],
  'policy.remove_agents': ({ resource, before }) => ['removed ', ...agents(before), ' from ', ...resource],
  'pack.install': ({ resource, after }) => ['installed ', ...resource, ' in ', ...policyOf(after)],
  'pack.update': ({ resource, after }) => [
    'updated ',
    ...resource,
    ' in ',
    ...policyOf(after),
    ' to version ',
    named(after.version),
  ],
  'pack.uninstall': ({ resource, before }) => ['uninstalled ', ...resource, ' from ', ...policyOf(before)],
  'control_binding.create': (change) => ['bound ', ...bound(change.after)],
  'control_binding.update': ({ after }) => [
    after.enabled === false ? 'switched off the binding of ' : 'switched on the binding of ',
    ...bound(after),
  ],
  'control_binding.delete': ({ before }) => ['removed the binding of ', ...bound(before)],
  'approval.ask': ({ resource }) => ['asked for ', ...resource],
  'approval.vote': ({ resource }) => ['voted about ', ...resource],
  'approval.approve': ({ resource }) => ['approved ', ...resource],
  'approval.deny': ({ resource }) => ['denied ', ...resource],
  'approval.cancel': ({ resource }) => ['cancelled ', ...resource],
  'approval.expire': ({ resource }) => ['let ', ...resource, ' expire'],
  'approval.use': ({ resource }) => ['used ', ...resource],
  'approval.give_back': ({ resource }) => ['gave back ', ...resource],
  'key.create': ({ resource }) => ['created ', ...resource],
  'key.rotate': ({ resource }) => ['gave another secret to ', ...resource],
  'key.revoke': ({ resource }) => ['revoked ', ...resource],
  'namespace.create': ({ resource }) => ['created ', ...resource],
  'namespace.update': (change) => changed(change, 'name'),
  'namespace.delete': ({ resource }) => ['deleted ', ...resource],
  'database.advance_revision': () => ['advanced the revision after a restore of the database'],
  'database.prune_events': () => ['deleted old events'],
  'database.rebuild_statistics': () => ['counted the statistics of events again'],
  'database.prune_audit': () => ['deleted old entries of this log'],
};

function policyOf({ policy_name }: State): readonly SentencePart[] {
  return ['the policy ', named(policy_name)];
}

/** What an entry says in a sentence, for example `alice (platform) added 60 agents to the policy “payments”`. */
export function entrySentence(entry: AuditEntry): readonly SentencePart[] {
  const { action, resource, resourceId, resourceName } = entry;
  const change: Change = {
    entry,
    before: stateOf(entry.before),
    after: stateOf(entry.after),
    resource: [`the ${resource} `, named(resourceName ?? resourceId)],
  };
  const rest = SENTENCES[action]?.(change) ?? [`${action}: `, ...change.resource];
  return [{ name: entry.actor?.name ?? actorText(entry.actor) }, ' ', ...rest];
}

/** The sentence as a text. */
export function sentenceText(parts: readonly SentencePart[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.name)).join('');
}

function changed({ entry, resource }: Change, what: string): readonly SentencePart[] {
  const members = memberChanges(stateValue(entry.before), stateValue(entry.after))
    .map(({ path }) => path.replace(/^data\./, ''))
    .filter((path) => path !== 'version');
  if (members.length === 0) return [`changed the ${what} of `, ...resource];
  const shown = members.slice(0, MAX_MEMBERS).join(', ');
  const more =
    members.length > MAX_MEMBERS ? ` and ${numberOf(members.length - MAX_MEMBERS, 'other member')}` : '';
  return ['changed ', { name: shown }, `${more} of `, ...resource];
}

/** A control and a target, from the state of a binding. */
function bound(state: State): readonly SentencePart[] {
  const { control_name: name, control_id: id, target_type: type, target_id: target } = state;
  return [
    'the control ',
    named(name ?? id),
    ' to ',
    named([type, target].filter((part) => part !== undefined).join(' ')),
  ];
}

function switched({ before, after, resource }: Change): readonly SentencePart[] | undefined {
  const [was, is] = [enabledOf(before), enabledOf(after)];
  return was === is || is === undefined ? undefined : ['switched ', ...resource, is ? ' on' : ' off'];
}

function renamed({ entry, before, after }: Change): readonly SentencePart[] | undefined {
  return before.name === after.name || before.name === undefined
    ? undefined
    : [`renamed the ${entry.resource} `, named(before.name), ' to ', named(after.name)];
}

function everyAgent({ before, after, resource }: Change): readonly SentencePart[] | undefined {
  if (before.every_agent === after.every_agent) return undefined;
  return after.every_agent === true
    ? ['gave ', ...resource, ' to every agent']
    : ['ended that every agent has ', ...resource];
}

/** A few agents by name, or the number of many. */
function agents(state: State): readonly SentencePart[] {
  const given: readonly unknown[] = Array.isArray(state.agents) ? state.agents : [];
  const count = Number(state.agent_count ?? given.length);
  const isNamed = count === given.length && given.every((name) => typeof name === 'string');
  if (count === 0 || count > MAX_AGENTS || !isNamed) return [numberOf(count, 'agent')];
  const names = given.flatMap((name, index) => [...(index === 0 ? [] : [joint(index, count)]), named(name)]);
  return [count === 1 ? 'the agent ' : 'the agents ', ...names];
}

function joint(index: number, count: number): string {
  return index === count - 1 ? ' and ' : ', ';
}

function enabledOf({ enabled, data }: State): unknown {
  return enabled ?? (data as State | undefined)?.enabled;
}

function named(name: unknown): SentencePart {
  return { name: typeof name === 'string' || typeof name === 'number' ? `“${name}”` : 'without a name' };
}

function stateOf(text: string | undefined): State {
  const value = stateValue(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as State) : {};
}
