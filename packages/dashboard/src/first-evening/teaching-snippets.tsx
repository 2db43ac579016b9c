import { Snippets } from '../ui/snippets/snippets.js';
import { curlOf, pythonOf, typeScriptOf } from './snippet-texts.js';
import { useCalledService } from './use-called-service.js';

const AGENT = 'billing-bot-01';
const STEP = { type: 'tool', name: 'send_mail', input: { text: 'card 4111111111111111' } };
const REGISTRATION = { agent: { agent_name: AGENT }, steps: [{ type: 'tool', name: 'send_mail' }] };

/** How an agent registers itself, to copy. */
export function RegisterSnippets() {
  const service = useCalledService();
  const path = '/agents/initAgent';
  const lines = [
    'await client.agents.initAgent({',
    `  agent: { agentName: ${JSON.stringify(AGENT)} },`,
    "  steps: [{ type: 'tool', name: 'send_mail' }],",
    '});',
  ];
  return (
    <Snippets
      label="Register an agent"
      readsKey={service.keysRequired}
      snippets={[
        { id: 'typescript', name: 'TypeScript', text: typeScriptOf(service, AGENT, lines) },
        { id: 'curl', name: 'curl', text: curlOf(service, path, REGISTRATION) },
        { id: 'python', name: 'Python', text: pythonOf(service, path, REGISTRATION) },
      ]}
    />
  );
}

/** How an agent has a step checked, to copy. */
export function SendStepSnippets({ agentName = AGENT }: { readonly agentName?: string }) {
  const service = useCalledService();
  const body = { agent_name: agentName, stage: 'pre', step: STEP };
  const lines = [
    'const sendMail = client.guard(',
    "  async (mail: { text: string }) => 'sent: ' + mail.text,",
    "  { step: 'send_mail' },",
    ');',
    `console.log(await sendMail(${JSON.stringify(STEP.input)}));`,
  ];
  return (
    <Snippets
      label="Send a step"
      readsKey={service.keysRequired}
      snippets={[
        { id: 'typescript', name: 'TypeScript', text: typeScriptOf(service, agentName, lines) },
        { id: 'curl', name: 'curl', text: curlOf(service, '/evaluation', body) },
        { id: 'python', name: 'Python', text: pythonOf(service, '/evaluation', body) },
      ]}
    />
  );
}

const CONTROL = {
  name: 'no-card-numbers',
  data: {
    execution: 'server',
    condition: {
      selector: { path: 'input.text' },
      evaluator: { name: 'regex', config: { pattern: String.raw`\b\d{16}\b` } },
    },
    action: { decision: 'observe' },
  },
};

/** How a control is made over the API, to copy. */
export function CreateControlSnippets() {
  const service = useCalledService();
  return (
    <Snippets
      label="Create a control"
      readsKey={service.keysRequired}
      snippets={[
        { id: 'curl', name: 'curl', text: curlOf(service, '/controls', CONTROL, 'PUT') },
        { id: 'python', name: 'Python', text: pythonOf(service, '/controls', CONTROL, 'PUT') },
      ]}
    />
  );
}
