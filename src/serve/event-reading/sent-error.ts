import { type Code, ConnectError } from '@connectrpc/connect';
import type { ErrorCode } from '../../contract/errors/error-table.js';
import {
  callerError,
  type ErrorItem,
  type ErrorOptions,
  ServiceError,
} from '../../contract/errors/service-error.js';
import { UndecodableBodyError } from '../rest/rest-body.js';
import { MappingError } from '../wire/mapping-error.js';

/** An error of a message, as it is sent from one thread to another: classes do not survive that. */
export type SentError =
  | { readonly kind: 'service'; readonly code: ErrorCode; readonly options: ErrorOptions }
  | {
      readonly kind: 'mapping';
      readonly code: string;
      readonly message: string;
      readonly path: (string | number)[];
    }
  | { readonly kind: 'status'; readonly code: Code; readonly message: string }
  | { readonly kind: 'undecodable'; readonly message: string }
  | { readonly kind: 'unexpected'; readonly message: string; readonly stack: string | undefined };

export function packError(error: unknown): SentError {
  if (error instanceof ServiceError) {
    const { cause: _, items, ...options } = error.options;
    const sent = items === undefined ? options : { ...options, items: items.map(withoutValue) };
    return { kind: 'service', code: error.code, options: sent };
  }
  if (error instanceof MappingError)
    return { kind: 'mapping', code: error.code, message: error.message, path: error.path };
  if (error instanceof ConnectError) return { kind: 'status', code: error.code, message: error.rawMessage };
  if (error instanceof UndecodableBodyError) return { kind: 'undecodable', message: error.message };
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { kind: 'unexpected', message, stack };
}

/** Callers see other values as redacted; they may be of classes, and large. Words and names may be quoted. */
function withoutValue(item: ErrorItem): ErrorItem {
  const { value, quotable } = item;
  if (quotable === true && typeof value === 'string') return item;
  if (value === undefined || value === null || typeof value === 'boolean' || typeof value === 'number')
    return item;
  return { ...item, value: '' };
}

export function unpackError(sent: SentError): Error {
  switch (sent.kind) {
    case 'service':
      return callerError(sent.code, sent.options);
    case 'mapping': {
      const error = new MappingError(sent.code, sent.message);
      error.path.push(...sent.path);
      return error;
    }
    case 'status':
      return new ConnectError(sent.message, sent.code);
    case 'undecodable':
      return new UndecodableBodyError(sent.message);
    case 'unexpected':
      return Object.assign(new Error(sent.message), { stack: sent.stack });
  }
}
