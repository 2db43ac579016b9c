import { canonicalJson, type JsonValue } from '../../../packages/exact-json/src/index.js';
import type { ConditionView } from './condition-view.js';
import { type DamagedView, readDamaged, readDefinition } from './definition-view.js';
import type { EvaluatorPart, PartOf } from './evaluator-part.js';
import { describeThrown } from './failure.js';
import type { LiftView, PreparedLift } from './lift.js';
import { narrowedScope } from './narrowing.js';
import { type CompiledScope, compileScope, EVERY_STEP } from './scope.js';
import type { Decision, SizedPart, SteeringContext } from './types.js';

/** A node of a condition tree with compiled evaluators. */
export type PreparedNode =
  | {
      readonly kind: 'leaf';
      readonly path: string;
      /** See `LeafView`. */
      readonly required: boolean;
      readonly part: EvaluatorPart;
      /** See `LeafPlace`. */
      readonly negated: boolean;
    }
  | { readonly kind: 'and' | 'or'; readonly children: readonly PreparedNode[] }
  | { readonly kind: 'not'; readonly child: PreparedNode };

export type PreparedLeaf = Extract<PreparedNode, { kind: 'leaf' }>;

/** A definition, read and compiled as far as possible independent of a program. */
export interface PreparedControl extends SizedPart {
  /** Whether it takes part in evaluation. */
  readonly active: boolean;
  readonly decision: Decision;
  readonly steeringContext: SteeringContext | null;
  readonly scope: CompiledScope;
  /** The scope without steps that the condition cannot match; null when that is the whole scope. */
  readonly narrowed: CompiledScope | null;
  /** Null when the definition is damaged: then the control cannot be evaluated. */
  readonly condition: PreparedNode | null;
  /** Null for a control whose match is final. */
  readonly lift: PreparedLift | null;
  /** What is wrong with the definition, for the operator. */
  readonly problems: readonly string[];
}

/** Memory of a control besides its nodes, texts and names, in bytes; and of each node. */
const BASE_BYTES = 600;
const NODE_BYTES = 200;

const INACTIVE: PreparedControl = {
  active: false,
  decision: 'observe',
  steeringContext: null,
  scope: EVERY_STEP,
  narrowed: null,
  condition: null,
  lift: null,
  problems: [],
  sizeBytes: 0,
};

/**
 * Reads and compiles a stored definition. Never throws: what cannot be compiled fails closed. `sha256` gives hexadecimal
 * digits; without it, every match is final.
 */
export function prepareControl(
  definition: JsonValue,
  partOf: PartOf,
  sha256?: (text: string) => string,
): PreparedControl {
  const reading = readDefinition(definition);
  if (!reading.intact) return prepareDamaged(reading.damaged);
  const { view } = reading;
  if (!view.enabled || view.execution !== 'server') return INACTIVE;
  try {
    const scope = compileScope(view.scope);
    const condition = prepareCondition(view.condition, partOf, false);
    const { decision, steeringContext } = view;
    const problems = scope.problem === null ? [] : [scope.problem];
    const narrowed = narrowedScope(scope, condition);
    const lift =
      view.lift === null || sha256 === undefined
        ? null
        : { ...view.lift, definitionHash: sha256(canonicalJson(definition)) };
    const sizeBytes =
      BASE_BYTES +
      scope.sizeBytes +
      (narrowed?.sizeBytes ?? 0) +
      NODE_BYTES * nodesOf(condition) +
      steeringBytes(steeringContext) +
      liftBytes(lift);
    return { active: true, decision, steeringContext, scope, narrowed, condition, lift, problems, sizeBytes };
  } catch (error) {
    return prepareDamaged(readDamaged(definition, describeThrown(error)));
  }
}

function prepareDamaged(damaged: DamagedView): PreparedControl {
  if (!damaged.takesPart) return INACTIVE;
  const scope = damaged.scope === null ? EVERY_STEP : compileScope(damaged.scope);
  const problem = `the stored definition is damaged: ${damaged.problem}`;
  return {
    active: true,
    // Fails closed: a possible deny control is treated as one.
    decision: damaged.decision ?? 'deny',
    steeringContext: damaged.steeringContext,
    scope,
    narrowed: null,
    condition: null,
    lift: null,
    problems: scope.problem === null ? [problem] : [problem, scope.problem],
    sizeBytes: BASE_BYTES + scope.sizeBytes + steeringBytes(damaged.steeringContext) + 2 * problem.length,
  };
}

/** `negated` states whether the node is below an odd number of `not`. */
function prepareCondition(view: ConditionView, partOf: PartOf, negated: boolean): PreparedNode {
  switch (view.kind) {
    case 'leaf': {
      const part = partOf(view.evaluatorName, view.config);
      return {
        kind: 'leaf',
        path: view.path,
        required: view.required,
        part,
        negated: negated && part.compiled.heedsNegation === true,
      };
    }
    case 'not':
      return { kind: 'not', child: prepareCondition(view.child, partOf, !negated) };
    default: {
      const children = view.children.map((child) => prepareCondition(child, partOf, negated));
      return { kind: view.kind, children };
    }
  }
}

/** Number of nodes of a condition. */
export function nodesOf(node: PreparedNode): number {
  if (node.kind === 'leaf') return 1;
  if (node.kind === 'not') return 1 + nodesOf(node.child);
  return node.children.reduce((sum, child) => sum + nodesOf(child), 1);
}

function steeringBytes(context: SteeringContext | null): number {
  return context === null ? 0 : 2 * JSON.stringify(context).length;
}

function liftBytes(lift: LiftView | null): number {
  return lift === null ? 0 : 2 * JSON.stringify(lift).length;
}
