import { type FileDocument, readDocuments } from '../../../documents/src/index.js';
import { isObject } from '../../../exact-json/src/index.js';
import { type FileProblem, FilesError } from './problems.js';
import type { SourceDocument } from './read-documents.js';

/** The documents of a text. Throws a `FilesError` with all that is wrong with it. */
export function documentsOf(file: string, text: string): SourceDocument[] {
  const { documents, problems } = readDocuments(text);
  if (problems.length > 0) throw new FilesError(problems.map((problem) => ({ file, ...problem })));
  if (documents.length === 0) {
    throw new FilesError([
      {
        file,
        line: 1,
        column: 1,
        message: 'the file has no document; a document has at least kind and name',
      },
    ]);
  }
  const wrong: FileProblem[] = [];
  const read = documents.flatMap(({ value, placeOf }: FileDocument): SourceDocument[] => {
    if (isObject(value)) return [{ file, value, text, placeOf }];
    wrong.push({
      file,
      ...placeOf([]),
      message: 'a document must be an object, with at least kind and name',
    });
    return [];
  });
  if (wrong.length > 0) throw new FilesError(wrong);
  return read;
}
