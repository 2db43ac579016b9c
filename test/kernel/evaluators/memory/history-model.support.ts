import { type CompiledExpression, compileExpression } from '../../../../packages/cel/src/index.js';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { MemoryCall, StepEvent } from '../../../../src/kernel/core/memory.js';
import { UNKNOWN_WHERE } from '../../../../src/kernel/evaluators/memory/history-where.js';
import type { Moment } from './history.support.js';

/** An event of a trace, whole: the interpreter forgets nothing. */
export interface TracedEvent {
  readonly atUs: number;
  readonly kind: StepEvent;
  readonly call: MemoryCall;
}

interface EventOf {
  readonly kinds: readonly StepEvent[];
  readonly step_names?: readonly string[];
  readonly where?: readonly string[];
}

/** A generated statement. */
export interface Statement {
  readonly op: string;
  readonly windowUs: number;
  readonly event: EventOf;
  readonly anchor?: EventOf;
  readonly value?: string;
  readonly compare?: Readonly<Record<string, number>>;
  readonly include_current?: boolean;
  readonly key: readonly string[];
}

export type Expected = boolean | 'error';

/** Reads a statement over all events that there were, by the letter of its definition. */
export function interpret(
  statement: Statement,
  trace: readonly TracedEvent[],
  call: MemoryCall,
  { nowUs, isRepeated }: Moment,
): Expected {
  const own = trace.filter(
    ({ atUs, call: other, kind }) =>
      nowUs - atUs <= statement.windowUs &&
      keyOf(statement, other) === keyOf(statement, call) &&
      !(isRepeated && kind !== 'denied' && isSameStep(other, call)),
  );
  const satisfied = (of: EventOf, { kind, call: other }: Omit<TracedEvent, 'atUs'>): boolean =>
    of.kinds.includes(kind) &&
    (of.step_names === undefined || of.step_names.includes(other.step.name)) &&
    (of.where ?? []).every((text) => holds(text, eventValue(other, kind), call));
  const { op, event, anchor, value } = statement;
  const found = own.filter((one) => satisfied(event, one));
  if (op === 'formerly') return found.length > 0;
  if (op === 'previous') {
    const last = own.filter(({ kind }) => event.kinds.includes(kind)).at(-1);
    return last !== undefined && satisfied(event, last);
  }
  if (op === 'not_since') {
    const anchors = anchor === undefined ? [] : own.filter((one) => satisfied(anchor, one));
    return anchors.some(({ atUs }) => found.every((one) => one.atUs <= atUs));
  }
  const valued = (of: MemoryCall): JsonValue | undefined => memberAt(of, value ?? 'name');
  const counts = (item: JsonValue | undefined): boolean =>
    op === 'count' || (op === 'sum' ? typeof item === 'number' : item !== undefined && item !== null);
  const values = found.map((one) => valued(one.call)).filter(counts);
  if (statement.include_current === true) {
    const before = event.kinds.includes('request') ? 'request' : 'response';
    const after = call.identity.error === null ? 'response' : 'error';
    const kind = call.stage === 'pre' ? before : after;
    if (satisfied(event, { kind, call })) {
      const present = valued(call);
      if (!counts(present)) return 'error';
      values.push(present);
    }
  }
  const [comparison = '', than = 0] = Object.entries(statement.compare ?? {})[0] ?? [];
  // Tenths are exact as integers.
  const number =
    op === 'count'
      ? values.length * 10
      : op === 'sum'
        ? values.reduce<number>((sum, item) => sum + Math.round(Number(item) * 10), 0)
        : new Set(values.map((item) => JSON.stringify(item))).size * 10;
  return COMPARE[comparison]?.(number, Math.round(than * 10)) ?? 'error';
}

const COMPARE: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  gt: (left, right) => left > right,
  gte: (left, right) => left >= right,
  lt: (left, right) => left < right,
  lte: (left, right) => left <= right,
  eq: (left, right) => left === right,
};

function isSameStep(one: MemoryCall, other: MemoryCall): boolean {
  const [left, right] = [one.identity, other.identity];
  return (
    left.stepId !== null &&
    one.stage === other.stage &&
    left.stepId === right.stepId &&
    left.sessionId === right.sessionId &&
    left.agent === right.agent
  );
}

function keyOf({ key }: Statement, call: MemoryCall): string {
  const { agent, sessionId } = call.identity;
  return JSON.stringify(
    key.map((part) => {
      if (part === 'session') return [agent, sessionId];
      if (part === 'agent') return agent;
      return part === 'namespace' ? null : (memberAt(call, part) ?? null);
    }),
  );
}

function memberAt({ step }: MemoryCall, path: string): JsonValue | undefined {
  let at: JsonValue | undefined = step as unknown as JsonObject;
  for (const name of path.split('.')) at = (at as JsonObject | null | undefined)?.[name];
  return at;
}

function eventValue({ step, identity }: MemoryCall, kind: StepEvent): JsonObject {
  const { type, name, input, output, context } = step;
  return { kind, step: { type, name }, input, output, error: identity.error, context: context ?? {} };
}

const compiled = new Map<string, CompiledExpression>();

/** The whole text at once, over the whole event: what fails is not true. */
function holds(text: string, event: JsonObject, { step }: MemoryCall): boolean {
  let expression = compiled.get(text);
  if (expression === undefined) {
    expression = compileExpression(text, { variables: UNKNOWN_WHERE, strictTypes: false });
    compiled.set(text, expression);
  }
  const { input, output, context, type, name } = step;
  const values: readonly JsonValue[] = [event, input, output, context ?? {}, { type, name }];
  const result = expression.evaluate({ variable: (index) => values[index] ?? null }, () => Number.NaN);
  return result.ok && result.value === true;
}
