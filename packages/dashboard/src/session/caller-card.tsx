import { Fact } from '../ui/fact.js';
import { UserText } from '../ui/user-text.js';
import { ScopeList } from './scope-list.js';
import { WORDED_SCOPES } from './scope-words.js';
import { useSession } from './session-context.js';
import { roleText } from './session-state.js';

/** What is of no use in a namespace: it concerns the installation. */
const OF_THE_INSTALLATION = /^namespaces\./;

/** Who the caller is, what it can do, what it cannot, and who can change that. Nothing without keys. */
export function CallerCard() {
  const { state } = useSession();
  if (state.kind !== 'ready' || state.scopes === 'all') return null;
  const { scopes, name, namespace, namespaceTitle, onlyAgents } = state;
  const lacking = WORDED_SCOPES.filter((scope) => !scopes.has(scope) && !OF_THE_INSTALLATION.test(scope));
  return (
    <section className="card" aria-label="You">
      <h2>You</h2>
      <dl className="facts">
        <Fact name="Signed in with">
          {name === undefined ? 'a key without a name' : <UserText text={name} />}
        </Fact>
        <Fact name="Role">{roleText(state)}</Fact>
        <Fact name="Namespace">
          <UserText text={namespaceTitle} />
          {namespaceTitle !== namespace && <span className="muted"> ({namespace})</span>}
        </Fact>
        {onlyAgents !== undefined && (
          <Fact name="Agents">
            {onlyAgents.length === 0 ? 'none' : <UserText text={onlyAgents.join(', ')} max={200} />}
          </Fact>
        )}
      </dl>
      <div className="columns">
        <div>
          <h3>What it can do</h3>
          <ScopeList scopes={[...scopes]} />
        </div>
        {lacking.length > 0 && (
          <div>
            <h3>What it cannot do</h3>
            <ScopeList scopes={lacking} />
            <p className="muted">
              A key that can do more is made by an admin of this namespace, on the page “Keys and people”, or
              by the operator of the service in its keys file.
            </p>
          </div>
        )}
      </div>
    </section>
  );
}
