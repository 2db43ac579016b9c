import type { TemplateService as TemplateServiceDesc } from '../../gen/proto/enforcement/v1/template_service_pb.js';
import { presentDefinition } from '../controls/definition-presentation.js';
import { createDefinitionSchema } from '../controls/definition-schema.js';
import type { EvaluatorRegistry } from '../evaluators/types.js';
import { type HandlersOf, handler } from '../rpc/handler.js';
import { renderTemplate } from './template-rendering.js';
import { templateInputOf, templateInputSchema } from './template-schema.js';

/** The RPCs of TemplateService. */
export function templateHandlers(registry: EvaluatorRegistry): HandlersOf<typeof TemplateServiceDesc> {
  const definitionSchema = createDefinitionSchema(registry);
  return {
    renderTemplate: handler(templateInputSchema, (read) => {
      const input = templateInputOf(read);
      const rendering = renderTemplate(input, definitionSchema);
      if (!rendering.complete) throw rendering.missing;
      const { definition, values } = rendering;
      return {
        control: presentDefinition({ ...definition, template: input.template, template_values: values }),
      };
    }),
  };
}
