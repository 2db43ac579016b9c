import { createTraceState, type SpanContext, TraceFlags } from '@opentelemetry/api';
import { isTraceparent } from '../../decide/decisions/evaluation-options.js';

/** Where the parts of a `traceparent` are (https://www.w3.org/TR/trace-context/#traceparent-header-field-values). */
const TRACE = [3, 35] as const;
const SPAN = [36, 52] as const;
const FLAGS = [53, 55] as const;

/**
 * The span that a `traceparent` names, if it is sampled with the `tracestate` beside it; undefined for none, and for
 * one that is invalid.
 */
export function parentOf(
  traceparent: string | undefined,
  tracestate?: string | undefined,
): SpanContext | undefined {
  if (traceparent === undefined || !isTraceparent(traceparent)) return undefined;
  const traceFlags = Number.parseInt(traceparent.slice(...FLAGS), 16) & TraceFlags.SAMPLED;
  // Of what is not sampled nothing is sent.
  const isStateKept = tracestate !== undefined && traceFlags === TraceFlags.SAMPLED;
  return {
    traceId: traceparent.slice(...TRACE),
    spanId: traceparent.slice(...SPAN),
    traceFlags,
    isRemote: true,
    ...(isStateKept ? { traceState: createTraceState(tracestate) } : {}),
  };
}
