import type {
  CelResult,
  CelValues,
  CompiledExpression,
  TracedExpression,
} from '../../../../packages/cel/src/index.js';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { CheckCall } from '../../core/evaluator.js';
import { VARIABLE_NAMES } from './variables.js';

/** A step without a context has an empty one: its members are missing, as those of a context that lacks them. */
const NO_CONTEXT: JsonObject = {};

/**
 * The values of the variables in one check. One object serves all checks, because a check of an expression runs to its end
 * before the next one begins; it keeps nothing between them.
 */
class StepValues implements CelValues {
  #call: CheckCall | null = null;
  #data: JsonValue = null;

  begin(call: CheckCall, data: JsonValue): void {
    this.#call = call;
    this.#data = data;
  }

  end(): void {
    this.#call = null;
    this.#data = null;
  }

  variable(index: number): JsonValue {
    const call = this.#current();
    switch (VARIABLE_NAMES[index]) {
      case 'input':
        return call.step.input ?? null;
      case 'output':
        return call.step.output ?? null;
      case 'context':
        return call.step.context ?? NO_CONTEXT;
      case 'type':
        return call.step.type;
      case 'name':
        return call.step.name;
      case 'stage':
        return call.stage;
      case 'agent':
        // Reading what is not known is an error before.
        return { name: call.agent?.name ?? '', metadata: call.agent?.metadata ?? {} };
      case 'value':
        return this.#data;
      default:
        throw new Error(`an expression has no variable ${index}`);
    }
  }

  readonly nowMs = (): number => this.#current().nowMs();

  readonly spend = (steps: number): void => this.#current().spend?.(steps);

  #current(): CheckCall {
    if (this.#call === null) throw new Error('an expression was evaluated outside of a check');
    return this.#call;
  }
}

const shared = new StepValues();

/** The result of an expression for the data of a check. */
export function evaluateFor(expression: CompiledExpression, data: JsonValue, call: CheckCall): CelResult {
  shared.begin(call, data);
  try {
    return expression.evaluate(shared, shared.nowMs, shared.spend);
  } finally {
    shared.end();
  }
}

/** The values of the sub-expressions of an expression for the data of a check. */
export function traceFor(
  expression: CompiledExpression,
  data: JsonValue,
  call: CheckCall,
): readonly TracedExpression[] {
  shared.begin(call, data);
  try {
    return expression.trace(shared, shared.nowMs).parts;
  } finally {
    shared.end();
  }
}
