import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { UserText } from '../ui/user-text.js';
import { listAddress, subjectAddress } from './problem-links.js';
import type { ShownProblem, Subject } from './verdict.js';
import './health.css';

const MAX_SUBJECTS = 5;

/** What needs attention, each with what it is about and where. */
export function ProblemList({ problems }: { readonly problems: readonly ShownProblem[] }) {
  if (problems.length === 0) return null;
  return (
    <ul className="problems">
      {problems.map((problem) => (
        <ProblemItem key={`${problem.kind} ${problem.title}`} problem={problem} />
      ))}
    </ul>
  );
}

function ProblemItem({ problem }: { readonly problem: ShownProblem }) {
  const { kind, severity, title, detail, subjects, count } = problem;
  const Icon = severity === 'notice' ? IconInfoCircle : IconAlertTriangle;
  const [only] = subjects;
  const address =
    subjects.length === 1 && only !== undefined ? subjectAddress(kind, only) : listAddress(problem);
  // The title names the only subject and leads to it.
  const isTold = subjects.length === 1 && only?.detail === undefined && address !== undefined;
  const shown = isTold ? [] : subjects.slice(0, MAX_SUBJECTS);
  const others = Math.max(count, subjects.length) - shown.length;
  return (
    <li className={`server-problem ${severity}`}>
      <Icon size={18} aria-hidden="true" />
      <div>
        <strong dir="auto">{address === undefined ? title : <Link href={address}>{title}</Link>}.</strong>{' '}
        <span dir="auto">{detail}</span>
        {address === undefined && shown.length === 0 && kind !== 'unreachable' && (
          <span className="muted">
            {' '}
            More in docs/runbook.md: <code>{kind}</code>
          </span>
        )}
        {shown.length > 0 && (
          <ul className="subjects">
            {shown.map((subject) => (
              <SubjectItem key={`${subject.type} ${subject.id}`} kind={kind} subject={subject} />
            ))}
            {others > 0 && (
              <li>
                <More problem={problem} others={others} />
              </li>
            )}
          </ul>
        )}
      </div>
    </li>
  );
}

function More({ problem, others }: { readonly problem: ShownProblem; readonly others: number }): ReactNode {
  const address = listAddress(problem);
  const text = `and ${others.toLocaleString()} more`;
  return address === undefined ? <span className="muted">{text}</span> : <Link href={address}>{text}</Link>;
}

function SubjectItem({ kind, subject }: { readonly kind: string; readonly subject: Subject }) {
  const { name, detail, type } = subject;
  const address = subjectAddress(kind, subject);
  const text = <UserText text={name} max={40} />;
  return (
    <li>
      <span className="muted">{type}</span>{' '}
      {address === undefined ? text : <Link href={address}>{text}</Link>}
      {detail !== undefined && <span className="muted">: {detail}</span>}
    </li>
  );
}
