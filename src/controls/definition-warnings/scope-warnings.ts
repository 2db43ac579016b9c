import { quoted } from '../../contract/warnings/quoted.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { endsAtTextOnly } from '../../linear-text/end-anchor.js';
import { neverMatches } from '../../linear-text/never-matches.js';
import type { Scope } from '../definition.js';
import { textWarnings } from './text-warnings.js';

/** What there is to say about which steps a control looks at, whatever steps there are. */
export function* scopeWarnings(scope: Scope): Generator<Warning, void> {
  const { step_types: types = [], step_names: names = [], step_name_regex: regex = '' } = scope;
  yield* textWarnings(types, 'data.scope.step_types');
  yield* textWarnings(names, 'data.scope.step_names');
  for (const [index, name] of names.entries()) {
    if (name.trim() === name) continue;
    const message = `${quoted(name)} has blanks around it, and step names are compared exactly`;
    yield { code: 'surrounding_blanks', field: `data.scope.step_names[${index}]`, message };
  }
  if (regex !== '') yield* regexWarnings(regex, 'data.scope.step_name_regex');
}

function* regexWarnings(regex: string, field: string): Generator<Warning, void> {
  yield* textWarnings(regex, field);
  if (neverMatches(regex, { onlyNonEmptyTexts: true })) {
    yield { code: 'never_matches', field, message: 'the pattern is found in no step name' };
  } else if (endsAtTextOnly(regex)) {
    const message =
      '"$" is the very end of a step name: a name with a line break behind it is not looked at; ' +
      'write \\s*$ to look at that too';
    yield { code: 'end_anchor', field, message };
  }
}
