import { isObject, type JsonObject } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';

export const command = defineCommand({
  examples: [
    { line: 'control-enforcement samples rules', does: 'List which steps are kept, and how many are' },
  ],
  async run(context) {
    const { rest } = await context.connect();
    const { rules = [], encrypted } = await rest.get('/api/v1/sampling-rules');
    const all = Array.isArray(rules) ? rules.filter((one): one is JsonObject => isObject(one)) : [];
    if (encrypted === false && all.length > 0) {
      await context.warn(
        'samples are stored masked, not encrypted: the service has no SERVICE_SAMPLE_KEY_FILE',
      );
    }
    const rows = all.map((rule) => ({
      rule: String(rule.rule_id),
      agent: String(rule.agent_name ?? '*'),
      control: String(rule.control_id ?? '*'),
      share: String(rule.share),
      hours: String(rule.retention_hours),
      ends: String(rule.ends_at ?? 'never'),
      samples: String(rule.sample_count),
    }));
    await context.output({ rules: all, encrypted: encrypted ?? null }, rows);
    return 0;
  },
});
