import { type ErrorItem, type ErrorResource, ServiceError } from '../errors/service-error.js';

/**
 * All warning codes, with their treatment in strict mode. A `mistake` is in the written data: strict mode
 * rejects it. A `note` depends on other data, such as the registrations of agents: strict mode reports it and
 * continues. Codes never change meaning once released.
 */
export const WARNING_CODES = {
  /** A member that the service does not read. */
  unknown_member: 'mistake',
  /** A member that occurs in an object more than once; the last one counts. */
  duplicate_member: 'mistake',
  /** A value unknown to the service, in a place where unknown values are ignored. */
  unknown_value: 'mistake',
  /** An evaluator that the service lacks. */
  unknown_evaluator: 'mistake',
  /** An option that changes nothing, alone or together with the others. */
  no_effect: 'mistake',
  /** Something that matches nothing, whatever the data. */
  never_matches: 'mistake',
  /** A check that matches every step, or a control that does. */
  always_matches: 'mistake',
  /** A control whose matches are all matches of a control that denies, for the same agents. */
  hidden_by_deny: 'mistake',
  /** An expression that the registered schemas of steps contradict. */
  expression_type: 'mistake',
  /** A part of an expression whose type is not known, because no schema is registered. */
  untyped_expression: 'note',
  /** A step type that differs from a known one in a letter or in case. */
  misspelled_step_type: 'mistake',
  /** Blanks around a text that is compared exactly. */
  surrounding_blanks: 'mistake',
  /** Text in decomposed form (NFD), which does not equal the same text in composed form. */
  decomposed_text: 'mistake',
  /** Characters without width. */
  invisible_characters: 'mistake',
  /** A check that does not match when there are no data. */
  absent_data: 'mistake',
  /** A listed text that is found only next to a word character. */
  word_boundary: 'mistake',
  /** An allowed program that runs others. */
  allows_launcher: 'note',
  /** A context that the agent itself writes. */
  context_from_data: 'mistake',
  /** A template without all of its values. */
  incomplete_template: 'mistake',
  /** A step type that no agent has registered. */
  unregistered_step_type: 'note',
  /** A step name that no agent has registered. */
  unregistered_step_name: 'note',
  /** A pattern that matches no registered step name. */
  unmatched_step_name_regex: 'note',
  /** A selector that cannot match by the schemas of the registered steps. */
  unreachable_selector: 'note',
  /** A selector that looks like a list index, which selectors do not have. */
  list_index: 'note',
  /** A selector of the output in a control that runs before there is one. */
  output_before_step: 'note',
  /** A pattern for step names that does not match a name followed by a line break. */
  end_anchor: 'note',
  /** An evaluator that cannot be used with the settings of the service. */
  unconfigured_evaluator: 'mistake',
  /** An allow list of SQL under which any function may be called. */
  unknown_functions_allowed: 'note',
  /** An evaluator of clients, whose configuration the service cannot check. */
  client_evaluator: 'note',
  /** A control evaluated by clients, linked to an agent whose client may not support that. */
  client_side: 'note',
  /** A step that differs from the schemas that its agent registered. */
  schema_mismatch: 'note',
  /** A selector of a member that a registered schema does not guarantee. */
  path_not_guaranteed: 'note',
  /** A setting of an agent that is weaker than that of the service. */
  weaker_than_service: 'note',
  /** An agent lost a policy together with the labels that gave it. */
  policy_taken: 'note',
  /** An agent keeps a policy although it lost the labels that gave it. */
  policy_kept: 'note',
  /** A narrowed step that other controls deny. */
  denied_by_others: 'note',
  /** A change of an object that an owner applies as configuration. */
  applied_by_configuration: 'note',
  /** The registrations of agents could not be read, so that nothing was compared with them. */
  registrations_not_read: 'note',
  /** There are more warnings than are listed. */
  more_warnings: 'note',
} as const satisfies Record<string, 'mistake' | 'note'>;

export type WarningCode = keyof typeof WARNING_CODES;

/** A warning about an accepted request. */
export type Warning = {
  code: WarningCode;
  /** Path of the member that caused it, for example `data.condition.evaluator.name`. */
  field: string;
  /** A sentence without the path. */
  message: string;
};

/** Most warnings of each kind, mistakes and notes, that a reply lists. */
export const MAX_LISTED_WARNINGS = 100;

/** Whether strict mode rejects the subject of a warning. */
export function isMistake({ code }: Warning): boolean {
  return WARNING_CODES[code] === 'mistake';
}

/** Warnings as listed in a reply: mistakes first, each kind in order, at most MAX_LISTED_WARNINGS of each. */
export function listed(...sources: readonly Iterable<Warning>[]): Warning[] {
  const mistakes: Warning[] = [];
  const notes: Warning[] = [];
  let omitted = 0;
  for (const source of sources) {
    for (const warning of source) {
      const list = isMistake(warning) ? mistakes : notes;
      if (list.length < MAX_LISTED_WARNINGS) list.push(warning);
      else omitted += 1;
    }
  }
  const all = [...mistakes, ...notes];
  if (omitted > 0) {
    const message = `${omitted} more warning(s) are not listed`;
    all.push({ code: 'more_warnings', field: all[0]?.field ?? '', message });
  }
  return all;
}

/** Throws a VALIDATION_ERROR with an item for each mistake, when there are any. */
export function refuseMistakes(warnings: readonly Warning[], resource: ErrorResource): void {
  const items = mistakeItems(warnings, resource);
  if (items.length === 0) return;
  throw new ServiceError('VALIDATION_ERROR', {
    detail: `Request validation failed: strict mode refuses ${items.length} warning(s).`,
    hint: 'Each entry of errors names a member and what is wrong with it; without strict mode these are warnings.',
    kind: resource,
    items,
  });
}

/** The items of the warnings whose subject strict mode rejects. A member that has an error in `known` needs no other item. */
export function mistakeItems(
  warnings: readonly Warning[],
  resource: ErrorResource,
  known: readonly ErrorItem[] = [],
): ErrorItem[] {
  const fields = new Set(known.map(({ field }) => field));
  return warnings
    .filter((warning) => isMistake(warning) && !fields.has(warning.field))
    .map(({ code, field, message }) => ({ resource, field, code, message }));
}
