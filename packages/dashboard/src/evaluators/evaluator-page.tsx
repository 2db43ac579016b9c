import { useQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { type EvaluatorInfo, EvaluatorService } from '@gen/enforcement/v1/evaluator_service_pb.js';
import { Link, useParams, useSearch } from 'wouter';
import { agentAddress } from '../references/columns.js';
import { useMay } from '../session/session-context.js';
import { Fact } from '../ui/fact.js';
import { NameLink } from '../ui/name-link.js';
import { decodedPart } from '../ui/page/decoded-part.js';
import { Page } from '../ui/page/page.js';
import { Empty, QueryState } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { evaluatorKind, limitText } from './evaluator-kind.js';
import { EvaluatorTabs } from './evaluator-tabs.js';
import { TestBox } from './test-box.js';
import './evaluators.css';

/** One evaluator: of the service, or with `?agent=` one that an agent has registered. */
export default function EvaluatorPage() {
  const { name: part = '' } = useParams<{ name: string }>();
  const name = decodedPart(part);
  const agentName = new URLSearchParams(useSearch()).get('agent') ?? '';
  return agentName === '' ? (
    <ServiceEvaluator key={name} name={name} />
  ) : (
    <AgentEvaluator key={name} name={name} agentName={agentName} />
  );
}

function ServiceEvaluator({ name }: { readonly name: string }) {
  const query = useQuery(EvaluatorService.method.listEvaluators, {});
  return (
    <Page
      title={name}
      heading={<UserText text={name} />}
      actions={<Link href="/evaluators">All evaluators</Link>}
    >
      <QueryState query={query} what="the evaluator">
        {({ evaluators }) => {
          const evaluator = Object.hasOwn(evaluators, name) ? evaluators[name] : undefined;
          if (evaluator !== undefined) return <EvaluatorDetails evaluator={evaluator} />;
          return (
            <Empty title="The service has no such evaluator">
              <p>
                A control that names it is an error in evaluations. Modules with evaluators are named by{' '}
                <code>SERVICE_EVALUATORS</code>.
              </p>
            </Empty>
          );
        }}
      </QueryState>
    </Page>
  );
}

function EvaluatorDetails({ evaluator }: { readonly evaluator: EvaluatorInfo }) {
  const { name, description, version, timeoutMs, requiresApiKey, configSchema } = evaluator;
  const mayChange = useMay('controls.write');
  return (
    <>
      <p dir="auto">{description}</p>
      <dl className="facts">
        <Fact name="Kind">{evaluatorKind(evaluator)}</Fact>
        <Fact name="Version">
          <UserText text={version} />
        </Fact>
        <Fact name="Time limit of a check">{limitText(timeoutMs)}</Fact>
        {requiresApiKey && <Fact name="Needs">a key of an external service</Fact>}
      </dl>
      <EvaluatorTabs
        name={name}
        schema={configSchema}
        testBox={mayChange ? <TestBox evaluator={evaluator} /> : undefined}
      />
    </>
  );
}

interface AgentEvaluatorProps {
  readonly name: string;
  readonly agentName: string;
}

function AgentEvaluator({ name, agentName }: AgentEvaluatorProps) {
  const query = useQuery(AgentService.method.getAgentEvaluator, { agentName, evaluatorName: name });
  const agent = agentAddress(agentName);
  return (
    <Page
      title={name}
      heading={<UserText text={name} />}
      actions={<Link href={`${agent}?tab=evaluators`}>Evaluators of the agent</Link>}
    >
      <QueryState query={query} what="the evaluator">
        {({ description, configSchema }) => (
          <>
            {description !== undefined && <p dir="auto">{description}</p>}
            <p>
              Registered by <NameLink href={agent} name={agentName} />, whose client runs it. A control names
              it <code dir="auto">{`${agentName}:${name}`}</code>.
            </p>
            <EvaluatorTabs name={`${agentName}:${name}`} schema={configSchema} testBox={undefined} />
          </>
        )}
      </QueryState>
    </Page>
  );
}
