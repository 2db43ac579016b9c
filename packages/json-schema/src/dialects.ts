import type { JsonObject } from '../../exact-json/src/index.js';
import { ASSERTIONS } from './assertions.js';
import { dependencies, IN_PLACE, reference } from './in-place.js';
import {
  additionalItems,
  contains,
  countedContains,
  items,
  itemsAfterPrefix,
  prefixItems,
  unevaluatedItems,
} from './items.js';
import type { CompileKeyword } from './keyword.js';
import { MEMBERS, unevaluatedProperties } from './members.js';
import { META_2020_12, META_DRAFT_7 } from './meta-schema.js';

/** Supported dialects. */
export type DialectName = 'draft-07' | '2020-12';

/** What the dialects differ in. */
export interface Dialect {
  readonly keywords: ReadonlyMap<string, CompileKeyword>;
  /** Keywords whose value is a schema or a list of schemas. */
  readonly ofSchemas: readonly string[];
  /** Keywords whose value is an object of schemas by name. */
  readonly ofNamedSchemas: readonly string[];
  /** Whether anchors give schemas names for references. In draft 7, `$id` does: `#x`. */
  readonly hasAnchors: boolean;
  /** Whether a reference overrides all keywords next to it. */
  readonly overridingRef: boolean;
  /** Keywords with an effect that is not supported. */
  readonly unsupported: readonly string[];
  readonly meta: JsonObject;
}

const COMMON: readonly (readonly [string, CompileKeyword])[] = [
  ...ASSERTIONS,
  ...IN_PLACE,
  ...MEMBERS,
  ['$ref', reference],
];
const OF_SCHEMAS = [
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'],
  ...['items', 'contains', 'additionalProperties', 'propertyNames'],
];
const OF_NAMED_SCHEMAS = ['properties', 'patternProperties', 'dependencies', 'definitions'];

const DRAFT_7: Dialect = {
  keywords: new Map([
    ...COMMON,
    ['items', items],
    ['additionalItems', additionalItems],
    ['contains', contains],
  ]),
  ofSchemas: [...OF_SCHEMAS, 'additionalItems'],
  ofNamedSchemas: OF_NAMED_SCHEMAS,
  hasAnchors: false,
  overridingRef: true,
  unsupported: [],
  meta: META_DRAFT_7,
};

const DRAFT_2020_12: Dialect = {
  keywords: new Map([
    ...COMMON,
    // A document is one resource, in which the dynamic scope cannot change the target.
    ['$dynamicRef', reference],
    ['dependentRequired', dependencies],
    ['dependentSchemas', dependencies],
    ['prefixItems', prefixItems],
    ['items', itemsAfterPrefix],
    ['contains', countedContains],
    ['unevaluatedItems', unevaluatedItems],
    ['unevaluatedProperties', unevaluatedProperties],
  ]),
  ofSchemas: [...OF_SCHEMAS, 'prefixItems', 'unevaluatedItems', 'unevaluatedProperties', 'contentSchema'],
  ofNamedSchemas: [...OF_NAMED_SCHEMAS, 'dependentSchemas', '$defs'],
  hasAnchors: true,
  overridingRef: false,
  unsupported: ['$recursiveRef', '$recursiveAnchor'],
  meta: META_2020_12,
};

/** Keywords of other dialects, and of compilers, that a lenient reader of draft 7 could mistake for effective. */
const FOREIGN = ['$anchor', '$dynamicRef', '$dynamicAnchor', ...DRAFT_2020_12.unsupported];

/** Rules of a dialect. A lenient reader of draft 7 applies what stands next to a reference. */
export function dialectOf(name: DialectName, lenient: boolean): Dialect {
  const dialect = name === 'draft-07' ? DRAFT_7 : DRAFT_2020_12;
  if (!lenient) return dialect;
  const unsupported = [...(name === 'draft-07' ? FOREIGN : dialect.unsupported), '$async'];
  return { ...dialect, overridingRef: false, unsupported };
}
