import type { ServiceError } from '../../contract/errors/service-error.js';
import { fieldPath } from '../../contract/input/items.js';
import { invalidRequest } from '../../contract/input/parse-input.js';

/** A message has a value without a plain equivalent. The path is extended as the error propagates. */
export class MappingError extends Error {
  readonly code: string;
  readonly path: (string | number)[] = [];

  constructor(code: string, message: string) {
    super(message);
    this.name = 'MappingError';
    this.code = code;
  }
}

/** Maps the value of a field; adds the field to the path of a MappingError. */
export function within<Value, Mapped>(
  name: string,
  index: number | null,
  map: (value: Value) => Mapped,
  value: Value,
): Mapped {
  try {
    return map(value);
  } catch (error) {
    if (error instanceof MappingError) {
      if (index !== null) error.path.unshift(index);
      error.path.unshift(name);
    }
    throw error;
  }
}

/** Converts a MappingError for the caller. */
export function mappingErrorToServiceError(error: MappingError): ServiceError {
  return invalidRequest([
    { resource: 'Request', field: fieldPath(error.path), code: error.code, message: error.message },
  ]);
}
