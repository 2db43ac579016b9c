import type { GetAgentResponse } from '@gen/enforcement/v1/agent_service_pb.js';
import { Link } from 'wouter';
import { Empty } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import { SchemaDetails } from './schema-details.js';

interface RegisteredProps {
  readonly registered: GetAgentResponse;
}

/** The steps that an agent has registered, with their schemas. */
export function AgentSteps({ registered: { steps } }: RegisteredProps) {
  if (steps.length === 0) {
    return (
      <Empty title="The agent has registered no steps">
        <p>
          Steps are a part of its registration, <code>InitAgent</code>. They are not needed for checks: their
          schemas are compared with its steps, complete the paths of selectors, and show here what the agent
          can do.
        </p>
      </Empty>
    );
  }
  return (
    <Table label="Steps" columns={['Type', 'Name', 'Description', 'Schemas']}>
      {steps.map((step) => (
        <tr key={`${step.type}\0${step.name}`} className="top-aligned">
          <td>
            <UserText text={step.type ?? ''} />
          </td>
          <td>
            <UserText text={step.name ?? ''} />
          </td>
          <td dir="auto" className="prose">
            {step.description}
          </td>
          <td>
            <SchemaDetails what="input" schema={step.inputSchema} />
            <SchemaDetails what="output" schema={step.outputSchema} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** The evaluators that an agent brings itself, with the schemas of their configurations. */
export function AgentEvaluators({ registered: { agent, evaluators } }: RegisteredProps) {
  if (evaluators.length === 0) {
    return (
      <Empty title="The agent has registered no evaluators of its own">
        <p>Its controls use those of the server. Evaluators of an agent run in its client only.</p>
      </Empty>
    );
  }
  const agentPart = encodeURIComponent(agent?.agentName ?? '');
  return (
    <Table label="Evaluators" columns={['Name', 'Description', 'Configuration']}>
      {evaluators.map((evaluator) => (
        <tr key={evaluator.name} className="top-aligned">
          <td>
            <Link href={`/evaluators/${encodeURIComponent(evaluator.name ?? '')}?agent=${agentPart}`}>
              <UserText text={evaluator.name ?? ''} />
            </Link>
          </td>
          <td dir="auto" className="prose">
            {evaluator.description}
          </td>
          <td>
            <SchemaDetails what="configuration" schema={evaluator.configSchema} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
