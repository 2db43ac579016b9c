import { expect, it } from 'vitest';
import { EXAMPLE_TEMPLATES } from '../../packages/dashboard/src/templates/example-templates.js';
import { describeServiceOnSqlite } from '../support/service-suite.js';

describeServiceOnSqlite('the templates that the dashboard offers', ({ call }) => {
  it.each(EXAMPLE_TEMPLATES)('are rendered by the service: $id', async ({ template }) => {
    const parameters = Object.entries(template.parameters as Record<string, { placeholder?: unknown }>);
    const given = parameters.filter(([, { placeholder }]) => placeholder !== undefined);
    const template_values = Object.fromEntries(given.map(([name, { placeholder }]) => [name, placeholder]));
    const { status, body } = await call('POST', '/api/v1/control-templates/render', {
      template,
      template_values,
    });
    const warnings = (body.warnings ?? []) as { code: string }[];
    // No agent has the step that is the example of a name.
    const others = warnings.filter(({ code }) => code !== 'unregistered_step_name');
    expect([status, others]).toEqual([200, []]);
  });
});
