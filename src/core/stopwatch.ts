import type { JsonValue } from '../json/json-value.js';
import type { CheckCall, CompiledEvaluator } from './evaluator.js';
import type { EvaluatorPart } from './evaluator-part.js';
import type { PreparedNode } from './prepared-control.js';
import type { EvaluatorResult } from './types.js';

type PreparedLeaf = Extract<PreparedNode, { kind: 'leaf' }>;

/** Measures the leaves of one evaluation. For a program that is evaluated once. */
export interface Stopwatch {
  /** The same condition, its leaves measured. Leaves that say the same stay such. */
  measured(node: PreparedNode): PreparedNode;
  /** How long the evaluator of a measured leaf took, in milliseconds; null when it was not asked. */
  durationOf(leaf: PreparedLeaf): number | null;
}

export interface StopwatchOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Whether every leaf is to be asked by itself, so that each has its time, or the core may rule out many at once. */
  readonly askEach: boolean;
}

export function createStopwatch({ now, askEach }: StopwatchOptions): Stopwatch {
  /** By path and place below `not`, as leaves are told apart. */
  const measuredParts = new Map<string, Map<EvaluatorPart, EvaluatorPart>>();
  const durations = new Map<EvaluatorPart, number>();

  const measure = (part: EvaluatorPart): EvaluatorPart => {
    const { prefilter } = part.compiled;
    const compiled: CompiledEvaluator = {
      ...(askEach || prefilter === undefined ? {} : { prefilter }),
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
          return result;
        }
        // A check that is given up, because its time is up or a deny has matched, has taken until then.
        call.signal.addEventListener('abort', stop, { once: true });
        result.then(stop, stop);
        return result;
      },
    };
    const measured: EvaluatorPart = { ...part, compiled };
    return measured;
  };

  const measuredLeaf = ({ path, part, negated }: PreparedLeaf): PreparedLeaf => {
    const key = `${negated ? '!' : ''}${path}`;
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
    return { kind: 'leaf', path, part: measured, negated };
  };

  const watch: Stopwatch = {
    measured(node) {
      if (node.kind === 'leaf') return measuredLeaf(node);
      if (node.kind === 'not') return { kind: 'not', child: watch.measured(node.child) };
      return { kind: node.kind, children: node.children.map(watch.measured) };
    },
    durationOf: ({ part }) => durations.get(part) ?? null,
  };
  return watch;
}
