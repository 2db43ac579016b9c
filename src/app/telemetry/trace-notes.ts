import type { IncomingHttpHeaders } from 'node:http';
import type { SpanContext } from '@opentelemetry/api';
import type { TraceFacts } from '../../serve/call/call-host.js';
import { parentOf } from './trace-parent.js';

/** Which trace log lines name. */
export interface TraceNotes {
  /** Remembers the span of an evaluation that failed with `error`, which is logged by its call. */
  failed(error: unknown, span: Pick<SpanContext, 'traceId' | 'spanId'>): void;
  readonly facts: TraceFacts;
}

/**
 * A line about an evaluation with a span of its own names that span; other lines about a call name the span of its
 * caller, which is in the header `traceparent`.
 */
export function createTraceNotes(): TraceNotes {
  const spans = new WeakMap<object, object>();
  const namesOf = ({ traceId, spanId }: Pick<SpanContext, 'traceId' | 'spanId'>): object => ({
    trace_id: traceId,
    span_id: spanId,
  });
  return {
    failed(error, span) {
      // Several evaluations may fail with the same error, such as that of their call: the first one is named.
      if (typeof error !== 'object' || error === null || spans.has(error)) return;
      spans.set(error, namesOf(span));
    },
    facts(headers: IncomingHttpHeaders, error: unknown) {
      const known = typeof error === 'object' && error !== null ? spans.get(error) : undefined;
      if (known !== undefined) return known;
      const { traceparent } = headers;
      const parent = typeof traceparent === 'string' ? parentOf(traceparent) : undefined;
      return parent === undefined ? {} : namesOf(parent);
    },
  };
}
