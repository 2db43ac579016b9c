import { Link } from 'wouter';
import { restAddress } from '../data/rest-address.js';
import { Empty } from '../ui/states.js';

/** What is counted on this page, and how the first event comes into being. */
export function NothingRecorded({ keysRequired }: { readonly keysRequired: boolean }) {
  const key = keysRequired ? ` \\\n  -H "x-api-key: $SERVICE_API_KEY"` : '';
  return (
    <Empty title="Nothing was recorded in this range">
      <p>
        Each step that an agent sends is checked by its controls; matches and errors are counted here. Try a
        step in the <Link href="/playground">playground</Link>, which records nothing, or send one:
      </p>
      <pre className="code">
        {`curl -X POST ${restAddress('/evaluation')} \\
  -H 'content-type: application/json'${key} \\
  -d '{"agent_name": "billing-bot-01", "stage": "pre",
       "step": {"type": "tool", "name": "send_mail", "input": {"text": "card 4111111111111111"}}}'`}
      </pre>
      <p>
        The agent must be <Link href="/agents">registered</Link> and have a{' '}
        <Link href="/controls">control</Link>.
      </p>
    </Empty>
  );
}
