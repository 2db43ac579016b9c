import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import { MemoryStoreError } from '../../decide/memory/store/memory-store.js';
import type { MissingPart } from '../../kernel/core/memory.js';
import { unavailable } from '../../storage/database/errors.js';

export function keyNotFound(controlId: number, hasRules: boolean): ServiceError {
  return new ServiceError('MEMORY_KEY_NOT_FOUND', {
    detail: hasRules
      ? `Control ${controlId} keeps nothing for this key.`
      : `Control ${controlId} has no check with memory.`,
    hint: 'List the limits of the control, and correct the key.',
    name: String(controlId),
    kind: 'Control',
  });
}

/** No check of the control has a key that can be made of the request. */
export function keyIncomplete(missing: readonly MissingPart['missing'][]): ServiceError {
  return invalidRequest([...new Set(missing)].map(missingItem));
}

/** Members of MemoryKeyName that are parts of keys; every other part is a path in the step. */
const MEMBERS = new Set(['agent_name', 'session_id']);

function missingItem(part: string): ErrorItem {
  const isMember = MEMBERS.has(part);
  return {
    resource: 'Request',
    field: isMember ? `key.${part}` : 'key.step',
    code: 'missing',
    message: isMember
      ? 'is required: the key of the control has it'
      : `must have a value at ${part}: the key of the control has it`,
  };
}

/** Waits for the store of memory. Rejects with SERVICE_UNAVAILABLE if it does not answer. */
export async function answered<T>(work: Promise<T> | T): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof MemoryStoreError)) throw error;
    throw unavailable('The store of memory does not answer.', error);
  }
}
