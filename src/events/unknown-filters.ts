import { invalidRequest } from '../contract/input/parse-input.js';
import type { Warning } from '../contract/warnings/warning.js';

/**
 * Throws a VALIDATION_ERROR for filters that do not exist, with an item for each: without them a search would find
 * more than was asked for.
 */
export function refuseUnknownFilters(ignored: readonly Warning[]): void {
  if (ignored.length === 0) return;
  throw invalidRequest(
    ignored.map(({ code, field, message }) => ({
      resource: 'Request',
      field,
      code: 'extra_forbidden',
      message: code === 'unknown_member' ? message.replace('unknown member', 'unknown filter') : message,
    })),
  );
}
