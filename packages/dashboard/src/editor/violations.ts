import { ConnectError } from '@connectrpc/connect';
import type { LintFinding } from '@gen/enforcement/v1/configuration_service_pb.js';
import type { Warning } from '@gen/enforcement/v1/control_pb.js';
import { ErrorInfoSchema } from '@gen/google/rpc/error_details_pb.js';
import { fieldViolations } from '../data/field-violations.js';
import type { DraftProblem } from './problem.js';

/** What the server refuses about a draft; null for any other failure. */
export function refusedProblems(error: unknown): readonly DraftProblem[] | null {
  const violations = fieldViolations(error);
  return (
    violations?.map(({ path, message }) => ({ field: path, message, severity: 'error' as const })) ?? null
  );
}

export function warningProblems(warnings: readonly Warning[]): readonly DraftProblem[] {
  return warnings.map(({ field, message }) => ({ field, message, severity: 'warning' }));
}

/** Warnings, each with its rule if lint has it too, and what lint finds besides. */
export function withFindings(
  warnings: readonly DraftProblem[],
  findings: readonly LintFinding[],
): readonly DraftProblem[] {
  const rules = new Map(
    findings.map((one): [string, DraftProblem] => {
      const field = one.field.replace(/^data\.template_values/, 'template_values');
      const problem = { field, message: one.message, severity: 'warning', rule: one.rule } as const;
      return [`${field} ${one.message}`, problem];
    }),
  );
  const known = new Set(warnings.map(({ field, message }) => `${field} ${message}`));
  return [
    ...warnings.map((one) => rules.get(`${one.field} ${one.message}`) ?? one),
    ...[...rules].filter(([key]) => !known.has(key)).map(([, problem]) => problem),
  ];
}

/** The stable reason of a failed call, for example `VERSION_MISMATCH`, with its facts. */
export function errorInfoOf(error: unknown): {
  readonly reason: string;
  readonly facts: Readonly<Record<string, string>>;
} {
  const [info] = ConnectError.from(error).findDetails(ErrorInfoSchema);
  return { reason: info?.reason ?? '', facts: info?.metadata ?? {} };
}
