import { isObject, type JsonObject, type JsonValue } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';

const PAGE = 100;

export const command = defineCommand({
  examples: [
    { line: 'control-enforcement samples list --limit 20', does: 'List the steps that were kept last' },
  ],
  options: {
    agent: { type: 'string', describe: 'Only those of this agent' },
    rule: { type: 'number', describe: 'Only those of this rule' },
    limit: { type: 'number', default: 50, describe: 'Most samples' },
  },
  async run(context, { agent, rule, limit }) {
    const { rest } = await context.connect();
    const samples: JsonObject[] = [];
    let cursor: string | undefined;
    do {
      const query = {
        agent_name: agent,
        rule_id: rule,
        limit: Math.min(PAGE, limit - samples.length),
        cursor,
      };
      const page = await rest.get('/api/v1/samples', query);
      samples.push(...objects(page.samples));
      const { next_cursor: next = null } = isObject(page.pagination) ? page.pagination : {};
      cursor = typeof next === 'string' ? next : undefined;
    } while (cursor !== undefined && samples.length < limit);
    const rows = samples.map((one) => ({
      taken: String(one.taken_at),
      agent: String(one.agent_name),
      stage: String(one.stage),
      step: String(one.step_name),
      outcome: String(one.outcome),
      masked: String(one.masked_values),
      decision: String(one.decision_id),
    }));
    await context.output(samples, rows);
    return 0;
  },
});

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((one): one is JsonObject => isObject(one)) : [];
}
