import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react';
import type { ServerProblem } from './server-problems.js';
import './health.css';

/** What does not work, in words. */
export function ProblemList({ problems }: { readonly problems: readonly ServerProblem[] }) {
  return (
    <div role="status">
      {problems.map(({ severity, title, detail }) => {
        const Icon = severity === 'notice' ? IconInfoCircle : IconAlertTriangle;
        return (
          <p key={title} className={`server-problem ${severity}`}>
            <Icon size={18} aria-hidden="true" />
            <span>
              <strong>{title}.</strong> {detail}
            </span>
          </p>
        );
      })}
    </div>
  );
}
