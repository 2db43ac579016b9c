import { isIntegral, isNumber, isObject, type JsonValue } from '../../exact-json/src/index.js';

/** Whether a value is of a type of JSON Schema; 5.0 is an integer. */
export function isOfType(value: JsonValue, type: string): boolean {
  switch (type) {
    case 'integer':
      return isNumber(value) && isIntegral(value);
    case 'number':
      return isNumber(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}
