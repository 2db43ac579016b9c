import { type FileDocument, readDocuments } from '../../../documents/src/index.js';
import { isObject, type JsonObject } from '../../../exact-json/src/index.js';
import { type FileProblem, FilesError } from './problems.js';

/** A document of a file, as it is sent to the server. */
export interface SourceDocument {
  readonly file: string;
  readonly value: JsonObject;
  /** That of its file. */
  readonly text: string;
  /** The place of the member that a path names, or of the nearest value around it. */
  placeOf(path: readonly PropertyKey[]): Pick<FileProblem, 'line' | 'column'>;
}

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
