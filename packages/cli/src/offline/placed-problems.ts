import type { z } from 'zod';
import { ControlDefinitionSchema } from '../../../../gen/proto/enforcement/v1/control_pb.js';
import { pathText } from '../../../../src/contract/warnings/request-warnings.js';
import { createSuggester } from '../../../../src/contract/warnings/suggestion.js';
import { unknownMembers } from '../../../../src/contract/warnings/unknown-members.js';
import type { SourceDocument } from '../files/documents-of.js';
import { type FileProblem, pathParts } from '../files/problems.js';

/** A document with the places of its members: of a file, or within another one. */
export type PlacedDocument = Omit<SourceDocument, 'text'>;

type Placed = Pick<PlacedDocument, 'file' | 'placeOf'>;

/** A problem at what a path of a document names, or at the nearest value around it. */
export function problemAt(
  { file, placeOf }: Placed,
  path: readonly PropertyKey[],
  message: string,
): FileProblem {
  const where = path.length === 0 ? '' : `${pathText(path.map(pathPart))}: `;
  return {
    file,
    ...placeOf(path),
    message: where !== '' && message.startsWith(where) ? message : where + message,
  };
}

/** The problems of a document that a schema found. `known`: members that a misspelled one may stand for. */
export function issueProblems(
  source: Placed,
  issues: readonly z.core.$ZodIssue[],
  known: readonly string[] = [],
  below: readonly PropertyKey[] = [],
): FileProblem[] {
  const suggester = createSuggester();
  return issues.flatMap((issue) => {
    const path = [...below, ...issue.path];
    if (issue.code !== 'unrecognized_keys') return [problemAt(source, path, issue.message)];
    return issue.keys.map((key) =>
      problemAt(source, [...path, key], `there is no such member here${suggester.didYouMean(key, known)}`),
    );
  });
}

/** Members of the definition that it does not have, about which the service would only warn. */
export function unknownInData({ file, value, placeOf }: PlacedDocument): FileProblem[] {
  return [
    ...unknownMembers(ControlDefinitionSchema, value.data ?? null, { spelling: 'rest', path: 'data' }),
  ].map(({ field, message }) => ({ file, ...placeOf(pathParts(field)), message: `${field}: ${message}` }));
}

const pathPart = (part: PropertyKey): string | number => (typeof part === 'number' ? part : String(part));
