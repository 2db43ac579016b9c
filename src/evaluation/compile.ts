import type { EvaluatorRegistry } from '../evaluators/types.js';
import {
  type ConditionNode,
  compileNot,
  compileSequence,
  type EvaluationContext,
  type Outcome,
} from './condition.js';
import type { ConditionView, LeafView } from './condition-view.js';
import { type DamagedView, type DefinitionView, readDamaged, readDefinition } from './definition-view.js';
import { describeThrown, failureText } from './failure.js';
import { compileLeaf, type WithTimeout } from './leaf.js';
import { compileScope, EVERY_STEP, type Scope } from './scope.js';
import { createSelectorTable, type SelectorTable } from './selector-table.js';
import type { ControlInput, ControlProgram, Detail, Stage, Step, Verdict } from './types.js';
import { type ControlLabel, createTally, type Tally } from './verdict.js';

/** A failure as the operator of the service should see it; verdicts have fixed texts only. */
export interface ControlFailure {
  readonly controlId: number;
  readonly controlName: string;
  readonly problem: string;
}

/** What a program needs from outside. */
export interface CompileOptions {
  readonly registry: EvaluatorRegistry;
  /** Called once for each item that a verdict returns. */
  readonly newExecutionId: () => string;
  /** Limits asynchronous evaluators; without it they have no time limit. */
  readonly withTimeout?: WithTimeout;
  /** Told of damaged definitions when they are compiled, and of evaluator failures whenever they happen. */
  readonly onFailure?: (failure: ControlFailure) => void;
}

const NEVER_ABORTED = new AbortController().signal;

/** A control that takes part in evaluation. */
interface CompiledControl extends ControlLabel {
  readonly scope: Scope;
  readonly condition: ConditionNode;
}

/** A control whose evaluator has not answered yet, or that comes after one. */
interface Pending {
  readonly control: CompiledControl;
  readonly outcome: Outcome | Promise<Outcome> | 'scope failure';
}

/**
 * Compiles controls, in any order, to a program. Never throws: a control that cannot be compiled becomes one that
 * cannot be evaluated, which fails closed.
 */
export function compileProgram(controls: readonly ControlInput[], options: CompileOptions): ControlProgram {
  const selectors = createSelectorTable();
  const byIdDescending = [...controls].sort((left, right) => right.id - left.id);
  const compiled = byIdDescending.flatMap((control) => compileControl(control, selectors, options) ?? []);
  const controlsOf = {
    pre: compiled.filter(({ scope }) => scope.includesStage('pre')),
    post: compiled.filter(({ scope }) => scope.includesStage('post')),
  };
  return {
    controlIds: byIdDescending.map(({ id }) => id),
    evaluate(step: Step, stage: Stage, detail: Detail) {
      const context: EvaluationContext = {
        step,
        full: detail === 'full',
        call: { detail, signal: NEVER_ABORTED },
        selected: new Array(selectors.size),
      };
      return evaluateAll(controlsOf[stage], context, createTally(detail, options.newExecutionId));
    },
  };
}

function evaluateAll(
  controls: readonly CompiledControl[],
  context: EvaluationContext,
  tally: Tally,
): Verdict | Promise<Verdict> {
  const pending: Pending[] = [];
  for (const control of controls) {
    const selected = control.scope.selects(context.step);
    if (selected === false) continue;
    const outcome = selected === true ? control.condition.run(context) : 'scope failure';
    // From the first promise on, everything waits in line, so that the lists keep their order.
    if (pending.length === 0 && !(outcome instanceof Promise)) record(tally, control, outcome);
    else pending.push({ control, outcome });
  }
  return pending.length === 0 ? tally.verdict() : settle(pending, tally);
}

async function settle(pending: readonly Pending[], tally: Tally): Promise<Verdict> {
  for (const { control, outcome } of pending) record(tally, control, await outcome);
  return tally.verdict();
}

function record(tally: Tally, control: CompiledControl, outcome: Outcome | 'scope failure'): void {
  if (outcome === 'scope failure') tally.addScopeFailure(control);
  else tally.add(control, outcome);
}

function compileControl(
  control: ControlInput,
  selectors: SelectorTable,
  options: CompileOptions,
): CompiledControl | null {
  const onFailure = failureReporter(control, options);
  const reading = readDefinition(control.definition);
  if (!reading.intact) return compileDamaged(control, reading.damaged, onFailure);
  const { view } = reading;
  if (!view.enabled || view.execution !== 'server') return null;
  try {
    return {
      ...labelOf(control, view),
      scope: compileScope(view.scope, onFailure),
      condition: compileCondition(view.condition, selectors, options, onFailure),
    };
  } catch (error) {
    return compileDamaged(control, readDamaged(control.definition, describeThrown(error)), onFailure);
  }
}

function labelOf(control: ControlInput, view: DefinitionView | DamagedView): ControlLabel {
  return {
    id: control.id,
    name: control.name,
    // Fails closed: what might be a deny control is one.
    decision: view.decision ?? 'deny',
    steeringContext: view.steeringContext,
  };
}

function compileDamaged(
  control: ControlInput,
  damaged: DamagedView,
  onFailure: (problem: string) => void,
): CompiledControl | null {
  if (!damaged.takesPart) return null;
  onFailure(`the stored definition is damaged: ${damaged.problem}`);
  const error = failureText('');
  const outcome: Outcome = { matched: false, confidence: 0, message: error, metadata: null, error };
  return {
    ...labelOf(control, damaged),
    scope: damaged.scope === null ? EVERY_STEP : compileScope(damaged.scope, onFailure),
    condition: { run: () => outcome, skipped: () => ({}) },
  };
}

function compileCondition(
  view: ConditionView,
  selectors: SelectorTable,
  options: CompileOptions,
  onFailure: (problem: string) => void,
): ConditionNode {
  const compile = (node: ConditionView): ConditionNode => {
    switch (node.kind) {
      case 'leaf':
        return leaf(node);
      case 'not':
        return compileNot(compile(node.child));
      default:
        return compileSequence(node.kind, node.children.map(compile));
    }
  };
  const leaf = (node: LeafView): ConditionNode => {
    const { path, evaluatorName, config } = node;
    const evaluator = options.registry.get(evaluatorName);
    return compileLeaf({
      label: { path, evaluatorName },
      selector: selectors.slot(path),
      evaluator: evaluator?.compile(config) ?? missingEvaluator(evaluatorName),
      timeoutMs: evaluator?.timeoutMs ?? 0,
      withTimeout: options.withTimeout,
      onFailure: (problem) => onFailure(`evaluator ${evaluatorName}: ${problem}`),
    });
  };
  return compile(view);
}

/** A definition may name an evaluator that only clients have, or that is not installed yet. */
function missingEvaluator(name: string) {
  return {
    evaluate(): never {
      throw new Error(`there is no evaluator named ${name}`);
    },
  };
}

/** A report that fails must not change a verdict. */
function failureReporter(control: ControlInput, options: CompileOptions): (problem: string) => void {
  return (problem) => {
    try {
      options.onFailure?.({ controlId: control.id, controlName: control.name, problem });
    } catch {
      // Nothing is left to report it to.
    }
  };
}
