import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, type Tracer, trace } from '@opentelemetry/api';
import { ServiceError } from '../../contract/errors/service-error.js';
import { SPAN_NAMES } from '../../contract/telemetry/attribute-names.js';
import type { EvaluateRequest } from '../../decide/decisions/evaluate-request.js';
import type { EvaluationCaller } from '../../decide/decisions/evaluation-caller.js';
import type { EvaluationTracer } from '../../decide/decisions/traced-evaluations.js';
import { type GenAi, requestAttributes, verdictAttributes } from './span-attributes.js';
import type { TraceNotes } from './trace-notes.js';
import { parentOf } from './trace-parent.js';

export interface EvaluationTracerOptions {
  /** Makes a span whenever it is asked. */
  readonly tracer: Tracer;
  /** Part of the evaluations without a parent that have a span, 0 to 1. */
  readonly ratio: number;
  /** 0 to 1, without 1. */
  readonly random: () => number;
  readonly genAi: GenAi;
  readonly notes: Pick<TraceNotes, 'failed'>;
}

/**
 * Makes one span for each sampled evaluation. A parent decides whether its evaluations are sampled, otherwise `ratio`
 * does. This is the parent-based sampling of OpenTelemetry, decided before the SDK is asked: what is not sampled costs
 * no more than reading a header.
 */
export function createEvaluationTracer(options: EvaluationTracerOptions): EvaluationTracer {
  const { tracer, ratio, random, genAi, notes } = options;
  return {
    start(request, caller) {
      const parent = parentOfEvaluation(request, caller);
      const isSampled = parent === undefined ? random() < ratio : parent.traceFlags === TraceFlags.SAMPLED;
      if (!isSampled) return undefined;
      const attributes = requestAttributes(request, caller, genAi);
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      const span = tracer.startSpan(SPAN_NAMES.span, { kind: SpanKind.SERVER, attributes }, context);
      return {
        decided(verdict) {
          span.setAttributes(verdictAttributes(verdict, genAi));
          span.end();
        },
        failed(error) {
          const type = typeOf(error);
          span.setAttribute(SPAN_NAMES.errorType, type);
          span.setStatus({ code: SpanStatusCode.ERROR, message: type });
          span.end();
          notes.failed(error, span.spanContext());
        },
      };
    },
  };
}

/** That of the evaluation itself, else that of its call. */
function parentOfEvaluation({ options }: EvaluateRequest, caller: EvaluationCaller) {
  if (options?.traceparent !== undefined) return parentOf(options.traceparent);
  const traceparent = caller.header('traceparent');
  return traceparent === undefined ? undefined : parentOf(traceparent, caller.header('tracestate'));
}

/** The code of our errors, the class of others: never the message, which may contain parts of a step. */
function typeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.code;
  return error instanceof Error ? error.name : 'Error';
}
