import { ControlDefinitionSchema } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { unknownMembers } from '../../contract/warnings/unknown-members.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { isPlaceholder } from '../../templates/bindings.js';
import { missingParameters } from '../../templates/template-values.js';
import { isDraft, type StoredControl } from '../definition.js';

/** What there is to say about the template of a control, if it has one. */
export function* templateWarnings(control: StoredControl): Generator<Warning, void> {
  const { template, template_values: values = {} } = control;
  if (template === undefined) return;
  if (isDraft(control)) {
    for (const name of missingParameters({ template, template_values: values })) {
      const message = `Stored as disabled draft: template_values.${name} is missing`;
      yield { code: 'incomplete_template', field: `template_values.${name}`, message };
    }
  }
  yield* unknownMembers(ControlDefinitionSchema, template.definition_template, {
    spelling: 'rest',
    path: 'data.template.definition_template',
    isPlaceholder,
  });
}
