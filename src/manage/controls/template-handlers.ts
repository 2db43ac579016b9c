import type { TemplateService as TemplateServiceDesc } from '../../../gen/proto/enforcement/v1/template_service_pb.js';
import { type HandlersOf, handler } from '../../contract/call/handler.js';
import { listed, type Warning } from '../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { DbClient } from '../../storage/database/database.js';
import { renderTemplate } from '../templates/template-rendering.js';
import { renderRequestSchema, templateInputOf } from '../templates/template-schema.js';
import type { Reviewer } from './control-review.js';
import { presentDefinition } from './definition-presentation.js';
import { createDefinitionSchema } from './definition-schema.js';

/** The RPCs of TemplateService. */
export function templateHandlers(
  registry: EvaluatorRegistry,
  reviewer: Reviewer,
  client: DbClient,
): HandlersOf<typeof TemplateServiceDesc> {
  const definitionSchema = createDefinitionSchema(registry);
  return {
    renderTemplate: handler(renderRequestSchema, async ({ strict, ...read }, context) => {
      const input = templateInputOf(read);
      const rendering = renderTemplate(input, definitionSchema);
      if (!rendering.complete) throw rendering.missing;
      const { definition, values } = rendering;
      const control = { ...definition, template: input.template, template_values: values };
      const made = await reviewer.warningsOf(context, client, control);
      const warnings = listed(context.ignoredParts(), made.map(relativeToRequest));
      reviewer.demandEffect(warnings, strict);
      return { control: presentDefinition(control), warnings };
    }),
  };
}

/** The request has no member `data`, so paths omit it. */
function relativeToRequest(warning: Warning): Warning {
  return { ...warning, field: warning.field.replace(/^data\./, '') };
}
