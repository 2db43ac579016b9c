import type { z } from 'zod';

/** The message for a missing member. Deployed clients look for its first two words. */
export const FIELD_REQUIRED = 'Field required: this member is missing';

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'an object',
  record: 'an object',
  array: 'a list',
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
};

/** Options of every zod parse: issues keep their input, and wrong types get our messages. */
export const PARSE_OPTIONS = { reportInput: true, error: typeMessage } as const;

function typeMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  if (issue.input === undefined) return FIELD_REQUIRED;
  return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
}

/** The messages for an object that needs an example; `what` completes "must be". */
export function described(what: string): { error: (issue: z.core.$ZodRawIssue) => string } {
  return { error: ({ input }) => (input === undefined ? `Field required: ${what}` : `must be ${what}`) };
}
