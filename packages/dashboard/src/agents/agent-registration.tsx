import type { GetAgentResponse } from '@gen/enforcement/v1/agent_service_pb.js';
import { NameLink } from '../ui/name-link.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import { SchemaDetails } from './schema-details.js';

const STEP_COLUMNS: Columns<GetAgentResponse['steps'][number]> = [
  { head: 'Type', cell: ({ type = '' }) => <UserText text={type} /> },
  { head: 'Name', cell: ({ name = '' }) => <UserText text={name} /> },
  { head: 'Description', className: 'prose', dir: 'auto', cell: ({ description }) => description },
  {
    head: 'Schemas',
    cell: ({ inputSchema, outputSchema }) => (
      <>
        <SchemaDetails what="input" schema={inputSchema} />
        <SchemaDetails what="output" schema={outputSchema} />
      </>
    ),
  },
];

interface RegisteredProps {
  readonly registered: GetAgentResponse;
}

/** The steps that an agent has registered, with their schemas. */
export function AgentSteps({ registered: { steps } }: RegisteredProps) {
  return (
    <Table
      label="Steps"
      columns={STEP_COLUMNS}
      rows={steps}
      keyOf={({ type, name }) => `${type}\0${name}`}
      rowClass={() => 'top-aligned'}
      empty={
        <Empty title="The agent has registered no steps">
          <p>
            Steps are a part of its registration, <code>InitAgent</code>. They are not needed for checks:
            their schemas are compared with its steps, complete the paths of selectors, and show here what the
            agent can do.
          </p>
        </Empty>
      }
    />
  );
}

/** The evaluators that an agent brings itself, with the schemas of their configurations. */
export function AgentEvaluators({ registered: { agent, evaluators } }: RegisteredProps) {
  const agentPart = encodeURIComponent(agent?.agentName ?? '');
  return (
    <Table
      label="Evaluators"
      rows={evaluators}
      keyOf={({ name = '' }) => name}
      rowClass={() => 'top-aligned'}
      empty={
        <Empty title="The agent has registered no evaluators of its own">
          <p>Its controls use those of the server. Evaluators of an agent run in its client only.</p>
        </Empty>
      }
      columns={[
        {
          head: 'Name',
          cell: ({ name = '' }) => (
            <NameLink href={`/evaluators/${encodeURIComponent(name)}?agent=${agentPart}`} name={name} />
          ),
        },
        { head: 'Description', className: 'prose', dir: 'auto', cell: ({ description }) => description },
        {
          head: 'Configuration',
          cell: ({ configSchema }) => <SchemaDetails what="configuration" schema={configSchema} />,
        },
      ]}
    />
  );
}
