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

/** Keywords whose value is one schema, a list of schemas, or schemas by name. */
export interface SchemaKeywords {
  readonly one: readonly string[];
  readonly list: readonly string[];
  readonly map: readonly string[];
}

/** What the dialects differ in. */
export interface Dialect {
  readonly keywords: ReadonlyMap<string, CompileKeyword>;
  readonly schemaKeywords: SchemaKeywords;
  /** Keywords that lead to another schema. */
  readonly references: readonly string[];
  /** Keywords that give a schema a name for references. */
  readonly anchors: readonly string[];
  /** Whether `$id` of a subschema may be a plain name, `#x`, for references. */
  readonly hasPlainIds: boolean;
  /** Whether a reference overrides all keywords next to it. */
  readonly overridingRef: boolean;
  /** Keywords with an effect that is not supported. */
  readonly unsupported: readonly string[];
  readonly meta: JsonObject;
}

const ONE = ['not', 'if', 'then', 'else', 'items', 'contains', 'additionalProperties', 'propertyNames'];
const LIST = ['allOf', 'anyOf', 'oneOf'];
const MAP = ['properties', 'patternProperties', 'dependencies', 'definitions'];

const DRAFT_7: Dialect = {
  keywords: new Map<string, CompileKeyword>([
    ...ASSERTIONS,
    ...IN_PLACE,
    ...MEMBERS,
    ['$ref', reference],
    ['items', items],
    ['additionalItems', additionalItems],
    ['contains', contains],
  ]),
  schemaKeywords: { one: [...ONE, 'additionalItems'], list: [...LIST, 'items'], map: MAP },
  references: ['$ref'],
  anchors: [],
  hasPlainIds: true,
  overridingRef: true,
  unsupported: [],
  meta: META_DRAFT_7,
};

const DRAFT_2020_12: Dialect = {
  keywords: new Map<string, CompileKeyword>([
    ...ASSERTIONS,
    ...IN_PLACE,
    ...MEMBERS,
    ['$ref', reference],
    ['$dynamicRef', reference],
    ['dependentRequired', dependencies],
    ['dependentSchemas', dependencies],
    ['prefixItems', prefixItems],
    ['items', itemsAfterPrefix],
    ['contains', countedContains],
    ['unevaluatedItems', unevaluatedItems],
    ['unevaluatedProperties', unevaluatedProperties],
  ]),
  schemaKeywords: {
    one: [...ONE, 'unevaluatedItems', 'unevaluatedProperties', 'contentSchema'],
    list: [...LIST, 'prefixItems'],
    map: [...MAP, 'dependentSchemas', '$defs'],
  },
  // A document is one resource, in which the dynamic scope cannot change the target of a reference.
  references: ['$ref', '$dynamicRef'],
  anchors: ['$anchor', '$dynamicAnchor'],
  hasPlainIds: false,
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
