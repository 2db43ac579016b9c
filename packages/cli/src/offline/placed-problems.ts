import type { z } from 'zod';
import { pathText } from '../../../../src/contract/warnings/request-warnings.js';
import { createSuggester } from '../../../../src/contract/warnings/suggestion.js';
import type { FileProblem } from '../files/problems.js';
import type { SourceDocument } from '../files/read-documents.js';

/** A problem at what a path of a document names, or at the nearest value around it. */
export function problemAt(
  { file, placeOf }: Pick<SourceDocument, 'file' | 'placeOf'>,
  path: readonly PropertyKey[],
  message: string,
): FileProblem {
  const where = path.length === 0 ? '' : `${pathText(path.map(pathPart))}: `;
  return { file, ...placeOf(path), message: `${where}${message}` };
}

/** The problems of a document that a schema found. `known`: members that a misspelled one may stand for. */
export function issueProblems(
  source: Pick<SourceDocument, 'file' | 'placeOf'>,
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

/** `data.and[0]` → `['data', 'and', 0]`, as fields of warnings and errors have it. */
export function pathOfField(field: string): PropertyKey[] {
  return (field.match(/[^.[\]]+/g) ?? []).map((part) => (/^[0-9]+$/.test(part) ? Number(part) : part));
}

const pathPart = (part: PropertyKey): string | number => (typeof part === 'number' ? part : String(part));
