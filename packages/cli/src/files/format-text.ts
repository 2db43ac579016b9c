import { type Document, isMap, isScalar, parseAllDocuments, type YAMLMap } from 'yaml';
import { readDocuments } from '../../../documents/src/index.js';
import { canonicalJson, isObject } from '../../../exact-json/src/index.js';
import { CliError } from '../errors.js';
import { indented } from '../output.js';
import { inOrder, ORDERED_PATHS, rankOf } from './canonical-order.js';
import { documentsOf } from './documents-of.js';
import { PRINT_OPTIONS } from './yaml-text.js';

/** A text of documents in canonical form: order of members and indentation. Comments stay. Throws a `FilesError`. */
export function formattedText(file: string, text: string): string {
  const documents = documentsOf(file, text);
  if (file.endsWith('.json')) {
    return documents.map(({ value }) => `${indented(inOrder(value), '')}\n`).join('---\n');
  }
  const parsed = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    stringKeys: true,
    logLevel: 'silent',
  });
  const printed = (Array.isArray(parsed) ? parsed : [])
    .filter(({ contents }) => contents !== null)
    .map((document) => printedDocument(document))
    .join('---\n');
  // What the file means must not change, whatever the printer does.
  const before = documents.map(({ value }) => canonicalJson(value));
  const after = readDocuments(printed).documents.map(({ value }) =>
    isObject(value) ? canonicalJson(value) : '',
  );
  if (before.join('\n') === after.join('\n')) return printed;
  throw new CliError(`${file}:1:1: the file cannot be formatted without changing what it means`);
}

function printedDocument(document: Document.Parsed): string {
  for (const path of ORDERED_PATHS) {
    const node = path === '' ? document.contents : document.getIn(path.split('.'), true);
    if (!isMap(node)) continue;
    const first = node.items[0]?.key;
    // What is above the first member is about the whole document.
    if (path === '' && isScalar(first) && first.commentBefore != null) {
      node.commentBefore = [node.commentBefore, first.commentBefore]
        .filter((text) => text != null)
        .join('\n');
      first.commentBefore = null;
    }
    sortMembers(node, path);
  }
  const start = document.directives;
  // Markers between documents are written by the caller.
  if (start !== undefined) start.docStart = null;
  const text = document.toString(PRINT_OPTIONS).replace(/\n\.\.\.\n$/, '\n');
  return text.replace(/^---\n/, '');
}

function sortMembers(map: YAMLMap, path: string): void {
  const nameOf = (key: unknown): string => (isScalar(key) ? String(key.value) : '');
  map.items.sort((a, b) => rankOf(path, nameOf(a.key)) - rankOf(path, nameOf(b.key)));
}
