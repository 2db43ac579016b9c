import { stringifyJson } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';
import { EVENT_COLUMNS, EVENT_OPTIONS, eventQuery, SINCE } from '../events.js';
import { objects, printItems } from '../listing.js';

export const searchEvents = defineCommand({
  examples: [
    {
      line: 'control-enforcement events search --since 7d --decision deny --matched',
      does: 'Find what was denied',
    },
  ],
  options: {
    ...EVENT_OPTIONS,
    ...SINCE,
    limit: { type: 'number', default: 100, describe: 'Most events, at most 1000' },
  },
  async run(context, { since, limit, ...filter }) {
    const { rest } = await context.connect();
    const body = { ...eventQuery(filter, since), limit, include_step: true };
    const { events } = await rest.send('POST', '/api/v1/observability/events/query', body);
    await printItems(context, objects(events), EVENT_COLUMNS);
    return 0;
  },
});

export const exportEvents = defineCommand({
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
