import type { WarningCode } from '../../contract/warnings/warning.js';

export const SEVERITIES = ['error', 'warning', 'note'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** All rules with their severities. Each has a section in docs/lint.md. Ids never change meaning once released. */
export const LINT_RULES = {
  // What the definition alone says.
  'invalid-document': 'error',
  'always-true': 'warning',
  'never-true': 'error',
  'no-effect': 'warning',
  'unread-member': 'warning',
  'unknown-value': 'warning',
  'unknown-evaluator': 'error',
  'unconfigured-evaluator': 'error',
  'client-evaluator': 'note',
  'incomplete-template': 'warning',
  'surrounding-blanks': 'warning',
  'decomposed-text': 'warning',
  'invisible-characters': 'warning',
  'absent-data': 'warning',
  'word-boundary': 'warning',
  'allows-launcher': 'note',
  'context-from-data': 'warning',
  'list-index': 'warning',
  'output-before-step': 'warning',
  'end-anchor': 'note',
  'unknown-functions-allowed': 'note',
  'missing-steering-message': 'warning',
  'detector-without-threshold': 'note',
  'window-beyond-retention': 'error',
  // What the registrations of agents say.
  'unreachable-scope': 'warning',
  'unknown-member': 'warning',
  'expression-type': 'error',
  'untyped-expression': 'note',
  'path-not-guaranteed': 'note',
  // What the set says.
  'unlinked-control': 'warning',
  'unlinked-policy': 'warning',
  'shadowed-by-deny': 'warning',
  'overlapping-duplicate': 'warning',
  'prerequisite-never-permitted': 'error',
  // About lint itself.
  'invalid-disable-comment': 'error',
  'unused-disable-comment': 'note',
  'incomplete-lint': 'note',
} as const satisfies Record<string, Severity>;

export type LintRule = keyof typeof LINT_RULES;

/** The rules of warnings about definitions; null for warnings about other things. */
const RULES_OF_WARNINGS: Readonly<Record<WarningCode, LintRule | null>> = {
  unknown_member: 'unread-member',
  duplicate_member: 'unread-member',
  unknown_value: 'unknown-value',
  unknown_evaluator: 'unknown-evaluator',
  no_effect: 'no-effect',
  never_matches: 'never-true',
  always_matches: 'always-true',
  hidden_by_deny: 'shadowed-by-deny',
  expression_type: 'expression-type',
  untyped_expression: 'untyped-expression',
  misspelled_step_type: 'unreachable-scope',
  surrounding_blanks: 'surrounding-blanks',
  decomposed_text: 'decomposed-text',
  denied_by_others: null,
  invisible_characters: 'invisible-characters',
  absent_data: 'absent-data',
  word_boundary: 'word-boundary',
  allows_launcher: 'allows-launcher',
  context_from_data: 'context-from-data',
  incomplete_template: 'incomplete-template',
  unregistered_step_type: 'unreachable-scope',
  unregistered_step_name: 'unreachable-scope',
  unmatched_step_name_regex: 'unreachable-scope',
  unreachable_selector: 'unknown-member',
  list_index: 'list-index',
  output_before_step: 'output-before-step',
  end_anchor: 'end-anchor',
  unconfigured_evaluator: 'unconfigured-evaluator',
  unknown_functions_allowed: 'unknown-functions-allowed',
  client_evaluator: 'client-evaluator',
  client_side: null,
  schema_mismatch: null,
  path_not_guaranteed: 'path-not-guaranteed',
  weaker_than_service: null,
  policy_taken: null,
  policy_kept: null,
  applied_by_configuration: null,
  registrations_not_read: null,
  more_warnings: null,
};

/** The rule that a warning about a definition belongs to. A scope that no name satisfies is unreachable. */
export function ruleOfWarning({
  code,
  field,
}: {
  readonly code: WarningCode;
  readonly field: string;
}): LintRule | null {
  return code === 'never_matches' && field.startsWith('data.scope')
    ? 'unreachable-scope'
    : RULES_OF_WARNINGS[code];
}

/** Something that a rule finds in a document. */
export interface LintFinding {
  readonly rule: LintRule;
  readonly severity: Severity;
  /** Index of the document. */
  readonly document: number;
  /** Path of the member in the document; empty for the document itself. */
  readonly field: string;
  readonly message: string;
}

export function finding(rule: LintRule, document: number, field: string, message: string): LintFinding {
  return { rule, severity: LINT_RULES[rule], document, field, message };
}
