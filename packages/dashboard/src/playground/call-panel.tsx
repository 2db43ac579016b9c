import { useState } from 'react';
import { apiBase } from '../data/rest-address.js';
import { useSession } from '../session/session-context.js';
import { CopyButton } from '../ui/copy-button.js';
import { Tabs } from '../ui/page/tabs.js';
import { curlText, type EvaluationCall, grpcurlText, typeScriptText } from './call-texts.js';

const FORMS = [
  ['curl', 'curl', curlText],
  ['grpcurl', 'grpcurl', grpcurlText],
  ['typescript', 'TypeScript', typeScriptText],
] as const;

interface CallPanelProps {
  readonly agentName: string;
  readonly stage: 'pre' | 'post';
  /** JSON text. */
  readonly step: string;
}

/** The evaluation of the step as a command or a program. */
export function CallPanel({ agentName, stage, step }: CallPanelProps) {
  const { state } = useSession();
  const [form, setForm] = useState<string>('curl');
  const keysRequired = state.kind === 'ready' && state.keysRequired;
  const call: EvaluationCall = {
    origin: window.location.origin,
    apiBase,
    keysRequired,
    agentName,
    stage,
    step,
  };
  return (
    <section aria-label="As code" className="card">
      <h2>As code</h2>
      <p className="muted">
        These calls evaluate the step for real: their events are recorded.
        {keysRequired && ' They read a key from the variable SERVICE_API_KEY.'}
      </p>
      <Tabs
        label="Form of the call"
        selected={form}
        onSelect={setForm}
        tabs={FORMS.map(([id, name, print]) => {
          const text = print(call);
          return {
            id,
            name,
            content: (
              <>
                <pre className="code">{text}</pre>
                <CopyButton label={`Copy as ${name}`} text={text} />
              </>
            ),
          };
        })}
      />
    </section>
  );
}
