import { readdirSync, readFileSync } from 'node:fs';
import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { Dialect } from '../../../../packages/sql-reader/src/index.js';

/** What a database does with the text of a case. */
export type Effect = 'none' | 'rows' | 'schema' | 'refused';

/** A text, in dialects that give the same verdict, and why. */
export interface SqlCase {
  readonly why: string;
  readonly dialects: readonly Dialect[];
  readonly config: JsonObject;
  readonly query: string;
  readonly context?: JsonObject;
  readonly matched: boolean;
  /** Members that the metadata have. */
  readonly metadata?: JsonObject;
  /** What a real database does, or what each one does; absent where it has not what the text needs. */
  readonly effect?: Effect | Partial<Record<Dialect, Effect>>;
  /** Whether the rows of `secrets` come out. */
  readonly reveals?: boolean;
}

const directory = new URL('../../../sql-cases/', import.meta.url);

export const caseFiles = readdirSync(directory)
  .filter((file) => file.endsWith('.json'))
  .map((file) => ({
    file,
    ...(JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as { name: string; cases: SqlCase[] }),
  }));

/** Every case of a dialect, one by one. */
export function casesOf(dialect: Dialect) {
  return caseFiles.flatMap(({ file, cases }) =>
    cases
      .filter(({ dialects }) => dialects.includes(dialect))
      .map((one) => ({ ...one, file, shown: JSON.stringify(one.query) })),
  );
}
