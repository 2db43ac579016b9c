import type * as rules from '../src/storage/database/migration-rules.js';

export function migrationProblems(
  migrations: readonly { name: string; sql: string; checksum: string }[],
  landed: Readonly<Record<string, string>>,
  rules: Pick<typeof rules, 'exclusionOf' | 'nonAdditive'>,
): string[];
