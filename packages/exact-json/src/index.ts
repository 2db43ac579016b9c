export { Decimal } from './decimal.js';
export { decodeJsonText } from './decode-text.js';
export { duplicateNames } from './duplicate-names.js';
export {
  type FoldedName,
  folded,
  foldedName,
  inOtherCase,
  type ProtocolNames,
  protocolNames,
} from './folded-names.js';
export { isDeeperThan, MAX_JSON_DEPTH } from './json-depth.js';
export {
  JsonDuplicateError,
  JsonNumberError,
  JsonSyntaxError,
  JsonTooDeepError,
  JsonTooLargeError,
  JsonUndecodableError,
  withoutStack,
} from './json-errors.js';
export {
  compareNumbers,
  doubleOf,
  hasOnlyExactNumbers,
  integerOf,
  isIntegral,
  isMultiple,
  isNumber,
  type JsonNumber,
  jsonEqual,
} from './json-number.js';
export { isContainer, isObject, type JsonObject, type JsonValue } from './json-value.js';
export { mayLoseDigits } from './number-scan.js';
export { type DuplicateMembers, parseJson, parseStoredJson } from './parse-json.js';
export { PrintBuffer } from './print-buffer.js';
export { canonicalJson, stringifyJson } from './stringify-json.js';
