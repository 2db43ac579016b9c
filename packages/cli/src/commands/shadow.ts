import { isObject, type JsonObject, type JsonValue } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';
import type { CommandContext } from '../context.js';
import { CliError } from '../errors.js';
import { EXPAND_ENV, readFiles } from '../files/read-documents.js';
import { objects } from '../listing.js';
import type { Rest } from '../rest.js';

const ACTIONS = ['list', 'show', 'set', 'promote', 'drop'] as const;
const KINDS: ReadonlySet<unknown> = new Set(['Control', 'Template', 'Limit', 'Approval']);
const PAGE = 100;
const COUNTS = [
  ['only_shadow_matched', 'only the shadow matched'],
  ['only_live_matched', 'only the control matched'],
  ['both_matched', 'both matched'],
  ['neither_matched', 'neither matched'],
  ['live_failed', 'the control failed'],
  ['shadow_failed', 'the shadow failed'],
  ['left_out', 'left out under load'],
] as const;

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement shadow list',
      does: 'List the controls with a shadow, and what they differ in',
    },
  ],
  positionals: {
    action: { type: 'string', choices: ACTIONS, demandOption: true, describe: 'What to do' },
    control: { type: 'string', describe: 'Name of the control; for all actions but list' },
  },
  options: {
    ...EXPAND_ENV,
    file: { type: 'string', describe: 'set: the file with the proposed version of the control' },
    share: { type: 'number', default: 1, describe: 'set: share of the agents or sessions, up to 1' },
    by: { type: 'string', choices: ['agent', 'session'], default: 'agent', describe: 'set: of what' },
    yes: { type: 'boolean', default: false, describe: 'promote, drop: do not ask' },
  },
  async run(context, { action, control, file, share, by, yes, expandEnv }) {
    const { rest } = await context.connect();
    if (action === 'list') {
      const { shadows } = await rest.get('/api/v1/shadows');
      const all = objects(shadows);
      const lines = all.map((one) => `${String(one.control_name)}: ${countsText(one)}\n`);
      await context.output(all, lines.join('') || 'No control has a shadow.\n');
      return 0;
    }
    if (control === undefined) {
      throw new CliError(
        `shadow ${action} needs the name of a control`,
        `control-enforcement shadow ${action} NAME`,
      );
    }
    const path = `/api/v1/controls/${await idOf(rest, control)}/shadow`;
    if (action === 'set') {
      const data = await proposed(context, control, file, expandEnv);
      const { shadow, warnings } = await rest.send('PUT', path, { data, share, share_by: by });
      for (const { field, message } of objects(warnings))
        await context.warn(`${String(field)}: ${String(message)}`);
      await context.output(shadow ?? {}, `The shadow of ${control} is compared from now on.\n`);
      return 0;
    }
    const { shadow } = await rest.get(path);
    if (!isObject(shadow)) throw new CliError(`control "${control}" has no shadow`);
    if (action === 'show') {
      await context.output(shadow, shownText(shadow));
      return 0;
    }
    await context.say(`${control}: ${countsText(shadow)}`);
    if (
      !yes &&
      (await context.confirm(`${action === 'drop' ? 'Drop' : 'Promote'} the shadow of ${control}?`)) !== true
    ) {
      throw new CliError(`the shadow of ${control} stays`, 'Confirm on a terminal, or give --yes.');
    }
    if (action === 'drop') {
      await rest.send('DELETE', path);
      await context.output({ dropped: control }, `The shadow of ${control} is dropped.\n`);
      return 0;
    }
    // Only the one that was shown.
    const body = { shadow_version: shadow.shadow_version ?? null };
    const { version = null, warnings } = await rest.send('POST', `${path}/promote`, body);
    for (const { message } of objects(warnings)) await context.warn(String(message));
    await context.output(
      { control, version },
      `${control} has version ${String(version)} now, that of its shadow.\n`,
    );
    return 0;
  },
});

/** The id of the control with this name. */
async function idOf(rest: Rest, name: string): Promise<string> {
  let cursor: string | undefined;
  do {
    const { controls, pagination } = await rest.get('/api/v1/controls', { name, limit: PAGE, cursor });
    const found = objects(controls).find((one) => one.name === name);
    if (found !== undefined) return String(found.id);
    const next = isObject(pagination) ? pagination.next_cursor : null;
    cursor = typeof next === 'string' ? next : undefined;
  } while (cursor !== undefined);
  throw new CliError(
    `there is no control "${name}"`,
    'List controls with control-enforcement export --kind Control.',
  );
}

/** The definition of the control in a file. */
async function proposed(
  context: CommandContext,
  name: string,
  file: string | undefined,
  expandEnv: boolean,
): Promise<JsonValue> {
  if (file === undefined)
    throw new CliError('shadow set needs --file', 'Name the file with the proposed version.');
  const documents = await readFiles(context, [file], { expandEnv });
  const found = documents.find(({ value }) => KINDS.has(value.kind) && value.name === name);
  const data = found?.value.data;
  if (data === undefined) {
    throw new CliError(
      `${file} has no definition of the control "${name}"`,
      'Give a document with kind, name and data.',
    );
  }
  return data;
}

function countsText(shadow: JsonObject): string {
  return COUNTS.map(([member, words]) => `${String(shadow[member])} ${words}`).join(', ');
}

function shownText(shadow: JsonObject): string {
  const counts = COUNTS.map(([member, words]) => `${words}: ${String(shadow[member])}\n`);
  const differences = objects(shadow.differences).map((one) => {
    const which = one.shadow_matched === true ? 'shadow ' : 'control';
    return `${String(one.at)} ${which} ${String(one.agent_name)} ${String(one.stage)} ${String(one.step_type)} ${String(one.step_name)}\n`;
  });
  return (
    counts.join('') +
    (differences.length === 0 ? '' : `latest differences, by what matched:\n${differences.join('')}`)
  );
}
