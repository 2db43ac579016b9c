import { isObject } from '../../../exact-json/src/index.js';
import { defineCommand } from '../command.js';
import { EVENT_COLUMNS, EVENT_OPTIONS, eventQuery, SINCE } from '../events.js';
import { printItems } from '../listing.js';

export const command = defineCommand({
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
    await printItems(context, Array.isArray(events) ? events.filter(isObject) : [], EVENT_COLUMNS);
    return 0;
  },
});
