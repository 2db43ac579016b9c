import { Document, type DocumentOptions, type SchemaOptions, type ToStringOptions } from 'yaml';
import { Decimal, type JsonValue } from '../../../exact-json/src/index.js';

/** How documents are printed: wide lines, no aliases, lists indented below their member. */
export const PRINT_OPTIONS: ToStringOptions = {
  indent: 2,
  lineWidth: 0,
  minContentWidth: 0,
  singleQuote: null,
  flowCollectionPadding: true,
  // Numbers of any length keep their digits.
  doubleQuotedAsJSON: false,
};

/** YAML 1.2 with numbers that no double holds, and without anchors. */
export const DOCUMENT_OPTIONS: DocumentOptions & SchemaOptions & { readonly aliasDuplicateObjects: false } = {
  version: '1.2',
  schema: 'core',
  aliasDuplicateObjects: false,
  customTags: (tags) => [
    ...tags,
    {
      tag: 'tag:yaml.org,2002:float',
      default: false,
      identify: (value) => value instanceof Decimal,
      resolve: (text: string) => text,
      stringify: ({ value }) => String(value),
    },
  ],
};

/** A value as a document of YAML, which `readDocuments` reads as the same value. */
export function yamlText(value: JsonValue): string {
  return new Document(value, DOCUMENT_OPTIONS).toString(PRINT_OPTIONS);
}
