import type { z } from 'zod';
import { callerError, type ErrorItem, ServiceError } from '../errors/service-error.js';
import type { Warning } from '../warnings/warning.js';
import { errorItems } from './items.js';
import { PARSE_OPTIONS } from './messages.js';

/** What requests are read as, by RPC, with the schemas of these. */
export type InputsOf<Schemas extends { readonly [rpc: string]: z.ZodType }> = {
  [Rpc in keyof Schemas]: z.output<Schemas[Rpc]>;
};

/** Reads an input: returns its value when it is valid, else its problems (at most MAX_ERROR_ITEMS items). */
export function inputItems<T>(schema: z.ZodType<T>, value: unknown): { value?: T; items: ErrorItem[] } {
  const read = schema.safeParse(value, PARSE_OPTIONS);
  return read.success ? { value: read.data, items: [] } : { items: errorItems(read.error) };
}

/** Reads an input. Throws a VALIDATION_ERROR with every problem when it is invalid. */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value, PARSE_OPTIONS);
  if (read.success) return read.data;
  throw invalidRequest(errorItems(read.error), read.error.issues.length);
}

/** Most members that a hint names. */
const MAX_HINTED_MEMBERS = 3;

/** Advice for every request with an invalid shape; for problem bodies, to whose `errors` it refers. */
export const SHAPE_HINT = 'Each entry of errors names a member and what is wrong with it.';

/** The error of a request with an invalid shape. `problems` is the total when `items` is truncated. */
export function invalidRequest(
  items: readonly ErrorItem[],
  problems = items.length,
  hint = SHAPE_HINT,
): ServiceError {
  return callerError('VALIDATION_ERROR', {
    detail: `Request validation failed: ${problems} ${problems === 1 ? 'problem' : 'problems'} in the request`,
    hint,
    items,
    requestValidation: true,
  });
}

/** Whether an error is about a request with an invalid shape. */
export function isInvalidRequest(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.options.requestValidation === true;
}

/** The error with a hint that names the members that are not read: one of them may be a misspelled required one. */
export function withUnreadHint(error: ServiceError, unread: Iterable<Pick<Warning, 'field' | 'message'>>) {
  const hint = unreadHint(unread);
  return hint === undefined ? error : callerError(error.code, { ...error.options, hint });
}

/** The hint of `withUnreadHint`; undefined without such members. */
export function unreadHint(unread: Iterable<Pick<Warning, 'field' | 'message'>>): string | undefined {
  const named: string[] = [];
  for (const { field, message } of unread) {
    named.push(`${field}: ${message}`);
    if (named.length === MAX_HINTED_MEMBERS) break;
  }
  return named.length === 0 ? undefined : `${SHAPE_HINT} Members that are not read: ${named.join(', ')}`;
}

type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Removes members without a value, which are not stored. */
export function withoutUndefined<T extends object>(members: T): Partial<Given<T>> {
  const given: Partial<T> = { ...members };
  for (const key in given) if (given[key] === undefined) delete given[key];
  return given as Partial<Given<T>>;
}
