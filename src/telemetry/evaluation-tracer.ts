import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, type Tracer, trace } from '@opentelemetry/api';
import { ServiceError } from '../contract/errors/service-error.js';
import type { EvaluationTracer } from '../decisions/traced-evaluations.js';
import { requestAttributes, SPAN_NAMES, verdictAttributes } from './span-attributes.js';
import { parentOf } from './trace-parent.js';

export interface EvaluationTracerOptions {
  /** Makes a span whenever it is asked: sampling is decided before. */
  readonly tracer: Tracer;
  /** Part of the evaluations without a parent that have a span, 0 to 1. */
  readonly ratio: number;
  /** 0 to 1. */
  readonly random: () => number;
}

/**
 * Makes one span for each sampled evaluation. A parent decides whether its evaluations are sampled, otherwise `ratio`
 * does. The parent is that of the evaluation, else that of its call.
 */
export function createEvaluationTracer({ tracer, ratio, random }: EvaluationTracerOptions): EvaluationTracer {
  return {
    start(request, caller) {
      const parent = parentOf(request.options?.traceparent ?? caller.header('traceparent'));
      const isSampled = parent === undefined ? random() < ratio : parent.traceFlags === TraceFlags.SAMPLED;
      if (!isSampled) return undefined;
      const attributes = requestAttributes(request, caller.protocol);
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      const span = tracer.startSpan(SPAN_NAMES.span, { kind: SpanKind.INTERNAL, attributes }, context);
      return {
        decided(verdict) {
          span.setAttributes(verdictAttributes(verdict));
          span.end();
        },
        failed(error) {
          const type = error instanceof ServiceError ? error.code : errorName(error);
          span.setAttribute(SPAN_NAMES.errorType, type);
          span.setStatus({ code: SpanStatusCode.ERROR, message: type });
          span.end();
        },
      };
    },
  };
}

const errorName = (error: unknown): string => (error instanceof Error ? error.name : 'Error');
