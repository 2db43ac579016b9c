import { RestError } from '../rest.js';
import type { SourceDocument } from './documents-of.js';
import { type FileProblem, FilesError, pathParts } from './problems.js';

/** `documents[3].data.scope` → 3 and `data.scope`; undefined for a field of no document. */
export function documentField(field: string): { readonly index: number; readonly path: string } | undefined {
  const found = /^documents\[(\d+)\](?:\.(.*))?$/s.exec(field);
  return found === null ? undefined : { index: Number(found[1]), path: found[2] ?? '' };
}

/** A refusal of documents with the places of their files; what names no document stays as it is. */
export function refusedInFiles(error: unknown, sources: readonly SourceDocument[]): unknown {
  if (!(error instanceof RestError) || error.items.length === 0) return error;
  const problems = error.items.map(({ field = '', message }) => placedInFiles(field, message, sources));
  const known = problems.filter((problem) => problem !== undefined);
  return known.length === problems.length ? new FilesError(known) : error;
}

/** A message of the server about a document, which its field names by index, or as KIND/NAME. */
export function placedInFiles(
  field: string,
  message: string,
  sources: readonly SourceDocument[],
): FileProblem | undefined {
  const indexed = documentField(field);
  const source =
    indexed === undefined
      ? sources.find(({ value }) => `${value.kind}/${value.name}` === field)
      : sources[indexed.index];
  if (source === undefined) return undefined;
  const path = indexed?.path ?? '';
  const where = indexed === undefined ? field : path;
  const named = withPlaces(message, sources);
  return {
    file: source.file,
    ...source.placeOf(pathParts(path)),
    message: where === '' ? named : `${where}: ${named}`,
  };
}

/** A message with the places of documents that it names by their index. */
export function withPlaces(
  message: string,
  sources: readonly (Pick<SourceDocument, 'file' | 'placeOf'> | undefined)[],
): string {
  return message.replaceAll(/documents\[(\d+)\]/g, (whole, index: string) => {
    const source = sources[Number(index)];
    return source === undefined ? whole : `the document in ${source.file}:${source.placeOf([]).line}`;
  });
}
