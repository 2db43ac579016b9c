import { createHash } from 'node:crypto';
import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { ControlData } from '../controls/control-data.js';
import { isDraft, leavesOf, type StoredControl } from '../controls/definition/definition.js';

/** Kinds of documents about controls, which share their names. */
export const CONTROL_KINDS = ['Control', 'Template', 'Limit', 'Approval'] as const;
/** All kinds of documents. */
export const KINDS = [...CONTROL_KINDS, 'Policy', 'Pack', 'AgentLinks'] as const;

export type Kind = (typeof KINDS)[number];
type ControlKind = (typeof CONTROL_KINDS)[number];

/** An object of a document. `index` is that of its document. */
export type DesiredObject = DesiredControl | DesiredPolicy | DesiredPack | DesiredLinks;

export interface DesiredControl {
  readonly family: 'control';
  readonly kind: ControlKind;
  readonly index: number;
  readonly name: string;
  readonly data: ControlData;
  /** For templates, whose data does not say it. */
  readonly enabled: boolean | null;
}

export interface DesiredPolicy extends PolicyContent {
  readonly family: 'policy';
  readonly kind: 'Policy';
  readonly index: number;
  readonly name: string;
}

export interface DesiredPack extends PackContent {
  readonly family: 'pack';
  readonly kind: 'Pack';
  readonly index: number;
  readonly name: string;
  readonly policy: string;
}

export interface DesiredLinks extends LinksContent {
  readonly family: 'links';
  readonly kind: 'AgentLinks';
  readonly index: number;
  /** Of the agent. */
  readonly name: string;
}

/** What a policy has. Lists are sorted, each member once. */
export interface PolicyContent {
  readonly everyAgent: boolean;
  /** As "name=value". */
  readonly agentLabels: readonly string[];
  /** Names. */
  readonly controls: readonly string[];
}

/** What an installation of a pack has. */
export interface PackContent {
  readonly version: string;
  /** Names of controls by their keys in the pack, by key ascending. */
  readonly installed: readonly (readonly [string, string])[];
}

/** What is linked to an agent itself. Lists are sorted, each member once. */
export interface LinksContent {
  /** Names. */
  readonly controls: readonly string[];
  /** Names. */
  readonly policies: readonly string[];
}

/** The kind that shows a stored control to best effect. */
export function kindOfControl(control: StoredControl): ControlKind {
  if (control.template !== undefined || isDraft(control)) return 'Template';
  if (control.action.approval !== undefined) return 'Approval';
  for (const { leaf } of leavesOf(control.condition, '')) {
    if (LIMITS.has(leaf.evaluator.name)) return 'Limit';
  }
  return 'Control';
}

const LIMITS: ReadonlySet<string> = new Set(['rate', 'budget', 'concurrency', 'loop']);

/** What an object that is no control has. */
export type Content =
  | ({ readonly family: 'policy' } & PolicyContent)
  | ({ readonly family: 'pack' } & PackContent)
  | ({ readonly family: 'links' } & LinksContent);

/** The same as text; equal ones have equal texts. */
export function contentText(of: Content): string {
  return stringifyJson(contentJson(of));
}

function contentJson(of: Content): JsonObject {
  if (of.family === 'pack') return { version: of.version, installed: Object.fromEntries(of.installed) };
  const controls = [...of.controls];
  if (of.family === 'links') return { controls, policies: [...of.policies] };
  return { every_agent: of.everyAgent, agent_labels: [...of.agentLabels], controls };
}

/** By which a change of an object is told from what was applied. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Sorted by code units, each once. */
export function sortedNames(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}
