import { isObject, type JsonObject } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';
import { CliError, UsageError } from '../errors.js';
import { EXPAND_ENV, readFiles } from '../files/read-documents.js';
import { refusedInFiles } from '../files/refused-documents.js';
import { objects } from '../listing.js';
import { plain } from '../output.js';

const AGE = /^(\d{1,4})(m|h|d)$/;
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement replay --controls controls --since 7d',
      does: 'Show which recorded steps would get another verdict',
    },
    {
      line: 'control-enforcement replay --without no-card-numbers --fail-on-change',
      does: 'End with 2 if anything depends on a control',
      code: 0,
    },
  ],
  options: {
    controls: {
      type: 'string',
      array: true,
      describe: 'Files and folders with proposed controls, policies and links; the others stay as they are',
    },
    without: { type: 'string', array: true, describe: 'Names of controls that are taken away' },
    since: {
      type: 'string',
      default: '7d',
      describe: 'Only samples of this time, such as 30m, 12h or 7d, or since a time',
    },
    agent: { type: 'string', describe: 'Only samples of this agent' },
    'max-samples': { type: 'number', describe: 'Most samples; the latest ones' },
    'max-changes': {
      type: 'number',
      default: 100,
      describe: 'Most changed verdicts that are shown; all are counted',
    },
    'fail-on-change': { type: 'boolean', default: false, describe: 'End with 2 if a verdict changes' },
    ...EXPAND_ENV,
  },
  async run(context, args) {
    const { controls = [], without = [], agent, maxSamples, maxChanges, expandEnv } = args;
    const sources = controls.length === 0 ? [] : await readFiles(context, controls, { expandEnv });
    const body: JsonObject = {
      documents: sources.map(({ value }) => value),
      without_controls: without,
      since: sinceOf(args.since, Date.now()),
      max_changes: maxChanges,
      ...(agent === undefined ? {} : { agent_name: agent }),
      ...(maxSamples === undefined ? {} : { max_samples: maxSamples }),
    };
    const { rest } = await context.connect();
    const changes: JsonObject[] = [];
    let summary: JsonObject | undefined;
    try {
      for await (const { change, progress, summary: last } of rest.lines('/api/v1/samples/replay', body)) {
        if (isObject(change)) {
          changes.push(change);
          await context.progress('');
          await context.say(changeLine(change));
        }
        if (isObject(progress)) await context.progress(`${progress.done} of ${progress.total} samples`);
        if (isObject(last)) summary = last;
      }
    } catch (error) {
      throw refusedInFiles(error, sources);
    } finally {
      await context.progress('');
    }
    if (summary === undefined) throw new CliError('the replay ended early', 'Repeat the command.');
    await context.output({ changes, summary }, summaryText(summary, changes.length));
    return args.failOnChange && Number(summary.changed) > 0 ? 2 : 0;
  },
});

/** Such as "7d", or a time. */
function sinceOf(given: string, nowMs: number): string {
  const [, count, unit] = AGE.exec(given) ?? [];
  if (count === undefined) return given;
  const ms = UNIT_MS[unit as keyof typeof UNIT_MS];
  if (ms === undefined) throw new UsageError(`--since must be such as 30m, 12h or 7d, not ${given}`);
  return new Date(nowMs - Number(count) * ms).toISOString();
}

function changeLine({ sample, live, proposed, live_reason, proposed_reason }: JsonObject): string {
  const of = isObject(sample ?? null) ? (sample as JsonObject) : {};
  const why = proposed === 'allow' ? live_reason : proposed_reason;
  const about = `${of.agent_name} ${of.stage} ${of.step_name} (${of.decision_id})`;
  return plain(`${live} -> ${proposed}  ${about}${typeof why === 'string' ? `: ${why}` : ''}`);
}

function summaryText(summary: JsonObject, shown: number): string {
  const { samples, skipped, changed, newly_denied, newly_allowed, controls, agents, without_memory } =
    summary;
  const lines = [
    `${samples} samples, ${changed} changed: +${newly_denied} denied, -${newly_allowed}${Number(changed) > shown ? ` (${shown} shown)` : ''}`,
    `time of an evaluation: p50 ${summary.live_p50_us} -> ${summary.proposed_p50_us} us, p99 ${summary.live_p99_us} -> ${summary.proposed_p99_us} us`,
  ];
  if (Number(skipped) > 0)
    lines.push(`${skipped} could not be read, or are of agents that do not exist any more`);
  if (Number(summary.false_positives) > 0)
    lines.push(
      `of ${summary.false_positives} samples marked as false positives, ${summary.false_positives_denied} are denied`,
    );
  for (const control of objects(controls)) {
    if (control.live_matches === control.proposed_matches) continue;
    lines.push(
      `control ${control.control_name}: ${control.live_matches} -> ${control.proposed_matches} matches`,
    );
  }
  for (const agent of objects(agents)) {
    if (Number(agent.newly_denied) + Number(agent.newly_allowed) === 0) continue;
    lines.push(
      `agent ${agent.agent_name}: +${agent.newly_denied} denied, -${agent.newly_allowed} of ${agent.samples}`,
    );
  }
  if (Array.isArray(without_memory) && without_memory.length > 0) {
    lines.push(`evaluated without what they keep of earlier steps: ${without_memory.join(', ')}`);
  }
  return plain(`${lines.join('\n')}\n`);
}
