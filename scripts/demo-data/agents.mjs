/** Agents of the demonstration data, with the steps that they register. */

const text = { type: 'string' };
const object = (properties) => ({ type: 'object', properties });

/** Agent without any control, which the Overview shows as not covered. */
export const UNCOVERED_AGENT = 'experiments-sandbox';

export const AGENTS = [
  {
    agent: {
      agent_name: 'support-assistant',
      agent_description: 'Answers customers by mail and pays small refunds',
      agent_version: '3.2.0',
      agent_metadata: { team: 'customer support', region: 'eu' },
    },
    steps: [
      {
        type: 'tool',
        name: 'send_mail',
        description: 'Sends a mail to a customer',
        input_schema: object({ to: text, subject: text, text }),
        output_schema: object({ message_id: text }),
      },
      {
        type: 'tool',
        name: 'refund',
        description: 'Pays money back',
        input_schema: object({ order: text, amount: { type: 'number' }, currency: text }),
      },
      {
        type: 'llm',
        name: 'answer',
        description: 'Writes the answer to a question',
        input_schema: object({ prompt: text }),
        output_schema: object({ text }),
      },
    ],
  },
  {
    agent: {
      agent_name: 'data-analyst',
      agent_description: 'Answers questions about sales with SQL',
      agent_version: '1.9.4',
      agent_metadata: { team: 'finance' },
    },
    steps: [
      {
        type: 'tool',
        name: 'query_database',
        description: 'Runs a query on the sales database',
        input_schema: object({ sql: text }),
        output_schema: object({ rows: { type: 'array', items: { type: 'object' } } }),
      },
      {
        type: 'tool',
        name: 'export_report',
        input_schema: object({ format: { type: 'string', enum: ['pdf', 'csv'] }, to: text }),
      },
    ],
    evaluators: [
      {
        name: 'query-cost',
        description: 'Estimated cost of a query, checked in the agent',
        config_schema: object({ max_rows: { type: 'integer', minimum: 1 } }),
      },
    ],
  },
  {
    agent: {
      agent_name: 'release-engineer',
      agent_description: 'Builds and rolls out services',
      agent_version: '0.8.1',
      agent_metadata: { team: 'platform' },
    },
    steps: [
      {
        type: 'tool',
        name: 'run_command',
        description: 'Runs a shell command on a build machine',
        input_schema: object({ command: text, directory: text }),
        output_schema: object({ exit_code: { type: 'integer' }, stdout: text }),
      },
      {
        type: 'tool',
        name: 'deploy',
        input_schema: object({ service: text, environment: text, replicas: { type: 'integer' } }),
      },
    ],
  },
  {
    agent: {
      agent_name: 'sales-outreach',
      agent_description: 'Writes first mails to prospective customers',
      agent_version: '2.0.0',
      agent_metadata: { team: 'sales' },
    },
    steps: [
      { type: 'tool', name: 'send_mail', input_schema: object({ to: text, subject: text, text }) },
      { type: 'llm', name: 'draft', input_schema: object({ prompt: text }), output_schema: object({ text }) },
    ],
  },
  {
    agent: {
      agent_name: UNCOVERED_AGENT,
      agent_description: 'Tries out new models; not linked to any control yet',
    },
    steps: [{ type: 'llm', name: 'complete', input_schema: object({ prompt: text }) }],
  },
];
