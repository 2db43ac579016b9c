import { ServiceError } from '../../contract/errors/service-error.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { DesiredObject } from '../configuration/configuration-object.js';
import { storedControlOf } from '../configuration/prepared-controls.js';
import { proposeControl } from '../controls/control-proposal.js';
import { type ControlDefinition, isDraft, type StoredControl } from '../controls/definition/definition.js';
import { isInForce } from '../controls/definition-warnings/hiding-deny.js';
import { finding, type LintFinding } from './lint-rules.js';

/** A control of the documents, or a stored one. */
export interface LintControl {
  readonly name: string;
  /** Index of its document; null for a stored control. */
  readonly document: number | null;
  readonly control: StoredControl;
  /** Its definition, if the service evaluates it. */
  readonly active: ControlDefinition | null;
}

export interface LintPolicy {
  readonly name: string;
  /** Null for a stored one. */
  readonly document: number | null;
  readonly everyAgent: boolean;
  /** As "name=value". */
  readonly agentLabels: readonly string[];
  /** Names. */
  readonly controls: readonly string[];
}

export interface LintLinks {
  /** Of the agent. */
  readonly name: string;
  readonly controls: readonly string[];
  readonly policies: readonly string[];
}

/** What the documents make of a namespace. */
export interface LintSet {
  readonly controls: readonly LintControl[];
  readonly policies: readonly LintPolicy[];
  readonly links: readonly LintLinks[];
}

export const EMPTY_SET: LintSet = { controls: [], policies: [], links: [] };

export function lintControl(name: string, document: number | null, control: StoredControl): LintControl {
  return { name, document, control, active: isDraft(control) || !isInForce(control) ? null : control };
}

/** The objects of documents in place of the stored ones of the same names, and what is wrong with their definitions. */
export async function readLintSet(
  objects: readonly DesiredObject[],
  stored: LintSet,
  registry: EvaluatorRegistry,
  pause: () => Promise<void> | void,
): Promise<{ readonly set: LintSet; readonly findings: LintFinding[] }> {
  const findings: LintFinding[] = [];
  const controls = new Map(stored.controls.map((one) => [one.name, one]));
  const policies = new Map(stored.policies.map((one) => [one.name, one]));
  const links = new Map(stored.links.map((one) => [one.name, one]));
  for (const object of objects) {
    const { name, index } = object;
    await pause();
    if (object.family === 'policy') policies.set(name, { ...object, document: index });
    else if (object.family === 'links') links.set(name, object);
    else if (object.family === 'control') {
      controls.delete(name);
      try {
        const control = storedControlOf(object, proposeControl(object.data, registry));
        controls.set(name, lintControl(name, index, control));
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        findings.push(...problemsOf(error, index));
      }
    }
  }
  for (const object of objects) {
    if (object.family !== 'pack') continue;
    const policy = policies.get(object.policy);
    if (policy === undefined) continue;
    const installed = object.installed.map(([, name]) => name);
    policies.set(object.policy, { ...policy, controls: [...new Set([...policy.controls, ...installed])] });
  }
  const set = {
    controls: [...controls.values()],
    policies: [...policies.values()],
    links: [...links.values()],
  };
  return { set, findings };
}

function problemsOf(error: ServiceError, document: number): LintFinding[] {
  const { items = [], detail } = error.options;
  if (items.length === 0) return [finding('invalid-document', document, 'data', detail)];
  return items.map(({ field = '', message }) =>
    finding('invalid-document', document, field, message ?? detail),
  );
}
