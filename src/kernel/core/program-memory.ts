import type { LinkedControl } from './linked-control.js';
import { memoryLeaves } from './memory-node.js';
import type { MemoryLeaf } from './memory-rules.js';
import type { ScopeIndex } from './scope-index.js';
import type { Stage, Step } from './types.js';

/** A control with memory. */
export type RememberingControl = LinkedControl & { readonly memory: NonNullable<LinkedControl['memory']> };

/** A check that settles, at the end of a step, what it reserved before. */
export interface SettlingCheck {
  readonly control: RememberingControl;
  readonly leaf: MemoryLeaf;
}

/** A check that records steps. */
export type RecordingCheck = SettlingCheck;

/** What of a program concerns a step with memory. */
export interface MemoryWork {
  /** Controls with memory that apply to it. */
  readonly remembering: readonly RememberingControl[];
  /** Checks that may record it whether or not their control applies; those with the same id once, of a control that denies if one does. */
  readonly recorders: readonly RecordingCheck[];
  /** Only at the stage post. */
  readonly settling: readonly SettlingCheck[];
  /** Whether it matters at its end that it was denied before. */
  readonly marksDenied: boolean;
  /** All rules of the program, the same list each time. */
  readonly ruleIds: readonly string[];
}

/** The checks with memory of a program. */
export interface ProgramMemory {
  /** `selected` are the controls that apply to the step. Null if no check with memory is concerned, the usual case. */
  workFor(selected: readonly LinkedControl[], step: Step, stage: Stage): MemoryWork | null;
}

export function remembers(control: LinkedControl): control is RememberingControl {
  return control.memory !== null;
}

/** Null for a program without checks with memory. */
export function createProgramMemory(
  controls: readonly LinkedControl[],
  index: ScopeIndex<LinkedControl>,
): ProgramMemory | null {
  const remembering = controls.filter(remembers);
  if (remembering.length === 0) return null;
  const checks = remembering.flatMap((control) =>
    memoryLeaves(control.memory).map((leaf) => ({ control, leaf })),
  );
  const leaves = checks.map(({ leaf }) => leaf);
  const recordersOf = createRecorders(checks);
  const settles = leaves.some(({ rule }) => rule.settle !== undefined);
  const ruleIds = [...new Set(leaves.map(({ ruleId }) => ruleId))];

  // The index gives the same list of controls for steps of the same kind.
  const remembersOf = once((controls: readonly LinkedControl[]) => controls.filter(remembers));
  const settlingOf = once((controls: readonly LinkedControl[]) =>
    remembersOf(controls).flatMap((control): SettlingCheck[] =>
      memoryLeaves(control.memory)
        .filter(({ rule }) => rule.settle !== undefined)
        .map((leaf) => ({ control, leaf })),
    ),
  );
  const settlingAt = ({ type, name }: Step): readonly SettlingCheck[] =>
    settles ? settlingOf(index.find('pre', type, name).controls) : [];
  const endConcerns = (step: Step): boolean =>
    settlingAt(step).length > 0 || remembersOf(index.find('post', step.type, step.name).controls).length > 0;

  return {
    workFor(selected, step, stage) {
      const applying = remembersOf(selected);
      const recorders = recordersOf(step.name);
      const settling = stage === 'post' ? settlingAt(step) : [];
      const marksDenied =
        recorders.some(recordsEnds) ||
        (stage === 'pre' ? endConcerns(step) : applying.length + settling.length > 0);
      if (applying.length + recorders.length + settling.length === 0 && !marksDenied) return null;
      return { remembering: applying, recorders, settling, marksDenied, ruleIds };
    },
  };
}

/** Computes something of a list once, while the list lives. */
function once<List extends object, Result extends object>(
  compute: (list: List) => Result,
): (list: List) => Result {
  const known = new WeakMap<List, Result>();
  return (list) => {
    let result = known.get(list);
    if (result === undefined) {
      result = compute(list);
      known.set(list, result);
    }
    return result;
  };
}

function recordsEnds({ leaf }: RecordingCheck): boolean {
  return leaf.rule.records?.events.some((event) => event === 'response' || event === 'error') === true;
}

/** By name of the step, so that a step costs no more because of checks that record others. */
function createRecorders(checks: readonly RecordingCheck[]): (stepName: string) => readonly RecordingCheck[] {
  const byId = new Map<string, RecordingCheck>();
  for (const check of checks) {
    const known = byId.get(check.leaf.ruleId);
    if (known?.control.decision !== 'deny') byId.set(check.leaf.ruleId, check);
  }
  const recording = [...byId.values()].filter(({ leaf }) => leaf.rule.records !== undefined);
  const ofAny = recording.filter(({ leaf }) => leaf.rule.records?.stepNames === null);
  const byName = new Map<string, RecordingCheck[]>();
  for (const check of recording) {
    for (const name of check.leaf.rule.records?.stepNames ?? []) {
      const list = byName.get(name) ?? [...ofAny];
      list.push(check);
      byName.set(name, list);
    }
  }
  return (stepName) => byName.get(stepName) ?? ofAny;
}
