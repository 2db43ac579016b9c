/**
 * The last known good state as text: a header line, a line for each control, policy, agent, key and halt in this order,
 * and a line with the checksum of everything before it. Each line is JSON, so that the file can be read and
 * written in small parts. Agents refer to their policies and controls by id, so each control is in the file
 * only once, with the targets that it is bound to.
 */

import type { AgentKey, TargetKey } from '../../contract/call/namespace.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import { storedMode } from '../../decide/agent-state/registered-schemas.js';
import type { ActiveHalt } from '../../decide/halts/halt.js';
import type { StepSchemaMode } from '../../kernel/core/step-schemas.js';
import type { LiveKey } from '../../manage/keys/live-keys.js';

/** Identifies the file format. */
const FORMAT = 'control-enforcement last known good';
/** Files of another version are not read. */
const VERSION = 1;

/** The header in the first line of a file. */
export interface StateHeader {
  /** Id of the database that the state comes from. */
  readonly instanceId: string;
  /** Revision of the state. */
  readonly revision: number;
  /** When the state was last confirmed as current, in milliseconds since 1970. */
  readonly timeMs: number;
  readonly controls: number;
  readonly policies: number;
  readonly agents: number;
  /** 0 in files of earlier versions, which do not read files with keys. */
  readonly keys: number;
  /** Halts that were in force; 0 in files of earlier versions, which do not read files with halts. */
  readonly halts: number;
  /** Number of enabled bindings. Undefined in files of earlier versions, which say nothing about bindings. */
  readonly bindings: number | undefined;
}

export interface ControlRecord extends StoredDefinition {
  /** The targets of its enabled bindings. */
  readonly targets: readonly TargetKey[];
}

export interface PolicyRecord {
  readonly id: number;
  readonly controlIds: readonly number[];
}

export interface AgentRecord {
  readonly key: AgentKey;
  /** Controls that are linked directly. */
  readonly controlIds: readonly number[];
  readonly policyIds: readonly number[];
  /** Undefined in files of earlier versions. */
  readonly steps: StepsRecord | undefined;
}

/**
 * The schemas that the steps of an agent are compared with, and its setting for that. Agents often have the same ones:
 * then all but the first refer to the first one by its key.
 */
export interface StepsRecord {
  readonly mode: StepSchemaMode | null;
  /** As `stepSchemasText`; null without any. */
  readonly schemas: string | null | { readonly as: string };
  /**
   * The metadata of the agent as JSON text, null without any. Undefined in files of earlier versions, and where no control
   * reads metadata of agents.
   */
  readonly metadata?: string | null | undefined;
}

/** The content of one line. */
export type StateRecord =
  | { readonly kind: 'control'; readonly control: ControlRecord }
  | { readonly kind: 'policy'; readonly policy: PolicyRecord }
  | { readonly kind: 'agent'; readonly agent: AgentRecord }
  | { readonly kind: 'key'; readonly key: LiveKey }
  | { readonly kind: 'halt'; readonly halt: ActiveHalt };

/** The file is invalid; `message` is the reason. */
export class DamagedFileError extends Error {}

export function headerLine(header: StateHeader): string {
  const { instanceId, revision, timeMs, controls, policies, agents, bindings, keys, halts } = header;
  const facts = {
    format: FORMAT,
    version: VERSION,
    instance_id: instanceId,
    revision,
    time: new Date(timeMs).toISOString(),
    controls,
    policies,
    agents,
    bindings,
    ...(keys === 0 ? {} : { keys }),
    ...(halts === 0 ? {} : { halts }),
  };
  return `${JSON.stringify(facts)}\n`;
}

/** Earlier versions do not read what is behind the definition. */
export function controlLine({ id, name, data, targets }: ControlRecord): string {
  const behind = targets.length === 0 ? [] : [targets];
  return `${JSON.stringify(['control', id, name, data, ...behind])}\n`;
}

export function policyLine({ id, controlIds }: PolicyRecord): string {
  return `${JSON.stringify(['policy', id, controlIds])}\n`;
}

/** Earlier versions do not read what is behind the policies. */
export function agentLine({ key, controlIds, policyIds, steps }: AgentRecord): string {
  const behind = steps === undefined ? [] : [steps.mode, steps.schemas];
  if (steps?.metadata !== undefined) behind.push(steps.metadata);
  return `${JSON.stringify(['agent', key, controlIds, policyIds, ...behind])}\n`;
}

/** A key: hashes of its secrets, and what it may do. */
export function keyLine(key: LiveKey): string {
  return `${JSON.stringify(['key', key])}\n`;
}

