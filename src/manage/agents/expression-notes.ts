import { isObject, type JsonObject } from '../../../packages/exact-json/src/index.js';
import type { Warning, WarningCode } from '../../contract/warnings/warning.js';
import { problemText } from '../../kernel/evaluators/cel/compiled-expressions.js';
import { UNKNOWN_WHERE, whereTypes } from '../../kernel/evaluators/memory/history-where.js';
import type { RefusedExpression } from '../controls/control-review.js';
import { type ControlDefinition, leavesOf } from '../controls/definition/definition.js';
import {
  type JudgedExpression,
  judgeExpression,
  judgeVariables,
  type RegisteredStepTypes,
} from '../controls/expression-inspection.js';
import { registeredTypes } from './expression-types.js';
import type { StepCatalogue } from './steps-catalogue.js';

/** Most expressions of one definition that are compared with schemas: some 50 ms. */
const MAX_EXPRESSIONS = 100;

/** What the schemas of registered steps say about the expressions of a definition. */
export interface ExpressionNotes {
  readonly notes: readonly Warning[];
  /** Contradictions for which a new expression is refused. */
  readonly refused: readonly RefusedExpression[];
  /** Those of both that are about members that no schema has. */
  readonly unknownMembers: ReadonlySet<Warning>;
}

/** Compares the expressions of a definition with the schemas of the steps in its scope. */
export function expressionNotes(definition: ControlDefinition, catalogue: StepCatalogue): ExpressionNotes {
  const notes: Warning[] = [];
  const refused: RefusedExpression[] = [];
  const unknownMembers = new Set<Warning>();
  let types: RegisteredStepTypes | undefined;
  let left = MAX_EXPRESSIONS;
  for (const { leaf, path } of leavesOf(definition.condition, 'data.condition')) {
    const { name, config } = leaf.evaluator;
    if (name !== 'cel' && name !== 'history') continue;
    types ??= registeredTypes(definition.scope ?? {}, catalogue);
    const read =
      name === 'cel'
        ? celExpressions(config, leaf.selector.path ?? '*', types)
        : whereExpressions(config, types, catalogue);
    for (const { expression, member, judged, isTyped } of read) {
      if (left === 0) break;
      left -= 1;
      const field = `${path}.evaluator.config.${member}`;
      for (const { problem, isError, isOwn } of judged.problems) {
        // Its own problems are found without schemas.
        if (isOwn) continue;
        const code = CODES[problem.code] ?? 'expression_type';
        const message = `${problemText(problem)} (by the schemas of steps that are registered by ${types.owner})`;
        const warning: Warning = { code, field, message };
        if (problem.code === 'unknown_member') unknownMembers.add(warning);
        if (isError) refused.push({ expression, warning });
        else notes.push(warning);
      }
      const unknown = isTyped ? unknownRoots(judged.reads, types) : [];
      if (unknown.length > 0) {
        const message =
          `the members of ${unknown.join(' and ')} that it reads are not checked: no step in the scope of the control has ` +
          `been registered with a schema by ${types.owner}`;
        notes.push({ code: 'untyped_expression', field, message });
      }
    }
  }
  return { notes, refused, unknownMembers };
}

/** An expression of a configuration, judged. */
interface Read {
  readonly expression: string;
  readonly member: string;
  readonly judged: JudgedExpression;
  /** Whether it is told when no schema says anything about what it reads. */
  readonly isTyped: boolean;
}

function* celExpressions(
  { expression }: JsonObject,
  selectorPath: string,
  types: RegisteredStepTypes,
): Generator<Read, void> {
  if (typeof expression !== 'string') return;
  const judged = judgeExpression(expression, selectorPath, types);
  yield { expression, member: 'expression', judged, isTyped: true };
}

/** The texts of `where`: earlier events have the types of the steps that they name, the present step those of the scope. */
function* whereExpressions(
  config: JsonObject,
  types: RegisteredStepTypes,
  catalogue: StepCatalogue,
): Generator<Read, void> {
  for (const name of ['event', 'anchor'] as const) {
    const event = config[name];
    if (!isObject(event) || !Array.isArray(event.where)) continue;
    const kinds = Array.isArray(event.kinds) ? event.kinds : [];
    const hasRun = kinds.every((kind) => kind === 'response' || kind === 'error');
    const names = Array.isArray(event.step_names) ? event.step_names : [];
    const earlier = registeredTypes(
      {
        step_names: names.filter((one) => typeof one === 'string'),
        stages: hasRun ? ['post'] : ['pre', 'post'],
      },
      catalogue,
    );
    const known = {
      certain: whereTypes(earlier.certain, types.certain),
      likely: whereTypes(earlier.likely, types.likely),
      isComplete: earlier.isComplete && types.isComplete,
    };
    for (const [index, expression] of event.where.entries()) {
      if (typeof expression !== 'string') continue;
      const judged = judgeVariables(expression, UNKNOWN_WHERE, known);
      yield { expression, member: `${name}.where[${index}]`, judged, isTyped: false };
    }
  }
}

const CODES: Readonly<Partial<Record<string, WarningCode>>> = {
  always_true: 'always_matches',
  always_false: 'never_matches',
};

/** Those of `input` and `output` of which the expression reads members, and no schema says anything. */
function unknownRoots(reads: readonly string[], { likely }: RegisteredStepTypes): string[] {
  return (['input', 'output'] as const).filter(
    (root) =>
      likely[root].kind === 'any' &&
      reads.some((read) => read.startsWith(root) && /[.[]/.test(read[root.length] ?? '')),
  );
}
