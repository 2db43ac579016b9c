import { canonicalJson, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { quoted } from '../../contract/errors/quoted.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { ControlDefinition } from '../controls/definition/definition.js';
import { foregoneResult } from '../controls/definition-warnings/foregone-result.js';
import { isCoveredBy, mayHide } from '../controls/definition-warnings/hiding-deny.js';
import type { Audiences } from './audiences.js';
import { LeafIndex } from './leaf-index.js';
import { finding, type LintFinding } from './lint-rules.js';
import type { LintControl } from './lint-set.js';
import { createWorkLimit } from './work.js';

/** Most controls with which each one is compared. */
const MAX_CANDIDATES = 100;
/** Most work of all comparisons, in some 200 characters of definitions: some seconds. */
const MAX_WORK = 1_000_000;
const CHARACTERS = 200;

/** A control that the service evaluates. */
export interface ActiveControl {
  readonly name: string;
  readonly document: number | null;
  readonly definition: ControlDefinition;
  /** Whether it matches every step of its scope. */
  readonly isAlways: boolean;
}

export async function activeControls(
  controls: readonly LintControl[],
  registry: EvaluatorRegistry,
  pause: () => Promise<void> | void,
): Promise<ActiveControl[]> {
  const found: ActiveControl[] = [];
  for (const { name, document, active } of controls) {
    if (active === null) continue;
    found.push({ name, document, definition: active, isAlways: foregoneResult(active, registry) === true });
    await pause();
  }
  return found;
}

/** Compares the controls of a set with each other. */
export interface SetRules {
  findings(position: number): Generator<LintFinding, void>;
  /** What was left out. */
  omitted(): readonly LintFinding[];
}

/** Controls come in the order in which the first of two equal ones is kept. */
export async function createSetRules(
  controls: readonly ActiveControl[],
  audiences: Audiences,
  pause: () => Promise<void> | void,
): Promise<SetRules> {
  const limit = createWorkLimit(
    MAX_WORK,
    'shadowed-by-deny',
    'too many controls check the same, or are too large',
  );
  const index = new LeafIndex();
  const always: number[] = [];
  const effects: string[] = [];
  const sizes: number[] = [];
  for (const [position, { definition, isAlways }] of controls.entries()) {
    index.add(position, definition.condition);
    if (isAlways && always.length < MAX_CANDIDATES) always.push(position);
    effects.push(effectOf(definition.action));
    sizes.push(1 + Math.ceil(stringifyJson(definition.condition).length / CHARACTERS));
    await pause();
  }
  const covers = (wide: ActiveControl, narrow: ActiveControl): boolean =>
    audiences.covers(wide.name, narrow.name) &&
    isCoveredBy(narrow.definition, wide.definition, () => wide.isAlways);

  function* candidatesOf(position: number, control: ActiveControl): Generator<number, void> {
    const size = sizes[position] ?? 1;
    const seen = new Set([position]);
    for (const found of [...always, ...index.find(control.definition.condition, MAX_CANDIDATES)]) {
      if (found === null || !limit.spend(size + (sizes[found] ?? 1))) {
        if (control.document !== null) limit.leaveOut(control.document);
        return;
      }
      if (seen.has(found)) continue;
      seen.add(found);
      yield found;
    }
  }

  return {
    *findings(position) {
      const control = controls[position];
      if (control === undefined || control.document === null) return;
      for (const at of candidatesOf(position, control)) {
        const other = controls[at];
        if (other === undefined) continue;
        const name = quoted(other.name);
        if (effects[at] === effects[position]) {
          if (!covers(other, control) || (at > position && covers(control, other))) continue;
          const isSame = covers(control, other);
          const message = `${isSame ? 'the same steps are' : 'every step that this control matches is'} matched by the control ${name}, which does the same with them: ${isSame ? 'one of both is' : 'this one is'} needless`;
          yield finding('overlapping-duplicate', control.document, 'data.condition', message);
          return;
        }
        if (!mayHide(control.definition, other.definition) || !audiences.isLinked(control.name)) continue;
        if (!covers(other, control)) continue;
        const message = `every step that this control matches is denied by the control ${name}, which all agents that have this control have too: it has no effect; narrow the other one, or delete this one`;
        yield finding('shadowed-by-deny', control.document, 'data.condition', message);
        return;
      }
    },
    omitted: () => limit.findings(),
  };
}

/** Controls with the same text do the same with the steps that they match. */
function effectOf({ metadata, ...effect }: ControlDefinition['action']): string {
  // A control that observes is told from others by what it records.
  return canonicalJson(
    effect.decision === 'observe' ? { ...effect, metadata: metadata ?? null } : { ...effect },
  );
}
