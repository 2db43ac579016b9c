import type { EvaluatorInfo } from '@gen/enforcement/v1/evaluator_service_pb.js';

const BUILT_IN = new Set([
  'regex',
  'list',
  'json',
  'sql',
  'cel',
  'secrets',
  'pii',
  'injection',
  'url',
  'shell',
  'history',
  'rate',
  'budget',
  'concurrency',
  'loop',
]);

/** Where an evaluator comes from, in words. */
export function evaluatorKind({ name, requiresApiKey }: EvaluatorInfo): string {
  if (BUILT_IN.has(name)) return 'built in';
  return requiresApiKey ? 'external service' : 'custom';
}

/** A time limit in milliseconds as text. */
export function limitText(milliseconds: number): string {
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000} s` : `${milliseconds} ms`;
}
