import { IconUser } from '@tabler/icons-react';
import { Link } from 'wouter';
import { useSession } from '../session/session-context.js';
import { roleText } from '../session/session-state.js';
import { useSignOut } from '../session/use-sign-out.js';
import { ActionMenu } from '../ui/action-menu.js';
import { UserText } from '../ui/user-text.js';

const MAX_NAME = 24;

/** Who is signed in, by name; the role and the way out are in its menu. Nothing where no keys are required. */
export function IdentityMenu() {
  const { state } = useSession();
  const { leave, problem } = useSignOut();
  if (state.kind !== 'ready' || leave === undefined) return null;
  const { name } = state;
  const role = roleText(state);
  return (
    <div className="session">
      <ActionMenu
        name={`Account: ${name ?? role}`}
        label={
          <span className="identity">
            <IconUser size={18} aria-hidden="true" />
            <UserText text={name ?? role} max={MAX_NAME} />
          </span>
        }
      >
        <p className="about">
          Signed in with {name === undefined ? 'a key without a name' : <UserText text={name} />}
          <br />
          <span className="muted">Role: {role}</span>
        </p>
        <hr />
        <Link href="/keys">What you may do</Link>
        <button type="button" onClick={leave}>
          Sign out
        </button>
      </ActionMenu>
      {problem !== null && <span role="alert">{problem}</span>}
    </div>
  );
}