export function haltLine(halt: ActiveHalt): string {
  return `${JSON.stringify(['halt', halt])}\n`;
}

/** The last line; `sha256` is the hash of all bytes before it, in hexadecimal. */
export function checksumLine(sha256: string): string {
  return `${JSON.stringify({ sha256 })}\n`;
}

/** Throws a DamagedFileError if the line is not a valid header. */
export function readHeader(line: string): StateHeader {
  const facts = parsed(line, 'the first line') as Record<string, unknown> | null;
  if (facts?.format !== FORMAT) throw new DamagedFileError('it is not a last-known-good file');
  if (facts.version !== VERSION) {
    throw new DamagedFileError(`it has format version ${String(facts.version)}, this is ${VERSION}`);
  }
  const { instance_id: instanceId, revision, time, controls, policies, agents, bindings } = facts;
  const { keys = 0, halts = 0 } = facts;
  const timeMs = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  if (typeof instanceId !== 'string' || instanceId === '' || Number.isNaN(timeMs)) throw badLine(1);
  if (!isCount(revision) || !isCount(controls) || !isCount(policies) || !isCount(agents)) throw badLine(1);
  if (bindings !== undefined && !isCount(bindings)) throw badLine(1);
  if (!isCount(keys) || !isCount(halts)) throw badLine(1);
  return { instanceId, revision, timeMs, controls, policies, agents, bindings, keys, halts };
}

/** Throws a DamagedFileError if the line is invalid; `number` is that of the line, from 1. */
export function readRecord(line: string, number: number): StateRecord {
  const parts: unknown = parsed(line, `line ${number}`);
  if (!Array.isArray(parts)) throw badLine(number);
  const [kind, first, second, third, fourth, fifth, sixth] = parts as unknown[];
  if (kind === 'control' && isId(first) && typeof second === 'string' && typeof third === 'string') {
    const targets = fourth === undefined ? [] : fourth;
    if (!isTexts(targets)) throw badLine(number);
    return { kind, control: { id: first, name: second, data: third, targets: targets as TargetKey[] } };
  }
  if (kind === 'policy' && isId(first) && isIds(second)) {
    return { kind, policy: { id: first, controlIds: second } };
  }
  if (kind === 'agent' && typeof first === 'string' && isIds(second) && isIds(third)) {
    const steps = parts.length === 4 ? undefined : stepsRecord(fourth, fifth, sixth, number);
    return { kind, agent: { key: first as AgentKey, controlIds: second, policyIds: third, steps } };
  }
  if (kind === 'key' && isKey(first)) return { kind, key: first };
  if (kind === 'halt' && isHalt(first)) return { kind, halt: first };
  throw badLine(number);
}

/** What decides about rights; the rest of a line is as `keyLine` has written it. */
function isKey(value: unknown): value is LiveKey {
  const { id, hash, namespace, name } = (value ?? {}) as Partial<Record<keyof LiveKey, unknown>>;
  return isId(id) && [hash, namespace, name].every((text) => typeof text === 'string');
}

/** What decides about steps; the rest of a line is as `haltLine` has written it. */
function isHalt(value: unknown): value is ActiveHalt {
  const { id, namespace, scope, reason } = (value ?? {}) as Partial<Record<keyof ActiveHalt, unknown>>;
  return isId(id) && [namespace, scope, reason].every((text) => typeof text === 'string');
}

/** The checksum in the last line. Throws a DamagedFileError if the line is invalid. */
export function readChecksum(line: string): string {
  const facts = parsed(line, 'the last line') as { readonly sha256?: unknown } | null;
  const sha256 = facts?.sha256;
  if (typeof sha256 !== 'string') throw new DamagedFileError('it has no checksum: it is not complete');
  return sha256;
}

function stepsRecord(mode: unknown, schemas: unknown, metadata: unknown, number: number): StepsRecord {
  if (metadata !== undefined && metadata !== null && typeof metadata !== 'string') throw badLine(number);
  const own = metadata === undefined ? {} : { metadata };
  if (mode !== null && typeof mode !== 'string') throw badLine(number);
  if (schemas === null || typeof schemas === 'string') return { mode: storedMode(mode), schemas, ...own };
  const { as } = schemas as { readonly as?: unknown };
  if (typeof as !== 'string') throw badLine(number);
  return { mode: storedMode(mode), schemas: { as }, ...own };
}

function parsed(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new DamagedFileError(`${where} is not JSON`);
  }
}

function badLine(number: number): DamagedFileError {
  return new DamagedFileError(`line ${number} is not what belongs there`);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isId(value: unknown): value is number {
  return isCount(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isIds(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(isId);
}
