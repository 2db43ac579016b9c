import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import type { CheckCall, CompiledEvaluator } from './evaluator.js';
import type { EvaluatorPart } from './evaluator-part.js';
import type { PreparedNode } from './prepared-control.js';
import type { EvaluatorResult } from './types.js';

type PreparedLeaf = Extract<PreparedNode, { kind: 'leaf' }>;

/** Measures the leaves of one evaluation. For a program that is evaluated once. */
export interface Stopwatch {
  /** The same condition with measured leaves. Equal leaves stay equal. */
  measured(node: PreparedNode): PreparedNode;
  /** Duration of the evaluator of a measured leaf, in milliseconds; null when it did not run. */
  durationOf(leaf: PreparedLeaf): number | null;
  /** Result of the evaluator of a measured leaf; null when it did not run, or threw. */
  resultOf(leaf: PreparedLeaf): EvaluatorResult | null;
}

export interface StopwatchOptions {
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** Whether every leaf runs individually, to be timed, or the core may rule out many together. */
  readonly askEach: boolean;
}

export function createStopwatch({ now, askEach }: StopwatchOptions): Stopwatch {
  /** By path and position below `not`, as leaves are distinguished. */
  const measuredParts = new Map<string, Map<EvaluatorPart, EvaluatorPart>>();
  const durations = new Map<EvaluatorPart, number>();
  const results = new Map<EvaluatorPart, EvaluatorResult>();

  const measure = (part: EvaluatorPart): EvaluatorPart => {
    const { prefilter, trace, memory } = part.compiled;
    const compiled: CompiledEvaluator = {
      ...(askEach || prefilter === undefined ? {} : { prefilter }),
      ...(trace === undefined ? {} : { trace }),
      ...(memory === undefined ? {} : { memory }),
      evaluate(data: JsonValue, call: CheckCall): EvaluatorResult | Promise<EvaluatorResult> {
        const begun = now();
        const stop = () => {
          if (!durations.has(measured)) durations.set(measured, now() - begun);
        };
        let result: EvaluatorResult | Promise<EvaluatorResult>;
        try {
          result = part.compiled.evaluate(data, call);
        } catch (error) {
          stop();
          throw error;
        }
        if (!(result instanceof Promise)) {
          stop();
          results.set(measured, result);
          return result;
        }
        // The time of an aborted check, after a timeout or a matching deny, ends with the abort.
        call.signal.addEventListener('abort', stop, { once: true });
        result.then((settled) => {
          stop();
          results.set(measured, settled);
        }, stop);
        return result;
      },
    };
    const measured: EvaluatorPart = { ...part, compiled };
    return measured;
  };

  const measuredLeaf = ({ path, required, part, negated }: PreparedLeaf): PreparedLeaf => {
    const key = `${negated ? '!' : ''}${required ? '+' : ''}${path}`;
    let parts = measuredParts.get(key);
    if (parts === undefined) {
      parts = new Map();
      measuredParts.set(key, parts);
    }
    let measured = parts.get(part);
    if (measured === undefined) {
      measured = measure(part);
      parts.set(part, measured);
    }
    return { kind: 'leaf', path, required, part: measured, negated };
  };

  const watch: Stopwatch = {
    measured(node) {
      if (node.kind === 'leaf') return measuredLeaf(node);
      if (node.kind === 'not') return { kind: 'not', child: watch.measured(node.child) };
      return { kind: node.kind, children: node.children.map(watch.measured) };
    },
    durationOf: ({ part }) => durations.get(part) ?? null,
    resultOf: ({ part }) => results.get(part) ?? null,
  };
  return watch;
}
