import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { maskCredentials } from '../secrets/mask-credentials.js';
import { isSecretMember } from '../secrets/secret-names.js';
import type { ErrorCode } from './error-table.js';
import { quoted } from './quoted.js';
import type { ErrorItem, ServiceError } from './service-error.js';

/** Errors about what the caller itself has sent. Others may be about data that were stored by someone else. */
const OWN_INPUT: ReadonlySet<ErrorCode> = new Set(['VALIDATION_ERROR', 'TEMPLATE_PARAMETER_INVALID']);

/** The message of an item, with the value that the author typed where that cannot be a secret or part of a step. */
export function itemMessage({ code }: Pick<ServiceError, 'code'>, item: ErrorItem): string {
  const { message, field = '', value } = item;
  if (item.quotable !== true || !OWN_INPUT.has(code)) return message;
  const shown = shortScalar(value);
  if (shown === undefined || field.split(/[.[\]]+/).some(isSecretMember)) return message;
  return `${message}; not ${shown}`;
}

/** What texts show of an item. */
export type ShownItem = Pick<ErrorItem, 'field' | 'message'>;

/** A problem in one text: where it is, and what is wrong there. */
export function problemText({ field, message }: ShownItem): string {
  return field === undefined ? message : `${field}: ${message}`;
}

/** An error in one text: every problem, or what is wrong as a whole, and what to do. */
export function wholeText(
  code: ErrorCode,
  {
    detail,
    items = [],
    hint,
  }: { detail: string; items?: readonly ShownItem[] | undefined; hint?: string | undefined },
): string {
  const problem = items.length === 0 ? detail : items.map(problemText).join('; ');
  // The advice about invalid requests is about the members of problem bodies.
  if (hint === undefined || code === 'VALIDATION_ERROR') return problem;
  return `${problem.replace(/\.?$/, '.')} ${hint}`;
}

function shortScalar(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') {
    // A text about a secret may hold it.
    return value.split(/[^a-z]+/i).some(isSecretMember) ? undefined : quoted(maskCredentials(value));
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
