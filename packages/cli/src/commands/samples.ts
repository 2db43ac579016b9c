import { isObject, type JsonObject, parseJson } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';
import { objects } from '../listing.js';
import { indented, plain } from '../output.js';

export const listSamplingRules = defineCommand({
  examples: [
    { line: 'control-enforcement samples rules', does: 'List which steps are kept, and how many are' },
  ],
  async run(context) {
    const { rest } = await context.connect();
    const { rules, encrypted } = await rest.get('/api/v1/sampling-rules');
    const all = objects(rules);
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

export const keepSamples = defineCommand({
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

export const stopSamples = defineCommand({
  examples: [
    // There is no such rule.
    { line: 'control-enforcement samples stop 99 --delete', does: 'Delete a rule and its samples', code: 1 },
  ],
  positionals: { rule: { type: 'number', demandOption: true, describe: 'Id of the rule' } },
  options: {
    delete: {
      type: 'boolean',
      default: false,
      describe: 'Delete its samples as well, rather than after their time',
    },
  },
  async run(context, { rule, delete: withSamples }) {
    const { rest } = await context.connect();
    const path = `/api/v1/sampling-rules/${rule}?delete_samples=${withSamples}`;
    const reply = await rest.send('DELETE', path);
    const count = reply.deleted_samples ?? 0;
    await context.output(reply, `Rule ${rule} is deleted${withSamples ? `, and ${count} samples` : ''}.\n`);
    return 0;
  },
});

const PAGE = 100;

export const listSamples = defineCommand({
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

export const showSample = defineCommand({
  examples: [
    {
      line: 'control-enforcement samples show 5f0c1c5e-0000-4000-8000-000000000000',
      does: 'Print the step of a decision',
      // There is none with this id.
      code: 1,
    },
  ],
  positionals: { decision: { type: 'string', demandOption: true, describe: 'Id of the decision' } },
  async run(context, { decision }) {
    const { rest } = await context.connect();
    const {
      sample = null,
      step_json,
      session_id,
      target,
    } = await rest.get(`/api/v1/samples/${encodeURIComponent(decision)}`);
    const step = typeof step_json === 'string' ? parseJson(step_json) : null;
    const { outcome, agent_name, stage, taken_at, masked_values } = isObject(sample) ? sample : {};
    const about = [
      `${outcome} for ${agent_name} at the stage ${stage}, ${taken_at}`,
      ...(typeof session_id === 'string' ? [`session ${session_id}`] : []),
      ...(typeof target === 'string' ? [`target ${target}`] : []),
      masked_values === 1 ? '1 value is masked' : `${masked_values} values are masked`,
    ];
    const text = plain(`${about.join('\n')}\n${indented(step, '')}\n`);
    await context.output({ sample, step, session_id: session_id ?? null, target: target ?? null }, text);
    return 0;
  },
});
