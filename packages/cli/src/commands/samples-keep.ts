import type { JsonObject } from '../../../exact-json/src/index.js';
import { isObject } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement samples keep --agent billing-bot-01 --share 0.05 --mask input.customer --hours 72',
      does: 'Keep some steps of an agent, masked, for three days',
    },
  ],
  options: {
    agent: { type: 'string', describe: 'Only steps of this agent' },
    control: { type: 'number', describe: 'Only steps that the control with this id was asked about' },
    share: { type: 'number', describe: 'Share of the steps, such as 0.05; 0.01 if it is not given' },
    mask: {
      type: 'string',
      array: true,
      describe: 'Paths of the step that are masked whatever they contain',
    },
    'mask-pattern': { type: 'string', array: true, describe: 'RE2 patterns of texts that are masked' },
    'max-bytes': { type: 'number', describe: 'Largest step that is kept' },
    hours: { type: 'number', describe: 'How long samples are kept' },
    until: { type: 'string', describe: 'When the rule ends by itself, such as 2026-12-31T00:00:00Z' },
  },
  async run(context, args) {
    const given = {
      agent_name: args.agent,
      control_id: args.control,
      share: args.share,
      masked_paths: args.mask,
      masked_patterns: args.maskPattern,
      max_bytes: args.maxBytes,
      retention_hours: args.hours,
      ends_at: args.until,
    };
    const body = Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ) as JsonObject;
    const { rest } = await context.connect();
    const { rule = null } = await rest.send('POST', '/api/v1/sampling-rules', body);
    const id = isObject(rule) ? rule.rule_id : undefined;
    await context.output(
      rule,
      `Rule ${id} keeps steps from now on; control-enforcement samples stop ${id} ends that.\n`,
    );
    return 0;
  },
});
