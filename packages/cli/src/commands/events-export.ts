import { stringifyJson } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';
import { EVENT_OPTIONS, eventQuery, SINCE } from '../events.js';

export const command = defineCommand({
  examples: [
    { line: 'control-enforcement events export --since 7d', does: 'Print events, one JSON object per line' },
  ],
  options: { ...EVENT_OPTIONS, ...SINCE },
  async run(context, { since, ...filter }) {
    const { rest } = await context.connect();
    const body = { ...eventQuery(filter, since), include_step: true };
    let count = 0;
    for await (const line of rest.lines('/api/v1/observability/events/export', body)) {
      await context.stdout.write(`${stringifyJson(line.event ?? line)}\n`);
      count += 1;
      if (count % 1_000 === 0) await context.progress(`${count} events`);
    }
    await context.progress('');
    return 0;
  },
});
