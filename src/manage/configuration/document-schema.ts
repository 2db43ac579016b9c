import { z } from 'zod';
import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import {
  boolean,
  field,
  flag,
  type IssueSink,
  list,
  listOrNone,
  nullable,
  orNull,
  readWith,
  refuse,
  report,
  text,
} from '../../contract/input/fields.js';
import { agentName, slugName } from '../../contract/input/names.js';
import { didYouMean } from '../../contract/warnings/suggestion.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { labelText } from '../agents/agent-labels.js';
import { agentLabels } from '../agents/label-fields.js';
import { createControlDataSchema } from '../controls/control-data.js';
import {
  type DesiredControl,
  type DesiredLinks,
  type DesiredPack,
  type DesiredPolicy,
  KINDS,
  type Kind,
  sortedNames,
} from './configuration-object.js';

/** An object as it is read from a document. */
export type ReadObject =
  | Omit<DesiredControl, 'index'>
  | Omit<DesiredPolicy, 'index'>
  | Omit<DesiredPack, 'index'>
  | Omit<DesiredLinks, 'index'>;

/** A document that was read. */
export interface ReadDocument {
  /** Null if the document names none. */
  readonly namespace: string | null;
  readonly object: ReadObject;
}

/** Most controls of a policy or an agent in a document. */
const MAX_NAMES = 10_000;

const names = listOrNone(slugName(), { max: MAX_NAMES }).transform(sortedNames);

const policy = z
  .object({
    name: slugName(),
    controls: names,
    every_agent: flag(),
    agent_labels: nullable(list(text())),
  })
  .transform(({ name, controls, every_agent: everyAgent, agent_labels: labels }, sink): ReadObject => {
    const read = readWith(agentLabels(), { labels: labels ?? [] }, relabelled(sink));
    const agentLabelTexts = sortedNames((read?.labels ?? []).map(labelText));
    return { family: 'policy', kind: 'Policy', name, controls, everyAgent, agentLabels: agentLabelTexts };
  });

const pack = z
  .object({
    name: text({ min: 1, max: 64 }),
    policy: slugName(),
    version: text({ min: 1, max: 64 }),
    installed: nullable(z.record(z.string().max(64), slugName())),
  })
  .transform(({ installed, ...others }, sink): ReadObject => {
    const names = Object.values(installed ?? {});
    if (new Set(names).size < names.length) {
      report(sink, 'duplicate', 'must name each control once', installed, ['installed']);
    }
    const byKey = Object.entries(installed ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
    return { family: 'pack', kind: 'Pack', ...others, installed: byKey };
  });

const links = z
  .object({ name: agentName(), controls: names, policies: names })
  .transform((read): ReadObject => ({ family: 'links', kind: 'AgentLinks', ...read }));

/** Members that documents of every kind have. */
export const COMMON_MEMBERS = ['kind', 'name', 'namespace'] as const;
/** Those of each kind besides. */
export const KIND_MEMBERS: Readonly<Record<Kind, readonly string[]>> = {
  Control: ['data'],
  Template: ['data', 'enabled'],
  Limit: ['data'],
  Approval: ['data'],
  Policy: ['controls', 'every_agent', 'agent_labels'],
  Pack: ['policy', 'version', 'installed'],
  AgentLinks: ['controls', 'policies'],
};

/** Reads a document with the evaluators of the service. Members that its kind does not have are refused. */
export function createDocumentSchema(registry: EvaluatorRegistry): z.ZodType<ReadDocument> {
  const data = createControlDataSchema(registry);
  const controlOf = (kind: DesiredControl['kind']): z.ZodType<ReadObject> =>
    z
      .object({ name: slugName(), data, enabled: orNull(boolean()) })
      .transform((read): ReadObject => ({ family: 'control', kind, ...read }));
  const schemas: Readonly<Record<Kind, z.ZodType<ReadObject>>> = {
    Control: controlOf('Control'),
    Template: controlOf('Template'),
    Limit: controlOf('Limit'),
    Approval: controlOf('Approval'),
    Policy: policy,
    Pack: pack,
    AgentLinks: links,
  };
  return field((value, sink): ReadDocument => {
    if (!isObject(value)) return refuse(sink, 'model_attributes_type', 'must be an object', value);
    const kind = KINDS.find((one) => one === value.kind);
    if (kind === undefined) return refuseKind(value, sink);
    const isKnown = demandMembers(value, kind, sink);
    const namespace = readWith(orNull(text({ max: 63 })), value.namespace, sink, ['namespace']);
    const object = readWith(schemas[kind], value, sink);
    if (!isKnown || namespace === undefined || object === undefined) return z.NEVER;
    return { namespace, object };
  }, SHOWN);
}

/** A document that `createDocumentSchema` reads later. */
export function unreadDocument(): z.ZodType<JsonValue> {
  return field((value) => value, SHOWN);
}

const SHOWN: JsonObject = {
  type: 'object',
  required: ['kind', 'name'],
  properties: { kind: { type: 'string', enum: [...KINDS] }, name: { type: 'string' } },
};

function refuseKind(value: JsonObject, sink: IssueSink): never {
  const { kind = null } = value;
  const meant = typeof kind === 'string' ? didYouMean(kind, KINDS) : '';
  report(sink, 'literal_error', `must be one of: ${KINDS.join(', ')}${meant}`, kind, ['kind']);
  return z.NEVER;
}

function demandMembers(value: JsonObject, kind: Kind, sink: IssueSink): boolean {
  const known = [...COMMON_MEMBERS, ...KIND_MEMBERS[kind]];
  let isKnown = true;
  for (const [name, member] of Object.entries(value)) {
    // A message has the members of all kinds.
    if (known.includes(name) || isEmpty(member)) continue;
    isKnown = false;
    const message = `a document of the kind ${kind} has no such member${didYouMean(name, known)}`;
    report(sink, 'extra_forbidden', message, member, [name]);
  }
  return isKnown;
}

/** Whether it is what a message has of a member that is not set: nothing, no list or no map. */
function isEmpty(member: JsonValue): boolean {
  if (Array.isArray(member)) return member.length === 0;
  return member === null || (isObject(member) && Object.keys(member).length === 0);
}

/** Problems of labels, which are read as a member of another shape. */
function relabelled(sink: IssueSink): IssueSink {
  return {
    issues: {
      push: (issue) => sink.issues.push({ ...issue, path: ['agent_labels', ...(issue.path ?? []).slice(1)] }),
    },
  };
}
